"""Rows of sequences chosen, turned round and gathered in windows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import numpy as np

from ..errors import LoDError, ShapeError
from ..ground.values import LoDTensor, bare, offsets_from
from ..opdef.annotations import Array, Rules, Value, Values
from ..opdef.attribute import REQUIRED, need_least
from ..opdef.definition import DetachedValues, Op, ValueShaped
from ..opdef.diagnostics import WarnsOfInput
from ..opdef.fluid_form import FluidForm
from ..opdef.gradient import differentiated
from ..opdef.sequences import lengths_of, lod_of, offsets_of, one_level_of, positions_in
from ..opdef.spec import Spec, agree, need_integer, need_ndim, need_shape, same_dtype, size_of
from .inert_attributes import ShapeAtRuntime


class sequence_reverse(Op):
    """Y = the rows of each sequence of X, the last one first.

    X: in sequences; of several levels the innermost ones are turned round.
    Y: of the shape of X, in its sequences.
    """

    signature = "X[] -> Y"
    fluid: ClassVar[FluidForm] = FluidForm(direct=True)

    def infer(self, X: Spec) -> Spec:
        return X

    def _index(self, X):
        offsets = np.asarray(offsets_of(X, "X"))
        both = np.repeat(offsets[:-1] + offsets[1:] - 1, np.diff(offsets))
        return both - np.arange(offsets[-1])

    def expand(self, f: Any, X: Value) -> Values:
        return f.take_rows(X, self._index(X))

    def run_numpy(self, xp: Any, X: Array) -> Array:
        return np.take(bare(X), self._index(X), axis=0)

    def grad(self, f: Any, X: Value, dY: Value) -> Rules:
        # in a program dY has the sequences of Y when it runs; elsewhere it takes them from X
        return dict(X=lambda: f.sequence_reverse(f.like_rows(dY, X) if lod_of(X) else dY))


class sequence_slice(ValueShaped):
    """Of each sequence i of X ``Length[i]`` rows, from ``Offset[i]`` on.

    X: rows in sequences of one level.
    Offset, Length: [n, 1], a number for each sequence; offsets count from 0 in it.
    Out: with these rows, in as many sequences.
    """

    signature = "X[], Offset!, Length! -> Out"
    fluid: ClassVar[FluidForm] = FluidForm(bare_gradients=True)

    def infer(self, X: Spec, Offset: Spec, Length: Spec) -> Spec:
        need_integer(Offset=Offset, Length=Length)
        for name, given in (("Offset", Offset), ("Length", Length)):
            if len(given.shape) != 2 and size_of(given.shape[1:]) not in (-1, 1):
                raise ShapeError(f"expected {name} of shape [n, 1], got {list(given.shape)}")
        return X.with_dim(0, -1)._replace(lod_level=0)

    def _parts(self, X, Offset, Length):
        """Where the chosen rows begin, and how many they are."""
        offsets = np.asarray(one_level_of(X, "X"))
        begins, counts = Offset.reshape(-1), Length.reshape(-1)
        lengths = np.diff(offsets)
        if not len(begins) == len(counts) == len(lengths):
            raise LoDError(
                f"expected Offset and Length with a number for each of the {len(lengths)} "
                f"sequences of X, got {len(begins)} and {len(counts)}"
            )
        wrong = (begins < 0) | (counts < 0) | (begins + counts > lengths)
        if wrong.any():
            k = int(np.flatnonzero(wrong)[0])
            raise LoDError(
                f"expected rows within sequence {k} of X, which has {lengths[k]} (lengths "
                f"{lengths.tolist()}), got {counts[k]} rows from row {begins[k]} on"
            )
        return offsets[:-1] + begins, counts

    def _index(self, X, Offset, Length):
        begins, counts = self._parts(X, Offset, Length)
        number, position = positions_in(offsets_from(counts))
        return begins[number] + position

    def lods(self, ins: Mapping[str, Any]) -> Mapping[str, Any] | None:
        return {"Out": (offsets_from(ins["Length"].reshape(-1)),)}

    def expand(self, f: Any, X: Value, Offset: Value, Length: Value) -> Values:
        return f.take_rows(X, self._index(X, Offset, Length))

    def run_numpy(self, xp: Any, X: Array, Offset: Array, Length: Array) -> Array:
        return np.take(bare(X), self._index(X, Offset, Length), axis=0)

    def grad(self, f: Any, X: Value, Offset: Value, Length: Value, dOut: Value) -> Rules:
        return differentiated(f, self, dict(X=X, Offset=Offset, Length=Length, dOut=dOut))


class sequence_scatter(WarnsOfInput, Op):
    """Out = X with each number of sequence i of Updates added to row i, at the place in Ids.

    X: [n, D].
    Ids: places in a row, int64 of shape [N, 1], in n sequences of one level.
    Updates: what is added there, [N, 1] in the same sequences.
    Out: of the shape of X.
    """

    signature = "X, Ids![], Updates[] -> Out"
    fluid: ClassVar[FluidForm] = FluidForm(bare_gradients=True)
    lod: ClassVar[str | None] = None

    def infer(self, X: Spec, Ids: Spec, Updates: Spec) -> Spec:
        need_integer(Ids=Ids)
        same_dtype(X=X, Updates=Updates)
        need_ndim(2, X=X)
        for name, given in (("Ids", Ids), ("Updates", Updates)):
            if size_of(given.shape[1:]) not in (-1, 1):
                raise ShapeError(f"expected {name} of shape [N, 1], got {list(given.shape)}")
        if not agree(Ids.shape[0], Updates.shape[0]):
            raise ShapeError(
                f"expected as many Ids as Updates, got {Ids.shape[0]} and {Updates.shape[0]}"
            )
        return X._replace(lod_level=0)

    def input_warnings(self, ins: Any) -> Iterator[Any]:
        count = len(offsets_of(ins["Ids"], "Ids")) - 1
        if count < len(ins["X"]):
            yield (
                f"expected Ids with {len(ins['X'])} sequences, one for each row of X, got {count}: "
                "the last rows stay as they are"
            )

    def _index(self, Ids, shape):
        """Where each update goes, in the numbers of X one after the other."""
        offsets = one_level_of(Ids, "Ids")
        count, width = shape
        if len(offsets) - 1 > count:
            raise LoDError(
                f"expected Ids with {count} sequences, one for each row of X, got lengths "
                f"{lengths_of(offsets).tolist()}"
            )
        places = bare(Ids).reshape(-1)
        if len(places) and (places.min() < 0 or places.max() >= width):
            raise ShapeError(
                f"expected Ids from 0 to {width - 1}, places in a row of X, got "
                f"{places.min()} to {places.max()}"
            )
        return positions_in(offsets)[0] * width + places

    def expand(self, f: Any, X: Value, Ids: Value, Updates: Value) -> Value:
        shape = X.shape
        updates = f.reshape(f.bare_rows(Updates), shape=[-1])
        index = self._index(Ids, shape)
        return X + f.reshape(f.add_rows(index, updates, size=shape[0] * shape[1]), shape=shape)

    def grad(self, f: Any, Ids: Value, Updates: Value, dOut: Value) -> Rules:
        def updates():
            index = self._index(Ids, dOut.shape)
            taken = f.take_rows(f.reshape(dOut, shape=[-1]), index)
            return f.reshape(taken, shape=list(bare(Updates).shape))

        return dict(X=lambda: dOut, Updates=updates)


class sequence_enumerate(ShapeAtRuntime, Op):
    """The numbers of X from each one on, ``win_size`` of them; behind the end of a sequence
    ``pad_value``.

    X: integers, [N, 1], in sequences.
    Out: a variable [rows, win_size], in the sequences of X.
    win_size: how many numbers are seen at once.
    pad_value: stands for what lies behind the end.
    """

    signature = "X[] -> Out"
    win_size: int = REQUIRED
    pad_value: int = 0
    grad = None

    def infer(self, X: Spec) -> Spec:
        need_integer(X=X)
        need_shape("X", X, (-1, 1))
        need_least(self, 1, "win_size")
        return X.with_dim(1, self.win_size)

    def run(self, xp: Any, X: Array) -> Array:
        offsets, numbers = offsets_of(X, "X"), bare(X).reshape(-1)
        count = len(numbers)
        ends = np.repeat(np.asarray(offsets[1:]), lengths_of(offsets))
        places = np.arange(count)[:, None] + np.arange(self.win_size)
        seen = numbers[np.minimum(places, max(count - 1, 0))]
        return np.where(places < ends[:, None], seen, numbers.dtype.type(self.pad_value))


class sequence_erase(DetachedValues):
    """Out = X without the numbers ``tokens``; sequences become shorter by them.

    X: integers, [N, 1], in sequences.
    tokens: what is left out.
    """

    signature = "X[] -> Out[]"
    tokens: list[int] = REQUIRED

    def infer(self, X: Spec) -> Spec:
        need_integer(X=X)
        need_shape("X", X, (-1, 1))
        return X.with_dim(0, -1)

    def run(self, xp: Any, X: Array) -> Array:
        offsets, numbers = np.asarray(offsets_of(X, "X")), bare(X)
        kept = ~np.isin(numbers.reshape(-1), np.asarray(self.tokens, numbers.dtype))
        ends = np.concatenate([[0], np.cumsum(kept)])
        return LoDTensor(numbers[kept], (*lod_of(X)[:-1], ends[offsets].tolist()))
