"""Complex numbers as HDF5 2.0, h5py and netCDF4-python store them."""

import subprocess

import h5py
import isotach
import netCDF4
import numpy as np
import pytest
from h5py import h5d, h5p, h5s, h5t
from test_copy import COMMAND, copy

VALUES = np.array([1 + 2j, -3.5, 4j, 0, complex(np.inf, -1)])
#: The types of HDF5 2.0, and what they are in NumPy.
NATIVE = {
    "COMPLEX_IEEE_F64LE": "c16",
    "COMPLEX_IEEE_F64BE": "c16",
    "COMPLEX_IEEE_F32LE": "c8",
    "COMPLEX_IEEE_F32BE": "c8",
}

pytestmark = pytest.mark.skipif(
    not hasattr(h5t, "COMPLEX_IEEE_F64LE"), reason="h5py is built with HDF5 before 2.0"
)


def in_memory(code):
    return h5t.NATIVE_DOUBLE_COMPLEX if code == "c16" else h5t.NATIVE_FLOAT_COMPLEX


def make(path, name, code):
    with h5py.File(path, "w") as file:
        properties = h5p.create(h5p.DATASET_CREATE)
        properties.set_chunk((2,))
        properties.set_deflate(4)
        space = h5s.create_simple(VALUES.shape)
        made = h5d.create(file.id, b"z", getattr(h5t, name), space, dcpl=properties)
        made.write(h5s.ALL, h5s.ALL, VALUES.astype(code), mtype=in_memory(code))
        file["pairs"] = VALUES.astype(code)


def command(*arguments):
    return subprocess.run(
        [COMMAND, *arguments], capture_output=True, text=True, check=True, timeout=60
    ).stdout


@pytest.mark.parametrize(("name", "code"), NATIVE.items())
def test_complex_numbers_of_hdf5(tmp_path, name, code):
    path = tmp_path / "complex.h5"
    make(path, name, code)
    expected = VALUES.astype(code)
    with isotach.Dataset(path, auto_complex=True) as dataset:
        for variable in (dataset["z"], dataset["pairs"]):
            assert variable.dtype == code
            np.testing.assert_array_equal(variable[:], expected)
            assert variable[1] == -3.5
    with isotach.Dataset(path) as dataset:
        pairs = dataset["z"][:]
        assert pairs.dtype.names == ("r", "i")
        np.testing.assert_array_equal(pairs["r"], expected.real)
        np.testing.assert_array_equal(pairs["i"], expected.imag)
    with isotach.Dataset(path, "a", auto_complex=True) as dataset:
        dataset["z"][1:3] = [7 - 1j, 9]
    expected[1:3] = [7 - 1j, 9]
    with h5py.File(path) as file:
        assert file["z"].id.get_type() == getattr(h5t, name)
        found = np.empty_like(expected)
        file["z"].id.read(h5s.ALL, h5s.ALL, found, mtype=in_memory(code))
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(("name", "code"), NATIVE.items())
def test_complex_numbers_have_their_name(tmp_path, name, code):
    path = tmp_path / "complex.h5"
    make(path, name, code)
    word = np.dtype(code).name
    assert f"z(phony_dim_0) ; // {word}" in command("dump", path)
    assert "{1, 2}, {-3.5, 0}" in command("dump", path)
    assert f"({word})" in command("info", path)
    assert f'"number": "{word}"' in command("info", "--json", path)


def test_copies_are_pairs_that_netcdf4_reads(tmp_path):
    path, new = tmp_path / "complex.h5", tmp_path / "new.nc"
    make(path, "COMPLEX_IEEE_F64BE", "c16")
    done = copy(path, new)
    assert done.returncode == 0, done.stderr
    with netCDF4.Dataset(new, auto_complex=True) as dataset:
        np.testing.assert_array_equal(dataset["z"][:], VALUES)
        np.testing.assert_array_equal(dataset["pairs"][:], VALUES)


@pytest.mark.parametrize("format", ["NETCDF4", "NETCDF3_CLASSIC"])
def test_those_of_netcdf4_have_their_name(tmp_path, format):
    path = tmp_path / "complex.nc"
    with netCDF4.Dataset(path, "w", format=format, auto_complex=True) as dataset:
        dataset.createDimension("x", len(VALUES))
        dataset.createVariable("z", "c8", ("x",))[:] = VALUES
        dataset.createVariable("real", "f4", ("x",))
    shown = command("dump", path)
    assert shown.count("// complex64") == 1
    assert "(complex64)" in command("info", path)
