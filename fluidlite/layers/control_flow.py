"""Branches, loops, recurrent networks and arrays, under the name that fluid 1.8 has for them."""

from __future__ import annotations

from ..ground.missing_names import answer
from ..ground.public_names import list_public_names
from .array import array_length, array_read, array_write, create_array
from .branch import IfElse, Switch, case, cond, merge_lod_tensor, split_lod_tensor, switch_case
from .compare import equal, greater_equal, greater_than, is_empty, less_equal, less_than, not_equal
from .debug import Assert, Print
from .dynamic_rnn import (
    DynamicRNN,
    array_to_lod_tensor,
    lod_rank_table,
    lod_tensor_to_array,
    max_sequence_len,
    reorder_lod_tensor_by_rank,
    shrink_memory,
)
from .loop import While, while_loop
from .static_rnn import StaticRNN
from .variables import increment

__all__ = [
    "Assert", "DynamicRNN", "IfElse", "Print", "StaticRNN", "Switch", "While", "array_length",
    "array_read", "array_to_lod_tensor", "array_write", "case", "cond", "create_array", "equal",
    "greater_equal", "greater_than", "increment", "is_empty", "less_equal", "less_than",
    "lod_rank_table", "lod_tensor_to_array", "max_sequence_len", "merge_lod_tensor", "not_equal",
    "reorder_lod_tensor_by_rank", "shrink_memory", "split_lod_tensor", "switch_case", "while_loop",
]  # fmt: skip

list_public_names(globals())
answer(globals())
