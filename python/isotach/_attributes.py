"""Attributes of groups and variables, which are Python attributes of them, too."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from isotach import _defining, _moving
from isotach._constants import NO_ATTRIBUTE, NOT_VALID, READ_ONLY, RESERVED
from isotach._lazy import CLOSED
from isotach._types import as_shown, with_strings

if TYPE_CHECKING:
    from isotach import _native
    from isotach._group_members import GroupMembers


class Attributes:
    """What groups and variables can do with their attributes."""

    __slots__ = ()

    #: What the object itself consists of, which no attribute of the file can be called.
    _own_fields: ClassVar[tuple[str, ...]] = ()

    if TYPE_CHECKING:
        _attributes: dict[str, Any] | None
        _native: Any
        _ncstring_attrs__: bool

        def _writing(self) -> _native.GroupWriter | _native.VariableWriter: ...

    def _own_group(self) -> GroupMembers:
        """The group that it is, or is a member of."""
        raise NotImplementedError

    def _all(self) -> dict[str, Any]:
        found: dict[str, Any] | None = self._attributes
        return self._read_attributes() if found is None else found

    @_moving.request
    def _read_attributes(self) -> dict[str, Any]:
        found: dict[str, Any] | None = self._attributes
        if found is None:
            if self._native is CLOSED:
                raise AttributeError(NOT_VALID)
            found = self._native.attributes()
            object.__setattr__(self, "_attributes", found)
        return found

    def ncattrs(self) -> list[str]:
        """Names of its attributes."""
        return list(self._all())

    @_moving.request
    def getncattr(self, name: str, encoding: str = "utf-8") -> Any:
        """An attribute's value: `str`, a list of them, a NumPy scalar or array.

        `encoding` is that of texts. `AttributeError` where there is no such attribute.
        """
        if not isinstance(name, str):
            raise TypeError(f"the name of an attribute is a str, not {type(name).__name__}")
        attributes = self._all()
        value = attributes[name] if name in attributes else self._not_listed(name)
        if value is None:
            raise AttributeError(NO_ATTRIBUTE)
        return _handed_out(value, encoding, self._native, name)

    def _not_listed(self, name: str) -> Any:
        """The value of an attribute that is told only by its name; None where there is none."""
        return None

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__"):
            if name == "__dict__":
                return {name: self.getncattr(name) for name in self.ncattrs()}
            raise AttributeError(name)
        if name in RESERVED or name in self._own_fields:
            raise AttributeError(name)
        return self.getncattr(name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name in RESERVED or name in self._own_fields:
            raise AttributeError(
                f"'{name}' is one of the reserved attributes {tuple(RESERVED)}, cannot rebind. "
                "Use setncattr instead."
            )
        self.setncattr(name, value)

    def __delattr__(self, name: str) -> None:
        if name in RESERVED:
            raise AttributeError(f"'{name}' is one of the reserved attributes, cannot delete.")
        self.delncattr(name)

    def setncattr(self, name: str, value: Any) -> None:
        """Sets the attribute `name` to a text, a number, or a sequence of either.

        Texts are chars where they are ASCII or `bytes`, else netCDF's strings; numbers keep NumPy's
        type. `TypeError` or `ValueError` for what netCDF has no type for, `AttributeError` where
        the file is only read or does not take it.
        """
        self._set_attribute(name, value, self._ncstring_attrs__)

    def setncattr_string(self, name: str, value: Any) -> None:
        """Sets an attribute of netCDF's type string; `OSError` where the format has none."""
        if self._own_group().data_model != "NETCDF4":
            raise OSError("file format does not support NC_STRING attributes")
        self._set_attribute(name, value, True)

    def setncatts(self, attdict: dict[str, Any]) -> None:
        """Sets several attributes, given by name, as `setncattr` does."""
        for name, value in attdict.items():
            self._set_attribute(name, value, False)

    def _set_attribute(self, name: str, value: Any, force_string: bool) -> None:
        group = self._own_group()
        if group._writer is None:
            raise AttributeError(READ_ONLY)
        of, values = _defining.attribute(group, name, value, force_string)
        self._writing().set_attribute(name, of, values)
        self._has_changed()

    def delncattr(self, name: str) -> None:
        """Deletes an attribute; `RuntimeError` where there is none."""
        self._writing().delete_attribute(name)
        self._has_changed()

    def renameAttribute(self, oldname: str, newname: str) -> None:
        """Renames an attribute; `RuntimeError` where there is none, or one of the new name."""
        self._writing().rename_attribute(oldname, newname)
        self._has_changed()

    def _has_changed(self) -> None:
        """Attributes are others now, for everyone in this process who writes the file."""
        self._changed()
        root = self._own_group()
        while root.parent is not None:
            root = root.parent
        for other in root._session.others(root):
            other._forget_attributes()

    def _changed(self) -> None:
        """Attributes are others now."""
        object.__setattr__(self, "_attributes", None)


def _handed_out(value: Any, encoding: str, native: Any, name: str) -> Any:
    """An attribute's value for users: their own copy of what can be changed."""
    if isinstance(value, Exception):
        raise copy.copy(value)
    if isinstance(value, (str, list)) and encoding not in ("utf-8", "utf8"):
        raw = native.attribute_bytes(name)
        if isinstance(raw, bytes):
            return raw.decode(encoding, "replace").replace("\0", "")
        if raw is not None:
            return [text.decode(encoding, "replace").replace("\0", "") for text in raw]
    if isinstance(value, (np.ndarray, np.void)) and value.dtype.names:
        value = as_shown(value, with_strings(value.dtype))
    return value.copy() if isinstance(value, (np.ndarray, list)) else value
