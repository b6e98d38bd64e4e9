"""Schedules: learning rates that change from step to step, as operators of the program.

A step is a run of the main program.  All schedules of a program share one counter of steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

from .. import schedules, unique_name
from ..errors import ArgumentError
from ..ground.docstrings import Family
from ..ground.dtypes import DType
from ..ground.public_names import list_public_names
from ..ground.state import in_dygraph_mode
from ..ir.callsite import warn
from ..ir.operator import OpRole
from ..ir.program import default_main_program
from ..ir.variable import Variable
from .branch import Switch
from .creation import assign, fill_constant
from .decay import (
    CosineDecay,
    ExponentialDecay,
    InverseTimeDecay,
    LinearLrWarmup,
    NaturalExpDecay,
    NoamDecay,
    PeriodicDecay,
    PiecewiseDecay,
    PolynomialDecay,
    finite,
    positive,
)
from .elementwise import elementwise_min
from .math import cast
from .unary import ceil, cos, exp, floor
from .variables import autoincreased_step_counter, create_global_var

Rate = Any  # a number, or a variable of one element
#: the functions that formulas use, for variables
_LAYERS = SimpleNamespace(cos=cos, exp=exp, minimum=elementwise_min)

_SCHEDULE = Family(
    {
        "learning_rate": "the first rate; a number or a variable.",
        "decay_rate": "see ``decay_steps``.",
        "staircase": "let the rate change only every ``decay_steps`` steps.",
    },
    returns="A variable of one element; a decay of ``fluid.dygraph`` within its ``guard()``.",
    raises="ArgumentError: ``decay_steps`` is not positive.",
)


def _decay_step_counter(begin: int = 0) -> Any:
    """The number of steps so far as a float32 variable of one element; fluid 1.8's name for it.

    Args:
        begin: the number at the first step, where the program has no schedule yet.
    """
    return cast(autoincreased_step_counter("@LR_DECAY_COUNTER@", begin), "float32")


@_SCHEDULE
def noam_decay(d_model: float, warmup_steps: float, learning_rate: Rate = 1.0) -> Variable | Any:
    """A rate that grows up to a step and then falls with the root of the number of steps:
    ``learning_rate * d_model^-0.5 * min(step^-0.5, step * warmup_steps^-1.5)``.

    Vaswani et al., Attention is all you need, NIPS 2017.  Steps are counted from 1.

    Args:
        d_model: the width of the model.
        warmup_steps: how many steps the rate grows.
        learning_rate: multiplies it; a number or a variable.

    Raises:
        ArgumentError: a number is not positive.

    >>> rate = fluid.layers.noam_decay(d_model=512, warmup_steps=4000)
    >>> fluid.optimizer.Adam(learning_rate=rate)
    Adam(learning_rate=tmp_3)
    """
    if in_dygraph_mode():
        return NoamDecay(d_model, warmup_steps, learning_rate=learning_rate)
    first = _number_or_variable("noam_decay", learning_rate)
    positive("noam_decay", "d_model", d_model)
    positive("noam_decay", "warmup_steps", warmup_steps)
    with _scheduling():
        step = _decay_step_counter(1)
        rate: Variable = schedules.noam(first, step, d_model, warmup_steps, _LAYERS)
    return rate


@_SCHEDULE
def exponential_decay(
    learning_rate: Rate, decay_steps: float, decay_rate: float, staircase: bool = False
) -> Variable | Any:
    """``learning_rate * decay_rate^(step / decay_steps)``.

    Args:
        decay_steps: after so many steps the rate has been multiplied by ``decay_rate``.

    >>> rate = fluid.layers.exponential_decay(0.1, decay_steps=1, decay_rate=0.5)
    >>> exe = fluid.Executor()
    >>> _ = exe.run(fluid.default_startup_program())
    >>> [round(float(exe.run(fetch_list=[rate])[0].item()), 4) for step in range(3)]
    [0.1, 0.05, 0.025]
    """
    periods = (decay_steps, decay_rate, staircase)
    return _by_periods("exponential_decay", ExponentialDecay, learning_rate, *periods)


@_SCHEDULE
def natural_exp_decay(
    learning_rate: Rate, decay_steps: float, decay_rate: float, staircase: bool = False
) -> Variable | Any:
    """``learning_rate * exp(-decay_rate * step / decay_steps)``.

    Args:
        decay_steps: after so many steps the rate has been multiplied by exp(-decay_rate).

    >>> fluid.layers.natural_exp_decay(0.1, decay_steps=1000, decay_rate=0.5).shape
    (1,)
    """
    periods = (decay_steps, decay_rate, staircase)
    return _by_periods("natural_exp_decay", NaturalExpDecay, learning_rate, *periods)


@_SCHEDULE
def inverse_time_decay(
    learning_rate: Rate, decay_steps: float, decay_rate: float, staircase: bool = False
) -> Variable | Any:
    """``learning_rate / (1 + decay_rate * step / decay_steps)``.

    Args:
        decay_steps: after so many steps the rate has been divided by 1 + decay_rate.

    >>> fluid.layers.inverse_time_decay(0.1, decay_steps=1000, decay_rate=0.5).shape
    (1,)
    """
    periods = (decay_steps, decay_rate, staircase)
    return _by_periods("inverse_time_decay", InverseTimeDecay, learning_rate, *periods)


def _by_periods(
    what: str,
    kind: type[PeriodicDecay],
    learning_rate: Rate,
    decay_steps: float,
    decay_rate: float,
    staircase: bool,
) -> Any:
    """A schedule that depends on how many times ``decay_steps`` steps have passed; whole ones with
    ``staircase``.
    """
    if in_dygraph_mode():
        return kind(learning_rate, decay_steps, decay_rate, staircase)
    first = _number_or_variable(what, learning_rate)
    positive(what, "decay_steps", decay_steps)
    with _scheduling():
        passed = _decay_step_counter() / decay_steps
        return kind.formula(first, floor(passed) if staircase else passed, decay_rate, _LAYERS)


@_SCHEDULE
def polynomial_decay(
    learning_rate: Rate,
    decay_steps: float,
    end_learning_rate: float = 0.0001,
    power: float = 1.0,
    cycle: bool = False,
) -> Variable | Any:
    """``(learning_rate - end_learning_rate) * (1 - step / decay_steps)^power +
    end_learning_rate``.

    Args:
        decay_steps: after so many steps the rate is ``end_learning_rate``, and stays so.
        end_learning_rate: see ``decay_steps``.
        power: the degree of the polynomial.
        cycle: let the rate rise again after ``decay_steps`` steps: then twice as many lead to the
            end, and so on.

    >>> rate = fluid.layers.polynomial_decay(0.1, decay_steps=2, end_learning_rate=0.0)
    >>> exe = fluid.Executor()
    >>> _ = exe.run(fluid.default_startup_program())
    >>> [round(float(exe.run(fetch_list=[rate])[0].item()), 4) for step in range(4)]
    [0.1, 0.05, 0.0, 0.0]
    """
    if in_dygraph_mode():
        return PolynomialDecay(learning_rate, decay_steps, end_learning_rate, power, cycle)
    first = _number_or_variable("polynomial_decay", learning_rate)
    last_rate = finite("polynomial_decay", "end_learning_rate", end_learning_rate)
    positive("polynomial_decay", "decay_steps", decay_steps)
    with _scheduling():
        step, last = _decay_step_counter(), decay_steps
        if cycle:
            last = decay_steps * _cycles(step, decay_steps)
        else:
            step = elementwise_min(step, fill_constant([1], "float32", float(decay_steps)))
        rate: Variable = schedules.power_of_rest(first, step, last, last_rate, power)
    return rate


def _cycles(step: Any, decay_steps: float) -> Any:
    """How many cycles have begun: 1 at first."""
    begun = ceil(step / decay_steps)
    zero = fill_constant([1], "float32", 0.0)
    one = fill_constant([1], "float32", 1.0)
    with Switch() as switch, switch.case(step == zero):
        assign(one, begun)
    return begun


@_SCHEDULE
def piecewise_decay(boundaries: Sequence[float], values: Sequence[float]) -> Variable | Any:
    """The first value up to the first boundary, then the second one, and so on.

    Args:
        boundaries: the steps at which the rate changes, in ascending order.
        values: the rates, one more than there are boundaries.

    Raises:
        ArgumentError: there are not as many values, or the boundaries do not ascend.

    >>> rate = fluid.layers.piecewise_decay(boundaries=[1, 3], values=[1.0, 0.5, 0.25])
    >>> exe = fluid.Executor()
    >>> _ = exe.run(fluid.default_startup_program())
    >>> [exe.run(fetch_list=[rate])[0].item() for step in range(4)]
    [1.0, 0.5, 0.5, 0.25]
    """
    if in_dygraph_mode():
        return PiecewiseDecay(boundaries, values, begin=0)
    boundaries = [finite("piecewise_decay", "boundaries", n) for n in boundaries]
    values = [finite("piecewise_decay", "values", n) for n in values]
    if len(values) != len(boundaries) + 1:
        raise ArgumentError(
            f"piecewise_decay: expected one value more than there are boundaries, got "
            f"{len(values)} values and {len(boundaries)} boundaries"
        )
    if any(a >= b for a, b in pairwise(boundaries)):
        warn(f"piecewise_decay: expected boundaries in ascending order, got {boundaries}", None)
    with _scheduling():
        step = _decay_step_counter()
        rate = _rate("learning_rate", "float32")
        with Switch() as switch:
            for boundary, value in zip(boundaries, values):
                end = fill_constant([1], "float32", boundary, force_cpu=True)
                now = fill_constant([1], "float32", value)
                with switch.case(step < end):
                    assign(now, rate)
            last = fill_constant([1], "float32", values[-1])
            if not boundaries:
                return assign(last, rate)
            with switch.default():
                assign(last, rate)
    return rate


@_SCHEDULE
def cosine_decay(learning_rate: Rate, step_each_epoch: float, epochs: float) -> Variable | Any:
    """``learning_rate * (cos(pi * epoch / epochs) + 1) / 2``.

    Loshchilov and Hutter, SGDR: stochastic gradient descent with warm restarts, ICLR 2017.

    Args:
        step_each_epoch: how many steps an epoch has; the rate changes when one is over.
        epochs: after so many epochs the rate is 0.

    Raises:
        ArgumentError: a number is not positive.

    >>> fluid.layers.cosine_decay(0.1, step_each_epoch=1000, epochs=120).shape
    (1,)
    """
    if in_dygraph_mode():
        return CosineDecay(learning_rate, step_each_epoch, epochs)
    first = _number_or_variable("cosine_decay", learning_rate)
    positive("cosine_decay", "step_each_epoch", step_each_epoch)
    positive("cosine_decay", "epochs", epochs)
    with _scheduling():
        epoch = floor(_decay_step_counter() / step_each_epoch)
        rate: Variable = schedules.cosine(first, epoch, epochs, _LAYERS)
    return rate


@_SCHEDULE
def linear_lr_warmup(
    learning_rate: Rate, warmup_steps: float, start_lr: float, end_lr: float
) -> Variable | Any:
    """A rate that goes from ``start_lr`` to ``end_lr`` in equal steps, and then is
    ``learning_rate``.

    Args:
        learning_rate: the rate after ``warmup_steps`` steps: a number, or another schedule.
        warmup_steps: how many steps it takes.
        start_lr, end_lr: where it begins and where it leads.

    Raises:
        ArgumentError: ``warmup_steps`` is not positive, or the rates are no numbers.

    >>> later = fluid.layers.cosine_decay(0.1, step_each_epoch=1000, epochs=120)
    >>> rate = fluid.layers.linear_lr_warmup(later, warmup_steps=4, start_lr=0.0, end_lr=0.1)
    >>> exe = fluid.Executor()
    >>> _ = exe.run(fluid.default_startup_program())
    >>> [round(float(exe.run(fetch_list=[rate])[0].item()), 4) for step in range(5)]
    [0.0, 0.025, 0.05, 0.075, 0.1]
    """
    if in_dygraph_mode():
        return LinearLrWarmup(learning_rate, warmup_steps, start_lr, end_lr)
    what = "linear_lr_warmup"
    positive(what, "warmup_steps", warmup_steps)
    start, end = finite(what, "start_lr", start_lr), finite(what, "end_lr", end_lr)
    later = _number_or_variable(what, learning_rate)
    dtype = later.dtype if isinstance(later, Variable) else DType.FP32
    with _scheduling():
        rate = _rate("learning_rate_warmup", dtype)
        step = _decay_step_counter()
        with Switch() as switch:
            with switch.case(step < warmup_steps):
                warm = schedules.line(start, end, step / float(warmup_steps))
                assign(warm if dtype is DType.FP32 else cast(warm, dtype), rate)
            with switch.default():
                if not isinstance(later, Variable):
                    later = fill_constant([1], dtype, later)
                assign(later, rate)
    return rate


def _scheduling() -> Any:
    """The role of operators that compute learning rates."""
    return default_main_program().as_role(OpRole.LRSCHED)


def _rate(name: str, dtype: Any) -> Variable:
    """A variable that branches write a rate to."""
    if default_main_program().global_block().has_var(name):  # of another schedule
        name = unique_name.generate(name)
    return create_global_var([1], 0.0, dtype, persistable=True, name=name)


def _number_or_variable(what: str, learning_rate: Any) -> Any:
    """The rate that a schedule begins with.

    Raises:
        ArgumentError: it is neither a number nor a variable.
    """
    if isinstance(learning_rate, Variable):
        return learning_rate
    return finite(what, "learning_rate", learning_rate)


list_public_names(globals())
