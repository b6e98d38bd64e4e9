"""Commands and their options."""

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


def add_command(commands: Any, name: str, about: str, examples: str) -> argparse.ArgumentParser:
    """Add a command, whose help ends with examples.

    Args:
        commands: what ``ArgumentParser.add_subparsers`` gave.
        name, about: the command, and what it is about, in a few words.
        examples: what the help shows below the options.
    """
    parser: argparse.ArgumentParser = commands.add_parser(
        name,
        help=about,
        description=f"{about[0].upper()}{about[1:]}.",
        epilog=examples,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    return parser
