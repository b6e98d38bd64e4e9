# ruff: noqa: I001 - lists of names are filled by hand
"""The functions that are methods of tensors, too."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar, Final, TypeAlias

from ..functions.arithmetic import (
    add, allclose, atan2, bmm, dot, equal, equal_all, floor_divide, greater_equal,
    greater_than, is_empty, isclose, lerp, less_equal, less_than, logical_and, logical_not,
    logical_or, logical_xor, matmul, maximum, minimum, mm, multiply, mv, not_equal, outer, pow,
    remainder, subtract,
)  # fmt: skip
from ..functions.complex_parts import angle, as_complex, as_real, conj, imag, polar, real
from ..functions.composed import (
    acosh, add_n, addmm, asinh, atanh, bitwise_and, bitwise_not, bitwise_or, bitwise_xor, cross,
    deg2rad, diff, fmax, fmin, frac, hypot, inner, kron, logaddexp, logit, nan_to_num,
    nanmean, nansum, rad2deg, sgn, stanh, tensordot,
)  # fmt: skip
from ..functions.counting import (
    bincount, bucketize, cummax, cummin, histogram, index_add, index_fill, index_put,
    kthvalue, multinomial, quantile, take, unique_consecutive,
)  # fmt: skip
from ..functions.diagonals import (
    diag, diag_embed, diagflat, rot90, trace, vsplit,
)  # fmt: skip
from ..functions.distances import cdist, renorm
from ..functions.elementary import (
    abs, acos, asin, atan, cast, ceil, clip, clone, cos, cosh, erf, exp, expm1, floor, increment,
    isfinite, isinf, isnan, log, log10, log1p, log2, neg, reciprocal, round, rsqrt, scale,
    sigmoid, sign, sin, sinh, sqrt, square, tan, tanh, trunc,
)  # fmt: skip
from ..functions.linear_algebra import (
    cholesky, cholesky_solve, cond, corrcoef, cov, eig, eigvals, eigvalsh, householder_product,
    inverse, lstsq, lu, lu_unpack, matrix_power, multi_dot, pca_lowrank, pinv, qr, solve,
)  # fmt: skip
from ..functions.noise import cauchy_like, geometric_like
from ..functions.numeric import (
    combinations, cumulative_trapezoid, divide, frexp, gcd, heaviside, lcm, ldexp, logcumsumexp,
    nextafter, trapezoid, vander,
)  # fmt: skip
from ..functions.quantiles import mode, nanmedian, nanquantile
from ..functions.reduction import (
    all, amax, amin, any, argmax, argmin, count_nonzero, cumprod, cumsum, dist, logsumexp,
    max, mean, median, min, norm, prod, std, sum, var,
)  # fmt: skip
from ..functions.selection import (
    argsort, gather, gather_nd, index_sample, index_select, masked_fill, masked_select,
    nonzero, put_along_axis, scatter, scatter_nd, scatter_nd_add, sort, take_along_axis, topk,
    unique, where,
)  # fmt: skip
from ..functions.shaping import (
    broadcast_shape, broadcast_tensors, broadcast_to, chunk, concat, expand, expand_as,
    flip, numel, rank, repeat_interleave, roll, split, stack, tile, tril, triu, unstack,
)  # fmt: skip
from ..functions.signals import istft, stft
from ..functions.slices import (
    diagonal_scatter, fill_diagonal_tensor, multiplex, reverse, select_scatter, shard_index,
)  # fmt: skip
from ..functions.special import (
    digamma, erfinv, i0, i0e, i1, i1e, lgamma, multigammaln, polygamma,
)  # fmt: skip
from ..functions.views import (
    as_strided, atleast_1d, atleast_2d, atleast_3d, diagonal, flatten, moveaxis, reshape,
    slice, squeeze, strided_slice, swapaxes, t, transpose, unbind, unflatten, unfold,
    unsqueeze, view, view_as,
)  # fmt: skip
from ..ground.tracebacks import quick_api_boundary
from .inplace import in_place, writes_in_place
from .layering import EagerLayer

if TYPE_CHECKING:
    from .tensor import Tensor

    #: what is one operator: checkers would not give the tensor to a function of its exact type
    Function: TypeAlias = Callable[..., Tensor]


@quick_api_boundary
class SharedMethods:
    """Functions whose first argument is the tensor, and which mean the same in all spellings."""

    #: the interpreter of layers that are called with such tensors
    layer: ClassVar[type[EagerLayer]] = EagerLayer
    #: as of variables: element type and shape are known
    has_dtype: ClassVar[bool] = True
    has_shape: ClassVar[bool] = True

    subtract: ClassVar[Function] = subtract
    multiply: ClassVar[Function] = multiply
    divide = divide
    floor_divide: ClassVar[Function] = floor_divide
    remainder: ClassVar[Function] = remainder
    mod: ClassVar[Function] = remainder
    floor_mod: ClassVar[Function] = remainder
    pow = pow
    maximum: ClassVar[Function] = maximum
    minimum: ClassVar[Function] = minimum
    atan2: ClassVar[Function] = atan2
    matmul = matmul
    dot = dot
    not_equal: ClassVar[Function] = not_equal
    less_than: ClassVar[Function] = less_than
    less_equal: ClassVar[Function] = less_equal
    greater_than: ClassVar[Function] = greater_than
    greater_equal: ClassVar[Function] = greater_equal
    logical_and: ClassVar[Function] = logical_and
    logical_or: ClassVar[Function] = logical_or
    logical_xor: ClassVar[Function] = logical_xor
    logical_not = logical_not
    equal_all = equal_all

    exp = exp
    expm1 = expm1
    log = log
    log2 = log2
    log10 = log10
    log1p = log1p
    sqrt = sqrt
    rsqrt = rsqrt
    square = square
    reciprocal = reciprocal
    sin = sin
    cos = cos
    tan = tan
    asin = asin
    acos = acos
    atan = atan
    sinh = sinh
    cosh = cosh
    tanh = tanh
    erf = erf
    sigmoid = sigmoid
    floor = floor
    ceil = ceil
    round = round
    trunc: ClassVar[Function] = trunc
    abs = abs
    sign = sign
    neg = neg
    scale = scale
    isfinite = isfinite
    isnan = isnan
    isinf = isinf
    cast = cast
    astype = cast
    clone = clone

    dist = dist

    moveaxis = moveaxis
    unstack = unstack

    gather_nd = gather_nd
    index_sample = index_sample
    take_along_axis = take_along_axis
    put_along_axis = put_along_axis
    scatter_nd_add = scatter_nd_add
    nonzero = nonzero

    frac = frac
    sgn = sgn
    real = real
    imag = imag
    conj = conj
    angle = angle
    as_complex = as_complex
    as_real = as_real
    polar = polar
    stft = stft
    istft = istft
    deg2rad = deg2rad
    rad2deg = rad2deg
    logit = logit
    stanh = stanh
    logaddexp = logaddexp
    hypot = hypot
    fmax = fmax
    fmin = fmin
    nan_to_num = nan_to_num
    nansum = nansum
    nanmean = nanmean
    diff = diff
    tensordot = tensordot
    kron = kron
    bitwise_and = bitwise_and
    bitwise_or = bitwise_or
    bitwise_xor = bitwise_xor
    bitwise_not = bitwise_not

    diag_embed = diag_embed
    diagflat = diagflat
    rot90 = rot90

    histogram = histogram
    bucketize = bucketize
    unique_consecutive = unique_consecutive
    cummax = cummax
    cummin = cummin
    multinomial = multinomial
    index_put = index_put


@quick_api_boundary
@writes_in_place
class Methods(SharedMethods):
    """All of paddle 2's; OneFlow has others of some names, or none."""

    add: ClassVar[Function] = add
    mm = mm
    bmm = bmm
    mv = mv
    outer = outer
    lerp = lerp
    equal: ClassVar[Function] = equal
    isclose = isclose
    allclose = allclose
    is_empty = is_empty

    clip = clip

    sum = sum
    mean = mean
    max = max
    min = min
    amax = amax
    amin = amin
    prod = prod
    all = all
    any = any
    var = var
    std = std
    logsumexp = logsumexp
    norm = norm
    cumsum = cumsum
    cumprod = cumprod
    median = median
    argmax = argmax
    argmin = argmin
    count_nonzero = count_nonzero

    reshape = reshape
    flatten = flatten
    squeeze = squeeze
    unsqueeze = unsqueeze
    transpose = transpose
    t = t
    swapaxes = swapaxes
    split = split
    chunk = chunk
    unbind = unbind
    expand = expand
    expand_as = expand_as
    broadcast_to = broadcast_to
    tile = tile
    flip = flip
    roll = roll
    tril = tril
    triu = triu
    repeat_interleave = repeat_interleave
    numel = numel

    gather = gather
    index_select = index_select
    scatter = scatter
    masked_select = masked_select
    masked_fill = masked_fill
    where = where
    sort = sort
    argsort = argsort
    topk = topk
    unique = unique

    asinh = asinh
    acosh = acosh
    atanh = atanh
    inner = inner
    addmm = addmm
    cross = cross

    diagonal = diagonal
    trace = trace
    view = view
    view_as = view_as
    unflatten = unflatten
    vsplit = vsplit

    bincount = bincount
    kthvalue = kthvalue
    quantile = quantile
    index_add = index_add
    index_fill = index_fill
    take = take

    lgamma = lgamma
    digamma = digamma
    erfinv = erfinv
    polygamma = polygamma
    multigammaln = multigammaln
    i0 = i0
    i0e = i0e
    i1 = i1
    i1e = i1e

    add_n = add_n
    atleast_1d = atleast_1d
    atleast_2d = atleast_2d
    atleast_3d = atleast_3d
    broadcast_shape = broadcast_shape
    broadcast_tensors = broadcast_tensors
    concat = concat
    diag = diag
    increment = increment
    rank = rank
    scatter_nd = scatter_nd
    stack = stack

    as_strided = as_strided
    diagonal_scatter = diagonal_scatter
    fill_diagonal_tensor = fill_diagonal_tensor
    multiplex = multiplex
    reverse = reverse
    select_scatter = select_scatter
    shard_index = shard_index
    slice = slice
    strided_slice = strided_slice
    unfold = unfold

    combinations = combinations
    cumulative_trapezoid = cumulative_trapezoid
    frexp = frexp
    gcd = gcd
    heaviside = heaviside
    lcm = lcm
    ldexp = ldexp
    logcumsumexp = logcumsumexp
    nextafter = nextafter
    trapezoid = trapezoid
    vander = vander

    cdist = cdist
    mode = mode
    nanmedian = nanmedian
    nanquantile = nanquantile
    renorm = renorm

    cholesky = cholesky
    cholesky_solve = cholesky_solve
    cond = cond
    corrcoef = corrcoef
    cov = cov
    eig = eig
    eigvals = eigvals
    eigvalsh = eigvalsh
    householder_product = householder_product
    inverse = inverse
    lstsq = lstsq
    lu = lu
    lu_unpack = lu_unpack
    matrix_power = matrix_power
    multi_dot = multi_dot
    pca_lowrank = pca_lowrank
    pinv = pinv
    qr = qr
    solve = solve

    cauchy_: Final = in_place(cauchy_like, name="cauchy_")
    geometric_: Final = in_place(geometric_like, name="geometric_")
