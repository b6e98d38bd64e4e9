"""Elements in few bits, and convolutions that are trained for them, in OneFlow's spelling."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...eager.engine import located
from ...eager.function import PyLayer
from ...errors import ArgumentError
from ...functions.arguments import Integers
from ...ground.docstrings import Family
from ...ground.fields import from_fields
from ...opdef.operand import appends
from ..creation import zeros
from ..kinds import int64
from .conv import CONVOLUTIONS, Conv1d, Conv2d, Conv3d
from .functional import pad
from .module import Module

if TYPE_CHECKING:
    from ..tensor import Tensor

QUANTIZED = Family(
    {
        "quantization_formula": '"google", or "cambricon", whose steps are powers of two.',
        "quantization_bit": "how many bits an element has.",
        "quantization_scheme": '"symmetric", or "affine", whose zero may be any number.',
        "per_layer_quantization": "one step for all elements; else one for each slice along the "
        "first dimension.",
        "momentum": "how much of the running bounds stays.",
    },
    raises="ArgumentError: there is no such formula or scheme.",
)


def need_elements(*operands: Any) -> None:
    """Refuse variables of programs, which have no elements to be observed.

    Args:
        operands: tensors.

    Raises:
        ArgumentError: one is a variable.
    """
    if appends(operands) is not None:
        raise located(ArgumentError, "few bits are observed of tensors, not in programs")


@from_fields
class _Bits(Module):
    """How elements are written in few bits."""

    quantization_formula: str = "google"
    quantization_bit: int = 8
    quantization_scheme: str = "symmetric"

    def begin(self, given: dict[str, Any]) -> None:
        Module.__init__(self)
        formula, scheme = given["quantization_formula"], given["quantization_scheme"]
        if formula not in ("google", "cambricon") or scheme not in ("symmetric", "affine"):
            raise located(
                ArgumentError,
                f"expected the formula 'google' or 'cambricon' and the scheme 'symmetric' or "
                f"'affine', got {formula!r:.60} and {scheme!r:.60}",
            )
        for name, value in given.items():
            setattr(self, name, value)

    def _steps(self, low: Any, high: Any) -> tuple[Any, Any]:
        """The step between numbers, and which number 0 is, for elements within bounds."""
        largest = np.maximum(np.abs(low), np.abs(high))
        with np.errstate(divide="ignore", invalid="ignore"):
            if self.quantization_formula == "cambricon":
                return np.floor(np.log2(largest)) - (self.quantization_bit - 2), largest * 0
            if self.quantization_scheme == "symmetric":
                return largest / (2.0 ** (self.quantization_bit - 1) - 1), largest * 0
            step = (high - low) / (2.0**self.quantization_bit - 1)
            return step, -np.round(low / step)

    def _numbers(self, x: Any, scale: Any, zero: Any) -> tuple[Any, Any, Any]:
        """The numbers that stand for elements, the step, and the number of 0."""
        shape = [-1, *[1] * (x.ndim - 1)] if scale.size > 1 else [1] * x.ndim
        step, nought = scale.reshape(shape), zero.reshape(shape)
        if self.quantization_formula == "cambricon":
            step = 2.0**step
        if self.quantization_formula == "google" and self.quantization_scheme == "affine":
            low, high = 0.0, 2.0**self.quantization_bit - 1
        else:
            high = 2.0 ** (self.quantization_bit - 1) - 1
            low = -high - 1
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.clip(np.round(x / step + nought), low, high), step, nought


@QUANTIZED
@from_fields
class MinMaxObserver(_Bits):
    """The step and the number of 0 that the elements of a tensor need.

    >>> observer = fluid.flow.nn.MinMaxObserver(quantization_scheme="affine")
    >>> [part.tolist() for part in observer(fluid.flow.tensor([-1.0, 254.0]))]
    [[1.0], [1.0]]
    """

    per_layer_quantization: bool = True

    def forward(self, input: Tensor) -> tuple[Tensor, Tensor]:
        """The step, or its exponent for the formula of cambricon, and the number of 0."""
        need_elements(input)
        rows = input.array.reshape(1 if self.per_layer_quantization else len(input.array), -1)
        scale, zero = self._steps(rows.min(1), rows.max(1))
        return input.results(scale.astype(rows.dtype)), input.results(zero.astype(rows.dtype))


@from_fields
class _Stopping(Module):
    """How long bounds follow the input."""

    stop_update_after_iters: int = 1


@QUANTIZED
@from_fields
class MovingAverageMinMaxObserver(_Bits, _Stopping):
    """The step and the number of 0 that the elements of the last tensors need.

    Args:
        stop_update_after_iters: behind so many steps the bounds stay.

    >>> observer = fluid.flow.nn.MovingAverageMinMaxObserver(2, momentum=0.5)
    >>> step = fluid.flow.tensor([0])
    >>> observer(fluid.flow.tensor([0.0, 127.0]), step)[0].tolist()
    [1.0]
    """

    momentum: float = 0.95

    def begin(self, given: dict[str, Any]) -> None:
        super().begin(given)
        self.register_buffer("moving_max", zeros(1))
        self.register_buffer("moving_min", zeros(1))

    def forward(self, input: Tensor, current_train_step: Tensor) -> tuple[Tensor, Tensor]:
        """The step and the number of 0; in training the bounds follow the input.

        Args:
            input: a tensor.
            current_train_step: the number of the step, from 0.
        """
        need_elements(input)
        high, low = self.moving_max, self.moving_min
        step = int(current_train_step.array.reshape(-1)[0])
        if self.training and step <= self.stop_update_after_iters:
            begins = not (high.array.any() or low.array.any())
            stays = 0.0 if begins else self.momentum
            for bound, now in ((high, input.array.max()), (low, input.array.min())):
                bound.set_value(bound.array * stays + now * (1 - stays))
        scale, zero = self._steps(low.array, high.array)
        dtype = input.array.dtype
        return input.results(scale.astype(dtype)), input.results(zero.astype(dtype))


@QUANTIZED
class Quantization(_Bits):
    """The numbers that stand for the elements of a tensor.

    >>> numbers = fluid.flow.nn.Quantization()
    >>> x = fluid.flow.tensor([1.0, -3.0])
    >>> numbers(x, fluid.flow.tensor([0.5]), fluid.flow.zeros(1)).tolist()
    [2.0, -6.0]
    """

    def forward(self, input: Tensor, scale: Tensor, zero_point: Tensor) -> Tensor:
        """The numbers.

        Args:
            input: a tensor.
            scale: the step, or one for each slice.
            zero_point: the number of 0, or one for each slice.
        """
        need_elements(input, scale, zero_point)
        numbers = self._numbers(input.array, scale.array, zero_point.array)[0]
        return input.results(numbers.astype(input.array.dtype))


class FakeQuantization(Quantization):
    """The elements of a tensor as few bits have them; gradients pass as if they were the same.

    >>> rounded = fluid.flow.nn.FakeQuantization()
    >>> rounded(fluid.flow.tensor([1.2]), fluid.flow.tensor([0.5]), fluid.flow.zeros(1)).tolist()
    [1.0]
    """

    def forward(self, input: Tensor, scale: Tensor, zero_point: Tensor) -> Tensor:
        """The elements; arguments as of :class:`Quantization`."""
        need_elements(input, scale, zero_point)
        numbers, step, zero = self._numbers(input.array, scale.array, zero_point.array)
        rounded: Tensor = _Passing.apply(input, ((numbers - zero) * step).astype(input.array.dtype))
        return rounded


class _Passing(PyLayer):
    """Other elements, with the gradients of those that were there."""

    @staticmethod
    def forward(ctx: Any, x: Any, array: Any) -> Any:
        return x.results(array)

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> Any:
        return gradient


class _Trained(Module):
    """Convolutions whose elements and filters are as few bits have them."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Integers,
        stride: Integers = 1,
        padding: Integers | str = 0,
        dilation: Integers = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        quantization_formula: str = "google",
        quantization_bit: int = 8,
        quantization_scheme: str = "symmetric",
        weight_quant_per_layer: bool = True,
        input_quant_momentum: float = 0.95,
    ) -> None:
        how = (stride, padding, dilation, groups, bias, padding_mode)
        super().__init__(in_channels, out_channels, kernel_size, *how)  # type: ignore[call-arg]
        bits = (quantization_formula, quantization_bit, quantization_scheme)
        self.input_min_max_observer = MovingAverageMinMaxObserver(1, *bits, input_quant_momentum)
        self.weight_min_max_observer = MinMaxObserver(*bits, weight_quant_per_layer)
        self.fake_quantizer = FakeQuantization(*bits)
        self.register_buffer("current_train_step", zeros(1, dtype=int64))

    def forward(self, input: Tensor) -> Tensor:
        """The convolved input."""
        own: Any = self
        step = own.current_train_step
        x = own.fake_quantizer(input, *own.input_min_max_observer(input, step))
        weight = own.fake_quantizer(own.weight, *own.weight_min_max_observer(own.weight))
        if own.training:
            step.set_value(step.array + 1)
        if own._around:
            x = pad(x, own._around, own.padding_mode)
        made: Tensor = type(own).function(x, weight, own.bias, **own._moved)
        return made


#: convolutions for few bits
TRAINED = CONVOLUTIONS.extended(
    {
        "quantization_formula": "as of ``MinMaxObserver``.",
        "quantization_bit": "how many bits an element has.",
        "quantization_scheme": "as of ``MinMaxObserver``.",
        "weight_quant_per_layer": "one step for all filters; else one for each.",
        "input_quant_momentum": "how much of the running bounds of the input stays.",
    }
)


@TRAINED
class QatConv1d(_Trained, Conv1d):
    """Sequences convolved with filters, both as few bits have them.

    >>> fluid.flow.nn.QatConv1d(1, 2, 3)(fluid.flow.ones(1, 1, 5)).shape
    oneflow.Size([1, 2, 3])
    """


@TRAINED
class QatConv2d(_Trained, Conv2d):
    """Images convolved with filters, both as few bits have them.

    >>> fluid.flow.nn.QatConv2d(1, 2, 3)(fluid.flow.ones(1, 1, 5, 5)).shape
    oneflow.Size([1, 2, 3, 3])
    """


@TRAINED
class QatConv3d(_Trained, Conv3d):
    """Volumes convolved with filters, both as few bits have them.

    >>> fluid.flow.nn.QatConv3d(1, 2, 3)(fluid.flow.ones(1, 1, 5, 5, 5)).shape
    oneflow.Size([1, 2, 3, 3, 3])
    """
