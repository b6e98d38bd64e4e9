"""Weight decay: what is added to a parameter's gradient so that parameters stay small."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from .ground.arguments import refused
from .ground.docstrings import Family
from .ground.doubts import number
from .ground.dtypes import Kind
from .ground.missing_names import answer
from .ground.protected import HasProtectedArguments
from .ground.public_names import list_public_names
from .ground.reprs import Described
from .ground.tracebacks import api_boundaries
from .ground.values import SelectedRows
from .ir.block import Block
from .ir.name_scope import name_scope
from .ir.operator import OpRole
from .ir.variable import Variable, is_tensor
from .opdef.operand import Operand

if TYPE_CHECKING:
    from .eager.tensor_core import TensorCore

T = TypeVar("T", bound=Operand)


class WeightDecayRegularizer(HasProtectedArguments, Described):
    """The base of all regularizers: called with a parameter, its gradient and a block, it appends
    the operators that compute the decay.

    A regularizer of your own derives from it, so that optimizers and ``ParamAttr`` take it.

    >>> isinstance(fluid.regularizer.L2Decay(0.01), fluid.regularizer.WeightDecayRegularizer)
    True
    """

    def __call__(self, param: Variable, grad: Variable, block: Block) -> Variable:
        """The decay: what is added to the gradient.

        Args:
            param: the parameter.
            grad: its gradient.
            block: where to append.
        """
        raise NotImplementedError

    def of_tensor(self, param: T, grad: T) -> T:
        """The decay of an eager parameter.

        What is said in layers when the regularizer is called holds for it, too.

        Args:
            param: the parameter's value, at which gradients stop.
            grad: its gradient.
        """
        return self(param, grad, None)  # type: ignore


_DECAYS = Family(
    {"regularization_coeff": "how strongly parameters are pulled towards 0."},
    raises="ArgumentError: the coefficient is no finite number.",
)


@dataclass(frozen=True)
class _Decay(WeightDecayRegularizer):
    """A decay with a coefficient."""

    regularization_coeff: float = 0.0

    def __post_init__(self) -> None:
        number(self, "regularization_coeff", self.regularization_coeff, least=0)

    def __str__(self) -> str:
        return f"{type(self).__name__}, regularization_coeff={self.regularization_coeff:f}"

    def _scaled(self, x: Variable, out: Variable, block: Block) -> Variable:
        attrs = {"scale": float(self.regularization_coeff)}
        block.append_op("scale", inputs={"X": x}, outputs={"Out": out}, attrs=attrs)
        return out


@_DECAYS
class L2Decay(_Decay):
    """Adds ``regularization_coeff * param`` to the gradient: the gradient of half its squared norm
    times the coefficient.

    >>> fluid.optimizer.SGD(0.1, regularization=fluid.regularizer.L2Decay(1e-4)).regularization
    L2Decay(regularization_coeff=0.0001)
    """

    def __call__(self, param: Variable, grad: Variable, block: Block) -> Variable:
        return self._scaled(param, _like(param, block), block)

    def of_tensor(self, param: T, grad: T) -> T:
        return _operators(param).scale(param, scale=float(self.regularization_coeff))


@_DECAYS
class L1Decay(_Decay):
    """Adds ``regularization_coeff * sign(param)`` to the gradient: the gradient of the sum of
    absolute values times the coefficient.

    >>> fluid.ParamAttr(regularizer=fluid.regularizer.L1Decay(0.01)).regularizer
    L1Decay(regularization_coeff=0.01)
    """

    def __call__(self, param: Variable, grad: Variable, block: Block) -> Variable:
        sign = _like(param, block)
        block.append_op("sign", inputs={"X": param}, outputs={"Out": sign})
        return self._scaled(sign, sign, block)

    def of_tensor(self, param: T, grad: T) -> T:
        f = _operators(param)
        return f.scale(f.sign(param), scale=float(self.regularization_coeff))


def append_regularization_ops(
    parameters_and_grads: Iterable[tuple[Variable, Variable | None]],
    regularization: WeightDecayRegularizer | None = None,
) -> list[tuple[Variable, Variable | None]]:
    """Append the operators that add decay to gradients.

    Args:
        parameters_and_grads: pairs of a parameter and its gradient; None where it has none.
        regularization: for the parameters that have no regularizer of their own; None for nothing.

    Returns:
        the pairs, with the gradients that optimizers are to use.

    Raises:
        ArgumentError: ``regularization`` is no regularizer.

    >>> x = fluid.data("x", [None, 3], "float32")
    >>> loss = fluid.layers.mean(fluid.layers.fc(x, 1, bias_attr=False))
    >>> pairs = fluid.backward.append_backward(loss)
    >>> decay = fluid.regularizer.L2Decay(0.1)
    >>> [(p.name, g.name) for p, g in append_regularization_ops(pairs, decay)]
    [('fc_0.w_0', 'fc_0.w_0@GRAD')]
    >>> [op.type for op in loss.block.ops[-2:]]
    ['scale', 'sum']
    """
    check_regularizer(regularization, "regularization")
    pairs = list(parameters_and_grads)
    with name_scope("regularization"):
        return [
            (p, g if g is None else with_decay(p, g, regularizer_of(p, regularization)))
            for p, g in pairs
        ]


def check_regularizer(value: object, what: str) -> None:
    """Refuse what is neither None nor a regularizer.

    Args:
        value: what was given.
        what: the name of the argument.

    Raises:
        ArgumentError: it is something else.

    >>> fluid.regularizer.check_regularizer(fluid.regularizer.L2Decay(0.01), "regularization")
    >>> fluid.regularizer.check_regularizer(0.01, "regularization")
    Traceback (most recent call last):
    ...
    fluidlite.errors.ArgumentError: ...
    """
    if value is not None and not isinstance(value, WeightDecayRegularizer):
        raise refused("", what, "None or a regularizer such as L2Decay(0.01)", value)


def regularizer_of(
    param: Variable | TensorCore, default: WeightDecayRegularizer | None
) -> WeightDecayRegularizer | None:
    """A parameter's own regularizer, or where it has none, another one.

    Args:
        param: the parameter.
        default: that other one.

    Raises:
        ArgumentError: its own is something else.

    >>> weight = fluid.layers.create_parameter([3, 4], "float32")
    >>> fluid.regularizer.regularizer_of(weight, fluid.regularizer.L2Decay(0.01))
    L2Decay(regularization_coeff=0.01)
    """
    own = getattr(param, "regularizer", None)
    check_regularizer(own, f"the regularizer of {param.name!r}")
    return own or default


def with_decay(
    param: Variable, grad: Variable, regularizer: WeightDecayRegularizer | None
) -> Variable:
    """The gradient with the parameter's decay added to it.

    Args:
        param: the parameter, a variable or an eager one.
        grad: its gradient.
        regularizer: says the decay; None for none.

    >>> weight = fluid.layers.create_parameter([3], "float32", name="w")
    >>> loss = fluid.layers.reduce_sum(weight * weight)
    >>> [(param, grad)] = fluid.backward.append_backward(loss)
    >>> fluid.regularizer.with_decay(param, grad, fluid.regularizer.L2Decay(0.1)).shape
    (3,)
    """
    if regularizer is None:
        return grad
    if is_tensor(param):
        return _decayed_tensor(param, grad, regularizer)
    program = grad.block.program
    with program.as_role(OpRole.OPTIMIZE, (param, grad)):
        decay = regularizer(param, grad, grad.block)
        out = grad
        if grad.kind is Kind.SELECTED_ROWS:  # every row decays, so the sum has them all
            out = grad.block.create_var(
                name=f"{grad.name}@NEWGRAD@", shape=param.shape, dtype=param.dtype
            )
        grad.block.append_op("sum", inputs={"X": [grad, decay]}, outputs={"Out": out})
    return out


def _decayed_tensor(param: Any, grad: Any, regularizer: WeightDecayRegularizer) -> Any:
    """The same for an eager parameter."""
    decay = regularizer.of_tensor(param.results(param.array), grad)
    values = grad.array
    if isinstance(values, SelectedRows):  # every row decays, so the sum has them all
        grad = grad.results(values.to_dense())
    return _operators(param).elementwise_add(grad, decay)


def _operators(param: Any) -> Any:
    """What runs operators on an eager parameter."""
    return param.layer(param.results, "regularization", None)


def _like(param: Variable, block: Block) -> Variable:
    return block.create_var(shape=param.shape, dtype=param.dtype, lod_level=param.lod_level)


L1DecayRegularizer = L1Decay
L2DecayRegularizer = L2Decay

list_public_names(globals())
api_boundaries(globals())
answer(globals())
