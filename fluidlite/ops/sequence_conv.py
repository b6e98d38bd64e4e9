"""Convolutions along sequences."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ..errors import ShapeError, SlotError
from ..ground.values import bare
from ..opdef.annotations import Array, Arrays, Specs, Value, Values
from ..opdef.attribute import REQUIRED, need_choice, need_least
from ..opdef.definition import Op
from ..opdef.fluid_form import FluidForm
from ..opdef.sequences import offsets_of, positions_in
from ..opdef.spec import Shape, Spec, agree, need_ndim, need_shape, same_float


class sequence_conv(Op):
    """Out[t] = the rows of X from t + contextStart on, side by side, times Filter.

    Each sequence is seen alone: beyond its ends there are zeros, or the rows of PaddingData.

    X: [N, D], in sequences.
    PaddingData: the rows before a sequence's begin, then those behind its end:
        [max(0, -contextStart) + max(0, contextStart + contextLength - 1), D].
    Filter: [contextLength * D, M].
    paddingTrainable: whether PaddingData is there.
    contextLength: how many rows are seen at once.
    contextStart: the first of them, from t.
    contextStride: 1.
    """

    signature = "X[], PaddingData?, Filter -> Out"
    fluid: ClassVar[FluidForm] = FluidForm(only_here=("PaddingData",))
    paddingTrainable: bool = False
    contextLength: int = REQUIRED
    contextStart: int = 0
    contextStride: int = 1

    def infer(self, X: Spec, PaddingData: Spec | None, Filter: Spec) -> Specs:
        same_float(X=X, PaddingData=PaddingData, Filter=Filter)
        need_ndim(2, X=X, Filter=Filter)
        need_choice(self, "contextStride", 1)
        need_least(self, 1, "contextLength")
        if X.shape[1] != -1 and not agree(Filter.shape[0], self.contextLength * X.shape[1]):
            raise ShapeError(
                f"expected Filter with {self.contextLength} * {X.shape[1]} rows, got shape "
                f"{list(Filter.shape)}"
            )
        if self.paddingTrainable:
            self._check_padding(X, PaddingData)
        return X.with_dim(1, Filter.shape[1])

    def _check_padding(self, X, PaddingData):
        if PaddingData is None:
            raise SlotError("expected PaddingData, since paddingTrainable is set")
        before, behind = self._padding()
        need_ndim(2, PaddingData=PaddingData)
        need_shape("PaddingData", PaddingData, (before + behind, X.shape[1]))

    def _padding(self):
        """How many rows are seen before a sequence, and how many behind it."""
        start = self.contextStart
        return max(0, -start), max(0, start + self.contextLength - 1)

    def expand(self, f: Any, X: Value, PaddingData: Value, Filter: Value) -> Values:
        offsets = offsets_of(X, "X")
        count, width = bare(X).shape
        rows, pads = seen_from(offsets, self.contextStart, self.contextLength)
        table = f.bare_rows(X)
        if self.paddingTrainable and sum(self._padding()):
            table = f.concat([table, PaddingData], axis=0)
            rows = np.where(rows < 0, count + pads, rows)
        seen = f.take_rows(table, rows.reshape(-1))
        return f.matmul(f.reshape(seen, shape=[count, self.contextLength * width]), Filter)

    def run_numpy(self, xp: Any, X: Array, PaddingData: Array, Filter: Array) -> Array:
        return np.matmul(self._seen(X, PaddingData), Filter)

    def _seen(self, X, PaddingData):
        """The rows that each row sees, side by side, [N, contextLength * D]."""
        offsets, rows = offsets_of(X, "X"), bare(X)
        count, width = rows.shape
        seen = np.empty((count, self.contextLength, width), rows.dtype)
        for k, (shift, inside, out) in enumerate(self._shifts(offsets)):
            seen[inside, k] = rows[inside.start + shift : inside.stop + shift]
            seen[out, k] = 0
        if self.paddingTrainable and sum(self._padding()):
            numbers, pads = seen_from(offsets, self.contextStart, self.contextLength)
            out = numbers < 0
            seen[out] = PaddingData[pads[out]]
        return seen.reshape(count, self.contextLength * width)

    def _shifts(self, offsets):
        """For each row of the context, how far it lies from a row; which rows have one there; and
        which of these, or of the others, have none in their sequence.
        """
        number, position = positions_in(offsets)
        behind = np.diff(offsets)[number] - position  # how many rows there are from here on
        count = len(number)
        for k in range(self.contextLength):
            shift = self.contextStart + k
            inside = slice(min(max(0, -shift), count), max(min(count, count - shift), 0))
            if inside.stop < inside.start:
                inside = slice(0, 0)
            yield shift, inside, np.flatnonzero((position < -shift) | (behind <= shift))

    def grad_numpy(
        self, xp: Any, X: Array, PaddingData: Array, Filter: Array, dOut: Array
    ) -> Arrays:
        offsets, rows = offsets_of(X, "X"), bare(X)
        count, width = rows.shape
        d_seen = np.matmul(dOut, Filter.T).reshape(count, self.contextLength, width)
        d_rows = np.zeros_like(rows)
        gradients = dict(X=d_rows, Filter=np.matmul(self._seen(X, PaddingData).T, dOut))
        if PaddingData is not None:
            gradients["PaddingData"] = np.zeros_like(PaddingData)
            if self.paddingTrainable and len(PaddingData):
                numbers, pads = seen_from(offsets, self.contextStart, self.contextLength)
                out = numbers < 0
                gradients["PaddingData"] = xp.add_rows(pads[out], d_seen[out], len(PaddingData))
        for k, (shift, inside, out) in enumerate(self._shifts(offsets)):
            d_seen[out, k] = 0
            d_rows[inside.start + shift : inside.stop + shift] += d_seen[inside, k]
        return gradients


def seen_from(offsets: Shape, start: int, length: int) -> Arrays:
    """[N, length]: the numbers of the rows that each row sees, -1 beyond its sequence; and there
    the numbers of rows of the padding.
    """
    number, position = positions_in(offsets)
    lengths = np.diff(offsets)[number][:, None]
    seen = position[:, None] + start + np.arange(length)
    begins = np.asarray(offsets)[number][:, None]
    rows = np.where((seen >= 0) & (seen < lengths), begins + seen, -1)
    before = max(0, -start)
    return rows, np.where(seen < 0, before + seen, before + seen - lengths)
