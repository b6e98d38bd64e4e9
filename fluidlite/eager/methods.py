"""The functions that are methods of tensors, too."""

from __future__ import annotations

from typing import ClassVar

from ..functions import (
    arithmetic,
    composed,
    counting,
    diagonals,
    elementary,
    reduction,
    selection,
    shaping,
)
from ..ground.tracebacks import quick_api_boundary
from .layering import EagerLayer


@quick_api_boundary
class SharedMethods:
    """Functions whose first argument is the tensor, and which mean the same in all spellings."""

    #: the interpreter of layers that are called with such tensors
    layer: ClassVar[type[EagerLayer]] = EagerLayer
    #: as of variables: element type and shape are known
    has_dtype: ClassVar[bool] = True
    has_shape: ClassVar[bool] = True

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
    dot = arithmetic.dot
    not_equal = arithmetic.not_equal
    less_than = arithmetic.less_than
    less_equal = arithmetic.less_equal
    greater_than = arithmetic.greater_than
    greater_equal = arithmetic.greater_equal
    logical_and = arithmetic.logical_and
    logical_or = arithmetic.logical_or
    logical_xor = arithmetic.logical_xor
    logical_not = arithmetic.logical_not
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
    scale = elementary.scale
    isfinite = elementary.isfinite
    isnan = elementary.isnan
    isinf = elementary.isinf
    cast = elementary.cast
    astype = elementary.cast
    clone = elementary.clone

    dist = reduction.dist

    moveaxis = shaping.moveaxis
    unstack = shaping.unstack
    expand_as = shaping.expand_as

    gather_nd = selection.gather_nd
    index_sample = selection.index_sample
    take_along_axis = selection.take_along_axis
    put_along_axis = selection.put_along_axis
    scatter_nd_add = selection.scatter_nd_add
    nonzero = selection.nonzero

    frac = composed.frac
    sgn = composed.sgn
    deg2rad = composed.deg2rad
    rad2deg = composed.rad2deg
    logit = composed.logit
    stanh = composed.stanh
    logaddexp = composed.logaddexp
    hypot = composed.hypot
    fmax = composed.fmax
    fmin = composed.fmin
    nan_to_num = composed.nan_to_num
    nansum = composed.nansum
    nanmean = composed.nanmean
    diff = composed.diff
    tensordot = composed.tensordot
    kron = composed.kron
    bitwise_and = composed.bitwise_and
    bitwise_or = composed.bitwise_or
    bitwise_xor = composed.bitwise_xor
    bitwise_not = composed.bitwise_not

    diag_embed = diagonals.diag_embed
    diagflat = diagonals.diagflat
    rot90 = diagonals.rot90

    histogram = counting.histogram
    bucketize = counting.bucketize
    unique_consecutive = counting.unique_consecutive
    cummax = counting.cummax
    cummin = counting.cummin
    multinomial = counting.multinomial
    index_put = counting.index_put


@quick_api_boundary
class Methods(SharedMethods):
    """All of paddle 2's; OneFlow has others of some names, or none."""

    add = arithmetic.add
    mm = arithmetic.matmul
    bmm = arithmetic.matmul
    mv = arithmetic.matmul
    outer = arithmetic.outer
    lerp = arithmetic.lerp
    equal = arithmetic.equal
    isclose = arithmetic.isclose
    allclose = arithmetic.allclose
    is_empty = arithmetic.is_empty

    clip = elementary.clip

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
    swapaxes = shaping.swapaxes
    split = shaping.split
    chunk = shaping.chunk
    unbind = shaping.unbind
    expand = shaping.expand
    broadcast_to = shaping.broadcast_to
    tile = shaping.tile
    flip = shaping.flip
    roll = shaping.roll
    tril = shaping.tril
    triu = shaping.triu
    repeat_interleave = shaping.repeat_interleave
    numel = shaping.numel

    gather = selection.gather
    index_select = selection.index_select
    scatter = selection.scatter
    masked_select = selection.masked_select
    masked_fill = selection.masked_fill
    where = selection.where
    sort = selection.sort
    argsort = selection.argsort
    topk = selection.topk
    unique = selection.unique

    asinh = composed.asinh
    acosh = composed.acosh
    atanh = composed.atanh
    inner = composed.inner
    addmm = composed.addmm
    cross = composed.cross

    diagonal = diagonals.diagonal
    trace = diagonals.trace
    view = diagonals.view
    view_as = diagonals.view_as
    unflatten = diagonals.unflatten
    vsplit = diagonals.vsplit

    bincount = counting.bincount
    kthvalue = counting.kthvalue
    quantile = counting.quantile
    index_add = counting.index_add
    index_fill = counting.index_fill
    take = counting.take
