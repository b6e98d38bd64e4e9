"""One run of a program: its random numbers, its checks, and the loop over steps."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

from ..ir.operator import Operator
from ..opdef.interpreter import Eval
from ..values import arrays_in
from .plan import BlockPlan, Environment, Step, Stretch
from .specialise import function_for, give_up

#: called with the session, a control operator's step and the values around it
Drive = Callable[["Session", Step, Environment], None]


class Observer:
    """Looks at a run.  A run that is observed is interpreted, step by step."""

    def before(self, step: Step, env: Environment) -> None:
        """Called before each step, those of driven blocks included.

        Args:
            step: what is to be run.
            env: values by name.
        """

    def after(self, step: Step, env: Environment) -> None:
        """Called after each step; what nothing reads any more is gone.  Arguments as of
        :meth:`before`.
        """


class Session:
    """One run of a program.

    Args:
        backend: whose kernels run.
        seed: what random operators start from.
        run: the number of this run of the program.
        drive: runs a control operator.
        look_for_bad: whether to look for values that are not finite after each step.
        freeze: whether to make what was computed read-only, so that a kernel that writes to its
            inputs fails.
        observer: what is called before and after each step.
    """

    def __init__(
        self,
        backend: ModuleType,
        seed: int,
        run: int,
        drive: Drive,
        look_for_bad: bool = False,
        freeze: bool = False,
        observer: Observer | None = None,
    ) -> None:
        self.backend = backend
        self.f = Eval(backend)
        self._drive = drive
        self._look_for_bad = look_for_bad
        self._freeze = freeze
        self._observer = observer
        self._checked = look_for_bad or freeze or observer is not None
        self._counters: tuple[int | str, ...] = (seed, run)

    def run(self, plan: BlockPlan, env: Environment, turn: int | None = None) -> None:
        """Run a block.

        Args:
            plan: of the block.
            env: values by name; takes the results.
            turn: how often the block ran before in this run of the program; tells the random
                numbers of its passes apart.

        Raises:
            FluidError: a step failed.
        """
        before = self._counters
        if turn is not None:
            self._counters = (*before, turn)
        try:
            for item in plan.items:
                if isinstance(item, Stretch):
                    self._run_stretch(item, env)
                else:
                    if self._observer is not None:
                        self._observer.before(item, env)
                    self._drive(self, item, env)
                    if self._checked:
                        self._check(item, env)
                    item.let_go(env)
        finally:
            self._counters = before

    def _run_stretch(self, stretch: Stretch, env: Environment) -> None:
        """Run steps as one function where there is one, else one by one."""
        if not self._checked:
            function = function_for(stretch, env, self.backend)
            stretch.last = function
            if function is not None:
                try:
                    function(env, self._draw)
                except Exception as error:  # the steps one by one say which of them fails
                    self._interpret(stretch, env)
                    give_up(stretch, function, error)
                else:
                    for name in stretch.free:
                        env.pop(name, None)
                return
        self._interpret(stretch, env)

    def _interpret(self, stretch: Stretch, env: Environment) -> None:
        """Run steps one by one."""
        f, observer = self.f, self._observer
        for step in stretch.steps:
            if step.instance.random:
                f.rng = self._draw(step.instance.random_key(step.op.output_arg_names[0]))
            if observer is not None:
                observer.before(step, env)
            step.run(f, env)
            if self._checked:
                self._check(step, env)

    def _draw(self, key: str) -> Any:
        """A source of random numbers for an operator."""
        return self.backend.generators(*self._counters, key)

    def _check(self, step: Step, env: Environment) -> None:
        if self._look_for_bad:
            step.check_finite(env)
        if self._freeze:
            _make_read_only(step.op, env)
        if self._observer is not None:
            self._observer.after(step, env)


def _make_read_only(op: Operator, env: Environment) -> None:
    for name in op.output_arg_names:
        for array in arrays_in(env.get(name)):
            array.flags.writeable = False
