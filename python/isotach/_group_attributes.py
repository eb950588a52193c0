"""Attributes of groups, which are Python attributes of them, too."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, cast

from isotach import _defining
from isotach._constants import NO_ATTRIBUTE, NOT_VALID, READ_ONLY, RESERVED
from isotach._lazy import CLOSED
from isotach._variable import _handed_out

if TYPE_CHECKING:
    from isotach import _native
    from isotach._dataset import Dataset


class GroupAttributes:
    """What a `Dataset` and its groups can do with their attributes."""

    __slots__ = ()

    #: What the object itself consists of, which no attribute of the file can be called.
    _own_fields: ClassVar[tuple[str, ...]] = ()

    if TYPE_CHECKING:
        _attributes: dict[str, Any] | None
        _native: Any
        _ncstring_attrs__: bool
        _writer: Any

        @property
        def data_model(self) -> Any: ...

        def _writing(self) -> _native.GroupWriter: ...

    def _all(self) -> dict[str, Any]:
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

    def getncattr(self, name: str, encoding: str = "utf-8") -> Any:
        """An attribute's value: `str`, a list of them, a NumPy scalar or array.

        `encoding` is that of texts. `AttributeError` where there is no such attribute.
        """
        attributes = self._all()
        if name in attributes:
            value = attributes[name]
        else:
            # Special ones such as _NCProperties are not listed.
            value = self._native.attribute(name) if name.startswith("_") else None
            if value is None:
                raise AttributeError(NO_ATTRIBUTE)
        return _handed_out(value, encoding, self._native, name)

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
        if self.data_model != "NETCDF4":
            raise OSError("file format does not support NC_STRING attributes")
        self._set_attribute(name, value, True)

    def setncatts(self, attdict: dict[str, Any]) -> None:
        """Sets several attributes, given by name, as `setncattr` does."""
        for name, value in attdict.items():
            self._set_attribute(name, value, False)

    def _set_attribute(self, name: str, value: Any, force_string: bool) -> None:
        if self._writer is None:
            raise AttributeError(READ_ONLY)
        group = cast("Dataset", self)
        self._writer.set_attribute(name, *_defining.attribute(group, name, value, force_string))
        object.__setattr__(self, "_attributes", None)

    def delncattr(self, name: str) -> None:
        """Deletes an attribute; `RuntimeError` where there is none."""
        self._writing().delete_attribute(name)
        object.__setattr__(self, "_attributes", None)

    def renameAttribute(self, oldname: str, newname: str) -> None:
        """Renames an attribute; `RuntimeError` where there is none, or one of the new name."""
        self._writing().rename_attribute(oldname, newname)
        object.__setattr__(self, "_attributes", None)
