"""Images in other sizes, and read at other places."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...errors import UnsupportedError
from ..forms import operator
from .elementwise import rounded
from .gathering import gather_nd

# -- other sizes -----------------------------------------------------------------------------------


def source_places(mode: str, old: int, new: int, scale: float, region: tuple[float, float]) -> Any:
    """Where the new elements lie among the old ones, by a coordinate transformation."""
    at = np.arange(new, dtype="float64")
    if mode == "half_pixel":
        return (at + 0.5) / scale - 0.5
    if mode == "half_pixel_symmetric":
        moved = old / 2 * (1 - new / (scale * old))
        return moved + (at + 0.5) / scale - 0.5
    if mode == "pytorch_half_pixel":
        return (at + 0.5) / scale - 0.5 if new > 1 else np.full(new, -0.5)
    if mode == "align_corners":
        length = scale * old - 1
        return at * (old - 1) / length if length else np.zeros(new)
    if mode == "asymmetric":
        return at / scale
    if mode == "tf_half_pixel_for_nn":
        return (at + 0.5) / scale
    if mode == "tf_crop_and_resize":
        begin, end = region
        length = scale * (end - begin) * old
        if new > 1:
            return begin * (old - 1) + at * (end - begin) * (old - 1) / (new - 1)
        return np.full(new, 0.5 * (begin + end) * (old - 1)) + 0 * length
    raise UnsupportedError(f"the coordinate transformation {mode!r} is not known")


def _nearest(places: Any, mode: str) -> Any:
    if mode == "round_prefer_floor":
        return np.ceil(places - 0.5)
    if mode == "round_prefer_ceil":
        return np.floor(places + 0.5)
    if mode in ("floor", "simple"):
        return np.floor(places)
    if mode == "ceil":
        return np.ceil(places)
    raise UnsupportedError(f"the way {mode!r} to a nearest element is not known")


def _triangle(x: Any) -> Any:
    return np.clip(1 - np.abs(x), 0, None)


def _cubic(x: Any, a: float) -> Any:
    x = np.abs(x)
    near = (a + 2) * x**3 - (a + 3) * x**2 + 1
    far = a * x**3 - 5 * a * x**2 + 8 * a * x - 4 * a
    return np.where(x <= 1, near, np.where(x < 2, far, 0.0))


def weights(
    places: Any, old: int, kind: str, scale: float, *, cubic: float, exclude: bool, antialias: bool
) -> Any:
    """What each old element gives to each new one: [new, old]."""
    new = len(places)
    stretch = min(scale, 1.0) if antialias else 1.0
    reach = (1 if kind == "linear" else 2) / stretch
    count = 2 * math.ceil(reach) + 1
    if new * max(old, count) > 1 << 24:
        raise UnsupportedError(f"weights from size {old} to {new} are not written out")
    first = np.floor(places) - math.ceil(reach)
    taps = first[:, None] + np.arange(count + 1)
    beside = (taps - places[:, None]) * stretch
    weight = _triangle(beside) if kind == "linear" else _cubic(beside, cubic)
    if exclude:
        weight = np.where((taps < 0) | (taps >= old), 0.0, weight)
    if exclude or antialias:
        total = weight.sum(1, keepdims=True)
        weight = weight / np.where(total == 0, 1, total)
    found = np.zeros((new, old))
    rows = np.broadcast_to(np.arange(new)[:, None], taps.shape)
    np.add.at(found, (rows, np.clip(taps, 0, old - 1).astype(int)), weight)
    return found


@dataclass(frozen=True)
class Resizing:
    """Attributes that say how the elements of a tensor in another size follow from the old ones."""

    antialias: int = 0
    coordinate_transformation_mode: str = "half_pixel"
    cubic_coeff_a: float = -0.75
    exclude_outside: int = 0
    extrapolation_value: float = 0.0
    keep_aspect_ratio_policy: str = "stretch"
    mode: str = "nearest"
    nearest_mode: str = "round_prefer_floor"


def _resized_axis(
    f: Any, x: Any, axis: int, new: int, scale: float, region: tuple[float, float], how: Resizing
) -> Any:
    """A tensor in another size along a dimension."""
    old = f.known_sizes(x, [axis])[0]
    if not 0 < new <= 1 << 20:
        raise UnsupportedError(f"expected a size above 0 and below {1 << 20}, got {new}")
    places = source_places(how.coordinate_transformation_mode, old, new, scale, region)
    outside = None
    if how.coordinate_transformation_mode == "tf_crop_and_resize":
        outside = (places < 0) | (places > old - 1)
    if how.mode == "nearest":
        index = np.clip(_nearest(places, how.nearest_mode), 0, old - 1).astype("int64")
        out = f.index_select(x, index, dim=axis)
    else:
        matrix = weights(
            places,
            old,
            how.mode,
            scale,
            cubic=how.cubic_coeff_a,
            exclude=bool(how.exclude_outside),
            antialias=bool(how.antialias),
        )
        kind = f.type_of(x)
        wide = x if kind.kind == "f" else f.to(x, "float32")
        order = [*(i for i in range(f.ndim(x)) if i != axis), axis]
        out = f.matmul(f.transposed(wide, order), f.like(matrix.T, wide))
        out = f.transposed(out, [order.index(i) for i in range(f.ndim(x))])
        out = out if kind.kind == "f" else f.to(out, kind)
    if outside is not None and outside.any():
        shape = [-1 if i == axis else 1 for i in range(f.ndim(x))]
        kept = f.like(~outside.reshape(shape), x)
        beyond = f.like(outside.reshape(shape) * how.extrapolation_value, x)
        out = f.elementwise_add(f.elementwise_mul(out, kept), beyond)
    return out


@operator("Resize", fixed=["roi", "scales"])
def resize(
    f: Any,
    x: Any,
    roi: Any = None,
    scales: Any = None,
    sizes: Any = None,
    *,
    axes: Any = None,
    how: Resizing = Resizing(),
    opset: int,
) -> Any:
    if opset < 11:  # the second input is that of the scales, and places are those of old times
        roi, scales = None, roi
        how = replace(how, coordinate_transformation_mode="asymmetric", nearest_mode="floor")
    rank = f.ndim(x)
    axes = [axis % rank for axis in axes] if axes else list(range(rank))
    regions = [(0.0, 1.0)] * len(axes)
    if how.coordinate_transformation_mode == "tf_crop_and_resize":
        flat = [float(v) for v in np.asarray(f.needed(roi, "the region of Resize")).reshape(-1)]
        regions = list(zip(flat[: len(axes)], flat[len(axes) :]))
    target = _target(f, x, scales, sizes, axes, regions, how.keep_aspect_ratio_policy)
    out = x
    for axis, (new, scale), region in zip(axes, target, regions):
        if f.sizes(out)[axis] != new or scale != 1 or region != (0.0, 1.0):
            out = _resized_axis(f, out, axis, new, scale, region, how)
    return out


def _target(
    f: Any, x: Any, scales: Any, sizes: Any, axes: list[int], regions: Any, policy: str
) -> list[tuple[int, float]]:
    """The new size along each dimension, and the factor by which it grows."""
    old = f.sizes(x)
    if scales is not None and f.sizes(scales) != (0,):
        factors = [
            float(v) for v in np.asarray(f.needed(scales, "the scales of Resize")).reshape(-1)
        ]
        if not all(0 < v < 1e6 for v in factors):
            raise UnsupportedError(f"expected scales above 0, got {factors}")
        return [
            (-1 if old[axis] == -1 else math.floor(old[axis] * (end - begin) * v), v)
            if v != 1 or (begin, end) != (0, 1)
            else (old[axis], 1.0)
            for axis, v, (begin, end) in zip(axes, factors, regions)
        ]
    if sizes is None:
        raise UnsupportedError("expected scales or sizes, got neither")
    wanted = f.partial(sizes)
    if wanted is None:
        wanted = f.numbers(sizes, "the sizes of Resize")
    targets = []
    for axis, n in zip(axes, wanted):
        if n == -1 or n == old[axis]:
            targets.append((old[axis], 1.0))
        else:
            targets.append((n, n / f.known_sizes(x, [axis])[0]))
    if policy == "stretch":
        return targets
    every = [scale for _, scale in targets]
    scale = min(every) if policy == "not_larger" else max(every)
    return [(math.floor(scale * old[axis] + 0.5), scale) for axis in axes]


@operator("Upsample", fixed=["scales"], moved=["scales"])
def upsample(f: Any, x: Any, scales: Any, *, mode: str = "nearest") -> Any:
    return resize(f, x, scales, how=Resizing(mode=mode), opset=10)


# -- other places ----------------------------------------------------------------------------------


def _reflected(f: Any, at: Any, low: float, high: float) -> Any:
    """Places beyond the edges thrown back from them."""
    span = high - low
    if span <= 0:
        return f.scale(at, scale=0.0)
    away = f.abs(f.scale(at, scale=1.0, bias=-low))
    rest = f.remainder(away, f.like(2 * span, at))
    back = f.abs(f.scale(rest, scale=1.0, bias=-span))
    return f.scale(back, scale=-1.0, bias=span + low)


@operator("GridSample")
def grid_sample(
    f: Any,
    x: Any,
    grid: Any,
    *,
    align_corners: int = 0,
    mode: str = "linear",
    padding_mode: str = "zeros",
) -> Any:
    """Elements between those of an image, at places from -1 to 1 in each dimension."""
    rank = f.ndim(x) - 2
    sizes = f.known_sizes(x, range(2, rank + 2))
    lead = f.ndim(grid) - 1
    places = []
    for i, size in enumerate(sizes):  # the last dimension comes first
        at = f.dropped(f.cut(grid, lead, rank - 1 - i, rank - i), lead)
        if align_corners:
            at = f.scale(at, scale=(size - 1) / 2, bias=(size - 1) / 2)
        else:
            at = f.scale(at, scale=size / 2, bias=(size - 1) / 2)
        places.append(at)
    kind = {"bilinear": "linear", "bicubic": "cubic"}.get(mode, mode)
    images = f.transposed(x, [0, *range(2, rank + 2), 1])
    numbers = f.counted(x, 0, rank + 1, 0)
    at_edge = (padding_mode, bool(align_corners))
    total = None
    for parts in itertools.product(*(_taps(f, at, kind) for at in places)):
        index, weight = [], None
        for (at, w), size in zip(parts, sizes):
            at, inside = _within(f, at, size, *at_edge)
            index.append(at)
            for factor in (w, inside):
                if factor is not None:
                    weight = factor if weight is None else f.elementwise_mul(weight, factor)
        first = f.spread(numbers, index[0])
        rows = f.stack([first, *index], axis=-1)
        found = gather_nd(f, images, rows)
        if weight is not None:
            found = f.elementwise_mul(found, f.added(weight, f.ndim(weight)))
        total = found if total is None else f.elementwise_add(total, found)
    return f.transposed(total, [0, rank + 1, *range(1, rank + 1)])


def _taps(f: Any, at: Any, kind: str) -> list[tuple[Any, Any]]:
    """The elements beside a place along a dimension, with what each of them weighs."""
    if kind == "nearest":
        return [(rounded(f, at), None)]
    down = f.floor(at)
    rest = f.elementwise_sub(at, down)
    if kind == "linear":
        up = f.scale(down, scale=1.0, bias=1.0)
        return [(down, f.scale(rest, scale=-1.0, bias=1.0)), (up, rest)]
    if kind == "cubic":
        return [
            (f.scale(down, scale=1.0, bias=float(i)), _cubic_weight(f, rest, i))
            for i in range(-1, 3)
        ]
    raise UnsupportedError(f"the mode {kind!r} is not known")


def _cubic_weight(f: Any, rest: Any, i: int) -> Any:
    """The weight of the element ``i`` beyond the one below, of a cubic with the slope -0.75."""
    a = -0.75
    away = f.scale(rest, scale=1.0 if i <= 0 else -1.0, bias=float(-i if i <= 0 else i))
    square = f.square(away)
    cube = f.elementwise_mul(square, away)
    if i in (0, 1):
        parts = [(cube, a + 2, 1.0), (square, -(a + 3), 0.0)]
    else:
        parts = [(cube, a, -4 * a), (square, -5 * a, 0.0), (away, 8 * a, 0.0)]
    total = None
    for value, factor, bias in parts:
        term = f.scale(value, scale=factor, bias=bias)
        total = term if total is None else f.elementwise_add(total, term)
    return total


def _within(f: Any, at: Any, size: int, padding: str, corners: bool) -> tuple[Any, Any]:
    """A place within an image, and, where nothing lies around it, whether it was inside."""
    inside = None
    if padding == "zeros":
        inside = f.logical_and(
            f.greater_equal(at, f.like(0, at)), f.less_equal(at, f.like(size - 1, at))
        )
        inside = f.to(inside, f.type_of(at))
    elif padding == "reflection":
        low, high = (0.0, size - 1.0) if corners else (-0.5, size - 0.5)
        at = _reflected(f, at, low, high)
    at = f.clip(at, min=0.0, max=float(size - 1))
    return f.to(at, "int64"), inside
