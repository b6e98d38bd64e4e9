"""Options of commands."""

from __future__ import annotations

import argparse
from typing import Any

#: what a command takes that reads any file
PATH = "a file, or the folder of a saved model"


def add_repeated(parser: argparse.ArgumentParser, option: str, about: str, **more: Any) -> None:
    """Add an option that may be given several times; what is given is a list.

    Args:
        parser: of the command.
        option: its name.
        about: what the help says of it.
        more: what ``ArgumentParser.add_argument`` takes besides.
    """
    parser.add_argument(option, action="append", default=[], help=about, **more)


def end_with(parser: argparse.ArgumentParser, text: str) -> None:
    """Let the help of a command end with a text, such as examples, line by line as it is.

    Args:
        parser: of the command.
        text: stands below the options.
    """
    parser.epilog, parser.formatter_class = text, argparse.RawDescriptionHelpFormatter
