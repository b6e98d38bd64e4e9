"""ResNet, ResNeXt and Wide ResNet."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Final, TypeAlias

from .... import nn
from ....eager.tensor import Tensor
from ....errors import ArgumentError
from ....ground.public_names import list_public_names
from ....ground.tracebacks import api_boundaries
from .classifier import Classifier
from .weights import maker

Normalized: TypeAlias = Callable[[int], nn.Layer]  #: normalizations of so many channels


class _Block(nn.Layer):
    """Convolutions, to which their input is added.

    Args:
        inplanes: channels of the input.
        planes: those of the first convolution, when ``base_width`` is 64.
        stride: by how much height and width become smaller.
        downsample: brings the input to the shape of the result.
        groups, dilation: of the middle convolution.
        base_width: its width, when ``planes`` is 64.
        norm_layer: the class of normalizations; BatchNorm2D when None.
    """

    expansion: ClassVar[int]

    def __init__(
        self,
        inplanes: int,
        planes: int,
        stride: int = 1,
        downsample: nn.Layer | None = None,
        groups: int = 1,
        base_width: int = 64,
        dilation: int = 1,
        norm_layer: Normalized | None = None,
    ) -> None:
        super().__init__()
        width = int(planes * (base_width / 64.0)) * groups
        moved = dict(stride=stride, dilation=dilation, groups=groups)
        self._build(inplanes, planes, width, moved, norm_layer or nn.BatchNorm2D)
        self.downsample = downsample
        self.stride = stride

    def _build(
        self, inplanes: int, planes: int, width: int, moved: dict[str, Any], normalized: Normalized
    ) -> None:
        """Make the layers."""
        raise NotImplementedError

    def _convolved(self, x: Tensor) -> Tensor:
        """What is added to the input."""
        raise NotImplementedError

    def forward(self, x: Tensor) -> Tensor:
        """The result for ``[N, inplanes, H, W]``."""
        out = self._convolved(x)
        return self.relu(out + (x if self.downsample is None else self.downsample(x)))


class BasicBlock(_Block):
    """Two 3x3 convolutions, to which their input is added."""

    expansion: ClassVar[int] = 1

    def _build(
        self, inplanes: int, planes: int, width: int, moved: dict[str, Any], normalized: Normalized
    ) -> None:
        if moved.pop("dilation") > 1:
            raise ArgumentError("expected dilation=1 of a BasicBlock")
        stride = moved["stride"]
        self.conv1 = nn.Conv2D(inplanes, planes, 3, padding=1, stride=stride, bias_attr=False)
        self.bn1 = normalized(planes)
        self.relu = nn.ReLU()
        self.conv2 = nn.Conv2D(planes, planes, 3, padding=1, bias_attr=False)
        self.bn2 = normalized(planes)

    def _convolved(self, x: Tensor) -> Tensor:
        return self.bn2(self.conv2(self.relu(self.bn1(self.conv1(x)))))


class BottleneckBlock(_Block):
    """A 3x3 convolution between two of 1x1, to which their input is added."""

    expansion: ClassVar[int] = 4

    def _build(
        self, inplanes: int, planes: int, width: int, moved: dict[str, Any], normalized: Normalized
    ) -> None:
        out, padding = planes * self.expansion, moved["dilation"]
        self.conv1 = nn.Conv2D(inplanes, width, 1, bias_attr=False)
        self.bn1 = normalized(width)
        self.conv2 = nn.Conv2D(width, width, 3, padding=padding, bias_attr=False, **moved)
        self.bn2 = normalized(width)
        self.conv3 = nn.Conv2D(width, out, 1, bias_attr=False)
        self.bn3 = normalized(out)
        self.relu = nn.ReLU()

    def _convolved(self, x: Tensor) -> Tensor:
        x = self.relu(self.bn1(self.conv1(x)))
        return self.bn3(self.conv3(self.relu(self.bn2(self.conv2(x)))))


_COUNTS = {
    18: (2, 2, 2, 2), 34: (3, 4, 6, 3), 50: (3, 4, 6, 3), 101: (3, 4, 23, 3), 152: (3, 8, 36, 3),
}  # fmt: skip


class ResNet(Classifier):
    """Four rows of blocks, which add to their input.

    He et al., Deep residual learning for image recognition, 2016; Xie et al., Aggregated residual
    transformations for deep neural networks, 2017; Zagoruyko and Komodakis, Wide residual
    networks, 2016.

    Args:
        block: ``BasicBlock`` or ``BottleneckBlock``.
        depth: 18, 34, 50, 101 or 152 layers.
        width: of a group in the first row.
        num_classes: how many classes there are; 0 leaves the linear layer out.
        with_pool: average before it.
        groups: of the middle convolutions.

    >>> from fluidlite.paddle.vision.models.resnet import BasicBlock
    >>> net = fluid.paddle.vision.models.ResNet(BasicBlock, 18, num_classes=0)
    >>> net(fluid.ones([1, 3, 32, 32])).shape
    [1, 512, 1, 1]
    """

    _ends = ("avgpool", "fc")

    def __init__(
        self,
        block: type[BasicBlock | BottleneckBlock],
        depth: int = 50,
        width: int = 64,
        num_classes: int = 1000,
        with_pool: bool = True,
        groups: int = 1,
    ) -> None:
        super().__init__(num_classes, with_pool)
        if depth not in _COUNTS:
            raise ArgumentError(f"expected a depth of {sorted(_COUNTS)}, got {depth!r}")
        self.groups = groups
        self.base_width = width
        self.inplanes = 64
        self.dilation = 1
        self.conv1 = nn.Conv2D(3, 64, kernel_size=7, stride=2, padding=3, bias_attr=False)
        self.bn1 = nn.BatchNorm2D(64)
        self.relu = nn.ReLU()
        self.maxpool = nn.MaxPool2D(kernel_size=3, stride=2, padding=1)
        for row, count in enumerate(_COUNTS[depth]):
            blocks = self._make_layer(block, 64 << row, count, 1 if row == 0 else 2)
            self.add_sublayer(f"layer{row + 1}", blocks)
        if with_pool:
            self.avgpool = nn.AdaptiveAvgPool2D((1, 1))
        if num_classes > 0:
            self.fc = nn.Linear(512 * block.expansion, num_classes)

    def _make_layer(
        self, block: type[BasicBlock | BottleneckBlock], planes: int, count: int, stride: int
    ) -> nn.Sequential:
        width = planes * block.expansion
        downsample = None
        if stride != 1 or self.inplanes != width:
            downsample = nn.Sequential(
                nn.Conv2D(self.inplanes, width, 1, stride=stride, bias_attr=False),
                nn.BatchNorm2D(width),
            )
        shared: dict[str, Any] = dict(groups=self.groups, base_width=self.base_width)
        blocks = [block(self.inplanes, planes, stride, downsample, **shared)]
        blocks += [block(width, planes, **shared) for _ in range(1, count)]
        self.inplanes = width
        return nn.Sequential(*blocks)

    def forward(self, x: Tensor) -> Tensor:
        """The scores of images ``[N, 3, H, W]``."""
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self._scores(x)


def _of(name: str, depth: int, doc: str, **fixed: Any) -> Callable[..., ResNet]:
    block = BasicBlock if depth < 50 else BottleneckBlock
    return maker(name, ResNet, doc.format(depth), block, depth, **fixed)


_PLAIN, _GROUPED, _WIDE = (
    f"{kind} of {{}} layers{of}."
    for kind, of in [("ResNet", ""), ("ResNeXt", ", in groups"), ("Wide ResNet", "")]
)
resnet18: Final = _of("resnet18", 18, _PLAIN)
resnet34: Final = _of("resnet34", 34, _PLAIN)
resnet50: Final = _of("resnet50", 50, _PLAIN)
resnet101: Final = _of("resnet101", 101, _PLAIN)
resnet152: Final = _of("resnet152", 152, _PLAIN)
resnext50_32x4d: Final = _of("resnext50_32x4d", 50, _GROUPED, groups=32, width=4)
resnext50_64x4d: Final = _of("resnext50_64x4d", 50, _GROUPED, groups=64, width=4)
resnext101_32x4d: Final = _of("resnext101_32x4d", 101, _GROUPED, groups=32, width=4)
resnext101_64x4d: Final = _of("resnext101_64x4d", 101, _GROUPED, groups=64, width=4)
resnext152_32x4d: Final = _of("resnext152_32x4d", 152, _GROUPED, groups=32, width=4)
resnext152_64x4d: Final = _of("resnext152_64x4d", 152, _GROUPED, groups=64, width=4)
wide_resnet50_2: Final = _of("wide_resnet50_2", 50, _WIDE, width=128)
wide_resnet101_2: Final = _of("wide_resnet101_2", 101, _WIDE, width=128)

list_public_names(globals())
api_boundaries(globals())
