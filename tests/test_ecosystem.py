"""Test suites of packages that use netCDF4, on netCDF4-python and on Isotach in its place.

What passes there has to pass here, but for what `EXCUSED` names. The packages and their tests are
in an environment of their own, below `.build`, which stays for the next run.
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import NamedTuple

import isotach
import pytest

ROOT = Path(__file__).resolve().parent.parent
pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(sys.version_info < (3, 11), reason="LEFT OUT: the packages are not for it"),
]


class Suite(NamedTuple):
    """Tests of a package."""

    requirement: str
    #: Modules of the installed package, or else paths in its source distribution.
    tests: tuple[str, ...]
    #: As many pass on netCDF4-python at least.
    least: int
    in_sources: bool = False
    #: One where the tests share files that they make.
    workers: int = 2


SUITES = {
    "h5netcdf": Suite("h5netcdf==1.8.2", ("h5netcdf.tests",), 300),
    "ncdata": Suite("ncdata==0.4.0", ("tests",), 700, in_sources=True),
    "compliance-checker": Suite(
        "compliance-checker==6.1.0", ("compliance_checker.tests",), 200, workers=1
    ),
    "satpy": Suite(
        "satpy==0.60.0",
        (
            "satpy.tests.cf_tests",
            "satpy.tests.writer_tests.test_cf",
            "satpy.tests.reader_tests.test_netcdf_utils",
        ),
        70,
    ),
    "iris": Suite(
        "scitools-iris==3.14.1",
        (
            "iris.tests.unit.fileformats.netcdf",
            "iris.tests.unit.fileformats.nc_load_rules",
            "iris.tests.unit.fileformats.cf",
            "iris.tests.integration.netcdf",
            "iris.tests.test_netcdf",
        ),
        700,
    ),
}
#: What passes there and not here, by the end of its name, and why. A line that no longer applies
#: fails.
EXCUSED = {
    "iris": {
        "TestSaverPermissions::test_noexist_directory": (
            "a file in a folder that is not there: the error says so, and not Permission denied"
        ),
    },
    "compliance-checker": {
        "test_cli.py::TestCLI::test_nczarr_pass_through[local_file]": "NCZarr is not supported",
    },
}
BESIDE = (
    "netCDF4==1.7.5.1",
    "pytest>=9",
    "pytest-xdist>=3.8",
    "pytest-mock",
    "pytest-timeout",
    "pyspectral",
    "requests-mock",
    "filelock",
)
#: Writes down what became of each test, and whose `netCDF4` the workers have.
OUTCOMES = """
import json, os, sys
import netCDF4

# By this path iris looks for netCDF's programs, in the environment that Python was made for.
os.__file__ = os.path.join(sys.prefix, "lib", "python", "os.py")

found, owners = {}, set()

def pytest_runtest_logreport(report):
    if hasattr(report, "wasxfail"):
        return
    if report.when == "call" or report.outcome != "passed":
        name = report.nodeid.replace("\\\\", "/")
        found[name] = "failed" if found.get(name) == "failed" else report.outcome

def pytest_testnodedown(node, error):
    owners.add(node.workeroutput["owner"])

def pytest_sessionfinish(session):
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["owner"] = netCDF4.Dataset.__module__
    else:
        with open(os.environ["OUTCOMES"], "w") as file:
            json.dump({"owners": sorted(owners), "found": found}, file)
"""


def pip(python, *arguments):
    command = [python, "-m", "pip", "--disable-pip-version-check", "-q", *arguments]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.skip(f"LEFT OUT: pip did not get the packages: {done.stderr[-500:]}")


@pytest.fixture(scope="session")
def environment():
    """The folder of the environment: `bin/python`, `sources`, and `plugin` for Python's path."""
    wanted = [*BESIDE, *(suite.requirement for suite in SUITES.values())]
    version = hashlib.sha256(f"{sys.version} {wanted}".encode()).hexdigest()[:16]
    folder = ROOT / ".build" / f"ecosystem-{version}"
    if not (folder / "whole").exists():
        subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
        python = folder / "bin" / "python"
        pip(python, "install", *wanted)
        for suite in SUITES.values():
            if suite.in_sources:
                name = suite.requirement.split("==")[0]
                unpack(python, name, suite.requirement, folder / "sources" / name)
        # iris looks for these beside Python.
        for program in filter(shutil.which, ("ncdump", "ncgen", "nccopy")):
            (folder / "bin" / program).symlink_to(shutil.which(program))
        (folder / "plugin").mkdir()
        (folder / "whole").touch()
    (folder / "plugin" / "outcomes.py").write_text(OUTCOMES)
    # The package under test, and what is known of it: nothing else of where it is installed.
    installed = Path(isotach.__file__).parent
    for found in (installed, *installed.parent.glob("isotach-*.dist-info")):
        link = folder / "plugin" / found.name
        link.unlink(missing_ok=True)
        link.symlink_to(found)
    return folder


def unpack(python, name, requirement, folder):
    folder.mkdir(parents=True)
    pip(python, "download", "--no-deps", "--no-binary", name, "--dest", folder, requirement)
    with tarfile.open(next(folder.glob("*.tar.gz"))) as archive:
        archive.extractall(folder, filter="data")


def outcomes(environment, suite, name, folder, *, ours):
    """What became of each test of the suite."""
    python = environment / "bin" / "python"
    command = [
        python,
        *(["-m", "isotach.run"] if ours else []),
        "-m",
        "pytest",
        "-q",
        "-W",
        "ignore",
    ]
    command += ["-p", "outcomes", "-p", "no:cacheprovider", "-n", suite.workers, "--timeout", "300"]
    command += ["-o", "addopts="]
    where, root = folder, environment
    if suite.in_sources:
        where = next(path for path in (environment / "sources" / name).iterdir() if path.is_dir())
        root = where
        command += suite.tests
    else:
        command += ["--pyargs", *suite.tests]
    command += ["--rootdir", root]
    told = folder / f"{'ours' if ours else 'original'}.json"
    env = {**os.environ, "PYTHONPATH": str(environment / "plugin"), "OUTCOMES": str(told)}
    # Graphics go nowhere, and nothing is asked of the network.
    env |= {"MPLBACKEND": "Agg", "NO_NET": "1"}
    with open(folder / f"{told.stem}.log", "wb") as log:
        subprocess.run(
            list(map(str, command)), cwd=where, env=env, stdout=log, stderr=log, timeout=3000
        )
    assert told.exists(), (folder / f"{told.stem}.log").read_text()[-4000:]
    answer = json.loads(told.read_text())
    assert answer["owners"] == ["isotach" if ours else "netCDF4._netCDF4"]
    return {test.split("site-packages/")[-1]: outcome for test, outcome in answer["found"].items()}


@pytest.mark.parametrize("name", SUITES)
def test_what_passes_on_the_original_passes_here(environment, tmp_path, name):
    suite = SUITES[name]
    original, here = (
        outcomes(environment, suite, name, tmp_path, ours=ours) for ours in (False, True)
    )
    passed = {test for test, outcome in original.items() if outcome == "passed"}
    lost = {test for test in passed if here.get(test) != "passed"}
    print(f"{name}: {len(passed)} pass on the original, {len(passed - lost)} of them here")
    assert len(passed) >= suite.least
    excused = set(EXCUSED.get(name, {}))
    assert {next(filter(test.endswith, excused), test) for test in lost} == excused
