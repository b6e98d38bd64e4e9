"""Which formula an optimizer's steps have, and what holds for a group of parameters alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from ..clip import GradientClipBase
from ..ground.arguments import Check, instance_of, or_none
from ..ground.callsite import warn
from ..ground.doubts import number
from ..ground.fields import fields_of
from ..regularizer import WeightDecayRegularizer, check_regularizer, regularizer_of
from .arguments import COMMON, MORE_OF_PADDLE2, decay_of

if TYPE_CHECKING:
    from ..eager.tensor_core import TensorCore
    from ..ir.variable import Variable
    from .eager import EagerSteps
    from .states import State

a_clip: Check = or_none(
    instance_of(GradientClipBase, "None or a clip such as fluid.clip.GradientClipByNorm(1.0)")
)


class HasOptions:
    """What optimizers say of their formula, and of groups of eager parameters."""

    if TYPE_CHECKING:
        regularization: WeightDecayRegularizer | None
        _eager: EagerSteps | None

        @property
        def _kind(self) -> str: ...
        def checked(self, name: str, value: Any) -> Any: ...

    #: the type of the operator that makes a step in paddle 2's formula, where that is another one
    type_of_paddle2: ClassVar[str] = ""
    #: paddle 2's values of arguments that fluid 1.8 wants to be given
    defaults_of_paddle2: ClassVar[Mapping[str, Any]] = {}
    #: whether the class is in paddle 2's spelling, whose formulas hold in programs, too
    of_paddle2: ClassVar[bool] = False
    #: whether paddle 2's names were used, so that its defaults stand in where fluid 1.8 has none
    in_paddle2_words = False
    #: whether steps are by its formula, too: those of eager parameters
    by_paddle2 = False

    def usual(self, name: str, value: Any) -> Any:
        """An argument, or where it is None, the default that only paddle 2 has.

        Args:
            name: of the argument.
            value: what was given.
        """
        return (
            self.defaults_of_paddle2.get(name) if value is None and self.in_paddle2_words else value
        )

    @property
    def has_two_formulas(self) -> bool:
        """Whether paddle 2's steps are others than fluid 1.8's."""
        return bool(self.type_of_paddle2)

    @property
    def keeps_masters(self) -> bool:
        """Whether parameters of 16 bits are kept in float32 besides."""
        return bool(getattr(self, "_multi_precision", False))

    def group_options(self, group: Mapping[str, Any]) -> dict[str, Any]:
        """What holds for a group of parameters, by the attributes that it stands for.

        Args:
            group: options as the user gives them; ``params`` is passed over.

        Raises:
            ArgumentError: one is of another kind.
        """
        options: dict[str, Any] = {"_learning_rate": 1.0}
        own = self._own_options()
        for name, value in group.items():
            if name == "learning_rate":
                options["_learning_rate"] = number(self._kind, f"{name} of a group", value)
            elif name == "grad_clip":
                options["_grad_clip"] = a_clip(self, "grad_clip of a group", value)
            elif name == "weight_decay":
                options.update(self.decay_of_group(value))
            elif name in own:
                options[f"_{name}"] = self.checked(name, value)
            elif name != "params":
                known = sorted({"learning_rate", "grad_clip", "weight_decay", *own})
                warn(
                    f"{self._kind} reads no {name!r} of a group of parameters; it reads "
                    f"{', '.join(known)}",
                    None,
                )
        return options

    def written_in_groups(self) -> list[str]:
        """The options that later steps read anew from groups that libraries write to."""
        decay = ["weight_decay"] if hasattr(self, "_decay") else []
        return [*decay, "grad_clip", *sorted(self._own_options())]

    def _own_options(self) -> set[str]:
        """The options that other optimizers lack."""
        return fields_of(type(self)).keys() - {*COMMON, *MORE_OF_PADDLE2}

    def decay_of_group(self, given: float | WeightDecayRegularizer | None) -> dict[str, Any]:
        """How the parameters of a group decay, by the attribute that it stands for; nothing for
        None.

        Args:
            given: a regularizer, or a number.

        Raises:
            ArgumentError: it is something else.
        """
        decay = decay_of(self._kind, given)
        check_regularizer(decay, f"weight_decay of a group of {self._kind}")
        return {} if decay is None else {"regularization": decay}

    def options_of(self, param: Any) -> Mapping[str, Any] | None:
        """What holds for the group of a parameter, by the attributes that it stands for; None where
        the user made no groups.
        """
        return None if self._eager is None else self._eager.groups.options_of(param)

    def option(self, attribute: str, param: Any) -> Any:
        """An attribute, or what the parameter's group has in its place.

        Args:
            attribute: its name.
            param: the parameter.
        """
        options = self.options_of(param) or {}
        return options[attribute] if attribute in options else getattr(self, attribute)

    def regularizer_of(self, param: Variable | TensorCore) -> WeightDecayRegularizer | None:
        """The regularizer of an eager parameter: its own, or the optimizer's; in a group the
        group's, or the optimizer's.
        """
        if self.options_of(param) is not None:
            decay: WeightDecayRegularizer | None = self.option("regularization", param)
            return decay
        return regularizer_of(param, self.regularization)

    def first_value(self, state: State, param: Any) -> float:
        """What a state of an eager parameter begins with: as its group says, where that says it."""
        value = self.option(f"_{state.argument}", param) if state.argument else state.value
        return float(value if isinstance(value, float) else state.value)
