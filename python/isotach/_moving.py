"""Requests on files that others write meanwhile: each sees one committed state.

Everything that one native handle shows is of the state in which the file was opened, or `Changed`.
A dataset that meets that moves on to the newest state and asks once more, but for a snapshot. A
request that makes several native calls is repeated where the dataset has moved on between them.

No lock is held while another one is waited for that might be taken in the other order: `_moving`
comes before the locks of dicts and variables, so a request moves on when it holds none of those.
"""

from __future__ import annotations

import functools
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from isotach import _native
from isotach._locks import ProcessLock

if TYPE_CHECKING:
    from isotach._dataset import Dataset

T = TypeVar("T")

#: How often a request is asked anew, though there is no newer state, before its error is told.
_MOST_TRIES = 200
#: For how many seconds it is where there is a newer state each time.
_MOST_SECONDS = 60
#: After how many of them writers of the file are asked for time.
_FREE_TRIES = 8
#: What is waited, in seconds, where the file has changed but has no newer state to be seen yet.
_PAUSE = 0.001


class _Nesting(threading.local):
    """Whether this thread is inside a request: only the outermost one moves on."""

    inside = False


_nesting = _Nesting()
_moving = ProcessLock()


def moving() -> ProcessLock:
    """Held while a dataset is made to show another state, so that no older one takes its place."""
    return _moving


def request(method: Callable[..., T]) -> Callable[..., T]:
    """A method of a dataset, group or variable as one request."""

    @functools.wraps(method)
    def whole(self: Any, *args: Any, **kwargs: Any) -> T:
        root = None if _nesting.inside else root_of(self)
        if root is None:
            return method(self, *args, **kwargs)
        return answer(root, functools.partial(method, self, *args, **kwargs))

    return whole


def root_of(handle: Any) -> Dataset | None:
    """The dataset that may move on; None where it is closed, is written, or is gone."""
    try:
        group = handle._own_group()
        while group.parent is not None:
            group = group.parent
        is_read = group._session is None
    except ReferenceError:
        return None
    return group if is_read else None


def answer(root: Dataset, ask: Callable[[], T]) -> T:
    """What `ask` finds in one state of the file."""
    if _nesting.inside:
        return ask()
    turn = None
    tries, in_vain, end = 0, 0, time.monotonic() + _MOST_SECONDS
    try:
        while True:
            if tries == _FREE_TRIES:
                turn = root._file.turn()
            tries += 1
            is_last = in_vain >= _MOST_TRIES or time.monotonic() > end
            epoch = _settled(root)
            try:
                found = _ask(root, ask, epoch)
            except _native.Changed:
                if root._is_snapshot or is_last:
                    raise
                in_vain += not _move_on(root, epoch, in_vain)
                continue
            if found is not None:
                return found[0]
    finally:
        if turn is not None:
            turn.end()


def _ask(root: Dataset, ask: Callable[[], T], epoch: int) -> tuple[T] | None:
    """What `ask` finds in the state of `epoch`; None where the dataset has moved on meanwhile."""
    _nesting.inside = True
    try:
        found = ask()
    except _native.Changed:
        raise
    except Exception:
        # Errors of a mixture of two states are none of the file.
        if root._epoch == epoch:
            raise
        return None
    finally:
        _nesting.inside = False
    return (found,) if root._epoch == epoch else None


def _settled(root: Dataset) -> int:
    """The number of the state that is shown, as soon as it is in place."""
    epoch = root._epoch
    if epoch % 2 == 0:
        return epoch
    with _moving:
        return root._epoch


def _move_on(root: Dataset, epoch: int, in_vain: int) -> bool:
    """Has the dataset show a newer state than that of `epoch`; False where there is none yet."""
    with _moving:
        if root._epoch != epoch or root._move_on():
            return True
    time.sleep(_PAUSE * min(in_vain, 20))
    return False
