"""What users say about a parameter."""

from __future__ import annotations

import math
from numbers import Real
from typing import TYPE_CHECKING, Any

from .errors import ArgumentError
from .ground.arguments import refused
from .ground.fields import field, from_fields
from .ground.missing_names import answer
from .ground.public_names import list_public_names
from .ground.reprs import Described
from .ground.tracebacks import api_boundaries
from .initializer import Constant, Initializer, Xavier
from .regularizer import WeightDecayRegularizer, check_regularizer

if TYPE_CHECKING:
    from .clip import GradientClipBase


@from_fields
class ParamAttr(Described):
    """Name, first value and training of a parameter.

    Args:
        name: generated from the layer's name when None.
        initializer: gives the first value; the layer's default when None.
        learning_rate: factor on the optimizer's rate.
        regularizer: weight decay, in place of the optimizer's.
        trainable: whether optimizers update it.
        do_model_average: whether ModelAverage averages it.
        gradient_clip: clipping of its gradient.
        need_clip: whether clips of optimizers count and change its gradient.

    Raises:
        ArgumentError: an argument is of another kind.

    >>> fluid.ParamAttr(name="w", learning_rate=0.5).learning_rate
    0.5
    """

    name: str | None = None
    initializer: Initializer | None = None
    learning_rate: float = 1.0
    regularizer: WeightDecayRegularizer | None = None
    trainable: bool = True
    do_model_average: bool = True
    gradient_clip: GradientClipBase | None = None
    need_clip: bool = field(default=True, kw_only=True)

    def begin(self, given: dict[str, Any]) -> None:
        """Check and keep the arguments.

        Args:
            given: the fields.
        """
        name, initializer, rate = given["name"], given["initializer"], given["learning_rate"]
        _need("name", name, name is None or isinstance(name, str), "None or a text")
        known = initializer is None or isinstance(initializer, Initializer)
        _need("initializer", initializer, known, "None or an initializer such as Constant(0.0)")
        _need("learning_rate", rate, _is_number(rate), "a finite number")
        check_regularizer(given["regularizer"], "the regularizer of a ParamAttr")
        for switch in ("trainable", "do_model_average"):
            _need(switch, given[switch], isinstance(given[switch], bool), "a bool")
        self.__dict__.update(given, need_clip=bool(given["need_clip"]))

    def parameter_arguments(self) -> dict[str, Any]:
        """Arguments of ``Block.create_parameter``, but for the name and the initializer."""
        return {
            "optimize_attr": {"learning_rate": self.learning_rate},
            "regularizer": self.regularizer,
            "trainable": self.trainable,
            "gradient_clip_attr": self.gradient_clip,
            "do_model_average": self.do_model_average,
            "need_clip": self.need_clip,
        }

    # -- by the names that layers of fluid's time call -------------------------------------------

    def _to_kwargs(self, with_initializer: bool = False) -> dict[str, Any]:
        given = {"name": self.name, **self.parameter_arguments()}
        del given["gradient_clip_attr"], given["need_clip"]
        return given | ({"initializer": self.initializer} if with_initializer else {})

    @staticmethod
    def _to_attr(arg: Any) -> Any:
        """What a layer's argument means: a ParamAttr, False for none, a list for a list."""
        if isinstance(arg, (list, tuple)):
            return [ParamAttr._to_attr(each) for each in arg]
        return as_param_attr(arg) or False

    def _set_default_initializer(self, initializer: Initializer | None) -> None:
        """What gives the first value where the user did not say it."""
        if self.initializer is None:
            self.initializer = initializer

    def _set_default_param_initializer(self) -> None:
        self._set_default_initializer(Xavier())

    def _set_default_bias_initializer(self) -> None:
        self._set_default_initializer(Constant(0.0))


class WeightNormParamAttr(ParamAttr):
    """A parameter that is a direction and a length: ``g * v / |v|``, and these two are trained.

    Salimans and Kingma, Weight normalization, NeurIPS 2016.

    Args:
        dim: the dimension along which lengths are given, a number each; None for one length of the
            whole.
        name, initializer, learning_rate, regularizer, trainable, do_model_average, need_clip: as of
            :class:`ParamAttr`; the initializer gives the direction, and the length is what that has
            first.

    Raises:
        ArgumentError: an argument is of another kind.

    >>> x = fluid.data("x", [None, 3], "float32")
    >>> y = fluid.layers.fc(x, 2, param_attr=fluid.WeightNormParamAttr(dim=1))
    >>> [(p.name, p.shape) for p in y.block.all_parameters()]
    [('fc_0.w_0_g', (1, 2)), ('fc_0.w_0_v', (3, 2)), ('fc_0.b_0', (2,))]
    """

    def __init__(
        self,
        dim: int | None = None,
        name: str | None = None,
        initializer: Initializer | None = None,
        learning_rate: float = 1.0,
        regularizer: WeightDecayRegularizer | None = None,
        trainable: bool = True,
        do_model_average: bool = False,
        *,
        need_clip: bool = True,
    ) -> None:
        given = name, initializer, learning_rate, regularizer, trainable, do_model_average
        super().__init__(*given, need_clip=need_clip)
        whole = isinstance(dim, int) and not isinstance(dim, bool) and dim >= 0
        _need("dim", dim, dim is None or whole, "None or the number of a dimension, from 0")
        self.dim = dim


def _need(what: str, value: Any, holds: bool, wanted: str) -> None:
    if not holds:
        raise refused("ParamAttr", what, wanted, value)


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and math.isfinite(value)


#: what layers' ``param_attr``, ``weight_attr`` and ``bias_attr`` may be
Attr = ParamAttr | Initializer | WeightDecayRegularizer | str | bool | None


def as_param_attr(value: Any) -> ParamAttr | None:
    """What a layer's ``param_attr`` or ``bias_attr`` means; None for False: no parameter.

    Args:
        value: a ParamAttr, a name, an initializer, a regularizer, None or True for the defaults,
            False for none.

    Raises:
        ArgumentError: anything else.
    """
    if value is None or value is True:
        return ParamAttr()
    if value is False:
        return None
    if isinstance(value, ParamAttr):
        return value
    if isinstance(value, str):
        return ParamAttr(name=value)
    if isinstance(value, Initializer):
        return ParamAttr(initializer=value)
    if isinstance(value, WeightDecayRegularizer):
        return ParamAttr(regularizer=value)
    wanted = "a ParamAttr, a name, an initializer, a regularizer or a bool for a parameter"
    if isinstance(value, type):
        raise ArgumentError(
            f"expected {wanted}, got the class {value.__name__}; make one: {value.__name__}(...)"
        )
    raise ArgumentError(f"expected {wanted}, got {value!r:.60} of type {type(value).__name__}")


def as_eager_attr(value: Any) -> ParamAttr | None:
    """What is said about a parameter that is made at once; arguments as of :func:`as_param_attr`.

    Raises:
        ArgumentError: it asks for operators of a program.
    """
    attr = as_param_attr(value)
    if isinstance(attr, WeightNormParamAttr):
        raise ArgumentError(
            "a WeightNormParamAttr makes operators of a program; of eager parameters make two, v "
            "and g, and compute g * v / norm(v) in forward()"
        )
    return attr


__all__ = ["ParamAttr", "WeightNormParamAttr"]

list_public_names(globals())
api_boundaries(globals())
answer(globals())
