"""Differentially private gradient descent."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..ir.variable import Variable
from .optimizer import OPTIMIZERS, Optimizer


@OPTIMIZERS
class Dpsgd(Optimizer):
    """Gradient descent with clipped gradients and noise, so that steps tell little of any example.

    Abadi et al., Deep learning with differential privacy, CCS 2016.

    Args:
        clip: the largest norm that a gradient keeps.
        batch_size: of how many examples a gradient is the mean; divides the noise.
        sigma: the standard deviation of the noise.

    >>> x = fluid.data("x", [None, 3], "float32")
    >>> loss = fluid.layers.mean(fluid.layers.fc(x, 1, bias_attr=False))
    >>> dpsgd = fluid.optimizer.Dpsgd(0.1, clip=10.0, batch_size=16.0, sigma=1.0)
    >>> ops, pairs = dpsgd.minimize(loss)
    >>> ops[0].attr("clip")
    10.0
    """

    type = "dpsgd"
    attributes = "clip batch_size sigma"

    def __init__(
        self,
        learning_rate: float | Variable = 0.001,
        clip: float = 0.9,
        batch_size: float = 0.999,
        sigma: float = 1e-8,
        parameter_list: Iterable[Variable | str] | None = None,
        *,
        parameters: Iterable[Any] | None = None,
    ) -> None:
        super().__init__(learning_rate, parameter_list, parameters=parameters)
        self._clip = self.checked("clip", clip)
        self._batch_size = self.checked("batch_size", batch_size)
        self._sigma = self.checked("sigma", sigma)


DpsgdOptimizer = Dpsgd
