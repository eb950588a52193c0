"""What is asked of a file object: few reads, and none twice."""

import io
import subprocess
import sys
from pathlib import Path

import isotach
import netCDF4
import numpy as np
import pytest

MAKE = Path(__file__).with_name("make_data.py")
#: Reads in which a file of thousands of members can be listed whose structures lie together.
HANDFUL = 4


class CountingFile(io.BytesIO):
    """Bytes that note what was read of them."""

    def __init__(self, content):
        super().__init__(content)
        self.reads = []

    def read(self, size=-1):
        place = self.tell()
        content = super().read(size)
        self.reads.append((place, len(content)))
        return content

    @property
    def bytes_read(self):
        return sum(length for _, length in self.reads)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Files of make_data.py by their kind, each made once."""
    folder = tmp_path_factory.mktemp("made")

    def make(kind):
        path = folder / f"{kind}.nc"
        if not path.exists():
            subprocess.run([sys.executable, MAKE, kind, path], check=True)
        return path.read_bytes()

    return make


def listed(dataset):
    """Everything that a listing shows, values of variables aside."""
    return {
        name: (
            variable.dimensions,
            variable.shape,
            str(variable.dtype),
            {key: variable.getncattr(key) for key in variable.ncattrs()},
        )
        for name, variable in dataset.variables.items()
    }


def test_listing_takes_one_read(made, tmp_path):
    content = made("some-variables")
    file = CountingFile(content)
    with isotach.Dataset(file) as dataset:
        found = listed(dataset)
    assert file.reads == [(0, len(content))]
    path = tmp_path / "some.nc"
    path.write_bytes(content)
    with netCDF4.Dataset(path) as dataset:
        expected = listed(dataset)
    np.testing.assert_equal(found, expected)


@pytest.mark.parametrize("format", ["NETCDF4", "NETCDF3_CLASSIC"])
@pytest.mark.parametrize("library", [isotach, netCDF4])
def test_listing_of_what_begins_with_its_structures(library, format, tmp_path):
    path = tmp_path / "file.nc"
    with library.Dataset(path, "w", format=format) as dataset:
        dataset.createDimension("x", 16)
        for number in range(200):
            variable = dataset.createVariable(f"v{number}", "f8", ("x",))
            variable.setncatts({f"a{at}": f"value {at} of {number}" for at in range(10)})
            variable[:] = number
    file = CountingFile(path.read_bytes())
    with isotach.Dataset(file) as dataset:
        assert len(listed(dataset)) == 200
    # What is longer than the first read takes another.
    assert len(file.reads) <= 2, file.reads
    assert file.bytes_read <= path.stat().st_size * 1.1


@pytest.mark.parametrize("kind", ["many-variables", "many-attributes"])
def test_listing_thousands_takes_a_handful_of_reads(made, kind):
    content = made(kind)
    file = CountingFile(content)
    with isotach.Dataset(file) as dataset:
        assert len(listed(dataset)) >= 2000
    assert len(file.reads) <= HANDFUL, file.reads
    assert file.bytes_read <= len(content) * 1.1


@pytest.mark.parametrize("libver", ["earliest", "latest"])
def test_listing_what_h5py_wrote_takes_a_handful_of_reads(libver, tmp_path):
    h5py = pytest.importorskip("h5py")
    path = tmp_path / "many.h5"
    with h5py.File(path, "w", libver=libver) as file:
        for number in range(2000):
            variable = file.create_dataset(f"v{number:04}", data=np.arange(16.0))
            for at in range(10):
                variable.attrs[f"a{at}"] = f"value {at} of {number}"
    file = CountingFile(path.read_bytes())
    with isotach.Dataset(file) as dataset:
        assert len(listed(dataset)) == 2000
    assert len(file.reads) <= {"earliest": 6, "latest": 2}[libver], file.reads
    assert file.bytes_read <= path.stat().st_size * 1.1


def test_little_is_read_of_data_between_islands_of_structures(made):
    content = made("islands")
    file = CountingFile(content)
    with isotach.Dataset(file) as dataset:
        assert len(listed(dataset)) == 12
    # A call counts as much as 512 KiB.
    assert file.bytes_read <= 12 * 2 * (512 << 10), file.reads


def test_opening_costs_the_same_for_many_variables(made):
    few, many = CountingFile(made("some-variables")), CountingFile(made("many-variables"))
    for file in (few, many):
        isotach.Dataset(file).close()
    # The root header may lie in a block of its own.
    assert len(many.reads) <= len(few.reads) + 1, (few.reads, many.reads)


def test_one_variable_of_many_is_found_without_reading_all(made):
    file = CountingFile(made("many-variables"))
    with isotach.Dataset(file) as dataset:
        variable = dataset["v07777"]
        assert variable.long_name == "variable number 7777"
        assert variable.dimensions == ("time", "x")
        # Its shape takes all: an unlimited dimension is as long as its longest variable.
    assert file.bytes_read < len(file.getbuffer()) // 2, file.reads


def test_a_chunk_is_fetched_once(tmp_path):
    path = tmp_path / "chunks.nc"
    values = np.arange(64 * 64, dtype="f4").reshape(64, 64)
    with netCDF4.Dataset(path, "w") as dataset:
        dataset.createDimension("y", 64)
        dataset.createDimension("x", 64)
        variable = dataset.createVariable("v", "f4", ("y", "x"), zlib=True, chunksizes=(16, 16))
        variable[:] = values
    file = CountingFile(path.read_bytes())
    with isotach.Dataset(file) as dataset:
        variable = dataset["v"]
        # Positions that come back to the same chunks over and over.
        rows, columns = [0, 63, 1, 62, 2], [5, 40, 6, 41]
        np.testing.assert_array_equal(variable[rows, columns], values[np.ix_(rows, columns)])
        # The second time they come out of the cache.
        before = len(file.reads)
        np.testing.assert_array_equal(variable[rows, columns], values[np.ix_(rows, columns)])
        assert len(file.reads) == before
    # Once for itself, and once where structures were fetched that it lies beside.
    times = np.zeros(len(file.getbuffer()), int)
    for place, length in file.reads:
        times[place : place + length] += 1
    assert times.max() <= 2, file.reads
