"""Schedules: learning rates that change from step to step, as operators of the program.

A step is a run of the main program.  All schedules of a program share one counter of steps.  Their
arguments, and what they say of themselves, are those of the decays of ``dygraph``, which they give
where layers run at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from types import SimpleNamespace
from typing import Any, TypeVar

from .. import schedules, unique_name
from ..ground.callsite import warn
from ..ground.docstrings import Family
from ..ground.dtypes import DType
from ..ground.missing_names import answer
from ..ground.public_names import list_public_names
from ..ground.state import in_dygraph_mode
from ..ir.operator import OpRole
from ..ir.program import default_main_program
from ..ir.variable import Variable
from .branch import Switch
from .creation import assign, fill_constant
from .decay import (
    CosineDecay,
    ExponentialDecay,
    FormulaDecay,
    InverseTimeDecay,
    LearningRateDecay,
    LinearLrWarmup,
    NaturalExpDecay,
    NoamDecay,
    PeriodicDecay,
    PiecewiseDecay,
    PolynomialDecay,
)
from .elementwise import elementwise_min
from .math import cast
from .unary import ceil, cos, exp, floor
from .variables import autoincreased_step_counter, create_global_var

D = TypeVar("D", bound=FormulaDecay)
Rate = float | Variable  # of one element
#: the functions that formulas use, for variables
_LAYERS = SimpleNamespace(cos=cos, exp=exp, minimum=elementwise_min)

_SCHEDULE = Family(
    returns="A variable of one element; a decay of ``fluid.dygraph`` within its ``guard()``.",
    raises="ArgumentError: an argument is out of range.",
)


def _decay_step_counter(begin: int = 0) -> Any:
    """The number of steps so far as a float32 variable of one element; fluid 1.8's name for it.

    Args:
        begin: the number at the first step, where the program has no schedule yet.
    """
    return cast(autoincreased_step_counter("@LR_DECAY_COUNTER@", begin), "float32")


def _scheduled(
    layer: str, kind: type[D], append: Callable[[D], Variable], *args: Any, **named: Any
) -> Variable:
    """The decay where layers run at once, and what a program appends for it elsewhere.

    Args:
        layer: what messages say that the arguments are of.
        kind: the class of the decay, which checks its arguments.
        append: appends it.
        args, named: of the decay.
    """
    decay: Any = kind.__new__(kind)
    decay.owner = layer
    if not in_dygraph_mode():
        decay.rates = (Variable,)
    kind.__init__(decay, *args, **named)
    if in_dygraph_mode():
        return decay
    with default_main_program().as_role(OpRole.LRSCHED):
        return append(decay)


@_SCHEDULE.like(NoamDecay)
def noam_decay(d_model: float, warmup_steps: float, learning_rate: Rate = 1.0) -> Variable:
    """
    >>> rate = fluid.layers.noam_decay(d_model=512, warmup_steps=4000)
    >>> fluid.optimizer.Adam(learning_rate=rate)
    Adam(learning_rate=tmp_3)
    """
    arguments = {"d_model": d_model, "warmup_steps": warmup_steps, "learning_rate": learning_rate}
    return _scheduled("noam_decay", NoamDecay, _noam, **arguments)


def _noam(decay: NoamDecay) -> Variable:
    d_model, warmup_steps = decay.arguments
    step = _decay_step_counter(1)
    rate: Any = schedules.noam(decay.learning_rate, step, d_model, warmup_steps, _LAYERS)
    made: Variable = rate
    return made


def _periodic(decay: PeriodicDecay) -> Variable:
    rate: Variable = decay.after(_decay_step_counter(), floor, _LAYERS)
    return rate


def _periodic_decay(name: str, kind: type[PeriodicDecay], example: str) -> Callable[..., Variable]:
    """The layer of a decay by periods.

    Args:
        name: of the layer.
        kind: the class of the decay.
        example: for the docstring.
    """

    def decay(
        learning_rate: Rate, decay_steps: float, decay_rate: float, staircase: bool = False
    ) -> Variable:
        given = (learning_rate, decay_steps, decay_rate, staircase)
        return _scheduled(name, kind, _periodic, *given)

    decay.__name__ = decay.__qualname__ = name
    decay.__doc__ = example
    return _SCHEDULE.like(kind)(decay)


exponential_decay: Callable[..., Variable] = _periodic_decay(
    "exponential_decay",
    ExponentialDecay,
    """
    >>> rate = fluid.layers.exponential_decay(0.1, decay_steps=1, decay_rate=0.5)
    >>> exe = fluid.Executor()
    >>> _ = exe.run(fluid.default_startup_program())
    >>> [round(float(exe.run(fetch_list=[rate])[0].item()), 4) for step in range(3)]
    [0.1, 0.05, 0.025]
    """,
)
natural_exp_decay: Callable[..., Variable] = _periodic_decay(
    "natural_exp_decay",
    NaturalExpDecay,
    """
    >>> fluid.layers.natural_exp_decay(0.1, decay_steps=1000, decay_rate=0.5).shape
    (1,)
    """,
)
inverse_time_decay: Callable[..., Variable] = _periodic_decay(
    "inverse_time_decay",
    InverseTimeDecay,
    """
    >>> fluid.layers.inverse_time_decay(0.1, decay_steps=1000, decay_rate=0.5).shape
    (1,)
    """,
)


@_SCHEDULE.like(PolynomialDecay)
def polynomial_decay(
    learning_rate: Rate,
    decay_steps: float,
    end_learning_rate: float = 0.0001,
    power: float = 1.0,
    cycle: bool = False,
) -> Variable:
    """
    >>> rate = fluid.layers.polynomial_decay(0.1, decay_steps=2, end_learning_rate=0.0)
    >>> exe = fluid.Executor()
    >>> _ = exe.run(fluid.default_startup_program())
    >>> [round(float(exe.run(fetch_list=[rate])[0].item()), 4) for step in range(4)]
    [0.1, 0.05, 0.0, 0.0]
    """
    given = (learning_rate, decay_steps, end_learning_rate, power, cycle)
    return _scheduled("polynomial_decay", PolynomialDecay, _polynomial, *given)


def _polynomial(decay: PolynomialDecay) -> Variable:
    decay_steps, end, power, cycle = decay.arguments
    step, last = _decay_step_counter(), decay_steps
    if cycle:
        last = decay_steps * _cycles(step, decay_steps)
    else:
        step = elementwise_min(step, fill_constant([1], "float32", float(decay_steps)))
    rate: Variable = schedules.power_of_rest(decay.learning_rate, step, last, end, power)
    return rate


def _cycles(step: Any, decay_steps: float) -> Any:
    """How many cycles have begun: 1 at first."""
    begun = ceil(step / decay_steps)
    zero = fill_constant([1], "float32", 0.0)
    one = fill_constant([1], "float32", 1.0)
    with Switch() as switch, switch.case(step == zero):
        assign(one, begun)
    return begun


@_SCHEDULE.like(PiecewiseDecay)
def piecewise_decay(boundaries: Sequence[float], values: Sequence[float]) -> Variable:
    """
    >>> rate = fluid.layers.piecewise_decay(boundaries=[1, 3], values=[1.0, 0.5, 0.25])
    >>> exe = fluid.Executor()
    >>> _ = exe.run(fluid.default_startup_program())
    >>> [exe.run(fetch_list=[rate])[0].item() for step in range(4)]
    [1.0, 0.5, 0.5, 0.25]
    """
    return _scheduled("piecewise_decay", PiecewiseDecay, _piecewise, boundaries, values, begin=0)


def _piecewise(decay: PiecewiseDecay) -> Variable:
    boundaries, values = decay.arguments
    if any(a >= b for a, b in pairwise(boundaries)):
        warn(f"piecewise_decay: expected boundaries in ascending order, got {boundaries}", None)
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


@_SCHEDULE.like(CosineDecay)
def cosine_decay(learning_rate: Rate, step_each_epoch: float, epochs: float) -> Variable:
    """
    >>> fluid.layers.cosine_decay(0.1, step_each_epoch=1000, epochs=120).shape
    (1,)
    """
    return _scheduled("cosine_decay", CosineDecay, _cosine, learning_rate, step_each_epoch, epochs)


def _cosine(decay: CosineDecay) -> Variable:
    step_each_epoch, epochs = decay.arguments
    epoch = floor(_decay_step_counter() / step_each_epoch)
    rate: Variable = schedules.cosine(decay.learning_rate, epoch, epochs, _LAYERS)
    return rate


@_SCHEDULE.like(LinearLrWarmup)
def linear_lr_warmup(
    learning_rate: Rate | LearningRateDecay, warmup_steps: float, start_lr: float, end_lr: float
) -> Variable:
    """
    >>> later = fluid.layers.cosine_decay(0.1, step_each_epoch=1000, epochs=120)
    >>> rate = fluid.layers.linear_lr_warmup(later, warmup_steps=4, start_lr=0.0, end_lr=0.1)
    >>> exe = fluid.Executor()
    >>> _ = exe.run(fluid.default_startup_program())
    >>> [round(float(exe.run(fetch_list=[rate])[0].item()), 4) for step in range(5)]
    [0.0, 0.025, 0.05, 0.075, 0.1]
    """
    given = (learning_rate, warmup_steps, start_lr, end_lr)
    return _scheduled("linear_lr_warmup", LinearLrWarmup, _warmup, *given)


def _warmup(decay: LinearLrWarmup) -> Variable:
    warmup_steps, start, end = decay.arguments
    later = decay.learning_rate
    dtype = later.dtype if isinstance(later, Variable) else DType.FP32
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


def _rate(name: str, dtype: Any) -> Variable:
    """A variable that branches write a rate to."""
    if default_main_program().global_block().has_var(name):  # of another schedule
        name = unique_name.generate(name)
    return create_global_var([1], 0.0, dtype, persistable=True, name=name)


list_public_names(globals())
answer(globals())
