"""Normalisation."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from ...opdef.definition import lookup
from ..building import Appending
from ..forms import operator


def per_channel(f: Any, v: Any, rank: int) -> Any:
    """A vector with an element per channel, between the other dimensions."""
    return f.reshaped(v, [-1, *[1] * (rank - 2)]) if rank > 2 else v


def scaled(f: Any, x: Any, scale: Any, bias: Any) -> Any:
    """A value times one vector and plus another, which have an element per channel."""
    factor, term = (per_channel(f, v, f.ndim(x)) for v in (scale, bias))
    return f.elementwise_add(f.elementwise_mul(x, factor), term)


def normalised(f: Any, x: Any, axes: Iterable[int], epsilon: float) -> tuple[Any, Any, Any]:
    """A value less its mean, divided by its deviation; the mean, and one over the deviation."""
    axes = list(axes)
    mean = f.summed(x, axes, kind="mean")
    beside = f.elementwise_sub(x, mean)
    variance = f.summed(f.square(beside), axes, kind="mean")
    slope = f.rsqrt(f.scale(variance, scale=1.0, bias=epsilon))
    return f.elementwise_mul(beside, slope), mean, slope


@operator("BatchNormalization", unread=["spatial"])
def batch_norm(
    f: Any,
    x: Any,
    scale: Any,
    bias: Any,
    mean: Any,
    variance: Any,
    *,
    epsilon: float = 1e-5,
    is_test: int = 1,
    momentum: float = 0.9,
    training_mode: int = 0,
) -> Any:
    rank = f.ndim(x)
    if training_mode or not is_test:
        return _by_batch(f, x, scale, bias, mean, variance, epsilon, momentum)
    mean, variance = f.settled(mean), f.settled(variance)
    same = {f.type_of(v) for v in (x, scale, bias, mean, variance)} == {np.dtype("float32")}
    if isinstance(f, Appending) and rank in (2, 4, 5) and same:
        ins = dict(X=x, Scale=scale, Bias=bias, Mean=mean, Variance=variance)
        variables = {slot: f.variable(v) for slot, v in ins.items()}
        out = f.new_variable()
        kept = {s: f.new_variable(stop_gradient=True) for s in ("SavedMean", "SavedVariance")}
        outs = dict(Y=out, MeanOut=variables["Mean"], VarianceOut=variables["Variance"], **kept)
        attrs = dict(epsilon=epsilon, momentum=momentum, is_test=True)
        f.append(lookup("batch_norm")(attrs), variables, outs)
        return out
    kind = f.type_of(x)
    scale, bias, mean, variance = (f.to(v, kind) for v in (scale, bias, mean, variance))
    slope = f.elementwise_mul(scale, f.rsqrt(f.scale(variance, scale=1.0, bias=epsilon)))
    return scaled(f, f.elementwise_sub(x, per_channel(f, mean, rank)), slope, bias)


def _by_batch(
    f: Any, x: Any, scale: Any, bias: Any, mean: Any, variance: Any, epsilon: float, momentum: float
) -> Any:
    rank = f.ndim(x)
    axes = [i for i in range(rank) if i != 1]
    normalized, center, _ = normalised(f, x, axes, epsilon)
    spread = f.summed(f.square(f.elementwise_sub(x, center)), axes, kind="mean")

    def after(old: Any, new: Any) -> Any:
        new = f.reshaped(new, [-1])
        return f.elementwise_add(f.scale(old, scale=momentum), f.scale(new, scale=1.0 - momentum))

    return scaled(f, normalized, scale, bias), after(mean, center), after(variance, spread)


@operator("InstanceNormalization")
def instance_norm(f: Any, x: Any, scale: Any, bias: Any, *, epsilon: float = 1e-5) -> Any:
    found, _, _ = normalised(f, x, range(2, f.ndim(x)), epsilon)
    return scaled(f, found, scale, bias)


@operator("LayerNormalization", unread=["stash_type"])
def layer_norm(
    f: Any,
    x: Any,
    scale: Any,
    bias: Any = None,
    *,
    axis: int = -1,
    epsilon: float = 1e-5,
    wanted: Any,
) -> Any:
    rank = f.ndim(x)
    axis %= rank
    shape = f.sizes(x)[axis:]
    plain = f.sizes(scale) == shape and (bias is None or f.sizes(bias) == shape)
    if not any(wanted[1:]) and axis and plain and f.type_of(x) == np.float32 and -1 not in shape:
        count = math.prod(shape)
        rows = [f.reshaped(v, [count]) for v in (scale, bias) if v is not None]
        return f.layer_norm(x, *rows, begin_norm_axis=axis, epsilon=epsilon)
    found, mean, slope = normalised(f, x, range(axis, rank), epsilon)
    out = f.elementwise_mul(found, scale)
    return (out if bias is None else f.elementwise_add(out, bias)), mean, slope


@operator("RMSNormalization")
def rms_norm(
    f: Any, x: Any, scale: Any, *, axis: int = -1, epsilon: float = 1e-5, stash_type: int = 1
) -> Any:
    rank, kind = f.ndim(x), f.type_of(x)
    wide = f.to(x, "float32") if kind == np.float16 and stash_type == 1 else x
    mean = f.summed(f.square(wide), range(axis % rank, rank), kind="mean")
    found = f.elementwise_mul(wide, f.rsqrt(f.scale(mean, scale=1.0, bias=epsilon)))
    return f.elementwise_mul(f.to(found, kind), scale)


@operator("LpNormalization")
def lp_norm(f: Any, x: Any, *, axis: int = -1, p: int = 2) -> Any:
    """What has no length stays as it is."""
    size = f.summed(f.abs(x) if p == 1 else f.square(x), [axis])
    size = f.elementwise_add(size, f.to(f.equal(size, f.like(0, x)), f.type_of(x)))
    return f.elementwise_div(x, size if p == 1 else f.sqrt(size))
