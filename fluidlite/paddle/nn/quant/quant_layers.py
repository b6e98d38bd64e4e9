"""Layers that round while they are trained, as paddle 2 had them before ``paddle.quantization``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ....eager.recording import eager
from ....eager.tensor import Tensor
from ....errors import ArgumentError
from ....functions.arithmetic import matmul
from ....ground.docstrings import Family
from ....ground.fields import from_fields
from ....ground.public_names import list_public_names
from ....ground.spellings import Spelling, parameters_of
from ....initializer import Constant
from ....nn import functional as F
from ....nn.layer import Layer, TensorLayer
from ....param_attr import ParamAttr
from ....unique_name import generate

__all__ = [
    "FakeQuantAbsMax", "FakeQuantMovingAverageAbsMax", "FakeQuantChannelWiseAbsMax",
    "QuantizedConv2D", "QuantizedConv2DTranspose", "QuantizedLinear", "MovingAverageAbsMaxScale",
    "MAOutputScaleLayer", "FakeQuantMAOutputScaleLayer", "QuantStub", "QuantizedMatmul",
]  # fmt: skip

#: functions of tensors of all spellings, as those of this one
_OF_TENSORS = Spelling({}, types={"TensorCore": "Tensor"})
_OPTIONS = Family(
    {
        "name": "what the names of its state begin with.",
        "moving_rate": "how much a step of training counts of what the next one does.",
        "quant_bits": "how many bits a number has, one of which is the sign.",
        "dtype": "the element type.",
        "quant_on_weight": "keep the scale, since a weight is rounded.",
        "reduce_type": "accepted: one process sees all numbers.",
        "channel_num": "how many slices there are.",
        "quant_axis": "the dimension of the slices: 0 or 1.",
        "layer": "whose weight and bias it has.",
        "weight_bits": "how many bits the weight has.",
        "activation_bits": "how many bits inputs have.",
        "weight_quantize_type": "abs_max or channel_wise_abs_max.",
        "activation_quantize_type": "abs_max or moving_average_abs_max.",
        "weight_pre_layer": "makes a layer that the weight goes through first.",
        "act_pre_layer": "makes a layer that inputs go through first.",
        "weight_quant_layer": "makes the layer that rounds the weight.",
        "act_quant_layer": "makes the layer that rounds inputs.",
    }
)


def kept(layer: Layer, name: str, said: str | None, dtype: str, value: float, size: int = 1) -> Any:
    """A parameter that is not trained, as a part of a layer.

    Args:
        layer: the layer.
        name: its attribute, with a line before it.
        said: what the parameter's name begins with.
        dtype: the element type.
        value: what it begins with.
        size: how many numbers it has.
    """
    begin = f"{said}.{name}" if said else f"quant_dequant.{name}"
    attr = ParamAttr(name=generate(begin), trainable=False)
    made = layer.create_parameter([size], attr, dtype, default_initializer=Constant(value))
    setattr(layer, f"_{name}", made)
    return made


def moving_scale(layer: Layer, name: str | None, dtype: str, *values: float) -> None:
    """Give a layer a scale, and the sums whose quotient it is.

    Args:
        layer: the layer.
        name: what their names begin with.
        dtype: the element type.
        values: what scale, state and sum begin with.
    """
    for what, value in zip(("scale", "state", "accum"), values or (0.001, 1.0, 1.0)):
        kept(layer, what, name, dtype, value)


def _moved(layer: Any, type: str, input: Tensor, slots: dict[str, Any], **attrs: Any) -> Tensor:
    """What an operator gives, which moves the scale of a layer that is trained."""
    training = layer.training
    slots = {"X": input, **slots}
    attrs["is_test"] = not training
    if training:
        slots |= {"InAccum": layer._accum, "InState": layer._state}
    if input.appends is not None:
        helper = layer._helper
        out = helper.create_variable_for_type_inference(input.dtype)
        outputs = {"Out": out, "OutScale": layer._scale}
        if training:
            outputs |= {"OutState": layer._state, "OutAccum": layer._accum}
        helper.append_op(type, inputs=slots, outputs=outputs, attrs=attrs)
        return out
    outs = getattr(eager, type).all(**slots, **attrs)
    if training:
        layer._scale.replace(outs["OutScale"].array)
        layer._state.replace(outs["OutState"].array)
        layer._accum.replace(outs["OutAccum"].array)
    return outs["Out"]


def rounded_by_moving_scale(layer: Any, input: Tensor, rate: float, bits: int) -> Tensor:
    """The input, rounded by the scale of a layer, which moves in training.

    Args:
        layer: what :func:`moving_scale` was given.
        input: fractions.
        rate: how much a step counts of what the next one does.
        bits: how many bits whole numbers have.
    """
    return _moved(
        layer,
        "fake_quantize_dequantize_moving_average_abs_max",
        input,
        {"InScale": layer._scale},
        moving_rate=rate,
        bit_length=bits,
    )


class _LargestRounding(TensorLayer):
    """Rounding by the largest number of an input."""

    def begin(self, given: dict[str, Any]) -> None:
        TensorLayer.__init__(self)
        self._bits, self._keeps_scale = given["quant_bits"], given["quant_on_weight"]

    def _rounded(self, input: Tensor, type: str, **attrs: Any) -> Tensor:
        outs = getattr(eager, type).all(input, bit_length=self._bits, **attrs)
        if self._keeps_scale and input.appends is None:
            self._scale.replace(outs["OutScale"].array)
        made: Tensor = outs["Out"]
        return made


@_OPTIONS
@from_fields
class FakeQuantAbsMax(_LargestRounding):
    """Rounding to what whole numbers stand for, the largest for the largest input.

    >>> from fluidlite import paddle
    >>> from fluidlite.paddle.nn.quant.quant_layers import FakeQuantAbsMax
    >>> FakeQuantAbsMax()(paddle.to_tensor([127.0, 1.4])).tolist()
    [127.0, 1.0]
    """

    name: str | None = None
    quant_bits: int = 8
    dtype: str = "float32"
    quant_on_weight: bool = False
    reduce_type: str | None = None

    def begin(self, given: dict[str, Any]) -> None:
        super().begin(given)
        if self._keeps_scale:
            kept(self, "scale", given["name"], given["dtype"], 0.001)

    def forward(self, input: Tensor) -> Tensor:
        """The input, rounded."""
        return self._rounded(input, "fake_quantize_dequantize_abs_max")


@_OPTIONS
@from_fields
class FakeQuantChannelWiseAbsMax(_LargestRounding):
    """Rounding of a weight, each slice of which has a scale of its own.

    Raises:
        ArgumentError: it is not on a weight, or the count of slices is not said.
    """

    name: str | None = None
    channel_num: int | None = None
    quant_bits: int = 8
    quant_axis: int = 0
    dtype: str = "float32"
    quant_on_weight: bool = False
    reduce_type: str | None = None

    def begin(self, given: dict[str, Any]) -> None:
        on_weight, count = given["quant_on_weight"], given["channel_num"]
        if not on_weight or count is None:
            raise ArgumentError(
                "expected quant_on_weight=True and channel_num, as only weights have slices; got "
                f"{on_weight} and {count}"
            )
        super().begin(given)
        self._axis = given["quant_axis"]
        kept(self, "scale", given["name"], given["dtype"], 0.0, count)

    def forward(self, input: Tensor) -> Tensor:
        """The weight, rounded."""
        type = "fake_channel_wise_quantize_dequantize_abs_max"
        return self._rounded(input, type, quant_axis=self._axis)


class _MovingRounding(TensorLayer):
    """Rounding whose scale is a moving mean of the largest input."""

    def begin(self, given: dict[str, Any]) -> None:
        TensorLayer.__init__(self)
        self._rate, self._bits = given["moving_rate"], given.get("quant_bits", 8)
        moving_scale(self, given["name"], given["dtype"])

    def forward(self, input: Tensor) -> Tensor:
        """The input, rounded; the scale moves in training."""
        return rounded_by_moving_scale(self, input, self._rate, self._bits)


@_OPTIONS
@from_fields
class FakeQuantMovingAverageAbsMax(_MovingRounding):
    """Rounding whose scale is a moving mean of the largest input."""

    name: str | None = None
    moving_rate: float = 0.9
    quant_bits: int = 8
    dtype: str = "float32"
    reduce_type: str | None = None


@from_fields
class _OfEightBits:
    """The options of a moving mean where there is no choice of bits."""

    name: str | None = None
    moving_rate: float = 0.9
    dtype: str = "float32"
    reduce_type: str | None = None


@_OPTIONS
@from_fields
class MovingAverageAbsMaxScale(_OfEightBits, TensorLayer):
    """The input as it is; a moving mean of its largest number is kept."""

    def begin(self, given: dict[str, Any]) -> None:
        TensorLayer.__init__(self)
        self._rate = given["moving_rate"]
        moving_scale(self, given["name"], given["dtype"], 0.0, 0.0, 0.0)

    def forward(self, input: Tensor) -> Tensor:
        """The input."""
        return _moved(self, "moving_average_abs_max_scale", input, {}, moving_rate=self._rate)


@_OPTIONS
@from_fields
class QuantStub(_OfEightBits, _MovingRounding):
    """A place in a model whose values are rounded."""


@_OPTIONS
class MAOutputScaleLayer(Layer):
    """A layer of whose output a moving mean of the largest number is kept."""

    def __init__(
        self,
        layer: Any = None,
        moving_rate: float = 0.9,
        name: str | None = None,
        dtype: str = "float32",
        reduce_type: str | None = None,
    ) -> None:
        super().__init__()
        self._layer = layer
        said = name or layer.full_name()
        self._ma_output_scale = MovingAverageAbsMaxScale(said, moving_rate, dtype, reduce_type)

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """What the layer gives."""
        out = self._layer(*inputs, **kwargs)
        return out if isinstance(out, (list, tuple, dict)) else self._ma_output_scale(out)


@_OPTIONS
class FakeQuantMAOutputScaleLayer(Layer):
    """A layer whose output is rounded, by a moving mean of its largest number.

    Args:
        args, kwargs: accepted.
    """

    def __init__(
        self,
        layer: Any,
        weight_bits: int = 8,
        activation_bits: int = 8,
        moving_rate: float = 0.9,
        name: str | None = None,
        reduce_type: str | None = None,
        *args: Any,
        **kwargs: Any,
    ) -> None:
        super().__init__()
        self._layer = layer
        said = name or layer.full_name()
        self._fake_quant_output = FakeQuantMovingAverageAbsMax(said, moving_rate, activation_bits)

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """What the layer gives, rounded."""
        out = self._layer(*inputs, **kwargs)
        several = isinstance(out, (list, tuple)) and len(out) > 1
        return out if several else self._fake_quant_output(out)


#: what is rounded -> what it is called in the options of its factories
_SHORT = {"weight": "weight", "activation": "act"}
#: a kind of quantization -> the class of its layer, and the options that it takes
_KINDS: dict[str, tuple[type[TensorLayer], str]] = {
    "abs_max": (FakeQuantAbsMax, "name quant_bits dtype quant_on_weight"),
    "moving_average_abs_max": (FakeQuantMovingAverageAbsMax, "name quant_bits dtype moving_rate"),
    "channel_wise_abs_max": (
        FakeQuantChannelWiseAbsMax,
        "name quant_bits dtype quant_on_weight channel_num quant_axis",
    ),
}


def _made(factory: Callable[[], Any] | None) -> Any:
    """What a factory makes; None without one."""
    return factory() if factory else None


def _rounding(given: Mapping[str, Any], what: str, state: dict[str, Any]) -> Any:
    """The layer that rounds: what the user's factory makes, or one of the kind that is said."""
    factory, kind = given[f"{_SHORT[what]}_quant_layer"], given[f"{what}_quantize_type"]
    if factory:
        return factory()
    if kind not in _KINDS:
        raise ArgumentError(
            f"expected one of {', '.join(_KINDS)} as the kind of quantization, got {kind!r:.60}"
        )
    made, options = _KINDS[kind]
    return made(**{option: state[option] for option in options.split()})


@from_fields
class _OfRoundings(TensorLayer):
    """A layer that says how it rounds."""

    layer: Any
    weight_bits: int = 8
    activation_bits: int = 8
    moving_rate: float = 0.9
    weight_quantize_type: str = "abs_max"
    activation_quantize_type: str = "abs_max"
    weight_pre_layer: Callable[[], Any] | None = None
    act_pre_layer: Callable[[], Any] | None = None
    weight_quant_layer: Callable[[], Any] | None = None
    act_quant_layer: Callable[[], Any] | None = None


class _Rounded(_OfRoundings):
    """A layer whose inputs and weight are rounded while it is trained."""

    _axis = 0  #: of the weight's slices

    def begin(self, given: dict[str, Any]) -> None:
        TensorLayer.__init__(self)
        layer = given["layer"]
        weight = layer.weight
        self.weight: Any = weight
        self.bias: Any = layer.bias
        common = {
            "dtype": np.dtype(weight.array.dtype).name,
            "moving_rate": given["moving_rate"],
            "channel_num": weight.shape[self._axis],
            "quant_axis": self._axis,
        }
        bits = {"weight": given["weight_bits"], "act": given["activation_bits"]}
        of_weight = {"name": weight.name, "quant_bits": bits["weight"], "quant_on_weight": True}
        of_input = {"name": layer.full_name(), "quant_bits": bits["act"], "quant_on_weight": False}
        self._fake_quant_weight: Any = _rounding(given, "weight", common | of_weight)
        self._fake_quant_input: Any = _rounding(given, "activation", common | of_input)
        self._weight_preprocess: Any = _made(given["weight_pre_layer"])
        self._act_preprocess: Any = _made(given["act_pre_layer"])
        self._moves: Any = getattr(layer, "moves", None)

    def _both(self, input: Tensor) -> tuple[Tensor, Any]:
        """The input and the weight, rounded."""
        weight = self.weight
        if self._act_preprocess is not None:
            input = self._act_preprocess(input)
        if self._weight_preprocess is not None:
            weight = self._weight_preprocess(weight)
        return self._fake_quant_input(input), self._fake_quant_weight(weight)


@_OPTIONS
class QuantizedLinear(_Rounded):
    """A linear map whose inputs and weight are rounded while it is trained."""

    _axis = 1

    def forward(self, input: Tensor) -> Tensor:
        """The output."""
        return F.linear(*self._both(input), self.bias)


@_OPTIONS
class QuantizedConv2D(_Rounded):
    """A convolution whose inputs and filters are rounded while it is trained."""

    def forward(self, input: Tensor) -> Tensor:
        """What is convolved."""
        return self._moves(*self._both(input), self.bias)


@_OPTIONS
class QuantizedConv2DTranspose(_Rounded):
    """The adjoint of a convolution, whose inputs and filters are rounded while it is trained."""

    _axis = 1

    def forward(self, input: Tensor, output_size: Any = None) -> Tensor:
        """What comes out, of that size where it is given."""
        return self._moves(*self._both(input), self.bias, output_size=output_size)


@_OPTIONS
@from_fields
class QuantizedMatmul(_OfRoundings):
    """A product of matrices that are rounded while it is trained.

    Args:
        layer: accepted.
    """

    layer: Any = None

    def begin(self, given: dict[str, Any]) -> None:
        TensorLayer.__init__(self)
        state = {
            "name": None,
            "dtype": "float32",
            "moving_rate": given["moving_rate"],
            "quant_bits": given["activation_bits"],
            "quant_on_weight": False,
            "channel_num": None,
            "quant_axis": 0,
        }
        self._fake_quant_x, self._fake_quant_y = (
            _rounding(given, "activation", state) for _ in range(2)
        )
        self._preprocess = [_made(given["act_pre_layer"]) for _ in range(2)]

    @parameters_of(_OF_TENSORS(matmul), method=True)
    def forward(self, x: Tensor, y: Tensor, *options: Any) -> Tensor:
        """The product."""
        x, y = (v if first is None else first(v) for first, v in zip(self._preprocess, (x, y)))
        return matmul(self._fake_quant_x(x), self._fake_quant_y(y), *options)


list_public_names(globals())
