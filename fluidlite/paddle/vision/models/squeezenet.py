"""SqueezeNet."""

from __future__ import annotations

from typing import Any, Final

from ....eager.tensor import Tensor
from ....errors import ArgumentError
from ....functions.shaping import concat
from ....functions.views import squeeze
from ....ground.fields import from_fields
from ....ground.public_names import list_public_names
from ....ground.tracebacks import api_boundaries
from ....nn import AdaptiveAvgPool2D, Conv2D, Dropout, Layer, MaxPool2D
from ....nn.functional import relu
from .classifier import Classifier
from .weights import maker


class MakeFireConv(Layer):
    """A convolution and ReLU."""

    def __init__(
        self, input_channels: int, output_channels: int, filter_size: int, padding: int = 0
    ) -> None:
        super().__init__()
        self._conv = Conv2D(input_channels, output_channels, filter_size, padding=padding)

    def forward(self, x: Tensor) -> Tensor:
        """The result for ``[N, C, H, W]``."""
        return relu(self._conv(x))


@from_fields
class MakeFire(Layer):
    """A narrow 1x1 convolution, then one of 1x1 beside one of 3x3."""

    input_channels: int
    squeeze_channels: int
    expand1x1_channels: int
    expand3x3_channels: int

    def begin(self, given: dict[str, Any]) -> None:
        Layer.__init__(self)
        channels, narrow, wide, wider = given.values()
        self._conv = MakeFireConv(channels, narrow, 1)
        self._conv_path1 = MakeFireConv(narrow, wide, 1)
        self._conv_path2 = MakeFireConv(narrow, wider, 3, padding=1)

    def forward(self, inputs: Tensor) -> Tensor:
        """The result for ``[N, C, H, W]``."""
        x = self._conv(inputs)
        return concat([self._conv_path1(x), self._conv_path2(x)], axis=1)


#: version -> width, size and padding of the first convolution, and before which blocks is pooled
_VERSIONS = {"1.0": (96, 7, 0, (1, 4, 8)), "1.1": (64, 3, 1, (1, 3, 5))}


class SqueezeNet(Classifier):
    """Eight blocks of narrow and wide convolutions.

    Iandola et al., SqueezeNet: AlexNet-level accuracy with 50x fewer parameters and <0.5MB model
    size, 2016.

    Args:
        version: "1.0" or "1.1".
        num_classes: how many classes there are; 0 leaves their convolution out.
        with_pool: average behind it.
    """

    def __init__(self, version: str, num_classes: int = 1000, with_pool: bool = True) -> None:
        super().__init__(num_classes, with_pool)
        if version not in _VERSIONS:
            raise ArgumentError(f"expected the version 1.0 or 1.1, got {version!r}")
        self.version = version
        channels, size, padding, self._pooled = _VERSIONS[version]
        self._conv = Conv2D(3, channels, size, stride=2, padding=padding)
        self._pool = MaxPool2D(3, 2, 0)
        for block, narrow in enumerate((16, 16, 32, 32, 48, 48, 64, 64), 1):
            fire = MakeFire(channels, narrow, 4 * narrow, 4 * narrow)
            self.add_sublayer(f"_conv{block}", fire)
            channels = 8 * narrow
        if num_classes > 0:
            self._drop = Dropout(0.5, mode="downscale_in_infer")
            self._conv9 = Conv2D(512, num_classes, 1)
        self._avg_pool = AdaptiveAvgPool2D(1)

    def forward(self, inputs: Tensor) -> Tensor:
        """The scores of images ``[N, 3, H, W]``."""
        x = relu(self._conv(inputs))
        for block in range(1, 9):
            x = self._sub_layers[f"_conv{block}"](self._pool(x) if block in self._pooled else x)
        if self.num_classes > 0:
            x = self._conv9(self._drop(x))
        return squeeze(self._avg_pool(relu(x)), axis=[2, 3]) if self.with_pool else x


squeezenet1_0: Final = maker(
    "squeezenet1_0", SqueezeNet, "SqueezeNet 1.0.", "1.0", file="SqueezeNet1_0_pretrained.pdparams"
)
squeezenet1_1: Final = maker(
    "squeezenet1_1", SqueezeNet, "SqueezeNet 1.1.", "1.1", file="SqueezeNet1_1_pretrained.pdparams"
)

list_public_names(globals())
api_boundaries(globals())
