"""xarray's own tests of its netCDF4 engine, run on this package in netCDF4-python's place."""

import re
import subprocess
import sys

import pytest
import xarray as xr

pytest.importorskip("xarray.tests.test_backends")

#: Earlier ones fail tests of their own with the libraries of today.
SINCE = (2025, 9)
SUITES = {
    "test_backends": [
        "TestNetCDF4Data",
        "TestNetCDF4AlreadyOpen",
        "TestNetCDF4InMemory",
        "TestNetCDF4ViaDaskData",
        "TestNetCDF3ViaNetCDF4Data",
        "TestNetCDF4ClassicViaNetCDF4Data",
    ],
    "test_backends_datatree": ["TestNetCDF4DatatreeIO"],
}
FIXTURES = "from xarray.tests.conftest import *\n"
INSTEAD = """
import sys
import isotach
sys.modules["netCDF4"] = isotach
import netCDF4
assert netCDF4.__name__ == "isotach"
"""
TESTS = """
import xarray.tests.{module} as suite
for name in {names}:
    globals()[name] = type(name, (getattr(suite, name),), {{}})
"""
NEEDS_NEW_XARRAY = pytest.mark.skipif(
    tuple(int(part) for part in xr.__version__.split(".")[:2]) < SINCE, reason="an older xarray"
)


def run_xarray_suite(folder, first, **options):
    """Runs the tests in a process that does `first` before it imports xarray."""
    (folder / "conftest.py").write_text(first + FIXTURES)
    for module, names in SUITES.items():
        (folder / f"{module}_again.py").write_text(TESTS.format(module=module, names=names))
    command = [sys.executable, "-m", "pytest", "-q", "-W", "ignore", "-p", "no:cacheprovider"]
    command += ["--rootdir", folder, folder]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, **options)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-1000:]
    assert int(re.search(r"(\d+) passed", done.stdout)[1]) > 200
    print(done.stdout.splitlines()[-1])


@NEEDS_NEW_XARRAY
def test_xarray_does_not_notice(tmp_path):
    run_xarray_suite(tmp_path, INSTEAD)
