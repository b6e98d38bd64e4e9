"""Optimizers whose steps are scaled by running means of the gradient and of its square."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Any, ClassVar

from ..clip import GradientClipBase
from ..ground.arguments import a_function, or_none
from ..ground.doubts import number
from ..ground.fields import field, from_fields
from ..ground.protected import answers
from ..ir.block import Block
from ..ir.name_scope import name_scope
from ..ir.operator import Operator, OpRole
from ..ir.variable import Variable
from ..layers.decay import LearningRateDecay
from ..opdef.arithmetic import Arithmetic
from ..regularizer import WeightDecayRegularizer, regularizer_of
from .arguments import OF_LOSS
from .eager import EagerSteps
from .optimizer import OPTIMIZERS, Optimizer
from .states import State

if TYPE_CHECKING:
    from ..eager.tensor_core import TensorCore

_MOMENTS_AND_POWERS = (
    State("Moment1", "moment1"),
    State("Moment2", "moment2"),
    State("Beta1Pow", "beta1_pow_acc", "beta1", True, on_host=True),
    State("Beta2Pow", "beta2_pow_acc", "beta2", True, on_host=True),
)


@OF_LOSS
@from_fields
class Adam(Optimizer):
    """Adam: steps scaled by running means of the gradient and of its square.

    Kingma and Ba, Adam: a method for stochastic optimization, ICLR 2015.  In paddle 2's words
    epsilon is added to the root when that has been corrected for how the mean begins, as in the
    paper; in fluid 1.8's words, and for programs, before.

    Args:
        beta1: how much of the running mean of the gradient stays; a number in [0, 1), or a variable
            of one element, for which the correction of the first steps begins with 0.9.
        beta2: the same for the mean of its square; 0.999.

    >>> adam = fluid.optimizer.Adam(0.01)
    >>> ops, pairs = adam.minimize(loss)
    >>> adam.get_opti_var_name_list()[:2]
    ['fc_0.w_0_moment1_0', 'fc_0.w_0_moment2_0']
    """

    _moment1_acc_str = "moment1"
    _moment2_acc_str = "moment2"
    _beta1_pow_acc_str = "beta1_pow_acc"
    _beta2_pow_acc_str = "beta2_pow_acc"

    learning_rate: float | Variable | LearningRateDecay = 0.001
    beta1: float | Variable = 0.9
    beta2: float | Variable = 0.999
    epsilon: float = 1e-8
    parameter_list: Iterable[Variable | str] | None = None
    regularization: WeightDecayRegularizer | None = None
    grad_clip: GradientClipBase | None = None
    name: str | None = None
    lazy_mode: bool = False
    multi_precision: bool = field(default=False, kw_only=True)
    use_multi_tensor: bool = field(default=False, kw_only=True)

    type = "adam"
    type_of_paddle2 = "adam_v2"
    states: ClassVar[Sequence[State]] = _MOMENTS_AND_POWERS
    attributes = "beta1 beta2 epsilon lazy_mode"

    def attrs(self, param: Variable) -> dict[str, Any]:
        return {n: v for n, v in super().attrs(param).items() if not isinstance(v, Arithmetic)}

    def inputs(self, param: Variable) -> dict[str, Variable]:
        given = super().attrs(param)
        betas: dict[str, Any] = {"Beta1Tensor": given["beta1"], "Beta2Tensor": given["beta2"]}
        return {slot: beta for slot, beta in betas.items() if not isinstance(beta, float)}


@OPTIMIZERS
class AdamW(Adam):
    """Adam, before whose steps parameters shrink by the factor 1 - learning_rate * weight_decay.

    Loshchilov and Hutter, Decoupled weight decay regularization, ICLR 2019.  In paddle 2's
    signature.

    Args:
        weight_decay: the coefficient; a number.
        lr_ratio: a function of a parameter that gives a factor of its learning rate; None for 1.
        apply_decay_param_fun: a function of a parameter's name that says whether it shrinks; all do
            when None.

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
        learning_rate: float | Variable | LearningRateDecay = 0.001,
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
        or_none(a_function)(self, "lr_ratio", lr_ratio)
        or_none(a_function)(self, "apply_decay_param_fun", apply_decay_param_fun)
        super().__init__(
            *(learning_rate, beta1, beta2, epsilon),
            grad_clip=grad_clip,
            name=name,
            lazy_mode=lazy_mode,
            parameters=parameters,
            multi_precision=multi_precision,
        )
        self._decay = number("AdamW", "weight_decay", weight_decay, least=0)
        self._lr_ratio, self._shrinks = lr_ratio, apply_decay_param_fun

    def decay_of(self, param: Variable | TensorCore) -> float:
        """The coefficient of a parameter's decay."""
        shrinks = self._shrinks is None or self._shrinks(param.name)
        return float(self.option("_decay", param)) if shrinks else 0.0

    def decay_of_group(self, given: float | WeightDecayRegularizer | None) -> dict[str, Any]:
        """The coefficient of a group's decay, by its attribute.

        Args:
            given: a number.
        """
        return {"_decay": number("AdamW", "weight_decay of a group", given, least=0)}

    def regularizer_of(self, param: Variable | TensorCore) -> WeightDecayRegularizer | None:
        """What a parameter's own regularizer is: it counts beside the decay, in groups, too."""
        return regularizer_of(param, None)

    def ratio_of(self, param: Variable | TensorCore) -> float:
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


@OF_LOSS
@from_fields
class Adamax(Optimizer):
    """Adamax: steps by the running mean of the gradient, divided by a decaying maximum of its size.

    Kingma and Ba, Adam: a method for stochastic optimization, ICLR 2015, section 7.1.

    Args:
        beta1: how much of the running mean stays.
        beta2: how much of the maximum stays.

    >>> ops, pairs = fluid.optimizer.Adamax(0.01).minimize(loss)
    >>> [op.type for op in ops]
    ['adamax', 'scale']
    """

    _moment_acc_str = "moment"
    _inf_norm_acc_str = "inf_norm"
    _beta1_pow_acc_str = "beta1_pow_acc"

    learning_rate: float | Variable | LearningRateDecay = 0.001
    beta1: float = 0.9
    beta2: float = 0.999
    epsilon: float = 1e-8
    parameter_list: Iterable[Variable | str] | None = None
    regularization: WeightDecayRegularizer | None = None
    grad_clip: GradientClipBase | None = None
    name: str | None = None

    type = "adamax"
    states: ClassVar[Sequence[State]] = (
        State("Moment", "moment"),
        State("InfNorm", "inf_norm"),
        State("Beta1Pow", "beta1_pow_acc", "beta1", one_number=True),
    )
    attributes = "beta1 beta2 epsilon"

    def finish(self, block: Block, pairs: Sequence[tuple[Variable, Variable]]) -> None:
        for param, grad in pairs:
            beta1 = self.attrs(param)["beta1"]
            power = self.state_of("beta1_pow_acc", param)
            # "adamx": fluid's programs spell it so
            with block.program.as_role(OpRole.OPTIMIZE, (param, grad)), name_scope("adamx"):
                block.append_op("scale", {"X": power}, {"Out": power}, {"scale": beta1})

    def finish_eagerly(self, steps: EagerSteps, parameters: Sequence[Any]) -> None:
        for param in parameters:
            power = steps.states.of("beta1_pow_acc", param)
            power.array = power.array * self.attrs(param)["beta1"]


@answers(_lazy_mode=False, _weight_decay=attrgetter("_lamb_weight_decay"))
@OPTIMIZERS
@from_fields
class Lamb(Optimizer):
    """Adam whose steps are as long as the parameters, times the learning rate.

    You et al., Large batch optimization for deep learning: training BERT in 76 minutes, ICLR 2020.
    The running means are not corrected for how they begin; in paddle 2's words they are, and steps
    of parameters that do not decay are those of Adam.

    Args:
        lamb_weight_decay: what a parameter counts in its step.
        exclude_from_weight_decay_fn: a function that says of a parameter whether it is left out of
            weight decay.
        always_adapt: in paddle 2's words, steps are as long as parameters where these do not decay,
            too.

    >>> x = fluid.data("x", [None, 3], "float32")
    >>> loss = fluid.layers.mean(fluid.layers.fc(x, 1))
    >>> lamb = fluid.optimizer.Lamb(exclude_from_weight_decay_fn=lambda p: p.name.endswith("b_0"))
    >>> ops, pairs = lamb.minimize(loss)
    >>> [(op.input("Param"), op.attr("weight_decay")) for op in ops]
    [(['fc_0.b_0'], 0.0), (['fc_0.w_0'], 0.009999999776482582)]
    """

    _moment1_acc_str = "moment1"
    _moment2_acc_str = "moment2"
    _beta1_pow_acc_str = "beta1_pow_acc"
    _beta2_pow_acc_str = "beta2_pow_acc"

    learning_rate: float | Variable | LearningRateDecay = 0.001
    lamb_weight_decay: float = 0.01
    beta1: float = 0.9
    beta2: float = 0.999
    epsilon: float = 1e-6
    parameter_list: Iterable[Variable | str] | None = None
    regularization: WeightDecayRegularizer | None = None
    grad_clip: GradientClipBase | None = None
    exclude_from_weight_decay_fn: Callable[[Variable], bool] | None = None
    name: str | None = None
    multi_precision: bool = field(default=False, kw_only=True)
    always_adapt: bool = field(default=False, kw_only=True)

    type = "lamb"
    type_of_paddle2 = "lamb_v2"
    states: ClassVar[Sequence[State]] = _MOMENTS_AND_POWERS
    attributes = "beta1 beta2 epsilon weight_decay=lamb_weight_decay"

    def attrs(self, param: Variable) -> dict[str, Any]:
        excludes = self.option("_exclude_from_weight_decay_fn", param)
        attrs = super().attrs(param)
        if excludes is not None and excludes(param):
            attrs["weight_decay"] = 0.0
        if self.by_paddle2:
            attrs["always_adapt"] = vars(self)["_always_adapt"]
        return attrs


AdamOptimizer = Adam
AdamaxOptimizer = Adamax
LambOptimizer = Lamb
