"""The chunk indexes of HDF5 1.10, as we write them: libhdf5 finds each to be what it should be,
reads it, goes on with it, and we go on with that."""

import subprocess

import h5py
import isotach
import netCDF4
import numpy as np
import pytest
from test_tools import look_at_hdf5, run

KINDS = ["Single Chunk", "Fixed Array", "Fixed Array of pages", "Extensible Array", "v2 B-tree"]
NAMES = [name + filtered for name in KINDS for filtered in ("", ", filtered")]
GROWING = [name for name in NAMES if name.startswith(("Extensible", "v2"))]
MOST_COLUMNS = 20


@pytest.fixture(scope="module")
def written(rust_example, tmp_path_factory):
    path = tmp_path_factory.mktemp("latest") / "latest.nc"
    subprocess.run([rust_example("isotach", "write_latest"), path], check=True)
    return path


@pytest.fixture
def path(written, tmp_path):
    copy = tmp_path / "copy.nc"
    copy.write_bytes(written.read_bytes())
    return copy


def expected(dataset):
    return np.arange(np.prod(dataset.shape)).reshape(dataset.shape)


def test_tools_are_content(path):
    look_at_hdf5(path)
    run("ncdump", path)


@pytest.mark.parametrize("name", NAMES)
def test_libhdf5_finds_the_index(path, name):
    with h5py.File(path) as file:
        address = h5py.h5o.get_info(file[name].id).addr
        np.testing.assert_array_equal(file[name][:], expected(file[name]))
        chunks = np.ceil(np.divide(file[name].shape, file[name].chunks))
        assert file[name].id.get_num_chunks() == chunks.prod()
    header = run("h5debug", path, address)
    kind = next(line for line in header.splitlines() if "Index Type:" in line).split(":")[1]
    assert kind.strip() == name.split(",")[0].removesuffix(" of pages")


@pytest.mark.parametrize("library", [netCDF4, isotach])
def test_netcdf_reads_it(path, library):
    with library.Dataset(path) as dataset:
        for name in NAMES:
            np.testing.assert_array_equal(dataset[name][:], expected(dataset[name]))


@pytest.mark.parametrize("name", GROWING)
def test_others_go_on_with_it(path, name):
    """libhdf5 appends, we append and overwrite, libhdf5 overwrites; all see all of it."""
    with h5py.File(path, "r+") as file:
        model = file[name][:]
        more = np.arange(30 * MOST_COLUMNS).reshape(30, MOST_COLUMNS)
        file[name].resize(330, axis=0)
        file[name][300:] = more
        model = np.concatenate([model, more])
    with isotach.Dataset(path, "a") as dataset:
        np.testing.assert_array_equal(dataset[name][:], model)
        dataset[name][330:400] = 7
        dataset[name][100:200:7, 3:9] = -1
    model = np.concatenate([model, np.full((70, MOST_COLUMNS), 7)])
    model[100:200:7, 3:9] = -1
    with h5py.File(path, "r+") as file:
        np.testing.assert_array_equal(file[name][:], model)
        file[name][390:, 0] = 8
        model[390:, 0] = 8
    for library in (netCDF4, isotach):
        with library.Dataset(path) as dataset:
            np.testing.assert_array_equal(dataset[name][:], model)
    look_at_hdf5(path)


def test_python_writes_it(tmp_path):
    """Of a grid that cannot grow, libhdf5 finds a fixed array where files are usually trees."""
    for form, kind in (("latest", "Fixed Array"), ("NETCDF4", "v1 B-tree")):
        path = tmp_path / f"{form}.nc"
        with isotach.Dataset(path, "w", format=form) as dataset:
            assert dataset.data_model == "NETCDF4"
            dataset.createDimension("x", 30)
            variable = dataset.createVariable("v", "i4", ("x",), zlib=True, chunksizes=(4,))
            variable[:] = np.arange(30)
        with h5py.File(path) as file:
            address = h5py.h5o.get_info(file["v"].id).addr
            np.testing.assert_array_equal(file["v"][:], np.arange(30))
        assert f"Index Type: {kind}" in " ".join(run("h5debug", path, address).split())
