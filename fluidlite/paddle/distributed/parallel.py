"""Layers that are trained in several processes, each on a share of the batch."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TypeVar

from ...dygraph import parallel
from ...ground.process_group import groups
from ...ground.public_names import list_public_names
from ...ground.tracebacks import api_boundaries
from ...ground.values import SelectedRows
from ...nn.layer import Layer
from ...opdef.operand import Operand
from .groups import Group

__all__ = ["DataParallel"]

T = TypeVar("T")


class DataParallel(parallel.DataParallel, Layer):  # type: ignore[misc]
    """A layer whose gradients become the means of those of all processes while ``backward`` runs.

    All processes begin with the parameters of process 0.

    Args:
        layers: the layer.
        strategy, comm_buffer_size, last_comm_buffer_size: accepted.
        find_unused_parameters: accepted: every process has to use the same parameters.
        group: accepted: gradients are those of all processes.

    Raises:
        ArgumentError: ``layers`` is no layer, or another one than in the other processes.

    >>> from fluidlite import paddle
    >>> net = paddle.DataParallel(paddle.nn.Linear(2, 1))
    >>> net(paddle.ones([3, 2])).sum().backward()
    >>> net.parameters()[1].grad.tolist()
    [3.0]
    """

    def __init__(
        self,
        layers: Layer,
        strategy: object = None,
        comm_buffer_size: int = 25,
        last_comm_buffer_size: int = 1,
        find_unused_parameters: bool = False,
        group: Group | None = None,
    ) -> None:
        super().__init__(layers)
        self.find_unused_parameters: bool = find_unused_parameters
        self.group: Group | None = group
        self._sums = True
        if groups.get().size > 1:
            for parameter in layers.parameters():
                if not parameter.stop_gradient:
                    parameter.register_hook(self._mean)

    def _mean(self, gradient: Operand) -> Operand | None:
        """The mean of the gradients of all processes; None where they stay as they are."""
        if not self._sums:
            return None
        processes = groups.get()
        total = processes.gather_rows(gradient.array, 0)
        if isinstance(total, SelectedRows):
            mean = SelectedRows(total.numbers, total.height(), total.value / processes.size)
        else:
            mean = (total / processes.size).astype(total.dtype)
        return gradient.results(mean)

    @contextlib.contextmanager
    def no_sync(self) -> Iterator[None]:
        """Let each process keep its own gradients within a ``with`` block."""
        before, self._sums = self._sums, False
        try:
            yield
        finally:
            self._sums = before

    def scale_loss(self, loss: T) -> T:
        """The loss as it is: gradients are means.

        Args:
            loss: the loss.
        """
        return loss

    def apply_collective_grads(self) -> None:
        """Nothing: ``backward`` has done it."""


list_public_names(globals())
api_boundaries(globals())
