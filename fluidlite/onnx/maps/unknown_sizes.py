"""Operators whose NumPy form asks for sizes, in ONNX where these are not known."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..elementwise import together
from ..graph import OnnxGraph
from ..rearranging import in_shape, joined, numbers, sizes_of, vector
from ..tracing import SizesNeeded
from ..writing import maps, spec_of


def length_of(known: Any, whole: Any, parts: Any) -> int:
    """How many numbers ``vector`` gives."""
    count = len(parts or known) if parts or whole is None else shape_of(whole)[0]
    if count == -1:
        raise SizesNeeded("how many dimensions there are follows from a shape that is not known")
    return int(count)


def shape_of(X: Any) -> Any:
    """The sizes of a value; -1 where one is not known."""
    return X.shape if isinstance(X, np.ndarray) else X.sizes


def is_known(X: Any, *given: Any) -> bool:
    """Whether the sizes of a value are known, and nothing else is given."""
    return -1 not in shape_of(X) and not any(g is not None for g in given)


@maps("expand")
def expand(graph: OnnxGraph, op: Any, X: Any, ExpandTimes: Any, expand_times_tensor: Any) -> Any:
    return graph.Tile(X, vector(graph, op.expand_times, ExpandTimes, expand_times_tensor))


@maps("tile")
def tile(graph: OnnxGraph, op: Any, X: Any, RepeatTimes: Any, repeat_times_tensor: Any) -> Any:
    if is_known(X, RepeatTimes, repeat_times_tensor):
        return NotImplemented
    times = op.repeat_times, RepeatTimes, repeat_times_tensor
    missing = length_of(*times) - X.ndim
    if missing > 0:
        X = graph.Unsqueeze(X, numbers(range(missing)))
    return graph.Tile(X, joined(graph, numbers([1] * -missing), vector(graph, *times)))


def stretched(graph: OnnxGraph, X: Any, shape: Any) -> Any:
    """X in a shape, in which -1 stands for the size that X has."""
    if isinstance(shape, np.ndarray):
        return graph.Expand(X, np.where(shape == -1, 1, shape))
    graph.checks.append("that a shape stretches to another one is not checked")
    return graph.Expand(X, graph.Where(graph.Equal(shape, numbers([-1])), numbers([1]), shape))


@maps("expand_v2")
def expand_v2(graph: OnnxGraph, op: Any, X: Any, Shape: Any, expand_shapes_tensor: Any) -> Any:
    if is_known(X, Shape, expand_shapes_tensor):
        return NotImplemented
    return stretched(graph, X, vector(graph, op.shape, Shape, expand_shapes_tensor))


@maps("expand_as_v2")
def expand_as_v2(graph: OnnxGraph, op: Any, X: Any, Y: Any) -> Any:
    if is_known(X) and (Y is None or is_known(Y)):
        return NotImplemented
    if Y is None:
        return stretched(graph, X, numbers(op.target_shape))
    return graph.Expand(X, sizes_of(graph, Y, 0, Y.ndim))


@maps("masked_select")
def masked_select(graph: OnnxGraph, op: Any, X: Any, Mask: Any) -> Any:
    if is_known(X) and is_known(Mask):
        return NotImplemented
    shapes = graph.Shape(X), graph.Shape(Mask)
    rows = [
        graph.Reshape(graph.Expand(v, shape), numbers([-1]))
        for v, shape in zip((X, Mask), shapes[::-1])
    ]
    return graph.Compress(*rows, axis=0)


@maps("repeat_interleave")
def repeat_interleave(graph: OnnxGraph, op: Any, X: Any, RepeatsTensor: Any) -> Any:
    axis = op.dim % X.ndim
    size = sizes_of(graph, X, axis, axis + 1)
    if RepeatsTensor is None:
        if is_known(X):
            return NotImplemented
        times = [1] * (X.ndim + 1)
        times[axis + 1] = op.Repeats
        tiles = graph.Tile(graph.Unsqueeze(X, numbers([axis + 1])), numbers(times))
        ends = sizes_of(graph, X, 0, axis), sizes_of(graph, X, axis + 1, X.ndim)
        return in_shape(graph, tiles, ends[0], graph.Mul(size, numbers([op.Repeats])), ends[1])
    if not X.ndim or (is_known(X) and isinstance(RepeatsTensor, np.ndarray)):
        return NotImplemented
    ends = graph.CumSum(graph.Expand(graph.like(RepeatsTensor, np.int64), size), np.array(0))
    count = graph.Reshape(
        graph.ReduceMax(graph.node("Concat", [numbers([0]), ends], axis=0)), numbers([])
    )
    places = graph.Unsqueeze(graph.Range(np.array(0), count, np.array(1)), numbers([1]))
    passed = graph.Cast(graph.LessOrEqual(graph.Unsqueeze(ends, numbers([0])), places), to=7)
    return graph.Gather(X, graph.ReduceSum(passed, numbers([1]), keepdims=0), axis=axis)


@maps("unbind", "unstack")
def unbind(graph: OnnxGraph, op: Any, X: Any) -> Any:
    axis = op.axis % X.ndim
    if X.sizes[axis] == -1:
        raise SizesNeeded("there is a result for each slice of a dimension")
    return [graph.Gather(X, np.array(i), axis=axis) for i in range(X.sizes[axis])]


@maps("einsum")
def einsum(graph: OnnxGraph, op: Any, Operands: Any) -> Any:
    if all(is_known(operand) for operand in Operands):
        return NotImplemented
    names, result = op.read(spec_of(Operands))
    pairs = [list(zip(indices, shape_of(operand))) for indices, operand in zip(names, Operands)]
    wide = {name for each in pairs for name, size in each if size != 1}
    terms, factors = [], []
    for each, operand in zip(pairs, together(graph, *Operands)):
        # sizes of 1 that stretch are left out
        gone = [i for i, (name, size) in enumerate(each) if size == 1 and name in wide]
        terms.append("".join(name for i, (name, _) in enumerate(each) if i not in gone))
        factors.append(graph.Squeeze(operand, numbers(gone)) if gone else operand)
    equation = f"{','.join(terms)}->{result}"
    return graph.node("Einsum", factors, equation=equation), None, None
