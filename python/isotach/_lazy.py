"""Dicts whose values are made when they are asked for, and handles on closed files."""

from __future__ import annotations

from collections.abc import Callable, ItemsView, Iterator, KeysView, Sequence, ValuesView
from typing import Any, NoReturn, TypeVar

from isotach._constants import NOT_VALID
from isotach._locks import ProcessLock

V = TypeVar("V")


class LazyDict(dict[str, V]):
    """A dict of what is in a group.

    A value is made when it is first asked for by its name; everything, in the file's order, when
    all of it is asked for. Then it is a dict as any other, until something comes to the group or
    gets another name by another path that leads there. What users put into it stays, and is none
    of the group's.
    """

    __slots__ = ("_ask", "_filled", "_lock", "_make", "_names", "_revision", "_seen", "_users")

    def __init__(
        self,
        names: Callable[[], Sequence[str]],
        make: Callable[[str], V | None],
        revision: Callable[[], int | None],
        ask: Callable[[Callable[[], Any]], Any],
    ) -> None:
        """`make` gives None for a name that there is not, `revision` the next number after every
        change of what there is, or None where nothing changes. `ask` calls a function as one
        request, while none of this dict's locks is held.
        """
        super().__init__()
        self._names = names
        self._make = make
        self._lock = ProcessLock()
        self._filled = False
        self._revision = revision
        self._ask = ask
        self._seen = revision()
        #: Names under which users have put objects of their own, and what they have put them over.
        self._users: dict[str, V | None] = {}

    def current(self) -> LazyDict[V]:
        """This dict, after it has forgotten what is not there any more."""
        now = self._revision()
        if now is not None and now != self._seen:
            with self._lock:
                names = {*self._names(), *self._users}
                for name in [known for known in dict.keys(self) if known not in names]:
                    dict.__delitem__(self, name)
                self._filled = False
                self._seen = now
        return self

    def put(self, key: str, value: V) -> None:
        """Puts in what has just been defined."""
        with self._lock:
            dict.__setitem__(self, key, value)
            self._users.pop(key, None)
            self._count_change()

    def __setitem__(self, key: str, value: Any) -> None:
        """Puts in an object of the user's own, which changes nothing in the file."""
        # It comes behind everything that is in the group.
        self.fill()
        with self._lock:
            self._users.setdefault(key, dict.get(self, key))
            dict.__setitem__(self, key, value)

    def rename(self, old: str, new: str) -> None:
        """Follows what has just been renamed; everything has been made before."""
        with self._lock:
            dict.__setitem__(self, new, dict.pop(self, old))
            self._count_change()

    def _count_change(self) -> None:
        if self._seen is not None:
            self._seen += 1

    def _is_whole(self) -> bool:
        return self.current()._filled

    def __missing__(self, key: str) -> V:
        found: V = self._ask(lambda: self._found(key))
        return found

    def _found(self, key: str) -> V:
        with self._lock:
            if dict.__contains__(self, key):
                return dict.__getitem__(self, key)
            is_known = self._is_whole() or not isinstance(key, str)
            value = None if is_known else self._make(key)
            if value is None:
                raise KeyError(key)
            dict.__setitem__(self, key, value)
            return value

    def fill(self) -> None:
        """Makes everything that was not asked for yet."""
        if not self._is_whole():
            self._ask(self._fill)

    def _fill(self) -> None:
        with self._lock:
            if self._filled:
                return
            everything: dict[str, V] = {}
            for name in self._names():
                known = dict.__contains__(self, name)
                value = dict.__getitem__(self, name) if known else self._make(name)
                if value is not None:
                    everything[name] = value
            for name, value in dict.items(self):
                if name in self._users:
                    everything.setdefault(name, value)
            dict.clear(self)
            dict.update(self, everything)
            self._filled = True

    def renew(self, kept: set[str]) -> None:
        """Forgets what there is: only values that were made, and are kept, stay, and users' own."""
        with self._lock:
            stays = {*self._users, *kept}
            left = {name: made for name, made in dict.items(self) if name in stays}
            dict.clear(self)
            dict.update(self, left)
            self._filled = False

    def made(self) -> list[V]:
        """The values that have been asked for so far."""
        return list(self.made_by_name().values())

    def made_by_name(self) -> dict[str, V]:
        """The same by their names."""
        with self._lock:
            below = {name: made for name, made in self._users.items() if made is not None}
            made = {name: made for name, made in dict.items(self) if name not in self._users}
            return made | below

    def get(self, key: str, default: Any = None) -> Any:
        """The value of `key`, or `default`."""
        try:
            return self[key]
        except KeyError:
            return default

    def __contains__(self, key: object) -> bool:
        if dict.__contains__(self, key) or self._is_whole() or not isinstance(key, str):
            return dict.__contains__(self, key)
        # One name is looked up: listing all of them may cost much more.
        return self.get(key) is not None

    def __len__(self) -> int:
        return dict.__len__(self) if self._is_whole() else len(self._listed())

    def __iter__(self) -> Iterator[str]:
        return dict.__iter__(self) if self._is_whole() else iter(self._listed())

    def _listed(self) -> tuple[str, ...]:
        # Users' own come last, as where everything was made.
        return tuple(dict.fromkeys((*self._ask(self._names), *self._users)))

    def __reversed__(self) -> Iterator[str]:
        return reversed(tuple(self))

    # Views of a dict's own know nothing of what has not been made yet.
    def keys(self) -> KeysView[str]:  # type: ignore[override]
        """The names."""
        return dict.keys(self) if self._is_whole() else KeysView(self)

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
        self._users.pop(key, None)
        return dict.pop(self, key, *default)

    def __delitem__(self, key: str) -> None:
        self.fill()
        dict.__delitem__(self, key)
        self._users.pop(key, None)

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
    """Stands where a handle was: whatever is asked of it is an error."""

    __slots__ = ("_why",)

    def __init__(self, why: str) -> None:
        self._why = why

    def __getattr__(self, name: str) -> NoReturn:
        raise RuntimeError(self._why)


#: For handles on a file that was closed.
CLOSED: Any = Closed(NOT_VALID)
