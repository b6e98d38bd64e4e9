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
from weakref import ref

import numpy as np

from ...opdef.prepared import Epilogues, Offer, Prepared
from ...opdef.whole_numbers import LEAST_SCALE
from . import memory
from .convolution import ConvolutionGeometry
from .elementwise import ALGORITHMS, OTHER
from .library import INFERENCE, INT8, UINT8, NotDone
from .memory import ExecutionContext, Layout, Primitive, PrimitiveDescriptor
from .offers import Layouts, OneDnnKernels, integer_readers, serves_integers, whole
from .post_ops import LEAKY_RELU, LINEAR, POST, PostOp, post_ops
from .product import ProductGeometry

SOURCE, WEIGHTS, TARGET, BIAS = 1, 33, 17, 41
OF_WEIGHTS = 131
SCALE = 4096  #: what the number of a scale's argument has beside that of the argument
DIRECT = 1
CLIP = 0x2F
BITS, MOST = 8, 127
MULTIPLY = ALGORITHMS["elementwise_mul"]
CONVOLUTIONS, PRODUCTS = ("conv2d", "depthwise_conv2d"), ("mul", "matmul")


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
        self.image: ConvolutionGeometry | None = None
        reader = next(iter(integer_readers(rounding)), None)
        if reader is not None and reader.op.type in CONVOLUTIONS:
            self.image = ConvolutionGeometry(reader.op, *(v.shape for v in reader.operands[:2]))
        form = memory.row_major(self.x.shape) if self.image is None else self.image.image
        self.layout: Layout = _layout(onednn, form, self.dtype, self.image is not None)
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


def _layout(onednn: OneDnnKernels, form: memory.Form, dtype: int, is_image: bool) -> Layout:
    """Where whole numbers lie: those of images with the channels last."""
    steps = memory.channels_last_steps(form.sizes) if is_image else form.steps
    lying = memory.lying(onednn.library, memory.Form(form.sizes, tuple(steps)), dtype)
    return Layout(onednn.library, form, lying.handle)


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


class PostProcessing:
    """What a kernel computes behind its sums.

    Args:
        chain: the epilogues that it may compute, behind a bias.
        posts: those of them that the library can.
        layouts: of the other value of each of these, or None.
        rank: how many dimensions the result has, as the library sees it.
        numbers: the whole numbers that the result becomes; None where it stays as it is.
    """

    def __init__(
        self,
        chain: Sequence[Any],
        posts: Sequence[PostOp],
        layouts: Sequence[Any],
        rank: int,
        numbers: IntegerForm | None,
    ) -> None:
        self.numbers = numbers
        self.steps: list[tuple[Any, ...]] = []
        self.listed: list[tuple[int, Any]] = []
        self.values: list[Any] = []
        self.fused: int = len(posts)
        for place, (post, layout, (epilogue, _)) in enumerate(zip(posts, layouts, chain)):
            is_last = place == len(posts) - 1
            steps = post.steps
            if epilogue.function == "relu":  # sums are numbers
                is_limit = is_last and numbers is not None and numbers.dtype == UINT8
                steps = [] if is_limit else [("eltwise", LEAKY_RELU, 0.0, 0.0)]
            if post.value is not None:
                self._add_value(post.value, layout)
            self.steps += [step if layout is None else (*step, layout) for step in steps]
        if numbers is None:
            return
        self.fused += 1
        if not numbers.is_clipped:
            self.steps.append(("eltwise", LINEAR, float(MOST), 0.0))
        one = Layout(numbers.layout.library, memory.row_major([1] * rank))
        self._add_value(numbers.scale, one)
        self.steps += [("binary", MULTIPLY, one), *numbers.limits]

    def _add_value(self, value: Any, layout: Any) -> None:
        self.listed.append((POST * (len(self.steps) + 1) | OTHER, layout))
        self.values.append(value)

    def arrays(self, values: Sequence[Any]) -> list[Any]:
        """What the primitive reads, of what is computed with."""
        arrays = [memory.plain(value) for value in values]
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
    weight: Weight
    counts: tuple[int, float]  #: see ``_factors``
    shape: tuple[int, ...]  #: of the array that it writes
    behind: PostProcessing

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
    if any(each is not None for each in instruction.operands[2:]):
        raise NotDone("a bias that is no operator of its own")
    operands, library = rounded_operands(onednn, instruction), onednn.library
    g = ConvolutionGeometry(instruction.op, operands.x.shape, operands.weight.shape)
    if operands.axis > 0 or min(map(min, g.window[2:])) < 0:
        raise NotDone("scales of another dimension, or a padding below zero")
    source = _layout(onednn, g.image, operands.dtype, True)
    target = None if g.is_channels_last else memory.with_channels_last(library, g.out.sizes)
    plain_out = memory.described(library, g.out, target)
    chain, result, added = list(epilogues.chain), instruction.results[0], []
    dim = 3 if g.is_channels_last else 1
    channels = result.shape[dim]
    bias = Layout(library, memory.row_major((channels,)))
    if epilogues.begins_with("add"):
        epilogue, adding = chain[0]
        if epilogue.shape == tuple(channels if k == dim else 1 for k in range(4)):
            added = [v for v in adding.inputs if v is not result]
            result = adding.result
            del chain[0]
    posts = _same_shape(post_ops(chain, result), result.shape)
    others = [None if post.value is None else plain_out for post in posts]

    def made(numbers: IntegerForm | None) -> Offer:
        behind = PostProcessing(chain, posts, others, len(result.shape), numbers)
        out = plain_out if numbers is None else numbers.layout
        descriptor = PrimitiveDescriptor(
            library,
            "convolution_forward",
            *(INFERENCE, DIRECT, source, memory.any_of(library, g.filter.sizes, INT8)),
            *(bias if added else None, out, *g.steps),
            posts=behind.steps,
            scaled=((WEIGHTS, 3 if g.groups > 1 else 1),),
        )
        weights = descriptor.memory(OF_WEIGHTS)
        listed: list[tuple[int, Any]] = [(SOURCE, source), (WEIGHTS, weights)]
        listed += [(SCALE | WEIGHTS, bias), *[(BIAS, bias) for _ in added]]
        primitive = Primitive(onednn.contexts, descriptor, [*listed, *behind.listed, (TARGET, out)])
        shape = result.shape if out is plain_out and target is None else out.shape
        weight = Weight(onednn, g.filter, weights)
        product = _Product(primitive, weight, (channels, 1.0), tuple(shape), behind)
        lie = source, target, target if numbers is None else out
        return product.offer(onednn, operands, added, lie)

    return _with_whole_numbers(made, _numbers_behind(onednn, chain[len(posts) :]))


def _with_whole_numbers(made: Any, numbers: IntegerForm | None) -> Offer:
    """A kernel that makes whole numbers of its result; a plain one if the library has none."""
    if numbers is not None:
        with suppress(NotDone):
            offer: Offer = made(numbers)
            return offer
    plain: Offer = made(None)
    return plain


def _same_shape(posts: Sequence[PostOp], shape: tuple[int, ...]) -> list[PostOp]:
    """The first of post-ops, up to one that combines a value of another shape."""
    count = next(
        (k for k, post in enumerate(posts) if post.value is not None and post.value.shape != shape),
        len(posts),
    )
    return list(posts[:count])


@serves_integers(*PRODUCTS)
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
    source = _layout(onednn, memory.row_major(operands.x.shape), operands.dtype, False)
    rows = memory.lying(library, x, operands.dtype)
    chain = epilogues.chain
    posts, others = post_ops(chain, instruction.result), []
    for post in posts:
        sizes = None if post.value is None else geometry.aligned(post.shape)
        if post.value is not None and sizes is None:
            break
        others.append(None if sizes is None else Layout(library, memory.row_major(sizes)))
    posts = posts[: len(others)]

    def made(numbers: IntegerForm | None) -> Offer:
        behind = PostProcessing(chain, posts, others, 2, numbers)
        form = memory.row_major(geometry.sizes)
        out: Any = Layout(library, form)
        if numbers is not None:
            if numbers.image is not None:
                raise NotDone("a convolution reads the result")
            out = memory.lying(library, form, numbers.dtype)
        descriptor = PrimitiveDescriptor(
            library,
            "matmul",
            *(rows, memory.any_of(library, y.sizes, INT8), None, out),
            posts=behind.steps,
            scaled=((WEIGHTS, 2),),
        )
        weights = descriptor.memory(OF_WEIGHTS)
        scales = Layout(library, memory.row_major((columns,)))
        listed: list[tuple[int, Any]] = [(SOURCE, rows), (WEIGHTS, weights)]
        listed += [(SCALE | WEIGHTS, scales), *behind.listed, (TARGET, out)]
        primitive = Primitive(onednn.contexts, descriptor, listed)
        weight = Weight(onednn, y, weights)
        target = None if numbers is None else numbers.layout
        shape = geometry.shape if target is None else target.shape
        counts = columns, float(geometry.factor)
        kernel = _Product(primitive, weight, counts, tuple(shape), behind)
        return kernel.offer(onednn, operands, [], (source, None, target))

    return _with_whole_numbers(made, _numbers_behind(onednn, chain[len(posts) :]))
