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
    finding = _Finding(whole, trace)
    for kernel in kernels:
        if not finding.replaces(kernel):
            finding.new.listed.append(kernel)
    new = finding.new
    return (new.listed, new.instead) if new.listed != list(kernels) else None


class _Finding:
    """Kernels that take parts, one after the other.

    Args:
        whole: kernels that put something together, by number of what they make.
        trace: makes kernels and values.
    """

    def __init__(self, whole: dict[int, Kernel], trace: Trace) -> None:
        self._whole, self._trace = whole, trace
        self.new = Rewriting(trace)
        #: numbers of values that are zero
        self._zeros: set[int] = set()

    def replaces(self, kernel: Kernel) -> bool:
        """Whether there is something in the place of a kernel."""
        given, made = kernel.inputs, kernel.outputs[0]
        if kernel.op.type == "slice" and len(given) == 1 and given[0].number in self._whole:
            return self._is_part(kernel, self._whole[given[0].number])
        if kernel.op.type == "reshape" and given and given[0].number in self._zeros:
            self._make_zero(made)
            return True
        return kernel.op.type == "sum" and self._is_sum_of_less(kernel)

    def _is_part(self, kernel: Kernel, maker: Kernel) -> bool:
        """Take a part from where what it is a part of came from."""
        (made,) = kernel.outputs
        cuts = _cuts(kernel, maker.outputs[0])
        if maker.op.type == "stack":
            item = _item(maker, cuts)
        else:
            item = maker.inputs[0] if _is_inside(maker, cuts) else None
            if item is None and _is_outside(maker, cuts) and made.size <= FOLDED_SIZE:
                self._make_zero(made)
                return True
        if item is not None:
            self.new.make_as(kernel, partial(_shaped, x=item, shape=made.shape))
        return item is not None

    def _is_sum_of_less(self, kernel: Kernel) -> bool:
        """Leave out of a sum what is zero."""
        (made,) = kernel.outputs
        terms = [v for v in kernel.inputs if v.number not in self._zeros and not _is_zero(v)]
        if len(terms) == 1 and terms[0].kind is made.kind:
            self.new.instead[made.number] = terms[0]
            return True
        if 1 < len(terms) < len(kernel.inputs):
            self.new.make_as(kernel, partial(_added, terms=terms))
            return True
        return False

    def _make_zero(self, value: Value) -> None:
        zeros = np.zeros(value.shape, value.dtype)
        self.new.instead[value.number] = self._trace.known(zeros)
        self._zeros.add(value.number)


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
