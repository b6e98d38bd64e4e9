"""Batches of clicks: rows of one page that know their ranks, and rows in another order."""

from __future__ import annotations

from typing import Any, ClassVar

from ..errors import ShapeError
from ..ground.dtypes import DType
from ..opdef.annotations import Array, Arrays, Rules, Specs, Value
from ..opdef.attribute import attr, need_least
from ..opdef.definition import Op
from ..opdef.fluid_form import FluidForm
from ..opdef.spec import Spec, need_integer, need_ndim, need_one, need_shape, same_float, size_of


class rank_attention(Op):
    """Out = for each row the sum over the rows of its page, each mapped by the matrix that belongs
    to the two ranks.

    X: features of rows, [n, d].
    RankOffset: for each row its rank, then the rank and the place in X of up to MaxRank rows of its
        page; ranks are counted from 1, and a missing one is -1 or 0: int32 [n, 1 + 2 *
        MaxRank].
    RankParam: a matrix [d, columns] for each pair of ranks, one below the other: [MaxRank * MaxRank
        * d, columns].
    MaxRank: the largest rank.
    Out: of shape [n, columns].
    """

    signature = "X, RankOffset!, RankParam -> Out"
    fluid: ClassVar[FluidForm] = FluidForm(only_here=("X",))
    MaxRank: int = 3

    def infer(self, X: Spec, RankOffset: Spec, RankParam: Spec) -> Specs:
        same_float(X=X, RankParam=RankParam)
        need_integer(RankOffset=RankOffset)
        need_least(self, 1, "MaxRank")
        need_ndim(2, X=X, RankOffset=RankOffset, RankParam=RankParam)
        need_shape("RankOffset", RankOffset, (X.shape[0], 1 + 2 * self.MaxRank))
        rows = -1 if X.shape[1] == -1 else self.MaxRank**2 * X.shape[1]
        need_shape("RankParam", RankParam, (rows, -1))
        return X.with_dim(1, RankParam.shape[1])

    def expand(self, f: Any, X: Value, RankOffset: Value, RankParam: Value) -> Value:
        (count, width), most = X.shape, self.MaxRank
        offsets = f.cast(RankOffset, in_dtype=RankOffset.dtype, out_dtype=DType.INT64)
        own = f.slice(offsets, axes=[1], starts=[0], ends=[1])
        placed = None
        for k in range(most):
            rank = f.slice(offsets, axes=[1], starts=[1 + 2 * k], ends=[2 + 2 * k])
            place = f.slice(offsets, axes=[1], starts=[2 + 2 * k], ends=[3 + 2 * k])
            there = f.greater_than(f.elementwise_min(own, rank), f.fill_any_like(own, value=0.0))
            there = f.cast(there, in_dtype=DType.BOOL, out_dtype=DType.INT64)
            pair = f.scale(f.scale(own, scale=float(most), bias=-float(most)) + rank, bias=-1.0)
            pair = f.scale(f.scale(pair, bias=1.0) * there, bias=-1.0)  # -1, which no column has
            hot = f.one_hot_v2(
                f.reshape(pair, shape=[count]), depth=most**2, allow_out_of_range=True
            )
            rows = f.gather(X, f.reshape(place * there, shape=[count]))
            spread = f.elementwise_mul(
                f.reshape(
                    f.cast(hot, in_dtype=DType.FP32, out_dtype=X.dtype), shape=[count, most**2, 1]
                ),
                f.reshape(rows, shape=[count, 1, width]),
            )
            placed = spread if placed is None else placed + spread
        return f.matmul(f.reshape(placed, shape=[count, most**2 * width]), RankParam)


class shuffle_batch(Op):
    """Out = the rows of X in another order.

    Rows are what the last dimension of X has.

    X: numbers.
    Seed: the number that the order depends on, of one element; where it is 0, the order is that of
        the program's own stream.
    ShuffleIdx: for each row of Out its place in X.
    SeedOut: the Seed of the next run.
    startup_seed: the number in place of Seed where that is 0.
    """

    signature = "X, Seed! -> Out, ShuffleIdx!~, SeedOut!~"
    random: ClassVar[bool] = True
    lod: ClassVar[str | None] = None
    startup_seed: int = attr(0)

    def infer(self, X: Spec, Seed: Spec) -> Specs:
        need_integer(Seed=Seed)
        need_one(Seed=Seed)
        if not X.ndim:
            raise ShapeError("expected X to have at least one dimension, got shape []")
        places = X.with_dtype(DType.INT64)
        return X, places.with_shape([size_of(X.shape[:-1])]), places.with_shape([1])

    def run(self, xp: Any, rng: Any, X: Array, Seed: Array) -> Arrays:
        generator = rng(int(Seed.ravel()[0]) or self.startup_seed)
        rows = xp.reshape(X, (-1, X.shape[-1]))
        order = generator.permutation(len(rows)).astype("int64")
        following = generator.integers(1, 2**31 - 1, [1])
        return xp.reshape(rows[order], X.shape), order, xp.asarray(following, dtype="int64")

    def grad(self, f: Any, ShuffleIdx: Value, dOut: Value) -> Rules:
        def dx():
            shape = dOut.shape
            rows = f.reshape(dOut, shape=[size_of(shape[:-1]), shape[-1]])
            _, places = f.argsort(ShuffleIdx)
            return f.reshape(f.gather(rows, places), shape=list(shape))

        return dict(X=dx)
