"""fluidlite: static programs with automatic differentiation, on NumPy.

``import fluidlite as fluid`` gives the names of paddle.fluid 1.8.  Beside them stand the functions
of eager tensors in the spelling of paddle 2.x, where fluid has no name like theirs.
"""

from __future__ import annotations

from . import (
    autograd,
    backward,
    checkpoint,
    clip,
    core,
    data_feeder,
    flow,
    framework,
    initializer,
    input,
    io,
    layers,
    metrics,
    nets,
    nn,
    ops,
    optimizer,
    reader,
    regularizer,
    unique_name,
)
from .backward import append_backward, calc_gradient, gradients
from .data_feeder import DataFeeder
from .errors import FluidError
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
from .input import data, embedding, one_hot
from .inspect import explain_gradient, gradcheck
from .io import (
    load,
    load_dygraph,
    load_program_state,
    save,
    save_dygraph,
    set_program_state,
)
from .ir.name_scope import name_scope
from .ir.program import Program, default_main_program, default_startup_program, program_guard
from .nn.parameter import create_parameter
from .param_attr import ParamAttr
from .runtime.executor import Executor
from .runtime.place import (
    CPUPlace,
    CUDAPinnedPlace,
    CUDAPlace,
    cpu_places,
    cuda_places,
    is_compiled_with_cuda,
)
from .runtime.scope import Scope, global_scope, scope_guard
from .state import get_flags, set_flags
from .values import LoDTensor, LoDTensorArray, create_lod_tensor, create_random_int_lodtensor

__version__ = "0.1.0"
