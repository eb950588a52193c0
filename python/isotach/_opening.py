"""What a file is opened from, in which mode, and whether it is the one that was meant."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable
from typing import Any

from isotach import _native

#: Why times are not kept.
NO_TIMES = "track_times: classic files have no place for times"

MODES = ("r", "rs", "w", "ws", "x", "a", "as", "r+", "r+s")


def checked_mode(mode: str, clobber: bool, filename: Any, memory: Any) -> tuple[str, bool]:
    """The mode without its synonyms, and whether a file that is there may be overwritten."""
    if memory is not None and mode not in ("r", "w"):
        raise ValueError("if memory kwarg specified, mode must be 'r' or 'w'")
    if mode not in MODES:
        raise ValueError(f"mode must be 'w', 'x', 'r', 'a' or 'r+', got '{mode}'")
    if mode == "x":
        return "w", False
    mode = mode.replace("r+", "a")
    if mode[0] == "a" and not os.path.exists(filename):
        mode = mode.replace("a", "w")
    return mode, bool(clobber)


def kind_of(file: _native.File) -> tuple[str, str]:
    """The data model, and the format on disk."""
    return file.data_model, "HDF5" if file.is_hdf5 else "NETCDF3"


def source_of(filename: Any, memory: Any, encoding: str | None) -> tuple[str, Any, str | None]:
    """Where the bytes come from: `(kind, path or bytes or object, name)`."""
    if isinstance(memory, (str, os.PathLike)):
        raise TypeError(f"a bytes-like object is required, not {type(memory).__name__!r}")
    if memory is not None:
        return ("memory", memory, str(filename))
    if hasattr(filename, "fs") and hasattr(filename, "open"):
        # What fsspec.open gives is to be opened yet.
        filename = filename.open()
    if hasattr(filename, "read") and hasattr(filename, "seek"):
        name = getattr(filename, "name", None) or getattr(filename, "path", None)
        return ("object", filename, name if isinstance(name, str) else None)
    if isinstance(filename, (bytearray, memoryview)) or (
        isinstance(filename, bytes) and b"\0" in filename
    ):
        return ("memory", filename, None)
    if isinstance(filename, bytes):
        return ("path", os.fsdecode(filename), None)
    return (
        "path",
        os.fspath(filename) if isinstance(filename, os.PathLike) else str(filename),
        None,
    )


def external(
    allow_external: bool | str | os.PathLike[str] | Iterable[str | os.PathLike[str]] | None,
) -> str | tuple[str, ...] | None:
    """Which other files may be opened: a word, or folders whatever the working directory is."""
    if allow_external is None or isinstance(allow_external, str):
        return allow_external
    if isinstance(allow_external, bool):
        return "anywhere" if allow_external else "none"
    if isinstance(allow_external, os.PathLike):
        return (os.path.abspath(allow_external),)
    return tuple(os.path.abspath(folder) for folder in allow_external)


def open_source(
    source: tuple[str, Any, str | None],
    allow_external: str | tuple[str, ...] | None,
    missing_bytes: str | None,
    snapshot: bool = False,
) -> _native.File:
    kind, what, name = source
    name = None if kind == "path" else name
    return _native.open(
        what,
        name=name,
        allow_external=allow_external,
        missing_bytes=missing_bytes,
        snapshot=snapshot,
    )


def check_same(
    file: _native.File, identity: tuple[Any, ...] | None, is_snapshot: bool = False
) -> None:
    """That a file opened by its path is the one of that identity, none that took its place; of a
    snapshot, that it is in the same state.

    `OSError` (`ESTALE`) where it is not: values of the new file are not what was asked for.
    """
    if identity is None:
        return
    if not file.is_file_of(identity):
        why = "another file has taken the place of the one that was opened: open it again"
        raise OSError(errno.ESTALE, why, file.name)
    if is_snapshot and file.identity() != identity:
        why = "the file has changed since the snapshot was taken: open it again"
        raise OSError(errno.ESTALE, why, file.name)
