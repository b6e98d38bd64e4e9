"""MobileNetV2."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from ....eager.tensor import Tensor
from ....ground.public_names import list_public_names
from ....ground.tracebacks import api_boundaries
from ....nn import AdaptiveAvgPool2D, BatchNorm2D, Conv2D, Dropout, Layer, Linear, ReLU6, Sequential
from ..normalized import ConvNormActivation, divisible
from .classifier import Classifier
from .weights import scaled_maker


class InvertedResidual(Layer):
    """A wide convolution of each channel between two of 1x1, to which the input is added.

    Args:
        inp, oup: channels of the input and of the result.
        stride: of the wide convolution.
        expand_ratio: how many times as wide as the input it is.
        norm_layer: the class of normalizations.
    """

    def __init__(
        self,
        inp: int,
        oup: int,
        stride: int,
        expand_ratio: float,
        norm_layer: Callable[[int], Layer] = BatchNorm2D,
    ) -> None:
        super().__init__()
        self.stride = stride
        self.use_res_connect = stride == 1 and inp == oup
        wide = round(inp * expand_ratio)
        options: dict[str, Any] = dict(norm_layer=norm_layer, activation_layer=ReLU6)
        layers: list[Layer] = []
        if expand_ratio != 1:
            layers.append(ConvNormActivation(inp, wide, 1, **options))
        layers += [
            ConvNormActivation(wide, wide, 3, stride, groups=wide, **options),
            Conv2D(wide, oup, 1, 1, 0, bias_attr=False),
            norm_layer(oup),
        ]
        self.conv = Sequential(*layers)

    def forward(self, x: Tensor) -> Tensor:
        """The result for ``[N, inp, H, W]``."""
        return x + self.conv(x) if self.use_res_connect else self.conv(x)


#: how many times as wide the middle is, channels, layers and stride of a row
_ROWS = (
    (1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2),
    (6, 320, 1, 1),
)  # fmt: skip


class MobileNetV2(Classifier):
    """Rows of layers that are wide in their middle.

    Sandler et al., MobileNetV2: inverted residuals and linear bottlenecks, 2018.

    Args:
        scale: how many times as wide the layers are.
        num_classes: how many classes there are; 0 leaves the linear layer out.
        with_pool: average before it.
    """

    _ends = ("pool2d_avg", "classifier")

    def __init__(self, scale: float = 1.0, num_classes: int = 1000, with_pool: bool = True) -> None:
        super().__init__(num_classes, with_pool)
        channels = divisible(32 * scale)
        layers: list[Layer] = [ConvNormActivation(3, channels, 3, 2, activation_layer=ReLU6)]
        for ratio, width, count, stride in _ROWS:
            for place in range(count):
                scaled = divisible(width * scale)
                layers.append(InvertedResidual(channels, scaled, 1 if place else stride, ratio))
                channels = scaled
        last = divisible(1280 * max(1.0, scale))
        layers.append(ConvNormActivation(channels, last, 1, activation_layer=ReLU6))
        self.features = Sequential(*layers)
        if with_pool:
            self.pool2d_avg = AdaptiveAvgPool2D(1)
        if num_classes > 0:
            self.classifier = Sequential(Dropout(0.2), Linear(last, num_classes))

    def forward(self, x: Tensor) -> Tensor:
        """The scores of images ``[N, 3, H, W]``."""
        x = self.features(x)
        return self._scores(x)


mobilenet_v2: Final = scaled_maker(
    "mobilenet_v2", MobileNetV2, "MobileNetV2.", "mobilenet_v2_x{}.pdparams"
)


list_public_names(globals())
api_boundaries(globals())
