"""User-defined types, and NumPy's dtypes for them."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from isotach import _defining
from isotach._constants import NUMPY_CODES

#: NumPy's signs for byte orders.
Order = Literal["=", "<", ">"]


class CompoundType:
    """A compound type: `dtype` is the structured dtype that reads return.

    In `dtype_view` one-dimensional arrays of characters are strings.
    """

    __slots__ = ("__weakref__", "_home", "_nc_type", "dtype", "dtype_view", "name")

    def __init__(self, grp: Any, dt: Any, dtype_name: str, *, typeid: int | None = None) -> None:
        """With a group, defines the type there, as `Dataset.createCompoundType` does."""
        self._home = _home(grp)
        self.dtype: np.dtype[Any] = np.dtype(dt)
        if grp is not None and typeid is None:
            self.dtype = _aligned(self.dtype)
            description = _defining.compound(grp, self.dtype)
            grp._writing().define_type(dtype_name, description)
        self.dtype_view: np.dtype[Any] = with_strings(self.dtype)
        self.name = dtype_name
        self._nc_type = -1 if typeid is None else typeid

    def __repr__(self) -> str:
        return f"{type(self)!r}: name = '{self.name}', numpy dtype = {self.dtype}"

    def __reduce__(self) -> tuple[Any, ...]:
        return (CompoundType, (None, self.dtype, self.name))


class VLType:
    """A type of sequences of any length: `dtype` is that of their elements, `str` for strings."""

    __slots__ = ("__weakref__", "_home", "_nc_type", "dtype", "name")

    def __init__(
        self, grp: Any, dt: Any, dtype_name: str | None, *, typeid: int | None = None
    ) -> None:
        """With a group, defines the type there, as `Dataset.createVLType` does; but not for `str`,
        which is always there.
        """
        self._home = _home(grp)
        self.dtype: Any = str if dt is str else np.dtype(dt)
        if grp is not None and self.dtype is not str and typeid is None:
            grp._writing().define_type(dtype_name, _defining.vlen(np.dtype(dt)))
        self.name = None if dt is str else dtype_name
        self._nc_type = -1 if typeid is None else typeid

    def __repr__(self) -> str:
        if self.dtype is str:
            return f'"{type(self)!r}": string type'
        return f"\"{type(self)!r}\": name = '{self.name}', numpy dtype = {self.dtype}"

    def __reduce__(self) -> tuple[Any, ...]:
        return (VLType, (None, self.dtype, self.name))


class EnumType:
    """A type of named integers: `dtype` is the integers', `enum_dict` has the names' values."""

    __slots__ = ("__weakref__", "_home", "_nc_type", "dtype", "enum_dict", "name")

    def __init__(
        self,
        grp: Any,
        dt: Any,
        dtype_name: str,
        enum_dict: dict[str, int],
        *,
        typeid: int | None = None,
    ) -> None:
        """With a group, defines the type there, as `Dataset.createEnumType` does."""
        self._home = _home(grp)
        self.dtype: np.dtype[Any] = np.dtype(dt)
        if grp is not None and typeid is None:
            grp._writing().define_type(dtype_name, _defining.enum(self.dtype, enum_dict))
        self.name = dtype_name
        self.enum_dict = enum_dict
        self._nc_type = -1 if typeid is None else typeid

    def __repr__(self) -> str:
        return (
            f"\"{type(self)!r}\": name = '{self.name}', numpy dtype = {self.dtype}, "
            f"fields/values ={self.enum_dict}"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return (EnumType, (None, self.dtype, self.name, self.enum_dict))


def user_type(described: dict[str, Any], order: Order = "=", file: Any = None) -> Any:
    """The class's instance for a type as the native part describes it.

    None for opaque and foreign ones, for which netCDF4-python has no class. `order` is NumPy's
    sign for the byte order of a variable's numbers, `file` what stands for the dataset: a type that
    is kept does not keep the file open.
    """
    name = described["name"]
    found: Any = None
    match described["class"]:
        case "compound":
            found = CompoundType(None, numpy_dtype(described), name)
        case "enum":
            base = np.dtype(order + NUMPY_CODES[described["base"]])
            found = EnumType(None, base, name, dict(described["members"]))
        case "vlen":
            found = VLType(None, _element_dtype(described["base"], order), name)
    if found is not None and file is not None:
        found._home = (file, described["group"])
    return found


def _home(group: Any) -> tuple[Any, str] | None:
    """What stands for the dataset, and the path of the group that defines a type."""
    return None if group is None else (group._group_numbers, group.path)


def _aligned(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Members as a C compiler lays them out, strings as arrays of characters."""
    if dtype.names is None:
        raise TypeError("compound types are made of structured dtypes")
    formats: list[Any] = []
    for name in dtype.names:
        member = dtype[name]
        if member.names is not None:
            formats.append(_aligned(member))
        elif member.kind == "S" and member.itemsize != 1:
            formats.append(np.dtype(("S1", (member.itemsize,))))
        else:
            formats.append(member)
    return np.dtype({"names": list(dtype.names), "formats": formats}, align=True)


def _element_dtype(described: Any, order: Order) -> np.dtype[Any]:
    dtype = numpy_dtype(described)
    return dtype.newbyteorder(order) if dtype.kind in "iuf" else dtype


def numpy_dtype(described: Any) -> np.dtype[Any]:
    """The dtype in which elements of a type are handed to users: aligned as C has it."""
    if isinstance(described, str):
        return np.dtype(NUMPY_CODES.get(described, "O"))
    match described["class"]:
        case "enum":
            return np.dtype(NUMPY_CODES[described["base"]])
        case "vlen":
            return np.dtype("O")
        case "compound":
            fields = sorted(described["fields"], key=lambda field: field[1])
            formats = [(numpy_dtype(base), tuple(shape)) for _, _, base, shape in fields]
            names = [name for name, *_ in fields]
            return np.dtype({"names": names, "formats": formats}, align=True)
    return np.dtype(f"V{described['size']}")


def has_characters(dtype: np.dtype[Any]) -> bool:
    """Whether a structured dtype has arrays of characters, which may be strings."""
    members = (dtype[name] for name in dtype.names or ())
    return any(
        has_characters(member) or (member.base.kind == "S" and len(member.shape) == 1)
        for member in members
    )


def with_strings(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The same memory with one-dimensional arrays of characters as strings."""
    if dtype.names is None:
        return dtype
    formats: list[Any] = []
    for name in dtype.names:
        field = dtype[name]
        if field.subdtype is None:
            formats.append(with_strings(field))
        elif field.base.kind == "S" and len(field.shape) == 1:
            formats.append(np.dtype(f"S{field.shape[0]}"))
        else:
            formats.append(field)
    return np.dtype({"names": list(dtype.names), "formats": formats}, align=dtype.isalignedstruct)


def as_shown(raw: Any, shown: np.dtype[Any]) -> Any:
    """Structured elements with their characters as strings; a view where NumPy has one."""
    if raw.dtype == shown or not shown.hasobject:
        return raw.view(shown)
    # NumPy has no view of an array that holds references.
    out = np.empty(raw.shape, shown)
    for name in shown.names or ():
        member, target = np.ascontiguousarray(raw[name]), shown[name].base
        if member.dtype != target:
            member = as_shown(member, target) if target.names else member.view(target)
        out[name] = member.reshape(out[name].shape)
    return out


def as_dtype(raw: Any, dtype: np.dtype[Any]) -> Any:
    """The elements of a structured array, member by member, in another layout."""
    if raw.dtype == dtype or raw.dtype.names is None:
        return raw
    out = np.empty(raw.shape, dtype)
    for name in dtype.names or ():
        member = raw[name]
        if dtype[name].base.names is not None and dtype[name].base != member.dtype:
            member = as_dtype(member, dtype[name].base)
        if dtype[name].base.hasobject and out[name].shape != member.shape:
            member = member.reshape(out[name].shape)
        out[name] = member.reshape(out[name].shape)
    return out
