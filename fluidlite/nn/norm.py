"""Normalisations with a learned scale and shift."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, ClassVar

from ..eager.tensor import Tensor
from ..errors import ShapeError
from ..functions.arguments import Integers
from ..functions.shaping import numbers_in
from ..ground.aliases import Alias
from ..ground.docstrings import Family
from ..ground.fields import from_fields, options_of
from ..initializer import Constant
from ..modules.normalization import BatchNormFields
from ..param_attr import Attr, ParamAttr
from . import functional as F
from .activation import FunctionLayer
from .layer import Layer, Option, TensorLayer, format_of

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
    _epsilon: ClassVar = Option("epsilon")
    _data_format: ClassVar = Option("data_format")

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
        self._weight_attr, self._bias_attr = attr, bias_attr

    def _make_of_channels(self, given: dict[str, Any], count: str, scale: str = "weight") -> None:
        """The same, of as many elements as the argument of that name says."""
        self._channels: int = given.pop(count)
        self._make(given, [self._channels], scale)

    def _statistic(self, name: str | None, channels: int, value: float) -> Any:
        """A running statistic."""
        attr = ParamAttr(name=name, initializer=Constant(value), trainable=False)
        return self.create_parameter([channels], attr)


@from_fields
class _BatchNorm(_Scaled):
    """Normalisation of each channel over a batch; running statistics are used in tests."""

    _ranks: ClassVar[Sequence[int]] = (4,)
    _momentum: ClassVar = Option("momentum")
    _use_global_stats: ClassVar = Option("use_global_stats")
    num_features: int
    momentum: float = 0.9
    epsilon: float = 1e-5
    weight_attr: Attr = None
    bias_attr: Attr = None
    data_format: str = "NCHW"
    use_global_stats: bool | None = None
    name: str | None = None

    @property
    def _num_features(self) -> int:
        return self._mean.shape[0]

    def begin(self, given: dict[str, Any]) -> None:
        channels = given.pop("num_features")
        self._make(given, [channels])
        for what, value in (("mean", 0.0), ("variance", 1.0)):
            name = None if self._said_name is None else f"{self._said_name}_{what}"
            setattr(self, f"_{what}", self._statistic(name, channels, value))

    def forward(self, input: Tensor) -> Tensor:
        """The normalised input."""
        if len(input.shape) not in self._ranks:
            ranks = " or ".join(map(str, self._ranks))
            raise ShapeError(f"expected input of {ranks} dimensions, got {list(input.shape)}")
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

    >>> fluid.nn.BatchNorm1D(2)(fluid.ones([3, 2])).shape
    [3, 2]
    """

    _ranks: ClassVar[Sequence[int]] = (2, 3)
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
    """Normalisation of each channel of volumes over a batch; in tests by running statistics.

    >>> fluid.nn.BatchNorm3D(2)(fluid.ones([3, 2, 4, 4, 4])).shape
    [3, 2, 4, 4, 4]
    """

    _ranks: ClassVar[Sequence[int]] = (5,)
    data_format: str = "NCDHW"
    _formats: ClassVar[Sequence[str]] = ("NCDHW", "NDHWC")


@NORMS
class SyncBatchNorm(_BatchNorm):
    """Normalisation of each channel over the batches of all processes.  There is one process: it is
    a :class:`BatchNorm2D`, of inputs of any rank.

    >>> fluid.nn.SyncBatchNorm(3)(fluid.randn([4, 3, 2])).shape
    [4, 3, 2]
    """

    _ranks = (2, 3, 4, 5)
    _formats = ("NCHW", "NHWC", "NCL", "NLC", "NC", "NCDHW", "NDHWC")

    def __init__(
        self,
        num_features: int,
        momentum: float = 0.9,
        epsilon: float = 1e-5,
        weight_attr: Attr = None,
        bias_attr: Attr = None,
        data_format: str = "NCHW",
        name: str | None = None,
    ) -> None:
        super().__init__(
            num_features, momentum, epsilon, weight_attr, bias_attr, data_format, None, name
        )

    @classmethod
    def convert_sync_batchnorm(cls, layer: Layer) -> Layer:
        """The layer, with those of its normalisations over batches made such ones.

        Args:
            layer: any layer; what lies within is replaced there.

        >>> net = fluid.nn.Sequential(fluid.nn.Linear(2, 3), fluid.nn.BatchNorm1D(3))
        >>> fluid.nn.SyncBatchNorm.convert_sync_batchnorm(net)[1]
        SyncBatchNorm(num_features=3, momentum=0.9, epsilon=1e-05, data_format=NCL)
        """
        for name, inner in layer.own_sublayers.items():
            layer.own_sublayers[name] = cls.convert_sync_batchnorm(inner)
        if not isinstance(layer, _BatchNorm) or isinstance(layer, cls):
            return layer
        options = {name: layer._options[name] for name in ("momentum", "epsilon", "data_format")}
        made: Any = cls(layer._mean.shape[0], **options)
        made._said_name, made.training = layer._said_name, layer.training
        made.own_parameters.update(layer.own_parameters)
        return made


@from_fields
class BatchNorm(BatchNormFields, _Scaled):
    """Normalisation of each channel over a batch, by an activation; running statistics are used in
    tests.

    Args:
        num_channels: the number of channels.
        act: the activation: the name of a function; none when None.
        is_test: accepted; ``eval()`` says it.
        momentum: the share of the old running statistics in the new ones.
        epsilon: keeps the square root away from 0.
        param_attr: of the scale, which starts at 1; False for none.
        bias_attr: of the shift; False for none.
        dtype: the element type of the parameters.
        data_layout: ends in C where the channels come last.
        in_place: accepted.
        moving_mean_name, moving_variance_name: names of the running statistics.
        do_model_average_for_mean_and_var: accepted.
        use_global_stats: use the running statistics.
        trainable_statistics: use those of the batch in tests, too.

    >>> norm = fluid.nn.BatchNorm(2, act="relu")
    >>> norm(fluid.to_tensor([[1.0, 2.0], [3.0, 4.0]])).numpy().round(2).tolist()
    [[0.0, 0.0], [1.0, 1.0]]
    """

    _momentum: ClassVar = Option("momentum")
    _use_global_stats: ClassVar = Option("use_global_stats")
    _data_layout: ClassVar = Option("data_format")

    def begin(self, given: dict[str, Any]) -> None:
        TensorLayer.__init__(self, dtype=given["dtype"])
        channels, first = [given["num_channels"]], Constant(1.0)
        attr = given["param_attr"]
        self.weight = self.create_parameter(channels, attr, default_initializer=first)
        self.bias: Any = self.create_parameter(channels, given["bias_attr"], is_bias=True)
        for what, value in (("mean", 0.0), ("variance", 1.0)):
            name = given[f"moving_{what}_name"]
            setattr(self, f"_{what}", self._statistic(name, channels[0], value))
        self._act: Any = given["act"] and getattr(F, given["act"])
        self._always = given["trainable_statistics"]
        self._options = {
            "momentum": given["momentum"],
            "epsilon": given["epsilon"],
            "data_format": given["data_layout"],
            "use_global_stats": given["use_global_stats"],
        }

    def forward(self, input: Tensor) -> Tensor:
        """The normalised input."""
        training = (self.training or self._always) and not self._options["use_global_stats"]
        statistics = (self._mean, self._variance, self.weight, self.bias)
        out = F.batch_norm(input, *statistics, training, **self._options)
        return self._act(out) if self._act else out


@NORMS
@from_fields
class LayerNorm(_Scaled):
    """Normalisation of each sample over its last dimensions.

    Args:
        normalized_shape: their sizes: a number or a list.

    >>> fluid.nn.LayerNorm(2)(fluid.to_tensor([[1.0, 3.0]])).numpy().round(2)
    array([[-1.,  1.]], dtype=float32)
    """

    _normalized_shape: ClassVar[Any] = Alias("_sizes")
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

    >>> fluid.nn.GroupNorm(1, 2)(fluid.to_tensor([[1.0, 3.0]])).numpy().round(4)
    array([[-1.,  1.]], dtype=float32)
    """

    _num_groups: ClassVar = Option("num_groups")
    _num_channels: ClassVar[Any] = Alias("_channels")
    num_groups: int
    num_channels: int
    epsilon: float = 1e-5
    weight_attr: Attr = None
    bias_attr: Attr = None
    data_format: str = "NCHW"
    name: str | None = None

    def begin(self, given: dict[str, Any]) -> None:
        self._make_of_channels(given, "num_channels")

    def forward(self, input: Tensor) -> Tensor:
        """The normalised input."""
        return F.group_norm(input, weight=self.weight, bias=self.bias, **self._options)

    def extra_repr(self) -> str:
        groups, epsilon = self._options["num_groups"], self._options["epsilon"]
        return f"num_groups={groups}, num_channels={self._channels}, epsilon={epsilon}"


@from_fields
class _InstanceNorm(_Scaled):
    """What the normalisations of single samples have in common."""

    _epsilon: ClassVar = Option("eps")
    _num_features: ClassVar[Any] = Alias("_channels")
    num_features: int
    epsilon: float = 1e-5
    momentum: float = 0.9
    weight_attr: Attr = None
    bias_attr: Attr = None
    data_format: str = "NCHW"
    name: str | None = None

    def begin(self, given: dict[str, Any]) -> None:
        self._make_of_channels(given, "num_features", "scale")
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
    """Normalisation of each channel of each sequence.

    >>> fluid.nn.InstanceNorm1D(1)(fluid.to_tensor([[[1.0, 3.0]]])).numpy().round(4)
    array([[[-1.,  1.]]], dtype=float32)
    """

    data_format: str = "NCL"
    _formats: ClassVar[Sequence[str]] = ("NCL", "NLC")


@INSTANCES
class InstanceNorm2D(_InstanceNorm):
    """Normalisation of each channel of each image.

    >>> fluid.nn.InstanceNorm2D(2)(fluid.ones([3, 2, 4, 4])).shape
    [3, 2, 4, 4]
    """


@INSTANCES
@from_fields
class InstanceNorm3D(_InstanceNorm):
    """Normalisation of each channel of each volume.

    >>> fluid.nn.InstanceNorm3D(2)(fluid.ones([3, 2, 4, 4, 4])).shape
    [3, 2, 4, 4, 4]
    """

    data_format: str = "NCDHW"
    _formats: ClassVar[Sequence[str]] = ("NCDHW", "NDHWC")


class LocalResponseNorm(FunctionLayer):
    _inputs = ("input",)
    _shown = "size alpha beta k data_format? name?"

    @options_of(F.local_response_norm)
    def __init__(self) -> None: ...
