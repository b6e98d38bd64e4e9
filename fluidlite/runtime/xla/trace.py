"""Steps as JAX traces them, or runs them one by one."""

from __future__ import annotations

import zlib
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from ...errors import OpError
from ...ground.values import LoDTensor, LoDTensorArray, SelectedRows
from ...ir.operator import EMPTY
from ...opdef.rank_table import RankTable
from ..driver import Driver
from ..plan import BlockPlan
from ..step import Environment, Step
from .control import control_flow
from .interpreter import TracedEval, specs
from .likelihoods import Likelihoods
from .loops import SCANNED_LOOPS
from .recurrence import SCANNED_NETWORKS
from .refusal import NotTraceable
from .rows import NamedRows

#: steps that the passes through blocks may put into one compiled function
UNROLLED = 5000
#: operator -> what puts it into the function as one pass that is compiled, and says whether it did:
#: it does not where there are few of them, and raises NotTraceable where they are not alike
SCANNED = {**SCANNED_NETWORKS, **SCANNED_LOOPS}
#: operators that drive no block, and that do nothing but hand values on
HANDING_ON = frozenset(
    {
        *("select_input", "select_output", "zeros_if_written"),
        *("write_to_array", "read_from_array", "lod_array_length", "array_without"),
        *("array_filled", "tensor_to_array", "keep_value", "kept_value"),
    }
)
_NO_TENSORS = (LoDTensor, SelectedRows, RankTable)


class TraceDriver(Driver):
    """What a control-flow operator gets whose block is traced."""

    def condition(self, name: str) -> bool:
        """A truth that is known while the function is traced.

        Raises:
            NotTraceable: it depends on values that are not.
        """
        if not isinstance(self.value(name), (np.ndarray, np.generic)):
            raise NotTraceable(f"the condition {name!r} is not known before the program runs")
        return super().condition(name)


class StepTrace:
    """Runs steps on JAX's arrays; what runs blocks, too, while they are traced.

    Args:
        f: the interpreter.
        key: of JAX: what random operators of this run start from.
        rows_matter: whether it has to follow which rows gradients of tables name.
    """

    def __init__(self, f: TracedEval, key: Any, rows_matter: bool = False) -> None:
        self.f = f
        self._key = key
        self._turns: tuple[Any, ...] = ()
        self._steps = 0
        self.rows: NamedRows = NamedRows(rows_matter)
        self._likelihoods = Likelihoods(f)
        self.draws: bool = False  #: whether a step has taken random numbers
        #: names that only a branch has written, which may not have been taken
        self.unsure: set[str] = set()

    def run(self, plan: BlockPlan, env: Any, turn: Any = None, done: Collection[int] = ()) -> None:
        """Run a block.

        Args:
            plan: of the block.
            env: the values, which take the results.
            turn: how often it ran before.
            done: the steps that have been computed, by ``id``.
        """
        before = self._turns
        self._turns = before if turn is None else (*before, turn)
        try:
            for step in plan.steps:
                if id(step) not in done:
                    self.step(step, env)
        finally:
            self._turns = before

    def step(self, step: Step, env: Environment) -> None:
        """Compute what a step writes, and let go of what nothing reads any more.

        Raises:
            NotTraceable: it needs values, or works on what is no tensor.
        """
        self._steps += 1
        if self._steps > UNROLLED:
            raise NotTraceable(f"its passes would be more than {UNROLLED} operators")
        op = step.instance
        if op.is_control:
            leave = self.rows.around(step)
            self._control(step, env)
            leave()
        else:
            self._operator(step, env)
        step.let_go(env)

    def apart(self) -> StepTrace:
        """A trace of its own, for what is computed beside the function."""
        return StepTrace(self.f, self._key)

    def compute(self, step: Step, env: Environment) -> None:
        """Compute what a step writes that drives no block; nothing is let go."""
        self._operator(step, env)

    def _control(self, step: Step, env: Environment) -> None:
        op, held = step.instance, dict(env)
        if step.body is None and op.type not in HANDING_ON:
            raise NotTraceable("it runs in Python")
        try:
            if op.type in SCANNED and SCANNED[op.type](self, step, Driver(self, step, env)):
                return
        except Exception:  # passes that are not alike are unrolled
            env.clear()
            env.update(held)
        try:
            op.execute(TraceDriver(self, step, env))
        except Exception as error:
            env.clear()  # of what has been traced so far, nothing is left
            env.update(held)
            if not control_flow(self, step, env):
                raise error

    def _operator(self, step: Step, env: Environment) -> None:
        op = step.instance
        if step.loss is not None and getattr(env.get(step.loss), "size", 1) != 1:
            raise OpError("a loss of several elements")
        ins: dict[str, Any] = {}
        for slot, names, many in step.inputs:
            values = [None if n == EMPTY else self._tensor(_value(step, n, env), n) for n in names]
            ins[slot] = values if many else values[0]
        for slot, name in step.updates:
            ins[slot] = env.get(name)
        if step.op.is_unsettled:  # what is declared does not fit: does what comes?
            op.infer_outputs(specs(ins))
        if op.random:
            self.f.rng = self._drawing(op.random_key(step.op.first_output))
        outs = self.rows.adam(self.f, step, ins)
        if outs is None:
            outs = self.f.apply(op, ins, step.want)
        self.rows.note(step, ins)
        self._likelihoods.improve(step, ins, outs)
        if op.lods(ins):
            raise NotTraceable("it makes sequences")
        for _, _, name, value in step.named(outs, ins, self._zeros):
            if value is not None:
                env[name] = value
                self.unsure.discard(name)

    def _tensor(self, value: Any, name: str) -> Any:
        if isinstance(value, _NO_TENSORS):
            raise NotTraceable(f"{name!r} holds {_SAID[type(value)]}")
        if name in self.unsure:
            raise NotTraceable(f"{name!r} is written in a branch that may not be taken")
        return value

    def _zeros(self, like: Any) -> Any:
        if isinstance(like, LoDTensorArray):
            return like.zeros_like()
        return self.f.xp.zeros(like.shape, like.dtype)

    def _drawing(self, name: str) -> Any:
        """What a random operator draws from: keyed by its name and the passes around it."""
        self.draws = True
        number = zlib.crc32(name.encode("utf-8", "surrogatepass"))
        return self.f.backend.drawing(self._key, number, *self._turns)


def _value(step: Step, name: str, env: Environment) -> Any:
    try:
        return env[name]  # in a block, also what blocks around it hold
    except KeyError:
        return step.value_of(name, env)


_SAID: Mapping[type, str] = {
    LoDTensor: "sequences",
    SelectedRows: "rows of a tensor",
    RankTable: "ranks of sequences",
}
