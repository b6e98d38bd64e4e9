"""Normalisations with a learned scale and shift."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, ClassVar

from ..eager.tensor import Tensor
from ..functions.arguments import Integers
from ..functions.shaping import numbers_in
from ..ground.docstrings import Family
from ..ground.fields import from_fields, options_of
from ..initializer import Constant
from ..param_attr import Attr, ParamAttr
from . import functional as F
from .activation import FunctionLayer
from .layer import TensorLayer, format_of

NORMS = Family(
    {
        "num_features": "the number of channels.",
        "momentum": "the share of the old running statistics in the new ones.",
        "epsilon": "keeps the square root away from 0.",
        "weight_attr": "of the scale, which starts at 1; False for none.",
        "bias_attr": "of the shift; False for none.",
        "data_format": "ends in C where the channels come last.",
        "use_global_stats": "use the running statistics; in tests when None.",
        "name": "stands in the names of the parameters.",
    }
)


class _Scaled(TensorLayer):
    """A layer with a scale and a shift."""

    weight: Any
    scale: Any

    _formats: ClassVar[Sequence[str]] = ("NCHW", "NHWC")

    def _make(self, given: dict[str, Any], shape: list[int], scale: str = "weight") -> None:
        """Make the scale and the shift.

        Args:
            given: the arguments by name.
            shape: of both.
            scale: the attribute of the scale.
        """
        TensorLayer.__init__(self, given.pop("name"))
        if "data_format" in given:
            given["data_format"] = format_of(given["data_format"], self._formats)
        attr, bias_attr = given.pop("weight_attr"), given.pop("bias_attr")
        first = Constant(1.0)
        setattr(self, scale, self.create_parameter(shape, attr, default_initializer=first))
        self.bias: Any = self.create_parameter(shape, bias_attr, is_bias=True)
        self._options = given


@from_fields
class _BatchNorm(_Scaled):
    """Normalisation of each channel over a batch; running statistics are used in tests."""

    num_features: int
    momentum: float = 0.9
    epsilon: float = 1e-5
    weight_attr: Attr = None
    bias_attr: Attr = None
    data_format: str = "NCHW"
    use_global_stats: bool | None = None
    name: str | None = None

    def begin(self, given: dict[str, Any]) -> None:
        channels = given.pop("num_features")
        self._make(given, [channels])
        for what, value in (("mean", 0.0), ("variance", 1.0)):
            name = None if self._said_name is None else f"{self._said_name}_{what}"
            attr = ParamAttr(name=name, initializer=Constant(value), trainable=False)
            setattr(self, f"_{what}", self.create_parameter([channels], attr))

    def forward(self, input: Tensor) -> Tensor:
        """The normalised input."""
        training = self.training and not self._options["use_global_stats"]
        return F.batch_norm(
            input, self._mean, self._variance, self.weight, self.bias, training, **self._options
        )

    def extra_repr(self) -> str:
        momentum, epsilon = self._options["momentum"], self._options["epsilon"]
        form = self._options["data_format"]
        told = "" if form == "NCHW" else f", data_format={form}"
        sizes = f"num_features={self._mean.shape[0]}, momentum={momentum}, epsilon={epsilon}"
        return f"{sizes}{told}{self._called()}"


@NORMS
@from_fields
class BatchNorm1D(_BatchNorm):
    """Normalisation of each channel of [N, C] or [N, C, L] over a batch; in tests by running
    statistics.

    Args:
        data_format: NC or NCL, or NLC.
    """

    data_format: str = "NCL"
    _formats: ClassVar[Sequence[str]] = ("NCL", "NC", "NLC")


@NORMS
class BatchNorm2D(_BatchNorm):
    """Normalisation of each channel of images over a batch; running statistics are used in tests.

    >>> norm = fluid.nn.BatchNorm2D(3)
    >>> x = fluid.randn([8, 3, 4, 4])
    >>> abs(float(norm(x).mean())) < 1e-5, norm._mean.shape
    (True, [3])
    """


@NORMS
@from_fields
class BatchNorm3D(_BatchNorm):
    """Normalisation of each channel of volumes over a batch; in tests by running statistics."""

    data_format: str = "NCDHW"
    _formats: ClassVar[Sequence[str]] = ("NCDHW", "NDHWC")


@NORMS
@from_fields
class LayerNorm(_Scaled):
    """Normalisation of each sample over its last dimensions.

    Args:
        normalized_shape: their sizes: a number or a list.

    >>> fluid.nn.LayerNorm(2)(fluid.to_tensor([[1.0, 3.0]])).numpy().round(2)
    array([[-1.,  1.]], dtype=float32)
    """

    normalized_shape: Integers
    epsilon: float = 1e-5
    weight_attr: Attr = None
    bias_attr: Attr = None
    name: str | None = None

    def begin(self, given: dict[str, Any]) -> None:
        self._sizes = list(numbers_in("normalized_shape", given.pop("normalized_shape")))
        self._make(given, [prod(self._sizes)])

    def forward(self, input: Tensor) -> Tensor:
        """The normalised input."""
        return F.layer_norm(input, self._sizes, self.weight, self.bias, **self._options)

    def extra_repr(self) -> str:
        return f"normalized_shape={self._sizes}, epsilon={self._options['epsilon']}"


@NORMS
@from_fields
class GroupNorm(_Scaled):
    """Normalisation of each group of channels of each sample.

    Args:
        num_groups: how many groups the channels are cut into.
        num_channels: how many channels there are.
    """

    num_groups: int
    num_channels: int
    epsilon: float = 1e-5
    weight_attr: Attr = None
    bias_attr: Attr = None
    data_format: str = "NCHW"
    name: str | None = None

    def begin(self, given: dict[str, Any]) -> None:
        self._channels = given.pop("num_channels")
        self._make(given, [self._channels])

    def forward(self, input: Tensor) -> Tensor:
        """The normalised input."""
        return F.group_norm(input, weight=self.weight, bias=self.bias, **self._options)

    def extra_repr(self) -> str:
        groups, epsilon = self._options["num_groups"], self._options["epsilon"]
        return f"num_groups={groups}, num_channels={self._channels}, epsilon={epsilon}"


@from_fields
class _InstanceNorm(_Scaled):
    """What the normalisations of single samples have in common."""

    num_features: int
    epsilon: float = 1e-5
    momentum: float = 0.9
    weight_attr: Attr = None
    bias_attr: Attr = None
    data_format: str = "NCHW"
    name: str | None = None

    def begin(self, given: dict[str, Any]) -> None:
        self._channels = given.pop("num_features")
        self._make(given, [self._channels], "scale")
        del given["momentum"]
        given["eps"] = given.pop("epsilon")

    def forward(self, input: Tensor) -> Tensor:
        """The normalised input."""
        return F.instance_norm(input, weight=self.scale, bias=self.bias, **self._options)

    def extra_repr(self) -> str:
        return f"num_features={self._channels}, epsilon={self._options['eps']}"


INSTANCES = NORMS.extended(
    {"momentum": "accepted; there are no running statistics, as in paddle 2."}
)


@INSTANCES
@from_fields
class InstanceNorm1D(_InstanceNorm):
    """Normalisation of each channel of each sequence."""

    data_format: str = "NCL"
    _formats: ClassVar[Sequence[str]] = ("NCL", "NLC")


@INSTANCES
class InstanceNorm2D(_InstanceNorm):
    """Normalisation of each channel of each image."""


@INSTANCES
@from_fields
class InstanceNorm3D(_InstanceNorm):
    """Normalisation of each channel of each volume."""

    data_format: str = "NCDHW"
    _formats: ClassVar[Sequence[str]] = ("NCDHW", "NDHWC")


class LocalResponseNorm(FunctionLayer):
    _inputs = ("input",)
    _shown = "size alpha beta k data_format? name?"

    @options_of(F.local_response_norm)
    def __init__(self) -> None: ...
