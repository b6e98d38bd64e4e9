"""Batch and layer normalisation, and softmax."""

from __future__ import annotations

from math import exp, inf, isfinite
from typing import Any

import numpy as np

from ...opdef.prepared import Epilogues, KernelDeclined, Offer, Prepared
from ...opdef.spec import flat, normal_axis
from .. import SMALLEST_OF_ONEDNN
from .library import BACKWARD, INFERENCE, TRAINING
from .memory import (
    FLOAT,
    ExecutionContext,
    Form,
    Layout,
    Primitive,
    PrimitiveDescriptor,
    channels_last,
    described,
    plain,
    row_major,
)
from .norms import Rule, bounded, made_by, measured, norm_of, require
from .offers import HIGH, LOW, Layouts, OneDnnKernels, held, serves, whole

SOURCE, TARGET, MEAN, VARIANCE, SCALE, SHIFT, WORKSPACE = 1, 17, 49, 50, 51, 52, 64
SOURCE_BACK, TARGET_BACK, SCALE_BACK, SHIFT_BACK = 129, 145, 255, 256
OF_WORKSPACE = 135
#: flags of normalisations
GLOBAL, SCALED, SHIFTED, WITH_RELU = 1, 2, 4, 8
EXPONENTIAL = 0x30000


def _form(op: Any, shape: tuple[int, ...]) -> Form:
    return channels_last(shape) if op.axis(len(shape)) == len(shape) - 1 else row_major(shape)


class BatchNormForward:
    """A batch normalisation that a plan contains, and its way back.

    Args:
        onednn: the kernels of the graph.
        op: the operator.
        form, layout: of the images.
        with_relu: whether relu is part of it.

    Raises:
        NotDone: the library has none.
    """

    source: Layout

    def __init__(
        self, onednn: OneDnnKernels, op: Any, form: Form, layout: Layout | None, with_relu: bool
    ) -> None:
        library = onednn.library
        self.layout = layout
        self.with_relu = with_relu
        self.source = source = described(library, form, layout)
        flags = SCALED | SHIFTED | (WITH_RELU if with_relu else 0)
        self.forward: PrimitiveDescriptor = PrimitiveDescriptor(
            library,
            "batch_normalization_forward",
            *(TRAINING if op.by_batch else INFERENCE, source, source, op.epsilon),
            flags if op.by_batch else flags | GLOBAL,
        )
        self.mask_bytes: int = 0
        self.mask: Any = None
        if with_relu:
            self.mask = self.forward.memory(OF_WORKSPACE)
            self.mask_bytes = library.size(self.mask)
        if op.by_batch:
            self.backward: PrimitiveDescriptor = PrimitiveDescriptor(
                library,
                "batch_normalization_backward",
                *(BACKWARD, source, source, source, op.epsilon, flags),
                hint=self.forward,
            )


def _cost_of_batch_norm(onednn: OneDnnKernels, instruction: Any, layouts: Layouts) -> float:
    x = instruction.operands[0]
    return HIGH if held(x, _form(instruction.op, x.shape), layouts) is None else LOW


@serves("batch_norm", cost=_cost_of_batch_norm)
def batch_norm(
    onednn: OneDnnKernels, instruction: Any, layouts: Layouts, epilogues: Epilogues
) -> Offer | None:
    """The normalised images, the running statistics, and those of the batch."""
    op, x = instruction.op, instruction.operands[0]
    if op.passes(x.shape):
        return None
    form = _form(op, x.shape)
    layout = held(x, form, layouts)
    masks = op.by_batch and epilogues.mask is not None and epilogues.begins_with("relu")
    norm = BatchNormForward(onednn, op, form, layout, masks)
    one = Layout(onednn.library, row_major(instruction.operands[1].shape))
    arguments: list[tuple[int, Any]] = [(SOURCE, norm.source), (MEAN, one), (VARIANCE, one)]
    arguments += [(SCALE, one), (SHIFT, one), (TARGET, norm.source)]
    makes: tuple[Any, ...] = ()
    key = x.number, instruction.results[3].number
    if masks:
        arguments.append((WORKSPACE, norm.mask))
        makes = ((("mask", key), (norm.mask_bytes,)),)
    primitive = Primitive(onednn.contexts, norm.forward, arguments)
    onednn.known["batch_norm", key] = norm
    shape = x.shape if layout is None else layout.shape
    run = (_by_batch if op.by_batch else _by_running)(op, primitive, shape, norm)
    takes = (layout, *(None for _ in instruction.operands[1:]))
    gives = (layout, *(None for _ in instruction.results[1:]))
    prepared = Prepared(run, out=True, scratch=onednn.contexts)
    offer = Offer(prepared, takes, gives, makes=makes, fused=int(masks), masks=masks)
    if not onednn.hides:
        return offer
    root = (x.size / instruction.operands[1].size) ** 0.5
    number = made_by(instruction, epilogues, offer.fused)
    if op.by_batch:
        return _declining(offer, number, root, masks)
    return bounded(offer, number, _rule_of_running(op, x, root))


def _declining(offer: Offer, number: int, root: float, masks: bool) -> Offer:
    """The offer of a normalisation by the statistics of the batch, which notes a bound.

    The images have nothing that is not finite where the statistics have nothing.  A normalised
    channel has the root of the number of its elements as its norm.
    """
    assert offer.kernel is not None
    function = offer.kernel.function

    def run(*arrays: Any, out: Any = None) -> Any:
        results = function(*arrays, out=out)
        mean, inverse = results[3:5]  # where the variance is infinite, the other one is zero
        bound = (measured(arrays[1]) + measured(arrays[2])) * root
        if not (isfinite(measured(mean) + measured(inverse)) and inverse.all()):
            bound = inf
        if masks:
            require(bound)
        arrays[-1].norms[number] = bound
        return results

    return offer._replace(kernel=offer.kernel._replace(function=run))


def _rule_of_running(op: Any, x: Any, root: float) -> Rule:
    """The bound of what is normalised by running statistics."""

    def rule(context: ExecutionContext, arrays: Any) -> float:
        image, scale, bias, mean, variance = arrays[:5]
        steepest = float(np.abs(scale / np.sqrt(variance + op.epsilon)).max())
        level = norm_of(context, x, image) + measured(mean) * root
        return steepest * level + measured(bias) * root

    return rule


def _need_slope(scale: Any, inverse: Any) -> None:
    """Check that the slopes are finite, by which the library multiplies.

    Raises:
        KernelDeclined: they are not, where what is normalised may be.
    """
    if not np.isfinite(scale * inverse).all():
        raise KernelDeclined("the product of scale and deviation is not finite")


def _by_batch(op: Any, primitive: Primitive, shape: tuple[int, ...], norm: BatchNormForward) -> Any:
    """Runs a normalisation by the statistics of the batch."""
    epsilon, fixed = np.asarray(op.epsilon, "float32"), op.momentum
    masked, is_plain = norm.with_relu, norm.layout is None

    def run(x: Any, scale: Any, bias: Any, *before: Any, out: Any = None) -> Any:
        was_mean, was_variance, momentum, context = before
        outputs = (None,) * (5 + masked) if out is None else out
        y = whole(outputs[0], shape)
        mean, variance = np.empty_like(was_mean), np.empty_like(was_mean)
        arrays = [plain(x) if is_plain else x, mean, variance, scale, bias, y]
        if masked:
            mask = outputs[5]
            if mask is None:
                mask = np.empty(norm.mask_bytes, "uint8")
            arrays.append(mask)
        primitive.at(context)(*arrays)
        old = fixed if momentum is None else momentum.reshape(1)
        moved = [
            was * old + now * (1 - old) for was, now in ((was_mean, mean), (was_variance, variance))
        ]
        variance += epsilon
        inverse = np.reciprocal(np.sqrt(variance, out=variance), out=variance)
        _need_slope(scale, inverse)
        found = (y, *moved, mean, inverse)
        return (*found, mask) if masked else found

    return run


def _by_running(
    op: Any, primitive: Primitive, shape: tuple[int, ...], norm: BatchNormForward
) -> Any:
    """Runs a normalisation by the running statistics."""
    is_plain = norm.layout is None

    def run(x: Any, scale: Any, bias: Any, *statistics: Any, out: Any = None) -> Any:
        mean, variance, _, context = statistics
        y = whole(None if out is None else out[0], shape)
        primitive.at(context)(plain(x) if is_plain else x, mean, variance, scale, bias, y)
        inverse = 1 / np.sqrt(variance + op.epsilon)
        _need_slope(scale, inverse)
        return y, mean.copy(), variance.copy(), mean.copy(), inverse

    return run


@serves("batch_norm_grad")
def batch_norm_grad(
    onednn: OneDnnKernels, instruction: Any, layouts: Layouts, epilogues: Epilogues
) -> Offer | None:
    """The cotangents of X, Scale and Bias."""
    x, scale, _, _, mean, *_ = instruction.operands
    key = x.number, mean.number
    norm = onednn.known.get(("batch_norm", key))
    if norm is None:
        return None
    one = Layout(onednn.library, row_major(scale.shape))
    arguments = [(SOURCE, norm.source), (MEAN, one), (VARIANCE, one), (SCALE, one)]
    arguments += [(TARGET_BACK, norm.source), (SOURCE_BACK, norm.source)]
    arguments += [(SCALE_BACK, one), (SHIFT_BACK, one)]
    if norm.with_relu:
        arguments.append((WORKSPACE, norm.mask))
    primitive = Primitive(onednn.contexts, norm.backward, arguments)
    shape = x.shape if norm.layout is None else norm.layout.shape
    is_plain, epsilon = norm.layout is None, np.asarray(instruction.op.epsilon, "float32")

    def run(*arrays: Any, out: Any = None) -> Any:
        *arrays_in, context = arrays
        x, scale, _, _, mean, inverse, _, g = arrays_in[:8]
        dx = whole(None if out is None else out[0], shape)
        dscale, dbias = np.empty_like(scale), np.empty_like(scale)
        variance = np.reciprocal(inverse * inverse)
        variance -= epsilon
        if is_plain:
            x, g = plain(x), plain(g)
        masks = arrays_in[12:]
        primitive.at(context)(x, mean, variance, scale, g, dx, dscale, dbias, *masks)
        return dx, dscale, dbias

    takes = [None] * len(instruction.operands)
    takes[0] = takes[7] = norm.layout
    reads = (("mask", key),) if norm.with_relu else ()
    prepared = Prepared(run, out=True, scratch=onednn.contexts)
    offer = Offer(prepared, tuple(takes), (norm.layout, None, None), reads)
    if not onednn.hides:
        return offer
    g = instruction.operands[7]

    def rule(context: ExecutionContext, arrays: Any) -> float:
        # what is taken from the cotangent is its projection on two directions
        return 2.0 * float(np.abs(arrays[1] * arrays[5]).max()) * norm_of(context, g, arrays[7])

    return bounded(offer, instruction.results[0].number, rule, hides=norm.with_relu)


def _cost_of_layer_norm(onednn: OneDnnKernels, instruction: Any, layouts: Layouts) -> float:
    return HIGH if instruction.operands[0].size < SMALLEST_OF_ONEDNN else LOW


@serves("layer_norm", cost=_cost_of_layer_norm)
def layer_norm(
    onednn: OneDnnKernels, instruction: Any, layouts: Layouts, epilogues: Epilogues
) -> Offer | None:
    """The normalised samples, and their statistics."""
    x, scale, bias = instruction.operands
    library, op = onednn.library, instruction.op
    samples, size = flat(x.shape, op.begin_norm_axis)
    source = Layout(library, row_major((samples, size)))
    by_sample, by_element = (Layout(library, row_major((n,))) for n in (samples, size))
    flags = (SCALED if scale is not None else 0) | (SHIFTED if bias is not None else 0)
    descriptor = PrimitiveDescriptor(
        library,
        "layer_normalization_forward",
        *(TRAINING, source, source, by_sample, op.epsilon, flags),
    )
    onednn.known["layer_norm", x.number, instruction.results[1].number] = descriptor
    arguments = [(SOURCE, source), (TARGET, source), (MEAN, by_sample), (VARIANCE, by_sample)]
    arguments += [(SCALE, by_element)] * (scale is not None)
    arguments += [(SHIFT, by_element)] * (bias is not None)
    primitive = Primitive(onednn.contexts, descriptor, arguments)

    def run(x: Any, scale: Any, bias: Any, context: ExecutionContext, out: Any = None) -> Any:
        given = (None,) * 3 if out is None else out
        y, mean, variance = (
            whole(each, shape) for each, shape in zip(given, (x.shape, (samples,), (samples,)))
        )
        more = [each for each in (scale, bias) if each is not None]
        primitive.at(context)(plain(x), y, mean, variance, *more)
        return y, mean, variance

    return Offer(Prepared(run, out=True, scratch=onednn.contexts), (None,) * 3, (None,) * 3)


@serves("layer_norm_grad")
def layer_norm_grad(
    onednn: OneDnnKernels, instruction: Any, layouts: Layouts, epilogues: Epilogues
) -> Offer | None:
    """The cotangents of X, Scale and Bias."""
    x, _, _, mean, *_ = instruction.operands
    forward = onednn.known.get(("layer_norm", x.number, mean.number))
    if forward is None:
        return None
    library, op = onednn.library, instruction.op
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
    primitive = Primitive(onednn.contexts, descriptor, arguments)

    def run(*arrays: Any, out: Any = None) -> Any:
        *given, context = arrays
        x, scale, bias, mean, variance, g = given[:6]
        made = whole(None if out is None else out[0], x.shape)
        dscale, dbias = np.empty_like(scale), np.empty_like(scale)
        primitive.at(context)(plain(x), mean, variance, scale, bias, plain(g), made, dscale, dbias)
        return made, dscale, dbias

    takes = (None,) * len(instruction.operands)
    return Offer(Prepared(run, out=True, scratch=onednn.contexts), takes, (None,) * 3)


@serves("softmax")
def softmax(
    onednn: OneDnnKernels, instruction: Any, layouts: Layouts, epilogues: Epilogues
) -> Offer | None:
    """Exponentials over their sum."""
    (x,) = instruction.operands
    if not x.shape:
        return None
    library, axis = onednn.library, normal_axis(instruction.op.axis, x.ndim)
    source = Layout(library, row_major(x.shape))
    descriptor = PrimitiveDescriptor(
        library, "softmax_forward", TRAINING, EXPONENTIAL, source, source, axis
    )
    onednn.known["softmax", instruction.results[0].number] = descriptor
    primitive = Primitive(onednn.contexts, descriptor, [(SOURCE, source), (TARGET, source)])
    least = np.asarray(exp(instruction.op.least_logit), FLOAT)  # beside the largest of a row

    def run(x: Any, context: ExecutionContext, out: Any = None) -> Any:
        out = whole(out, x.shape)
        primitive.at(context)(plain(x), out)
        if not np.minimum.reduce(out, None, initial=1) >= least:  # else no row has less
            np.maximum(out, out.max(axis, keepdims=True) * least, out=out)
        return out

    return Offer(Prepared(run, out=True, over=(0,), scratch=onednn.contexts), (None,), (None,))


@serves("softmax_grad")
def softmax_grad(
    onednn: OneDnnKernels, instruction: Any, layouts: Layouts, epilogues: Epilogues
) -> Offer | None:
    """Out (dOut - the sum of dOut Out along the classes)."""
    value = instruction.operands[0]
    forward = onednn.known.get(("softmax", value.number))
    if forward is None:
        return None
    op, library = instruction.op, onednn.library
    source = Layout(library, row_major(value.shape))
    axis = normal_axis(op.axis, value.ndim)
    descriptor = PrimitiveDescriptor(
        library, "softmax_backward", *(EXPONENTIAL, source, source, source, axis), hint=forward
    )
    arguments = [(TARGET, source), (TARGET_BACK, source), (SOURCE_BACK, source)]
    primitive = Primitive(onednn.contexts, descriptor, arguments)

    def run(value: Any, g: Any, context: ExecutionContext, out: Any = None) -> Any:
        out = whole(out, value.shape)
        primitive.at(context)(plain(value), plain(g), out)
        return out

    return Offer(Prepared(run, out=True, scratch=onednn.contexts), (None, None), (None,))
