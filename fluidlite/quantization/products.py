"""Programs whose products read other operands, where it is known what these are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from typing import Any

import numpy as np

from ..ir.operator import Operator
from ..ir.program import Program
from ..scope import Scope
from .editions import CONVOLUTIONS
from .linear import Pairs
from .rounding import array_of

#: a product -> the slots of a value, of a weight and of the result, and the dimension of slices
PRODUCTS = {
    **dict.fromkeys(CONVOLUTIONS, ("Input", "Filter", "Output", 0)),
    **dict.fromkeys(("mul", "matmul", "matmul_v2"), ("X", "Y", "Out", 1)),
    "fc": ("Input", "W", "Out", 1),
}


class ProductRewriter:
    """What changes the products of a program.

    Args:
        program: for inference; changed by what is derived from this.
        scope: has weights, and gets those that products read instead.
        keep: names of variables that are fetched.
    """

    def __init__(self, program: Program, scope: Scope, keep: Collection[str] = ()) -> None:
        self._scope, self._keep = scope, keep
        self._block = program.global_block()
        self._within = Pairs(self._block, scope)
        #: of names that are written once
        self._makers: dict[str, Operator] = {}
        self._writes: Counter[str] = Counter()
        self._readers: dict[str, list[Operator]] = {}
        self._gone: list[Operator] = []
        #: names of the weights that products read instead
        self.weights: list[str] = []

    def _note_readers(self) -> None:
        """Note which of the operators that stay read and write what."""
        gone = {id(op) for op in self._gone}
        left = [op for op in self._within.ops if id(op) not in gone]
        self._writes.update(name for op in left for name in op.output_arg_names)
        for op in left:
            for name in op.input_arg_names:
                self._readers.setdefault(name, []).append(op)
            for name in op.output_arg_names:
                if self._writes[name] == 1:
                    self._makers[name] = op

    def _change_products(self, types: Collection[str]) -> int:
        """Change the products of some types of operators, or all; how many were changed."""
        products = [op for op in self._within.ops if op.type in PRODUCTS]
        return sum(self._changed(op) for op in products if not types or op.type in types)

    def _changed(self, op: Operator) -> bool:
        """Change a product, where it can be; whether it was changed."""
        raise NotImplementedError

    def _array(self, name: str) -> Any:
        return array_of(self._scope, name)

    def _only_reader(self, name: str) -> Operator | None:
        """What alone reads a variable that is not fetched; None where that is not one operator."""
        readers = self._readers.get(name, [])
        is_plain = len(readers) == 1 and name in self._makers and name not in self._keep
        return readers[0] if is_plain else None

    def _fixed_norm_behind(self, op: Operator) -> Operator | None:
        """The batch norm by statistics that stay which alone reads a convolution; None without."""
        if op.type not in CONVOLUTIONS:
            return None
        if op.attr("data_format") == "NHWC" or op.input("Bias"):
            return None  # the norm is not of its channels, or not of its sums alone
        reader = self._only_reader(op.output("Output")[0])
        return reader if reader is not None and _is_fixed_norm(reader) else None

    def _without_norm(self, op: Operator, norm: Operator) -> Any:
        """Replace a batch norm behind a convolution by an addition; what filters are multiplied by
        instead, a number for each.
        """
        slots = ("Scale", "Bias", "Mean", "Variance")
        gamma, beta, mean, variance = (self._array(norm.input(slot)[0]) for slot in slots)
        factor = gamma / np.sqrt(variance + np.float32(norm.attr("epsilon")))
        out, result = op.output("Output")[0], norm.output("Y")[0]
        like = self._block.var_recursive(out)
        bias = self._within.state(f"{out}.bias", like, beta - mean * factor)
        between = self._within.variable(f"{out}.without_bias", like)
        op.rename_output(out, between)
        adding = {"X": between, "Y": bias}
        self._within.put_before(norm, "elementwise_add", adding, {"Out": result}, {"axis": 1})
        self._gone.append(norm)
        return factor


def _is_fixed_norm(op: Operator) -> bool:
    """Whether an operator is a batch norm by statistics that stay."""
    if op.type != "batch_norm" or op.attr("data_layout") == "NHWC":
        return False
    return bool(op.attr("is_test") or op.attr("use_global_stats"))
