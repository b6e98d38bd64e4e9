"""What must hold of the values that are fed, cut out of a traced step: it is looked at before the
step runs, which then need not keep what it replaces.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
from jax.extend.core import jaxpr_as_fun

from .ranges import Ranges, looked_at


def guard_of(traced: Any, inputs: Sequence[int]) -> Callable[..., Any] | None:
    """A function of inputs that gives whether all truths hold: by ranges of whole numbers where
    these suffice, or else by what is compiled.

    Args:
        traced: what JAX gives for a function of a pair, values and the truths that must hold.
        inputs: the numbers of the inputs that it may take, in their order.

    Returns:
        the function of these inputs; None where there are no truths, and where one depends on
        something else.
    """
    jaxpr, truths = traced.jaxpr.jaxpr, len(traced.out_info[1])
    if not truths:
        return None
    needed = {v for v in jaxpr.outvars[-truths:] if not _is_literal(v)}
    for equation in reversed(jaxpr.eqns):
        if needed.intersection(equation.outvars):
            if equation.effects:
                return None
            needed.update(v for v in equation.invars if not _is_literal(v))
    if any(v in needed for k, v in enumerate(jaxpr.invars) if k not in inputs):
        return None
    function = jaxpr_as_fun(traced.jaxpr)
    others = [(v.aval.shape, v.aval.dtype) for v in jaxpr.invars]

    def hold(*given: Any) -> Any:  # JAX leaves out what no truth needs
        values = [jax.numpy.zeros(shape, dtype) for shape, dtype in others]
        for place, value in zip(inputs, given, strict=True):
            values[place] = value
        return jax.numpy.stack([each.all() for each in function(*values)[-truths:]]).all()

    compiled, ranges = jax.jit(hold), Ranges(jaxpr, inputs)
    if not all(ranges.suffice(v) for v in jaxpr.outvars[-truths:]):
        return compiled
    within = looked_at(ranges.found, inputs)
    return lambda *given: within(*given) or compiled(*given)


def _is_literal(variable: Any) -> bool:
    return hasattr(variable, "val")
