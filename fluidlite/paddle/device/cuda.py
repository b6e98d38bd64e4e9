"""``paddle.device.cuda`` of paddle 2.6: there is no CUDA."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NoReturn

from ...ground.public_names import list_public_names
from ...ground.tracebacks import api_boundaries
from .absent import Event, Stream, no_device

__all__ = [
    "Event", "Stream", "current_stream", "device_count", "empty_cache", "get_device_capability",
    "get_device_name", "get_device_properties", "max_memory_allocated", "max_memory_reserved",
    "memory_allocated", "memory_reserved", "stream_guard", "synchronize",
]  # fmt: skip


def device_count() -> int:
    """0."""
    return 0


def empty_cache() -> None:
    """Nothing: no memory of a GPU is kept."""


def stream_guard(stream: Stream) -> NoReturn:
    """Refused: there is no GPU.

    Args:
        stream: the stream.

    Raises:
        NoDeviceError: always.
    """
    no_device("cuda.stream_guard")


def _refused(name: str) -> Callable[..., NoReturn]:
    def refused(device: object = None) -> NoReturn:
        """Refused: there is no GPU.

        Args:
            device: the GPU.

        Raises:
            NoDeviceError: always.
        """
        no_device(f"cuda.{name}")

    refused.__name__ = refused.__qualname__ = name
    return refused


current_stream: Final = _refused("current_stream")
get_device_capability: Final = _refused("get_device_capability")
get_device_name: Final = _refused("get_device_name")
get_device_properties: Final = _refused("get_device_properties")
max_memory_allocated: Final = _refused("max_memory_allocated")
max_memory_reserved: Final = _refused("max_memory_reserved")
memory_allocated: Final = _refused("memory_allocated")
memory_reserved: Final = _refused("memory_reserved")
synchronize: Final = _refused("synchronize")

list_public_names(globals())
api_boundaries(globals())
