"""What packages take from `netCDF4._netCDF4`: classes, functions and tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from isotach._characters import chartostring, stringtoarr, stringtochar
from isotach._complex import dtype_is_complex
from isotach._constants import (
    NUMPY_CODES,
    RESERVED,
    default_encoding,
    default_fillvals,
    is_native_big,
    is_native_little,
    unicode_error,
)
from isotach._dataset import Dataset, Group
from isotach._dimension import Dimension
from isotach._filters import _BLOSC_COMPRESSORS, _SZIP_CODINGS
from isotach._multifile import MFDataset, MFTime, _Dimension, _Variable
from isotach._settings import (
    NetCDF4MissingFeatureException,
    __has_blosc_support__,
    __has_bzip2_support__,
    __has_cdf5_format__,
    __has_nc_create_mem__,
    __has_nc_inq_format_extended__,
    __has_nc_inq_path__,
    __has_nc_open_mem__,
    __has_nc_rc_set__,
    __has_ncfilter__,
    __has_parallel4_support__,
    __has_parallel_support__,
    __has_pnetcdf_support__,
    __has_quantization_support__,
    __has_rename_grp__,
    __has_set_alignment__,
    __has_szip_support__,
    __has_zstandard_support__,
    __hdf5libversion__,
    __netcdf4libversion__,
    __version__,
    get_alignment,
    get_chunk_cache,
    getlibversion,
    rc_get,
    rc_set,
    set_alignment,
    set_chunk_cache,
)
from isotach._types import CompoundType, EnumType, VLType
from isotach._variable import Variable
from isotach.utils import (
    _find_dim,
    _is_int,
    _out_array_shape,
    _quantize,
    _safecast,
    _sortbylist,
    _tostr,
    _walk_grps,
)

if TYPE_CHECKING:
    from cftime import date2index, date2num, num2date

#: What `netCDF4` itself makes public.
__all__ = [
    "CompoundType",
    "Dataset",
    "Dimension",
    "EnumType",
    "Group",
    "MFDataset",
    "MFTime",
    "NetCDF4MissingFeatureException",
    "VLType",
    "Variable",
    "chartostring",
    "date2index",
    "date2num",
    "default_encoding",
    "default_fillvals",
    "dtype_is_complex",
    "get_alignment",
    "get_chunk_cache",
    "getlibversion",
    "is_native_big",
    "is_native_little",
    "num2date",
    "rc_get",
    "rc_set",
    "set_alignment",
    "set_chunk_cache",
    "stringtoarr",
    "stringtochar",
    "unicode_error",
]

NC_DISKLESS = 8
NC_PERSIST = 16384

#: netCDF's numbers of types, by NumPy's codes, and back.
_nptonctype = dict(
    zip(
        map(NUMPY_CODES.__getitem__, ["byte", "char", "short", "int", "float", "double"]),
        range(1, 7),
        strict=True,
    )
) | {"u1": 7, "u2": 8, "u4": 9, "i8": 10, "u8": 11}
_nctonptype = {number: code for code, number in _nptonctype.items()}
_intnptonctype = {code: number for code, number in _nptonctype.items() if code[0] in "iu"}
_supportedtypes = _nptonctype.keys()

#: Numbers of formats and the flags that create them, by name.
_format_dict = {
    "NETCDF3_CLASSIC": 1,
    "NETCDF4_CLASSIC": 4,
    "NETCDF4": 3,
    "NETCDF3_64BIT_OFFSET": 2,
    "NETCDF3_64BIT_DATA": 5,
    "NETCDF3_64BIT": 2,
}
_reverse_format_dict = {
    number: name for name, number in _format_dict.items() if name != "NETCDF3_64BIT"
}
_cmode_dict = {
    "NETCDF3_CLASSIC": 0x100,
    "NETCDF4_CLASSIC": 0x1100,
    "NETCDF4": 0x1000,
    "NETCDF3_64BIT_OFFSET": 0x200,
    "NETCDF3_64BIT_DATA": 0x20,
    "NETCDF3_64BIT": 0x200,
}
_parallel_formats: list[str] = []

#: Byte orders by NumPy's signs, and options of filters by their names.
_dtype_endian_lookup = {"=": "native", ">": "big", "<": "little", "|": None, None: None}
_blosc_dict = {name: number for number, name in enumerate(_BLOSC_COMPRESSORS)}
_blosc_dict_inv = dict(enumerate(_BLOSC_COMPRESSORS))
_szip_dict = _SZIP_CODINGS
_szip_dict_inv = {number: name for name, number in _szip_dict.items()}

_private_atts = tuple(RESERVED)


def __getattr__(name: str) -> Any:
    """The functions on dates, which load cftime."""
    if name not in ("date2index", "date2num", "num2date"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import cftime

    return globals().setdefault(name, getattr(cftime, name))


def _gethdf5libversion() -> str:
    return __hdf5libversion__
