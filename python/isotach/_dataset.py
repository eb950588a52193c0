"""Files and groups."""

from __future__ import annotations

import io
import os
import pathlib
import posixpath
import weakref
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

from isotach import _native, _opening
from isotach._constants import NOT_VALID, READ_ONLY
from isotach._dimension import Dimension
from isotach._group_attributes import GroupAttributes
from isotach._lazy import CLOSED, LazyDict
from isotach._settings import get_alignment
from isotach._types import CompoundType, EnumType, VLType, user_type
from isotach._variable import DEFAULTS, Variable, _find_dimension


class Dataset(GroupAttributes):
    """An open file, which is its root group.

    Nothing is read before it is asked for: opening costs the same for one variable and for
    100,000. It may be used by many threads at once, and it pickles: by path, or with the bytes or
    the file object it was made of.
    """

    __slots__ = (
        "__weakref__",
        "_attributes",
        "_dimensions",
        "_ending",
        "_file",
        "_groups",
        "_is_atomic",
        "_kind",
        "_native",
        "_ncstring_attrs__",
        "_path",
        "_session",
        "_settings",
        "_source",
        "_types",
        "_variables",
        "_writer",
        "auto_complex",
        "keepweakref",
        "parent",
    )
    _own_fields = __slots__
    _attributes: dict[str, Any] | None
    _dimensions: dict[str, Dimension] | None
    _ending: Any
    _file: Any
    _groups: LazyDict[Group]
    _is_atomic: bool
    _kind: tuple[str, str]
    _native: Any
    _ncstring_attrs__: bool
    _path: str
    _session: Any
    _settings: dict[str, bool]
    _source: Any
    _types: list[Any] | None
    _variables: LazyDict[Variable]
    _writer: Any
    auto_complex: bool
    keepweakref: bool
    parent: Dataset | None

    #: Variables are indexed axis by axis.
    __orthogonal_indexing__ = True

    def __init__(
        self,
        filename: Any,
        mode: str = "r",
        clobber: bool = True,
        format: str = "NETCDF4",
        diskless: bool = False,
        persist: bool = False,
        keepweakref: bool = False,
        memory: Any = None,
        encoding: str | None = None,
        parallel: bool = False,
        comm: Any = None,
        info: Any = None,
        auto_complex: bool = False,
        *,
        commit_interval: float | None = 5.0,
        durability: str = "process",
        lock: bool = True,
        atomic: bool = False,
        **kwargs: Any,
    ) -> None:
        """Opens `filename` for reading, opens it for changing it, or creates it.

        It is a path; for reading also a file object with `seek` and `read`, or the bytes of a
        file; with `memory`, which is such bytes, it is only a name. With `memory` (a size, which
        counts for nothing), a file that is created is in memory, and `close` gives its bytes; with
        `diskless` it goes to disk when it is closed, and only with `persist`.

        - `mode`: `"r"` reads; `"w"` creates, and empties what is there, but for `clobber=False`;
          `"x"` creates where nothing is; `"a"` and `"r+"` change what is there, or create it. An
          `s` behind them changes nothing.
        - `format` of a new file: `"NETCDF4"`, `"NETCDF4_CLASSIC"`, `"NETCDF3_CLASSIC"`,
          `"NETCDF3_64BIT_OFFSET"` or `"NETCDF3_64BIT_DATA"`; `"latest"` is `"NETCDF4"` with the
          chunk indexes of HDF5 1.10, which older readers do not know.
        - `keepweakref`: variables and dimensions do not keep their group alive.
        - `auto_complex`: pairs of floats named r and i, and floats along a last dimension of length
          2 that is called `_pfnc_complex`, `complex` or `ri`, are complex numbers, and complex
          dtypes can be written.
        - `encoding`, `comm` and `info` count for nothing; `parallel=True` is refused.

        A file that is written is at every time what it was after the last `sync`, also where the
        process is killed. What is changed is in it after `commit_interval` seconds even without
        `sync`; with None only `sync` and `close` do that. With `durability="power"` commits also
        wait until the medium has them. While it is written nobody else can write it; `lock=False`
        is for file systems whose locks do not work. With `atomic`, mode `"w"` leaves a file that is
        there as it is until `close`, which puts the new one in its place; without `close`, or where
        a `with` block ends by an exception, the new one is dropped.

        `FileNotFoundError`, `PermissionError` or another `OSError` where it cannot be opened or
        another program writes to it, `ValueError` where the options do not fit.
        """
        mode, clobber = _opening.checked_mode(mode, clobber, filename, memory)
        if atomic and not (mode[0] == "w" and clobber):
            raise ValueError("atomic goes with mode 'w' and clobber")
        if parallel:
            raise ValueError("parallel mode requires MPI enabled netcdf-c")
        source = _opening.source_of(filename, memory, encoding)
        put = object.__setattr__
        put(self, "_session", None)
        put(self, "_writer", None)
        put(self, "_ending", None)
        put(self, "_is_atomic", False)
        if mode[0] == "r":
            file = _opening.open_source(source)
        else:
            in_memory = diskless or memory is not None
            how: dict[str, Any] = {"durability": durability, "lock": lock}
            how.update(commit_interval=commit_interval, alignment=get_alignment())
            path = str(source[2] if memory is not None else source[1])
            if mode[0] == "a":
                content = pathlib.Path(path).read_bytes() if diskless else None
                session = _native.edit(path, content=content, **how)
            else:
                how.update(in_memory=in_memory, clobber=clobber, atomic=atomic)
                session = _native.create(path, format=format, **how)
            file = session.file()
            put(self, "_session", session)
            put(self, "_writer", session.root())
            keep = path if diskless and persist and memory is None else None
            end: Any = _opening.discard if atomic else _opening.end
            put(self, "_ending", weakref.finalize(self, end, session, keep))
            put(self, "_is_atomic", atomic)
        put(self, "_source", (source, {"keepweakref": keepweakref, "auto_complex": auto_complex}))
        put(self, "_file", file)
        put(self, "_kind", _opening.kind_of(file))
        put(self, "_path", "/")
        put(self, "parent", None)
        put(self, "keepweakref", keepweakref)
        put(self, "auto_complex", auto_complex)
        put(self, "_ncstring_attrs__", False)
        put(self, "_settings", dict(DEFAULTS))
        self._start(file.root())

    def _start(self, native: Any) -> None:
        put = object.__setattr__
        put(self, "_native", native)
        put(self, "_attributes", None)
        put(self, "_dimensions", None)
        put(self, "_types", None)
        # A group whose dict is all that is left of it is still needed by the dict.
        me = weakref.ref(self) if self.keepweakref else lambda: self
        put(self, "_variables", LazyDict(_names(me, "variable_names"), _maker(me, "_variable")))
        put(self, "_groups", LazyDict(_names(me, "group_names"), _maker(me, "_group")))

    # What is in it

    @property
    def variables(self) -> dict[str, Variable]:
        """Its variables by name."""
        return self._variables

    @property
    def groups(self) -> dict[str, Group]:
        """Its groups by name."""
        return self._groups

    @property
    def dimensions(self) -> dict[str, Dimension]:
        """Its dimensions by name."""
        found: dict[str, Dimension] | None = self._dimensions
        if found is None:
            found = {
                name: Dimension(self, name, length, unlimited=unlimited, defined=True)
                for name, length, unlimited, _ in self._native.dimensions()
            }
            object.__setattr__(self, "_dimensions", found)
        return found

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

    def _types_of(self, kind: type[Any]) -> dict[str, Any]:
        found = self._types
        if found is None:
            found = [user_type(described, file=self._file) for described in self._native.types()]
            object.__setattr__(self, "_types", found)
        return {user.name: user for user in found or () if isinstance(user, kind)}

    def _variable(self, name: str) -> Variable | None:
        native = self._native.variable(name)
        return None if native is None else Variable(self, name, native=native)

    def _group(self, name: str) -> Group | None:
        native = self._native.group(name)
        return None if native is None else Group(self, name, native=native)

    def _find_dimension(self, name: str, length: int, unlimited: bool, path: str) -> Dimension:
        """The dimension that a variable of this group is on: here or in a group above."""
        group: Dataset | None = self
        while group is not None:
            if group.path == path and name in group.dimensions:
                return group.dimensions[name]
            group = group.parent
        return Dimension(self, name, length, unlimited=unlimited, defined=True)

    def __getitem__(self, elem: str) -> Variable | Group | Dataset:
        directory, last = posixpath.split(posixpath.normpath(elem))
        group: Dataset = self
        for name in directory.split("/"):
            if name:
                group = group.groups[name]
        if last in group.groups:
            return group.groups[last]
        try:
            return group.variables[last]
        except KeyError:
            raise IndexError(f"{last} not found in {group.path}") from None

    def __iter__(self) -> NoReturn:
        raise TypeError("Dataset is not iterable. Consider iterating on Dataset.variables.")

    def __contains__(self, key: Any) -> NoReturn:
        raise TypeError(
            "Dataset does not support membership operations. Perhaps try 'varname in"
            " dataset.variables' or 'dimname in dataset.dimensions'."
        )

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

    def left_out(self) -> list[tuple[str, str]]:
        """Paths of objects in this group that could not be shown, and why."""
        found: list[tuple[str, str]] = self._native.left_out()
        return found

    # What it is

    @property
    def data_model(self) -> str:
        """netCDF's name of the data model, such as `NETCDF4`."""
        return self._kind[0]

    @property
    def file_format(self) -> str:
        """The same as `data_model`."""
        return self._kind[0]

    @property
    def disk_format(self) -> str:
        """`HDF5` or `NETCDF3`."""
        return self._kind[1]

    @property
    def _is_netcdf4(self) -> bool:
        return self._kind[0] in ("NETCDF4", "NETCDF4_CLASSIC")

    @property
    def path(self) -> str:
        """Path of the group, `/` for the root group."""
        return self._path

    @property
    def name(self) -> str:
        """Last part of the path, `/` for the root group."""
        self._check()
        return posixpath.basename(self._path) or "/"

    def filepath(self, encoding: str | None = None) -> str:
        """The path that the file was opened by."""
        self._check()
        name: str = self._file.name
        return name

    def _check(self) -> None:
        if self._native is CLOSED:
            raise RuntimeError(NOT_VALID)

    # Open and closed

    def isopen(self) -> bool:
        """Whether the file is open."""
        return self._native is not CLOSED

    def close(self) -> memoryview | None:
        """Closes the file; what has been read from it stays. What was written is in the file now,
        all of it or nothing, as `sync` says.

        Gives the bytes of a file that was created in memory.
        """
        self._check()
        if self._ending is None:
            self._close()
            return None
        ending = self._ending.detach()
        if ending is None:
            raise RuntimeError(NOT_VALID)
        try:
            written = _opening.end(*ending[2])
        finally:
            self._close()
        in_memory = self._source[0][0] == "memory"
        return memoryview(written) if in_memory and written is not None else None

    def discard(self) -> None:
        """Closes a file that is written without what was changed since the last commit.

        The file is what `sync` made of it last; a new one that was never committed is gone. But
        what stood in a classic file, or in a variable of numbers without chunks of more than
        64 KiB, and was written over stays so.
        """
        self._check()
        if self._ending is None:
            raise RuntimeError(READ_ONLY)
        session = self._session
        self._ending.detach()
        self._close()
        session.discard()

    def refresh(self) -> bool:
        """Shows the file as its newest commit has it, or the file that has taken its place.

        Tells whether it was read anew; where nothing has changed since, that costs one call to
        the operating system. Variables, dimensions and groups that were asked for before show
        the new state, too; those that are not there any more are as after `close`. Of no effect on
        a file that is written, and on bytes in memory.
        """
        self._check()
        root: Dataset = self
        while root.parent is not None:
            root = root.parent
        if root._session is not None or root._source[0][0] == "memory":
            return False
        is_object = root._source[0][0] == "object"
        file = _opening.open_source(root._source[0]) if is_object else root._file.refresh()
        if file is not None:
            root._renew(file, file.root())
        return file is not None

    def _renew(self, file: Any, native: Any) -> None:
        """Shows this group as it is in `file`."""
        put = object.__setattr__
        put(self, "_file", file)
        put(self, "_kind", _opening.kind_of(file))
        put(self, "_native", native)
        put(self, "_attributes", None)
        put(self, "_types", None)
        known = self._dimensions
        put(self, "_dimensions", None)
        for name, dimension in (known or {}).items():
            if name in self.dimensions:
                self.dimensions[name] = dimension._renewed(self.dimensions[name])
        self._variables.renew(lambda name, made: made._renew(native.variable(name)))
        self._groups.renew(lambda name, made: made._renewed(file, native.group(name)))

    def _renewed(self, file: Any, native: Any) -> bool:
        """The same, where the group is still there: tells whether it is."""
        if native is None:
            self._close()
            return False
        self._renew(file, native)
        return True

    def _close(self) -> None:
        for variable in self._variables.made():
            variable._close()
        for group in self._groups.made():
            group._close()
        put = object.__setattr__
        put(self, "_native", CLOSED)
        put(self, "_file", CLOSED)
        put(self, "_writer", CLOSED)
        put(self, "_session", CLOSED)
        put(self, "_attributes", None)

    def __enter__(self) -> Dataset:
        return self

    def __exit__(self, kind: Any = None, *exception: object) -> None:
        if kind is not None and self._is_atomic:
            self.discard()
        else:
            self.close()

    def sync(self) -> None:
        """Makes all that was defined and written since the last time a part of the file, or nothing
        of it where that fails or the writer is killed; of no effect on a file that is only read.

        Not all or nothing is what is written over in a classic file, or in a variable of numbers
        without chunks of more than 64 KiB: it is in the file at once. Appending writes over
        nothing.
        """
        self._check()
        if self._session is not None:
            self._session.commit()

    def _writing(self) -> _native.GroupWriter:
        """What changes the group; an error where the file is only read or closed."""
        if self._writer is None:
            raise RuntimeError(READ_ONLY)
        writer: _native.GroupWriter = self._writer
        return writer

    def set_fill_on(self) -> None:
        """Has elements of variables created from now on read as fill values until written."""
        self._writing()
        self._session.set_fill(True)

    def set_fill_off(self) -> None:
        """Leaves open what elements of variables created from now on read as until written."""
        self._writing()
        self._session.set_fill(False)

    # How reads are shown

    def _walk_made(self) -> Iterator[Dataset]:
        yield self
        for group in self._groups.made():
            yield from group._walk_made()

    def _set(self, **settings: bool) -> None:
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

    def set_ncstring_attrs(self, value: bool) -> None:
        """Says whether text attributes that are set from now on are netCDF's strings."""
        for group in self._walk_made():
            object.__setattr__(group, "_ncstring_attrs__", bool(value))
            for variable in group._variables.made():
                variable.set_ncstring_attrs(value)

    # Filters and CDL

    def has_blosc_filter(self) -> bool:
        """Whether blosc can be read and written: it can."""
        return True

    def has_zstd_filter(self) -> bool:
        """Whether zstandard can be read and written: it can."""
        return True

    def has_bzip2_filter(self) -> bool:
        """Whether bzip2 can be read and written: it can."""
        return True

    def has_szip_filter(self) -> bool:
        """Whether szip can be read and written: it can."""
        return True

    def tocdl(self, coordvars: bool = False, data: bool = False, outfile: Any = None) -> str | None:
        """The whole file as CDL, as it is now: without values, or with `data` with all, or with
        those of coordinate variables if `coordvars`. It is written to `outfile` if there is one.
        """
        self._check()
        text: str = self._file.cdl(coordvars, data)
        if outfile is None:
            return text
        pathlib.Path(outfile).write_text(text, encoding="utf-8")
        return None

    @staticmethod
    def fromcdl(
        cdlfilename: str | os.PathLike[str],
        ncfilename: str | os.PathLike[str] | None = None,
        mode: str = "a",
        format: str = "NETCDF4",
    ) -> Dataset:
        """Creates a file from a text in CDL, as `ncgen` does, and opens it.

        It is `ncfilename`, or else the text's path with the suffix `.nc`, and must not be there yet
        (`FileExistsError`). `ValueError` says what is wrong with the text, and where.
        """
        text = pathlib.Path(cdlfilename)
        path = text.with_suffix(".nc") if ncfilename is None else pathlib.Path(ncfilename)
        content = text.read_bytes()
        if path.exists():
            raise FileExistsError(f"{path} is there already")
        _native.generate(str(path), content, format)
        return Dataset(path, mode)

    # Defining what is in it

    def createDimension(self, dimname: str, size: int | None = None) -> Dimension:
        """Defines a dimension of `size` elements; without a size, or with 0, an unlimited one.

        `RuntimeError` where there is one of that name, or the format has no second unlimited one.
        """
        dimensions = self.dimensions
        dimensions[dimname] = Dimension(self, dimname, size=size)
        return dimensions[dimname]

    def createVariable(
        self, varname: str, datatype: Any, dimensions: Any = (), *args: Any, **kwargs: Any
    ) -> Variable:
        """Defines a variable; groups of its path that are not there are created.

        `datatype` is a dtype or what makes one, `str`, or a `CompoundType`, `VLType` or
        `EnumType`; `dimensions` are names or `Dimension`s, outermost first, none for a scalar. The
        other options, in this order:

        - `compression=None`: `"zlib"`, `"szip"`, `"zstd"`, `"bzip2"`, or one of Blosc's:
          `"blosc_lz"`, `"blosc_lz4"`, `"blosc_lz4hc"`, `"blosc_zlib"`, `"blosc_zstd"`, or
          Blosc 2's, which are named `"blosc2_lz"` and so on and are not netCDF4-python's
        - `zlib=False`: the same as `compression="zlib"`
        - `complevel=4`: how hard it tries; 0 for no compression
        - `shuffle=True`: bytes of equal significance together, before zlib
        - `szip_coding="nn"` or `"ec"`, `szip_pixels_per_block=8`
        - `blosc_shuffle=1`: 0 for none, 1 by bytes, 2 by bits; in Blosc 2 also 3, differences
        - `fletcher32=False`: a checksum of each chunk
        - `contiguous=False`: in one piece, which can neither grow nor be compressed
        - `chunksizes=None`: elements of a chunk along each dimension; a shape that serves maps and
          series is chosen where none is given
        - `endian="native"`: byte order in the file, or `"little"` or `"big"`
        - `least_significant_digit=None`: decimal digit that assigned numbers are rounded to
        - `significant_digits=None`: decimal digits (of `BitRound`: bits) that are kept
        - `quantize_mode="BitGroom"`, `"BitRound"` or `"GranularBitRound"`: how the others go
        - `fill_value=None`: what elements read as until they are written, instead of netCDF's own
          value; False leaves that open, `"default"` states netCDF's own
        - `chunk_cache=None`: remembered, and of no effect

        In classic files those on storage have no effect. `RuntimeError` where there is a variable
        of that name or the format does not have such a one, `ValueError` or `TypeError` where the
        options do not fit.
        """
        directory, name = posixpath.split(posixpath.normpath(varname))
        group = self.createGroup(directory) if directory else self
        if isinstance(dimensions, (str, bytes, Dimension)):
            dimensions = (dimensions,)
        found = tuple(_find_dimension(group, dimension) for dimension in dimensions)
        variable = Variable(group, name, datatype, found, *args, **kwargs)
        group._variables[name] = variable
        return variable

    def createGroup(self, groupname: str) -> Dataset:
        """Defines a group, or a path of groups; those that are there stay."""
        group: Dataset = self
        for name in posixpath.normpath(groupname).split("/"):
            if name and name not in group.groups:
                group._groups[name] = Group(group, name)
            group = group.groups[name] if name else group
        return group

    def createCompoundType(self, datatype: Any, datatype_name: str) -> CompoundType:
        """Defines a compound type with the members of the structured dtype `datatype`.

        Strings in it are arrays of characters; compound members are of types that are there.
        """
        defined = CompoundType(self, datatype, datatype_name)
        object.__setattr__(self, "_types", None)
        return defined

    def createVLType(self, datatype: Any, datatype_name: str) -> VLType:
        """Defines a type of sequences of any length of numbers of the dtype `datatype`."""
        defined = VLType(self, datatype, datatype_name)
        object.__setattr__(self, "_types", None)
        return defined

    def createEnumType(
        self, datatype: Any, datatype_name: str, enum_dict: dict[str, int]
    ) -> EnumType:
        """Defines a type of named integers of a dtype; `enum_dict` has their values."""
        defined = EnumType(self, datatype, datatype_name, enum_dict)
        object.__setattr__(self, "_types", None)
        return defined

    def renameDimension(self, oldname: str, newname: str) -> None:
        """Renames a dimension, for all variables along it; `KeyError` where there is none."""
        self._writing()
        if oldname not in self.dimensions:
            raise KeyError(f"{oldname} not a valid dimension name")
        self.dimensions[oldname]._rename(newname)
        self.dimensions[newname] = self.dimensions.pop(oldname)

    def renameVariable(self, oldname: str, newname: str) -> None:
        """Renames a variable; `KeyError` where there is none."""
        self._writing()
        if oldname not in self.variables:
            raise KeyError(f"{oldname} not a valid variable name")
        # What is not known yet would be looked for by its old name.
        self._variables.fill()
        self.variables[oldname]._rename(newname)
        self.variables[newname] = self.variables.pop(oldname)

    def renameGroup(self, oldname: str, newname: str) -> None:
        """Renames a group; `KeyError` where there is none."""
        self._writing()
        if oldname not in self.groups:
            raise KeyError(f"{oldname} not a valid group name")
        self._groups.fill()
        group = self.groups[oldname]
        group._writer.rename(newname)
        self.groups[newname] = self.groups.pop(oldname)
        group._moved(self, newname)

    def _moved(self, parent: Dataset, name: str) -> None:
        """The group, or one above it, was renamed."""
        put = object.__setattr__
        put(self, "_path", posixpath.join(parent.path, name))
        put(self, "_native", parent._native.group(name))
        put(self, "_types", None)
        for group in self._groups.made():
            group._moved(self, posixpath.basename(group._path))

    # How it is shown and sent

    def __repr__(self) -> str:
        lines = [repr(type(self))]
        if self._path == "/":
            lines.append(f"root group ({self.data_model} data model, file format {self._kind[1]}):")
        else:
            lines.append(f"group {self._path}:")
        lines += [f"    {name}: {self.getncattr(name)!s}" for name in self.ncattrs()]
        sizes = [f"{name}({len(dimension)})" for name, dimension in self.dimensions.items()]
        variables = [
            f"{variable.dtype} {name}({', '.join(variable.dimensions)})"
            for name, variable in self.variables.items()
        ]
        lines.append(f"    dimensions(sizes): {', '.join(sizes)}")
        lines.append(f"    variables(dimensions): {', '.join(variables)}")
        lines.append(f"    groups: {', '.join(self.groups)}")
        return "\n".join(lines)

    def __reduce__(self) -> tuple[Any, ...]:
        self._check()
        if self._writer is not None:
            raise NotImplementedError("a Dataset that is being written cannot be pickled")
        (kind, what, name), options = self._source
        if kind == "path":
            # Whoever unpickles it may have another working directory.
            what = os.path.abspath(what)
        return (_reopened, ((kind, what, name), options, self._settings))


class Group(Dataset):
    """A group in a file, with a path of its own."""

    __slots__ = ()

    def __init__(self, parent: Dataset, name: str, **kwargs: Any) -> None:
        """Defines a group, as `Dataset.createGroup` does."""
        native = kwargs.get("native")
        put = object.__setattr__
        if native is None:
            writer = parent._writing().define_group(name)
            native = parent._native.group(name)
        else:
            writer = parent._writer and parent._writer.group(name)
        put(self, "_writer", writer)
        put(self, "_session", parent._session)
        put(self, "_ending", None)
        put(self, "_is_atomic", False)
        put(self, "_source", None)
        put(self, "_file", parent._file)
        put(self, "_kind", parent._kind)
        put(self, "_path", posixpath.join(parent.path, name))
        put(self, "parent", parent)
        put(self, "keepweakref", parent.keepweakref)
        put(self, "auto_complex", parent.auto_complex)
        put(self, "_ncstring_attrs__", parent._ncstring_attrs__)
        put(self, "_settings", dict(parent._settings))
        self._start(native)

    def close(self) -> NoReturn:
        """Groups cannot be closed, only files."""
        raise OSError("cannot close a `Group` (only applies to Dataset)")

    def __reduce__(self) -> tuple[Any, ...]:
        return (_group_of, (self.parent, posixpath.basename(self._path)))


def _reopened(
    source: tuple[str, Any, str | None], options: dict[str, Any], settings: dict[str, bool]
) -> Dataset:
    kind, what, name = source
    if kind == "memory":
        dataset = Dataset(name or "<memory>", memory=what, **options)
    else:
        if kind == "object" and isinstance(what, io.IOBase):
            what.seek(0)
        dataset = Dataset(what, **options)
    dataset._settings.update(settings)
    return dataset


def _group_of(parent: Dataset, name: str) -> Group:
    return parent.groups[name]


def _names(me: Callable[[], Any], method: str) -> Any:
    def names() -> Any:
        return getattr(me()._native, method)()

    return names


def _maker(me: Callable[[], Any], method: str) -> Any:
    def make(name: str) -> Any:
        return getattr(me(), method)(name)

    return make


def _equal(left: Any, right: Any) -> bool:
    same = left == right
    return bool(same) if not hasattr(same, "all") else bool(same.all())
