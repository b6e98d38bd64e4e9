"""AlexNet."""

from __future__ import annotations

import math
from typing import Any, Final

from ....eager.tensor import Tensor
from ....functions.views import flatten
from ....ground.tracebacks import api_boundaries
from ....nn import Conv2D, Dropout, Layer, Linear, MaxPool2D, ReLU
from ....nn.functional import relu
from ....nn.initializer import Uniform
from ....param_attr import ParamAttr
from .weights import maker

__all__: list[str] = []


def _bounded(bound: float) -> dict[str, Any]:
    """Weights and biases that are drawn between ``-bound`` and ``bound``."""
    drawn = [ParamAttr(initializer=Uniform(-bound, bound)) for _ in range(2)]
    return dict(weight_attr=drawn[0], bias_attr=drawn[1])


def _convolution(channels: int, width: int, size: int, stride: int, padding: int) -> Conv2D:
    bound = 1 / math.sqrt(channels * size * size)
    return Conv2D(channels, width, size, stride, padding, **_bounded(bound))


class ConvPoolLayer(Layer):
    """A convolution, ReLU and the largest element under windows."""

    def __init__(self, *given: int) -> None:
        super().__init__()
        self.relu = ReLU()
        self._conv = _convolution(*given)
        self._pool = MaxPool2D(3, 2, 0)

    def forward(self, inputs: Tensor) -> Tensor:
        """The result for ``[N, C, H, W]``."""
        return self._pool(self.relu(self._conv(inputs)))


class AlexNet(Layer):
    """Five convolutions and three linear layers.

    Krizhevsky, Sutskever and Hinton, ImageNet classification with deep convolutional neural
    networks, 2012.

    Args:
        num_classes: how many classes there are; 0 leaves the linear layers out.
    """

    def __init__(self, num_classes: int = 1000) -> None:
        super().__init__()
        self.num_classes = num_classes
        self._conv1 = ConvPoolLayer(3, 64, 11, 4, 2)
        self._conv2 = ConvPoolLayer(64, 192, 5, 1, 2)
        self._conv3 = _convolution(192, 384, 3, 1, 1)
        self._conv4 = _convolution(384, 256, 3, 1, 1)
        self._conv5 = ConvPoolLayer(256, 256, 3, 1, 1)
        if num_classes > 0:
            bounded = _bounded(1 / math.sqrt(256 * 6 * 6))
            self._drop1 = Dropout(0.5, mode="downscale_in_infer")
            self._fc6 = Linear(256 * 6 * 6, 4096, **bounded)
            self._drop2 = Dropout(0.5, mode="downscale_in_infer")
            self._fc7 = Linear(4096, 4096, **bounded)
            self._fc8 = Linear(4096, num_classes, **bounded)

    def forward(self, inputs: Tensor) -> Tensor:
        """The scores of images ``[N, 3, 224, 224]``."""
        x = self._conv2(self._conv1(inputs))
        x = self._conv5(relu(self._conv4(relu(self._conv3(x)))))
        if self.num_classes <= 0:
            return x
        x = relu(self._fc6(self._drop1(flatten(x, 1))))
        return self._fc8(relu(self._fc7(self._drop2(x))))


alexnet: Final = maker("alexnet", AlexNet, "AlexNet.", file="AlexNet_pretrained.pdparams")

api_boundaries(globals())
