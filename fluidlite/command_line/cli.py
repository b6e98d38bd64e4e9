"""Programs and parameters in files: looked at, run, compared, drawn, written in other formats."""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Container, Sequence
from importlib import import_module
from operator import attrgetter
from typing import Any, NamedTuple, NoReturn

from ..errors import FluidError, UsageError
from ..ground import state
from ..ground.console import command, complain, say

_ROOT = __package__.partition(".")[0]


class CommandEntry(NamedTuple):
    """A command of the table."""

    about: str  #: a few words
    module: str  #: has ``add_NAME``, which says what the command takes and what runs it


_INSPECTING, _CHANGING = "inspect.commands", "transform.commands"
#: the modules are read when their commands are called
COMMANDS = {
    "show": CommandEntry("what a file or a folder is, and its program", "command_line.showing"),
    "scan": CommandEntry("what a program would do; runs nothing", "command_line.scanning"),
    "vars": CommandEntry("the variables in a file or a folder", "command_line.variables"),
    "convert": CommandEntry("the same in another format", "command_line.converting"),
    "draw": CommandEntry("a picture of a program", _INSPECTING),
    "summary": CommandEntry("layers, parameters, costs of a program", _INSPECTING),
    "diff": CommandEntry("in what two programs differ", _INSPECTING),
    "run": CommandEntry("run a program, or a script of fluid 1.8", _INSPECTING),
    "plan": CommandEntry("how a program is compiled", _INSPECTING),
    "certify": CommandEntry(
        "whether the gradients of a program are derivatives", "transform.certificate_command"
    ),
    "cut": CommandEntry("the part of a model between two places", _CHANGING),
    "rename": CommandEntry("other names for variables", _CHANGING),
    "set-attr": CommandEntry("other attributes of operators", _CHANGING),
    "replace": CommandEntry("read a variable in place of one", _CHANGING),
    "merge": CommandEntry("two models, or two changes, as one", _CHANGING),
    "apply": CommandEntry("change a model as a patch says", _CHANGING),
    "transform": CommandEntry("a model behind passes", _CHANGING),
    "verify": CommandEntry("do programs keep the rules", _CHANGING),
    "check": CommandEntry(
        "which names of fluid 1.8 a script uses that are missing", "command_line.checking"
    ),
    "cache": CommandEntry("what is kept of generated kernels", "command_line.cache"),
    "completion": CommandEntry(
        "what a shell reads to complete these words", "command_line.completion"
    ),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    Args:
        arguments: what stands behind its name; those of the process when None.

    Returns:
        0; 1 where something failed, or where programs differ; 2 where the arguments are not such
        as the command takes; 3 where a program that was scanned has an effect, or an unknown
        operator.
    """
    return command(lambda: _main(arguments))


def _main(arguments: Sequence[str] | None) -> int:
    words = sys.argv[1:] if arguments is None else arguments
    name = next((word for word in words if not word.startswith("-")), "")
    try:
        parser = command_parser([name])
        if not words:
            say(parser.format_help(), end="")
            return 0
        with warnings.catch_warnings():
            warnings.showwarning = _warned
            options, unknown = parser.parse_known_args(words)
            if unknown:
                told = parser.prog if words[0].startswith("-") else f"{parser.prog} {words[0]}"
                raise UsageError(f"unrecognized arguments: {' '.join(unknown)}; see {told} --help")
            with state.reader.guard(attrgetter("shell")):
                return options.run(options) or 0
    except UsageError as error:
        return _failed(error, 2)
    except BrokenPipeError:
        raise
    except KeyboardInterrupt:
        return 130  # what a shell says of a command that was interrupted
    except (FluidError, OSError, MemoryError) as error:
        return _failed(error, 1)


def _warned(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
    """Say a warning: a command has no line that it could be of."""
    complain(f"warning: {message}")


def _failed(error: BaseException, status: int) -> int:
    """Say what was wrong; the exit status."""
    complain(str(error) or type(error).__name__)
    return status


class _Parser(argparse.ArgumentParser):
    """A parser that says in one line what was wrong."""

    def error(self, message: str) -> NoReturn:
        complain(f"{message}; see {self.prog} --help")
        raise SystemExit(2)


def command_parser(called: Container[str] = COMMANDS.keys()) -> argparse.ArgumentParser:
    """The parser of the command's words.

    Args:
        called: names of commands; what others take is not read.
    """
    parser = _Parser(prog="fluidlite", description=__doc__)
    version = sys.modules[_ROOT].__version__
    parser.add_argument("--version", action="version", version=f"fluidlite {version}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for name, (about, module) in COMMANDS.items():
        sentence = f"{about[0].upper()}{about[1:]}."
        added = commands.add_parser(name, help=about, description=sentence)
        if name in called:
            add = f"add_{name.replace('-', '_')}"
            getattr(import_module(f"{_ROOT}.{module}"), add)(added)
    return parser
