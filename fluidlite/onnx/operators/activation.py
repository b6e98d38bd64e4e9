"""Sigmoids, rectifiers, and softmax."""

from __future__ import annotations

from typing import Any

from ..forms import operator, operators
from .elementwise import is_float

operators(
    {
        "Relu": lambda f, x: f.relu(x) if is_float(f, x) else f.maximum(x, f.like(0, x)),
        "Elu": lambda f, x, *, alpha=1.0: f.elu(x, alpha=alpha),
        "Celu": lambda f, x, *, alpha=1.0: f.scale(
            f.elu(f.scale(x, scale=1.0 / alpha)), scale=alpha
        ),
        "ThresholdedRelu": lambda f, x, *, alpha=1.0: f.thresholded_relu(x, threshold=alpha),
        "HardSigmoid": lambda f, x, *, alpha=0.2, beta=0.5: f.hard_sigmoid(
            x, slope=alpha, offset=beta
        ),
        "HardSwish": lambda f, x: f.hard_swish(x),
        "Softplus": lambda f, x: f.softplus(x),
        "Mish": lambda f, x: f.elementwise_mul(x, f.tanh(f.softplus(x))),
        "Swish": lambda f, x, *, alpha=1.0: f.swish(x, beta=alpha),
        "Gelu": lambda f, x, *, approximate="none": f.gelu(x, approximate=approximate == "tanh"),
    }
)


@operator("LeakyRelu")
def leaky_relu(f: Any, x: Any, *, alpha: float = 0.01) -> Any:
    return f.leaky_relu(x, alpha=alpha)


@operator("Selu")
def selu(
    f: Any, x: Any, *, alpha: float = 1.6732631921768188, gamma: float = 1.0507010221481323
) -> Any:
    return f.selu(x, alpha=alpha, scale=gamma)


@operator("Shrink")
def shrink(f: Any, x: Any, *, bias: float = 0.0, lambd: float = 0.5) -> Any:
    kind = f.type_of(x)
    wide = x if is_float(f, x) else f.to(x, "float32")
    above = f.to(f.greater_than(wide, f.like(lambd, wide)), f.type_of(wide))
    below = f.to(f.less_than(wide, f.like(-lambd, wide)), f.type_of(wide))
    high = f.elementwise_mul(above, f.scale(wide, scale=1.0, bias=-bias))
    low = f.elementwise_mul(below, f.scale(wide, scale=1.0, bias=bias))
    return f.to(f.elementwise_add(high, low), kind)


# -- along a dimension; before version 13 along all from one on ------------------------------------


def along(f: Any, x: Any, axis: int | None, opset: int, build: Any) -> Any:
    """What is built along one dimension, or, in old models, along all dimensions from one on."""
    if opset >= 13:
        return build(x, -1 if axis is None else axis)
    rank = f.ndim(x)
    axis = (1 if axis is None else axis) % max(rank, 1)
    if axis == rank - 1:
        return build(x, -1)
    out = build(f.flatten2(x, axis=axis), 1)
    sizes = f.sizes(x)
    if list(sizes).count(-1) < 2:
        return f.reshaped(out, sizes)
    return f.reshape2(out, Shape=f.shape(x), shape=list(sizes))


@operator("Softmax")
def softmax(f: Any, x: Any, *, axis: int | None = None, opset: int) -> Any:
    return along(f, x, axis, opset, lambda v, at: f.softmax(v, axis=at))


@operator("LogSoftmax")
def log_softmax(f: Any, x: Any, *, axis: int | None = None, opset: int) -> Any:
    def build(v: Any, at: int) -> Any:
        beside = f.elementwise_sub(v, f.summed(v, [at], kind="max"))
        return f.elementwise_sub(beside, f.log(f.summed(f.exp(beside), [at])))

    return along(f, x, axis, opset, build)


@operator("Hardmax")
def hardmax(f: Any, x: Any, *, axis: int | None = None, opset: int) -> Any:
    def build(v: Any, at: int) -> Any:
        depth = f.known_sizes(v, [at])[0]
        place = f.arg_max(v, axis=at)
        one_hot = f.to(f.one_hot_v2(place, depth=depth), f.type_of(v))
        rank = f.ndim(v)
        order = list(range(rank - 1))
        order.insert(at % rank, rank - 1)
        return f.transposed(one_hot, order)

    return along(f, x, axis, opset, build)
