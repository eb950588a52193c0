"""Variables."""

from __future__ import annotations

import functools
import warnings
import weakref
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
import numpy.typing as npt

from isotach import _defining, _moving, _native
from isotach._attributes import Attributes
from isotach._complex import ComplexVariable, as_complex
from isotach._constants import NOT_NETCDF4, NOT_VALID, NUMPY_CODES, default_fillvals
from isotach._dimension import Dimension
from isotach._filters import filter_dict, quantization
from isotach._lazy import CLOSED, Closed
from isotach._locks import ProcessLock
from isotach._reading import Read, _same, raw_reader, reader
from isotach._settings import changed_chunk_cache, get_chunk_cache
from isotach._string_dtype import string_dtype
from isotach._types import (
    CompoundType,
    EnumType,
    Order,
    VLType,
    numpy_dtype,
    user_type,
)
from isotach._writing import Write, refuser, writer

if TYPE_CHECKING:
    from isotach._dataset import Dataset
    from isotach._group_members import GroupMembers

#: Byte orders as NumPy has them.
_ORDERS: dict[str, Order] = {"little": "<", "big": ">", "native": "="}

#: What `set_auto_*` has not been called for.
DEFAULTS: dict[str, Any] = {
    "mask": True,
    "scale": True,
    "always_mask": True,
    "chartostring": True,
    "string_dtype": None,
}

#: A reader is made for settings that stay as they are while it is made.
_changing = ProcessLock()


class Variable(Attributes):
    """A variable of a group: an array on dimensions, and attributes.

    `variable[...]` reads, with NumPy's indexing but for lists and arrays, which select
    orthogonally: a list of indices along each of two axes gives all their combinations.
    """

    __slots__ = (
        "__weakref__",
        "_attributes",
        "_auto_complex",
        "_cache",
        "_expected",
        "_grp",
        "_name",
        "_native",
        "_ncstring_attrs__",
        "_order",
        "_raw_read",
        "_read",
        "_rounds",
        "_settings",
        "_type",
        "_use_get_vars",
        "_write",
        "_writer",
    )
    _own_fields = __slots__
    _grp: Any
    _name: str
    _native: Any
    #: The byte order that was asked for when this process defined it.
    _order: str | None
    _raw_read: Read | None
    _read: Read | None
    _rounds: bool | None
    _settings: dict[str, Any]
    _type: tuple[Any, Any, int] | None
    _write: Write | None
    _writer: Any

    #: Axes are indexed one by one, not broadcast against each other.
    __orthogonal_indexing__ = True

    def __init__(
        self,
        grp: GroupMembers,
        name: str,
        datatype: Any = None,
        dimensions: Any = (),
        *args: Any,
        native: Any = None,
        options: _defining.VariableOptions | None = None,
        **kwargs: Any,
    ) -> None:
        """Defines a variable, as `Dataset.createVariable` does with the same options."""
        put = object.__setattr__
        put(self, "_writer", None)
        put(self, "_rounds", None)
        put(self, "_write", None)
        put(self, "_cache", None)
        put(self, "_order", None)
        put(self, "_type", None)
        settings = grp._settings
        if native is None:
            if options is None:
                options = _defining.variable_options(grp, name, *args, **kwargs)
            defined, dtype = _defining.define_variable(grp, name, datatype, dimensions, options)
            native, settings = defined.variable(), DEFAULTS
            put(self, "_writer", defined)
            put(self, "_order", options.endian)
            # Until the file is opened again, elements are of the very dtype that was asked for.
            if dtype is not None:
                put(self, "_type", (dtype, None, len(dimensions)))
            put(self, "_rounds", options.least_significant_digit is not None)
            if options.chunk_cache:
                put(self, "_cache", (int(options.chunk_cache), *get_chunk_cache()[1:]))
        put(self, "_grp", weakref.proxy(grp) if grp.keepweakref else grp)
        put(self, "_name", name)
        put(self, "_native", as_complex(native) if grp.auto_complex else native)
        put(self, "_settings", dict(settings))
        put(self, "_ncstring_attrs__", grp._ncstring_attrs__)
        put(self, "_use_get_vars", True)
        put(self, "_attributes", None)
        put(self, "_raw_read", None)
        put(self, "_read", None)
        put(self, "_expected", None)
        put(self, "_auto_complex", grp.auto_complex)

    # What it is

    @property
    def name(self) -> str:
        """Its name."""
        self._check()
        return self._name

    @property
    @_moving.request
    def dtype(self) -> Any:
        """NumPy's dtype of its elements; `str` for strings."""
        return self._described()[0]

    @property
    @_moving.request
    def datatype(self) -> Any:
        """The dtype, or the `CompoundType`, `VLType` or `EnumType`."""
        dtype, user = self._described()
        return dtype if user is None else user

    @property
    @_moving.request
    def dimensions(self) -> tuple[str, ...]:
        """Names of its dimensions, outermost first."""
        names: tuple[str, ...] = self._native.dimension_names()
        return names

    @property
    @_moving.request
    def shape(self) -> tuple[int, ...]:
        """Present length along each dimension."""
        shape: tuple[int, ...] = self._native.shape()
        return shape

    @property
    @_moving.request
    def size(self) -> int:
        """Number of its elements."""
        return int(np.prod(self.shape, dtype=object))

    @property
    @_moving.request
    def ndim(self) -> int:
        """Number of its dimensions."""
        return self._described_rank()

    def __len__(self) -> int:
        shape = self.shape
        if not shape:
            raise TypeError("len() of unsized object")
        return shape[0]

    def group(self) -> Dataset:
        """The group that it is a member of."""
        group: Dataset = self._grp
        return group

    @_moving.request
    def get_dims(self) -> tuple[Dimension, ...]:
        """Its dimensions, outermost first."""
        return tuple(self._grp._find_dimension(*found) for found in self._native.dimensions())

    def _check(self) -> None:
        if self._native is CLOSED:
            raise RuntimeError(NOT_VALID)

    def _described(self) -> tuple[Any, Any]:
        """The dtype and the user-defined type; kept, also when the file is closed."""
        found = self._type or self._describe()
        return found[0], found[1]

    def _described_rank(self) -> int:
        return (self._type or self._describe())[2]

    def _describe(self) -> tuple[Any, Any, int]:
        native: _native.Variable = self._native
        dtype, user = element_type(native, self._grp._is_netcdf4, self._grp._group_numbers)
        found = (dtype, user, len(native.dimension_names()))
        if self._expected is not None and found[::2] != self._expected[::2]:
            raise RuntimeError(
                f"variable {self._name!r} has become another one in the file, of type {dtype} and "
                f"{found[2]} dimensions: refresh() shows it"
            )
        object.__setattr__(self, "_type", found)
        return found

    @property
    def _isprimitive(self) -> bool:
        return self._described()[1] is None

    @property
    def _iscompound(self) -> bool:
        return isinstance(self._described()[1], CompoundType)

    @property
    def _isvlen(self) -> bool:
        return isinstance(self._described()[1], VLType)

    @property
    def _isenum(self) -> bool:
        return isinstance(self._described()[1], EnumType)

    @property
    def _cmptype(self) -> Any:
        return self._described()[1] if self._iscompound else None

    @property
    def _vltype(self) -> Any:
        return self._described()[1] if self._isvlen else None

    @property
    def _enumtype(self) -> Any:
        return self._described()[1] if self._isenum else None

    # More names that packages use of netCDF4-python's, though they begin with an underscore.

    @property
    def _grpid(self) -> int:
        return int(self._grp._grpid)

    @property
    @_moving.request
    def _varid(self) -> int:
        """Its place in its group."""
        self._check()
        names: list[str] = self._grp._native.variable_names()
        return names.index(self._name)

    @property
    @_moving.request
    def _nunlimdim(self) -> int:
        return sum(unlimited for _, _, unlimited, _ in self._native.dimensions())

    @property
    def _has_lsd(self) -> bool:
        return self._quantizes()

    def _getname(self) -> str:
        return self.name

    def _getdims(self) -> tuple[str, ...]:
        return self.dimensions

    # Reading

    def __getitem__(self, elem: Any) -> Any:
        read = self._read
        try:
            if read is None:
                read = self._prepared()
            # All that it calls is of one state.
            return read(elem)
        except _native.Changed:
            return self._read_anew(elem)

    @_moving.request
    def _read_anew(self, elem: Any) -> Any:
        return self._prepared()(elem)

    @_moving.request
    def _prepared(self) -> Read:
        with _changing:
            self._check()
            read = reader(self)
            object.__setattr__(self, "_read", read)
        return read

    #: `numpy.ma` asks what it is to make a masked array of.
    _baseclass = np.ndarray

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        # A mask stays where whoever asks takes it: `numpy.asanyarray`, `numpy.ma`, `numpy.mean`.
        return np.asanyarray(self[...], dtype)

    @_moving.request
    def getValue(self) -> Any:
        """The value of a scalar variable; `IndexError` for any other."""
        if self.dimensions:
            raise IndexError("to retrieve values from a non-scalar variable, use slicing")
        return self[...]

    @_moving.request
    def _raw(self) -> Read:
        """Reads elements as they are stored, unmasked and unscaled, in the variable's dtype."""
        read = self._raw_read
        if read is None:
            with _changing:
                self._check()
                read = raw_reader(self)
                object.__setattr__(self, "_raw_read", read)
        return read

    # How reads are shown

    @property
    def mask(self) -> bool:
        """Whether missing elements are masked."""
        return bool(self._settings["mask"])

    @property
    def scale(self) -> bool:
        """Whether `scale_factor`, `add_offset` and `_Unsigned` are applied."""
        return bool(self._settings["scale"])

    @property
    def always_mask(self) -> bool:
        """Whether arrays without a missing element are masked arrays too."""
        return bool(self._settings["always_mask"])

    @property
    def chartostring(self) -> bool:
        """Whether characters with an `_Encoding` become strings."""
        return bool(self._settings["chartostring"])

    @property
    def auto_complex(self) -> bool:
        """Whether the file was opened to show complex numbers."""
        return bool(self._grp.auto_complex)

    def _set(self, **settings: Any) -> None:
        with _changing:
            self._settings.update(settings)
            object.__setattr__(self, "_raw_read", None)
            object.__setattr__(self, "_read", None)
            object.__setattr__(self, "_write", None)

    def set_auto_mask(self, mask: bool) -> None:
        """Turns masks of missing elements on or off."""
        self._set(mask=bool(mask))

    def set_auto_scale(self, scale: bool) -> None:
        """Turns unpacking by `scale_factor`, `add_offset` and `_Unsigned` on or off."""
        self._set(scale=bool(scale))

    def set_auto_maskandscale(self, maskandscale: bool) -> None:
        """Turns masks and unpacking on or off."""
        self._set(mask=bool(maskandscale), scale=bool(maskandscale))

    def set_always_mask(self, always_mask: bool) -> None:
        """Says whether arrays without a missing element are masked arrays too."""
        self._set(always_mask=bool(always_mask))

    def set_auto_chartostring(self, chartostring: bool) -> None:
        """Turns strings out of characters with an `_Encoding` on or off."""
        self._set(chartostring=bool(chartostring))

    def set_string_dtype(self, dtype: Any) -> None:
        """Has strings read as `dtype`, a `numpy.dtypes.StringDType` or `"T"`; with None, as at
        first, they are objects. Where `dtype` has an `na_object`, strings that equal the variable's
        `_FillValue` are that. Other types read as before.

        `RuntimeError` before NumPy 2.0, `TypeError` for another dtype. Reading then is a
        `UnicodeEncodeError` where the bytes in the file are no text.
        """
        self._set(string_dtype=string_dtype(dtype))

    def set_ncstring_attrs(self, ncstring_attrs: bool) -> None:
        """Says whether text attributes that are set from now on are netCDF's strings."""
        object.__setattr__(self, "_ncstring_attrs__", bool(ncstring_attrs))

    def use_nc_get_vars(self, use_nc_get_vars: bool) -> None:
        """Of no effect: there is one way to read."""
        object.__setattr__(self, "_use_get_vars", bool(use_nc_get_vars))

    def set_collective(self, value: bool) -> None:
        """Of no effect: reads are never collective."""

    # Attributes

    def _own_group(self) -> GroupMembers:
        group: GroupMembers = self._grp
        return group

    def _attribute(self, name: str) -> Any:
        """An attribute's value, not to be changed; None where there is none or it is broken."""
        value = self._all().get(name)
        return None if isinstance(value, Exception) else value

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _OF_ITS_TYPE and self._isprimitive:
            cast = np.array(value, self.dtype)
            if _same(np.array(value), cast):
                value = cast
            else:
                warnings.warn(
                    f"WARNING: {name} cannot be safely cast to variable dtype", stacklevel=2
                )
        super().__setattr__(name, value)

    def setncattr(self, name: str, value: Any) -> None:
        """Sets an attribute, as for groups; `_FillValue` is set when the variable is created."""
        if name == "_FillValue":
            raise AttributeError(
                "_FillValue attribute must be set when variable is created (using fill_value"
                " keyword to createVariable)"
            )
        super().setncattr(name, value)

    def _changed(self) -> None:
        """So may be how elements are read and written."""
        put = object.__setattr__
        with _changing:
            super()._changed()
            put(self, "_raw_read", None)
            put(self, "_read", None)
            put(self, "_write", None)

    # How it is stored

    @_moving.request
    def filters(self) -> dict[str, Any] | None:
        """What its chunks go through, by names such as `zlib`, `shuffle` and `complevel`; None in
        classic files.
        """
        filters = self._native.storage()[3]
        return filter_dict(filters) if self._grp._is_netcdf4 else None

    @_moving.request
    def quantization(self) -> tuple[int, str] | None:
        """Significant digits (`BitRound`: bits) and algorithm of quantized data, or None."""
        self._check()
        return quantization(self._all())

    @_moving.request
    def endian(self) -> str:
        """Byte order in the file: `little`, `big` or `native`; `native` also of a variable that was
        defined without one, until the file is opened again.
        """
        order: str = self._native.storage()[2]
        return self._order or (order if self._grp._is_netcdf4 else "native")

    @_moving.request
    def chunking(self) -> str | list[int] | None:
        """The shape of its chunks, or `contiguous`; None in classic files.

        Who asks before the first values are in the file settles a shape that nobody has said.
        """
        kind, chunks = self._native.settled_storage()[:2]
        if not self._grp._is_netcdf4:
            return None
        return list(chunks) if kind == "chunked" else "contiguous"

    @_moving.request
    def get_fill_value(self) -> Any:
        """What elements that were never written read as; None where they are not filled."""
        fills, value = self._native.fill_value()
        if not fills:
            return None
        given = self._attribute("_FillValue")
        if given is not None:
            return given
        return np.array(value[0], self.dtype) if self._isprimitive else None

    def _fills(self) -> bool:
        return bool(self._native.fill_value()[0])

    def get_var_chunk_cache(self) -> tuple[int, int, float]:
        """The chunk cache that was set: size in bytes, number of elements, preemption.

        `RuntimeError` for classic files, which have no chunks.
        """
        self._check()
        if not self._grp._is_netcdf4:
            raise RuntimeError(NOT_NETCDF4)
        return self._cache or get_chunk_cache()

    def set_var_chunk_cache(
        self,
        size: int | None = None,
        nelems: int | None = None,
        preemption: float | None = None,
    ) -> None:
        """Remembers the settings, and that is all: all files share one cache."""
        new = changed_chunk_cache(self.get_var_chunk_cache(), size, nelems, preemption)
        object.__setattr__(self, "_cache", new)

    # Writing

    def __setitem__(self, elem: Any, data: Any) -> None:
        write = self._write
        if write is None:
            write = self._prepared_write()
        write(elem, data)

    def __delitem__(self, elem: Any) -> NoReturn:
        raise NotImplementedError("Subscript deletion not supported by isotach.Variable")

    def _prepared_write(self) -> Write:
        with _changing:
            self._check()
            write = refuser(self) if self._grp._writer is None else writer(self)
            object.__setattr__(self, "_write", write)
        return write

    def assignValue(self, val: Any) -> None:
        """Writes the value of a scalar variable; `IndexError` for any other."""
        if self.dimensions:
            raise IndexError("to assign values to a non-scalar variable, use a slice")
        self[:] = val

    def _writing(self) -> _native.VariableWriter:
        """What changes the variable; an error where the file is only read or closed."""
        if self._writer is None:
            self._check()
            object.__setattr__(self, "_writer", self._grp._writing().variable(self._name))
        found: _native.VariableWriter = self._writer
        return found

    def _quantizes(self) -> bool:
        """Whether `least_significant_digit` was there when the variable was created or opened."""
        if self._rounds is None:
            object.__setattr__(self, "_rounds", "least_significant_digit" in self._all())
        return bool(self._rounds)

    def _rename(self, name: str) -> None:
        writing = self._writing()
        writing.rename(name)
        put = object.__setattr__
        put(self, "_name", name)
        native = writing.variable()
        put(self, "_native", as_complex(native) if self._grp.auto_complex else native)
        self._changed()

    # How it is shown and sent

    @_moving.request
    def __repr__(self) -> str:
        dtype, user = self._described()
        kind = {CompoundType: "compound", VLType: "vlen", EnumType: "enum"}.get(type(user))
        lines = [repr(type(self))]
        lines.append(f"{kind or dtype} {self._name}({', '.join(self.dimensions)})")
        lines += [f"    {name}: {self.getncattr(name)!s}" for name in self.ncattrs()]
        if kind:
            lines.append(f"{kind} data type: {dtype}")
        unlimited = [name for name, _, grows, *_ in self._native.dimensions() if grows]
        if self._grp.path != "/":
            lines.append(f"path = {self._grp.path}")
        lines.append(f"unlimited dimensions: {', '.join(unlimited)}")
        lines.append(f"current shape = {self.shape!r}")
        # Types that netCDF lacks are bytes without a default.
        if user is None and dtype is not str and dtype.kind not in "cV":
            lines.append(self._filling(dtype.str[1:]))
        return "\n".join(lines)

    def _filling(self, code: str) -> str:
        if not self._fills():
            return "filling off"
        if "_FillValue" in self._all():
            return "filling on"
        if code not in default_fillvals:
            return "filling on, no default _FillValue"
        use = "ignored" if code in ("i1", "u1") else "used"
        return f"filling on, default _FillValue of {default_fillvals[code]} {use}"

    def __reduce__(self) -> tuple[Any, ...]:
        return (_of, (self._grp, self._name, dict(self._settings)))

    def _renew(self, native: _native.Variable | None, is_asked_for: bool) -> None:
        """Shows the variable as it is in the file now; None where it is not there any more. Unless
        that was asked for, it must be of the same type and rank as before.
        """
        put = object.__setattr__
        if native is None:
            now: Any = Closed(f"variable {self._name!r} is not in the file any more")
        else:
            now = as_complex(native) if self._auto_complex else native
        with _changing:
            put(self, "_expected", None if is_asked_for else self._type or self._expected)
            put(self, "_native", now)
            put(self, "_attributes", None)
            put(self, "_read", None)
            put(self, "_raw_read", None)
            put(self, "_type", None)

    def _close(self) -> None:
        self._describe_quietly()
        put = object.__setattr__
        with _changing:
            put(self, "_native", CLOSED)
            put(self, "_writer", CLOSED)
            self._changed()

    def _describe_quietly(self) -> None:
        """The type outlives the file, where it was ever looked at or is there to be had."""
        if self._type is None and self._read is not None:
            self._describe()


def element_type(native: Any, is_netcdf4: bool, file: Any = None) -> tuple[Any, Any]:
    """The dtype of a variable's elements, and the user-defined type if it has one."""
    if isinstance(native, ComplexVariable):
        return native.dtype(), None
    described = native.data_type()
    order = _ORDERS[native.storage()[2]] if is_netcdf4 else "="
    if described == "string":
        return str, VLType(None, str, None)
    if isinstance(described, str):
        return _plain_dtype(order + NUMPY_CODES[described]), None
    user = user_type(described, order, file)
    return (numpy_dtype(described), None) if user is None else (user.dtype, user)


@functools.cache
def _plain_dtype(code: str) -> np.dtype[Any]:
    return np.dtype(code)


#: Attributes that assignment brings to the variable's type.
_OF_ITS_TYPE = ("valid_min", "valid_max", "valid_range", "missing_value")


def _find_dimension(group: GroupMembers, dimension: Any) -> Dimension:
    """The dimension of that name, of this group or the nearest above."""
    if isinstance(dimension, Dimension):
        return dimension
    name = dimension.decode() if isinstance(dimension, bytes) else dimension
    above: GroupMembers | None = group
    while above is not None:
        if name in above.dimensions:
            return above.dimensions[name]
        above = above.parent
    raise ValueError(f"cannot find dimension {name} in this group or parent groups")


def _of(group: Dataset, name: str, settings: dict[str, Any]) -> Variable:
    variable: Variable = group.variables[name]
    variable._set(**settings)
    return variable
