"""Features and rows of them: marked, cropped, shifted against each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from ..errors import AttributeValueError, LoDError, ShapeError
from ..ground.dtypes import DType
from ..ground.values import bare
from ..opdef.annotations import Array, Arrays, Rules, Specs, Value, Values
from ..opdef.attribute import REQUIRED, need_choice, need_least
from ..opdef.definition import Op
from ..opdef.fluid_form import FluidForm
from ..opdef.sequences import lod_of, offsets_of, positions_in
from ..opdef.spec import (
    Spec,
    agree,
    need_float,
    need_integer,
    need_ndim,
    need_one,
    need_shape,
    same_float,
    spec,
)


class add_position_encoding(Op):
    """``alpha * X``, plus ``beta`` times sines and cosines of the position, from slow to fast.

    (Vaswani et al., Attention is all you need, NIPS 2017.)

    X: [sequences, positions, an even number of features]; or [N, features], in sequences, in which
        positions count from 0.
    alpha, beta: factors.
    """

    signature = "X[] -> Out"
    fluid: ClassVar[FluidForm] = FluidForm(bare_gradients=True)
    alpha: float = 1.0
    beta: float = 1.0

    def infer(self, X: Spec) -> Specs:
        need_float(X=X)
        need_ndim((2, 3), X=X)
        if X.shape[-1] != -1 and (X.shape[-1] % 2 or X.shape[-1] == 0):
            raise ShapeError(
                f"expected an even number of features, half sines and half cosines; got X of "
                f"shape {list(X.shape)}"
            )
        return X

    def run(self, xp: Any, X: Array) -> Array:
        rows = bare(X)
        half = rows.shape[-1] // 2
        if lod_of(X):
            places = positions_in(offsets_of(X, "X"))[1]
        elif rows.ndim == 3:
            places = xp.arange(rows.shape[1])
        else:
            raise LoDError(
                "expected X of shape [sequences, positions, features], or in sequences, got shape "
                f"{list(rows.shape)} and no LoD"
            )
        exponents = xp.arange(half) / (half - 1) if half > 1 else xp.ones(1)
        angles = places[:, None] / 10000.0**exponents
        encoding = xp.concatenate([xp.sin(angles), xp.cos(angles)], axis=1)
        return self.alpha * rows + (self.beta * encoding).astype(rows.dtype)

    def grad(self, f: Any, dOut: Value) -> Rules:
        return dict(X=lambda: f.scale(dOut, scale=self.alpha))


class similarity_focus(Op):
    """Out = 1 at the rows and columns that the largest numbers of chosen slices of X lie in.

    Of a slice, numbers are taken from the largest down, each in a row and a column that have none
    yet; all slices have a 1 at these places. (He and Lin, Pairwise word interaction modeling, NAACL
    2016.)

    X: four dimensions.
    axis: the dimension that numbers the slices: 1, 2 or 3.
    indexes: the slices that are looked at.
    """

    signature = "X -> Out"
    axis: int = REQUIRED
    indexes: list[int] = REQUIRED
    grad = None

    def infer(self, X: Spec) -> Specs:
        need_float(X=X)
        need_ndim(4, X=X)
        need_choice(self, "axis", 1, 2, 3)
        size = X.shape[self.axis]
        if not self.indexes or any(k < 0 or (size != -1 and k >= size) for k in self.indexes):
            raise AttributeValueError(
                f"expected indexes of slices in [0, {size}), got {list(self.indexes)}"
            )
        return X

    def run(self, xp: Any, X: Array) -> Array:
        slices = xp.moveaxis(X, self.axis, 1)
        marked = xp.zeros((len(slices), *slices.shape[2:]), X.dtype)
        for n, sample in enumerate(slices):
            for k in self.indexes:
                for place in largest_apart(xp, sample[k]):
                    marked = xp.add_at(marked, (n, *place), 1)
        marked = xp.minimum(marked, 1)
        out = xp.repeat(marked[:, None], slices.shape[1], axis=1)
        return xp.moveaxis(out, 1, self.axis)


def largest_apart(xp: Any, matrix: Array) -> list[Any]:
    """The places of numbers from the largest down, of which no two share a row or a column."""
    rows, columns, pairs = set(), set(), []
    for place in xp.argsort(-matrix, axis=None, kind="stable").tolist():
        row, column = divmod(place, matrix.shape[1])
        if row not in rows and column not in columns:
            rows.add(row)
            columns.add(column)
            pairs.append((row, column))
            if len(pairs) == min(matrix.shape):
                break
    return pairs


class random_crop(Op):
    """Out = a part of each sample of X, at a random place.

    Seed: one number, from which the places are drawn; with 0 they come from the program's own
        stream.
    SeedOut: a number for the next time.
    shape: of a part: the last sizes of Out; the dimensions of X before these number the samples.
    startup_seed: Seed, where its variable has no value yet: programs of fluid's give it none.
    """

    signature = "X, Seed! -> Out, SeedOut~"
    shape: list[int] = REQUIRED
    startup_seed: int = 0
    random: ClassVar[bool] = True
    grad = None

    def infer(self, X: Spec, Seed: Spec) -> Specs:
        need_integer(Seed=Seed)
        need_one(Seed=Seed)
        k = len(self.shape)
        whole = X.shape[X.ndim - k :]
        if not 0 < k < X.ndim or any(n < 1 for n in self.shape):
            raise ShapeError(
                f"expected sizes of a part of the samples of X {list(X.shape)}, got "
                f"shape={list(self.shape)}"
            )
        if any(size != -1 and n > size for n, size in zip(self.shape, whole)):
            raise ShapeError(
                f"expected parts that fit into samples of {list(whole)}, got "
                f"shape={list(self.shape)}"
            )
        return X.with_shape((*X.shape[: X.ndim - k], *self.shape)), spec([1], DType.INT64)

    def unset(self, slot: str) -> Any:
        return np.array([self.startup_seed]) if slot == "Seed" else None

    def run(self, xp: Any, rng: Any, X: Array, Seed: Array) -> Arrays:
        generator = rng(int(xp.reshape(Seed, -1)[0]))
        lead = X.ndim - len(self.shape)
        room = [size - n + 1 for size, n in zip(X.shape[lead:], self.shape)]
        parts = []
        for sample in xp.reshape(X, (-1, *X.shape[lead:])):
            begins = [int(generator.integers(n)) for n in room]
            parts.append(sample[tuple(slice(b, b + n) for b, n in zip(begins, self.shape))])
        out = xp.reshape(xp.asarray(parts, dtype=X.dtype), (*X.shape[:lead], *self.shape))
        return out, xp.asarray([int(generator.integers(1, 2**31))], dtype="int64")


class conv_shift(Op):
    """Out[n, i] = the sum over j of X[n, i + j - half] * Y[n, j], where X is a ring.

    (Graves, Wayne and Danihelka, Neural Turing machines, arXiv 1410.5401.)

    Y: [n, an odd number of weights], of which the middle one is for no shift.
    """

    signature = "X, Y -> Out"

    def infer(self, X: Spec, Y: Spec) -> Specs:
        same_float(X=X, Y=Y)
        need_ndim(2, X=X, Y=Y)
        if not agree(X.shape[0], Y.shape[0]):
            raise ShapeError(f"expected as many rows, got {X.shape[0]} in X, {Y.shape[0]} in Y")
        if Y.shape[1] != -1 and (
            Y.shape[1] % 2 == 0 or (X.shape[1] != -1 and Y.shape[1] > X.shape[1])
        ):
            raise ShapeError(
                f"expected rows of Y to be odd and no longer than those of X, got X of shape "
                f"{list(X.shape)} and Y of shape {list(Y.shape)}"
            )
        return X

    def run(self, xp: Any, X: Array, Y: Array) -> Array:
        return xp.sum(ring(xp, X, Y.shape[1]) * Y[:, None, :], axis=2)

    def grad(self, f: Any, X: Value, Y: Value, dOut: Value) -> Rules:
        return dict(
            X=lambda: f.conv_shift(dOut, f.reverse(Y, axis=[1])),
            Y=lambda: f.conv_shift_adjoint(X, dOut, size=Y.shape[1]),
        )


class conv_shift_adjoint(Op):
    """Out[n, j] = the sum over i of X[n, i + j - half] * Y[n, i], where X is a ring.

    size: how many j there are: an odd number.
    """

    signature = "X, Y -> Out"
    size: int = REQUIRED

    def infer(self, X: Spec, Y: Spec) -> Specs:
        return X.with_dim(1, self.size)

    def run(self, xp: Any, X: Array, Y: Array) -> Arrays:
        return xp.sum(ring(xp, X, self.size) * Y[:, :, None], axis=1)

    def grad(self, f: Any, X: Value, Y: Value, dOut: Value) -> Rules:
        return dict(
            X=lambda: f.conv_shift(Y, f.reverse(dOut, axis=[1])), Y=lambda: f.conv_shift(X, dOut)
        )


def ring(xp: Any, x: Array, size: int) -> Array:
    """[n, i, j]: element ``i + j - size // 2`` of each row, which is a ring."""
    n = x.shape[1]
    places = (xp.arange(n)[:, None] + xp.arange(size) - size // 2) % max(n, 1)
    return x[:, places]


class row_conv(Op):
    """Out[n, t] = the sum over k of X[n, t + k] * Filter[k]: a look at the rows to come.

    (Amodei et al., Deep Speech 2, ICML 2016.)

    X: [sequences, steps, features]; or [N, features], in sequences, each seen alone.
    Filter: [rows that are seen, this one included; features].
    """

    signature = "X[], Filter -> Out"
    fluid: ClassVar[FluidForm] = FluidForm(bare_gradients=True)

    def infer(self, X: Spec, Filter: Spec) -> Specs:
        same_float(X=X, Filter=Filter)
        need_ndim((2, 3), X=X)
        need_ndim(2, Filter=Filter)
        need_shape("Filter", Filter, (-1, X.shape[-1]), "for X", X)
        return X

    def expand(self, f: Any, X: Value, Filter: Value) -> Values:
        count = Filter.shape[0]
        weights = [f.slice(Filter, axes=[0], starts=[k], ends=[k + 1]) for k in range(count)]
        shape = bare(X).shape
        if len(shape) == 3:
            padded = f.pad(f.bare_rows(X), paddings=[0, 0, 0, count - 1, 0, 0])
            ahead = [
                f.slice(padded, axes=[1], starts=[k], ends=[k + shape[1]]) for k in range(count)
            ]
        else:
            left = _rows_left(X)
            rows = np.arange(shape[0])
            ahead = [f.take_rows(X, np.where(left > k, rows + k, -1)) for k in range(count)]
        return f.sum([f.elementwise_mul(x, w) for x, w in zip(ahead, weights)])

    def run_numpy(self, xp: Any, X: Array, Filter: Array) -> Array:
        rows = bare(X)
        out = rows * Filter[0]
        if rows.ndim == 3:
            for k in range(1, min(len(Filter), rows.shape[1])):
                out[:, :-k] += rows[:, k:] * Filter[k]
            return out
        left = _rows_left(X)
        for k in range(1, len(Filter)):
            there = np.flatnonzero(left > k)
            out[there] += rows[there + k] * Filter[k]
        return out


def _rows_left(X):
    """Of each row, how many its sequence has from there on."""
    number, position = positions_in(offsets_of(X, "X"))
    return np.diff(offsets_of(X, "X"))[number] - position


class correlation(Op):
    """Output = how alike the neighbourhoods of places in two pictures are, for each shift between
    them (Dosovitskiy et al., FlowNet, ICCV 2015).

    Input1, Input2: pictures, [N, C, H, W].
    Output: [N, shifts, rows, columns].
    pad_size: zeros around both.
    kernel_size: the size of neighbourhoods.
    max_displacement: the largest shift.
    stride1, stride2: the steps between places, and between shifts.
    corr_type_multiply: 1: likeness is the mean of products.
    """

    signature = "Input1, Input2 -> Output"
    lod: ClassVar[str | None] = None
    pad_size: int = REQUIRED
    kernel_size: int = REQUIRED
    max_displacement: int = REQUIRED
    stride1: int = REQUIRED
    stride2: int = REQUIRED
    corr_type_multiply: int = 1

    @property
    def shifts(self) -> list[int]:
        """The shifts in one direction."""
        steps = self.max_displacement // self.stride2
        return [self.stride2 * k for k in range(-steps, steps + 1)]

    def left(self, sizes: Sequence[int]) -> list[int]:
        """The sizes of the pictures that shifts stay within."""
        around = 2 * (self.pad_size - self.max_displacement)
        return [-1 if n == -1 else n + around for n in sizes]

    def infer(self, Input1: Spec, Input2: Spec) -> Specs:
        same_float(Input1=Input1, Input2=Input2)
        need_ndim(4, Input1=Input1)
        need_shape("Input2", Input2, Input1.shape, "as Input1")
        need_choice(self, "corr_type_multiply", 1)
        need_least(self, 1, "kernel_size", "stride1", "stride2")
        need_least(self, 0, "pad_size", "max_displacement")
        sizes = self.left(Input1.shape[2:])
        if any(n != -1 and n < self.kernel_size for n in sizes):
            raise ShapeError(
                f"expected pictures that shifts of {self.max_displacement} leave something of, "
                f"got {list(Input1.shape)}"
            )
        places = [-1 if n == -1 else (n - self.kernel_size) // self.stride1 + 1 for n in sizes]
        return Input1.with_shape([Input1.shape[0], len(self.shifts) ** 2, *places])

    def expand(self, f: Any, Input1: Value, Input2: Value) -> Value:
        around = [0, 0, 0, 0, *[self.pad_size] * 4]
        first, second = (f.pad(x, paddings=around, pad_value=0.0) for x in (Input1, Input2))
        height, width = self.left(Input1.shape[2:])

        def part(x: Value, down: int, right: int) -> Value:
            starts = [self.max_displacement + down, self.max_displacement + right]
            ends = [starts[0] + height, starts[1] + width]
            return f.slice(x, axes=[2, 3], starts=starts, ends=ends)

        inner = part(first, 0, 0)
        window = dict(ksize=[self.kernel_size] * 2, strides=[self.stride1] * 2)
        alike = []
        for down in self.shifts:
            for right in self.shifts:
                products = inner * part(second, down, right)
                means = f.pool2d(products, pooling_type="avg", **window)
                alike.append(f.reduce_mean(means, dim=[1], keep_dim=True))
        return f.concat(alike, axis=1)
