"""One step of an optimizer as an operator: new parameters and states from old and a gradient."""

from __future__ import annotations

from typing import Any, ClassVar

from ..ground.values import SelectedRows
from ..opdef.annotations import Array, Arrays, Specs
from ..opdef.attribute import REQUIRED, Double, Long, attr
from ..opdef.definition import Detached
from ..opdef.fluid_form import FluidForm
from ..opdef.spec import need_one, need_shape, same_float


class ParameterUpdate(Detached, abstract=True):
    """One step of an optimizer.

    Param, ParamOut: the parameter before and after the step; in programs the same variable.
    Grad: the gradient of the loss by Param.
    LearningRate: the step size, one element.
    """

    is_update: ClassVar[bool] = True
    updates_by_element: ClassVar[bool] = True

    def infer(self, *specs: Any) -> Specs:
        of_elements = dict(zip(self.input_slots, specs))
        param, rate = of_elements.pop("Param"), of_elements.pop("LearningRate", None)
        numbers = {k: of_elements.pop(k) for k in list(of_elements) if k.startswith("Beta")}
        self.check(param, rate, of_elements, numbers)
        kept = (s for name, s in of_elements.items() if name != "Grad")
        return (param, *kept, *numbers.values())[: len(self.outputs)]

    def check(self, Param: Any, LearningRate: Any, like_param: Any, numbers: Any = ()) -> Any:
        """Check the inputs: some of the shape of Param, some numbers of one element."""
        given = {name: s for name, s in {**like_param, **dict(numbers)}.items() if s is not None}
        same_float(Param=Param, LearningRate=LearningRate, **given)
        for name, one in like_param.items():
            need_shape(name, one, Param.shape, "as Param")
        need_one(**{"LearningRate": LearningRate, **dict(numbers)})


def on_rows(xp: Any, Grad: Any, wholes: list[Array], step: Any) -> list[Array]:
    """Arrays after a step in the rows that a gradient has; the others stay as they are.

    Args:
        Grad: a gradient of which only some rows are stored.
        wholes: arrays of its shape.
        step: gives the new rows from those of the gradient and of ``wholes``.
    """
    rows = Grad.merged()
    found = step(rows.value, *[xp.take(whole, rows.numbers, axis=0) for whole in wholes])
    return [xp.scatter_set(whole, rows.numbers, part) for whole, part in zip(wholes, found)]


def number(xp: Any, value: Array, like: Array) -> Array:
    """One element, with as many dimensions as ``like`` so that products keep its shape."""
    return xp.reshape(value, (1,) * like.ndim)


class sgd(ParameterUpdate):
    """ParamOut = Param - LearningRate * Grad."""

    signature = "Param, LearningRate, Grad -> ParamOut"
    fluid: ClassVar[FluidForm] = FluidForm(rows=("Grad",))
    of_bfloat16: ClassVar[bool] = True

    def run(self, xp: Any, Param: Array, LearningRate: Array, Grad: Array) -> Array:
        if isinstance(Grad, SelectedRows):
            step = lambda g, p: [self.run(xp, p, LearningRate, g)]
            return on_rows(xp, Grad, [Param], step)[0]
        return Param - number(xp, LearningRate, Param) * Grad


class momentum(ParameterUpdate):
    """VelocityOut = mu * Velocity + Grad; ParamOut = Param - LearningRate * VelocityOut.

    Where ``regularization_method`` is "l2_decay", Grad is Grad + regularization_coeff * Param.
    With ``use_nesterov``, ParamOut = Param - LearningRate * (Grad + mu * VelocityOut): the form of
    Sutskever et al., On the importance of initialization and momentum in deep learning, ICML 2013.

    mu: how much of the velocity stays.
    regularization_method, regularization_coeff: whether, and how fast, Param decays.
    """

    signature = "Param, Grad, Velocity, LearningRate -> ParamOut, VelocityOut"
    mu: float = REQUIRED
    use_nesterov: bool = False
    regularization_method: str = attr("", local=True)
    regularization_coeff: float = attr(0.0, local=True)
    multi_precision: bool = attr(False, inert=True, local=True)
    rescale_grad: float = attr(1.0, inert=True, local=True)

    def run(
        self, xp: Any, Param: Array, Grad: Array, Velocity: Array, LearningRate: Array
    ) -> Arrays:
        if self.regularization_method == "l2_decay":
            Grad = Grad + self.regularization_coeff * Param
        velocity = self.mu * Velocity + Grad
        step = Grad + self.mu * velocity if self.use_nesterov else velocity
        return Param - number(xp, LearningRate, Param) * step, velocity


class adam(ParameterUpdate):
    """ParamOut = Param - r * Moment1Out / (sqrt(Moment2Out) + epsilon).

    Kingma and Ba, Adam: a method for stochastic optimization, ICLR 2015, with the bias correction
    in the step size: r = LearningRate * sqrt(1 - Beta2Pow) / (1 - Beta1Pow).

    Moment1, Moment1Out: the running mean of the gradient,
        Moment1Out = beta1 * Moment1 + (1 - beta1) * Grad.
    Moment2, Moment2Out: the running mean of its square, with beta2.
    Beta1Pow, Beta1PowOut: the power of beta1 for this step and for the next.
    Beta2Pow, Beta2PowOut: the same of beta2.
    beta1, beta2: how much of the running means stays.
    Beta1Tensor, Beta2Tensor: the same as tensors of one element; win over the attributes.
    epsilon: keeps the division finite.
    lazy_mode: of a gradient that has only some rows, the others do not count as 0: there,
        parameter and running means stay as they are.

    For a gradient that has only some rows, the bias correction is that of the next step.
    """

    signature = (
        "Param, Grad, LearningRate, Moment1, Moment2, Beta1Pow, Beta2Pow, "
        "Beta1Tensor?, Beta2Tensor? -> "
        "ParamOut, Moment1Out, Moment2Out, Beta1PowOut, Beta2PowOut"
    )
    fluid: ClassVar[FluidForm] = FluidForm(rows=("Grad",))
    beta1: float = 0.9
    beta2: float = 0.999
    epsilon: float = 1e-8
    lazy_mode: bool = False
    min_row_size_to_use_multithread: Long = attr(1000, inert=True)
    corrects_first: ClassVar[bool] = False  #: whether epsilon is added to a corrected root

    def run(self, xp, Param, Grad, *state):
        return self.stepped(xp, Param, Grad, state, self.epsilon)

    def stepped(self, xp, Param, Grad, state, epsilon):
        """The outputs.

        Args:
            xp: of the arrays.
            state: the inputs behind these.
            epsilon: keeps the division finite.
        """
        LearningRate, Moment1, Moment2, Beta1Pow, Beta2Pow, Beta1Tensor, Beta2Tensor = state
        given = (self.beta1, Beta1Tensor), (self.beta2, Beta2Tensor)
        betas = [
            self.decay_rate(xp, own, Param) if tensor is None else xp.reshape(tensor, ())
            for own, tensor in given
        ]
        powers = Beta1Pow, Beta2Pow
        next_powers = [xp.asarray(beta * power) for beta, power in zip(betas, powers)]
        sparse = isinstance(Grad, SelectedRows)
        if sparse:  # fluid 1.8 is a step ahead here
            powers = next_powers
        correction = xp.sqrt(1 - powers[1])
        rate = LearningRate * correction / (1 - powers[0])
        if self.corrects_first:
            epsilon = number(xp, epsilon * correction, Param)

        def step(grad, param, moment1, moment2):
            moment1 = betas[0] * moment1 + (1 - betas[0]) * grad
            moment2 = betas[1] * moment2 + self.square(grad, 1 - betas[1])
            root = xp.sqrt(moment2) + epsilon
            return param - number(xp, rate, param) * (moment1 / root), moment1, moment2

        if sparse and self.lazy_mode:
            found = on_rows(xp, Grad, [Param, Moment1, Moment2], step)
        else:
            found = step(Grad.to_dense() if sparse else Grad, Param, Moment1, Moment2)
        return *found, *next_powers

    def decay_rate(self, xp: Any, beta: float, like: Array) -> float | Array:
        """How much of a running mean stays, in the precision that is computed with."""
        return beta

    def square(self, grad: Array, share: float | Array) -> Array:
        """A share of the square of a gradient; that alone may be infinite."""
        return share * grad * grad


class adam_v2(adam):
    """ParamOut = Param - r * Moment1Out / (sqrt(Moment2Out) + c * epsilon), where
    c = sqrt(1 - Beta2Pow): the epsilon of the paper and of paddle 2, which is added when the root
    has been corrected.

    The rest is as in ``adam``, the rate r = LearningRate * c / (1 - Beta1Pow) and the states among
    it.  So are the attributes, but for their precision.  Programs of paddle 2 call it ``adam``.

    EpsilonTensor: epsilon as a tensor of one element; wins over the attribute.
    SkipUpdate: whether everything stays as it is.
    use_global_beta_pow: the powers stay, since another operator has them.
    """

    signature = (
        "Param, Grad, LearningRate, Moment1, Moment2, Beta1Pow, Beta2Pow, "
        "Beta1Tensor?, Beta2Tensor?, EpsilonTensor?, SkipUpdate? -> "
        "ParamOut, Moment1Out, Moment2Out, Beta1PowOut, Beta2PowOut"
    )
    beta1: Double = 0.9
    beta2: Double = 0.999
    epsilon: Double = 1e-8
    use_global_beta_pow: bool = attr(False, local=True)
    multi_precision: bool = attr(False, inert=True, local=True)
    corrects_first: ClassVar[bool] = True

    def infer(self, *specs: Any) -> Specs:
        *of_step, EpsilonTensor, SkipUpdate = specs
        need_one(EpsilonTensor=EpsilonTensor, SkipUpdate=SkipUpdate)
        return super().infer(*of_step)

    def run(self, xp, Param, Grad, LearningRate, *of_step):
        *state, EpsilonTensor, SkipUpdate = of_step
        before = Param, *state[:4]
        epsilon = self.epsilon if EpsilonTensor is None else xp.reshape(EpsilonTensor, ())
        LearningRate = self.scaled(xp, LearningRate)
        start = self.decayed(xp, Param, LearningRate)
        after = self.stepped(xp, start, Grad, (LearningRate, *state), epsilon)
        if self.use_global_beta_pow:
            after = *after[:3], *before[3:]
        if SkipUpdate is None:
            return after
        skips = xp.reshape(SkipUpdate, ())
        return tuple([xp.where(skips, was, now) for was, now in zip(before, after)])

    def scaled(self, xp: Any, LearningRate: Array) -> Array:
        """The rate of this parameter."""
        return LearningRate

    def decayed(self, xp: Any, Param: Array, LearningRate: Array) -> Array:
        """What the step starts from."""
        return Param

    def decay_rate(self, xp: Any, beta: float, like: Array) -> float | Array:
        return xp.asarray(beta, dtype=like.dtype)

    def square(self, grad: Array, share: float | Array) -> Array:
        return share * (grad * grad)


class adamw(adam_v2):
    """The step of ``adam_v2`` from a parameter that was made smaller,
    Param * (1 - LearningRate * lr_ratio * coeff): Loshchilov and Hutter, Decoupled weight decay
    regularization, ICLR 2019.

    coeff: how fast Param decays.
    with_decay: whether it does.
    lr_ratio: factor of the rate of this parameter.
    """

    lr_ratio: float = 1.0
    coeff: float = 0.01
    with_decay: bool = False
    lazy_mode: bool = False

    def scaled(self, xp: Any, LearningRate: Array) -> Array:
        return LearningRate * xp.asarray(self.lr_ratio, LearningRate.dtype)

    def decayed(self, xp: Any, Param: Array, LearningRate: Array) -> Array:
        if not self.with_decay:
            return Param
        return Param * number(xp, 1 - LearningRate * self.coeff, Param)
