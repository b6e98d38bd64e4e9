"""``paddle.device`` of paddle 2.6: there is one device, the CPU.

It has neither streams nor events, as in builds of paddle 2.6 for the CPU: calls are done when they
return.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NoReturn

from ...errors import ArgumentError, NoDeviceError
from ...ground.place import CPUPlace, is_compiled_with_cuda
from ...ground.public_names import list_public_names
from ...ground.reprs import Described
from ...ground.spellings import Spelling
from ...ground.tracebacks import api_boundaries
from . import cuda, xpu
from .absent import Event, IPUPlace, Stream, XPUPlace, without_device

__all__ = [
    "Event", "IPUPlace", "Stream", "XPUPlace", "cuda", "current_stream",
    "get_all_custom_device_type", "get_all_device_type", "get_available_custom_device",
    "get_available_device", "get_cudnn_version", "get_device", "is_compiled_with_cinn",
    "is_compiled_with_cuda", "is_compiled_with_custom_device", "is_compiled_with_distribute",
    "is_compiled_with_ipu", "is_compiled_with_rocm", "is_compiled_with_xpu", "set_device",
    "set_stream", "stream_guard", "synchronize", "xpu",
]  # fmt: skip


def get_device() -> str:
    """``"cpu"``.

    >>> fluid.paddle.get_device()
    'cpu'
    """
    return "cpu"


def set_device(device: str | CPUPlace) -> CPUPlace:
    """Accepted for the CPU.

    Args:
        device: ``"cpu"``.

    Raises:
        NoDeviceError: another device.

    >>> from fluidlite import paddle
    >>> paddle.set_device("cpu")
    CPUPlace
    """
    if isinstance(device, CPUPlace) or (isinstance(device, str) and device.lower() == "cpu"):
        return CPUPlace()
    raise NoDeviceError(f"there is no device {device!r:.60}: programs run on 'cpu'")


def get_all_device_type() -> list[str]:
    """No types: the CPU is not counted, as in paddle 2.6."""
    return []


def get_available_device() -> list[str]:
    """No devices: the CPU is not counted, as in paddle 2.6."""
    return []


def get_all_custom_device_type() -> list[str]:
    """No types."""
    return []


def get_available_custom_device() -> list[str]:
    """No devices."""
    return []


def get_cudnn_version() -> int | None:
    """None: there is no cuDNN.

    >>> fluid.paddle.get_cudnn_version()
    """
    return None


def _is_not(name: str) -> Callable[[], bool]:
    answer: Callable[..., bool] = Spelling({})(
        is_compiled_with_cuda, name, f"False.\n\n>>> fluid.paddle.{name}()\nFalse", scope=globals()
    )
    return answer


is_compiled_with_cinn: Final = _is_not("is_compiled_with_cinn")
is_compiled_with_ipu: Final = _is_not("is_compiled_with_ipu")
is_compiled_with_rocm: Final = _is_not("is_compiled_with_rocm")
is_compiled_with_xpu: Final = _is_not("is_compiled_with_xpu")


def is_compiled_with_custom_device(device_type: str) -> bool:
    """False, for every type.

    >>> fluid.paddle.is_compiled_with_custom_device("npu")
    False
    """
    return False


def is_compiled_with_distribute() -> bool:
    """Whether processes can be joined: they can, with MPI.

    >>> fluid.paddle.is_compiled_with_distribute()
    True
    """
    return True


def current_stream(device: object = None) -> NoReturn:
    """Refused: the CPU has no streams.

    Args:
        device: the device.

    Raises:
        NoDeviceError: always.
    """
    without_device("current_stream", device)


def set_stream(stream: Stream) -> NoReturn:
    """Refused: there is no stream.

    Args:
        stream: the stream.

    Raises:
        ArgumentError: always.
    """
    raise ArgumentError(f"set_stream: expected a Stream, got {stream!r:.60}; the CPU has none")


class stream_guard(Described):
    """A guard under which a stream takes the work; one of no stream changes nothing.

    Args:
        stream: None.

    Raises:
        ArgumentError: ``stream`` is something else.

    >>> from fluidlite import paddle
    >>> with paddle.device.stream_guard():
    ...     x = paddle.ones([2])
    """

    def __init__(self, stream: Stream | None = None) -> None:
        if stream is not None:
            set_stream(stream)

    def __enter__(self) -> None:
        """Nothing."""

    def __exit__(self, *error: object) -> None:
        """Nothing."""


def synchronize(device: object = None) -> NoReturn:
    """Refused, as in builds for the CPU: calls are done when they return.

    Args:
        device: the device.

    Raises:
        NoDeviceError: always.
    """
    without_device("synchronize", device)


list_public_names(globals())
api_boundaries(globals())
