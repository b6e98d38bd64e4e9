"""Functions that write their result in place of their first argument, by rule: ``f_`` of ``f``.

What the function takes, checks and says stands once, in the function without the underscore.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from ..ground.spellings import Spelling

T = TypeVar("T", bound=type)

#: the method of a tensor that writes -> the functions that it writes for
WRITES = {
    "write": (
        "abs acos acosh add addmm asin asinh atan atanh bitwise_and bitwise_not bitwise_or "
        "bitwise_xor ceil clip cos cosh digamma divide erf erfinv exp expm1 fill_diagonal_tensor "
        "floor floor_divide floor_mod frac gcd hypot i0 index_add index_fill index_put lcm ldexp "
        "lerp lgamma log log10 log1p log2 logit masked_fill mod multigammaln multiply nan_to_num "
        "neg polygamma pow put_along_axis reciprocal remainder renorm round rsqrt scale scatter "
        "sigmoid sin sinh sqrt square subtract tan tanh tril triu trunc"
    ),
    "write_shape": "cumprod cumsum flatten reshape squeeze t transpose unsqueeze",
    "write_type": (
        "cast equal greater_equal greater_than less_equal less_than logical_and logical_not "
        "logical_or logical_xor not_equal"
    ),
}


def writes_in_place(cls: T) -> T:
    """Give a class of tensors the methods ``f_`` of the functions above that it has as methods.

    Args:
        cls: the class.
    """
    for method, names in WRITES.items():
        for name in names.split():
            setattr(cls, f"{name}_", in_place(getattr(cls, name), method))
    return cls


def in_place(
    function: Callable[..., Any], method: str = "write", name: str | None = None
) -> Callable[..., Any]:
    """The function that writes what another one makes of its first argument in its place.

    Args:
        function: takes a tensor first.
        method: of the tensor; see ``WRITES``.
        name: of the result; the function's with an underscore when None.
    """
    return Spelling({}, ["out"], writes=method)(function, name)
