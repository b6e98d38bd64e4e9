# ruff: noqa: I001 - lists of names are filled by hand
"""paddle 2.6 as it is written: ``import fluidlite.paddle as paddle``.

The functions, layers and optimizers are those of the package; here stand their places in paddle
2's modules.  Functions without operands make tensors, or build programs after
``enable_static()``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..eager.engine import grad
from ..eager.mode import enable_grad, is_grad_enabled, no_grad, set_grad_enabled
from ..eager.parameter import LazyGuard
from ..eager.printing import set_printoptions
from ..eager.tensor import Tensor
from ..functions.arithmetic import (
    add, allclose, atan2, bmm, dot, equal, equal_all, floor_divide, get_default_dtype,
    greater_equal, greater_than, is_empty, isclose, lerp, less_equal, less_than, logical_and,
    logical_not, logical_or, logical_xor, matmul,
    maximum, minimum, mm, multiply, mv, not_equal, outer, pow, remainder, remainder as floor_mod,
    remainder as mod, set_default_dtype, subtract,
)  # fmt: skip
from ..functions.complex_parts import angle, as_complex, as_real, complex, conj, imag, polar, real
from ..functions.composed import (
    acosh, add_n, addmm, asinh, atanh, bitwise_and, bitwise_not, bitwise_or, bitwise_xor, cross,
    deg2rad, diff, fmax, fmin, frac, hypot, inner, kron, logaddexp, logit, nan_to_num, nanmean,
    nansum, rad2deg, sgn, stanh, tensordot,
)  # fmt: skip
from ..functions.counting import (
    bincount, bucketize, cummax, cummin, histogram, index_add, index_fill, index_put, kthvalue,
    multinomial, quantile, searchsorted, take, unique_consecutive,
)  # fmt: skip
from ..functions.creation import (
    bernoulli, bfloat16, complex64, complex128, empty_like, float16, float32, float64, full_like,
    int16, int32, int64, int8, is_tensor, ones_like, uint8, zeros_like,
)  # fmt: skip
from ..functions.diagonals import (
    diag, diag_embed, diagflat, rot90, trace, vsplit,
)  # fmt: skip
from ..functions.distances import cdist, renorm
from ..functions.draws import poisson, randint_like
from ..functions.einsum import einsum
from ..functions.elementary import (
    abs, acos, asin, atan, cast, ceil, clip, clone, cos, cosh, erf, exp, expm1, floor,
    increment, isfinite, isinf, isnan, log, log10, log1p, log2, neg, reciprocal, round, rsqrt,
    scale, sign, sin, sinh, sqrt, square, tan, tanh, trunc,
)  # fmt: skip
from ..functions.linear_algebra import cholesky, eigvalsh, inverse
from ..functions.numeric import (
    combinations, cumulative_trapezoid, divide, frexp, gcd, heaviside, lcm, ldexp, logcumsumexp,
    nextafter, trapezoid, vander,
)  # fmt: skip
from ..functions.quantiles import mode, nanmedian, nanquantile
from ..functions.reduction import (
    all, amax, amin, any, argmax, argmin, count_nonzero, cumprod, cumsum, dist, logsumexp, max,
    mean, median, min, norm, prod, std, sum, var,
)  # fmt: skip
from ..functions.selection import (
    argsort, gather, gather_nd, index_sample, index_select, masked_fill, masked_select, nonzero,
    put_along_axis, scatter, scatter_nd, scatter_nd_add, sort, take_along_axis, topk, unique,
    where,
)  # fmt: skip
from ..functions.shaping import (
    broadcast_shape, broadcast_tensors, broadcast_to, chunk, concat, expand, expand_as,
    flip, meshgrid, numel, rank, repeat_interleave, roll, split, stack, tile, tril, triu,
    unstack,
)  # fmt: skip
from ..functions.slices import (
    crop, diagonal_scatter, multiplex, reverse, select_scatter, shape, shard_index,
)  # fmt: skip
from ..functions.special import (
    digamma, erfinv, i0, i0e, i1, i1e, lgamma, multigammaln, polygamma,
)  # fmt: skip
from ..functions.views import (
    as_strided, atleast_1d, atleast_2d, atleast_3d, diagonal, flatten, moveaxis, reshape,
    slice, squeeze, strided_slice, t, transpose, unbind, unflatten, unfold, unsqueeze, view,
    view_as,
)  # fmt: skip
from ..ground.module_tables import give_names
from ..ground.place import CPUPlace, CUDAPinnedPlace, CUDAPlace
from ..ground.tracebacks import api_boundaries
from ..ground.state import set_flags
from . import (
    autograd, device, framework, inplace, nn, optimizer, reader, regularizer, version,
)  # fmt: skip
from .creation import (
    arange, assign, create_parameter, empty, eye, full, linspace, logspace, normal, ones, rand,
    randint, randn, randperm, standard_normal, to_tensor, tril_indices, triu_indices, uniform,
    zeros,
)  # fmt: skip
from .device import (
    get_cudnn_version, get_device, is_compiled_with_cinn, is_compiled_with_cuda,
    is_compiled_with_custom_device, is_compiled_with_distribute, is_compiled_with_ipu,
    is_compiled_with_rocm, is_compiled_with_xpu, set_device,
)  # fmt: skip
from .element_types import bool, dtype, finfo, iinfo, is_complex, is_floating_point, is_integer
from .flags import get_flags
from .param_attr import ParamAttr
from .modes import disable_static, enable_static, in_dynamic_mode
from .random_states import (
    get_cuda_rng_state, get_rng_state, seed, set_cuda_rng_state, set_rng_state,
)  # fmt: skip

from .shapes import check_shape, tolist

__version__ = version.full_version
globals().update({name: getattr(inplace, name) for name in inplace.__all__})
from . import tensor  # noqa: E402 (it gives names that stand above)

_INNER = (
    "TYPE_CHECKING", "annotations", "answer_of_paddle_2", "api_boundaries", "arrays",
    "creation", "element_types", "files", "give_names", "inplace", "list_public_names", "modes",
    "param_attr", "random_states",
)  # fmt: skip
if TYPE_CHECKING:
    from ..io import batch
    from . import (
        amp, base, callbacks, distributed, geometric, hapi, hub, incubate, inference, io, jit,
        linalg, metric, onnx, profiler, sparse, static, sysconfig, utils,
        vision,
    )  # fmt: skip
    from . import audio, distribution, fft, quantization, signal, text
    from .distributed.parallel import DataParallel
    from .files import load, save
    from .hapi import Model, flops, summary
    from .utils.checks import disable_signal_handler
__all__ = [name for name in globals() if name[0] != "_" and name not in _INNER]
give_names(
    globals(),
    {
        "io": "batch",
        "paddle.files": "load save",
        "paddle.hapi": "Model flops summary",
        "paddle.distributed.parallel": "DataParallel",
        "paddle.utils.checks": "disable_signal_handler",
    },
    below=(
        *("audio", "distribution", "fft", "quantization", "signal", "text"),
        *("amp", "base", "callbacks", "distributed", "geometric", "hapi", "hub", "incubate"),
        *(
            "inference",
            "io",
            "jit",
            "linalg",
            "metric",
            "onnx",
            "profiler",
            "sparse",
            "static",
            "sysconfig",
            "utils",
        ),
        "vision",
    ),
)
api_boundaries(globals(), quick=True, imported=True, but=("Tensor",))
