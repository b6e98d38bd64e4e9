"""Tensors that go between processes, of which there is one, in OneFlow's spelling.

With one process each function gives what it was given; to more processes the modules of
``fluidlite.distributed`` send.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..eager.engine import located
from ..eager.mode import no_grad
from ..errors import DeviceError, UnsupportedError
from ..ground.public_names import list_public_names
from ..ground.tracebacks import api_boundaries
from . import env
from .shapes import cat

if TYPE_CHECKING:
    from .tensor import Tensor

__all__ = [
    "all_gather", "all_gather_into_tensor", "all_reduce", "all_to_all", "barrier", "broadcast",
    "gather", "recv", "reduce", "reduce_scatter", "reduce_scatter_tensor", "scatter", "send",
]  # fmt: skip


def _alone(*ranks: int) -> None:
    """Refuse several processes, and ranks that there are not.

    Args:
        ranks: numbers of processes.
    """
    if env.get_world_size() > 1:
        raise located(
            UnsupportedError,
            "oneflow.comm serves one process; several are served by fluidlite.distributed",
        )
    if any(rank != 0 for rank in ranks):
        raise located(DeviceError, f"expected the only process, 0, got {[*ranks]}")


def _put(target: Tensor, source: Tensor) -> None:
    with no_grad():
        target.copy_(source)


def all_reduce(tensor: Tensor) -> None:
    """Make a tensor the sum of those of all processes.

    >>> x = fluid.flow.ones(2)
    >>> fluid.flow.comm.all_reduce(x)
    >>> x
    tensor([1., 1.], dtype=oneflow.float32)
    """
    _alone()


def reduce(tensor: Tensor, dst: int) -> None:
    """Make a tensor of one process the sum of those of all.

    Args:
        tensor: a tensor.
        dst: the number of the process.
    """
    _alone(dst)


def broadcast(tensor: Tensor, src: int) -> None:
    """Make a tensor that of one process.

    Args:
        tensor: a tensor.
        src: the number of the process.
    """
    _alone(src)


def barrier() -> None:
    """Wait for all processes."""
    _alone()


def all_gather(tensor_list: Sequence[Tensor], tensor: Tensor) -> None:
    """Write the tensors of all processes to those of a list."""
    _alone()
    _put(tensor_list[0], tensor)


def all_gather_into_tensor(output_tensor: Tensor, input_tensor: Tensor) -> None:
    """Write the tensors of all processes to one, one after the other."""
    _alone()
    _put(output_tensor, input_tensor)


def all_to_all(output_tensor_list: Sequence[Tensor], input_tensor_list: Sequence[Tensor]) -> None:
    """Write what all processes have for this one to the tensors of a list."""
    _alone()
    _put(output_tensor_list[0], input_tensor_list[0])


def gather(tensor: Tensor, gather_list: Sequence[Tensor] | None = None, dst: int = 0) -> None:
    """Write the tensors of all processes to those of a list of one process.

    Args:
        tensor: a tensor.
        gather_list: the list.
        dst: the number of the process.
    """
    _alone(dst)
    if gather_list:
        _put(gather_list[0], tensor)


def scatter(tensor: Tensor, scatter_list: Sequence[Tensor] | None = None, src: int = 0) -> None:
    """Write to a tensor what one process has for this one.

    Args:
        tensor: a tensor.
        scatter_list: what it has for each.
        src: its number.
    """
    _alone(src)
    if scatter_list:
        _put(tensor, scatter_list[0])


def reduce_scatter(output: Tensor, input_list: Sequence[Tensor]) -> None:
    """Write to a tensor the sum of what all processes have for this one."""
    _alone()
    _put(output, input_list[0])


def reduce_scatter_tensor(output_tensor: Tensor, input_tensor: Tensor) -> None:
    """Write to a tensor this process's part of the sum of those of all processes."""
    _alone()
    _put(output_tensor, cat([input_tensor], 0))


def send(input: Tensor, dst: int, send_meta: bool = True) -> None:
    """An error: there is no other process.

    Args:
        input: a tensor.
        dst: the number of the process.
        send_meta: whether shape and element type are sent, too.

    Raises:
        DeviceError: always.
    """
    _alone(dst or -1)


def recv(
    src: int,
    shape: Sequence[int] | None = None,
    dtype: object = None,
    device: object = None,
    *,
    out: Tensor | None = None,
) -> None:
    """An error: there is no other process.

    Args:
        src: the number of the process.
        shape, dtype, device: of the tensor.
        out: where it is written.

    Raises:
        DeviceError: always.
    """
    _alone(src or -1)


list_public_names(globals())
api_boundaries(globals())
