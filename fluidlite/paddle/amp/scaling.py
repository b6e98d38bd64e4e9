"""Factors on losses that keep gradients of 16 bits in range: without effect on a CPU."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any, TypeVar

from ...ground.arguments import refused
from ...ground.callsite import warn
from ...ground.docstrings import Family
from ...ground.fields import from_fields
from ...ground.reprs import Described
from ...optimizer.optimizer import Optimizer
from .casting import need_dynamic

T = TypeVar("T")

_SCALERS = Family(
    {
        "enable": "accepted, with a warning when True: on a CPU it is off.",
        "init_loss_scaling": "the first factor.",
        "incr_ratio, decr_ratio": "what it is multiplied by, above and below 1.",
        "incr_every_n_steps": "after so many good steps it becomes larger.",
        "decr_every_n_nan_or_inf": "after so many bad ones smaller.",
        "use_dynamic_loss_scaling": "whether it changes.",
    }
)


class OptimizerState(Enum):
    """Where a scaler is with an optimizer."""

    INIT = 0
    UNSCALED = 1
    STEPPED = 2


@_SCALERS
@from_fields
class AmpScaler(Described):
    """A scaler of losses, which gives losses as they are and lets optimizers make their steps."""

    _shown = "enable=_on"

    enable: bool = True
    init_loss_scaling: float = 2.0**15
    incr_ratio: float = 2.0
    decr_ratio: float = 0.5
    incr_every_n_steps: int = 1000
    decr_every_n_nan_or_inf: int = 1
    use_dynamic_loss_scaling: bool = True

    def begin(self, given: dict[str, Any]) -> None:
        """Take over the arguments: ``x`` is kept as ``_x``."""
        need_dynamic(type(self).__name__)
        if given["enable"]:
            warn(f"{type(self).__name__} is without effect on a CPU: losses stay as they are", None)
        vars(self).update({f"_{name}": value for name, value in given.items()})

    def scale(self, var: T) -> T:
        """A loss times the factor: the loss itself."""
        return var

    def minimize(self, optimizer: Optimizer, *args: Any, **kwargs: Any) -> tuple[list[Any], Any]:
        """Let an optimizer make its step.

        Args:
            optimizer: of the parameters.
            args, kwargs: what its ``minimize`` takes.
        """
        return optimizer.minimize(*args, **kwargs)

    def is_enable(self) -> bool:
        """Whether losses are scaled: not on a CPU."""
        return False

    def is_use_dynamic_loss_scaling(self) -> bool:
        """Whether the factor changes: not on a CPU."""
        return False

    def get_init_loss_scaling(self) -> float:
        """The first factor."""
        return self._init_loss_scaling

    def set_init_loss_scaling(self, new_init_loss_scaling: float) -> None:
        """Begin with another factor."""
        self._init_loss_scaling = new_init_loss_scaling

    def get_incr_ratio(self) -> float:
        """What the factor is multiplied by to become larger."""
        return self._incr_ratio

    def set_incr_ratio(self, new_incr_ratio: float) -> None:
        """Multiply by another number, above 1, from now on."""
        if not new_incr_ratio > 1:
            raise refused(self, "new_incr_ratio", "a number above 1", new_incr_ratio)
        self._incr_ratio = new_incr_ratio

    def get_decr_ratio(self) -> float:
        """What the factor is multiplied by to become smaller."""
        return self._decr_ratio

    def set_decr_ratio(self, new_decr_ratio: float) -> None:
        """Multiply by another number, below 1, from now on."""
        if not new_decr_ratio < 1:
            raise refused(self, "new_decr_ratio", "a number below 1", new_decr_ratio)
        self._decr_ratio = new_decr_ratio

    def get_incr_every_n_steps(self) -> int:
        """After so many good steps the factor becomes larger."""
        return self._incr_every_n_steps

    def set_incr_every_n_steps(self, new_incr_every_n_steps: int) -> None:
        """After another number of steps from now on."""
        self._incr_every_n_steps = new_incr_every_n_steps

    def get_decr_every_n_nan_or_inf(self) -> int:
        """After so many bad steps the factor becomes smaller."""
        return self._decr_every_n_nan_or_inf

    def set_decr_every_n_nan_or_inf(self, new_decr_every_n_nan_or_inf: int) -> None:
        """After another number of steps from now on."""
        self._decr_every_n_nan_or_inf = new_decr_every_n_nan_or_inf

    def state_dict(self) -> dict[str, Any]:
        """What is needed to go on: nothing, since nothing is scaled."""
        return {}

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Go on from a state, which is without effect.

        Args:
            state_dict: accepted: nothing is scaled.
        """


@_SCALERS
@from_fields
class GradScaler(AmpScaler):
    """A scaler whose steps are made one by one: ``scale``, ``step``, ``update``.

    >>> import warnings
    >>> from fluidlite import paddle
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     scaler = paddle.amp.GradScaler(init_loss_scaling=1024.0)
    >>> scaler.is_enable(), float(scaler.scale(paddle.to_tensor(2.0)))
    (False, 2.0)
    """

    init_loss_scaling: float = 2.0**16
    incr_every_n_steps: int = 2000

    def step(self, optimizer: Optimizer) -> None:
        """Let an optimizer make its step."""
        optimizer.step()

    def unscale_(self, optimizer: Optimizer) -> None:
        """Divide gradients by the factor, which is without effect.

        Args:
            optimizer: accepted: its gradients stay as they are.
        """

    def update(self) -> None:
        """Change the factor, which is without effect."""
