"""Training with less memory: forward values between checkpoints are computed again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

from ..errors import ArgumentError, UnsupportedError
from ..ground.spellings import parameters_of
from ..ir.operator import Operator
from ..ir.variable import Variable
from .arguments import Pairs
from .optimizer import Optimizer
from .wrapped import WrappedOptimizer


class RecomputeOptimizer(WrappedOptimizer):
    """An optimizer that keeps only checkpoints of the forward values; the rest is computed again
    for the gradients.

    Values and gradients are the same to the last bit, those of dropout included.

    Source: Chen, Xu, Zhang and Guestrin, Training Deep Nets with Sublinear Memory Cost, 2016.

    Args:
        optimizer: makes the steps.

    Raises:
        ArgumentError: ``optimizer`` is no optimizer.

    >>> x = fluid.data("x", [None, 4], "float32")
    >>> hidden = fluid.layers.fc(x, 8, act="tanh")
    >>> loss = fluid.layers.mean(fluid.layers.fc(hidden, 1))
    >>> optimizer = fluid.optimizer.RecomputeOptimizer(fluid.optimizer.SGD(0.1))
    >>> optimizer.set_checkpoints([hidden])
    >>> _ = optimizer.minimize(loss)
    """

    #: whether what is kept is being chosen
    _chooses = False

    def set_checkpoints(self, checkpoints: Sequence[Variable | str]) -> None:
        """Say which forward values are kept.

        Args:
            checkpoints: variables of the loss's block, or their names.

        Raises:
            ArgumentError: this is no list, or something else is in it.
        """
        if not isinstance(checkpoints, (list, tuple)):
            raise ArgumentError(
                f"expected checkpoints to be a list of variables, got {checkpoints!r:.60}"
            )
        for each in checkpoints:
            if not isinstance(each, (Variable, str)):
                raise ArgumentError(f"expected checkpoints to be variables, got {each!r:.60}")
        self._optimizer._checkpoints = list(checkpoints)

    _set_checkpoints = set_checkpoints  # fluid 1.8's name

    def load(self, stat_dict: object) -> NoReturn:
        """Refused: what a program trains is loaded into its scope.

        Args:
            stat_dict: accepted as fluid 1.8 has it.
        """
        raise UnsupportedError(
            "RecomputeOptimizer.load: the state of a program's optimizer is in the scope; use "
            "fluid.load or fluid.io.load_persistables"
        )

    @parameters_of(Optimizer.minimize)
    def minimize(self, *given: Any) -> tuple[list[Operator], Pairs]:
        """Append gradients and a step.  A budget of memory needs no checkpoints; where there are
        some, more is computed again if need be.
        """
        *arguments, memory, batch_size = given
        self._chooses = memory is not None
        try:
            return super().minimize(*arguments, memory=memory, batch_size=batch_size)
        finally:
            self._chooses = False

    def check(self) -> None:
        if self._optimizer._checkpoints is None and not self._chooses:
            raise ArgumentError(
                "RecomputeOptimizer: call set_checkpoints([...]) first, or give minimize a budget: "
                'memory="64MB"'
            )
