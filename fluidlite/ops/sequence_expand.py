"""Rows and sequences repeated as often as another value has rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from ..errors import AttributeValueError, LoDError
from ..ground.values import bare, offsets_from
from ..opdef.annotations import Array, Arrays, Rules, Value, Values
from ..opdef.definition import ValueShaped
from ..opdef.fluid_form import FluidForm
from ..opdef.gradient import differentiated
from ..opdef.sequences import lengths_of, lod_of, offsets_of, one_level_of, positions_in, rows_in
from ..opdef.spec import Spec


class Repeated(ValueShaped, abstract=True):
    """The base: Out = rows of X by numbers that follow from sequences."""

    def index(self, X: Any, Y: Any) -> Any:
        """The numbers of the rows of X."""
        raise NotImplementedError

    def expand(self, f: Any, X: Value, Y: Value) -> Values:
        return f.take_rows(X, self.index(X, Y))

    def run_numpy(self, xp: Any, X: Array, Y: Array) -> Array:
        return np.take(bare(X), self.index(X, Y), axis=0)

    def grad(self, f: Any, X: Value, Y: Value, dOut: Value) -> Rules:
        return differentiated(f, self, dict(X=X, Y=Y, dOut=dOut))


class sequence_expand(Repeated):
    """Out = each sequence of X, as often as Y has entries in the sequence of the same number.

    X: in sequences of one level, which are repeated as a whole; or without, then rows are.
    Y: has as many sequences on the level as X has; its rows do not matter.
    Out: with the repeated rows, in sequences where X has them.
    ref_level: the level of Y; -1 for the innermost one.
    """

    signature = "X[], Y![] -> Out"
    fluid: ClassVar[FluidForm] = FluidForm(bare_gradients=True)
    ref_level: int = -1

    def infer(self, X: Spec, Y: Spec) -> Spec:
        if self.ref_level < -1:
            raise AttributeValueError(
                f"expected ref_level to be a level of Y, the outermost one 0, or -1 for the "
                f"innermost one; got {self.ref_level}"
            )
        return X.with_dim(0, -1)

    def _times(self, X, Y):
        """How often each sequence of X is repeated."""
        offsets_of(Y, "Y")
        levels = lod_of(Y)
        if self.ref_level >= len(levels):
            raise LoDError(
                f"expected ref_level to be one of the {len(levels)} levels of Y, or -1, got "
                f"{self.ref_level}"
            )
        times = lengths_of(levels[self.ref_level])
        if lod_of(X):
            count, what = len(one_level_of(X, "X")) - 1, "sequences"
        else:
            count, what = bare(X).shape[0], "rows"
        if count != len(times):
            raise LoDError(
                f"expected X with {len(times)} {what}, one for each sequence of Y on level "
                f"{self.ref_level} (lengths {times.tolist()}), got {count}"
            )
        return times

    def index(self, X: Any, Y: Any) -> Array:
        times = self._times(X, Y)
        chosen = np.repeat(np.arange(len(times)), times)
        return rows_in(lod_of(X)[0], chosen) if lod_of(X) else chosen

    def lods(self, ins: Mapping[str, Any]) -> Mapping[str, Any] | None:
        X, Y = ins["X"], ins["Y"]
        if not lod_of(X):
            return {}
        return {"Out": (offsets_from(np.repeat(lengths_of(lod_of(X)[0]), self._times(X, Y))),)}

    def grad_numpy(self, xp: Any, X: Array, Y: Array, dOut: Array) -> Arrays:
        if lod_of(X):
            return dict(X=xp.add_rows(self.index(X, Y), dOut, len(bare(X))))
        return dict(X=xp.segment_sum(dOut, lod_of(Y)[self.ref_level]))


class sequence_expand_as(Repeated):
    """Out = each row of X, as often as the sequence of Y of the same number has rows.

    X: rows; whether they form sequences does not matter.
    Y: in sequences of one level, as many as X has rows.
    Out: with the repeated rows, in the sequences of Y.
    """

    signature = "X[], Y![] -> Out"

    def infer(self, X: Spec, Y: Spec) -> Spec:
        return X.with_dim(0, -1)._replace(lod_level=Y.lod_level)

    def index(self, X: Array, Y: Any) -> Array:
        offsets = one_level_of(Y, "Y")
        count = bare(X).shape[0]
        if count != len(offsets) - 1:
            raise LoDError(
                f"expected X with {len(offsets) - 1} rows, one for each sequence of Y (lengths "
                f"{np.diff(offsets).tolist()}), got {count}"
            )
        return positions_in(offsets)[0]

    def lods(self, ins: Mapping[str, Any]) -> Mapping[str, Any] | None:
        return {"Out": lod_of(ins["Y"])}

    def grad_numpy(self, xp: Any, X: Array, Y: Array, dOut: Array) -> Arrays:
        return dict(X=xp.segment_sum(dOut, one_level_of(Y, "Y")))
