"""How the steps of a block are divided: into stages that JAX compiles, and steps of the host."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from ..plan import BlockPlan
from ..segment import FEWEST_COMPILED, Segment
from ..step import Step
from .rows import rows_matter
from .stage import CompiledStage


class HostStep(NamedTuple):
    """A step that the host runs, and why."""

    step: Step
    why: str


class Staging:
    """The parts of a block in order.

    What JAX cannot compile is found when it is traced: a stage is then divided (:meth:`divided`).

    Args:
        plan: of the block.
        backends: JAX's and NumPy's.
        draws_on_host: whether random operators are steps of the host.
        placing: where values lie on a mesh of devices; None for one device.
        precision: of products.
    """

    def __init__(
        self,
        plan: BlockPlan,
        backends: tuple[Any, Any],
        draws_on_host: bool = False,
        placing: Any = None,
        precision: str = "highest",
    ) -> None:
        self._backends, self._placing = backends, placing
        self._precision = precision
        blocks = plan.block.program.blocks
        self._names_rows = rows_matter(op for block in blocks for op in block.ops)
        ragged: set[int] = set()
        for item in plan.items:
            if isinstance(item, Segment) and item.is_ragged:
                ragged.update(map(id, item.steps))
        self.parts: list[CompiledStage | HostStep] = []
        reasons = []
        for step in plan.steps:
            why = ""
            if id(step) in ragged:
                why = "it works on sequences, and each set of lengths would be compiled anew"
            elif draws_on_host and _draws(step):
                why = "it draws random numbers, which are to be NumPy's"
            reasons.append((step, why))
        for is_host, group in groupby(reasons, lambda pair: bool(pair[1])):
            row = list(group)
            if is_host:
                self.parts += [HostStep(*pair) for pair in row]
            elif ragged and len(row) < FEWEST_COMPILED and not any(s.body for s, _ in row):
                few = "a few operators beside those of sequences are no function of their own"
                self.parts += [HostStep(step, few) for step, _ in row]
            else:
                self.parts += self._stages([step for step, _ in row])

    def _stages(self, steps: Sequence[Step]) -> list[CompiledStage | HostStep]:
        how = self._backends, self._placing, self._precision, self._names_rows
        return [CompiledStage(steps, *how)] if steps else []

    def divided(self, stage: CompiledStage, why: str) -> list[CompiledStage | HostStep]:
        """What takes the place of a stage of which a step cannot be compiled: the one it came to.

        Args:
            stage: one of the parts.
            why: what is said of the step.
        """
        place = stage.place
        return [
            *self._stages(stage.steps[:place]),
            HostStep(stage.steps[place], why),
            *self._stages(stage.steps[place + 1 :]),
        ]

    def replace(self, stage: CompiledStage, parts: Iterable[CompiledStage | HostStep]) -> None:
        """Put parts in place of a stage."""
        at = next(k for k, part in enumerate(self.parts) if part is stage)
        self.parts[at : at + 1] = list(parts)

    @property
    def is_on_host(self) -> bool:
        """Whether the host runs all steps, and none of them drives a block."""
        return all(isinstance(part, HostStep) and part.step.body is None for part in self.parts)

    @property
    def only(self) -> CompiledStage | None:
        """The stage that is all there is; None where there is more."""
        return (
            self.parts[0]
            if len(self.parts) == 1 and isinstance(self.parts[0], CompiledStage)
            else None
        )


def _draws(step: Step) -> bool:
    if step.body is not None:
        return any(map(_draws, step.body.steps))
    return bool(step.instance.random)


def described(error: BaseException) -> str:
    """Why a step cannot be compiled, in a few words."""
    first = str(error).strip().split("\n", 1)[0]
    if type(error).__module__.startswith("jax"):
        return f"it needs values that are known when the program runs only ({type(error).__name__})"
    return first if type(error).__name__ == "NotTraceable" else f"{type(error).__name__}: {first}"
