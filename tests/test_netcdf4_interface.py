"""The interface is netCDF4-python's: one expression, two libraries."""

import errno

import isotach
import netCDF4
import numpy as np
import pytest
from conftest import (
    CORPUS,
    KNOWN,
    MOST_ELEMENTS,
    OLDER_NETCDF4,
    corpus_parameters,
    differ,
    outcome,
)

VARIABLE_FACTS = {
    "dtype": lambda variable: variable.dtype,
    "dimensions": lambda variable: variable.dimensions,
    "shape": lambda variable: variable.shape,
    "size": lambda variable: variable.size,
    "ndim": lambda variable: variable.ndim,
    "name": lambda variable: variable.name,
    "ncattrs": lambda variable: variable.ncattrs(),
    "attributes": lambda variable: {k: variable.getncattr(k) for k in variable.ncattrs()},
    "chunking": lambda variable: variable.chunking(),
    "filters": lambda variable: without_plugins(variable.filters()),
    "endian": lambda variable: variable.endian(),
    "quantization": lambda variable: variable.quantization(),
    # netCDF4-python hands out the default with its bytes in the wrong order.
    "fill value": lambda variable: variable.dtype.isnative and variable.get_fill_value(),
    "dims": lambda variable: [
        (d.name, len(d), d.isunlimited(), d.group().path) for d in variable.get_dims()
    ],
    "str": lambda variable: str(variable).replace("netCDF4", "isotach"),
    "datatype": lambda variable: str(variable.datatype).replace("netCDF4", "isotach"),
}
GROUP_FACTS = {
    "data_model": lambda group: group.data_model,
    "file_format": lambda group: group.file_format,
    "disk_format": lambda group: group.parent is None and group.disk_format,
    "path": lambda group: group.path,
    "name": lambda group: group.name,
    "ncattrs": lambda group: group.ncattrs(),
    "attributes": lambda group: {k: group.getncattr(k) for k in group.ncattrs()},
    "dimensions": lambda group: [
        (name, d.name, d.size, d.isunlimited(), repr(d).replace("netCDF4", "isotach"))
        for name, d in group.dimensions.items()
    ],
    "groups": lambda group: list(group.groups),
    "enumtypes": lambda group: {k: v.enum_dict for k, v in group.enumtypes.items()},
}


def without_plugins(filters):
    """netCDF4-python tells of filters whose plugins it has found, and never of Blosc 2."""
    plugins = ("zstd", "bzip2", "blosc")
    if filters:
        filters = {
            **{name: value for name, value in filters.items() if name != "blosc2"},
            **dict.fromkeys(plugins),
            "complevel": filters["zlib"] and filters["complevel"],
        }
    return filters


def facts_that_differ(ours, theirs, facts, path):
    for name, fact in facts.items():
        (here, _), (there, _) = outcome(lambda f=fact: f(ours)), outcome(lambda f=fact: f(theirs))
        if there is not KeyError:  # Types that netCDF4-python has no way to show.
            yield differ(here, there, f"{path} {name}")


def reads(variable):
    """Keys that together touch every element, of small variables, and much of large ones."""
    rank = variable.ndim
    if variable.size <= MOST_ELEMENTS:
        yield ...
    else:
        yield tuple(slice(0, 3) for _ in range(rank))
    if rank and 0 not in variable.shape:
        yield 0
        yield -1
        yield (0,) * rank
        yield (..., slice(None, None, -2))


def values_that_differ(ours, theirs, path):
    for key in reads(theirs):
        (here, said_here), (there, said_there) = (
            outcome(lambda: ours[key]),  # noqa: B023
            outcome(lambda: theirs[key]),  # noqa: B023
        )
        if there is RuntimeError and not isinstance(here, type):
            continue  # Ours reads what libnetcdf cannot.
        yield differ(here, there, f"{path}[{key}]")
        if said_here != said_there and not isinstance(there, type):
            yield f"{path}[{key}]: warnings {said_here} for {said_there}"


def types_that_differ(ours, theirs):
    """netCDF4-python leaves out types that it cannot show; ours may have more."""
    for kind in ("cmptypes", "vltypes"):
        here, there = getattr(ours, kind), getattr(theirs, kind)
        for name, known in there.items():
            if name not in here or here[name].dtype != known.dtype:
                yield f"{theirs.path} {kind}: {here.get(name)} for {known}"


def differences(ours, theirs):
    yield from types_that_differ(ours, theirs)
    yield from facts_that_differ(ours, theirs, GROUP_FACTS, theirs.path)
    for name, variable in theirs.variables.items():
        path = f"{theirs.path}:{name}"
        if name not in ours.variables:
            yield f"{path} is missing"
            continue
        yield from facts_that_differ(ours.variables[name], variable, VARIABLE_FACTS, path)
        yield from values_that_differ(ours.variables[name], variable, path)
        ours.variables[name].set_auto_maskandscale(False)
        variable.set_auto_maskandscale(False)
        yield from values_that_differ(ours.variables[name], variable, f"{path} (raw)")
    for name, group in theirs.groups.items():
        yield from differences(ours.groups[name], group)


@pytest.mark.parametrize("file", corpus_parameters("classic", "netcdf4"))
@pytest.mark.filterwarnings("ignore")
def test_real_files_look_the_same(file):
    if str(file.relative_to(CORPUS)) in KNOWN:
        with isotach.Dataset(file) as ours:
            assert list(ours.variables)
        return
    with isotach.Dataset(file) as ours, netCDF4.Dataset(file) as theirs:
        assert list(filter(None, differences(ours, theirs))) == []


def test_the_two_libraries_are_two():
    assert isotach.Dataset is not netCDF4.Dataset
    assert not issubclass(isotach.Dataset, netCDF4.Dataset)


@pytest.fixture(params=["NETCDF4", "NETCDF3_CLASSIC", "NETCDF4_CLASSIC", "NETCDF3_64BIT_DATA"])
def path(request, tmp_path):
    path = tmp_path / "file.nc"
    with netCDF4.Dataset(path, "w", format=request.param) as dataset:
        dataset.title = "a title"
        dataset.createDimension("time", None)
        dataset.createDimension("y", 4)
        dataset.createDimension("x", 5)
        packed = dataset.createVariable("packed", "i2", ("time", "y", "x"), fill_value=-1)
        packed.setncatts({"scale_factor": 0.5, "add_offset": np.float32(3), "units": "K"})
        packed.set_auto_maskandscale(False)
        packed[:] = np.arange(60).reshape(3, 4, 5) - 1
        unsigned = dataset.createVariable("unsigned", "i1", ("x",), fill_value=-2)
        unsigned.setncatts({"_Unsigned": "true", "valid_max": np.int8(-3)})
        unsigned.set_auto_maskandscale(False)
        unsigned[:] = [1, -1, -2, 127, -128]
        ranged = dataset.createVariable("ranged", "f8", ("x",))
        ranged.setncatts({"valid_range": [0.0, 3.0], "missing_value": [2.0, 1.0]})
        ranged[:] = [0, 1, 2, 3, 4]
        odd = dataset.createVariable("odd", "i4", ("x",))
        odd.setncatts({"missing_value": 0.5, "scale_factor": "none"})
        odd.set_auto_maskandscale(False)
        odd[:] = range(5)
        nans = dataset.createVariable("nans", "f4", ("x",), fill_value=np.nan)
        nans[:] = [0, np.nan, 2, 3, 4]
        text = dataset.createVariable("text", "S1", ("y", "x"))
        text._Encoding = "ascii"
        text[:] = np.array(["abcde", "b", "", "öä".encode("ascii", "replace")], "S5")
        bytes_ = dataset.createVariable("bytes", "S1", ("y", "x"))
        bytes_[:] = b"z"
        scalar = dataset.createVariable("scalar", "i4", ())
        scalar[...] = 7
        dataset.createVariable("unwritten", "f4", ("time", "x"))
    return path


NAMES = ["packed", "unsigned", "ranged", "odd", "nans", "text", "bytes", "scalar", "unwritten"]
SETTINGS = {
    "as it is": lambda variable: None,
    "no mask": lambda variable: variable.set_auto_mask(False),
    "no scale": lambda variable: variable.set_auto_scale(False),
    "neither": lambda variable: variable.set_auto_maskandscale(False),
    "masked only where needed": lambda variable: variable.set_always_mask(False),
    "characters": lambda variable: variable.set_auto_chartostring(False),
}


@pytest.mark.parametrize("setting", SETTINGS)
def test_masks_and_scales(path, setting):
    with isotach.Dataset(path) as ours, netCDF4.Dataset(path) as theirs:
        for name in NAMES:
            SETTINGS[setting](ours[name])
            SETTINGS[setting](theirs[name])
            found = list(filter(None, values_that_differ(ours[name], theirs[name], name)))
            assert found == []


ARRAYS = {
    "an array": np.array,
    "with its mask": np.asanyarray,
    "joined": lambda variable: np.concatenate([variable, variable]),
    "reduced": lambda variable: np.asanyarray(np.mean(variable)),
    "filled": np.ma.filled,
}


@pytest.mark.parametrize("make", ARRAYS)
def test_variables_where_numpy_wants_arrays(path, make):
    with isotach.Dataset(path) as ours, netCDF4.Dataset(path) as theirs:
        for name in ("packed", "ranged", "nans"):
            here, there = ARRAYS[make](ours[name]), ARRAYS[make](theirs[name])
            assert type(here) is type(there)
            assert differ(here, there, name) is None


def test_variables_where_numpy_wants_masked_arrays(path):
    """netCDF4-python's variables end in a RecursionError there."""
    with isotach.Dataset(path) as dataset:
        packed = dataset["packed"]
        assert np.ma.getmaskarray(packed[...]).any()
        for made in (np.ma.array(packed), np.ma.asarray(packed), np.ma.array(packed, copy=True)):
            assert differ(made, packed[...]) is None
        assert np.ma.mean(packed) == packed[...].mean()


@pytest.mark.parametrize("setting", SETTINGS)
def test_settings_of_a_file_reach_all_variables(path, setting):
    with isotach.Dataset(path) as ours, netCDF4.Dataset(path) as theirs:
        SETTINGS[setting](ours)
        SETTINGS[setting](theirs)
        for name in NAMES:
            assert differ(outcome(lambda: ours[name][...])[0], theirs[name][...]) is None  # noqa: B023


WRONG_CALLS = {
    "no such attribute": lambda d: d.nothing,
    "no such variable attribute": lambda d: d["packed"].nothing,
    "no such attribute by name": lambda d: d.getncattr("nothing"),
    "no such path": lambda d: d["nothing"],
    "no such group": lambda d: d["nothing/variable"],
    "no such variable": lambda d: d.variables["nothing"],
    "beyond the end": lambda d: d["packed"][100],
    "before the start": lambda d: d["packed"][-100],
    "too many": lambda d: d["packed"][0, 0, 0, 0],
    "none": lambda d: d["packed"][None],
    "a word": lambda d: d["packed"]["word"],
    "a fraction": lambda d: d["packed"][0.5],
    "two-dimensional": lambda d: d["packed"][np.zeros((2, 2), int)],
    "mask of another length": lambda d: d["packed"][np.zeros(7, bool)],
    "list beyond the end": lambda d: d["packed"][[0, 100]],
    "list before the start": lambda d: d["packed"][[0, -100]],
    "no step": lambda d: d["packed"][::0],
    "fractional bound": lambda d: d["packed"][0.5:3],
    "two ellipses": lambda d: d["packed"][..., ...],
    "length of a scalar": lambda d: len(d["scalar"]),
    "nothing of a scalar": lambda d: d["scalar"][0:0],
    "two indices of a scalar": lambda d: d["scalar"][0, 0],
    "membership": lambda d: "packed" in d,
    "iteration": lambda d: iter(d),
    "rebinding": lambda d: setattr(d, "path", "/other"),
    "rebinding in a variable": lambda d: setattr(d["packed"], "mask", False),
    "setting": lambda d: setattr(d, "new", 1),
    "setting in a variable": lambda d: setattr(d["packed"], "new", 1),
    "new shape": lambda d: setattr(d["packed"], "shape", (1,)),
    "new name": lambda d: setattr(d["packed"], "name", "other"),
    "new length": lambda d: setattr(d.dimensions["x"], "size", 1),
    "deleting": lambda d: delattr(d, "title"),
    "new dimension": lambda d: d.createDimension("new", 1),
    "new variable": lambda d: d.createVariable("new", "f4", ()),
    "values of an array": lambda d: d["packed"].getValue(),
    "attribute by a number": lambda d: d["packed"].getncattr(3),
    "negative cache": lambda d: d["packed"].set_var_chunk_cache(-1),
    "preemption beyond 1": lambda d: d["packed"].set_var_chunk_cache(preemption=2.0),
    "text after closing": lambda d: (d.close(), repr(d)),
    "closing twice": lambda d: (d.close(), d.close()),
    "reading after closing": lambda d: (d["packed"], d.close())[0][0],
    "shape after closing": lambda d: (d["packed"], d.close())[0].shape,
    "names after closing": lambda d: (d.close(), d.ncattrs()),
    "attribute after closing": lambda d: (d["packed"], d.close())[0].units,
    "length after closing": lambda d: len((d.dimensions["x"], d.close())[0]),
    "path after closing": lambda d: (d.close(), d.filepath()),
    "one more group": lambda d: d.set_fill_on(),
}


@pytest.mark.parametrize("call", WRONG_CALLS)
def test_wrong_calls_raise_the_same(path, call):
    if OLDER_NETCDF4 and call == "a fraction":
        pytest.skip("this netCDF4-python takes a fraction for an index")
    theirs, _ = outcome(lambda: WRONG_CALLS[call](netCDF4.Dataset(path)))
    ours, _ = outcome(lambda: WRONG_CALLS[call](isotach.Dataset(path)))
    assert isinstance(theirs, type)
    assert ours is theirs


@pytest.mark.parametrize(
    "open_",
    [
        lambda library, path: library.Dataset(path / "nothing.nc"),
        lambda library, path: library.Dataset(path),
        lambda library, path: library.Dataset(path / "file.txt"),
        lambda library, path: library.Dataset(path / "empty"),
        lambda library, path: library.Dataset(path / "file.txt", mode="q"),
        lambda library, path: library.Dataset("name", mode="a", memory=b"CDF"),
        lambda library, path: library.Dataset("name", memory="text"),
        lambda library, path: library.set_chunk_cache(-1),
        lambda library, path: library.set_chunk_cache(preemption=3),
        lambda library, path: library.MFDataset([]),
        lambda library, path: library.MFDataset(str(path / "*.none")),
    ],
)
def test_files_that_cannot_be_opened(open_, tmp_path):
    (tmp_path / "file.txt").write_text("a text that is no array of anything")
    (tmp_path / "empty").write_bytes(b"")
    theirs, _ = outcome(lambda: open_(netCDF4, tmp_path))
    ours, _ = outcome(lambda: open_(isotach, tmp_path))
    assert isinstance(theirs, type)
    assert ours is theirs


def test_attributes_handed_out_are_copies(path):
    with isotach.Dataset(path) as dataset:
        dataset["ranged"].valid_range[:] = 0
        assert dataset["ranged"].valid_range.tolist() == [0.0, 3.0]
        assert dataset.__dict__ == {"title": "a title"}
        assert dataset["packed"].__dict__["units"] == "K"


def test_sources(path):
    content = path.read_bytes()
    with open(path, "rb") as file:
        for source in (path, str(path), content, bytearray(content), memoryview(content), file):
            with isotach.Dataset(source) as dataset:
                assert dataset["scalar"][...] == 7
    with isotach.Dataset("a name", memory=content) as dataset:
        assert dataset.filepath() == "a name"
        assert dataset["packed"].shape == (3, 4, 5)


def test_what_a_file_object_raises_is_the_cause(path):
    class Broken:
        def __init__(self):
            self.file = open(path, "rb")  # noqa: SIM115
            self.broken = False

        def seek(self, *arguments):
            return self.file.seek(*arguments)

        def tell(self):
            return self.file.tell()

        def read(self, count):
            if self.broken:
                raise ConnectionError("gone")
            return self.file.read(min(count, 100))

    source = Broken()
    variable = isotach.Dataset(source)["packed"]
    assert variable.shape == (3, 4, 5)
    source.broken = True
    with pytest.raises(OSError, match="gone") as raised:
        variable[:]
    assert raised.value.errno == errno.EIO
    assert isinstance(raised.value.__cause__, ConnectionError)


def test_groups_by_path(tmp_path):
    path = tmp_path / "groups.nc"
    with netCDF4.Dataset(path, "w") as dataset:
        dataset.createDimension("x", 3)
        inner = dataset.createGroup("a/b")
        inner.createVariable("v", "f4", ("x",))[:] = 1
        inner["v"].axis = "X"
    with isotach.Dataset(path) as ours:
        assert ours["a/b/v"] is ours.groups["a"].groups["b"].variables["v"]
        assert ours["/a/b"].path == "/a/b"
        assert ours["a/b"].parent is ours["a"]
        assert ours["a/b/v"].get_dims() == (ours.dimensions["x"],)
        assert ours["a/b"].get_variables_by_attributes(axis="X") == [ours["a/b/v"]]
        assert ours["a/b"].get_variables_by_attributes(axis=lambda axis: axis is None) == []
        ours.set_auto_mask(False)
        assert type(ours["a/b/v"][:]) is np.ndarray
        with pytest.raises(OSError, match="cannot close"):
            ours["a"].close()


def test_lazy_dicts_are_dicts(path):
    with isotach.Dataset(path) as ours, netCDF4.Dataset(path) as theirs:
        assert isinstance(ours.variables, dict)
        assert len(ours.variables) == len(theirs.variables)
        last = ours.variables["unwritten"]
        assert list(ours.variables) == list(theirs.variables)
        assert list(ours.variables.keys()) == list(theirs.variables)
        assert "packed" in ours.variables
        assert "nothing" not in ours.variables
        assert ours.variables.get("nothing") is None
        assert list(dict(ours.variables)) == list(theirs.variables)
        assert [name for name, _ in ours.variables.items()] == list(theirs.variables)
        assert ours.variables["unwritten"] is last


def test_many_files_are_one(tmp_path):
    start = 0
    for number, count in enumerate((3, 1, 4)):
        with netCDF4.Dataset(tmp_path / f"{number}.nc", "w", format="NETCDF4_CLASSIC") as part:
            part.createDimension("time", None)
            part.createDimension("x", 2)
            time = part.createVariable("time", "f8", ("time",))
            time.setncatts({"units": f"days since 2000-01-{start + 1:02}", "calendar": "standard"})
            time[:] = range(count)
            values = part.createVariable("values", "i2", ("time", "x"), fill_value=5)
            values[:] = np.arange(start * 2, (start + count) * 2).reshape(count, 2)
            part.createVariable("fixed", "f4", ("x",))[:] = number
            start += count
    pattern = str(tmp_path / "*.nc")
    with isotach.MFDataset(pattern, check=True) as ours, netCDF4.MFDataset(pattern) as theirs:
        for name in theirs.variables:
            assert ours.variables[name].shape == theirs.variables[name].shape
            for key in (slice(None), 0, -1, slice(2, 7, 2), [0, 4, 7], slice(5, 5)):
                here, there = (d.variables[name] for d in (ours, theirs))
                if name == "fixed" and key not in (0, -1, slice(None)):
                    continue
                if OLDER_NETCDF4 and key == slice(5, 5):
                    continue  # It cannot join nothing.
                assert differ(here[key], there[key], f"{name}[{key}]") is None
        here, there = (
            lib.MFTime(d.variables["time"]) for lib, d in ((isotach, ours), (netCDF4, theirs))
        )
        assert differ(here[:], there[:]) is None
        assert here[:].tolist() == list(range(8))
        assert ours.ncattrs() == theirs.ncattrs()
        assert len(ours.dimensions["time"]) == 8
    first = str(tmp_path / "0.nc")
    with isotach.MFDataset([first]) as ours, netCDF4.MFDataset([first]) as theirs:
        here, there = (d.variables["values"][:] for d in (ours, theirs))
        assert here.fill_value == there.fill_value
    with pytest.raises(IndexError), isotach.MFDataset(pattern) as ours:
        ours.variables["time"][::-1]


def test_characters():
    strings = np.array([["abc", "d"], ["", "xyz"]], "S3")
    ours = isotach.stringtochar(strings)
    assert differ(ours, netCDF4.stringtochar(strings)) is None
    assert differ(isotach.chartostring(ours), netCDF4.chartostring(ours)) is None
    for encoding in ("utf-8", "bytes", "latin-1"):
        text = isotach.chartostring(ours, encoding=encoding)
        assert differ(text, netCDF4.chartostring(ours, encoding=encoding)) is None
    if OLDER_NETCDF4:
        return  # It has no option for the length.
    words = np.array(["grün", "rot"])
    here = isotach.stringtochar(words, "utf-8", n_strlen=6)
    assert differ(here, netCDF4.stringtochar(words, "utf-8", n_strlen=6)) is None
    assert differ(isotach.stringtoarr("ab", 4), netCDF4.stringtoarr("ab", 4)) is None


def test_names_that_programs_import():
    missing = [name for name in netCDF4.__all__ if not hasattr(isotach, name)]
    assert missing == []
    assert isotach.default_fillvals == netCDF4.default_fillvals
    isotach.set_chunk_cache(1000, 10, 0.5)
    assert isotach.get_chunk_cache() == (1000, 10, 0.5)
    isotach.set_chunk_cache(64 * 1024 * 1024, 1000, 0.75)
