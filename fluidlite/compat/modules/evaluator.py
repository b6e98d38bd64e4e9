"""``fluid.evaluator``: measures whose sums programs keep; ``fluid.metrics`` came later."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import layers, unique_name
from ...initializer import Constant
from ...ir.program import Program, program_guard
from ...layer_helper import LayerHelper
from ...layers import cast, elementwise_sub, fill_constant, sums
from ...layers import reduce_sum as total_of
from ...runtime.executor import Executor


def _layer(name: str) -> Any:
    """A layer of sequences."""
    return getattr(layers, name)


class Evaluator:
    """A measure: variables that a program adds to, and what is made of them.

    Args:
        name: stands in the names of its variables.
        kwargs: of the layer.
    """

    def __init__(self, name: str, **kwargs: Any) -> None:
        self.states: list[Any] = []
        self.metrics: list[Any] = []
        self.helper: LayerHelper = LayerHelper(name, **kwargs)

    def reset(self, executor: Executor, reset_program: Program | None = None) -> None:
        """Set the sums to 0.

        Args:
            executor: runs the program that does it.
            reset_program: the program to append it to; a new one when None.
        """
        program = Program() if reset_program is None else reset_program
        with program_guard(program):
            for state in self.states:
                held = program.current_block().create_var(
                    name=state.name, shape=state.shape, dtype=state.dtype, persistable=True
                )
                fill_constant(state.shape, state.dtype, 0.0, out=held)
        executor.run(program)

    def eval(self, executor: Executor, eval_program: Program | None = None) -> Any:
        """The measure: written by who derives."""
        raise NotImplementedError(f"{type(self).__name__} has no eval")

    def _create_state(self, suffix: str, dtype: Any, shape: Any) -> Any:
        state = self.helper.create_variable(
            name="_".join([unique_name.generate(self.helper.name), suffix]),
            persistable=True,
            dtype=dtype,
            shape=shape,
        )
        self.helper.set_variable_initializer(state, Constant(0))
        self.states.append(state)
        return state

    def _values(self, executor: Executor, eval_program: Program | None) -> list[Any]:
        """The sums."""
        program = Program() if eval_program is None else eval_program
        block = program.current_block()
        for each in self.states:
            block.create_var(name=each.name, shape=each.shape, dtype=each.dtype, persistable=True)
        return list(executor.run(program, fetch_list=[each.name for each in self.states]))


class ChunkEvaluator(Evaluator):
    """Precision, recall and F1 of chunks, over all batches since ``reset``.

    Args:
        input: the tags found.
        label: the right ones.
        chunk_scheme: "IOB", "IOE", "IOBES" or "plain".
        num_chunk_types: how many there are.
        excluded_chunk_types: those that are not counted.
    """

    def __init__(
        self,
        input: Any,
        label: Any,
        chunk_scheme: str,
        num_chunk_types: int,
        excluded_chunk_types: Any = None,
    ) -> None:
        super().__init__("chunk_eval")
        shape = [1]
        self.num_infer_chunks: Any = self._create_state("num_infer_chunks", "int64", shape)
        self.num_label_chunks: Any = self._create_state("num_label_chunks", "int64", shape)
        self.num_correct_chunks: Any = self._create_state("num_correct_chunks", "int64", shape)
        outs = _layer("chunk_eval")(
            input=input,
            label=label,
            chunk_scheme=chunk_scheme,
            num_chunk_types=num_chunk_types,
            excluded_chunk_types=excluded_chunk_types,
        )
        precision, recall, f1, infer, labels, correct = outs
        for held, new in zip(self.states, (infer, labels, correct)):
            sums([held, new], out=held)
        self.metrics.extend([precision, recall, f1])

    def eval(self, executor: Executor, eval_program: Program | None = None) -> Any:
        """Precision, recall and F1, each an array of one element."""
        infer, labels, correct = (float(v[0]) for v in self._values(executor, eval_program))
        precision = correct / infer if infer else 0.0
        recall = correct / labels if labels else 0.0
        f1 = 2 * precision * recall / (precision + recall) if correct else 0.0
        return tuple(np.array([v], np.float32) for v in (precision, recall, f1))


class EditDistance(Evaluator):
    """The mean edit distance and the part of sequences that are wrong, since ``reset``.

    Args:
        input: the sequences found.
        label: the right ones.
        ignored_tokens: taken out before.
        kwargs: of the layer.
    """

    def __init__(self, input: Any, label: Any, ignored_tokens: Any = None, **kwargs: Any) -> None:
        super().__init__("edit_distance", **kwargs)
        self.total_distance: Any = self._create_state("total_distance", "float32", [1])
        self.seq_num: Any = self._create_state("seq_num", "int64", [1])
        self.instance_error: Any = self._create_state("instance_error", "int64", [1])
        distances, number = _layer("edit_distance")(
            input=input, label=label, ignored_tokens=ignored_tokens
        )
        zero = fill_constant([1], "float32", 0.0)
        right = cast(layers.equal(distances, zero), "int64")
        wrong = elementwise_sub(number, total_of(right))
        total = total_of(distances)
        sums([self.total_distance, total], out=self.total_distance)
        sums([self.seq_num, number], out=self.seq_num)
        sums([self.instance_error, wrong], out=self.instance_error)
        self.metrics.extend([total, wrong])

    def eval(self, executor: Executor, eval_program: Program | None = None) -> Any:
        """The mean distance and the part that is wrong, each an array of one element."""
        distance, number, wrong = (float(v[0]) for v in self._values(executor, eval_program))
        return tuple(np.array([v / number], np.float32) for v in (distance, wrong))


def _clone_var_(block: Any, var: Any) -> Any:
    return block.create_var(
        name=var.name, shape=var.shape, dtype=var.dtype, lod_level=var.lod_level, persistable=True
    )
