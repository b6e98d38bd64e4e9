"""MobileNetV3."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, ClassVar, Final, NamedTuple

from .... import nn
from ....eager.tensor import Tensor
from ....ground.docstrings import Family
from ....ground.public_names import list_public_names
from ....ground.tracebacks import api_boundaries
from ..normalized import ConvNormActivation, divisible
from .classifier import Classifier
from .weights import scaled_maker


class SqueezeExcitation(nn.Layer):
    """A factor for each channel, from the averages of all of them.

    Args:
        input_channels, squeeze_channels: of the input, and of the convolution between.
        activation, scale_activation: classes of activations, behind the convolutions.
    """

    def __init__(
        self,
        input_channels: int,
        squeeze_channels: int,
        activation: Callable[[], nn.Layer] = nn.ReLU,
        scale_activation: Callable[[], nn.Layer] = nn.Sigmoid,
    ) -> None:
        super().__init__()
        self.avgpool = nn.AdaptiveAvgPool2D(1)
        self.fc1 = nn.Conv2D(input_channels, squeeze_channels, 1)
        self.fc2 = nn.Conv2D(squeeze_channels, input_channels, 1)
        self.activation = activation()
        self.scale_activation = scale_activation()

    def forward(self, input: Tensor) -> Tensor:
        """The input, ``[N, input_channels, H, W]``, times the factors."""
        scale = self.fc2(self.activation(self.fc1(self.avgpool(input))))
        return self.scale_activation(scale) * input


class _Row(NamedTuple):
    """What a block is, at scale 1."""

    channels: int
    size: int
    wide: int
    out: int
    squeezes: bool
    hard: bool  #: nn.Hardswish and not nn.ReLU
    stride: int

    def scaled(self, scale: float) -> _Row:
        channels, wide, out = (
            divisible(each * scale) for each in (self.channels, self.wide, self.out)
        )
        return self._replace(channels=channels, wide=wide, out=out)


_normalized = partial(nn.BatchNorm2D, epsilon=0.001, momentum=0.99)


class InvertedResidual(nn.Layer):
    """A wide convolution of each channel between two of 1x1, to which the input is added."""

    def __init__(self, row: _Row) -> None:
        super().__init__()
        self.use_res_connect = row.stride == 1 and row.channels == row.out
        self.use_se = row.squeezes
        self.expand = row.channels != row.wide
        options: dict[str, Any] = dict(
            norm_layer=_normalized, activation_layer=nn.Hardswish if row.hard else nn.ReLU
        )
        if self.expand:
            self.expand_conv = ConvNormActivation(row.channels, row.wide, 1, 1, 0, **options)
        self.bottleneck_conv = ConvNormActivation(
            row.wide, row.wide, row.size, row.stride, row.size // 2, groups=row.wide, **options
        )
        if row.squeezes:
            narrow = divisible(row.wide // 4)
            self.mid_se = SqueezeExcitation(row.wide, narrow, scale_activation=nn.Hardsigmoid)
        options["activation_layer"] = None
        self.linear_conv = ConvNormActivation(row.wide, row.out, 1, 1, 0, **options)

    def forward(self, x: Tensor) -> Tensor:
        """The result for ``[N, C, H, W]``."""
        out = self.bottleneck_conv(self.expand_conv(x) if self.expand else x)
        out = self.linear_conv(self.mid_se(out) if self.use_se else out)
        return x + out if self.use_res_connect else out


class MobileNetV3(Classifier):
    """Rows of layers that are wide in their middle, with factors of channels.

    Howard et al., Searching for MobileNetV3, 2019.

    Args:
        config: what the blocks are.
        last_channel: width of the linear layer before the last.
        scale: how many times as wide the layers are.
        num_classes: how many classes there are; 0 leaves the linear layers out.
        with_pool: average before them.
    """

    _ends = ("avgpool", "classifier")

    def __init__(
        self,
        config: Sequence[_Row],
        last_channel: int,
        scale: float = 1.0,
        num_classes: int = 1000,
        with_pool: bool = True,
    ) -> None:
        super().__init__(num_classes, with_pool)
        rows = [row.scaled(scale) for row in config]
        self.scale = scale
        options: dict[str, Any] = dict(norm_layer=_normalized, activation_layer=nn.Hardswish)
        self.conv = ConvNormActivation(3, rows[0].channels, 3, 2, 1, **options)
        self.blocks = nn.Sequential(*map(InvertedResidual, rows))
        wide = rows[-1].out * 6
        self.lastconv = ConvNormActivation(rows[-1].out, wide, 1, 1, 0, **options)
        if with_pool:
            self.avgpool = nn.AdaptiveAvgPool2D(1)
        if num_classes > 0:
            self.classifier = nn.Sequential(
                nn.Linear(wide, last_channel), nn.Hardswish(), nn.Dropout(0.2),
                nn.Linear(last_channel, num_classes),
            )  # fmt: skip

    def forward(self, x: Tensor) -> Tensor:
        """The scores of images ``[N, 3, H, W]``."""
        x = self.lastconv(self.blocks(self.conv(x)))
        return self._scores(x)


_SMALL = [
    _Row(16, 3, 16, 16, True, False, 2),
    _Row(16, 3, 72, 24, False, False, 2),
    _Row(24, 3, 88, 24, False, False, 1),
    _Row(24, 5, 96, 40, True, True, 2),
    *[_Row(40, 5, 240, 40, True, True, 1)] * 2,
    _Row(40, 5, 120, 48, True, True, 1),
    _Row(48, 5, 144, 48, True, True, 1),
    _Row(48, 5, 288, 96, True, True, 2),
    *[_Row(96, 5, 576, 96, True, True, 1)] * 2,
]
_LARGE = [
    _Row(16, 3, 16, 16, False, False, 1),
    _Row(16, 3, 64, 24, False, False, 2),
    _Row(24, 3, 72, 24, False, False, 1),
    _Row(24, 5, 72, 40, True, False, 2),
    *[_Row(40, 5, 120, 40, True, False, 1)] * 2,
    _Row(40, 3, 240, 80, False, True, 2),
    _Row(80, 3, 200, 80, False, True, 1),
    *[_Row(80, 3, 184, 80, False, True, 1)] * 2,
    _Row(80, 3, 480, 112, True, True, 1),
    _Row(112, 3, 672, 112, True, True, 1),
    _Row(112, 5, 672, 160, True, True, 2),
    *[_Row(160, 5, 960, 160, True, True, 1)] * 2,
]


class _Sized(MobileNetV3):
    _rows: ClassVar[Sequence[_Row]]
    _last: ClassVar[int]  #: ``last_channel`` of the scale 1

    def __init__(self, scale: float = 1.0, num_classes: int = 1000, with_pool: bool = True) -> None:
        last = divisible(self._last * scale)
        super().__init__(self._rows, last, scale, num_classes, with_pool)


@Family().like(MobileNetV3)
class MobileNetV3Small(_Sized):
    """The small MobileNetV3."""

    _rows, _last = _SMALL, 1024


@Family().like(MobileNetV3)
class MobileNetV3Large(_Sized):
    """The large MobileNetV3."""

    _rows, _last = _LARGE, 1280


mobilenet_v3_small: Final = scaled_maker(
    "mobilenet_v3_small",
    MobileNetV3Small,
    "The small MobileNetV3.",
    "mobilenet_v3_small_x{}.pdparams",
)


mobilenet_v3_large: Final = scaled_maker(
    "mobilenet_v3_large",
    MobileNetV3Large,
    "The large MobileNetV3.",
    "mobilenet_v3_large_x{}.pdparams",
)


list_public_names(globals())
api_boundaries(globals())
