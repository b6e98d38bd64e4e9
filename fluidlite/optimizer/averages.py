"""Averages of parameters over a training: often better than the last ones, and kept beside them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar, NamedTuple

import numpy as np

from .. import unique_name
from ..ground.arguments import instance_of, integer, or_none, text_or_none
from ..ground.doubts import number
from ..ground.dtypes import DType
from ..ground.protected import answers, answers_protected
from ..ground.reprs import Described
from ..initializer import Constant
from ..ir.block import Block
from ..ir.name_scope import name_scope
from ..ir.operator import OpRole
from ..ir.program import Program, default_main_program, default_startup_program, program_guard
from ..ir.variable import Parameter, Variable
from ..layers.branch import Switch
from ..layers.creation import assign
from ..layers.elementwise import elementwise_pow
from ..layers.math import cast, sum
from ..layers.params import global_variable
from ..layers.variables import autoincreased_step_counter
from ..regularizer import WeightDecayRegularizer
from .arguments import OF_LOSS
from .states import State, States


class _Averaged(NamedTuple):
    """A parameter, and the variable that keeps it while its average is in its place."""

    param: Parameter
    kept: Variable


class _Averages(Described):
    """Averages of the parameters of a program that can take their place for a while.

    A subclass makes ``apply_program``.
    """

    #: puts the averages in place of the parameters, which it keeps
    apply_program: Program
    #: puts the kept parameters back
    restore_program: Program

    def __init__(self, kind: str, name: str | None) -> None:
        text_or_none(kind, "name", name)
        self._main, self._startup = default_main_program(), default_startup_program()

    def _kept(self, prefix: str, suffix: str) -> list[_Averaged]:
        """The parameters to average, with a variable each."""
        block = self._main.global_block()
        averaged = []
        for param in self._main.all_parameters():
            if param.do_model_average is False:
                continue
            name = unique_name.generate(f"{prefix}{param.name}.{suffix}")
            kept = block.create_var(name=name, dtype=param.dtype, stop_gradient=True)
            averaged.append(_Averaged(param, kept))
        return averaged

    def _restoring(self, averaged: list[_Averaged]) -> Program:
        program = Program()
        with program_guard(program):
            block = program.global_block()
            for param, kept in averaged:
                assign(_twin(kept, block, param.shape), _twin(param, block))
        return program

    @contextmanager
    def apply(self, executor: Any, need_restore: bool = True) -> Iterator[None]:
        """Use the averages in place of the parameters inside a ``with`` block.

        Args:
            executor: runs the programs that exchange them.
            need_restore: put the parameters back at the end; else :meth:`restore` does it.
        """
        executor.run(self.apply_program)
        try:
            yield
        finally:
            if need_restore:
                self.restore(executor)

    def restore(self, executor: Any) -> None:
        """Put the parameters back that :meth:`apply` has kept.

        Args:
            executor: runs the program that does it.
        """
        executor.run(self.restore_program)


@answers_protected
@answers(
    _ema_vars=lambda self: {
        param.name: mean for (param, _), mean in zip(self._params_tmps, self._means)
    }
)
@OF_LOSS
class ExponentialMovingAverage(_Averages):
    """Running means of all parameters of the default main program: after each step
    ``average = decay * average + (1 - decay) * parameter``.

    They begin with 0 and are corrected for it when they are applied, by ``1 - decay^steps``; before
    the first step the parameters themselves stay.  Parameters with ``do_model_average=False`` are
    left out.

    Args:
        decay: how much of the mean stays.
        thres_steps: a variable with the number of steps so far, n: then no more than
            (1 + n) / (10 + n) stays, so that early means follow faster.
        name: stands in the names of the means.

    Raises:
        ArgumentError: an argument is of another kind.

    >>> ops, pairs = fluid.optimizer.SGD(0.1).minimize(loss)
    >>> average = fluid.optimizer.ExponentialMovingAverage(0.99)
    >>> average.update()
    >>> exe, feed = fluid.Executor(), {"x": np.ones([2, 3], "float32")}
    >>> _ = exe.run(fluid.default_startup_program())
    >>> _ = exe.run(feed=feed)
    >>> with average.apply(exe):
    ...     pass  # test here
    """

    def __init__(
        self, decay: float = 0.999, thres_steps: Variable | None = None, name: str | None = None
    ) -> None:
        super().__init__("ExponentialMovingAverage", name)
        self._decay = number("ExponentialMovingAverage", "decay", decay, least=0, below=1)
        or_none(instance_of(Variable, "a variable"))(self, "thres_steps", thres_steps)
        self._thres_steps, self._name = thres_steps, name or ""
        prefix = self._name
        self._decay_var = self._decay_variable(thres_steps)
        self._step_counter_name = _free_name("@EMA_STEP_COUNTER@", self._startup.global_block())
        self._params_tmps = self._kept(prefix, "ema_tmp")
        self._means: list[Variable] = []
        for param, kept in self._params_tmps:
            with self._main.as_role(OpRole.OPTIMIZE, (param, kept)), name_scope("moving_average"):
                self._means.append(self._mean_of(param, prefix))
        self.apply_program: Program = self._applying()
        self.restore_program: Program = self._restoring(self._params_tmps)

    def _decay_variable(self, steps: Variable | None) -> Variable:
        """How much of the means stays in a step."""
        with self._main.as_role(OpRole.LRSCHED):
            name = _free_name("scheduled_ema_decay_rate", self._main.global_block())
            start = Constant(self._decay)
            decay_rate = global_variable(self._main, self._startup, name, [1], DType.FP32, start)
            if steps is None:
                return decay_rate
            n: Any = steps if steps.dtype is DType.FP32 else cast(steps, "float32")
            most = (n + 1.0) / (n + 10.0)
            with Switch() as switch:
                with switch.case(most < self._decay):
                    assign(most, decay_rate)
                with switch.default():
                    assign(np.array([self._decay], "float32"), decay_rate)
        return decay_rate

    def _mean_of(self, param: Parameter, prefix: str) -> Variable:
        name = unique_name.generate(f"{prefix}{param.name}_ema")
        start = Constant(0.0)
        return global_variable(self._main, self._startup, name, param.shape, param.dtype, start)

    def _applying(self) -> Program:
        program = Program()
        with program_guard(program, self._startup):
            block = program.global_block()
            start = Constant(0.0)
            counter = global_variable(
                program, self._startup, self._step_counter_name, [1], DType.INT64, start
            )
            decay: Any = _twin(self._decay_var, block)
            steps: Any = cast(counter, "float32")
            if any(mean.dtype is DType.FP64 for mean in self._means):
                decay, steps = cast(decay, "float64"), cast(counter, "float64")
            power: Any = elementwise_pow(decay, steps)
            for (param, kept), mean in zip(self._params_tmps, self._means, strict=True):
                there, average = _twin(param, block), _twin(mean, block)
                assign(there, _twin(kept, block))
                with Switch() as switch, switch.case(steps > 0.0):
                    assign(average / (1.0 - power), there)
        return program

    def update(self) -> None:
        """Append a step of all means to the program; to be called behind ``minimize``."""
        decay: Any = self._decay_var
        with program_guard(self._main, self._startup):
            autoincreased_step_counter(counter_name=self._step_counter_name)
            for (param, kept), mean in zip(self._params_tmps, self._means, strict=True):
                role = self._main.as_role(OpRole.OPTIMIZE, (param, kept))
                with role, name_scope("moving_average"):
                    now: Any = param
                    old: Any = mean
                    assign(old * decay + now * (1.0 - decay), mean)


@answers_protected
@answers(
    _accumulators=lambda self: self._states.by_name(),
    _opti_name_list=lambda self: self._states.names(),
)
@OF_LOSS
class ModelAverage(_Averages):
    """Means of all parameters of the default main program over the last steps.

    The program gets the operators that sum parameters up; to be made behind ``minimize``.  A mean
    goes over the newest window of steps and the one before.  Parameters with
    ``do_model_average=False`` are left out.

    Args:
        average_window_rate: how many steps a window gets, relative to the number of steps so far.
        min_average_window: how many it gets at least.
        max_average_window: how many it gets at most.
        regularization: accepted for old scripts; averages need none.
        name: stands in the names of the sums.

    Raises:
        ArgumentError: an argument is of another kind.

    >>> ops, pairs = fluid.optimizer.SGD(0.1).minimize(loss)
    >>> average = fluid.optimizer.ModelAverage(0.15, 1000, 10000)
    >>> exe, feed = fluid.Executor(), {"x": np.ones([2, 3], "float32")}
    >>> _ = exe.run(fluid.default_startup_program())
    >>> _ = exe.run(feed=feed)
    >>> with average.apply(exe):
    ...     pass  # test here
    """

    _shown = "average_window_rate=average_window"

    #: the order in which fluid makes them
    sums: ClassVar[tuple[State, ...]] = tuple(
        State(f"in_sum_{k}", f"sum_{k}", out=f"out_sum_{k}") for k in (1, 2, 3)
    )
    counts: ClassVar[tuple[State, ...]] = tuple(
        State(f"in_{name}", name, 0.0, True, f"out_{name}", DType.INT64)
        for name in ("num_accumulates", "old_num_accumulates", "num_updates")
    )

    def __init__(
        self,
        average_window_rate: float,
        min_average_window: int = 10000,
        max_average_window: int = 10000,
        regularization: WeightDecayRegularizer | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__("ModelAverage", name)
        rate = number("ModelAverage", "average_window_rate", average_window_rate, least=0)
        self.average_window, self.regularization, self._name = rate, regularization, name
        self.min_average_window: int = integer(self, "min_average_window", min_average_window)
        self.max_average_window: int = integer(self, "max_average_window", max_average_window)
        self._states = States("ModelAverage", name)
        self.params_grads = self._kept("", "tmp")
        for param, kept in self.params_grads:
            with self._main.as_role(OpRole.OPTIMIZE, (param, kept)), name_scope("move_average"):
                self._accumulate(param)
        self.apply_program: Program = self._applying()
        self.restore_program: Program = self._restoring(self.params_grads)

    def _accumulate(self, param: Parameter) -> None:
        """Append the operator that adds a parameter to its sums."""
        ins: dict[str, Variable] = {"param": param}
        outs: dict[str, Variable] = {}
        for state in (*self.sums, *self.counts):
            made = self._states.make(self._main, self._startup, state, param)
            ins[state.slot] = outs[str(state.out)] = made
        attrs = {
            "average_window": self.average_window,
            "min_average_window": self.min_average_window,
            "max_average_window": self.max_average_window,
        }
        self._main.global_block().append_op("average_accumulates", ins, outs, attrs)

    def _applying(self) -> Program:
        program = Program()
        with program_guard(program):
            block = program.global_block()
            for param, kept in self.params_grads:
                there = _twin(param, block)
                assign(there, _twin(kept, block))
                sums = [_twin(self._states.of(s, param), block) for s in self.sums]
                counts = [_twin(self._states.of(s, param), block) for s in self.counts]
                count, total = sum(counts[:2]), sum(sums)
                count, total = cast(count, param.dtype), cast(total, param.dtype)
                block.append_op("elementwise_div", {"X": total, "Y": count}, {"Out": there})
        return program


def _twin(variable: Variable, block: Block, shape: Any = None) -> Any:
    """The variable of that name in another program, where its value stays in the scope."""
    if shape is None and variable.has_shape:
        shape = variable.shape
    return block.create_var(name=variable.name, shape=shape, dtype=variable.dtype, persistable=True)


def _free_name(name: str, block: Block) -> str:
    """A name, or one like it where it is taken."""
    return unique_name.generate(name) if block.has_var(name) else name
