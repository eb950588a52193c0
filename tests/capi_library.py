"""Runs C programs on one of two libraries: the system's libnetcdf, and ours by the library path."""

import functools
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from cargo_builds import ROOT, shared_library

SOURCES = Path(__file__).resolve().parent / "capi"
#: The sonames under which programs look for libnetcdf.
SONAMES = ("libnetcdf.so.19", "libnetcdf.so.22", "libnetcdf.so")
#: What ThreadSanitizer is built for; Rust's own build then has none of it.
TARGET = "x86_64-unknown-linux-gnu"
#: What puts calls together.
CALLS = ("table", "choosing", "argument_ids", "argument_numbers", "argument_names")
CALLS += ("argument_values", "fixture", "walk", "log")
#: What programs are made of, beside the source of their name.
PROGRAMS = {
    "read": ("walk", "log"),
    "memory": ("walk", "log"),
    "callbacks": ("walk", "log"),
    "order": ("walk", "log"),
    "chunking": ("log",),
    "abort": ("walk", "log"),
    "conversions": ("log",),
    "sizes": ("log",),
    "every": CALLS,
    "random": CALLS,
}


class Libraries:
    """Where our library is, and the environment in which programs find it or the original."""

    def __init__(self, folder):
        self.folder = folder

    def environment(self, ours):
        environment = {k: v for k, v in os.environ.items() if k != "LD_LIBRARY_PATH"}
        if ours:
            environment["LD_LIBRARY_PATH"] = str(self.folder)
            # R puts this before that.
            environment["R_LD_LIBRARY_PATH"] = f"{self.folder}:/usr/lib/R/lib"
        return environment

    @functools.cache  # noqa: B019
    def stopped_clock(self):
        """A library to be preloaded, with which it is always the same time of the day."""
        clock = self.folder / "clock.so"
        source = SOURCES / "clock.c"
        subprocess.run(["gcc", "-shared", "-fPIC", "-o", clock, source], check=True)
        return clock

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


def _in_folder(library, folder):
    for name in SONAMES:
        (folder / name).symlink_to(library)
    return Libraries(folder)


@pytest.fixture(scope="session")
def libraries(tmp_path_factory):
    """The original, and ours: the one that ISOTACH_NETCDF_LIBRARY names, or built as it is."""
    named = os.environ.get("ISOTACH_NETCDF_LIBRARY")
    library = Path(named).resolve() if named else shared_library()
    return _in_folder(library, tmp_path_factory.mktemp("library"))


@pytest.fixture(scope="session")
def thread_sanitizer():
    """The runtime of ThreadSanitizer that a nightly compiler has; its sources must be there too."""
    sysroot = ["rustc", "+nightly", "--print", "sysroot"]
    try:
        found = subprocess.run(sysroot, check=True, capture_output=True, text=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("LEFT OUT: there is no nightly Rust: rustup toolchain install nightly")
    rust = Path(found.stdout.strip()) / "lib" / "rustlib"
    runtime = rust / TARGET / "lib" / "librustc-nightly_rt.tsan.a"
    if not runtime.exists() or not (rust / "src").exists():
        pytest.skip("LEFT OUT: nightly Rust lacks rust-src, or ThreadSanitizer's runtime")
    return runtime


@pytest.fixture(scope="session")
def watched_libraries(thread_sanitizer, tmp_path_factory):
    """Ours once more, and Rust's own library in it, so that the sanitizer sees every access."""
    folder = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    options = ("-Zbuild-std", f"--target={TARGET}", f"--target-dir={folder / 'thread-sanitizer'}")
    library = shared_library(
        (*options, "--package", "isotach-libnetcdf"),
        toolchain="+nightly",
        RUSTFLAGS="-Zsanitizer=thread",
    )
    return _in_folder(library, tmp_path_factory.mktemp("watched_library"))


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


@pytest.fixture(scope="session")
def watched_program(netcdf_h, thread_sanitizer, tmp_path_factory):
    """The same for a program whose accesses to memory ThreadSanitizer sees."""
    folder = tmp_path_factory.mktemp("watched_programs")

    def program(name):
        target, source = folder / name, SOURCES / f"{name}.c"
        compiled = ["gcc", "-O1", "-g", "-fsanitize=thread", "-c", source, "-o", f"{target}.o"]
        subprocess.run(compiled, check=True)
        # The library finds the runtime in the program: all of it must be there, and be exported.
        runtime = ["-rdynamic", "-Wl,--whole-archive", thread_sanitizer, "-Wl,--no-whole-archive"]
        flags = [*runtime, "-lnetcdf", "-lpthread", "-ldl", "-lm"]
        subprocess.run(["gcc", f"{target}.o", "-o", target, *flags], check=True)
        return target

    return program
