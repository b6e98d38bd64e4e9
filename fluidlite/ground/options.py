"""Options of commands."""

from __future__ import annotations

import argparse
from typing import Any


def add_repeated(parser: argparse.ArgumentParser, option: str, about: str, **more: Any) -> None:
    """Add an option that may be given several times; what is given is a list.

    Args:
        parser: of the command.
        option: its name.
        about: what the help says of it.
        more: what ``ArgumentParser.add_argument`` takes besides.
    """
    parser.add_argument(option, action="append", default=[], help=about, **more)
