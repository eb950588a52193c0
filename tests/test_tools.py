"""The tools that people have, over files written by us: no warning, and the values stay.

`nccopy`, NCO, CDO and HDF5's own tools. A tool that is not installed is said aloud.
"""

import shutil
import subprocess

import h5py
import isotach
import netCDF4
import numpy as np
import pytest
from test_writing import FORMATS, plain

HDF5_FORMATS = [format for format in FORMATS if format.startswith("NETCDF4")]
#: What `nccopy -k` calls the formats.
KINDS = {
    "NETCDF3_CLASSIC": "classic",
    "NETCDF3_64BIT_OFFSET": "64-bit offset",
    "NETCDF3_64BIT_DATA": "cdf5",
    "NETCDF4": "netCDF-4",
    "NETCDF4_CLASSIC": "netCDF-4 classic model",
}
RECORDS, ROWS, COLUMNS = 4, 5, 6


def run(tool, *arguments):
    """What a tool says on its standard output; it has nothing to say elsewhere."""
    if shutil.which(tool) is None:
        pytest.skip(f"{tool} is not installed: see tools/debian-packages")
    command = [tool, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=60)
    assert done.returncode == 0, (command, done.stderr)
    assert not done.stderr, (command, done.stderr)
    assert "warning" not in done.stdout.lower(), (command, done.stdout)
    return done.stdout


def wind(records):
    cells = np.arange(records * ROWS * COLUMNS, dtype="f4").reshape(records, ROWS, COLUMNS)
    return np.sin(cells / 7) * 10


def write(path, format="NETCDF4", first=0, groups=False, types=False, letters=True):
    """A file such as a climate model writes: a grid, records, packed and filtered values."""
    with isotach.Dataset(path, "w", format=format) as dataset:
        dataset.Conventions = "CF-1.8"
        dataset.title = "winds"
        for name, size in (("time", None), ("lat", ROWS), ("lon", COLUMNS), ("letters", 8)):
            dataset.createDimension(name, size)
        coordinate(dataset, "time", "f8", "days since 2000-01-01", np.arange(RECORDS) + first)
        dataset["time"].calendar = "standard"
        coordinate(dataset, "lat", "f4", "degrees_north", np.linspace(-60, 60, ROWS))
        coordinate(dataset, "lon", "f4", "degrees_east", np.linspace(0, 300, COLUMNS))
        grid = ("time", "lat", "lon")
        is_hdf5 = format.startswith("NETCDF4")
        filters = {"zlib": True, "shuffle": True, "fletcher32": True} if is_hdf5 else {}
        speed = dataset.createVariable("speed", "f4", grid, fill_value=-9.0, **filters)
        speed.setncatts({"units": "m s-1", "long_name": "speed of the wind"})
        speed[:] = wind(RECORDS) + first
        packed = dataset.createVariable("packed", "i2", grid, fill_value=-999)
        packed.setncatts({"units": "K", "scale_factor": 0.01, "add_offset": 273.15})
        packed[:] = wind(RECORDS) + 273
        mask = dataset.createVariable("mask", "i4", ("lat", "lon"))
        mask[:] = np.arange(ROWS * COLUMNS).reshape(ROWS, COLUMNS) % 2
        if letters:
            station = dataset.createVariable("station", "S1", ("lat", "letters"))
            station[:] = netCDF4.stringtochar(np.array([f"lat {row}" for row in range(ROWS)], "S8"))
        if groups:
            add_groups(dataset)
        if types:
            add_types(dataset)
    return path


def coordinate(dataset, name, code, units, values):
    variable = dataset.createVariable(name, code, (name,))
    variable.units = units
    variable.standard_name = {"lat": "latitude", "lon": "longitude"}.get(name, name)
    variable[:] = values


def add_groups(dataset):
    below = dataset.createGroup("forecast")
    below.setncattr("model", "a model")
    below.createDimension("member", None)
    members = below.createVariable("members", "f8", ("member", "lat"), compression="zlib")
    members[:] = np.arange(3 * ROWS).reshape(3, ROWS)
    deeper = below.createGroup("check")
    deeper.createVariable("count", "i8", ())[...] = 2**40


def add_types(dataset):
    dataset.createDimension("word", None)
    words = dataset.createVariable("words", str, ("word",))
    words[:] = np.array(["one", "zwei", "três", ""], object)
    inner = np.dtype([("a", "i2"), ("b", "f8", (2,))], align=True)
    outer = np.dtype([("i", inner), ("name", "S6"), ("n", "u1")], align=True)
    dataset.createCompoundType(inner, "inner")
    kept = dataset.createVariable("kept", dataset.createCompoundType(outer, "outer"), ("word",))
    values = np.zeros(4, outer)
    values["i"]["a"], values["n"], values["name"] = np.arange(4), 200, b"name"
    kept[:] = values
    colour = dataset.createEnumType("u1", "colour", {"red": 0, "green": 1})
    dataset.createVariable("colours", colour, ("lat",), fill_value=0)[1:3] = 1
    series = dataset.createVariable("series", dataset.createVLType("i4", "list"), ("lat",))
    for row in range(ROWS):
        series[row] = np.arange(row, dtype="i4")


def values_of(path, *names):
    """Values as they are stored, by path of the variable."""
    with netCDF4.Dataset(path) as dataset:
        dataset.set_auto_maskandscale(False)
        dataset.set_auto_chartostring(False)
        return {name: plain(dataset[name][...]) for name in names}


NAMES = ("time", "lat", "lon", "speed", "packed", "mask", "station")


def same_values(one, other, *names):
    assert values_of(one, *(names or NAMES)) == values_of(other, *(names or NAMES))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("format", FORMATS)
def test_nccopy_to_every_format(tmp_path, format, kind):
    ours = write(tmp_path / "ours.nc", format)
    run("nccopy", "-k", KINDS[kind], ours, tmp_path / "copy.nc")
    same_values(ours, tmp_path / "copy.nc")


@pytest.mark.parametrize(
    "options",
    [["-d", 5], ["-d", 1, "-s"], ["-c", "time/1,lat/5,lon/2"], ["-u"], ["-w"], ["-h", 1]],
    ids=lambda options: "".join(map(str, options)).replace("/", "_"),
)
@pytest.mark.parametrize("format", HDF5_FORMATS)
def test_nccopy_with_options(tmp_path, format, options):
    # nccopy cannot deflate variables of strings, nor put user-defined types into the classic model.
    enhanced = format == "NETCDF4" and options != ["-u"]
    types = enhanced and options[0] != "-d"
    ours = write(tmp_path / "ours.nc", format, groups=enhanced, types=types)
    if options == ["-u"]:
        # nccopy keeps chunks, and takes none that are longer than a dimension that is fixed now.
        run("nccopy", "-c", "time/1", ours, tmp_path / "short.nc")
        ours = tmp_path / "short.nc"
    run("nccopy", *options, ours, tmp_path / "copy.nc")
    names = NAMES
    if enhanced:
        names += ("forecast/members", "forecast/check/count")
    if types:
        names += ("words", "kept", "colours", "series")
    same_values(ours, tmp_path / "copy.nc", *names)


@pytest.mark.parametrize("format", FORMATS)
def test_nco(tmp_path, format):
    ours = write(tmp_path / "ours.nc", format)
    later = write(tmp_path / "later.nc", format, first=RECORDS)
    out = tmp_path / "out.nc"
    run("ncks", "-O", ours, out)
    same_values(ours, out)
    run("ncks", "-O", "-d", "time,1,2", "-v", "speed", ours, out)
    with netCDF4.Dataset(out) as cut:
        np.testing.assert_array_equal(cut["speed"][:], wind(RECORDS)[1:3])
    run("ncrcat", "-O", ours, later, out)
    with netCDF4.Dataset(out) as joined:
        np.testing.assert_array_equal(joined["time"][:], np.arange(2 * RECORDS))
        np.testing.assert_array_equal(joined["speed"][RECORDS:], wind(RECORDS) + RECORDS)
    run("ncpdq", "-O", "-a", "lon,lat", "-v", "mask", ours, out)
    with netCDF4.Dataset(out) as turned, netCDF4.Dataset(ours) as dataset:
        np.testing.assert_array_equal(turned["mask"][:], dataset["mask"][:].T)
    run("ncap2", "-O", "-s", "twice=speed*2", ours, out)
    with netCDF4.Dataset(out) as more:
        np.testing.assert_array_equal(more["twice"][:], wind(RECORDS) * 2)
    run("ncra", "-O", "-v", "speed", ours, out)
    with netCDF4.Dataset(out) as mean:
        np.testing.assert_allclose(mean["speed"][0], wind(RECORDS).mean(axis=0), atol=1e-5)


@pytest.mark.parametrize("format", FORMATS)
def test_nco_changes_our_file(tmp_path, format):
    """In place: what NCO appends, renames and sets stands in the file that we wrote."""
    ours = write(tmp_path / "ours.nc", format)
    with isotach.Dataset(tmp_path / "more.nc", "w", format=format) as more:
        more.createDimension("lat", ROWS)
        more.createVariable("height", "f4", ("lat",))[:] = np.arange(ROWS)
    run("ncks", "-A", tmp_path / "more.nc", ours)
    # "." lets NCO pass by what is not there.
    run("ncrename", "-d", "letters,characters", "-v", "mask,land", ours)
    run("ncrename", "-a", "speed@long_name,name_of_it", ours)
    run("ncatted", "-a", "units,speed,m,c,knots", "-a", "title,global,d,,", ours)
    run("ncatted", "-a", "history_of,global,c,c,changed", "-a", "valid_min,land,c,l,0", ours)
    for library in (netCDF4, isotach):
        with library.Dataset(ours) as dataset:
            assert list(dataset.dimensions) == ["time", "lat", "lon", "characters"]
            np.testing.assert_array_equal(dataset["height"][:], np.arange(ROWS))
            np.testing.assert_array_equal(dataset["speed"][:], wind(RECORDS))
            assert dataset["land"].dimensions == ("lat", "lon")
            assert dataset["land"].valid_min == 0
            assert (dataset["speed"].units, dataset.history_of) == ("knots", "changed")
            assert dataset["speed"].name_of_it == "speed of the wind"
            assert "title" not in dataset.ncattrs()
    with isotach.Dataset(ours, "a") as dataset:
        dataset["speed"][RECORDS] = 1
        dataset.title = "again"
    with netCDF4.Dataset(ours) as dataset:
        assert dataset["speed"][:].sum() == pytest.approx(wind(RECORDS).sum() + ROWS * COLUMNS)
        assert dataset.title == "again"


def test_nco_and_groups(tmp_path):
    ours = write(tmp_path / "ours.nc", groups=True)
    run("ncks", "-O", ours, tmp_path / "out.nc")
    same_values(ours, tmp_path / "out.nc", *NAMES, "forecast/members", "forecast/check/count")
    run("ncks", "-O", "-g", "forecast", ours, tmp_path / "out.nc")
    same_values(ours, tmp_path / "out.nc", "forecast/members", "forecast/check/count")
    run("ncrename", "-g", "/forecast,prediction", ours)
    run("ncrename", "-g", "/prediction/check,test", ours)
    with isotach.Dataset(ours) as dataset:
        assert dataset["prediction/test/count"][...] == 2**40
        assert dataset["prediction/members"].dimensions == ("member", "lat")


@pytest.mark.parametrize("format", FORMATS)
def test_cdo(tmp_path, format):
    # CDO leaves out what is made of letters, and says so.
    ours = write(tmp_path / "ours.nc", format, letters=False)
    later = write(tmp_path / "later.nc", format, first=RECORDS, letters=False)
    out = tmp_path / "out.nc"
    fields = ("-s", "-L", "-O")
    assert "speed" in run("cdo", *fields, "sinfon", ours)
    run("cdo", *fields, "copy", "-selname,speed", ours, out)
    same_values(ours, out, "speed")
    for operator, files in (("cat", [ours, later]), ("mergetime", [later, ours])):
        run("cdo", *fields, operator, *files, out)
        with netCDF4.Dataset(out) as joined:
            np.testing.assert_array_equal(joined["time"][:], np.arange(2 * RECORDS))
            np.testing.assert_array_equal(joined["speed"][:RECORDS], wind(RECORDS))
            np.testing.assert_array_equal(joined["speed"][RECORDS:], wind(RECORDS) + RECORDS)
        out.unlink()
    run("cdo", *fields, "timmean", "-selname,speed", ours, out)
    with netCDF4.Dataset(out) as mean:
        np.testing.assert_allclose(mean["speed"][0], wind(RECORDS).mean(axis=0), atol=1e-5)
    run("cdo", *fields, "-f", "nc4", "-z", "zip_4", "copy", ours, out)
    same_values(ours, out, "speed")


@pytest.mark.parametrize("format", HDF5_FORMATS)
def test_the_tools_of_hdf5(tmp_path, format):
    enhanced = format == "NETCDF4"
    ours = write(tmp_path / "ours.nc", format, groups=enhanced, types=enhanced)
    look_at_hdf5(ours)
    ours = write(tmp_path / "ours.nc", format, groups=enhanced)
    for name, options in (("same", []), ("other", ["-f", "GZIP=5", "-l", "CHUNK=2x5x6"])):
        repacked = tmp_path / f"{name}.nc"
        run("h5repack", *options, ours, repacked)
        run("h5diff", ours, repacked)
        same_values(ours, repacked)


def look_at_hdf5(path):
    """Everything that HDF5's tools can say of a file."""
    dumped = run("h5dump", path)
    assert "unable" not in dumped, dumped
    run("h5dump", "-p", "-H", path)
    run("h5stat", path)
    run("h5ls", "-r", "-v", path)
    run("h5debug", path)
    with h5py.File(path) as file:
        root = h5py.h5o.get_info(file.id).addr
    assert "Object Header" in run("h5debug", path, root)


EVERY_TYPE = """netcdf everything {
types:
  byte enum colour { red = 0, green = 1, blue = -1 };
  opaque(11) blob;
  int(*) list;
  compound pair { int a; double b(2, 3); char name(4); };
  compound outer { pair p; colour c; blob o; };
  pair(*) pairs;
dimensions:
  x = 3;
  t = UNLIMITED;
variables:
  colour c(t);
  blob o(x);
  list l(t, x);
  outer s(x);
  pairs ps(x);
  string w(x);
  uint64 big;
  colour c:a = red, blue;
  blob o:a = 0x0102030405060708090a0b;
  list l:a = {1, 2, 3}, {};
  pair ps:a = {1, {1, 2, 3, 4, 5, 6}, {"abcd"}};
  string w:a = "one", "", "three";
  string :none = "";
data:
  c = red, green;
  o = 0x0102030405060708090a0b, 0x00, 0xffffffffffffffffffffff;
  l = {1}, {}, {2, 3}, {4, 5, 6}, {}, {7};
  s = {{1, {1, 2, 3, 4, 5, 6}, {"ab"}}, green, 0x01}, {{2, {6, 5, 4, 3, 2, 1}, {"cd"}}, blue, 0x02},
      {{3, {0, 0, 0, 0, 0, 0}, {""}}, red, 0x03};
  ps = {{1, {1, 2, 3, 4, 5, 6}, {"ab"}}}, {},
       {{2, {1, 2, 3, 4, 5, 6}, {"ab"}}, {3, {0, 0, 0, 0, 0, 0}, {""}}};
  w = "a", "", "longer than a pointer, and with é";
  big = 18446744073709551615;
group: g {
  dimensions:
    x = 2;
  variables:
    short v(x);
  data:
    v = 1, 2;
}
}
"""


def test_every_type_that_cdl_knows(tmp_path):
    text, ours = tmp_path / "everything.cdl", tmp_path / "everything.nc"
    text.write_text(EVERY_TYPE)
    assert isotach._native.command(["generate", "-k", "nc4", "-o", str(ours), str(text)]) == 0
    look_at_hdf5(ours)
    dumped = run("ncdump", ours)
    run("nccopy", ours, tmp_path / "copy.nc")
    assert run("ncdump", "-n", "everything", tmp_path / "copy.nc") == dumped
