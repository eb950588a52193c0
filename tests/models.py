"""Files as models in memory: what a file holds, and whether each library finds it in one.

A model knows no library. What it expects and what a library finds are made plain in the same way,
so that they compare with `==`: bytes for numbers, texts for texts.
"""

from dataclasses import dataclass, field
from typing import Any

import h5py
import numpy as np

NUMBERS = ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8"]
#: Attributes that say how netCDF lies in HDF5.
HIDDEN = {
    "CLASS",
    "NAME",
    "DIMENSION_LIST",
    "REFERENCE_LIST",
    "_NCProperties",
    "_Netcdf4Coordinates",
    "_Netcdf4Dimid",
    "_nc3_strict",
}
NO_VARIABLE = "This is a netCDF dimension but not a netCDF variable"
#: netCDF's name for a variable that has the name of a dimension and does not stand for it.
NOT_A_COORDINATE = "_nc4_non_coord_"


@dataclass(eq=False)
class Dimension:
    name: str
    length: int
    grows: bool


@dataclass(eq=False)
class UserType:
    """`kind` is compound, enum or vlen; `dtype` the elements' (of a sequence: its elements')."""

    kind: str
    name: str
    dtype: np.dtype
    members: dict[str, int] = field(default_factory=dict)

    @property
    def element(self):
        return np.dtype(object) if self.kind == "vlen" else self.dtype


@dataclass(eq=False)
class Variable:
    """`values` reach as far as they were written; `fill` is what follows, None for nothing."""

    type: Any
    dimensions: list[Dimension]
    values: np.ndarray
    fill: Any
    attributes: dict[str, Any] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def shape(self):
        return tuple(dimension.length for dimension in self.dimensions)

    def grow(self, shape):
        """Makes room for so many elements along each axis, and has the dimensions know."""
        grown = self.values
        if any(new > old for new, old in zip(shape, grown.shape, strict=True)):
            grown = self.filled(tuple(map(max, shape, grown.shape)))
            grown[tuple(slice(0, length) for length in self.values.shape)] = self.values
        self.values = grown
        for dimension, length in zip(self.dimensions, grown.shape, strict=True):
            dimension.length = max(dimension.length, length)

    def filled(self, shape):
        """An array of nothing but fill values."""
        found = np.zeros(shape, self.values.dtype)
        if isinstance(self.fill, np.ndarray) and found.dtype.kind == "O":
            for place in np.ndindex(found.shape):
                found[place] = self.fill
        elif self.fill is not None:
            found[...] = self.fill
        return found

    def padded(self):
        """What netCDF shows: as long as the dimensions are."""
        found = self.filled(self.shape)
        found[tuple(slice(0, length) for length in self.values.shape)] = self.values
        return found


@dataclass(eq=False)
class Group:
    dimensions: dict[str, Dimension] = field(default_factory=dict)
    types: dict[str, UserType] = field(default_factory=dict)
    attributes: dict[str, Any] = field(default_factory=dict)
    variables: dict[str, Variable] = field(default_factory=dict)
    groups: dict[str, "Group"] = field(default_factory=dict)

    def walk(self, path="/"):
        yield path, self
        for name, below in self.groups.items():
            yield from below.walk(f"{path}{name}/")

    def is_for_libnetcdf(self):
        """Whether libnetcdf reads all values of such a file.

        Where a variable does not reach as far as its dimensions do, libnetcdf puts all fill values
        last, which is right along the first axis alone, and may write over what is not its own.
        """
        return all(
            variable.values.shape == variable.shape
            or (
                not any(dimension.grows for dimension in variable.dimensions[1:])
                and not isinstance(variable.type, UserType)
            )
            for _, group in self.walk()
            for variable in group.variables.values()
        )

    def expected(self):
        """What netCDF's readers are to find."""
        found = {}
        for path, group in self.walk():
            found[path] = {
                "dimensions": {d.name: (d.length, d.grows) for d in group.dimensions.values()},
                "attributes": {name: plain(value) for name, value in group.attributes.items()},
                "types": sorted(group.types),
                "variables": sorted(group.variables),
            }
            for name, variable in group.variables.items():
                found[path + name] = {
                    "dimensions": tuple(dimension.name for dimension in variable.dimensions),
                    "attributes": {n: plain(value) for n, value in variable.attributes.items()},
                    "shape": variable.shape,
                    "values": plain(variable.padded()),
                }
        return found


def plain(value):
    """Something that compares with `==`: a text, texts, or a type, a count and bytes."""
    if isinstance(value, h5py.Empty):
        value = np.zeros(0, value.dtype)
    if isinstance(value, (str, bytes, np.bytes_)):
        return text(value)
    if isinstance(value, list):
        value = np.array([*value, None], object)[:-1]
    array = np.ma.getdata(np.asarray(value))
    if array.dtype.names:
        return {name: plain(array[name]) for name in array.dtype.names}
    if array.dtype.kind == "O":
        items = [plain(item) for item in array.reshape(-1)]
        return items[0] if len(items) == 1 else items
    if array.dtype.kind == "S":
        return array.tobytes()
    return array.dtype.str[1:], array.size, array.astype(array.dtype.newbyteorder("=")).tobytes()


def text(value):
    return (value if isinstance(value, str) else bytes(value).decode()).rstrip("\0")


def attributes_of(owner):
    return {name: plain(owner.getncattr(name)) for name in owner.ncattrs()}


def seen_by_netcdf(library, path):
    """What netCDF4, or isotach, finds."""
    found = {}

    def look(group, path):
        types = [*group.cmptypes, *group.enumtypes, *group.vltypes]
        found[path] = {
            "dimensions": {n: (len(d), d.isunlimited()) for n, d in group.dimensions.items()},
            "attributes": attributes_of(group),
            "types": sorted(types),
            "variables": sorted(group.variables),
        }
        for name, variable in group.variables.items():
            found[path + name] = {
                "dimensions": variable.dimensions,
                "attributes": attributes_of(variable),
                "shape": variable.shape,
                "values": plain(variable[...]),
            }
        for name, below in group.groups.items():
            look(below, f"{path}{name}/")

    with library.Dataset(path) as dataset:
        dataset.set_auto_maskandscale(False)
        dataset.set_auto_chartostring(False)
        look(dataset, "/")
    return found


def difference(expected, found, path=""):
    """The first thing that differs, in words; None where nothing does."""
    if isinstance(expected, dict) and isinstance(found, dict):
        for name in expected.keys() | found.keys():
            if name not in found or name not in expected:
                return f"{path}: {name!r} is {'missing' if name in expected else 'too much'}"
            deeper = difference(expected[name], found[name], f"{path}:{name}")
            if deeper:
                return deeper
        return None
    return None if expected == found else f"{path}: {found!r:.400} for {expected!r:.400}"


def check_netcdf(model, library, path):
    found = difference(model.expected(), seen_by_netcdf(library, path))
    assert found is None, f"{library.__name__}: {found}"


def check_h5py(model, path):
    """h5py finds the same, each variable as long as it is, and scales that fit together."""
    paths = {
        id(dimension): where + dimension.name
        for where, group in model.walk()
        for dimension in group.dimensions.values()
    }
    with h5py.File(path) as file:
        for where, group in model.walk():
            seen = file[where]
            assert difference(*attributes_in(seen, group.attributes)) is None, where
            assert variable_names(seen) == sorted(group.variables), where
            for name, variable in group.variables.items():
                hidden = NOT_A_COORDINATE + name
                check_dataset(seen[hidden if hidden in seen else name], variable, paths)
        check_scales(file)


def attributes_in(owner, expected):
    names = [name for name in owner.attrs if name not in HIDDEN]
    found = {name: plain(owner.attrs[name]) for name in names}
    return {name: plain(value) for name, value in expected.items()}, found


def variable_names(group):
    found = []
    for name, item in group.items():
        if isinstance(item, h5py.Dataset):
            about = item.attrs.get("NAME", b"")
            if not text(about).startswith(NO_VARIABLE):
                found.append(name.removeprefix(NOT_A_COORDINATE))
    return sorted(found)


def check_dataset(dataset, variable, paths):
    where = dataset.name
    found = difference(*attributes_in(dataset, variable.attributes), where)
    assert found is None, found
    shape = dataset.shape
    assert len(shape) == len(variable.dimensions), where
    for length, least, dimension in zip(
        shape, variable.values.shape, variable.dimensions, strict=True
    ):
        assert least <= length <= dimension.length, where
    expected = variable.padded()[tuple(slice(0, length) for length in shape)]
    found = difference(plain(expected), plain(dataset[()]), where)
    assert found is None, found
    scales = [paths[id(dimension)] for dimension in variable.dimensions]
    if where not in scales[:1]:
        assert [dims[0].name for dims in dataset.dims] == scales, where


def check_scales(file):
    """Every scale knows exactly the data sets that lie along it."""
    uses, told = {}, {}

    def visit(name, item):
        if not isinstance(item, h5py.Dataset):
            return
        for axis, scales in enumerate(item.attrs.get("DIMENSION_LIST", [])):
            for scale in scales:
                uses.setdefault(file[scale].name, set()).add((item.name, axis))
        if "REFERENCE_LIST" in item.attrs:
            list_ = item.attrs["REFERENCE_LIST"]
            told[item.name] = {(file[user].name, int(axis)) for user, axis in list_}
            assert len(told[item.name]) == len(list_), name

    file.visititems(visit)
    assert uses == told
