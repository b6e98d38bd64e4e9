"""Places of missing devices."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import NoReturn

from ...errors import NoDeviceError
from ...ground.public_names import list_public_names
from ...ground.tracebacks import api_boundaries
from ...ir.device import marked


def _absent(name: str, machine: str) -> NoReturn:
    raise NoDeviceError(
        f"paddle.static.{name}: there is no {machine} here; programs run on the CPU"
    )


def device_guard(device: str | None = None) -> AbstractContextManager[None]:
    """Mark the operators made inside as meant for a device; here all run on the CPU.

    Args:
        device: "cpu", "gpu" or "xpu", with ``:`` and a number behind the last two; None for
            whatever there is.

    Raises:
        ArgumentError: ``device`` is something else.

    >>> from fluidlite import paddle
    >>> paddle.enable_static()
    >>> with paddle.static.device_guard("gpu:1"):
    ...     x = paddle.full([2], 1.0)
    >>> x.op.attr("op_device")
    'gpu:1'
    """
    name, _, number = device.partition(":") if isinstance(device, str) else (device, "", "")
    numbered = [str(device)] if name in ("gpu", "xpu") and number.isdigit() else []
    return marked(device, ("cpu", "gpu", "xpu", *numbered))


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
