"""The command ``fluidlite check`` where the package that checks scripts is missing."""

from __future__ import annotations

import argparse
from typing import NoReturn

from ..errors import FluidError


def add_check(parser: argparse.ArgumentParser) -> None:
    """Say what ``fluidlite check`` takes."""
    parser.description = "Say which names of fluid 1.8 a script uses that are missing."
    about = "scripts, or folders of them"
    parser.add_argument("scripts", nargs="+", metavar="SCRIPT.py", help=about)
    parser.add_argument("--strict", action="store_true", help="also what Python dropped")
    parser.set_defaults(run=_check)


def _check(given: argparse.Namespace) -> NoReturn:
    raise FluidError("the package fluidlite.compat, which checks scripts, is not installed")
