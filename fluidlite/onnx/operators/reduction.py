"""Sums, extremes and norms along dimensions; places of extremes; running sums."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..building import need_room
from ..forms import operator
from .elementwise import absolute, highest, is_float, lowest


def _dims(f: Any, x: Any, axes: Any, noop_with_empty_axes: int) -> list[int] | None:
    """The dimensions of a reduction; None where it does nothing."""
    dims = [] if axes is None else f.numbers(axes, "the axes of a reduction")
    if not dims:
        return None if noop_with_empty_axes else list(range(f.ndim(x)))
    return dims


def _reduced(f: Any, x: Any, dims: list[int], keepdims: int, kind: str) -> Any:
    """A reduction; along no element it is what the standard says."""
    rank, sizes = f.ndim(x), f.sizes(x)
    dims = sorted({axis % max(rank, 1) for axis in dims}) if rank else []
    if not any(sizes[axis] == 0 for axis in dims):
        if kind in ("max", "min") and f.type_of(x).kind == "b":
            return f.to(f.summed(f.to(x, "int32"), dims, bool(keepdims), kind), bool)
        return f.summed(x, dims, bool(keepdims), kind)
    shape = [1 if i in dims else n for i, n in enumerate(sizes) if keepdims or i not in dims]
    of = {"max": lowest, "min": highest, "sum": lambda _: 0, "prod": lambda _: 1}
    none = of[kind](f.type_of(x)) if kind in of else np.nan
    f.known_sizes(x, [i for i in range(rank) if i not in dims])
    need_room(*shape)
    return np.full(shape, none, f.type_of(x))


def _reduction(build: Callable[..., Any]) -> Callable[..., Any]:
    def form(
        f: Any, x: Any, axes: Any = None, *, keepdims: int = 1, noop_with_empty_axes: int = 0
    ) -> Any:
        dims = _dims(f, x, axes, noop_with_empty_axes)
        return build(f, x, [] if dims is None else dims, keepdims)

    return form


def _plain(kind: str, of: Callable[[Any, Any], Any] = lambda f, x: x) -> Callable[..., Any]:
    return lambda f, x, dims, keepdims: _reduced(f, of(f, x), dims, keepdims, kind)


_sum_square = _plain("sum", lambda f, x: f.elementwise_mul(x, x))


def _l2(f: Any, x: Any, dims: list[int], keepdims: int) -> Any:
    kind = f.type_of(x)
    total = _sum_square(f, x if is_float(f, x) else f.to(x, "float64"), dims, keepdims)
    return f.to(f.sqrt(total), kind)


def _log_sum_exp(f: Any, x: Any, dims: list[int], keepdims: int) -> Any:
    if any(f.sizes(x)[axis] == 0 for axis in dims):
        return f.log(_reduced(f, f.exp(x), dims, keepdims, "sum"))
    top = _reduced(f, x, dims, 1, "max")
    total = f.log(_reduced(f, f.exp(f.elementwise_sub(x, top)), dims, 1, "sum"))
    out = f.elementwise_add(total, top)
    return out if keepdims or not dims else f.dropped(out, *dims)


for _type, _build in {
    **{kind: _plain(kind.lower()) for kind in ("Sum", "Mean", "Max", "Min", "Prod")},
    "L1": _plain("sum", absolute),
    "L2": _l2,
    "SumSquare": _sum_square,
    "LogSum": lambda f, x, dims, keepdims: f.log(_reduced(f, x, dims, keepdims, "sum")),
    "LogSumExp": _log_sum_exp,
}.items():
    operator(f"Reduce{_type}", moved=["axes"])(_reduction(_build))


def _place(name: str) -> Callable[..., Any]:
    def build(
        f: Any, x: Any, *, axis: int = 0, keepdims: int = 1, select_last_index: int = 0
    ) -> Any:
        if select_last_index:
            size = f.known_sizes(x, [axis])[0]
            found = getattr(f, name)(f.reverse(x, axis=[axis]), axis=axis, keepdims=bool(keepdims))
            return f.elementwise_sub(np.array(size - 1, "int64"), found)
        return getattr(f, name)(x, axis=axis, keepdims=bool(keepdims))

    return build


operator("ArgMax")(_place("arg_max"))
operator("ArgMin")(_place("arg_min"))


@operator("CumSum")
def cumsum(f: Any, x: Any, axis: Any, *, exclusive: int = 0, reverse: int = 0) -> Any:
    at = int(f.number(axis, "the axis of CumSum"))
    return f.cumsum(x, axis=at, exclusive=bool(exclusive), reverse=bool(reverse))


@operator("CumProd")
def cumprod(f: Any, x: Any, axis: Any, *, exclusive: int = 0, reverse: int = 0) -> Any:
    """The products of the first elements, one after the other."""
    at = int(f.number(axis, "the axis of CumProd")) % f.ndim(x)
    count = f.known_sizes(x, [at])[0]
    need_room(count, most=4096)
    parts = [f.cut(x, at, i, i + 1) for i in range(count)]
    parts = parts[::-1] if reverse else parts
    running, products = f.elementwise_add(f.elementwise_sub(parts[0], parts[0]), f.like(1, x)), []
    for part in parts:
        after = f.elementwise_mul(running, part)
        products.append(running if exclusive else after)
        running = after
    return f.concat(products[::-1] if reverse else products, axis=at)
