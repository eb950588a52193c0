"""Runs C programs on one of two libraries: the system's libnetcdf, and ours by the library path."""

import functools
import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SOURCES = Path(__file__).resolve().parent / "capi"
#: The sonames under which programs look for libnetcdf.
SONAMES = ("libnetcdf.so.19", "libnetcdf.so.22", "libnetcdf.so")
#: What programs are made of, beside the source of their name.
PROGRAMS = {
    "read": ("walk", "log"),
    "memory": ("walk", "log"),
    "every": ("table", "arguments", "fixture", "walk", "log"),
    "random": ("table", "arguments", "fixture", "walk", "log"),
}


class Libraries:
    """Where our library is, and the environment in which programs find it or the original."""

    def __init__(self, folder):
        self.folder = folder

    def environment(self, ours):
        environment = {k: v for k, v in os.environ.items() if k != "LD_LIBRARY_PATH"}
        if ours:
            environment["LD_LIBRARY_PATH"] = str(self.folder)
        return environment

    def run(self, command, ours, folder, seconds=600, **options):
        """Runs a program in a folder; what it printed and returned."""
        folder.mkdir(parents=True, exist_ok=True)
        return subprocess.run(
            list(map(str, command)),
            cwd=folder,
            env=self.environment(ours) | options.pop("env", {}),
            capture_output=True,
            timeout=seconds,
            check=False,
            **options,
        )


def _built_library():
    """Our library: the one that ISOTACH_NETCDF_LIBRARY names, or built where it is not yet."""
    if named := os.environ.get("ISOTACH_NETCDF_LIBRARY"):
        return Path(named).resolve()
    command = ["cargo", "build", "--locked", "--package", "isotach-libnetcdf"]
    command += ["--message-format", "json"]
    built = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    messages = map(json.loads, built.stdout.splitlines())
    files = (file for message in messages for file in message.get("filenames", []))
    return next(file for file in files if Path(file).name == "libnetcdf.so")


@pytest.fixture(scope="session")
def libraries(tmp_path_factory):
    folder = tmp_path_factory.mktemp("library")
    library = _built_library()
    for name in SONAMES:
        (folder / name).symlink_to(library)
    return Libraries(folder)


@pytest.fixture(scope="session")
def netcdf_h():
    header = Path("/usr/include/netcdf.h")
    if not header.exists() or not shutil.which("gcc"):
        pytest.skip(
            "there is no gcc, or no netcdf.h of the original: apt-get install libnetcdf-dev"
        )
    return header


@pytest.fixture(scope="session")
def c_program(netcdf_h, tmp_path_factory):
    """Compiles one of the programs, once for both libraries, against the original's headers."""
    folder = tmp_path_factory.mktemp("programs")

    @functools.cache
    def compiled(name):
        source = SOURCES / f"{name}.c"
        if name == "table":
            source = folder / "table.c"
            made_by = ["python3", SOURCES / "make_table.py", netcdf_h]
            source.write_bytes(subprocess.run(made_by, check=True, stdout=subprocess.PIPE).stdout)
        target = folder / f"{name}.o"
        flags = ["-O1", "-g", "-Wall", "-Wextra", "-Werror", f"-I{SOURCES}", "-c"]
        subprocess.run(["gcc", *flags, source, "-o", target], check=True)
        return target

    @functools.cache
    def program(name):
        objects = [compiled(part) for part in (name, *PROGRAMS.get(name, ()))]
        flags = ["-lnetcdf", "-lpthread", "-ldl"]
        subprocess.run(["gcc", *objects, "-o", folder / name, *flags], check=True)
        return folder / name

    return program
