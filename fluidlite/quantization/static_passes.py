"""Passes over graphs, as ``paddle.static.quantization`` of paddle 2.6 has them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from ..errors import UnsupportedError
from ..ground.fields import from_fields
from ..ir.program import Program
from ..scope import Scope
from . import linear, passes
from .editions import PADDLE_2_6
from .passes import FINAL_PASSES, PASSES, GraphPass, needed, plain_rounding
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


@PASSES
@from_fields
class AddQuantDequantPass(passes.RoundedOthers):
    """Operators without weights read rounded numbers."""

    edition = PADDLE_2_6

    is_test: bool | None = None
    scale_dict: Mapping[str, float] | None = None


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


@FINAL_PASSES
@from_fields
class AddQuantDequantForInferencePass(GraphPass):
    """Results pass through ``quantize_linear`` and ``dequantize_linear``, which have their scales.

    Args:
        quantizable_op_type: the types of operators; all when there are none.
        calibration_range_dict: scales of variables that have none in the scope.
        only_observer: whether numbers stay as they are.
    """

    edition = PADDLE_2_6

    scope: Scope
    place: Any
    quant_bits: int = 8
    quantizable_op_type: Sequence[str] = ()
    calibration_range_dict: Mapping[str, Any] | None = None
    only_observer: bool = True

    def begin(self, given: dict[str, Any]) -> None:
        scope, _, bits, types, self._scales, self._only = given.values()
        self._told = (needed(scope), bits, [*types])

    def change(self, program: Program, is_test: bool) -> None:
        """Change a program."""
        linear.observe_results(program, *self._told, self._scales, self._only)


@PASSES
@from_fields
class AddQuantDequantForResidual(GraphPass):
    """Sums of two computed values read one of them rounded: that which goes around layers."""

    edition = PADDLE_2_6

    scope: Scope | None = None
    place: Any = None
    quant_bits: int = 8
    is_test: bool | None = True

    def begin(self, given: dict[str, Any]) -> None:
        self._scope, _, self._bits, self._is_test = given.values()

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


@FINAL_PASSES
@from_fields
class QuantWeightPass(GraphPass):
    """Weights become whole numbers that ``dequantize_linear`` reads.

    Args:
        save_int_weight: whether they are stored in 8 bits; if not, they stay fractions.
    """

    edition = PADDLE_2_6

    scope: Scope
    place: Any
    bias_correction: bool = False
    quant_bits: int = 8
    save_int_weight: bool = True

    def begin(self, given: dict[str, Any]) -> None:
        scope, _, correct, bits, stores = given.values()
        self._told = (needed(scope), bits, stores, correct)

    def change(self, program: Program, is_test: bool) -> None:
        """Change a program, and the weights in the scope."""
        linear.store_weights(program, *self._told)


@FINAL_PASSES
@from_fields
class QuantizationFreezePass(passes.FreezingPass):
    """Weights become whole numbers, and what products of them give is turned back.

    Args:
        round_type: ``round``.

    Raises:
        ArgumentError: there is no scope.
        UnsupportedError: ``round_type`` is ``adaround``.
    """

    edition = PADDLE_2_6

    scope: Scope
    place: Any
    bias_correction: bool = False
    weight_bits: int = 8
    activation_bits: int = 8
    round_type: str = "round"
    weight_quantize_type: str = ABS_MAX
    quantizable_op_type: Sequence[str] | None = None

    def begin(self, given: dict[str, Any]) -> None:
        plain_rounding(given["round_type"])
        super().begin(given)


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
