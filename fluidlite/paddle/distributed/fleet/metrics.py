"""``paddle.distributed.fleet.metrics``: what all processes have counted, put together."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from ....errors import ArgumentError
from ....ground.public_names import list_public_names
from ....ground.spellings import Spelling, given_first
from ....ground.tracebacks import api_boundaries
from ....ir.variable import Variable
from ....scope import Scope, global_scope
from ...holders import hold
from .training import UtilBase

__all__ = ["acc", "auc", "mae", "max", "min", "mse", "rmse", "sum"]


def _array(given: Any, scope: Scope | None) -> Any:
    """What somebody has counted: an array, a tensor, or a variable of the scope or its name."""
    if isinstance(given, (Variable, str)):
        name = given if isinstance(given, str) else given.name
        holder = (scope or global_scope()).find_var(name)
        if holder is None:
            raise ArgumentError(f"there is no variable {name!r} in the scope")
        return np.array(holder.get_tensor())
    return np.array(given)


def _reduced(how: str, input: Any, scope: Scope | None = None, util: UtilBase | None = None) -> Any:
    """What all processes' numbers make together, element by element.

    Args:
        how: "sum", "max" or "min".
        input: an array, or a variable of the scope or its name.
        scope: holds the variable; the global one when None.
        util: what puts together; that of fleet when None.
    """
    return (util or UtilBase()).all_reduce(_array(input, scope), how)


_SUM = """The sums over all processes, element by element.

>>> from fluidlite.paddle.distributed import fleet
>>> fleet.metrics.sum(np.array([1.0, 2.0])).tolist()
[1.0, 2.0]
"""
sum: Final = given_first(_reduced, "sum", "sum", _SUM)
max: Final = given_first(
    _reduced, "max", "max", "The largest over all processes, element by element."
)
min: Final = given_first(
    _reduced, "min", "min", "The smallest over all processes, element by element."
)


def mae(
    abserr: Any, total_ins_num: Any, scope: Scope | None = None, util: UtilBase | None = None
) -> float:
    """The mean of distances.

    Args:
        abserr: their sum.
        total_ins_num: of how many.
        scope: holds the variables; the global one when None.
        util: what puts together; that of fleet when None.
    """
    return float(sum(abserr, scope, util).sum() / sum(total_ins_num, scope, util).sum())


def _root(square: float) -> float:
    return math.sqrt(square)


_RIGHT = """Which part was right.

>>> from fluidlite.paddle.distributed import fleet
>>> fleet.metrics.acc(np.array([3.0]), np.array([4.0]))
0.75
"""
_SPELLED = Spelling({"abserr": "sqrerr"})
mse: Callable[..., float] = _SPELLED(mae, "mse", "The mean of squared distances.")
rmse: Callable[..., float] = _SPELLED(
    mae, "rmse", "The root of the mean of squared distances.", then=_root
)
acc: Callable[..., float] = _SPELLED(
    *(mae, "acc", _RIGHT),
    abserr="correct",
    total_ins_num="total",
    words={"correct: their sum": "correct: how many were"},
)


def auc(
    stat_pos: Any, stat_neg: Any, scope: Scope | None = None, util: UtilBase | None = None
) -> float:
    """The area under the curve of rates, of counts for thresholds; 0.5 where a class is absent.

    Args:
        stat_pos: how many of the one class there were between thresholds.
        stat_neg: how many of the other.
        scope: holds the variables; the global one when None.
        util: what puts together; that of fleet when None.

    >>> from fluidlite.paddle.distributed import fleet
    >>> fleet.metrics.auc(np.array([[0, 0, 2]]), np.array([[2, 0, 0]]))
    1.0
    """
    hits, misses = (
        np.concatenate([[0.0], np.cumsum(sum(each, scope, util).ravel()[::-1])])
        for each in (stat_pos, stat_neg)
    )
    if not hits[-1] or not misses[-1]:
        return 0.5
    area = (np.diff(misses) * (hits[1:] + hits[:-1]) / 2).sum()
    return float(area / (hits[-1] * misses[-1]))


list_public_names(globals())
api_boundaries(globals())
hold(globals())
