"""``python -m isotach`` is the command ``isotach``."""

import sys

from isotach._command import main

sys.exit(main())
