"""The same calls make the same bytes: on any number of threads, on any day, in any process."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest
from test_copy import COMMAND

ROOT = Path(__file__).resolve().parent
#: Threads, and days from now. Each process orders its hash tables otherwise.
RUNS = [(1, 0), (2, 400), (8, -4000)]


@pytest.fixture(scope="module")
def clock(tmp_path_factory):
    library = tmp_path_factory.mktemp("clock") / "other_clock.so"
    command = ["cc", "-shared", "-fPIC", "-Wall", "-Werror", "-o", library, ROOT / "other_clock.c"]
    subprocess.run(command, check=True)
    return library


def run(command, threads, days, clock, **environment):
    environment = {
        **os.environ,
        "ISOTACH_THREADS": str(threads),
        "LD_PRELOAD": str(clock),
        "OTHER_CLOCK_DAYS": str(days),
        **environment,
    }
    return subprocess.run(
        command, check=True, env=environment, timeout=300, capture_output=True, text=True
    )


def digests(folder):
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in folder.iterdir()}


def test_there_is_another_clock(clock):
    command = [sys.executable, "-c", "import time; print(time.time())"]
    now, then = (float(run(command, 1, days, clock).stdout) for days in (0, 400))
    assert 399 * 86400 < then - now < 401 * 86400


@pytest.fixture(scope="module")
def written(tmp_path_factory, clock):
    """What the script wrote, for each of the runs."""
    folders = []
    for threads, days in RUNS:
        folder = tmp_path_factory.mktemp("written")
        run([sys.executable, ROOT / "write_the_same.py", folder], threads, days, clock)
        folders.append(folder)
    return folders


def test_python_writes_the_same(written):
    first, *others = (digests(folder) for folder in written)
    assert len(first) == 5
    for other, how in zip(others, RUNS[1:], strict=True):
        assert other == first, f"threads, days: {how}"


def alike(tmp_path, clock, command, **environment):
    """Runs the command with another file to write to, for each of the runs."""
    made = set()
    for number, (threads, days) in enumerate(RUNS):
        new = tmp_path / f"{number}.nc"
        run([*command, new], threads, days, clock, **environment)
        made.add(hashlib.sha256(new.read_bytes()).hexdigest())
        new.unlink()
    return len(made) == 1


@pytest.mark.parametrize("kind", ["nc4", "nc7", "cdf5"])
def test_copies_are_the_same(tmp_path, written, clock, kind):
    from_file = written[0] / ("NETCDF4_CLASSIC.nc" if kind != "nc4" else "NETCDF4.nc")
    flags = [] if kind == "cdf5" else ["-d", "3", "-s", "-c", "t/3,y/70,x/90"]
    assert alike(tmp_path, clock, [COMMAND, "copy", "-k", kind, *flags, from_file])


@pytest.mark.parametrize("kind", ["nc4", "classic"])
def test_files_from_cdl_are_the_same(tmp_path, written, clock, kind):
    name = "NETCDF4.nc" if kind == "nc4" else "NETCDF3_CLASSIC.nc"
    variables = "fixed,v1,v2" + (",lists,pairs,/group3/texts" if kind == "nc4" else "")
    text = tmp_path / "text.cdl"
    dump = [COMMAND, "dump", "-v", variables, written[0] / name]
    text.write_text(subprocess.run(dump, check=True, capture_output=True, text=True).stdout)
    assert alike(tmp_path, clock, [COMMAND, "generate", "-k", kind, text, "-o"])


@pytest.mark.parametrize("kind", ["nc4", "cdf5"])
def test_c_writes_the_same(tmp_path, written, clock, libraries, kind):
    flags = ["-d", "3", "-s"] if kind == "nc4" else []
    command = ["nccopy", "-k", kind, *flags, written[0] / "NETCDF4_CLASSIC.nc"]
    trace = tmp_path / "trace.jsonl"
    environment = {**libraries.environment(ours=True), "ISOTACH_TRACE": str(trace)}
    assert alike(tmp_path, clock, command, **environment)
    # It ran on our library, not on the one that it is linked to.
    assert trace.stat().st_size
