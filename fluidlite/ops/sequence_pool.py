"""Sequences reduced to one row each, and normalised."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from ..errors import ShapeError
from ..ground.dtypes import DType
from ..ground.values import bare
from ..opdef.annotations import Array, Arrays, Rules, Specs, Value, Values
from ..opdef.attribute import attr, need_choice
from ..opdef.definition import Op, ValueShaped
from ..opdef.fluid_form import FluidForm
from ..opdef.gradient import differentiated_as
from ..opdef.sequences import as_column, lengths_of, lod_of, offsets_of
from ..opdef.spec import Spec, need_float, size_of
from .inert_attributes import UseCudnn

_KINDS = ("AVERAGE", "SUM", "SQRT", "MAX", "LAST", "FIRST")


class sequence_pool(ValueShaped):
    """Out = one row for each sequence of X: the sum of its rows, or what ``pooltype`` says.

    X: rows of any shape, in sequences; of several levels the innermost ones become rows.
    MaxIndex: of ``MAX`` the numbers of the rows that are taken, -1 for an empty sequence.
    pooltype: ``SUM``; ``AVERAGE``; ``SQRT``, the sum over the root of the length; ``MAX``;
        ``FIRST``; ``LAST``.
    pad_value: what the row of an empty sequence holds.
    is_test: accepted; MaxIndex is there in any case.
    """

    signature = "X[] -> Out, MaxIndex!~"
    is_test: bool = attr(False, inert=True)
    pooltype: str = "AVERAGE"
    pad_value: float = 0.0
    per_sequence: ClassVar[tuple[str, ...]] = ("Out", "MaxIndex")
    fluid: ClassVar[FluidForm] = FluidForm(carried=("MaxIndex",))

    def carries(self) -> Sequence[str]:
        return self.fluid.carried if self.pooltype == "MAX" else ()

    def infer(self, X: Spec) -> Specs:
        need_float(X=X)
        need_choice(self, "pooltype", *_KINDS)
        out = X.with_dim(0, -1)._replace(lod_level=max(X.lod_level - 1, 0))
        is_max = self.pooltype == "MAX"
        return out, out._replace(dtype=DType.INT32, lod_level=0) if is_max else None

    def lods(self, ins: Mapping[str, Any]) -> Mapping[str, Any] | None:
        return {"Out": lod_of(ins["X"])[:-1]}

    def expand(self, f: Any, X: Value) -> Values:
        offsets = np.asarray(offsets_of(X, "X"))
        index = None
        if self.pooltype == "MAX":
            index = f.segment_argmax(X, offsets)
            out = f.take_along(_with_a_row(f, X), np.maximum(index, 0), axis=0)
            if (offsets[1:] == offsets[:-1]).any():
                out = f.take_rows(out, _filled(offsets, np.arange(len(index))))
            index = index.astype(np.int32)
        elif self.pooltype in ("FIRST", "LAST"):
            out = f.take_rows(X, self._ends(offsets))
        else:
            out = f.segment_sum(X, offsets)
            factors = self._factors(offsets)
            if factors is not None:
                out = f.elementwise_mul(out, factors.astype(bare(X).dtype), axis=0)
        empty = offsets[1:] == offsets[:-1]
        if self.pad_value and empty.any():
            pads = as_column(np.where(empty, self.pad_value, 0), out)
            out = f.elementwise_add(out, np.broadcast_to(pads, out.shape))
        return out, index

    def _factors(self, offsets):
        """What sums are multiplied by, for each sequence; None for 1."""
        lengths = np.maximum(np.diff(offsets), 1)
        return {"AVERAGE": 1 / lengths, "SQRT": 1 / np.sqrt(lengths)}.get(self.pooltype)

    def _ends(self, offsets):
        """The number of the row that is taken of each sequence, -1 of an empty one."""
        return _filled(offsets, offsets[:-1] if self.pooltype == "FIRST" else offsets[1:] - 1)

    def run_numpy(self, xp: Any, X: Array) -> Arrays:
        offsets, rows, index = np.asarray(offsets_of(X, "X")), bare(X), None
        empty = offsets[1:] == offsets[:-1]
        some_empty = empty.any()
        if not len(rows):
            rows = np.zeros_like(rows, shape=(1, *rows.shape[1:]))
        if self.pooltype == "MAX":
            index = xp.segment_argmax(bare(X), offsets)
            out = np.take_along_axis(rows, index, 0)  # any row for an empty sequence
            index = index.astype(np.int32)
        elif self.pooltype in ("FIRST", "LAST"):
            out = np.take(rows, self._ends(offsets), axis=0)
        else:
            out = xp.segment_sum(bare(X), offsets)
            factors = self._factors(offsets)
            if factors is not None:
                out = out * as_column(factors, rows)
        if some_empty:
            out[empty] = self.pad_value
        return out, index

    def grad_numpy(self, xp: Any, X: Array, dOut: Array) -> Arrays:
        offsets, rows = np.asarray(offsets_of(X, "X")), bare(X)
        if self.pooltype in ("AVERAGE", "SUM", "SQRT"):
            factors = self._factors(offsets)
            each = dOut if factors is None else dOut * as_column(factors, rows)
            return dict(X=np.repeat(each, np.diff(offsets), axis=0))
        out = np.zeros_like(rows)
        filled = offsets[1:] > offsets[:-1]
        if self.pooltype == "MAX":
            index = xp.segment_argmax(rows, offsets)
            np.put_along_axis(out, index[filled], dOut[filled], 0)
        else:
            out[self._ends(offsets)[filled]] = dOut[filled]
        return dict(X=out)

    grad = differentiated_as(grad_numpy)


def _filled(offsets, numbers):
    """Numbers for each sequence, -1 for an empty one."""
    return np.where(offsets[1:] > offsets[:-1], numbers, -1)


def _with_a_row(f, X):
    """The rows of X; one of zeros if there are none."""
    rows = f.bare_rows(X)
    return rows if rows.shape[0] else f.take_rows(rows, np.array([-1]))


class sequence_softmax(UseCudnn, Op):
    """``exp(X)`` over its sum in each sequence.

    X: one number in a row, [N, 1] or [N].
    Out: of the shape of X, in its sequences.
    """

    signature = "X[] -> Out"
    fluid: ClassVar[FluidForm] = FluidForm(bare_gradients=True)
    data_format: str = attr("AnyLayout", inert=True)

    def infer(self, X: Spec) -> Specs:
        need_float(X=X)
        width = size_of(X.shape[1:])
        if width not in (-1, 1):
            raise ShapeError(f"expected X with one number in a row, got shape {list(X.shape)}")
        return X

    def expand(self, f: Any, X: Value) -> Values:
        offsets = np.asarray(offsets_of(X, "X"))
        rows = f.bare_rows(X)
        shifted = f.exp(rows - f.segment_spread(f.segment_max(X, offsets), offsets))
        return shifted / f.segment_spread(f.segment_sum(shifted, offsets), offsets)

    def run_numpy(self, xp: Any, X: Array) -> Array:
        offsets, rows = np.asarray(offsets_of(X, "X")), bare(X)
        lengths = np.diff(offsets)
        shifted = np.exp(rows - np.repeat(xp.segment_max(rows, offsets), lengths, axis=0))
        shifted /= np.repeat(xp.segment_sum(shifted, offsets), lengths, axis=0)
        return shifted

    def grad(self, f: Any, X: Value, Out: Value, dOut: Value) -> Rules:
        def dx():
            offsets = np.asarray(offsets_of(X, "X"))
            share = dOut * Out
            return share - Out * f.segment_spread(f.segment_sum(share, offsets), offsets)

        return dict(X=dx)

    def grad_numpy(self, xp: Any, X: Array, Out: Array, dOut: Array) -> Arrays:
        offsets = np.asarray(offsets_of(X, "X"))
        share = dOut * Out
        sums = np.repeat(xp.segment_sum(share, offsets), lengths_of(offsets), axis=0)
        return dict(X=share - Out * sums)
