"""What a `sync` after each record costs, and what a closed file keeps of memory."""

import subprocess
import sys
import textwrap

import isotach
import netCDF4
import numpy as np
import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="RLIMIT_FSIZE as Linux has it")

#: Stores records until the file may not become any longer; prints how many a sync brought there.
RECORDS = """
import resource, signal, sys
import isotach, netCDF4, numpy as np

library, path, options = sys.argv[1], sys.argv[2], eval(sys.argv[3])
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
Dataset = {"isotach": isotach, "netCDF4": netCDF4}[library].Dataset
file = Dataset(path, "w", **({"commit_interval": None} if library == "isotach" else {}))
file.createDimension("time", None)
file.createDimension("x", 1000)
v = file.createVariable("v", "f8", ("time", "x"), **options)
file.sync()
resource.setrlimit(resource.RLIMIT_FSIZE, (6_000_000, resource.RLIM_INFINITY))
stored = 0
try:
    for record in range(2000):
        v[record] = np.random.default_rng(record).random(1000)
        file.sync()
        stored += 1
except (RuntimeError, OSError):
    pass
print(stored, flush=True)
import os
os._exit(0)
"""


def stored(library, path, options):
    program = [sys.executable, "-c", RECORDS, library, str(path), repr(options)]
    run = subprocess.run(program, capture_output=True, text=True, check=True, timeout=120)
    return int(run.stdout)


@pytest.mark.parametrize(
    ("options", "least"),
    # The limit has room for 750 records. netCDF4 1.7.5 stores 744 of them, and 846 deflated.
    [({}, 744), ({"chunksizes": (1, 1000)}, 744), ({"zlib": True}, 846)],
    ids=["default", "record", "deflated"],
)
def test_records_under_a_limit(tmp_path, options, least):
    path = tmp_path / "file.nc"
    count = stored("isotach", path, options)
    print(count, "records; netCDF4:", stored("netCDF4", tmp_path / "other.nc", options))
    assert count >= least
    with isotach.Dataset(path) as ours, netCDF4.Dataset(path) as theirs:
        for file in (ours, theirs):
            found = file["v"][:count]
            for record in range(count):
                expected = np.random.default_rng(record).random(1000)
                np.testing.assert_array_equal(found[record], expected)


#: Rounds of files that Python cannot collect, each with chunks of a mebibyte.
ROUNDS = """
import gc, sys
import isotach, numpy as np

def resident():
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * 4096

def rounds(count):
    for _ in range(count):
        with isotach.Dataset(sys.argv[1], "w") as file:
            file.createDimension("time", None)
            v = file.createVariable("v", "f8", "time", chunksizes=(1 << 17,))
            v[0:10] = np.arange(10)
        kept.append(file)

gc.disable()
kept = []
rounds(10)
before = resident()
rounds(100)
print(resident() - before)
"""


def test_a_closed_file_keeps_no_chunks(tmp_path):
    program = [sys.executable, "-c", textwrap.dedent(ROUNDS), str(tmp_path / "file.nc")]
    run = subprocess.run(program, capture_output=True, text=True, check=True, timeout=120)
    # It was one chunk for each: 100 MiB.
    assert int(run.stdout) < 40 << 20


#: Files that are made, written and closed: memory after a third of them, and at the end.
CLOSED = """
import sys
import isotach, numpy as np

def resident():
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * 4096

for number in range(1200):
    with isotach.Dataset(sys.argv[1], "w") as file:
        file.createDimension("time", None)
        file.createDimension("x", 100)
        v = file.createVariable("v", "f8", ("time", "x"), zlib=bool(number % 2))
        v.units = "m"
        v[0:3] = np.ones((3, 100))
    if number == 400:
        before = resident()
print(resident() - before)
"""


def test_files_that_are_closed_leave_nothing_behind(tmp_path):
    program = [sys.executable, "-c", CLOSED, str(tmp_path / "file.nc")]
    run = subprocess.run(program, capture_output=True, text=True, check=True, timeout=300)
    # 40 KiB for each would be 32 MiB; the allocator's own ups and downs are less.
    assert int(run.stdout) < 32 << 20


def test_chunks_that_hdf5_cannot_have_are_refused(tmp_path):
    with isotach.Dataset(tmp_path / "file.nc", "w") as file:
        file.createDimension("time", None)
        file.createDimension("x", 10)
        for chunks, reason in [
            ((1, 11), "cannot exceed dimension size"),
            ((1 << 26, 10), "the most is 4294967295"),
            ((0, 10), "do not fit"),
        ]:
            with pytest.raises((RuntimeError, ValueError), match=reason):
                file.createVariable("v", "f8", ("time", "x"), chunksizes=chunks)
        file.createVariable("v", "f8", ("time", "x"), chunksizes=(1 << 20, 10))
