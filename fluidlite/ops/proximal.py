"""Steps of optimizers that solve for what L1 and L2 decay adds to the loss, instead of following
its slope: parameters become exactly 0.
"""

from __future__ import annotations

from typing import Any

from ..opdef.annotations import Array, Arrays
from ..opdef.attribute import need_least
from .optimizer import ParameterUpdate, number


class Proximal(ParameterUpdate, abstract=True):
    """A step along the gradient, then the best point for the decay near it.

    l1: what the sum of the absolute values of Param counts in the loss.
    l2: what half the sum of its squares counts.
    """

    l1: float = 0.0
    l2: float = 0.0

    def check(self, *given):
        super().check(*given)
        need_least(self, 0, "l1", "l2")

    def shrunk(self, xp: Any, there: Array, rate: Array) -> Array:
        """The point that minimises rate * decay + half the squared distance from ``there``."""
        size = xp.maximum(xp.abs(there) - rate * self.l1, 0)
        return xp.sign(there) * size / (1 + rate * self.l2)


class proximal_gd(Proximal):
    """ParamOut = sign(P) * max(abs(P) - LearningRate * l1, 0) / (1 + LearningRate * l2), where
    P = Param - LearningRate * Grad.

    Duchi and Singer, Efficient online and batch learning using forward backward splitting,
    JMLR 2009.
    """

    signature = "Param, Grad, LearningRate -> ParamOut"

    def run(self, xp: Any, Param: Array, Grad: Array, LearningRate: Array) -> Array:
        rate = number(xp, LearningRate, Param)
        return self.shrunk(xp, Param - rate * Grad, rate)


class proximal_adagrad(Proximal):
    """ParamOut = sign(P) * max(abs(P) - LearningRate * l1, 0) / (1 + LearningRate * l2), where
    P = Param - LearningRate * Grad / sqrt(MomentOut).

    As ``proximal_gd``, with the steps of ``adagrad``.

    Moment, MomentOut: the sum of the squares of the gradients, MomentOut = Moment + Grad^2.
    """

    signature = "Param, Moment, Grad, LearningRate -> ParamOut, MomentOut"

    def run(self, xp: Any, Param: Array, Moment: Array, Grad: Array, LearningRate: Array) -> Arrays:
        rate, moment = number(xp, LearningRate, Param), Moment + xp.square(Grad)
        return self.shrunk(xp, Param - rate * Grad / xp.sqrt(moment), rate), moment


class ftrl(Proximal):
    """ParamOut = (l1 * sign(LinearAccumOut) - LinearAccumOut) / (s / LearningRate + 2 * l2), or 0
    where abs(LinearAccumOut) <= l1, with s = SquaredAccumOut^-lr_power.

    McMahan et al., Ad click prediction: a view from the trenches, KDD 2013: follow the regularized
    leader.

    SquaredAccumulator, SquaredAccumOut: the sum of the squares of the gradients.
    LinearAccumulator, LinearAccumOut: the slope at 0 of what all gradients so far say of the loss;
        it grows by Grad - (s - SquaredAccumulator^-lr_power) / LearningRate * Param.
    l2: here what all squares count, not their half.
    lr_power: how steps shrink; with -0.5 as those of ``adagrad``.
    """

    signature = (
        "Param, SquaredAccumulator, LinearAccumulator, Grad, LearningRate -> "
        "ParamOut, SquaredAccumOut, LinearAccumOut"
    )
    lr_power: float = -0.5

    def run(self, xp, Param, SquaredAccumulator, LinearAccumulator, Grad, LearningRate):
        rate, squares = number(xp, LearningRate, Param), SquaredAccumulator + xp.square(Grad)
        before, after = self.powers(xp, SquaredAccumulator), self.powers(xp, squares)
        linear = LinearAccumulator + Grad - (after - before) / rate * Param
        solved = (self.l1 * xp.sign(linear) - linear) / (after / rate + 2 * self.l2)
        param = xp.where(xp.abs(linear) > self.l1, solved, xp.zeros_like(solved))
        return param, squares, linear

    def powers(self, xp: Any, squares: Array) -> Array:
        """The powers of accumulated squares that steps are divided by."""
        return xp.sqrt(squares) if self.lr_power == -0.5 else squares**-self.lr_power
