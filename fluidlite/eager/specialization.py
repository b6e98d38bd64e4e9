"""What is known of an operator on inputs of certain shapes and types."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..ground.dtypes import as_dtype
from ..opdef.definition import Op
from ..opdef.gradient import is_constant
from .pullback import Pullback
from .straight_line import shape_dtype_of


class Specialization:
    """What is known of an operator on inputs of certain shapes and types.

    Args:
        op: the operator.
        ins: forms of its inputs, in the order of the slots.
        outs: its outputs by slot.
        kernel: computes the output of an operator that has one.
    """

    __slots__ = (
        "flows", "takes_composition", "ins", "kernel", "op", "outs", "places", "places_of",
        "pullbacks",
    )  # fmt: skip

    def __init__(self, op: Op, ins: Sequence[Any], outs: Mapping[str, Any], kernel: Any) -> None:
        self.op: Op = op
        self.kernel: Any = kernel
        self.ins: Sequence[Any] = ins
        self.outs: dict[str, Any] = {slot: shape_dtype_of(value) for slot, value in outs.items()}
        #: slot, and number in a list, of each output that has a gradient
        self.places: list[tuple[str, int | None]] = [
            (slot.name, k if slot.many else None)
            for slot in op.outputs
            if not slot.constant
            for k, form in enumerate(_listed(self.outs.get(slot.name)))
            if form is not None and as_dtype(form.dtype).is_continuous
        ]
        self.flows: bool = bool(self.places) and not is_constant(type(op))
        #: whether its parts are remembered in its place
        self.takes_composition: bool = op.composition is not None and op.takes_composition(*ins)
        self.pullbacks: dict[int, Pullback] = {}  #: by which inputs want a cotangent
        #: of an operator with several outputs, none a list: the numbers among ``places`` by slot
        self.places_of: dict[str, int | None] | None = None

    def number_outputs(self) -> None:
        """Note the numbers of several outputs; not where one is a list."""
        if not any(slot.many for slot in self.op.outputs):
            numbers = {slot: index for index, (slot, _) in enumerate(self.places)}
            self.places_of = {slot.name: numbers.get(slot.name) for slot in self.op.outputs}

    def pullback(self, mask: int) -> Pullback:
        """How cotangents pass.

        Args:
            mask: bit i says whether input i wants a cotangent.
        """
        pullback = self.pullbacks.get(mask)
        if pullback is None:
            wanted = tuple([bool(mask >> i & 1) for i in range(len(self.ins))])
            pullback = Pullback(self.op, self.ins, self.outs, self.places, wanted)
            self.pullbacks[mask] = pullback
        return pullback


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
