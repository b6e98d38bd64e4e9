"""``python -m fluidlite.compat script.py``: the same as ``fluidlite run script.py``."""

from __future__ import annotations

import sys

from . import script

if __name__ == "__main__":
    sys.exit(script.main(sys.argv[1:]))
