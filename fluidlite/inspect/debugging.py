"""Running a program step by step, and stopping where something happens."""

from __future__ import annotations

import contextvars
import os
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import ArgumentError, UnknownVariableError, UnsupportedError, suggestion
from ..ground.arguments import refused
from ..ground.quoting import escaping
from ..ground.values import arrays_in
from ..ir.operator import EMPTY, Operator
from ..ir.program import Program, default_main_program
from ..ir.variable import Variable
from ..runtime.executor import Executor
from ..runtime.session import Observer
from ..runtime.step import Environment, Step
from ..scope import Scope
from .html import to_html
from .stepping import Record, Recorder, Trace, kept, place
from .value_summary import digest_of

#: what a breakpoint may be: a name, a type, a "file.py:12", an operator, a variable, a predicate
Place = Any
_AROUND = 4  # operators that are listed before and after the next one


@dataclass(frozen=True)
class Change:
    """Stops a run where a name holds another value than before."""

    name: str
    before: Any  #: None where it had none

    def is_by(self, value: Any) -> bool:
        """Whether a value is another one."""
        old, new = arrays_in(self.before), arrays_in(value)
        return len(old) != len(new) or not all(
            a.dtype == b.dtype and np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
            for a, b in zip(old, new)
        )


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
        if isinstance(self.place, Change):
            return f"a change of {self.place.name!r}"
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
        if isinstance(self.place, Change):
            return self.place.name in names and self.place.is_by(env.get(self.place.name))
        return any((v := env.get(name)) is not None and self._holds(name, v) for name in names)

    def _holds(self, name: str, value: Any) -> bool:
        """What the function says of a value.

        Raises:
            ArgumentError: it says nothing, or several things.
        """
        answer = self.place(value)
        if np.ndim(answer) == 0 and isinstance(answer, (bool, int, np.generic, np.ndarray)):
            return bool(answer)
        came = (
            f"an array of shape {list(answer.shape)}"
            if isinstance(answer, np.ndarray)
            else f"{answer!r:.60}"
        )
        raise ArgumentError(
            f"expected a function that takes the array of a variable and gives one bool, as "
            f"lambda value: (value > 0.5).any(), got {came} for {name!r}"
        )


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
    """A run of a program that steps forwards and backwards on command; the scope keeps
    nothing of it.

    What has been run is remembered, so that going back shows values as they were, and going on
    from there shows them once more.

    Args:
        executor: whose next run of the program it is.
        program: what to run; the default main program when None.
        feed, scope: as of ``Executor.run``.

    Raises:
        ArgumentError: the executor, or the program, is something else.

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
        if not isinstance(executor, Executor):
            raise refused("Debugger", "executor", "an executor", executor)
        if program is not None and not isinstance(program, Program):
            raise refused("Debugger", "program", "a program", program)
        self.program: Program = default_main_program() if program is None else program
        self.trace: Trace = Trace(self.program)
        self.breakpoints: list[Breakpoint] = []
        self.stopped: Pause | None = None
        #: what the run failed with
        self.error: BaseException | None = None
        self._recorder = Recorder(self.trace)
        self._env: Environment = {}
        #: how many operators had been run where somebody looks back to; None in the present
        self._past: int | None = None
        self._present: Pause | None = None  # where the run itself stands meanwhile
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
                variables, operators, or functions such as ``is_nan``, which take the array of a
                variable and give one bool.

        Raises:
            ArgumentError: a place is none of these, or the program has nothing of that name.
        """
        for location in places:
            self._check(location)
            self.breakpoints.append(Breakpoint(location))

    def _check(self, location: Place) -> None:
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

    def back(self, count: int = 1) -> Pause | None:
        """Stand where the run stood so many operators ago, at most before the first one.

        ``step``, ``go`` and ``until`` go on from there, first through what is remembered.

        Args:
            count: of operators.

        Raises:
            ArgumentError: it is below 1.

        >>> x = fluid.layers.increment(fluid.layers.fill_constant([1], "float32", 1.0))
        >>> with fluid.inspect.Debugger(fluid.Executor()) as debugger:
        ...     _ = debugger.step(2)
        ...     print(debugger[x], debugger.back().op.type, debugger[x])
        [2.] increment [1.]
        """
        if count < 1:
            raise ArgumentError(f"expected at least one step, got {count}")
        return self._look_at(max(self._position - count, 0), "back")

    def back_until(self, where: Place) -> Pause | None:
        """Go back to the last place before this one; for a variable, or a name, before the operator
        that wrote its value.  If there is none, the run stands before the first operator.

        Args:
            where: as of :meth:`stop_at`.
        """
        self._check(where)
        point = Breakpoint(where)
        records = self.trace.records
        for number in range(self._position - 1, -1, -1):
            record = records[number]
            if point.is_before(record.op) or point.is_after(record.op, record.outputs):
                return self._look_at(number, f"breakpoint {point}")
        return self._look_at(0, "the begin")

    def until_changed(self, what: Variable | str) -> Pause | None:
        """Run until a variable holds another value than it holds here; as :meth:`go`.

        Args:
            what: the variable, or a name.
        """
        name = what.name if isinstance(what, Variable) else what
        self._check(name)
        return self._run_to(Breakpoint(Change(name, kept(self._value(name)))))

    def made_by(self, what: Variable | str) -> Record | None:
        """The operator that wrote the value that a variable has here: with its number, its line,
        what it read and what it wrote; None where the value was fed or lay in the scope.

        Args:
            what: the variable, or a name.

        Raises:
            UnknownVariableError: it has no value here.
        """
        self[what]
        name = what.name if isinstance(what, Variable) else what
        return self.trace.maker_at(name, self._position)

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
        self._check(where)
        return self._run_to(Breakpoint(where))

    def _run_to(self, point: Breakpoint) -> Pause | None:
        before = list(self.breakpoints)
        self.breakpoints.append(point)
        try:
            return self._resume(None)
        finally:
            self.breakpoints[:] = before

    def __getitem__(self, what: Variable | str) -> Any:
        """The value of a variable, or of a name, where the run stands.

        Raises:
            UnknownVariableError: nothing has been written there yet, or there is no such variable.
        """
        name = what.name if isinstance(what, Variable) else what
        value = self._value(name)
        if value is None:
            names = {variable.name for variable in self.program.list_vars()}
            if name not in names:
                raise UnknownVariableError(
                    f"the program has no variable {name!r}{suggestion(str(name), names)}"
                )
            known = {n for record in self.trace for n in (*record.inputs, *record.outputs)} - {name}
            raise UnknownVariableError(
                f"{name!r} has no value yet, where the run stands{suggestion(name, known)}"
            )
        return value

    def _value(self, name: str) -> Any:
        if self._past is None:
            return self._env.get(name)
        return self.trace.value_at(name, self._past)

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
        """Whether the run has come to its end, and nobody looks back."""
        return self._ended and self._past is None

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

    def to_html(self, path: str | os.PathLike[str] | None = None, *, title: str = "") -> str:
        """The program as a page with a slider over what has been run, and the values of each step.

        Args:
            path: where to write the page; it is only returned when None.
            title: what stands above it.

        Returns:
            the page, as of :func:`to_html`; the slider stands where the run stands.
        """
        return to_html(self.program, path, title=title, trace=self.trace, step=self._position)

    @escaping
    def __str__(self) -> str:
        if self.stopped is None:
            return self.listing()
        lines = [str(self.stopped)]
        values = dict.fromkeys(
            (*self.stopped.op.input_arg_names, *self.stopped.op.output_arg_names)
        )
        for name in values:
            value = None if name == EMPTY else self._value(name)
            if value is not None:
                lines.append(f"  {name}: {digest_of(value)}")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<Debugger: {self.stopped or self.listing()}>"

    @property
    def _position(self) -> int:
        """How many operators had been run where somebody looks."""
        return len(self.trace) if self._past is None else self._past

    def _look_at(self, number: int, reason: str, is_before: bool = True) -> Pause | None:
        """Stand where so many operators had been run."""
        if self._past is None:
            self._present = self.stopped
        if number == len(self.trace) and is_before:
            self._past, self.stopped = None, self._present
            return self.stopped
        pause = Pause(reason, self.trace.records[number if is_before else number - 1].op, is_before)
        is_present = number == len(self.trace)
        self._past, self.stopped = (None, self._present) if is_present else (number, pause)
        return pause

    def _replay(self, count: int | None) -> Pause | None:
        """Go through what is remembered, as the run would go on."""
        begin = self._position
        for number in range(begin, len(self.trace)):
            if count == number - begin:
                return self._look_at(number, "step")
            op, outputs = self.trace.records[number].op, self.trace.records[number].outputs
            for point in self.breakpoints:
                if number > begin and point.is_before(op):
                    return self._look_at(number, f"breakpoint {point}")
            for point in self.breakpoints:
                if point.is_after(op, outputs):
                    return self._look_at(number + 1, f"breakpoint {point}", False)
        return self._look_at(len(self.trace), "the present")

    def _resume(self, count: int | None) -> Pause | None:
        if self._past is not None:
            return self._replay(count)
        if self._ended:
            return None
        self._count = count
        if not self._thread.is_alive():
            try:
                self._thread.start()
            except RuntimeError as error:
                raise UnsupportedError(
                    f"Debugger: expected a thread for the run, which this system refuses: {error}; "
                    f"use fluid.inspect.trace, which needs none"
                ) from error
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
