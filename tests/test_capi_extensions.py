"""netCDF4-python's extensions as others build them, on ours, which tells HDF5's version."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import netCDF4
import pytest
from capi_library import SONAMES
from test_capi_python import unpacked

#: What Debian's extension runs in.
DEBIAN_PYTHON = "/usr/bin/python3"
DEBIAN_VERSION = "1.6.2"
#: What HDF5 this library says it is, where no other is there.
OWN = "1.14.6"
#: What its own tests without network give; see docs/compatibility.md.
WHEEL_RESULTS = {"passed": 156, "skipped": 2, "xpassed": 1}
DEBIAN_RESULTS = {"passed": 103}

IDENTIFY = """
import sys
for name in sys.argv[1:]:
    __import__(name)
netCDF4, h5py = map(sys.modules.get, ("netCDF4", "h5py"))
if h5py:
    print(*h5py.h5.get_libversion(), sep=".")
if netCDF4:
    print(netCDF4.__hdf5libversion__)
    print(netCDF4.getlibversion())
if netCDF4 and h5py:
    with netCDF4.Dataset("x.nc", "w") as dataset:
        dataset.createDimension("x", 3)
        dataset.createVariable("v", "i4", ("x",), zlib=True)[:] = [1, 2, 3]
    with h5py.File("x.nc") as file:
        assert list(file["v"]) == [1, 2, 3]
    with h5py.File("y.nc", "w") as file:
        file["v"] = [4, 5]
    with netCDF4.Dataset("y.nc") as dataset:
        assert list(dataset["v"]) == [4, 5]
"""


@pytest.fixture(scope="module")
def wheel(libraries, tmp_path_factory):
    """Where Python finds the installed extension, with our library in place of its own."""
    folder, package = tmp_path_factory.mktemp("wheel"), Path(netCDF4.__file__).parent
    originals = list((package.parent / "netcdf4.libs").glob("libnetcdf-*"))
    if not originals:
        pytest.skip("LEFT OUT: netCDF4 was not installed from a wheel")
    shutil.copytree(package, folder / "netCDF4")
    (folder / "netcdf4.libs").mkdir()
    (folder / "netcdf4.libs" / originals[0].name).symlink_to(libraries.folder / SONAMES[-1])
    return folder


def said(python, modules, folder, env):
    command = [python, "-c", IDENTIFY, *modules]
    done = subprocess.run(command, cwd=folder, env=os.environ | env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def check_versions(python, folder, env):
    """Each gets the version of its own libhdf5, else of one that is loaded, else ours."""
    [theirs] = said(python, ["h5py"], folder, {})
    assert theirs != OWN
    alone, library = said(python, ["netCDF4"], folder, env)
    assert alone == OWN and "isotach" in library
    before = said(python, ["h5py", "netCDF4"], folder, env)
    assert before == [theirs, theirs, library]
    after = said(python, ["netCDF4", "h5py"], folder, env)
    assert after == [theirs, OWN, library]


def test_the_wheels_extension_beside_h5py(wheel, tmp_path):
    check_versions(sys.executable, tmp_path, {"PYTHONPATH": str(wheel)})


def test_every_caller_has_its_own_hdf5(libraries, tmp_path):
    """Also where ours is the first library that names are looked up in."""
    preloaded = {"LD_PRELOAD": str(libraries.folder / SONAMES[-1])}
    for module in ("h5py", "netCDF4"):
        theirs = said(sys.executable, [module], tmp_path, {})[0]
        assert said(sys.executable, [module], tmp_path, preloaded)[0] == theirs


def outcomes(python, folder, env):
    """How many of its own tests that need no network ended how; and what was said last."""
    names = ["-o", "python_files=tst_*.py test_*.py", "--ignore=tst_dap.py"]
    command = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", *names, "."]
    env = os.environ | env | {"NO_NET": "1"}
    done = subprocess.run(
        command, cwd=folder, env=env, capture_output=True, text=True, timeout=1200
    )
    counts = re.findall(r"(\d+) (passed|failed|skipped|xpassed|xfailed|error)", done.stdout)
    return {outcome: int(count) for count, outcome in counts}, done.stdout[-6000:]


@pytest.mark.long
def test_the_wheels_own_tests(wheel, tmp_path):
    tests = unpacked(tmp_path, netCDF4.__version__) / "test"
    found, text = outcomes(sys.executable, tests, {"PYTHONPATH": str(wheel)})
    assert found == WHEEL_RESULTS, text


@pytest.fixture
def debian(libraries):
    """The environment in which Debian's extension is on ours."""
    modules = "import netCDF4, h5py, pytest"
    there = subprocess.run([DEBIAN_PYTHON, "-c", modules], capture_output=True, check=False)
    if there.returncode != 0:
        pytest.skip("LEFT OUT: apt-get install python3-netcdf4 python3-h5py python3-pytest")
    return {"LD_LIBRARY_PATH": str(libraries.folder)}


@pytest.mark.long
def test_debians_extension_beside_h5py(debian, tmp_path):
    check_versions(DEBIAN_PYTHON, tmp_path, debian)


@pytest.mark.long
def test_debians_own_tests(debian, tmp_path):
    """It compares versions as text, for which ours says an earlier one."""
    tests = unpacked(tmp_path, DEBIAN_VERSION) / "test"
    found, text = outcomes(DEBIAN_PYTHON, tests, debian | {"ISOTACH_NETCDF_VERSION": "4.9.3"})
    assert found == DEBIAN_RESULTS, text
