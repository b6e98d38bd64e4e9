"""Kernels that do the work of two, and need not write what goes from one to the other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from ..kernels.labels import softmax_grad_at
from ..opdef.prepared import Prepared
from .trace import Kernel, Value


def fused(kernels: Sequence[Kernel], wanted: Iterable[Value]) -> list[Kernel]:
    """Kernels, some of them in the place of two.

    Args:
        kernels: in order.
        wanted: values that are needed at the end.
    """
    placing = {k.outputs[0].number: k for k in kernels if k.op.type == "place_label"}
    if not placing:
        return list(kernels)
    readers = Counter(v.number for kernel in kernels for v in kernel.inputs)
    readers.update(v.number for v in wanted)
    together: dict[int, Kernel | None] = {}
    for kernel in kernels:
        if kernel.op.type != "softmax_grad":
            continue
        given = kernel.ins.get("Out@GRAD")
        if not isinstance(given, Value) or readers[given.number] > 1:
            continue
        first = placing.get(given.number)
        both = None if first is None else _softmax_of_label(kernel, first)
        if both is not None:
            together[id(first)], together[id(kernel)] = None, both
    listed = [together.get(id(kernel), kernel) for kernel in kernels]
    return [kernel for kernel in listed if kernel is not None]


def _softmax_of_label(kernel: Kernel, placing: Kernel) -> Kernel | None:
    """The gradient of a softmax whose cotangent is 0 but for one element of each row."""
    value, at, label = kernel.ins["Out"], placing.ins["X"], placing.ins["Label"]
    placed: Any = placing.op
    forward = kernel.op.derived_from
    if forward is None:
        return None
    softmax = forward(kernel.op.attr_values())
    prepared = softmax_grad_at(softmax, value.spec, at.spec, label.spec, placed.ignore_index)
    if prepared is None:
        return None
    return _Both(kernel, {"Out": value, "At": at, "Label": label}, prepared)


class _Both(Kernel):
    """A kernel that also does the work of one before it.

    Args:
        kernel: the second one.
        ins: values by what they are.
        prepared: what computes the second one's results from them.
    """

    __slots__ = ()

    def __init__(self, kernel: Kernel, ins: dict[str, Any], prepared: Prepared) -> None:
        self.op, self.step, self.outs = kernel.op, kernel.step, kernel.outs
        self.ins, self.reads, self.prepared = ins, tuple(ins), prepared
        self.function, self.takes_rng, self.random_key = None, False, ""
