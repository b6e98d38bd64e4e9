"""``fluid.contrib.slim.quantization`` after training: scales are found by running a saved model."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np

from ... import io
from ...errors import ArgumentError
from ...ground.fields import from_fields
from ...ground.protected import answers_protected
from ...ir.operator import Operator
from ...ir.program import Program
from ...ops.quantize import largest
from ...runtime.executor import Executor
from ...scope import Scope, global_scope, scope_guard
from . import rounding
from .quantization import OTHERS, PRODUCTS, one_of
from .rounding import ABS_MAX, BY_SLICE, CONVOLUTIONS, MOVING, RANGE

KL, MIN_MAX = "KL", "min_max"
_BINS, _STEPS, _LEAST = 2048, 255, 0.7


def likely_scale(values: Any) -> float:
    """A largest number for which rounded numbers are distributed as these are, by the divergence of
    Kullback and Leibler.

    Args:
        values: numbers that are not negative.
    """
    most = float(values.max(initial=0))
    counts, edges = np.histogram(values, _BINS, (float(values.min(initial=most)), most))
    best, cut = np.inf, _BINS - 1
    for size in range(int((_BINS - 1) * _LEAST), _BINS):
        if counts[size - 1] == 0:
            continue
        kept = counts[:size].astype(np.float64)
        kept[-1] += counts[size:].sum()
        divergence = _divergence(kept, _coarse(counts[:size], kept))
        if divergence < best:
            best, cut = divergence, size
    return (cut + 0.5) * float(edges[1] - edges[0])


def _coarse(counts: Any, kept: Any) -> Any:
    """Counts, spread over the bins of few steps that are not empty."""
    starts = np.arange(_STEPS) * (counts.size // _STEPS)
    sums = np.add.reduceat(counts, starts)
    filled = np.add.reduceat(kept > 0, starts)
    means = sums / np.maximum(filled, 1)
    return np.repeat(means, np.diff(np.append(starts, counts.size))) * (kept > 0)


def _divergence(kept: Any, coarse: Any) -> float:
    """Of a distribution from another one."""
    there = kept > 0
    p, q = kept[there], coarse[there]
    if (q == 0).any():
        return float(np.inf)
    total = p.sum()
    return float((p * (np.log(q.sum() * p) - np.log(total * q))).sum() / total)


_QUANTIZED = ("activation", "weight")


@answers_protected
@from_fields
class PostTrainingQuantization:
    """A saved model that reads rounded numbers, whose scales are found by running it.

    Args:
        executor: runs the model.
        scope: where it is loaded; the current one when None.
        model_dir, model_filename, params_filename: as of ``fluid.io.load_inference_model``.
        batch_generator, sample_generator: functions that give batches, or samples of which
            ``batch_size`` are a batch: of those, one.
        batch_size, batch_nums: how much of it is read; all when None.
        algo: ``KL``, ``abs_max`` or ``min_max``.
        quantizable_op_type: the types of operators; all with ``is_full_quantize``.
        activation_bits, weight_bits: of whole numbers.
        activation_quantize_type, weight_quantize_type: as of ``QuantizationTransformPass``.
        is_use_cache_file, cache_dir: not read.

    Raises:
        ArgumentError: an argument is missing or unknown.
    """

    executor: Executor | None = None
    scope: Scope | None = None
    model_dir: str | None = None
    model_filename: str | None = None
    params_filename: str | None = None
    batch_generator: Callable[[], Iterable[Any]] | None = None
    sample_generator: Callable[[], Iterable[Any]] | None = None
    batch_size: int = 10
    batch_nums: int | None = None
    algo: str = KL
    quantizable_op_type: Sequence[str] = ("conv2d", "depthwise_conv2d", "mul")
    is_full_quantize: bool = False
    activation_bits: int = 8
    weight_bits: int = 8
    activation_quantize_type: str = RANGE
    weight_quantize_type: str = BY_SLICE
    is_use_cache_file: bool = False
    cache_dir: str = "./temp_post_training"

    def begin(self, given: dict[str, Any]) -> None:
        executor, scope, model, model_file, params_file, batches, samples, *_ = given.values()
        if executor is None or model is None:
            raise ArgumentError("expected an executor and the folder of a model, got None")
        if (batches is None) == (samples is None):
            raise ArgumentError("expected one of batch_generator and sample_generator")
        one_of("algo", given["algo"], [KL, ABS_MAX, MIN_MAX])
        self._activation, self._weight = (given[f"{k}_quantize_type"] for k in _QUANTIZED)
        one_of("activation_quantize_type", self._activation, [ABS_MAX, RANGE, MOVING])
        one_of("weight_quantize_type", self._weight, [ABS_MAX, BY_SLICE])
        known = list(dict.fromkeys([*PRODUCTS, *OTHERS]))
        for each in given["quantizable_op_type"]:
            one_of("each of quantizable_op_type", each, known)
        self._executor, self._scope = executor, scope or global_scope()
        self._model = (model, executor, model_file, params_file)
        self._batches, self._samples = batches, samples
        self._batch_size, self._count = given["batch_size"], given["batch_nums"]
        self._algo = given["algo"]
        self._types = known if given["is_full_quantize"] else list(given["quantizable_op_type"])
        self._bits: dict[str, Any] = {f"{k}_bits": given[f"{k}_bits"] for k in _QUANTIZED}
        self._made: tuple[Program, list[str], list[Any]] | None = None

    def quantize(self) -> Program:
        """The model's program with whole numbers for weights, which are in the scope.

        Raises:
            ArgumentError: there are no data.
        """
        with scope_guard(self._scope):
            program, feeds, fetches = io.load_inference_model(*self._model)
            block = program.global_block()
            read = {n for op in block.ops if op.type in self._types for n in rounding.read_by(op)}
            written = {
                n for op in block.ops if op.type in rounding.NOTED for n in rounding.written_by(op)
            }
            weights = {n for n in read if block.var_recursive(n).persistable}
            values = self._values(program, feeds, sorted((read | written) - weights))
            rounded = [op for op in block.ops if op.type in self._types]
            if self._algo == MIN_MAX:
                self._mark_ranges(program, values, weights)
            else:
                kept = likely_scale if self._algo == KL else np.max
                scales = {n: float(kept(np.abs(each))) for n, each in values.items()}
                self._round(program, scales)
            for op in rounded:
                op.mark(rounding.KIND, f"post_{self._algo.lower()}")
            self._made = (program, feeds, fetches)
        return program

    def _values(
        self, program: Program, feeds: Sequence[str], names: Sequence[str]
    ) -> dict[str, Any]:
        """All that variables hold while the model reads the data."""
        values: dict[str, list[Any]] = {name: [] for name in names}
        for feed in islice(self._feeds(program, feeds), self._count):
            for name, value in zip(
                names, self._executor.run(program, feed=feed, fetch_list=list(names))
            ):
                values[name].append(np.ravel(value))
        if not all(values.values()):
            raise ArgumentError("expected data to find scales with, got none")
        return {name: np.concatenate(each) for name, each in values.items()}

    def _feeds(self, program: Program, names: Sequence[str]) -> Iterable[dict[str, Any]]:
        if self._batches is not None:
            for batch in self._batches():
                yield batch if isinstance(batch, dict) else dict(zip(names, batch))
            return
        assert self._samples is not None
        samples = iter(self._samples())
        shapes = [program.global_block().var(name).shape[1:] for name in names]
        while len(rows := list(islice(samples, self._batch_size))) == self._batch_size:
            columns = [np.stack([np.asarray(each) for each in column]) for column in zip(*rows)]
            yield {n: c.reshape(len(c), *s) for n, c, s in zip(names, columns, shapes)}

    def _mark_ranges(self, program: Program, values: Mapping[str, Any], weights: set[str]) -> None:
        """Note least and largest numbers, those of weights for each slice."""
        for op in program.global_block().ops:
            told: dict[str, Any] = {}
            for name in rounding.read_by(op) if op.type in self._types else ():
                array: Any = values.get(name)
                axes: Any = None
                if name in weights:
                    array = rounding.array_of(self._scope, name)
                    axes = tuple(range(1, array.ndim))
                told[f"{name}.min"] = np.min(array, axis=axes).tolist()
                told[f"{name}.max"] = np.max(array, axis=axes).tolist()
            for name in rounding.written_by(op) if op.type in rounding.NOTED else ():
                told["out_min"] = float(values[name].min())
                told["out_max"] = float(values[name].max())
            for attribute, value in told.items():
                op.mark(attribute, value)

    def _round(self, program: Program, scales: Mapping[str, float]) -> None:
        """Round what operators read, by scales that were found."""
        products = [each for each in self._types if each in PRODUCTS]
        others = [each for each in self._types if each in OTHERS]
        told: dict[str, Any] = {"scope": self._scope, "is_test": True}
        hows: dict[str, Any] = {"activation": self._activation, "weight": self._weight}
        rounding.round_products(program, **told, types=products, **hows, **self._bits)
        bits = self._bits["activation_bits"]
        rounding.round_others(program, **told, types=others, bits=bits)
        for name, scale in scales.items():
            for variable in (f"{name}.scale", f"{name}.quant_dequant.scale"):
                declared = program.global_block().vars.get(variable)
                if declared is not None and declared.persistable:
                    rounding.put(self._scope, variable, [scale])
        rounding.freeze(program, scope=self._scope, weight=self._weight, **self._bits)
        for op in program.global_block().ops:
            if op.type in rounding.NOTED:
                for name in rounding.written_by(op):
                    if name in scales:
                        op.mark("out_threshold", scales[name])

    def save_quantized_model(
        self,
        save_model_path: str,
        model_filename: str | None = None,
        params_filename: str | None = None,
    ) -> None:
        """Save the model.

        Args:
            save_model_path, model_filename, params_filename: as of
                ``fluid.io.save_inference_model``.

        Raises:
            ArgumentError: :meth:`quantize` was not called.
        """
        if self._made is None:
            raise ArgumentError("expected quantize() to be called before the model is saved")
        program, feeds, fetches = self._made
        with scope_guard(self._scope):
            io.save_inference_model(
                save_model_path,
                feeds,
                fetches,
                self._executor,
                program,
                model_filename,
                params_filename,
            )


@answers_protected
class WeightQuantization:
    """A saved model whose weights are stored as whole numbers.

    Args:
        model_dir, model_filename, params_filename: as of ``fluid.io.load_inference_model``.
    """

    _supported_quantizable_op_type = (*CONVOLUTIONS, "mul")
    _supported_weight_quantize_type = (BY_SLICE, ABS_MAX)

    def __init__(
        self, model_dir: str, model_filename: str | None = None, params_filename: str | None = None
    ) -> None:
        self._model = (model_dir, model_filename, params_filename)

    def quantize_weight_to_int(
        self,
        save_model_dir: str,
        save_model_filename: str | None = None,
        save_params_filename: str | None = None,
        quantizable_op_type: Sequence[str] = ("conv2d", "mul"),
        weight_bits: int = 8,
        weight_quantize_type: str = BY_SLICE,
        generate_test_model: bool = False,
        threshold_rate: float = 0.0,
    ) -> None:
        """Save the model, with whole numbers in ``quantized_model`` below a folder, and turned back
        in ``test_model`` there.

        Args:
            save_model_dir: the folder.
            save_model_filename, save_params_filename: as of ``fluid.io.save_inference_model``.
            quantizable_op_type: the types of operators.
            weight_bits: 8 or 16.
            weight_quantize_type: ``channel_wise_abs_max`` or ``abs_max``.
            generate_test_model: whether to write ``test_model``, too.
            threshold_rate: the share of the largest numbers that ``abs_max`` does not count.

        Raises:
            ArgumentError: an argument is unknown.
        """
        for each in quantizable_op_type:
            one_of("each of quantizable_op_type", each, self._supported_quantizable_op_type)
        one_of("weight_bits", weight_bits, [8, 16])
        one_of("weight_quantize_type", weight_quantize_type, self._supported_weight_quantize_type)
        executor = Executor()
        for folder, is_whole in (("quantized_model", True), ("test_model", False)):
            if not (is_whole or generate_test_model):
                continue
            with scope_guard(Scope()):
                directory, *names = self._model
                program, feeds, fetches = io.load_inference_model(directory, executor, *names)
                for op in program.global_block().ops:
                    if op.type in quantizable_op_type:
                        how = (weight_quantize_type, weight_bits, threshold_rate)
                        _store(op, global_scope(), *how, is_whole=is_whole)
                path = os.path.join(save_model_dir, folder)
                files = (save_model_filename, save_params_filename)
                io.save_inference_model(path, feeds, fetches, executor, program, *files)


def _store(op: Operator, scope: Scope, how: str, bits: int, rate: float, is_whole: bool) -> None:
    """Put a weight of few bits in the place of one, and note its scale."""
    for name in rounding.read_by(op):
        variable = op.block.var_recursive(name)
        if not variable.persistable:
            continue
        array = rounding.array_of(scope, name)
        axis = 0 if op.type in CONVOLUTIONS else array.ndim - 1
        slices = np.moveaxis(array, axis, 0)
        if how == BY_SLICE:
            scale = np.abs(slices).reshape(len(slices), -1).max(axis=1) / largest(bits)
        else:
            scale = np.asarray([_counted_most(np.abs(array), rate) / largest(bits)], array.dtype)
        shape = (-1, *[1] * (array.ndim - 1))
        most = largest(bits)
        whole = np.clip(np.round(slices / scale.reshape(shape)), -most - 1, most)
        if is_whole:
            variable.declare(dtype=f"int{bits}")
            rounding.put(scope, name, np.moveaxis(whole, 0, axis), f"int{bits}")
        else:
            rounding.put(scope, name, np.moveaxis(whole * scale.reshape(shape), 0, axis))
        op.mark(rounding.KIND, f"post_weight_{how}")
        op.mark("quantize_weight_bits", bits)
        op.mark(f"{name}_quant_scale", scale.tolist())


def _counted_most(values: Any, rate: float) -> float:
    """The largest number, but for a share of them."""
    return float(np.quantile(values, 1 - rate)) if rate else float(values.max(initial=0))
