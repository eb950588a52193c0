"""xarray's ``engine="isotach"``."""

from __future__ import annotations

import inspect
import operator
import os
import posixpath
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any, TypeVar

import numpy as np
from xarray import Dataset as XarrayDataset
from xarray import DataTree, Variable
from xarray.backends import BackendArray, BackendEntrypoint
from xarray.backends.common import AbstractDataStore, _normalize_path
from xarray.backends.file_manager import CachingFileManager, DummyFileManager
from xarray.backends.store import StoreBackendEntrypoint
from xarray.coding.strings import create_vlen_dtype
from xarray.core import indexing
from xarray.core.utils import FrozenDict, close_on_error

from isotach import _moving, _native, _opening, _string_dtype
from isotach._complex import as_complex
from isotach._dataset import Dataset
from isotach._filters import filter_dict
from isotach._string_dtype import is_string_dtype
from isotach._types import EnumType
from isotach._variable import element_type

T = TypeVar("T")

#: What stands for the path of a file that has none.
_IN_MEMORY = "<xarray-in-memory-read>"
_SIGNATURES = (b"CDF\x01", b"CDF\x02", b"CDF\x05", b"\x89HDF\r\n\x1a\n")
_LONGEST_SIGNATURE = 8
#: What engine netcdf4 takes beside: how it locks, how files are made. Reading asks for none of it.
_NOT_FOR_READING = frozenset({"format", "clobber", "diskless", "persist", "lock", "autoclose"})
_FOR_READING = frozenset(
    {"auto_complex", "allow_external", "missing_bytes", "snapshot", "string_dtype"}
)
_FOR_GROUPS = (
    _NOT_FOR_READING
    | _FOR_READING
    | {"group", *inspect.signature(StoreBackendEntrypoint.open_dataset).parameters}
)
#: Objects that xarray knows for strings.
STRINGS: Any = create_vlen_dtype(str)  # type: ignore[no-untyped-call]


class IsotachArray(BackendArray):
    """A variable's elements as they are stored, read when they are asked for."""

    __slots__ = ("dtype", "group", "identity", "manager", "name", "shape")

    def __init__(
        self,
        manager: Any,
        group: str,
        name: str,
        shape: tuple[int, ...],
        dtype: Any,
        identity: tuple[Any, ...] | None = None,
    ) -> None:
        self.manager = manager
        #: Which file was listed: in other processes, and where many are open, it is opened again.
        self.identity = identity
        self.group = group
        self.name = name
        self.shape = shape
        self.dtype = dtype

    def __getitem__(self, key: indexing.ExplicitIndexer) -> Any:
        if isinstance(key, (indexing.BasicIndexer, indexing.OuterIndexer)):
            # These are the selections of `Variable` itself, negative steps among them.
            return self._read(key.tuple)
        return indexing.explicit_indexing_adapter(
            key, self.shape, indexing.IndexingSupport.OUTER, self._read
        )

    def _read(self, key: tuple[Any, ...]) -> Any:
        with self.manager.acquire_context() as dataset:
            return _moving.answer(dataset, lambda: self._read_from(dataset, key))

    def _read_from(self, dataset: Dataset, key: tuple[Any, ...]) -> Any:
        """The elements as they are in the dataset's state of the file. Where that is a later one
        than was listed, what was listed must be there.
        """
        _opening.check_same(dataset._file, self.identity)
        try:
            variable = _group(dataset, self.group).variables[self.name]
        except _native.Changed:
            raise
        except (KeyError, OSError) as error:
            raise self._changed("is not in the file any more") from error
        shape = variable.shape
        if shape != self.shape:
            if len(shape) != len(self.shape) or any(map(operator.lt, shape, self.shape)):
                raise self._changed(f"has the shape {shape} by now, not {self.shape}")
            # Ends are those of the listing.
            key = tuple(map(_within, key, self.shape))
        read = variable._raw()
        if _held(variable.dtype, dataset) != self.dtype:
            raise self._changed(f"is of type {variable.dtype} by now, not {self.dtype}")
        return read(key)

    def _changed(self, what: str) -> RuntimeError:
        name = posixpath.join(self.group, self.name)
        return RuntimeError(f"variable {name!r} {what}: open the dataset again")


def _held(dtype: Any, dataset: Dataset) -> Any:
    """The dtype of a variable as xarray has it."""
    if dtype is not str:
        return dtype
    return dataset._settings["string_dtype"] or STRINGS


def _within(item: Any, length: int) -> Any:
    """An index along an axis that has become longer than that."""
    if isinstance(item, slice):
        start, stop, step = item.indices(length)
        # Before the first element there is no index that is not counted from the end.
        return slice(start, None if stop < 0 else stop, step)
    if isinstance(item, np.ndarray):
        return np.where(item < 0, item + length, item)
    return item + length if item < 0 else item


class IsotachDataStore(AbstractDataStore):
    """A group of an open file: what xarray asks of it, each thing in one call."""

    __slots__ = ("_filename", "_group", "_manager")

    def __init__(self, manager: Any, group: str | None = None, filename: str = _IN_MEMORY) -> None:
        if isinstance(manager, Dataset):
            group = manager.path if group is None else group
            root = manager
            while root.parent is not None:
                root = root.parent
            filename = root.filepath()
            manager = DummyFileManager(root)
        self._manager = manager
        self._group = group or "/"
        self._filename = filename

    @classmethod
    def open(cls, source: Any, group: str | None = None, **options: Any) -> IsotachDataStore:
        """A store of a path, bytes, or a file object; `options` are those of `isotach.Dataset` for
        reading.
        """
        _check_known("IsotachDataStore.open", options, _FOR_READING)
        if isinstance(source, os.PathLike):
            source = os.fspath(source)
        if isinstance(source, (bytearray, memoryview)):
            source = bytes(source)
        if options.get("snapshot"):
            # It stays open: opened again, it would be of a later state.
            manager: Any = DummyFileManager(_open(source, **options))
        else:
            manager = CachingFileManager(_open, source, mode="r", kwargs=options)
        store = cls(manager, group, source if isinstance(source, str) else _IN_MEMORY)
        with close_on_error(store):
            store.ds  # noqa: B018  Whatever cannot be opened is to be known now.
        return store

    def answer(self, ask: Callable[[], T]) -> T:
        """What `ask` finds in one state of the file."""
        with self._manager.acquire_context() as dataset:
            return _moving.answer(dataset, ask)

    @property
    def ds(self) -> Dataset:
        """The group."""
        with self._manager.acquire_context() as dataset:
            return _group(dataset, self._group)

    def get_variables(self) -> Any:
        """All variables, their elements unread."""
        dataset = self.ds
        group = dataset._native
        names = group.variable_names()
        for path, reason in group.left_out():
            warnings.warn(f"{path} is not shown: {reason}", stacklevel=2)
        return FrozenDict(
            {name: self._variable(dataset, name, group.variable(name)) for name in names}
        )

    def _variable(self, dataset: Dataset, name: str, native: _native.Variable) -> Variable:
        if dataset.auto_complex:
            native = as_complex(native)
        is_netcdf4 = dataset._is_netcdf4
        dimensions, shape = native.dimension_names(), native.shape()
        dtype, user = element_type(native, is_netcdf4)
        held = _held(dtype, dataset)
        identity = dataset._file.identity()
        array = IsotachArray(self._manager, self._group, name, shape, held, identity)
        attributes = _readable(native.attributes())
        if held.kind == "S" and "_FillValue" in attributes:
            attributes["_FillValue"] = np.bytes_(attributes["_FillValue"])
        if isinstance(user, EnumType):
            metadata = {"enum": user.enum_dict, "enum_name": user.name}
            dtype = np.dtype(dtype, metadata=metadata)
        encoding: dict[str, Any] = {"dtype": dtype}
        if is_string_dtype(held) and "_FillValue" in attributes:
            # Missing strings are marked already.
            encoding["_FillValue"] = attributes.pop("_FillValue")
        if is_string_dtype(held):
            # Otherwise xarray makes objects of them.
            encoding["dtype"] = held
        if is_netcdf4:
            encoding.update(_stored(native, dimensions))
        if "least_significant_digit" in attributes:
            encoding["least_significant_digit"] = attributes.pop("least_significant_digit")
        encoding["source"] = self._filename
        encoding["original_shape"] = shape
        data = indexing.LazilyIndexedArray(array)
        return Variable(dimensions, data, attributes, encoding, fastpath=True)

    def get_attrs(self) -> Any:
        """The group's attributes."""
        return FrozenDict(_readable(self.ds._native.attributes()))

    def get_dimensions(self) -> Any:
        """The group's dimensions and their lengths."""
        return FrozenDict({name: len(found) for name, found in self.ds.dimensions.items()})

    def get_parent_dimensions(self) -> Any:
        """The dimensions of the groups above, the nearest first."""
        found: dict[str, int] = {}
        group = self.ds.parent
        while group is not None:
            for name, dimension in group.dimensions.items():
                found.setdefault(name, len(dimension))
            group = group.parent
        return FrozenDict(found)

    def get_encoding(self) -> dict[str, Any]:
        """Which of the group's dimensions can grow."""
        dimensions = self.ds.dimensions.items()
        return {"unlimited_dims": {name for name, found in dimensions if found.isunlimited()}}

    def close(self, **kwargs: Any) -> None:
        """Closes the file."""
        self._manager.close(**kwargs)


class IsotachBackendEntrypoint(BackendEntrypoint):
    """Opens netCDF-4, classic netCDF and HDF5 files, from paths, bytes and file objects."""

    description = "Open netCDF-4, classic netCDF and HDF5 files using isotach in xarray"
    url = "https://pypi.org/project/isotach/"
    supports_groups = True
    open_dataset_parameters = (
        "filename_or_obj",
        "mask_and_scale",
        "decode_times",
        "concat_characters",
        "decode_coords",
        "drop_variables",
        "use_cftime",
        "decode_timedelta",
        "group",
        "auto_complex",
        "allow_external",
        "missing_bytes",
        "snapshot",
        "string_dtype",
    )

    def guess_can_open(self, filename_or_obj: Any) -> bool:
        """Whether the first bytes are those of a classic netCDF or an HDF5 file."""
        return _first_bytes(filename_or_obj).startswith(_SIGNATURES)

    def open_dataset(
        self,
        filename_or_obj: Any,
        *,
        mask_and_scale: Any = True,
        decode_times: Any = True,
        concat_characters: Any = True,
        decode_coords: Any = True,
        drop_variables: str | Iterable[str] | None = None,
        use_cftime: Any = None,
        decode_timedelta: Any = None,
        group: str | None = None,
        mode: str = "r",
        auto_complex: bool | None = None,
        allow_external: Any = None,
        missing_bytes: str | None = None,
        snapshot: bool = False,
        string_dtype: Any = None,
        **unused: Any,
    ) -> XarrayDataset:
        """One group of a file as a dataset; the root group by default. With `auto_complex`, pairs
        and dimensions that netCDF4-python takes for complex numbers are such. `allow_external`
        says which other files the file may have opened, `missing_bytes="zeros"` that values which a
        truncated classic file has not are zeros, as for `isotach.Dataset`. With `snapshot`, all
        values are of the state in which the file was opened; without it, they are of later ones
        where others write the file meanwhile, each request of one state. With `string_dtype`,
        strings have that dtype, a `numpy.dtypes.StringDType` or `"T"`; those that equal
        `_FillValue` are its `na_object`. Other options of
        engine netcdf4 (`format`, `clobber`, `diskless`, `persist`, `lock`, `autoclose`) are taken
        and change nothing: files are only read, by any number of threads at once.
        """
        if mode != "r":
            raise ValueError(f"mode {mode!r}: engine isotach only reads")
        _check_known("open_dataset", unused, _NOT_FOR_READING)
        store = _store(
            filename_or_obj,
            group,
            auto_complex,
            allow_external,
            missing_bytes,
            snapshot,
            string_dtype,
        )
        return _decoded(
            store,
            mask_and_scale=mask_and_scale,
            decode_times=decode_times,
            concat_characters=concat_characters,
            decode_coords=decode_coords,
            drop_variables=drop_variables,
            use_cftime=use_cftime,
            decode_timedelta=decode_timedelta,
        )

    def open_datatree(self, filename_or_obj: Any, **options: Any) -> DataTree:
        """All groups of a file as a tree."""
        _check_known("open_datatree", options, _FOR_GROUPS)
        groups = self.open_groups_as_dict(filename_or_obj, **options)
        try:
            tree = DataTree.from_dict(groups)
        except Exception:
            for dataset in groups.values():
                dataset.close()
            raise
        for path, dataset in groups.items():
            tree[path].set_close(dataset._close)
        return tree

    def open_groups_as_dict(
        self,
        filename_or_obj: Any,
        *,
        group: str | None = None,
        auto_complex: bool | None = None,
        allow_external: Any = None,
        missing_bytes: str | None = None,
        snapshot: bool = False,
        string_dtype: Any = None,
        **options: Any,
    ) -> dict[str, XarrayDataset]:
        """All groups of a file by path; with `group`, those below it, by path from there."""
        _check_known("open_groups", options, _FOR_GROUPS)
        for name in _NOT_FOR_READING.intersection(options):
            del options[name]
        store = _store(
            filename_or_obj,
            group,
            auto_complex,
            allow_external,
            missing_bytes,
            snapshot,
            string_dtype,
        )
        top = posixpath.join("/", group or "")

        def listed() -> dict[str, XarrayDataset]:
            found = {}
            for path in _paths(store.ds):
                below = IsotachDataStore(store._manager, path, store._filename)
                name = posixpath.relpath(path, top) if group else path
                found[name] = StoreBackendEntrypoint().open_dataset(below, **options)
            return found

        with close_on_error(store):
            return store.answer(listed)


def _check_known(function: str, options: Iterable[str], known: Collection[str]) -> None:
    for name in options:
        if name not in known:
            raise TypeError(f"{function}() got an unexpected keyword argument {name!r}")


def _readable(attributes: dict[str, Any]) -> dict[str, Any]:
    """The attributes without those whose values are the exceptions that came of reading them."""
    broken = [name for name, value in attributes.items() if isinstance(value, Exception)]
    for name in broken:
        del attributes[name]
    return attributes


def _stored(native: _native.Variable, dimensions: tuple[str, ...]) -> dict[str, Any]:
    """How a variable is stored, for xarray to write it so again."""
    kind, chunks, _, filters = native.storage()
    encoding = filter_dict(filters)
    if kind == "chunked" and chunks is not None:
        encoding["contiguous"] = False
        encoding["chunksizes"] = tuple(chunks)
        encoding["preferred_chunks"] = dict(zip(dimensions, chunks, strict=True))
    else:
        encoding["contiguous"] = True
        encoding["chunksizes"] = None
    return encoding


def _decoded(store: IsotachDataStore, **options: Any) -> XarrayDataset:
    """The group as a dataset, all of it as it is in one state of the file."""

    def listed() -> XarrayDataset:
        dataset: XarrayDataset = StoreBackendEntrypoint().open_dataset(store, **options)
        return dataset

    with close_on_error(store):
        return store.answer(listed)


def _store(
    filename_or_obj: Any,
    group: str | None,
    auto_complex: bool | None,
    allow_external: Any,
    missing_bytes: str | None,
    snapshot: bool,
    string_dtype: Any,
) -> IsotachDataStore:
    if isinstance(filename_or_obj, (IsotachDataStore, Dataset)):
        if snapshot:
            raise ValueError("snapshot goes with a file that is opened, not with one that is open")
        if string_dtype is not None:
            raise ValueError("an open file has its own: call set_string_dtype of the dataset")
        if isinstance(filename_or_obj, IsotachDataStore):
            return filename_or_obj
        return IsotachDataStore(filename_or_obj, group)
    options: dict[str, Any] = {"auto_complex": True} if auto_complex else {}
    if allow_external is not None:
        # xarray keeps open files by these options, so that they must be hashable.
        options["allow_external"] = _opening.external(allow_external)
    if missing_bytes is not None:
        options["missing_bytes"] = missing_bytes
    if snapshot:
        options["snapshot"] = True
    if string_dtype is not None:
        options["string_dtype"] = _string_dtype.string_dtype(string_dtype)
    return IsotachDataStore.open(_normalize_path(filename_or_obj), group, **options)


def _open(source: Any, mode: str = "r", string_dtype: Any = None, **options: Any) -> Dataset:
    if isinstance(source, bytes):
        dataset = Dataset(_IN_MEMORY, mode=mode, memory=source, **options)
    else:
        dataset = Dataset(source, mode=mode, **options)
    dataset.set_string_dtype(string_dtype)
    return dataset


def _group(dataset: Dataset, path: str) -> Dataset:
    for name in path.split("/"):
        if name:
            try:
                dataset = dataset.groups[name]
            except KeyError as error:
                raise OSError(f"group not found: {name}") from error
    return dataset


def _paths(group: Dataset) -> Iterator[str]:
    yield group.path
    for below in group.groups.values():
        yield from _paths(below)


def _first_bytes(filename_or_obj: Any) -> bytes:
    """The first bytes of what might be a file; none where they cannot be had."""
    if isinstance(filename_or_obj, (bytes, bytearray, memoryview)):
        return bytes(filename_or_obj[:_LONGEST_SIGNATURE])
    if isinstance(filename_or_obj, (str, os.PathLike)):
        try:
            with open(filename_or_obj, "rb") as file:
                return file.read(_LONGEST_SIGNATURE)
        except OSError:
            return b""
    if hasattr(filename_or_obj, "read") and hasattr(filename_or_obj, "seek"):
        place = filename_or_obj.tell()
        filename_or_obj.seek(0)
        first = filename_or_obj.read(_LONGEST_SIGNATURE)
        filename_or_obj.seek(place)
        return first if isinstance(first, bytes) else b""
    return b""
