"""Convolutions in ONNX."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...ops.pad import parted
from ..graph import OnnxGraph
from ..rearranging import numbers
from ..tracing import SizesNeeded
from ..writing import maps


def channels_first(op: Any, X: Any, write: Callable[[Any], Any]) -> Any:
    """What is written for images whose channels come first, for images of either kind."""
    if not op.channels_last:
        return write(X)
    last = X.ndim - 1
    out = write(np.transpose(X, (0, last, *range(1, last))))
    return out.graph.innermost.Transpose(out, perm=[0, *range(2, last + 1), 1])


def window(op: Any, sizes: Any, kernel: Any) -> dict[str, Any]:
    """The attributes of ONNX that say how a window moves."""
    attrs = dict(
        kernel_shape=list(kernel),
        strides=list(op.strides),
        dilations=list(op.spacing),
        group=int(op.groups),
    )
    if -1 not in sizes:
        pads = op.pads(sizes, kernel)
    elif op.padding_algorithm == "SAME":
        return dict(attrs, auto_pad="SAME_UPPER")
    else:
        pads = op.given_pads(sizes, kernel)
    return dict(attrs, pads=[a for a, _ in pads] + [b for _, b in pads])


@maps("conv2d", "depthwise_conv2d", "conv3d")
def conv(graph: OnnxGraph, op: Any, Input: Any, Filter: Any, Bias: Any) -> Any:
    attrs = window(op, op.nchw(Input.sizes)[2:], Filter.shape[2:])

    def convolved(x: Any) -> Any:
        if not op.cuts:  # ONNX takes nothing away
            return graph.Conv(x, Filter, Bias, **attrs)
        added, cut = parted(
            [(0, 0), (0, 0), *zip(attrs["pads"][: op.rank], attrs["pads"][op.rank :])]
        )
        inside = tuple(slice(a or None, -b or None) for a, b in cut)
        pads = [0] * len(attrs["pads"])
        return graph.Conv(np.pad(x, added)[inside], Filter, Bias, **dict(attrs, pads=pads))

    return channels_first(op, Input, convolved)


@maps("conv2d_transpose", "depthwise_conv2d_transpose", "conv3d_transpose")
def conv_transpose(graph: OnnxGraph, op: Any, Input: Any, Filter: Any, Bias: Any) -> Any:
    sizes, kernel = op.nchw(Input.sizes)[2:], Filter.shape[2:]
    if -1 in sizes and op.padding_algorithm == "SAME":
        raise SizesNeeded("the padding SAME of a transposed convolution follows from sizes")
    shape, pads = op.transposed(Input.sizes, Filter.shape)
    more = list(op.output_padding) or [0] * len(kernel)
    if op.output_size and -1 not in sizes:
        spans, starts = op.spans(kernel), zip(pads[::2], pads[1::2])
        whole = [
            (n - 1) * stride - sum(pad) + span
            for n, stride, pad, span in zip(sizes, op.strides, starts, spans)
        ]
        more = [n - w for n, w in zip(op.nchw(shape)[2:], whole)]
    elif op.output_size:
        raise SizesNeeded("output_size of a transposed convolution asks for known sizes")
    attrs = dict(
        kernel_shape=list(kernel),
        strides=list(op.strides),
        dilations=list(op.spacing),
        group=int(op.groups),
        pads=[max(n, 0) for n in pads[::2] + pads[1::2]],
        output_padding=more,
    )
    if min(pads) >= 0:
        return channels_first(op, Input, lambda x: graph.ConvTranspose(x, Filter, Bias, **attrs))

    def transposed(x: Any) -> Any:
        around = [0, 0, *[max(-n, 0) for n in pads[::2]], 0, 0, *[max(-n, 0) for n in pads[1::2]]]
        out = graph.Pad(graph.ConvTranspose(x, Filter, **attrs), numbers(around))
        return out if Bias is None else graph.Add(out, np.reshape(Bias, (-1, *[1] * op.rank)))

    return channels_first(op, Input, transposed)
