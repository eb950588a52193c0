"""Random scripts: the same calls through netCDF4 and isotach give the same outcomes and files.

All choices hang on the seed alone. `ISOTACH_SCRIPTS` says how many seeds.
"""

import os

import numpy as np
import pytest
from both_libraries import FORMATS, attempt, plain, run_both
from chooser import Chooser
from numpy import ma

COUNT = int(os.environ.get("ISOTACH_SCRIPTS", "12"))


def is_slice(part):
    return isinstance(part, slice)


class Script(Chooser):
    """Random calls, the same for every library, since all choices hang on the seed alone."""

    def __init__(self, seed, dataset):
        super().__init__(seed)
        self.dataset = dataset
        self.enhanced = dataset.data_model == "NETCDF4"
        self.is_hdf5 = dataset.data_model.startswith("NETCDF4")
        self.codes = ["i1", "i2", "i4", "f4", "f8", "S1"]
        if dataset.data_model in ("NETCDF4", "NETCDF3_64BIT_DATA"):
            self.codes += ["u1", "u2", "u4", "i8", "u8"]
        self.count = 0
        self.variables = []
        self.dimensions = []
        self.outcomes = []

    def run(self, steps):
        # netCDF4 cannot sync a classic file in which nothing is defined.
        self.dimension()
        for _ in range(steps):
            step = self.pick(
                [self.dimension, self.variable, self.variable]
                + [self.assign] * 8
                + [self.set_attribute] * 3
                + [self.delete_attribute, self.read, self.sync]
            )
            failed = attempt(step)
            self.outcomes.append((step.__name__, failed and failed[0].__name__))
        for variable in self.variables:
            self.complete(variable)
        return self.outcomes

    def name(self, kind):
        self.count += 1
        return f"{kind}{self.count}"

    def dimension(self):
        grows = self.random.random() < 0.3
        size = None if grows else int(self.random.integers(1, 6))
        name = self.name("d")
        self.dataset.createDimension(name, size)
        self.dimensions.append(name)

    def variable(self):
        group = self.dataset
        if self.enhanced and self.random.random() < 0.2:
            group = self.dataset.createGroup(self.pick(["g", "g/h", "k"]))
        rank = int(self.random.integers(0, 4))
        chosen = [self.pick(self.dimensions) for _ in range(rank)] if self.dimensions else []
        chosen = list(dict.fromkeys(chosen))
        options = {}
        if self.random.random() < 0.3:
            options["fill_value"] = self.pick([1, 7])
        if self.is_hdf5 and chosen and self.random.random() < 0.4:
            options["zlib"] = True
            options["complevel"] = int(self.random.integers(1, 10))
            options["shuffle"] = bool(self.random.integers(2))
        if self.is_hdf5 and self.random.random() < 0.2:
            options["fletcher32"] = True
        code = str if self.enhanced and self.random.random() < 0.1 else self.pick(self.codes)
        if code == "S1" or code is str:
            options.pop("fill_value", None)
        if code is str:
            options = {}
        self.variables.append(group.createVariable(self.name("v"), code, chosen, **options))

    def key(self, variable):
        key = tuple(self.index(length) for length in variable.shape)
        if variable.dtype is str or slice(None, None, -1) in [*filter(is_slice, key)]:
            # Single indices that netCDF4 stumbles over: of objects, and beside negative steps.
            return tuple(slice(part, part + 1) if isinstance(part, int) else part for part in key)
        return key

    def index(self, length):
        length = max(length, 3)
        kind = self.random.integers(6)
        low = int(self.random.integers(0, length))
        high = int(self.random.integers(low, length + 1))
        if kind == 0:
            return low
        if kind == 1:
            return slice(None)
        if kind == 2:
            return slice(low, high)
        if kind == 3:
            return slice(None, None, int(self.pick([2, -1])))
        if kind == 4:
            return sorted({int(place) for place in self.random.integers(0, length, 2)})
        return slice(low, high, int(self.pick([1, 2])))

    def assign(self):
        if not self.variables:
            return
        variable = self.pick(self.variables)
        key = self.key(variable)
        values = self.random.integers(0, 100, 4)
        shape = self.pick([(), (1,), (2,), (3,), (2, 2), (1, 3), (4, 1, 2)])
        data = np.resize(values, shape)
        if variable.dtype is str:
            data = np.atleast_1d(data).astype(str).astype(object)
        elif variable.dtype == "S1":
            data = np.resize(np.frombuffer(b"abcd", "S1"), shape)
        elif self.random.random() < 0.2:
            data = ma.masked_less(data, 50)
        elif self.random.random() < 0.2:
            data = data / 3
        try:
            variable[key] = data
        except Exception:
            # An assignment that fails may have written something all the same.
            zero = np.array(["0"], object if variable.dtype is str else "S1")
            variable[...] = zero if variable.dtype in (str, "S1") else np.zeros((), "i1")
            raise

    def set_attribute(self):
        owner = self.pick([self.dataset, *self.variables])
        value = self.pick(["text", "é", 1, 2.5, [1, 2, 3], np.float32(7), np.array([1, 2], "i2")])
        owner.setncattr(self.name("a"), value)

    def delete_attribute(self):
        owner = self.pick([self.dataset, *self.variables])
        names = [name for name in owner.ncattrs() if not name.startswith("_")]
        owner.delncattr(self.pick([*names, "absent"]))

    def read(self):
        if self.variables:
            variable = self.pick(self.variables)
            self.complete(variable)
            found = variable[...]
            self.outcomes.append(plain(ma.getdata(ma.filled(found, 0))))

    def complete(self, variable):
        """Has all of it stored where libnetcdf 4.9 does not say what the rest is.

        What lies beyond the stored part along a growing dimension behind the first moves the rest
        about, and memory is left as it was; pointers to strings, too. And `ncdump` fails where a
        chunk of strings is not there.
        """
        growing = [dimension.isunlimited() for dimension in variable.get_dims()]
        if 0 in variable.shape or not any(growing[variable.dtype is not str :]):
            return
        last = tuple(slice(length - 1, length) for length in variable.shape)
        if variable.dtype is not str:
            variable[last] = np.zeros((), "i1") if variable.dtype != "S1" else np.array(["0"], "S1")
        else:
            variable[last] = np.array(["last"], object)
            found = variable[...]
            variable[...] = np.where(found == "", "none", found).astype(object)

    def sync(self):
        self.dataset.sync()


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("seed", range(COUNT))
def test_random_scripts(tmp_path, format, seed):
    def script(dataset, _):
        return Script(seed, dataset).run(60)

    run_both(tmp_path, script, format)
