"""LeNet, for digits of 28x28."""

from __future__ import annotations

from ....eager.tensor import Tensor
from ....functions.views import flatten
from ....ground.public_names import list_public_names
from ....ground.tracebacks import api_boundaries
from ....nn import Conv2D, Layer, Linear, MaxPool2D, ReLU, Sequential


class LeNet(Layer):
    """Two convolutions and three linear layers.

    LeCun et al., Gradient-based learning applied to document recognition, 1998.

    Args:
        num_classes: how many classes there are; 0 leaves the linear layers out.

    >>> net = fluid.paddle.vision.models.LeNet()
    >>> net(fluid.ones([2, 1, 28, 28])).shape
    [2, 10]
    """

    def __init__(self, num_classes: int = 10) -> None:
        super().__init__()
        self.num_classes = num_classes
        self.features = Sequential(
            Conv2D(1, 6, 3, stride=1, padding=1), ReLU(), MaxPool2D(2, 2),
            Conv2D(6, 16, 5, stride=1, padding=0), ReLU(), MaxPool2D(2, 2),
        )  # fmt: skip
        if num_classes > 0:
            self.fc = Sequential(Linear(400, 120), Linear(120, 84), Linear(84, num_classes))

    def forward(self, inputs: Tensor) -> Tensor:
        """The scores of images ``[N, 1, 28, 28]``: ``[N, num_classes]``."""
        x = self.features(inputs)
        return self.fc(flatten(x, 1)) if self.num_classes > 0 else x


list_public_names(globals())
api_boundaries(globals())
