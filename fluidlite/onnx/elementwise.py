"""What NumPy's functions of elements are in ONNX: one of its operators, or a few."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .graph import OnnxGraph
from .tracing import NUMPY_FORMS, TracedArray, form_of
from .types import tensor_type

#: functions that ONNX has under another name
_SAME = {
    np.exp: "Exp",
    np.log: "Log",
    np.sqrt: "Sqrt",
    np.tanh: "Tanh",
    np.sin: "Sin",
    np.cos: "Cos",
    np.tan: "Tan",
    np.sinh: "Sinh",
    np.cosh: "Cosh",
    np.arcsin: "Asin",
    np.arccos: "Acos",
    np.arctan: "Atan",
    np.arcsinh: "Asinh",
    np.arccosh: "Acosh",
    np.arctanh: "Atanh",
    np.absolute: "Abs",
    np.negative: "Neg",
    np.floor: "Floor",
    np.ceil: "Ceil",
    np.rint: "Round",
    np.sign: "Sign",
    np.logical_not: "Not",
    np.reciprocal: "Reciprocal",
    np.add: "Add",
    np.subtract: "Sub",
    np.multiply: "Mul",
    np.true_divide: "Div",
    np.power: "Pow",
    np.less: "Less",
    np.less_equal: "LessOrEqual",
    np.greater: "Greater",
    np.greater_equal: "GreaterOrEqual",
    np.equal: "Equal",
}
#: functions of truth values
_TRUTHS = {np.logical_and: "And", np.logical_or: "Or", np.logical_xor: "Xor"}
_BITS = {
    np.bitwise_and: ("And", "BitwiseAnd"),
    np.bitwise_or: ("Or", "BitwiseOr"),
    np.bitwise_xor: ("Xor", "BitwiseXor"),
}
_OF_FLOATS = {np.true_divide, np.exp, np.log, np.sqrt, np.tanh, np.sin, np.cos}


def together(graph: OnnxGraph, *values: Any, floats: bool = False) -> list[Any]:
    """Values in the element type that NumPy computes with."""
    samples = [
        np.zeros((1,) * v.ndim, v.dtype) if isinstance(v, (TracedArray, np.ndarray)) else v
        for v in values
    ]
    dtype = np.result_type(*samples) if len(samples) > 1 else samples[0].dtype
    if floats and dtype.kind in "iub":
        dtype = np.dtype("float64")
    return [graph.like(v, dtype) for v in values]


def _same(function: Any, type: str) -> Any:
    def form(graph: OnnxGraph, *values: Any, **named: Any) -> Any:
        return graph.node(type, together(graph, *values, floats=function in _OF_FLOATS))

    return form


def _of_truths(type: str) -> Any:
    return lambda graph, *values: graph.node(type, [graph.like(v, bool) for v in values])


def _of_bits(types: tuple[str, str]) -> Any:
    def form(graph: OnnxGraph, x: Any, y: Any) -> Any:
        x, y = together(graph, x, y)
        return graph.node(types[x.dtype != bool], [x, y])

    return form


NUMPY_FORMS.update({function: _same(function, type) for function, type in _SAME.items()})
NUMPY_FORMS.update({function: _of_truths(type) for function, type in _TRUTHS.items()})
NUMPY_FORMS.update({function: _of_bits(types) for function, types in _BITS.items()})


NUMPY_FORMS.update(
    {
        np.maximum: lambda graph, x, y: _extreme(graph, "Max", x, y),
        np.minimum: lambda graph, x, y: _extreme(graph, "Min", x, y),
        np.not_equal: lambda graph, x, y: graph.Not(graph.node("Equal", together(graph, x, y))),
        np.invert: lambda graph, x: graph.Not(x) if x.dtype == bool else graph.BitwiseNot(x),
        np.isnan: lambda graph, x: graph.IsNaN(
            x if x.dtype.kind == "f" else graph.like(x, np.float32)
        ),
        np.isinf: lambda graph, x: graph.IsInf(
            x if x.dtype.kind == "f" else graph.like(x, np.float32)
        ),
        np.isfinite: lambda graph, x: graph.Not(graph.Or(np.isnan(x), np.isinf(x))),
        np.square: lambda graph, x: graph.Mul(x, x),
        np.positive: lambda graph, x: x,
        np.log2: lambda graph, x: graph.Div(graph.Log(x), graph.like(math.log(2), x.dtype)),
        np.log10: lambda graph, x: graph.Div(graph.Log(x), graph.like(math.log(10), x.dtype)),
        np.trunc: lambda graph, x: np.sign(x) * np.floor(np.abs(x)),
        np.copysign: lambda graph, x, y: np.where(np.less(y, 0), -np.abs(x), np.abs(x)),
        np.fmod: lambda graph, x, y: graph.node("Mod", together(graph, x, y), fmod=1),
    }
)


def _extreme(graph: OnnxGraph, type: str, x: Any, y: Any) -> Any:
    x, y = together(graph, x, y)
    if x.dtype.kind == "f" or x.dtype.itemsize >= 4:
        return graph.node(type, [x, y])
    # runtimes have no kernels for small integers
    wide = graph.node(type, [graph.like(v, np.int32) for v in (x, y)])
    return graph.Cast(wide, to=tensor_type(x.dtype))


@form_of(np.right_shift)
def _right_shift(graph: OnnxGraph, x: Any, places: Any) -> Any:
    return np.floor_divide(x, np.left_shift(np.ones((), x.dtype), places))


@form_of(np.expm1)
def _expm1(graph: OnnxGraph, x: Any) -> Any:
    # e^x - 1 loses the digits of a small x; tanh(x / 2) = (e^x - 1) / (e^x + 1) does not
    return np.tanh(x * 0.5) * (np.exp(x) + 1)


@form_of(np.log1p)
def _log1p(graph: OnnxGraph, x: Any) -> Any:
    near = graph.like(np.clip(x, -0.5, 1.0), x.dtype)
    exact = graph.Mul(graph.Atanh(near / (near + 2)), graph.like(2.0, x.dtype))
    return graph.Where(np.abs(x) < 0.5, exact, np.log(x + 1))


@form_of(np.logaddexp)
def _logaddexp(graph: OnnxGraph, x: Any, y: Any) -> Any:
    x, y = together(graph, x, y)
    gap = np.abs(np.subtract(x, y))
    gap = graph.Where(graph.IsNaN(gap), graph.like(0.0, gap.dtype), gap)  # of equal infinities
    gap.spec = np.subtract(x, y).spec
    return np.maximum(x, y) + np.log1p(np.exp(-gap))


@form_of(np.round)
def _round(graph: OnnxGraph, x: Any, decimals: int = 0) -> Any:
    return np.rint(x) if decimals == 0 else np.rint(x * 10.0**decimals) / 10.0**decimals


@form_of(np.remainder)
def _remainder(graph: OnnxGraph, x: Any, y: Any) -> Any:
    x, y = together(graph, x, y)
    if x.dtype.kind != "f":
        return graph.Mod(x, y)
    rest = np.fmod(x, y)
    other_side = np.logical_and(np.not_equal(rest, 0), np.not_equal(rest < 0, np.less(y, 0)))
    return np.where(other_side, rest + y, rest)


@form_of(np.floor_divide)
def _floor_divide(graph: OnnxGraph, x: Any, y: Any) -> Any:
    x, y = together(graph, x, y)
    if x.dtype.kind == "f":
        return np.rint(np.true_divide(np.subtract(x, np.remainder(x, y)), y))
    return graph.Div(graph.Sub(x, graph.Mod(x, y)), y)


@form_of(np.arctan2)
def _arctan2(graph: OnnxGraph, y: Any, x: Any) -> Any:
    y, x = together(graph, y, x)
    turned = np.where(np.less(y, 0), -math.pi, math.pi).astype(x.dtype)
    safe = np.where(np.equal(x, 0), np.ones((), x.dtype), x)
    slope = np.arctan(np.true_divide(y, safe))
    upright = np.sign(y) * (math.pi / 2)
    found = np.where(np.less(x, 0), slope + turned, slope)
    return np.where(np.equal(x, 0), upright, found)


def _of_numbers(chosen: Any) -> Callable[..., Any]:
    """The element that is a number, where the other one is none."""

    def form(graph: OnnxGraph, x: Any, y: Any) -> Any:
        x, y = together(graph, x, y)
        if x.dtype.kind != "f":
            return chosen(x, y)
        return np.where(np.isnan(x), y, np.where(np.isnan(y), x, chosen(x, y)))

    return form


form_of(np.fmax)(_of_numbers(np.maximum))
form_of(np.fmin)(_of_numbers(np.minimum))


@form_of(np.where)
def _where(graph: OnnxGraph, condition: Any, x: Any = None, y: Any = None) -> Any:
    x, y = together(graph, x, y)
    if x.dtype == bool:
        chosen = graph.Where(graph.like(condition, bool), *(graph.like(v, "uint8") for v in (x, y)))
        return graph.Cast(chosen, to=9)
    return graph.Where(graph.like(condition, bool), x, y)


@form_of(np.clip)
def _clip(graph: OnnxGraph, x: Any, a_min: Any = None, a_max: Any = None, **named: Any) -> Any:
    low, high = named.get("min", a_min), named.get("max", a_max)
    if low is not None:
        x = np.maximum(x, low)
    return x if high is None else np.minimum(x, high)
