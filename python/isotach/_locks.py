"""Locks that a forked process can use, whatever the threads of its parent were doing."""

from __future__ import annotations

import os
import threading

_forks = 0
_renewing = threading.Lock()


def _forked() -> None:
    """The threads that held anything are not in this process."""
    global _forks, _renewing
    _forks += 1
    _renewing = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)


class ProcessLock:
    """A lock as `threading.RLock`; one that a thread of the parent process held is a new one."""

    __slots__ = ("_forks", "_lock")

    def __init__(self) -> None:
        """Open."""
        self._lock = threading.RLock()
        self._forks = _forks

    def __enter__(self) -> None:
        """Waits until no other thread of this process has it."""
        if self._forks != _forks:
            self._renew()
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        """Lets others have it."""
        self._lock.release()

    def _renew(self) -> None:
        with _renewing:
            if self._forks == _forks:
                return
            # Nobody had it, or the thread that forked, which is this one.
            if self._lock.acquire(blocking=False):
                self._lock.release()
            else:
                self._lock = threading.RLock()
            self._forks = _forks
