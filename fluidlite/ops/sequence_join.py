"""Sequences joined, made equally long and cut to their lengths again, and of other rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from ..errors import AttributeValueError, LoDError, ShapeError, SlotError
from ..ground.dtypes import DType
from ..ground.values import LoDTensor, bare, offsets_from
from ..opdef.annotations import Array, Arrays, Rules, Specs, Value, Values
from ..opdef.attribute import REQUIRED
from ..opdef.definition import Op, ValueShaped
from ..opdef.fluid_form import FluidForm
from ..opdef.gradient import differentiated, differentiated_as
from ..opdef.sequences import lengths_of, lod_of, offsets_of, one_level_of, positions_in
from ..opdef.spec import Spec, agree, known, need_integer, need_rank, same_dtype, size_of, spec


class sequence_concat(Op):
    """Out = sequences that hold the rows of the first sequences of all X, of all second ones, and
    so on.

    X: two values or more, in equally many sequences of one level, with rows of one shape.
    Out: with all rows.
    """

    signature = "X*[] -> Out"
    fluid: ClassVar[FluidForm] = FluidForm(bare_gradients=True)
    lod: ClassVar[str | None] = None

    def infer(self, X: list[Spec]) -> Spec:
        if len(X) < 2:
            raise SlotError(f"expected at least 2 values X to join, got {len(X)}")
        same_dtype(**{f"X[{k}]": each for k, each in enumerate(X)})
        first = X[0]
        for other in X[1:]:
            if other.ndim != first.ndim or not all(map(agree, other.shape[1:], first.shape[1:])):
                raise ShapeError(
                    f"expected X with rows of one shape, got {[list(x.shape) for x in X]}"
                )
            first = first.with_shape(map(known, first.shape, other.shape))
        rows = [each.shape[0] for each in X]
        return first.with_dim(0, -1 if -1 in rows else sum(rows))

    def _offsets(self, X):
        offsets = [np.asarray(one_level_of(each, f"X[{k}]")) for k, each in enumerate(X)]
        counts = [len(each) - 1 for each in offsets]
        if len(set(counts)) > 1:
            raise LoDError(f"expected all X with equally many sequences, got {counts}")
        return offsets

    def _index(self, X):
        """The numbers of the rows, where all X lie one after the other."""
        found = self._offsets(X)
        begins = np.cumsum([0, *(each[-1] for each in found)])
        starts = np.stack([each[:-1] + begin for each, begin in zip(found, begins)], axis=1)
        lengths = np.stack([np.diff(each) for each in found], axis=1).reshape(-1)
        ends = np.cumsum(lengths)
        shifts = starts.reshape(-1) - (ends - lengths)
        return np.arange(begins[-1]) + np.repeat(shifts, lengths)

    def lods(self, ins: Mapping[str, Any]) -> Mapping[str, Any] | None:
        return {"Out": (tuple(np.sum(self._offsets(ins["X"]), axis=0).tolist()),)}

    def expand(self, f: Any, X: Value) -> Values:
        return f.take_rows(f.concat([f.bare_rows(x) for x in X], axis=0), self._index(X))

    def run_numpy(self, xp: Any, X: list[Array]) -> Array:
        index = self._index(X)
        return np.take(np.concatenate([bare(x) for x in X]), index, axis=0)

    def grad_numpy(self, xp: Any, X: list[Array], dOut: Array) -> Arrays:
        whole = np.empty_like(dOut)
        whole[self._index(X)] = dOut
        return dict(X=np.split(whole, np.cumsum([len(bare(x)) for x in X])[:-1]))

    grad = differentiated_as(grad_numpy)


class sequence_pad(ValueShaped):
    """Sequences made equally long, and how long they are.

    X: in sequences of one level.
    PadValue: what stands behind the rows of each: one number, or one row.
    Length: how long each sequence is.
    padded_length: how many rows each becomes; -1 for as many as the longest sequence has.
    """

    signature = "X[], PadValue! -> Out, Length!"
    padded_length: int = -1
    per_sequence: ClassVar[tuple[str, ...]] = ("Length",)

    def infer(self, X: Spec, PadValue: Spec) -> Specs:
        same_dtype(X=X, PadValue=PadValue)
        need_rank("X", X, 2)
        row = X.shape[1:]
        sizes = (size_of(PadValue.shape), size_of(row))
        if sizes[0] not in (-1, 1) and -1 not in sizes and sizes[0] != sizes[1]:
            raise ShapeError(
                f"expected PadValue of one number, or of a row's shape {list(row)}, got shape "
                f"{list(PadValue.shape)}"
            )
        if self.padded_length < 1 and self.padded_length != -1:
            raise AttributeValueError(
                f"expected padded_length of at least 1, or -1, got {self.padded_length}"
            )
        out = X.with_shape([-1, self.padded_length, *row])._replace(lod_level=0)
        return out, spec([-1], DType.INT64)

    def lods(self, ins: Mapping[str, Any]) -> Mapping[str, Any] | None:
        return {}

    def _places(self, X):
        """Offsets, lengths, how long sequences become, and the place of each row then."""
        offsets = one_level_of(X, "X")
        lengths = lengths_of(offsets)
        longest = int(lengths.max(initial=0))
        size = longest if self.padded_length == -1 else self.padded_length
        if size < longest:
            raise LoDError(
                f"expected padded_length of at least {longest}, the longest sequence of X (lengths "
                f"{lengths.tolist()}), got {size}"
            )
        number, position = positions_in(offsets)
        return lengths, size, number * size + position

    def expand(self, f: Any, X: Value, PadValue: Value) -> Values:
        lengths, size, places = self._places(X)
        count, *row = bare(X).shape
        index = np.full(len(lengths) * size, count)
        index[places] = np.arange(count)
        pad = np.empty((1, *row), PadValue.dtype)
        pad[...] = PadValue.reshape(_row_of(PadValue, row))
        out = f.take_rows(f.concat([f.bare_rows(X), pad], axis=0), index)
        return f.reshape(out, shape=[len(lengths), size, *row]), lengths

    def run_numpy(self, xp: Any, X: Array, PadValue: Array) -> Arrays:
        lengths, size, places = self._places(X)
        rows = bare(X)
        out = np.empty((len(lengths) * size, *rows.shape[1:]), rows.dtype)
        out[...] = PadValue.reshape(_row_of(PadValue, rows.shape[1:]))
        out[places] = rows
        return out.reshape(len(lengths), size, *rows.shape[1:]), lengths

    def grad(self, f: Any, X: Value, dOut: Value) -> Rules:
        def dx():
            places = self._places(X)[2]
            return f.take_rows(f.reshape(dOut, shape=[-1, *dOut.shape[2:]]), places)

        return dict(X=dx)


def _row_of(pad, row):
    """The shape in which a padding value combines with rows."""
    return row if pad.size != 1 else (1,) * len(row)


class sequence_unpad(ValueShaped):
    """The first rows of each ``X[i]``, as sequence i: ``Length[i]`` of them.

    X: [sequences, size, ...].
    Length: how many rows each sequence has, [sequences].
    Out: a variable [rows, ...], in sequences.
    """

    signature = "X, Length! -> Out"
    ragged_cotangents: ClassVar[bool] = True

    def infer(self, X: Spec, Length: Spec) -> Spec:
        need_integer(Length=Length)
        if X.ndim < 2 or Length.ndim != 1 or not agree(X.shape[0], Length.shape[0]):
            raise ShapeError(
                f"expected X of shape [n, size, ...] and Length of shape [n], got {list(X.shape)} "
                f"and {list(Length.shape)}"
            )
        return X.with_shape([-1, *(X.shape[2:] or (1,))])._replace(lod_level=1)

    def _checked(self, X, Length):
        lengths, size = np.asarray(Length).reshape(-1), X.shape[1]
        if lengths.min(initial=0) < 0 or lengths.max(initial=0) > size:
            raise LoDError(
                f"expected lengths from 0 to {size}, the size of X, got {lengths.tolist()}"
            )
        return lengths

    def lods(self, ins: Mapping[str, Any]) -> Mapping[str, Any] | None:
        return {"Out": (offsets_from(np.asarray(ins["Length"]).reshape(-1)),)}

    def _index(self, X, Length):
        number, position = positions_in(offsets_from(self._checked(X, Length)))
        return number * X.shape[1] + position

    def expand(self, f: Any, X: Value, Length: Value) -> Value:
        row = tuple(X.shape[2:]) or (1,)
        return f.take_rows(f.reshape(X, shape=[-1, *row]), self._index(X, Length))

    def grad(self, f: Any, X: Value, dOut: Value, Length: Value = None) -> Rules:
        if Length is None:  # fluid takes it from the sequences of dOut
            if not isinstance(dOut, LoDTensor):
                raise LoDError("expected Length, or a gradient of Out with sequences")
            Length = np.diff(dOut.offsets[-1])
        return differentiated(f, self, dict(X=X, Length=Length, dOut=bare(dOut)))


class sequence_reshape(ValueShaped):
    """Out = the numbers of each sequence of X in rows of another size.

    X: [N, D], in sequences; the numbers of each fill rows of ``new_dim``.
    Out: a variable [rows * D / new_dim, new_dim].
    new_dim: how many numbers a row has then.
    """

    signature = "X[] -> Out"
    new_dim: int = REQUIRED

    def infer(self, X: Spec) -> Spec:
        if X.ndim != 2 or self.new_dim < 1:
            raise ShapeError(
                f"expected X of shape [N, D] and new_dim of at least 1, got {list(X.shape)} and "
                f"{self.new_dim}"
            )
        return X.with_shape([-1, self.new_dim])._replace(lod_level=max(X.lod_level, 1))

    def lods(self, ins: Mapping[str, Any]) -> Mapping[str, Any] | None:
        return {"Out": (*lod_of(ins["X"])[:-1], self._offsets(ins["X"]))}

    def _offsets(self, X):
        numbers = np.asarray(offsets_of(X, "X")) * bare(X).shape[1]
        if (numbers % self.new_dim).any():
            bad = int(np.flatnonzero(np.diff(numbers) % self.new_dim)[0])
            raise LoDError(
                f"expected sequences of X whose numbers fill rows of {self.new_dim}, got sequence "
                f"{bad} with {np.diff(numbers)[bad]} numbers (lengths "
                f"{lengths_of(lod_of(X)[-1]).tolist()}, rows of {bare(X).shape[1]})"
            )
        return tuple((numbers // self.new_dim).tolist())

    def expand(self, f: Any, X: Value) -> Values:
        self._offsets(X)
        return f.reshape(f.bare_rows(X), shape=[-1, self.new_dim])

    def run_numpy(self, xp: Any, X: Array) -> Array:
        self._offsets(X)
        return bare(X).reshape(-1, self.new_dim)

    def grad(self, f: Any, X: Value, dOut: Value) -> Rules:
        return dict(X=lambda: f.reshape(dOut, shape=list(bare(X).shape)))
