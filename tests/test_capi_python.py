"""netCDF4-python built from its source distribution against what `make install-capi` installs."""

import os
import re
import subprocess
import sys
import tarfile

import pytest
from capi_library import ROOT
from test_xarray_suite import NEEDS_NEW_XARRAY, run_xarray_suite

VERSION = "1.7.5.1"
#: What its own tests give without network; see docs/compatibility.md.
RESULTS = {"passed": 156, "skipped": 2, "xpassed": 1}
IDENTIFY = "import netCDF4; print(netCDF4.__version__, netCDF4.getlibversion(), netCDF4.__file__)"

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(sys.version_info < (3, 11), reason=f"LEFT OUT: {VERSION} is not for it"),
]


def pip(*arguments, **options):
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "-q", *arguments]
    return subprocess.run(list(map(str, command)), capture_output=True, text=True, **options)


def unpacked(folder, version):
    """Its source distribution."""
    wanted = ["--no-deps", "--no-binary", "netCDF4", f"netCDF4=={version}"]
    done = pip("download", *wanted, "--dest", folder, check=False)
    if done.returncode != 0:
        pytest.skip(f"LEFT OUT: pip did not get netCDF4 {version}: {done.stderr[-300:]}")
    with tarfile.open(next(folder.glob("*.tar.gz"))) as archive:
        archive.extractall(folder, filter="data")
    return next(path for path in folder.iterdir() if path.is_dir())


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    return unpacked(tmp_path_factory.mktemp("netcdf4-python"), VERSION)


@pytest.fixture(scope="module")
def environment(libraries, sources, tmp_path_factory):
    """Where Python finds the package, built with our headers, and that our library."""
    prefix, packages = tmp_path_factory.mktemp("prefix"), tmp_path_factory.mktemp("packages")
    library = libraries.folder / "libnetcdf.so"
    subprocess.run([ROOT / "tools" / "install-capi", library, prefix], check=True)
    path = f"{prefix / 'bin'}:{os.environ['PATH']}"
    settings = os.environ | {"NETCDF4_DIR": str(prefix), "USE_NCCONFIG": "1", "PATH": path}
    built = pip("install", "--no-deps", "--target", packages, sources, env=settings, check=False)
    assert built.returncode == 0, built.stderr[-4000:]
    return {
        "PYTHONPATH": str(packages),
        "LD_LIBRARY_PATH": str(prefix / "lib"),
        "NO_NET": "1",
    }


def test_it_is_that_package(environment):
    done = subprocess.run(
        [sys.executable, "-c", IDENTIFY], env=os.environ | environment, capture_output=True
    )
    version, *library, file = done.stdout.decode().split()
    assert version == VERSION
    assert "isotach" in library
    assert file.startswith(environment["PYTHONPATH"])


def test_its_own_tests(environment, sources):
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "."]
    done = subprocess.run(
        command,
        cwd=sources / "test",
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=1200,
    )
    counts = re.findall(r"(\d+) (passed|failed|skipped|xpassed|xfailed|error)", done.stdout)
    found = {outcome: int(count) for count, outcome in counts}
    assert found == RESULTS, done.stdout[-6000:] + done.stderr[-1000:]


@NEEDS_NEW_XARRAY
def test_xarray_on_it(environment, tmp_path):
    """xarray's own tests of its netCDF4 engine."""
    check = f'import netCDF4\nassert netCDF4.__file__.startswith("{environment["PYTHONPATH"]}")\n'
    run_xarray_suite(tmp_path, check, env=os.environ | environment)
