"""Places of GPUs, for programs that name one whatever there is: they are the CPU."""

from __future__ import annotations

from ...ground.place import CPUPlace, Place
from ..served import notice


def _told(name: str) -> None:
    notice("CUDAPlace", f"{name} is the CPU here: there is no GPU")


class CUDAPlace(CPUPlace):
    """The CPU, by the name of a GPU.

    Args:
        device_id: the GPU's number.
    """

    def __init__(self, device_id: int = 0) -> None:
        _told("CUDAPlace")
        self.device_id = device_id

    def get_device_id(self) -> int:
        """The GPU's number."""
        return self.device_id

    def __repr__(self) -> str:
        return f"CUDAPlace({self.device_id})"


class CUDAPinnedPlace(CPUPlace):
    """The CPU, by the name of memory that a GPU reads."""

    def __init__(self) -> None:
        _told("CUDAPinnedPlace")


class AnyPlace(Place):
    """``core.Place``: says of a place which one it is."""

    def __init__(self) -> None:
        self.place: Place = CPUPlace()

    def set_place(self, place: Place) -> None:
        """Take a place."""
        self.place = place

    def is_cpu_place(self) -> bool:
        """Whether it is the CPU."""
        return type(self.place) is CPUPlace

    def is_gpu_place(self) -> bool:
        """Whether it is named as a GPU."""
        return isinstance(self.place, CUDAPlace)

    def is_cuda_pinned_place(self) -> bool:
        """Whether it is named as memory that a GPU reads."""
        return isinstance(self.place, CUDAPinnedPlace)

    def gpu_device_id(self) -> int:
        """The GPU's number."""
        return getattr(self.place, "device_id", 0)
