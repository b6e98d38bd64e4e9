"""Graphics processors, of which there are none, for programs that ask."""

from __future__ import annotations

from ..eager.engine import located
from ..errors import DeviceError, FluidError
from ..ground.docstrings import Family
from ..ground.public_names import list_public_names
from .devices import DeviceLike

_ABSENT = Family(raises="DeviceError: always.")


def is_available() -> bool:
    """False: tensors are on the CPU."""
    return False


def device_count() -> int:
    """0: tensors are on the CPU."""
    return 0


def manual_seed(seed: int) -> None:
    """Nothing: no device draws random numbers.

    Args:
        seed: accepted; :func:`fluidlite.flow.manual_seed` is what draws here.
    """


def manual_seed_all(seed: int) -> None:
    """Nothing: no device draws random numbers.

    Args:
        seed: accepted.
    """


@_ABSENT
def current_device() -> int:
    """An error: there is no device."""
    raise _none()


@_ABSENT
def set_device(device: DeviceLike | int) -> None:
    """An error: there is no device."""
    raise _none()


@_ABSENT
def get_device_name(device: DeviceLike | int = None) -> str:
    """An error: there is no device."""
    raise _none()


@_ABSENT
def get_device_properties(device: DeviceLike | int) -> object:
    """An error: there is no device."""
    raise _none()


@_ABSENT
def get_device_capability(device: DeviceLike | int = None) -> tuple[int, int]:
    """An error: there is no device."""
    raise _none()


def _none() -> FluidError:
    return located(DeviceError, "expected a graphics processor, got none: tensors are on the CPU")


def synchronize(device: object | None = None) -> None:
    """Nothing: what a function gives is computed.

    Args:
        device: accepted.
    """


def empty_cache() -> None:
    """Nothing: no device keeps memory."""


list_public_names(globals())
