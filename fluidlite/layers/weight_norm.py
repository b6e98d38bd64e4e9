"""Weights as a direction and a length, which are trained in their place.

Salimans and Kingma, Weight normalization: a simple reparameterization to accelerate training of
deep neural networks, NeurIPS 2016.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import unique_name
from ..errors import ArgumentError
from ..ground.dtypes import DType
from ..initializer import Initializer
from ..ir.block import Block
from ..ir.program import Program
from ..ir.variable import Parameter, Variable
from ..param_attr import WeightNormParamAttr


def weight_norm(
    block: Block,
    startup: Program,
    layer: str,
    name: str,
    attr: WeightNormParamAttr,
    shape: Sequence[int],
    dtype: DType,
    initializer: Initializer,
) -> Variable:
    """Append what makes a weight of a direction, ``<name>_v``, and a length, ``<name>_g``.

    Args:
        block: where the weight is used.
        startup: gets the first values: the direction's, and the length that the weight has then.
        layer: the layer's name.
        name: of the weight, which no variable has.
        attr: what the user said about it.
        shape: of the weight.
        dtype: its element type.
        initializer: gives the first direction.

    Raises:
        ArgumentError: the weight has no such dimension as ``attr`` names.
    """
    dim, rank = attr.dim, len(shape)
    if dim is not None and dim >= rank:
        raise ArgumentError(
            f"WeightNormParamAttr: expected dim to be a dimension of the weight {name!r} of shape "
            f"{list(shape)}, a number below {rank}, got {dim}"
        )
    lengths = [n if i == dim else 1 for i, n in enumerate(shape)]
    more = attr.parameter_arguments()
    first = startup.global_block()
    parts: dict[str, Parameter] = {}
    for suffix, sizes in (("g", lengths), ("v", list(shape))):
        called = f"{name}_{suffix}"
        parts[suffix] = block.create_parameter(sizes, dtype, called, **more)
        first.create_parameter(sizes, dtype, called, stop_gradient=False, **more)
    initializer(first.var(f"{name}_v"), first)
    start = _Norms(first, layer)
    start.norm(f"{name}_v", dim, out=f"{name}_g")
    start.append("reshape", f"{name}_g", f"{name}_g", shape=lengths)
    length = _Norms(block, layer).norm(parts["v"].name, dim)
    share = _layer(block, "elementwise_div").elementwise_div(
        parts["g"], block.var_recursive(length)
    )
    if dim is None:
        weight: Variable = _layer(block, "elementwise_mul").elementwise_mul(parts["v"], share)
        return weight
    flat = _layer(block, "reshape2").reshape2(share, shape=[shape[dim]])
    weight = _layer(block, "elementwise_mul").elementwise_mul(parts["v"], flat, axis=dim)
    return weight


class _Norms:
    """Euclidean norms in a block, of operators and names as fluid has them.

    Args:
        block: where.
        layer: what variables are called after.
    """

    def __init__(self, block: Block, layer: str) -> None:
        self.block = block
        self.layer = layer

    def append(self, type: str, x: str, out: str, **attrs: Any) -> str:
        """Append an operator of one input."""
        self.block.append_op(type, {"X": x}, {"Out": out}, attrs)
        return out

    def _new(self, what: str) -> str:
        name = unique_name.generate(f"{self.layer}.weight_norm_{what}")
        self.block.create_var(name=name)
        return name

    def norm(self, x: str, dim: int | None, out: str | None = None) -> str:
        """The norm of what lies along one dimension; of all when None.

        Args:
            x: a variable's name.
            dim: the dimension that stays; the others have size 1 then.
            out: the name of the variable to write to; a new one when None.
        """
        out = self._new("norm") if out is None else out
        if dim is None:
            return self._root(x, out, dim=[0], reduce_all=True)
        shape = self.block.var_recursive(x).shape
        sizes = [n if i == dim else 1 for i, n in enumerate(shape)]
        if dim in (0, len(shape) - 1):
            rows = [shape[0], -1] if dim == 0 else [-1, shape[dim]]
            matrix = self.append("reshape", x, self._new("reshape"), shape=rows)
            norm = self._root(matrix, self._new("norm"), dim=[1 if dim == 0 else 0])
            return self.append("reshape", norm, out, shape=sizes)
        order = list(range(len(shape)))
        order[0], order[dim] = dim, 0
        turned = self.append("transpose", x, self._new("transpose"), axis=order)
        norm = self._first(turned)
        return self.append("transpose", norm, out, axis=order)

    def _first(self, x: str) -> str:
        """The norm that keeps the first dimension, in a variable called after its reshaping."""
        shape = self.block.var_recursive(x).shape
        matrix = self.append("reshape", x, self._new("reshape"), shape=[shape[0], -1])
        norm = self._root(matrix, self._new("norm"), dim=[1])
        sizes = [shape[0]] + [1] * (len(shape) - 1)
        return self.append("reshape", norm, self._new("reshape"), shape=sizes)

    def _root(self, x: str, out: str, **reduction: Any) -> str:
        size = self.append("abs", x, self._new("abs"))
        square = self.append("pow", size, self._new("pow"), factor=2.0)
        total = self.append("reduce_sum", square, self._new("sum"), **reduction)
        return self.append("pow", total, out, factor=0.5)


def _layer(block: Block, kind: str) -> Any:
    """An interpreter that names its results as a layer of that kind does."""
    return block.builder(f"{unique_name.generate(kind)}.tmp")
