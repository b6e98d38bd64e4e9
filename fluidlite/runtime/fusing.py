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
from .rewriting import Rewriting
from .trace import Kernel, PreparedKernel, Trace, Value

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
    ins = {"Out": value, "At": at, "Label": label}
    return PreparedKernel(kernel, ins, kernel.outs, prepared)


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
    found = [_pooling_of(k, readers) for k in kernels if k.op.type == "relu"]
    groups = {id(member): group for group in found if group for member in group.members}
    new = Rewriting(trace)
    for kernel in kernels:
        group = groups.get(id(kernel))
        if group is None:
            new.listed.append(kernel)
        elif kernel is group.pool:
            _pool_then_relu(group, new)
        elif kernel is group.relu_grad:
            _relu_then_pool_back(group, new)
    return new.listed


class _Pooling:
    """A ``relu`` that is only there to be pooled.

    Args:
        relu, pool: the kernels.
        pool_grad, relu_grad: those backward, where there are any.
    """

    def __init__(
        self,
        relu: Kernel,
        pool: Kernel,
        pool_grad: Kernel | None = None,
        relu_grad: Kernel | None = None,
    ) -> None:
        self.relu, self.pool = relu, pool
        self.pool_grad, self.relu_grad = pool_grad, relu_grad
        self.members = [k for k in (relu, pool, pool_grad, relu_grad) if k is not None]
        #: what is pooled before the relu
        self.before: Value | None = None


def _pooling_of(relu: Kernel, readers: dict[int, list[Kernel]]) -> _Pooling | None:
    """The maximum pooling that alone reads a ``relu``; None where there is no such thing."""
    (large,) = relu.outputs
    reading = readers.get(large.number, [])
    found = {k.op.type: k for k in reading}
    pool: Any = found.get("pool2d")
    if pool is None or pool.op.pooling_type != "max":
        return None
    if len(reading) == 1:
        return _Pooling(relu, pool)
    back, last = found.get("pool2d_grad"), found.get("relu_grad")
    if len(reading) != 3 or back is None or last is None:
        return None
    (between,) = back.outputs
    numbers = [v.number for v in (*back.inputs[:2], *last.inputs)]
    goes_on = [large.number, pool.outputs[0].number, large.number, between.number]
    if numbers != goes_on or readers.get(between.number) != [last]:
        return None
    return _Pooling(relu, pool, back, last)


def _pool_then_relu(group: _Pooling, new: Rewriting) -> None:
    pool, relu = group.pool, group.relu
    before = new.make(pool, partial(_applied, op=pool.op, ins={"X": relu.inputs[0]}))
    new.make_as(pool, partial(_applied, op=relu.op, ins={"X": before}))
    group.before = before


def _relu_then_pool_back(group: _Pooling, new: Rewriting) -> None:
    back, last = group.pool_grad, group.relu_grad
    assert back is not None and last is not None and group.before is not None
    ins = {"Out": group.pool.outputs[0], GRAD: back.ins[GRAD]}
    part = new.make(last, partial(_applied, op=last.op, ins=ins))
    ins = {"X": group.relu.inputs[0], "Out": group.before, GRAD: part}
    new.make_as(last, partial(_applied, op=back.op, ins=ins))


def _applied(f: Trace, op: Op, ins: dict[str, Value]) -> Value:
    """What an operator with one result makes."""
    made: Value
    (made,) = f.apply(op, ins).values()
    return made
