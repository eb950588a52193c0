"""What is defined in a file that is being written, in the words of the native part.

Types are CDL's words, or `(native group, name)` for user-defined ones.
"""

from __future__ import annotations

import inspect
import sys
import warnings
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from isotach import _native
from isotach._complex import DIMENSIONS, TYPES, pair_of
from isotach._constants import NUMPY_CODES, default_fillvals
from isotach._filters import compression_filters
from isotach._string_dtype import KIND, as_objects, is_string_dtype

if TYPE_CHECKING:
    from isotach._dimension import Dimension
    from isotach._group_members import GroupMembers

#: CDL's words by NumPy's codes.
WORDS = {code: word for word, code in NUMPY_CODES.items() if word != "string"}
#: Models without strings, groups and user-defined types.
_ENHANCED = "NETCDF4"
_WITH_INT64 = ("NETCDF4", "NETCDF3_64BIT_DATA")

TypeName = str | tuple[_native.GroupWriter, str]


def attribute(
    group: GroupMembers, name: str, value: Any, force_string: bool = False
) -> tuple[TypeName, Any]:
    """An attribute's type and values, as netCDF4-python chooses them."""
    array = np.array(value)
    if array.ndim > 1:
        raise ValueError("multi-dimensional array attributes not supported")
    if is_string_dtype(array.dtype):
        array = np.asarray(as_objects(array, None, f"attribute {name!r}"), "U")
    if array.dtype.kind in "SU":
        return _text(group, array, force_string)
    if array.dtype.kind == "V" and array.dtype.names:
        return find_compound(group, array.dtype), array.reshape(-1)
    code = array.dtype.str[1:]
    if code not in WORDS:
        raise TypeError(
            f"illegal data type for attribute {name!r}, must be one of {[*WORDS]}, got {code}"
        )
    if code == "i8" and group.data_model not in _WITH_INT64:
        array, code = array.astype("i4"), "i4"
    return WORDS[code], array.reshape(-1)


def _text(group: GroupMembers, array: npt.NDArray[Any], force_string: bool) -> tuple[TypeName, Any]:
    enhanced = group.data_model == _ENHANCED
    if array.size > 1:
        if not enhanced:
            raise OSError("array string attributes can only be written with NETCDF4")
        return "string", list(array.tolist())
    text = array.item() if array.ndim == 0 else "".join(array.tolist())
    encoded = text.encode("utf-8") if isinstance(text, str) else text
    as_string = enhanced and (force_string or (array.dtype.kind == "U" and not encoded.isascii()))
    return ("string", [encoded]) if as_string else ("char", encoded or b"\0")


def find_compound(group: GroupMembers, dtype: np.dtype[Any]) -> TypeName:
    """The compound type with these members, of this group or one above."""
    for above in _with_parents(group):
        for name, known in above.cmptypes.items():
            same = known.dtype.names == dtype.names and _formats(known.dtype) == _formats(dtype)
            if same or _formats(known.dtype_view) == _formats(dtype):
                return above._writing(), name
    raise ValueError("cannot find compound type in this group or parent groups")


def _with_parents(group: GroupMembers) -> Iterator[GroupMembers]:
    above: GroupMembers | None = group
    while above is not None:
        yield above
        above = above.parent


def _formats(dtype: np.dtype[Any]) -> list[np.dtype[Any]]:
    return [dtype[name] for name in dtype.names or ()]


def compound(group: GroupMembers, dtype: np.dtype[Any]) -> dict[str, Any]:
    """A new compound type with the members of a structured dtype."""
    fields = []
    for name in dtype.names or ():
        member = dtype[name]
        base, shape = member.base, list(member.shape)
        if base.names is not None:
            if shape:
                raise TypeError("nested structured dtype arrays not supported")
            fields.append((name, find_compound(group, base), shape))
        elif base.str[1:] in WORDS:
            fields.append((name, WORDS[base.str[1:]], shape))
        else:
            raise ValueError("Unsupported compound type element")
    return {"class": "compound", "fields": fields}


def vlen(dtype: np.dtype[Any]) -> dict[str, Any]:
    """A new type of sequences of numbers."""
    if dtype.str[1:] not in WORDS:
        raise KeyError("unsupported datatype specified for VLEN")
    return {"class": "vlen", "base": WORDS[dtype.str[1:]]}


def enum(dtype: np.dtype[Any], members: dict[str, int]) -> dict[str, Any]:
    """A new type of named integers."""
    if dtype.kind not in "iu" or dtype.str[1:] not in WORDS:
        raise KeyError("unsupported datatype specified for ENUM (must be integer)")
    values = [(name, int(np.array(value, dtype))) for name, value in members.items()]
    return {"class": "enum", "base": WORDS[dtype.str[1:]], "members": values}


def type_name(group: GroupMembers, user: Any) -> TypeName:
    """A user-defined type: where it was defined, or what has its name here or above."""
    *_, root = _with_parents(group)
    home = user._home
    if home is not None and home[0] is group._group_numbers:
        defined: Any = root if home[1] == "/" else root[home[1]]
        if defined._writing().has_type(user.name):
            return defined._writing(), user.name
    for above in _with_parents(group):
        if above._writing().has_type(user.name):
            return above._writing(), user.name
    raise RuntimeError(f"NetCDF: Bad type ID: {user.name}")


def complex_storage(
    group: GroupMembers, dtype: np.dtype[Any]
) -> tuple[TypeName, tuple[Dimension, ...]]:
    """The type of complex numbers, and the dimension that their parts lie along, if they do; both
    are defined where they are not there yet."""
    base = WORDS[f"f{dtype.itemsize // 2}"]
    with_parents = _with_parents(group)
    if group.data_model != _ENHANCED:
        for above in with_parents:
            for name in DIMENSIONS:
                if name in above.dimensions and len(above.dimensions[name]) == 2:
                    return base, (above.dimensions[name],)
        return base, (group.createDimension(DIMENSIONS[0], 2),)
    for above in with_parents:
        for known in above.cmptypes.values():
            if pair_of(known.dtype) == dtype:
                return (above._writing(), known.name), ()
    name = TYPES[dtype.str[1:]]
    group.createCompoundType([(part, NUMPY_CODES[base]) for part in "ri"], name)
    return (group._writing(), name), ()


class VariableOptions:
    """The options of `createVariable`, held against each other."""

    def __init__(
        self,
        group: GroupMembers,
        name: str,
        compression: Any = None,
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
    ) -> None:
        self.about = f"(variable '{name}', group '{group.name}')"
        if endian != "native" and group.data_model.startswith("NETCDF3"):
            raise RuntimeError(
                f"only endian='native' allowed for NETCDF3 files, got '{endian}' {self.about}"
            )
        if endian not in ("little", "big", "native"):
            raise ValueError(
                "'endian' keyword argument must be 'little','big' or 'native', got"
                f" '{endian}' {self.about}"
            )
        compression = compression or ("zlib" if zlib else None)
        self.filters = compression_filters(
            compression if complevel else None,
            level=complevel or 0,
            shuffle=shuffle,
            # In files without filters nobody looks at what they would be told.
            szip=(szip_coding, szip_pixels_per_block) if group._is_netcdf4 else ("nn", 8),
            blosc_shuffle=blosc_shuffle,
            fletcher32=fletcher32,
        )
        self.contiguous = contiguous
        self.chunks = None if chunksizes is None else tuple(chunksizes)
        self.endian = endian
        self.quantization = None
        if significant_digits is not None and group._is_netcdf4:
            if quantize_mode not in ("BitGroom", "GranularBitRound", "BitRound"):
                raise ValueError(
                    "'quantize_mode' keyword argument must be 'BitGroom','GranularBitRound' or"
                    f" 'BitRound', got '{quantize_mode}'"
                )
            self.quantization = (quantize_mode, significant_digits)
        self.least_significant_digit = least_significant_digit
        self.fill_value = fill_value
        self.chunk_cache = chunk_cache

    def layout(self, dimensions: Sequence[Dimension]) -> dict[str, Any]:
        """How a variable of a netCDF-4 file is stored; a scalar has no choice."""
        if not dimensions:
            return {}
        if self.contiguous and self.chunks is not None:
            raise ValueError("cannot specify chunksizes for a contiguous dataset")
        if self.chunks is not None:
            if len(self.chunks) != len(dimensions):
                raise ValueError("chunksizes must be a sequence with the same length as dimensions")
            for chunk, dimension in zip(self.chunks, dimensions, strict=True):
                if not dimension.isunlimited() and chunk > dimension.size:
                    raise ValueError("chunksize cannot exceed dimension size")
        return {
            "layout": "contiguous" if self.contiguous else None,
            "chunk_shape": self.chunks,
            "filters": self.filters,
        }

    def fill(self, dtype: Any, is_primitive: bool, has_fill: bool) -> Any:
        """The one element that never-written ones read as, False for nothing, None for netCDF's."""
        given = self.fill_value
        if given is None or (given is False and not is_primitive):
            return None
        if given is False:
            return False
        if isinstance(given, str) and given == "default":
            if is_primitive:
                return np.array([default_fillvals[dtype.str[1:]]], dtype)
            warnings.warn(
                "WARNING: there is no default fill value for this data type, so"
                " fill_value='default' does not do anything.",
                stacklevel=5,
            )
            return None
        if not has_fill:
            raise AttributeError("cannot set _FillValue attribute for VLEN or compound variable")
        if dtype is str:
            return [given if isinstance(given, (str, bytes)) else str(given)]
        value = np.array(given, dtype)
        if value.size != 1:
            raise AttributeError("NetCDF: Invalid argument")
        return value.reshape(1)


_SIGNATURE = inspect.signature(VariableOptions)


def variable_options(group: GroupMembers, name: str, *args: Any, **kwargs: Any) -> VariableOptions:
    """The options that a program gave to `Variable`; `TypeError` for others."""
    try:
        given = _SIGNATURE.bind(group, name, *args, **kwargs)
    except TypeError as error:
        raise TypeError(f"Variable() {error}") from None
    return VariableOptions(*given.args, **given.kwargs)


def element_dtype(datatype: Any, options: VariableOptions, group: GroupMembers) -> Any:
    """The dtype that `createVariable` was asked for; `str` for strings."""
    if datatype is not str and not isinstance(datatype, np.dtype):
        datatype = np.dtype(datatype)
    is_text = datatype is str or datatype.kind in ("U", KIND)
    if is_text or (datatype.kind == "S" and datatype.itemsize > 1):
        if group.data_model != _ENHANCED:
            raise ValueError(
                "Variable length strings are only supported for the NETCDF4 format. For other"
                " formats, consider using netCDF4.stringtochar to convert string arrays into"
                f" character arrays with an additional dimension. {options.about}"
            )
        return str
    if datatype.kind == "c":
        if not group.auto_complex:
            raise ValueError(
                f"complex datatypes ({datatype}) are only supported with `auto_complex=True`"
            )
        return datatype.newbyteorder("=")
    if datatype.str[1:] not in WORDS:
        raise TypeError(
            f"Illegal primitive data type, must be one of {[*WORDS]}, got {datatype}"
            f" {options.about}"
        )
    order = {"=": "native", "<": "little", ">": "big"}.get(datatype.byteorder)
    if order not in (None, options.endian) and not (
        order == "native" and options.endian == sys.byteorder
    ):
        warnings.warn(
            "endian-ness of dtype and endian kwarg do not match, using endian kwarg", stacklevel=5
        )
    return datatype


def define_variable(
    group: GroupMembers,
    name: str,
    datatype: Any,
    dimensions: Sequence[Dimension],
    options: VariableOptions,
) -> tuple[_native.VariableWriter, np.dtype[Any] | None]:
    """Defines a variable of `datatype`: a dtype, `str`, or a user-defined type. Gives the dtype,
    too, where it is one of numbers or characters.
    """
    user = datatype if hasattr(datatype, "_home") else None
    is_string = user is not None and user.dtype is str
    parts: Sequence[Dimension] = ()
    if user is None or is_string:
        dtype = element_dtype(str if is_string else datatype, options, group)
        is_primitive, has_fill = dtype is not str and dtype.kind != "c", True
        if dtype is str:
            of: TypeName = "string"
        elif is_primitive:
            of = WORDS[dtype.str[1:]]
        else:
            (of, parts), has_fill = complex_storage(group, dtype), False
    else:
        dtype, of, is_primitive = user.dtype, type_name(group, user), False
        has_fill = hasattr(user, "enum_dict")
    if options.endian != "native" and of in ("char", "string"):
        raise RuntimeError(
            f"NetCDF: Invalid argument: characters have no byte order, endian={options.endian!r}"
            f" is for numbers {options.about}"
        )
    stored = {}
    if group._is_netcdf4:
        stored = options.layout(dimensions)
        stored["endian"] = options.endian
        stored["quantization"] = options.quantization
        if parts and stored.get("chunk_shape"):
            stored["chunk_shape"] += (2,)
    fill = options.fill(dtype, is_primitive, has_fill)
    handles = [dimension._handle() for dimension in (*dimensions, *parts)]
    writing: _native.GroupWriter = group._writing()
    defined = writing.define_variable(name, of, handles, fill=fill, **stored)
    if options.least_significant_digit is not None:
        digits = attribute(group, "least_significant_digit", options.least_significant_digit, False)
        defined.set_attribute("least_significant_digit", *digits)
    return defined, dtype if is_primitive else None
