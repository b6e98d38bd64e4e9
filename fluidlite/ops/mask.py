"""Rows divided by a mask, and put together again: each the adjoint of the other."""

from __future__ import annotations

import functools
from typing import Any, ClassVar

from ..errors import DTypeError, LoDError, ShapeError
from ..ground.dtypes import DType
from ..ground.values import bare, offsets_from, with_lod
from ..opdef.annotations import Array, Arrays, Rules, Specs, Value
from ..opdef.definition import ValueShaped
from ..opdef.fluid_form import FluidForm
from ..opdef.sequences import lengths_of, lod_of, taken
from ..opdef.spec import Spec, agree, known, same_dtype, size_of


class Masked(ValueShaped, abstract=True):
    """An operator on the rows that a mask names, and on the others; or on sequences, where there
    are some.

    Mask: one truth for each row or sequence, of shape [n, 1] or [n].
    level: of the sequences that are divided; 0 for the outermost, or for rows.
    """

    hands_on: ClassVar[bool] = True
    level: int = 0
    fluid: ClassVar[FluidForm] = FluidForm(direct=True)

    def count(self, Mask: Spec) -> int:
        """How many rows or sequences the mask is for."""
        if Mask.dtype is not DType.BOOL:
            raise DTypeError(f"expected Mask to be bool, got {Mask.dtype}")
        if Mask.ndim == 0 or not agree(size_of(Mask.shape[1:]), 1):
            raise ShapeError(f"expected Mask of shape [n, 1], got {list(Mask.shape)}")
        return Mask.shape[0]

    def levels(self, slot: str, X: Any) -> tuple[Any, ...]:
        """The levels that are divided; none where rows are.

        Raises:
            LoDError: there is no such level.
        """
        lod = lod_of(X)
        if self.level and self.level >= len(lod):
            raise LoDError(
                f"expected {slot} with sequences on level {self.level}, got {len(lod)} levels"
            )
        return lod[self.level :]


class split_lod_tensor(Masked):
    """OutTrue = the rows of X where Mask holds, OutFalse = the others; of an X with sequences, the
    sequences.
    """

    signature = "X[], Mask! -> OutTrue[], OutFalse[]"

    def infer(self, X: Spec, Mask: Spec) -> Specs:
        count = self.count(Mask)
        if X.ndim == 0 or not (X.lod_level or agree(X.shape[0], count)):
            raise ShapeError(
                f"expected one row of X for each of Mask, got shapes {list(X.shape)} and "
                f"{list(Mask.shape)}"
            )
        out = X.with_dim(0, -1)._replace(lod_level=0)
        return out, out

    def run(self, xp: Any, X: Array, Mask: Array) -> Arrays:
        chosen, levels, rows = xp.reshape(Mask, -1), self.levels("X", X), bare(X)
        count = len(levels[0]) - 1 if levels else len(rows)
        if len(chosen) != count:
            raise ShapeError(
                f"expected Mask to have one truth for each of {count} "
                f"{'sequences' if levels else 'rows'}, got {len(chosen)}"
            )
        if not levels:
            return rows[chosen], rows[~chosen]
        parts = (taken(levels, xp.flatnonzero(side)) for side in (chosen, ~chosen))
        return tuple(with_lod(xp.take(rows, part, axis=0), lod) for part, lod in parts)

    def grad(self, f: Any, X: Value, Mask: Value, dOutTrue: Value, dOutFalse: Value) -> Rules:
        return dict(X=lambda: f.merge_lod_tensor(X, Mask, dOutTrue, dOutFalse, level=self.level))


class merge_lod_tensor(Masked):
    """Out = the rows of InTrue where Mask holds, and those of InFalse where it does not; the
    sequences, where they have some.

    X: what was divided; only levels of sequences above those that were are read of it.
    InTrue: as many rows or sequences as Mask has truths, in their order.
    InFalse: one for each other entry of Mask.
    """

    signature = "X![], Mask!, InTrue[], InFalse[] -> Out[]"

    def infer(self, X: Any, Mask: Any, InTrue: Any, InFalse: Any) -> Specs:
        count = self.count(Mask)
        same_dtype(InTrue=InTrue, InFalse=InFalse)
        rows = [one.shape[1:] for one in (InTrue, InFalse)]
        together = len(rows[0]) == len(rows[1]) and all(map(agree, *rows))
        if InTrue.ndim == 0 or not together:
            raise ShapeError(
                f"expected rows of one shape, got InTrue {list(InTrue.shape)} and InFalse "
                f"{list(InFalse.shape)}"
            )
        parts = (InTrue.shape[0], InFalse.shape[0])
        ragged = X.lod_level or InTrue.lod_level or InFalse.lod_level
        if not ragged and count != -1 and -1 not in parts and sum(parts) != count:
            raise ShapeError(
                f"expected {count} rows, as many as Mask has; got {parts[0]} in InTrue and "
                f"{parts[1]} in InFalse"
            )
        rows = (-1 if ragged else count, *map(known, *rows))
        return InTrue.with_shape(rows)._replace(lod_level=0)

    def run(self, xp: Any, X: Array, Mask: Array, InTrue: Array, InFalse: Array) -> Array:
        chosen = xp.reshape(Mask, -1)
        lods = [lod_of(InTrue), lod_of(InFalse)]
        sizes = [len(bare(InTrue)), len(bare(InFalse))]
        parts = [len(lod[0]) - 1 if lod else size for lod, size in zip(lods, sizes)]
        wanted = int(xp.sum(chosen)), int(xp.sum(~chosen))
        if tuple(parts) != wanted or bool(lods[0]) != bool(lods[1]):
            what = [f"{n} {'sequences' if lod else 'rows'}" for n, lod in zip(parts, lods)]
            raise ShapeError(
                f"expected {wanted[0]} rows or sequences of InTrue and {wanted[1]} of InFalse, as "
                f"Mask says; got {what[0]} and {what[1]}"
            )
        place = xp.where(chosen, xp.cumsum(chosen) - 1, wanted[0] + xp.cumsum(~chosen) - 1)
        joined = [
            offsets_from(xp.concatenate([lengths_of(level) for level in pair]))
            for pair in zip(*lods)
        ]
        rows, lod = taken(joined, place)
        above = lod_of(X)[: self.level] if lod else ()
        out = xp.take(xp.concatenate([bare(InTrue), bare(InFalse)]), rows, axis=0)
        return with_lod(out, (*above, *lod))

    def grad(self, f: Any, Mask: Value, dOut: Value) -> Rules:
        parts = functools.cache(lambda: f.split_lod_tensor(dOut, Mask, level=self.level))
        return dict(InTrue=lambda: parts()[0], InFalse=lambda: parts()[1])


class merge_lod_tensor_infer(merge_lod_tensor):
    """Out = the rows of InTrue where Mask holds, and those of InFalse where it does not; no
    gradient flows.
    """

    fluid: ClassVar[FluidForm] = FluidForm(direct=False)
    grad = None
