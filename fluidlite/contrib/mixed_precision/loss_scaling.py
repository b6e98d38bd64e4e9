"""The factor on a loss that keeps its gradients within the range of float16."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from ... import unique_name
from ...ground.dtypes import DType, Kind
from ...initializer import Constant
from ...ir.program import Program
from ...ir.variable import Variable
from ...layers.branch import Switch
from ...layers.compare import isfinite, less_equal, less_than, logical_not
from ...layers.creation import assign, fill_constant
from ...layers.elementwise import elementwise_div, elementwise_mul
from ...layers.joining import concat
from ...layers.math import scale
from ...layers.params import global_variable
from ...layers.reduce import reduce_sum
from ...layers.rows import get_tensor_from_selected_rows
from ...layers.variables import increment


class ScalingRule(NamedTuple):
    """When a factor changes, and how."""

    incr_every_n_steps: int
    decr_every_n_nan_or_inf: int
    incr_ratio: float
    decr_ratio: float


class Counters(NamedTuple):
    """How many steps in a row were good, or bad."""

    good: Variable
    bad: Variable


def kept_number(main: Program, startup: Program, stem: str, value: float, dtype: DType) -> Variable:
    """A persistable variable of one number.

    Args:
        main, startup: the programs.
        stem: of its name.
        value: what it begins with.
        dtype: its element type.
    """
    name = unique_name.generate(stem)
    return global_variable(main, startup, name, [1], dtype, Constant(float(value)))


def all_finite(gradients: Sequence[Variable]) -> Variable:
    """Append what finds out whether all numbers of all gradients are finite: a truth.

    Args:
        gradients: at least one.
    """
    totals = [reduce_sum(_stored(gradient)) for gradient in gradients]
    return isfinite(reduce_sum(concat(totals)) if len(totals) > 1 else totals[0])


def divided(gradient: Variable, factor: Variable) -> Variable:
    """Append the division of a gradient, of which only some rows may be stored, by a factor."""
    if gradient.kind is Kind.SELECTED_ROWS:
        one = fill_constant([1], factor.dtype, 1.0)
        return elementwise_mul(gradient, elementwise_div(one, factor))
    f = gradient.program.current_block().builder("tmp")
    found: Variable = f.elementwise_div(gradient, factor)
    return found


def _stored(gradient: Variable) -> Variable:
    """The numbers of a gradient that are there."""
    if gradient.kind is Kind.SELECTED_ROWS:
        return get_tensor_from_selected_rows(gradient)
    return gradient


@contextmanager
def _in_a_row(
    switch: Switch, holds: Variable, own: Variable, other: Variable, zero: Variable, often: int
) -> Iterator[None]:
    """A guard of what is done where something holds so many steps in a row."""
    with switch.case(holds):
        assign(zero, other)
        increment(own, value=1)
        limit = fill_constant([1], "int32", often)
        with Switch() as inner, inner.case(less_equal(limit, own)):
            assign(zero, own)
            yield


def update(finite: Variable, factor: Variable, counters: Counters, rule: ScalingRule) -> None:
    """Append the change of a factor after a step.

    Args:
        finite: whether the step was good.
        factor: the factor.
        counters: those of steps in a row.
        rule: when the factor changes, and how.
    """
    good, bad = counters
    zero = fill_constant([1], "int32", 0)
    with Switch() as switch:
        with _in_a_row(switch, finite, good, bad, zero, rule.incr_every_n_steps):
            larger = scale(factor, scale=rule.incr_ratio)
            with Switch() as innermost, innermost.case(isfinite(larger)):
                assign(larger, factor)
        never = logical_not(finite)
        with _in_a_row(switch, never, bad, good, zero, rule.decr_every_n_nan_or_inf):
            smaller = scale(factor, scale=rule.decr_ratio)
            one = fill_constant([1], "float32", 1.0)
            with Switch() as innermost:
                with innermost.case(less_than(smaller, one)):
                    assign(one, factor)
                with innermost.default():
                    assign(smaller, factor)
