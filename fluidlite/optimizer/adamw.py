"""AdamW: Adam, and a decay of parameters that is no part of the gradient."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ..clip import GradientClipBase
from ..errors import ArgumentError
from ..ir.block import Block
from ..ir.operator import Operator
from ..ir.variable import Variable
from .adam import Adam
from .arguments import number
from .optimizer import OPTIMIZERS


@OPTIMIZERS
class AdamW(Adam):
    """Adam, before whose steps parameters shrink by the factor 1 - learning_rate * weight_decay.

    Loshchilov and Hutter, Decoupled weight decay regularization, ICLR 2019.  In paddle 2's
    signature.

    Args:
        beta1: how much of the running mean of the gradient stays; a number in [0, 1).
        beta2: the same for the mean of its square.
        weight_decay: the coefficient; a number.
        lr_ratio: a function of a parameter that gives a factor of its learning rate; None for 1.
        apply_decay_param_fun: a function of a parameter's name that says whether it shrinks; all do
            when None.
        lazy_mode: update only the rows that a gradient of selected rows has.
        multi_precision: accepted; states are in the parameter's element type.

    >>> w = fluid.create_parameter([2], "float32")
    >>> adamw = fluid.optimizer.AdamW(0.1, parameters=[w], weight_decay=0.5)
    >>> w.set_value([1.0, 2.0])
    >>> fluid.sum(w * 3.0).backward()
    >>> adamw.step()
    >>> w.numpy().round(4)
    array([0.85, 1.8 ], dtype=float32)
    """

    _shown = "weight_decay=_decay"

    def __init__(
        self,
        learning_rate: float | Variable = 0.001,
        beta1: float | Variable = 0.9,
        beta2: float | Variable = 0.999,
        epsilon: float = 1e-8,
        parameters: Iterable[Any] | None = None,
        weight_decay: float = 0.01,
        lr_ratio: Callable[[Any], float] | None = None,
        apply_decay_param_fun: Callable[[str], bool] | None = None,
        grad_clip: GradientClipBase | None = None,
        lazy_mode: bool = False,
        multi_precision: bool = False,
        name: str | None = None,
    ) -> None:
        for what, given in (
            ("lr_ratio", lr_ratio),
            ("apply_decay_param_fun", apply_decay_param_fun),
        ):
            if given is not None and not callable(given):
                raise ArgumentError(f"AdamW: expected {what} to be a function, got {given!r:.60}")
        super().__init__(
            *(learning_rate, beta1, beta2, epsilon),
            grad_clip=grad_clip,
            name=name,
            lazy_mode=lazy_mode,
            parameters=parameters,
        )
        self._decay = number("AdamW", "weight_decay", weight_decay, least=0)
        self._lr_ratio, self._shrinks = lr_ratio, apply_decay_param_fun

    def decay_of(self, param: Any) -> float:
        """The coefficient of a parameter's decay."""
        shrinks = self._shrinks is None or self._shrinks(param.name)
        return self._decay if shrinks else 0.0

    def ratio_of(self, param: Any) -> float:
        """The factor of a parameter's learning rate."""
        return 1.0 if self._lr_ratio is None else float(self._lr_ratio(param))

    def append_step(
        self, block: Block, param: Variable, grad: Variable, rate: Variable
    ) -> Operator:
        """Append what shrinks a parameter, and its step; the step."""
        f = block.builder("adamw")
        ratio, decay = self.ratio_of(param), self.decay_of(param)
        if ratio != 1.0:
            rate = f.scale(rate, scale=ratio)
        if decay:
            factor = f.scale(rate, scale=-decay, bias=1.0)
            block.append_op(
                "elementwise_mul", {"X": param, "Y": factor}, {"Out": param}, {"axis": -1}
            )
        return super().append_step(block, param, grad, rate)
