"""The functions that are methods of tensors, too; and those that write in place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from . import arithmetic, elementary, reduction, selection, shaping


class Methods:
    """Functions whose first argument is the tensor."""

    add = arithmetic.add
    subtract = arithmetic.subtract
    multiply = arithmetic.multiply
    divide = arithmetic.divide
    floor_divide = arithmetic.floor_divide
    remainder = arithmetic.remainder
    mod = arithmetic.remainder
    floor_mod = arithmetic.remainder
    pow = arithmetic.pow
    maximum = arithmetic.maximum
    minimum = arithmetic.minimum
    atan2 = arithmetic.atan2
    matmul = arithmetic.matmul
    mm = arithmetic.matmul
    bmm = arithmetic.matmul
    mv = arithmetic.matmul
    dot = arithmetic.dot
    outer = arithmetic.outer
    lerp = arithmetic.lerp
    equal = arithmetic.equal
    not_equal = arithmetic.not_equal
    less_than = arithmetic.less_than
    less_equal = arithmetic.less_equal
    greater_than = arithmetic.greater_than
    greater_equal = arithmetic.greater_equal
    logical_and = arithmetic.logical_and
    logical_or = arithmetic.logical_or
    logical_xor = arithmetic.logical_xor
    logical_not = arithmetic.logical_not
    isclose = arithmetic.isclose
    allclose = arithmetic.allclose
    equal_all = arithmetic.equal_all

    exp = elementary.exp
    expm1 = elementary.expm1
    log = elementary.log
    log2 = elementary.log2
    log10 = elementary.log10
    log1p = elementary.log1p
    sqrt = elementary.sqrt
    rsqrt = elementary.rsqrt
    square = elementary.square
    reciprocal = elementary.reciprocal
    sin = elementary.sin
    cos = elementary.cos
    tan = elementary.tan
    asin = elementary.asin
    acos = elementary.acos
    atan = elementary.atan
    sinh = elementary.sinh
    cosh = elementary.cosh
    tanh = elementary.tanh
    erf = elementary.erf
    sigmoid = elementary.sigmoid
    floor = elementary.floor
    ceil = elementary.ceil
    round = elementary.round
    trunc = elementary.trunc
    abs = elementary.abs
    sign = elementary.sign
    neg = elementary.neg
    clip = elementary.clip
    scale = elementary.scale
    isfinite = elementary.isfinite
    isnan = elementary.isnan
    isinf = elementary.isinf
    cast = elementary.cast
    astype = elementary.cast
    clone = elementary.clone

    sum = reduction.sum
    mean = reduction.mean
    max = reduction.max
    min = reduction.min
    amax = reduction.amax
    amin = reduction.amin
    prod = reduction.prod
    all = reduction.all
    any = reduction.any
    var = reduction.var
    std = reduction.std
    logsumexp = reduction.logsumexp
    norm = reduction.norm
    dist = reduction.dist
    cumsum = reduction.cumsum
    cumprod = reduction.cumprod
    median = reduction.median
    argmax = reduction.argmax
    argmin = reduction.argmin
    count_nonzero = reduction.count_nonzero

    reshape = shaping.reshape
    flatten = shaping.flatten
    squeeze = shaping.squeeze
    unsqueeze = shaping.unsqueeze
    transpose = shaping.transpose
    t = shaping.t
    moveaxis = shaping.moveaxis
    swapaxes = shaping.swapaxes
    split = shaping.split
    chunk = shaping.chunk
    unstack = shaping.unstack
    unbind = shaping.unbind
    expand = shaping.expand
    expand_as = shaping.expand_as
    broadcast_to = shaping.broadcast_to
    tile = shaping.tile
    flip = shaping.flip
    roll = shaping.roll
    tril = shaping.tril
    triu = shaping.triu
    repeat_interleave = shaping.repeat_interleave
    numel = shaping.numel

    gather = selection.gather
    gather_nd = selection.gather_nd
    index_select = selection.index_select
    index_sample = selection.index_sample
    take_along_axis = selection.take_along_axis
    put_along_axis = selection.put_along_axis
    scatter = selection.scatter
    scatter_nd_add = selection.scatter_nd_add
    masked_select = selection.masked_select
    masked_fill = selection.masked_fill
    where = selection.where
    nonzero = selection.nonzero
    sort = selection.sort
    argsort = selection.argsort
    topk = selection.topk
    unique = selection.unique


class Writing:
    """Functions that write their result in the place of the tensor, and return it."""

    write: Callable[[Any], Any]

    def add_(self, y: Any) -> Any:
        """Add to the tensor in place."""
        return self.write(lambda old: arithmetic.add(old, y))

    def subtract_(self, y: Any) -> Any:
        """Subtract from the tensor in place."""
        return self.write(lambda old: arithmetic.subtract(old, y))

    def multiply_(self, y: Any) -> Any:
        """Multiply the tensor in place."""
        return self.write(lambda old: arithmetic.multiply(old, y))

    def divide_(self, y: Any) -> Any:
        """Divide the tensor in place."""
        return self.write(lambda old: arithmetic.divide(old, y))

    def scale_(self, scale: Any = 1.0, bias: float = 0.0, bias_after_scale: bool = True) -> Any:
        """Scale the tensor in place; see ``scale``."""
        return self.write(lambda old: elementary.scale(old, scale, bias, bias_after_scale))

    def clip_(self, min: Any = None, max: Any = None) -> Any:
        """Keep the tensor in [min, max], in place."""
        return self.write(lambda old: elementary.clip(old, min, max))

    def exp_(self) -> Any:
        """e to the power of the tensor, in place."""
        return self.write(elementary.exp)

    def sqrt_(self) -> Any:
        """The square root, in place."""
        return self.write(elementary.sqrt)

    def rsqrt_(self) -> Any:
        """1 over the square root, in place."""
        return self.write(elementary.rsqrt)

    def reciprocal_(self) -> Any:
        """1 over the tensor, in place."""
        return self.write(elementary.reciprocal)

    def tanh_(self) -> Any:
        """The hyperbolic tangent, in place."""
        return self.write(elementary.tanh)

    def floor_(self) -> Any:
        """Round down in place."""
        return self.write(elementary.floor)

    def ceil_(self) -> Any:
        """Round up in place."""
        return self.write(elementary.ceil)

    def round_(self) -> Any:
        """Round in place."""
        return self.write(elementary.round)

    def reshape_(self, shape: Any, *more: Any) -> Any:
        """Change the shape in place."""
        return self.write_shape(lambda old: shaping.reshape(old, shape, *more))

    write_shape: Callable[[Any], Any]

    def zero_(self) -> Any:
        """Make all elements 0, in place."""
        return self.fill_(0)

    def fill_(self, value: Any) -> Any:
        """Make all elements one number, in place."""

        def filled(old: Any) -> Any:
            return old.results(np.full(old.array.shape, value, old.array.dtype))

        return self.write(filled)

    def masked_fill_(self, mask: Any, value: Any) -> Any:
        """Write a number where a mask holds."""
        return self.write(lambda old: selection.masked_fill(old, mask, value))

    def scatter_(self, index: Any, updates: Any, overwrite: bool = True) -> Any:
        """Replace some rows in place; see ``scatter``."""
        return self.write(lambda old: selection.scatter(old, index, updates, overwrite))

    def squeeze_(self, axis: Any = None) -> Any:
        """Drop dimensions of size 1, in place."""
        return self.write_shape(lambda old: shaping.squeeze(old, axis))

    def unsqueeze_(self, axis: Any) -> Any:
        """Insert dimensions of size 1, in place."""
        return self.write_shape(lambda old: shaping.unsqueeze(old, axis))

    def flatten_(self, start_axis: int = 0, stop_axis: int = -1) -> Any:
        """Make some dimensions one, in place."""
        return self.write_shape(lambda old: shaping.flatten(old, start_axis, stop_axis))
