"""Comparisons, of elements and of whole tensors, and what is made of truth values."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ..functions import arithmetic, elementary
from .spelling import ONEFLOW, truth

if TYPE_CHECKING:
    from .spelling import Function

eq: Function = ONEFLOW(arithmetic.equal, "eq")
ne: Function = ONEFLOW(arithmetic.not_equal, "ne")
gt: Function = ONEFLOW(arithmetic.greater_than, "gt")
ge: Function = ONEFLOW(arithmetic.greater_equal, "ge")
lt: Function = ONEFLOW(arithmetic.less_than, "lt")
le: Function = ONEFLOW(arithmetic.less_equal, "le")
isfinite: Function = ONEFLOW(elementary.isfinite)
isinf: Function = ONEFLOW(elementary.isinf)
isnan: Function = ONEFLOW(elementary.isnan)
logical_and: Function = ONEFLOW(arithmetic.logical_and, fixed={"out": None})
logical_not: Function = ONEFLOW(arithmetic.logical_not, fixed={"out": None})
logical_or: Function = ONEFLOW(arithmetic.logical_or, fixed={"out": None})
logical_xor: Function = ONEFLOW(arithmetic.logical_xor, fixed={"out": None})
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
