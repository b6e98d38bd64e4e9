"""Programs with rounded products, changed so that plans may compute in whole numbers.

Whatever pass rounded them, ``quantize_linear`` and ``dequantize_linear`` stand in front of products
afterwards, weights are stored in 8 bits, and a batch norm behind a convolution is part of its
scales and of what is added.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from typing import Any, NamedTuple

import numpy as np

from ..ir.operator import Operator
from ..ir.program import Program
from ..opdef.whole_numbers import largest, scales_along
from ..scope import Scope
from .freezing import stored
from .linear import Pairs
from .products import PRODUCTS, ProductRewriter
from .rounding import is_weight

BITS = 8
_FROZEN = ("fake_quantize_moving_average_abs_max", "fake_quantize_range_abs_max")
_SINGLE = "fake_quantize_dequantize_moving_average_abs_max"
_OF_WEIGHTS = ("fake_channel_wise_quantize_dequantize_abs_max", "fake_quantize_dequantize_abs_max")
_BACK = ("fake_dequantize_max_abs", "fake_channel_wise_dequantize_max_abs")
_WHOLE, _STANDS_FOR = "quantize_linear", "dequantize_linear"
_ROUNDINGS = (*_FROZEN, _SINGLE, *_OF_WEIGHTS, _WHOLE, _STANDS_FOR)


class _Weight(NamedTuple):
    """A weight in whole numbers."""

    numbers: Any
    scale: Any
    axis: int  #: the dimension of slices; -1 for one scale


class _Rounded(NamedTuple):
    """A value that a product reads rounded."""

    source: str
    scale: str
    round_type: int
    is_frozen: bool  #: whether the product multiplies whole numbers


class IntegerProducts(ProductRewriter):
    """The products of a program that can be computed in whole numbers.

    Args:
        program: for inference; :meth:`change` changes it.
        scope: has weights and scales, and gets those of 8 bits.
        keep: names of variables that are fetched.
    """

    def __init__(self, program: Program, scope: Scope, keep: Collection[str] = ()) -> None:
        super().__init__(program, scope, keep)
        self._pairs: dict[_Rounded, str] = {}

    def change(self, types: Collection[str] = ()) -> int:
        """Let products read whole numbers where it is known which; says how many do.

        Args:
            types: of operators; all that can when there are none.
        """
        self._pass_observers()
        self._note_readers()
        count = self._change_products(types)
        self._within.finish(self._gone)
        _drop_unread(self._within, self._block.ops, self._keep)
        return count

    def _pass_observers(self) -> None:
        """Let operators read what goes through roundings that only note its scale."""
        sources: dict[str, str] = {}
        for op in self._within.ops:
            for name in [n for n in op.input_arg_names if n in sources]:
                op.rename_input(name, sources[name])
            for name in op.output_arg_names:
                sources.pop(name, None)
            if op.type in (_WHOLE, _STANDS_FOR) and op.attr("only_observer") and op.attr("is_test"):
                (name,) = op.output("Y")
                if name not in self._keep:
                    sources[name] = op.input("X")[0]
                    self._gone.append(op)

    def _changed(self, op: Operator) -> bool:
        """Change a product, where its operands are rounded."""
        first, second, out, _ = PRODUCTS[op.type]
        rounded = self._rounded(op.input(first)[0])
        if rounded is None:
            return False
        reader = self._only_reader(op.output(out)[0])
        weight = self._weight(op, op.input(second)[0], rounded.is_frozen, reader)
        if weight is None:
            return False
        op.rename_input(op.input(first)[0], self._pair(op, rounded))
        if rounded.is_frozen and reader is not None:
            self._gone.append(reader)
            op.rename_output(op.output(out)[0], reader.output("Out")[0])
        norm = self._fixed_norm_behind(op)
        if norm is not None:
            factor = self._without_norm(op, norm)
            scale = np.asarray(weight.scale * factor, factor.dtype)
            weight = _Weight(weight.numbers, scale, 0)
        op.rename_input(op.input(second)[0], self._stored(op, op.input(second)[0], weight))
        return True

    def _rounded(self, name: str) -> _Rounded | None:
        """What a product reads; None where it is not rounded by a scale that is known."""
        op = self._makers.get(name)
        if op is None:
            return None
        if op.type == _STANDS_FOR:
            rounding = self._makers.get(op.input("X")[0])
            if rounding is None or rounding.type != _WHOLE or not _is_usual(rounding):
                return None
            if rounding.attr("quant_axis") != -1:
                return None
            scale = rounding.input("Scale")[0]
        elif op.type in (*_FROZEN, _SINGLE) and _is_usual(op):
            rounding, scale = op, op.input("InScale")[0]
        else:
            return None
        how = int(rounding.attr("round_type"))
        if self._writes[rounding.input("X")[0]] > 1:
            return None
        return _Rounded(rounding.input("X")[0], scale, how, op.type in _FROZEN)

    def _weight(
        self, op: Operator, name: str, is_frozen: bool, reader: Operator | None
    ) -> _Weight | None:
        """The weight of a product; None where it is not rounded to 8 bits."""
        axis = PRODUCTS[op.type][-1]
        if is_frozen:
            if reader is None or reader.type not in _BACK or not is_weight(self._block, name):
                return None
            numbers, scale = self._array(name), self._scale_behind(reader)
            return _whole_weight(numbers, scale, axis)
        maker = self._makers.get(name)
        if maker is None or maker.type not in (_STANDS_FOR, *_OF_WEIGHTS):
            return None
        source = maker.input("X")[0]
        if maker.attr("bit_length") != BITS:
            return None
        if maker.type == _STANDS_FOR:
            axis, scale = int(maker.attr("quant_axis")), self._array(maker.input("Scale")[0])
            if is_weight(self._block, source):
                return _whole_weight(self._array(source), scale, axis)
            before = self._makers.get(source)
            if before is None or before.type != _WHOLE or not _is_usual(before):
                return None
            source = before.input("X")[0]
        if not is_weight(self._block, source):
            return None
        array = self._array(source)
        if maker.type in _OF_WEIGHTS:
            axis = int(maker.attr("quant_axis")) if maker.has_attr("quant_axis") else -1
            scale = scales_along(np, array, axis)[0] if axis >= 0 else np.abs(array).max()
        return _whole_weight(stored(array, scale, BITS, axis, False), scale, axis)

    def _scale_behind(self, op: Operator) -> Any:
        """The scale of a weight whose products an operator turns back."""
        if op.type == _BACK[1]:
            return self._array(op.input("Scales")[0])
        return np.float32(largest(BITS) ** 2 / op.attr("max_range"))

    def _pair(self, op: Operator, rounded: _Rounded) -> str:
        """Round a value in front of a product, once for all that read it so."""
        pair = self._pairs.get(rounded)
        if pair is None:
            stem = f"{rounded.source}.{len(self._pairs)}.in_int8"
            how: dict[str, Any] = {"round_type": rounded.round_type, "computes_in_int8": True}
            within, scale = self._within, rounded.scale
            pair = within.pair(op, rounded.source, scale, BITS, stem=stem, **how)
            self._pairs[rounded] = pair
        return pair

    def _stored(self, op: Operator, name: str, weight: _Weight) -> str:
        """Declare a weight of 8 bits, and what it stands for; the name of that."""
        stem = f"{name}.{len(self.weights)}.in_int8"
        like = self._block.var_recursive(op.input(PRODUCTS[op.type][0])[0])
        scale = self._within.state(f"{stem}.scale", like, np.reshape(weight.scale, -1))
        numbers = self._within.state(stem, like, weight.numbers, "int8")
        self.weights.append(numbers)
        result = self._within.variable(f"{stem}.fraction", like, weight.numbers.shape)
        ins = {"X": numbers, "Scale": scale, "ZeroPoint": self._within.zeros(numbers, scale)}
        how = {"quant_axis": weight.axis, "bit_length": BITS, "computes_in_int8": True}
        self._within.put_before(op, _STANDS_FOR, ins, {"Y": result}, how)
        return result


def _whole_weight(numbers: Any, scale: Any, axis: int) -> _Weight | None:
    """A weight of 8 bits; None where its numbers are none."""
    whole = np.clip(np.rint(numbers), -128, 127).astype("int8")
    if not np.array_equal(whole, numbers):
        return None
    return _Weight(whole, np.asarray(scale), axis if np.size(scale) > 1 else -1)


def _is_usual(op: Operator) -> bool:
    """Whether an operator rounds to 8 bits by a scale that stays."""
    is_observer = op.has_attr("only_observer") and op.attr("only_observer")
    return bool(op.attr("is_test")) and op.attr("bit_length") == BITS and not is_observer


def _drop_unread(within: Pairs, ops: list[Operator], keep: Collection[str]) -> None:
    """Take roundings out that nothing reads any more."""
    reads = Counter(name for op in ops for name in op.input_arg_names)
    gone = []
    for op in reversed(ops):
        if op.type not in _ROUNDINGS:
            continue
        name = op.output("Y" if op.type in (_WHOLE, _STANDS_FOR) else "Out")[0]
        if not reads[name] and name not in keep:
            gone.append(op)
            reads.subtract(op.input_arg_names)
    Pairs(within.block, None).finish(gone)
