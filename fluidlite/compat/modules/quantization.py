"""``fluid.contrib.slim.quantization``: passes over graphs, as scripts of fluid 1.8 call them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from ...errors import ArgumentError, UnsupportedError
from ...ground.fields import from_fields
from ...ground.protected import answers_protected
from ...scope import Scope
from . import rounding
from .graph_views import IrGraph
from .rounding import ABS_MAX, BY_SLICE, CONVOLUTIONS, MOVING, RANGE

PRODUCTS = [*CONVOLUTIONS, "mul", "matmul"]
_ACTIVATIONS = ["relu", "relu6", "leaky_relu", "tanh", "swish"]
OTHERS = [
    *("pool2d", "elementwise_add", "concat", "softmax", "argmax", "transpose", "equal", "gather"),
    *("greater_equal", "greater_than", "less_equal", "less_than", "mean", "not_equal", "reshape"),
    *("reshape2", "bilinear_interp", "nearest_interp", "trilinear_interp", "slice", "squeeze"),
    *("elementwise_sub", "mul", "matmul", *_ACTIVATIONS),
]


def one_of(name: str, value: Any, known: Sequence[Any]) -> None:
    """Refuse an argument that is none of some."""
    if value not in known:
        listed = ", ".join(map(str, known))
        raise ArgumentError(f"expected {name} to be one of {listed}, got {value!r}")


def _checked(graph: Any) -> IrGraph:
    if not isinstance(graph, IrGraph):
        raise ArgumentError(
            f"expected an IrGraph, got {graph!r:.60} of type {type(graph).__name__}"
        )
    return graph


def _needed(scope: Scope | None) -> Scope:
    if scope is None:
        raise ArgumentError("expected a scope that has the parameters, got None")
    return scope


def _changed(graph: Any, change: Callable[..., Any], *args: Any, **options: Any) -> IrGraph:
    """A graph that became that of its changed program."""
    checked = _checked(graph)
    program = checked.to_program()
    change(program, *args, **options)
    checked.graph.take(program)
    return checked


class _Rounding:
    """A pass that lets operators read rounded numbers."""

    _rounds: ClassVar[Callable[..., None]]
    _scope: Scope | None
    _options: dict[str, Any]

    def apply(self, graph: IrGraph) -> IrGraph:
        """Change a graph.

        Raises:
            ArgumentError: this is none.
        """
        is_test = _checked(graph).is_test()
        told = {"scope": self._scope, "is_test": is_test, **self._options}
        return _changed(graph, self._rounds, **told)


_KINDS = [ABS_MAX, RANGE, MOVING]


@answers_protected
@from_fields
class QuantizationTransformPass(_Rounding):
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
        weight_quantize_func, act_quantize_func, weight_preprocess_func, act_preprocess_func,
            optimizer_func, executor: None.

    Raises:
        ArgumentError: a type is unknown.
        UnsupportedError: a function of the user's is given.
    """

    _supported_quantizable_op_type: ClassVar = PRODUCTS
    _rounds: ClassVar[Callable[..., None]] = staticmethod(rounding.round_products)

    scope: Scope | None = None
    place: Any = None
    weight_bits: int = 8
    activation_bits: int = 8
    activation_quantize_type: str = ABS_MAX
    weight_quantize_type: str = ABS_MAX
    window_size: int = 10000
    moving_rate: float = 0.9
    skip_pattern: str | Sequence[str] = ("skip_quant",)
    quantizable_op_type: Sequence[str] = ("conv2d", "depthwise_conv2d", "mul")
    weight_quantize_func: None = None
    act_quantize_func: None = None
    weight_preprocess_func: None = None
    act_preprocess_func: None = None
    optimizer_func: None = None
    executor: Any = None

    def begin(self, given: dict[str, Any]) -> None:
        if any(given[name] for name in given if name.endswith("_func") and "optimizer" not in name):
            raise UnsupportedError(
                "roundings of the user's are not put into graphs: write a pass with "
                "fluidlite.transform.insert_before"
            )
        activation, weight = given["activation_quantize_type"], given["weight_quantize_type"]
        one_of("activation_quantize_type", activation, _KINDS)
        one_of("weight_quantize_type", weight, [*_KINDS, BY_SLICE])
        for each in given["quantizable_op_type"]:
            one_of("each of quantizable_op_type", each, PRODUCTS)
        self._scope = given["scope"]
        self._options = {
            "types": list(given["quantizable_op_type"]),
            "activation": activation,
            "activation_bits": given["activation_bits"],
            "weight": weight,
            "weight_bits": given["weight_bits"],
            "window": given["window_size"],
            "rate": given["moving_rate"],
            "skip": _patterns(given["skip_pattern"]),
        }


def _patterns(given: str | Sequence[str]) -> list[str]:
    return [given] if isinstance(given, str) else list(given)


@answers_protected
class AddQuantDequantPass(_Rounding):
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

    _supported_quantizable_op_type = OTHERS
    _activation_type = _ACTIVATIONS

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
        for each in quantizable_op_type:
            one_of("each of quantizable_op_type", each, OTHERS)
        types = OTHERS if is_full_quantized else list(quantizable_op_type)
        skip = _patterns(skip_pattern)
        self._scope = scope
        self._options = {"types": types, "bits": quant_bits, "rate": moving_rate, "skip": skip}

    _rounds = staticmethod(rounding.round_others)


@answers_protected
class QuantizationFreezePass:
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
        self._scope = _needed(scope)
        self._options = {
            "weight": weight_quantize_type,
            "weight_bits": weight_bits,
            "activation_bits": activation_bits,
        }

    def apply(self, graph: IrGraph) -> IrGraph:
        """Change a graph, and the weights in the scope.

        Raises:
            ArgumentError: this is none.
            UnknownVariableError: a weight or a scale is not in the scope.
        """
        return _changed(graph, rounding.freeze, scope=self._scope, **self._options)


@answers_protected
class ConvertToInt8Pass:
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
        self._scope = _needed(scope)

    def apply(self, graph: IrGraph) -> IrGraph:
        """Change a graph.

        Raises:
            ArgumentError: this is none.
            UnknownVariableError: a weight is not in the scope.
        """
        return _changed(graph, rounding.as_int8, self._scope, PRODUCTS)


class TransformForMobilePass:
    """Operators of a frozen graph are called as libraries for small devices call them."""

    def apply(self, graph: IrGraph) -> IrGraph:
        """Change a graph.

        Raises:
            ArgumentError: this is none.
        """
        return _changed(graph, rounding.for_mobile)


@answers_protected
class OutScaleForTrainingPass:
    """Each result gets a moving average of its largest number.

    Args:
        scope: gets the first scales.
        place: not read.
        moving_rate: of moving averages.
    """

    def __init__(
        self, scope: Scope | None = None, place: Any = None, moving_rate: float = 0.9
    ) -> None:
        self._scope, self._rate = scope, moving_rate

    def apply(self, graph: IrGraph) -> IrGraph:
        """Change a graph.

        Raises:
            ArgumentError: this is none.
        """
        is_test = _checked(graph).is_test()
        options = {"scope": self._scope, "is_test": is_test, "rate": self._rate}
        return _changed(graph, rounding.note_scales, **options)


@answers_protected
class OutScaleForInferencePass:
    """Operators get the scales of their results as an attribute.

    Args:
        scope: has the scales.
    """

    def __init__(self, scope: Scope | None = None) -> None:
        self._scope = scope

    def apply(self, graph: IrGraph) -> IrGraph:
        """Change a graph.

        Raises:
            ArgumentError: this is none, or there is no scope.
            UnknownVariableError: a scale is not in the scope.
        """
        return _changed(graph, rounding.mark_scales, scope=_needed(self._scope))
