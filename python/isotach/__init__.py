"""Reads and writes netCDF-4 and classic netCDF, and reads HDF5, at the speed of the machine.

The interface is netCDF4-python's: a program runs unchanged after ``import isotach as netCDF4``.
xarray finds the package as ``engine="isotach"``.
"""

import importlib
from types import FunctionType
from typing import TYPE_CHECKING, Any

from isotach._attributes import Attributes
from isotach._characters import chartostring, stringtoarr, stringtochar
from isotach._complex import dtype_is_complex
from isotach._constants import (
    default_encoding,
    default_fillvals,
    is_native_big,
    is_native_little,
    unicode_error,
)
from isotach._dataset import Dataset, Group
from isotach._dimension import Dimension
from isotach._group_members import GroupMembers
from isotach._multifile import MFDataset, MFTime
from isotach._native import cache_statistics, set_cache_budget
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

if TYPE_CHECKING:
    from cftime import date2index, date2num, num2date

    from isotach._stand_in import replace_netcdf4
    from isotach._to_netcdf import save_mfdataset, to_netcdf

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
    "__has_blosc_support__",
    "__has_bzip2_support__",
    "__has_cdf5_format__",
    "__has_nc_create_mem__",
    "__has_nc_inq_format_extended__",
    "__has_nc_inq_path__",
    "__has_nc_open_mem__",
    "__has_nc_rc_set__",
    "__has_ncfilter__",
    "__has_parallel4_support__",
    "__has_parallel_support__",
    "__has_pnetcdf_support__",
    "__has_quantization_support__",
    "__has_rename_grp__",
    "__has_set_alignment__",
    "__has_szip_support__",
    "__has_zstandard_support__",
    "__hdf5libversion__",
    "__netcdf4libversion__",
    "__version__",
    "cache_statistics",
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
    "replace_netcdf4",
    "save_mfdataset",
    "set_alignment",
    "set_cache_budget",
    "set_chunk_cache",
    "stringtoarr",
    "stringtochar",
    "to_netcdf",
    "unicode_error",
]

# Classes are shown and pickled by the name that users know.
for _public in (
    CompoundType,
    Dataset,
    Dimension,
    EnumType,
    Group,
    MFDataset,
    MFTime,
    VLType,
    Variable,
):
    _public.__module__ = __name__
# So are methods, in what Python says of wrong arguments: classes that they are written in are no
# names that users know.
for _written_in, _known_as in ((GroupMembers, "Dataset."), (Attributes, "")):
    for _method in vars(_written_in).values():
        while isinstance(_method, FunctionType):
            _method.__qualname__ = f"{_known_as}{_method.__name__}"
            # A request is told by the method that it calls.
            _method = getattr(_method, "__wrapped__", None)
del _public, _written_in, _known_as, _method


def __getattr__(name: str) -> Any:
    """What needs cftime or xarray, which are loaded for who uses them: loading cftime makes an
    interpreter without a lock take one, and xarray may not be there. The stand-in for netCDF4
    takes up the whole of this module."""
    if name in ("date2index", "date2num", "num2date"):
        import cftime as home
    elif name in ("to_netcdf", "save_mfdataset"):
        import isotach._to_netcdf as home
    elif name == "replace_netcdf4":
        import isotach._stand_in as home
    elif name in ("_netCDF4", "utils"):
        # Modules that netCDF4-python's users find without importing them.
        return importlib.import_module(f"{__name__}.{name}")
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return globals().setdefault(name, getattr(home, name))


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
