"""Points at which programs are evaluated: what is drawn of their data and parameters."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...ground.dtypes import Kind
from ...ground.values import LoDTensor
from ...ir.block import Block
from ...ir.variable import Parameter, Variable
from .field import PrimeField
from .jets import Dual, Jet
from .sweeps import Mention


class DrawnPoint:
    """A random point.

    Args:
        block: the first one of the program.
        mentions: its operators.
        feed: values by name that are not drawn.
        batch_size: what unknown sizes are taken for.
        field: whose residues are drawn.
        rng: draws numbers.
        scale: of the data; larger numbers take other sides of kinks.
        positive: whether data is drawn above 0, as logarithms and roots want it.
        wild: whether numbers are spread more, so that branches are taken that seldom are.
    """

    def __init__(
        self,
        block: Block,
        mentions: Sequence[Mention],
        feed: Mapping[str, Any],
        batch_size: int,
        field: PrimeField,
        rng: np.random.Generator,
        scale: float,
        positive: bool,
        wild: bool,
    ) -> None:
        self._block, self._mentions, self._feed = block, mentions, feed
        self._batch_size = batch_size
        self.field, self.rng = field, rng
        self._scale, self._positive = scale, positive
        self.is_wild = wild

    def sources(self) -> dict[str, Any]:
        """Values of what operators read and none has written before."""
        values: dict[str, Any] = {}
        fed_names = {name for m in self._mentions if m.op.type == "feed" for name in m.writes}
        read = [k.name for m in self._mentions for k in m.reads.values() if not k.version]
        for name in dict.fromkeys([*read, *fed_names, *self._feed]):
            variable = self._block.find_var_recursive(name)
            if variable is None or not (variable.has_shape or name in self._feed):
                continue
            fed = variable.persistable or variable.is_data or name in fed_names
            if name in self._feed:
                values[name] = self._given(self._feed[name], variable)
            elif fed and variable.kind is Kind.LOD_TENSOR:
                values[name] = self._drawn(variable)
        return values

    def _given(self, value: Any, variable: Variable) -> Any:
        """A value that is fed: the numbers are the user's, the residues are drawn."""
        array = np.asarray(value.data if isinstance(value, LoDTensor) else value)
        data: Any = array.astype(variable.dtype.dtype)
        if variable.dtype.is_float:
            exact = Jet(self.field.draw(array.shape))
            data = Dual(self.field, Jet(array.astype(np.float64)), exact)
        return LoDTensor(data, value.offsets) if isinstance(value, LoDTensor) else data

    def _drawn(self, variable: Variable) -> Any:
        shape = tuple(self._batch_size if size < 0 else size for size in variable.shape)
        dtype = variable.dtype.dtype
        data: Any
        if variable.dtype.is_float:
            data = Dual(self.field, Jet(self._numbers(variable, shape)), None)
            data.exact = Jet(self.field.draw(shape))
        else:
            data = self.rng.integers(0, 4 if self.is_wild else 2, size=shape).astype(dtype)
        if not variable.lod_level:
            return data
        return LoDTensor(data, [range(shape[0] + 1)] * variable.lod_level)

    def _numbers(self, variable: Variable, shape: tuple[int, ...]) -> Any:
        real = self.rng.normal(size=shape)
        if variable.persistable:  # of a size that neither blows up nor dies away
            fans = [math.prod(shape) / size for size in (*shape[:1], *shape[-1:]) if size]
            real = real / math.sqrt(max(min(fans, default=1.0), 1.0))
        else:
            real = self._scale * real + (2 * self.rng.normal() if self.is_wild else 0.0)
        is_statistic = variable.persistable and not isinstance(variable, Parameter)
        return np.abs(real) + 0.25 if self._positive or is_statistic else real
