"""Convolutions of images and volumes, and their adjoints."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod
from typing import TYPE_CHECKING, Any

from ...kernels.finite import is_finite
from ...opdef.prepared import Epilogues, KernelDeclined, Offer, Prepared
from ...opdef.structure import Epilogue
from .elementwise import OTHER
from .library import TRAINING, NotDone, Window
from .memory import (
    Layout,
    Primitive,
    PrimitiveDescriptor,
    any_of,
    channels_last,
    chosen,
    plain,
    row_major,
    with_channels_last,
)
from .norms import bounded, linear, made_by, product
from .offers import HIGH, LOW, Layouts, OneDnnKernels, serves, whole
from .post_ops import POST, PostOp, post_ops

if TYPE_CHECKING:
    from .memory import Form

DIRECT = 1
SOURCE, WEIGHTS, TARGET, BIAS = 1, 33, 17, 41
SOURCE_BACK, WEIGHTS_BACK, TARGET_BACK = 129, 161, 145
#: what queries ask for
OF = dict(zip((SOURCE, SOURCE_BACK, WEIGHTS, WEIGHTS_BACK, TARGET, TARGET_BACK), range(129, 135)))
BLOCK = 16  #: channels are rounded up to a multiple of it
USEFUL = 0.9  #: the share of channels that are no filling, from which on blocks pay
SMALLEST = 1 << 20  #: operations; below it a layout is not worth its conversions
RELU = (0x20, 0.0, 0.0)  #: by a maximum, which takes NaN for zero


class ConvolutionGeometry(Window):
    """A convolution as the library sees it.

    Args:
        op: its attributes: a convolution or an adjoint of one.
        image, filter: shapes.
    """

    def __init__(self, op: Any, image: Sequence[int], filter: Sequence[int]) -> None:
        seen = channels_last if op.channels_last else row_major
        out = op.convolved(tuple(image), tuple(filter))
        self.image: Form = seen(image)
        self.out: Form = seen(out)
        self.groups: Any = op.groups
        self.is_channels_last: Any = op.channels_last
        count, depth, *kernel = filter
        split = (op.groups, count // op.groups) if op.groups > 1 else (count,)
        self.filter: Form = row_major((*split, depth, *kernel))
        pads = op.pads(self.image.sizes[2:], kernel)
        self.window = (
            tuple(op.strides),
            tuple(d - 1 for d in op.spacing),
            tuple(before for before, _ in pads),
            tuple(after for _, after in pads),
        )
        self.operations: int = 2 * prod(out) * depth * prod(kernel)
        #: of the product of the norms of two of image, filters and output
        self.gain: Any = prod(kernel) ** 0.5

    @property
    def key(self) -> Any:
        """What tells it from others."""
        return self.image, self.filter, self.out, self.window

    @property
    def useful(self) -> float:
        """The share of channels that are no filling of blocks."""
        if self.groups > 1:
            by_group = self.filter.sizes[1:3]
            return 1.0 if by_group == (1, 1) else _share(by_group[0]) * _share(by_group[1])
        filters, channels = self.filter.sizes[:2]
        return _share(filters) * (1.0 if channels <= 3 else _share(channels))


def _share(channels: int) -> float:
    return channels / (-(-channels // BLOCK) * BLOCK)


class ConvolutionForward:
    """A convolution with the layouts that suit it: blocks of channels, as the library likes them,
    or, where many of these would be filled up, the channels last.
    """

    descriptor: PrimitiveDescriptor

    def __init__(self, onednn: OneDnnKernels, geometry: ConvolutionGeometry) -> None:
        library, g = onednn.library, geometry
        image: Any = any_of(library, g.image.sizes)
        out: Any = any_of(library, g.out.sizes)
        filter = any_of(library, g.filter.sizes)
        if g.useful < USEFUL and not g.is_channels_last:
            image = with_channels_last(library, g.image.sizes)
            out = with_channels_last(library, g.out.sizes)
        self.descriptor = descriptor = self._made(onednn, g, image, filter, out)
        # a plain array of one channel is one with the channels last, too, but not by its name
        self._image = Layout(library, g.image, descriptor.memory(OF[SOURCE]))
        self._filter = Layout(library, g.filter, descriptor.memory(OF[WEIGHTS]))
        self._out = Layout(library, g.out, descriptor.memory(OF[TARGET]))
        self.image: Layout | None = chosen(library, g.image, self._image.handle)
        self.filter: Layout | None = chosen(library, g.filter, self._filter.handle)
        self.out: Layout | None = chosen(library, g.out, self._out.handle)

    @property
    def around(self) -> tuple[Any, Any]:
        """The layouts of the image and of the output, also where they are plain."""
        return self._image, self._out

    def followed(
        self,
        onednn: OneDnnKernels,
        g: ConvolutionGeometry,
        bias: Layout | None,
        posts: Sequence[PostOp],
    ) -> PrimitiveDescriptor:
        """A descriptor in the same layouts, with what follows."""
        outs = [() if post.value is None else (self._out,) for post in posts]
        listed = [(*step, *out) for post, out in zip(posts, outs) for step in post.steps]
        return self._made(onednn, g, self._image, self._filter, self._out, bias, listed)

    def _made(
        self,
        onednn: OneDnnKernels,
        g: ConvolutionGeometry,
        image: Any,
        filter: Any,
        out: Any,
        bias: Layout | None = None,
        posts: Sequence[tuple[Any, ...]] = (),
    ) -> PrimitiveDescriptor:
        library = onednn.library
        return PrimitiveDescriptor(
            library,
            "convolution_forward",
            *(TRAINING, DIRECT, image, filter, bias, out, *g.steps),
            posts=posts,
        )


def _forward(onednn: OneDnnKernels, geometry: ConvolutionGeometry) -> ConvolutionForward:
    """The forward convolution of a geometry, which its adjoints take the layouts of.

    Raises:
        NotDone: the library has none, or it does not pay.
    """
    if min(map(min, geometry.window[2:])) < 0:
        raise NotDone("a padding below zero is not the library's")
    key = ("convolution", geometry.key)
    if key not in onednn.known:
        onednn.known[key] = None
        onednn.known[key] = ConvolutionForward(onednn, geometry)
    found: ConvolutionForward | None = onednn.known[key]
    if found is None:
        raise NotDone("there is no fast kernel")
    return found


def _geometry(instruction: Any) -> ConvolutionGeometry:
    """The geometry of a convolution or of one of its adjoints."""
    op, shapes = instruction.op, [v.shape for v in instruction.inputs[:2]]
    if op.type.endswith("adjoint_input"):
        return ConvolutionGeometry(op, op.size, shapes[1])
    return ConvolutionGeometry(
        op, shapes[0], op.size if op.type.endswith("adjoint_filter") else shapes[1]
    )


def _cost(onednn: OneDnnKernels, instruction: Any, layouts: Layouts) -> float:
    return LOW if _geometry(instruction).operations >= SMALLEST else HIGH


def _numbers(*arguments: int) -> list[tuple[int, tuple[int, int]]]:
    """Arguments of a primitive, with what its description calls them."""
    return [(argument, (OF[argument], 0)) for argument in arguments]


def _offer(
    onednn: OneDnnKernels,
    descriptor: PrimitiveDescriptor,
    numbers: Sequence[tuple[int, tuple[int, int]]],
    layouts: Sequence[Layout | None],
    shape: tuple[int, ...],
) -> Offer:
    """A kernel of two operands, or of three with a bias.

    Args:
        onednn: the kernels of the graph.
        descriptor: of the primitive.
        numbers: of the operands and, last, of the result: of arguments, and in the description.
        layouts: of the same.
        shape: of the result, where it is plain.
    """
    memories = [(number, descriptor.memory(*what)) for number, what in numbers]
    primitive = Primitive(onednn.contexts, descriptor, memories)
    last = layouts[-1]
    out_shape = shape if last is None else last.shape
    are_plain = [layout is None for layout in layouts[:-1]]

    def run(*arrays: Any, out: Any = None) -> Any:
        *operands, context = arrays
        if descriptor.makes_patches and not is_finite(operands[1]):
            raise KernelDeclined(
                "zeros around the image would be multiplied with what is not finite"
            )
        operands = [
            plain(array) if is_plain else array
            for array, is_plain in zip((a for a in operands if a is not None), are_plain)
        ]
        out = whole(out, out_shape)
        primitive.at(context)(*operands, out)
        return out

    prepared = Prepared(run, out=True, scratch=onednn.contexts)
    return Offer(prepared, tuple(layouts[:-1]), tuple(layouts[-1:]))


@serves("conv2d", "depthwise_conv2d", "conv3d", cost=_cost)
def convolution(
    onednn: OneDnnKernels, instruction: Any, layouts: Layouts, epilogues: Epilogues
) -> Offer | None:
    """The convolution, and what follows: a bias, values of the same shape, and activations."""
    image, filter, *more = instruction.operands
    if any(each is not None for each in more[1:]):
        return None
    bias = more[0] if more else None
    g = ConvolutionGeometry(instruction.op, image.shape, filter.shape)
    forward = _forward(onednn, g)
    chain, result, behind = list(epilogues.chain), instruction.results[0], []
    by_channel = (1, result.shape[1], *(1 for _ in result.shape[2:]))
    if bias is None and not g.is_channels_last and epilogues.begins_with("add"):
        epilogue, adding = chain[0]
        if epilogue.shape == by_channel:
            (bias,) = behind = [v for v in adding.inputs if v is not result]
            result = adding.result
            del chain[0]
    posts = _posts(chain, result)
    fused = len(behind) + len(posts)
    numbers = _numbers(SOURCE, WEIGHTS)
    chosen_layouts = [forward.image, forward.filter]
    descriptor, seen = forward.descriptor, None
    if bias is not None:
        seen = Layout(onednn.library, row_major(bias.shape))
        numbers.append((BIAS, (OF[WEIGHTS], 1)))
        chosen_layouts.append(None)
    values = [post.value for post in posts for _ in post.steps]
    others = [(place, value) for place, value in enumerate(values) if value is not None]
    numbers += [(POST * (place + 1) | OTHER, (OF[TARGET], 0)) for place, _ in others]
    chosen_layouts += [forward.out for _ in others]
    if posts or bias is not None:
        descriptor = forward.followed(onednn, g, seen, posts)
    offer = _offer(
        onednn,
        descriptor,
        [*numbers, *_numbers(TARGET)],
        (*chosen_layouts, forward.out),
        instruction.results[0].shape,
    )
    operand_count = len(instruction.operands)
    layouts_of = (forward.image, forward.filter, *(None for _ in (*more, *behind)))
    operands = (*instruction.operands, *behind, *(value for _, value in others))
    takes = (*layouts_of, *(forward.out for _ in others))
    offer = offer._replace(takes=takes, operands=operands, fused=fused)
    if not onednn.hides:
        return offer
    positions = prod(g.out.sizes) / g.out.sizes[1]
    terms = [(operand_count + len(behind) + k, value, 1.0) for k, (_, value) in enumerate(others)]
    if bias is not None:
        terms.append((operand_count if behind else 2, bias, positions**0.5))
    rule = product(image, filter, g.gain, linear(*terms) if terms else None)
    hides = any(step[1:] == RELU for post in posts for step in post.steps)
    return bounded(offer, made_by(instruction, epilogues, fused), rule, hides=hides)


def _is_bounded(epilogue: Epilogue, shape: tuple[int, ...]) -> bool:
    """Whether a norm behind an epilogue is no greater than before, and of what is added."""
    if epilogue.function == "leaky_relu":
        return 0.0 < abs(epilogue.numbers[0]) <= 1.0
    of_two = epilogue.function in ("add", "subtract") and epilogue.shape == shape
    return of_two or epilogue.function in ("tanh", "abs")


def _posts(chain: Iterable[tuple[Epilogue, Any]], result: Any) -> list[PostOp]:
    """The epilogues of a convolution, from the first on, that the library computes, and that make
    the norm of the result no greater than it and those of what is added to it.
    """
    posts = []
    for epilogue, instruction in chain:
        if epilogue.function == "relu":
            posts.append(PostOp([("eltwise", *RELU)]))
        elif _is_bounded(epilogue, result.shape):
            posts += post_ops([(epilogue, instruction)], result)
        else:
            break
        result = instruction.result
    return posts


@serves("conv2d_adjoint_input", "conv3d_adjoint_input", cost=_cost)
def adjoint_input(
    onednn: OneDnnKernels, instruction: Any, layouts: Layouts, epilogues: Epilogues
) -> Offer | None:
    """The map to the cotangent of the image."""
    filter = instruction.operands[1]
    g = ConvolutionGeometry(instruction.op, instruction.op.size, filter.shape)
    library = onednn.library
    descriptor, image, out = _backward(onednn, g, "data", any_of(library, g.filter.sizes))
    weights = chosen(library, g.filter, descriptor.memory(OF[WEIGHTS]))
    offer = _offer(
        onednn,
        descriptor,
        _numbers(TARGET_BACK, WEIGHTS, SOURCE_BACK),
        (out, weights, image),
        instruction.results[0].shape,
    )
    if not onednn.hides:
        return offer
    rule = product(instruction.operands[0], filter, g.gain)
    return bounded(offer, instruction.result.number, rule)


@serves("conv2d_adjoint_filter", "conv3d_adjoint_filter", cost=_cost)
def adjoint_filter(
    onednn: OneDnnKernels, instruction: Any, layouts: Layouts, epilogues: Epilogues
) -> Offer | None:
    """The map to the cotangent of the filters."""
    image = instruction.operands[0]
    g = ConvolutionGeometry(instruction.op, image.shape, instruction.op.size)
    library = onednn.library
    descriptor, source, out = _backward(onednn, g, "weights", any_of(library, g.filter.sizes), None)
    weights = chosen(library, g.filter, descriptor.memory(OF[WEIGHTS_BACK]))
    return _offer(
        onednn,
        descriptor,
        _numbers(SOURCE, TARGET_BACK, WEIGHTS_BACK),
        (source, out, weights),
        instruction.results[0].shape,
    )


def _backward(
    onednn: OneDnnKernels, g: ConvolutionGeometry, which: str, *weights: Any
) -> tuple[PrimitiveDescriptor, Layout | None, Layout | None]:
    """The way back by ``data`` or ``weights``, and the layouts of the image and of the output.

    They are those of the forward convolution, where there is a fast kernel for them: what the
    library likes best may lie otherwise than all around.

    Raises:
        NotDone: the library has no fast kernel.
    """
    library, forward = onednn.library, _forward(onednn, g)
    kind, source = f"convolution_backward_{which}", SOURCE_BACK if which == "data" else SOURCE
    wishes = [forward.around, (any_of(library, g.image.sizes), any_of(library, g.out.sizes))]
    for first, last in wishes:
        arguments = (DIRECT, first, *weights, last, *g.steps)
        descriptor = PrimitiveDescriptor(library, kind, *arguments, hint=forward.descriptor)
        if descriptor.is_fast:
            return (
                descriptor,
                chosen(library, g.image, descriptor.memory(OF[source])),
                chosen(library, g.out, descriptor.memory(OF[TARGET_BACK])),
            )
    raise NotDone("oneDNN has only a reference implementation")
