"""Modules that OneFlow computes by one kernel: here they are what they are made of."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from ...functions.arithmetic import add
from ..tensor import Tensor
from . import functional as F
from .dense import near_zero, uniform_parameter
from .module import Module
from .norm import BatchNorm1d, BatchNorm2d, BatchNorm3d


class FusedMLP(Module):
    """Linear modules one after the other, with relu and dropout behind each.

    Args:
        in_features: the last size of the input.
        hidden_features: those between.
        out_features: the last size of the output.
        hidden_dropout_rate: the probability behind each hidden one; none when None.
        out_dropout_rate: that behind the last one.
        skip_final_activation: no relu behind the last one.

    >>> fluid.flow.nn.FusedMLP(4, (3, 5), 2)(fluid.flow.ones(6, 4)).shape
    oneflow.Size([6, 2])
    """

    def __init__(
        self,
        in_features: int,
        hidden_features: Sequence[int],
        out_features: int,
        hidden_dropout_rate: Sequence[float] | None = None,
        out_dropout_rate: float = 0.0,
        skip_final_activation: bool = False,
    ) -> None:
        super().__init__()
        self.in_features, self.out_features = in_features, out_features
        self.hidden_features = tuple(hidden_features)
        self.skip_final_activation = skip_final_activation
        sizes = [in_features, *hidden_features, out_features]
        self._count = len(sizes) - 1
        hidden = hidden_dropout_rate or [0.0] * (self._count - 1)
        self._rates = [*hidden, out_dropout_rate]
        for k, (before, after) in enumerate(pairwise(sizes)):
            bound = near_zero(before)
            weight = uniform_parameter(bound, None, None, after, before)
            self.register_parameter(f"weight_{k}", weight)
            self.register_parameter(f"bias_{k}", uniform_parameter(bound, None, None, after))

    def forward(self, x: Tensor) -> Tensor:
        """The output."""
        for k, rate in enumerate(self._rates):
            x = F.linear(x, getattr(self, f"weight_{k}"), getattr(self, f"bias_{k}"))
            if k + 1 < self._count or not self.skip_final_activation:
                x = F.relu(x)
            x = F.dropout(x, rate, self.training)
        return x

    def extra_repr(self) -> str:
        return (
            f"in_features={self.in_features}, hidden_features={self.hidden_features}, "
            f"out_features={self.out_features}, skip_final_activation={self.skip_final_activation}"
        )


class _AddsAndActivates(Module):
    """A normalisation, then a sum and relu."""

    def forward(self, x: Tensor, addend: Tensor | None = None) -> Tensor:
        """relu of the normalised input, and of what is added to it.

        Args:
            x: a tensor.
            addend: one of its shape, or None.
        """
        normalized = super().forward(x)
        return F.relu(normalized if addend is None else add(normalized, addend))


class FusedBatchNorm1d(_AddsAndActivates, BatchNorm1d):
    """A normalisation of channels with relu behind it; see ``BatchNorm1d``.

    >>> fluid.flow.nn.FusedBatchNorm1d(2)(fluid.flow.ones(3, 2)).shape
    oneflow.Size([3, 2])
    """


class FusedBatchNorm2d(_AddsAndActivates, BatchNorm2d):
    """A normalisation of channels with relu behind it; see ``BatchNorm2d``.

    >>> fluid.flow.nn.FusedBatchNorm2d(2)(fluid.flow.ones(3, 2, 4, 4)).shape
    oneflow.Size([3, 2, 4, 4])
    """


class FusedBatchNorm3d(_AddsAndActivates, BatchNorm3d):
    """A normalisation of channels with relu behind it; see ``BatchNorm3d``.

    >>> fluid.flow.nn.FusedBatchNorm3d(2)(fluid.flow.ones(3, 2, 4, 4, 4)).shape
    oneflow.Size([3, 2, 4, 4, 4])
    """
