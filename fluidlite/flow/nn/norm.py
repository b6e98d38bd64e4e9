"""Normalisations, as modules."""

from __future__ import annotations

from typing import Any

from ...eager.engine import located
from ...errors import ShapeError
from ...functions import creation
from ...functions.arithmetic import divide
from ...functions.elementary import cast
from ..creation import ones, zeros
from ..devices import need_cpu
from ..tensor import tensor
from . import functional as F
from .module import Module, Parameter


class _Affine(Module):
    """A scale that starts at 1 and a bias that starts at 0, where they are wanted."""

    def _make(self, shape: Any, scaled: bool, shifted: bool, dtype: Any, device: Any) -> None:
        need_cpu(device)
        scale = Parameter(creation.ones(shape, dtype)) if scaled else None
        self.register_parameter("weight", scale)
        self.register_parameter(
            "bias", Parameter(creation.zeros(shape, dtype)) if shifted else None
        )


class LayerNorm(_Affine):
    """Normalisation over the last dimensions of each sample.

    Args:
        normalized_shape: an integer, or the sizes of the dimensions.
        eps: keeps the square root away from 0.
        elementwise_affine: whether there are a scale and a bias.
        bias: whether there is a bias, then.
        device: the CPU, or None.
        dtype: element type of the parameters.
    """

    def __init__(
        self,
        normalized_shape: Any,
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        alone = isinstance(normalized_shape, int)
        self.normalized_shape = [normalized_shape] if alone else list(normalized_shape)
        self.eps = eps
        affine = elementwise_affine
        self._make(self.normalized_shape, affine, affine and bias, dtype, device)

    def forward(self, input: Any) -> Any:
        """The normalised input."""
        return F.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        affine = self.weight is not None
        return f"{tuple(self.normalized_shape)}, eps={self.eps}, elementwise_affine={affine}"


class GroupNorm(_Affine):
    """Normalisation of each group of channels of each sample.

    Args:
        num_groups: how many groups the channels are cut into.
        num_channels: how many channels there are.
        eps: keeps the square root away from 0.
        affine: whether there are a scale and a bias.
        device: the CPU, or None.
        dtype: element type of the parameters.
    """

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        eps: float = 1e-5,
        affine: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.num_groups, self.eps = num_groups, eps
        self._make([num_channels], affine, affine, dtype, device)

    def forward(self, input: Any) -> Any:
        """The normalised input."""
        return F.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)


class _Tracked(_Affine):
    """Normalisation of each channel, with running statistics.

    Args:
        num_features: how many channels there are.
        eps: keeps the square root away from 0.
        momentum: the share of the input in the new running statistics; None for the mean of all.
        affine: whether there are a scale and a bias.
        track_running_stats: whether there are running statistics.
        device: the CPU, or None.
        dtype: element type of parameters and statistics.
    """

    ranks: tuple[int, ...] = ()

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self._make([num_features], affine, affine, dtype, device)
        tracked = track_running_stats
        self.register_buffer("running_mean", zeros(num_features, dtype=dtype) if tracked else None)
        self.register_buffer("running_var", ones(num_features, dtype=dtype) if tracked else None)
        self.register_buffer("num_batches_tracked", tensor(0) if tracked else None)

    def _share(self) -> Any:
        """The share of this input in the new running statistics."""
        counted = self.num_batches_tracked
        if self.training and counted is not None:
            if counted.appends is not None:
                counted.write(lambda old: old + 1)
                if self.momentum is None:
                    return divide(1.0, cast(counted, self.running_mean.dtype))
            else:
                counted.set_value(counted.array + 1)
                if self.momentum is None:
                    return 1.0 / float(counted.array)
        return 0.0 if self.momentum is None else self.momentum

    def _check(self, input: Any) -> None:
        shape = list(input.array.shape)
        if len(shape) not in self.ranks or shape[1] != self.num_features:
            raise located(
                ShapeError(
                    f"{type(self).__name__}: expected {' or '.join(map(str, self.ranks))} "
                    f"dimensions, the second of {self.num_features} channels, got shape {shape}"
                )
            )

    def extra_repr(self) -> str:
        shown = f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, "
        shown += f"affine={self.weight is not None}, "
        return shown + f"track_running_stats={self.running_mean is not None}"


class _BatchNorm(_Tracked):
    def forward(self, input: Any) -> Any:
        """The normalised input."""
        self._check(input)
        by_batch = self.training or self.running_mean is None
        return F.batch_norm(
            input,
            self.running_mean,
            self.running_var,
            self.weight,
            self.bias,
            by_batch,
            self._share(),
            self.eps,
        )


class BatchNorm1d(_BatchNorm):
    """Normalisation of each channel of [N, C] or [N, C, L] over a batch.

    >>> norm = fluid.flow.nn.BatchNorm1d(3)
    >>> norm(fluid.flow.ones(4, 3)).shape, [name for name, _ in norm.named_buffers()]
    ([4, 3], ['running_mean', 'running_var', 'num_batches_tracked'])
    """

    ranks = (2, 3)


class BatchNorm2d(_BatchNorm):
    """Normalisation of each channel of [N, C, H, W] over a batch."""

    ranks = (4,)


class BatchNorm3d(_BatchNorm):
    """Normalisation of each channel of [N, C, D, H, W] over a batch."""

    ranks = (5,)


class _InstanceNorm(_Tracked):
    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = False,
        track_running_stats: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        options = momentum, affine, track_running_stats, device, dtype
        super().__init__(num_features, eps, *options)

    def forward(self, input: Any) -> Any:
        """The normalised input."""
        self._check(input)
        by_input = self.training or self.running_mean is None
        return F.instance_norm(
            input,
            self.running_mean,
            self.running_var,
            self.weight,
            self.bias,
            by_input,
            self._share(),
            self.eps,
        )


class InstanceNorm1d(_InstanceNorm):
    """Normalisation of each channel of each sample of [N, C, L]."""

    ranks = (3,)


class InstanceNorm2d(_InstanceNorm):
    """Normalisation of each channel of each sample of [N, C, H, W]."""

    ranks = (4,)


class InstanceNorm3d(_InstanceNorm):
    """Normalisation of each channel of each sample of [N, C, D, H, W]."""

    ranks = (5,)
