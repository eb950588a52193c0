"""A writer that is killed leaves a file that others read, with all that it had committed."""

import random
import signal
import subprocess
import sys
import time

import h5py
import isotach
import netCDF4
import numpy as np
import pytest

#: How often the writer is killed.
KILLS = 200
#: Records of one file; the next writer begins a new one then.
MOST_RECORDS = 3000

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="SIGKILL as Linux has it")


def kill_at_random(command, moments):
    """Runs `command` for a random time and kills it; the last number that it printed."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
        first = writer.stdout.readline()
        assert first, "the writer ended by itself"
        time.sleep(moments.uniform(0, 0.1))
        writer.send_signal(signal.SIGKILL)
        # What was cut off by the kill is no whole line.
        lines = [line for line in [first, *writer.stdout] if line.endswith("\n")]
    assert writer.returncode == -signal.SIGKILL
    return int(lines[-1])


def check(count, committed, variables):
    """Nothing committed is missing.

    Who knows nothing of redo records may find a part of the next commit, too.
    """
    assert count in (committed, committed + 1)
    for variable in variables:
        assert len(variable) in (committed, committed + 1)
        found = np.asarray(variable[:committed]).reshape(committed, -1)
        np.testing.assert_array_equal(found, np.indices(found.shape)[0])


def test_nothing_that_was_committed_is_missing(rust_example, tmp_path):
    program = rust_example("append_forever")
    moments = random.Random(1)
    path, files = tmp_path / "0.nc", 1
    for _ in range(KILLS):
        committed = kill_at_random([program, path], moments)
        with h5py.File(path) as file:
            variables = [file[name] for name in ("time", *"abc")]
            check(int(file.attrs["count"][0]), committed, variables)
        with netCDF4.Dataset(path) as dataset:
            variables = [dataset[name] for name in ("time", *"abc")]
            check(int(dataset.count), committed, variables)
        if committed > MOST_RECORDS:
            path, files = tmp_path / f"{files}.nc", files + 1


def check_definitions(dataset, allowed):
    """The state after one of the `allowed` numbers of commits, whole."""
    count = int(getattr(dataset, "count", 0))
    assert count in allowed
    assert set(dataset.variables) == {"time"} | {f"v{number}" for number in range(count)}
    assert len(getattr(dataset, "history", "")) == max(3 * (count - 1), 0)
    assert dataset["time"][:].tolist() == list(range(count))
    for number in range(count):
        variable = dataset[f"v{number}"]
        assert variable.round == number
        row = variable[number] if number % 3 == 0 else variable[:]
        assert np.asarray(row).tolist() == [number] * 7


@pytest.mark.parametrize("version", ["CDF1", "CDF2", "CDF5"])
@pytest.mark.parametrize("kills", [20, pytest.param(300, marks=pytest.mark.long)])
def test_definitions_of_a_classic_file_come_whole(rust_example, tmp_path, version, kills):
    program = rust_example("define_forever")
    moments = random.Random(2)
    path = tmp_path / "file.nc"
    for _ in range(kills):
        path.unlink(missing_ok=True)
        committed = kill_at_random([program, path, version], moments)
        before = path.read_bytes()
        with isotach.Dataset(path) as dataset:
            check_definitions(dataset, (committed, committed + 1))
        isotach.Dataset(path, "a").close()
        assert path.read_bytes() == before
        with isotach.Dataset(path, "a") as dataset:
            check_definitions(dataset, (committed, committed + 1))
            dataset.more = 1
        # libnetcdf knows no redo records: before, it may meet half a header.
        with netCDF4.Dataset(path) as dataset:
            check_definitions(dataset, (committed, committed + 1))
