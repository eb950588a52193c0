"""Times of objects, which are kept where that is asked for, as h5py and HDF5's tools show them; and
what C programs say of them, and of commits, in their environment.
"""

import shutil
import subprocess
import sys
import time

import h5py
import isotach
import numpy as np
import pytest
from test_same_bytes import clock, run  # noqa: F401

OBJECTS = ("/", "g", "v", "x", "t")
WRITE = """
import sys, isotach
with isotach.Dataset(sys.argv[1], sys.argv[2], track_times=True, commit_interval=None) as dataset:
    exec(sys.argv[3])
"""
CREATE = """
dataset.createGroup("g")
dataset.createDimension("x", 3)
dataset.createVLType("i4", "t")
dataset.createVariable("v", "i4", ("x",))[:] = 1
dataset.createVariable("x", "i4", ("x",))[:] = 1
"""
DAY = 86400


def times(path):
    """When each object was last changed, in seconds; 0 where it does not say."""
    with h5py.File(path) as file:
        there = [name for name in OBJECTS if name in file]
        return {name: h5py.h5g.get_objinfo(file[name].id).mtime for name in there}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "times.nc"


def create(path, **options):
    with isotach.Dataset(path, "w", **options) as dataset:
        exec(CREATE, {"dataset": dataset})


def test_they_are_kept_where_that_is_asked_for(path):
    create(path)
    assert set(times(path).values()) == {0}
    before = int(time.time())
    create(path, track_times=True)
    found = times(path)
    assert set(found) == set(OBJECTS)
    assert all(before <= when <= time.time() for when in found.values())


@pytest.mark.skipif(not shutil.which("h5ls"), reason="LEFT OUT: there is no h5ls")
def test_hdf5s_tools_show_them(path):
    def shown():
        command = ["h5ls", "-v", path]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    create(path)
    assert "Modified" not in shown()
    create(path, track_times=True)
    assert shown().count("Modified:") >= 3


def test_what_is_changed_says_so(path, clock):  # noqa: F811
    def at(days, mode, what):
        run([sys.executable, "-c", WRITE, path, mode, what], 1, days, clock)

    at(-20, "w", CREATE)
    made = times(path)
    assert max(abs(when + 20 * DAY - time.time()) for when in made.values()) < DAY
    at(-10, "a", 'dataset["v"].units = "m"; dataset.createGroup("g/h")')
    changed = times(path)
    assert {name for name in OBJECTS if changed[name] != made[name]} == {"g", "v"}
    assert abs(changed["v"] - made["v"] - 10 * DAY) < DAY
    with isotach.Dataset(path, "a") as dataset:
        dataset["v"].units = "km"
    assert times(path) == changed
    with isotach.Dataset(path) as dataset:
        assert dataset["v"].units == "km"
        assert dataset["v"][:].tolist() == [1, 1, 1]


def test_old_headers_are_kept_up_to_date(path):
    with h5py.File(path, "w", libver="earliest") as file:
        for name in ("v", "x"):
            file.create_dataset(name, data=np.arange(3), track_times=True)
    made = times(path)
    assert made["v"]
    # Another second of the clock, which cannot be turned here.
    changed = set_back(path, made)
    with isotach.Dataset(path, "a", track_times=True) as dataset:
        dataset["v"].units = "m"
    found = times(path)
    assert found["v"] >= made["v"]
    assert found["x"] == changed


def set_back(path, made):
    """Has all times of the file be of a day before; gives that time."""
    content = path.read_bytes()
    for when in set(made.values()) - {0}:
        earlier = when - DAY
        content = content.replace(when.to_bytes(4, "little"), earlier.to_bytes(4, "little"))
    path.write_bytes(content)
    assert set(times(path).values()) - {0} == {when - DAY for when in made.values() if when}
    return min(when for when in times(path).values() if when)


@pytest.mark.parametrize("mode", ["w", "x", "a"])
def test_classic_files_have_no_place(path, mode):
    if mode == "a":
        isotach.Dataset(path, "w", format="NETCDF3_CLASSIC").close()
    with pytest.raises(ValueError, match="track_times: classic files have no place for times"):
        isotach.Dataset(path, mode, format="NETCDF3_CLASSIC", track_times=True)
    assert path.exists() == (mode == "a")
    # It is not open any more.
    if mode == "a":
        isotach.Dataset(path, "a").close()


def test_reading_keeps_none(path):
    create(path)
    with pytest.raises(ValueError, match="track_times goes with a mode that writes"):
        isotach.Dataset(path, track_times=True)


#: Creates a file, tells how that went, and closes it when it is told to.
PROGRAM = """
import ctypes, sys
library, number = ctypes.CDLL("libnetcdf.so.22"), ctypes.c_int()
print(library.nc_create(sys.argv[1].encode(), 0x1000, ctypes.byref(number)), flush=True)
library.nc_def_dim(number, b"x", ctypes.c_size_t(3), ctypes.byref(ctypes.c_int()))
library.nc_def_var(number, b"x", 4, 1, ctypes.byref(ctypes.c_int(0)), ctypes.byref(ctypes.c_int()))
library.nc_enddef(number)
sys.stdin.read()
print(library.nc_close(number))
"""


@pytest.mark.parametrize(
    ("said", "status"), [(None, 0), ("", 0), ("0", 0), ("1", 0), ("yes", -36), ("2", -36)]
)
def test_c_programs_say_it_in_their_environment(libraries, path, said, status):
    env = {} if said is None else {"ISOTACH_TRACK_TIMES": said}
    command = [sys.executable, "-c", PROGRAM, path]
    done = libraries.run(command, True, path.parent, env=env, stdin=subprocess.DEVNULL)
    assert done.stdout.split()[0] == str(status).encode(), done.stderr
    if status == 0:
        assert (times(path)["x"] > 0) == (said == "1")


@pytest.mark.parametrize(
    ("said", "status"), [("off", 0), ("0.5", 0), ("", 0), ("-1", -36), ("never", -36), ("nan", -36)]
)
def test_c_programs_say_when_they_commit(libraries, path, said, status):
    env = {"ISOTACH_COMMIT_INTERVAL": said}
    command = [sys.executable, "-c", PROGRAM, path]
    done = libraries.run(command, True, path.parent, env=env, stdin=subprocess.DEVNULL)
    assert done.stdout.split()[0] == str(status).encode(), done.stderr
    assert path.exists() == (status == 0)


def test_an_interval_is_that_of_commits(libraries, path):
    """What is defined comes to the file while the program waits."""
    env = libraries.environment(True) | {"ISOTACH_COMMIT_INTERVAL": "0.01"}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", PROGRAM, path], env=env, **pipes) as program:
        assert program.stdout.readline() == b"0\n"
        end = time.monotonic() + 120
        found = []
        while not found and time.monotonic() < end:
            with isotach.Dataset(path) as dataset:
                found = list(dataset.variables)
        assert found == ["x"]
        assert program.communicate()[0] == b"0\n"
