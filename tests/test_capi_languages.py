"""R, Octave, Fortran and C++ on our library by the library path: what they print, their files."""

import functools
import gzip
import itertools
import subprocess
from pathlib import Path

import pytest
from capi_programs import check, need

SOURCES = Path(__file__).parent / "languages"
FORMATS = ["classic", "64bit-offset", "64bit-data", "netcdf4", "netcdf4-classic"]
R = ["Rscript", "--vanilla"]
OCTAVE = ["octave-cli", "--norc", "--quiet"]


def need_package(program, *test):
    """Leaves the test out where the program lacks the package."""
    need(program)
    if subprocess.run([program, *test], capture_output=True, check=False).returncode != 0:
        pytest.skip(f"LEFT OUT: {program} fails with {test[-1]}")


def need_r(package):
    need_package(*R, "-e", f"library({package})")


def need_octave():
    need_package(*OCTAVE, "--eval", "pkg load netcdf")


@pytest.fixture
def empty(tmp_path):
    """A folder without files, of which copies are made."""
    folder = tmp_path / "empty"
    folder.mkdir()
    return folder


# It has no choice but between the first and the fourth.
@pytest.mark.parametrize("form", ["classic", "netcdf4"])
@pytest.mark.long
def test_ncdf4(libraries, c_program, empty, tmp_path, form):
    need_r("ncdf4")
    check(libraries, c_program("read"), tmp_path, [*R, SOURCES / "ncdf4.R", form], empty)


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.long
def test_rnetcdf(libraries, c_program, empty, tmp_path, form):
    need_r("RNetCDF")
    check(libraries, c_program("read"), tmp_path, [*R, SOURCES / "rnetcdf.R", form], empty)


@pytest.mark.long
def test_rnetcdf_own_tests(libraries, c_program, empty, tmp_path):
    """All formats and types; where bit64 is missing they end early."""
    need_r("RNetCDF")
    need_r("bit64")
    own = Path("/usr/share/doc/r-cran-rnetcdf/tests/RNetCDF-test.R.gz")
    if not own.exists():
        pytest.skip(f"LEFT OUT: there is no {own}")
    (empty / "test.R").write_bytes(gzip.decompress(own.read_bytes()))
    check(libraries, c_program("read"), tmp_path, [*R, "test.R"], empty)


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.long
def test_octave(libraries, c_program, empty, tmp_path, form):
    need_octave()
    check(libraries, c_program("read"), tmp_path, [*OCTAVE, SOURCES / "netcdf.m", form], empty)


@pytest.mark.long
def test_octave_own_tests(libraries, c_program, empty, tmp_path):
    need_octave()
    command = [*OCTAVE, "--eval", "pkg load netcdf; test_netcdf"]
    check(libraries, c_program("read"), tmp_path, command, empty)


#: Sources, how they are compiled, and what is missing where they are not.
COMPILED = {
    "f77": (
        ["gfortran", "-cpp", "-ffree-line-length-none", "-fallow-argument-mismatch", "f77.F90"],
        ["-lnetcdff"],
        "libnetcdff-dev",
    ),
    "f90": (["gfortran", "f90.f90"], ["-lnetcdff"], "libnetcdff-dev"),
    "cxx4": (["g++", "-std=c++17", "cxx4.cpp"], ["-lnetcdf_c++4"], "libnetcdf-c++4-dev"),
    "cxx": (["g++", "cxx.cpp"], ["-lnetcdf_c++"], "libnetcdf-cxx-legacy-dev"),
}


@pytest.fixture(scope="session")
def program(tmp_path_factory):
    """Compiles a program once, against the original."""
    folder = tmp_path_factory.mktemp("compiled")

    @functools.cache
    def build(name):
        command, linked, package = COMPILED[name]
        need(command[0])
        command = [*command, "-O1", "-w", "-I/usr/include", *linked, "-lnetcdf"]
        found = subprocess.run(["ld", *linked, "-o", "/dev/null"], capture_output=True, check=False)
        if b"cannot find -l" in found.stderr:
            return package
        subprocess.run([*command, "-o", folder / name], cwd=SOURCES, check=True)
        return folder / name

    return build


def compiled_parameters():
    for name, form in itertools.product(COMPILED, FORMATS):
        # Neither of the interfaces in C++ makes CDF-5.
        if not (name.startswith("cxx") and form == "64bit-data"):
            yield pytest.param(name, form, id=f"{name}-{form}")


@pytest.mark.parametrize(("name", "form"), list(compiled_parameters()))
def test_compiled(libraries, c_program, program, empty, tmp_path, name, form):
    built = program(name)
    if isinstance(built, str):
        pytest.skip(f"LEFT OUT: there is no {built}")
    check(libraries, c_program("read"), tmp_path, [built, form], empty)
