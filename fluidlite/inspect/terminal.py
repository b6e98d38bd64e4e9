"""A debugger that is talked to in a terminal."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..ir.program import Program
from ..runtime.executor import Executor
from ..scope import Scope
from .debugging import Debugger, Pause, Place
from .stepping import Record, Trace, is_infinite, is_nan


def debug(
    executor: Executor,
    program: Program | None = None,
    feed: Mapping[str, Any] | None = None,
    *places: Place,
    scope: Scope | None = None,
    ask: Callable[[str], str] = input,
    tell: Callable[[str], None] = print,
) -> Trace:
    """Run a program step by step from a terminal; ``help`` lists what can be said.

    Args:
        executor, program, feed, scope: as of :class:`Debugger`.
        places: breakpoints.
        ask: gives a line for a prompt.
        tell: prints a text.

    Returns:
        what was run.

    >>> y = fluid.layers.exp(fluid.layers.scale(fluid.data("x", [2]), 0.0))
    >>> words, said = iter(["step", "quit"]), []
    >>> feed = {"x": np.ones(2, "float32")}
    >>> run = fluid.inspect.debug(
    ...     fluid.Executor(), feed=feed, ask=lambda prompt: next(words), tell=said.append
    ... )
    >>> [record.op.type for record in run.records]
    ['scale']
    """
    with Debugger(executor, program, feed, scope) as debugger:
        debugger.stop_at(*places)
        _Prompt(debugger, tell).talk(ask)
        return debugger.trace


_HELP = """\
step [n], s     run one operator, or n
back [n], b     go back one operator, or n
rewind PLACE    go back to a variable, a type of operator or a line
changed NAME    run until a variable holds another value
who NAME        the operator that made the value of a variable
go, c           run to the next breakpoint
until PLACE     run to a variable, a type of operator or a line
stop PLACE      set a breakpoint; nan, inf: at values that are so
clear           take all breakpoints away
print NAME, p   the value of a variable
where, w        where the run stands, and what the operator reads and writes
list, l         the operators around it
trace           what has been run
page FILE       write a page with a slider over what has been run
quit, q         leave the run"""


_PREDICATES: dict[str, Place] = {"nan": is_nan, "inf": is_infinite}


def _made(record: Record | None, name: str) -> str:
    return f"{name} was fed, or lay in the scope" if record is None else str(record)


class _Prompt:
    """What can be said to a debugger in a terminal."""

    def __init__(self, debugger: Debugger, tell: Callable[[str], None]) -> None:
        self._debugger = debugger
        self._tell = tell

    def talk(self, ask: Callable[[str], str]) -> None:
        """Read lines and do what they say, until the end of the run."""
        self._say(self._debugger.begin)
        while not self._debugger.is_over or self._debugger.error is not None:
            try:
                line = ask("(fluidlite) ")
            except EOFError:
                return
            words = line.split(maxsplit=1) or ["step"]
            if words[0] in ("quit", "q"):
                return
            self._do(words[0], words[1].strip() if len(words) > 1 else "")

    def _do(self, command: str, argument: str) -> None:
        debugger = self._debugger
        if command in ("step", "s"):
            count = int(argument) if argument.isdigit() else 1
            self._say(lambda: debugger.step(max(count, 1)))
        elif command in ("back", "b"):
            count = int(argument) if argument.isdigit() else 1
            self._say(lambda: debugger.back(max(count, 1)))
        elif command == "rewind":
            self._say(lambda: debugger.back_until(_PREDICATES.get(argument, argument)))
        elif command == "changed":
            self._say(lambda: debugger.until_changed(argument))
        elif command == "who":
            self._try(lambda: self._tell(_made(debugger.made_by(argument), argument)))
        elif command in ("go", "c", "continue"):
            self._say(debugger.go)
        elif command == "until":
            self._say(lambda: debugger.until(_PREDICATES.get(argument, argument)))
        elif command == "stop":
            self._try(lambda: debugger.stop_at(_PREDICATES.get(argument, argument)))
        elif command == "clear":
            debugger.clear()
        elif command in ("print", "p"):
            self._try(lambda: self._tell(str(debugger[argument])))
        elif command in ("where", "w"):
            self._tell(str(debugger))
        elif command in ("list", "l"):
            self._tell(debugger.listing())
        elif command == "page":
            self._try(lambda: self._write_page(argument or "debugger.html"))
        elif command == "trace":
            self._tell(str(debugger.trace))
        else:
            self._tell(_HELP)

    def _write_page(self, path: str) -> None:
        self._debugger.to_html(path)
        self._tell(f"wrote {path}")

    def _say(self, move: Callable[[], Pause | None]) -> None:
        def moved() -> None:
            stop = move()
            self._tell("the run is over" if stop is None else str(stop))

        self._try(moved)

    def _try(self, action: Callable[[], None]) -> None:
        try:
            action()
        except Exception as error:
            self._tell(f"{type(error).__name__}: {error}")
