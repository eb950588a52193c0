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
INSTEAD = """
import sys
import isotach
sys.modules["netCDF4"] = isotach
from xarray.tests.conftest import *
"""
TESTS = """
import netCDF4
assert netCDF4.__name__ == "isotach"
import xarray.tests.{module} as suite
for name in {names}:
    globals()[name] = type(name, (getattr(suite, name),), {{}})
"""


@pytest.mark.skipif(
    tuple(int(part) for part in xr.__version__.split(".")[:2]) < SINCE, reason="an older xarray"
)
def test_xarray_does_not_notice(tmp_path):
    (tmp_path / "conftest.py").write_text(INSTEAD)
    for module, names in SUITES.items():
        (tmp_path / f"{module}_again.py").write_text(TESTS.format(module=module, names=names))
    command = [sys.executable, "-m", "pytest", "-q", "-W", "ignore", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*command, "--rootdir", tmp_path, tmp_path], capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-1000:]
    assert int(re.search(r"(\d+) passed", done.stdout)[1]) > 200
