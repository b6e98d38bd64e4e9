"""GoogLeNet."""

from __future__ import annotations

import math
from typing import Final

from ....eager.tensor import Tensor
from ....functions.shaping import concat
from ....functions.views import flatten, squeeze
from ....ground.tracebacks import api_boundaries
from ....nn import AdaptiveAvgPool2D, AvgPool2D, Conv2D, Dropout, Layer, Linear, MaxPool2D
from ....nn.functional import relu
from ....nn.initializer import Uniform
from ....param_attr import ParamAttr
from .classifier import Classifier
from .weights import maker

__all__: list[str] = []


def _bounded(count: int) -> ParamAttr:
    """A parameter that is drawn between bounds which come from a number of elements."""
    bound = math.sqrt(3.0 / count)
    return ParamAttr(initializer=Uniform(-bound, bound))


class ConvLayer(Layer):
    """A convolution without biases."""

    def __init__(
        self, num_channels: int, num_filters: int, filter_size: int, stride: int = 1
    ) -> None:
        super().__init__()
        self._conv = Conv2D(
            num_channels, num_filters, filter_size, stride, filter_size // 2, bias_attr=False
        )

    def forward(self, inputs: Tensor) -> Tensor:
        """The result for ``[N, C, H, W]``."""
        return self._conv(inputs)


class Inception(Layer):
    """Convolutions of three sizes and a pooling beside each other."""

    def __init__(
        self,
        input_channels: int,
        filter1: int,
        filter3R: int,
        filter3: int,
        filter5R: int,
        filter5: int,
        proj: int,
    ) -> None:
        super().__init__()
        self._conv1 = ConvLayer(input_channels, filter1, 1)
        self._conv3r = ConvLayer(input_channels, filter3R, 1)
        self._conv3 = ConvLayer(filter3R, filter3, 3)
        self._conv5r = ConvLayer(input_channels, filter5R, 1)
        self._conv5 = ConvLayer(filter5R, filter5, 5)
        self._pool = MaxPool2D(3, 1, 1)
        self._convprj = ConvLayer(input_channels, proj, 1)

    def forward(self, inputs: Tensor) -> Tensor:
        """The result for ``[N, C, H, W]``."""
        middle = self._conv3(self._conv3r(inputs))
        large = self._conv5(self._conv5r(inputs))
        pooled = self._convprj(self._pool(inputs))
        return relu(concat([self._conv1(inputs), middle, large, pooled], axis=1))


_BLOCKS = {
    "3a": (192, 64, 96, 128, 16, 32, 32),
    "3b": (256, 128, 128, 192, 32, 96, 64),
    "4a": (480, 192, 96, 208, 16, 48, 64),
    "4b": (512, 160, 112, 224, 24, 64, 64),
    "4c": (512, 128, 128, 256, 24, 64, 64),
    "4d": (512, 112, 144, 288, 32, 64, 64),
    "4e": (528, 256, 160, 320, 32, 128, 128),
    "5a": (832, 256, 160, 320, 32, 128, 128),
    "5b": (832, 384, 192, 384, 48, 128, 128),
}


class GoogLeNet(Classifier):
    """Nine blocks of convolutions of several sizes, with two more outputs on the way.

    Szegedy et al., Going deeper with convolutions, 2015.

    Args:
        num_classes: how many classes there are; 0 leaves the linear layers out.
        with_pool: average before them.
    """

    def __init__(self, num_classes: int = 1000, with_pool: bool = True) -> None:
        super().__init__(num_classes, with_pool)
        self._conv = ConvLayer(3, 64, 7, 2)
        self._pool = MaxPool2D(3, 2)
        self._conv_1 = ConvLayer(64, 64, 1)
        self._conv_2 = ConvLayer(64, 192, 3)
        for name, widths in _BLOCKS.items():
            self.add_sublayer(f"_ince{name}", Inception(*widths))
        if with_pool:
            self._pool_5 = AdaptiveAvgPool2D(1)
            self._pool_o1 = AvgPool2D(5, 3)
            self._pool_o2 = AvgPool2D(5, 3)
        if num_classes > 0:
            self._drop = Dropout(0.4, mode="downscale_in_infer")
            self._fc_out = Linear(1024, num_classes, _bounded(1024))
            for place, channels in (("1", 512), ("2", 528)):
                dropout = Dropout(0.7, mode="downscale_in_infer")
                self.add_sublayer(f"_conv_o{place}", ConvLayer(channels, 128, 1))
                self.add_sublayer(f"_fc_o{place}", Linear(1152, 1024, _bounded(2048)))
                self.add_sublayer(f"_drop_o{place}", dropout)
                self.add_sublayer(f"_out{place}", Linear(1024, num_classes, _bounded(1024)))

    def forward(self, inputs: Tensor) -> list[Tensor]:
        """The scores of images ``[N, 3, 224, 224]``, and those of the outputs on the way."""
        x = self._conv_2(self._conv_1(self._pool(self._conv(inputs))))
        results: dict[str, Tensor] = {}
        for name in _BLOCKS:
            x = self._sub_layers[f"_ince{name}"](self._pool(x) if name[1] == "a" else x)
            results[name] = x
        outputs = [x, results["4a"], results["4d"]]
        if self.with_pool:
            pools = (self._pool_5, self._pool_o1, self._pool_o2)
            outputs = [pool(each) for pool, each in zip(pools, outputs)]
        if self.num_classes > 0:
            first = self._fc_out(squeeze(self._drop(outputs[0]), axis=[2, 3]))
            outputs = [first, *(self._on_the_way(k, outputs[k]) for k in (1, 2))]
        return outputs

    def _on_the_way(self, place: int, x: Tensor) -> Tensor:
        conv, linear, drop, out = (
            self._sub_layers[f"{name}{place}"] for name in ("_conv_o", "_fc_o", "_drop_o", "_out")
        )
        scores = linear(flatten(conv(x), 1))
        return out(drop(relu(scores) if place == 1 else scores))


googlenet: Final = maker("googlenet", GoogLeNet, "GoogLeNet.", file="GoogLeNet_pretrained.pdparams")

api_boundaries(globals())
