"""One run of a program: its random numbers, its checks, and the loop over steps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import ModuleType

from ..ir.operator import Operator
from ..opdef.interpreter import Eval
from ..values import arrays_in
from .plan import Environment, Step

#: called with the session, a control operator's step and the values around it
Drive = Callable[["Session", Step, Environment], None]


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
    """

    def __init__(
        self,
        backend: ModuleType,
        seed: int,
        run: int,
        drive: Drive,
        look_for_bad: bool = False,
        freeze: bool = False,
    ) -> None:
        self.backend = backend
        self.f = Eval(backend)
        self._drive = drive
        self._look_for_bad = look_for_bad
        self._freeze = freeze
        self._counters: tuple[int | str, ...] = (seed, run)

    def run(self, steps: Sequence[Step], env: Environment, turn: int | None = None) -> None:
        """Run steps in order.

        Args:
            steps: of one block.
            env: values by name; takes the results.
            turn: how often the block ran before in this run of the program; tells the random
                numbers of its passes apart.

        Raises:
            FluidError: a step failed.
        """
        before = self._counters
        if turn is not None:
            self._counters = (*before, turn)
        f, checked = self.f, self._look_for_bad or self._freeze
        try:
            for step in steps:
                if step.body is not None or step.instance.is_control:
                    self._drive(self, step, env)
                    if checked and step.body is None:
                        self._check(step, env)
                    step.let_go(env)
                    continue
                if step.instance.random:
                    key = step.instance.random_key(step.op.output_arg_names[0])
                    f.rng = self.backend.generators(*self._counters, key)
                step.run(f, env)
                if checked:
                    self._check(step, env)
        finally:
            self._counters = before

    def _check(self, step: Step, env: Environment) -> None:
        if self._look_for_bad:
            step.check_finite(env)
        if self._freeze:
            _make_read_only(step.op, env)


def _make_read_only(op: Operator, env: Environment) -> None:
    for name in op.output_arg_names:
        for array in arrays_in(env.get(name)):
            array.flags.writeable = False
