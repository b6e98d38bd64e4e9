"""Programs whose products read operands in bfloat16."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from ..ground.dtypes import DType
from ..ir.operator import Operator
from ..ir.program import Program
from ..scope import Scope
from .products import PRODUCTS, ProductRewriter
from .rounding import is_weight


class BrainFloatProducts(ProductRewriter):
    """The products of a program that can be computed of operands in bfloat16.

    Args:
        program: for inference; :meth:`change` changes it.
        scope: has weights, and gets those of bfloat16.
        keep: names of variables that are fetched.
    """

    def __init__(self, program: Program, scope: Scope, keep: Collection[str] = ()) -> None:
        super().__init__(program, scope, keep)
        self._rounded: dict[str, str] = {}

    def change(self, types: Collection[str] = ()) -> int:
        """Let products round their operands; says how many do.

        A batch norm behind a convolution becomes part of its filters and of what is added.

        Args:
            types: of operators; all that can when there are none.
        """
        self._note_readers()
        count = self._change_products(types)
        self._within.finish(self._gone)
        return count

    def _changed(self, op: Operator) -> bool:
        """Change a product of a value and a weight of float32."""
        first, second, _, _ = PRODUCTS[op.type]
        value, weight = op.input(first)[0], op.input(second)[0]
        is_fixed = is_weight(self._block, weight) and not self._writes[weight]
        variables = [self._block.var_recursive(name) for name in (value, weight)]
        is_single = all(each.dtype is DType.FP32 for each in variables)
        if not (is_fixed and is_single and self._writes[value] <= 1):
            return False
        array, norm = self._array(weight), self._fixed_norm_behind(op)
        if norm is not None:
            factor = self._without_norm(op, norm)
            array = array * factor.reshape(-1, *(1 for _ in array.shape[1:]))
        op.rename_input(value, self._back(op, value))
        op.rename_input(weight, self._stored(op, weight, array))
        return True

    def _back(self, op: Operator, name: str) -> str:
        """Round a value in front of a product, once for all that read it; the result's name."""
        if name not in self._rounded:
            block, like = self._block, self._block.var_recursive(name)
            rounded = f"{name}.in_bfloat16"
            block.declare_var(rounded, dtype=DType.BF16, shape=like.shape)
            self._cast(op, name, rounded, DType.FP32, DType.BF16)
            self._rounded[name] = self._from_bfloat16(op, rounded, like)
        return self._rounded[name]

    def _stored(self, op: Operator, name: str, array: Any) -> str:
        """Declare a weight in bfloat16, and what it stands for; the name of that."""
        stem, like = f"{name}.{len(self.weights)}.in_bfloat16", self._block.var_recursive(name)
        numbers = array.astype(DType.BF16.dtype)
        self.weights.append(self._within.state(stem, like, numbers, DType.BF16))
        return self._from_bfloat16(op, stem, like)

    def _from_bfloat16(self, op: Operator, name: str, like: Any) -> str:
        result = self._within.variable(f"{name}.in_float32", like)
        self._cast(op, name, result, DType.BF16, DType.FP32)
        return result

    def _cast(self, op: Operator, name: str, result: str, old: DType, new: DType) -> None:
        how = {"in_dtype": old, "out_dtype": new}
        self._within.put_before(op, "cast", {"X": name}, {"Out": result}, how)
