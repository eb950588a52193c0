"""Dimensions."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any, NoReturn

from isotach._constants import NOT_VALID
from isotach._lazy import CLOSED

if TYPE_CHECKING:
    from isotach._dataset import Dataset
    from isotach._group_members import GroupMembers


class Dimension:
    """A dimension of a group: a name and a length that variables share."""

    __slots__ = ("__weakref__", "_grp", "_length", "_name", "_native", "_unlimited")

    def __init__(
        self,
        grp: GroupMembers,
        name: str,
        size: int | None = None,
        *,
        unlimited: bool | None = None,
        defined: bool = False,
    ) -> None:
        """Defines a dimension, as `Dataset.createDimension` does; without a size, or with 0, an
        unlimited one.
        """
        self._grp: Any = weakref.proxy(grp) if grp.keepweakref else grp
        self._name = name
        self._length = int(size or 0)
        self._unlimited = not self._length if unlimited is None else unlimited
        self._native: Any = None
        if not defined:
            if self._length < 0:
                raise OverflowError("can't convert negative value to size_t")
            self._native = grp._writing().define_dimension(name, self._length or None)

    @property
    def _dimid(self) -> int:
        """Its number, unique in the file."""
        if self._native is not None:
            return int(self._native.id)
        return int(self._grp._native.dimension_id(self._name))

    @property
    def _grpid(self) -> int:
        return int(self._grp._grpid)

    @property
    def _data_model(self) -> str:
        return str(self._grp.data_model)

    def _getname(self) -> str:
        return self.name

    def _check(self) -> None:
        if self._grp._native is CLOSED:
            raise RuntimeError(NOT_VALID)

    @property
    def name(self) -> str:
        """Its name."""
        self._check()
        return self._name

    @name.setter
    def name(self, value: str) -> NoReturn:
        raise AttributeError("name cannot be altered")

    @property
    def size(self) -> int:
        """Its present length."""
        return len(self)

    @size.setter
    def size(self, value: int) -> NoReturn:
        raise AttributeError("size cannot be altered")

    def __len__(self) -> int:
        self._check()
        if self._unlimited and self._grp._writer is not None:
            return len(self._handle())
        return self._length

    def _handle(self) -> Any:
        """The native part's dimension, of a file that is being written."""
        if self._native is None:
            self._native = self._grp._writing().find_dimension(self._name)
        return self._native

    def _renewed(self, now: Dimension) -> Dimension:
        """This dimension, as the file has it now."""
        self._length, self._unlimited = now._length, now._unlimited
        return self

    def _rename(self, name: str) -> None:
        self._handle().rename(name)
        self._name = name

    def group(self) -> Dataset:
        """The group that it is a member of."""
        group: Dataset = self._grp
        return group

    def isunlimited(self) -> bool:
        """Whether it can grow."""
        self._check()
        return self._unlimited

    def __repr__(self) -> str:
        unlimited = " (unlimited)" if self.isunlimited() else ""
        return f"\"{type(self)!r}\"{unlimited}: name = '{self._name}', size = {len(self)}"

    def __reduce__(self) -> tuple[Any, ...]:
        return (_of, (self._grp, self._name))


def _of(group: Dataset, name: str) -> Dimension:
    return group.dimensions[name]
