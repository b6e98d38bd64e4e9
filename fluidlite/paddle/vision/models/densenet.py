"""DenseNet."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from .... import nn
from ....eager.tensor import Tensor
from ....errors import ArgumentError
from ....functions.shaping import concat
from ....ground.fields import from_fields
from ....ground.public_names import list_public_names
from ....ground.tracebacks import api_boundaries
from ....nn.initializer import Uniform
from ....param_attr import ParamAttr
from .classifier import Classifier
from .weights import maker


class BNACConvLayer(nn.Layer):
    """A normalization, ReLU and a convolution."""

    def __init__(self, num_channels: int, num_filters: int, filter_size: int, pad: int = 0) -> None:
        super().__init__()
        self._batch_norm = nn.BatchNorm(num_channels, act="relu")
        self._conv = nn.Conv2D(num_channels, num_filters, filter_size, padding=pad, bias_attr=False)

    def forward(self, input: Tensor) -> Tensor:
        """The result for ``[N, C, H, W]``."""
        return self._conv(self._batch_norm(input))


class ConvBNLayer(nn.Layer):
    """A convolution, a normalization and ReLU."""

    def __init__(
        self, num_channels: int, num_filters: int, filter_size: int, stride: int = 1, pad: int = 0
    ) -> None:
        super().__init__()
        self._conv = nn.Conv2D(
            num_channels, num_filters, filter_size, stride, padding=pad, bias_attr=False
        )
        self._batch_norm = nn.BatchNorm(num_filters, act="relu")

    def forward(self, input: Tensor) -> Tensor:
        """The result for ``[N, C, H, W]``."""
        return self._batch_norm(self._conv(input))


class DenseLayer(nn.Layer):
    """Two convolutions, whose result is joined to their input."""

    def __init__(self, num_channels: int, growth_rate: int, bn_size: int, dropout: float) -> None:
        super().__init__()
        self.dropout = dropout
        self.bn_ac_func1 = BNACConvLayer(num_channels, bn_size * growth_rate, 1)
        self.bn_ac_func2 = BNACConvLayer(bn_size * growth_rate, growth_rate, 3, pad=1)
        if dropout:
            self.dropout_func = nn.Dropout(dropout, mode="downscale_in_infer")

    def forward(self, input: Tensor) -> Tensor:
        """The result for ``[N, C, H, W]``."""
        x = self.bn_ac_func2(self.bn_ac_func1(input))
        return concat([input, self.dropout_func(x) if self.dropout else x], axis=1)


class DenseBlock(nn.Sequential):
    """Layers that are given the results of all before them."""


class TransitionLayer(nn.Layer):
    """A 1x1 convolution, and averages under windows."""

    def __init__(self, num_channels: int, num_output_features: int) -> None:
        super().__init__()
        self.conv_ac_func = BNACConvLayer(num_channels, num_output_features, 1)
        self.pool2d_avg = nn.AvgPool2D(2, 2, 0)

    def forward(self, input: Tensor) -> Tensor:
        """The result for ``[N, C, H, W]``."""
        return self.pool2d_avg(self.conv_ac_func(input))


#: depth -> channels of the first convolution, those that a layer adds, and layers a block
_DEPTHS = {
    121: (64, 32, (6, 12, 24, 16)),
    161: (96, 48, (6, 12, 36, 24)),
    169: (64, 32, (6, 12, 32, 32)),
    201: (64, 32, (6, 12, 48, 32)),
    264: (64, 32, (6, 12, 64, 48)),
}


@from_fields
class DenseNet(Classifier):
    """Four blocks of layers that are given the results of all before them.

    Huang et al., Densely connected convolutional networks, 2017.

    Args:
        layers: 121, 161, 169, 201 or 264.
        bn_size: how many times as wide as its result the middle of a layer is.
        dropout: the part of each layer's results that is dropped in training.
        num_classes: how many classes there are; 0 leaves the linear layer out.
        with_pool: average before it.
    """

    _ends: ClassVar[tuple[str, str]] = ("pool2d_avg", "out")

    layers: int = 121
    bn_size: int = 4
    dropout: float = 0.0
    num_classes: int = 1000
    with_pool: bool = True

    def begin(self, given: dict[str, Any]) -> None:
        layers, bn_size, dropout, num_classes, with_pool = given.values()
        Classifier.__init__(self, num_classes, with_pool)
        if layers not in _DEPTHS:
            raise ArgumentError(f"expected layers of {sorted(_DEPTHS)}, got {layers!r}")
        channels, growth, counts = _DEPTHS[layers]
        self.conv1_func = ConvBNLayer(3, channels, 7, 2, 3)
        self.pool2d_max = nn.MaxPool2D(3, 2, 1)
        rows: list[nn.Layer] = []
        for block, count in enumerate(counts, 2):
            dense = DenseBlock()
            for place in range(1, count + 1):
                layer = DenseLayer(channels, growth, bn_size, dropout)
                dense.add_sublayer(f"conv{block}_{place}", layer)
                channels += growth
            rows.append(self.add_sublayer(f"db_conv_{block}", dense))
            if block < 5:
                transition = TransitionLayer(channels, channels // 2)
                rows.append(self.add_sublayer(f"tr_conv{block}_blk", transition))
                channels //= 2
        self._rows = tuple(rows)
        self.batch_norm = nn.BatchNorm(channels, act="relu")
        if with_pool:
            self.pool2d_avg = nn.AdaptiveAvgPool2D(1)
        if num_classes > 0:
            bound = 1 / math.sqrt(channels)
            drawn = ParamAttr(initializer=Uniform(-bound, bound))
            self.out = nn.Linear(channels, num_classes, drawn, ParamAttr())

    def forward(self, input: Tensor) -> Tensor:
        """The scores of images ``[N, 3, H, W]``."""
        x = self.pool2d_max(self.conv1_func(input))
        for row in self._rows:
            x = row(x)
        x = self.batch_norm(x)
        return self._scores(x)


densenet121, densenet161, densenet169, densenet201, densenet264 = (
    maker(
        f"densenet{depth}", DenseNet, f"DenseNet of {depth} layers.",
        file=f"DenseNet{depth}_pretrained.pdparams", layers=depth,
    )
    for depth in _DEPTHS
)  # fmt: skip

list_public_names(globals())
api_boundaries(globals())
