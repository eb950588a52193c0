"""Where bytes come from, and programs that were written for netCDF4-python."""

import importlib
import io
import pickle
import subprocess
import sys
import textwrap
import zipfile

import fsspec
import isotach
import netCDF4
import numpy as np
import pytest
from conftest import differ, outcome


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "file.nc"
    with netCDF4.Dataset(path, "w") as dataset:
        dataset.createDimension("y", 50)
        dataset.createDimension("x", 40)
        dataset.createVariable("v", "f8", ("y", "x"), zlib=True)[:] = np.arange(2000.0).reshape(
            50, 40
        )
        dataset.createVariable("plain", "i2", ("y",))[:] = range(50)
    return path


def check(dataset):
    np.testing.assert_array_equal(dataset["v"][:], np.arange(2000.0).reshape(50, 40))
    np.testing.assert_array_equal(dataset["plain"][::-2], np.arange(50)[::-2])


def test_file_systems(path):
    memory = fsspec.filesystem("memory")
    memory.pipe("/file.nc", path.read_bytes())
    cached = {"block_size": 256, "cache_type": "readahead"}
    for options in ({}, {"cache_options": {}}, cached):
        with memory.open("/file.nc", "rb", **options) as file, isotach.Dataset(file) as dataset:
            check(dataset)
    with fsspec.open(f"file://{path}", "rb") as file, isotach.Dataset(file) as dataset:
        check(dataset)
    not_open_yet = fsspec.open(f"file://{path}", "rb")
    with isotach.Dataset(not_open_yet) as dataset:
        check(dataset)
        check(pickle.loads(pickle.dumps(dataset)))


def test_compressed_files(path, tmp_path):
    archive = tmp_path / "files.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as files:
        files.write(path, "inside.nc")
    with (
        zipfile.ZipFile(archive) as files,
        files.open("inside.nc") as file,
        isotach.Dataset(file) as dataset,
    ):
        check(dataset)


class Slow(io.RawIOBase):
    """A file that hands out a few bytes at a time, as sockets and pipes do."""

    def __init__(self, content, most=777):
        self.inside, self.most = io.BytesIO(content), most

    def seek(self, *arguments):
        return self.inside.seek(*arguments)

    def tell(self):
        return self.inside.tell()

    def read(self, size=-1):
        return self.inside.read(min(size, self.most))


class Strange(Slow):
    """Not bytes, but something like them."""

    def read(self, size=-1):
        return bytearray(self.inside.read(size))


class Short(Slow):
    """Says that it is longer than it is."""

    def read(self, size=-1):
        return b"" if self.tell() > 1000 else super().read(size)


def test_odd_file_objects(path):
    content = path.read_bytes()
    with isotach.Dataset(Slow(content)) as dataset:
        check(dataset)
    for odd in (Strange, Short):
        with pytest.raises((OSError, RuntimeError, TypeError)):
            isotach.Dataset(odd(content))["v"][:]
    with pytest.raises(OSError, match="Unknown file format"):
        isotach.Dataset(io.BytesIO(b"not a file of arrays"))


def test_memory_that_changes_is_copied(path):
    content = bytearray(path.read_bytes())
    with isotach.Dataset(content) as dataset:
        content[:] = bytes(len(content))
        check(dataset)


def test_a_user_block(path):
    """Files behind other bytes, at each place where HDF5 looks."""
    for place in (512, 1024, 2048):
        with isotach.Dataset(bytes(place) + path.read_bytes()) as dataset:
            check(dataset)


PROGRAM = textwrap.dedent(
    """
    import sys
    import numpy as np
    import {library} as netCDF4
    from {library} import Dataset, MFDataset, num2date, date2num, chartostring, Variable

    nc = Dataset(sys.argv[1], "r")
    try:
        print(nc.data_model, nc.file_format, nc.disk_format, nc.isopen(), nc.filepath())
        for attname in nc.ncattrs():
            print("global attr", attname, "=", getattr(nc, attname))
        for dim in nc.dimensions.values():
            print(dim.name, dim.size, len(dim), dim.isunlimited())
        for name, var in nc.variables.items():
            assert isinstance(var, Variable)
            print(name, var.dimensions, var.shape, var.dtype, var.ndim, var.size, len(var))
            print(var.ncattrs(), var.__dict__, var.chunking(), var.filters(), var.endian())
            data = var[:]
            print(np.ma.isMaskedArray(data), data.sum(), data.dtype)
            print(np.asarray(var).shape, var[0], var[-1], var[..., 0])
        nc.set_auto_mask(False)
        times = nc.variables["time"]
        print(num2date(times[:], units=times.units, calendar=times.calendar)[0])
        print(nc.get_variables_by_attributes(units=lambda u: u is not None)[0].name)
        print(netCDF4.default_fillvals["f4"], netCDF4.__name__ != "")
    finally:
        nc.close()
    try:
        nc.variables["time"][:]
    except RuntimeError as error:
        print(error)
    """
)


def test_a_program_runs_unchanged(tmp_path):
    path = tmp_path / "file.nc"
    with netCDF4.Dataset(path, "w") as dataset:
        dataset.setncatts({"title": "a title", "numbers": np.arange(3)})
        dataset.createDimension("time", None)
        dataset.createDimension("x", 3)
        time = dataset.createVariable("time", "f8", ("time",))
        time.setncatts({"units": "hours since 1990-02-03", "calendar": "noleap"})
        time[:] = [0, 6]
        values = dataset.createVariable("t2m", "i2", ("time", "x"), zlib=True, fill_value=-9)
        values.setncatts({"scale_factor": 0.1, "add_offset": 270.0, "units": "K"})
        values[:] = [[270, 271, 272], [273, 274, 275]]
    printed = [
        subprocess.run(
            [sys.executable, "-c", PROGRAM.format(library=library), path],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for library in ("isotach", "netCDF4")
    ]
    # Filters whose plugins netCDF4-python has not found are left out by it.
    assert printed[0].splitlines() == printed[1].splitlines()


def test_the_interface_is_all_there():
    """What netCDF4-python's classes have for reading, ours have."""
    for name in ("Dataset", "Group", "Variable", "Dimension", "MFDataset", "MFTime"):
        theirs, ours = getattr(netCDF4, name), getattr(isotach, name)
        missing = {key for key in dir(theirs) if not key.startswith("_")} - set(dir(ours))
        assert missing == set(), name


def test_types_are_documented():
    assert importlib.resources.files(isotach).joinpath("py.typed").is_file()
    assert importlib.resources.files(isotach).joinpath("_native.pyi").is_file()


def mfdataset_calls():
    return {
        "no files": lambda library, files: library.MFDataset([]),
        "a file that is not there": lambda library, files: library.MFDataset([*files, "none.nc"]),
        "no such dimension": lambda library, files: library.MFDataset(files, aggdim="nothing"),
        "one dimension": lambda library, files: library.MFDataset(files, aggdim="time")["v"][:],
        "excluded": lambda library, files: library.MFDataset(files, exclude=["v"])["v"].shape,
        "a master": lambda library, files: library.MFDataset(files, master_file=files[1])["v"][:],
        "backward": lambda library, files: library.MFDataset(files)["v"][::-1],
        "too many": lambda library, files: library.MFDataset(files)["v"][0, 0, 0],
        "lengths": lambda library, files: len(library.MFDataset(files).dimensions["time"]),
        "models": lambda library, files: library.MFDataset(files).data_model,
    }


@pytest.mark.parametrize("call", mfdataset_calls())
def test_many_files(tmp_path, call):
    files = []
    for number in range(3):
        files.append(str(tmp_path / f"{number}.nc"))
        with netCDF4.Dataset(files[-1], "w", format="NETCDF3_CLASSIC") as dataset:
            dataset.createDimension("time", None)
            dataset.createDimension("x", 2)
            variable = dataset.createVariable("v", "f4", ("time", "x"))
            variable[:] = np.arange(4).reshape(2, 2) + number
    work = mfdataset_calls()[call]
    (ours, _), (theirs, _) = (outcome(lambda: work(lib, files)) for lib in (isotach, netCDF4))  # noqa: B023
    assert differ(ours, theirs) is None
