"""Eager tensors in the spelling of OneFlow, and under its strict rules."""

from __future__ import annotations

from ..eager.mode import enable_grad, is_grad_enabled, no_grad, set_grad_enabled
from ..functions.arithmetic import (
    atan2,
    dot,
    floor_divide,
    greater_equal,
    greater_than,
    less_equal,
    less_than,
    logical_and,
    logical_not,
    logical_or,
    logical_xor,
    matmul,
    maximum,
    minimum,
    not_equal,
    pow,
    remainder,
)
from ..functions.composed import logaddexp
from ..functions.creation import (
    bool_ as bool,
)
from ..functions.creation import (
    float16,
    float32,
    float64,
    int8,
    int32,
    int64,
    uint8,
)
from ..functions.creation import float16 as half
from ..functions.creation import float32 as float
from ..functions.creation import float64 as double
from ..functions.creation import int32 as int
from ..functions.creation import int64 as long
from ..functions.creation import seed as manual_seed
from ..functions.diagonals import atleast_1d, atleast_2d, atleast_3d
from ..functions.elementary import (
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
    isfinite,
    isinf,
    isnan,
    log,
    log1p,
    log2,
    neg,
    reciprocal,
    round,
    rsqrt,
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
from ..functions.elementary import abs as absolute
from ..functions.elementary import acos as arccos
from ..functions.elementary import asin as arcsin
from ..functions.elementary import atan as arctan
from ..functions.elementary import neg as negative
from ..functions.selection import nonzero
from ..functions.shaping import t
from ..functions.sizes import TensorShape as Size
from ..ground.missing_names import answer
from ..ground.public_names import list_public_names
from ..ground.tracebacks import api_boundaries
from . import autograd, nn, optim
from .algebra import (
    addcdiv,
    addcmul,
    addmm,
    baddbmm,
    bmm,
    cross,
    diag,
    diagonal,
    einsum,
    fmod,
    inner,
    kron,
    lerp,
    mm,
    mv,
    outer,
    rsub,
    tensordot,
    trace,
)
from .arranging import (
    argwhere,
    bincount,
    broadcast_tensors,
    broadcast_to,
    column_stack,
    count_nonzero,
    cumprod,
    dstack,
    hsplit,
    hstack,
    index_add,
    index_fill,
    kthvalue,
    median,
    meshgrid,
    movedim,
    narrow,
    quantile,
    repeat_interleave,
    scatter,
    scatter_add,
    searchsorted,
    select,
    swapaxes,
    swapdims,
    take,
    take_along_dim,
    tensor_split,
    tile,
    unflatten,
    unique,
    vsplit,
    vstack,
)
from .autograd import inference_mode
from .comparing import (
    allclose,
    eq,
    equal,
    ge,
    gt,
    isclose,
    le,
    lt,
    ne,
)
from .creation import (
    arange,
    empty,
    empty_like,
    eye,
    full,
    full_like,
    linspace,
    logspace,
    ones,
    ones_like,
    rand,
    randn,
    randperm,
    zeros,
    zeros_like,
)
from .devices import device
from .elementary import (
    acosh,
    add,
    asinh,
    atanh,
    clamp,
    clamp_max,
    clamp_min,
    div,
    erfc,
    exp2,
    log10,
    logsigmoid,
    mul,
    sub,
    where,
)
from .elementary import (
    acosh as arccosh,
)
from .elementary import (
    asinh as arcsinh,
)
from .elementary import (
    atanh as arctanh,
)
from .elementary import (
    clamp as clip,
)
from .files import load, save
from .functions import (
    all,
    amax,
    amin,
    any,
    argmax,
    argmin,
    log_softmax,
    logsumexp,
    max,
    mean,
    min,
    norm,
    prod,
    relu,
    softmax,
    std,
    sum,
    var,
)
from .sampling import (
    as_tensor,
    bernoulli,
    from_numpy,
    get_default_dtype,
    is_floating_point,
    is_nonzero,
    is_tensor,
    multinomial,
    normal,
    numel,
    rand_like,
    randint,
    randint_like,
    randn_like,
    set_default_dtype,
)
from .shapes import (
    argsort,
    cat,
    chunk,
    cumsum,
    expand,
    flatten,
    flip,
    gather,
    index_select,
    masked_fill,
    masked_select,
    permute,
    reshape,
    roll,
    sort,
    split,
    squeeze,
    stack,
    topk,
    transpose,
    tril,
    triu,
    unbind,
    unsqueeze,
)
from .shapes import (
    cat as concat,
)
from .shapes import (
    reshape as view,
)
from .tensor import Tensor, tensor

__all__ = [
    "load", "save", "Size", "half", "float", "double", "int", "long", "bool", "absolute", "arccos",
    "arcsin", "arctan", "negative", "atleast_1d", "atleast_2d", "atleast_3d", "logaddexp", "t",
    "concat", "view", "arccosh", "arcsinh", "arctanh", "clip", "clamp_max", "clamp_min", "where",
    "as_tensor", "bernoulli", "empty", "empty_like", "from_numpy", "get_default_dtype",
    "is_floating_point", "is_nonzero", "is_tensor", "logspace", "multinomial", "normal", "numel",
    "rand_like", "randint", "randint_like", "randn_like", "randperm", "set_default_dtype",
    "argwhere", "bincount", "broadcast_tensors", "broadcast_to", "column_stack", "count_nonzero",
    "cumprod", "dstack", "hsplit", "hstack", "index_add", "index_fill", "kthvalue", "median",
    "meshgrid", "movedim", "narrow", "quantile", "repeat_interleave", "scatter", "scatter_add",
    "searchsorted", "select", "swapaxes", "swapdims", "take", "take_along_dim", "tensor_split",
    "tile", "unflatten", "unique", "vsplit", "vstack", "addcdiv", "addcmul", "addmm", "baddbmm",
    "bmm", "cross", "diag", "diagonal", "einsum", "fmod", "inner", "kron", "lerp", "mm", "mv",
    "outer", "rsub", "tensordot", "trace", "allclose", "eq", "equal", "ge", "gt", "isclose", "le",
    "lt", "ne", "Tensor", "abs", "acos", "acosh", "add", "all", "amax", "amin", "any", "arange",
    "argmax", "argmin", "argsort", "asin", "asinh", "atan", "atan2", "atanh", "autograd", "cast",
    "cat", "ceil", "chunk", "clamp", "clone", "cos", "cosh", "cumsum", "device", "div", "dot",
    "enable_grad", "erf", "erfc", "exp", "exp2", "expand", "expm1", "eye", "flatten", "flip",
    "float16", "float32", "float64", "floor", "floor_divide", "full", "full_like", "gather",
    "greater_equal", "greater_than", "index_select", "inference_mode", "int32", "int64", "int8",
    "is_grad_enabled", "isfinite", "isinf", "isnan", "less_equal", "less_than", "linspace", "log",
    "log10", "log1p", "log2", "log_softmax", "logical_and", "logical_not", "logical_or",
    "logical_xor", "logsigmoid", "logsumexp", "manual_seed", "masked_fill", "masked_select",
    "matmul", "max", "maximum", "mean", "min", "minimum", "mul", "neg", "nn", "no_grad", "nonzero",
    "norm", "not_equal", "ones", "ones_like", "optim", "permute", "pow", "prod", "rand", "randn",
    "reciprocal", "relu", "remainder", "reshape", "roll", "round", "rsqrt", "set_grad_enabled",
    "sigmoid", "sign", "sin", "sinh", "softmax", "sort", "split", "sqrt", "square", "squeeze",
    "stack", "std", "sub", "sum", "tan", "tanh", "tensor", "topk", "transpose", "tril", "triu",
    "trunc", "uint8", "unbind", "unsqueeze", "var", "zeros", "zeros_like",
]  # fmt: skip

list_public_names(globals())
api_boundaries(globals(), quick=True, but=("Tensor",))
answer(globals())
