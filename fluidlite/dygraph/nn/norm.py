"""Normalisations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any, ClassVar

from ...errors import ArgumentError, ShapeError
from ...functions.arguments import DTypeLike
from ...ground.dtypes import DType
from ...ground.fields import from_fields
from ...initializer import Constant, Normal
from ...ir.variable import Variable
from ...layers.layer import LayerBuilder, layer, stopped
from ...layers.norm import (
    NORMS,
    instance_norm,
    layer_norm,
    need_parameters,
    need_where_asked,
    running_attrs,
)
from ...layers.operator_layers import operator_layer
from ...modules.normalization import BatchNormFields
from ...param_attr import Attr
from ..layer import PARAMETERS, Layer

_NORMS = NORMS.extended({**PARAMETERS.args, "bias_attr": NORMS.args["bias_attr"]}, returns="")


@layer("normalized", act=True)
def _normalized(
    f: LayerBuilder,
    type: str,
    input: Variable,
    parameters: dict[str, Any],
    saved: Sequence[str],
    attrs: dict[str, Any],
    act: str | None = None,
    name: str | None = None,
) -> Variable:
    """What a normalisation gives; ``saved`` are the slots of its statistics."""
    outs = {slot: stopped(f.new_variable()) for slot in saved}
    outs["Y"] = f.new_variable()
    outs.update({f"{s}Out": parameters[s] for s in ("Mean", "Variance") if s in parameters})
    given = {slot: parameter for slot, parameter in parameters.items() if parameter is not None}
    f.into(type, {"X": input, **given}, outs, **attrs)
    return outs["Y"]


_spectral_norm: Callable[..., Variable] = operator_layer(
    "_spectral_norm(weight, u, v, dim, power_iters, eps, name) -> spectral_norm",
    stem="spectral_norm",
)


#: arguments of a batch norm that its operator has, too
_SHARED = ("momentum", "epsilon", "data_layout", "use_global_stats", "trainable_statistics")


@_NORMS
@from_fields
class BatchNorm(BatchNormFields, Layer):
    """``scale * (input - mean) / sqrt(variance + epsilon) + bias``, for each channel.

    While it trains, mean and variance are those of the batch, and running ones are kept; when it is
    tested it takes these.  Ioffe and Szegedy, Batch normalization, ICML 2015.

    Args:
        num_channels: of the input, [N, C, ...].
        is_test: of a layer of a program: take the running values always.  For eager layers call
            ``eval()``.
        param_attr: of the scale, ``weight``, which starts at 1.
        in_place: accepted for old scripts.
        use_global_stats: take the running values in training, too.
        trainable_statistics: take the values of the batch in tests, too.

    Raises:
        ArgumentError: ``param_attr`` or ``bias_attr`` is False.

    >>> with fluid.dygraph.guard():
    ...     norm = fluid.dygraph.BatchNorm(3)
    ...     y = norm(fluid.dygraph.to_variable(np.random.rand(4, 3, 2, 2).astype("float32")))
    >>> y.shape, [name for name, _ in norm.named_parameters()]
    ([4, 3, 2, 2], ['weight', 'bias', '_mean', '_variance'])
    """

    _fuse_with_relu: ClassVar[bool] = False  # a hint of fluid 1.8's

    def begin(self, given: dict[str, Any]) -> None:
        """Make the parameters and the running statistics."""
        self.begin_with(given)
        size, attr, bias_attr = [self._num_channels], self._param_attr, self._bias_attr
        need_parameters("BatchNorm", attr, bias_attr)
        if self._element_type is DType.FP16:
            self._element_type = DType.FP32
        self.weight: Any = self.create_parameter(size, attr, default_initializer=Constant(1.0))
        self.bias: Any = self.create_parameter(size, bias_attr, is_bias=True)
        names = self._moving_mean_name, self._moving_variance_name
        running = running_attrs(*names, self._do_model_average_for_mean_and_var)
        for place, each in zip(("_mean", "_variance"), running):
            made = self.create_parameter(size, each)
            made.stop_gradient = True
            setattr(self, place, made)

    def forward(self, input: Variable) -> Variable:
        """The normalised input."""
        attrs = {name: getattr(self, f"_{name}") for name in _SHARED}
        tested = not self.training and not attrs["trainable_statistics"]
        attrs["is_test"] = tested or (self._is_test and isinstance(input, Variable))
        parameters = {
            "Scale": self.weight,
            "Bias": self.bias,
            "Mean": self._mean,
            "Variance": self._variance,
        }
        saved = ("SavedMean", "SavedVariance")
        given = "batch_norm", input, parameters, saved, attrs
        return _normalized(*given, act=self._act, name=self._full_name)

    def extra_repr(self) -> str:
        return f"{self.weight.shape[0]}"


@_NORMS
@from_fields
class LayerNorm(Layer):
    """``(input - mean) / sqrt(variance + epsilon)`` for each row, times a scale, plus a bias.

    Ba et al., Layer normalization, 2016.

    Args:
        normalized_shape: sizes of a row: of the last dimensions of the input; or one number.
        scale: whether there is a scale, ``weight``.
        shift: whether there is a bias.

    >>> with fluid.dygraph.guard():
    ...     norm = fluid.dygraph.LayerNorm([3, 4])
    ...     norm(fluid.dygraph.to_variable(np.ones([2, 3, 4], "float32"))).shape
    [2, 3, 4]
    """

    normalized_shape: int | Sequence[int]
    scale: bool = True
    shift: bool = True
    epsilon: float = 1e-05
    param_attr: Attr = None
    bias_attr: Attr = None
    act: str | None = None
    dtype: DTypeLike = "float32"

    def begin(self, given: dict[str, Any]) -> None:
        """Make the parameters."""
        row, attr, bias_attr = (given[n] for n in ("normalized_shape", "param_attr", "bias_attr"))
        row = [int(n) for n in ([row] if isinstance(row, int) else row)]
        self.begin_with({**given, "normalized_shape": row})
        size = [prod(row)]
        need_where_asked(self._scale, attr, self._shift, bias_attr)
        self.weight: Any | None = None
        self.bias: Any | None = None
        if self._scale:
            self.weight = self.create_parameter(size, attr, default_initializer=Constant(1.0))
        if self._shift:
            self.bias = self.create_parameter(size, bias_attr, is_bias=True)

    def forward(self, input: Variable) -> Variable:
        """The normalised input.

        Raises:
            ShapeError: its last dimensions are not those of a row.
        """
        row = list(self._normalized_shape)
        begin = input.ndim - len(row)
        if begin < 0 or list(input.shape[begin:]) != row:
            raise ShapeError(
                f"{self._full_name}: expected an input whose last sizes are {row}, got shape "
                f"{list(input.shape)}"
            )
        return layer_norm(
            input,
            scale=self.weight is not None,
            shift=self.bias is not None,
            begin_norm_axis=begin,
            epsilon=self._epsilon,
            param_attr=self.weight,
            bias_attr=self.bias,
            act=self._act,
            name=self._full_name,
        )

    def extra_repr(self) -> str:
        return f"{self._normalized_shape}"


@_NORMS
@from_fields
class GroupNorm(Layer):
    """``(input - mean) / sqrt(variance + epsilon)`` for each group of channels of each sample.

    Wu and He, Group normalization, ECCV 2018.  As in fluid 1.8 there is a scale or a bias only
    where its attribute is given.

    Args:
        channels: of the input, [N, C, ...].
        groups: how many groups they are cut into.
        param_attr: of the scale, which starts at 1; None for none.
        bias_attr: of the bias, which starts at 0; None for none.
        data_layout: NCHW or NHWC.

    >>> with fluid.dygraph.guard():
    ...     norm = fluid.dygraph.GroupNorm(6, groups=2, param_attr=True, bias_attr=True)
    ...     norm(fluid.dygraph.to_variable(np.ones([2, 6, 4], "float32"))).shape
    [2, 6, 4]
    """

    channels: int
    groups: int
    epsilon: float = 1e-05
    param_attr: Attr = None
    bias_attr: Attr = None
    act: str | None = None
    data_layout: str = "NCHW"
    dtype: DTypeLike = "float32"

    def begin(self, given: dict[str, Any]) -> None:
        """Make the parameters."""
        self.begin_with(given)
        size, attr, bias_attr = [self._channels], self._param_attr, self._bias_attr
        self.weight: Any | None = None
        self.bias: Any | None = None
        if attr is not None:
            self.weight = self.create_parameter(size, attr, default_initializer=Constant(1.0))
        if bias_attr is not None:
            self.bias = self.create_parameter(size, bias_attr, is_bias=True)

    def forward(self, input: Variable) -> Variable:
        """The normalised input."""
        parameters = {"Scale": self.weight, "Bias": self.bias}
        attrs = {name: getattr(self, f"_{name}") for name in ("groups", "epsilon", "data_layout")}
        given = "group_norm", input, parameters, ("Mean", "Variance"), attrs
        return _normalized(*given, act=self._act, name=self._full_name)


@_NORMS
@from_fields
class InstanceNorm(Layer):
    """``scale * (input - mean) / sqrt(variance + epsilon) + bias``, for each image of a channel.

    Ulyanov et al., Instance normalization, 2016.

    Args:
        num_channels: of the input, [N, C, ...].

    Raises:
        ArgumentError: ``param_attr`` or ``bias_attr`` is False.

    >>> with fluid.dygraph.guard():
    ...     norm = fluid.dygraph.InstanceNorm(3)
    ...     norm(fluid.dygraph.to_variable(np.ones([2, 3, 4, 4], "float32"))).shape
    [2, 3, 4, 4]
    """

    num_channels: int
    epsilon: float = 1e-05
    param_attr: Attr = None
    bias_attr: Attr = None
    dtype: DTypeLike = "float32"

    def begin(self, given: dict[str, Any]) -> None:
        """Make the parameters."""
        self.begin_with(given)
        size, attr, bias_attr = [self._num_channels], self._param_attr, self._bias_attr
        need_parameters("InstanceNorm", attr, bias_attr)
        self.scale: Any = self.create_parameter(size, attr, default_initializer=Constant(1.0))
        self.bias: Any = self.create_parameter(size, bias_attr, is_bias=True)

    def forward(self, input: Variable) -> Variable:
        """The normalised input."""
        return instance_norm(
            input,
            epsilon=self._epsilon,
            param_attr=self.scale,
            bias_attr=self.bias,
            name=self._full_name,
        )


def singular_vectors(layer: Layer, shape: Sequence[int], dim: int) -> None:
    """Give a layer what finds the largest singular value of a weight: ``weight_u``, ``weight_v``.

    Args:
        layer: the layer.
        shape: of the weight.
        dim: the dimension that numbers the rows of the matrix that the weight is taken for.
    """
    rows = shape[dim]
    for name, size in (("weight_u", rows), ("weight_v", prod(shape) // rows)):
        vector = layer.create_parameter([size], default_initializer=Normal(0.0, 1.0))
        vector.stop_gradient = True
        layer.add_parameter(name, vector)


@_NORMS
@from_fields
class SpectralNorm(Layer):
    """A weight over its largest singular value, found by power iteration.

    Miyato et al., Spectral normalization for generative adversarial networks, ICLR 2018.

    Args:
        weight_shape: of the weight.
        dim: the dimension that numbers the rows of the matrix that the weight is taken for.
        power_iters: how often the singular vectors are improved in every call.
        eps: added to norms that are divided by.
        dtype: element type of the singular vectors.

    Raises:
        ArgumentError: there is no such dimension.

    >>> with fluid.dygraph.guard():
    ...     norm = fluid.dygraph.SpectralNorm([4, 3], power_iters=2)
    ...     norm(fluid.dygraph.to_variable(np.ones([4, 3], "float32"))).shape
    [4, 3]
    """

    weight_shape: Sequence[int]
    dim: int = 0
    power_iters: int = 1
    eps: float = 1e-12
    dtype: DTypeLike = "float32"

    def begin(self, given: dict[str, Any]) -> None:
        """Make the singular vectors."""
        self.begin_with(given)
        shape, dim = self._weight_shape, self._dim
        if not 0 <= dim < len(shape):
            raise ArgumentError(f"expected dim in [0, {len(shape)}), got {dim}")
        singular_vectors(self, shape, dim)

    def forward(self, weight: Variable) -> Variable:
        """The weight over its largest singular value."""
        attrs = self._dim, self._power_iters, self._eps
        return _spectral_norm(weight, self.weight_u, self.weight_v, *attrs, self._full_name)
