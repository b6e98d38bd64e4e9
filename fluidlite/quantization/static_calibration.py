"""``paddle.static.quantization`` after training: scales are found by running a model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from .. import io
from ..errors import ArgumentError, UnsupportedError
from ..ground.fields import from_fields
from ..ground.protected import answers_protected
from ..ir.program import Program
from ..opdef.whole_numbers import scales_along
from ..runtime.executor import Executor
from ..scope import Scope, scope_guard
from . import linear, rounding
from .calibration import MIN_MAX, Calibration, round_by_scales
from .editions import PADDLE_2_6
from .freezing import is_transposed
from .graph_views import IrGraph
from .graphs import Graph
from .learned_rounding import WeightedOperator, learned
from .passes import ACTIVATION_TYPES, LEARNED, each_of, one_of
from .rounding import ABS_MAX, BY_SLICE, RANGE
from .thresholds import ALGORITHMS, found_scale
from .weights import dequant_tensor


class _Calibrated(Calibration):
    """What both classes of paddle 2.6 do with a model."""

    edition = PADDLE_2_6

    def begin(self, options: dict[str, Any]) -> None:
        """Check the options of the classes, and keep them."""
        data = _data(
            options["data_loader"], options["batch_generator"], options["sample_generator"]
        )
        size, count = options["batch_size"], options["batch_nums"]
        Calibration.__init__(self, options["executor"], options["scope"], *data, size, count)
        if options["algo"] == "ptf":
            raise UnsupportedError("powers of two as factors (ptf) are missing: use algo='mse'")
        one_of("algo", options["algo"], ALGORITHMS)
        one_of("round_type", options["round_type"], ["round", LEARNED])
        one_of("activation_quantize_type", options["activation_quantize_type"], ACTIVATION_TYPES)
        one_of("weight_quantize_type", options["weight_quantize_type"], [ABS_MAX, BY_SLICE])
        for name in ("same_scale_tensor_list", "optimize_model", "deploy_backend"):
            if options.get(name):
                raise UnsupportedError(f"{name} is missing here: leave it out")
        known = list(dict.fromkeys([*self.edition.products, *self.edition.others]))
        types = each_of("quantizable_op_type", options["quantizable_op_type"], known)
        self._types = known if options["is_full_quantize"] else types or [*self.edition.products]
        self._options = dict(options)
        self._bits = {name: options[name] for name in ("activation_bits", "weight_bits")}

    def quantize(self) -> Any:
        """The model's program, whose operators read rounded numbers; a graph with ``return_graph``.

        Raises:
            ArgumentError: there are no data.
        """
        with scope_guard(self._scope):
            program, feeds, fetches = self.loaded()
            skipped = set(self._options["skip_tensor_list"] or ())
            for op in program.global_block().ops:
                if skipped.intersection(op.input_arg_names + op.output_arg_names):
                    op.mark("op_namescope", "/skip_quant/")
            names, weights = self.looked_at(program, self._types)
            values = self.values(program, feeds, names)
            if self._options["algo"] == MIN_MAX:
                self._mark_ranges(program, values, weights)
            else:
                if self._options["round_type"] == LEARNED:
                    self._learn(program, values, weights)
                self._round(program, self._scales(values), weights)
            self._made = (program, feeds, fetches)
        if self._options["return_graph"]:
            return IrGraph(Graph(program.desc), for_test=True)
        return program

    def loaded(self) -> tuple[Program, list[str], list[Any]]:
        """The model, what it is fed, and what it computes."""
        raise NotImplementedError

    def _scales(self, values: Mapping[str, list[Any]]) -> dict[str, float]:
        options, bits = self._options, self._bits["activation_bits"]
        told = options["scale_dict"] or {}
        how = (options["hist_percent"], bits, options["onnx_format"])
        return {
            name: float(np.max(told[name]))
            if name in told
            else found_scale(options["algo"], batches, *how)
            for name, batches in values.items()
            if np.issubdtype(batches[0].dtype, np.floating)
        }

    def _mark(self, program: Program) -> None:
        for op in program.global_block().ops:
            if op.type in self._types:
                op.mark(rounding.KIND, f"post_{self._options['algo'].lower()}")

    def _mark_ranges(self, program: Program, values: Mapping[str, Any], weights: set[str]) -> None:
        linear_form = self._options["onnx_format"]
        self.mark_ranges(program, self._types, values, weights, with_results=not linear_form)
        if not linear_form:
            self._mark(program)

    def _learn(self, program: Program, values: Mapping[str, list[Any]], weights: set[str]) -> None:
        """Weights become those numbers that the whole ones stand for which serve results best."""
        options, left = self._options, set(weights)
        for op in program.global_block().ops:
            read = left.intersection(op.input_arg_names)
            if op.type not in self._types or op.type not in self.edition.products or not read:
                continue
            weight = min(read)
            left.discard(weight)
            layer = WeightedOperator(op, weight, self._scope)
            batches = [
                dict(zip(layer.reads, row)) for row in zip(*(values[n] for n in layer.reads))
            ]
            axis = self.edition.slices[op.type]
            if is_transposed(op) and not options["onnx_format"]:
                axis = 0
            if options["weight_quantize_type"] != BY_SLICE:
                axis = -1
            size = np.abs(layer.weight).max(initial=0)
            scale = size if axis < 0 else scales_along(np, layer.weight, axis)[0]
            bits, rate = self._bits["weight_bits"], options["learning_rate"]
            whole = learned(layer, batches, scale, axis, bits, rate)
            exact = dequant_tensor(whole, scale, axis, bits)
            rounding.put(self._scope, weight, exact, layer.weight.dtype)

    def _round(self, program: Program, scales: Mapping[str, float], weights: set[str]) -> None:
        options, scope = self._options, self._scope
        if options["onnx_format"]:
            self._round_linear(program, scales, weights)
            return
        ways = (options["activation_quantize_type"], options["weight_quantize_type"])
        more = (options["bias_correction"], options["freeze_model"])
        types = self._types
        round_by_scales(program, scope, scales, types, self.edition, *ways, self._bits, *more)
        self._mark(program)

    def _round_linear(
        self, program: Program, scales: Mapping[str, float], weights: set[str]
    ) -> None:
        options, scope, block = self._options, self._scope, program.global_block()
        types = [each for each in self._types if each in self.edition.products]
        others = [each for each in self._types if each in self.edition.others]
        how = options["weight_quantize_type"]
        told: dict[str, Any] = {**self._bits, "scales": scales, "weight": how}
        linear.round_inputs(program, scope, True, types, with_weights=True, **told)
        linear.round_inputs(program, scope, True, others, with_weights=False, **told)
        for op in block.ops:
            if op.type == "quantize_linear" and op.input("X")[0] in weights:
                array = rounding.array_of(scope, op.input("X")[0])
                axis = int(op.attr("quant_axis"))
                scale = np.abs(array).max(initial=0).reshape(1)
                if axis >= 0:
                    scale = scales_along(np, array, axis)[0]
                rounding.put(scope, op.input("Scale")[0], scale)
        if not options["freeze_model"]:
            return
        linear.observe_results(program, scope, self._bits["activation_bits"], scales=scales)
        linear.store_weights(program, scope, self._bits["weight_bits"])


@from_fields
class _OfSavedModel(_Calibrated):
    """What is calibrated is a saved model."""

    executor: Executor
    model_dir: str
    scope: Scope | None = None
    model_filename: str | None = None
    params_filename: str | None = None

    def loaded(self) -> tuple[Program, list[str], list[Any]]:
        """The model, what it is fed, and what it computes."""
        options = self._options
        names = (options["model_filename"], options["params_filename"])
        program, feeds, fetches = io.load_inference_model(
            options["model_dir"], self._executor, *names
        )
        return program, feeds, fetches


@from_fields
class _OfProgram(_Calibrated):
    """What is calibrated is a program."""

    executor: Executor
    program: Program
    feed_list: Sequence[str] | None = None
    fetch_list: Sequence[Any] | None = None
    scope: Scope | None = None

    def loaded(self) -> tuple[Program, list[str], list[Any]]:
        """A copy of the program, what it is fed, and what it computes."""
        options = self._options
        if not isinstance(options["program"], Program):
            raise ArgumentError(f"expected a program, got {options['program']!r:.60}")
        program = options["program"].clone()
        fetches = [getattr(each, "name", each) for each in options["fetch_list"] or ()]
        block = program.global_block()
        return program, list(options["feed_list"] or ()), [block.var(name) for name in fetches]


@from_fields
class _Options:
    """The options of both, which stand behind what is calibrated."""

    batch_generator: Callable[[], Iterable[Any]] | None = None
    sample_generator: Callable[[], Iterable[Any]] | None = None
    data_loader: Iterable[Any] | None = None
    batch_size: int = 10
    batch_nums: int | None = None
    algo: str = "KL"
    hist_percent: float = 0.99999
    quantizable_op_type: Sequence[str] = ()
    round_type: str = "round"
    learning_rate: float = 0.001
    is_full_quantize: bool = False
    bias_correction: bool = False
    activation_bits: int = 8
    weight_bits: int = 8
    activation_quantize_type: str = RANGE
    weight_quantize_type: str = BY_SLICE
    onnx_format: bool = False
    freeze_model: bool = True
    optimize_model: bool = False
    is_use_cache_file: bool = False
    skip_tensor_list: Sequence[str] | None = None
    same_scale_tensor_list: Sequence[Any] | None = None
    cache_dir: str | None = None
    scale_dict: Mapping[str, Any] | None = None
    return_graph: bool = False


@answers_protected
@from_fields
class PostTrainingQuantization(_Options, _OfSavedModel):
    """A saved model that reads rounded numbers, whose scales are found by running it.

    Args:
        executor: runs the model.
        model_dir, model_filename, params_filename: as of ``paddle.static.load_inference_model``.
        scope: where it is loaded; the current one when None.
        batch_generator, sample_generator: functions that give batches, or samples.
        data_loader: gives batches: dictionaries, or lists in the order of the model's inputs.
        batch_size, batch_nums: how much is read; all when None.
        algo: ``KL``, ``hist``, ``avg``, ``mse``, ``emd``, ``abs_max`` or ``min_max``.
        hist_percent: the share of numbers that ``hist`` counts.
        quantizable_op_type: the types of operators; those with weights when there are none.
        round_type: ``round``, or ``adaround``: up or down, as is learned from the data.
        learning_rate: of that.
        is_full_quantize: all types of operators.
        bias_correction: whether rounded weights shall have the mean and the spread of weights.
        activation_bits, weight_bits: of whole numbers.
        activation_quantize_type, weight_quantize_type: as of ``QuantizationTransformPass``.
        onnx_format: whether ``quantize_linear`` and ``dequantize_linear`` round.
        freeze_model: whether weights become whole numbers.
        optimize_model: False.
        is_use_cache_file, cache_dir: not read.
        skip_tensor_list: variables whose operators stay as they are.
        same_scale_tensor_list: None.
        scale_dict: scales that are known.
        return_graph: whether :meth:`quantize` returns a graph.
        deploy_backend: None.

    Raises:
        ArgumentError: an argument is missing or unknown.
        UnsupportedError: one has a value that is missing here.
    """

    deploy_backend: str | None = None


@from_fields
class PostTrainingQuantizationProgram(_Options, _OfProgram):
    """A program that reads rounded numbers, whose scales are found by running it.

    Args:
        executor: runs the program.
        program: the program; it stays as it is.
        feed_list: the names of what it is fed.
        fetch_list: the variables that it computes.

    Others are those of ``PostTrainingQuantization``.

    Raises:
        ArgumentError: an argument is missing or unknown.
        UnsupportedError: one has a value that is missing here.
    """

    quantizable_op_type: Sequence[str] = ("conv2d", "depthwise_conv2d", "mul")
    return_graph: bool = True


def _data(
    loader: Iterable[Any] | None, batches: Any, samples: Any
) -> tuple[Callable[[], Iterable[Any]] | None, Any]:
    """Functions that give batches, or samples."""
    if sum(each is not None for each in (loader, batches, samples)) != 1:
        raise ArgumentError("expected one of data_loader, batch_generator and sample_generator")
    return (lambda: loader) if loader is not None else batches, samples
