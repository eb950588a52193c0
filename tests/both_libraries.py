"""The same calls through netCDF4-python and through Isotach: files that read equal."""

import subprocess
import warnings

import h5py
import isotach
import netCDF4
import numpy as np

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
    if isinstance(value, (np.ndarray, np.generic)) and value.dtype.names:
        # What lies between members is nobody's business.
        return value.shape, repr(value.tolist())
    if isinstance(value, (np.ndarray, np.generic)):
        return value.shape, value.tobytes()
    return value


def check_alike(theirs, ours, is_hdf5):
    """Both files hold the same, and every reader is content with ours."""
    assert content(ours) == content(theirs)
    text, their_text = (said_by("ncdump", str(path)).splitlines()[1:] for path in (ours, theirs))
    if content(ours)["model"] == "NETCDF4_CLASSIC":
        # Here libnetcdf writes what changes at once, and puts it last.
        text, their_text = sorted(text), sorted(their_text)
    assert text == their_text
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
