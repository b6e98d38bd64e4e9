"""The device that an operator is meant for, as an attribute in programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from ..errors import ArgumentError
from ..ground import state
from ..ground.callsite import CallSite, warn
from ..opdef.definition import Op

_current: state.StateSlot[str] = state.slot("device", lambda: "")


def device_of(op: Op, site: CallSite | None) -> str:
    """The device that an operator is meant for: none for one that drives blocks.

    Args:
        op: the operator.
        site: the user's line, for a warning.
    """
    device = _current.get()
    if device and op.block_attributes:
        warn(f"{op.type} drives a block and stays without the device {device!r}", site)
        return ""
    return device


@contextmanager
def device_guard(device: str | None = None) -> Iterator[None]:
    """Mark the operators made inside as meant for a device: their attribute ``op_device``, which
    stays in saved programs.  Here all operators run on the CPU.  Operators that drive blocks are
    not marked, and a warning says so.

    Args:
        device: "cpu" or "gpu"; None for whatever there is.

    Raises:
        ArgumentError: ``device`` is something else.

    >>> x = fluid.data("x", [2], "float32")
    >>> with fluid.device_guard("cpu"):
    ...     y = fluid.layers.relu(x)
    >>> y.op.attr("op_device")
    'cpu'
    """
    with marked(device, ("cpu", "gpu")):
        yield


@contextmanager
def marked(device: str | None, known: Sequence[str]) -> Iterator[None]:
    """The same, where devices have other names.

    Args:
        device: one of them; None for whatever there is.
        known: the names.

    Raises:
        ArgumentError: ``device`` is something else.
    """
    if device not in (None, "", *known):
        listed = ", ".join(f'"{each}"' for each in known)
        raise ArgumentError(
            f"device_guard: expected device to be {listed} or None, got {device!r:.60}"
        )
    with _current.guard(device or ""):
        yield
