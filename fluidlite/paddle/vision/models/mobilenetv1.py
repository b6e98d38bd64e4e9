"""MobileNetV1."""

from __future__ import annotations

from typing import Final

from ....eager.tensor import Tensor
from ....ground.public_names import list_public_names
from ....ground.tracebacks import api_boundaries
from ....nn import AdaptiveAvgPool2D, Layer, Linear
from ..normalized import ConvNormActivation
from .classifier import Classifier
from .weights import scaled_maker


class DepthwiseSeparable(Layer):
    """A convolution of each channel, then one of 1x1."""

    def __init__(self, in_channels: int, out_channels: int, stride: int) -> None:
        super().__init__()
        self._depthwise_conv = ConvNormActivation(
            in_channels, in_channels, 3, stride, 1, groups=in_channels
        )
        self._pointwise_conv = ConvNormActivation(in_channels, out_channels, 1, 1, 0)

    def forward(self, x: Tensor) -> Tensor:
        """The result for ``[N, in_channels, H, W]``."""
        return self._pointwise_conv(self._depthwise_conv(x))


#: name -> channels, at scale 1, and stride of a layer
_ROWS = {
    "conv2_1": (64, 1), "conv2_2": (128, 2), "conv3_1": (128, 1), "conv3_2": (256, 2),
    "conv4_1": (256, 1), "conv4_2": (512, 2), **{f"conv5_{k}": (512, 1) for k in range(1, 6)},
    "conv5_6": (1024, 2), "conv6": (1024, 1),
}  # fmt: skip


class MobileNetV1(Classifier):
    """Convolutions of single channels, and of 1x1.

    Howard et al., MobileNets: efficient convolutional neural networks for mobile vision
    applications, 2017.

    Args:
        scale: how many times as wide the layers are.
        num_classes: how many classes there are; 0 leaves the linear layer out.
        with_pool: average before it.
    """

    def __init__(self, scale: float = 1.0, num_classes: int = 1000, with_pool: bool = True) -> None:
        super().__init__(num_classes, with_pool)
        self.scale = scale
        channels = int(32 * scale)
        self.conv1 = ConvNormActivation(3, channels, 3, 2, 1)
        for name, (width, stride) in _ROWS.items():
            scaled = int(width * scale)
            self.add_sublayer(name, DepthwiseSeparable(channels, scaled, stride))
            channels = scaled
        if with_pool:
            self.pool2d_avg = AdaptiveAvgPool2D(1)
        if num_classes > 0:
            self.fc = Linear(channels, num_classes)

    def forward(self, x: Tensor) -> Tensor:
        """The scores of images ``[N, 3, H, W]``."""
        x = self.conv1(x)
        for name in _ROWS:
            x = self._sub_layers[name](x)
        return self._scores(x)


mobilenet_v1: Final = scaled_maker(
    "mobilenet_v1", MobileNetV1, "MobileNetV1.", "mobilenetv1_{}.pdparams"
)


list_public_names(globals())
api_boundaries(globals())
