"""A writer that is killed leaves a file that others read, with all that it had committed."""

import random
import signal
import subprocess
import sys
import time

import h5py
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
    program = rust_example("isotach", "append_forever")
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
