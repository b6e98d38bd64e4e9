"""Products and convolutions in whole numbers of 8 bits, where a program asks for them.

An operand is what ``quantize_linear`` and ``dequantize_linear`` make of a value, a weight what
``dequantize_linear`` makes of stored whole numbers.  Kernels here give and read the whole numbers
themselves, in a layout of 8 bits: sums of products are exact, and are multiplied by both scales.
What is no number becomes one.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np

from ...opdef.prepared import Epilogues, Offer, Prepared
from ...opdef.whole_numbers import LEAST_SCALE
from . import memory
from .convolution import ConvolutionGeometry
from .elementwise import ALGORITHMS, OTHER
from .library import INT8, UINT8, NotDone
from .memory import ExecutionContext, Layout, Primitive, PrimitiveDescriptor
from .narrow import (
    CONVOLUTIONS,
    PRODUCTS,
    SCALE,
    SOURCE,
    TARGET,
    NarrowConvolution,
    NarrowProduct,
    PackedWeight,
    PostProcessing,
    image_of,
    narrow_layout,
    narrow_where_it_can,
)
from .offers import Layouts, OneDnnKernels, integer_readers, serves_integers, whole
from .post_ops import CLIP, LEAKY_RELU, LINEAR, PostOp

BITS, MOST = 8, 127
MULTIPLY = ALGORITHMS["elementwise_mul"]
_RELU = [("eltwise", LEAKY_RELU, 0.0, 0.0)]


class IntegerForm:
    """What a value becomes by ``quantize_linear``, as products read it.

    Args:
        onednn: the kernels of the graph.
        rounding: the instruction.

    Raises:
        NotDone: it rounds in another way.
    """

    def __init__(self, onednn: OneDnnKernels, rounding: Any) -> None:
        op, (self.x, self.scale) = rounding.op, rounding.operands[:2]
        if not _is_usual(op) or op.quant_axis != -1:
            raise NotDone("values are rounded in another way")
        self.number: int = rounding.results[0].number
        self.is_clipped: bool = op.round_type == 1  #: whether -128 is none of the numbers
        is_positive = self.x.number in onednn.not_negative
        self.dtype: int = UINT8 if is_positive else INT8
        #: as whose image a convolution sees it; None where products of matrices read it
        reader = next(iter(integer_readers(rounding)), None)
        self.image: ConvolutionGeometry | None = None if reader is None else image_of(reader)
        form = memory.row_major(self.x.shape) if self.image is None else self.image.image
        self.layout: Layout = narrow_layout(onednn, form, self.dtype, self.image is not None)
        self.limits: list[tuple[Any, ...]] = []
        if self.is_clipped or is_positive:
            least = 0.0 if is_positive else -float(MOST)
            self.limits.append(("eltwise", CLIP, least, float(MOST)))

    def factors(self, scale: Any) -> tuple[Any, Any]:
        """Two numbers that values are multiplied by, in the order in which the operator does it."""
        number = np.float32(scale.reshape(-1)[0])
        inverse = np.float32(1) / number if number >= LEAST_SCALE else np.float32(0)
        most = np.float32(MOST)
        return (np.float32(1), most * inverse) if self.is_clipped else (most, inverse)

    def publish(self, onednn: OneDnnKernels) -> None:
        """Let kernels behind the one that makes the numbers read them."""
        onednn.known["whole numbers", self.number] = self


def _is_usual(op: Any) -> bool:
    return op.is_test and not op.only_observer and op.bit_length == BITS


@serves_integers("quantize_linear")
def quantize_linear(
    onednn: OneDnnKernels, instruction: Any, layouts: Layouts, epilogues: Epilogues
) -> Offer | None:
    """The whole numbers of a value that products read."""
    numbers, library = IntegerForm(onednn, instruction), onednn.library
    geometry, target = numbers.image, numbers.layout
    image = None
    if geometry is not None and not geometry.is_channels_last:
        image = memory.with_channels_last(library, target.form.sizes)
    source = memory.described(library, target.form, image)
    one = Layout(library, memory.row_major([1 for _ in target.form.sizes]))
    descriptor = PrimitiveDescriptor(
        library, "binary", *(MULTIPLY, source, one, target), posts=numbers.limits, scaled=(SOURCE,)
    )
    number = Layout(library, memory.row_major((1,)))
    listed = [(SOURCE, source), (OTHER, one), (TARGET, target), (SCALE | SOURCE, number)]
    primitive = Primitive(onednn.contexts, descriptor, listed)

    def run(x: Any, scale: Any, context: ExecutionContext, out: Any = None) -> Any:
        out = whole(out, target.shape)
        factors = np.array(numbers.factors(scale), "float32")
        primitive.at(context)(memory.plain(x), factors[1:], out, factors[:1])
        return out

    numbers.publish(onednn)
    prepared = Prepared(run, out=True, scratch=onednn.contexts)
    return Offer(prepared, (image, None), (target,), operands=(numbers.x, numbers.scale))


class Rounded(NamedTuple):
    """The operands of a product in whole numbers."""

    x: Any
    x_scale: Any
    weight: Any
    weight_scale: Any  #: one number, or one for each slice
    axis: int  #: the dimension of slices; -1 for one scale
    dtype: int  #: of x


def rounded_operands(onednn: OneDnnKernels, instruction: Any) -> Rounded:
    """The operands of a product.

    Raises:
        NotDone: these are other ones.
    """
    first, second = (each.producer for each in instruction.operands[:2])
    x, weight = first.operands[0], second.operands[0]
    if x.producer is not None and x.producer.op.type == "reorder":
        (x,) = x.producer.operands  # as it lay before it was to be read as a plain array
    numbers = onednn.known.get(("whole numbers", x.number))
    if numbers is None or weight.dtype != np.int8:
        raise NotDone("operands are rounded in another way")
    same = numbers.scale is first.operands[1] and first.op.quant_axis == -1
    if not (same and _is_usual(first.op) and _is_usual(second.op)):
        raise NotDone("operands are rounded in another way")
    scale, axis = second.operands[1], second.op.quant_axis
    return Rounded(x, numbers.scale, weight, scale, axis, numbers.dtype)


class IntegerPostProcessing(PostProcessing):
    """What a kernel computes behind sums of whole numbers.

    Args:
        posts: what the library computes.
        layouts: of the other value of each, or None.
        chain: the epilogues that these are of.
        rank: how many dimensions the result has, as the library sees it.
        numbers: the whole numbers that the result becomes; None where it stays as it is.
    """

    def __init__(
        self,
        posts: Sequence[PostOp],
        layouts: Sequence[Any],
        chain: Sequence[Any],
        rank: int,
        numbers: IntegerForm | None,
    ) -> None:
        self.numbers = numbers
        is_positive = numbers is not None and numbers.dtype == UINT8
        names = [epilogue.function for epilogue, _ in chain[: len(posts)]]
        limited = [is_positive and k == len(names) - 1 for k in range(len(names))]
        cheap = [
            post._replace(steps=[] if is_limit else _RELU) if name == "relu" else post
            for post, name, is_limit in zip(posts, names, limited)  # sums are numbers
        ]
        super().__init__(cheap, layouts)
        self.fused: int = len(posts)
        if numbers is None:
            return
        self.fused += 1
        if not numbers.is_clipped:
            self.steps.append(("eltwise", LINEAR, float(MOST), 0.0))
        one = Layout(numbers.layout.library, memory.row_major([1] * rank))
        self.add_value(numbers.scale, one)
        self.steps += [("binary", MULTIPLY, one), *numbers.limits]

    def arrays(self, values: Sequence[Any]) -> list[Any]:
        arrays = super().arrays(values)
        if self.numbers is not None:
            arrays[-1] = np.array(self.numbers.factors(values[-1])[1:], "float32")
        return arrays


def _numbers_behind(onednn: OneDnnKernels, chain: Sequence[Any]) -> IntegerForm | None:
    """The whole numbers that a chain begins with; None where it begins with something else."""
    if not chain or chain[0][0].function != "quantize_linear":
        return None
    with suppress(NotDone):
        return IntegerForm(onednn, chain[0][1])
    return None


def _factors(scale: Any, weight_scale: Any, count: int, more: float = 1.0) -> Any:
    """What each slice of a result is multiplied by."""
    factors = np.empty(count, "float32")
    number = np.float32(scale.reshape(-1)[0])
    np.multiply(weight_scale.reshape(-1), number * np.float32(more / MOST**2), out=factors)
    return factors


class _Product(NamedTuple):
    """A kernel, before it is offered."""

    primitive: Primitive
    weight: PackedWeight
    counts: tuple[int, float]  #: see ``_factors``
    shape: tuple[int, ...]  #: of the array that it writes
    behind: IntegerPostProcessing

    def offer(
        self, onednn: OneDnnKernels, operands: Rounded, added: list[Any], lie: tuple[Any, ...]
    ) -> Offer:
        """A kernel of whole numbers, their scale, a weight, its scales, and what is added.

        Args:
            onednn: the kernels of the graph.
            operands: of the product.
            added: the bias, if there is one.
            lie: the layouts of the whole numbers, of values of the result's shape, and the result.
        """
        primitive, weight, counts, shape, behind = self
        count, numbers = len(added), behind.numbers

        def run(x: Any, scale: Any, w: Any, w_scale: Any, *rest: Any, out: Any = None) -> Any:
            *others, context = rest
            factors = _factors(scale, w_scale, *counts)
            out = whole(out, shape)
            arrays = [memory.plain(bias) for bias in others[:count]]
            arrays += behind.arrays(others[count:])
            primitive.at(context)(x, weight.at(context, w), factors, *arrays, out)
            return out

        source, like, target = lie
        likes = [like for _ in behind.values]
        if numbers is not None:
            numbers.publish(onednn)
            likes[-1] = None
        return Offer(
            Prepared(run, out=True, scratch=onednn.contexts),
            (source, None, None, None, *(None for _ in added), *likes),
            (target,),
            operands=(*operands[:4], *added, *behind.values),
            fused=count + behind.fused,
        )


@serves_integers(*CONVOLUTIONS)
def convolution(
    onednn: OneDnnKernels, instruction: Any, layouts: Layouts, epilogues: Epilogues
) -> Offer | None:
    """The convolution, and what follows: a bias, values of the same shape, activations, and whole
    numbers.
    """
    operands = rounded_operands(onednn, instruction)
    if operands.axis > 0:
        raise NotDone("scales of another dimension")
    both, types = (operands.x, operands.weight), (operands.dtype, INT8)
    conv = NarrowConvolution(onednn, instruction, both, types, epilogues)
    posts, chain, target = conv.posts, conv.chain, conv.target

    def made(numbers: IntegerForm | None) -> Offer:
        behind = IntegerPostProcessing(posts, conv.layouts, chain, len(conv.shape), numbers)
        out = conv.plain_out if numbers is None else numbers.layout
        primitive, weight = conv.primitive(behind, out, True)
        shape = conv.shape if numbers is None and target is None else out.shape
        product = _Product(primitive, weight, (conv.channels, 1.0), tuple(shape), behind)
        lie = conv.source, target, target if numbers is None else out
        return product.offer(onednn, operands, conv.added, lie)

    return narrow_where_it_can(made, _numbers_behind(onednn, chain[len(posts) :]))


@serves_integers(*PRODUCTS)
def product(
    onednn: OneDnnKernels, instruction: Any, layouts: Layouts, epilogues: Epilogues
) -> Offer | None:
    """The product of a matrix and a weight, and what follows."""
    operands = rounded_operands(onednn, instruction)
    both, types = (operands.x, operands.weight), (operands.dtype, INT8)
    dot = NarrowProduct(onednn, instruction, both, types, epilogues)
    slices = operands.weight.shape[operands.axis] if operands.axis >= 0 else 1
    along = 0 if dot.weight.steps[-1] != 1 else len(operands.weight.shape) - 1
    if operands.axis not in (-1, along) or slices not in (1, dot.columns):
        raise NotDone("scales of another dimension")
    posts, chain = dot.posts, dot.chain

    def made(numbers: IntegerForm | None) -> Offer:
        behind = IntegerPostProcessing(posts, dot.layouts, chain, 2, numbers)
        out: Any = Layout(onednn.library, dot.form)
        if numbers is not None:
            if numbers.image is not None:
                raise NotDone("a convolution reads the result")
            out = memory.lying(onednn.library, dot.form, numbers.dtype)
        primitive, weight = dot.primitive(behind, out, True)
        target = None if numbers is None else numbers.layout
        shape = dot.geometry.shape if target is None else target.shape
        counts = dot.columns, float(dot.geometry.factor)
        kernel = _Product(primitive, weight, counts, tuple(shape), behind)
        return kernel.offer(onednn, operands, [], (dot.source, None, target))

    return narrow_where_it_can(made, _numbers_behind(onednn, chain[len(posts) :]))
