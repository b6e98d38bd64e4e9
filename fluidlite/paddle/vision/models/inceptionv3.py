"""Inception-v3."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, TypeAlias

from ....eager.tensor import Tensor
from ....functions.shaping import concat
from ....functions.views import reshape
from ....ground.public_names import list_public_names
from ....ground.tracebacks import api_boundaries
from ....nn import AdaptiveAvgPool2D, AvgPool2D, Dropout, Layer, LayerList, Linear, MaxPool2D
from ....nn.initializer import Uniform
from ....param_attr import ParamAttr
from ..normalized import ConvNormActivation
from .classifier import Classifier
from .weights import maker

#: name, width, size and stride of a convolution; one of stride 1 keeps height and width
_Row: TypeAlias = tuple[str, int, int | tuple[int, int], int]
#: what follows each other; a list in it stands for what follows side by side
_Branch: TypeAlias = Sequence["_Row | list[_Row] | str"]


class _Branches(Layer):
    """Rows of convolutions side by side, whose results are joined.

    Args:
        num_channels: of the input.
        branches: the rows; "average" and "largest" are poolings.
    """

    def __init__(self, num_channels: int, *branches: _Branch) -> None:
        super().__init__()
        self._branches: list[list[list[str]]] = []
        for branch in branches:
            channels = num_channels
            steps: list[list[str]] = []
            for step in branch:
                if isinstance(step, str):
                    pool = (
                        AvgPool2D(3, 1, 1, exclusive=False)
                        if step == "average"
                        else MaxPool2D(3, 2)
                    )
                    self.add_sublayer("branch_pool", pool)
                    steps.append(["branch_pool"])
                    continue
                rows = step if isinstance(step, list) else [step]
                for name, width, size, stride in rows:
                    self.add_sublayer(name, _convolution(channels, width, size, stride))
                channels = rows[-1][1]
                steps.append([name for name, *_ in rows])
            self._branches.append(steps)

    def forward(self, x: Tensor) -> Tensor:
        """The result for ``[N, num_channels, H, W]``."""
        results: list[Tensor] = []
        for branch in self._branches:
            ends = [x]
            for names in branch:
                ends = [self._sub_layers[name](ends[0]) for name in names]
            results.append(ends[0] if len(ends) == 1 else concat(ends, axis=1))
        return concat(results, axis=1)


def _convolution(
    channels: int, width: int, size: int | tuple[int, int], stride: int = 1, kept: bool = True
) -> ConvNormActivation:
    across = size // 2 if isinstance(size, int) else (size[0] // 2, size[1] // 2)
    padding = across if kept and stride == 1 else 0
    return ConvNormActivation(channels, width, size, stride, padding)


class InceptionStem(Layer):
    """The convolutions before the blocks."""

    def __init__(self) -> None:
        super().__init__()
        self.conv_1a_3x3 = _convolution(3, 32, 3, 2)
        self.conv_2a_3x3 = _convolution(32, 32, 3, kept=False)
        self.conv_2b_3x3 = _convolution(32, 64, 3)
        self.max_pool = MaxPool2D(3, 2, 0)
        self.conv_3b_1x1 = _convolution(64, 80, 1)
        self.conv_4a_3x3 = _convolution(80, 192, 3, kept=False)

    def forward(self, x: Tensor) -> Tensor:
        """The result for ``[N, 3, H, W]``."""
        x = self.conv_2b_3x3(self.conv_2a_3x3(self.conv_1a_3x3(x)))
        x = self.conv_4a_3x3(self.conv_3b_1x1(self.max_pool(x)))
        return self.max_pool(x)


def _double(stride: int) -> _Branch:
    return [
        ("branch3x3dbl_1", 64, 1, 1), ("branch3x3dbl_2", 96, 3, 1),
        ("branch3x3dbl_3", 96, 3, stride),
    ]  # fmt: skip


class InceptionA(_Branches):
    """Convolutions of 1x1, 5x5 and twice 3x3."""

    def __init__(self, num_channels: int, pool_features: int) -> None:
        super().__init__(
            num_channels,
            [("branch1x1", 64, 1, 1)],
            [("branch5x5_1", 48, 1, 1), ("branch5x5_2", 64, 5, 1)],
            _double(1),
            ["average", ("branch_pool_conv", pool_features, 1, 1)],
        )


class InceptionB(_Branches):
    """3x3 convolutions that halve height and width."""

    def __init__(self, num_channels: int) -> None:
        super().__init__(num_channels, [("branch3x3", 384, 3, 2)], _double(2), ["largest"])


class InceptionC(_Branches):
    """Convolutions of 7x7, taken apart into 1x7 and 7x1."""

    def __init__(self, num_channels: int, channels_7x7: int) -> None:
        width, flat, high = channels_7x7, (1, 7), (7, 1)
        super().__init__(
            num_channels,
            [("branch1x1", 192, 1, 1)],
            [
                ("branch7x7_1", width, 1, 1), ("branch7x7_2", width, flat, 1),
                ("branch7x7_3", 192, high, 1),
            ],
            [
                ("branch7x7dbl_1", width, 1, 1), ("branch7x7dbl_2", width, high, 1),
                ("branch7x7dbl_3", width, flat, 1), ("branch7x7dbl_4", width, high, 1),
                ("branch7x7dbl_5", 192, flat, 1),
            ],
            ["average", ("branch_pool_conv", 192, 1, 1)],
        )  # fmt: skip


class InceptionD(_Branches):
    """Convolutions of 7x7 and 3x3 that halve height and width."""

    def __init__(self, num_channels: int) -> None:
        super().__init__(
            num_channels,
            [("branch3x3_1", 192, 1, 1), ("branch3x3_2", 320, 3, 2)],
            [
                ("branch7x7x3_1", 192, 1, 1), ("branch7x7x3_2", 192, (1, 7), 1),
                ("branch7x7x3_3", 192, (7, 1), 1), ("branch7x7x3_4", 192, 3, 2),
            ],
            ["largest"],
        )  # fmt: skip


class InceptionE(_Branches):
    """Convolutions whose last are 1x3 and 3x1 side by side."""

    def __init__(self, num_channels: int) -> None:
        def sides(name: str) -> list[_Row]:
            return [(f"{name}a", 384, (1, 3), 1), (f"{name}b", 384, (3, 1), 1)]

        super().__init__(
            num_channels,
            [("branch1x1", 320, 1, 1)],
            [("branch3x3_1", 384, 1, 1), sides("branch3x3_2")],
            [("branch3x3dbl_1", 448, 1, 1), ("branch3x3dbl_2", 384, 3, 1), sides("branch3x3dbl_3")],
            ["average", ("branch_pool_conv", 192, 1, 1)],
        )


class InceptionV3(Classifier):
    """Eleven blocks of convolutions side by side.

    Szegedy et al., Rethinking the Inception architecture for computer vision, 2016.

    Args:
        num_classes: how many classes there are; 0 leaves the linear layer out.
        with_pool: average before it.
    """

    def __init__(self, num_classes: int = 1000, with_pool: bool = True) -> None:
        super().__init__(num_classes, with_pool)
        self.inception_stem = InceptionStem()
        self.inception_block_list = LayerList(
            [
                InceptionA(192, 32), InceptionA(256, 64), InceptionA(288, 64), InceptionB(288),
                *(InceptionC(768, width) for width in (128, 160, 160, 192)),
                InceptionD(768), InceptionE(1280), InceptionE(2048),
            ]
        )  # fmt: skip
        if with_pool:
            self.avg_pool = AdaptiveAvgPool2D(1)
        if num_classes > 0:
            self.dropout = Dropout(0.2, mode="downscale_in_infer")
            bound = 1 / math.sqrt(2048)
            drawn = ParamAttr(initializer=Uniform(-bound, bound))
            self.fc = Linear(2048, num_classes, drawn, ParamAttr())

    def forward(self, x: Tensor) -> Tensor:
        """The scores of images ``[N, 3, 299, 299]``."""
        x = self.inception_stem(x)
        for block in self.inception_block_list:
            x = block(x)
        if self.with_pool:
            x = self.avg_pool(x)
        return self.fc(self.dropout(reshape(x, [-1, 2048]))) if self.num_classes > 0 else x


inception_v3: Final = maker("inception_v3", InceptionV3, "Inception-v3.")

list_public_names(globals())
api_boundaries(globals())
