"""Comparisons under their short names, and of whole tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ..functions import arithmetic
from .spelling import ONEFLOW, truth

if TYPE_CHECKING:
    from .spelling import Function

eq: Function = arithmetic.equal
ne: Function = arithmetic.not_equal
gt: Function = arithmetic.greater_than
ge: Function = arithmetic.greater_equal
lt: Function = arithmetic.less_than
le: Function = arithmetic.less_equal
isclose: Function = ONEFLOW(arithmetic.isclose)
allclose: Callable[..., bool] = ONEFLOW(arithmetic.allclose, then=truth)
equal: Callable[..., bool] = ONEFLOW(
    arithmetic.equal_all,
    "equal",
    """Whether two tensors have one shape and the same elements.

    >>> fluid.flow.equal(fluid.flow.ones(2), fluid.flow.ones(2))
    True
    """,
    then=truth,
)
