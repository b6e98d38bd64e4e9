"""Data sets of the rows of tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ....readers import datasets

if TYPE_CHECKING:
    from ...tensor import Tensor


class TensorDataset(datasets.TensorDataset):
    """Rows of tensors: sample ``k`` is the ``k``-th row of each.

    Args:
        tensors: tensors with as many rows each.

    Raises:
        ArgumentError: there are none, or their numbers of rows differ.

    >>> rows = fluid.flow.utils.data.TensorDataset(fluid.flow.ones(3, 2), fluid.flow.arange(3))
    >>> len(rows), rows[1]
    (3, (tensor([1., 1.], dtype=oneflow.float32), tensor(1, dtype=oneflow.int64)))
    """

    def __init__(self, *tensors: Tensor) -> None:
        super().__init__(tensors)

    def __getitem__(self, number: int) -> tuple[Tensor, ...]:
        return tuple(each[number] for each in self.tensors)
