"""Expressions of images, where a kernel library lays these out in another way.

What is computed for each element stays; what has one value for each channel is stretched over the
elements as they lie.
"""

from __future__ import annotations

from typing import Any

from .symbols import Expression, Shape, Untraceable
from .tracing import TracedResults

FEWEST = 2  #: blocks of channels


def relaid(trace: TracedResults, shape: Shape, layout: Any) -> TracedResults:
    """The trace of an operator on images that lie in another way.

    Args:
        trace: of plain images.
        shape: of those, with channels in the second dimension.
        layout: with ``block``, the channels that lie side by side, or ``order``, the dimensions as
            they lie; ``padded`` where zeros fill blocks up.

    Raises:
        Untraceable: it does more than elements and channels have.
    """
    made = _Relaid(shape, layout)
    operands = [_each(made.of, operand) for operand in trace.operands]
    results = {slot: _each(made.of, found) for slot, found in trace.results.items()}
    return TracedResults(operands, results)


def _each(function: Any, found: Any) -> Any:
    if isinstance(found, list):
        return [_each(function, one) for one in found]
    return None if found is None else function(found)


class _Relaid:
    def __init__(self, shape: Shape, layout: Any) -> None:
        count, channels, *image = shape
        ones, block = [1] * len(image), layout.block
        if layout.padded or (block is None and layout.order is None):
            raise Untraceable("images in a layout without a name")
        if block is not None and channels < FEWEST * block:
            raise Untraceable("too few channels for several threads")
        if block is not None:
            lying = (count, channels // block, *image, block)
            of_channels = (1, channels // block, *ones, block)
        else:
            lying, of_channels = (count, *image, channels), (1, *ones, channels)
        self._plain, self._by_channel = tuple(shape), (1, channels, *ones)
        self._shapes = {self._by_channel: of_channels, self._plain: lying}
        if len(self._shapes) < 2 or channels == 1:
            raise Untraceable("one element for each channel")
        #: what is reduced where all but the channels are
        self._others = tuple(i for i, n in enumerate(of_channels) if n == 1)
        self._known: dict[int, Expression] = {}

    def of(self, node: Expression) -> Expression:
        """An expression, of values as they lie."""
        stack = [node]
        while stack:
            at = stack[-1]
            missing = [a for a in at.arguments if a.serial not in self._known]
            if missing:
                stack += missing
                continue
            stack.pop()
            if at.serial not in self._known:
                self._known[at.serial] = self._made(at)
        return self._known[node.serial]

    def _made(self, node: Expression) -> Expression:
        arguments, data = [self._known[a.serial] for a in node.arguments], node.data
        shape = self._shapes.get(node.shape, node.shape)
        name, before = node.function, {a.shape for a in node.arguments}
        if name in ("sum", "max"):
            if before & set(self._shapes):
                if self._plain not in before or node.shape != self._by_channel:
                    raise Untraceable("a reduction of images that leaves no channels")
                data = self._others
        elif name == "stretch":
            (inner,) = node.arguments
            padded = (1,) * (len(node.shape) - len(inner.shape)) + inner.shape
            if node.shape in self._shapes and inner.size > 1:
                if padded != self._by_channel:
                    raise Untraceable("what is neither of images nor of channels")
                arguments = [Expression("view", arguments, self._shapes[padded], inner.dtype)]
            elif self._plain in before:
                raise Untraceable("images that are repeated")
        elif name == "view":
            if self._plain in before or node.shape == self._plain:
                raise Untraceable("images in another shape")
        elif name in ("part", "concat"):
            raise Untraceable("parts of images")
        elif name == "index":
            raise Untraceable("positions in images")
        return Expression(name, arguments, shape, node.dtype, data)
