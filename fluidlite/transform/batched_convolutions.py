"""Rules of batching of convolutions where each example has a filter, or a gradient of it."""

from __future__ import annotations

from typing import Any

from ..ir.variable import Variable
from ..opdef.definition import lookup
from ..opdef.gradient import DerivedGrad
from .batched_rows import divided, joined
from .batching import BatchedValue, Batching, Values


def _channels_first(f: Batching, op: Any, image: Variable) -> Variable:
    """An image as a window is moved over it."""
    return f.parent.transpose(image, axis=[0, 3, 1, 2]) if op.channels_last else image


def _columns(f: Batching, op: Any, image: BatchedValue, kernel: list[int]) -> Variable:
    """What lies under the window: [examples * images, groups, elements, positions]."""
    rows = _channels_first(f, op, joined(f, f.batched(image)).variable)
    pads = op.pads(list(rows.shape[2:]), kernel)
    columns = f.parent.unfold(
        rows,
        kernel_sizes=kernel,
        strides=list(op.strides),
        paddings=[pads[0][0], pads[1][0], pads[0][1], pads[1][1]],
        dilations=list(op.spacing),
    )
    _, elements, positions = columns.shape
    return f.reshaped(columns, [-1, op.groups, elements // op.groups, positions])


def _is_planar(op: Any, *values: BatchedValue) -> bool:
    """Whether windows move over images of known sizes."""
    return op.rank == 2 and not op.cuts and not any(-1 in v.shape[1:] for v in values)


def filters_of_each(f: Batching, op: Any, ins: Values) -> dict[str, Any] | None:
    """A convolution with a filter of each example, as a product with what lies under the window."""
    image, filter = ins["Input"], ins["Filter"]
    if not filter.is_batched or ins.get("ResidualData") is not None:
        return None
    if not _is_planar(op, image, filter) or -1 in image.shape:
        return None
    count, (filters, _, *kernel) = image.shape[0], filter.shape
    columns = _columns(f, op, image, kernel)
    elements, positions = columns.shape[2:]
    parts = [op.groups, filters // op.groups, elements]
    columns = f.reshaped(columns, [f.size, count, op.groups, elements, positions])
    out = f.parent.matmul(f.reshaped(f.front(filter), [f.size, 1, *parts]), columns)
    shape = op.convolved(image.shape, filter.shape)
    _, _, *sizes = op.nchw(shape)
    out = f.reshaped(out, [-1, filters, *sizes])
    if op.channels_last:
        out = f.parent.transpose(out, axis=[0, 2, 3, 1])
    whole = divided(f, out, (count, *shape[1:]))
    bias = ins.get("Bias")
    if bias is not None:
        whole = f.elementwise_add(whole, bias, axis=op.channel_axis)
    return {"Output": whole}


def filter_gradients(f: Batching, op: Any, ins: Values) -> dict[str, Any] | None:
    """The cotangent of the filter of each example."""
    image, g = ins["Input"], ins["G"]
    if not _is_planar(op, image, g) or -1 in (image.shape[0], g.shape[0]):
        return None
    filters, _, *kernel = op.size
    columns = _columns(f, op, image, list(kernel))
    groups, positions = columns.shape[1], columns.shape[3]
    cotangents = _channels_first(f, op, joined(f, f.batched(g)).variable)
    cotangents = f.reshaped(cotangents, [-1, groups, filters // groups, positions])
    out = f.parent.matmul(cotangents, columns, transpose_Y=True)
    count = g.shape[0]
    if count == 1:
        return {"Out": f.value(f.reshaped(out, [f.size, *op.size]), 0)}
    each_image = f.reshaped(out, [f.size, count, *op.size])
    return {"Out": f.value(f.parent.reduce_sum(each_image, dim=[1]), 0)}


def input_gradients(f: Batching, op: Any, ins: Values) -> dict[str, Any] | None:
    """The cotangent of the image of each example, by a filter that they share."""
    g, filter = ins["G"], ins["Filter"]
    if filter.is_batched:
        return None
    rows = joined(f, g)
    if -1 not in (f.size, g.shape[0]):
        of_all = type(op)({**op.attr_values(), "size": [f.size * g.shape[0], *op.size[1:]]})
        out = f.parent.apply(of_all, {"G": rows.variable, "Filter": filter.variable})["Out"]
        return {"Out": divided(f, out, op.size)}
    # the gradient operator takes the number of images from an input, of which it reads the shape
    like = f.parent.fill_constant_batch_size_like(
        rows.variable, shape=[-1, *op.size[1:]], dtype=g.dtype, value=0.0
    )
    gradient = lookup(f"{op.type.removesuffix('_adjoint_input')}_grad")
    assert issubclass(gradient, DerivedGrad)
    given = {"Input": like, "Filter": filter.variable, "Output@GRAD": rows.variable}
    outs = f.plain(gradient(op.geometry), {s: f.value(v) for s, v in given.items()}, {"Input@GRAD"})
    return {"Out": divided(f, outs["Input@GRAD"].variable, op.size)}
