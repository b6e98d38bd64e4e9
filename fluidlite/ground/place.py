"""Where programs run: the CPU, and the names of missing places."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Final

from ..errors import ArgumentError
from . import state
from .reprs import Described


class Place:
    """A device.  Only the CPU is there."""

    _number = -1  #: of the kind of place, as fluid 1.8 counts them

    def _type(self) -> int:
        return self._number

    def _equals(self, other: Place) -> bool:
        return self == other

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other)

    def __hash__(self) -> int:
        return hash(type(self))

    def __repr__(self) -> str:
        return type(self).__name__


class CPUPlace(Place):
    """The CPU.

    >>> exe = fluid.Executor(fluid.CPUPlace())
    """

    _number = 1

    def __repr__(self) -> str:
        return "Place(cpu)" if state.as_paddle_2.get() else super().__repr__()


class TensorPlace(CPUPlace):
    """Where the elements of a tensor are: ``Place`` in paddle 2, which says what it is."""

    def is_cpu_place(self) -> bool:
        """True."""
        return True

    def is_gpu_place(self) -> bool:
        """False, as the other ones: there is the CPU alone."""
        return False

    is_cuda_pinned_place: Final = is_gpu_place
    is_custom_place: Final = is_gpu_place
    is_ipu_place: Final = is_gpu_place
    is_xpu_place: Final = is_gpu_place

    def _equals(self, other: Place) -> bool:
        return isinstance(other, CPUPlace)

    def __repr__(self) -> str:
        return "Place(cpu)"


class CUDAPlace(Described, Place):
    """A CUDA device, for old scripts that name one; an executor refuses it.

    Args:
        device_id: the device's number.

    >>> fluid.CUDAPlace(0)
    CUDAPlace()
    """

    _number = 0

    def __init__(self, device_id: int = 0) -> None:
        self.device_id = device_id

    def get_device_id(self) -> int:
        """The device's number."""
        return self.device_id


class CUDAPinnedPlace(Place):
    """Page-locked memory, for old scripts that name it; an executor refuses it.

    >>> place = fluid.CUDAPinnedPlace()
    """

    _number = 2


#: what users write for where something is; None for where it is anyway
Places = Place | Sequence[Place] | None


def checked(place: Place | str | None) -> Place:
    """The place to run at; the CPU when None.

    Raises:
        ArgumentError: it is no place, or a missing one.
    """
    if place is None or (place == "cpu" and state.builds.get()):  # as paddle 2 spells it
        return CPUPlace()
    if not isinstance(place, Place):
        raise ArgumentError(f"expected a place such as CPUPlace(), got {place!r:.60}")
    if not isinstance(place, CPUPlace):
        raise ArgumentError(f"{place!r} is not available: programs run on the CPU; use CPUPlace()")
    return place


def is_compiled_with_cuda() -> bool:
    """False: there is no CUDA.

    >>> fluid.is_compiled_with_cuda()
    False
    """
    return False


def cpu_places(device_count: int | None = None) -> list[CPUPlace]:
    """The CPU as a list of places.

    Args:
        device_count: how many; as ``CPU_NUM`` in the environment says when None, or 1.

    Raises:
        ArgumentError: ``CPU_NUM`` is no number.

    >>> len(fluid.cpu_places(2))
    2
    """
    return [CPUPlace() for _ in range(device_count or devices_said())]


def devices_said() -> int:
    """How many devices ``CPU_NUM`` in the environment says that there are; 1 where it says nothing.

    Raises:
        ArgumentError: it is no number.
    """
    said = os.environ.get("CPU_NUM", "") or "1"
    if not said.isdigit() or said == "0":
        raise ArgumentError(f"expected CPU_NUM to be a number of devices, got {said!r}")
    return int(said)


def cuda_places(device_ids: list[int] | None = None) -> list[CUDAPlace]:
    """No places: there is no CUDA.

    >>> fluid.cuda_places([0])
    []
    """
    return []


def cuda_pinned_places(device_count: int | None = None) -> list[CUDAPinnedPlace]:
    """No places: there is no CUDA.

    >>> len(fluid.cuda_pinned_places(2))
    0
    """
    return []
