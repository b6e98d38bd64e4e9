"""Optimizers that train in float16 where that is safe."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ...errors import ArgumentError
from ...ground.arguments import integer, positive, refused
from ...ground.dtypes import DType
from ...ground.missing_names import answer
from ...ground.protected import answers, answers_protected
from ...ir.operator import Operator, OpRole
from ...ir.program import Program, default_main_program, default_startup_program, program_guard
from ...ir.rollback import all_or_nothing
from ...ir.variable import Variable
from ...layers.driving import append_conditional, new_block
from ...layers.math import cast
from ...optimizer.arguments import Pair, Pairs
from ...optimizer.optimizer import Optimizer
from ...optimizer.wrapped import WrappedOptimizer, an_optimizer
from .fp16_lists import AutoMixedPrecisionLists
from .loss_scaling import Counters, ScalingRule, all_finite, divided, kept_number, update
from .rewriting import rewritten


@answers_protected
@answers(
    _incr_ratio=lambda self: self._rule.incr_ratio,
    _decr_ratio=lambda self: self._rule.decr_ratio,
    _num_good_steps=lambda self: self._counters and self._counters.good,
    _num_bad_steps=lambda self: self._counters and self._counters.bad,
)
class OptimizerWithMixedPrecision(WrappedOptimizer):
    """An optimizer whose programs work in float16 where that is safe; made by :func:`decorate`.

    Args:
        optimizer, amp_lists, init_loss_scaling, use_dynamic_loss_scaling: as of :func:`decorate`.
        rule: when the factor on the loss changes, and how.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        amp_lists: AutoMixedPrecisionLists,
        init_loss_scaling: float,
        use_dynamic_loss_scaling: bool,
        rule: ScalingRule,
    ) -> None:
        super().__init__(optimizer)
        self._amp_lists = amp_lists
        self._init_loss_scaling = init_loss_scaling
        self._use_dynamic_loss_scaling = use_dynamic_loss_scaling
        self._rule = rule
        self._loss_scaling: Variable | None = None
        self._scaled_loss: Variable | None = None
        self._counters: Counters | None = None

    def get_loss_scaling(self) -> Variable:
        """The variable of the factor on the loss; before ``minimize`` it is made in the default
        main program.
        """
        factor = self._loss_scaling
        if factor is None:
            factor = self._factor(default_main_program(), default_startup_program())
        return factor

    def _factor(self, main: Program, startup: Program) -> Variable:
        factor = self._loss_scaling
        if factor is None or main.global_block().vars.get(factor.name) is not factor:
            start = self._init_loss_scaling
            factor = kept_number(main, startup, "loss_scaling", start, DType.FP32)
            self._loss_scaling = factor
        return factor

    def get_scaled_loss(self) -> Variable:
        """The loss times the factor.

        Raises:
            ArgumentError: there is none before ``backward`` or ``minimize``.
        """
        if self._scaled_loss is None:
            raise ArgumentError("there is no scaled loss yet; call minimize(loss) first")
        return self._scaled_loss

    def step_of(
        self, loss: Variable, startup_program: Program | None, *given: Any
    ) -> tuple[list[Operator], Pairs]:
        """Rewrite the program, append gradients, and a step.

        Returns:
            the operators of the step, and pairs of a parameter and its gradient, divided by the
            factor on the loss.
        """
        main, startup = _programs(loss, startup_program)
        with all_or_nothing(main, startup), rewritten(main, self._amp_lists):
            pairs = self._scaled_gradients(loss, startup, *given, None)
            return self.apply_optimize(loss, startup, pairs), pairs

    def gradients_of(self, loss: Variable, startup_program: Program | None, *given: Any) -> Pairs:
        """Rewrite the program and append gradients.

        Returns:
            pairs of a parameter and its gradient, divided by the factor on the loss.
        """
        main, startup = _programs(loss, startup_program)
        with all_or_nothing(main, startup), rewritten(main, self._amp_lists):
            return self._scaled_gradients(loss, startup, *given)

    def _scaled_gradients(self, loss: Variable, startup: Program, *given: Any) -> Pairs:
        main = loss.program
        with program_guard(main, startup):
            factor = self._factor(main, startup)
            if self._use_dynamic_loss_scaling:
                good = kept_number(main, startup, "num_good_steps", 0, DType.INT32)
                bad = kept_number(main, startup, "num_bad_steps", 0, DType.INT32)
                self._counters = Counters(good, bad)
            with main.as_role(OpRole.FORWARD | OpRole.LOSS):
                wide: Any = cast(loss, "float32") if loss.dtype is DType.FP16 else loss
                scaled = wide * factor
            self._scaled_loss = scaled
            pairs = self._optimizer.backward(scaled, startup, *given)
            unscaled = []
            for param, gradient in pairs:
                with main.as_role(OpRole.OPTIMIZE, (param, gradient)):
                    unscaled.append((param, divided(gradient, factor)))
        return unscaled

    def apply_gradients(self, params_grads: Iterable[Pair]) -> list[Operator]:
        """Append one step; arguments as of :meth:`Optimizer.apply_gradients`.

        With dynamic scaling it is made if all gradients are finite; the factor changes in any case.

        Raises:
            ArgumentError: there are no gradients of this optimizer.
        """
        pairs = list(params_grads)
        if not self._use_dynamic_loss_scaling:
            return self._optimizer.apply_gradients(pairs)
        factor, counters = self._loss_scaling, self._counters
        if factor is None or counters is None:
            raise ArgumentError("there are no scaled gradients yet; call backward(loss) first")
        main, startup = factor.program, default_startup_program()
        gradients = [gradient for _, gradient in pairs if gradient is not None]
        if not gradients:
            return self._optimizer.apply_gradients(pairs)
        with (
            all_or_nothing(main, startup),
            program_guard(main, startup),
            main.as_role(OpRole.OPTIMIZE),
        ):
            block = main.current_block()
            finite = all_finite(gradients)
            update(finite, factor, counters, self._rule)
            with new_block("conditional_block", main) as steps:
                made = self._optimizer.apply_gradients(pairs)
            append_conditional(block, steps, [finite], scalar=True)
        return made

    def apply_optimize(
        self, loss: Variable, startup_program: Program | None, params_grads: Iterable[Pair]
    ) -> list[Operator]:
        """Append one step; arguments as of :meth:`Optimizer.apply_optimize`."""
        main, startup = _programs(loss, startup_program)
        with all_or_nothing(main, startup), program_guard(main, startup):
            return self.apply_gradients(params_grads)


def decorate(
    optimizer: Optimizer,
    amp_lists: AutoMixedPrecisionLists | None = None,
    init_loss_scaling: float = 32768,
    incr_every_n_steps: int = 1000,
    decr_every_n_nan_or_inf: int = 2,
    incr_ratio: float = 2.0,
    decr_ratio: float = 0.8,
    use_dynamic_loss_scaling: bool = True,
) -> OptimizerWithMixedPrecision:
    """An optimizer that trains in float16 where that is safe.

    ``minimize`` rewrites the program: products of matrices read float16 copies of float32
    parameters, what follows them stays float16 where ``amp_lists`` allow it, and all else is
    float32.  The loss is multiplied by a factor, so that small gradients do not become 0, and the
    gradients are divided by it.  With dynamic scaling, a step whose gradients are not all finite is
    skipped: parameters and what the optimizer keeps stay as they are.

    Micikevicius et al., Mixed precision training, ICLR 2018.  Arithmetic on 16 bits is done in 32
    inside the operators here, and rounded at the end: it saves memory, not time.

    Args:
        optimizer: makes the steps.
        amp_lists: which operators work in what.
        init_loss_scaling: the factor to begin with.
        incr_every_n_steps: so many good steps in a row make the factor larger.
        decr_every_n_nan_or_inf: so many skipped steps in a row make it smaller.
        incr_ratio, decr_ratio: what it is multiplied by then; it stays at least 1.
        use_dynamic_loss_scaling: False: it never changes, and no step is skipped.

    Returns:
        an optimizer that also has ``get_loss_scaling()`` and ``get_scaled_loss()``.

    Raises:
        ArgumentError: an argument is of another kind, or the optimizer is one of eager parameters.

    >>> x = fluid.data("x", [None, 3], "float32")
    >>> loss = fluid.layers.mean(fluid.layers.fc(x, 1, bias_attr=False))
    >>> sgd = fluid.contrib.mixed_precision.decorate(fluid.optimizer.SGD(0.1))
    >>> ops, pairs = sgd.minimize(loss)
    >>> loss.block.var("fc_0.tmp_0").dtype, loss.dtype
    (VarType.FP16, VarType.FP32)
    """
    an_optimizer("decorate", optimizer)
    if optimizer._eager is not None:
        raise ArgumentError(
            "decorate: mixed precision rewrites programs, and this optimizer is one of eager "
            "parameters"
        )
    if amp_lists is not None and not isinstance(amp_lists, AutoMixedPrecisionLists):
        raise ArgumentError(
            f"decorate: expected amp_lists to be AutoMixedPrecisionLists, got {amp_lists!r:.60}"
        )
    rule = ScalingRule(
        integer("decorate", "incr_every_n_steps", incr_every_n_steps),
        integer("decorate", "decr_every_n_nan_or_inf", decr_every_n_nan_or_inf),
        positive("decorate", "incr_ratio", incr_ratio),
        positive("decorate", "decr_ratio", decr_ratio),
    )
    return OptimizerWithMixedPrecision(
        optimizer,
        AutoMixedPrecisionLists() if amp_lists is None else amp_lists,
        positive("decorate", "init_loss_scaling", init_loss_scaling),
        bool(use_dynamic_loss_scaling),
        rule,
    )


def _programs(loss: Any, startup: Program | None) -> tuple[Program, Program]:
    """The program of a loss, and the one that gives variables their first values."""
    if not isinstance(loss, Variable):
        raise refused("", "the loss", "a variable", loss)
    return loss.program, default_startup_program() if startup is None else startup


answer(globals())
