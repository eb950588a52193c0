"""Files that another program makes shorter under a reader: an error, and never zeros."""

import os
import shutil
import sys

import isotach
import netCDF4
import numpy as np
import pytest
import xarray as xr

ROWS, COLUMNS = 40, 300
CLASSIC = ["NETCDF3_CLASSIC", "NETCDF3_64BIT_OFFSET", "NETCDF3_64BIT_DATA"]
FORMATS = [*CLASSIC, "NETCDF4"]
NAMES = ["first", "second"]


def values(name, rows=ROWS, sign=1):
    start = 1 + 1_000_000 * NAMES.index(name)
    return sign * np.arange(start, start + rows * COLUMNS, dtype="f8").reshape(rows, COLUMNS)


def write(path, format, rows=ROWS, sign=1):
    options = {} if format in CLASSIC else {"chunksizes": (3, COLUMNS), "zlib": True}
    with netCDF4.Dataset(path, "w", format=format) as dataset:
        dataset.createDimension("time", None if format in CLASSIC else rows)
        dataset.createDimension("x", COLUMNS)
        for name in NAMES:
            variable = dataset.createVariable(name, "f8", ("time", "x"), **options)
            variable[:] = values(name, rows, sign)
            options = {}
    return path


@pytest.fixture(params=FORMATS)
def format(request):
    return request.param


def cut_to(path):
    """Lengths that cut values off: next to all of the file, half of it, a row."""
    size = path.stat().st_size
    return [0, 30, 700, size // 3, size // 2, size - 8 * COLUMNS]


def check(read, known=()):
    """Each request gives the stored values, or those of `known`, or an error: how many errors."""
    refused = 0
    for name in NAMES:
        right = [values(name), *(other(name) for other in known)]
        for index in [*range(0, ROWS, 6), ROWS - 1, np.s_[:], np.s_[::7], np.s_[3:9, 5:7]]:
            try:
                found = np.asarray(read(name, index))
            except (RuntimeError, OSError, IndexError, KeyError, ValueError):
                refused += 1
                continue
            expected = [
                one[index] for one in right if not isinstance(index, int) or index < len(one)
            ]
            assert any(np.array_equal(found, one) for one in expected), (name, index, found)
    return refused


def test_a_dataset_whose_file_is_cut_off(tmp_path, format):
    whole = write(tmp_path / "whole.nc", format)
    for read_before in (True, False):
        for length in cut_to(whole):
            path = shutil.copy(whole, tmp_path / "cut.nc")
            with isotach.Dataset(path) as dataset:
                if read_before:
                    assert check(lambda name, index: dataset[name][index]) == 0
                os.truncate(path, length)
                refused = check(lambda name, index: dataset[name][index])
                assert refused > 0 or (read_before and format == "NETCDF4")


def test_xarray_whose_file_is_cut_off(tmp_path, format):
    whole = write(tmp_path / "whole.nc", format)
    for chunks in (None, {}, {"time": 5}):
        for length in cut_to(whole):
            path = shutil.copy(whole, tmp_path / "cut.nc")
            with xr.open_dataset(path, engine="isotach", chunks=chunks) as dataset:
                assert (dataset["first"][0].values == values("first")[0]).all()
                os.truncate(path, length)

                def read(name, index):
                    return dataset[name][index].values

                assert check(read) > 0


@pytest.mark.parametrize("format", CLASSIC)
def test_classic_files_that_are_written_anew_and_shorter(tmp_path, format):
    whole = write(tmp_path / "whole.nc", format)
    other = write(tmp_path / "other.nc", format, ROWS // 4, -1)
    path = shutil.copy(whole, tmp_path / "file.nc")
    with (
        isotach.Dataset(path) as dataset,
        xr.open_dataset(path, engine="isotach") as lazy,
    ):
        assert check(lambda name, index: dataset[name][index]) == 0
        path.write_bytes(other.read_bytes())
        new = [lambda name: values(name, ROWS // 4, -1)]
        refused = check(lambda name, index: lazy[name][index].values, new)
        assert refused + check(lambda name, index: dataset[name][index], new) > 0
        dataset.refresh()
        for name in NAMES:
            np.testing.assert_array_equal(dataset[name][:], values(name, ROWS // 4, -1))


C_PROGRAM = """
import ctypes, os, sys
library = ctypes.CDLL("libnetcdf.so.19")
path, length = sys.argv[1], int(sys.argv[2])
file, variable, one = ctypes.c_int(), ctypes.c_int(), ctypes.c_double(5)
assert library.nc_open(path.encode(), 0, ctypes.byref(file)) == 0
assert library.nc_inq_varid(file, b"second", ctypes.byref(variable)) == 0
def read(row):
    one.value = 5
    index = (ctypes.c_size_t * 2)(row, 3)
    return library.nc_get_var1_double(file, variable, index, ctypes.byref(one)), one.value
print(*read(0))
os.truncate(path, length)
for row in range(40):
    print(*read(row))
"""


def test_the_c_library(tmp_path, format, libraries):
    whole = write(tmp_path / "whole.nc", format)
    for length in cut_to(whole):
        path = shutil.copy(whole, tmp_path / "cut.nc")
        command = [sys.executable, "-c", C_PROGRAM, path, str(length)]
        ran = libraries.run(command, True, tmp_path)
        assert ran.returncode == 0, ran
        first, *rows = [line.split() for line in ran.stdout.decode().splitlines()]
        assert first == ["0", str(values("second")[0, 3])]
        assert len(rows) == ROWS
        for row, (status, value) in enumerate(rows):
            assert value == ("5.0" if int(status) else str(values("second")[row, 3]))
        assert any(int(status) for status, _ in rows), length
