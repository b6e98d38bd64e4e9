"""Missing devices, and what is said of them."""

from __future__ import annotations

from typing import NoReturn

from ...errors import NoDeviceError
from ...ground.reprs import Described
from ...ground.tracebacks import api_boundaries

__all__ = ["Event", "IPUPlace", "Stream", "XPUPlace"]


def without_device(function: str, device: object = None) -> NoReturn:
    """Refuse what needs another device than the CPU.

    Args:
        function: what was called.
        device: the device that it was given.

    Raises:
        NoDeviceError: always.
    """
    of = "" if device is None else f" {device!r:.60}"
    raise NoDeviceError(f"{function}: expected a device with streams, got the CPU alone{of}")


def no_device(what: str) -> NoReturn:
    """Refuse what is of another device than the CPU.

    Args:
        what: its name.

    Raises:
        NoDeviceError: always.
    """
    raise NoDeviceError(f"{what}: there is no such device; programs run on the CPU")


class Stream(Described):
    """A queue of work of a device; the CPU has none, so there is no object of it.

    Args:
        device: the device.
        priority: of its work.
        stream_base: a stream of another library.

    Raises:
        NoDeviceError: always.
    """

    def __init__(
        self, device: object = None, priority: int = 2, stream_base: object = None
    ) -> None:
        without_device("Stream", device)


class Event(Described):
    """A mark in a stream; the CPU has none, so there is no object of it.

    Args:
        device: the device.
        enable_timing, blocking, interprocess: what the mark is for.

    Raises:
        NoDeviceError: always.
    """

    def __init__(
        self,
        device: object = None,
        enable_timing: bool = False,
        blocking: bool = False,
        interprocess: bool = False,
    ) -> None:
        without_device("Event", device)


def IPUPlace() -> NoReturn:
    """Refused: there is no IPU.

    Raises:
        NoDeviceError: always.
    """
    no_device("IPUPlace()")


def XPUPlace(dev_id: int) -> NoReturn:
    """Refused: there is no XPU.

    Args:
        dev_id: the number of the device.

    Raises:
        NoDeviceError: always.
    """
    no_device(f"XPUPlace({dev_id!r:.20})")


api_boundaries(globals(), but=("without_device", "no_device"))
