"""What the rows share: the register, medians, races in turns, and the programs beside Python."""

import os
import shutil
import statistics
import subprocess
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ROWS = []


def row(function):
    """Registers a function that yields `(work, target, ours, {rival: seconds})`."""
    ROWS.append(function)
    return function


def median(work, runs=5):
    """Median seconds of `runs` calls, after one that is not counted."""
    work()
    seconds = []
    for _ in range(runs):
        start = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds)


def once(work):
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def race(works, runs=3, settle=0.0):
    """Median seconds of each of `works`, in turns: a slow moment of the machine meets all.

    Before each it rests for `settle` seconds: a virtual machine gives back much memory that was
    freed, which for a while takes its time from whoever comes next.
    """
    seconds = {name: [] for name in works}
    for work in works.values():
        work()
    for _ in range(runs):
        for name, work in works.items():
            time.sleep(settle)
            seconds[name].append(once(work))
    return {name: statistics.median(found) for name, found in seconds.items()}


def rust(name, *arguments):
    """What the Rust program prints: a dict from name to the seconds behind it."""
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    binary = target / "release/isotach-bench"
    printed = subprocess.run(
        [binary, name, *map(str, arguments)], check=True, capture_output=True, text=True
    ).stdout
    lines = (line.split() for line in printed.splitlines())
    return {key: [float(value) for value in values] for key, *values in lines}


def compiled(source, program):
    """`program`, compiled against libnetcdf from a C source of `bench/` where that is newer."""
    source = ROOT / "bench" / source
    if not program.exists() or program.stat().st_mtime < source.stat().st_mtime:
        if not shutil.which("cc"):
            raise SystemExit(f"{source.name} needs a C compiler and libnetcdf-dev")
        subprocess.run(["cc", "-O2", "-o", program, source, "-lnetcdf"], check=True)
    return program


def warm(path):
    with open(path, "rb") as file:
        while file.read(1 << 24):
            pass
    return path
