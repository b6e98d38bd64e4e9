"""Passes over graphs, as scripts of fluid 1.8 call them.

``fluid.contrib.slim.quantization`` has them; those of paddle 2.6 derive from them
(``static_passes``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..errors import ArgumentError, UnsupportedError
from ..ground.protected import answers_protected
from ..ground.reprs import Described
from ..ir.program import Program
from ..scope import Scope
from . import freezing, rounding
from .editions import ACTIVATIONS, FLUID_1_8, Edition
from .graph_views import IrGraph
from .rounding import ABS_MAX, BY_SLICE, MOVING, RANGE

ACTIVATION_TYPES = [ABS_MAX, RANGE, MOVING]
WEIGHT_TYPES = [*ACTIVATION_TYPES, BY_SLICE]


def one_of(name: str, value: Any, known: Sequence[Any]) -> None:
    """Refuse an argument that is none of some."""
    if value not in known:
        listed = ", ".join(map(str, known))
        raise ArgumentError(f"expected {name} to be one of {listed}, got {value!r}")


def each_of(name: str, values: Sequence[Any], known: Sequence[Any]) -> list[Any]:
    """A list of arguments, each of which is one of some."""
    for each in values:
        one_of(f"each of {name}", each, known)
    return list(values)


def needed(scope: Scope | None) -> Scope:
    """A scope that has to be there."""
    if scope is None:
        raise ArgumentError("expected a scope that has the parameters, got None")
    return scope


def patterns(given: str | Sequence[str]) -> list[str]:
    """Parts of names of scopes."""
    return [given] if isinstance(given, str) else list(given)


def no_functions(*functions: Any) -> None:
    """Refuse roundings of the user's."""
    if any(functions):
        raise UnsupportedError(
            "roundings of the user's are not put into graphs: write a pass with "
            "fluidlite.transform.insert_before"
        )


LEARNED = "adaround"


def plain_rounding(round_type: str) -> None:
    """Refuse a rounding that is not to the nearest number."""
    one_of("round_type", round_type, ["round", LEARNED])
    if round_type == LEARNED:
        raise UnsupportedError(
            "a pass has no data to learn roundings from: PostTrainingQuantization takes "
            "round_type='adaround'"
        )


class GraphPass(Described):
    """A change of a graph: that of its program."""

    edition: Edition = FLUID_1_8
    _is_test: bool | None = None

    def apply(self, graph: IrGraph) -> IrGraph:
        """Change a graph.

        Raises:
            ArgumentError: this is none.
            UnknownVariableError: a weight or a scale is not in the scope.
        """
        if not isinstance(graph, IrGraph):
            raise ArgumentError(
                f"expected an IrGraph, got {graph!r:.60} of type {type(graph).__name__}"
            )
        program = graph.to_program()
        self.change(program, graph.is_test() if self._is_test is None else self._is_test)
        graph.graph.take(program)
        return graph

    def change(self, program: Program, is_test: bool) -> None:
        """Change a program."""
        raise NotImplementedError


@answers_protected
class QuantizationTransformPass(GraphPass):
    """Products of a weight read rounded numbers.

    Args:
        scope: gets the first scales.
        place: not read.
        weight_bits, activation_bits: of whole numbers.
        activation_quantize_type: ``abs_max``, ``range_abs_max`` or ``moving_average_abs_max``.
        weight_quantize_type: those, or ``channel_wise_abs_max``.
        window_size: the runs that count for ``range_abs_max``.
        moving_rate: of moving averages.
        skip_pattern: a part of the names of scopes whose operators stay, or several.
        quantizable_op_type: the types of operators.
        weight_quantize_func, act_quantize_func, optimizer_func, executor: None.
        weight_preprocess_func, act_preprocess_func: None.
        is_test: whether scales stay as they are; the graph knows when None.

    Raises:
        ArgumentError: a type is unknown.
        UnsupportedError: a function of the user's is given.
    """

    _supported_quantizable_op_type = FLUID_1_8.products

    def __init__(
        self,
        scope: Scope | None = None,
        place: Any = None,
        weight_bits: int = 8,
        activation_bits: int = 8,
        activation_quantize_type: str = ABS_MAX,
        weight_quantize_type: str = ABS_MAX,
        window_size: int = 10000,
        moving_rate: float = 0.9,
        skip_pattern: str | Sequence[str] = ("skip_quant",),
        quantizable_op_type: Sequence[str] = ("conv2d", "depthwise_conv2d", "mul"),
        weight_quantize_func: None = None,
        act_quantize_func: None = None,
        weight_preprocess_func: None = None,
        act_preprocess_func: None = None,
        optimizer_func: None = None,
        executor: Any = None,
        is_test: bool | None = None,
    ) -> None:
        no_functions(
            *(weight_quantize_func, weight_preprocess_func, act_quantize_func, act_preprocess_func)
        )
        one_of("activation_quantize_type", activation_quantize_type, ACTIVATION_TYPES)
        one_of("weight_quantize_type", weight_quantize_type, WEIGHT_TYPES)
        types = each_of("quantizable_op_type", quantizable_op_type, self.edition.products)
        self._scope, self._is_test = scope, is_test
        self._bits = {"activation_bits": activation_bits, "weight_bits": weight_bits}
        self._ways = {"activation": activation_quantize_type, "weight": weight_quantize_type}
        skip = patterns(skip_pattern)
        self._told: dict[str, Any] = {"types": types, "rate": moving_rate, "skip": skip}
        self._window = window_size

    def change(self, program: Program, is_test: bool) -> None:
        """Change a program."""
        options = {**self._told, **self._ways, **self._bits, "window": self._window}
        edition = self.edition
        rounding.round_products(program, self._scope, is_test, edition=edition, **options)


class RoundedOthers(GraphPass):
    """Operators without weights read rounded numbers.

    Args:
        scope: gets the first scales.
        types: of operators.
        bits: of whole numbers.
        rate: of moving averages.
        skip: parts of the names of scopes whose operators stay.
        is_test: whether scales stay as they are; the graph knows when None.
        scales: the first scales of variables.
    """

    _activation_type = ACTIVATIONS

    def __init__(
        self,
        scope: Scope | None,
        types: Sequence[str],
        bits: int,
        rate: float,
        skip: str | Sequence[str],
        is_test: bool | None = None,
        scales: Mapping[str, float] | None = None,
    ) -> None:
        known = self.edition.others
        self._types = each_of("quantizable_op_type", types, known)
        self._scope, self._is_test = scope, is_test
        self._options: dict[str, Any] = {"rate": rate, "skip": patterns(skip), "scales": scales}
        self._bits = bits

    def change(self, program: Program, is_test: bool) -> None:
        """Change a program."""
        types, bits, edition = self._types, self._bits, self.edition
        told = (program, self._scope, is_test, types, bits)
        rounding.round_others(*told, edition=edition, **self._options)


@answers_protected
class AddQuantDequantPass(RoundedOthers):
    """Operators without weights read rounded numbers.

    Args:
        scope: gets the first scales.
        place: not read.
        moving_rate: of moving averages.
        quant_bits: of whole numbers.
        skip_pattern: a part of the names of scopes whose operators stay, or several.
        quantizable_op_type: the types of operators.
        is_full_quantized: all types that there are.

    Raises:
        ArgumentError: a type is unknown.
    """

    _supported_quantizable_op_type = FLUID_1_8.others

    def __init__(
        self,
        scope: Scope | None = None,
        place: Any = None,
        moving_rate: float = 0.9,
        quant_bits: int = 8,
        skip_pattern: str | Sequence[str] = ("skip_quant",),
        quantizable_op_type: Sequence[str] = ("elementwise_add", "pool2d"),
        is_full_quantized: bool = False,
    ) -> None:
        super().__init__(scope, quantizable_op_type, quant_bits, moving_rate, skip_pattern)
        if is_full_quantized:
            self._types = [*self.edition.others]


@answers_protected
class QuantizationFreezePass(GraphPass):
    """Weights become whole numbers, and what products of them give is turned back.

    Args:
        scope: has weights and scales.
        place: not read.
        weight_bits, activation_bits: of whole numbers.
        weight_quantize_type: how scales of weights were found.
        quantizable_op_type: not read.

    Raises:
        ArgumentError: there is no scope.
    """

    def __init__(
        self,
        scope: Scope,
        place: Any,
        weight_bits: int = 8,
        activation_bits: int = 8,
        weight_quantize_type: str = ABS_MAX,
        quantizable_op_type: Sequence[str] | None = None,
    ) -> None:
        self._scope = needed(scope)
        self._options: dict[str, Any] = {
            "weight": weight_quantize_type,
            "weight_bits": weight_bits,
            "activation_bits": activation_bits,
        }

    def change(self, program: Program, is_test: bool) -> None:
        """Change a program, and the weights in the scope."""
        freezing.freeze(program, self._scope, edition=self.edition, **self._options)


@answers_protected
class ConvertToInt8Pass(GraphPass):
    """Weights of a frozen graph become variables of 8 bits.

    Args:
        scope: has whole numbers, and gets those of 8 bits.
        place: not read.
        quantizable_op_type: not read.

    Raises:
        ArgumentError: there is no scope.
    """

    def __init__(
        self, scope: Scope, place: Any, quantizable_op_type: Sequence[str] | None = None
    ) -> None:
        self._scope = needed(scope)

    def change(self, program: Program, is_test: bool) -> None:
        """Change a program."""
        freezing.as_int8(program, self._scope, self.edition)


class TransformForMobilePass(GraphPass):
    """Operators of a frozen graph are called as libraries for small devices call them."""

    def change(self, program: Program, is_test: bool) -> None:
        """Change a program."""
        freezing.for_mobile(program)


@answers_protected
class OutScaleForTrainingPass(GraphPass):
    """Each result gets a moving average of its largest number.

    Args:
        scope: gets the first scales.
        place: not read.
        moving_rate: of moving averages.
        is_test: whether scales stay as they are; the graph knows when None.
        scale_dict: the first scales of variables.
    """

    def __init__(
        self,
        scope: Scope | None = None,
        place: Any = None,
        moving_rate: float = 0.9,
        is_test: bool | None = None,
        scale_dict: Mapping[str, float] | None = None,
    ) -> None:
        self._scope, self._rate = scope, moving_rate
        self._is_test, self._scales = is_test, scale_dict

    def change(self, program: Program, is_test: bool) -> None:
        """Change a program."""
        told = (program, self._scope, is_test, self._rate)
        rounding.note_scales(*told, edition=self.edition, scales=self._scales)


@answers_protected
class OutScaleForInferencePass(GraphPass):
    """Operators get the scales of their results as an attribute.

    Args:
        scope: has the scales.
    """

    def __init__(self, scope: Scope | None = None) -> None:
        self._scope = scope

    def change(self, program: Program, is_test: bool) -> None:
        """Change a program."""
        rounding.mark_scales(program, needed(self._scope), self.edition)
