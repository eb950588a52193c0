"""Dicts whose values are made when they are asked for, and handles on closed files."""

from __future__ import annotations

import threading
from collections.abc import Callable, ItemsView, Iterator, KeysView, Sequence, ValuesView
from typing import Any, NoReturn, TypeVar

from isotach._constants import NOT_VALID

V = TypeVar("V")


class LazyDict(dict[str, V]):
    """A dict of what is in a group.

    A value is made when it is first asked for by its name; everything, in the file's order, when
    all of it is asked for. Then it is a dict as any other.
    """

    __slots__ = ("_filled", "_lock", "_make", "_names")

    def __init__(self, names: Callable[[], Sequence[str]], make: Callable[[str], V | None]) -> None:
        """`make` gives None for a name that there is not."""
        super().__init__()
        self._names = names
        self._make = make
        self._lock = threading.RLock()
        self._filled = False

    def __missing__(self, key: str) -> V:
        with self._lock:
            if dict.__contains__(self, key):
                return dict.__getitem__(self, key)
            value = None if self._filled or not isinstance(key, str) else self._make(key)
            if value is None:
                raise KeyError(key)
            dict.__setitem__(self, key, value)
            return value

    def fill(self) -> None:
        """Makes everything that was not asked for yet."""
        if self._filled:
            return
        with self._lock:
            if self._filled:
                return
            everything: dict[str, V] = {}
            for name in self._names():
                known = dict.__contains__(self, name)
                value = dict.__getitem__(self, name) if known else self._make(name)
                if value is not None:
                    everything[name] = value
            dict.clear(self)
            dict.update(self, everything)
            self._filled = True

    def renew(self, is_there: Callable[[str, V], bool]) -> None:
        """Forgets what there is: only values that were made, and still are there, stay."""
        with self._lock:
            kept = {name: made for name, made in dict.items(self) if is_there(name, made)}
            dict.clear(self)
            dict.update(self, kept)
            self._filled = False

    def made(self) -> list[V]:
        """The values that have been asked for so far."""
        with self._lock:
            return list(dict.values(self))

    def get(self, key: str, default: Any = None) -> Any:
        """The value of `key`, or `default`."""
        try:
            return self[key]
        except KeyError:
            return default

    def __contains__(self, key: object) -> bool:
        if dict.__contains__(self, key) or self._filled or not isinstance(key, str):
            return dict.__contains__(self, key)
        # One name is looked up: listing all of them may cost much more.
        return self.get(key) is not None

    def __len__(self) -> int:
        return dict.__len__(self) if self._filled else len(self._names())

    def __iter__(self) -> Iterator[str]:
        return dict.__iter__(self) if self._filled else iter(tuple(self._names()))

    def __reversed__(self) -> Iterator[str]:
        return reversed(tuple(self))

    # Views of a dict's own know nothing of what has not been made yet.
    def keys(self) -> KeysView[str]:  # type: ignore[override]
        """The names."""
        return dict.keys(self) if self._filled else KeysView(self)

    def values(self) -> ValuesView[V]:  # type: ignore[override]
        """All values, in the file's order."""
        self.fill()
        return dict.values(self)

    def items(self) -> ItemsView[str, V]:  # type: ignore[override]
        """All names and values, in the file's order."""
        self.fill()
        return dict.items(self)

    def copy(self) -> dict[str, V]:
        """A plain dict of everything."""
        self.fill()
        return dict(dict.items(self))

    def pop(self, key: str, *default: Any) -> Any:
        """Takes a value out of this dict (not out of the file)."""
        self.fill()
        return dict.pop(self, key, *default)

    def __delitem__(self, key: str) -> None:
        self.fill()
        dict.__delitem__(self, key)

    def __eq__(self, other: object) -> bool:
        self.fill()
        return dict.__eq__(self, other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = None

    def __or__(self, other: dict[str, Any]) -> dict[str, Any]:  # type: ignore[override]
        return self.copy() | other

    def __repr__(self) -> str:
        self.fill()
        return dict.__repr__(self)

    def __reduce__(self) -> tuple[Any, ...]:
        return (dict, (self.copy(),))


class Closed:
    """Stands where the handle on an open file was: whatever is asked of it is an error."""

    __slots__ = ()

    def __getattr__(self, name: str) -> NoReturn:
        raise RuntimeError(NOT_VALID)


#: The one that is needed.
CLOSED: Any = Closed()
