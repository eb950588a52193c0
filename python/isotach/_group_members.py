"""What is in a group: dimensions, variables, groups and types; how they are defined and renamed."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from isotach import _defining, _moving
from isotach._attributes import Attributes
from isotach._dimension import Dimension
from isotach._lazy import CLOSED
from isotach._string_dtype import string_dtype
from isotach._types import CompoundType, EnumType, VLType, user_type
from isotach._variable import Variable, _find_dimension

if TYPE_CHECKING:
    from isotach import _native
    from isotach._dataset import Dataset, Group
    from isotach._lazy import LazyDict


#: Kinds of members, by their place among the native part's revisions.
DIMENSIONS, TYPES, VARIABLES, GROUPS = range(4)


class GroupMembers(Attributes):
    """What a `Dataset` and its groups can do with what is in them."""

    __slots__ = ()

    if TYPE_CHECKING:
        _dimensions: dict[str, Dimension] | None
        _dimensions_seen: int | None
        _file: Any
        _group_numbers: Iterator[int]
        _groups: LazyDict[Group]
        _path: str
        _session: Any
        _settings: dict[str, Any]
        _types: list[Any] | None
        _types_seen: int | None
        _variables: LazyDict[Variable]
        _writer: Any
        auto_complex: bool
        keepweakref: bool
        parent: Dataset | None

        @property
        def _is_netcdf4(self) -> bool: ...

        @property
        def data_model(self) -> str: ...

        @property
        def path(self) -> str: ...

        def _new_group(self, name: str, native: Any = None) -> Group: ...

        def _writing(self) -> _native.GroupWriter: ...

    def _own_group(self) -> GroupMembers:
        return self

    def _not_listed(self, name: str) -> Any:
        # Special ones such as _NCProperties.
        return self._native.attribute(name) if name.startswith("_") else None

    def _revision(self, kind: int) -> int | None:
        """The next number after every change among its members, also by other paths that lead to
        the group; None where nothing changes.
        """
        writer = self._writer
        if writer is None or writer is CLOSED:
            return None
        revision: int = writer.member_revisions()[kind]
        return revision

    # What is in it

    @property
    def variables(self) -> dict[str, Variable]:
        """Its variables by name."""
        return self._variables if self._writer is None else self._variables.current()

    @property
    def groups(self) -> dict[str, Group]:
        """Its groups by name."""
        return self._groups if self._writer is None else self._groups.current()

    @property
    @_moving.request
    def dimensions(self) -> dict[str, Dimension]:
        """Its dimensions by name."""
        known: dict[str, Dimension] | None = self._dimensions
        now = None if self._writer is None else self._revision(DIMENSIONS)
        if known is not None and (now is None or now == self._dimensions_seen):
            return known
        found = self._present_dimensions(self._native)
        if known is not None:
            found = {name: known.get(name, dimension) for name, dimension in found.items()}
            # Who has asked for them before has this dict.
            known.clear()
            known.update(found)
            found = known
        self._set_dimensions(found, now)
        return found

    def _present_dimensions(self, native: Any) -> dict[str, Dimension]:
        return {
            name: Dimension(self, name, length, unlimited=unlimited, defined=True)
            for name, length, unlimited, _ in native.dimensions()
        }

    def _set_dimensions(self, found: dict[str, Dimension], revision: int | None) -> None:
        object.__setattr__(self, "_dimensions", found)
        object.__setattr__(self, "_dimensions_seen", revision)

    @property
    def cmptypes(self) -> dict[str, CompoundType]:
        """Its compound types by name."""
        return self._types_of(CompoundType)

    @property
    def vltypes(self) -> dict[str, VLType]:
        """Its types of sequences by name."""
        return self._types_of(VLType)

    @property
    def enumtypes(self) -> dict[str, EnumType]:
        """Its types of named integers by name."""
        return self._types_of(EnumType)

    @_moving.request
    def _types_of(self, kind: type[Any]) -> dict[str, Any]:
        found, now = self._types, self._revision(TYPES)
        if found is None or (now is not None and now != self._types_seen):
            of = self._group_numbers
            found = [user_type(described, file=of) for described in self._native.types()]
            object.__setattr__(self, "_types", found)
            object.__setattr__(self, "_types_seen", now)
        return {user.name: user for user in found or () if isinstance(user, kind)}

    def _variable(self, name: str) -> Variable | None:
        native = self._native.variable(name)
        return None if native is None else Variable(self, name, native=native)

    def _group(self, name: str) -> Group | None:
        native = self._native.group(name)
        return None if native is None else self._new_group(name, native)

    def _find_dimension(self, name: str, length: int, unlimited: bool, path: str) -> Dimension:
        """The dimension that a variable of this group is on: here or in a group above."""
        group: GroupMembers | None = self
        while group is not None:
            if group.path == path and name in group.dimensions:
                return group.dimensions[name]
            group = group.parent
        return Dimension(self, name, length, unlimited=unlimited, defined=True)

    @_moving.request
    def __getitem__(self, elem: str) -> Variable | Group | Dataset:
        directory, last = posixpath.split(posixpath.normpath(elem))
        group: GroupMembers = self
        for name in directory.split("/"):
            if name:
                group = group.groups[name]
        if last in group.groups:
            return group.groups[last]
        try:
            return group.variables[last]
        except KeyError:
            raise IndexError(f"{last} not found in {group.path}{group._why_not(last)}") from None

    def _why_not(self, name: str) -> str:
        """Why what the file has by that name is not shown, to be put behind a message."""
        path = posixpath.join(self.path, name)
        reasons = [f": {reason}" for found, reason in self.left_out() if found == path]
        return "".join(reasons[:1])

    def __iter__(self) -> NoReturn:
        raise TypeError("Dataset is not iterable. Consider iterating on Dataset.variables.")

    def __contains__(self, key: Any) -> NoReturn:
        raise TypeError(
            "Dataset does not support membership operations. Perhaps try 'varname in"
            " dataset.variables' or 'dimname in dataset.dimensions'."
        )

    @_moving.request
    def get_variables_by_attributes(self, **kwargs: Any) -> list[Variable]:
        """The variables whose attributes are as given.

        A value is compared with the attribute's; a function is called with the attribute's value,
        or None where there is none, and says whether it is right.
        """
        found = []
        for variable in self.variables.values():
            fits = bool(kwargs)
            for name, wanted in kwargs.items():
                if callable(wanted):
                    fits = wanted(getattr(variable, name, None)) is not False and fits
                else:
                    fits = hasattr(variable, name) and _equal(getattr(variable, name), wanted)
                if not fits:
                    break
            if fits:
                found.append(variable)
        return found

    @_moving.request
    def left_out(self) -> list[tuple[str, str]]:
        """Paths of objects in this group that could not be shown, and why."""
        found: list[tuple[str, str]] = self._native.left_out()
        return found

    # How reads are shown

    def _walk_made(self) -> Iterator[GroupMembers]:
        yield self
        for group in self._groups.made():
            yield from group._walk_made()

    def _forget_attributes(self) -> None:
        """Of this group and those below: somebody else has changed one."""
        for group in self._walk_made():
            group._changed()
            for variable in group._variables.made():
                variable._changed()

    def _set(self, **settings: Any) -> None:
        """For this group and those below: variables that are there, and those still to be made."""
        for group in self._walk_made():
            group._settings.update(settings)
            for variable in group._variables.made():
                variable._set(**settings)

    def set_auto_mask(self, value: bool) -> None:
        """Turns masks of missing elements on or off, for all variables here and below."""
        self._set(mask=bool(value))

    def set_auto_scale(self, value: bool) -> None:
        """Turns unpacking on or off, for all variables here and below."""
        self._set(scale=bool(value))

    def set_auto_maskandscale(self, value: bool) -> None:
        """Turns masks and unpacking on or off, for all variables here and below."""
        self._set(mask=bool(value), scale=bool(value))

    def set_always_mask(self, value: bool) -> None:
        """Says whether arrays without a missing element are masked arrays too."""
        self._set(always_mask=bool(value))

    def set_auto_chartostring(self, value: bool) -> None:
        """Turns strings out of characters with an `_Encoding` on or off."""
        self._set(chartostring=bool(value))

    def set_string_dtype(self, dtype: Any) -> None:
        """Has strings read as `dtype`, for all variables here and below: a
        `numpy.dtypes.StringDType` or `"T"`, or None for objects, as `Variable.set_string_dtype`.
        """
        self._set(string_dtype=string_dtype(dtype))

    def set_ncstring_attrs(self, value: bool) -> None:
        """Says whether text attributes that are set from now on are netCDF's strings."""
        for group in self._walk_made():
            object.__setattr__(group, "_ncstring_attrs__", bool(value))
            for variable in group._variables.made():
                variable.set_ncstring_attrs(value)

    # Defining what is in it

    def createDimension(self, dimname: str, size: int | None = None) -> Dimension:
        """Defines a dimension of `size` elements; without a size, or with 0, an unlimited one.

        `RuntimeError` where there is one of that name, or the format has no second unlimited one.
        """
        dimensions, seen = self.dimensions, self._dimensions_seen
        defined = dimensions[dimname] = Dimension(self, dimname, size=size)
        self._set_dimensions(dimensions, None if seen is None else seen + 1)
        return defined

    def createVariable(
        self,
        varname: str,
        datatype: Any,
        dimensions: Any = (),
        compression: str | None = None,
        zlib: bool = False,
        complevel: int | None = 4,
        shuffle: bool | None = None,
        szip_coding: str = "nn",
        szip_pixels_per_block: int = 8,
        blosc_shuffle: int = 1,
        fletcher32: bool = False,
        contiguous: bool = False,
        chunksizes: Sequence[int] | None = None,
        endian: str = "native",
        least_significant_digit: int | None = None,
        significant_digits: int | None = None,
        quantize_mode: str = "BitGroom",
        fill_value: Any = None,
        chunk_cache: int | None = None,
    ) -> Variable:
        """Defines a variable; groups of its path that are not there are created.

        `datatype` is a dtype or what makes one, `str`, or a `CompoundType`, `VLType` or
        `EnumType`; `dimensions` are names or `Dimension`s, outermost first, none for a scalar. The
        other options:

        - `compression`: `"zlib"`, `"szip"`, `"zstd"`, `"bzip2"`, or one of Blosc's:
          `"blosc_lz"`, `"blosc_lz4"`, `"blosc_lz4hc"`, `"blosc_zlib"`, `"blosc_zstd"`, or
          Blosc 2's, which are named `"blosc2_lz"` and so on and are not netCDF4-python's
        - `zlib`: the same as `compression="zlib"`
        - `complevel`: how hard it tries; 0 for no compression
        - `shuffle`: bytes of equal significance together, before zlib (where nothing is said, too),
          zstd and bzip2 (only where it is True; netCDF4-python leaves it out there)
        - `szip_coding`: `"nn"` or `"ec"`; `szip_pixels_per_block`
        - `blosc_shuffle`: 0 for none, 1 by bytes, 2 by bits; in Blosc 2 also 3, differences
        - `fletcher32`: a checksum of each chunk
        - `contiguous`: in one piece, which can neither grow nor be compressed
        - `chunksizes`: elements of a chunk along each dimension; a shape that serves maps and
          series is chosen where none is given
        - `endian`: byte order of numbers in the file: the machine's, `"little"` or `"big"`
        - `least_significant_digit`: decimal digit that assigned numbers are rounded to
        - `significant_digits`: decimal digits (of `BitRound`: bits) that are kept
        - `quantize_mode`: `"BitGroom"`, `"BitRound"` or `"GranularBitRound"`, how the others go
        - `fill_value`: what elements read as until they are written, instead of netCDF's own
          value; False leaves that open, `"default"` states netCDF's own
        - `chunk_cache`: remembered, and of no effect

        In classic files those on storage have no effect. `RuntimeError` where there is a variable
        of that name or the format does not have such a one, `ValueError` or `TypeError` where the
        options do not fit.
        """
        directory, name = posixpath.split(posixpath.normpath(varname))
        group = self.createGroup(directory) if directory else self
        if isinstance(dimensions, (str, bytes, Dimension)):
            dimensions = (dimensions,)
        found = tuple(_find_dimension(group, dimension) for dimension in dimensions)
        options = _defining.VariableOptions(
            group,
            name,
            compression=compression,
            zlib=zlib,
            complevel=complevel,
            shuffle=shuffle,
            szip_coding=szip_coding,
            szip_pixels_per_block=szip_pixels_per_block,
            blosc_shuffle=blosc_shuffle,
            fletcher32=fletcher32,
            contiguous=contiguous,
            chunksizes=chunksizes,
            endian=endian,
            least_significant_digit=least_significant_digit,
            significant_digits=significant_digits,
            quantize_mode=quantize_mode,
            fill_value=fill_value,
            chunk_cache=chunk_cache,
        )
        variable = Variable(group, name, datatype, found, options=options)
        group._variables.put(name, variable)
        return variable

    def createGroup(self, groupname: str) -> Dataset:
        """Defines a group, or a path of groups; those that are there stay."""
        group: Any = self
        for name in posixpath.normpath(groupname).split("/"):
            if name and name not in group.groups:
                group._groups.put(name, group._new_group(name))
            group = group.groups[name] if name else group
        found: Dataset = group
        return found

    def createCompoundType(self, datatype: Any, datatype_name: str) -> CompoundType:
        """Defines a compound type with the members of the structured dtype `datatype`.

        Strings in it are arrays of characters; compound members are of types that are there.
        """
        defined = CompoundType(self, datatype, datatype_name)
        return defined

    def createVLType(self, datatype: Any, datatype_name: str) -> VLType:
        """Defines a type of sequences of any length of numbers of the dtype `datatype`."""
        defined = VLType(self, datatype, datatype_name)
        return defined

    def createEnumType(
        self, datatype: Any, datatype_name: str, enum_dict: dict[str, int]
    ) -> EnumType:
        """Defines a type of named integers of a dtype; `enum_dict` has their values."""
        defined = EnumType(self, datatype, datatype_name, enum_dict)
        return defined

    def renameDimension(self, oldname: str, newname: str) -> None:
        """Renames a dimension, for all variables along it; `KeyError` where there is none."""
        self._writing()
        if oldname not in self.dimensions:
            raise KeyError(f"{oldname} not a valid dimension name")
        dimensions, seen = self.dimensions, self._dimensions_seen
        dimensions[oldname]._rename(newname)
        dimensions[newname] = dimensions.pop(oldname)
        self._set_dimensions(dimensions, None if seen is None else seen + 1)

    def renameVariable(self, oldname: str, newname: str) -> None:
        """Renames a variable; `KeyError` where there is none."""
        self._writing()
        if oldname not in self.variables:
            raise KeyError(f"{oldname} not a valid variable name")
        # What is not known yet would be looked for by its old name.
        self._variables.fill()
        self.variables[oldname]._rename(newname)
        self._variables.rename(oldname, newname)

    def renameGroup(self, oldname: str, newname: str) -> None:
        """Renames a group; `KeyError` where there is none."""
        self._writing()
        if oldname not in self.groups:
            raise KeyError(f"{oldname} not a valid group name")
        self._groups.fill()
        group = self.groups[oldname]
        group._writer.rename(newname)
        self._groups.rename(oldname, newname)
        group._moved(self, newname)

    def deleteVariable(self, name: str) -> None:
        """Takes a variable out of the file, which netCDF4-python cannot; its space is used again.

        An unlimited dimension is then as long as the longest variable along it; in classic files
        the records stay. `KeyError` where there is no such variable.
        """
        self._delete(self._variables, "variable", name)

    def deleteGroup(self, name: str) -> None:
        """Takes a group with all that is in it out of the file, which netCDF4-python cannot.

        `KeyError` where there is no such group, `RuntimeError` where variables of other groups are
        along its dimensions. Those of its types keep them, without a name.
        """
        self._delete(self._groups, "group", name)

    def _delete(self, members: LazyDict[Any], kind: str, name: str) -> None:
        self._writing()
        if name not in members.current():
            raise KeyError(f"{name} not a valid {kind} name")
        gone = members[name]
        gone._writing().delete()
        gone._close()
        members.current()

    def _moved(self, parent: GroupMembers, name: str) -> None:
        """The group, or one above it, was renamed."""
        put = object.__setattr__
        put(self, "_path", posixpath.join(parent.path, name))
        put(self, "_native", parent._native.group(name))
        put(self, "_types", None)
        for group in self._groups.made():
            group._moved(self, posixpath.basename(group._path))


def _equal(left: Any, right: Any) -> bool:
    same = left == right
    return bool(same) if not hasattr(same, "all") else bool(same.all())
