"""Convolutions of images and volumes, and their adjoints."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from ...opdef.prepared import Laid, Prepared
from .library import TRAINING, NotDone, dims
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
from .planner import Layouts, Planner, serves, whole

DIRECT = 1
SOURCE, WEIGHTS, TARGET, BIAS = 1, 33, 17, 41
SOURCE_BACK, WEIGHTS_BACK, TARGET_BACK = 129, 161, 145
#: what queries ask for
OF_SOURCE, OF_SOURCE_BACK, OF_WEIGHTS, OF_WEIGHTS_BACK = 129, 130, 131, 132
OF_TARGET, OF_TARGET_BACK = 133, 134
BLOCK = 16  #: channels are rounded up to a multiple of it
USEFUL = 0.9  #: the share of channels that are no filling, from which on blocks pay
SMALLEST = 1 << 20  #: operations; below it a layout is not worth its conversions


class Geometry:
    """A convolution as the library sees it.

    Args:
        op: its attributes: a convolution or an adjoint of one.
        image, filter: shapes.
    """

    def __init__(self, op: Any, image: Sequence[int], filter: Sequence[int]) -> None:
        seen = channels_last if op.channels_last else row_major
        out = op.convolved(tuple(image), tuple(filter))
        self.image, self.out = seen(image), seen(out)
        self.groups, self.is_channels_last = op.groups, op.channels_last
        count, depth, *kernel = filter
        split = (op.groups, count // op.groups) if op.groups > 1 else (count,)
        self.filter = row_major((*split, depth, *kernel))
        pads = op.pads(self.image.sizes[2:], kernel)
        self.window = (
            tuple(op.strides),
            tuple(d - 1 for d in op.spacing),
            tuple(before for before, _ in pads),
            tuple(after for _, after in pads),
        )
        self.operations = 2 * prod(out) * depth * prod(kernel)

    @property
    def key(self) -> Any:
        """What tells it from others."""
        return self.image, self.filter, self.out, self.window

    @property
    def steps(self) -> list[Any]:
        """The window as functions take it."""
        return [dims(numbers) for numbers in self.window]

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


class Forward:
    """A convolution with the layouts that suit it: blocks of channels, as the library likes them,
    or, where many of these would be filled up, the channels last.
    """

    def __init__(self, planner: Planner, geometry: Geometry) -> None:
        library, g = planner.library, geometry
        image: Any = any_of(library, g.image.sizes)
        out: Any = any_of(library, g.out.sizes)
        filter = any_of(library, g.filter.sizes)
        if g.useful < USEFUL and not g.is_channels_last:
            image = with_channels_last(library, g.image.sizes)
            out = with_channels_last(library, g.out.sizes)
        self.descriptor = made = self._made(planner, g, image, filter, out)
        # a plain array of one channel is one with the channels last, too, but not by its name
        self._image = Layout(library, g.image, made.memory(OF_SOURCE))
        self._filter = Layout(library, g.filter, made.memory(OF_WEIGHTS))
        self._out = Layout(library, g.out, made.memory(OF_TARGET))
        self.image = chosen(library, g.image, self._image.handle)
        self.filter = chosen(library, g.filter, self._filter.handle)
        self.out = chosen(library, g.out, self._out.handle)

    @property
    def around(self) -> tuple[Any, Any]:
        """The layouts of the image and of the output, also where they are plain."""
        return self._image, self._out

    def followed(
        self, planner: Planner, g: Geometry, bias: Layout | None, relu: bool
    ) -> PrimitiveDescriptor:
        """A descriptor in the same layouts, with what follows."""
        return self._made(planner, g, self._image, self._filter, self._out, bias, relu)

    def _made(
        self,
        planner: Planner,
        g: Geometry,
        image: Any,
        filter: Any,
        out: Any,
        bias: Layout | None = None,
        relu: bool = False,
    ) -> PrimitiveDescriptor:
        library = planner.library
        return PrimitiveDescriptor(
            library,
            "convolution_forward",
            *(TRAINING, DIRECT, image, filter, bias, out, *g.steps),
            relu=relu,
        )


def _forward(planner: Planner, geometry: Geometry) -> Forward:
    """The forward convolution of a geometry, which its adjoints take the layouts of.

    Raises:
        NotDone: the library has none, or it does not pay.
    """
    key = ("convolution", geometry.key)
    if key not in planner.known:
        planner.known[key] = None
        if planner.everywhere or geometry.operations >= SMALLEST:
            planner.known[key] = Forward(planner, geometry)
    found: Forward | None = planner.known[key]
    if found is None:
        raise NotDone("NumPy is faster")
    return found


def _laid(
    planner: Planner,
    descriptor: PrimitiveDescriptor,
    numbers: Sequence[tuple[int, tuple[int, int]]],
    layouts: Sequence[Layout | None],
    shape: tuple[int, ...],
) -> Laid:
    """A kernel of two operands, or of three with a bias.

    Args:
        planner: of the plan.
        descriptor: of the primitive.
        numbers: of the operands and, last, of the result: of arguments, and in the description.
        layouts: of the same.
        shape: of the result, where it is plain.
    """
    memories = [(number, descriptor.memory(*what)) for number, what in numbers]
    primitive = Primitive(planner.shop, descriptor, memories)
    last = layouts[-1]
    made = shape if last is None else last.shape
    are_plain = [layout is None for layout in layouts[:-1]]

    def run(*arrays: Any, out: Any = None) -> Any:
        *given, place = arrays
        given = [
            plain(array) if is_plain else array
            for array, is_plain in zip((a for a in given if a is not None), are_plain)
        ]
        out = whole(out, made)
        primitive.at(place)(*given, out)
        return out

    prepared = Prepared(run, out=True, scratch=planner.shop)
    return Laid(prepared, tuple(layouts[:-1]), tuple(layouts[-1:]))


@serves("conv2d", "depthwise_conv2d", "conv3d")
def convolution(planner: Planner, kernel: Any, layouts: Layouts) -> Laid | None:
    """The convolution, and the bias and the relu that follow."""
    image, filter, *more = kernel.arguments
    if any(each is not None for each in more[1:]):
        return None
    bias = more[0] if more else None
    g = Geometry(kernel.op, image.shape, filter.shape)
    forward = _forward(planner, g)
    last, same, behind = kernel, [], None
    if bias is None and not g.is_channels_last:
        behind = planner.bias_behind(kernel)
        if behind is not None:
            last, bias = behind, behind.arguments[1]
            same.append(behind.outputs[0].number)
    relu = planner.relu_behind(last)
    if relu is not None:
        same.append(relu.outputs[0].number)
    numbers = [(SOURCE, (OF_SOURCE, 0)), (WEIGHTS, (OF_WEIGHTS, 0))]
    chosen_layouts = [forward.image, forward.filter]
    descriptor, seen = forward.descriptor, None
    if bias is not None:
        seen = Layout(planner.library, row_major(bias.shape))
        numbers.append((BIAS, (OF_WEIGHTS, 1)))
        chosen_layouts.append(None)
    if same or bias is not None:
        descriptor = forward.followed(planner, g, seen, relu is not None)
    laid = _laid(
        planner,
        descriptor,
        (*numbers, (TARGET, (OF_TARGET, 0))),
        (*chosen_layouts, forward.out),
        kernel.outputs[0].shape,
    )
    planner.same.update(dict.fromkeys(same, 0))
    taken = (*laid.takes[:2], *(None for _ in more))
    if behind is None:
        return laid._replace(takes=taken)
    return laid._replace(takes=(*taken, None), arguments=(*kernel.arguments, bias))


@serves("conv2d_adjoint_input", "conv3d_adjoint_input")
def adjoint_input(planner: Planner, kernel: Any, layouts: Layouts) -> Laid | None:
    """The map to the cotangent of the image."""
    filter = kernel.arguments[1]
    g = Geometry(kernel.op, kernel.op.size, filter.shape)
    library = planner.library
    descriptor, image, out = _backward(planner, g, "data", any_of(library, g.filter.sizes))
    weights = chosen(library, g.filter, descriptor.memory(OF_WEIGHTS))
    return _laid(
        planner,
        descriptor,
        [
            (TARGET_BACK, (OF_TARGET_BACK, 0)),
            (WEIGHTS, (OF_WEIGHTS, 0)),
            (SOURCE_BACK, (OF_SOURCE_BACK, 0)),
        ],
        (out, weights, image),
        kernel.outputs[0].shape,
    )


@serves("conv2d_adjoint_filter", "conv3d_adjoint_filter")
def adjoint_filter(planner: Planner, kernel: Any, layouts: Layouts) -> Laid | None:
    """The map to the cotangent of the filters."""
    image = kernel.arguments[0]
    g = Geometry(kernel.op, image.shape, kernel.op.size)
    library = planner.library
    descriptor, source, out = _backward(
        planner, g, "weights", any_of(library, g.filter.sizes), None
    )
    weights = chosen(library, g.filter, descriptor.memory(OF_WEIGHTS_BACK))
    return _laid(
        planner,
        descriptor,
        [
            (SOURCE, (OF_SOURCE, 0)),
            (TARGET_BACK, (OF_TARGET_BACK, 0)),
            (WEIGHTS_BACK, (OF_WEIGHTS_BACK, 0)),
        ],
        (source, out, weights),
        kernel.outputs[0].shape,
    )


def _backward(
    planner: Planner, g: Geometry, which: str, *weights: Any
) -> tuple[PrimitiveDescriptor, Layout | None, Layout | None]:
    """The way back by ``data`` or ``weights``, and the layouts of the image and of the output.

    They are those of the forward convolution, where there is a fast kernel for them: what the
    library likes best may lie otherwise than all around.

    Raises:
        NotDone: the library has no fast kernel.
    """
    library, forward = planner.library, _forward(planner, g)
    kind, source = f"convolution_backward_{which}", OF_SOURCE_BACK if which == "data" else OF_SOURCE
    target = OF_TARGET_BACK
    wishes = [forward.around, (any_of(library, g.image.sizes), any_of(library, g.out.sizes))]
    for first, last in wishes:
        arguments = (DIRECT, first, *weights, last, *g.steps)
        descriptor = PrimitiveDescriptor(library, kind, *arguments, hint=forward.descriptor)
        if descriptor.is_fast:
            return (
                descriptor,
                chosen(library, g.image, descriptor.memory(source)),
                chosen(library, g.out, descriptor.memory(target)),
            )
    raise NotDone("oneDNN has only a reference implementation")
