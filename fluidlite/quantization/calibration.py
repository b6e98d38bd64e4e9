"""``fluid.contrib.slim.quantization`` after training: scales are found by running a saved model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np

from .. import io
from ..errors import ArgumentError
from ..ground.fields import from_fields
from ..ground.protected import answers_protected
from ..ground.reprs import Described
from ..ir.program import Program
from ..runtime.executor import Executor
from ..scope import Scope, global_scope, scope_guard
from . import freezing, rounding
from .editions import FLUID_1_8, Edition
from .passes import ACTIVATION_TYPES, each_of, one_of
from .rounding import ABS_MAX, BY_SLICE, RANGE
from .thresholds import likely_scale

KL, MIN_MAX = "KL", "min_max"


class Calibration(Described):
    """A model whose variables are looked at while it reads data.

    Args:
        executor: runs the model.
        scope: where it is loaded; the current one when None.
        batches, samples: functions that give batches, or samples of which ``size`` are a batch.
        size: how many samples are a batch.
        count: how many batches are read; all when None.
    """

    edition: Edition = FLUID_1_8

    def __init__(
        self,
        executor: Executor,
        scope: Scope | None,
        batches: Callable[[], Iterable[Any]] | None,
        samples: Callable[[], Iterable[Any]] | None,
        size: int,
        count: int | None,
    ) -> None:
        self._executor, self._scope = executor, scope or global_scope()
        self._batches, self._samples = batches, samples
        self._batch_size, self._count = size, count
        self._made: tuple[Program, list[str], list[Any]] | None = None

    def looked_at(self, program: Program, types: Sequence[str]) -> tuple[list[str], set[str]]:
        """The variables whose scales are found, and the weights.

        Args:
            program: the model.
            types: of operators that read rounded numbers.
        """
        block = program.global_block()
        edition = self.edition
        read = {n for op in block.ops if op.type in types for n in edition.read_by(op)}
        noted = [op for op in block.ops if op.type in edition.notes]
        written = {name for op in noted for name in edition.written_by(op)}
        weights = {n for n in read if block.var_recursive(n).persistable}
        return sorted((read | written) - weights), weights

    def values(
        self, program: Program, feeds: Sequence[str], names: Sequence[str]
    ) -> dict[str, list[Any]]:
        """What variables hold in each run of the model on the data.

        Raises:
            ArgumentError: there are no data.
        """
        values: dict[str, list[Any]] = {name: [] for name in names}
        for feed in islice(self._feeds(program, feeds), self._count):
            run = self._executor.run(program, feed=feed, fetch_list=list(names))
            for name, value in zip(names, run):
                values[name].append(np.asarray(value))
        if not all(values.values()):
            raise ArgumentError("expected data to find scales with, got none")
        return values

    def _feeds(self, program: Program, names: Sequence[str]) -> Iterable[dict[str, Any]]:
        if self._batches is not None:
            for batch in self._batches():
                if isinstance(batch, list) and len(batch) == 1 and isinstance(batch[0], dict):
                    batch = batch[0]  # a batch for each of one device
                yield batch if isinstance(batch, dict) else dict(zip(names, batch))
            return
        assert self._samples is not None
        samples = iter(self._samples())
        shapes = [program.global_block().var(name).shape[1:] for name in names]
        while len(rows := list(islice(samples, self._batch_size))) == self._batch_size:
            columns = [np.stack([np.asarray(each) for each in column]) for column in zip(*rows)]
            yield {n: c.reshape(len(c), *s) for n, c, s in zip(names, columns, shapes)}

    def mark_ranges(
        self,
        program: Program,
        types: Sequence[str],
        values: Mapping[str, Any],
        weights: set[str],
        with_results: bool = True,
    ) -> None:
        """Note least and largest numbers, those of weights for each slice.

        Args:
            program: the model.
            types: of operators whose inputs are noted.
            values: what variables held.
            weights: the weights.
            with_results: whether those of results are noted, too.
        """
        edition = self.edition
        for op in program.global_block().ops:
            told: dict[str, Any] = {}
            for name in edition.read_by(op) if op.type in types else ():
                if name in weights:
                    array = rounding.array_of(self._scope, name)
                    axis = edition.slices.get(op.type, 0)
                    axes: Any = tuple(k for k in range(array.ndim) if k != axis)
                    told[f"{name}.min"] = np.min(array, axis=axes).tolist()
                    told[f"{name}.max"] = np.max(array, axis=axes).tolist()
                else:
                    told[f"{name}.min"] = _least(values[name])
                    told[f"{name}.max"] = _most(values[name])
            noted = edition.notes.get(op.type, ()) if with_results else ()
            for slot in noted:
                for at, name in enumerate(op.outputs.get(slot, ())):
                    told["out_min"] = _least(values[name])
                    told["out_max"] = _most(values[name])
                    if edition.is_later:
                        told[f"{slot}{at}_threshold"] = told["out_max"]
            for attribute, value in told.items():
                op.mark(attribute, value)

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
        names = (model_filename, params_filename)
        with scope_guard(self._scope):
            io.save_inference_model(
                save_model_path, feeds, fetches, self._executor, program, *names
            )


def _least(batches: Sequence[Any]) -> float:
    return float(min(batch.min() for batch in batches))


def _most(batches: Sequence[Any]) -> float:
    return float(max(batch.max() for batch in batches))


_ROUNDED = ("activation", "weight")


@answers_protected
@from_fields
class PostTrainingQuantization(Calibration):
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
        self._algo = given["algo"]
        one_of("algo", self._algo, [KL, ABS_MAX, MIN_MAX])
        self._activation, self._weight = (given[f"{what}_quantize_type"] for what in _ROUNDED)
        one_of("activation_quantize_type", self._activation, ACTIVATION_TYPES)
        one_of("weight_quantize_type", self._weight, [ABS_MAX, BY_SLICE])
        known = list(dict.fromkeys([*self.edition.products, *self.edition.others]))
        types = each_of("quantizable_op_type", given["quantizable_op_type"], known)
        counts = given["batch_size"], given["batch_nums"]
        Calibration.__init__(self, executor, scope, batches, samples, *counts)
        self._model = (model, executor, model_file, params_file)
        self._types = known if given["is_full_quantize"] else types
        self._bits: dict[str, Any] = {f"{k}_bits": given[f"{k}_bits"] for k in _ROUNDED}

    def quantize(self) -> Program:
        """The model's program with whole numbers for weights, which are in the scope.

        Raises:
            ArgumentError: there are no data.
        """
        with scope_guard(self._scope):
            program, feeds, fetches = io.load_inference_model(*self._model)
            names, weights = self.looked_at(program, self._types)
            values = self.values(program, feeds, names)
            rounded = [op for op in program.global_block().ops if op.type in self._types]
            if self._algo == MIN_MAX:
                self.mark_ranges(program, self._types, values, weights)
            else:
                kept = likely_scale if self._algo == KL else np.max
                scales = {
                    name: float(kept(np.abs(np.concatenate([np.ravel(each) for each in batches]))))
                    for name, batches in values.items()
                }
                round_by_scales(
                    program,
                    self._scope,
                    scales,
                    self._types,
                    self.edition,
                    self._activation,
                    self._weight,
                    self._bits,
                )
            for op in rounded:
                op.mark(rounding.KIND, f"post_{self._algo.lower()}")
            self._made = (program, feeds, fetches)
        return program


def round_by_scales(
    program: Program,
    scope: Scope,
    scales: Mapping[str, float],
    types: Sequence[str],
    edition: Edition,
    activation: str,
    weight: str,
    bits: Mapping[str, Any],
    correct: bool = False,
    is_frozen: bool = True,
) -> None:
    """Round what operators read, by scales that were found, and note those of results.

    Args:
        program: to be changed.
        scope: has the weights.
        scales: of variables.
        types: of operators.
        edition: how the program is written.
        activation, weight: how scales were found.
        bits: ``activation_bits`` and ``weight_bits``.
        correct: whether rounded weights shall have the mean and the spread of the weights.
        is_frozen: whether weights become whole numbers.
    """
    products = [each for each in types if each in edition.products]
    others = [each for each in types if each in edition.others]
    told: dict[str, Any] = {"scope": scope, "is_test": True, "edition": edition}
    hows: dict[str, Any] = {"activation": activation, "weight": weight}
    rounding.round_products(program, **told, types=products, **hows, **bits)
    rounding.round_others(program, **told, types=others, bits=bits["activation_bits"])
    for name, scale in scales.items():
        for stem in (name, f"{name}.quant_dequant"):
            declared = program.global_block().vars.get(stem + edition.scale)
            if declared is not None and declared.persistable:
                rounding.put(scope, declared.name, [scale])
    if is_frozen:
        freezing.freeze(
            program, scope=scope, weight=weight, edition=edition, correct=correct, **bits
        )
    for op in program.global_block().ops:
        for slot in edition.notes.get(op.type, ()):
            for at, name in enumerate(op.outputs.get(slot, ())):
                if name in scales:
                    rounding.mark_scale(op, slot, at, scales[name], edition)
