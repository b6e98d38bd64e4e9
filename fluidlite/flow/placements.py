"""Tensors that lie with several processes, of which there is one, in OneFlow's spelling."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ..eager.engine import located
from ..eager.recording import TensorRecord, eager
from ..errors import ArgumentError, DeviceError
from ..ground.tracebacks import api_boundary
from . import devices
from .sbp import sbp as Sbp

if TYPE_CHECKING:
    from typing_extensions import Self

#: what users write for the way in which parts lie
SbpLike = Sbp | Sequence[Sbp] | None


class placement:
    """The processes that have a tensor: the only one.

    Args:
        type: "cpu".
        ranks: their numbers, as [0].

    Raises:
        DeviceError: another device, or another process.

    >>> fluid.flow.placement("cpu", ranks=[0])
    oneflow.placement(type="cpu", ranks=[0])
    """

    def __init__(self, type: str, ranks: Sequence[int]) -> None:
        devices.need_cpu(type)
        self._type = type
        self._ranks = np.array(ranks)
        if set(self.ranks.reshape(-1).tolist()) != {0}:
            raise located(DeviceError, f"expected the only process, [0], got {self.ranks.tolist()}")

    @property
    def type(self) -> str:
        """ "cpu"."""
        return self._type

    @property
    def ranks(self) -> np.ndarray[Any, Any]:
        """The numbers of the processes."""
        return self._ranks

    @property
    def device_type(self) -> str:
        """ "cpu"."""
        return self.type

    @property
    def hierarchy(self) -> tuple[int, ...]:
        """The shape in which the numbers were given."""
        return self.ranks.shape

    @staticmethod
    def all(device_type: str) -> placement:
        """All processes that there are.

        Args:
            device_type: "cpu".
        """
        return placement(device_type, [0])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, placement) and self.ranks.tolist() == other.ranks.tolist()

    def __hash__(self) -> int:
        return hash((self.type, self.ranks.tobytes()))

    def __repr__(self) -> str:
        return f'oneflow.placement(type="{self.type}", ranks={self.ranks.tolist()})'


def check_placed(where: placement | None, how: SbpLike) -> tuple[placement, tuple[Sbp, ...]] | None:
    """What a tensor remembers of its place; None where none is given.

    Args:
        where: the processes.
        how: the way in which parts lie, or one for each dimension of the processes.

    Raises:
        ArgumentError: one is there without the other, or something else.
    """
    if where is None and how is None:
        return None
    ways = tuple(how) if isinstance(how, (list, tuple)) else (how,)
    if not isinstance(where, placement) or not all(isinstance(each, Sbp) for each in ways):
        raise located(
            ArgumentError, f"expected a placement and sbp, got {where!r:.60} and {how!r:.60}"
        )
    return where, ways


class Placed(TensorRecord, results=False):
    """Tensors that may lie with several processes."""

    _placed: tuple[placement, tuple[Sbp, ...]] | None = None
    #: makes what makes results of tensors at a place
    global_results: ClassVar[Any]

    def _place_at(self, placed: tuple[placement, tuple[Sbp, ...]] | None) -> None:
        """Let the tensor, and the results of operators on it, lie at a place.

        Args:
            placed: of :func:`check_placed`; None for this process alone.
        """
        if placed is not None:
            self.__dict__["results"] = self.global_results(placed)
        elif self._placed is not None:
            del self.__dict__["results"]
        self._placed = placed

    def to_global(
        self,
        placement: placement | None = None,
        sbp: SbpLike = None,
        *,
        grad_sbp: SbpLike = None,
        check_meta: bool = True,
        copy: bool = False,
    ) -> Self:
        """The tensor, which lies with all processes: the only one.

        Args:
            placement: the processes.
            sbp: the way in which the parts lie.
            grad_sbp: accepted: gradients are whole.
            check_meta: accepted: there is no other process to compare with.
            copy: accepted: elements are never written to where they lie.

        Raises:
            ArgumentError: the tensor has no place yet, and none is given.

        >>> place = fluid.flow.placement("cpu", [0])
        >>> fluid.flow.tensor([1.0]).to_global(placement=place, sbp=fluid.flow.sbp.broadcast).shape
        oneflow.Size([1])
        """
        had = self._placed or (None, None)
        tensor: Any = self.alias() if self.stop else eager.assign(self)  # type: ignore[attr-defined]
        placed = check_placed(
            had[0] if placement is None else placement, had[1] if sbp is None else sbp
        )
        if placed is None:
            raise located(ArgumentError, "expected a placement and sbp, got neither")
        tensor._place_at(placed)
        return tensor

    local_to_global = to_global
    global_to_global = to_global

    def to_local(self, *, copy: bool = False) -> Self:
        """The part of the tensor that this process has: all of it.

        Args:
            copy: accepted: elements are never written to where they lie.

        >>> fluid.flow.tensor([1.0]).to_local().tolist()
        [1.0]
        """
        if self._placed is None:
            return self
        made: Any = self.alias()  # type: ignore[attr-defined]
        made._place_at(None)
        return made

    @property
    def is_global(self) -> bool:
        """Whether the tensor was made for several processes."""
        return self._placed is not None

    @property
    def is_local(self) -> bool:
        """Whether the tensor was made for this process alone."""
        return self._placed is None

    @property
    def is_eager(self) -> bool:
        """True: the elements are there."""
        return True

    @property
    def is_lazy(self) -> bool:
        """False: the elements are there."""
        return False

    @property
    @api_boundary
    def placement(self) -> placement:
        """The processes that have a global tensor.

        Raises:
            DeviceError: the tensor is local.
        """
        return self._place()[0]

    @property
    @api_boundary
    def sbp(self) -> tuple[Sbp, ...]:
        """How the parts of a global tensor lie.

        Raises:
            DeviceError: the tensor is local.
        """
        return self._place()[1]

    def _place(self) -> Any:
        if self._placed is None:
            raise located(
                DeviceError, "a local tensor has no placement and no sbp; see to_global()"
            )
        return self._placed

    def _placing(self) -> list[str]:
        """What the tensor's text says of its place."""
        if self._placed is None:
            return []
        return [f"placement={self._placed[0]!r}", f"sbp={self._placed[1]!r}"]

    def check_meta_consistency(self) -> None:
        """Nothing: there is no other process whose tensor could differ."""

    def is_pinned(self) -> bool:
        """False: memory of the CPU is not pinned for another device."""
        return False

    def pin_memory(self) -> Self:
        """The tensor itself: there is no other device to copy it to faster."""
        return self
