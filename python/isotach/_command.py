"""The command ``isotach``."""

from __future__ import annotations

import signal
import sys

from isotach import _native


def main() -> int:
    """Runs the command with the arguments of this process."""
    # Python's own handler would wait for the command to end.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return _native.command(sys.argv[1:])
