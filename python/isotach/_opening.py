"""What a file is opened from, in which mode, and what becomes of it in the end."""

from __future__ import annotations

import os
import pathlib
from typing import Any

from isotach import _native

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


def end(session: _native.Writer, keep: str | None) -> bytes | None:
    """Commits and closes a file, also of a Dataset that was forgotten; a diskless one is kept."""
    written = session.close()
    if keep is not None and written is not None:
        pathlib.Path(keep).write_bytes(written)
    return written


def discard(session: _native.Writer, keep: str | None) -> None:
    """Closes a file that was to take another one's place, and that nobody has said is whole."""
    session.discard()


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


def open_source(source: tuple[str, Any, str | None]) -> _native.File:
    kind, what, name = source
    return _native.open(what) if kind == "path" else _native.open(what, name=name)
