"""VGG: rows of 3x3 convolutions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from .... import nn
from ....eager.tensor import Tensor
from ....ground.public_names import list_public_names
from ....ground.tracebacks import api_boundaries
from .classifier import Classifier
from .weights import MAKERS, with_weights


class VGG(Classifier):
    """Convolutions, then three linear layers.

    Simonyan and Zisserman, Very deep convolutional networks for large-scale image recognition,
    2015.

    Args:
        features: the layers of convolutions; 512 channels come out.
        num_classes: how many classes there are; 0 leaves the linear layers out.
        with_pool: average before them, to 7x7.
    """

    _ends = ("avgpool", "classifier")

    def __init__(self, features: nn.Layer, num_classes: int = 1000, with_pool: bool = True) -> None:
        super().__init__(num_classes, with_pool)
        self.features = features
        if with_pool:
            self.avgpool = nn.AdaptiveAvgPool2D((7, 7))
        if num_classes > 0:
            self.classifier = nn.Sequential(
                nn.Linear(512 * 7 * 7, 4096), nn.ReLU(), nn.Dropout(),
                nn.Linear(4096, 4096), nn.ReLU(), nn.Dropout(), nn.Linear(4096, num_classes),
            )  # fmt: skip

    def forward(self, x: Tensor) -> Tensor:
        """The scores of images ``[N, 3, H, W]``."""
        x = self.features(x)
        return self._scores(x)


def make_layers(cfg: list[int | str], batch_norm: bool = False) -> nn.Sequential:
    """Convolutions with the widths of a list, in which "M" stands for a pooling.

    Args:
        cfg: the list.
        batch_norm: a normalization follows each convolution.
    """
    layers: list[nn.Layer] = []
    channels = 3
    for width in cfg:
        if isinstance(width, str):
            layers.append(nn.MaxPool2D(2, 2))
            continue
        layers.append(nn.Conv2D(channels, width, 3, padding=1))
        layers += [nn.BatchNorm2D(width)] * batch_norm
        layers.append(nn.ReLU())
        channels = width
    return nn.Sequential(*layers)


def _vgg(depth: int, *counts: int) -> Callable[..., VGG]:
    """What makes a model of so many convolutions a width."""
    name = f"vgg{depth}"
    widths: list[int | str] = []
    for width, count in zip((64, 128, 256, 512, 512), counts):
        widths += [*[width] * count, "M"]

    def made(pretrained: bool = False, batch_norm: bool = False, **kwargs: Any) -> VGG:
        model = VGG(make_layers(widths, batch_norm), **kwargs)
        return with_weights(model, pretrained, f"{name}{'_bn' * batch_norm}.pdparams")

    made.__name__ = made.__qualname__ = name
    made.__doc__ = f"VGG of {depth} layers."
    return MAKERS(made)


vgg11: Final = _vgg(11, 1, 1, 2, 2, 2)
vgg13: Final = _vgg(13, 2, 2, 2, 2, 2)
vgg16: Final = _vgg(16, 2, 2, 3, 3, 3)
vgg19: Final = _vgg(19, 2, 2, 4, 4, 4)

list_public_names(globals())
api_boundaries(globals())
