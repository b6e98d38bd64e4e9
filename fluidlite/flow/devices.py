"""Where tensors are: on the CPU."""

from __future__ import annotations

from ..eager import engine
from ..errors import ArgumentError


class device:
    """A place for tensors.

    Args:
        type: "cpu" or "cpu:0", or a device.
        index: 0, or None.

    Raises:
        ArgumentError: another place, as "cuda": tensors are on the CPU.

    >>> fluid.flow.device("cpu:0").type, str(fluid.flow.device("cpu"))
    ('cpu', 'cpu')
    """

    __slots__ = ("index", "type")

    def __init__(self, type: DeviceLike = "cpu", index: int | None = None) -> None:
        given = str(type) if isinstance(type, (str, device)) else ""
        name, _, number = given.partition(":")
        if name != "cpu" or number not in ("", "0") or index not in (None, 0):
            raise engine.located(
                ArgumentError,
                f"expected the device 'cpu', where all tensors are, got {type!r:.60}"
                f"{'' if index is None else f' with index {index!r}'}",
            )
        self.type: str = "cpu"
        self.index = 0 if number or index == 0 else None

    def __str__(self) -> str:
        return "cpu" if self.index is None else "cpu:0"

    def __repr__(self) -> str:
        more = "" if self.index is None else ", index=0"
        return f"device(type='cpu'{more})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, device)  # there is one

    def __hash__(self) -> int:
        return hash(self.type)


#: what users write for a place; None for the only one
DeviceLike = str | device | None


def need_cpu(given: DeviceLike) -> None:
    """Refuse a place that is none of tensors.

    Args:
        given: what a user passed as ``device``: None, a text or a device.

    Raises:
        ArgumentError: it is not the CPU.
    """
    if given is not None:
        device(given)
