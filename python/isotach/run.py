"""``python -m isotach.run``: a program as it is, with Isotach for every `import netCDF4` in it."""

from __future__ import annotations

import os
import runpy
import sys

from isotach import _stand_in

USAGE = """\
usage: python -m isotach.run SCRIPT [ARGUMENTS]
       python -m isotach.run -m MODULE [ARGUMENTS]
       python -m isotach.run --path

Runs a Python program in which every `import netCDF4` imports Isotach; so do the Python processes
that it starts. --path prints the folder that does the same at the head of PYTHONPATH.
"""


def main(arguments: list[str]) -> int:
    """Runs the program with its arguments; what ends it ends this process."""
    match arguments:
        case ["--path"]:
            print(_stand_in.FOLDER)
            return 0
        case ["-h" | "--help"]:
            print(USAGE, end="")
            return 0
        case ["-m", module, *_]:
            _replace()
            sys.argv[:] = arguments[1:]
            runpy.run_module(module, run_name="__main__", alter_sys=True)
            return 0
        case [script, *_] if not script.startswith("-"):
            _replace()
            sys.argv[:] = arguments
            # As Python has it, which put the working directory there for `-m isotach.run`.
            sys.path[0] = os.path.dirname(os.path.realpath(script))
            runpy.run_path(script, run_name="__main__")
            return 0
    print(USAGE, end="", file=sys.stderr)
    return 2


def _replace() -> None:
    _stand_in.replace_netcdf4()
    _stand_in.lead_children()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
