"""Optimizers whose steps go against the gradient, or along a running sum of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

from ..clip import GradientClipBase
from ..ground.fields import field, from_fields
from ..ir.variable import Variable
from ..layers.decay import LearningRateDecay
from ..regularizer import WeightDecayRegularizer
from .arguments import OF_LOSS
from .optimizer import Optimizer
from .states import State


@OF_LOSS
@from_fields
class SGD(Optimizer):
    """Stochastic gradient descent: ``param -= learning_rate * grad``.

    Args:
        learning_rate: as of all optimizers; 0.001 in paddle 2's words.

    >>> ops, pairs = fluid.optimizer.SGD(learning_rate=0.1).minimize(loss)
    >>> ops[0].input("LearningRate")
    ['learning_rate_0']
    """

    learning_rate: float | Variable | LearningRateDecay | None = None
    parameter_list: Iterable[Variable | str] | None = None
    regularization: WeightDecayRegularizer | None = None
    grad_clip: GradientClipBase | None = None
    name: str | None = None
    multi_precision: bool = field(default=False, kw_only=True)

    type = "sgd"
    defaults_of_paddle2: ClassVar[Mapping[str, Any]] = {"learning_rate": 0.001}


@OF_LOSS
@from_fields
class Momentum(Optimizer):
    """Gradient descent with momentum: ``velocity = momentum * velocity + grad`` and
    ``param -= learning_rate * velocity``.

    Args:
        learning_rate: as of all optimizers; 0.001 in paddle 2's words.
        momentum: how much of the velocity stays; 0.9 in paddle 2's words.
        use_nesterov: look ahead: ``param -= learning_rate * (grad + momentum * velocity)``.

    >>> ops, pairs = fluid.optimizer.Momentum(0.1, momentum=0.9).minimize(loss)
    >>> ops[0].output("VelocityOut")
    ['fc_0.w_0_velocity_0']
    """

    _velocity_acc_str = "velocity"

    learning_rate: float | Variable | LearningRateDecay | None = None
    momentum: float | None = None
    parameter_list: Iterable[Variable | str] | None = None
    use_nesterov: bool = False
    regularization: WeightDecayRegularizer | None = None
    grad_clip: GradientClipBase | None = None
    name: str | None = None
    multi_precision: bool = field(default=False, kw_only=True)
    rescale_grad: float = field(default=1.0, kw_only=True)
    use_multi_tensor: bool = field(default=False, kw_only=True)

    type = "momentum"
    states: ClassVar[Sequence[State]] = (State("Velocity", "velocity"),)
    attributes = "mu=momentum use_nesterov"
    defaults_of_paddle2: ClassVar[Mapping[str, Any]] = {"learning_rate": 0.001, "momentum": 0.9}


@OF_LOSS
@from_fields
class LarsMomentum(Optimizer):
    """Momentum whose steps have lengths relative to those of the parameters: layer-wise adaptive
    rate scaling.

    You, Gitman and Ginsburg, Large batch training of convolutional networks, 2017.

    Args:
        lars_coeff: the length of a step, relative to its parameter's.
        lars_weight_decay: what a parameter counts in its gradient.

    >>> ops, pairs = fluid.optimizer.LarsMomentum(0.1, momentum=0.9).minimize(loss)
    >>> ops[0].output("VelocityOut")
    ['fc_0.w_0_velocity_0']
    """

    _velocity_acc_str = "velocity"

    learning_rate: float | Variable | LearningRateDecay
    momentum: float
    lars_coeff: float = 0.001
    lars_weight_decay: float = 0.0005
    parameter_list: Iterable[Variable | str] | None = None
    regularization: WeightDecayRegularizer | None = None
    grad_clip: GradientClipBase | None = None
    name: str | None = None

    type = "lars_momentum"
    states: ClassVar[Sequence[State]] = (State("Velocity", "velocity"),)
    attributes = "mu=momentum lars_coeff lars_weight_decay"


@OF_LOSS
class Dpsgd(Optimizer):
    """Gradient descent with clipped gradients and noise, so that steps tell little of any example.

    Abadi et al., Deep learning with differential privacy, CCS 2016.

    Args:
        clip: the largest norm that a gradient keeps.
        batch_size: of how many examples a gradient is the mean; divides the noise.
        sigma: the standard deviation of the noise.

    >>> dpsgd = fluid.optimizer.Dpsgd(0.1, clip=10.0, batch_size=16.0, sigma=1.0)
    >>> ops, pairs = dpsgd.minimize(loss)
    >>> ops[0].attr("clip")
    10.0
    """

    _seed = 0
    type = "dpsgd"
    attributes = "clip batch_size sigma"

    def __init__(
        self,
        learning_rate: float | Variable | LearningRateDecay = 0.001,
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


SGDOptimizer = SGD
MomentumOptimizer = Momentum
LarsMomentumOptimizer = LarsMomentum
DpsgdOptimizer = Dpsgd
