"""The corpus's files copied by ``isotach copy``, and read by the reference libraries.

Each copy is asked by the corpus's own golden.py, through libnetcdf, what is in it, and that is
compared with what the same library found in the original: dimensions, types, attributes, storage,
filters, fill values, values. Where they differ, or a file is not copied, copy_differences.json says
why. That list can only shrink.
"""

import concurrent.futures
import json
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import h5py
import hdf5plugin
import netCDF4
import numpy as np
import pytest
from conftest import CORPUS, corpus_files

ROOT = Path(__file__).resolve().parent
COMMAND = os.environ.get("ISOTACH_COMMAND", str(Path(sysconfig.get_path("scripts")) / "isotach"))
DIFFERENCES = json.loads((ROOT / "copy_differences.json").read_text(encoding="utf-8"))
MOST_BYTES = 4 << 20
#: Programs that complain where a file is not as it should be, and what they are asked.
READERS = {"ncdump": ["ncdump", "-h"], "h5dump": ["h5dump", "-H"], "h5stat": ["h5stat"]}
#: Where libnetcdf finds the filters that it does not have itself.
WITH_FILTERS = {**os.environ, "HDF5_PLUGIN_PATH": hdf5plugin.PLUGIN_PATH}

on_the_corpus = pytest.mark.skipif(not CORPUS.is_dir(), reason=f"there is no corpus at {CORPUS}")


def run(*arguments, env=None):
    return subprocess.run(
        arguments,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=120,
        check=False,
        env=env,
    )


def copy(*arguments):
    return run(COMMAND, "copy", *arguments)


def copied(file, new):
    """Why the file was not copied; else, what programs complain of in its copy."""
    new.parent.mkdir(parents=True, exist_ok=True)
    done = copy(file, new)
    if done.returncode:
        return done.stderr, []
    wrong = []
    is_hdf5 = new.read_bytes()[:4] == b"\x89HDF"
    for program, command in READERS.items():
        if shutil.which(program) and (is_hdf5 or program == "ncdump"):
            told = run(*command, new)
            if told.returncode or told.stderr:
                wrong.append((program, "no complaint", told.stderr))
    if is_hdf5:
        with h5py.File(new) as opened:
            opened.visititems(lambda _, found: dict(found.attrs.items()) and None)
    return None, wrong


def ask_libnetcdf(copies):
    """Leaves beside each copy what libnetcdf finds in it. One program asks about many, as it takes
    longer to start than to ask."""
    ask = [sys.executable, CORPUS / "golden.py", "--sections", "netcdf", *copies]
    subprocess.run(ask, env=WITH_FILTERS, capture_output=True, timeout=1200, check=False)


@pytest.fixture(scope="module")
def found(compare, tmp_path_factory):
    """For each file of the corpus, why it was not copied, and what is wrong with its copy."""
    folder = tmp_path_factory.mktemp("copies")
    files = corpus_files("classic", "netcdf4")
    names = [str(file.relative_to(CORPUS)) for file in files if file.stat().st_size < MOST_BYTES]
    cores = os.cpu_count() or 1
    with concurrent.futures.ThreadPoolExecutor(cores) as threads:
        told = threads.map(lambda name: copied(CORPUS / name, folder / name), names)
        told = dict(zip(names, told, strict=True))
        copies = [folder / name for name, (refusal, _) in told.items() if refusal is None]
        list(threads.map(ask_libnetcdf, [copies[part::cores] for part in range(cores)]))
    for name, (refusal, wrong) in told.items():
        if refusal is None:
            golden, ours = (
                json.loads(Path(f"{path / name}.json").read_text(encoding="utf-8"))["netcdf"]
                for path in (CORPUS, folder)
            )
            compare.diff(golden, ours, "netcdf", wrong)
    return told


@on_the_corpus
def test_copies_are_equal(found):
    assert len(found) > 200
    wrong = []
    for name, (refusal, lines) in found.items():
        expected = DIFFERENCES["files"].get(name, {})
        if refusal and expected.get("error", "\0") not in refusal:
            wrong.append(f"{name}: {refusal}")
        if len(lines) > expected.get("count", 0):
            wrong.append(f"{name}: {len(lines)} differences")
            wrong += [f"    {path}: {was!s:.99}, now {now!s:.100}" for path, was, now in lines[:20]]
    assert not wrong, "\n" + "\n".join(wrong)


@on_the_corpus
def test_the_list_shrinks(found):
    wrong = []
    for name, entry in DIFFERENCES["files"].items():
        refusal, lines = found[name]
        if ("error" in entry) != (refusal is not None):
            wrong.append(f"{name}: refused or not, other than it is listed")
        if len(lines) < entry.get("count", 0):
            wrong.append(f"{name}: has only {len(lines)} differences now: lower the count")
    assert not wrong, "\n" + "\n".join(wrong)
    used = {entry["reason"] for entry in DIFFERENCES["files"].values()}
    assert used == set(DIFFERENCES["reasons"])


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "from.nc"
    with netCDF4.Dataset(path, "w") as dataset:
        dataset.createDimension("time", None)
        dataset.createDimension("x", 40)
        variable = dataset.createVariable("v", "i4", ("time", "x"), zlib=True, complevel=1)
        variable[:] = np.arange(400).reshape(10, 40)
        variable.units = "m"
    return path


def test_other_storage(path, tmp_path):
    new = tmp_path / "new.nc"
    assert copy("-d", "5", "-s", "-u", "-c", "time/3,x/", path, new).returncode == 0
    with netCDF4.Dataset(new) as dataset:
        variable = dataset["v"]
        assert variable.chunking() == [3, 40]
        assert variable.filters()["complevel"] == 5
        assert variable.filters()["shuffle"]
        assert not dataset.dimensions["time"].isunlimited()
        assert (variable[:] == np.arange(400).reshape(10, 40)).all()


@pytest.mark.parametrize(
    ("kind", "model"),
    [
        ("classic", "NETCDF3_CLASSIC"),
        ("2", "NETCDF3_64BIT_OFFSET"),
        ("64-bit-data", "NETCDF3_64BIT_DATA"),
        ("netCDF-4", "NETCDF4"),
        ("nc7", "NETCDF4_CLASSIC"),
    ],
)
def test_other_kinds(path, tmp_path, kind, model):
    new = tmp_path / "new.nc"
    told = copy("-k", kind, path, new)
    assert told.returncode == 0, told.stderr
    with netCDF4.Dataset(new) as dataset:
        assert dataset.data_model == model
        assert dataset.dimensions["time"].isunlimited()
        assert dataset["v"].units == "m"
        assert (dataset["v"][:] == np.arange(400).reshape(10, 40)).all()


def test_a_failed_copy_leaves_the_old_file(tmp_path):
    path, new = tmp_path / "from.nc", tmp_path / "new.nc"
    with netCDF4.Dataset(path, "w") as dataset:
        dataset.createGroup("group")
        dataset.title = "t"
    new.write_bytes(b"what was there")
    told = copy("-k", "classic", path, new)
    assert told.returncode == 1
    assert "/group" in told.stderr
    assert new.read_bytes() == b"what was there"
    told = copy("-k", "classic", "--leave-out", path, new)
    assert told.returncode == 4
    assert "left out /group" in told.stderr
    with netCDF4.Dataset(new) as dataset:
        assert dataset.title == "t"
