"""netCDF4, h5py and isotach change one file in turns, twenty times; after each turn all of them
find in it what the model says.

Whose turn it is and what is done hangs on the seed alone. `ISOTACH_TURNS` says how many turns,
`ISOTACH_SEEDS` how many files of each kind.
"""

import os

import h5py
import isotach
import netCDF4
import numpy as np
import pytest
from models import NO_VARIABLE, Dimension, Group, Variable, check_h5py, check_netcdf

TURNS = int(os.environ.get("ISOTACH_TURNS", "20"))
SEEDS = int(os.environ.get("ISOTACH_SEEDS", "2"))
CLASSIC = ["NETCDF3_CLASSIC", "NETCDF3_64BIT_OFFSET", "NETCDF3_64BIT_DATA"]
LETTERS = ["a", "b", "ü", "with blank", "x-y", "longer than the others"]


class Netcdf:
    """netCDF4's interface, and ours."""

    def __init__(self, library):
        self.library = library

    def create(self, path, format):
        self.file = self.library.Dataset(path, "w", format=format)

    def open(self, path):
        self.file = self.library.Dataset(path, "a")
        self.file.set_auto_maskandscale(False)

    def close(self):
        self.file.close()

    def owner(self, where):
        return self.file if where == "/" else self.file[where]

    def write(self, where, key, values):
        self.file[where].set_auto_maskandscale(False)
        self.file[where][key] = values

    def set_attribute(self, where, name, value):
        self.owner(where).setncattr(name, value)

    def rename_attribute(self, where, old, new):
        self.owner(where).renameAttribute(old, new)

    def delete_attribute(self, where, name):
        self.owner(where).delncattr(name)

    def add_dimension(self, where, dimension):
        length = None if dimension.grows else dimension.length
        self.owner(where).createDimension(dimension.name, length)

    def add_variable(self, where, name, variable):
        along = [dimension.name for dimension in variable.dimensions]
        self.owner(where).createVariable(name, variable.type, along, **variable.options)

    def add_group(self, where, name):
        self.owner(where).createGroup(name)

    def rename_variable(self, where, old, new):
        self.owner(where).renameVariable(old, new)

    def rename_group(self, where, old, new):
        self.owner(where).renameGroup(old, new)

    def rename_dimension(self, where, old, new):
        self.owner(where).renameDimension(old, new)


class H5py:
    """The same through libhdf5, which knows nothing of netCDF."""

    def __init__(self, libver):
        self.libver = libver
        # As h5netcdf does: netCDF4 gives dimensions without a number those that others have.
        self.numbers = {}

    def create(self, path, _):
        self.file = h5py.File(path, "w", libver=self.libver, track_order=True)

    def open(self, path):
        self.file = h5py.File(path, "r+", libver=self.libver)

    def close(self):
        self.file.close()

    def write(self, where, key, values):
        dataset = self.file[where]
        if key and key[0].stop > dataset.shape[0]:
            dataset.resize(key[0].stop, axis=0)
        dataset[key] = values

    def set_attribute(self, where, name, value):
        self.file[where].attrs[name] = value

    def rename_attribute(self, where, old, new):
        h5py.h5a.rename(self.file[where].id, old.encode(), new.encode())

    def delete_attribute(self, where, name):
        del self.file[where].attrs[name]

    def add_dimension(self, where, dimension):
        grows = (None,) if dimension.grows else None
        shape = (dimension.length,)
        made = self.file[where].create_dataset(dimension.name, shape, ">f4", maxshape=grows)
        made.make_scale(f"{NO_VARIABLE}.{dimension.length:10d}")
        self.numbers[dimension.name] = np.int32(len(self.numbers))
        made.attrs["_Netcdf4Dimid"] = self.numbers[dimension.name]

    def add_variable(self, where, name, variable):
        group = self.file[where]
        is_scale = [dimension.name for dimension in variable.dimensions] == [name]
        if is_scale:
            # The variable takes the place of what stands for the dimension.
            del group[name]
        shape = tuple(0 if d.grows else d.length for d in variable.dimensions)
        longest = tuple(None if d.grows else d.length for d in variable.dimensions)
        dtype = h5py.string_dtype() if variable.type is str else variable.type
        options = {}
        if variable.type is not str:
            options["fillvalue"] = variable.fill
        if None in longest:
            options["chunks"] = variable.options["chunksizes"]
            options["compression"] = "gzip" if "zlib" in variable.options else None
        made = group.create_dataset(name, shape, dtype, maxshape=longest, **options)
        if is_scale:
            made.make_scale(name)
            made.attrs["_Netcdf4Dimid"] = self.numbers[name]
        for axis, dimension in enumerate(variable.dimensions if not is_scale else ()):
            made.dims[axis].attach_scale(self.scale(group, dimension.name))

    def scale(self, group, name):
        return group[name] if name in group else self.scale(group.parent, name)

    def add_group(self, where, name):
        self.file[where].create_group(name, track_order=True)

    def rename_variable(self, where, old, new):
        self.file[where].move(old, new)

    rename_group = rename_variable


class Game:
    """A file, its model, and who changes both."""

    def __init__(self, seed, path, format="NETCDF4"):
        self.random = np.random.default_rng(seed)
        self.path, self.format = path, format
        self.enhanced = format == "NETCDF4"
        self.model = Group()
        self.count = 0

    def pick(self, choices):
        return choices[self.random.integers(len(choices))]

    def name(self):
        self.count += 1
        return f"{self.pick(LETTERS)}{self.count}"

    def name_instead_of(self, old):
        """Another name, or None: netCDF4 can give no longer ones in the classic models."""
        if self.enhanced:
            return self.name()
        self.count += 1
        new = np.base_repr(self.count, 36)
        return new if len(new) <= len(old.encode()) else None

    def start(self, hand):
        """What every file has: a coordinate, a grid that grows, and one that does not."""
        hand.create(self.path, self.format)
        self.hand = hand
        time = self.add_dimension("/", Dimension("time", 0, True))
        x = self.add_dimension("/", Dimension("x", 3, False))
        y = self.add_dimension("/", Dimension("y", 2, False))
        self.add_variable("/", "time", self.variable("f8", [time]))
        self.add_variable("/", "grid", self.variable("f4", [time, y, x]))
        self.add_variable("/", "fixed", self.variable("i4", [x, y]))
        if self.enhanced:
            self.add_group("/", "group")
            z = self.add_dimension("/group/", Dimension("z", 4, False))
            self.add_variable("/group/", "words", self.variable(str, [time]))
            self.add_variable("/group/", "deep", self.variable("i2", [z, x]))
        hand.close()

    def turn(self, hand):
        """Some changes by one of the libraries."""
        hand.open(self.path)
        self.hand = hand
        changes = [self.append] * 4 + [self.overwrite] * 3 + [self.set_attribute] * 4
        changes += [self.rename_attribute, self.delete_attribute, self.new_variable]
        # libnetcdf fails to rename some variables ("Problem with HDF5 dimscales"), also of its own.
        if not self.enhanced or getattr(hand, "library", None) is not netCDF4:
            changes += [self.rename_variable] * 2
        if self.enhanced:
            changes += [self.new_group, self.rename_group]
        if not isinstance(hand, H5py):
            changes += [self.new_dimension, self.rename_dimension]
        for _ in range(self.random.integers(1, 6)):
            self.pick(changes)()
        hand.close()

    # Which one

    def groups(self):
        return [*self.model.walk()]

    def variables(self):
        """Path of the group, name, variable."""
        return [(where, name, v) for where, g in self.groups() for name, v in g.variables.items()]

    def dimensions_of(self, where):
        """What a variable of the group can lie along, the nearest of each name."""
        found = {}
        for path, group in self.groups():
            if where.startswith(path):
                found.update(group.dimensions)
        return [*found.values()]

    def owner(self):
        """What has attributes: its path and its attributes."""
        owners = [(where.rstrip("/") or "/", group.attributes) for where, group in self.groups()]
        owners += [(where + name, found.attributes) for where, name, found in self.variables()]
        return self.pick(owners)

    # What is there

    def values(self, kind, shape):
        if kind is str:
            words = [self.pick(["", "a", "wörd", "x" * 50]) for _ in range(int(np.prod(shape)))]
            return np.array([*words, None], object)[:-1].reshape(shape)
        return self.random.integers(0, 100, shape).astype(kind)

    def variable(self, kind, dimensions):
        """One with nothing in it yet."""
        shape = tuple(dimension.length for dimension in dimensions)
        grows = bool(dimensions) and dimensions[0].grows
        fill = "" if kind is str else netCDF4.default_fillvals[kind]
        empty = np.empty((0, *shape[1:]) if grows else shape, object if kind is str else kind)
        made = Variable(kind, dimensions, empty, fill)
        made.values = made.filled(empty.shape)
        if self.format.startswith("NETCDF4") and grows:
            chunk = (int(self.random.integers(1, 5)), *shape[1:])
            made.options["chunksizes"] = chunk
            if kind is not str and self.random.integers(2):
                made.options["zlib"] = True
        return made

    def add_dimension(self, where, dimension):
        self.hand.add_dimension(where.rstrip("/") or "/", dimension)
        self.group(where).dimensions[dimension.name] = dimension
        return dimension

    def add_variable(self, where, name, variable):
        self.hand.add_variable(where.rstrip("/") or "/", name, variable)
        self.group(where).variables[name] = variable
        if variable.values.size:
            self.put(where, name, variable, tuple(slice(0, n) for n in variable.values.shape))

    def add_group(self, where, name):
        self.hand.add_group(where.rstrip("/") or "/", name)
        self.group(where).groups[name] = Group()

    def group(self, where):
        return dict(self.groups())[where]

    def put(self, where, name, variable, key):
        variable.grow(tuple(part.stop for part in key))
        values = self.values(variable.type, tuple(part.stop - part.start for part in key))
        variable.values[key] = values
        self.hand.write(where + name, key, values)

    # Changes

    def append(self):
        growing = [found for found in self.variables() if found[2].dimensions[:1]]
        growing = [found for found in growing if found[2].dimensions[0].grows]
        where, name, variable = self.pick(growing)
        first, *others = variable.values.shape
        gap = int(self.random.integers(3)) if self.random.integers(4) == 0 else 0
        # libhdf5 cannot read strings of a chunk that is not there from a file that it only reads.
        gap = 0 if variable.type is str else gap
        last = first + gap + int(self.random.integers(1, 4))
        key = (slice(first + gap, last), *(slice(0, length) for length in others))
        self.put(where, name, variable, key)

    def overwrite(self):
        filled = [found for found in self.variables() if found[2].values.size]
        if filled:
            where, name, variable = self.pick(filled)
            starts = [int(self.random.integers(length)) for length in variable.values.shape]
            lengths = zip(starts, variable.values.shape, strict=True)
            key = [slice(first, int(self.random.integers(first, n)) + 1) for first, n in lengths]
            self.put(where, name, variable, tuple(key))

    def set_attribute(self):
        where, attributes = self.owner()
        values = ["text", "tëxt", "x" * 300, np.arange(3, dtype="i4"), np.arange(2.0)]
        values += [np.float32(7), np.arange(1000, dtype="i2")]
        value = self.pick(values)
        name = self.pick([*attributes, self.name()])
        self.hand.set_attribute(where, name, value)
        attributes[name] = value

    def rename_attribute(self):
        where, attributes = self.owner()
        old = self.pick([*attributes, ""])
        new = self.name_instead_of(old)
        if old and new:
            self.hand.rename_attribute(where, old, new)
            attributes[new] = attributes.pop(old)

    def delete_attribute(self):
        where, attributes = self.owner()
        if attributes:
            name = self.pick([*attributes])
            self.hand.delete_attribute(where, name)
            del attributes[name]

    def new_dimension(self):
        where, _ = self.pick(self.groups())
        length = int(self.random.integers(1, 5))
        grows = self.enhanced and bool(self.random.integers(3) == 0)
        self.add_dimension(where, Dimension(self.name(), 0 if grows else length, grows))

    def new_variable(self):
        where, _ = self.pick(self.groups())
        known = self.dimensions_of(where)
        fixed = [dimension for dimension in known if not dimension.grows]
        along = [self.pick(known)] + [self.pick(fixed) for _ in range(self.random.integers(3))]
        along = list(dict.fromkeys(along))
        kinds = ["i1", "i2", "i4", "f4", "f8", *([str] if self.enhanced else [])]
        self.add_variable(where, self.name(), self.variable(self.pick(kinds), along))

    def new_group(self):
        if len(self.groups()) < 6:
            self.add_group(self.pick(self.groups())[0], self.name())

    def rename_variable(self):
        plain = [found for found in self.variables() if found[1] != "time"]
        where, old, variable = self.pick(plain)
        new = self.name_instead_of(old)
        if new:
            self.hand.rename_variable(where.rstrip("/") or "/", old, new)
            variables = self.group(where).variables
            del variables[old]
            variables[new] = variable

    def rename_group(self):
        where, parent = self.pick(self.groups())
        if parent.groups:
            old, new = self.pick([*parent.groups]), self.name()
            self.hand.rename_group(where.rstrip("/") or "/", old, new)
            parent.groups[new] = parent.groups.pop(old)

    def rename_dimension(self):
        where, group = self.pick(self.groups())
        plain = [name for name in group.dimensions if name not in group.variables]
        old = self.pick([*plain, ""])
        new = self.name_instead_of(old)
        if old and new:
            self.hand.rename_dimension(where.rstrip("/") or "/", old, new)
            dimension = group.dimensions.pop(old)
            dimension.name = new
            group.dimensions[new] = dimension


@pytest.mark.parametrize("seed", range(SEEDS))
@pytest.mark.parametrize("libver", ["earliest", "latest"])
@pytest.mark.parametrize("first", ["netCDF4", "h5py", "isotach"])
def test_three_libraries_in_turns(tmp_path, first, libver, seed):
    hands = {"netCDF4": Netcdf(netCDF4), "h5py": H5py(libver), "isotach": Netcdf(isotach)}
    game = Game(seed, tmp_path / "file.nc")
    game.start(hands[first])
    for _ in range(TURNS):
        game.turn(game.pick([*hands.values()]))
        check_h5py(game.model, game.path)
        for library in (netCDF4, isotach):
            check_netcdf(game.model, library, game.path)


@pytest.mark.parametrize("seed", range(SEEDS))
@pytest.mark.parametrize("format", [*CLASSIC, "NETCDF4_CLASSIC"])
@pytest.mark.parametrize("first", ["netCDF4", "isotach"])
def test_two_libraries_in_turns(tmp_path, first, format, seed):
    hands = {"netCDF4": Netcdf(netCDF4), "isotach": Netcdf(isotach)}
    game = Game(seed, tmp_path / "file.nc", format)
    game.start(hands[first])
    for _ in range(TURNS):
        game.turn(game.pick([*hands.values()]))
        for library in (netCDF4, isotach):
            check_netcdf(game.model, library, game.path)
