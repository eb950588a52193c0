"""File objects of which any single read fails: the usual answer, or `OSError`."""

import errno
import io
import os

import isotach
import netCDF4
import numpy as np
import pytest
import xarray as xr

#: Reads that fail, one at a time, of each file; all of them where there is time.
POSITIONS = None if os.environ.get("ISOTACH_LONG_TESTS") else 12


class Failing(io.RawIOBase):
    """Bytes of which one read fails, or all from one on; or one gives less than there is."""

    def __init__(self, content, fails_at=None, how="once"):
        self.content, self.place, self.reads = content, 0, 0
        self.fails_at, self.how = fails_at, how

    def readable(self):
        return True

    def seekable(self):
        return True

    def seek(self, offset, whence=0):
        self.place = (0, self.place, len(self.content))[whence] + offset
        return self.place

    def tell(self):
        return self.place

    def read(self, size=-1):
        number, self.reads = self.reads, self.reads + 1
        is_due = self.fails_at is not None and (
            number >= self.fails_at if self.how == "ever" else number == self.fails_at
        )
        if is_due and self.how == "short":
            return b""
        if is_due:
            raise OSError(errno.EIO, "Input/output error")
        end = len(self.content) if size < 0 else self.place + size
        found = bytes(self.content[self.place : end])
        self.place += len(found)
        return found


def through_dataset(dataset):
    """All that a dataset has."""
    told = []

    def look(group):
        told.extend((name, len(found)) for name, found in group.dimensions.items())
        told.extend((name, repr(group.getncattr(name))) for name in group.ncattrs())
        told.extend([*group.cmptypes, *group.vltypes, *group.enumtypes])
        for name, variable in group.variables.items():
            told.append((name, str(variable.dtype), variable.dimensions, variable.shape))
            told.append((variable.chunking(), variable.filters()))
            told.extend((name, repr(variable.getncattr(name))) for name in variable.ncattrs())
            told.append(np.ma.getdata(variable[...]).tolist())
        for below in group.groups.values():
            told.append(below.path)
            look(below)

    look(dataset)
    return repr(told)


def through_xarray(dataset):
    """All that a dataset of xarray has."""
    told = [dataset.attrs, dict(dataset.sizes)]
    for name, variable in dataset.variables.items():
        told.append((name, variable.dims, str(variable.dtype), variable.attrs))
        told.append(variable.values.tolist())
    return repr(told)


def opened_by_dataset(source):
    return isotach.Dataset(source)


def opened_by_xarray(source):
    return xr.open_dataset(source, engine="isotach", cache=False)


FACES = {
    "Dataset": (opened_by_dataset, through_dataset),
    "xarray": (opened_by_xarray, through_xarray),
}


@pytest.fixture(scope="module", params=["NETCDF4", "NETCDF4_CLASSIC", "NETCDF3_64BIT_OFFSET"])
def content(request, tmp_path_factory):
    """A file with so much between its structures that it is not read at once."""
    path = tmp_path_factory.mktemp("failing") / "file.nc"
    rng = np.random.default_rng(0)
    with netCDF4.Dataset(path, "w", format=request.param) as file:
        file.title = "all of it"
        file.createDimension("time", None)
        file.createDimension("x", 500)
        x = file.createVariable("x", "f8", "x")
        x[:] = np.arange(500)
        is_hdf5 = request.param.startswith("NETCDF4")
        packed = {"zlib": True, "chunksizes": (3, 500)} if is_hdf5 else {}
        for number in range(12):
            variable = file.createVariable(f"v{number}", "f8", ("time", "x"), **packed)
            variable[:] = rng.random((9, 500))
            variable.setncatts({f"attribute {n}": n for n in range(20)})
        if request.param == "NETCDF4":
            file.createVariable("words", str, "x")[:] = np.array(["word"] * 500, object)
            file.createGroup("below").createVariable("deeper", "i4", "x")[:] = np.arange(500)
    return path.read_bytes()


@pytest.mark.parametrize("face", FACES)
def test_the_answer_is_the_same_or_an_error(content, face):
    open_by, look = FACES[face]
    source = Failing(content)
    with open_by(source) as dataset:
        expected = look(dataset)
    tried, failed = 0, 0
    step = -(-source.reads // POSITIONS) if POSITIONS else 1
    for how in ("once", "ever", "short"):
        for position in range(0, source.reads, step):
            tried += 1
            place = f"{how}, read {position} of {source.reads}"
            failing = Failing(content, position, how)
            try:
                dataset = open_by(failing)
            except OSError as error:
                failed += 1
                assert error.errno == errno.EIO, place
                continue
            try:
                assert look(dataset) == expected, place
            except OSError as error:
                failed += 1
                assert error.errno == errno.EIO and error.filename, place
            failing.fails_at = None
            assert look(dataset) == expected, f"{place}, afterwards"
            dataset.close()
    assert failed > tried / 2 > 5, f"{failed} of {tried}"


def test_what_is_no_group_is_told_from_what_cannot_be_read(tmp_path, monkeypatch):
    path = tmp_path / "file.nc"
    isotach.to_netcdf(xr.Dataset({"v": ("t", np.arange(3))}), path)
    with pytest.raises(OSError, match="group not found"):
        xr.open_dataset(path, engine="isotach", group="none")
    part = xr.Dataset({"v": ("t", np.arange(3, 6))})
    isotach.to_netcdf(part, path, mode="a", group="new", append_dim="t")
    with netCDF4.Dataset(path) as file:
        assert file["new/v"][:].tolist() == [3, 4, 5]

    def fails(*_):
        raise OSError(errno.EIO, "Input/output error", str(path))

    with monkeypatch.context() as failing, pytest.raises(OSError) as raised:
        failing.setattr("isotach.xarray_backend._group", fails)
        isotach.to_netcdf(part, path, mode="a", group="new", append_dim="t")
    assert raised.value.errno == errno.EIO
    with netCDF4.Dataset(path) as file:
        assert file["new/v"][:].tolist() == [3, 4, 5]
