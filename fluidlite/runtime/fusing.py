"""Two kernels as one, which need not write what goes between them, or in an order that is less
work.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

from ..kernels.labels import softmax_grad_at
from ..opdef.definition import Op
from ..opdef.prepared import Prepared
from .rewriting import Rewriting
from .trace import Kernel, Trace, Value

GRAD = "Out@GRAD"


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
        given = kernel.ins.get(GRAD)
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


# -- maximum pooling before relu -------------------------------------------------------------------


def pooled_first(kernels: Sequence[Kernel], wanted: Iterable[Value], trace: Trace) -> list[Kernel]:
    """Kernels that pool before they take the ``relu``, where they did it the other way round.

    The maximum is the same, and so is the element that its gradient goes to; there is less to take
    the ``relu`` of.

    Args:
        kernels: in order.
        wanted: values that are needed at the end.
        trace: makes kernels.
    """
    readers: dict[int, list[Kernel]] = {v.number: [] for k in kernels for v in k.outputs}
    for kernel in kernels:
        for value in kernel.inputs:
            readers.setdefault(value.number, []).append(kernel)
    for value in wanted:
        readers.pop(value.number, None)  # whoever reads what is wanted is not the only one
    groups = [(k, _pooling_of(k, readers)) for k in kernels if k.op.type == "relu"]
    new, instead = Rewriting(trace), {}
    for relu, group in groups:
        if group is not None:
            instead.update({id(relu): None, **{id(kernel): (relu, group) for kernel in group}})
    before: dict[int, Value] = {}  # result of a relu -> what is pooled before it
    for kernel in kernels:
        found = instead.get(id(kernel), ())
        if found == ():
            new.listed.append(kernel)
        elif found:
            relu, (pool, *grads) = found
            (given,), (large,), (small,) = relu.inputs, relu.outputs, pool.outputs
            if kernel is pool:
                top = new.make(kernel, partial(_applied, op=pool.op, ins={"X": given}))
                new.make_as(kernel, partial(_applied, op=relu.op, ins={"X": top}))
                before[large.number] = top
            elif kernel is grads[1]:
                ins = {"Out": small, GRAD: grads[0].ins[GRAD]}
                part = new.make(kernel, partial(_applied, op=kernel.op, ins=ins))
                ins = {"X": given, "Out": before[large.number], GRAD: part}
                new.make_as(kernel, partial(_applied, op=grads[0].op, ins=ins))
    return new.listed


def _pooling_of(relu: Kernel, readers: dict[int, list[Kernel]]) -> list[Kernel] | None:
    """The maximum pooling that alone reads a ``relu``, with its gradient and that of the ``relu``
    where there are any; None where there is no such thing.
    """
    found = {k.op.type: k for k in readers.get(relu.outputs[0].number, ())}
    count = len(readers.get(relu.outputs[0].number, ()))
    pool: Any = found.get("pool2d")
    if pool is None or pool.op.pooling_type != "max":
        return None
    if count == 1:
        return [pool]
    back, last = found.get("pool2d_grad"), found.get("relu_grad")
    if count != 3 or back is None or last is None or back.inputs[1] is not pool.outputs[0]:
        return None
    (between,) = back.outputs
    only = readers.get(between.number) == [last] and last.arguments[1] is between
    return [pool, back, last] if only and back.arguments[0] is relu.outputs[0] else None


def _applied(f: Trace, op: Op, ins: dict[str, Value]) -> Value:
    """What an operator with one result makes."""
    made: Value
    (made,) = f.apply(op, ins).values()
    return made
