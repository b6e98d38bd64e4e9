"""Element-wise operators with numbers, and those that only look at a value in another way."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..ground.dtypes import DType, Kind
from ..opdef.prepared import Prepared, Scratch, prepares
from ..opdef.spec import Spec, resolved, size_of
from .half import in_single, narrowed, widened
from .rows import total_of_rows

COPIED = 2048  #: elements up to which to copy takes less time than to make a view
_FLOATS = frozenset((DType.FP32, DType.FP64))
CONVERTED = 8192  #: elements that NumPy converts at a time


@prepares("scale")
def scale(op: Any, X: Spec, ScaleTensor: Spec | None) -> Prepared | None:
    """A product with a number, or a number added."""
    if ScaleTensor is not None or X.kind is not Kind.LOD_TENSOR or not X.shape:
        return None
    if X.dtype is DType.UINT8:  # -1 counts from its end
        return None
    factor, bias = (np.asarray(n, X.dtype.dtype) for n in (op.scale, op.bias))
    if op.bias and op.scale == 1.0:
        return Prepared(lambda x, _, out=None: np.add(x, bias, out=out), out=True, over=(0,))
    if op.bias:
        first, second = (bias, factor) if not op.bias_after_scale else (factor, bias)
        begin, end = (np.add, np.multiply) if not op.bias_after_scale else (np.multiply, np.add)

        def both(x: Any, _: Any, out: Any = None) -> Any:
            out = begin(x, first, out=out)
            return end(out, second, out=out)

        return Prepared(both, out=True, over=(0,))
    if op.scale == 1.0:
        return None
    return Prepared(lambda x, _, out=None: np.multiply(x, factor, out=out), out=True, over=(0,))


_ZEROS = 4096  #: elements of an array of zeros at most


@prepares("relu")
def relu(op: Any, X: Spec) -> Prepared | None:
    """The larger of X and zero: rows of zeros are faster than the number."""
    if not X.shape:
        return None
    if X.dtype is DType.FP16:  # as bits, of which the first is the sign
        return Prepared(_half_relu, out=True, over=(0,))
    shape: tuple[int, ...] = ()
    for n in reversed(X.shape):
        if size_of(shape) * n > _ZEROS:
            break
        shape = (n, *shape)
    rows, zero = np.zeros(shape, X.dtype.dtype), np.zeros((), X.dtype.dtype)

    def run(x: Any, out: Any = None) -> Any:
        # beside rows, an image with its channels last would be laid out anew
        return np.maximum(x, rows if x.flags.c_contiguous else zero, out=out)

    return Prepared(run, out=True, over=(0,))


def _half_relu(x: Any, out: Any = None) -> Any:
    out = np.empty_like(x) if out is None else out
    np.maximum(x.view(np.int16), np.int16(0), out=out.view(np.int16))
    return out


@prepares("leaky_relu")
@in_single
def leaky_relu(op: Any, X: Spec) -> Prepared | None:
    """The larger of X and alpha X."""
    if not X.shape or not X.dtype.is_float or not 0 < op.alpha <= 1:
        return None
    alpha = np.asarray(op.alpha, X.dtype.dtype)

    def run(x: Any, out: Any = None) -> Any:
        less = np.multiply(x, alpha, out=out)
        return np.maximum(x, less, out=less)

    return Prepared(run, out=True)


@prepares("leaky_relu_grad")
@in_single
def leaky_relu_grad(op: Any, Out: Spec, dOut: Spec | None) -> Prepared | None:
    """The cotangent, times alpha where Out is not above zero."""
    if not _of_one_kind(Out, dOut) or op.alpha < 0:
        return None
    dtype = Out.dtype.dtype
    more, least = np.asarray(1 - op.alpha, dtype), np.asarray(op.alpha, dtype)
    rises = np.greater_equal if op.rises_at_0 and op.alpha else np.greater

    def run(value: Any, g: Any, out: Any = None) -> Any:
        slope = rises(value, 0).astype(dtype)
        np.multiply(slope, more, out=slope)
        np.add(slope, least, out=slope)
        return np.multiply(g, slope, out=out)

    return Prepared(run, out=True, over=(0, 1), like=0)


@prepares("elementwise_pow")
@in_single
def elementwise_pow(op: Any, X: Spec, Y: Spec) -> Prepared | None:
    """X to the power of Y: where that is 2 or 1 everywhere, a product, or X."""
    if not X.dtype.is_float or X.dtype != Y.dtype or 0 in (*X.shape, *Y.shape) or not X.shape:
        return None
    if (op.axis != -1 and X.ndim != Y.ndim) or np.broadcast_shapes(X.shape, Y.shape) != X.shape:
        return None

    def run(x: Any, y: Any, out: Any = None) -> Any:
        least = np.minimum.reduce(y, None)
        if least == 2 == np.maximum.reduce(y, None):
            return np.multiply(x, x, out=out)
        if least == 1 == np.maximum.reduce(y, None):
            return np.positive(x, out=out)
        return np.power(x, y, out=out)

    return Prepared(run, out=True, over=(0,))


@prepares("relu6")
@in_single
def relu6(op: Any, X: Spec) -> Prepared | None:
    """X between zero and the threshold."""
    if not X.shape or not X.dtype.is_float:
        return None
    least, most = np.zeros((), X.dtype.dtype), np.asarray(op.threshold, X.dtype.dtype)

    def run(x: Any, out: Any = None) -> Any:
        return np.clip(x, least, most, out=out)

    return Prepared(run, out=True, over=(0,))


@prepares("relu6_grad")
@in_single
def relu6_grad(op: Any, Out: Spec, dOut: Spec | None) -> Prepared | None:
    """The cotangent where Out is between zero and the threshold."""
    if not _of_one_kind(Out, dOut):
        return None
    most = np.asarray(op.threshold, Out.dtype.dtype)

    def run(value: Any, g: Any, out: Any = None) -> Any:
        inside = np.greater(value, 0)
        np.logical_and(inside, np.less(value, most), out=inside)
        return np.multiply(g, inside, out=out)

    between = 2 * size_of(Out.shape) + CONVERTED * Out.dtype.dtype.itemsize
    return Prepared(run, out=True, over=(0, 1), like=0, between=between)


@prepares("cast")
def cast(op: Any, X: Spec) -> Prepared | None:
    """Another element type."""
    dtype = op.out_dtype.dtype
    if X.kind is not Kind.LOD_TENSOR or not X.shape or X.dtype is op.out_dtype:
        return None

    if (X.dtype, op.out_dtype) == (DType.FP16, DType.FP32):
        return Prepared(widened, out=True)
    if (X.dtype, op.out_dtype) == (DType.FP32, DType.FP16):
        return Prepared(narrowed, out=True)

    def converted(x: Any, out: Any = None) -> Any:
        if out is None:
            return x.astype(dtype)
        np.copyto(out, x, casting="unsafe")
        return out

    return Prepared(converted, out=True)


@prepares("sum")
def total(op: Any, X: list[Spec]) -> Prepared | None:
    """The sum of several values."""
    if any(x.kind is Kind.SELECTED_ROWS for x in X):
        return total_of_rows(X)
    if len(X) < 2 or not all(x.shape for x in X):
        return None

    def added(values: list[Any], out: Any = None) -> Any:
        found = np.add(values[0], values[1], out=out)
        for value in values[2:]:
            np.add(found, value, out=found)
        return found

    return Prepared(added, out=True)


@prepares("reshape")
def reshape(op: Any, X: Spec, Shape: Spec | None, ShapeTensor: Any) -> Prepared | None:
    """The same elements in another shape."""
    if Shape is not None or ShapeTensor:
        return None
    shape = resolved(op.shape, X.shape, op.exact)
    return Prepared(lambda x, *_: x.reshape(shape), quiet=True)


@prepares("reshape2")
def reshape2(op: Any, X: Spec, Shape: Spec | None, ShapeTensor: Any) -> Prepared | None:
    """The same elements in another shape, and nothing in the shape that they had."""
    if Shape is not None or ShapeTensor or X.kind is not Kind.LOD_TENSOR:
        return None
    shape, kept = resolved(op.shape, X.shape, op.exact), np.empty((0, *X.shape), X.dtype.dtype)
    return Prepared(lambda x, *_: (x.reshape(shape), kept), quiet=True)


@prepares("unsqueeze")
def unsqueeze(op: Any, X: Spec, AxesTensor: Spec | None, each: Any) -> Prepared | None:
    """The same elements in more dimensions."""
    if AxesTensor is not None or each:
        return None
    (shape,) = (spec.shape for spec in op.infer_outputs({"X": X}).values())
    return Prepared(lambda x, *_: x.reshape(shape), quiet=True)


@prepares("squeeze", "flatten")
def other_shape(op: Any, X: Spec) -> Prepared:
    """The same elements in another shape that follows from theirs."""
    shape = op.target(X.shape)
    return Prepared(lambda x: x.reshape(shape), quiet=True)


@prepares("pad")
def pad(op: Any, X: Spec) -> Prepared | None:
    """The same elements, and a number around them."""
    if X.kind is not Kind.LOD_TENSOR or min(op.paddings, default=0) < 0:
        return None
    pairs = list(zip(X.shape, op.paddings[::2], op.paddings[1::2], strict=True))
    shape = tuple(before + n + after for n, before, after in pairs)
    place = tuple(slice(before, before + n) for n, before, _ in pairs)
    dtype, value = X.dtype.dtype, op.pad_value

    def run(x: Any, out: Any = None) -> Any:
        out = np.empty(shape, dtype) if out is None else out
        out.fill(value)
        out[place] = x
        return out

    return Prepared(run, out=True)


@prepares("transpose2")
def transpose2(op: Any, X: Spec) -> Prepared | None:
    """Other dimensions first, and nothing in the shape that they had."""
    axes, kept = tuple(op.axis), np.empty((0, *X.shape), X.dtype.dtype)
    return Prepared(lambda x: (x.transpose(axes), kept), quiet=True)


@prepares("transpose")
def transpose(op: Any, X: Spec) -> Prepared:
    """Other dimensions first."""
    axes = tuple(op.axis)
    return Prepared(lambda x: x.transpose(axes), quiet=True)


@prepares("expand")
def expand(op: Any, X: Spec, ExpandTimes: Spec | None, each: Any) -> Prepared | None:
    """Repetition along dimensions of size 1: a view, but of few elements."""
    if ExpandTimes is not None or each or not X.shape:
        return None
    times = op.expand_times
    if any(n != 1 and t != 1 for n, t in zip(X.shape, times)):
        return None
    shape = tuple(n * t for n, t in zip(X.shape, times))
    if size_of(shape) <= COPIED:
        dtype = X.dtype.dtype

        def copied(x: Any, *_: Any) -> Any:
            out = np.empty(shape, dtype)
            out[...] = x
            return out

        return Prepared(copied)
    return Prepared(lambda x, *_: np.broadcast_to(x, shape), quiet=True)


@prepares("pow")
def pow(op: Any, X: Spec, FactorTensor: Spec | None) -> Prepared | None:
    """A small power, by the function that NumPy chooses for it."""
    function = {1.0: np.positive, 2.0: np.square}.get(op.factor)
    if FactorTensor is not None or function is None or not X.shape or X.dtype not in _FLOATS:
        return None
    return Prepared(lambda x, _, out=None: function(x, out=out), out=True, over=(0,))


@prepares("relu_grad")
@in_single
def relu_grad(op: Any, Out: Spec, dOut: Spec) -> Prepared | None:
    """The cotangent where Out is above zero."""
    if dOut is None or not Out.shape or dOut.shape != Out.shape or dOut.dtype != Out.dtype:
        return None

    def run(value: Any, g: Any, out: Any = None) -> Any:
        return np.multiply(g, np.greater(value, 0), out=out)

    converted = CONVERTED * Out.dtype.dtype.itemsize
    between = size_of(Out.shape) + converted  # the mask, and numbers from it
    return Prepared(run, out=True, over=(0, 1), like=0, between=between)


def _of_one_kind(Out: Spec, dOut: Spec | None) -> bool:
    """Whether a value and its cotangent may be worked on element by element."""
    return dOut is not None and bool(Out.shape) and dOut == Out and Out.dtype.is_float


@prepares("tanh_grad")
@in_single
def tanh_grad(op: Any, Out: Spec, dOut: Spec) -> Prepared | None:
    """dOut (1 - Out^2), in one array."""
    if not _of_one_kind(Out, dOut):
        return None
    one = np.ones((), Out.dtype.dtype)

    def run(value: Any, g: Any, out: Any = None) -> Any:
        out = np.multiply(value, value, out=out)
        np.subtract(one, out, out=out)
        return np.multiply(g, out, out=out)

    return Prepared(run, out=True, over=(0,), like=0)


@prepares("sigmoid_grad")
@in_single
def sigmoid_grad(op: Any, Out: Spec, dOut: Spec) -> Prepared | None:
    """dOut Out (1 - Out)."""
    if not _of_one_kind(Out, dOut):
        return None
    one = np.ones((), Out.dtype.dtype)

    def run(value: Any, g: Any, scratch: Any, out: Any = None) -> Any:
        rest = np.subtract(one, value, out=scratch)
        out = np.multiply(g, value, out=out)
        return np.multiply(out, rest, out=out)

    room = Scratch(Out.shape, Out.dtype.dtype)
    return Prepared(run, out=True, over=(1,), like=0, scratch=room)


@prepares("concat")
def concat(op: Any, X: list[Spec], AxisTensor: Spec | None) -> Prepared | None:
    """One after the other."""
    if AxisTensor is not None or any(x.kind is not Kind.LOD_TENSOR or not x.shape for x in X):
        return None
    if len({x.dtype for x in X}) > 1:
        return None
    axis = op.axis % X[0].ndim
    return Prepared(lambda parts, _, out=None: np.concatenate(parts, axis, out), out=True)


@prepares("split")
def split(op: Any, X: Spec, AxisTensor: Spec | None, Sections: Any) -> Prepared | None:
    """Parts: views."""
    if AxisTensor is not None or Sections or X.kind is not Kind.LOD_TENSOR or not X.shape:
        return None
    axis, begin, cuts = op.axis % X.ndim, 0, []
    for size in op.sizes(X.shape[axis], op.sections):
        cuts.append((slice(None),) * axis + (slice(begin, begin + size),))
        begin += size
    if len(cuts) == 1:
        return Prepared(lambda x, *_: x, quiet=True)
    return Prepared(lambda x, *_: tuple([x[cut] for cut in cuts]), quiet=True)


@prepares("slice")
def slice_(op: Any, Input: Spec, *tensors: Any) -> Prepared | None:
    """A part: a view."""
    if any(tensors) or Input.kind is not Kind.LOD_TENSOR or not Input.shape:
        return None
    cuts = tuple(op.cuts(Input.shape, op.starts, op.ends, (1,) * len(op.axes)))
    if not op.decrease_axis:
        return Prepared(lambda x, *_: x[cuts], quiet=True)
    shape = op.decreased(tuple(len(range(n)[c]) for c, n in zip(cuts, Input.shape)))
    return Prepared(lambda x, *_: x[cuts].reshape(shape), quiet=True)
