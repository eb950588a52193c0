"""Random files: written by us, read back by us, h5py, netCDF4 and the tools, all of them content.

A seed makes the whole model: groups, dimensions, types, attributes, variables with their storage,
and the order and the pieces in which it is written. `ISOTACH_MODELS` says how many seeds,
`ISOTACH_FIRST_MODEL` the first of them.
"""

import os
import shutil
import subprocess
import sys

import h5py
import isotach
import netCDF4
import numpy as np
import pytest
from chooser import Chooser
from models import (
    NUMBERS,
    Dimension,
    Group,
    UserType,
    Variable,
    check_h5py,
    check_netcdf,
)

FIRST = int(os.environ.get("ISOTACH_FIRST_MODEL", "0"))
COUNT = int(os.environ.get("ISOTACH_MODELS", "60"))
# The long test takes the seeds behind those up to this one, so many in a test.
MANY = 1500
GROUP_OF = 60
WORDS = ["", "a", "word", "é", "größer als ein Zeiger", "x" * 300, "日本", "a b", "tab\there"]
NAMES = ["a", "b", "c_1", "with blank", "ü", "x-y", "1st", "long" * 12, "p.q", "A", "a+b@c"]
TOOLS = [["h5dump"], ["h5stat"], ["h5debug"]]


class Maker(Chooser):
    """Makes random models."""

    def name(self, taken):
        name = self.pick(NAMES)
        while name in taken:
            name += str(self.number(0, 9))
        return name

    def group(self, depth=0, above=(), types=()):
        """A group; `above` and `types` are those of the groups that it is in."""
        group = Group()
        for _ in range(self.number(0, 3 if depth else 4)):
            name = self.name(group.dimensions)
            grows = self.chance(35)
            length = 0 if grows else self.number(1, 6)
            group.dimensions[name] = Dimension(name, length, grows)
        # One of a group hides one of the same name above.
        here = {d.name: d for d in [*above, *group.dimensions.values()]}
        # What lies in HDF5 under its name; variables can step aside for dimensions.
        taken = set(group.dimensions)
        for _ in range(self.number(0, 3) if self.chance(60) else 0):
            known = {user.name: user for user in [*types, *group.types.values()]}
            made = self.user_type(self.name(taken), [*known.values()])
            group.types[made.name] = made
            taken.add(made.name)
        known = [*{user.name: user for user in [*types, *group.types.values()]}.values()]
        group.attributes = self.attributes(known)
        for _ in range(self.number(9, 20) if self.chance(8) else self.number(0, 5)):
            used = {*group.variables, *group.types}
            free = [name for name in here if name not in used]
            name = self.pick(free) if free and self.chance(40) else self.name(used)
            taken.add(name)
            group.variables[name] = self.variable([*here.values()], known)
        for _ in range(self.number(0, 2) if depth < 3 else 0):
            name = self.name(taken)
            taken.add(name)
            group.groups[name] = self.group(depth + 1, [*here.values()], known)
        return group

    def user_type(self, name, known):
        kind = self.pick(["compound", "enum", "vlen"])
        if kind == "enum":
            base = np.dtype(self.pick(NUMBERS[:8]))
            low, high = np.iinfo(base).min, np.iinfo(base).max
            members = {"zero": 0, "one": 1, "least": int(low), "most": int(high)}
            if low == 0:
                del members["zero"]
            return UserType("enum", name, base, members)
        if kind == "vlen":
            return UserType("vlen", name, np.dtype(self.pick(NUMBERS)))
        fields = []
        inner = [known_type for known_type in known if known_type.kind == "compound"]
        for index in range(self.number(1, 4)):
            choice = self.number(0, 9)
            shape = tuple(self.number(1, 3) for _ in range(self.number(1, 3)))
            if choice < 4:
                form = (self.pick(NUMBERS),)
            elif choice < 6:
                form = (self.pick(NUMBERS), shape)
            elif choice < 8 or not inner:
                form = (f"S{self.number(2, 6)}",)
            else:
                form = (self.pick(inner).dtype,)
            fields.append((f"m{index}", *form))
        return UserType("compound", name, np.dtype(fields, align=True))

    def attributes(self, types):
        found = {}
        for _ in range(self.number(9, 14) if self.chance(8) else self.number(0, 3)):
            found[self.name(found)] = self.attribute(types)
        return found

    def attribute(self, types):
        compounds = [known for known in types if known.kind == "compound"]
        kind = self.number(0, 9)
        if kind < 3:
            return self.pick(WORDS)
        if kind < 5:
            return [self.pick(WORDS) for _ in range(self.number(2, 4))]
        if kind == 5 and compounds:
            return self.values(self.pick(compounds), (self.number(1, 3),))
        if kind == 6:
            return np.zeros(0, self.pick(NUMBERS))
        count = self.number(2000, 3000) if self.chance(5) else self.number(1, 9)
        return self.numbers(np.dtype(self.pick(NUMBERS)), (count,))

    def numbers(self, dtype, shape):
        if dtype.kind == "f":
            found = self.random.normal(0, 1e6, shape).astype(dtype)
            rare = np.array([0, -0.0, np.nan, np.inf, -np.inf], dtype)
            return np.where(self.random.random(shape) < 0.1, self.random.choice(rare, shape), found)
        about = np.iinfo(dtype)
        low, high = (0, 100) if self.chance(50) else (about.min, about.max)
        return self.random.integers(low, high, shape, dtype, endpoint=True)

    def values(self, kind, shape):
        count = int(np.prod(shape))
        if kind is str:
            found = np.empty(count, object)
            found[:] = [self.pick(WORDS) for _ in range(count)]
            return found.reshape(shape)
        if isinstance(kind, UserType):
            if kind.kind == "vlen":
                found = np.empty(count, object)
                for index in range(count):
                    found[index] = self.numbers(kind.dtype, (self.number(0, 5),))
                return found.reshape(shape)
            if kind.kind == "enum":
                return self.random.choice(np.array([*kind.members.values()], kind.dtype), shape)
            kind = kind.dtype
        kind = np.dtype(kind)
        if kind.names:
            found = np.zeros(shape, kind)
            for name in kind.names:
                form = kind[name]
                found[name] = self.values(form.base, (*shape, *form.shape))
            return found
        if kind.kind == "S":
            letters = np.frombuffer(b"abcdefgh", "S1")
            cells = self.random.choice(letters, (*shape, kind.itemsize))
            return np.ascontiguousarray(cells).view(kind).reshape(shape)
        return self.numbers(kind, shape)

    def variable(self, dimensions, types):
        along = []
        for _ in range(self.number(0, 4)):
            left = [d for d in dimensions if d not in along or self.chance(10)]
            # libnetcdf can read few files where dimensions grow behind the first.
            left = [d for d in left if not along or not d.grows or self.chance(10)]
            if left and int(np.prod([d.length or 4 for d in along])) < 500:
                along.append(self.pick(left))
        if len({id(d) for d in along if d.grows}) < len([d for d in along if d.grows]):
            # Growing along one axis would grow the other under the values.
            along = list(dict.fromkeys(along))
        kind = self.pick([*NUMBERS, *NUMBERS, "S1", "S1", str, str, *types])
        fill, options = self.options(kind, along)
        lengths = [self.number(0, 5) if d.grows else d.length for d in along]
        values = self.values(kind, tuple(lengths))
        # ncdump 4.9 cannot read strings of a chunk that is not there, nor numbers without a name.
        is_enum = isinstance(kind, UserType) and kind.kind == "enum"
        writes = self.writes(kind, values.shape, fill is None or kind is str or is_enum)
        kept = np.zeros(values.shape, bool)
        for key in writes:
            kept[key] = True
        variable = Variable(kind, along, values, fill, self.attributes(types), options)
        variable.writes = writes
        values = variable.filled(values.shape)
        values[kept] = variable.values[kept]
        # What was written grows the dimensions, and is as long as its last element.
        reach = [self.reach(kept, axis) if d.grows else d.length for axis, d in enumerate(along)]
        variable.values = values[(..., *(slice(0, length) for length in reach))]
        for dimension, length in zip(along, reach, strict=True):
            dimension.length = max(dimension.length, length)
        return variable

    def reach(self, kept, axis):
        others = tuple(other for other in range(kept.ndim) if other != axis)
        found = np.flatnonzero(kept.any(axis=others))
        return int(found[-1]) + 1 if found.size else 0

    def options(self, kind, along):
        """A fill value (None: there is none, all is written) and options of `createVariable`."""
        options = {}
        grows = any(dimension.grows for dimension in along)
        if along and self.chance(50):
            most = [9 if d.grows else d.length for d in along]
            options["chunksizes"] = tuple(self.number(1, length) for length in most)
        elif along and not grows and self.chance(30):
            options["contiguous"] = True
        is_number = isinstance(kind, str) and kind != "S1"
        if along and (is_number or kind == "S1") and "contiguous" not in options:
            # Blocks of szip have 8 elements, chunks must not have fewer.
            szip = kind != "S1" and np.prod(options.get("chunksizes", 1)) >= 8
            options.update(self.filters(szip))
        if is_number and self.chance(30):
            options["endian"] = self.pick(["big", "little"])
        if isinstance(kind, UserType):
            if kind.kind == "enum":
                return np.array(netCDF4.default_fillvals[kind.dtype.str[1:]], kind.dtype), options
            return np.zeros(0 if kind.kind == "vlen" else (), kind.dtype), options
        if kind is str:
            return "", options
        if self.chance(30) and is_number:
            options["fill_value"] = self.numbers(np.dtype(kind), ())[()]
            return options["fill_value"], options
        if self.chance(10) and is_number and not grows:
            options["fill_value"] = False
            return None, options
        return netCDF4.default_fillvals[kind], options

    def filters(self, szip):
        options = {}
        if self.chance(40):
            options["compression"] = "zlib"
            options["complevel"] = self.number(1, 9)
            options["shuffle"] = self.chance(50)
        elif szip and self.chance(20):
            options["compression"] = "szip"
        if self.chance(20):
            options["fletcher32"] = True
        return options

    def writes(self, kind, shape, completely):
        """The places that are assigned to, one after the other."""
        everything = (slice(None),) * len(shape)
        if not shape or 0 in shape:
            return [everything] if 0 not in shape and (completely or self.chance(80)) else []
        axis = self.number(0, len(shape) - 1)
        before = everything[:axis]
        rows = [(*before, slice(row, row + 1)) for row in range(shape[axis])]
        if self.chance(30):
            self.random.shuffle(rows)
        if not completely and self.chance(30):
            return rows[: self.number(0, len(rows))]
        step = self.number(2, 3)
        steps = [(*before, slice(first, None, step)) for first in range(step)]
        steps = [key for key in steps if key[-1].start < shape[axis]]
        return self.pick([[everything], [everything], rows, steps])


class Author:
    """Writes a model, with commits and reopening in between."""

    def __init__(self, path, random):
        self.path, self.random = path, random
        self.dataset = isotach.Dataset(path, "w")

    def pause(self):
        choice = self.random.integers(100)
        if choice < 5:
            self.dataset.sync()
        elif choice < 10:
            self.dataset.close()
            self.dataset = isotach.Dataset(self.path, "a")

    def write(self, model):
        for where, group in model.walk():
            self.define(where, group)
        later = [
            (where, name, variable, key)
            for where, group in model.walk()
            for name, variable in group.variables.items()
            for key in variable.writes
        ]
        if self.random.integers(2):
            self.random.shuffle(later)
        for where, name, variable, key in later:
            self.pause()
            self.assign(self.dataset[where + name], variable, key)
        self.dataset.close()

    def assign(self, target, variable, key):
        full = [*key, *[slice(None)] * (variable.values.ndim - len(key))]
        lengths = variable.values.shape
        target_key = tuple(
            slice(*part.indices(length)) for part, length in zip(full, lengths, strict=True)
        )
        values = variable.values[(..., *full)]
        if values.size == 0:
            return
        target.set_auto_maskandscale(False)
        target.set_auto_chartostring(variable.type != "S1")
        if isinstance(variable.type, UserType) and variable.type.kind == "vlen":
            for place in np.ndindex(lengths):
                if all(
                    index in range(*part.indices(length))
                    for index, part, length in zip(place, full, lengths, strict=True)
                ):
                    target[place] = variable.values[place]
        else:
            target[target_key or ...] = values

    def define(self, where, group):
        self.pause()
        target = self.group(where)
        for dimension in group.dimensions.values():
            length = None if dimension.grows else dimension.length
            target.createDimension(dimension.name, length)
        for user in group.types.values():
            self.define_type(target, user)
        for name, value in group.attributes.items():
            target.setncattr(name, value)
        for name, variable in group.variables.items():
            self.pause()
            target = self.group(where)
            kind = self.user_type(where, variable.type)
            if "endian" in variable.options:
                kind = np.dtype(kind).newbyteorder(variable.options["endian"])
            along = [dimension.name for dimension in variable.dimensions]
            made = target.createVariable(name, kind, along, **variable.options)
            for attribute, value in variable.attributes.items():
                made.setncattr(attribute, value)
            if "fill_value" in variable.options and variable.fill is not None:
                variable.attributes = {"_FillValue": variable.fill, **variable.attributes}

    def group(self, where):
        return self.dataset if where == "/" else self.dataset.createGroup(where)

    def define_type(self, target, user):
        if user.kind == "compound":
            target.createCompoundType(user.dtype, user.name)
        elif user.kind == "enum":
            target.createEnumType(user.dtype, user.name, user.members)
        else:
            target.createVLType(user.dtype, user.name)

    def user_type(self, where, kind):
        if not isinstance(kind, UserType):
            return kind
        target = self.group(where)
        while target is not None:
            known = {**target.cmptypes, **target.enumtypes, **target.vltypes}
            if kind.name in known:
                return known[kind.name]
            target = target.parent
        raise AssertionError(kind.name)


def say_nothing(*command):
    """A program that is content: no error, nothing on its standard error."""
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=60)
    assert done.returncode == 0 and not done.stderr, (command, done.stderr)
    assert "unable" not in done.stdout and "warning" not in done.stdout.lower(), command
    return done.stdout


def write_and_read(path, seed):
    """The file of one model, held against it by everybody who reads it."""
    maker = Maker(seed)
    model = maker.group()
    Author(path, maker.random).write(model)
    check_netcdf(model, isotach, path)
    check_h5py(model, path)
    tools = TOOLS
    if model.is_for_libnetcdf():
        check_netcdf(model, netCDF4, path)
        tools = [["ncdump"], *TOOLS]
    for tool in tools:
        if shutil.which(tool[0]):
            say_nothing(*tool, path)
    with h5py.File(path) as file:
        root = h5py.h5o.get_info(file.id).addr
    if shutil.which("h5debug"):
        say_nothing("h5debug", path, str(root))


def isotach_command(*arguments):
    command = [sys.executable, "-m", "isotach", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


def dump_and_generate(path):
    """The text of a file makes a file of the same text."""
    text = isotach_command("dump", path)
    cdl, again = path.with_suffix(".cdl"), path.parent / "again" / path.name
    cdl.write_bytes(text)
    again.parent.mkdir(exist_ok=True)
    isotach_command("generate", "-o", again, cdl)
    assert isotach_command("dump", again).splitlines() == text.splitlines()


@pytest.mark.parametrize("seed", range(FIRST, FIRST + COUNT))
def test_random_models(tmp_path, seed):
    path = tmp_path / "model.nc"
    write_and_read(path, seed)
    dump_and_generate(path)


@pytest.mark.long
@pytest.mark.parametrize("first", range(FIRST + COUNT, MANY, GROUP_OF))
def test_many_random_models(tmp_path, first):
    for seed in range(first, min(first + GROUP_OF, MANY)):
        print("seed", seed)
        path = tmp_path / f"{seed}.nc"
        write_and_read(path, seed)
        dump_and_generate(path)
        path.unlink()


def test_all_tools_are_there():
    for tool in TOOLS:
        if shutil.which(tool[0]) is None:
            pytest.skip(f"{tool[0]} is not installed: see tools/debian-packages")
