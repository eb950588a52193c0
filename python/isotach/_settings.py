"""Versions, features, and settings that netCDF4-python has for the whole process."""

from __future__ import annotations

from importlib.metadata import version

from isotach._locks import ProcessLock

__version__ = version("isotach")

#: The releases of netCDF-C and HDF5 whose reading this package follows.
__netcdf4libversion__ = "4.10.1"
__hdf5libversion__ = "2.2.0"

__has_rename_grp__ = True
__has_nc_inq_path__ = True
__has_nc_inq_format_extended__ = True
__has_nc_open_mem__ = True
__has_nc_create_mem__ = True
__has_cdf5_format__ = True
__has_parallel_support__ = False
__has_parallel4_support__ = False
__has_pnetcdf_support__ = False
__has_quantization_support__ = True
__has_zstandard_support__ = True
__has_bzip2_support__ = True
__has_blosc_support__ = True
__has_szip_support__ = True
__has_set_alignment__ = True
__has_ncfilter__ = True
__has_nc_rc_set__ = True

_lock = ProcessLock()
_chunk_cache = (64 * 1024 * 1024, 1000, 0.75)
_alignment = (0, 0)
_rc: dict[str, str] = {}


class NetCDF4MissingFeatureException(Exception):
    """A feature that this package does not have."""

    def __init__(self, feature: str, version: str = "") -> None:
        """`version` is there for programs that raise it themselves."""
        super().__init__(f"{feature} is not available in isotach {__version__}")


def getlibversion() -> str:
    """The release of netCDF-C whose reading this package follows."""
    return f"{__netcdf4libversion__} as read by isotach {__version__} $"


def get_chunk_cache() -> tuple[int, int, float]:
    """The chunk cache that was set: size in bytes, number of elements, preemption."""
    return _chunk_cache


def set_chunk_cache(
    size: int | None = None, nelems: int | None = None, preemption: float | None = None
) -> None:
    """Remembers the settings, and that is all.

    All files share one cache here, whose budget `isotach.set_cache_budget` sets.
    """
    global _chunk_cache
    with _lock:
        _chunk_cache = changed_chunk_cache(_chunk_cache, size, nelems, preemption)


def changed_chunk_cache(
    old: tuple[int, int, float], size: int | None, nelems: int | None, preemption: float | None
) -> tuple[int, int, float]:
    """Settings with what is new in them; `OverflowError` and `RuntimeError` for what cannot be."""
    new = (
        old[0] if size is None else int(size),
        old[1] if nelems is None else int(nelems),
        old[2] if preemption is None else float(preemption),
    )
    if min(new[:2]) < 0:
        raise OverflowError("can't convert negative value to size_t")
    if not 0 <= new[2] <= 1:
        raise RuntimeError("NetCDF: Invalid argument")
    return new


def get_alignment() -> tuple[int, int]:
    """Threshold and alignment, in bytes, of what goes to HDF5 files; `(0, 0)` where never set."""
    return _alignment


def set_alignment(threshold: int, alignment: int) -> None:
    """For files that are opened or created from now on: pieces of `threshold` bytes or more begin
    at multiples of `alignment` bytes. Of no effect on classic files.
    """
    global _alignment
    with _lock:
        _alignment = (int(threshold), int(alignment))


def rc_get(key: str) -> str | None:
    """A value that was set with `rc_set`."""
    return _rc.get(key)


def rc_set(key: str, value: str) -> None:
    """Remembers a value; nothing here depends on one."""
    with _lock:
        _rc[key] = value
