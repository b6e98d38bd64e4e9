"""Convolutions and products whose operands have fewer bits than float32.

Images lie with the channels last.  Sums are float32, and so is what follows them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any
from weakref import ref

import numpy as np

from ...opdef.prepared import Epilogues, Offer
from . import memory
from .convolution import ConvolutionGeometry
from .elementwise import OTHER
from .library import INFERENCE, NotDone
from .memory import ExecutionContext, Layout, Primitive, PrimitiveDescriptor
from .offers import OneDnnKernels
from .post_ops import POST, UNARY_OF_ROUNDED, PostOp, post_ops
from .product import ProductGeometry

SOURCE, WEIGHTS, TARGET, BIAS = 1, 33, 17, 41
OF_WEIGHTS = 131
SCALE = 4096  #: what the number of a scale's argument has beside that of the argument
DIRECT = 1
ROUNDINGS = ("to_bfloat16", "quantize_linear")  #: epilogues
CONVOLUTIONS, PRODUCTS = ("conv2d", "depthwise_conv2d"), ("mul", "matmul")


def narrow_where_it_can(made: Callable[[Any], Offer], form: Any) -> Offer:
    """A kernel whose result has few bits; one of float32 if the library has none.

    Args:
        made: makes the offer of a kernel whose result has a form; of float32 where that is None.
        form: of the result.
    """
    if form is not None:
        with suppress(NotDone):
            return made(form)
    return made(None)


def image_of(reader: Any) -> ConvolutionGeometry | None:
    """As whose image an instruction reads a value; None where it multiplies matrices."""
    if reader.op.type not in CONVOLUTIONS:
        return None
    return ConvolutionGeometry(reader.op, *(v.shape for v in reader.operands[:2]))


def narrow_layout(onednn: OneDnnKernels, form: memory.Form, dtype: int, is_image: bool) -> Layout:
    """Where numbers of few bits lie: those of images with the channels last."""
    steps = memory.channels_last_steps(form.sizes) if is_image else form.steps
    lying = memory.lying(onednn.library, memory.Form(form.sizes, tuple(steps)), dtype)
    return Layout(onednn.library, form, lying.handle, True)


class PackedWeight:
    """Stored numbers, laid out as a primitive reads them.

    Args:
        onednn: the kernels of the graph.
        form: as they are stored.
        dtype: of the numbers.
        handle: of the descriptor that the primitive chose.
    """

    def __init__(self, onednn: OneDnnKernels, form: memory.Form, dtype: int, handle: Any) -> None:
        library = onednn.library
        stored = memory.lying(library, form, dtype)
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
        posts: what the library computes.
        layouts: of the other value of each, or None.
        first: what comes before them.
    """

    def __init__(
        self, posts: Sequence[PostOp], layouts: Sequence[Any], first: Sequence[tuple[Any, ...]] = ()
    ) -> None:
        self.steps: list[tuple[Any, ...]] = [*first]
        self.listed: list[tuple[int, Any]] = []
        self.values: list[Any] = []
        for post, layout in zip(posts, layouts):
            if post.value is not None:
                self.add_value(post.value, layout)
            self.steps += [step if layout is None else (*step, layout) for step in post.steps]

    def add_value(self, value: Any, layout: Any) -> None:
        """Let the next step read a value."""
        self.listed.append((POST * (len(self.steps) + 1) | OTHER, layout))
        self.values.append(value)

    def arrays(self, values: Sequence[Any]) -> list[Any]:
        """What the primitive reads, of what is computed with."""
        return [memory.plain(value) for value in values]


class NarrowConvolution:
    """A convolution, and the bias and the post-ops that follow it.

    Args:
        onednn: the kernels of the graph.
        instruction: of the convolution.
        operands: what stands for its image and filters.
        types: the element types of these.
        epilogues: what follows.

    Raises:
        NotDone: it is another convolution.
    """

    def __init__(
        self,
        onednn: OneDnnKernels,
        instruction: Any,
        operands: Sequence[Any],
        types: Sequence[int],
        epilogues: Epilogues,
    ) -> None:
        if any(each is not None for each in instruction.operands[2:]):
            raise NotDone("a bias that is no operator of its own")
        library = onednn.library
        g = ConvolutionGeometry(instruction.op, *(v.shape for v in operands))
        if min(map(min, g.window[2:])) < 0:
            raise NotDone("a padding below zero")
        self._onednn, self._types = onednn, types
        self.geometry = g
        self.source: Layout = narrow_layout(onednn, g.image, types[0], True)
        #: of a result in float32; None where it is plain
        self.target: Layout | None = None
        if not g.is_channels_last:
            self.target = memory.with_channels_last(library, g.out.sizes)
        self.plain_out: Layout = memory.described(library, g.out, self.target)
        result, self.chain = instruction.results[0], list(epilogues.chain)
        dim = 3 if g.is_channels_last else 1
        self.shape: tuple[int, ...] = tuple(result.shape)
        self.channels: int = result.shape[dim]
        self.by_channel: Layout = Layout(library, memory.row_major((self.channels,)))
        #: the bias, if there is one
        self.added: list[Any] = []
        if epilogues.begins_with("add"):
            epilogue, adding = self.chain[0]
            if epilogue.shape == tuple(self.channels if k == dim else 1 for k in range(4)):
                self.added = [v for v in adding.inputs if v is not result]
                result = adding.result
                del self.chain[0]
        self.posts: list[PostOp] = _of_shape(_posts(self.chain, result), result.shape)
        self.layouts: list[Any] = [
            None if post.value is None else self.plain_out for post in self.posts
        ]

    def primitive(
        self, behind: PostProcessing, out: Layout, is_scaled: bool
    ) -> tuple[Primitive, PackedWeight]:
        """The primitive, and what lays its filters out.

        Args:
            behind: what follows.
            out: the layout of the result.
            is_scaled: whether sums are multiplied by a number for each channel.
        """
        library, g, dtype = self._onednn.library, self.geometry, self._types[1]
        descriptor = PrimitiveDescriptor(
            library,
            "convolution_forward",
            *(INFERENCE, DIRECT, self.source, memory.any_of(library, g.filter.sizes, dtype)),
            *(self.by_channel if self.added else None, out, *g.steps),
            posts=behind.steps,
            scaled=((WEIGHTS, 3 if g.groups > 1 else 1),) if is_scaled else (),
        )
        more = [(SCALE | WEIGHTS, self.by_channel)] if is_scaled else []
        more += [(BIAS, self.by_channel) for _ in self.added]
        listed = [(SOURCE, self.source), *more, *behind.listed, (TARGET, out)]
        return _with_packed_weight(self._onednn, descriptor, g.filter, dtype, listed)


def _with_packed_weight(
    onednn: OneDnnKernels,
    descriptor: PrimitiveDescriptor,
    form: memory.Form,
    dtype: int,
    listed: Sequence[tuple[int, Any]],
) -> tuple[Primitive, PackedWeight]:
    """A primitive, and what lays its weight out, which is its second argument.

    Args:
        onednn: the kernels of the graph.
        descriptor: of the primitive.
        form, dtype: of the weight as it is stored.
        listed: the other arguments.
    """
    weights = descriptor.memory(OF_WEIGHTS)
    first, *rest = listed
    primitive = Primitive(onednn.contexts, descriptor, [first, (WEIGHTS, weights), *rest])
    return primitive, PackedWeight(onednn, form, dtype, weights)


def _posts(chain: Sequence[Any], result: Any) -> list[PostOp]:
    """What the library computes of a chain, less precisely where a rounding follows."""
    posts = post_ops(chain, result, UNARY_OF_ROUNDED)
    is_rounded = any(epilogue.function in ROUNDINGS for epilogue, _ in chain[len(posts) :][:1])
    return posts if is_rounded else post_ops(chain, result)


def _of_shape(posts: Sequence[PostOp], shape: tuple[int, ...]) -> list[PostOp]:
    """The first of post-ops, up to one that combines a value of another shape."""
    count = next(
        (k for k, post in enumerate(posts) if post.value is not None and post.value.shape != shape),
        len(posts),
    )
    return list(posts[:count])


class NarrowProduct:
    """The product of a matrix and a weight, and the post-ops that follow it.

    Args:
        onednn: the kernels of the graph.
        instruction: of the product.
        operands: what stands for the matrix and the weight.
        types: the element types of these.
        epilogues: what follows.

    Raises:
        NotDone: it is another product.
    """

    def __init__(
        self,
        onednn: OneDnnKernels,
        instruction: Any,
        operands: Sequence[Any],
        types: Sequence[int],
        epilogues: Epilogues,
    ) -> None:
        library, first = onednn.library, operands[0]
        self._onednn, self._types = onednn, types
        self.geometry = geometry = ProductGeometry(instruction.op, *(v.shape for v in operands))
        x, y = geometry.form(0), geometry.form(1)
        if len(geometry.sizes) != 2 or x is None or y is None or x.steps[-1] != 1:
            raise NotDone("no product of two matrices")
        self.weight: memory.Form = y
        self.columns: int = geometry.sizes[1]
        self.source: Layout = narrow_layout(onednn, memory.row_major(first.shape), types[0], False)
        self._rows = memory.lying(library, x, types[0])
        self.chain = epilogues.chain
        self.posts: list[PostOp] = _posts(self.chain, instruction.result)
        self.layouts: list[Any] = []
        for post in self.posts:
            sizes = None if post.value is None else geometry.aligned(post.shape)
            if post.value is not None and sizes is None:
                break
            layout = None if sizes is None else Layout(library, memory.row_major(sizes))
            self.layouts.append(layout)
        self.posts = self.posts[: len(self.layouts)]
        #: of the result, as a matrix
        self.form: memory.Form = memory.row_major(geometry.sizes)

    def primitive(
        self, behind: PostProcessing, out: Any, is_scaled: bool
    ) -> tuple[Primitive, PackedWeight]:
        """The primitive, and what lays the weight out.

        Args:
            behind: what follows.
            out: the layout of the result, a matrix.
            is_scaled: whether sums are multiplied by a number for each column.
        """
        library, dtype = self._onednn.library, self._types[1]
        descriptor = PrimitiveDescriptor(
            library,
            "matmul",
            *(self._rows, memory.any_of(library, self.weight.sizes, dtype), None, out),
            posts=behind.steps,
            scaled=((WEIGHTS, 2),) if is_scaled else (),
        )
        scales = Layout(library, memory.row_major((self.columns,)))
        more = [(SCALE | WEIGHTS, scales)] if is_scaled else []
        listed = [(SOURCE, self._rows), *more, *behind.listed, (TARGET, out)]
        return _with_packed_weight(self._onednn, descriptor, self.weight, dtype, listed)
