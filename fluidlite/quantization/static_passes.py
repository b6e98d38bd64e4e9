"""Passes over graphs, as ``paddle.static.quantization`` of paddle 2.6 has them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from ..errors import UnsupportedError
from ..ir.program import Program
from ..scope import Scope
from . import linear, passes
from .editions import PADDLE_2_6
from .passes import GraphPass, needed, plain_rounding
from .rounding import ABS_MAX


class QuantizationTransformPass(passes.QuantizationTransformPass):
    """Products of a weight read rounded numbers, whose scales stay in the scope.

    Arguments are those of ``fluid.contrib.slim.quantization.QuantizationTransformPass``.
    """

    edition = PADDLE_2_6


class QuantizationTransformPassV2(QuantizationTransformPass):
    """Products of a weight read numbers that ``quantize_linear`` and ``dequantize_linear`` round.

    Arguments are those of ``QuantizationTransformPass``; scales of activations are moving averages,
    whatever their type.
    """

    def change(self, program: Program, is_test: bool) -> None:
        """Change a program."""
        told = {**self._told, **self._bits, "weight": self._ways["weight"]}
        linear.round_inputs(program, self._scope, is_test, with_weights=True, **told)


class AddQuantDequantPass(passes.RoundedOthers):
    """Operators without weights read rounded numbers.

    Args:
        scope: gets the first scales.
        place: not read.
        moving_rate: of moving averages.
        quant_bits: of whole numbers.
        skip_pattern: a part of the names of scopes whose operators stay, or several.
        quantizable_op_type: the types of operators.
        is_test: whether scales stay as they are; the graph knows when None.
        scale_dict: the first scales of variables.

    Raises:
        ArgumentError: a type is unknown.
    """

    edition = PADDLE_2_6

    def __init__(
        self,
        scope: Scope | None = None,
        place: Any = None,
        moving_rate: float = 0.9,
        quant_bits: int = 8,
        skip_pattern: str | Sequence[str] = ("skip_quant",),
        quantizable_op_type: Sequence[str] = ("elementwise_add", "pool2d"),
        is_test: bool | None = None,
        scale_dict: Mapping[str, float] | None = None,
    ) -> None:
        told = (scope, quantizable_op_type, quant_bits, moving_rate, skip_pattern)
        super().__init__(*told, is_test, scale_dict)


class AddQuantDequantPassV2(AddQuantDequantPass):
    """What a run computes for operators is rounded by ``quantize_linear`` and
    ``dequantize_linear``, also where another input is a parameter.

    Arguments are those of ``AddQuantDequantPass``.
    """

    def change(self, program: Program, is_test: bool) -> None:
        """Change a program."""
        told: dict[str, Any] = {**self._options, "activation_bits": self._bits}
        types = self._types
        linear.round_inputs(program, self._scope, is_test, types, with_weights=False, **told)


class AddQuantDequantForInferencePass(GraphPass):
    """Results pass through ``quantize_linear`` and ``dequantize_linear``, which have their scales.

    Args:
        scope: has the scales.
        place: not read.
        quant_bits: of whole numbers.
        quantizable_op_type: the types of operators; all when there are none.
        calibration_range_dict: scales of variables that have none in the scope.
        only_observer: whether numbers stay as they are.

    Raises:
        ArgumentError: there is no scope.
    """

    edition = PADDLE_2_6

    def __init__(
        self,
        scope: Scope,
        place: Any,
        quant_bits: int = 8,
        quantizable_op_type: Sequence[str] = (),
        calibration_range_dict: Mapping[str, Any] | None = None,
        only_observer: bool = True,
    ) -> None:
        self._told = (needed(scope), quant_bits, [*quantizable_op_type])
        self._scales, self._only = calibration_range_dict, only_observer

    def change(self, program: Program, is_test: bool) -> None:
        """Change a program."""
        linear.observe_results(program, *self._told, self._scales, self._only)


class AddQuantDequantForResidual(GraphPass):
    """Sums of two computed values read one of them rounded: that which goes around layers.

    Args:
        scope: gets the first scales.
        place: not read.
        quant_bits: of whole numbers.
        is_test: whether scales stay as they are; the graph knows when None.
    """

    edition = PADDLE_2_6

    def __init__(
        self,
        scope: Scope | None = None,
        place: Any = None,
        quant_bits: int = 8,
        is_test: bool | None = True,
    ) -> None:
        self._scope, self._bits, self._is_test = scope, quant_bits, is_test

    def change(self, program: Program, is_test: bool) -> None:
        """Change a program."""
        linear.round_residuals(program, self._scope, is_test, self._bits)


class ReplaceFakeQuantDequantPass(GraphPass):
    """Roundings of one operator become ``quantize_linear`` and ``dequantize_linear``.

    Args:
        scope: gets zero points.
        place: not read.
        quant_bits: of whole numbers.

    Raises:
        ArgumentError: there is no scope.
    """

    edition = PADDLE_2_6

    def __init__(self, scope: Scope, place: Any, quant_bits: int = 8) -> None:
        self._scope, self._bits = needed(scope), quant_bits

    def change(self, program: Program, is_test: bool) -> None:
        """Change a program."""
        linear.replace_single(program, self._scope, self._bits)


class QuantWeightPass(GraphPass):
    """Weights become whole numbers that ``dequantize_linear`` reads.

    Args:
        scope: has weights and scales.
        place: not read.
        bias_correction: whether what they stand for shall have the mean and the spread of weights.
        quant_bits: of whole numbers.
        save_int_weight: whether they are stored in 8 bits; if not, they stay fractions.

    Raises:
        ArgumentError: there is no scope.
    """

    edition = PADDLE_2_6

    def __init__(
        self,
        scope: Scope,
        place: Any,
        bias_correction: bool = False,
        quant_bits: int = 8,
        save_int_weight: bool = True,
    ) -> None:
        self._told = (needed(scope), quant_bits, save_int_weight, bias_correction)

    def change(self, program: Program, is_test: bool) -> None:
        """Change a program, and the weights in the scope."""
        linear.store_weights(program, *self._told)


class QuantizationFreezePass(passes.QuantizationFreezePass):
    """Weights become whole numbers, and what products of them give is turned back.

    Args:
        scope: has weights and scales.
        place: not read.
        bias_correction: whether what they stand for shall have the mean and the spread of weights.
        weight_bits, activation_bits: of whole numbers.
        round_type: ``round``.
        weight_quantize_type: how scales of weights were found.
        quantizable_op_type: not read.

    Raises:
        ArgumentError: there is no scope.
        UnsupportedError: ``round_type`` is ``adaround``.
    """

    edition = PADDLE_2_6

    def __init__(
        self,
        scope: Scope,
        place: Any,
        bias_correction: bool = False,
        weight_bits: int = 8,
        activation_bits: int = 8,
        round_type: str = "round",
        weight_quantize_type: str = ABS_MAX,
        quantizable_op_type: Sequence[str] | None = None,
    ) -> None:
        plain_rounding(round_type)
        super().__init__(scope, place, weight_bits, activation_bits, weight_quantize_type)
        self._options["correct"] = bias_correction


class ConvertToInt8Pass(passes.ConvertToInt8Pass):
    """Weights of a frozen graph become variables of 8 bits.

    Arguments are those of ``fluid.contrib.slim.quantization.ConvertToInt8Pass``.
    """

    edition = PADDLE_2_6


class OutScaleForTrainingPass(passes.OutScaleForTrainingPass):
    """Each result without a scale gets a moving average of its largest number.

    Arguments are those of ``fluid.contrib.slim.quantization.OutScaleForTrainingPass``.
    """

    edition = PADDLE_2_6


class OutScaleForInferencePass(passes.OutScaleForInferencePass):
    """Operators get the scales of their results as attributes.

    Arguments are those of ``fluid.contrib.slim.quantization.OutScaleForInferencePass``.
    """

    edition = PADDLE_2_6


class _OneDnn:
    """A pass that writes programs of oneDNN's operators, without kernels."""

    def __init__(self, *args: Any, **options: Any) -> NoReturn:
        raise UnsupportedError(
            f"{type(self).__name__} writes operators of oneDNN with 8 bits, for which there are no "
            "kernels here: run the program that QuantizationFreezePass or QuantWeightPass gives"
        )


class QuantInt8MkldnnPass(_OneDnn):
    """Refused: it writes operators of oneDNN, for which there are no kernels."""


class Quant2Int8MkldnnPass(_OneDnn):
    """Refused: it writes operators of oneDNN, for which there are no kernels."""
