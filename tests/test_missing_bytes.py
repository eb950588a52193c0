"""Values that are not in the file: an error for those who ask for them, from every face."""

import os
import subprocess
import sys

import h5py
import isotach
import netCDF4
import numpy as np
import pytest
import xarray as xr

SETTING = "missing_bytes"
FORMATS = ["NETCDF3_CLASSIC", "NETCDF3_64BIT_OFFSET", "NETCDF3_64BIT_DATA"]
RECORDS, COLUMNS = 40, 25
GRID = np.arange(RECORDS * COLUMNS, dtype="f8").reshape(RECORDS, COLUMNS) + 1
FIXED = np.arange(600, dtype="i4") + 1


def write(path, format="NETCDF3_CLASSIC"):
    """A fixed variable and two along the records, written by the original."""
    with netCDF4.Dataset(path, "w", format=format) as dataset:
        dataset.createDimension("time", None)
        dataset.createDimension("x", COLUMNS)
        dataset.createDimension("n", len(FIXED))
        dataset.createVariable("fixed", "i4", ("n",))[:] = FIXED
        dataset.createVariable("first", "f8", ("time", "x"))[:] = GRID
        dataset.createVariable("second", "f8", ("time", "x"))[:] = -GRID
    return path


@pytest.fixture(params=FORMATS)
def whole(request, tmp_path):
    return write(tmp_path / "whole.nc", request.param)


def cut(path, length, name="cut.nc"):
    short = path.with_name(name)
    short.write_bytes(path.read_bytes()[:length])
    return short


def lengths(path):
    """Where the file is cut: anywhere, and at what its layout makes special."""
    size = path.stat().st_size
    record = 2 * 8 * COLUMNS
    begin = size - RECORDS * record
    special = [begin, begin - 1, begin + 1, begin + record, size - 1, size - 8, size - 8 * COLUMNS]
    return sorted({*special, *range(begin - 4 * len(FIXED), size, 997)})


def test_each_value_is_the_stored_one_or_an_error(whole):
    """All positions one by one are too many; rows, columns, blocks and strides of them."""
    refused = read = 0
    for length in lengths(whole):
        short = cut(whole, length)
        with isotach.Dataset(short) as dataset, isotach.Dataset(whole) as right:
            requests = [("fixed", np.s_[at : at + 20 : 3]) for at in range(0, 600, 100)]
            requests += [("fixed", np.s_[:])]
            for name in ("first", "second"):
                requests += [(name, np.s_[at]) for at in (0, 1, RECORDS // 2, RECORDS - 1)]
                requests += [(name, np.s_[:, 3]), (name, np.s_[:]), (name, np.s_[::-7, 1:9:4])]
                requests += [(name, (RECORDS - 1, COLUMNS - 1))]
            for name, index in requests:
                expected = right[name][index]
                try:
                    found = dataset[name][index]
                except RuntimeError as error:
                    refused += 1
                    assert SETTING in str(error) and f"/{name}" in str(error)
                    assert str(short) in str(error)
                else:
                    read += 1
                    assert (found == expected).all(), (length, name, index)
    assert refused > 50 and read > 50


def test_what_is_there_is_read_to_the_last_byte(whole):
    """Nothing is refused for what lies behind it: the last value that is there is read."""
    record = 2 * 8 * COLUMNS
    begin = whole.stat().st_size - RECORDS * record
    for row, column in [(0, 0), (0, COLUMNS - 1), (7, 3), (RECORDS - 1, COLUMNS - 1)]:
        end = begin + row * record + 8 * (column + 1)
        for length, is_there in ((end, True), (end - 1, False)):
            with isotach.Dataset(cut(whole, length)) as dataset:
                variable = dataset["first"]
                if is_there:
                    assert variable[row, column] == GRID[row, column]
                    assert (variable[row, : column + 1] == GRID[row, : column + 1]).all()
                    assert (variable[:row] == GRID[:row]).all()
                    continue
                for index in ((row, column), (row, np.s_[:]), np.s_[:], (np.s_[:], column)):
                    with pytest.raises(RuntimeError, match=SETTING):
                        variable[index]


def test_the_padding_behind_the_last_value_may_be_missing(tmp_path):
    for format in FORMATS:
        path = tmp_path / f"{format}.nc"
        with netCDF4.Dataset(path, "w", format=format) as dataset:
            dataset.createDimension("n", 5)
            dataset.createVariable("v", "i1", ("n",))[:] = [1, 2, 3, 4, 5]
        data = path.read_bytes()
        at = data.rindex(bytes([1, 2, 3, 4, 5]))
        with isotach.Dataset(cut(path, at + 5)) as dataset:
            assert dataset["v"][:].tolist() == [1, 2, 3, 4, 5]
        with isotach.Dataset(cut(path, at + 4)) as dataset:
            assert dataset["v"][:4].tolist() == [1, 2, 3, 4]
            with pytest.raises(RuntimeError, match="after 4 of their 5 bytes"):
                dataset["v"][:]


def test_the_setting_gives_zeros_as_the_original_has_them(whole, monkeypatch):
    short = cut(whole, whole.stat().st_size - 5000)
    with netCDF4.Dataset(short) as theirs, isotach.Dataset(short, missing_bytes="zeros") as ours:
        for row in (0, RECORDS // 2, RECORDS - 1):
            assert (ours["first"][row] == theirs["first"][row]).all()
        assert (ours["first"][RECORDS - 1] == 0).all()
    monkeypatch.setenv("ISOTACH_MISSING_BYTES", "zeros")
    with isotach.Dataset(short) as dataset:
        assert (dataset["second"][RECORDS - 1] == 0).all()
    dataset = isotach.Dataset(short, missing_bytes="error")
    with dataset, pytest.raises(RuntimeError, match=SETTING):
        dataset["second"][RECORDS - 1]
    monkeypatch.setenv("ISOTACH_MISSING_BYTES", "zero")
    with pytest.raises(OSError, match="ISOTACH_MISSING_BYTES"):
        isotach.Dataset(short)
    with pytest.raises(ValueError, match="zeros"):
        isotach.Dataset(short, missing_bytes="nothing")


@pytest.mark.parametrize("how", ["bytes", "object"])
def test_bytes_and_file_objects(whole, how):
    short = cut(whole, whole.stat().st_size - 5000)
    with open(short, "rb") as file:
        source = short.read_bytes() if how == "bytes" else file
        with isotach.Dataset(source) as dataset:
            assert (dataset["first"][0] == GRID[0]).all()
            with pytest.raises(RuntimeError, match=SETTING):
                dataset["first"][:]
        with isotach.Dataset(source, missing_bytes="zeros") as dataset:
            assert (dataset["first"][-1] == 0).all()


def test_such_a_file_is_not_changed(whole):
    """What is missing would be zeros from the next commit on, and nobody could tell."""
    short = cut(whole, whole.stat().st_size - 5000)
    before = short.read_bytes()
    with pytest.raises(OSError, match=SETTING):
        isotach.Dataset(short, "a")
    assert short.read_bytes() == before
    with isotach.Dataset(short, "a", missing_bytes="zeros") as dataset:
        dataset["first"][0, 0] = 77
    with netCDF4.Dataset(short) as dataset:
        assert dataset["first"][0, 0] == 77
        assert (dataset["first"][1] == GRID[1]).all()
    with isotach.Dataset(whole, "a") as dataset:
        dataset["first"][0, 0] = 77


def test_what_the_original_leaves_without_values_is_there_after_closing(tmp_path):
    """Without fill values it makes the file as long as it has to be, when it is closed."""
    path = tmp_path / "nofill.nc"
    dataset = netCDF4.Dataset(path, "w", format="NETCDF3_CLASSIC")
    dataset.set_fill_off()
    dataset.createDimension("n", 10000)
    dataset.createVariable("v", "f8", ("n",))
    dataset.sync()
    with isotach.Dataset(path) as ours, pytest.raises(RuntimeError, match=SETTING):
        ours["v"][:]
    dataset.close()
    with isotach.Dataset(path) as ours:
        assert (ours["v"][:] == 0).all()


def test_xarray(whole):
    short = cut(whole, whole.stat().st_size - 5000)
    with xr.open_dataset(short, engine="isotach", chunks=None) as dataset:
        assert (dataset["first"][0].values == GRID[0]).all()
        with pytest.raises(RuntimeError, match=SETTING):
            dataset["first"].values  # noqa: B018
    with xr.open_dataset(short, engine="isotach", missing_bytes="zeros") as dataset:
        assert (dataset["first"][-1].values == 0).all()


def run(*arguments, **variables):
    return subprocess.run(
        [sys.executable, "-m", "isotach", *map(str, arguments)],
        env=os.environ | variables,
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_command(whole):
    short = cut(whole, whole.stat().st_size - 5000)
    copy = whole.with_name("copy.nc")
    for arguments in (["dump", short], ["explain", "--run", short, "first"], ["copy", short, copy]):
        told = run(*arguments)
        assert told.returncode == 1, told
        assert SETTING in told.stderr + told.stdout
        assert not copy.exists()
        name, *rest = arguments
        for options, variables in (
            (["--missing-bytes=zeros"], {}),
            ([], {"ISOTACH_MISSING_BYTES": "zeros"}),
        ):
            told = run(name, *options, *rest, **variables)
            assert told.returncode == 0, told
            copy.unlink(missing_ok=True)
    told = run("check", short)
    assert told.returncode == 1 and "before the elements: cannot be read" in told.stdout
    assert run("dump", "--missing-bytes=nothing", short).returncode == 2


C_PROGRAM = """
import ctypes, sys
library = ctypes.CDLL("libnetcdf.so.19")
file, variable, one = ctypes.c_int(), ctypes.c_int(), ctypes.c_double(5)
print(library.nc_open(sys.argv[1].encode(), int(sys.argv[2]), ctypes.byref(file)))
print(library.nc_inq_varid(file, b"first", ctypes.byref(variable)))
for row in 0, 39:
    index = (ctypes.c_size_t * 2)(row, 3)
    print(library.nc_get_var1_double(file, variable, index, ctypes.byref(one)), one.value)
"""


def test_the_c_library(whole, libraries):
    """`NC_ETRUNC`, "File likely truncated or possibly corrupted"; the original gives zeros."""

    def told(ours, mode=0, **variables):
        command = [sys.executable, "-c", C_PROGRAM, short, str(mode)]
        ran = libraries.run(command, ours, whole.parent, env=variables)
        assert ran.returncode == 0, ran
        return ran.stdout.decode().split("\n")[:4]

    short = cut(whole, whole.stat().st_size - 5000)
    zeros = ["0", "0", "0 4.0", "0 0.0"]
    assert told(True) == ["0", "0", "0 4.0", "-64 4.0"]
    assert told(True, ISOTACH_MISSING_BYTES="zeros") == told(False) == zeros
    assert told(True, mode=1)[0] == "-64"


def test_hdf5_files_that_are_cut_short(tmp_path):
    """Of contiguous and chunked variables, each value is the stored one or an error."""
    path = tmp_path / "whole.nc"
    with netCDF4.Dataset(path, "w") as dataset:
        dataset.createDimension("n", len(FIXED))
        dataset.createVariable("contiguous", "i4", ("n",), contiguous=True)[:] = FIXED
        dataset.createVariable("chunked", "i4", ("n",), chunksizes=(50,))[:] = FIXED
        dataset.createVariable("deflated", "i4", ("n",), chunksizes=(50,), zlib=True)[:] = FIXED
    size = path.stat().st_size
    refused = read = 0
    for length in range(512, size, 211):
        short = cut(path, length)
        try:
            dataset = isotach.Dataset(short)
        except OSError:
            continue
        with dataset:
            for name in ("contiguous", "chunked", "deflated"):
                for index in (np.s_[:], np.s_[:50], np.s_[550:], np.s_[::97]):
                    try:
                        found = dataset[name][index]
                    except (RuntimeError, IndexError, OSError):
                        refused += 1
                    else:
                        read += 1
                        assert (found == FIXED[index]).all(), (length, name, index)
    assert refused > 20 and read > 20


def test_external_raw_data_that_ends_early(tmp_path, monkeypatch):
    """What the raw file has is read to its last byte, the rest is an error; libhdf5 gives zeros."""
    path, raw = tmp_path / "file.h5", tmp_path / "raw.bin"
    # Where libhdf5 looks for raw files.
    monkeypatch.chdir(tmp_path)
    right = np.arange(1, 1001, dtype="<i4").reshape(100, 10)
    with h5py.File(path, "w") as file:
        external = [("raw.bin", 0, 4000)]
        file.create_dataset("v", (100, 10), "<i4", external=external, fillvalue=-1)
    requests = [*range(0, 100, 9), 49, 50, 99, np.s_[:], np.s_[::7], np.s_[:, 3], np.s_[40:60, 2:5]]
    for length in (0, 1, 3, 40, 41, 1998, 2000, 3996, 3999):
        raw.write_bytes(right.tobytes()[:length])
        there = np.arange(1000).reshape(100, 10) * 4 + 4 <= length
        with isotach.Dataset(path) as dataset, xr.open_dataset(path, engine="isotach") as lazy:
            for index in requests:
                if there[index].all():
                    assert (dataset["v"][index] == right[index]).all()
                    assert (lazy["v"][index].values == right[index]).all()
                    continue
                for read in (lambda: dataset["v"][index], lambda: lazy["v"][index].values):  # noqa: B023
                    with pytest.raises(RuntimeError, match=SETTING) as told:
                        read()
                    assert "raw.bin" in str(told.value) and str(path) in str(told.value)
        with h5py.File(path) as theirs, isotach.Dataset(path, missing_bytes="zeros") as ours:
            ours.set_auto_mask(False)
            assert (ours["v"][:] == theirs["v"][...]).all()
            assert (ours["v"][:][there] == right[there]).all()
            assert (ours["v"][:].view("u1").ravel()[length:] == 0).all()
    monkeypatch.setenv("ISOTACH_MISSING_BYTES", "zeros")
    with isotach.Dataset(path) as dataset:
        assert (dataset["v"][:50] == right[:50]).all()
    told = run("dump", path, ISOTACH_MISSING_BYTES="error")
    assert told.returncode == 1 and SETTING in told.stderr + told.stdout
    raw.write_bytes(right.tobytes())
    assert run("dump", path, ISOTACH_MISSING_BYTES="error").returncode == 0
