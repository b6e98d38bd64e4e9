"""What optimizers have in common as paddle 2.6 spells them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar

from ... import optimizer as library
from ...clip import GradientClipBase
from ...errors import ParameterListError, RateConflictError
from ...ground.arguments import refused
from ...ground.docstrings import Family
from ...ground.spellings import Spelling
from ...ground.tracebacks import api_boundaries
from ...ir.variable import Variable
from ...layers.decay import LearningRateDecay
from ...optimizer.arguments import OPTIMIZERS as OF_LIBRARY
from ...optimizer.arguments import Pair, Pairs
from ...optimizer.lr import LRScheduler
from ...regularizer import WeightDecayRegularizer, append_regularization_ops
from ..modes import in_dynamic_mode

Rate = float | LRScheduler | Variable  #: what a learning rate may be
Parameters = Iterable[Any] | None  #: parameters, or groups of them
Decay = float | WeightDecayRegularizer | None

_SPELLED = Spelling(
    {"parameter_list": "parameters"}, types={"Iterable[Variable | str]": "Iterable[Any]"}
)
OPTIMIZERS = Family(
    {
        **OF_LIBRARY.args,
        "learning_rate": "the size of steps: a number, or a scheduler of ``paddle.optimizer.lr``.",
        "parameters": "what is updated: parameters, or groups, dictionaries with ``params`` and "
        "what holds for these; in programs, all trainable ones when None.",
        "weight_decay": "a regularizer, or a number, the coefficient of ``L2Decay``, for the "
        "parameters that have no regularizer of their own.",
        "grad_clip": "how gradients are clipped, before they are regularized; None for not.",
    },
    raises="ArgumentError: an argument is of another kind, or out of range.",
)


@OPTIMIZERS
class Optimizer(library.Optimizer):
    """The base of all optimizers: with tensors steps are made at once, in static mode appended to
    programs.

    Raises:
        ArgumentError: an argument is of another kind, or out of range.
        ParameterListError: in dynamic mode, there are no ``parameters``.

    >>> from fluidlite import paddle
    >>> layer = paddle.nn.Linear(2, 1)
    >>> sgd = paddle.optimizer.SGD(0.1, layer.parameters())
    >>> layer(paddle.ones([1, 2])).sum().backward()
    >>> sgd.step()
    >>> sgd.clear_grad()
    >>> sgd.get_lr()
    0.1
    """

    of_paddle2 = True
    _shown = "parameters=_parameter_list weight_decay=regularization"
    #: numbers that are refused below the first and from the second bound on
    bounds: ClassVar[Mapping[str, tuple[float, float]]] = {
        "beta1": (0.0, 1.0),
        "beta2": (0.0, 1.0),
        "epsilon": (0.0, math.inf),
    }

    #: numbers that groups have where they do not say them
    shown_in_groups: ClassVar[Sequence[str]] = ()

    def __init__(
        self,
        learning_rate: Rate,
        parameters: Parameters = None,
        weight_decay: Decay = None,
        grad_clip: GradientClipBase | None = None,
        name: str | None = None,
    ) -> None:
        self._need_parameters({"parameters": parameters})
        library.Optimizer.__init__(
            self,
            learning_rate,
            grad_clip=grad_clip,
            name=name,
            parameters=parameters,
            weight_decay=weight_decay,
        )

    @property
    def _param_groups(self) -> Any:
        """The parameters, or the groups of them with what holds for each: libraries read them."""
        if self._eager is None or not self._eager.groups.has_options:
            return self._parameter_list
        decay = getattr(self, "_decay", self.regularization)  # AdamW's is a number
        numbers = {name: getattr(self, f"_{name}") for name in self.shown_in_groups}
        usual = {"weight_decay": decay, **numbers, "grad_clip": self._grad_clip}
        return self._eager.groups.shown(usual)

    def _add_param_group(self, param_group: Mapping[str, Any]) -> None:
        """Update the parameters of one more group, too."""
        groups = self._need_eager("_add_param_group").groups
        groups.add(self._kind, param_group, self.group_options)

    def begin(self, given: dict[str, Any]) -> None:
        """Take over the arguments of a subclass."""
        self._need_parameters(given)
        super().begin(given)

    def _need_parameters(self, given: Mapping[str, Any]) -> None:
        parameters = given["parameters"]
        if parameters is None and in_dynamic_mode():
            raise ParameterListError(
                f"{self._kind}: in dynamic mode an optimizer needs to know what to update: "
                f"parameters=layer.parameters()"
            )
        if isinstance(parameters, Mapping):
            raise refused(self, "parameters", "a list, of groups as well", parameters)

    def checked(self, name: str, value: Any) -> Any:
        """An argument of a subclass, within its bounds."""
        least, below = self.bounds.get(name, (-math.inf, math.inf))
        if isinstance(value, (int, float)) and not least <= value < below:
            bounds = f" and less than {below:g}" if below != math.inf else ""
            raise refused(self, name, f"a number of at least {least:g}{bounds}", value)
        return super().checked(name, value)

    def usual(self, name: str, value: Any) -> Any:
        """The argument itself: signatures have the defaults."""
        return value

    minimize: Callable[..., tuple[list[Any], Pairs]] = _SPELLED(
        library.Optimizer.minimize,
        doc="""Make a step, or append gradients of a loss and a step to its program.

        Args:
            loss: a tensor whose ``backward()`` was called, or a variable of one element.
            startup_program: where the optimizer's variables get their first values.
            parameters: what is updated; what the optimizer was made with when None.
            no_grad_set: what is not.

        Returns:
            the operators of the step, none for tensors; parameters and their gradients.
        """,
    )
    backward: Callable[..., Pairs] = _SPELLED(
        library.Optimizer.backward, doc="The first half of :meth:`minimize`: the gradients."
    )

    def append_regularization_ops(
        self,
        parameters_and_grads: Iterable[Pair],
        regularization: WeightDecayRegularizer | None = None,
    ) -> list[Pair]:
        """Pairs of a parameter and its gradient with its decay.

        Args:
            parameters_and_grads: pairs of a parameter and its gradient; None where it has none.
            regularization: for parameters that have no regularizer of their own.
        """
        return append_regularization_ops(parameters_and_grads, regularization)

    def set_lr(self, value: float) -> None:  # type: ignore[override]
        """Use another learning rate from now on.

        Args:
            value: a number.

        Raises:
            RateConflictError: a scheduler gives the rate.
            ArgumentError: it is no number, or the optimizer is one of programs.
        """
        if not isinstance(value, (int, float)):
            raise refused(self, "the learning rate", "a number", value)
        if isinstance(self._learning_rate, LearningRateDecay):
            raise RateConflictError(
                f"{self._kind}: a scheduler gives the rate, and set_lr({value}) would contradict "
                f"it; set_lr_scheduler takes another one"
            )
        self._need_eager("set_lr")
        super().set_lr(value)

    def state_dict(self) -> dict[str, Any]:  # type: ignore[override]
        """What is kept for parameters, by name, and the state of the scheduler.

        Raises:
            ArgumentError: the optimizer is one of programs.
        """
        return self._need_eager("state_dict").state_dict()

    def set_state_dict(  # type: ignore[override]
        self, state_dict: Mapping[str, Any], by_position: bool = False
    ) -> None:
        """Go on from what :meth:`state_dict` gave.

        Args:
            state_dict: values by name; those of other names are passed over.
            by_position: the first parameter that names in ``state_dict`` speak of is this
                optimizer's first one, whatever they are called: for states of an equal net.

        Raises:
            StateDictError: something that is kept already is missing.
            ArgumentError: the optimizer is one of programs.
        """
        self._need_eager("set_state_dict").set_dict(state_dict, by_position)


api_boundaries(globals())
