"""Functions that write their result in place of their first argument, by rule.

On a variable of a program they are the functions without the underscore, as in paddle 2.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from ..eager.tensor import Tensor
from ..functions import exports
from ..functions.selection import where
from ..ground.tracebacks import api_boundaries
from ..ir.variable import Variable

_NAMES = [
    "abs_", "acos_", "acosh_", "addmm_", "asin_", "asinh_", "atan_", "atanh_",
    "bitwise_and_", "bitwise_not_", "bitwise_or_", "bitwise_xor_", "cast_", "cauchy_",
    "cos_", "cosh_", "cumprod_", "cumsum_", "digamma_", "divide_", "equal_", "erf_",
    "expm1_", "floor_divide_", "floor_mod_", "frac_", "gcd_", "geometric_",
    "greater_equal_", "greater_than_", "hypot_", "i0_", "index_add_", "index_fill_",
    "index_put_", "lcm_", "ldexp_", "less_equal_", "less_than_", "lgamma_", "log10_",
    "log1p_", "log2_", "log_", "logical_and_", "logical_not_", "logical_or_",
    "logical_xor_", "logit_", "masked_fill_", "mod_", "multigammaln_", "multiply_",
    "nan_to_num_", "neg_", "normal_", "not_equal_", "polygamma_", "pow_", "remainder_",
    "renorm_", "reshape_", "scatter_", "sin_", "sinh_", "square_", "squeeze_", "t_", "tan_",
    "tanh_", "transpose_", "tril_", "triu_", "trunc_", "unsqueeze_",
]  # fmt: skip
__all__ = [*_NAMES, "where_"]


#: those that draw elements anew: without the underscore they take no tensor to write to
_DRAWN = frozenset(["cauchy_", "geometric_", "normal_"])


def _in_place(name: str) -> Callable[..., Any]:
    method = getattr(Tensor, name)
    function = getattr(exports, name[:-1], None)

    @functools.wraps(method)
    def written(x: Any, *args: Any, **kwargs: Any) -> Any:
        if not isinstance(x, Variable):
            return method(x, *args, **kwargs)
        if function is None or name in _DRAWN:
            return getattr(x, name)(*args, **kwargs)
        return function(x, *args, **kwargs)

    written.__module__ = __name__
    first, *others = inspect.signature(method).parameters.values()
    named = first.replace(name="x") if first.name == "self" else first
    written.__signature__ = inspect.Signature([named, *others])  # type: ignore[attr-defined]
    return written


def where_(condition: Any, x: Any = None, y: Any = None, name: str | None = None) -> Any:
    """The elements of x where a condition holds, and those of y elsewhere, in place of x.

    >>> x = fluid.to_tensor([1.0, 2.0])
    >>> fluid.paddle.where_(x > 1.5, x, fluid.zeros([2])).tolist()
    [0.0, 2.0]
    """
    if isinstance(x, Variable):
        return where(condition, x, y)
    return condition.where_(x, y)


globals().update({name: _in_place(name) for name in _NAMES})

api_boundaries(globals())
