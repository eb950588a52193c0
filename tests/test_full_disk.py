"""A disk that is full: the error says what was lost, and what was committed is there.

The kernel refuses what goes beyond the largest size of a file that the writing process may have.
"""

import os
import subprocess
import sys
import textwrap

import isotach
import netCDF4
import numpy as np
import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="RLIMIT_FSIZE as Linux has it")

FORMATS = ["NETCDF4", "NETCDF4_CLASSIC", "NETCDF3_CLASSIC", "NETCDF3_64BIT_DATA"]
#: What every writer does, around what it does when there is no room.
WRITER = """
import errno, resource, signal, sys, time
import isotach, numpy as np

path, format, interval, options = eval(sys.argv[1])
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

def rows(first):
    return np.random.default_rng(first).integers(0, 1 << 15, (20, 1000)).astype("i2")

def tried(call):
    try:
        call()
        print("done", flush=True)
    except OSError as error:
        assert error.errno == errno.EFBIG and error.filename == path, repr(error)
        print(f"{error.filename}: {error.strerror}", flush=True)

def leave_room(size):
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))

file = isotach.Dataset(path, "w", format=format, commit_interval=interval, **options)
file.createDimension("time", None)
file.createDimension("x", 1000)
packed = dict(zlib=True, chunksizes=(10, 1000)) if format.startswith("NETCDF4") else {}
v = file.createVariable("v", "i2", ("time", "x"), **packed)
fixed = file.createVariable("fixed", "i4", "x")
fixed[:] = np.arange(1000)
v[0:20] = rows(0)
file.sync()
leave_room(700_000)
def full():
%s
tried(full)
tried(file.sync)
tried(file.close)
assert not file.isopen()
"""
#: What is done when there is no room, and of which variable something is lost.
ACTS = {
    "append": (
        """
        for first in range(20, 900, 20):
            v[first:first + 20] = rows(first)
        """,
        "/v",
    ),
    "append and sync": (
        """
        for first in range(20, 900, 20):
            v[first:first + 20] = rows(first)
            file.sync()
        """,
        "/v",
    ),
    "append and wait": (
        """
        for first in range(20, 900, 20):
            v[first:first + 20] = rows(first)
            time.sleep(0.01)
        """,
        "/v",
    ),
    "define": (
        """
        large = file.createVariable("large", "f8", "x")
        for number in range(40):
            large.setncattr(f"a{number}", np.random.default_rng(number).random(4000))
        """,
        "/large",
    ),
    "rename": (
        """
        fixed.setncattr("long", np.random.default_rng(1).random(200_000))
        file.renameVariable("fixed", "firm")
        """,
        "/firm",
    ),
}


def run(script, *arguments):
    """What a script prints, line by line."""
    command = [sys.executable, "-c", script, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def written(path, format, act, interval=None, **options):
    body = textwrap.indent(textwrap.dedent(act), "    ")
    arguments = (str(path), format, interval, options)
    return run(WRITER.replace("%s", body), repr(arguments))


def rows(first):
    return np.random.default_rng(first).integers(0, 1 << 15, (20, 1000)).astype("i2")


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("act", ACTS)
def test_what_was_committed_is_there(tmp_path, act, format):
    path = tmp_path / "file.nc"
    body, lost = ACTS[act]
    interval = 0.02 if act == "append and wait" else None
    _, synced, closed = written(path, format, body, interval)
    for told in (synced, closed):
        assert told.startswith(f"{path}: what came after the last commit is not in the file")
        assert lost in told and "File too large" in told
    for library in (isotach, netCDF4):
        with library.Dataset(path) as file:
            assert sorted(file.variables) == ["fixed", "v"]
            np.testing.assert_array_equal(file["fixed"][:], np.arange(1000))
            count = len(file.dimensions["time"])
            assert count > 20 if " and " in act else count == 20
            for first in range(0, count, 20):
                np.testing.assert_array_equal(file["v"][first : first + 20], rows(first))
    # What was begun costs nothing that is left, and others go on.
    with isotach.Dataset(path, "a") as file:
        file["v"][count : count + 20] = rows(count)
    with netCDF4.Dataset(path) as file:
        assert len(file.dimensions["time"]) == count + 20
        np.testing.assert_array_equal(file["v"][count:], rows(count))


@pytest.mark.parametrize("format", FORMATS)
def test_what_was_there_stays_where_a_new_file_finds_no_room(tmp_path, format):
    path = tmp_path / "file.nc"
    with isotach.Dataset(path, "w", format=format) as file:
        file.title = "good"
    before = path.read_bytes()
    *_, closed = written(path, format, ACTS["append"][0], atomic=True)
    assert "File too large" in closed
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["file.nc"]
