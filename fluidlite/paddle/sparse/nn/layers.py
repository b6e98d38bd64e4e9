"""Layers of sparse tensors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod, sqrt
from typing import Any, ClassVar

from ....errors import ArgumentError
from ....functions.arguments import Integers
from ....ground.docstrings import Family
from ....ground.fields import from_fields, options_of
from ....ground.tracebacks import api_boundaries
from ....initializer import Normal
from ....nn import BatchNorm1D, Layer
from ....nn import SyncBatchNorm as DenseSyncBatchNorm
from ....nn.activation import FunctionLayer
from ....nn.functional.windows import each
from ....nn.norm import NORMS
from ....param_attr import Attr
from ..tensor import SparseTensor, need_sparse
from . import functional as F

__all__ = [
    "BatchNorm", "Conv2D", "Conv3D", "LeakyReLU", "MaxPool3D", "ReLU", "ReLU6", "Softmax",
    "SubmConv2D", "SubmConv3D", "SyncBatchNorm",
]  # fmt: skip


@from_fields
class _Activation(FunctionLayer):
    name: str | None = None
    _functions: ClassVar[str] = F.__name__
    _shown: ClassVar[str] = "name?"


class ReLU(_Activation, calls=F.relu):
    """Each value, or 0 where it is negative.

    >>> from fluidlite import paddle
    >>> x = paddle.to_tensor([-2.0, 0.0, 1.0]).to_sparse_coo(1)
    >>> paddle.sparse.nn.ReLU()(x).values().tolist()
    [0.0, 1.0]
    """


class ReLU6(_Activation, calls=F.relu6): ...


class LeakyReLU(_Activation):
    @options_of(F.leaky_relu)
    def __init__(self) -> None: ...


class Softmax(_Activation):
    @options_of(F.softmax)
    def __init__(self) -> None: ...


@NORMS
@from_fields
class BatchNorm(BatchNorm1D):
    """Normalisation of each channel over what is stored; in tests by running statistics.

    Args:
        data_format: NDHWC or NHWC.

    >>> from fluidlite import paddle
    >>> x = paddle.sparse.sparse_coo_tensor([[0, 0], [1, 2]], [[1.0], [3.0]], [1, 4, 1])
    >>> paddle.sparse.nn.BatchNorm(1)(x).values().numpy().round(3).tolist()
    [[-1.0], [1.0]]
    """

    _ranks: ClassVar[Sequence[int]] = (2,)
    _formats: ClassVar[Sequence[str]] = ("NDHWC", "NHWC")
    data_format: str = "NDHWC"

    def forward(self, input: SparseTensor) -> Any:  # type: ignore[override]
        """The normalised values."""
        need_sparse("BatchNorm", input=input)
        return input.with_values(super().forward(input.values()))


@NORMS
class SyncBatchNorm(DenseSyncBatchNorm):
    """Normalisation of each channel over what all processes store.  There is one process: it is a
    :class:`BatchNorm`.
    """

    def forward(self, input: SparseTensor) -> Any:  # type: ignore[override]
        """The normalised values."""
        need_sparse("SyncBatchNorm", input=input)
        return input.with_values(super().forward(input.values()))

    @classmethod
    def convert_sync_batchnorm(cls, layer: Layer) -> Layer:
        """The layer, with those of its normalisations over batches made such ones, of sparse
        tensors and of dense ones.

        Args:
            layer: any layer; what lies within is replaced there.

        >>> from fluidlite import paddle
        >>> sparse = paddle.sparse.nn
        >>> net = paddle.nn.Sequential(sparse.Conv3D(3, 5, 3), sparse.BatchNorm(5))
        >>> sparse.SyncBatchNorm.convert_sync_batchnorm(net)[1]
        SyncBatchNorm(num_features=5, momentum=0.9, epsilon=1e-05, data_format=NDHWC)
        """
        for name, inner in layer.own_sublayers.items():
            layer.own_sublayers[name] = cls.convert_sync_batchnorm(inner)
        if isinstance(layer, BatchNorm):
            return super().convert_sync_batchnorm(layer)
        return DenseSyncBatchNorm.convert_sync_batchnorm(layer)


_CONVOLUTIONS = Family(
    {
        "in_channels": "how many come in.",
        "out_channels": "how many come out.",
        "kernel_size": "of the filters: a number, or one for every dimension.",
        "stride": "as of the function.",
        "padding": "as of the function.",
        "dilation": "as of the function.",
        "groups": "1.",
        "padding_mode": "zeros.",
        "key": "accepted.",
        "weight_attr": "of the filters, [*kernel, in_channels, out_channels].",
        "bias_attr": "of the bias; False for none.",
        "data_format": "with the channels last.",
    },
    raises="ArgumentError: ``groups`` or ``padding_mode`` is another one.",
)


@from_fields
class _Filters(Layer):
    """Filters, a bias, and how they are moved."""

    _function: ClassVar[Callable[..., Any]]
    _rank: ClassVar[int]
    in_channels: int
    out_channels: int
    kernel_size: Integers
    stride: Integers = 1
    padding: Integers | str = 0
    dilation: Integers = 1
    groups: int = 1
    padding_mode: str = "zeros"

    def begin(self, given: dict[str, Any]) -> None:
        """Make the filters and the bias.

        Args:
            given: the arguments by name.
        """
        Layer.__init__(self)
        mode, groups = given.pop("padding_mode"), given["groups"]
        if mode != "zeros" or groups != 1:
            raise ArgumentError(
                f"expected padding_mode zeros and groups of 1, got {mode!r:.60} and {groups}"
            )
        self._sizes = each("kernel_size", given.pop("kernel_size"), self._rank)
        channels, filters = given.pop("in_channels"), given.pop("out_channels")
        attr, bias_attr = given.pop("weight_attr"), given.pop("bias_attr")
        given.pop("key", None)
        shape = [*self._sizes, channels, filters]
        start = Normal(0.0, sqrt(2.0 / prod(shape[:-1])))
        self.weight: Any = self.create_parameter(shape, attr, default_initializer=start)
        self.bias: Any = self.create_parameter([filters], bias_attr, is_bias=True)
        self._options = given

    def forward(self, x: SparseTensor) -> Any:
        """What is convolved."""
        return type(self)._function(x, self.weight, self.bias, **self._options)

    def extra_repr(self) -> str:
        *_, channels, filters = self.weight.shape
        parts = [f"{channels}, {filters}, kernel_size={[*self._sizes]}"]
        for name, usual in (("stride", 1), ("padding", 0), ("dilation", 1)):
            value = self._options[name]
            if value != usual:
                listed = name != "padding"
                told = [*each(name, value, self._rank)] if listed else value
                parts.append(f"{name}={told}")
        return ", ".join([*parts, f"data_format={self._options['data_format']}"])


@from_fields
class _Convolution(_Filters):
    weight_attr: Attr = None
    bias_attr: Attr = None
    data_format: str = "NDHWC"


@from_fields
class _AtPlaces(_Filters):
    key: str | None = None
    weight_attr: Attr = None
    bias_attr: Attr = None
    data_format: str = "NDHWC"


@_CONVOLUTIONS
class Conv3D(_Convolution):
    """Volumes convolved with learned filters.

    >>> from fluidlite import paddle
    >>> x = paddle.sparse.sparse_coo_tensor([[0], [1], [2], [0]], [[2.0]], [1, 3, 4, 5, 1])
    >>> paddle.sparse.nn.Conv3D(1, 3, 2)(x).shape
    [1, 2, 3, 4, 3]
    """

    _function, _rank = staticmethod(F.conv3d), 3


@_CONVOLUTIONS
@from_fields
class Conv2D(_Convolution):
    """Images convolved with learned filters."""

    _function, _rank = staticmethod(F.conv2d), 2
    data_format: str = "NHWC"


@_CONVOLUTIONS
class SubmConv3D(_AtPlaces):
    """Volumes convolved with learned filters at the places of the input alone."""

    _function, _rank = staticmethod(F.subm_conv3d), 3


@_CONVOLUTIONS
@from_fields
class SubmConv2D(_AtPlaces):
    """Images convolved with learned filters at the places of the input alone."""

    _function, _rank = staticmethod(F.subm_conv2d), 2
    data_format: str = "NHWC"


@from_fields
class MaxPool3D(Layer):
    """The largest of what is stored in each window.

    Args:
        kernel_size: the size of the window, a number or one for each dimension.
        stride: as of the function; ``kernel_size`` when None.
        padding: as of the function.
        return_mask: False.
        ceil_mode: windows may begin that end behind the input.
        data_format: NDHWC.
        name: accepted.

    Raises:
        ArgumentError: a mask is requested.
    """

    kernel_size: Integers
    stride: Integers | None = None
    padding: Integers | str = 0
    return_mask: bool = False
    ceil_mode: bool = False
    data_format: str = "NDHWC"
    name: str | None = None

    def begin(self, given: dict[str, Any]) -> None:
        Layer.__init__(self)
        if given.pop("return_mask"):
            raise ArgumentError("MaxPool3D: expected return_mask=False, got True")
        self._window = (given["kernel_size"], given["stride"], given["padding"])
        self._options = {name: given[name] for name in ("ceil_mode", "data_format")}

    def forward(self, x: SparseTensor) -> Any:
        """The largest values."""
        return F.max_pool3d(x, *self._window, **self._options)  # type: ignore[arg-type]

    def extra_repr(self) -> str:
        kernel, stride, padding = self._window
        return f"kernel_size={kernel}, stride={stride}, padding={padding}"


api_boundaries(globals())
