"""``paddle.device.xpu`` of paddle 2.6: there is no XPU."""

from __future__ import annotations

from typing import NoReturn

from ...ground.public_names import list_public_names
from ...ground.tracebacks import api_boundaries
from .absent import no_device

__all__ = ["device_count", "synchronize"]


def device_count() -> int:
    """0."""
    return 0


def synchronize(device: object = None) -> NoReturn:
    """Refused: there is no XPU.

    Args:
        device: the device.

    Raises:
        NoDeviceError: always.
    """
    no_device("xpu.synchronize")


list_public_names(globals())
api_boundaries(globals())
