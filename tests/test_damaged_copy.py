"""`isotach copy` of damaged files: an error, and with --leave-out all that can be read."""

import json
import subprocess
import sys

import h5py
import netCDF4
import numpy as np
import pytest

FILL = -99
CHUNKS, ROWS = 48, 10
GRID = np.arange(CHUNKS * ROWS * 20, dtype="i4").reshape(CHUNKS * ROWS, 20) + 1
LEFT_OUT = 4


def copy(*arguments):
    command = [sys.executable, "-m", "isotach", "copy", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def check(path):
    command = [sys.executable, "-m", "isotach", "check", "--json", str(path)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    return json.loads(ran.stdout)["findings"]


def write(path, fill=FILL, unlimited=True, **options):
    with netCDF4.Dataset(path, "w") as dataset:
        dataset.title = "t"
        dataset.createDimension("time", None if unlimited else CHUNKS * ROWS)
        dataset.createDimension("x", 20)
        options = {"zlib": True, "chunksizes": (ROWS, 20)} | options
        for name in ("sound", "damaged"):
            variable = dataset.createVariable(
                name, "i4", ("time", "x"), fill_value=fill, fletcher32=True, **options
            )
            variable.units = "m"
            variable[:] = GRID
    return path


def break_chunks(path, numbers, name="damaged"):
    with h5py.File(path) as file:
        stored = [file[name].id.get_chunk_info(number) for number in numbers]
    data = bytearray(path.read_bytes())
    for chunk in stored:
        data[chunk.byte_offset + 3] ^= 0xFF
    path.write_bytes(data)
    return sorted(chunk.chunk_offset[0] // ROWS for chunk in stored)


def expected(broken, fill=FILL):
    right = GRID.copy()
    for number in broken:
        right[number * ROWS : (number + 1) * ROWS] = fill
    return right


def read(path, name="damaged"):
    with netCDF4.Dataset(path) as dataset:
        dataset.set_auto_mask(False)
        return dataset[name][:]


@pytest.mark.parametrize("broken", [[0], [20], [47], [19, 20, 21], [3, 30], list(range(47))])
def test_the_good_chunks_of_a_variable_are_kept(tmp_path, broken):
    path, new = write(tmp_path / "from.nc"), tmp_path / "new.nc"
    broken = break_chunks(path, broken)
    told = copy(path, new)
    assert told.returncode == 1
    assert "/damaged" in told.stderr
    assert not list(tmp_path.glob("new*")) and not list(tmp_path.glob(".new*"))
    told = copy("--leave-out", path, new)
    assert told.returncode == LEFT_OUT, told
    assert f"/damaged: {len(broken)} of 48 chunks" in told.stderr
    first = broken[0]
    assert f"[{first * ROWS}:" in told.stderr
    assert f"{len(broken) * ROWS * 20} elements of 1 variables" in told.stderr
    assert (read(new) == expected(broken)).all()
    assert (read(new, "sound") == GRID).all()
    assert check(new) == []


def test_places_that_follow_one_another_are_told_as_one(tmp_path):
    path, new = write(tmp_path / "from.nc"), tmp_path / "new.nc"
    break_chunks(path, [19, 20, 21])
    told = copy("--leave-out", path, new)
    assert "[190:220, 0:20]:" in told.stderr, told.stderr


def test_a_variable_of_which_nothing_can_be_read_is_left_out(tmp_path):
    path, new = write(tmp_path / "from.nc"), tmp_path / "new.nc"
    break_chunks(path, range(48))
    told = copy("--leave-out", path, new)
    assert told.returncode == LEFT_OUT
    assert "left out /damaged: " in told.stderr
    with netCDF4.Dataset(new) as dataset:
        assert list(dataset.variables) == ["sound"]


@pytest.mark.parametrize("kind", ["classic", "64-bit offset", "cdf5", "netCDF-4 classic model"])
@pytest.mark.parametrize("fill", [None, FILL, False])
def test_the_rest_has_the_fill_value_in_every_format(tmp_path, kind, fill):
    """Also where nothing is filled by itself: then it is the type's own fill value."""
    path = write(tmp_path / "from.nc", fill=fill, unlimited=False)
    broken = break_chunks(path, [5, 6, 40])
    new = tmp_path / "new.nc"
    assert copy("-k", kind, "--leave-out", path, new).returncode == LEFT_OUT
    value = FILL if fill == FILL else netCDF4.default_fillvals["i4"]
    assert (read(new) == expected(broken, value)).all()


def test_with_other_chunks_and_compression(tmp_path):
    path, new = write(tmp_path / "from.nc"), tmp_path / "new.nc"
    broken = break_chunks(path, [7, 33])
    told = copy("--leave-out", "-d", "1", "-c", "time/64,x/7", path, new)
    assert told.returncode == LEFT_OUT
    assert (read(new) == expected(broken)).all()
    with netCDF4.Dataset(new) as dataset:
        assert dataset["damaged"].chunking() == [64, 7]


@pytest.mark.parametrize("format", ["NETCDF3_CLASSIC", "NETCDF3_64BIT_DATA"])
@pytest.mark.parametrize("unlimited", [True, False])
@pytest.mark.parametrize("missing", [1, 5, 1003, 20000])
def test_of_a_truncated_file_all_that_is_there(tmp_path, format, unlimited, missing):
    path, new = tmp_path / "from.nc", tmp_path / "new.nc"
    with netCDF4.Dataset(path, "w", format=format) as dataset:
        dataset.createDimension("time", None if unlimited else len(GRID))
        dataset.createDimension("x", 20)
        dataset.createVariable("v", "i4", ("time", "x"), fill_value=FILL)[:] = GRID
    data = path.read_bytes()
    path.write_bytes(data[:-missing])
    assert copy(path, new).returncode == 1
    assert not new.exists()
    told = copy("--leave-out", path, new)
    assert told.returncode == LEFT_OUT, told
    lost = -(-missing // 4)
    assert f"/v: {lost} of {GRID.size} elements" in told.stderr
    right = GRID.copy().reshape(-1)
    right[right.size - lost :] = FILL
    assert (read(new, "v").reshape(-1) == right).all()
    assert check(new) == []


def test_attributes_and_objects_that_are_left_out_are_named(tmp_path):
    path, new = tmp_path / "from.nc", tmp_path / "new.nc"
    with netCDF4.Dataset(path, "w") as dataset:
        dataset.createGroup("group")
        dataset.createDimension("x", 2)
        dataset.createVariable("long", "i8", ("x",))
        variable = dataset.createVariable("kept", "i4", ("x",))
        variable[:] = [1, 2]
        variable.setncattr_string("words", ["a", "b"])
    told = copy("-k", "classic", "--leave-out", path, new)
    assert told.returncode == LEFT_OUT
    for name in ("/group", "/kept:words", "/long"):
        assert f"left out {name}: " in told.stderr
    assert "but for 3 objects" in told.stderr
    assert read(new, "kept").tolist() == [1, 2]


def test_whole_files_have_nothing_to_tell(tmp_path):
    path, new = write(tmp_path / "from.nc"), tmp_path / "new.nc"
    for options in ([], ["--leave-out"]):
        told = copy(*options, path, new)
        assert (told.returncode, told.stderr) == (0, "")


@pytest.mark.parametrize(
    ("asked", "chunks", "told"),
    [
        # As it is asked for.
        ("time/24", [24, 300, 400], False),
        ("x/7", [1, 300, 7], False),
        # Longer than a dimension that cannot grow.
        ("x/9999", [1, 300, 400], True),
        # Longer than what is there: all chunks would have room for what may never come.
        ("time/9999", [48, 300, 400], True),
        ("time/9999,y/3,x/4", [48, 3, 4], True),
    ],
)
def test_shapes_of_chunks_are_held_against_lengths_and_memory(tmp_path, asked, chunks, told):
    path, new = tmp_path / "from.nc", tmp_path / "new.nc"
    values = np.arange(48 * 300 * 400, dtype="f8").reshape(48, 300, 400)
    with netCDF4.Dataset(path, "w") as dataset:
        dataset.createDimension("time", None)
        dataset.createDimension("y", 300)
        dataset.createDimension("x", 400)
        variable = dataset.createVariable("v", "f8", ("time", "y", "x"), chunksizes=(1, 300, 400))
        variable[:] = values
        dataset.createVariable("t", "f8", ("time",))[:] = np.arange(48)
    ran = copy("-c", asked, path, new)
    assert ran.returncode == 0, ran
    with netCDF4.Dataset(new) as dataset:
        assert dataset["v"].chunking() == chunks
        # Where it takes little, there may be room for more.
        if "time/9999" in asked:
            assert dataset["t"].chunking() == [9999]
        assert (dataset["v"][:] == values).all()
    assert ("note: /v: chunks of" in ran.stderr) == told, ran
    assert new.stat().st_size < 2 * path.stat().st_size


def test_chunks_are_never_larger_than_what_may_wait_to_be_written(tmp_path, monkeypatch):
    monkeypatch.setenv("ISOTACH_WRITE_BUFFER", "1M")
    path, new = tmp_path / "from.nc", tmp_path / "new.nc"
    values = np.arange(4_000_000, dtype="f8").reshape(2000, 2000)
    with netCDF4.Dataset(path, "w") as dataset:
        dataset.createDimension("y", 2000)
        dataset.createDimension("x", 2000)
        dataset.createVariable("v", "f8", ("y", "x"), chunksizes=(10, 2000))[:] = values
    ran = copy("-c", "y/,x/", path, new)
    assert ran.returncode == 0
    assert "note: /v: chunks of 250×500, not 2000×2000 (32 MB)" in ran.stderr
    with netCDF4.Dataset(new) as dataset:
        assert dataset["v"].chunking() == [250, 500]
        assert (dataset["v"][:] == values).all()
