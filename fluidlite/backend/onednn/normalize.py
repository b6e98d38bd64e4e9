"""Batch and layer normalisation, and softmax."""

from __future__ import annotations

from math import exp
from typing import Any

import numpy as np

from ...opdef.prepared import Laid, Prepared
from ...opdef.spec import flat, normal_axis
from .library import BACKWARD, INFERENCE, TRAINING
from .memory import (
    Form,
    Layout,
    Primitive,
    PrimitiveDescriptor,
    Workplace,
    channels_last,
    described,
    plain,
    row_major,
)
from .planner import SMALLEST, Layouts, Planner, held, serves, whole

SOURCE, TARGET, MEAN, VARIANCE, SCALE, SHIFT, WORKSPACE = 1, 17, 49, 50, 51, 52, 64
SOURCE_BACK, TARGET_BACK, SCALE_BACK, SHIFT_BACK = 129, 145, 255, 256
OF_WORKSPACE = 135
#: flags of normalisations
GLOBAL, SCALED, SHIFTED, WITH_RELU = 1, 2, 4, 8
EXPONENTIAL = 0x30000


def _form(op: Any, shape: tuple[int, ...]) -> Form:
    return channels_last(shape) if op.axis(len(shape)) == len(shape) - 1 else row_major(shape)


class Normalised:
    """A batch normalisation that a plan contains, and its way back.

    Args:
        planner: of the plan.
        op: the operator.
        form, layout: of the images.
        with_relu: whether relu is part of it.

    Raises:
        NotDone: the library has none.
    """

    def __init__(
        self, planner: Planner, op: Any, form: Form, layout: Layout | None, with_relu: bool
    ) -> None:
        library = planner.library
        self.layout, self.with_relu = layout, with_relu
        self.source = source = described(library, form, layout)
        flags = SCALED | SHIFTED | (WITH_RELU if with_relu else 0)
        self.forward = PrimitiveDescriptor(
            library,
            "batch_normalization_forward",
            *(TRAINING if op.by_batch else INFERENCE, source, source, op.epsilon),
            flags if op.by_batch else flags | GLOBAL,
        )
        self.mask_bytes, self.mask = 0, None
        if with_relu:
            self.mask = self.forward.memory(OF_WORKSPACE)
            self.mask_bytes = library.size(self.mask)
        if op.by_batch:
            self.backward = PrimitiveDescriptor(
                library,
                "batch_normalization_backward",
                *(BACKWARD, source, source, source, op.epsilon, flags),
                hint=self.forward,
            )


@serves("batch_norm")
def batch_norm(planner: Planner, kernel: Any, layouts: Layouts) -> Laid | None:
    """The normalised images, the running statistics, and those of the batch."""
    op, x = kernel.op, kernel.arguments[0]
    if op.passes(x.shape):
        return None
    form = _form(op, x.shape)
    layout = held(x, form, layouts)
    if layout is None and not planner.everywhere:
        return None
    fused = planner.masked(kernel) if op.by_batch else None
    norm = Normalised(planner, op, form, layout, fused is not None)
    one = Layout(planner.library, row_major(kernel.arguments[1].shape))
    arguments: list[tuple[int, Any]] = [(SOURCE, norm.source), (MEAN, one), (VARIANCE, one)]
    arguments += [(SCALE, one), (SHIFT, one), (TARGET, norm.source)]
    makes: tuple[Any, ...] = ()
    key = x.number, kernel.outputs[3].number
    if fused is not None:
        arguments.append((WORKSPACE, norm.mask))
        makes = ((("mask", key), (norm.mask_bytes,)),)
    primitive = Primitive(planner.shop, norm.forward, arguments)
    planner.known["batch_norm", key] = norm
    if fused is not None:
        relu, relu_grad = fused
        planner.same[relu.outputs[0].number], planner.same[relu_grad.outputs[0].number] = 0, 1
    shape = x.shape if layout is None else layout.shape
    run = (_by_batch if op.by_batch else _by_running)(op, primitive, shape, norm)
    takes = (layout, *(None for _ in kernel.arguments[1:]))
    gives = (layout, *(None for _ in kernel.outputs[1:]))
    return Laid(Prepared(run, out=True, scratch=planner.shop), takes, gives, makes=makes)


def _by_batch(op: Any, primitive: Primitive, shape: tuple[int, ...], norm: Normalised) -> Any:
    """Runs a normalisation by the statistics of the batch."""
    epsilon, fixed = np.asarray(op.epsilon, "float32"), op.momentum
    masked, is_plain = norm.with_relu, norm.layout is None

    def run(
        x: Any,
        scale: Any,
        bias: Any,
        was_mean: Any,
        was_variance: Any,
        momentum: Any,
        place: Workplace,
        out: Any = None,
    ) -> Any:
        given = (None,) * (5 + masked) if out is None else out
        y = whole(given[0], shape)
        mean, variance = np.empty_like(was_mean), np.empty_like(was_mean)
        arrays = [plain(x) if is_plain else x, mean, variance, scale, bias, y]
        if masked:
            mask = given[5]
            if mask is None:
                mask = np.empty(norm.mask_bytes, "uint8")
            arrays.append(mask)
        primitive.at(place)(*arrays)
        old = fixed if momentum is None else momentum.reshape(1)
        moved = [
            was * old + now * (1 - old) for was, now in ((was_mean, mean), (was_variance, variance))
        ]
        variance += epsilon
        inverse = np.reciprocal(np.sqrt(variance, out=variance), out=variance)
        found = (y, *moved, mean, inverse)
        return (*found, mask) if masked else found

    return run


def _by_running(op: Any, primitive: Primitive, shape: tuple[int, ...], norm: Normalised) -> Any:
    """Runs a normalisation by the running statistics."""
    is_plain = norm.layout is None

    def run(
        x: Any,
        scale: Any,
        bias: Any,
        mean: Any,
        variance: Any,
        _: Any,
        place: Workplace,
        out: Any = None,
    ) -> Any:
        y = whole(None if out is None else out[0], shape)
        primitive.at(place)(plain(x) if is_plain else x, mean, variance, scale, bias, y)
        inverse = 1 / np.sqrt(variance + op.epsilon)
        return y, mean.copy(), variance.copy(), mean.copy(), inverse

    return run


@serves("batch_norm_grad")
def batch_norm_grad(planner: Planner, kernel: Any, layouts: Layouts) -> Laid | None:
    """The cotangents of X, Scale and Bias."""
    x, scale, _, _, mean, *_ = kernel.arguments
    key = x.number, mean.number
    norm = planner.known.get(("batch_norm", key))
    if norm is None:
        return None
    one = Layout(planner.library, row_major(scale.shape))
    arguments = [(SOURCE, norm.source), (MEAN, one), (VARIANCE, one), (SCALE, one)]
    arguments += [(TARGET_BACK, norm.source), (SOURCE_BACK, norm.source)]
    arguments += [(SCALE_BACK, one), (SHIFT_BACK, one)]
    if norm.with_relu:
        arguments.append((WORKSPACE, norm.mask))
    primitive = Primitive(planner.shop, norm.backward, arguments)
    shape = x.shape if norm.layout is None else norm.layout.shape
    is_plain, epsilon = norm.layout is None, np.asarray(kernel.op.epsilon, "float32")

    def run(*arrays: Any, out: Any = None) -> Any:
        *arrays_in, place = arrays
        x, scale, _, _, mean, inverse, _, g = arrays_in[:8]
        made = whole(None if out is None else out[0], shape)
        dscale, dbias = np.empty_like(scale), np.empty_like(scale)
        variance = np.reciprocal(inverse * inverse)
        variance -= epsilon
        if is_plain:
            x, g = plain(x), plain(g)
        masks = arrays_in[12:]
        primitive.at(place)(x, mean, variance, scale, g, made, dscale, dbias, *masks)
        return made, dscale, dbias

    takes = [None] * len(kernel.arguments)
    takes[0] = takes[7] = norm.layout
    reads = (("mask", key),) if norm.with_relu else ()
    prepared = Prepared(run, out=True, scratch=planner.shop)
    return Laid(prepared, tuple(takes), (norm.layout, None, None), reads)


@serves("layer_norm")
def layer_norm(planner: Planner, kernel: Any, layouts: Layouts) -> Laid | None:
    """The normalised samples, and their statistics."""
    x, scale, bias = kernel.arguments
    if x.size < SMALLEST and not planner.everywhere:
        return None
    library, op = planner.library, kernel.op
    samples, size = flat(x.shape, op.begin_norm_axis)
    source = Layout(library, row_major((samples, size)))
    by_sample, by_element = (Layout(library, row_major((n,))) for n in (samples, size))
    flags = (SCALED if scale is not None else 0) | (SHIFTED if bias is not None else 0)
    descriptor = PrimitiveDescriptor(
        library,
        "layer_normalization_forward",
        *(TRAINING, source, source, by_sample, op.epsilon, flags),
    )
    planner.known["layer_norm", x.number, kernel.outputs[1].number] = descriptor
    arguments = [(SOURCE, source), (TARGET, source), (MEAN, by_sample), (VARIANCE, by_sample)]
    arguments += [(SCALE, by_element)] * (scale is not None)
    arguments += [(SHIFT, by_element)] * (bias is not None)
    primitive = Primitive(planner.shop, descriptor, arguments)

    def run(x: Any, scale: Any, bias: Any, place: Workplace, out: Any = None) -> Any:
        given = (None,) * 3 if out is None else out
        y, mean, variance = (
            whole(each, shape) for each, shape in zip(given, (x.shape, (samples,), (samples,)))
        )
        more = [each for each in (scale, bias) if each is not None]
        primitive.at(place)(plain(x), y, mean, variance, *more)
        return y, mean, variance

    return Laid(Prepared(run, out=True, scratch=planner.shop), (None,) * 3, (None,) * 3)


@serves("layer_norm_grad")
def layer_norm_grad(planner: Planner, kernel: Any, layouts: Layouts) -> Laid | None:
    """The cotangents of X, Scale and Bias."""
    x, _, _, mean, *_ = kernel.arguments
    forward = planner.known.get(("layer_norm", x.number, mean.number))
    if forward is None:
        return None
    library, op = planner.library, kernel.op
    samples, size = flat(x.shape, op.begin_norm_axis)
    source = Layout(library, row_major((samples, size)))
    by_sample, by_element = (Layout(library, row_major((n,))) for n in (samples, size))
    descriptor = PrimitiveDescriptor(
        library,
        "layer_normalization_backward",
        *(BACKWARD, source, source, source, by_sample, op.epsilon, SCALED | SHIFTED),
        hint=forward,
    )
    arguments = [(SOURCE, source), (MEAN, by_sample), (VARIANCE, by_sample), (SCALE, by_element)]
    arguments.append((SHIFT, by_element))  # the library insists
    arguments += [(TARGET_BACK, source), (SOURCE_BACK, source)]
    arguments += [(SCALE_BACK, by_element), (SHIFT_BACK, by_element)]
    primitive = Primitive(planner.shop, descriptor, arguments)

    def run(*arrays: Any, out: Any = None) -> Any:
        *given, place = arrays
        x, scale, bias, mean, variance, g = given[:6]
        made = whole(None if out is None else out[0], x.shape)
        dscale, dbias = np.empty_like(scale), np.empty_like(scale)
        primitive.at(place)(plain(x), mean, variance, scale, bias, plain(g), made, dscale, dbias)
        return made, dscale, dbias

    takes = (None,) * len(kernel.arguments)
    return Laid(Prepared(run, out=True, scratch=planner.shop), takes, (None,) * 3)


@serves("softmax")
def softmax(planner: Planner, kernel: Any, layouts: Layouts) -> Laid | None:
    """Exponentials over their sum."""
    (x,) = kernel.arguments
    if not x.shape:
        return None
    library, axis = planner.library, normal_axis(kernel.op.axis, x.ndim)
    source = Layout(library, row_major(x.shape))
    descriptor = PrimitiveDescriptor(
        library, "softmax_forward", TRAINING, EXPONENTIAL, source, source, axis
    )
    planner.known["softmax", kernel.outputs[0].number] = descriptor
    primitive = Primitive(planner.shop, descriptor, [(SOURCE, source), (TARGET, source)])
    least = np.asarray(exp(kernel.op.least_logit), "float32")  # beside the largest of a row

    def run(x: Any, place: Workplace, out: Any = None) -> Any:
        out = whole(out, x.shape)
        primitive.at(place)(plain(x), out)
        if not np.minimum.reduce(out, None, initial=1) >= least:  # else no row has less
            np.maximum(out, out.max(axis, keepdims=True) * least, out=out)
        return out

    return Laid(Prepared(run, out=True, over=(0,), scratch=planner.shop), (None,), (None,))


@serves("softmax_grad")
def softmax_grad(planner: Planner, kernel: Any, layouts: Layouts) -> Laid | None:
    """Out (dOut - the sum of dOut Out along the classes)."""
    value = kernel.arguments[0]
    forward = planner.known.get(("softmax", value.number))
    if forward is None:
        return None
    op, library = kernel.op, planner.library
    source = Layout(library, row_major(value.shape))
    axis = normal_axis(op.axis, value.ndim)
    descriptor = PrimitiveDescriptor(
        library,
        "softmax_backward",
        *(EXPONENTIAL, source, source, source, axis),
        hint=forward,
    )
    arguments = [(TARGET, source), (TARGET_BACK, source), (SOURCE_BACK, source)]
    primitive = Primitive(planner.shop, descriptor, arguments)

    def run(value: Any, g: Any, place: Workplace, out: Any = None) -> Any:
        out = whole(out, value.shape)
        primitive.at(place)(plain(value), plain(g), out)
        return out

    return Laid(Prepared(run, out=True, scratch=planner.shop), (None, None), (None,))
