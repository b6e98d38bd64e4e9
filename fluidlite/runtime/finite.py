"""Looking for values that are not finite, and saying so in words."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ..errors import NonFiniteError
from ..ground import state
from ..ground.values import arrays_in
from ..ir.operator import located
from ..kernels.finite import is_finite
from .step import Environment, Step, spec_of


def numbers_in(value: Any) -> list[Any]:
    """The arrays that hold the elements of a value of any kind, a number's too."""
    return [np.asarray(value)] if isinstance(value, np.generic) else arrays_in(value)


def first_bad(names: Iterable[str], env: Environment) -> str | None:
    """The first of some names whose value is there and is not finite."""
    for name in names:
        value = env.get(name)
        for array in [value] if type(value) is np.ndarray else numbers_in(value):
            if not is_finite(array):
                return name
    return None


def described(value: Any) -> str:
    """What is not finite in a value: kind, count, and range and mean of all the others.

    >>> described(np.array([1.0, np.nan, 3.0, np.inf]))
    'NaN: 2 of 4 elements are not finite (1 NaN); the others: min 1, max 3, mean 2'
    """
    arrays = [a for a in numbers_in(value) if a.dtype.kind in "fc"]
    bad = sum(int(a.size - np.isfinite(a).sum()) for a in arrays)
    nans = sum(int(np.isnan(a).sum()) for a in arrays)
    total = sum(a.size for a in arrays)
    good = np.concatenate([a[np.isfinite(a)].ravel() for a in arrays])
    text = f"{'NaN' if nans else 'infinity'}: {bad} of {total} elements are not finite"
    text += f" ({nans} NaN)" if nans else ""
    if not good.size:
        return text
    mean = good.mean(dtype=good.dtype if good.itemsize > 4 else "float64")
    return f"{text}; the others: min {good.min():g}, max {good.max():g}, mean {mean:g}"


def check_written(
    step: Step, names: Iterable[str], env: Environment, infinities: bool = True
) -> None:
    """Look for values that are not finite in what a step wrote to some names; not where it
    computes nothing.

    Raises:
        NonFiniteError: there are some; names the operator, its line, and what is wrong.
    """
    name = None if step.instance.hands_on else first_bad(names, env)
    if name is not None and (infinities or _holds_nan(env[name])):
        error = NonFiniteError(f"variable {name!r} holds {described(env[name])}")
        raise located(error, step.op, [(name, spec_of(env[name]))])


def _holds_nan(value: Any) -> bool:
    return any(bool(np.isnan(a).any()) for a in numbers_in(value) if a.dtype.kind in "fc")


#: the flag that says that runs look for values that are not finite
NAN_INF = "FLAGS_check_nan_inf"


def checks_nan_inf() -> bool:
    """Whether the flag says that runs look for values that are not finite."""
    return bool(state.flag_values.get().get(NAN_INF))
