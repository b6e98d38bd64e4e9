"""Two convolutions with pooling and a dense layer, with Adam."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from problems import Array, Problem, shapes

from .arrays import empty, zeros
from .convolution import Patches, flattened, restored
from .parts import Adam, Flat, Loss


class Pooled:
    """Convolution, maximum of squares of 2, bias and relu, one or more pairs of rows at a time so
    that what is pooled never leaves the cache.

    Bias and relu come after the pooling, which gives the same values for a quarter of the work.

    Args:
        image: [channels, height, width, batch].
        weight, bias: [channels * size * size, filters] and [filters].
        out: [filters, height / 2, width / 2, batch].
        size: of the filter.
        back: gradients, of weight, bias, ``out`` and, where wanted, ``image``.
    """

    def __init__(
        self,
        image: Array,
        weight: Array,
        bias: Array,
        out: Array,
        size: int,
        back: tuple[Array, Array, Array, Array | None],
    ) -> None:
        self._weight_back, self._bias_back, self._back, self._image_back = back
        self._weight, self._bias, self._out = weight, bias[:, None], out
        one_row = self._image_back is not None
        patches = Patches(image, size, 1, len(out), 1024, one_row)
        self._buffer, self._window = patches.buffer, patches.window
        filters, _, wide, batch = out.shape
        first = patches.pieces[0]
        rows = max(2, first.rows.stop - first.rows.start)
        if rows % 2:
            raise ValueError(f"expected pairs of rows, got pieces of {rows}")
        y = empty((filters, rows, 2 * wide, batch), out.dtype)
        half = empty((filters, rows // 2, 2 * wide, batch), out.dtype)
        self._y = (y[:, 0::2], y[:, 1::2], half, half[:, :, 0::2], half[:, :, 1::2])
        high = out.shape[1]
        self._upper = empty((high * 2 // rows, *half.shape), bool)  # where the upper row wins
        self._left = empty((high * 2 // rows, filters, rows // 2, wide, batch), bool)
        self._positive = empty(out.shape, bool)
        self._flat = out.reshape(filters, -1)
        self._zeros = zeros(out.shape, out.dtype)
        self._ones = np.ones(self._flat.shape[1], out.dtype)
        self._part = empty(weight.shape, weight.dtype)
        self._groups = []
        for number, top in enumerate(range(0, 2 * high, rows)):
            pooled = slice(top // 2, (top + rows) // 2)
            pieces = []
            for piece in patches.pieces:
                if not top <= piece.top < top + rows:
                    continue
                part = y[:, piece.top - top :][:, : piece.rows.stop - piece.top, piece.columns]
                flat = part.reshape(filters, -1)
                assert np.shares_memory(flat, y)
                added = [] if self._image_back is None else self._added(piece.top, piece.left, size)
                pieces.append((piece.patches, flat, flat.T, added))
            self._groups.append(
                (
                    pieces,
                    out[:, pooled],
                    self._back[:, pooled],
                    self._upper[number],
                    self._left[number],
                )
            )

    def _added(self, top: int, left: int, size: int) -> list[tuple[Array, Array]]:
        """Shares of the gradient by the image and where they go, for a piece of one row; all rows
        of the filter at once, since they never meet.
        """
        image, columns = self._image_back, self._window.shape[4]
        assert image is not None
        return [
            (self._window[:, :, j, 0], image[:, top : top + size, left + j : left + j + columns])
            for j in range(size)
        ]

    def run(self) -> None:
        """Compute ``out``."""
        buffer, window, weight = self._buffer, self._window, self._weight.T
        even, odd, half, left, right = self._y
        for pieces, out, _, upper_wins, left_wins in self._groups:
            for patches, y, _, _ in pieces:
                np.copyto(window, patches)
                np.matmul(weight, buffer, out=y)
            np.greater_equal(even, odd, out=upper_wins)
            np.maximum(even, odd, out=half)
            np.greater_equal(left, right, out=left_wins)
            np.maximum(left, right, out=out)
        np.add(self._flat, self._bias, out=self._flat)
        np.maximum(self._out, self._zeros, out=self._out)

    def pull(self) -> None:
        """Compute the gradients."""
        back, found, part = self._back, self._weight_back, self._part
        np.greater(self._out, self._zeros, out=self._positive)
        np.multiply(back, self._positive, out=back)
        np.dot(back.reshape(self._flat.shape), self._ones, self._bias_back)
        if self._image_back is not None:
            self._image_back.fill(0)
        buffer, window, weight = self._buffer, self._window, self._weight
        even, odd, half, left, right = self._y
        into = found
        for pieces, _, share, upper_wins, left_wins in self._groups:
            np.multiply(share, left_wins, out=left)
            np.subtract(share, left, out=right)
            np.multiply(half, upper_wins, out=even)
            np.subtract(half, even, out=odd)
            for patches, y, turned, added in pieces:
                np.copyto(window, patches)
                np.matmul(buffer, turned, out=into)
                if into is part:
                    np.add(found, part, out=found)
                into = part
                if added:
                    np.matmul(weight, y, out=buffer)
                    for columns, target in added:
                        np.add(target, columns, out=target)


class Step:
    """Images lie samples last; filters are [channels * size * size, filters]."""

    def __init__(self, problem: Problem) -> None:
        sizes, dtype = problem.sizes, problem.dtype
        n, edge, size = sizes["batch"], sizes["size"], sizes["filter"]
        first, second, classes = sizes["first"], sizes["second"], sizes["classes"]
        self._shapes = shapes(problem.name, sizes)
        laid = {
            name: (s[1] * s[2] * s[3], s[0]) if len(s) == 4 else s
            for name, s in self._shapes.items()
        }
        self._values, self._gradients = Flat(laid, dtype), Flat(laid, dtype)
        self._adam = Adam(self._values, self._gradients, problem.rate)
        self._loss = Loss(classes, n, dtype)
        v, d = self._values, self._gradients
        once = (edge - size + 1) // 2
        twice = (once - size + 1) // 2
        self._image = empty((1, edge, edge, n), dtype)
        inner, inner_back = (empty((first, once, once, n), dtype) for _ in range(2))
        outer, outer_back = (empty((second, twice, twice, n), dtype) for _ in range(2))
        self._first = Pooled(
            self._image, v["c1"], v["cb1"], inner, size, (d["c1"], d["cb1"], inner_back, None)
        )
        self._second = Pooled(
            inner, v["c2"], v["cb2"], outer, size, (d["c2"], d["cb2"], outer_back, inner_back)
        )
        self._flat, self._flat_back = outer.reshape(-1, n), outer_back.reshape(-1, n)
        self._scores = empty((classes, n), dtype)
        self._ones = np.ones(n, dtype)
        self._column = v["b1"][:, None]

    def load(self, start: Mapping[str, Array]) -> None:
        self._values.load({k: flattened(v) if v.ndim == 4 else v for k, v in start.items()})
        self._adam.restart()

    def step(self, feed: Mapping[str, Array]) -> float:
        v, d, scores = self._values, self._gradients, self._scores
        np.copyto(self._image, feed["x"].transpose(1, 2, 3, 0))
        self._first.run()
        self._second.run()
        np.dot(v["w1"].T, self._flat, scores)
        np.add(scores, self._column, scores)
        loss = self._loss(scores, feed["y"])
        np.dot(self._flat, scores.T, d["w1"])
        np.dot(scores, self._ones, d["b1"])
        np.dot(v["w1"], scores, self._flat_back)
        self._second.pull()
        self._first.pull()
        self._adam.step()
        return loss

    def parameters(self) -> dict[str, Array]:
        found = self._values.copies()
        for name, shape in self._shapes.items():
            if len(shape) == 4:
                found[name] = restored(found[name], shape)
        return found
