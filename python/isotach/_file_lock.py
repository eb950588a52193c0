"""A lock by which processes take turns, wherever they come from."""

from __future__ import annotations

import fcntl
import hashlib
import os
import tempfile
from typing import Any


class FileLock:
    """A lock for what is done with one file. It pickles: whoever has it waits for all others.

    It is a file of its own, in the folder for temporary files, and ends with the process that has
    it.
    """

    __slots__ = ("_descriptor", "_path")

    def __init__(self, path: str) -> None:
        """The lock of the file at `path`, which need not be there."""
        name = hashlib.sha256(os.path.realpath(path).encode()).hexdigest()[:32]
        self._path = os.path.join(tempfile.gettempdir(), f"isotach-{os.getuid()}-{name}.lock")
        self._descriptor: int | None = None

    def acquire(self, blocking: bool = True) -> bool:
        """Takes it; without `blocking`, tells whether it was to be had at once."""
        while True:
            flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
            descriptor = os.open(self._path, flags, 0o600)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if blocking else fcntl.LOCK_NB))
                is_it = self._is_at_path(descriptor)
            except BlockingIOError:
                os.close(descriptor)
                return False
            except BaseException:
                os.close(descriptor)
                raise
            if is_it:
                self._descriptor = descriptor
                return True
            # Who had it before has taken it away.
            os.close(descriptor)

    def _is_at_path(self, descriptor: int) -> bool:
        try:
            return os.path.samestat(os.fstat(descriptor), os.stat(self._path))
        except FileNotFoundError:
            return False

    def release(self) -> None:
        """Lets others have it, and leaves no file."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is None:
            raise RuntimeError("release of a lock that nobody has taken")
        try:
            os.unlink(self._path)
        finally:
            os.close(descriptor)

    def locked(self) -> bool:
        """Whether this object has it."""
        return self._descriptor is not None

    def __enter__(self) -> None:
        self.acquire()

    def __exit__(self, *_: object) -> None:
        self.release()

    def __getstate__(self) -> Any:
        return self._path

    def __setstate__(self, path: Any) -> None:
        self._path, self._descriptor = path, None
