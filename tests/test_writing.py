"""Writing through netCDF4-python's interface: the same calls give files that read equal."""

import subprocess
import warnings

import h5py
import isotach
import netCDF4
import numpy as np
import pytest
from numpy import ma

FORMATS = [
    "NETCDF4",
    "NETCDF4_CLASSIC",
    "NETCDF3_CLASSIC",
    "NETCDF3_64BIT_OFFSET",
    "NETCDF3_64BIT_DATA",
]
LIBRARIES = {"netCDF4": netCDF4, "isotach": isotach}


def said_by(*command):
    """A program's output; no error, nothing on its standard error."""
    done = subprocess.run(command, capture_output=True, text=True, errors="replace")
    assert done.returncode == 0 and not done.stderr, (command, done.stderr)
    return done.stdout


def attempt(call):
    """What a call gives: the exception's type, or None."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            call()
        except Exception as error:
            return type(error), str(error)
    return None


def walk(group, path="/"):
    yield path, group
    for name, below in group.groups.items():
        yield from walk(below, f"{path}{name}/")


def content(path):
    """All that netCDF4 finds in a file, by path."""
    found = {}
    with netCDF4.Dataset(path) as dataset:
        dataset.set_auto_maskandscale(False)
        dataset.set_auto_chartostring(False)
        found["model"] = dataset.data_model
        for where, group in walk(dataset):
            found[where] = (
                {name: (len(dim), dim.isunlimited()) for name, dim in group.dimensions.items()},
                {name: attribute(group, name) for name in group.ncattrs()},
                {name: type_.dtype for name, type_ in group.cmptypes.items()},
                {name: (type_.dtype, type_.enum_dict) for name, type_ in group.enumtypes.items()},
                {name: type_.dtype for name, type_ in group.vltypes.items()},
                list(group.variables),
            )
            for name, variable in group.variables.items():
                found[where + name] = (
                    str(variable.dtype),
                    variable.dimensions,
                    {name: attribute(variable, name) for name in variable.ncattrs()},
                    variable.filters(),
                    plain(variable.get_fill_value()),
                    plain(variable[...]),
                )
    return found


def attribute(owner, name):
    value = owner.getncattr(name)
    return type(value).__name__, str(getattr(value, "dtype", "")), plain(value)


def plain(value):
    """Something that compares with ==, also where it holds NaN or sequences."""
    if isinstance(value, np.ndarray) and value.dtype.kind == "O":
        return value.shape, [plain(item) for item in value.reshape(-1)]
    if isinstance(value, (np.ndarray, np.generic)):
        return value.shape, value.tobytes()
    return value


def check_alike(theirs, ours, is_hdf5):
    """Both files hold the same, and every reader is content with ours."""
    assert content(ours) == content(theirs)
    text = said_by("ncdump", str(ours)).splitlines()
    assert text[1:] == said_by("ncdump", str(theirs)).splitlines()[1:]
    if is_hdf5:
        said_by("h5dump", "-H", str(ours))
        with h5py.File(ours) as file:
            file.visititems(lambda name, item: dict(item.attrs) and None)


def run_both(tmp_path, script, format="NETCDF4", compare=True, **options):
    """Runs `script(dataset, library)` through both, and compares the files and what it returned."""
    paths, returned = {}, {}
    for name, library in LIBRARIES.items():
        paths[name] = tmp_path / name / "file.nc"
        paths[name].parent.mkdir(exist_ok=True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            dataset = library.Dataset(paths[name], "w", format=format, **options)
            returned[name] = script(dataset, library)
            dataset.close()
    if compare:
        check_alike(paths["netCDF4"], paths["isotach"], format.startswith("NETCDF4"))
    assert plain(returned["isotach"]) == plain(returned["netCDF4"])
    return paths["isotach"]


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
