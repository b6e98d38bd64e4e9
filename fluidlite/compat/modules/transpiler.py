"""``fluid.transpiler``: what rewrote programs for memory, for inference, and for many machines."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ...errors import ArgumentError
from ...ground.protected import answers_protected
from ...ir.program import Program
from ...ir.text import block_text, operator_text, variable_text
from ...scope import Scope, global_scope
from .face import memory_optimize as memory_optimize
from .face import release_memory as release_memory

string_types: tuple[type[str]] = (str,)


class InferenceTranspiler:
    """Folds batch normalization into the convolutions before it."""

    def transpile(self, program: Program, place: Any, scope: Scope | None = None) -> None:
        """Rewrite a program for inference, in its place.

        Args:
            program: one for testing, with its parameters in the scope.
            place: not read.
            scope: the global one when None.

        Raises:
            ArgumentError: an argument is of another kind.
        """
        if not isinstance(program, Program):
            raise ArgumentError(f"expected a Program, got {program!r:.60}")
        held = global_scope() if scope is None else scope
        if not isinstance(held, Scope):
            raise ArgumentError(f"expected a Scope, got {scope!r:.60}")
        block = program.global_block()
        for normalize in [op for op in block.ops if op.type == "batch_norm"]:
            self._fold(block, normalize, held)

    def _fold(self, block: Any, normalize: Any, scope: Scope) -> None:
        """Fold one batch normalization, where a convolution of its own stands before it."""
        taken = normalize.input("X")[0]
        users = [op for op in block.ops if taken in op.input_arg_names]
        makers = [op for op in block.ops if taken in op.output_arg_names]
        added = makers[0] if len(makers) == 1 and makers[0].type == "elementwise_add" else None
        bias = added.input("Y")[0] if added else ""
        if added is not None:
            before = added.input("X")[0]
            makers = [op for op in block.ops if before in op.output_arg_names]
            if len([op for op in block.ops if before in op.input_arg_names]) != 1:
                return
            if not _is_held(scope, bias) or len(block.var(bias).shape) != 1:
                return
        if len(users) != 1 or len(makers) != 1 or makers[0].type not in _CONVOLUTIONS:
            return
        weights = makers[0].input("Filter")[0]
        if len([op for op in block.ops if weights in op.input_arg_names]) != 1:
            return
        self._rewrite(block, normalize, added, weights, bias, scope)

    def _rewrite(
        self, block: Any, normalize: Any, added: Any, weights: str, bias: str, scope: Scope
    ) -> None:
        def value(name: str) -> Any:
            return np.array(scope.var(name).get_tensor())

        scale, shift, mean, variance = (
            value(normalize.input(slot)[0]) for slot in ("Scale", "Bias", "Mean", "Variance")
        )
        factor = scale / np.sqrt(variance + np.float32(normalize.attr("epsilon")))
        tensor = scope.var(weights).get_tensor()
        tensor.set(np.array(tensor) * factor[:, None, None, None], None)
        index = block.ops.index(normalize)
        result, place = normalize.output("Y")[0], None
        if added is not None:
            held = scope.var(bias).get_tensor()
            held.set((np.array(held) - mean) * factor + shift, place)
            added._rename_output(added.output("Out")[0], result)
            block._remove_op(index)
            return
        name = normalize.input("Bias")[0]
        scope.var(name).get_tensor().set(shift - mean * factor, place)
        block._remove_op(index)
        block._insert_op(
            index,
            type="elementwise_add",
            inputs={"X": normalize.input("X"), "Y": [name]},
            outputs={"Out": [result]},
            attrs={"axis": 1},
        )


_CONVOLUTIONS = {"conv2d", "depthwise_conv2d"}


def _is_held(scope: Scope, name: str) -> bool:
    found = scope.find_var(name)
    return found is not None and found.is_initialized


class PSDispatcher:
    """Divides variables among machines.

    Args:
        pserver_endpoints: the machines.
    """

    def __init__(self, pserver_endpoints: list[str]) -> None:
        self._eps = list(pserver_endpoints)
        self._step = 0

    @property
    def eps(self) -> list[str]:
        """The machines."""
        return self._eps

    def reset(self) -> None:
        """Begin with the first one again."""
        self._step = 0


class RoundRobin(PSDispatcher):
    """Gives variables to machines in turn."""

    def dispatch(self, varlist: Iterable[Any]) -> list[str]:
        """The machine of each variable."""
        endpoints = []
        for _ in varlist:
            endpoints.append(self._eps[self._step % len(self._eps)])
            self._step += 1
        return endpoints


@answers_protected
class HashName(PSDispatcher):
    """Gives variables to machines by their names."""

    def dispatch(self, varlist: Iterable[Any]) -> list[str]:
        """The machine of each variable."""
        return [self._eps[sum(var.name.encode()) % len(self._eps)] for var in varlist]


# -- details --------------------------------------------------------------------------------------


def program_to_code(prog: Program, fout: Any = None, skip_op_callstack: bool = True) -> None:
    """Print a program.

    Args:
        prog: the program.
        fout: a file to write to, instead.
        skip_op_callstack: leave out where operators were made.
    """
    for index in range(prog.num_blocks):
        block_to_code(prog.block(index), index, fout, skip_op_callstack)


def block_to_code(
    block: Any, block_idx: int = 0, fout: Any = None, skip_op_callstack: bool = True
) -> None:
    """Print a block.

    Args:
        block: the block.
        block_idx: its number.
        fout: a file to write to, instead.
        skip_op_callstack: leave out where operators were made.
    """
    print(f"{{ // block {block_idx}\n{block_text(block)}\n}}", file=fout)


def op_to_code(op: Any, skip_op_callstack: bool = True) -> str:
    """An operator as a text."""
    return operator_text(op)


def variable_to_code(var: Any) -> str:
    """A variable as a text."""
    return variable_text(var)


def get_indent_space(indent: int, space_num: int = 4) -> str:
    """The spaces before a line."""
    return " " * (indent * space_num)


def delete_ops(block: Any, ops: Iterable[Any]) -> None:
    """Take operators out of a block."""
    for op in ops:
        block._remove_op(block.ops.index(op))


def find_op_by_input_arg(block: Any, arg_name: str) -> int:
    """The place of the first operator that reads a variable; -1 if there is none."""
    return next((i for i, op in enumerate(block.ops) if arg_name in op.input_arg_names), -1)


def find_op_by_output_arg(block: Any, arg_name: str, reverse: bool = False) -> int:
    """The place of the first operator, or the last one, that writes a variable; -1 if there is
    none.
    """
    found = [i for i, op in enumerate(block.ops) if arg_name in op.output_arg_names]
    return found[-1 if reverse else 0] if found else -1
