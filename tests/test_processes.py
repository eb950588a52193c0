"""A writer in one process, readers of three libraries in others: what is read is of one commit.

A handle may show structures of several commits (decision 20), so each value is told apart: it is of
one commit, and never of an older one than the time before. `ISOTACH_SECONDS` says for how long.
"""

import json
import os
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import h5py
import isotach
import netCDF4
import numpy as np
import pytest

SECONDS = float(os.environ.get("ISOTACH_SECONDS", "3"))
#: Between two commits: space is given out again two commits later, and no read takes that long.
PAUSE = 0.03
#: What the libraries raise for a file that is not whole.
ERRORS = (OSError, RuntimeError, KeyError, IndexError, AttributeError, ValueError)
LENGTH = 4000


def write(path, format):
    """Commit `n` has `n` records, and its number in all else that it changes."""
    is_hdf5 = not format.startswith("NETCDF3")
    dataset = isotach.Dataset(path, "w", format=format, commit_interval=None)
    dataset.createDimension("time", None)
    dataset.createDimension("x0", LENGTH)
    records = dataset.createVariable("records", "i4", ("time",))
    named = dataset.createVariable("named0", "i4", ())
    if is_hdf5:
        dataset.createVariable("one", "i4", ("x0",), zlib=True, chunksizes=(LENGTH,))
        dataset.createVariable("many", "i4", ("x0",), zlib=True, chunksizes=(LENGTH // 8,))
        dataset.createVariable("words", str, ("x0",), chunksizes=(LENGTH,))
        dataset["words"][:] = np.full(LENGTH, "commit 0", object)
    for name in ("one", "many") if is_hdf5 else ():
        dataset[name][:] = 0
    dataset.number = np.int32(0)
    named.number = np.int32(0)
    dataset.sync()
    print("begun", flush=True)
    end = time.monotonic() + 100
    number = 0
    while not Path(f"{path}.stop").exists():
        assert time.monotonic() < end, "nobody said that all is read"
        number += 1
        records[number - 1] = number - 1
        if is_hdf5:
            dataset["one"][:] = number
            dataset["many"][:] = number
            dataset["words"][:100] = np.full(100, f"commit {number}", object)
        dataset.number = np.int32(number)
        dataset.renameVariable(f"named{number - 1}", f"named{number}")
        dataset.renameDimension(f"x{number - 1}", f"x{number}")
        named.number = np.int32(number)
        dataset.sync()
        time.sleep(PAUSE)
    dataset.close()
    print(json.dumps({"commits": number}))


def equal(values):
    """The number that all of them are."""
    values = np.asarray(values)
    assert (values == values.flat[0]).all(), values
    return int(values.flat[0])


def counted(values):
    """How many records there are, each its own number."""
    np.testing.assert_array_equal(values, np.arange(len(values)))
    return len(values)


def words(values):
    [first] = {*values[:100]}
    assert {*values[100:]} <= {"commit 0"}
    return int(first.split()[1])


def numbers_by_netcdf(dataset):
    """What tells the commit, in all that there is."""
    dataset.set_auto_mask(False)
    yield "number", int(dataset.number)
    yield "records", counted(dataset["records"][:])
    [name] = [name for name in dataset.variables if name.startswith("named")]
    yield "name", int(name.removeprefix("named"))
    yield "of the renamed", int(dataset[name].number)
    [along] = [name for name in dataset.dimensions if name.startswith("x")]
    yield "dimension", int(along.removeprefix("x"))
    if "one" in dataset.variables:
        yield "one", equal(dataset["one"][:])
        yield "many", equal(dataset["many"][:])
        yield "words", words(dataset["words"][:])


def numbers_by_h5py(file):
    yield "number", equal(file.attrs["number"])
    yield "records", counted(file["records"][:])
    [name] = [name for name in file if name.startswith("named")]
    yield "name", int(name.removeprefix("named"))
    yield "of the renamed", equal(file[name].attrs["number"])
    yield "one", equal(file["one"][:])
    yield "words", words(file["words"].asstr()[:])


def read(path, library):
    """Opens and reads again and again; tells how often, and what was met."""
    opened = {"h5py": h5py.File, "netCDF4": netCDF4.Dataset, "isotach": isotach.Dataset}[library]
    numbers = numbers_by_h5py if library == "h5py" else numbers_by_netcdf
    seen, errors, latest = set(), Counter(), Counter()
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        found = {}
        try:
            with opened(path) as file:
                for what, number in numbers(file):
                    found[what] = number
        except ERRORS as error:
            assert str(error)
            errors[f"{type(error).__name__}: {error}"[:200]] += 1
        for what, number in found.items():
            assert number >= latest[what], (what, found)
            latest[what] = number
        seen.update(found.values())
    print(json.dumps({"seen": len(seen), "errors": errors}))


@pytest.mark.parametrize("format", ["NETCDF4", "latest", "NETCDF3_64BIT_DATA"])
def test_readers_beside_a_writer(tmp_path, format):
    path = tmp_path / "file.nc"
    libraries = ["netCDF4", "isotach", "isotach"]
    if not format.startswith("NETCDF3"):
        libraries.append("h5py")
    command = [sys.executable, Path(__file__)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    # Libhdf5 would not open what another process writes.
    environment = {**os.environ, "HDF5_USE_FILE_LOCKING": "FALSE"}
    with subprocess.Popen([*command, "write", path, format], **pipes) as writer:
        assert writer.stdout.readline() == "begun\n"
        readers = [
            subprocess.Popen([*command, "read", path, library], env=environment, **pipes)
            for library in libraries
        ]
        told = [reader.communicate(timeout=SECONDS + 60) for reader in readers]
        Path(f"{path}.stop").touch()
        written, complaint = writer.communicate(timeout=SECONDS + 60)
    assert writer.returncode == 0, complaint
    commits = json.loads(written)["commits"]
    for library, reader, (out, complaint) in zip(libraries, readers, told, strict=True):
        assert reader.returncode == 0, (library, complaint)
        outcome = json.loads(out)
        print(library, commits, outcome)
        assert outcome["seen"] > 3, (library, outcome)
        if library == "isotach":
            assert not outcome["errors"], outcome


if __name__ == "__main__":
    {"write": write, "read": read}[sys.argv[1]](*sys.argv[2:])
