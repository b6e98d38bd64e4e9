"""Steps of optimizers that look at the Euclidean norm of a whole parameter or gradient."""

from __future__ import annotations

from typing import Any, ClassVar

from ..opdef.annotations import Array, Arrays
from ..opdef.attribute import REQUIRED, attr, need_above, need_least
from .optimizer import ParameterUpdate, number


def norm(xp: Any, x: Array) -> Array:
    """The Euclidean norm of all elements."""
    return xp.sqrt(xp.sum(xp.square(x)))


def ratio(xp: Any, above: Array, below: Array, shrink: float = 1.0) -> Array:
    """shrink * above / below; 1 where one of them is 0."""
    both = (above > 0) & (below > 0)
    return xp.where(both, shrink * above / xp.where(both, below, 1), 1).astype(above.dtype)


class lars_momentum(ParameterUpdate):
    """VelocityOut = mu * Velocity + r * (Grad + lars_weight_decay * Param);
    ParamOut = Param - VelocityOut.

    You, Gitman and Ginsburg, Large batch training of convolutional networks, 2017.  The rate r is
    LearningRate * lars_coeff * norm(Param) / (norm(Grad) + lars_weight_decay * norm(Param)), and
    LearningRate where a norm is 0.

    Velocity: the last step, of which each one keeps some.
    mu: how much of the last step stays.
    lars_coeff: the length of a step, relative to that of Param.
    lars_weight_decay: what Param counts in the gradient.
    """

    updates_by_element: ClassVar[bool] = False
    signature = "Param, Grad, Velocity, LearningRate -> ParamOut, VelocityOut"
    mu: float = REQUIRED
    lars_coeff: float = 0.001
    lars_weight_decay: float = 0.0005

    def run(
        self, xp: Any, Param: Array, Grad: Array, Velocity: Array, LearningRate: Array
    ) -> Arrays:
        of_param, of_grad = norm(xp, Param), norm(xp, Grad)
        below = xp.where(of_grad > 0, of_grad + self.lars_weight_decay * of_param, 0)
        rate = number(xp, LearningRate, Param) * ratio(xp, of_param, below, self.lars_coeff)
        velocity = self.mu * Velocity + rate * (Grad + self.lars_weight_decay * Param)
        return Param - velocity, velocity


class lamb(ParameterUpdate):
    """ParamOut = Param - LearningRate * norm(Param) / norm(d) * d, where
    d = Moment1Out / (sqrt(Moment2Out) + epsilon) + weight_decay * Param.

    You et al., Large batch optimization for deep learning: training BERT in 76 minutes, ICLR 2020.
    Where a norm is 0, the step is LearningRate * d.

    Moment1, Moment1Out: the running mean of the gradient,
        Moment1Out = beta1 * Moment1 + (1 - beta1) * Grad.
    Moment2, Moment2Out: the running mean of its square, with beta2.
    Beta1Pow, Beta2Pow: not used: the means are not corrected for how they begin.
    weight_decay: what Param counts in the step.
    beta1, beta2: how much of the running means stays.
    epsilon: keeps the division finite.
    """

    updates_by_element: ClassVar[bool] = False
    signature = (
        "Param, Grad, LearningRate, Moment1, Moment2, Beta1Pow, Beta2Pow -> "
        "ParamOut, Moment1Out, Moment2Out"
    )
    weight_decay: float = REQUIRED
    beta1: float = 0.9
    beta2: float = 0.999
    epsilon: float = 1e-6

    def run(self, xp, Param, Grad, LearningRate, Moment1, Moment2):
        moment1 = self.beta1 * Moment1 + (1 - self.beta1) * Grad
        moment2 = self.beta2 * Moment2 + (1 - self.beta2) * Grad * Grad
        step = moment1 / (xp.sqrt(moment2) + self.epsilon) + self.weight_decay * Param
        rate = number(xp, LearningRate, Param) * ratio(xp, norm(xp, Param), norm(xp, step))
        return Param - rate * step, moment1, moment2


class lamb_v2(lamb):
    """``lamb`` as in paddle 2: d is made of means that are corrected for how they begin,
    d = m / (sqrt(v) + epsilon) + weight_decay * Param, where m = Moment1Out / (1 - Beta1Pow) and
    v = Moment2Out / (1 - Beta2Pow).

    Where nothing decays, the step is LearningRate * d.

    Beta1Pow, Beta1PowOut: the power of beta1 for this step and for the next.
    Beta2Pow, Beta2PowOut: the same of beta2.
    always_adapt: steps are as long as Param where nothing decays, too.
    """

    signature = (
        "Param, Grad, LearningRate, Moment1, Moment2, Beta1Pow, Beta2Pow -> "
        "ParamOut, Moment1Out, Moment2Out, Beta1PowOut, Beta2PowOut"
    )
    always_adapt: bool = False
    multi_precision: bool = attr(False, inert=True, local=True)

    def run(self, xp, Param, Grad, LearningRate, Moment1, Moment2, Beta1Pow, Beta2Pow):
        moment1 = self.beta1 * Moment1 + (1 - self.beta1) * Grad
        moment2 = self.beta2 * Moment2 + (1 - self.beta2) * Grad * Grad
        mean = moment1 / number(xp, 1 - Beta1Pow, Param)
        square = moment2 / number(xp, 1 - Beta2Pow, Param)
        step = mean / (xp.sqrt(square) + self.epsilon) + self.weight_decay * Param
        rate = number(xp, LearningRate, Param)
        if self.always_adapt or self.weight_decay > 0:
            rate = rate * ratio(xp, norm(xp, Param), norm(xp, step))
        powers = xp.asarray(self.beta1 * Beta1Pow), xp.asarray(self.beta2 * Beta2Pow)
        return Param - rate * step, moment1, moment2, *powers


class dpsgd(ParameterUpdate):
    """ParamOut = Param - LearningRate * (Grad * min(1, clip / norm(Grad)) + noise / batch_size).

    Abadi et al., Deep learning with differential privacy, CCS 2016.

    clip: the largest norm that a gradient keeps.
    batch_size: of how many examples Grad is the mean.
    sigma: the standard deviation of the noise, which is normal and independent for each element.
    seed: fixes the noise; with 0 it comes from the program's own stream.
    """

    updates_by_element: ClassVar[bool] = False
    signature = "Param, Grad, LearningRate -> ParamOut"
    random: ClassVar[bool] = True
    clip: float = 10.0
    batch_size: float = 16.0
    sigma: float = 1.0
    seed: int = 0

    def check(self, *given: Any) -> None:
        super().check(*given)
        need_above(self, 0, "clip", "batch_size")
        need_least(self, 0, "sigma")

    def run(self, xp: Any, rng: Any, Param: Array, Grad: Array, LearningRate: Array) -> Array:
        clipped = Grad * (self.clip / xp.maximum(norm(xp, Grad), self.clip))
        drawn = rng(self.seed).standard_normal(Grad.shape, "float64") * self.sigma
        noise = xp.asarray(drawn / self.batch_size, Grad.dtype)
        return Param - number(xp, LearningRate, Param) * (clipped + noise)
