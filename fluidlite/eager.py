# ruff: noqa: F401
"""The functions of eager tensors that stand at the top level, by the names of paddle 2.x.

``fluidlite.__getattr__`` finds them here, so that a script that only builds programs does not load
them.
"""

from __future__ import annotations

from .imperative.arithmetic import (
    add,
    allclose,
    atan2,
    divide,
    dot,
    equal,
    equal_all,
    floor_divide,
    get_default_dtype,
    greater_equal,
    greater_than,
    isclose,
    lerp,
    less_equal,
    less_than,
    logical_and,
    logical_not,
    logical_or,
    logical_xor,
    matmul,
    maximum,
    minimum,
    multiply,
    not_equal,
    outer,
    pow,
    remainder,
    set_default_dtype,
    subtract,
)
from .imperative.arithmetic import matmul as bmm
from .imperative.arithmetic import matmul as mm
from .imperative.arithmetic import matmul as mv
from .imperative.arithmetic import remainder as floor_mod
from .imperative.arithmetic import remainder as mod
from .imperative.creation import (
    arange,
    assign,
    bernoulli,
    diag,
    empty,
    empty_like,
    eye,
    float16,
    float32,
    float64,
    full,
    full_like,
    int8,
    int16,
    int32,
    int64,
    is_tensor,
    linspace,
    normal,
    ones,
    ones_like,
    rand,
    randint,
    randn,
    randperm,
    seed,
    to_tensor,
    uint8,
    uniform,
    zeros,
    zeros_like,
)
from .imperative.einsum import einsum
from .imperative.elementary import (
    abs,
    acos,
    asin,
    atan,
    cast,
    ceil,
    clone,
    cos,
    cosh,
    erf,
    exp,
    expm1,
    floor,
    increment,
    isfinite,
    isinf,
    isnan,
    log,
    log1p,
    log2,
    log10,
    neg,
    reciprocal,
    round,
    rsqrt,
    scale,
    sigmoid,
    sign,
    sin,
    sinh,
    sqrt,
    square,
    tan,
    tanh,
    trunc,
)
from .imperative.engine import grad
from .imperative.mode import enable_grad, is_grad_enabled, no_grad, set_grad_enabled
from .imperative.parameter import Parameter
from .imperative.printing import set_printoptions
from .imperative.reduction import (
    all,
    amax,
    amin,
    any,
    argmax,
    argmin,
    count_nonzero,
    cumprod,
    cumsum,
    dist,
    logsumexp,
    max,
    mean,
    median,
    min,
    norm,
    prod,
    std,
    sum,
    var,
)
from .imperative.selection import (
    argsort,
    gather,
    gather_nd,
    index_sample,
    index_select,
    masked_fill,
    masked_select,
    nonzero,
    put_along_axis,
    scatter,
    scatter_nd,
    scatter_nd_add,
    sort,
    take_along_axis,
    topk,
    unique,
    where,
)
from .imperative.shaping import (
    broadcast_shape,
    broadcast_tensors,
    broadcast_to,
    chunk,
    concat,
    expand,
    expand_as,
    flatten,
    flip,
    meshgrid,
    moveaxis,
    numel,
    rank,
    repeat_interleave,
    reshape,
    roll,
    split,
    squeeze,
    stack,
    swapaxes,
    t,
    tile,
    transpose,
    tril,
    triu,
    unbind,
    unsqueeze,
    unstack,
)
from .imperative.tensor import Tensor
from .namespace import listing
from .nn.parameter import create_parameter
from .quiet import doors

#: what is imported above for users
__all__ = [
    name for name in globals() if name[0] != "_" and name not in ("annotations", "doors", "listing")
]

__dir__ = listing(globals())
doors(globals(), quick=True, imported=True, but=("Parameter", "Tensor"))
