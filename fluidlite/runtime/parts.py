"""Parts of what was put together just before.

The gradient of a part is zero but for that part, and the passes backward through a recurrent
network each take a part of it: those that are zero need not be added.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from .rewriting import Rewriting
from .trace import FOLDED_SIZE, Kernel, Trace, Value


def found_in_parts(
    kernels: Sequence[Kernel], trace: Trace
) -> tuple[list[Kernel], dict[int, Value]] | None:
    """Kernels that take a part of something from where that came from.

    Args:
        kernels: in order.
        trace: makes kernels and values.

    Returns:
        the kernels, and by number of a value that is not made the one to use in its place; None
        where nothing changes.
    """
    whole = {k.outputs[0].number: k for k in kernels if k.op.type in ("stack", "pad")}
    if not whole:
        return None
    new = Rewriting(trace)
    instead = new.instead
    zeros: set[int] = set()
    for kernel in kernels:
        given = kernel.inputs[0] if kernel.inputs else None
        maker = whole.get(given.number) if given is not None else None
        made = kernel.outputs[0]
        if kernel.op.type == "slice" and maker is not None and len(kernel.inputs) == 1:
            cuts = _cuts(kernel, maker.outputs[0])
            if maker.op.type == "stack":
                item = _item(maker, cuts)
                if item is not None:
                    new.make_as(kernel, partial(_shaped, x=item, shape=made.shape))
                    continue
            elif _is_inside(maker, cuts):
                new.make_as(kernel, partial(_shaped, x=maker.inputs[0], shape=made.shape))
                continue
            elif _is_outside(maker, cuts) and made.size <= FOLDED_SIZE:
                instead[made.number] = trace.known(np.zeros(made.shape, made.dtype))
                zeros.add(made.number)
                continue
        elif kernel.op.type == "reshape" and given is not None and given.number in zeros:
            instead[made.number] = trace.known(np.zeros(made.shape, made.dtype))
            zeros.add(made.number)
            continue
        elif kernel.op.type == "sum":
            terms = [v for v in kernel.inputs if v.number not in zeros and not _is_zero(v)]
            if len(terms) == 1 and terms[0].kind is made.kind:
                instead[made.number] = terms[0]
                continue
            if 1 < len(terms) < len(kernel.inputs):
                new.make_as(kernel, partial(_added, terms=terms))
                continue
        new.listed.append(kernel)
    return (new.listed, instead) if new.listed != list(kernels) else None


def _cuts(kernel: Kernel, whole: Value) -> list[slice]:
    """Which positions a part has along each dimension of the whole."""
    op: Any = kernel.op
    ones = (1,) * len(op.axes)
    return [
        slice(*cut.indices(size))
        for cut, size in zip(op.cuts(whole.shape, op.starts, op.ends, ones), whole.shape)
    ]


def _item(stack: Kernel, cuts: Sequence[slice]) -> Value | None:
    """The one value of a stack that a part consists of, as a whole."""
    op: Any = stack.op
    (whole,) = stack.outputs
    axis = op.axis % whole.ndim
    if any(len(range(n)[c]) != n for i, (c, n) in enumerate(zip(cuts, whole.shape)) if i != axis):
        return None
    places = range(whole.shape[axis])[cuts[axis]]
    return stack.inputs[places[0]] if len(places) == 1 else None


def _is_zero(value: Value) -> bool:
    """Whether a value is known to be zero everywhere."""
    return value.constant is not None and not value.constant.any()


def _is_inside(pad: Kernel, cuts: Sequence[slice]) -> bool:
    """Whether a part is what zeros were put around."""
    op: Any = pad.op
    begins, sizes = op.paddings[::2], pad.inputs[0].shape
    return all(c == slice(b, b + n, 1) for c, b, n in zip(cuts, begins, sizes))


def _is_outside(pad: Kernel, cuts: Sequence[slice]) -> bool:
    """Whether a part has only zeros that were put around something."""
    op: Any = pad.op
    (inner,) = pad.inputs
    if op.pad_value:
        return False
    begins, sizes = op.paddings[::2], inner.shape
    return any(c.stop <= b or c.start >= b + n for c, b, n in zip(cuts, begins, sizes))


def _shaped(f: Trace, x: Value, shape: Sequence[int]) -> Value:
    made: Value = f.reshape(x, shape=list(shape))
    return made


def _added(f: Trace, terms: list[Value]) -> Value:
    made: Value = f.sum(terms)
    return made
