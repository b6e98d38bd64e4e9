"""The maximum and the average under windows, and their gradients."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from ...opdef.prepared import Epilogues, Offer, Prepared
from . import memory
from .library import INFERENCE, TRAINING, Window
from .norms import bounded, linear
from .offers import HIGH, LOW, Layouts, OneDnnKernels, held, serves, whole

if TYPE_CHECKING:
    from .memory import Form

SOURCE, TARGET, WORKSPACE, SOURCE_BACK, TARGET_BACK = 1, 17, 64, 129, 145
OF_TARGET, OF_WORKSPACE = 133, 135
MAXIMUM, AVERAGE, AVERAGE_INSIDE = 0x1FF, 0x2FF, 0x3FF


class Windows(Window):
    """How windows move over an image, as the library takes it; raises where it cannot.

    Args:
        op: a pooling, or its adjoint.
        shape: of the image.
    """

    def __init__(self, op: Any, shape: Sequence[int]) -> None:
        seen = memory.channels_last if op.axes[0] == 1 else memory.row_major
        self.image: Form = seen(shape)
        self.out: Form = seen(op.pooled(tuple(shape)))
        kernel, strides, before, after = [], [], [], []
        self.fits = min(op.paddings, default=0) >= 0
        windows, divisors = op.windows(tuple(shape)), op.divisors(tuple(shape))
        for w in windows:
            self.fits &= not any(w.empty)
            if w.step is None:
                self.fits &= len(w.ranges) == 1
                begin, end = w.ranges[0] if w.ranges else (0, 1)
                kernel.append(end - begin)
                strides.append(end - begin)
                before.append(0)
                after.append(0)
                self.fits &= begin == 0
                continue
            kernel.append(w.step.kernel)
            strides.append(w.step.stride)
            before.append(w.step.before)
            after.append(w.padding[1])
        # with padding or without, where all windows are whole it is the same
        self.inclusive: bool = divisors != [w.lengths for w in windows]
        sizes = [[k] * len(w.lengths) for k, w in zip(kernel, windows)]
        self.fits &= not self.inclusive or divisors == sizes
        self.fits &= all(b < k and a < k for k, b, a in zip(kernel, before, after))
        self.window = tuple(map(tuple, (strides, kernel, [0] * len(kernel), before, after)))

    @property
    def gain(self) -> float:
        """Of the norm: the root of how many windows an element may be under."""
        return float(prod(self.window[1])) ** 0.5

    @property
    def key(self) -> Any:
        """What tells them from others."""
        return self.image, self.out, self.window, self.inclusive


class PoolingForward:
    """A pooling in a layout."""

    def __init__(
        self,
        onednn: OneDnnKernels,
        w: Windows,
        largest: bool,
        layout: memory.Layout | None,
        training: bool,
    ) -> None:
        library = onednn.library
        algorithm = MAXIMUM if largest else AVERAGE if w.inclusive else AVERAGE_INSIDE
        self.algorithm = algorithm
        self.source: memory.Layout = memory.described(library, w.image, layout)
        self.layout = layout
        self.descriptor: memory.PrimitiveDescriptor = memory.PrimitiveDescriptor(
            library,
            "pooling_forward",
            *(TRAINING if training else INFERENCE, algorithm, self.source),
            *(memory.any_of(library, w.out.sizes), *w.steps),
        )
        self.out: memory.Layout | None = memory.chosen(
            library, w.out, self.descriptor.memory(OF_TARGET)
        )
        self.target: memory.Layout = memory.described(library, w.out, self.out)


def _cost(onednn: OneDnnKernels, instruction: Any, layouts: Layouts) -> float:
    (x,) = instruction.operands
    return HIGH if held(x, Windows(instruction.op, x.shape).image, layouts) is None else LOW


@serves("pool2d", "pool3d", cost=_cost)
def pool(
    onednn: OneDnnKernels, instruction: Any, layouts: Layouts, epilogues: Epilogues
) -> Offer | None:
    """The maximum or the average under each position of a window."""
    (x,), op = instruction.operands, instruction.op
    w = Windows(op, x.shape)
    layout = held(x, w.image, layouts)
    if not w.fits:
        return None
    largest = op.pooling_type == "max"
    out = instruction.results[0]
    training = any(user.op.derived_from is type(op) for user in out.users)
    forward = PoolingForward(onednn, w, largest, layout, training or not largest)
    arguments = [(SOURCE, forward.source), (TARGET, forward.target)]
    makes: tuple[Any, ...] = ()
    space = 0
    if training and largest:
        descriptor = forward.descriptor.memory(OF_WORKSPACE)
        space = onednn.library.size(descriptor)
        arguments.append((WORKSPACE, descriptor))
        makes = ((("places", out.number), (space,)),)
        onednn.known["places", x.number, out.number] = forward
    else:
        onednn.known["average", w.key] = forward
    primitive = memory.Primitive(onednn.contexts, forward.descriptor, arguments)
    shape = out.shape if forward.out is None else forward.out.shape

    def run(x: Any, context: memory.ExecutionContext, out: Any = None) -> Any:
        outputs = [None] * 2 if out is None else list(out) if makes else [out]
        pooled = whole(outputs[0], shape)
        x = memory.plain(x) if layout is None else x
        if not makes:
            primitive.at(context)(x, pooled)
            return pooled
        places = outputs[1]
        if places is None:
            places = np.empty(space, "uint8")
        primitive.at(context)(x, pooled, places)
        return pooled, places

    prepared = Prepared(run, out=True, scratch=onednn.contexts)
    offer = Offer(prepared, (layout,), (forward.out,), makes=makes)
    rule = linear((0, instruction.operands[0], w.gain))
    return bounded(offer, out.number, rule, hides=largest)


@serves("pool2d_grad", "pool3d_grad")
def pool_grad(
    onednn: OneDnnKernels, instruction: Any, layouts: Layouts, epilogues: Epilogues
) -> Offer | None:
    """The cotangent goes to the largest element of each window."""
    x, out, _ = instruction.operands
    forward = onednn.known.get(("places", x.number, out.number))
    if forward is None:
        return None
    op = instruction.op.derived_from(instruction.op.attr_values())
    return _backward(onednn, instruction, Windows(op, x.shape), forward, 2, out.number)


def _cost_of_adjoint(onednn: OneDnnKernels, instruction: Any, layouts: Layouts) -> float:
    key = "average", Windows(instruction.op, instruction.op.size).key
    return LOW if key in onednn.known else HIGH


@serves("pool2d_adjoint", "pool3d_adjoint", cost=_cost_of_adjoint)
def average_grad(
    onednn: OneDnnKernels, instruction: Any, layouts: Layouts, epilogues: Epilogues
) -> Offer | None:
    """The adjoint of the average."""
    w = Windows(instruction.op, instruction.op.size)
    forward = onednn.known.get(("average", w.key))
    if forward is None and w.fits:
        forward = PoolingForward(onednn, w, False, None, True)
    if forward is None:
        return None
    return _backward(onednn, instruction, w, forward, 0, None)


def _backward(
    onednn: OneDnnKernels,
    instruction: Any,
    w: Windows,
    forward: PoolingForward,
    position: int,
    places: int | None,
) -> Offer:
    """The kernel of an adjoint; ``position`` is that of the cotangent among its arguments."""
    descriptor = memory.PrimitiveDescriptor(
        onednn.library,
        "pooling_backward",
        *(forward.algorithm, forward.source, forward.target, *w.steps),
        hint=forward.descriptor,
    )
    arguments = [(TARGET_BACK, forward.target), (SOURCE_BACK, forward.source)]
    reads: tuple[Any, ...] = ()
    if places is not None:
        arguments.append((WORKSPACE, forward.descriptor.memory(OF_WORKSPACE)))
        reads = (("places", places),)
    primitive = memory.Primitive(onednn.contexts, descriptor, arguments)
    shape = instruction.results[0].shape if forward.layout is None else forward.layout.shape

    def run(*arrays: Any, out: Any = None) -> Any:
        g, *places, context = arrays
        out = whole(out, shape)
        g = memory.plain(g) if forward.out is None else g
        primitive.at(context)(g, out, *places)
        return out

    prepared = Prepared(run, out=True, scratch=onednn.contexts)
    taken = (instruction.operands[position],)
    offer = Offer(prepared, (forward.out,), (forward.layout,), reads, operands=taken)
    if not onednn.hides:
        return offer
    return bounded(offer, instruction.result.number, linear((0, taken[0], w.gain)))
