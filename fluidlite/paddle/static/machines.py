"""Places of machines that are not there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

from ...errors import NoDeviceError
from ...ground.public_names import list_public_names
from ...ground.tracebacks import api_boundaries


def _absent(name: str, machine: str) -> NoReturn:
    raise NoDeviceError(
        f"paddle.static.{name}: there is no {machine} here; programs run on the CPU"
    )


def xpu_places(device_ids: Sequence[int] | None = None) -> NoReturn:
    """Refused: there is no XPU.

    Args:
        device_ids: numbers of XPUs.

    Raises:
        NoDeviceError: always.
    """
    _absent("xpu_places", "XPU")


def cuda_places(device_ids: Sequence[int] | None = None) -> NoReturn:
    """Refused: there is no CUDA.

    Args:
        device_ids: numbers of GPUs.

    Raises:
        NoDeviceError: always.
    """
    _absent("cuda_places", "CUDA")


list_public_names(globals())
api_boundaries(globals())
