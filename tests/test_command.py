"""The command ``isotach`` that comes with the package."""

import os
import shutil
import signal
import subprocess
import sys
import sysconfig
from pathlib import Path

import isotach
import netCDF4
import numpy as np
import pytest

SCRIPT = Path(sysconfig.get_path("scripts")) / "isotach"
COMMANDS = [[str(SCRIPT)], [sys.executable, "-m", "isotach"]]


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "file.nc"
    with netCDF4.Dataset(path, "w") as dataset:
        dataset.title = "a title"
        dataset.createDimension("x", 3)
        dataset.createVariable("x", "f8", ("x",))[:] = [1, 2, 3]
        dataset.createVariable("v", "i4", ("x",), zlib=True)[:] = [4, 5, 6]
    return path


@pytest.fixture
def large(tmp_path):
    path = tmp_path / "large.nc"
    with netCDF4.Dataset(path, "w") as dataset:
        dataset.createDimension("x", 20_000_000)
        dataset.createVariable("v", "i4", ("x",))[:] = np.arange(20_000_000)
    return path


def run(command, *arguments):
    return subprocess.run([*command, *arguments], capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize("command", COMMANDS, ids=["script", "module"])
def test_runs(command, path):
    shown = run(command, "info", path)
    assert shown.returncode == 0, shown.stderr
    assert "shuffle, deflate" in shown.stdout
    assert run(command, "check", path).returncode == 0
    assert run(command, "--version").stdout.startswith("isotach ")


def test_tells_what_went_wrong_by_its_exit_code(tmp_path):
    missing = run(COMMANDS[0], "dump", tmp_path / "nothing.nc")
    assert missing.returncode == 1
    assert "nothing.nc" in missing.stderr
    assert run(COMMANDS[0], "nothing").returncode == 2
    assert run(COMMANDS[0], "check", tmp_path / "nothing.nc").returncode == 3


@pytest.mark.skipif(shutil.which("ncdump") is None, reason="there is no ncdump")
@pytest.mark.parametrize("options", [{}, {"data": True}, {"coordvars": True}])
def test_to_cdl(path, options):
    with isotach.Dataset(path) as ours, netCDF4.Dataset(path) as theirs:
        assert ours.tocdl(**options) == theirs.tocdl(**options)
        ours.tocdl(**options, outfile=path.with_suffix(".cdl"))
    assert path.with_suffix(".cdl").read_text().startswith("netcdf file {")


@pytest.mark.skipif(shutil.which("ncdump") is None, reason="there is no ncdump")
def test_attributes_of_types_of_other_groups_to_cdl(tmp_path):
    """libnetcdf writes such an attribute without saying where its type is."""
    path = tmp_path / "types.nc"
    with netCDF4.Dataset(path, "w") as dataset:
        above, beside = dataset.createGroup("a"), dataset.createGroup("b/deep")
        cloud = above.createEnumType("i1", "cloud", {"clear": 0, "cumulus": 1, "missing": 127})
        for group in (above, beside):
            group.createDimension("x", 3)
            clouds = group.createVariable("clouds", cloud, ("x",), fill_value=127)
            clouds[:] = np.array([0, 1, 0], "i1")
    with isotach.Dataset(path) as ours, netCDF4.Dataset(path) as theirs:
        shown = ours.tocdl(data=True)
        assert shown == theirs.tocdl(data=True)
    assert "/a/cloud clouds:_FillValue = missing" in shown


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_is_interrupted_at_once(large):
    with subprocess.Popen(
        [*COMMANDS[0], "dump", large], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as running:
        # It has begun when its first lines are there; a full pipe then holds it up.
        assert running.stdout.readline().startswith(b"netcdf large")
        running.send_signal(signal.SIGINT)
        running.stdout.close()
        # Whoever goes on to write finds nobody who reads, and ends with 0.
        assert running.wait(60) == -signal.SIGINT


def test_ends_quietly_when_nobody_reads_on(large):
    with subprocess.Popen(
        [*COMMANDS[0], "dump", large], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as running:
        running.stdout.readline()
        running.stdout.close()
        assert running.stderr.read() == b""
        assert running.wait(60) == 0
