"""xarray's own tests of its netCDF4 engine, run on this package in netCDF4-python's place; and with
``engine="isotach"``, written by `isotach.to_netcdf`.
"""

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
#: Has xarray's methods hand on to `isotach.to_netcdf` what names our engine.
OUR_ENGINE = """
import inspect
import isotach
import xarray

def handing_on(kind):
    theirs = kind.to_netcdf
    _, target, *names = inspect.signature(theirs).parameters

    def to_netcdf(self, *arguments, **options):
        options.update(zip((target, *names), arguments))
        if options.get("engine") != "isotach":
            return theirs(self, **options)
        return isotach.to_netcdf(self, options.pop(target, None), **options)

    return to_netcdf

for kind in (xarray.Dataset, xarray.DataArray, xarray.DataTree):
    kind.to_netcdf = handing_on(kind)
"""
ENGINE_TESTS = """
import contextlib
import isotach
import xarray.tests.test_backends as suite
import xarray.tests.test_backends_datatree as trees
from isotach._to_netcdf import IsotachWritableDataStore
from xarray.backends.file_manager import DummyFileManager

class Ours:
    engine = "isotach"

    @contextlib.contextmanager
    def create_store(self):
        with suite.create_tmp_file() as path:
            yield IsotachWritableDataStore(DummyFileManager(isotach.Dataset(path, "w")))

class TestData(Ours, suite.TestNetCDF4Data): pass
class TestViaDask(Ours, suite.TestNetCDF4ViaDaskData): pass
class TestInMemory(Ours, suite.InMemoryNetCDFWithGroups): pass
class TestNetCDF3(Ours, suite.TestNetCDF3ViaNetCDF4Data):
    create_store = suite.TestNetCDF3ViaNetCDF4Data.create_store
class TestClassic(Ours, suite.TestNetCDF4ClassicViaNetCDF4Data):
    create_store = suite.TestNetCDF4ClassicViaNetCDF4Data.create_store
class TestTrees(trees.NetCDFIOBase):
    engine = "isotach"
"""
NEEDS_NEW_XARRAY = pytest.mark.skipif(
    tuple(int(part) for part in xr.__version__.split(".")[:2]) < SINCE, reason="an older xarray"
)


def run_xarray_suite(folder, first, **options):
    """Runs the tests in a process that does `first` before it imports xarray."""
    for module, names in SUITES.items():
        (folder / f"{module}_again.py").write_text(TESTS.format(module=module, names=names))
    run_tests(folder, first, **options)


def run_tests(folder, first, **options):
    (folder / "conftest.py").write_text(first + FIXTURES)
    command = [sys.executable, "-m", "pytest", "-q", "-W", "ignore", "-p", "no:cacheprovider"]
    command += ["--rootdir", folder, folder]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, **options)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-1000:]
    assert int(re.search(r"(\d+) passed", done.stdout)[1]) > 200
    print(done.stdout.splitlines()[-1])


@NEEDS_NEW_XARRAY
def test_xarray_does_not_notice(tmp_path):
    run_xarray_suite(tmp_path, INSTEAD)


@pytest.mark.long
@NEEDS_NEW_XARRAY
def test_our_engine(tmp_path):
    (tmp_path / "test_engine.py").write_text(ENGINE_TESTS)
    run_tests(tmp_path, OUR_ENGINE)
