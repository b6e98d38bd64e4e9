"""The rule of batching of operators whose inputs hold examples already: rows that do not meet."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from ..ir.variable import Variable
from ..opdef.definition import Op
from ..opdef.gradient import DerivedGrad
from ..opdef.spec import Spec
from .batching import BatchedValue, Batching, Values, each, each_of, each_with_slot, flat


def always(op: Op, ins: Values) -> bool:
    """True."""
    return True


@dataclass(frozen=True)
class RowsRule:
    """The operator itself, on the rows of all examples, one example behind the other.

    inputs: the slots whose rows do not meet; the others have to be the same for all examples.
    outputs: the slots that have such rows; the others are the same for all examples. All when None.
    fits: whether that holds for an operator and its inputs.
    """

    inputs: tuple[str, ...]
    outputs: tuple[str, ...] | None = None
    fits: Callable[[Op, Values], bool] = always
    way: str = "rule"

    def apply(
        self, f: Batching, op: Op, ins: Values, want: Iterable[str] | None
    ) -> dict[str, Any] | None:
        """The outputs of an operator; None where it cannot be done."""
        if any(
            v.is_batched for s, held in ins.items() if s not in self.inputs for v in flat({s: held})
        ):
            return None
        if not self.fits(op, ins):
            return None
        inferred = op.infer_outputs(each(ins, lambda v: Spec(v.shape, v.dtype)))
        operands = each_with_slot(ins, lambda s, v: joined(f, v) if s in self.inputs else v)
        outs = f.plain(op, operands, want)
        return {
            slot: self._each_out(f, slot, held, inferred.get(slot))
            for slot, held in outs.items()
            if inferred.get(slot) is not None or (want is not None and slot in want)
        }

    def _each_out(self, f: Batching, slot: str, held: Any, inferred: Any) -> Any:
        """What an output slot holds, with the rows of each example for themselves."""
        if self.outputs is not None and slot not in self.outputs:
            return held
        if isinstance(held, list):
            pairs = zip(held, inferred, strict=True)
            return [divided(f, value.variable, spec.shape) for value, spec in pairs]
        return divided(f, held.variable, inferred.shape)

    def gradient(
        self, f: Batching, op: DerivedGrad, ins: Values, want: Iterable[str] | None, copies: bool
    ) -> dict[str, Any] | None:
        """The gradients of what has rows; None where others are needed, too."""
        names = {name: of for of, name in op.grad_slots.items()}
        wanted = [names[name] for name in (names if want is None else want) if name in names]
        reads = {read.slot: read for read in op.reads}
        like = {
            reads[slot].of: each_of(held, lambda v: v.shape)
            for slot, held in ins.items()
            if reads[slot].source == "in"
        }
        is_first = op.derived_from.derived_from is None
        if not is_first or not all(of in self.inputs and of in like for of in wanted):
            return None
        if not self.fits(op.like(op.derived_from), {reads[s].of: held for s, held in ins.items()}):
            return None
        operands = {}
        for slot, held in ins.items():
            has_rows = reads[slot].of in self.inputs if reads[slot].source == "in" else True
            if not has_rows and any(v.is_batched for v in flat({slot: held})):
                return None
            if not has_rows or not self._is_common(reads[slot]):
                operands[slot] = each_of(held, lambda v: joined(f, v)) if has_rows else held
            else:
                return None
        outs = f.plain(op, operands, want)
        return {
            name: _divided_alike(f, held, like[names[name]])
            for name, held in outs.items()
            if name in names
        }

    def _is_common(self, read: Any) -> bool:
        """Whether an output that is read is one that examples share."""
        return read.source != "in" and self.outputs is not None and read.of not in self.outputs


def joined(f: Batching, value: BatchedValue) -> BatchedValue:
    """A value with the rows of all examples, one example behind the other."""
    front, (count, *rest) = f.front(value), value.shape
    rows = -1 if f.size == -1 or count == -1 else f.size * count
    return f.value(f.reshaped(front, (rows, *rest)))


def divided(f: Batching, variable: Variable, shape: Sequence[int]) -> BatchedValue:
    """The rows of all examples as the value of each, which has a shape."""
    return f.value(f.reshaped(variable, (f.size, *shape)), 0)


def _divided_alike(f: Batching, held: Any, shapes: Any) -> Any:
    if isinstance(held, list):
        return [divided(f, v.variable, shape) for v, shape in zip(held, shapes, strict=True)]
    return divided(f, held.variable, shapes)
