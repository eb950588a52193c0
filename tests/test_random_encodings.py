"""Random data sets with random encodings: isotach.to_netcdf beside xarray's own to_netcdf.

A seed makes the data set or tree, its encodings and the options. What xarray writes with netCDF4
and what we write read equal; what it refuses is refused with an exception of the same class.
`ISOTACH_ENCODINGS` says how many seeds.
"""

import copy
import os
import warnings

import isotach
import numpy as np
import pytest
import xarray as xr
from chooser import Chooser

COUNT = int(os.environ.get("ISOTACH_ENCODINGS", "60"))
KINDS = ["f4", "f8", "i2", "i4", "u1", "i8", "time", "cftime", "span", "bool", "text", "bytes"]
#: What xarray tells of how variables are stored; chunks only where they were asked for.
STORED = ["zlib", "szip", "complevel", "shuffle", "fletcher32", "dtype", "units", "calendar"]
STORED += ["scale_factor", "add_offset", "_FillValue", "missing_value", "least_significant_digit"]
STORED += ["char_dim_name", "significant_digits", "quantize_mode"]


class Maker(Chooser):
    """Makes data sets, encodings and options."""

    def __init__(self, seed):
        super().__init__(seed)
        self.is_wild = self.chance(25)

    def values(self, kind, shape):
        numbers = self.random.integers(0, 100, shape)
        if kind == "time":
            seconds = numbers * self.pick([1, 60, 3600, 86400])
            found = np.datetime64("2000-01-01", "s") + seconds.astype("m8[s]")
            return found.astype(self.pick(["M8[s]", "M8[ms]", "M8[ns]"]))
        if kind == "span":
            return (numbers * self.pick([1, 60, 86400])).astype("m8[s]").astype("m8[ns]")
        if kind == "cftime":
            calendar = self.pick(["noleap", "360_day", "standard"])
            days = xr.date_range("2000-01-01", periods=100, calendar=calendar, use_cftime=True)
            return np.asarray(days)[numbers]
        if kind == "text":
            return np.array(["a", "längs", "", "b c"], object)[numbers % 4]
        if kind == "bytes":
            return np.array([b"a", b"bcd", b""])[numbers % 3]
        if kind == "bool":
            return numbers > 50
        found = numbers.astype(kind)
        if kind[0] == "f" and self.chance(30):
            found = np.where(numbers > 80, np.nan, found / 3).astype(kind)
        return found

    def attributes(self):
        choices = ["text", "é", "", 1, 2.5, [1, 2], np.float32(3), ["a", "bc"], b"bytes"]
        if self.is_wild:
            choices += [None, {}, True, np.bool_(True), np.uint64(3), [], np.datetime64("2000")]
        return {f"a{index}": self.pick(choices) for index in range(self.number(0, 2))}

    def dataset(self, suffix=""):
        lengths = {f"d{axis}{suffix}": self.number(1, 5) for axis in range(self.number(1, 3))}
        names = [f"v{index}{suffix}" for index in range(self.number(1, 4))]
        variables, kinds = {}, {}
        for name in names:
            along = [dimension for dimension in lengths if self.chance(60)]
            kinds[name] = self.pick(KINDS)
            values = self.values(kinds[name], [lengths[dimension] for dimension in along])
            variables[name] = (along, values, self.attributes())
        dataset = xr.Dataset(variables, attrs=self.attributes())
        if self.chance(20):
            dataset = dataset.set_coords(self.pick(names))
        if self.chance(15):
            dataset = dataset.chunk({dimension: self.number(1, 3) for dimension in dataset.dims})
        wanted = {name: self.encoding(kinds[name], dataset[name].shape) for name in names}
        return dataset, {name: found for name, found in wanted.items() if self.chance(60)}

    def encoding(self, kind, shape):
        found = {}
        if shape and self.chance(30):
            found["chunksizes"] = tuple(self.number(1, length) for length in shape)
        elif shape and self.chance(10):
            found["contiguous"] = True
        if shape and not found.get("contiguous") and kind != "text" and self.chance(40):
            found[self.pick(["zlib", "zlib", "fletcher32", "shuffle"])] = True
            found["complevel"] = self.number(0, 9)
        if self.chance(40):
            found.update(getattr(self, f"encoding_of_{self.family(kind)}")(kind))
        if self.is_wild and self.chance(50):
            found.update(self.hazard(shape))
        return found

    def family(self, kind):
        if kind in ("time", "cftime", "span"):
            return "times"
        return {"text": "strings", "bytes": "strings", "bool": "integers"}.get(
            kind, "floats" if kind[0] == "f" else "integers"
        )

    def encoding_of_floats(self, _):
        return self.pick(
            [
                {"dtype": self.pick(["i1", "u1", "i2", "i8"]), "_FillValue": self.pick([99, 0])},
                {"dtype": "i4", "_FillValue": -1, "scale_factor": 0.5, "add_offset": 100.0},
                {"_FillValue": self.pick([None, -1, np.nan, 1e20, False])},
                {"missing_value": 99.0, "_FillValue": 99.0},
                {"least_significant_digit": self.pick([1, 2])},
                {"significant_digits": 3, "quantize_mode": self.pick(["BitGroom", "BitRound"])},
            ]
        )

    def encoding_of_integers(self, kind):
        if kind == "bool":
            return {"dtype": self.pick(["i1", "i4", "bool", "u1"])}
        return self.pick(
            [
                {"_FillValue": self.pick([None, 99, 0])},
                {"dtype": self.pick(["i4", "i8", "f4", "u4"])},
                {"dtype": "f8", "scale_factor": 2.0, "add_offset": 1.0},
            ]
        )

    def encoding_of_times(self, kind):
        units = self.pick(["days", "hours", "seconds", "minutes"])
        if kind != "span":
            units += self.pick([" since 1990-01-01", " since 2000-01-01 06:00"])
        return {"units": units, "dtype": self.pick(["i4", "i8", "f8"])}

    def encoding_of_strings(self, kind):
        return self.pick(
            [{"dtype": "S1"}, {"dtype": "S1", "char_dim_name": "letters"}, {"_FillValue": ""}]
            if kind == "text"
            else [{"dtype": "S1"}, {"char_dim_name": "letters"}]
        )

    def hazard(self, shape):
        return self.pick(
            [
                {"chunksizes": tuple(length + 2 for length in shape)},
                {"contiguous": True, "zlib": True},
                {"complevel": 10, "zlib": True},
                {"compression": self.pick(["gzip", "lzf", "nonsense", None])},
                {"quantize_mode": "nonsense", "significant_digits": 3},
                {"dtype": self.pick(["f2", "S1", "bool", str])},
                {"_FillValue": self.pick(["", -1, np.nan])},
                {"units": "nonsense", "calendar": "nonsense"},
                {"nonsense": 1},
                {"compression_opts": 4},
                {"coordinates": "v0 v1"},
                {"szip_coding": "nonsense", "compression": "szip"},
            ]
        )

    def options(self, dataset):
        found = {}
        if dataset.dims and self.chance(25):
            growing = [[self.pick(list(dataset.dims))], list(dataset.dims), []]
            found["unlimited_dims"] = self.pick(growing + [["nowhere"]] * self.is_wild)
        if self.chance(30):
            formats = ["NETCDF4", "NETCDF4_CLASSIC", "NETCDF3_CLASSIC", "NETCDF3_64BIT", "netcdf4"]
            found["format"] = self.pick(formats + ["nonsense"] * self.is_wild)
        if self.chance(15):
            found["group"] = self.pick(["g", "/g/h", "/"])
        if self.chance(15):
            found["mode"] = self.pick(["a", "w", "x"])
        if self.chance(10):
            found["compute"] = False
        return found


def outcome(call):
    """The classes of the exceptions in a row, the last one first; None where there is none."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            written = call()
            if written is not None:
                written.compute(scheduler="sync")
        except Exception as error:
            found = []
            while error is not None:
                found.append(type(error))
                error = error.__context__
            return found
    return None


def check_same(ours, theirs, group, asked):
    for decoded in (False, True):
        options = {"engine": "netcdf4", "decode_cf": decoded, "group": group}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with xr.open_dataset(ours, **options) as one, xr.open_dataset(theirs, **options) as two:
                xr.testing.assert_identical(one.load(), two.load())
                assert one.encoding.get("unlimited_dims") == two.encoding.get("unlimited_dims")
                for name in two.variables:
                    chunks = ["chunksizes"] if asked.get(name, {}).get("chunksizes") else []
                    for key in STORED + chunks:
                        parts = (found[name].encoding.get(key) for found in (one, two))
                        np.testing.assert_equal(*parts, err_msg=f"{name} {key}")


def write_both(tmp_path, data, options):
    """Both files, and the exceptions of both."""
    ours, theirs = tmp_path / "isotach.nc", tmp_path / "netcdf4.nc"
    raised = outcome(lambda: isotach.to_netcdf(data.copy(), ours, **copy.deepcopy(options)))
    options = {**copy.deepcopy(options), "engine": "netcdf4"}
    wanted = outcome(lambda: data.copy().to_netcdf(theirs, **options))
    assert (raised is None) == (wanted is None), (raised, wanted, options)
    if raised is not None:
        assert raised[0] in wanted, (raised, wanted, options)
    return ours, theirs, raised


@pytest.mark.parametrize("seed", range(COUNT))
def test_random_encodings(tmp_path, seed):
    maker = Maker(seed)
    dataset, asked = maker.dataset()
    options = {"encoding": asked, **maker.options(dataset)}
    if options.get("format") == "NETCDF4_CLASSIC":
        # netCDF4 cannot sync such a file while it defines.
        options.pop("compute", None)
    ours, theirs, raised = write_both(tmp_path, dataset, options)
    if raised is None:
        check_same(ours, theirs, options.get("group"), asked)


@pytest.mark.parametrize("seed", range(COUNT // 3))
def test_random_trees(tmp_path, seed):
    maker = Maker(seed)
    # Of several things that are wrong in a tree, each tells another one first.
    maker.is_wild = False
    parts = {path: maker.dataset(path.replace("/", "_")) for path in ("/", "/a", "/a/b", "/c")}
    tree = xr.DataTree.from_dict({path: dataset for path, (dataset, _) in parts.items()})
    options = {
        "encoding": {path: asked for path, (_, asked) in parts.items()},
        "write_inherited_coords": maker.chance(50),
        "unlimited_dims": {"/": list(parts["/"][0].dims)[:1]},
    }
    ours, theirs, raised = write_both(tmp_path, tree, options)
    for path, (_, asked) in parts.items():
        if raised is None:
            check_same(ours, theirs, path, asked)


#: As h5netcdf takes them, and what netCDF4 has in their place.
OTHERS = [
    {"compression": "gzip"},
    {"compression": "gzip", "compression_opts": 7},
    {"zlib": True, "compression_opts": 3},
    {"compression": "lzf"},
    {"compression": 32015},
    {"compression": True},
    {"compression": "zlib", "complevel": 3},
    {"compression": "szip"},
    {"compression": None},
]


@pytest.mark.parametrize("asked", OTHERS, ids=str)
def test_encodings_of_other_engines(tmp_path, asked):
    dataset = xr.Dataset({"v": (("t", "x"), np.arange(40.0).reshape(8, 5))})
    ours, theirs, raised = write_both(tmp_path, dataset, {"encoding": {"v": asked}})
    is_known = asked.get("compression", "gzip") in ("zlib", "szip", None)
    assert (raised is None) == is_known
    if raised is None:
        check_same(ours, theirs, None, {"v": asked})


@pytest.mark.parametrize("how", [{}, {"auto_complex": False}, {"auto_complex": True}], ids=str)
@pytest.mark.parametrize("code", ["c8", "c16"])
def test_complex_numbers(tmp_path, code, how):
    values = np.array([0, 1, 1j, 1 + 1j, 0.25 - 2j], code)
    dataset = xr.Dataset({"v": ("x", values), "w": ("x", np.arange(5))})
    options = {**how, "encoding": {"v": {"zlib": True}}}
    ours, theirs, raised = write_both(tmp_path, dataset, options)
    assert (raised is None) == how.get("auto_complex", False)
    for path in (ours, theirs) if raised is None else ():
        with xr.open_dataset(path, engine="netcdf4", auto_complex=True) as found:
            np.testing.assert_array_equal(found["v"], values)
            assert (found["v"].dtype, found["v"].encoding["zlib"]) == (np.dtype(code), True)
