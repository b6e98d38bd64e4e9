"""Products and convolutions of operands in bfloat16, where a program rounds them so.

An operand is what two casts make of a value, to bfloat16 and back, a weight what a cast makes of
stored numbers.  Sums are float32; a result that only such kernels read is rounded where it is made.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...opdef.prepared import Epilogues, KernelDeclined, Offer, Prepared
from . import memory
from .convolution import ConvolutionGeometry
from .library import BFLOAT16, NotDone
from .memory import Layout, Primitive
from .narrow import (
    CONVOLUTIONS,
    PRODUCTS,
    NarrowConvolution,
    NarrowProduct,
    PackedWeight,
    PostProcessing,
    image_of,
    narrow_layout,
    narrow_where_it_can,
)
from .offers import Layouts, OneDnnKernels, serves_bfloat16, whole
from .post_ops import KEEPS_ZERO, LINEAR

TYPES = (BFLOAT16, BFLOAT16)
EXPONENT, SIGN = 0x7F80, 0x8000  #: bits; those of the exponent are set where a number is not finite
FUSED = ["to_bfloat16", "from_bfloat16"]  #: epilogues that round a result


class RoundedForm:
    """Where a rounded value lies for the first product that reads it.

    Args:
        onednn: the kernels of the graph.
        value: made of the numbers; products read it.
    """

    def __init__(self, onednn: OneDnnKernels, value: Any) -> None:
        #: as whose image a convolution sees it; None where a product of matrices reads it
        self.image: ConvolutionGeometry | None = image_of(onednn.bfloat16_readers(value)[0])
        form = memory.row_major(value.shape) if self.image is None else self.image.image
        self.layout: Layout = narrow_layout(onednn, form, BFLOAT16, self.image is not None)


@serves_bfloat16("cast")
def rounding(
    onednn: OneDnnKernels, instruction: Any, layouts: Layouts, epilogues: Epilogues
) -> Offer | None:
    """A value in bfloat16, as products read it."""
    rounded, library = RoundedForm(onednn, instruction.results[0]), onednn.library
    x, target, image = instruction.operands[0].producer.operands[0], rounded.layout, None
    if x.producer is not None and x.producer.op.type == "reorder":
        (x,) = x.producer.operands  # as it lay before it was to be read as a plain array
    if rounded.image is not None and not rounded.image.is_channels_last:
        image = memory.with_channels_last(library, target.form.sizes)
    source = memory.described(library, target.form, image)
    copy = memory.reorder(onednn.contexts, source, target)

    def run(x: Any, context: memory.ExecutionContext, out: Any = None) -> Any:
        out = whole(out, target.shape)
        copy.at(context)(memory.plain(x), out)
        return out

    prepared = Prepared(run, out=True, scratch=onednn.contexts)
    return Offer(prepared, (image,), (target,), operands=(x,))


def _stored(instruction: Any) -> list[Any]:
    """A value and a weight as casts to float32 read them: what a product multiplies."""
    value, weight = instruction.operands[:2]
    return [value, weight.producer.operands[0]]


def _rounded_behind(onednn: OneDnnKernels, chain: Sequence[Any]) -> RoundedForm | None:
    """The form of the rounded value that a chain begins with; None where it rounds nothing that
    products read.
    """
    if [epilogue.function for epilogue, _ in chain[:2]] != FUSED:
        return None
    value = chain[1][1].results[0]
    return RoundedForm(onednn, value) if onednn.bfloat16_readers(value) else None


def _offer(
    onednn: OneDnnKernels,
    operands: Sequence[Any],
    kernel: tuple[Primitive, PackedWeight],
    shape: Sequence[int],
    lie: tuple[Any, Any, Any],
    fused: int,
    is_padded: bool,
) -> Offer:
    """A kernel of a value in bfloat16, a stored weight, a bias and what post-ops read.

    Args:
        onednn: the kernels of the graph.
        operands: all of these.
        kernel: the primitive, and what lays the weight out.
        shape: of the array that it writes.
        lie: the layouts of the value, of those of the result's shape, and of the result.
        fused: how many epilogues are computed.
        is_padded: whether a sum has an odd number of terms: they are multiplied in pairs, and what
            stands behind the last is multiplied with a zero.
    """
    primitive, packed = kernel
    shape = tuple(shape)

    def run(x: Any, weight: Any, *rest: Any, out: Any = None) -> Any:
        *others, context = rest
        if is_padded and not _is_finite(x):
            raise KernelDeclined("a number that is not finite would be multiplied by a zero")
        out = whole(out, shape)
        bits = packed.at(context, weight)
        primitive.at(context)(x, bits, *map(memory.plain, others), out)
        return out

    source, like, target = lie
    return Offer(
        Prepared(run, out=True, scratch=onednn.contexts),
        (source, None, *like),
        (target,),
        operands=tuple(operands),
        fused=fused,
    )


@serves_bfloat16(*CONVOLUTIONS)
def convolution(
    onednn: OneDnnKernels, instruction: Any, layouts: Layouts, epilogues: Epilogues
) -> Offer | None:
    """The convolution, and what follows: a bias, values of the same shape, activations, and the
    rounding of the result.
    """
    operands = _stored(instruction)
    conv = NarrowConvolution(onednn, instruction, operands, TYPES, epilogues)
    behind = PostProcessing(conv.posts, conv.layouts)
    count, target = len(conv.posts), conv.target
    depth = operands[1].shape[1]
    is_padded = depth % 2 == 1

    def made(rounded: RoundedForm | None) -> Offer:
        out = conv.plain_out if rounded is None else rounded.layout
        kernel = conv.primitive(behind, out, False)
        if kernel[0].descriptor.makes_patches:
            raise NotDone("zeros around the image would be multiplied with what is not finite")
        shape = conv.shape if rounded is None and target is None else out.shape
        like = [*(None for _ in conv.added), *(target for _ in behind.values)]
        lie = conv.source, like, target if rounded is None else out
        fused = len(conv.added) + count + (0 if rounded is None else len(FUSED))
        read = [*operands, *conv.added, *behind.values]
        return _offer(onednn, read, kernel, shape, lie, fused, is_padded)

    return narrow_where_it_can(made, _rounded_behind(onednn, conv.chain[count:]))


def _is_finite(numbers: Any) -> bool:
    """Whether numbers of bfloat16 have none that is infinite or no number."""
    # as whole numbers those below zero are the largest without a sign, and below zero with one
    bits = numbers.view("uint16")
    return bool(bits.max() < SIGN + EXPONENT and bits.view("int16").max() < EXPONENT)


@serves_bfloat16(*PRODUCTS)
def product(
    onednn: OneDnnKernels, instruction: Any, layouts: Layouts, epilogues: Epilogues
) -> Offer | None:
    """The product of a matrix and a weight, and what follows."""
    operands = _stored(instruction)
    dot = NarrowProduct(onednn, instruction, operands, TYPES, epilogues)
    factor = float(dot.geometry.factor)
    first = [] if factor == 1.0 else [("eltwise", LINEAR, factor, KEEPS_ZERO)]
    behind, count = PostProcessing(dot.posts, dot.layouts, first), len(dot.posts)
    is_padded = dot.weight.sizes[0] % 2 == 1

    def made(rounded: RoundedForm | None) -> Offer:
        out: Any = Layout(onednn.library, dot.form)
        if rounded is not None:
            if rounded.image is not None:
                raise NotDone("a convolution reads the result")
            out = memory.lying(onednn.library, dot.form, BFLOAT16)
        kernel = dot.primitive(behind, out, False)
        target = None if rounded is None else rounded.layout
        shape = dot.geometry.shape if target is None else target.shape
        lie = dot.source, [None for _ in behind.values], target
        fused = count + (0 if rounded is None else len(FUSED))
        read = [*operands, *behind.values]
        return _offer(onednn, read, kernel, shape, lie, fused, is_padded)

    return narrow_where_it_can(made, _rounded_behind(onednn, dot.chain[count:]))
