"""The chunk indexes of HDF5 1.10, as we write them: libhdf5 finds each to be what it should be,
reads it, goes on with it, and we go on with that."""

import ctypes
import subprocess
from pathlib import Path

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
    subprocess.run([rust_example("write_latest"), path], check=True)
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


def keep_edges_plain(properties):
    """`H5Pset_chunk_opts` with `H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS`, by the libhdf5 that h5py has
    loaded."""
    maps = Path("/proc/self/maps")
    lines = maps.read_text().splitlines() if maps.exists() else []
    paths = {line.split()[-1] for line in lines if "libhdf5" in line and "_hl" not in line}
    for path in sorted(path for path in paths if "h5py" in path):
        ctypes.CDLL(path).H5Pset_chunk_opts(ctypes.c_int64(properties.id), ctypes.c_uint(2))
        return
    pytest.skip("h5py's libhdf5 is not a library of its own here")


@pytest.mark.parametrize("how", ["appended", "appended to another", "one by one"])
def test_chunks_that_were_at_the_edge_are_filtered_when_it_moves(tmp_path, how):
    path = tmp_path / "edges.h5"
    with h5py.File(path, "w", libver=("v110", "v110")) as file:
        for name in ("v", "w"):
            properties = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
            properties.set_chunk((4, 4))
            properties.set_deflate(3)
            keep_edges_plain(properties)
            space = h5py.h5s.create_simple((6, 6), (h5py.h5s.UNLIMITED, 6))
            kind = h5py.h5t.py_create(np.dtype("i4"))
            h5py.h5d.create(file.id, name.encode(), kind, space, dcpl=properties)
            file[name][:] = np.arange(36).reshape(6, 6)
            # As it is, and filtered.
            assert len(file[name].id.read_direct_chunk((4, 0))[1]) == 64
            assert len(file[name].id.read_direct_chunk((0, 0))[1]) < 64
    with isotach.Dataset(path, "a") as dataset:
        if how == "appended":
            dataset["v"][6:11] = 7
        elif how == "appended to another":
            dataset["w"][6:11] = 7
        else:
            for row in range(6, 11):
                dataset["v"][row] = 7
                dataset.sync()
    grown, other = ("w", "v") if how == "appended to another" else ("v", "w")
    expected = np.concatenate([np.arange(36).reshape(6, 6), np.full((5, 6), 7)])
    with h5py.File(path) as file:
        np.testing.assert_array_equal(file[grown][:], expected)
        np.testing.assert_array_equal(file[other][:], expected[:6])
    with isotach.Dataset(path) as dataset:
        np.testing.assert_array_equal(dataset[grown][:], expected)
    run("h5dump", path)
