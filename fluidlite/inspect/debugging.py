"""Running a program step by step, and stopping where something happens."""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import ArgumentError, UnknownVariableError, suggestion
from ..ground.quoting import escaping
from ..ir.operator import EMPTY, Operator
from ..ir.program import Program, default_main_program
from ..ir.variable import Variable
from ..runtime.executor import Executor
from ..runtime.session import Observer
from ..runtime.step import Environment, Step
from ..scope import Scope
from .stepping import Recorder, Trace, is_infinite, is_nan, place
from .value_summary import digest_of

#: what a breakpoint may be: a name, a type, a "file.py:12", an operator, a variable, a predicate
Place = Any
_AROUND = 4  # operators that are listed before and after the next one


@dataclass(frozen=True)
class Breakpoint:
    """Where a run stops.

    A text stops before operators of that type, before those that were built at that line
    (``"train.py:12"``), and after those that write a variable of that name.  A variable stops after
    the operators that write it, an operator before itself.  A function of a value stops after the
    operators that write such a value.
    """

    place: Place

    @escaping
    def __str__(self) -> str:
        if isinstance(self.place, Operator):
            return f"operator {self.place}"
        if isinstance(self.place, Variable):
            return f"variable {self.place.name!r}"
        if isinstance(self.place, str):
            return repr(self.place)
        return f"values that are {getattr(self.place, '__name__', self.place)}"

    def is_before(self, op: Operator) -> bool:
        """Whether the run stops before an operator."""
        if isinstance(self.place, str):
            site = "" if op.callsite is None else str(op.callsite).replace("\\", "/")
            return self.place == op.type or site == self.place or site.endswith(f"/{self.place}")
        return self.place is op

    def is_after(self, op: Operator, env: Environment) -> bool:
        """Whether the run stops after an operator."""
        names = [name for name in op.output_arg_names if name != EMPTY]
        if isinstance(self.place, str):
            return self.place in names
        if isinstance(self.place, Variable):
            return any(op.find_var(name) is self.place for name in names)
        if isinstance(self.place, Operator):
            return False
        return any((v := env.get(name)) is not None and self.place(v) for name in names)


@dataclass(frozen=True)
class Pause:
    """Where a run stands."""

    reason: str  #: "step", "breakpoint ...", "failed: ..."
    op: Operator  #: the operator that was run last, or is to be run next
    is_before: bool  #: whether it is to be run next

    @escaping
    def __str__(self) -> str:
        when = "before" if self.is_before else "after"
        return f"{self.reason}: {when} {self.op}{place(self.op)}"


class _Left(Exception):
    """Ends a run that nobody wants to see the end of."""


class Debugger(Observer):
    """A run of a program that goes on when it is told to; nothing of it is kept in the scope.

    Args:
        executor: whose next run of the program it is.
        program: what to run; the default main program when None.
        feed, scope: as of ``Executor.run``.

    >>> x = fluid.data("x", [None, 2], "float32")
    >>> y = fluid.layers.sqrt(fluid.layers.scale(x, scale=-1.0))
    >>> feed = {"x": np.ones([1, 2], "float32")}
    >>> with fluid.inspect.Debugger(fluid.Executor(), feed=feed) as debugger:
    ...     debugger.stop_at(fluid.inspect.is_nan)
    ...     print(debugger.go().op.type, debugger["scale_0.tmp_0"])
    sqrt [[-1. -1.]]
    """

    def __init__(
        self,
        executor: Executor,
        program: Program | None = None,
        feed: Mapping[str, Any] | None = None,
        scope: Scope | None = None,
    ) -> None:
        self.program: Program = default_main_program() if program is None else program
        self.trace: Trace = Trace(self.program)
        self.breakpoints: list[Breakpoint] = []
        self.stopped: Pause | None = None
        #: what the run failed with
        self.error: BaseException | None = None
        self._recorder = Recorder(self.trace)
        self._env: Environment = {}
        self._count: int | None = None  # steps until the next stop; None to run
        self._leaving = self._ended = False
        self._go, self._here = threading.Semaphore(0), threading.Semaphore(0)
        context = contextvars.copy_context()  # default programs and scopes of this thread
        self._thread = threading.Thread(
            target=lambda: context.run(self._run, executor, feed, scope),
            name="fluidlite debugger",
            daemon=True,
        )

    # -- from outside ------------------------------------------------------------------------------

    def stop_at(self, *places: Place) -> None:
        """Set breakpoints.

        Args:
            places: names of variables, types of operators, lines as in ``"train.py:12"``,
                variables, operators, or functions of a value such as ``is_nan``.

        Raises:
            ArgumentError: a place is none of these, or the program has nothing of that name.
        """
        for location in places:
            if isinstance(location, str) and ":" not in location:
                known = {op.type for block in self.program.blocks for op in block.ops}
                known.update(variable.name for variable in self.program.list_vars())
                if location not in known:
                    raise ArgumentError(
                        f"the program has no variable and no operator {location!r}"
                        f"{suggestion(location, known)}"
                    )
            elif not isinstance(location, (str, Variable, Operator)) and not callable(location):
                raise ArgumentError(
                    f"expected a name, a line, a variable, an operator or a function of a value, "
                    f"got {location!r:.60}"
                )
            self.breakpoints.append(Breakpoint(location))

    def clear(self) -> None:
        """Take all breakpoints away."""
        self.breakpoints.clear()

    def begin(self) -> Pause | None:
        """Stand before the first operator; as :meth:`go`."""
        return self._resume(0)

    def go(self) -> Pause | None:
        """Run to the next breakpoint.

        Returns:
            where the run stands; None when it has come to its end.

        Raises:
            FluidError: an operator failed.
        """
        return self._resume(None)

    def step(self, count: int = 1) -> Pause | None:
        """Run so many operators, or to a breakpoint among them; as :meth:`go`."""
        if count < 1:
            raise ArgumentError(f"expected at least one step, got {count}")
        return self._resume(count)

    def until(self, where: Place) -> Pause | None:
        """Run to one place, to which other breakpoints may be nearer; as :meth:`go`."""
        before = list(self.breakpoints)
        self.stop_at(where)
        try:
            return self._resume(None)
        finally:
            self.breakpoints[:] = before

    def __getitem__(self, what: Variable | str) -> Any:
        """The value of a variable, or of a name, where the run stands.

        Raises:
            UnknownVariableError: nothing has been written there yet.
        """
        name = what.name if isinstance(what, Variable) else what
        value = self._env.get(name)
        if value is None:
            known = {n for record in self.trace for n in (*record.inputs, *record.outputs)}
            raise UnknownVariableError(
                f"{name!r} has no value yet, where the run stands{suggestion(name, known)}"
            )
        return value

    def close(self) -> None:
        """Leave the run."""
        self._leaving = True
        if self._thread.is_alive():
            self._go.release()
            self._thread.join()

    def __enter__(self) -> Debugger:
        return self

    def __exit__(self, *problem: object) -> None:
        self.close()

    @property
    def is_over(self) -> bool:
        """Whether the run has come to its end."""
        return self._ended

    def listing(self) -> str:
        """The operators around the next one."""
        if self.stopped is None:
            return "the run is over" if self._ended else "the run has not begun"
        ops = self.stopped.op.block.ops
        here = self.stopped.op.idx
        rows = []
        for index in range(max(0, here - _AROUND), min(len(ops), here + _AROUND + 1)):
            mark = ("->" if self.stopped.is_before else "=>") if index == here else "  "
            rows.append(f"{mark} {index:4d}  {ops[index]}")
        return "\n".join(rows)

    @escaping
    def __str__(self) -> str:
        if self.stopped is None:
            return self.listing()
        lines = [str(self.stopped)]
        values = dict.fromkeys(
            (*self.stopped.op.input_arg_names, *self.stopped.op.output_arg_names)
        )
        for name in values:
            value = None if name == EMPTY else self._env.get(name)
            if value is not None:
                lines.append(f"  {name}: {digest_of(value)}")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<Debugger: {self.stopped or self.listing()}>"

    def _resume(self, count: int | None) -> Pause | None:
        if self._ended:
            return None
        self._count = count
        if not self._thread.is_alive():
            self._thread.start()
        else:
            self._go.release()
        self._here.acquire()
        if self.error is not None:
            raise self.error
        return self.stopped

    # -- inside the run ----------------------------------------------------------------------------

    def _run(self, executor: Executor, feed: Any, scope: Scope | None) -> None:
        try:
            executor.observe(self, self.program, feed, scope)
            self.stopped = None
        except _Left:
            pass
        except BaseException as error:
            self.error = error
        self._ended = True
        self._here.release()

    def before(self, step: Step, env: Environment) -> None:
        """Stop before an operator, where there is a breakpoint or steps have been counted."""
        self._env = env
        if self._count is not None and self._count == 0:
            self._stop("step", step, True)
        else:
            for each in self.breakpoints:
                if each.is_before(step.op):
                    self._stop(f"breakpoint {each}", step, True)
                    break
        self._recorder.before(step, env)

    def after(self, step: Step, env: Environment) -> None:
        """Stop after an operator that wrote what a breakpoint waits for."""
        self._recorder.after(step, env)
        self._env = env
        if self._count is not None:
            self._count -= 1
        for each in self.breakpoints:
            if each.is_after(step.op, env):
                self._stop(f"breakpoint {each}", step, False)
                break

    def _stop(self, reason: str, step: Step, is_before: bool) -> None:
        self.stopped = Pause(reason, step.op, is_before)
        self._here.release()
        self._go.acquire()
        if self._leaving:
            raise _Left


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
    """
    with Debugger(executor, program, feed, scope) as debugger:
        debugger.stop_at(*places)
        _Prompt(debugger, tell).talk(ask)
        return debugger.trace


_HELP = """\
step [n], s     run one operator, or n
go, c           run to the next breakpoint
until PLACE     run to a variable, a type of operator or a line
stop PLACE      set a breakpoint; nan, inf: at values that are so
clear           take all breakpoints away
print NAME, p   the value of a variable
where, w        where the run stands, and what the operator reads and writes
list, l         the operators around it
trace           what has been run
quit, q         leave the run"""


_PREDICATES: dict[str, Place] = {"nan": is_nan, "inf": is_infinite}


class _Prompt:
    """What can be said to a debugger in a terminal."""

    def __init__(self, debugger: Debugger, tell: Callable[[str], None]) -> None:
        self._debugger = debugger
        self._tell = tell

    def talk(self, ask: Callable[[str], str]) -> None:
        """Read lines and do what they say, until the end of the run."""
        self._say(self._debugger.begin)
        while not self._debugger.is_over:
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
        elif command == "trace":
            self._tell(str(debugger.trace))
        else:
            self._tell(_HELP)

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
