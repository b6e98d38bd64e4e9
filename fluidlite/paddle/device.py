"""``paddle.device`` of paddle 2.6: there is one device, the CPU."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from ..errors import UnsupportedError
from ..ground.place import CPUPlace, is_compiled_with_cuda
from ..ground.public_names import list_public_names
from ..ground.tracebacks import api_boundaries

__all__ = [
    "get_all_custom_device_type", "get_all_device_type", "get_available_custom_device",
    "get_available_device", "get_cudnn_version", "get_device", "is_compiled_with_cinn",
    "is_compiled_with_cuda", "is_compiled_with_custom_device", "is_compiled_with_distribute",
    "is_compiled_with_ipu", "is_compiled_with_rocm", "is_compiled_with_xpu", "set_device",
    "stream_guard", "synchronize",
]  # fmt: skip


def get_device() -> str:
    """``"cpu"``."""
    return "cpu"


def set_device(device: Any) -> CPUPlace:
    """Accepted for the CPU.

    Args:
        device: ``"cpu"``.

    Raises:
        UnsupportedError: another device.

    >>> from fluidlite import paddle
    >>> paddle.set_device("cpu")
    CPUPlace
    """
    if isinstance(device, CPUPlace) or device == "cpu":
        return CPUPlace()
    raise UnsupportedError(f"there is no device {device!r:.60}: programs run on 'cpu'")


def get_all_device_type() -> list[str]:
    """``["cpu"]``."""
    return ["cpu"]


def get_available_device() -> list[str]:
    """``["cpu"]``."""
    return ["cpu"]


def get_all_custom_device_type() -> list[str]:
    """No types."""
    return []


def get_available_custom_device() -> list[str]:
    """No devices."""
    return []


def get_cudnn_version() -> int | None:
    """None: there is no cuDNN."""
    return None


def is_compiled_with_cinn() -> bool:
    """False."""
    return False


def is_compiled_with_custom_device(device_type: str) -> bool:
    """False, for every type."""
    return False


def is_compiled_with_distribute() -> bool:
    """Whether processes can be joined: they can, with MPI."""
    return True


def is_compiled_with_ipu() -> bool:
    """False."""
    return False


def is_compiled_with_rocm() -> bool:
    """False."""
    return False


def is_compiled_with_xpu() -> bool:
    """False."""
    return False


@contextlib.contextmanager
def stream_guard(stream: object = None) -> Iterator[None]:
    """Nothing: calls are done when they return.

    Args:
        stream: accepted.
    """
    yield


def synchronize(device: object = None) -> None:
    """Nothing: calls are done when they return.

    Args:
        device: accepted.
    """


list_public_names(globals())
api_boundaries(globals())
