"""What probability distributions have in common."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...ground.aliases import Alias
from ...ground.public_names import list_public_names
from ...ground.reprs import Described
from ..kinds import Size

if TYPE_CHECKING:
    from ..tensor import Tensor

__all__ = ["Distribution"]


class Distribution(Described):
    """The base of probability distributions.

    Args:
        batch_shape: of the distributions that are held together.
        event_shape: of one sample.
        validate_args: accepted: subclasses check what they are given.
    """

    def __init__(
        self,
        batch_shape: Sequence[int] = (),
        event_shape: Sequence[int] = (),
        validate_args: bool | None = None,
    ) -> None:
        self._batch_shape, self._event_shape = Size(batch_shape), Size(event_shape)

    batch_shape: Alias[Size] = Alias(
        "_batch_shape", "The shape of the distributions that are held together."
    )
    event_shape: Alias[Size] = Alias("_event_shape", "The shape of one sample.")

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Samples: written by subclasses.

        Args:
            sample_shape: how many.
        """
        raise NotImplementedError(f"{type(self).__name__} needs a method sample(self, ...)")


list_public_names(globals())
