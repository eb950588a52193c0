"""The memory of large results is used again, and nobody can tell."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import isotach
import netCDF4
import numpy as np
import pytest

MEBI = 1 << 20
linux = pytest.mark.skipif(sys.platform != "linux", reason="memory is kept on Linux only")


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """Variables of 8, 16 and 24 MiB, and one of 1 MiB."""
    path = tmp_path_factory.mktemp("results") / "large.nc"
    with netCDF4.Dataset(path, "w") as file:
        for name, mebibytes in (("a", 8), ("b", 16), ("c", 24), ("small", 1)):
            file.createDimension(name, mebibytes * MEBI // 8)
            file.createVariable(name, "f8", (name,))[:] = np.arange(mebibytes * MEBI // 8)
    return path


def address(array):
    return array.__array_interface__["data"][0]


def status(field):
    with open("/proc/self/status") as lines:
        return next(int(line.split()[1]) << 10 for line in lines if line.startswith(field))


def in_place_of_one_that_is_gone(path):
    """Results after one of 16 MiB is gone: of a process that has read nothing before."""
    with isotach.Dataset(path) as file:
        file.set_auto_mask(False)
        first = file["b"][:]
        place = address(first)
        other = file["b"][:]
        assert address(other) != place
        del first
        shorter = file["a"][:]
        rest = file["a"][:]
        assert {address(shorter), address(rest)} == {place, place + 8 * MEBI}
        for array in (shorter, rest, other):
            assert array.flags.owndata and array.base is None and array.flags.c_contiguous
            assert np.array_equal(array, np.arange(array.size))


@linux
def test_a_result_has_the_memory_of_one_that_is_gone(path):
    # What other tests leave behind would serve as well.
    code = "print(t.in_place_of_one_that_is_gone(sys.argv[1]))"
    assert printed(code, path) == "None"


@pytest.mark.parametrize("elements", [10, MEBI, 4 * MEBI])
def test_resize_keeps_the_contents(path, elements):
    with isotach.Dataset(path) as file:
        file.set_auto_mask(False)
        array = file["b"][:]
        array.resize(elements, refcheck=False)
        expected = np.zeros(elements)
        kept = min(elements, 2 * MEBI)
        expected[:kept] = np.arange(kept)
        assert np.array_equal(array, expected)


def test_results_outlive_their_file_and_many_threads(path):
    def read(turn):
        with isotach.Dataset(path) as file:
            name = "abc"[turn % 3]
            array = file[name][:]
        found = np.array_equal(array, np.arange(array.size))
        array[:] = -1
        return found

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(read, range(60)))


def printed(code, path, **environment):
    """What `code` prints in a new process, which has this module as `t`."""
    setup = "import sys; sys.path.insert(0, sys.argv[2]); import isotach, test_result_memory as t\n"
    done = subprocess.run(
        [sys.executable, "-c", setup + code, path, os.path.dirname(__file__)],
        env=os.environ | environment,
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout.strip()


def held_after_a_read(path, **environment):
    """Bytes that a new process still has mapped after a result of 24 MiB is gone."""
    code = (
        "file = isotach.Dataset(sys.argv[1]); file['small'][:]; before = t.status('VmSize')\n"
        "file.set_auto_mask(False); array = file['c'][:]; del array\n"
        "print(t.status('VmSize') - before)"
    )
    return int(printed(code, path, ISOTACH_THREADS="1", **environment))


@linux
def test_how_much_is_kept_can_be_said(path):
    assert held_after_a_read(path) >= 24 * MEBI
    assert held_after_a_read(path, ISOTACH_RESULT_MEMORY="0") < 8 * MEBI
    assert held_after_a_read(path, ISOTACH_RESULT_MEMORY="16M") < 8 * MEBI


@linux
def test_nothing_is_kept_where_addresses_are_counted(path):
    code = (
        "import resource; resource.setrlimit(resource.RLIMIT_AS, (1 << 32, 1 << 32))\n"
        "file = isotach.Dataset(sys.argv[1]); file.set_auto_mask(False)\n"
        "array = file['c'][:]; place = t.address(array); del array\n"
        "ranges = [line.split()[0].split('-') for line in open('/proc/self/maps')]\n"
        "print(any(int(a, 16) <= place < int(b, 16) for a, b in ranges))"
    )
    assert printed(code, path) == "False"
