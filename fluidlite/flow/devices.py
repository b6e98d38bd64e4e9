"""Where tensors are: on the CPU."""

from __future__ import annotations

from ..eager import engine
from ..errors import DeviceError


class device:
    """A place for tensors.

    Args:
        type: "cpu", "cuda", or one of them with a number, as "cpu:0"; or a device.
        index: the number, or None.

    Raises:
        DeviceError: another place.

    >>> fluid.flow.device("cpu").type, str(fluid.flow.device("cpu"))
    ('cpu', 'cpu:0')
    """

    __slots__ = ("index", "type")

    def __init__(self, type: DeviceLike = "cpu", index: int | None = None) -> None:
        given = str(type) if isinstance(type, (str, device)) else ""
        name, _, number = given.partition(":")
        if name not in ("cpu", "cuda") or not (number or "0").isdigit():
            raise engine.located(
                DeviceError, f"expected a device as 'cpu' or 'cpu:0', got {type!r:.60}"
            )
        if number and index is not None and not isinstance(type, device):
            raise engine.located(
                DeviceError, f"expected one number of a device, got {type!r:.60} and {index}"
            )
        self.type: str = name
        self.index: int = int(number or index or 0)

    def __str__(self) -> str:
        return f"{self.type}:{self.index}"

    def __repr__(self) -> str:
        return f"device(type={self.type!r}, index={self.index})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, device) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))


#: what users write for a place; None for the only one
DeviceLike = str | device | None


def need_cpu(given: DeviceLike) -> None:
    """Refuse a place that is none of tensors.

    Args:
        given: what a user passed as ``device``: None, a text or a device.

    Raises:
        DeviceError: it is not the CPU.
    """
    if given is not None and device(given).type != "cpu":
        raise engine.located(
            DeviceError, f"expected the device 'cpu', where all tensors are, got {str(given)!r:.60}"
        )
