"""Normalisations, as modules."""

from __future__ import annotations

from typing import Any, ClassVar

from ...eager.engine import located
from ...errors import ShapeError
from ...functions import creation
from ...functions.arguments import DTypeLike, Integers
from ...functions.arithmetic import add, true_divide
from ...functions.elementary import cast, rsqrt
from ...functions.shaping import numbers_in
from ...ground.fields import from_fields
from ..creation import ones, zeros
from ..devices import DeviceLike, need_cpu
from ..tensor import Tensor, tensor
from . import functional as F
from .dense import PARAMETERS
from .module import Module, Parameter

NORMS = PARAMETERS.extended(
    {
        "normalized_shape": "an integer, or the sizes of the dimensions.",
        "num_groups": "how many groups the channels are cut into.",
        "num_channels": "how many channels there are.",
        "num_features": "how many channels there are.",
        "eps": "keeps the square root away from 0.",
        "momentum": "the share of the input in the new running statistics; None for the mean of "
        "all.",
        "elementwise_affine": "whether there are a scale and a bias.",
        "affine": "whether there are a scale and a bias.",
        "bias": "whether there is a bias, then.",
        "track_running_stats": "whether there are running statistics.",
        "dtype": "element type of parameters and statistics.",
    }
)


class _Affine(Module):
    """A scale that starts at 1 and a bias that starts at 0, each if it is requested."""

    def _make(
        self, shape: list[int], scaled: bool, shifted: bool, device: DeviceLike, dtype: DTypeLike
    ) -> None:
        need_cpu(device)
        makers = (("weight", scaled, creation.ones), ("bias", shifted, creation.zeros))
        for name, asked, make in makers:
            self.register_parameter(name, Parameter(make(shape, dtype)) if asked else None)

    def reset_parameters(self) -> None:
        """Let the scale be 1 and the bias 0 again."""
        for name, value in (("weight", 1.0), ("bias", 0.0)):
            parameter = self.own_parameters[name]
            if parameter is not None:
                parameter.copy_(value)


@NORMS
class LayerNorm(_Affine):
    """Normalisation over the last dimensions of each sample.

    >>> fluid.flow.nn.LayerNorm(2)(fluid.flow.tensor([[1.0, 3.0]])).numpy().round(4)
    array([[-1.,  1.]], dtype=float32)
    """

    def __init__(
        self,
        normalized_shape: Integers,
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
        device: DeviceLike = None,
        dtype: DTypeLike = None,
    ) -> None:
        super().__init__()
        sizes = list(numbers_in("normalized_shape", normalized_shape))
        self._make(sizes, elementwise_affine, elementwise_affine and bias, device, dtype)
        self.normalized_shape = sizes
        self.eps = eps

    def forward(self, input: Tensor) -> Tensor:
        """The normalised input."""
        return F.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        sizes = numbers_in("normalized_shape", self.normalized_shape)
        return f"{sizes}, eps={self.eps}, elementwise_affine={self.weight is not None}"


@NORMS
@from_fields
class GroupNorm(_Affine):
    """Normalisation of each group of channels of each sample.

    >>> fluid.flow.nn.GroupNorm(1, 2)(fluid.flow.tensor([[1.0, 3.0]])).numpy().round(4)
    array([[-1.,  1.]], dtype=float32)
    """

    num_groups: int
    num_channels: int
    eps: float = 1e-5
    affine: bool = True
    device: DeviceLike = None
    dtype: DTypeLike = None

    def begin(self, given: dict[str, Any]) -> None:
        """Make the parameters."""
        Module.__init__(self)
        self.num_groups, self.num_channels, self.eps, affine, *placed = given.values()
        self._make([self.num_channels], affine, affine, *placed)

    def forward(self, input: Tensor) -> Tensor:
        """The normalised input."""
        return F.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        sizes = f"{self.num_groups}, {self.num_channels}"
        return f"{sizes}, eps={self.eps}, affine={self.weight is not None}"


@NORMS
class RMSNorm(_Affine):
    """Division of each sample by the root of the mean square of its last dimensions.

    >>> fluid.flow.nn.RMSNorm(2)(fluid.flow.tensor([[3.0, 3.0]])).numpy().round(4)
    array([[1., 1.]], dtype=float32)
    """

    def __init__(
        self,
        normalized_shape: Integers,
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        device: DeviceLike = None,
        dtype: DTypeLike = None,
    ) -> None:
        super().__init__()
        self.normalized_shape = list(numbers_in("normalized_shape", normalized_shape))
        self.eps = eps
        self._make(self.normalized_shape, elementwise_affine, False, device, dtype)

    def forward(self, input: Tensor) -> Tensor:
        """The scaled input."""
        axes = [*range(-len(self.normalized_shape), 0)]
        squares = (input * input).mean(axes, keepdim=True)
        scaled = input * rsqrt(add(squares, self.eps))
        return scaled if self.weight is None else scaled * self.weight

    def extra_repr(self) -> str:
        sizes = tuple(self.normalized_shape)
        return f"{sizes}, eps={self.eps}, elementwise_affine={self.weight is not None}"


class RMSLayerNorm(Module):
    """Division of each sample by the root of its mean square, with a scale.

    Args:
        hidden_size: the size of the last dimension.
        eps: keeps the root away from 0.

    >>> fluid.flow.nn.RMSLayerNorm(2)(fluid.flow.tensor([[3.0, 3.0]])).numpy().round(4)
    array([[1., 1.]], dtype=float32)
    """

    def __init__(self, hidden_size: int, eps: float = 1e-6) -> None:
        super().__init__()
        self.weight: Parameter = Parameter(creation.ones([hidden_size]))
        self.variance_epsilon = eps

    def forward(self, hidden_states: Tensor) -> Tensor:
        """The scaled input."""
        squares = (hidden_states * hidden_states).mean(-1, keepdim=True)
        return self.weight * (hidden_states * rsqrt(add(squares, self.variance_epsilon)))


@from_fields
class _Tracked(_Affine):
    """Normalisation of each channel, with running statistics."""

    num_features: int
    eps: float = 1e-5
    momentum: float | None = 0.1
    affine: bool = True
    track_running_stats: bool = True
    device: DeviceLike = None
    dtype: DTypeLike = None
    ranks: ClassVar[tuple[int, ...]] = ()
    _optional_buffers: ClassVar[tuple[str, ...]] = ("num_batches_tracked",)

    def begin(self, given: dict[str, Any]) -> None:
        """Make the parameters and the statistics."""
        Module.__init__(self)
        channels, self.eps, self.momentum, affine, tracked, device, dtype = given.values()
        self._make([channels], affine, affine, device, dtype)
        self.num_features = channels
        self.register_buffer("running_mean", zeros(channels, dtype=dtype) if tracked else None)
        self.register_buffer("running_var", ones(channels, dtype=dtype) if tracked else None)
        self.register_buffer("num_batches_tracked", tensor(0) if tracked else None)

    def reset_running_stats(self) -> None:
        """Let the running statistics be those of the beginning again."""
        if self.running_mean is not None:
            for name, value in (
                ("running_mean", 0),
                ("running_var", 1),
                ("num_batches_tracked", 0),
            ):
                self.own_buffers[name].copy_(value)

    def reset_parameters(self) -> None:
        """Let parameters and running statistics be those of the beginning again."""
        self.reset_running_stats()
        super().reset_parameters()

    def _need_fitting(self, input: Tensor) -> None:
        shape = list(input.array.shape)
        if len(shape) not in self.ranks or shape[1] != self.num_features:
            raise located(
                ShapeError,
                f"{type(self).__name__}: expected {' or '.join(map(str, self.ranks))} "
                f"dimensions, the second of {self.num_features} channels, got shape {shape}",
            )

    def forward(self, input: Tensor) -> Tensor:
        """The normalised input."""
        self._need_fitting(input)
        mean, variance, parameters = self.running_mean, self.running_var, (self.weight, self.bias)
        by_input = self.training or mean is None
        return F.batch_norm(input, mean, variance, *parameters, by_input, self._share(), self.eps)

    def _share(self) -> Any:
        """The share of this input in the new running statistics."""
        counted = self.num_batches_tracked
        if self.training and counted is not None:
            if counted.appends is not None:
                counted.write(lambda old: old + 1)
                if self.momentum is None:
                    return true_divide(1.0, cast(counted, self.running_mean.dtype))
            else:
                counted.set_value(counted.array + 1)
                if self.momentum is None:
                    return 1.0 / float(counted.array)
        return 0.0 if self.momentum is None else self.momentum

    def extra_repr(self) -> str:
        shown = f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, "
        shown += f"affine={self.weight is not None}, "
        return shown + f"track_running_stats={self.running_mean is not None}"


@NORMS
class BatchNorm1d(_Tracked):
    """Normalisation of each channel of [N, C] or [N, C, L] over a batch.

    >>> norm = fluid.flow.nn.BatchNorm1d(3)
    >>> norm(fluid.flow.ones(4, 3)).shape, [name for name, _ in norm.named_buffers()]
    (oneflow.Size([4, 3]), ['running_mean', 'running_var', 'num_batches_tracked'])
    """

    ranks: ClassVar[tuple[int, ...]] = (2, 3)


@NORMS
class BatchNorm2d(_Tracked):
    """Normalisation of each channel of [N, C, H, W] over a batch.

    >>> fluid.flow.nn.BatchNorm2d(2)(fluid.flow.ones(3, 2, 4, 4)).shape
    oneflow.Size([3, 2, 4, 4])
    """

    ranks: ClassVar[tuple[int, ...]] = (4,)


@NORMS
class BatchNorm3d(_Tracked):
    """Normalisation of each channel of [N, C, D, H, W] over a batch.

    >>> fluid.flow.nn.BatchNorm3d(2)(fluid.flow.ones(3, 2, 4, 4, 4)).shape
    oneflow.Size([3, 2, 4, 4, 4])
    """

    ranks: ClassVar[tuple[int, ...]] = (5,)


INSTANCES = NORMS.extended(
    {
        "momentum": "accepted: running statistics stay as they are, as in OneFlow.",
        "track_running_stats": "whether states have running statistics, which nothing uses.",
    }
)


@from_fields
class _InstanceNorm(_Tracked):
    """Normalisation of each channel of each sample."""

    affine: bool = False
    track_running_stats: bool = False

    def forward(self, input: Tensor) -> Tensor:
        """The normalised input."""
        self._need_fitting(input)
        return F.instance_norm(input, weight=self.weight, bias=self.bias, eps=self.eps)


@INSTANCES
class InstanceNorm1d(_InstanceNorm):
    """Normalisation of each channel of each sample of [N, C, L].

    >>> fluid.flow.nn.InstanceNorm1d(1)(fluid.flow.tensor([[[1.0, 3.0]]])).numpy().round(4)
    array([[[-1.,  1.]]], dtype=float32)
    """

    ranks: ClassVar[tuple[int, ...]] = (3,)


@INSTANCES
class InstanceNorm2d(_InstanceNorm):
    """Normalisation of each channel of each sample of [N, C, H, W].

    >>> fluid.flow.nn.InstanceNorm2d(2)(fluid.flow.ones(3, 2, 4, 4)).shape
    oneflow.Size([3, 2, 4, 4])
    """

    ranks: ClassVar[tuple[int, ...]] = (4,)


@INSTANCES
class InstanceNorm3d(_InstanceNorm):
    """Normalisation of each channel of each sample of [N, C, D, H, W].

    >>> fluid.flow.nn.InstanceNorm3d(2)(fluid.flow.ones(3, 2, 4, 4, 4)).shape
    oneflow.Size([3, 2, 4, 4, 4])
    """

    ranks: ClassVar[tuple[int, ...]] = (5,)
