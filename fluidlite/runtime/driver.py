"""What the ``execute`` of a control operator gets to run with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from ..errors import OpError
from ..ground.values import bare, zeros_like
from ..ir.operator import EMPTY, Operator
from ..ir.variable import Variable
from ..opdef.arithmetic import Arithmetic
from .plan import BlockPlan
from .step import Environment, Step


class BlockRunner(Protocol):
    """Runs blocks: a run of a program, or a trace of one."""

    f: Any  #: the interpreter, for operators on values

    def run(self, plan: BlockPlan, env: Any, turn: int | None = None) -> None:
        """Run a block; ``turn`` is how often it ran before."""


class Frame(dict[str, Any]):
    """The values of one pass through a block; what is not here is read in the block around it."""

    __slots__ = ("outer",)

    def __init__(self, outer: Environment, values: Mapping[str, Any] = {}) -> None:
        super().__init__(values)
        self.outer: Environment = outer

    def __missing__(self, name: str) -> Any:
        return self.outer[name]

    def get(self, name: str, default: Any = None) -> Any:
        """The value of a name, here or around."""
        try:
            return self[name]
        except KeyError:
            return default


@dataclass(eq=False)
class Driver:
    """What the ``execute`` of a control operator is given: its variables and its block."""

    session: BlockRunner  #: the run of the program
    step: Step  #: the operator's
    env: Environment  #: the values of the block that the operator stands in
    #: what readers are asked for: see :class:`~fluidlite.opdef.sources.BatchSource`
    reading: str = "next"
    _passes: int = 0

    @property
    def f(self) -> Any:
        """The interpreter, for operators on values."""
        return self.session.f

    @property
    def op(self) -> Operator:
        """The operator."""
        return self.step.op

    def names(self, side: str, slot: str) -> tuple[str, ...]:
        """The variables in a slot of ``side`` "inputs" or "outputs"."""
        found: Mapping[str, tuple[str, ...]] = getattr(self.step.op, side)
        return found.get(slot, ())

    def variable(self, name: str) -> Variable | None:
        """What is declared of a variable."""
        return self.step.op.block.find_var_recursive(name)

    def value(self, name: str) -> Any:
        """The value of a variable.

        Raises:
            NotInitializedError: nothing has written it.
        """
        try:
            return self.env[name]
        except KeyError:
            raise self.step.not_written(name) from None

    def find(self, name: str) -> Any:
        """The value of a variable; None when nothing has written it."""
        return None if name == EMPTY else self.env.get(name)

    def set(self, name: str, value: Any) -> None:
        """Write a variable."""
        if name != EMPTY:
            self.env[name] = value

    def zeros_like(self, value: Any) -> Any:
        """Zeros in the form of a value."""
        return self.f.fill_zeros_like(value) if isinstance(value, Arithmetic) else zeros_like(value)

    def condition(self, name: str) -> bool:
        """A variable of one element as a truth.

        Raises:
            OpError: it has several elements.
        """
        value = bare(self.value(name))
        if value.size != 1:
            raise OpError(
                f"{self.step.op.type}: expected the condition {name!r} to have one element, got "
                f"shape {list(value.shape)}"
            )
        return bool(value.reshape(()))

    def run_block(self, values: Mapping[str, Any] = {}) -> Frame:
        """Run the operator's block once, from what names of it hold at first; the values at its
        end.
        """
        frame = Frame(self.env, values)
        self.session.run(self.body, frame, self._passes)
        self._passes += 1
        return frame

    @property
    def body(self) -> BlockPlan:
        """The plan of the operator's block."""
        found = self.step.body
        assert found is not None
        return found

    def export(self, frame: Frame) -> None:
        """Let the block around have what a pass wrote to its variables."""
        for name in self.body.exports:
            if name in frame:
                self.env[name] = frame.pop(name)

    def overwritten(self) -> dict[str, Any]:
        """What gradients will read of outer variables that a pass is about to write."""
        return {name: self.find(name) for name in self.body.overwritten}

    def saved(self, frame: Frame) -> dict[str, Any]:
        """What gradients will read of a pass."""
        return {name: frame[name] for name in self.body.saved if name in frame}

    def taken(self, frame: Frame, names: Iterable[str]) -> list[Any]:
        """Values of a pass by name; None for what it did not compute."""
        return [dict.get(frame, name) for name in names]
