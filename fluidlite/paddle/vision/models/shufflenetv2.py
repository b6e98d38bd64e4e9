"""ShuffleNetV2."""

from __future__ import annotations

from typing import Any, Final

from ....eager.tensor import Tensor
from ....errors import ArgumentError
from ....functions.shaping import chunk, concat
from ....ground.fields import from_fields
from ....ground.public_names import list_public_names
from ....ground.tracebacks import api_boundaries
from ....nn import AdaptiveAvgPool2D, Layer, Linear, MaxPool2D, ReLU, Swish
from ....nn.functional import channel_shuffle
from ..normalized import ConvNormActivation
from .classifier import Classifier
from .weights import maker

_ACTIVATIONS: dict[str | None, type[Layer] | None] = {"relu": ReLU, "swish": Swish, None: None}


def _pointwise(channels: int, width: int, act: Any) -> ConvNormActivation:
    return ConvNormActivation(channels, width, 1, 1, 0, activation_layer=act)


def _depthwise(channels: int, stride: int) -> ConvNormActivation:
    return ConvNormActivation(
        channels, channels, 3, stride, 1, groups=channels, activation_layer=None
    )


@from_fields
class _Residual(Layer):
    """Convolutions of a part of the channels, or of all of them, beside each other."""

    in_channels: int
    out_channels: int
    stride: int
    activation_layer: Any = ReLU


class InvertedResidual(_Residual):
    """Convolutions of half of the channels, which are then mixed with the others."""

    def begin(self, given: dict[str, Any]) -> None:
        Layer.__init__(self)
        in_channels, out_channels, stride, activation_layer = given.values()
        half = out_channels // 2
        self._conv_pw = _pointwise(in_channels // 2, half, activation_layer)
        self._conv_dw = _depthwise(half, stride)
        self._conv_linear = _pointwise(half, half, activation_layer)

    def forward(self, inputs: Tensor) -> Tensor:
        """The result for ``[N, in_channels, H, W]``."""
        left, right = chunk(inputs, 2, axis=1)
        right = self._conv_linear(self._conv_dw(self._conv_pw(right)))
        return channel_shuffle(concat([left, right], axis=1), 2)


class InvertedResidualDS(_Residual):
    """Convolutions in two branches, which halve height and width."""

    def begin(self, given: dict[str, Any]) -> None:
        Layer.__init__(self)
        in_channels, out_channels, stride, activation_layer = given.values()
        half = out_channels // 2
        self._conv_dw_1 = _depthwise(in_channels, stride)
        self._conv_linear_1 = _pointwise(in_channels, half, activation_layer)
        self._conv_pw_2 = _pointwise(in_channels, half, activation_layer)
        self._conv_dw_2 = _depthwise(half, stride)
        self._conv_linear_2 = _pointwise(half, half, activation_layer)

    def forward(self, inputs: Tensor) -> Tensor:
        """The result for ``[N, in_channels, H, W]``."""
        left = self._conv_linear_1(self._conv_dw_1(inputs))
        right = self._conv_linear_2(self._conv_dw_2(self._conv_pw_2(inputs)))
        return channel_shuffle(concat([left, right], axis=1), 2)


#: scale -> widths of the first convolution, of the three rows and of the last convolution
_WIDTHS = {
    0.25: (24, 24, 48, 96, 512),
    0.33: (24, 32, 64, 128, 512),
    0.5: (24, 48, 96, 192, 1024),
    1.0: (24, 116, 232, 464, 1024),
    1.5: (24, 176, 352, 704, 1024),
    2.0: (24, 224, 488, 976, 2048),
}


class ShuffleNetV2(Classifier):
    """Convolutions of half of the channels, which are mixed.

    Ma et al., ShuffleNet V2: practical guidelines for efficient CNN architecture design, 2018.

    Args:
        scale: 0.25, 0.33, 0.5, 1.0, 1.5 or 2.0.
        act: "relu", "swish" or None.
        num_classes: how many classes there are; 0 leaves the linear layer out.
        with_pool: average before it.

    >>> net = fluid.paddle.vision.models.ShuffleNetV2(0.25, num_classes=10)
    >>> net(fluid.ones([1, 3, 32, 32])).shape
    [1, 10]
    """

    _ends = ("_pool2d_avg", "_fc")

    def __init__(
        self,
        scale: float = 1.0,
        act: str | None = "relu",
        num_classes: int = 1000,
        with_pool: bool = True,
    ) -> None:
        super().__init__(num_classes, with_pool)
        if scale not in _WIDTHS:
            raise ArgumentError(f"expected a scale of {[*_WIDTHS]}, got {scale!r}")
        if act not in _ACTIVATIONS:
            raise ArgumentError(f'expected act to be "relu", "swish" or None, got {act!r}')
        self.scale = scale
        active = _ACTIVATIONS[act]
        channels, *widths, last = _WIDTHS[scale]
        self._conv1 = ConvNormActivation(3, channels, 3, 2, 1, activation_layer=active)
        self._max_pool = MaxPool2D(3, 2, 1)
        rows: list[Layer] = []
        for row, (width, count) in enumerate(zip(widths, (4, 8, 4)), 2):
            first = InvertedResidualDS(channels, width, 2, active)
            blocks = [first, *(InvertedResidual(width, width, 1, active) for _ in range(1, count))]
            rows += [self.add_sublayer(f"{row}_{k}", block) for k, block in enumerate(blocks, 1)]
            channels = width
        self._rows = tuple(rows)
        self._last_conv = _pointwise(channels, last, active)
        if with_pool:
            self._pool2d_avg = AdaptiveAvgPool2D(1)
        if num_classes > 0:
            self._fc = Linear(last, num_classes)

    def forward(self, inputs: Tensor) -> Tensor:
        """The scores of images ``[N, 3, H, W]``."""
        x = self._max_pool(self._conv1(inputs))
        for block in self._rows:
            x = block(x)
        x = self._last_conv(x)
        return self._scores(x)


def _of(name: str, scale: float, act: str = "relu") -> Any:
    doc = f"ShuffleNetV2, {scale} times as wide as that of scale 1."
    return maker(name, ShuffleNetV2, doc, scale=scale, act=act)


shufflenet_v2_x0_25: Final = _of("shufflenet_v2_x0_25", 0.25)
shufflenet_v2_x0_33: Final = _of("shufflenet_v2_x0_33", 0.33)
shufflenet_v2_x0_5: Final = _of("shufflenet_v2_x0_5", 0.5)
shufflenet_v2_x1_0: Final = _of("shufflenet_v2_x1_0", 1.0)
shufflenet_v2_x1_5: Final = _of("shufflenet_v2_x1_5", 1.5)
shufflenet_v2_x2_0: Final = _of("shufflenet_v2_x2_0", 2.0)
shufflenet_v2_swish: Final = _of("shufflenet_v2_swish", 1.0, "swish")

list_public_names(globals())
api_boundaries(globals())
