"""What models of clicks on the web put around their nets."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

from ..errors import ShapeError
from ..opdef.annotations import Array, Rules, Specs, Value
from ..opdef.attribute import Long, need_least
from ..opdef.definition import Op
from ..opdef.spec import Spec, need_integer, need_ndim, need_shape, same_float
from .inert_attributes import ShapeAtRuntime


class cvm(Op):
    """Y = X with its first two columns, counts of shows and clicks, as logarithms, or without them.

    The columns become log(shows + 1) and log(clicks + 1) - log(shows + 1).

    X: features, [N, D], D at least 3.
    CVM: shows and clicks, [N, 2]; the gradient of the first two columns of X is this, whatever
        arrives: it tells the owner of the counts what was counted.
    Y: of shape [N, D], or [N, D - 2].
    use_cvm: whether the columns stay, as ``log(shows + 1)`` and ``log(clicks + 1) - log(shows +
        1)``.
    """

    signature = "X, CVM! -> Y"
    use_cvm: bool = True

    def infer(self, X: Spec, CVM: Spec) -> Specs:
        same_float(X=X, CVM=CVM)
        need_ndim(2, X=X)
        need_shape("CVM", CVM, (X.shape[0], 2))
        if not self.use_cvm and -1 < X.shape[1] < 3:
            raise _too_few(X.shape)
        return X if self.use_cvm or X.shape[1] == -1 else X.with_dim(1, X.shape[1] - 2)

    def run(self, xp: Any, X: Array, CVM: Array) -> Array:
        if X.shape[1] < (2 if self.use_cvm else 3):
            raise _too_few(X.shape)
        if not self.use_cvm:
            return X[:, 2:]
        shows = xp.log(X[:, :1] + 1)
        return xp.concatenate([shows, xp.log(X[:, 1:2] + 1) - shows, X[:, 2:]], axis=1)

    def grad(self, f: Any, X: Value, CVM: Value, dY: Value) -> Rules:
        def dx():
            size = X.shape[1]
            rest = dY
            if self.use_cvm:
                rest = f.slice(dY, axes=[1], starts=[2], ends=[size])
            return f.concat([CVM, rest], axis=1)

        return dict(X=dx)


def _too_few(shape: Iterable[int]) -> ShapeError:
    return ShapeError(f"expected X to have at least 3 columns, got shape {list(shape)}")


class hash(ShapeAtRuntime, Op):
    """Numbers below ``mod_by`` that stand for rows of integers: ``Out[n, i, 0]`` is the hash of row
    n of X with the seed i.

    The function is XXH64 of the row's bytes (Collet, xxHash fast digest algorithm).

    X: integers, [N, D].
    Out: of shape [N, num_hash, 1].
    num_hash: how many numbers there are for each row, by different functions.
    mod_by: what they are less than.
    """

    signature = "X -> Out"
    num_hash: int = 1
    mod_by: Long = 100000
    lod: ClassVar[str | None] = "X"
    grad = None

    def infer(self, X: Spec) -> Specs:
        need_integer(X=X)
        need_ndim(2, X=X)
        need_least(self, 1, "num_hash", "mod_by")
        return X.with_shape((X.shape[0], self.num_hash, 1))

    def run(self, xp: Any, X: Array) -> Array:
        xp.empty((len(X), self.num_hash), "uint64")  # fails here where it is too large
        found = [xxh64(xp, X, seed) % xp.uint64(self.mod_by) for seed in range(self.num_hash)]
        return xp.expand_dims(xp.stack(found, axis=1).astype(X.dtype), 2)


PRIMES = (
    0x9E3779B185EBCA87,
    0xC2B2AE3D27D4EB4F,
    0x165667B19E3779F9,
    0x85EBCA77C2B2AE63,
    0x27D4EB2F165667C5,
)


def xxh64(xp: Any, rows: Array, seed: int) -> Array:
    """The 64-bit xxHash of the bytes of each row of an array of 32 or 64-bit integers.

    All arithmetic is modulo 2^64; bytes are in little-endian order.
    """
    one, two, three, four, five = (xp.uint64(p) for p in PRIMES)
    data = xp.ascontiguousarray(rows).astype(rows.dtype.newbyteorder("<"))
    length, at = rows.shape[1] * rows.dtype.itemsize, 0
    octets = data.view("uint8").reshape(len(data), length)

    def turned(v, n):
        return (v << xp.uint64(n)) | (v >> xp.uint64(64 - n))

    def word(start, size):
        return octets[:, start : start + size].copy().view(f"<u{size}")[:, 0].astype("uint64")

    def mixed(lane, value):
        return turned(lane + value * two, 31) * one

    start = xp.full(len(data), seed, "uint64")
    if length >= 32:
        zero = start - start
        lanes = [start + one + two, start + two, start + zero, start - one]
        while at + 32 <= length:
            lanes = [mixed(lane, word(at + 8 * i, 8)) for i, lane in enumerate(lanes)]
            at += 32
        total = sum((turned(v, n) for v, n in zip(lanes, (1, 7, 12, 18), strict=True)), zero)
        for lane in lanes:
            total = (total ^ mixed(zero, lane)) * one + four
    else:
        total = start + five
    total = total + xp.uint64(length)
    while at + 8 <= length:
        total = turned(total ^ mixed(start - start, word(at, 8)), 27) * one + four
        at += 8
    if at + 4 <= length:
        total = turned(total ^ (word(at, 4) * one), 23) * two + three
        at += 4
    total = (total ^ (total >> xp.uint64(33))) * two
    total = (total ^ (total >> xp.uint64(29))) * three
    return total ^ (total >> xp.uint64(32))
