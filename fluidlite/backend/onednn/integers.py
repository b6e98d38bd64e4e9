"""Products and convolutions in whole numbers of 8 bits, where a program asks for them.

An operand is what ``quantize_linear`` and ``dequantize_linear`` make of a value, a weight what
``dequantize_linear`` makes of stored whole numbers.  Kernels here read the value and the stored
numbers: sums of products are exact, and are multiplied by both scales.  What is no number becomes
one.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, NamedTuple
from weakref import ref

import numpy as np

from ...opdef.prepared import Epilogues, Offer, Prepared
from ...opdef.whole_numbers import LEAST_SCALE
from . import memory
from .convolution import ConvolutionGeometry
from .elementwise import ALGORITHMS, OTHER
from .library import INFERENCE, INT8, UINT8, NotDone
from .memory import Descriptor, ExecutionContext, Layout, Primitive, PrimitiveDescriptor
from .offers import Layouts, OneDnnKernels, serves_integers, whole
from .post_ops import POST, PostOp, post_ops
from .product import ProductGeometry

SOURCE, WEIGHTS, TARGET, BIAS = 1, 33, 17, 41
OF_SOURCE, OF_WEIGHTS = 129, 131
SCALE = 4096  #: what the number of a scale's argument has beside that of the argument
DIRECT = 1
CLIP = 0x2F
BITS, MOST = 8, 127


class Rounded(NamedTuple):
    """The operands of a product, as they are before they are rounded."""

    x: Any
    x_scale: Any
    weight: Any  #: whole numbers
    weight_scale: Any  #: one number, or one for each slice
    axis: int  #: the dimension of slices; -1 for one scale
    is_clipped: bool  #: whether -128 is none of the numbers
    is_positive: bool  #: whether no element of X is below zero


def rounded_operands(onednn: OneDnnKernels, instruction: Any) -> Rounded:
    """The operands of a product.

    Args:
        onednn: the kernels of the graph.
        instruction: the product.

    Raises:
        NotDone: these are other ones.
    """
    first, second = (each.producer for each in instruction.operands[:2])
    whole_number, weight = first.operands[0], second.operands[0]
    rounding = whole_number.producer
    if rounding is None or rounding.op.type != "quantize_linear" or weight.dtype != np.int8:
        raise NotDone("operands are rounded in another way")
    x, x_scale = rounding.operands[:2]
    if x.producer is not None and x.producer.op.type == "reorder":
        (x,) = x.producer.operands  # as it lay before it was to be rounded
    is_usual = all(
        op.is_test and not op.only_observer and op.bit_length == BITS
        for op in (rounding.op, first.op, second.op)
    )
    same = x_scale is first.operands[1] and rounding.op.quant_axis == first.op.quant_axis == -1
    if not (is_usual and same):
        raise NotDone("operands are rounded in another way")
    is_clipped = rounding.op.round_type == 1
    how = second.op.quant_axis, is_clipped, x.number in onednn.not_negative
    return Rounded(x, x_scale, weight, second.operands[1], *how)


class Rounding:
    """Rounds a value to whole numbers, as ``quantize_linear`` does.

    Args:
        onednn: the kernels of the graph.
        layout: of the value.
        operands: says how.
    """

    def __init__(self, onednn: OneDnnKernels, layout: Layout, operands: Rounded) -> None:
        library, form = onednn.library, layout.form
        self.dtype: int = UINT8 if operands.is_positive else INT8
        steps = tuple(layout.form.steps)
        if layout != Layout(library, form):  # the channels lie last
            steps = memory.channels_last_steps(form.sizes)
        #: of the whole numbers
        self.form: memory.Form = memory.Form(form.sizes, steps)
        self.target: Descriptor = memory.lying(library, self.form, self.dtype)
        one = Layout(library, memory.row_major([1 for _ in form.sizes]))
        self._is_clipped = operands.is_clipped
        limits = [("eltwise", CLIP, -float(MOST), float(MOST))]
        descriptor = PrimitiveDescriptor(
            library,
            "binary",
            *(ALGORITHMS["elementwise_mul"], layout, one, self.target),
            posts=limits if operands.is_clipped or operands.is_positive else (),
            scaled=(SOURCE,),
        )
        number = Layout(library, memory.row_major((1,)))
        listed = [(SOURCE, layout), (OTHER, one), (TARGET, self.target), (SCALE | SOURCE, number)]
        self._primitive = Primitive(onednn.contexts, descriptor, listed)
        self._size = prod(form.sizes)

    def at(self, context: ExecutionContext, x: Any, scale: Any) -> Any:
        """The whole numbers, for as long as a kernel runs."""
        whole_numbers = context.rounded.get(self._size)
        if whole_numbers is None:
            whole_numbers = context.rounded[self._size] = memory.aligned(self._size)
        inverse = np.float32(1) / scale if scale >= LEAST_SCALE else np.float32(0)
        first, second = np.float32(MOST), inverse
        if self._is_clipped:  # in the order in which the operator multiplies
            first, second = np.float32(1), np.float32(MOST) * inverse
        numbers = np.array([first, second], "float32")
        self._primitive.at(context)(x, numbers[1:], whole_numbers, numbers[:1])
        return whole_numbers


class Weight:
    """Stored whole numbers, laid out as a primitive reads them.

    Args:
        onednn: the kernels of the graph.
        form: as they are stored.
        handle: of the descriptor that the primitive chose.
    """

    def __init__(self, onednn: OneDnnKernels, form: memory.Form, handle: Any) -> None:
        library = onednn.library
        stored = memory.lying(library, form, INT8)
        descriptor = PrimitiveDescriptor(
            library, "reorder", stored, library.engine, handle, library.engine
        )
        listed = [(SOURCE, stored), (TARGET, handle)]
        self._primitive = Primitive(onednn.contexts, descriptor, listed)
        self._nbytes: int = library.size(handle)
        self._last: tuple[Any, Any] = (_nothing, None)

    def at(self, context: ExecutionContext, array: Any) -> Any:
        """The numbers as the primitive reads them; those of an array that nobody may write to are
        laid out once.
        """
        known, packed = self._last
        if known() is array and not array.flags.writeable:
            return packed
        packed = memory.aligned(self._nbytes)
        self._primitive.at(context)(np.ascontiguousarray(array), packed)
        self._last = ref(array), packed
        return packed


def _nothing() -> None:
    """A reference to nothing."""


def _factors(scale: Any, weight_scale: Any, count: int, more: float = 1.0) -> Any:
    """What each slice of a result is multiplied by."""
    factors = np.empty(count, "float32")
    np.multiply(weight_scale.reshape(-1), scale * np.float32(more / MOST**2), out=factors)
    return factors


def _offer(
    onednn: OneDnnKernels,
    primitive: Primitive,
    rounding: Rounding,
    weight: Weight,
    counts: tuple[int, float],
    shape: Sequence[int],
) -> Prepared:
    """A kernel of a value, its scale, a weight, its scales, and what is added."""

    def run(x: Any, scale: Any, w: Any, w_scale: Any, *rest: Any, out: Any = None) -> Any:
        *others, context = rest
        number = np.float32(scale.reshape(-1)[0])
        numbers = rounding.at(context, memory.plain(x), number)
        factors = _factors(number, w_scale, *counts)
        out = whole(out, tuple(shape))
        packed = weight.at(context, w)
        primitive.at(context)(numbers, packed, factors, *map(memory.plain, others), out)
        return out

    return Prepared(run, out=True, scratch=onednn.contexts)


@serves_integers("conv2d", "depthwise_conv2d")
def convolution(
    onednn: OneDnnKernels, instruction: Any, layouts: Layouts, epilogues: Epilogues
) -> Offer | None:
    """The convolution, and what follows: a bias, values of the same shape, and activations."""
    if any(each is not None for each in instruction.operands[2:]):
        raise NotDone("a bias that is no operator of its own")
    operands, library = rounded_operands(onednn, instruction), onednn.library
    g = ConvolutionGeometry(instruction.op, operands.x.shape, operands.weight.shape)
    if operands.axis > 0 or min(map(min, g.window[2:])) < 0:
        raise NotDone("scales of another dimension, or a padding below zero")
    image, target = (
        None if g.is_channels_last else memory.with_channels_last(library, form.sizes)
        for form in (g.image, g.out)
    )
    source = memory.described(library, g.image, image)
    plain_out = memory.described(library, g.out, target)
    rounding = Rounding(onednn, source, operands)
    chain, result, added = list(epilogues.chain), instruction.results[0], []
    channels = result.shape[-1 if g.is_channels_last else 1]
    bias = Layout(library, memory.row_major((channels,)))
    if not g.is_channels_last and epilogues.begins_with("add"):
        epilogue, adding = chain[0]
        if epilogue.shape == (1, channels, 1, 1):
            added = [v for v in adding.inputs if v is not result]
            result = adding.result
            del chain[0]
    posts = _same_shape(post_ops(chain, result), result.shape)
    steps = [
        (*step, plain_out) if post.value is not None else step
        for post in posts
        for step in post.steps
    ]
    others = [
        (POST * (place + 1) | OTHER, post.value)
        for place, post in enumerate(p for p in posts for _ in p.steps)
        if post.value is not None
    ]
    descriptor = PrimitiveDescriptor(
        library,
        "convolution_forward",
        *(INFERENCE, DIRECT, rounding.target, memory.any_of(library, g.filter.sizes, INT8)),
        *(bias if added else None, plain_out, *g.steps),
        posts=steps,
        scaled=((WEIGHTS, 3 if g.groups > 1 else 1),),
    )
    weights = descriptor.memory(OF_WEIGHTS)
    listed: list[tuple[int, Any]] = [(SOURCE, rounding.target), (WEIGHTS, weights)]
    listed += [(SCALE | WEIGHTS, bias), *[(BIAS, bias) for _ in added]]
    listed += [*[(number, plain_out) for number, _ in others], (TARGET, plain_out)]
    primitive = Primitive(onednn.contexts, descriptor, listed)
    weight = Weight(onednn, g.filter, weights)
    shape = result.shape if target is None else target.shape
    prepared = _offer(onednn, primitive, rounding, weight, (channels, 1.0), shape)
    values = [value for _, value in others]
    return Offer(
        prepared,
        (image, None, None, None, *(None for _ in added), *(target for _ in values)),
        (target,),
        operands=(*operands[:4], *added, *values),
        fused=len(added) + len(posts),
    )


def _same_shape(posts: Sequence[PostOp], shape: tuple[int, ...]) -> list[PostOp]:
    """The first of post-ops, up to one that combines a value of another shape."""
    count = next(
        (k for k, post in enumerate(posts) if post.value is not None and post.value.shape != shape),
        len(posts),
    )
    return list(posts[:count])


@serves_integers("mul", "matmul")
def product(
    onednn: OneDnnKernels, instruction: Any, layouts: Layouts, epilogues: Epilogues
) -> Offer | None:
    """The product of a matrix and a weight, and what follows."""
    operands, library = rounded_operands(onednn, instruction), onednn.library
    geometry = ProductGeometry(instruction.op, operands.x.shape, operands.weight.shape)
    x, y = geometry.form(0), geometry.form(1)
    if len(geometry.sizes) != 2 or x is None or y is None or x.steps[-1] != 1:
        raise NotDone("no product of two matrices")
    columns = geometry.sizes[1]
    slices = operands.weight.shape[operands.axis] if operands.axis >= 0 else 1
    along = 0 if y.steps[-1] != 1 else len(operands.weight.shape) - 1
    if operands.axis not in (-1, along) or slices not in (1, columns):
        raise NotDone("scales of another dimension")
    rounding = Rounding(onednn, Layout(library, x), operands)
    plain_out = Layout(library, memory.row_major(geometry.sizes))
    steps: list[tuple[Any, ...]] = []
    others: list[tuple[int, Any, Layout]] = []
    posts = post_ops(epilogues.chain, instruction.result)
    for count, post in enumerate(posts):
        if post.value is None:
            steps += post.steps
            continue
        sizes = geometry.aligned(post.shape)
        if sizes is None:
            posts = posts[:count]
            break
        layout = Layout(library, memory.row_major(sizes))
        others.append((POST * (len(steps) + 1) | OTHER, post.value, layout))
        steps += [(*step, layout) for step in post.steps]
    descriptor = PrimitiveDescriptor(
        library,
        "matmul",
        *(rounding.target, memory.any_of(library, y.sizes, INT8), None, plain_out),
        posts=steps,
        scaled=((WEIGHTS, 2),),
    )
    weights = descriptor.memory(OF_WEIGHTS)
    numbers = Layout(library, memory.row_major((columns,)))
    listed: list[tuple[int, Any]] = [(SOURCE, rounding.target), (WEIGHTS, weights)]
    listed += [(SCALE | WEIGHTS, numbers), *[(n, layout) for n, _, layout in others]]
    primitive = Primitive(onednn.contexts, descriptor, [*listed, (TARGET, plain_out)])
    weight = Weight(onednn, y, weights)
    counts = columns, float(geometry.factor)
    prepared = _offer(onednn, primitive, rounding, weight, counts, geometry.shape)
    taken = (*operands[:4], *(value for _, value, _ in others))
    return Offer(prepared, (None,) * len(taken), (None,), operands=taken, fused=len(posts))
