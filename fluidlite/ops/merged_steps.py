"""Steps of optimizers on lists of parameters."""

from __future__ import annotations

from typing import Any, ClassVar

from ..errors import ShapeError
from ..opdef.annotations import Arrays, Specs
from ..opdef.attribute import REQUIRED, attr
from ..opdef.definition import Detached, Op
from .optimizer import adam_v2, momentum


class MergedSteps(Detached, abstract=True):
    """The step of an operator on each of some parameters; slots hold what it takes and gives for
    each of them.

    Param, ParamOut: the parameters, before and behind.
    Grad: their gradients.
    LearningRate: one for each parameter, or one for all.
    """

    is_update: ClassVar[bool] = True

    def step(self, number: int) -> Op:
        """The operator of a parameter, by its number."""
        raise NotImplementedError

    def width(self, *lists: Any) -> int:
        return len(lists[0])

    def steps(self, lists: tuple[Any, ...]) -> list[tuple[Op, dict[str, Any]]]:
        """The operator of each parameter, and its inputs by slot."""
        by_slot = dict(zip(self.input_slots, lists, strict=True))
        count = len(by_slot["Param"])
        if len(by_slot["LearningRate"]) == 1:
            by_slot["LearningRate"] = by_slot["LearningRate"] * count
        for slot, values in by_slot.items():
            if len(values) != count:
                raise ShapeError(
                    f"expected {slot} for each of {count} parameters, got {len(values)}"
                )
        return [
            (self.step(k), {slot: values[k] for slot, values in by_slot.items()})
            for k in range(count)
        ]

    def infer(self, *specs: Any) -> Specs:
        results = [op.infer_outputs(ins) for op, ins in self.steps(specs)]
        return self.by_outputs(results)

    def by_outputs(self, results: list[dict[str, Any]]) -> dict[str, Any]:
        """Lists by slot, of what was made for each parameter."""
        return {slot: [each[slot] for each in results] for slot in self.output_slots}

    def run(self, xp: Any, *lists: Any) -> Arrays:
        results = [
            op.by_slot(op.run(xp, *[ins.get(slot) for slot in op.input_slots]))
            for op, ins in self.steps(lists)
        ]
        return self.by_outputs(results)


class merged_adam(MergedSteps):
    """The step of ``adam_v2`` on each of some parameters.

    Moment1, Moment2, Moment1Out, Moment2Out: running means of gradients and of their squares.
    Beta1Pow, Beta2Pow, Beta1PowOut, Beta2PowOut: powers of beta1 and beta2.
    beta1, beta2: how much of the running means stays.
    epsilon: keeps the division finite.
    use_global_beta_pow: the powers stay, since another operator has them.
    """

    signature = (
        "Param*, Grad*, LearningRate*, Moment1*, Moment2*, Beta1Pow*, Beta2Pow* -> "
        "ParamOut*, Moment1Out*, Moment2Out*, Beta1PowOut*, Beta2PowOut*"
    )
    beta1: float = 0.9
    beta2: float = 0.999
    epsilon: float = 1e-8
    multi_precision: bool = attr(False, inert=True)
    use_global_beta_pow: bool = False

    def step(self, number: int) -> Op:
        return adam_v2(self.attr_values())


class merged_momentum(MergedSteps):
    """The step of ``momentum`` on each of some parameters.

    Velocity, VelocityOut: running sums of gradients.
    mu: how much of the velocity stays.
    use_nesterov: as of ``momentum``.
    regularization_method, regularization_coeff: those of ``momentum`` for each parameter, or none.
    """

    signature = "Param*, Grad*, Velocity*, LearningRate* -> ParamOut*, VelocityOut*"
    mu: float = REQUIRED
    use_nesterov: bool = False
    regularization_method: list[str] = ()
    regularization_coeff: list[float] = ()
    multi_precision: bool = attr(False, inert=True)
    rescale_grad: float = attr(1.0, inert=True)

    def step(self, number: int) -> Op:
        attrs: dict[str, Any] = {"mu": self.mu, "use_nesterov": self.use_nesterov}
        for name in ("regularization_method", "regularization_coeff"):
            attrs.update({name: getattr(self, name)[number]} if getattr(self, name) else {})
        return momentum(attrs)
