"""How often the block of a loop runs at most, where the program's text says it."""

from __future__ import annotations

from bisect import bisect_left

import numpy as np

from ..ground.dtypes import DType
from ..ir.analysis import blocks_driven_by, writes_of
from ..ir.block import Block
from ..ir.operator import Operator
from ..ir.program import Program


class LoopBounds:
    """Bounds of the loops of a program that count by whole numbers from one constant to another.

    Args:
        program: stays as it is while it is asked about.
    """

    def __init__(self, program: Program) -> None:
        self._program = program
        self._writers: dict[int, dict[str, list[int]]] = {}  # by block: name -> positions
        self._drives: dict[int, bool] = {}  # by block: whether an operator of it drives another

    def passes(self, op: Operator, index: int, body_index: int) -> int | None:
        """The largest number of passes of a loop; None where it is not known.

        Args:
            op: runs a block as long as a condition holds.
            index: of the operator in its block.
            body_index: of the block that it runs.
        """
        definition = op.definition
        names = op.inputs.get(definition.condition_slot, ()) if definition is not None else ()
        if len(names) != 1 or not 0 <= body_index < self._program.num_blocks:
            return None
        body = self._program.block(body_index)
        compared = self._only_writer(body, names[0])
        if self._drives[body.idx] or compared is None:
            return None
        counters, ends = compared.inputs.get("X", ()), compared.inputs.get("Y", ())
        if compared.type not in _COMPARISONS or len(counters) != 1 or len(ends) != 1:
            return None
        stepped = self._only_writer(body, counters[0])
        if stepped is None or stepped.type != "increment" or stepped.inputs.get("X") != counters:
            return None
        if ends[0] in self._writers_of(body):
            return None
        step = stepped.attr("step")
        first = self._constant(op.block, counters[0], index)
        last = self._constant(op.block, ends[0], index)
        if first is None or last is None or step < 1 or step != int(step):
            return None
        last += _COMPARISONS[compared.type]
        if last + int(step) > np.iinfo(np.int32).max and not self._is_long(op, counters[0], last):
            return None
        return max(-((first - last) // int(step)), 0)

    def _is_long(self, op: Operator, counter: str, last: int) -> bool:
        """Whether a counter reaches its end before it overflows."""
        variable = op.block.find_var_recursive(counter)
        return variable is not None and variable.dtype is DType.INT64 and last < 2**62

    def _writers_of(self, block: Block) -> dict[str, list[int]]:
        known = self._writers.get(block.idx)
        if known is None:
            known = self._writers[block.idx] = {}
            for k, op in enumerate(block.ops):
                for name in writes_of(op):
                    known.setdefault(name, []).append(k)
            self._drives[block.idx] = any(map(blocks_driven_by, block.ops))
        return known

    def _only_writer(self, block: Block, name: str) -> Operator | None:
        found = self._writers_of(block).get(name, ())
        return block.ops[found[0]] if len(found) == 1 else None

    def _constant(self, block: Block, name: str, index: int) -> int | None:
        """The whole number that a variable holds in front of an operator."""
        places = self._writers_of(block).get(name, [])
        before = bisect_left(places, index)
        if not before:
            return None
        op = block.ops[places[before - 1]]
        if op.type != "fill_constant" or op.inputs or op.attr("dtype") not in _WHOLE:
            return None
        try:
            value = float(op.attr("str_value") or op.attr("value"))
            return int(value) if value == int(value) else None
        except (ValueError, OverflowError):
            return None


_WHOLE = (DType.INT32, DType.INT64)
#: a comparison that a loop goes on by -> how far behind its end it goes
_COMPARISONS = {"less_than": 0, "less_equal": 1}
