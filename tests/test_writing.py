"""Writing through netCDF4-python's interface: the same calls give files that read equal."""

import os

import h5py
import isotach
import netCDF4
import numpy as np
import pytest
from both_libraries import FORMATS, LIBRARIES, attempt, check_alike, plain, run_both
from numpy import ma


@pytest.mark.parametrize("format", FORMATS)
def test_basics(tmp_path, format):
    def script(dataset, _):
        dataset.createDimension("time", None)
        dataset.createDimension("x", 4)
        speed = dataset.createVariable("speed", "f4", ("time", "x"), zlib=True, fill_value=-9.0)
        speed.units = "m s-1"
        speed.valid_range = [0, 100]
        speed.setncatts({"a": 1, "b": 2.5, "c": np.float32(3), "d": [1, 2, 3]})
        dataset.title = "a title"
        dataset.history = "été"
        speed[0:2] = np.arange(8).reshape(2, 4)
        speed[4, 1:3] = 7
        count = dataset.createVariable("count", "i4")
        count[...] = 12
        time = dataset.createVariable("time", "f8", "time")
        time[:] = np.arange(3)
        assert len(dataset.dimensions["time"]) == 5
        return plain(speed[:].filled()), plain(time[:].filled()), int(count[:])

    run_both(tmp_path, script, format)


#: Each is a script on a variable `v` of four by an unlimited number of elements.
KEYS = [
    np.s_[:],
    np.s_[...],
    np.s_[0],
    np.s_[3],
    np.s_[-1],
    np.s_[7],
    np.s_[-7],
    np.s_[1:3],
    np.s_[1:9],
    np.s_[2:],
    np.s_[:2],
    np.s_[::2],
    np.s_[::-1],
    np.s_[3:0:-1],
    np.s_[5:5],
    np.s_[:, 1],
    np.s_[1, :],
    np.s_[0, 0],
    np.s_[..., 0],
    np.s_[0, ...],
    np.s_[:, 1:3],
    np.s_[:, ::-2],
    np.s_[1:3, 1:3],
    np.s_[[0, 2]],
    np.s_[[2, 0, 1]],
    np.s_[[0, 5]],
    np.s_[:, [0, 3]],
    np.s_[[1, 2], [0, 3]],
    np.s_[[0, 2, 3], [0, 1, 3]],
    np.s_[np.array([True, False, True])],
    np.s_[:, np.array([True, False, True, False])],
    np.s_[np.array([], int)],
    np.s_[0, 0, 0],
    np.s_[..., ...],
    "1",
    np.s_[1.0],
    np.s_[1.5],
    None,
]
DATA = [
    1,
    2.5,
    np.float32(3),
    [1, 2],
    np.arange(3.0),
    np.arange(4),
    np.arange(12).reshape(3, 4),
    np.arange(8).reshape(2, 4),
    np.arange(4).reshape(2, 2),
    np.arange(3).reshape(3, 1),
    np.zeros((0, 4)),
    np.zeros(0),
    ma.masked_array([1, 2, 3, 4], [0, 1, 0, 1]),
    ma.masked,
    np.arange(4).reshape(1, 1, 4),
]


@pytest.mark.parametrize("shape", ["grows", "fixed", "line", "scalar", "list"])
@pytest.mark.parametrize("key", KEYS, ids=str)
def test_keys(tmp_path, shape, key):
    dimensions = {
        "grows": ("t", "x"),
        "fixed": ("y", "x"),
        "line": ("x",),
        "scalar": (),
        "list": ("t",),
    }[shape]

    def script(dataset, _):
        dataset.createDimension("t", None)
        dataset.createDimension("x", 4)
        dataset.createDimension("y", 3)
        outcomes = []
        for index, data in enumerate(DATA):
            for filled in (False, True):
                # A dimension of its own, so that no other variable's length matters.
                group = dataset.createGroup(f"g{index}{filled}")
                group.createDimension("t", None)
                variable = group.createVariable("v", "i4", dimensions)
                if filled:
                    variable[np.s_[..., 0] if variable.ndim > 1 else ...] = np.int32(-1)
                failed = attempt(lambda v=variable, d=data: v.__setitem__(key, d))
                # What an assignment that failed has written all the same is nobody's business.
                outcomes.append(failed[0] if failed else plain(ma.getdata(variable[:])))
        return outcomes

    run_both(tmp_path, script, compare=False)


NUMBERS = ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8"]


@pytest.mark.parametrize("format", FORMATS)
def test_types(tmp_path, format):
    def script(dataset, _):
        dataset.createDimension("x", 5)
        outcomes = []
        for code in [*NUMBERS, "S1", "c", "S5", str, int, float, ">f4", bool, "M8[s]", object]:
            kind = str(np.dtype(code)) if code is not str else "str"
            for fill in (None, False, "default", 7):
                # netCDF4 takes the bytes of a double for those of a float.
                if fill == "default" and kind in ("float32", ">f4"):
                    continue
                options = {} if fill is None else {"fill_value": fill}
                name = f"{kind}_{fill}".replace("<", "l").replace(">", "b")

                def define(name=name, code=code, options=options):
                    made = dataset.createVariable(name, code, ("x",), **options)
                    if made.dtype is str:
                        made[1] = "text"
                    elif made.dtype.kind == "S":
                        made[1:3] = "a"
                    else:
                        made[1:3] = [3, 4]
                    return made

                outcomes.append((kind, fill, (attempt(define) or [None])[0]))
        return outcomes

    run_both(tmp_path, script, format)


ATTRIBUTES = {
    "text": "text",
    "no_text": "",
    "unicode": "é",
    "bytes": b"bytes",
    "texts": ["a", "bc", ""],
    "one_of_texts": ["a"],
    "array_of_texts": np.array(["x", "yz"]),
    "zero_inside": "a\0b",
    "nothing": [],
    "true": True,
    "none": None,
    "mapping": {},
    "complex": 1j,
    "table": np.zeros((2, 2)),
    "mixed": [1, 2.5],
    "large": 2**40,
    "larger": 2**63,
    "largest": 2**70,
    "big_endian": np.array([1, 2], ">i4"),
    "a/b": 1,
    "": 1,
    " blank": 1,
    **{code: np.array([1, 2], code) for code in NUMBERS},
    **{f"one_{code}": np.array(1, code)[()] for code in NUMBERS},
}


@pytest.mark.parametrize("format", FORMATS)
def test_attributes(tmp_path, format):
    def script(dataset, _):
        variable = dataset.createVariable("v", "f4")
        outcomes = []
        for name, value in ATTRIBUTES.items():
            for owner in (dataset, variable):
                outcomes.append(attempt(lambda o=owner, n=name, v=value: o.setncattr(n, v)))
                outcomes.append(
                    attempt(lambda o=owner, n=name, v=value: o.setncattr_string(n + "_string", v))
                )
        dataset.set_ncstring_attrs(True)
        outcomes.append(attempt(lambda: dataset.setncattr("as_string", "abc")))
        for owner in (dataset, variable):
            owner.delncattr("one_i4")
            # A longer name would not fit into the header of a classic file in netCDF4.
            owner.renameAttribute("one_f8", "two_f8")
            owner.setncattr("f4", np.array([3, 4], "f4"))
            del owner.i4
            outcomes.append(attempt(lambda o=owner: o.delncattr("absent")))
            outcomes.append(attempt(lambda o=owner: o.renameAttribute("absent", "x")))
            outcomes.append(attempt(lambda o=owner: o.renameAttribute("text", "f4")))
            outcomes.append(attempt(lambda o=owner: setattr(o, "name", 1)))
            outcomes.append(attempt(lambda o=owner: delattr(o, "name")))
        outcomes.append(attempt(lambda: variable.setncattr("_FillValue", 1)))
        variable.valid_min = 3
        variable.valid_range = [0, 1.5]
        variable.missing_value = 1e300
        return [outcome and outcome[0] for outcome in outcomes]

    run_both(tmp_path, script, format)


def smooth(shape):
    return np.sin(np.arange(np.prod(shape)) / 50).reshape(shape) * 100


OPTIONS = {
    "zlib": {"zlib": True},
    "deflated": {"compression": "zlib", "complevel": 9, "shuffle": False},
    "level 0": {"compression": "zlib", "complevel": 0},
    "checksum": {"fletcher32": True},
    "both": {"zlib": True, "fletcher32": True},
    "szip": {"compression": "szip"},
    "szip ec": {"compression": "szip", "szip_coding": "ec", "szip_pixels_per_block": 16},
    "contiguous": {"contiguous": True},
    "chunked": {"chunksizes": (3, 7)},
    "big": {"endian": "big"},
    "little": {"endian": "little", "zlib": True},
    "least": {"least_significant_digit": 2, "zlib": True},
    "groom": {"significant_digits": 3, "zlib": True},
    "granular": {"significant_digits": 3, "quantize_mode": "GranularBitRound"},
    "round": {"significant_digits": 9, "quantize_mode": "BitRound"},
    "filled": {"fill_value": 3.0},
    "unfilled": {"fill_value": False},
    "cache": {"chunk_cache": 100_000},
}


@pytest.mark.parametrize("code", ["f4", "f8", "i2"])
@pytest.mark.parametrize("options", OPTIONS)
def test_options(tmp_path, options, code):
    if "significant_digits" in OPTIONS[options] and code == "i2":
        pytest.skip("only floats are quantized")

    def script(dataset, _):
        dataset.createDimension("x", 20)
        dataset.createDimension("y", 30)
        variable = dataset.createVariable("v", code, ("x", "y"), **OPTIONS[options])
        scalar = dataset.createVariable("s", code, (), **{**OPTIONS[options], "chunksizes": None})
        scalar[...] = 3
        variable[:] = smooth((20, 30))
        return variable.quantization(), variable.filters(), variable.get_fill_value()

    run_both(tmp_path, script)


#: Filters that the reference's wheel does not have: read with h5py's.
PLUGINS = {
    "zstd": {"compression": "zstd", "complevel": 5},
    "bzip2": {"compression": "bzip2", "complevel": 9},
    "zstd shuffled": {"compression": "zstd", "complevel": 3, "shuffle": True},
    "bzip2 shuffled": {"compression": "bzip2", "complevel": 1, "shuffle": True},
    "zstd not shuffled": {"compression": "zstd", "complevel": 3, "shuffle": False},
    **{
        f"blosc {kind} {shuffle}": {"compression": f"blosc_{kind}", "blosc_shuffle": shuffle}
        for kind in ("lz", "lz4", "lz4hc", "zlib", "zstd")
        for shuffle in (0, 1, 2)
    },
    **{
        f"blosc2 {kind} {shuffle}": {"compression": f"blosc2_{kind}", "blosc_shuffle": shuffle}
        for kind in ("lz", "lz4", "lz4hc", "zlib", "zstd")
        for shuffle in (0, 1, 2, 3)
    },
}


@pytest.mark.parametrize("options", PLUGINS)
def test_plugins(tmp_path, options):
    hdf5plugin = pytest.importorskip("hdf5plugin")
    path = tmp_path / "file.nc"
    with isotach.Dataset(path, "w") as dataset:
        dataset.createDimension("x", 200)
        variable = dataset.createVariable("v", "f4", ("x",), **PLUGINS[options])
        variable[:] = smooth((200,))
        filters = variable.filters()
        kind = PLUGINS[options]["compression"]
        if kind.startswith("blosc"):
            shuffle = PLUGINS[options]["blosc_shuffle"]
            family = kind.partition("_")[0]
            assert filters[family] == {"compressor": kind, "shuffle": shuffle}
        else:
            assert filters[kind]
            assert filters["complevel"] == PLUGINS[options]["complevel"]
        assert filters["shuffle"] == PLUGINS[options].get("shuffle", False)
    assert hdf5plugin.get_filters()
    with h5py.File(path) as file:
        assert file["v"].shuffle == PLUGINS[options].get("shuffle", False)
        np.testing.assert_array_equal(file["v"][:], smooth((200,)).astype("f4"))


#: Options of `createVariable` that are none.
MISUSE = [
    {"compression": "foo"},
    {"compression": "blosc_snappy"},
    {"compression": "szip", "szip_coding": "x"},
    {"compression": "szip", "szip_pixels_per_block": 7},
    {"endian": "middle"},
    {"chunksizes": (5,)},
    {"chunksizes": (5, 5)},
    {"chunksizes": (2, 2), "contiguous": True},
    {"contiguous": True, "zlib": True},
    {"zlib": True, "complevel": 11},
    {"significant_digits": 3, "quantize_mode": "x"},
    {"significant_digits": 30},
    {"fill_value": "text"},
    {"dimensions": ("absent",)},
    {"dimensions": ("t",), "contiguous": True},
    {"datatype": bool},
    {"datatype": "c16"},
    {"datatype": "i2", "fill_value": 100_000},
    {"datatype": "i2", "significant_digits": 3},
    {"varname": "taken"},
    {"varname": "a/b:c"},
    {"varname": "ends in blank "},
]


def in_child(call):
    """What a call prints in a process of its own, which ends there and then."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writing, str(call()).encode())
        os._exit(0)
    os.close(writing)
    with open(reading) as pipe:
        said = pipe.read()
    os.waitpid(child, 0)
    return said


@pytest.mark.parametrize("format", ["NETCDF4", "NETCDF4_CLASSIC", "NETCDF3_CLASSIC"])
@pytest.mark.parametrize("options", MISUSE, ids=str)
def test_misuse(tmp_path, options, format):
    outcomes = {}
    for name, library in LIBRARIES.items():

        def misuse(name=name, library=library):
            dataset = library.Dataset(tmp_path / f"{name}.nc", "w", format=format)
            dataset.createDimension("x", 4)
            dataset.createDimension("t", None)
            dataset.createVariable("taken", "i4")
            arguments = {"varname": "v", "datatype": "f4", "dimensions": ("x",), **options}
            failed = attempt(lambda: dataset.createVariable(**arguments))
            return failed and failed[0].__name__

        # libnetcdf may crash when it closes a file with a variable half defined.
        outcomes[name] = in_child(misuse)
    assert outcomes["isotach"] == outcomes["netCDF4"]


def test_masks_and_packing(tmp_path):
    def script(dataset, _):
        dataset.createDimension("x", 6)
        outcomes = []
        masked = ma.masked_array([1.5, 2.5, 3.5, 4.5, 5.5, 6.5], [0, 1, 0, 0, 1, 0])
        attributes = [
            {},
            {"missing_value": -1},
            {"scale_factor": 0.5},
            {"add_offset": 10.0},
            {"scale_factor": 0.1, "add_offset": -5.0},
            {"scale_factor": np.float32(0.1), "missing_value": -1},
            {"_Unsigned": "true"},
            {"missing_value": [-1, -2]},
            {"valid_max": 3},
        ]
        number = 0
        for code in ("i1", "u1", "i2", "i4", "f4", "f8"):
            for fill in (None, 9, False):
                for given in attributes:
                    number += 1
                    variable = dataset.createVariable(f"v{number}", code, ("x",), fill_value=fill)
                    for name, value in given.items():
                        outcomes.append(
                            attempt(lambda v=variable, n=name, g=value: setattr(v, n, g))
                        )
                    outcomes.append(attempt(lambda v=variable: v.__setitem__(np.s_[:], masked)))
                    variable.set_auto_mask(True)
                    outcomes.append(attempt(lambda v=variable: v.__setitem__(0, ma.masked)))
                    variable.set_auto_scale(False)
                    outcomes.append(attempt(lambda v=variable: v.__setitem__(1, 3)))
                    outcomes.append(attempt(lambda v=variable: v.__setitem__(2, masked[:1])))
        return [outcome and outcome[0] for outcome in outcomes]

    run_both(tmp_path, script)


def test_texts(tmp_path):
    def script(dataset, library):
        dataset.createDimension("x", 3)
        dataset.createDimension("t", None)
        dataset.createDimension("n", 5)
        outcomes = []

        def attempted(variable, key, data):
            failed = attempt(lambda: variable.__setitem__(key, data))
            unicode = failed and issubclass(failed[0], UnicodeError)
            outcomes.append(UnicodeError if unicode else failed and failed[0])

        for name, dimensions in {
            "s": ("x",),
            "grows": ("t",),
            "scalar": (),
            "two": ("t", "x"),
        }.items():
            text = dataset.createVariable(name, str, dimensions, fill_value="nothing")
            attempted(text, np.s_[:], np.array(["a", "é", ""], object))
            attempted(text, 1, "one")
            attempted(text, np.s_[...], "dots")
            attempted(text, (1,), b"bytes")
            attempted(text, np.s_[0, 1], "pair")
            attempted(text, np.s_[0:2], np.array(["u", "v"]))
            attempted(text, np.s_[0:2], np.array([1, 2]))
            attempted(text, 0, 5)
            attempted(text, 5, "far")
            attempted(text, -9, "before")
            attempted(text, np.s_[:], ma.masked_array(["a", "b", "c"], [0, 1, 0]))
        for name, encoding in {
            "chars": None,
            "ascii": "ascii",
            "utf8": "utf-8",
            "latin": "latin-1",
        }.items():
            chars = dataset.createVariable(name, "S1", ("x", "n"))
            if encoding:
                chars._Encoding = encoding
            kind = "S5" if encoding in (None, "ascii") else "U5"
            attempted(chars, 0, np.array("abc", kind) if encoding else "a")
            attempted(chars, np.s_[:], np.array(["ab", "cde", "f"], kind))
            attempted(chars, np.s_[:], np.array(["ab", "é", "f"], "U5"))
            attempted(chars, np.s_[:], library.stringtochar(np.array(["x", "yy", "zzz"], "S5")))
            attempted(chars, 1, library.stringtochar(np.array("hello", "S5")))
            chars.set_auto_chartostring(False)
            attempted(chars, 2, library.stringtochar(np.array("raw", "S5")))
        return outcomes

    run_both(tmp_path, script)


def test_user_types(tmp_path):
    inner = np.dtype([("a", "i2"), ("b", "f8", (2,))], align=True)
    outer = np.dtype([("i", inner), ("name", "S6"), ("n", "u1")], align=True)

    def script(dataset, _):
        outcomes = []
        dataset.createDimension("x", 3)
        dataset.createDimension("t", None)
        group = dataset.createGroup("group")
        dataset.createCompoundType(inner, "inner")
        compound = group.createCompoundType(outer, "outer")
        made = group.createVariable("compound", compound, ("t",))
        data = np.zeros(3, outer)
        data["i"]["a"] = [1, 2, 3]
        data["i"]["b"] = np.arange(6).reshape(3, 2)
        data["name"] = [b"one", b"two", b"three"]
        data["n"] = 200
        made[:] = data
        made[4] = data[1]
        group.setncattr("about", data[:2])
        enum = dataset.createEnumType("i1", "colour", {"red": 0, "green": 5, "blue": -1})
        colour = group.createVariable("colour", enum, ("x",), fill_value=5)
        colour[0] = 0
        outcomes.append(attempt(lambda: colour.__setitem__(1, 3)))
        vlen = dataset.createVLType("f4", "list")
        lists = dataset.createVariable("lists", vlen, ("t", "x"))
        lists[0, 1] = np.arange(3, dtype="f4")
        lists[1, 0] = np.arange(4)
        objects = np.empty((1, 3), object)
        objects[0] = [np.arange(n, dtype="f4") for n in (1, 0, 2)]
        lists[2] = objects
        objects[0, 0] = np.arange(2)
        outcomes.append(attempt(lambda: lists.__setitem__(3, objects)))
        for call in (
            lambda: dataset.createVLType("f4", "list"),
            lambda: dataset.createVLType(bool, "bools"),
            lambda: dataset.createEnumType("f4", "floats", {"a": 1}),
            lambda: dataset.createCompoundType(np.dtype([("z", "i1")]), "list"),
            lambda: dataset.createVariable("nested", dataset.groups["group"].cmptypes["outer"], ()),
        ):
            outcomes.append(attempt(call))
        return [outcome and outcome[0] for outcome in outcomes]

    run_both(tmp_path, script)


def test_groups_and_renaming(tmp_path):
    def script(dataset, _):
        dataset.createDimension("x", 2)
        deep = dataset.createGroup("/a/b/c")
        assert deep.path == "/a/b/c"
        dataset.createGroup("a/b")
        made = dataset.createVariable("p/q/v", "i4", ("x",))
        made[:] = [1, 2]
        below = dataset["a"].createVariable("w", "f4", "x")
        below[:] = 3
        dataset.renameGroup("p", "renamed")
        dataset.title = "title"
        outcomes = [
            attempt(lambda: dataset.renameGroup("absent", "x")),
            attempt(lambda: dataset.renameGroup("a", "renamed")),
            attempt(lambda: dataset.renameVariable("absent", "x")),
            attempt(lambda: dataset.renameDimension("absent", "x")),
            attempt(lambda: dataset.createGroup("a/w")),
            attempt(lambda: deep.close()),
        ]
        assert dataset["renamed/q/v"][:].tolist() == [1, 2]
        return [outcome and outcome[0] for outcome in outcomes]

    run_both(tmp_path, script)


@pytest.mark.parametrize("format", FORMATS)
def test_renaming(tmp_path, format):
    def script(dataset, _):
        dataset.createDimension("x", 2)
        dataset.createDimension("t", None)
        value = dataset.createVariable("v", "i4", ("t", "x"))
        value.units = "m"
        other = dataset.createVariable("other", "i4", ("x",))
        dataset.renameVariable("v", "longer_name")
        dataset.renameDimension("x", "another_dimension")
        value.renameAttribute("units", "stinu")
        value[:] = [[1, 2], [3, 4]]
        other[:] = 5
        assert value.name == "longer_name"
        assert value.dimensions == ("t", "another_dimension")
        assert list(dataset.variables) == ["other", "longer_name"]
        taken = attempt(lambda: dataset.renameVariable("longer_name", "other"))
        return taken[0], len(dataset.dimensions["t"]), plain(value[:].data)

    run_both(tmp_path, script, format)


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("writer", LIBRARIES)
def test_changing(tmp_path, format, writer):
    """Both libraries go on with a file of either."""
    start = tmp_path / "start.nc"
    with LIBRARIES[writer].Dataset(start, "w", format=format) as dataset:
        dataset.createDimension("t", None)
        dataset.createDimension("x", 3)
        grows = dataset.createVariable("grows", "f4", ("t", "x"), zlib=True, fill_value=-1.0)
        grows.units = "m"
        grows[0:2] = np.arange(6).reshape(2, 3)
        fixed = dataset.createVariable("fixed", "i2", ("x",))
        fixed[:] = [1, 2, 3]
        dataset.title = "a title"
    paths = {}
    for name, library in LIBRARIES.items():
        paths[name] = tmp_path / name / "file.nc"
        paths[name].parent.mkdir()
        paths[name].write_bytes(start.read_bytes())
        for mode in ("a", "r+", "as", "r+s"):
            with library.Dataset(paths[name], mode) as dataset:
                records = len(dataset.dimensions["t"])
                grows = dataset["grows"]
                assert grows[:].shape == (records, 3)
                grows[records + 1] = records
                dataset["fixed"][0] = records
                dataset.setncattr(f"mode_{mode[0]}{records}", mode)
                grows.setncattr(f"mode_{mode[0]}{records}", np.int32(records))
                made = dataset.createVariable(f"made_{records}", "f8", ("t",))
                made[:] = np.arange(records)
                if mode == "r+s":
                    dataset.delncattr("title")
                    dataset.createDimension("y", 2)
                    dataset.createVariable("last", "i4", ("y", "x"))[:] = 7
    check_alike(paths["netCDF4"], paths["isotach"], format.startswith("NETCDF4"))


def test_modes(tmp_path):
    path = tmp_path / "file.nc"
    with isotach.Dataset(path, "x") as dataset:
        dataset.title = "first"
    for mode, options in (("x", {}), ("w", {"clobber": False})):
        with pytest.raises(OSError, match="File exists") as raised:
            isotach.Dataset(path, mode, **options)
        assert raised.value.errno == -35
    with isotach.Dataset(tmp_path / "absent.nc", "a", format="NETCDF3_CLASSIC") as dataset:
        assert dataset.data_model == "NETCDF3_CLASSIC"
    for mode in ("ws", "w"):
        with isotach.Dataset(path, mode) as dataset:
            assert dataset.ncattrs() == []
    with pytest.raises(ValueError, match="unrecognized format"):
        isotach.Dataset(path, "w", format="NETCDF5")
    with pytest.raises(ValueError, match="mode must be"):
        isotach.Dataset(path, "q")
    with pytest.raises(OSError):
        isotach.Dataset(tmp_path / "absent" / "file.nc", "w")


def test_memory(tmp_path):
    dataset = isotach.Dataset("in memory", "w", memory=1000, format="NETCDF3_64BIT")
    dataset.createDimension("x", 2)
    dataset.createVariable("v", "i4", ("x",))[:] = [1, 2]
    content = dataset.close()
    assert isinstance(content, memoryview)
    (tmp_path / "content.nc").write_bytes(content)
    for library in LIBRARIES.values():
        with library.Dataset(tmp_path / "content.nc") as dataset:
            assert dataset.data_model == "NETCDF3_64BIT_OFFSET"
            assert dataset["v"][:].tolist() == [1, 2]
    path = tmp_path / "diskless.nc"
    for persist in (False, True):
        dataset = isotach.Dataset(path, "w", diskless=True, persist=persist)
        dataset.createDimension("x", 2)
        assert dataset.close() is None
        assert path.exists() == persist
    with netCDF4.Dataset(path) as dataset:
        assert len(dataset.dimensions["x"]) == 2


def test_closing(tmp_path):
    path = tmp_path / "file.nc"
    dataset = isotach.Dataset(path, "w")
    dataset.createDimension("x", 2)
    variable = dataset.createVariable("v", "i4", ("x",))
    variable[:] = 1
    dataset.sync()
    with isotach.Dataset(path) as reader:
        assert reader["v"][:].tolist() == [1, 1]
    variable[:] = 2
    dataset.close()
    for call in (
        dataset.close,
        dataset.sync,
        lambda: dataset.createDimension("y", 1),
        lambda: dataset.setncattr("y", 1),
        lambda: setattr(variable, "y", 1),
        lambda: variable.__setitem__(0, 1),
    ):
        with pytest.raises(RuntimeError, match="Not a valid ID"):
            call()
    # The file is free although the handles are still there.
    with isotach.Dataset(path, "w"):
        pass
    forgotten = isotach.Dataset(path, "w", keepweakref=True)
    forgotten.title = "kept"
    del forgotten
    with netCDF4.Dataset(path) as dataset:
        assert dataset.title == "kept"


def test_reading_only(tmp_path):
    path = tmp_path / "file.nc"
    with isotach.Dataset(path, "w") as dataset:
        dataset.createDimension("x", 2)
        dataset.createVariable("v", "i4", ("x",))
    outcomes = {}
    for name, library in LIBRARIES.items():
        with library.Dataset(path) as dataset:
            calls = (
                lambda d=dataset: d.createDimension("y", 3),
                lambda d=dataset: d.setncattr("y", 3),
                lambda d=dataset: d["v"].setncattr("y", 3),
                lambda d=dataset: d["v"].__setitem__(0, 3),
                lambda d=dataset: d.createVariable("y", "f4"),
                lambda d=dataset: d.createGroup("y"),
                lambda d=dataset: d.createVLType("f4", "y"),
                lambda d=dataset: d.renameDimension("x", "y"),
                lambda d=dataset: d.renameVariable("v", "y"),
                lambda d=dataset: d.delncattr("y"),
                lambda d=dataset: d.set_fill_off(),
                lambda d=dataset: d.sync(),
            )
            outcomes[name] = [(attempt(call) or [None])[0] for call in calls]
    assert outcomes["isotach"] == outcomes["netCDF4"]


def test_fill_mode(tmp_path):
    def script(dataset, _):
        dataset.createDimension("x", 3)
        dataset.set_fill_off()
        off = dataset.createVariable("off", "f4", ("x",))
        off[:] = 1
        dataset.set_fill_on()
        dataset.createVariable("on", "f4", ("x",))
        dataset.set_fill_off()
        dataset.createVariable("stated", "f4", ("x",), fill_value=5)[:] = 2

    with isotach.Dataset(run_both(tmp_path, script)) as dataset:
        assert dataset["stated"]._FillValue == 5
        assert dataset["stated"].get_fill_value() is None
