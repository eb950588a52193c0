"""Files that this process writes. Opened once more for changing, a file has one more user of the
same session: what one of its datasets defines or writes, the others see.
"""

from __future__ import annotations

import os
import pathlib
import weakref
from typing import TYPE_CHECKING, Any

from isotach import _native
from isotach._locks import ProcessLock
from isotach._settings import get_alignment

if TYPE_CHECKING:
    from isotach._dataset import Dataset

#: The process, and device and number of a file: what a process writes, those that it forks do not.
_Identity = tuple[int, int, int]

_lock = ProcessLock()
_shared: dict[_Identity, Session] = {}


class Session:
    """A file that is being written, for one dataset or several."""

    def __init__(
        self,
        native: _native.Writer,
        options: dict[str, Any],
        *,
        keep: str | None = None,
        is_atomic: bool = False,
    ) -> None:
        """`keep` is the path where the bytes of a file in memory go in the end."""
        self.native = native
        self.is_atomic = is_atomic
        self._options = options
        self._keep = keep
        self._identity: _Identity | None = None
        # A list, as it changes at once, also where a dataset is collected meanwhile.
        self._users = [native]
        self._datasets: weakref.WeakSet[Dataset] = weakref.WeakSet()

    def share(self, path: str) -> None:
        """Lets others in this process open the file, too."""
        self._identity = _identity_of(path)
        if self._identity is not None:
            _shared[self._identity] = self

    def joined(self, path: str, options: dict[str, Any]) -> Session:
        """This session for one more dataset, which asks for the same options."""
        differ = [name for name, value in options.items() if value != self._options[name]]
        if differ:
            raise ValueError(
                f"{path} is being written by this process already, with another"
                f" {' and '.join(differ)}: open it alike, or close it there first"
            )
        self._users.append(self.native)
        return self

    def add(self, dataset: Dataset) -> None:
        """Has the dataset know of what others change."""
        self._datasets.add(dataset)

    def others(self, root: Dataset) -> list[Dataset]:
        """The other datasets of the same file."""
        if len(self._users) == 1:
            return []
        return [dataset for dataset in list(self._datasets) if dataset is not root]

    def end(self) -> bytes | None:
        """Commits, and closes the file where nobody else in this process writes it. Gives the bytes
        of a file in memory.
        """
        if self._leave():
            self.native.commit()
            return None
        written = self.native.close()
        if self._keep is not None and written is not None:
            _native.replace(self._keep, written)
        return written

    def leave_alone(self) -> _native.Writer:
        """Ends it where nobody else in this process writes the file, which is still to be closed.

        `RuntimeError` where somebody does: what was changed there would be dropped, too.
        """
        with _lock:
            if len(self._users) > 1:
                raise RuntimeError(
                    "the file is open for writing more than once in this process, and discard()"
                    " would drop what was changed there, too: close() it there first"
                )
            self._leave()
        return self.native

    def forget(self) -> None:
        """Ends it for a dataset that nobody has any more. A file that was to take another one's
        place is dropped: nobody has said that it is whole.
        """
        if self.is_atomic:
            self.leave_alone().discard()
        else:
            self.end()

    def _leave(self) -> bool:
        """Ends one dataset's part; whether others are left."""
        with _lock:
            self._users.pop()
            if self._users:
                return True
            if self._identity is not None and _shared.get(self._identity) is self:
                del _shared[self._identity]
            return False


def create(
    path: str,
    *,
    format: str,
    clobber: bool,
    in_memory: bool,
    keep: bool,
    atomic: bool,
    exclusive: bool,
    reading: dict[str, Any],
    options: dict[str, Any],
) -> Session:
    """A session on a new file at `path`, or in memory; the errors are those of `Dataset`."""
    options = options | {"alignment": get_alignment()}
    how = {"in_memory": in_memory, "clobber": clobber, "atomic": atomic, **options}
    native = _native.create(path, format=format, **how)
    kept = path if keep else None
    session = Session(native, options | reading, keep=kept, is_atomic=atomic)
    if not (in_memory or atomic or exclusive):
        with _lock:
            session.share(path)
    return session


def edit(
    path: str,
    *,
    in_memory: bool,
    keep: bool,
    exclusive: bool,
    reading: dict[str, Any],
    options: dict[str, Any],
) -> Session:
    """A session on the file at `path`, or on a copy of it in memory; that which this process has
    already, unless it is to be `exclusive`. The errors are those of `Dataset`.
    """
    options = options | {"alignment": get_alignment()} | reading
    if in_memory:
        native = _native.edit(path, content=pathlib.Path(path).read_bytes(), **options)
        return Session(native, options, keep=path if keep else None)
    if exclusive:
        return Session(_native.edit(path, **options), options)
    with _lock:
        identity = _identity_of(path)
        there = None if identity is None else _shared.get(identity)
        if there is not None:
            return there.joined(path, options)
        session = Session(_native.edit(path, **options), options)
        session.share(path)
    return session


def _identity_of(path: str) -> _Identity | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return (os.getpid(), found.st_dev, found.st_ino)
