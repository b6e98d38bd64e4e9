"""Saved models whose weights are stored as whole numbers."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import io
from ..ground.protected import answers_protected
from ..ground.reprs import Described
from ..ir.operator import Operator
from ..opdef.whole_numbers import largest
from ..runtime.executor import Executor
from ..scope import Scope, global_scope, scope_guard
from . import rounding
from .editions import CONVOLUTIONS, FLUID_1_8
from .passes import each_of, one_of
from .rounding import ABS_MAX, BY_SLICE

_BINS = 5000


@answers_protected
class WeightQuantization(Described):
    """A saved model whose weights are stored as whole numbers.

    Args:
        model_dir, model_filename, params_filename: as of ``fluid.io.load_inference_model``.
    """

    _supported_quantizable_op_type = (*CONVOLUTIONS, "mul")
    _supported_weight_quantize_type = (BY_SLICE, ABS_MAX)

    def __init__(
        self, model_dir: str, model_filename: str | None = None, params_filename: str | None = None
    ) -> None:
        self.model_dir: str = model_dir
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
        each_of("quantizable_op_type", quantizable_op_type, self._supported_quantizable_op_type)
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
    """Replace a weight by one of few bits, and note its scale."""
    for name in FLUID_1_8.read_by(op):
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
        whole = np.clip(np.round(slices / scale.reshape(shape)), -most, most)
        if is_whole:
            variable.declare(dtype=f"int{bits}")
            rounding.put(scope, name, np.moveaxis(whole, 0, axis), f"int{bits}")
        else:
            rounding.put(scope, name, np.moveaxis(whole * scale.reshape(shape), 0, axis))
        op.mark(rounding.KIND, f"post_weight_{how}")
        op.mark("quantize_weight_bits", bits)
        op.mark(f"{name}_quant_scale", scale.tolist())


def _counted_most(values: Any, rate: float) -> float:
    """The largest number, but for a share of them: an edge of a histogram's bin."""
    most = float(values.max(initial=0))
    if not rate or not most:
        return most
    counts, edges = np.histogram(values, _BINS, (0, most))
    shares = np.cumsum(counts[::-1]) / values.size
    return float(edges[_BINS - np.searchsorted(shares, rate)])
