"""`ISOTACH_TRACE` and `isotach trace` on unmodified programs: what they say and what was done."""

import itertools
import json
import shutil
import subprocess
import sys

import netCDF4
import numpy as np
import pytest
from test_command import SCRIPT

#: Reads a variable column by column, from the last to the first.
COLUMNS = """
import ctypes
library, file, variable = ctypes.CDLL("libnetcdf.so.22"), ctypes.c_int(), ctypes.c_int()
assert library.nc_open(b"in.nc", 0, ctypes.byref(file)) == 0
assert library.nc_inq_varid(file, b"v", ctypes.byref(variable)) == 0
start, count = (ctypes.c_size_t * 3)(), (ctypes.c_size_t * 3)(20, 40, 1)
values = (ctypes.c_float * 800)()
for start[2] in reversed(range(50)):
    assert library.nc_get_vara_float(file, variable, start, count, values) == 0
assert library.nc_close(file) == 0
"""


@pytest.fixture
def file(tmp_path):
    with netCDF4.Dataset(tmp_path / "in.nc", "w") as file:
        for name, length in ("t", None), ("y", 40), ("x", 50):
            file.createDimension(name, length)
        values = file.createVariable("v", "f4", ("t", "y", "x"), zlib=True, chunksizes=(5, 40, 50))
        values[:] = np.random.default_rng(1).random((20, 40, 50))
        file.createGroup("g").createVariable("w", "i2", ("y",))[:] = np.arange(40)
    return tmp_path


def traced(libraries, folder, *command, **settings):
    """The lines of a program's trace, and its sums by path of the file and the variable."""
    trace = folder / "trace.jsonl"
    env = {"ISOTACH_TRACE": str(trace)} | settings
    done = libraries.run(command, True, folder, env=env)
    assert done.returncode == 0, done.stderr
    told = subprocess.run([SCRIPT, "trace", "--json", trace], capture_output=True, check=True)
    summary = json.loads(told.stdout)
    assert [command[0] in program for program in summary["programs"]] == [True]
    files = {path["path"]: path for path in summary["files"]}
    for one in files.values():
        one["variables"] = {variable["variable"]: variable for variable in one["variables"]}
    return [json.loads(line) for line in trace.read_text().splitlines()], files


def timeless(variable):
    return [
        (one["direction"], one["pattern"], one["calls"], one["bytes"])
        for one in variable["patterns"]
    ]


@pytest.mark.skipif(shutil.which("ncks") is None, reason="LEFT OUT: there is no ncks")
def test_patterns_of_ncks(libraries, file):
    command = ["ncks", "-O", "-d", "t,3,7,2", "-d", "x,1,4", "in.nc", "out.nc"]
    lines, files = traced(libraries, file, *command, OMP_NUM_THREADS="1")
    source = files.pop("in.nc")
    (made,) = files.values()
    assert {name: event["calls"] for name, event in source["events"].items()} == {
        "open": 1,
        "close": 1,
    }
    assert {name: event["calls"] for name, event in made["events"].items()} == {
        "create": 1,
        "close": 1,
    }
    assert timeless(source["variables"]["/v"]) == [("read", "[3/2, :, 4]", 1, 3 * 40 * 4 * 4)]
    assert timeless(source["variables"]["/g/w"]) == [("read", "[:]", 1, 80)]
    assert timeless(made["variables"]["/v"]) == [("write", "[3, :, :]", 1, 3 * 40 * 4 * 4)]
    # Positions 3, 5 and 7 lie in two chunks.
    chunks = source["variables"]["/v"]["chunks"]
    assert [chunks[name] for name in ("touched", "decoded", "decoded_again")] == [2, 2, 0]
    (read,) = (line for line in lines if line["event"] == "read" and line["variable"] == "/v")
    assert [read[name] for name in ("start", "count", "stride")] == [
        [3, 0, 1],
        [3, 40, 4],
        [2, 1, 1],
    ]
    # Calls that were made one after the other, and the time that each took.
    calls = [line for line in lines if "at" in line]
    assert all(
        one["at"] + one["nanoseconds"] <= other["at"] for one, other in itertools.pairwise(calls)
    )


@pytest.mark.parametrize("cache", ["0", "64M"])
def test_chunks_that_are_decoded_again(libraries, file, cache):
    """Without a cache each of fifty columns needs all four chunks."""
    command = [sys.executable, "-c", COLUMNS]
    lines, files = traced(libraries, file, *command, ISOTACH_CACHE=cache)
    variable = files["in.nc"]["variables"]["/v"]
    assert timeless(variable) == [("read", "[:, :, 1]", 50, 50 * 20 * 40 * 4)]
    chunks, again = variable["chunks"], 0 if cache != "0" else 196
    names = ("touches", "touched", "decoded", "decoded_again")
    assert [chunks[name] for name in names] == [200, 4, 4 + again, again]
    reads = [line for line in lines if line["event"] == "read"]
    assert [line["start"][2] for line in reads] == list(reversed(range(50)))
    taken = sum(line["nanoseconds"] for line in reads)
    assert chunks["nanoseconds_lost"] == taken * again // (4 + again)
    said = subprocess.run([SCRIPT, "trace", file / "trace.jsonl"], capture_output=True, check=True)
    assert (b"196 of them again" in said.stdout) == (cache == "0")
