"""The commands of netCDF4-python, which Isotach installs as well."""

import subprocess
import sys

import isotach.utils
import netCDF4.utils
import numpy as np
import pytest
from numpy import ma

PACKED = {"a": "i2", "f": "i1", "e": "i4"}


@pytest.fixture
def classic(tmp_path):
    path = tmp_path / "classic.nc"
    with netCDF4.Dataset(path, "w", format="NETCDF3_CLASSIC") as dataset:
        dataset.title = "a title"
        dataset.createDimension("time", None)
        dataset.createDimension("x", 4)
        dataset.createVariable("time", "f8", ("time",))[:] = range(25)
        for name, code in PACKED.items():
            variable = dataset.createVariable(name, code, ("time", "x"), fill_value=-9)
            variable.setncatts({"scale_factor": 0.5, "add_offset": 1.0, "units": "K"})
            variable.missing_value = np.array(-8, code)
            variable.set_auto_maskandscale(False)
            variable[:] = np.arange(100).reshape(25, 4) - 9
        half = dataset.createVariable("half", "i2", ("time", "x"))
        half.scale_factor = 2.0
        half[:] = np.arange(100).reshape(25, 4) * 2
        dataset.createVariable("letters", "S1", ("x",))[:] = [b"a", b"b", b"c", b"d"]
        dataset.createVariable("scalar", "i4", ())[...] = 3
        dataset.createVariable("fixed", "f4", ("x",))[:] = [1.234567, 2.345678, 3.456789, 4]
        dataset.createVariable("fixed_packed", "i2", ("x",))[:] = [1, 2, 3, 4]
        dataset["fixed_packed"].setncatts({"scale_factor": 0.25, "add_offset": -1.0})
    return path


def facts(path):
    """What is in a file, undecoded."""
    found = {}
    with netCDF4.Dataset(path) as dataset:
        found["model"] = dataset.data_model
        found["attributes"] = dataset.__dict__
        found["dimensions"] = {n: (len(d), d.isunlimited()) for n, d in dataset.dimensions.items()}
        for name, variable in dataset.variables.items():
            variable.set_auto_maskandscale(False)
            attributes = {key: variable.getncattr(key) for key in sorted(variable.ncattrs())}
            if name in PACKED and "missing_value" in attributes:
                # Theirs is a double, whatever the variable is.
                attributes["missing_value"] = float(np.float32(attributes["missing_value"]))
            filters = variable.filters()
            values = np.asarray(variable[...]).tolist()
            found[name] = (str(variable.dtype), variable.dimensions, attributes, filters, values)
    return found


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"classic": 1},
        {"zlib": False},
        {"complevel": 9, "shuffle": False, "fletcher32": True},
        {"lsd_dict": {"fixed": 1, "a": 1}},
        {"vars": ["fixed", "time"]},
        {"vars": ["fixed"]},
        {"istart": 3, "istop": 12},
        {"nchunk": 0},
        {"nchunk": 7},
    ],
    ids=str,
)
def test_files_are_copied_as_netcdf4_python_copies_them(tmp_path, classic, options, capsys):
    # Its own packed integers become floats with warnings, and in the type of doubles.
    ours, theirs = tmp_path / "ours.nc", tmp_path / "theirs.nc"
    isotach.utils._nc3tonc4(str(classic), str(ours), **options)
    here = capsys.readouterr().out
    netCDF4.utils._nc3tonc4(str(classic), str(theirs), **options)
    assert here == capsys.readouterr().out
    one, other = facts(ours), facts(theirs)
    assert list(one) == list(other)
    for name in other:
        if name == "e":
            assert one[name][0] == "float64" and other[name][0] == "float32"
        else:
            assert one[name] == other[name], name


def test_unpacking(tmp_path, classic):
    path = tmp_path / "new.nc"
    with netCDF4.Dataset(classic, "a") as dataset:
        dataset["a"].valid_range = np.array([-100, 80], "i2")
        dataset["e"].set_auto_maskandscale(False)
        dataset["e"][-1, -1] = 2**31 - 2
    isotach.utils._nc3tonc4(str(classic), str(path), quiet=True)
    with netCDF4.Dataset(classic) as before, netCDF4.Dataset(path) as after:
        for name in ("a", "e", "f"):
            assert ma.getmaskarray(before[name][:]).any()
            ma_before, ma_after = before[name][:], after[name][:]
            assert (ma.getmaskarray(ma_before) == ma.getmaskarray(ma_after)).all()
            assert (ma_before == ma_after).all()
        assert after["e"][-1, -1] == (2**31 - 2) * 0.5 + 1
        assert after["a"].valid_range.tolist() == [-49, 41]


def test_values_that_are_not_unpacked_stay_as_they_are(tmp_path, classic):
    """netCDF4-python has all missing ones become one value."""
    path = tmp_path / "new.nc"
    isotach.utils._nc3tonc4(str(classic), str(path), unpackshort=False, quiet=True)
    one, other = facts(classic), facts(path)
    for name in one.keys() - {"model", "attributes", "dimensions"}:
        assert one[name][:3] == other[name][:3]
        assert one[name][4:] == other[name][4:]


@pytest.mark.parametrize("format", ["NETCDF3_64BIT", "NETCDF3_CLASSIC"])
def test_back(tmp_path, classic, format):
    middle, ours, theirs = (str(tmp_path / f"{name}.nc") for name in ("4", "ours", "theirs"))
    netCDF4.utils._nc3tonc4(str(classic), middle, unpackshort=False, classic=1, quiet=True)
    isotach.utils._nc4tonc3(middle, ours, format=format, quiet=True)
    netCDF4.utils._nc4tonc3(middle, theirs, format=format, quiet=True)
    assert facts(ours) == facts(theirs)
    netCDF4.utils._nc3tonc4(str(classic), middle, classic=0, clobber=True, quiet=True)
    for utils in (isotach.utils, netCDF4.utils):
        with pytest.raises(OSError, match="must be in NETCDF4_CLASSIC format"):
            utils._nc4tonc3(middle, ours, clobber=True)


def test_a_file_that_is_there(tmp_path, classic):
    path = tmp_path / "new.nc"
    for copy in (isotach.utils._nc3tonc4, netCDF4.utils._nc3tonc4):
        path.write_text("precious")
        with pytest.raises(OSError, match="NC_NOCLOBBER"):
            copy(str(classic), str(path), quiet=True)
        assert path.read_text() == "precious"
    # It stays where copying fails.
    with pytest.raises(KeyError, match="'colour'"):
        isotach.utils._nc3tonc4(str(classic), str(path), clobber=True, vars=["colour"])
    assert path.read_text() == "precious"
    isotach.utils._nc3tonc4(str(classic), str(path), clobber=True, quiet=True)
    assert facts(path)["model"] == "NETCDF4"


def command(library, name, *arguments):
    code = f"import sys, {library}.utils as u; sys.argv[0] = {name!r}; sys.exit(u.{name}())"
    run = [sys.executable, "-W", "ignore", "-c", code, *map(str, arguments)]
    done = subprocess.run(run, capture_output=True, text=True)
    return done.returncode, done.stdout.replace("netCDF4.", "isotach."), done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ["ncinfo"],
        ["ncinfo", "-v", "a"],
        ["ncinfo", "--variable=a", "--dimension=x"],
        ["ncinfo", "--group=/"],
        ["nc3tonc4", "-o", "--quantize=fixed=1,a=1", "--vars=fixed,a", "--chunk=3"],
        ["nc3tonc4", "-o", "--classic=0", "--complevel=1", "--quiet=1", "--istart=2", "--istop=5"],
    ],
    ids=" ".join,
)
def test_commands(tmp_path, classic, arguments):
    name, *options = arguments
    targets = [tmp_path / "ours.nc", tmp_path / "theirs.nc"] if name != "ncinfo" else [None] * 2
    found = []
    for library, target in zip(("isotach", "netCDF4"), targets, strict=True):
        files = [classic, target] if target else [classic]
        found.append(command(library, name, *options, *files)[:2])
        if target:
            found[-1] += (facts(target).keys(),)
    assert found[0] == found[1]
    assert found[0][0] == 0


@pytest.mark.parametrize(
    ("arguments", "status", "complaint"),
    [
        (["ncinfo", "-v", "colour", "{}"], 1, "ncinfo: there is no variable 'colour' in "),
        (["ncinfo", "-g", "a/b", "{}"], 1, "ncinfo: there is no group 'a' in "),
        (["ncinfo", "nowhere.nc"], 1, "ncinfo: [Errno 2] No such file"),
        (["ncinfo", "-q", "{}"], 2, "usage: ncinfo"),
        (["nc3tonc4", "{}"], 2, "usage: nc3tonc4"),
        (["nc3tonc4", "--colour=1", "{}", "new.nc"], 2, "usage: nc3tonc4"),
        (["nc4tonc3", "{}", "new.nc"], 1, "nc4tonc3: input file must be in NETCDF4_CLASSIC"),
        (["nc4tonc3", "--format=NETCDF4", "{}", "new.nc"], 2, "usage: nc4tonc3"),
    ],
)
def test_wrong_calls(classic, arguments, status, complaint):
    name, *rest = (argument.format(classic) for argument in arguments)
    found = command("isotach", name, *rest)
    assert found[0] == status
    assert found[2].startswith(complaint)
