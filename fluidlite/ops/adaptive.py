"""Steps of optimizers whose size at each element follows from the gradients there so far."""

from __future__ import annotations

from typing import Any, ClassVar

from ..errors import SlotError
from ..ground.values import SelectedRows
from ..opdef.annotations import Array, Arrays
from ..opdef.fluid_form import FluidForm
from .optimizer import ParameterUpdate, number, on_rows


class AdagradUpdate(ParameterUpdate, abstract=True):
    """A step that divides by the root of accumulated squares of gradients.

    Moment, MomentOut: the accumulated squares before and after the step.
    epsilon: keeps the division finite.
    """

    signature = "Param, Grad, Moment, LearningRate -> ParamOut, MomentOut"
    epsilon: float = 1e-6

    def run(self, xp: Any, Param: Array, Grad: Array, Moment: Array, LearningRate: Array) -> Arrays:
        moment = self.accumulated(xp, Moment, Grad)
        step = number(xp, LearningRate, Param) * Grad / (xp.sqrt(moment) + self.epsilon)
        return Param - step, moment

    def accumulated(self, xp: Any, Moment: Any, Grad: Any) -> Any:
        """The squares with those of one more gradient."""
        raise NotImplementedError


class adagrad(AdagradUpdate):
    """ParamOut = Param - LearningRate * Grad / (sqrt(MomentOut) + epsilon), where
    MomentOut = Moment + Grad^2.

    Duchi, Hazan and Singer, Adaptive subgradient methods for online learning and stochastic
    optimization, JMLR 2011.
    """

    fluid: ClassVar[FluidForm] = FluidForm(rows=("Grad",))

    def run(self, xp: Any, Param: Array, Grad: Array, Moment: Array, LearningRate: Array) -> Arrays:
        if not isinstance(Grad, SelectedRows):
            return AdagradUpdate.run(self, xp, Param, Grad, Moment, LearningRate)
        step = lambda g, p, m: self.run(xp, p, g, m, LearningRate)
        return on_rows(xp, Grad, [Param, Moment], step)

    def accumulated(self, xp: Any, Moment: Array, Grad: Array) -> Array:
        return Moment + xp.square(Grad)


class decayed_adagrad(AdagradUpdate):
    """ParamOut = Param - LearningRate * Grad / (sqrt(MomentOut) + epsilon), where
    MomentOut = decay * Moment + (1 - decay) * Grad^2.

    decay: how much of the accumulated squares stays.
    """

    decay: float = 0.95

    def accumulated(self, xp: Any, Moment: Array, Grad: Array) -> Array:
        return self.decay * Moment + (1 - self.decay) * Grad * Grad


class adamax(ParameterUpdate):
    """ParamOut = Param - LearningRate / (1 - Beta1Pow) * MomentOut / InfNormOut.

    Kingma and Ba, Adam: a method for stochastic optimization, ICLR 2015, section 7.1.

    Moment, MomentOut: the running mean of the gradient,
        MomentOut = beta1 * Moment + (1 - beta1) * Grad.
    InfNorm, InfNormOut: a decaying maximum of its size,
        InfNormOut = max(abs(Grad), beta2 * InfNorm + epsilon).
    Beta1Pow: the power of beta1 for this step.
    beta1: how much of the running mean stays.
    beta2: how much of the maximum stays.
    epsilon: keeps the division finite.
    """

    signature = (
        "Param, Grad, LearningRate, Moment, InfNorm, Beta1Pow -> ParamOut, MomentOut, InfNormOut"
    )
    beta1: float = 0.9
    beta2: float = 0.999
    epsilon: float = 1e-8

    def run(self, xp, Param, Grad, LearningRate, Moment, InfNorm, Beta1Pow):
        moment = self.beta1 * Moment + (1 - self.beta1) * Grad
        largest = xp.maximum(xp.abs(Grad), self.beta2 * InfNorm + self.epsilon)
        rate = LearningRate / (1 - Beta1Pow)
        return Param - number(xp, rate, Param) * moment / largest, moment, largest


class adadelta(ParameterUpdate):
    """ParamOut = Param - sqrt((AvgSquaredUpdateOut + epsilon) / (AvgSquaredGradOut + epsilon)) *
    Grad.

    Zeiler, ADADELTA: an adaptive learning rate method, 2012, but for one thing: there the root is
    that of AvgSquaredUpdate.  fluid 1.8 reads the variable after it has written it.

    AvgSquaredGrad, AvgSquaredGradOut: the running mean of the squared gradient,
        AvgSquaredGradOut = rho * AvgSquaredGrad + (1 - rho) * Grad^2.
    AvgSquaredUpdate, AvgSquaredUpdateOut: the running mean of the squared step of the paper,
        sqrt((AvgSquaredUpdate + epsilon) / (AvgSquaredGradOut + epsilon)) * Grad.
    rho: how much of the running means stays.
    epsilon: keeps the division finite, and gives the first steps their size.
    """

    signature = (
        "Param, Grad, AvgSquaredGrad, AvgSquaredUpdate -> "
        "ParamOut, AvgSquaredGradOut, AvgSquaredUpdateOut"
    )
    rho: float = 0.95
    epsilon: float = 1e-6

    def run(
        self, xp: Any, Param: Array, Grad: Array, AvgSquaredGrad: Array, AvgSquaredUpdate: Array
    ) -> Arrays:
        of_grad, of_step, _ = self.means(xp, Grad, AvgSquaredGrad, AvgSquaredUpdate)
        return Param - self.step(xp, Grad, of_grad, of_step), of_grad, of_step

    def means(self, xp: Any, Grad: Array, of_grad: Array, of_step: Array) -> Arrays:
        """The running means after a step, and the step of the paper."""
        of_grad = self.rho * of_grad + (1 - self.rho) * xp.square(Grad)
        step = self.step(xp, Grad, of_grad, of_step)
        return of_grad, self.rho * of_step + (1 - self.rho) * xp.square(step), step

    def step(self, xp: Any, Grad: Array, of_grad: Array, of_step: Array) -> Array:
        """A gradient in the size of steps, by running means of the squares of both."""
        return xp.sqrt((of_step + self.epsilon) / (of_grad + self.epsilon)) * Grad


class adadelta_v2(adadelta):
    """ParamOut = Param - LearningRate * step, where
    step = sqrt((AvgSquaredUpdate + epsilon) / (AvgSquaredGradOut + epsilon)) * Grad: the step of
    the paper, times the rate, as in paddle 2.

    The running means are those of ``adadelta``.
    """

    signature = (
        "Param, Grad, AvgSquaredGrad, AvgSquaredUpdate, LearningRate -> "
        "ParamOut, AvgSquaredGradOut, AvgSquaredUpdateOut"
    )

    def run(
        self,
        xp: Any,
        Param: Array,
        Grad: Array,
        AvgSquaredGrad: Array,
        AvgSquaredUpdate: Array,
        LearningRate: Array,
    ) -> Arrays:
        of_grad, of_step, step = self.means(xp, Grad, AvgSquaredGrad, AvgSquaredUpdate)
        return Param - number(xp, LearningRate, Param) * step, of_grad, of_step


class rmsprop(ParameterUpdate):
    """ParamOut = Param - MomentOut, where
    MomentOut = momentum * Moment + LearningRate * Grad / sqrt(MeanSquareOut + epsilon).

    Tieleman and Hinton, Lecture 6.5: rmsprop, Coursera, 2012.  When ``centered``, the root is that
    of MeanSquareOut - MeanGradOut^2 + epsilon: Graves, Generating sequences with recurrent neural
    networks, 2013.

    Moment, MomentOut: the last steps, of which each one keeps some.
    MeanSquare, MeanSquareOut: the running mean of the squared gradient,
        MeanSquareOut = decay * MeanSquare + (1 - decay) * Grad^2.
    MeanGrad, MeanGradOut: the running mean of the gradient, which is needed, and changes, when
        ``centered``; else 0 where it is not given.
    decay: how much of the running means stays.
    momentum: how much of the last step stays.
    centered: divide by the deviation from the mean.
    epsilon: keeps the division finite.
    """

    signature = (
        "Param, MeanSquare, MeanGrad?, LearningRate, Grad, Moment -> "
        "ParamOut, MomentOut, MeanSquareOut, MeanGradOut"
    )
    epsilon: float = 1e-10
    decay: float = 0.9
    momentum: float = 0.0
    centered: bool = False

    def infer(self, Param, MeanSquare, MeanGrad, LearningRate, Grad, Moment):
        if self.centered and MeanGrad is None:
            raise SlotError("a centered rmsprop needs its input MeanGrad")
        kept = dict(Moment=Moment, MeanSquare=MeanSquare, MeanGrad=MeanGrad)
        self.check(Param, LearningRate, dict(Grad=Grad, **kept))
        return Param, Moment, MeanSquare, MeanGrad or Param

    def run(self, xp, Param, MeanSquare, MeanGrad, LearningRate, Grad, Moment):
        square = self.decay * MeanSquare + (1 - self.decay) * Grad * Grad
        below = square + self.epsilon
        if self.centered:
            MeanGrad = self.decay * MeanGrad + (1 - self.decay) * Grad
            below = below - xp.square(MeanGrad)
        elif MeanGrad is None:
            MeanGrad = xp.zeros_like(Param)
        step = number(xp, LearningRate, Param) * Grad / xp.sqrt(below)
        moment = self.momentum * Moment + step
        return Param - moment, moment, square, MeanGrad
