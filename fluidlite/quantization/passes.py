"""Passes over graphs, as scripts of fluid 1.8 call them.

``fluid.contrib.slim.quantization`` has them; those of paddle 2.6 derive from them
(``static_passes``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..errors import ArgumentError, UnsupportedError
from ..ground.docstrings import Family
from ..ground.fields import from_fields
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


#: what passes say of their arguments
PASSES = Family(
    {
        "scope": "gets the first scales.",
        "place": "not read.",
        "moving_rate": "of moving averages.",
        "quant_bits": "of whole numbers.",
        "weight_bits": "of whole numbers.",
        "activation_bits": "of whole numbers.",
        "skip_pattern": "a part of the names of scopes whose operators stay, or several.",
        "quantizable_op_type": "the types of operators.",
        "is_test": "whether scales stay as they are; the graph knows when None.",
        "scale_dict": "the first scales of variables.",
    },
    raises="ArgumentError: a type is unknown.",
)
#: the same of passes that have to find what others left in a scope
FINAL_PASSES = PASSES.extended(
    {
        "scope": "has weights and scales.",
        "bias_correction": "whether what they stand for shall have the mean and the spread of "
        "weights.",
        "weight_quantize_type": "how scales of weights were found.",
        "quantizable_op_type": "not read.",
    },
    raises="ArgumentError: there is no scope.",
)


@answers_protected
@PASSES
@from_fields
class QuantizationTransformPass(GraphPass):
    """Products of a weight read rounded numbers.

    Args:
        activation_quantize_type: ``abs_max``, ``range_abs_max`` or ``moving_average_abs_max``.
        weight_quantize_type: those, or ``channel_wise_abs_max``.
        window_size: the runs that count for ``range_abs_max``.
        weight_quantize_func, act_quantize_func, optimizer_func, executor: None.
        weight_preprocess_func, act_preprocess_func: None.

    Raises:
        ArgumentError: a type is unknown.
        UnsupportedError: a function of the user's is given.
    """

    _supported_quantizable_op_type = FLUID_1_8.products

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
    is_test: bool | None = None

    def begin(self, given: dict[str, Any]) -> None:
        steps = ("quantize_func", "preprocess_func")
        no_functions(*(value for name, value in given.items() if name.endswith(steps)))
        activation, weight = given["activation_quantize_type"], given["weight_quantize_type"]
        one_of("activation_quantize_type", activation, ACTIVATION_TYPES)
        one_of("weight_quantize_type", weight, WEIGHT_TYPES)
        known = self.edition.products
        types = each_of("quantizable_op_type", given["quantizable_op_type"], known)
        self._scope, self._is_test = given["scope"], given["is_test"]
        self._bits = {name: given[name] for name in ("activation_bits", "weight_bits")}
        self._ways = {"activation": activation, "weight": weight}
        skip, rate = patterns(given["skip_pattern"]), given["moving_rate"]
        self._told: dict[str, Any] = {"types": types, "rate": rate, "skip": skip}
        self._window = given["window_size"]

    def change(self, program: Program, is_test: bool) -> None:
        """Change a program."""
        options = {**self._told, **self._ways, **self._bits, "window": self._window}
        edition = self.edition
        rounding.round_products(program, self._scope, is_test, edition=edition, **options)


@from_fields
class RoundedOthers(GraphPass):
    """Operators without weights read rounded numbers."""

    _activation_type = ACTIVATIONS

    scope: Scope | None = None
    place: Any = None
    moving_rate: float = 0.9
    quant_bits: int = 8
    skip_pattern: str | Sequence[str] = ("skip_quant",)
    quantizable_op_type: Sequence[str] = ("elementwise_add", "pool2d")

    def begin(self, given: dict[str, Any]) -> None:
        known = self.edition.others
        self._types = each_of("quantizable_op_type", given["quantizable_op_type"], known)
        self._scope, self._is_test = given["scope"], given.get("is_test")
        skip, scales = patterns(given["skip_pattern"]), given.get("scale_dict")
        self._options: dict[str, Any] = {
            "rate": given["moving_rate"], "skip": skip, "scales": scales,
        }  # fmt: skip
        self._bits = given["quant_bits"]

    def change(self, program: Program, is_test: bool) -> None:
        """Change a program."""
        types, bits, edition = self._types, self._bits, self.edition
        told = (program, self._scope, is_test, types, bits)
        rounding.round_others(*told, edition=edition, **self._options)


@answers_protected
@PASSES
@from_fields
class AddQuantDequantPass(RoundedOthers):
    """Operators without weights read rounded numbers.

    Args:
        is_full_quantized: all types that there are.
    """

    _supported_quantizable_op_type = FLUID_1_8.others

    is_full_quantized: bool = False

    def begin(self, given: dict[str, Any]) -> None:
        super().begin(given)
        if given["is_full_quantized"]:
            self._types = [*self.edition.others]


class FreezingPass(GraphPass):
    """Weights become whole numbers, and what products of them give is turned back."""

    def begin(self, given: dict[str, Any]) -> None:
        self._scope = needed(given["scope"])
        self._options: dict[str, Any] = {
            "weight": given["weight_quantize_type"],
            "weight_bits": given["weight_bits"],
            "activation_bits": given["activation_bits"],
            "correct": given.get("bias_correction", False),
        }

    def change(self, program: Program, is_test: bool) -> None:
        """Change a program, and the weights in the scope."""
        freezing.freeze(program, self._scope, edition=self.edition, **self._options)


@answers_protected
@FINAL_PASSES
@from_fields
class QuantizationFreezePass(FreezingPass):
    """Weights become whole numbers, and what products of them give is turned back."""

    scope: Scope
    place: Any
    weight_bits: int = 8
    activation_bits: int = 8
    weight_quantize_type: str = ABS_MAX
    quantizable_op_type: Sequence[str] | None = None


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
@PASSES
@from_fields
class OutScaleForTrainingPass(GraphPass):
    """Each result gets a moving average of its largest number."""

    scope: Scope | None = None
    place: Any = None
    moving_rate: float = 0.9
    is_test: bool | None = None
    scale_dict: Mapping[str, float] | None = None

    def begin(self, given: dict[str, Any]) -> None:
        self._scope, _, self._rate, self._is_test, self._scales = given.values()

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
