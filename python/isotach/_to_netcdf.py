"""xarray's datasets and trees to files.

xarray does the work: its encoders, and its own store for netCDF4-python, which is put on
`isotach.Dataset`. What is added is that nothing takes a lock, and that files grow.
"""

from __future__ import annotations

import importlib
import itertools
import os
import posixpath
import warnings
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import IO, Any, NamedTuple

import numpy as np
import xarray as xr
from xarray.backends import locks
from xarray.backends.api import DATAARRAY_NAME, DATAARRAY_VARIABLE
from xarray.backends.common import ArrayWriter, _normalize_path
from xarray.backends.file_manager import CachingFileManager, DummyFileManager
from xarray.backends.netCDF4_ import NetCDF4ArrayWrapper, NetCDF4DataStore
from xarray.namedarray.pycompat import is_chunked_array

from isotach import _appending, _native
from isotach._dataset import Dataset
from isotach._file_lock import FileLock
from isotach._string_dtype import as_objects, is_string_dtype
from isotach.xarray_backend import STRINGS, IsotachDataStore

try:
    from xarray.backends import writers
except ImportError:
    # Where it is before xarray 2025.9.
    from xarray.backends import api as writers  # type: ignore[no-redef]

_writers: Any = writers
_locks: Any = locks
_IN_MEMORY = "<xarray-in-memory-write>"
#: Dask's schedulers whose workers are other processes.
_WORKERS = ("distributed", "multiprocessing")
_MODES = {"w": "w", "x": "x", "a": "a", "r+": "a"}


def to_netcdf(
    data: xr.Dataset | xr.DataArray | xr.DataTree,
    path: str | os.PathLike[str] | IO[bytes] | None = None,
    mode: str | None = None,
    *,
    group: str | None = None,
    format: str | None = None,
    encoding: Mapping[Any, Any] | None = None,
    unlimited_dims: Any = None,
    compute: bool = True,
    append_dim: Hashable | None = None,
    write_inherited_coords: bool = False,
    invalid_netcdf: bool = False,
    auto_complex: bool = False,
    atomic: bool | None = None,
    engine: str | None = None,
    duplicates: str = "warn",
) -> Any:
    """Writes a dataset, an array or a tree, as xarray's own `to_netcdf` does.

    `path` may be a file object, to which the whole file is written; without a path, gives the
    file's bytes. `mode` is `"w"`, `"x"` where there must be no file yet, or `"a"` to add
    to a file that may be there. `encoding` takes what `createVariable` takes, byte orders and all
    compressions among it, besides CF's; for a tree, `encoding` and `unlimited_dims` are by the
    paths of its nodes. Dask arrays are written chunk by chunk by as many threads as there are; with
    `compute=False` that is left to the `dask.delayed` object that is given back, and the file stays
    open until then.
    `auto_complex` stores complex numbers as netCDF4-python does; `invalid_netcdf` is refused: what
    netCDF has no type for is not written.

    Where anything fails, be it the computation of an array, nothing of it is in the file: a new
    one is gone, one that was added to or that was to be overwritten is as before. With mode `"w"` a
    file that is there keeps its name until the new one is whole, so that data may be read lazily
    from the very file that they replace; `atomic=False` replaces it at once, and is refused where
    this process reads it. The workers of `dask.distributed`, and Dask's processes, write by turns,
    each for good, and under the file's own name (`atomic=False`).

    With `append_dim`, the data go behind those of a file along that unlimited dimension, in the
    file's types, packing and units of time. All its variables along that dimension must be given;
    those that are not along it may be left out, and must be equal if they are there, but for
    digits that the file does not keep. The file's attributes stay. A file or group without
    variables is written as a new one. `ValueError` says what does not fit, before anything is
    written. Where the coordinate along `append_dim` has values that the file has already,
    `duplicates` decides: `"warn"` appends them and warns, `"error"` is a `ValueError`, `"allow"`
    does not look.

    `engine` may be `"isotach"`, for programs that say it where they call xarray's.
    """
    if engine not in (None, "isotach"):
        raise ValueError(f"unrecognized engine for isotach.to_netcdf: {engine!r}")
    if duplicates not in _appending.DUPLICATES:
        raise ValueError(f"duplicates must be one of {_appending.DUPLICATES}, got {duplicates!r}")
    if mode is None:
        mode = "w" if append_dim is None else "a"
    if mode not in _MODES:
        raise ValueError(f"mode must be 'w', 'x', 'a' or 'r+', got {mode!r}")
    if append_dim is not None and (mode in "wx" or encoding):
        raise ValueError("append_dim appends to what is there: it takes no encoding nor mode 'w'")
    if invalid_netcdf:
        raise ValueError("invalid_netcdf: only what is netCDF is written")
    file: Any = None if isinstance(path, (str, os.PathLike)) else path
    if path is None or file is not None:
        if mode != "w" or atomic is not None:
            raise ValueError("without a path, mode is 'w' and atomic says nothing")
        if not compute:
            raise NotImplementedError(
                "to_netcdf() with compute=False is not yet implemented without a path, in isotach"
            )
    if atomic and mode != "w":
        raise ValueError("atomic goes with mode 'w'")
    if isinstance(data, xr.DataArray):
        data = _array_as_dataset(data)
    parts = list(_parts(data, group, encoding, unlimited_dims, write_inherited_coords))
    parts = [part._replace(dataset=_with_objects(part)) for part in parts]
    if append_dim is not None and not any(append_dim in part.dataset.dims for part in parts):
        raise ValueError(f"append_dim {append_dim!r} is not a dimension of what is to be written")
    if isinstance(data, xr.DataTree) and format not in (None, "NETCDF4", "latest"):
        raise ValueError("a tree is written as NETCDF4 only")

    named = format if format == "latest" else (format or "NETCDF4").upper()
    options = {"format": named, "auto_complex": auto_complex}
    # Nothing is in the file before all of it is.
    if atomic is None and mode == "w" and isinstance(path, (str, os.PathLike)):
        # What is computed later is defined at once, where there is nothing to lose.
        is_late = not compute and not os.path.exists(path)
        atomic = not is_late and _scheduler(parts) not in _WORKERS
    # Nobody else's changes are dropped where it fails.
    options.update(atomic=bool(atomic), commit_interval=None, exclusive=True)
    store = _open(path if file is None else None, _MODES[mode], parts, options)
    writer: Any = ArrayWriter()  # type: ignore[no-untyped-call]
    try:
        # All of it is held against the file before anything is changed.
        plans = []
        for part in parts:
            plans.append(_pieces(store, part, append_dim, duplicates))
        for part, pieces in zip(parts, plans, strict=True):
            _add(store.at(part.group), part, pieces, append_dim, writer)
        if store.autoclose:
            store.close()
        writes = writer.sync(compute=compute)
    except BaseException:
        store.discard()
        raise
    if not compute:
        return _closed_after(writes, store)
    content = store.close()
    if file is None:
        return content
    file.write(content)
    return None


def save_mfdataset(
    datasets: Sequence[xr.Dataset],
    paths: Sequence[str | os.PathLike[str]],
    mode: str = "w",
    format: str | None = None,
    groups: Sequence[str | None] | None = None,
    engine: str | None = None,
    compute: bool = True,
    **options: Any,
) -> Any:
    """Writes each dataset to the file at the path in its place, as xarray's `save_mfdataset` does.

    `groups` are the groups in the files, the root groups by default; all other options are those of
    `to_netcdf`. The files are written one after the other, each of them whole or not at all; with
    `compute=False`, one `dask.delayed` object writes them all.
    """
    if mode == "w" and len({os.fspath(path) for path in paths}) < len(paths):
        raise ValueError("cannot use mode='w' when writing multiple datasets to the same path")
    for dataset in datasets:
        if not isinstance(dataset, xr.Dataset):
            raise TypeError(
                "save_mfdataset only supports writing Dataset objects, received type"
                f" {type(dataset)}"
            )
    groups = [None] * len(datasets) if groups is None else groups
    if not len(datasets) == len(paths) == len(groups):
        raise ValueError(
            "must supply lists of the same length for the datasets, paths and groups arguments to"
            " save_mfdataset"
        )
    options.update(format=format, engine=engine, compute=compute)
    each = zip(datasets, paths, groups, strict=True)
    written = [to_netcdf(data, path, mode, group=group, **options) for data, path, group in each]
    return None if compute else importlib.import_module("dask").delayed(written)


class _Part(NamedTuple):
    """What goes to one group."""

    group: str
    dataset: xr.Dataset
    encoding: Mapping[Any, Any]
    unlimited: list[Hashable]


def _parts(
    data: xr.Dataset | xr.DataTree,
    group: str | None,
    encoding: Mapping[Any, Any] | None,
    unlimited: Any,
    inherited: bool,
) -> Iterator[_Part]:
    top = posixpath.join("/", group or "")
    if isinstance(data, xr.Dataset):
        _check(data, encoding)
        yield _Part(top, data, encoding or {}, _unlimited(data, unlimited))
        return
    for option, given in (("encoding", encoding), ("unlimited_dims", unlimited)):
        if unknown := set(given or ()) - set(data.groups):
            raise ValueError(f"unexpected {option} group name(s) provided: {unknown}")
    for node in data.subtree:
        dataset = node.to_dataset(inherit=inherited or node is data)
        _check(dataset, (encoding or {}).get(node.path))
        where = posixpath.normpath(posixpath.join(top, node.relative_to(data)))
        growing = _unlimited(dataset, (unlimited or {}).get(node.path))
        yield _Part(where, dataset, (encoding or {}).get(node.path) or {}, growing)


def _check(dataset: xr.Dataset, encoding: Mapping[Any, Any] | None) -> None:
    """That names are texts, attributes of types that files have, and encodings of variables."""
    _writers._validate_dataset_names(dataset)
    _writers._validate_attrs(dataset, "netcdf4")
    if unknown := [name for name in encoding or () if name not in dataset.variables]:
        raise KeyError(f"encoding is given for {unknown}, and there are no such variables")


def _unlimited(dataset: xr.Dataset, given: Any) -> list[Hashable]:
    """The dimensions to be unlimited: those given, or else those that were so where it is from."""
    is_kept = given is None
    if is_kept:
        given = dataset.encoding.get("unlimited_dims", ())
    several = isinstance(given, Iterable) and not isinstance(given, str)
    names = set(given) if several else {given}
    if unknown := names - set(dataset.dims):
        where = "dataset.encoding" if is_kept else "unlimited_dims-kwarg"
        told = f"Unlimited dimension(s) {unknown!r} declared in {where!r} are not in the dataset"
        if not is_kept:
            raise ValueError(told)
        warnings.warn(told, stacklevel=5)
    return [name for name in dataset.dims if name in names]


def _with_objects(part: _Part) -> xr.Dataset:
    """The dataset with NumPy's `StringDType` as objects, of which xarray's encoders know."""
    changed = {}
    for name, variable in part.dataset.variables.items():
        if not is_string_dtype(variable.dtype):
            continue
        given = part.encoding.get(name) or variable.encoding
        fill = given.get("_FillValue", variable.attrs.get("_FillValue"))
        about = f"variable {name!r}"
        if is_chunked_array(variable.data):
            # Without `meta`, Dask forgets that these objects are strings.
            meta = np.empty((0,) * variable.ndim, STRINGS)
            data = variable.data.map_blocks(as_objects, fill, about, meta=meta)
        else:
            data = as_objects(variable.data, fill, about).astype(STRINGS)
        changed[name] = variable.copy(deep=False, data=data)
        changed[name].encoding = {**variable.encoding, "dtype": str}
    return part.dataset.assign(changed) if changed else part.dataset


def _array_as_dataset(array: xr.DataArray) -> xr.Dataset:
    if array.name is not None and array.name not in array.coords and array.name not in array.dims:
        return array.to_dataset()
    dataset = array.to_dataset(name=DATAARRAY_VARIABLE)
    if array.name is not None:
        dataset.attrs[DATAARRAY_NAME] = array.name
    return dataset


def _open(
    path: Any, mode: str, parts: list[_Part], options: dict[str, Any]
) -> IsotachWritableDataStore:
    if path is None:
        dataset = Dataset(_IN_MEMORY, mode, memory=b"", **options)
        return IsotachWritableDataStore(DummyFileManager(dataset))
    path = _normalize_path(path)
    where = _scheduler(parts)
    if where in _WORKERS:
        if options["atomic"]:
            raise NotImplementedError("Dask's workers write a file under its own name only")
        if mode == "x" and os.path.exists(path):
            raise FileExistsError(f"{path} is there already")
        # The workers open the file to write their chunks, one after the other.
        mode = mode.replace("x", "w")
        lock = _turns(where, path)
        manager: Any = CachingFileManager(_opened, path, mode=mode, kwargs=options, lock=lock)
        return IsotachWritableDataStore(manager, lock=lock, autoclose=True)
    return IsotachWritableDataStore(DummyFileManager(Dataset(path, mode, **options)))


def _scheduler(parts: list[_Part]) -> str | None:
    """What computes the arrays; None where all are in memory."""
    chunked = any(v.chunks is not None for part in parts for v in part.dataset.variables.values())
    scheduler = getattr(_locks, "get_dask_scheduler", None) or _locks._get_scheduler
    return scheduler() if chunked else None


def _turns(scheduler: str, path: str) -> Any:
    """A lock by which workers write the file one after the other."""
    return FileLock(path) if scheduler == "multiprocessing" else _locks.get_write_lock(path)


def _opened(path: str, mode: str, **options: Any) -> Any:
    return Dataset(path, mode, **options)


class IsotachWritableDataStore(NetCDF4DataStore):
    """A group of a file that is open for writing.

    It is xarray's store for netCDF4-python but for what that library cannot do: threads write at
    once, in any byte order, and read encodings are understood whole.
    """

    __slots__ = ()

    def __init__(
        self,
        manager: Any,
        group: str | None = None,
        mode: str = "a",
        lock: Any = False,
        autoclose: bool = False,
    ) -> None:
        self._manager = manager
        self._group = group
        self._mode = mode
        self.lock = locks.ensure_lock(lock)
        self.autoclose = autoclose
        self.is_remote = False
        self.format = self.ds.data_model
        self._filename = self.ds.filepath()

    def at(self, group: str) -> IsotachWritableDataStore:
        """The group of that path, which is created if need be."""
        return type(self)(self._manager, group, self._mode, self.lock, self.autoclose)

    def encode_variable(self, v: xr.Variable, name: Any = None) -> xr.Variable:
        """The variable in the format's types."""
        endian = v.encoding.pop("endian", "native")
        if endian != "native" and not self.ds._is_netcdf4:
            raise NotImplementedError(
                f"variable {name!r}: encoding endian={endian!r} is not for {self.format}, whose"
                " byte order is always the same"
            )
        encoded: xr.Variable = super().encode_variable(v)  # type: ignore[no-untyped-call]
        encoded.encoding["endian"] = endian
        return encoded

    def prepare_variable(
        self, name: str, variable: xr.Variable, *args: Any, **kwargs: Any
    ) -> tuple[Any, Any]:
        """Defines the variable; gives where its elements go, and the elements."""
        # In classic files, what is new moves what is there.
        changes = name in self.ds.variables or not self.ds._is_netcdf4
        if changes and not variable._in_memory and _native.is_read(self._filename):
            raise OSError(
                f"{self._filename}: writing variable {name!r} changes what this process reads from "
                "the file: load it first (`load()`), or write another file"
            )
        variable.encoding = _creatable(variable.encoding)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "endian-ness of dtype and endian kwarg do not match")
            target, source = super().prepare_variable(name, variable, *args, **kwargs)
        return target, self.aligned(name, source)

    def aligned(self, name: str, source: Any, start: Iterable[int] | None = None) -> Any:
        """A chunked array whose chunks end where chunks of the file do, for each of these to be
        written once, by one thread; `start` is where the array begins in the variable."""
        shape = self.ds.variables[name].chunking()
        if not is_chunked_array(source) or not isinstance(shape, list):
            return source
        starts = [0] * source.ndim if start is None else start
        along = zip(source.chunks, shape, starts, strict=True)
        return source.rechunk(tuple(_whole_chunks(*axis) for axis in along))

    def discard(self) -> None:
        """Closes the file as it was before, where it was open all the time."""
        if isinstance(self._manager, DummyFileManager):
            self._manager.acquire().discard()
        else:
            self._manager.close()

    def close(self, **kwargs: Any) -> Any:
        """Closes the file; gives the bytes of one in memory."""
        if isinstance(self._manager, DummyFileManager):
            return self._manager.acquire().close()
        return self._manager.close(**kwargs)


def _whole_chunks(lengths: tuple[int, ...], chunk: int, start: int) -> tuple[int, ...]:
    """Lengths along an axis, such that they end with the file's chunks."""
    total = sum(lengths)
    ends = {-(-(start + end) // chunk) * chunk - start for end in itertools.accumulate(lengths)}
    bounds = sorted({0, total, *(end for end in ends if end < total)})
    return tuple(end - begin for begin, end in itertools.pairwise(bounds)) or (0,)


def _creatable(encoding: Mapping[Any, Any]) -> dict[Any, Any]:
    """An encoding with the filters that were read in the words of `createVariable`."""
    found = dict(encoding)
    for name in ("zstd", "bzip2"):
        if found.pop(name, False):
            found["compression"] = name
    if isinstance(found.get("szip"), Mapping):
        szip = found.pop("szip")
        found.pop("complevel", None)
        found["compression"] = "szip"
        found["szip_coding"] = szip["coding"]
        found["szip_pixels_per_block"] = szip["pixels_per_block"]
    for name in ("blosc", "blosc2"):
        if isinstance(found.get(name), Mapping):
            blosc = found.pop(name)
            found["compression"] = blosc["compressor"]
            found["blosc_shuffle"] = blosc["shuffle"]
    return found


def _pieces(
    store: IsotachWritableDataStore, part: _Part, append_dim: Hashable | None, duplicates: str
) -> list[_appending.Piece] | None:
    """What goes behind variables that are there; None where all are to be defined."""
    if append_dim is None:
        return None
    there = IsotachDataStore(store._manager, part.group)
    try:
        is_new = not there.ds.variables
    except OSError as error:
        # Where there is no such group, a key was looked for in vain. Anything else has failed.
        if not isinstance(error.__cause__, KeyError):
            raise
        is_new = True
    if is_new:
        return None
    return _appending.plan(store, there, part.dataset, append_dim, duplicates)


def _add(
    store: IsotachWritableDataStore,
    part: _Part,
    pieces: list[_appending.Piece] | None,
    append_dim: Hashable | None,
    writer: Any,
) -> None:
    """Defines what is new, and hands all elements to the writer."""
    if pieces is None:
        growing = {*part.unlimited, append_dim}
        unlimited = [name for name in part.dataset.dims if name in growing]
        _writers.dump_to_store(
            part.dataset, store, writer, encoding=part.encoding, unlimited_dims=unlimited
        )
        return
    for name, variable, start in pieces:
        ends = zip(start, variable.shape, strict=True)
        region = tuple(slice(first, first + count) for first, count in ends)
        source = store.aligned(name, variable.data, start)
        target = NetCDF4ArrayWrapper(name, store)  # type: ignore[no-untyped-call]
        writer.add(source, target, region)


def _closed_after(writes: Any, store: IsotachWritableDataStore) -> Any:
    """An object that writes when it is computed, and closes the file."""
    delayed = importlib.import_module("dask").delayed
    if not store.autoclose:
        store.ds.sync()
    return delayed(_close)(writes, store)


def _close(writes: Any, store: IsotachWritableDataStore) -> None:
    store.close()
