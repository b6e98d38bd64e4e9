"""Normalisations with a learned scale and shift."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from ..eager.tensor import Tensor
from ..functions.arguments import Integers
from ..functions.shaping import numbers_in
from ..ground.docstrings import Family
from ..ground.fields import from_fields, options_of
from ..initializer import Constant
from ..param_attr import Attr
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

    _formats: ClassVar[Sequence[str]] = ("NCHW", "NHWC")

    def _make(self, given: dict[str, Any], shape: list[int]) -> None:
        """Make the scale and the shift.

        Args:
            given: the arguments by name.
            shape: of both.
        """
        TensorLayer.__init__(self, given.pop("name"))
        if "data_format" in given:
            given["data_format"] = format_of(given["data_format"], self._formats)
        attr, bias_attr = given.pop("weight_attr"), given.pop("bias_attr")
        self.weight: Any = self.create_parameter(shape, attr, default_initializer=Constant(1.0))
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
    data_format: str | None = None
    use_global_stats: bool | None = None
    name: str | None = None

    def begin(self, given: dict[str, Any]) -> None:
        channels = given.pop("num_features")
        self._make(given, [channels])
        for what, value in (("mean", 0.0), ("variance", 1.0)):
            kept = Tensor(np.full([channels], value, self._dtype.dtype))
            kept.name, kept.persistable = f"{self.full_name()}.{what}", True
            self.register_buffer(f"_{what}", kept)

    def forward(self, x: Tensor) -> Tensor:
        """The normalised input."""
        training = self.training and not self._options["use_global_stats"]
        return F.batch_norm(
            x, self._mean, self._variance, self.weight, self.bias, training, **self._options
        )

    def extra_repr(self) -> str:
        return f"num_features={self._mean.shape[0]}"


@NORMS
class BatchNorm1D(_BatchNorm):
    """Normalisation of each channel of [N, C] or [N, C, L] over a batch; in tests by running
    statistics.

    Args:
        data_format: NC or NCL, or NLC.
    """

    _formats = ("NCL", "NC", "NLC")


@NORMS
class BatchNorm2D(_BatchNorm):
    """Normalisation of each channel of images over a batch; running statistics are used in tests.

    >>> norm = fluid.nn.BatchNorm2D(3)
    >>> x = fluid.randn([8, 3, 4, 4])
    >>> abs(float(norm(x).mean())) < 1e-5, norm._mean.shape
    (True, [3])
    """


@NORMS
class BatchNorm3D(_BatchNorm):
    """Normalisation of each channel of volumes over a batch; in tests by running statistics."""

    _formats = ("NCDHW", "NDHWC")


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
        self._make(given, self._sizes)

    def forward(self, x: Tensor) -> Tensor:
        """The normalised input."""
        return F.layer_norm(x, self._sizes, self.weight, self.bias, **self._options)

    def extra_repr(self) -> str:
        return f"{self._sizes}"


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
        self._make(given, [given.pop("num_channels")])

    def forward(self, x: Tensor) -> Tensor:
        """The normalised input."""
        return F.group_norm(x, weight=self.weight, bias=self.bias, **self._options)


@from_fields
class _InstanceNorm(_Scaled):
    """What the normalisations of single samples have in common."""

    num_features: int
    epsilon: float = 1e-5
    momentum: float = 0.9
    weight_attr: Attr = None
    bias_attr: Attr = None
    data_format: str | None = None
    name: str | None = None

    def begin(self, given: dict[str, Any]) -> None:
        self._make(given, [given.pop("num_features")])
        del given["momentum"]
        given["eps"] = given.pop("epsilon")

    def forward(self, x: Tensor) -> Tensor:
        """The normalised input."""
        return F.instance_norm(x, weight=self.weight, bias=self.bias, **self._options)


INSTANCES = NORMS.extended(
    {"momentum": "accepted; there are no running statistics, as in paddle 2."}
)


@INSTANCES
class InstanceNorm1D(_InstanceNorm):
    """Normalisation of each channel of each sequence."""

    _formats = ("NCL", "NLC")


@INSTANCES
class InstanceNorm2D(_InstanceNorm):
    """Normalisation of each channel of each image."""


@INSTANCES
class InstanceNorm3D(_InstanceNorm):
    """Normalisation of each channel of each volume."""

    _formats = ("NCDHW", "NDHWC")


class LocalResponseNorm(FunctionLayer):
    @options_of(F.local_response_norm)
    def __init__(self) -> None: ...
