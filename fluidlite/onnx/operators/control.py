"""Branches and loops, with graphs as their bodies."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import layers
from ...errors import UnsupportedError
from ..forms import operator


def _truth(f: Any, x: Any) -> Any:
    """A truth as layers take it."""
    return f.variable(f.reshaped(x, [1]))


@operator("If")
def if_of(f: Any, condition: Any, *, then_branch: Any, else_branch: Any) -> Any:
    known = f.elements(condition)
    if known is not None:
        return tuple((then_branch if known.reshape(-1)[0] else else_branch)())
    copied = lambda body: [layers.assign(f.variable(v)) for v in body()]
    found = layers.cond(
        _truth(f, condition), lambda: copied(then_branch), lambda: copied(else_branch)
    )
    return tuple(found)


@operator("Loop")
def loop(f: Any, most: Any = None, begin: Any = None, *carried: Any, body: Any) -> Any:
    """Carried values after the passes, and what each pass gives beside them, stacked."""
    count = len(carried)
    gives = body.outputs - 1 - count
    if body.inputs != count + 2 or gives < 0:
        raise UnsupportedError(f"its body has {body.inputs} inputs and {body.outputs} outputs")
    number = layers.fill_constant([1], "int64", 0)
    going = _truth(f, np.array(True) if begin is None else begin)
    limit = None if most is None else f.variable(f.reshaped(f.to(most, "int64"), [1]))
    state = [layers.assign(f.variable(v)) for v in carried]
    arrays = [layers.create_array("float32") for _ in range(gives)]

    def goes_on(number: Any, going: Any, *state: Any) -> Any:
        return (
            going if limit is None else layers.logical_and(layers.less_than(number, limit), going)
        )

    def step(number: Any, going: Any, *state: Any) -> list[Any]:
        found = body(f.reshaped(number, []), f.reshaped(going, []), *state)
        for i, value in enumerate(found[count + 1 :]):
            arrays[i] = layers.array_write(f.variable(value), number, arrays[i])
        after = layers.increment(number, 1, in_place=False)
        return [after, _truth(f, found[0]), *map(f.variable, found[1 : count + 1])]

    return _run(f, goes_on, step, [number, layers.assign(going), *state], arrays, gives)


def _run(f: Any, goes_on: Any, step: Any, state: list[Any], arrays: list[Any], gives: int) -> Any:
    if gives:
        raise UnsupportedError("it gives a value for each pass")
    return tuple(layers.while_loop(goes_on, step, state)[2:])
