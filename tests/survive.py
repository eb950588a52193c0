"""Reads files to their end, each within its limits: python survive.py read|check FILE ...

For each file a line is printed when it begins and one when it has ended. A file that takes longer
than it may ends the process with a traceback of where it was; whatever ends the process is for the
one who started it to see.
"""

import faulthandler
import os
import resource
import sys

MEMORY_BYTES = 2 << 30
SECONDS = 20
# What netCDF4-python raises for damaged files, and what Python has for too little memory.
EXPECTED = (OSError, RuntimeError, MemoryError, ValueError, IndexError, KeyError, AttributeError)

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))

import isotach  # noqa: E402  (the limit comes first)
from isotach import _native  # noqa: E402


def tried(work, *arguments):
    try:
        return work(*arguments)
    except EXPECTED:
        return None


def attributes(owner):
    for name in tried(owner.ncattrs) or []:
        tried(owner.getncattr, name)


def everything(group):
    attributes(group)
    for name in tried(lambda: list(group.dimensions)) or []:
        tried(lambda name=name: len(group.dimensions[name]))
    for kind in ("cmptypes", "enumtypes", "vltypes"):
        tried(lambda kind=kind: list(getattr(group, kind).items()))
    for name in tried(lambda: list(group.variables)) or []:
        variable = tried(lambda name=name: group.variables[name])
        if variable is None:
            continue
        attributes(variable)
        for ask in (variable.chunking, variable.filters, variable.endian):
            tried(ask)
        tried(lambda variable=variable: variable[...])
    for name in tried(lambda: list(group.groups)) or []:
        inner = tried(lambda name=name: group.groups[name])
        if inner is not None:
            everything(inner)


def read(path):
    dataset = tried(isotach.Dataset, path)
    if dataset is None:
        return "not opened"
    everything(dataset)
    dataset.close()
    return "read"


def check(path):
    return f"exit code {_native.command(['check', path])}"


def main():
    work = {"read": read, "check": check}[sys.argv[1]]
    # What the command prints is not for the one who counts lines.
    report = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    for path in sys.argv[2:]:
        report.write(f"begin {path}\n")
        faulthandler.dump_traceback_later(SECONDS, exit=True)
        outcome = work(path)
        faulthandler.cancel_dump_traceback_later()
        report.write(f"end {outcome}\n")


if __name__ == "__main__":
    main()
