"""Convolutions with windows of three rows in half of the multiplications.

Four rows of a result take six products of filters and rows in place of twelve, of sums of rows and
of filters (Winograd, Arithmetic complexity of computations, 1980; Lavin and Gray, Fast algorithms
for convolutional neural networks, CVPR 2016).  Here only rows are summed, which lie in long runs;
the columns of a window are copied to patches, as in ``convolution.py``.  What is added up lies one
element behind the other: NumPy takes three times as long for runs of less than 8192 elements.
Kernels in C, where they are there, take the sums in one pass.

Sums may be infinite, or not a number, where some of what is summed is so, and the result is then
found in another way.  So it is where rows are zero: what follows from nothing but zeros is zero, as
who looks for the field that an element sees relies on, and sums of other rows would leave rounding.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import numpy as np

from ..ground.extension import ExtensionPoint
from ..opdef.prepared import carved, size_of_carved
from . import threads
from .finite import is_finite

ROWS = 4  #: of a result, in a tile
#: the sums of a window's rows, for each plane.  Planes come in pairs, which share some sums
FILTER = np.array(
    [[6, 0, 0], [0, 0, 24], [1, 2, 4], [1, -2, 4], [-4, -4, -4], [-4, 4, -4]], np.float32
) / np.float32(24)
PLANES = len(FILTER)
TILE_BYTES = 1 << 21  #: of what is worked on at a time
LINE = 16  #: elements that go unused behind each row of patches
#: multiplications up to which OpenBLAS takes matrices as they lie, which is up to twice as fast as
#: packing them first where there are few filters; and the positions from which on that pays here
UNPACKED, POSITIONS = 1_000_000, 48
INNER = (1, 2, 3, 0)
FOUR = np.array(4, np.float32)
#: has what ``backend/native/tiles.py`` has
KERNELS: ExtensionPoint[Any] = ExtensionPoint("kernels of tiles")
#: what a number of an image costs, one of a result, and one of a filter, as multiplications
ADDED, RESULT, TURNED = 14, 14, 500


def pays(g: Any, dtype: Any) -> bool:
    """Whether this form of a convolution is there, and faster.

    Args:
        g: its geometry.
        dtype: of its values.
    """
    if np.dtype(dtype) != np.float32 or (g.k0, g.s0, g.d0) != (3, 1, 1):
        return False
    tiles = -(-g.rows // ROWS)
    per_row = g.columns * g.samples
    saved = (3 * g.rows - PLANES * tiles) * per_row * g.channels * g.filters * g.k1
    spent = g.rows * per_row * (ADDED * g.channels + RESULT * g.filters)
    return saved > spent + TURNED * g.channels * g.filters * g.k1


@lru_cache(maxsize=1024)
def _sizes(*sizes: int) -> Any:
    return np.array(sizes, np.int64)


def has_zero_rows(images: Any) -> bool:
    """Whether some images [image, channel, row, column] have a row of zeros in all channels."""
    rows = np.nonzero(images[:, 0, :, 0] == 0)
    for columns in (slice(0, 1), slice(None)):  # of fewer and fewer rows
        if not len(rows[0]):
            return False
        is_zero = ~images.transpose(0, 2, 1, 3)[..., columns][rows].any(axis=(1, 2))
        rows = tuple(places[is_zero] for places in rows)
    return len(rows[0]) > 0


def has_all_rows(filter: Any) -> bool:
    """Whether each row of a window has a number that is not zero in some filter [filter, channel,
    row, column]; mostly the first one tells.
    """
    return bool(filter[0, 0].any(axis=1).all() or filter.any(axis=(0, 1, 3)).all())


def _sum_rows(pair: int, d: Any, a: Any, b: Any) -> None:
    """Two planes ``a`` of the rows ``d`` of tiles; ``b`` is as large, to work in."""
    if pair == 0:
        np.subtract(d[:2], d[2:4], out=a)
        np.multiply(a, FOUR, out=a)
        np.subtract(d[4:], d[2:4], out=b)
        np.add(a, b, out=a)
        return
    if pair == 1:
        np.subtract(d[3:5], d[1:3], out=b)
        np.add(b[0], b[0], out=b[0])
    else:
        np.multiply(d[1:3], FOUR, out=b)
        np.subtract(d[3:5], b, out=b)
    np.add(b[1], b[0], out=a[0])
    np.subtract(b[1], b[0], out=a[1])


def _cut(count: int, most: int) -> int:
    """The largest part, up to a number, that divides positions; all of them where that is small."""
    return next((n for n in range(min(count, most), POSITIONS, -1) if count % n == 0), count)


class _Block:
    """Where some tiles are worked on.

    Args:
        g: the geometry of the convolution.
        count: how many tiles.
        rooms: memory for the four arrays below.
    """

    def __init__(self, g: Any, count: int, rooms: list[Any]) -> None:
        padded, samples, per_row = g.padded[2], g.samples, g.columns * g.samples

        def part(room: Any, *shape: int) -> Any:
            return room[: int(np.prod(shape))].reshape(shape)

        rows, sums, patches, products = rooms
        #: rows 0 to 5 of each tile of the padded image
        self.rows: Any = part(rows, PLANES, g.channels, count, padded, samples)
        self.sums: Any = part(sums, 4, g.channels, count, padded, samples)
        pitch = count * per_row + LINE
        self.all_patches: Any = part(patches, 2, g.channels * g.k1, pitch)
        self.patches: Any = self.all_patches[:, :, : count * per_row]
        cut = _cut(count * per_row, UNPACKED // (g.channels * g.k1 * g.filters))
        #: the patches some positions at a time: [plane, cut, patch element, position]
        self.cuts: Any = self.patches.reshape(2, g.channels * g.k1, -1, cut).swapaxes(1, 2)
        #: what kernels have to know of it
        self.row = g.channels, count, padded * samples, g.k1, g.d1 * samples, per_row, pitch
        #: [plane, filter, tile, column and sample]
        self.products: Any = part(products, PLANES + 2, g.filters, count, per_row)
        planes = self.products[:PLANES].reshape(PLANES, g.filters, -1, cut)
        self.cut_products: Any = planes.swapaxes(1, 2)
        shape = (2, g.channels, g.k1, count, g.columns, samples)
        p, c, t, x, n = self.sums.strides
        strides = (p, c, x * g.d1, t, x * g.s1, n)
        #: what is copied to the patches, and these in its shape
        self.windows: Any = np.ndarray(shape, sums.dtype, self.sums, 0, strides)
        self.copies: Any = self.patches.reshape(shape)
        inside = slice(g.left, g.left + g.width)
        self.middle: Any = self.rows[:, :, :, inside]
        self.sides: list[Any] = [self.rows[:, :, :, : g.left], self.rows[:, :, :, inside.stop :]]

    @staticmethod
    def sizes(g: Any, count: int) -> list[int]:
        """How many elements each room has."""
        row, per_row = g.channels * count * g.padded[2] * g.samples, count * g.columns * g.samples
        patches = 2 * g.channels * g.k1 * (per_row + LINE)
        return [PLANES * row, 4 * row, patches, (PLANES + 2) * g.filters * per_row]


class TileRoom:
    """What a convolution works in.

    Args:
        geometry: of the convolution.
        dtype: of its values.
        workers: how many threads work at once.
        memory: for all that; None to make some.
    """

    def __init__(self, geometry: Any, dtype: Any, workers: int, memory: Any = None) -> None:
        self.geometry = g = geometry
        #: [plane, filter, patch element]
        self.weights: Any
        self.weights, *rooms = carved(memory, *self._wanted(g, np.dtype(dtype), workers))
        self.tiles, self.step = self._steps(g, np.dtype(dtype))
        self.blocks: int = -(-self.tiles // self.step)
        counts = {self.step, self.tiles - (self.blocks - 1) * self.step}
        self._work = [
            {count: _Block(g, count, rooms[k : k + 4]) for count in counts}
            for k in range(0, len(rooms), 4)
        ]
        self.workers: int = len(self._work)

    @staticmethod
    def _steps(g: Any, dtype: Any) -> tuple[int, int]:
        """How many tiles there are, and how many are worked on at a time: not all, since there may
        be two threads; and whatever their number, so that sums are the same.
        """
        tiles = -(-g.rows // ROWS)
        most = TILE_BYTES // (sum(_Block.sizes(g, 1)) * dtype.itemsize)
        step = max(1, min(-(-tiles // 2), most))
        return tiles, -(-tiles // -(-tiles // step))  # all blocks alike

    @classmethod
    def _wanted(cls, g: Any, dtype: Any, workers: int) -> list[Any]:
        """Shapes and element types of the planes of filters, and of the rooms of each thread."""
        tiles, step = cls._steps(g, dtype)
        rooms = [((size,), dtype) for size in _Block.sizes(g, step)]
        weights = (PLANES, g.filters, g.channels * g.k1), dtype
        return [weights, *rooms * min(workers, -(-tiles // step))]

    @classmethod
    def size(cls, g: Any, dtype: Any, workers: int) -> int:
        """Bytes of all that."""
        return size_of_carved(*cls._wanted(g, np.dtype(dtype), workers))

    def _block(self, number: int, worker: int) -> tuple[int, _Block]:
        """The first tile of a block, and where the block is worked on."""
        first = number * self.step
        return first, self._work[worker][min(self.step, self.tiles - first)]

    def _take(self, image: Any, first: int, block: _Block) -> None:
        """Copy rows of an image [channel, row, column, sample] to those of a block's tiles."""
        g, count = self.geometry, block.rows.shape[2]
        for side in block.sides:
            side.fill(0)
        for k, rows in enumerate(block.middle):
            offset = ROWS * first + k - g.top
            begin = min(count, max(0, -(offset // ROWS)))
            end = min(count, max(begin, (g.height - 1 - offset) // ROWS + 1))
            if begin:
                rows[:, :begin].fill(0)
            if end < count:
                rows[:, end:].fill(0)
            if begin < end:
                there = slice(offset + ROWS * begin, offset + ROWS * (end - 1) + 1, ROWS)
                np.copyto(rows[:, begin:end], image[:, there])

    def _patches(self, image: Any, first: int, block: _Block) -> Iterator[Any]:
        """The patches of two planes of a block after the other: [plane, patch element, position]"""
        self._take(image, first, block)
        d, a, b, kernels = block.rows, block.sums[:2], block.sums[2:], KERNELS.get()
        for pair in range(3):
            given = block.rows, _sizes(pair, *block.row), block.all_patches
            if not (self.geometry.s1 == 1 and kernels.computed("tile_patches", given)):
                _sum_rows(pair, d, a, b)
                np.copyto(block.copies, block.windows)
            yield block.patches

    def convolve(self, image: Any, filter: Any, result: Any) -> bool:
        """The convolution of an image with filters; whether it is one.

        Args:
            image: [sample, channel, row, column].
            filter: [filter, channel, row, column].
            result: what to write to, [filter, row, column, sample].
        """
        if has_zero_rows(image) or not has_all_rows(filter):
            return False
        g = self.geometry
        rows = np.empty((3, g.filters, g.channels, g.k1), filter.dtype)
        for j in range(g.k1):  # channels are longer runs than columns of a window
            np.copyto(rows[..., j], filter[..., j].transpose(2, 0, 1))
        np.matmul(FILTER, rows.reshape(3, -1), out=self.weights.reshape(PLANES, -1))
        inner, flat = image.transpose(INNER), result.reshape(*result.shape[:2], -1)
        kernels = KERNELS.get()

        def part(number: int, worker: int) -> None:
            first, block = self._block(number, worker)
            for pair, _ in enumerate(self._patches(inner, first, block)):
                planes = slice(2 * pair, 2 * pair + 2)
                weights = self.weights[planes, None]
                np.matmul(weights, block.cuts, out=block.cut_products[planes])
            sizes = _sizes(*flat.shape, first, block.products.shape[2])
            if not kernels.computed("tile_rows", (block.products, sizes, result)):
                self._sum(block.products, flat[:, ROWS * first :])

        threads.each(part, self.blocks, self.workers, blas=True)
        return is_finite(result)

    def _sum(self, m: Any, result: Any) -> None:
        """Write rows [filter, row, column and sample] that are sums of the products of planes."""
        (u, s), v, d = m[PLANES:], m[2], m[4]

        def write(row: int, one: Any, other: Any) -> None:
            there = result[:, row : row + ROWS * m.shape[2] : ROWS]
            count = there.shape[1]
            np.add(one[:, :count], other[:, :count], out=there)

        np.add(m[2:PLANES:2], m[3:PLANES:2], out=m[PLANES:])
        np.subtract(m[2:PLANES:2], m[3:PLANES:2], out=m[2:PLANES:2])
        np.add(m[0], s, out=m[0])
        write(0, m[0], u)
        np.multiply(u, FOUR, out=u)
        write(2, s, u)
        np.add(v, v, out=v)
        write(1, d, v)
        np.multiply(v, FOUR, out=v)
        np.add(d, v, out=v)
        write(3, v, m[1])

    def _planes(self, cotangent: Any, first: int, block: _Block) -> Iterator[Any]:
        """Two planes of a cotangent [filter, row, column and sample] after the other, for a block:
        [plane, filter, position].
        """
        y, a, b = np.split(block.products, [ROWS, ROWS + 2])
        count, filters = y.shape[2], len(cotangent)
        planes = a.reshape(2, filters, -1)
        if cotangent.shape[1] % ROWS == 0:
            kernels = KERNELS.get()
            sizes = [_sizes(pair, *cotangent.shape, first, count) for pair in range(3)]
            if kernels.computed("tile_planes", (cotangent, sizes[0], a)):
                yield planes
                for pair in (1, 2):
                    kernels.computed("tile_planes", (cotangent, sizes[pair], a))
                    yield planes
                return
        for k, rows in enumerate(y):
            there = cotangent[:, ROWS * first + k : ROWS * (first + count) : ROWS]
            np.copyto(rows[:, : there.shape[1]], there)
            rows[:, there.shape[1] :] = 0
        yield y[::3].reshape(2, filters, -1)
        for pair in (1, 2):
            if pair == 1:
                np.multiply(y[2:], FOUR, out=b)
                np.add(b, y[:2], out=b)
                np.add(b[1], b[1], out=b[1])
            else:
                np.add(y[:2], y[2:], out=b)
            np.add(b[0], b[1], out=a[0])
            np.subtract(b[0], b[1], out=a[1])
            yield planes

    def filter_cotangent(self, image: Any, cotangent: Any, parts: int) -> Any:
        """The cotangent of filters, [filter, channel, row, column]; None where it is none.

        Args:
            image: [sample, channel, row, column].
            cotangent: [filter, row, column, sample].
            parts: how many sums over blocks are taken.
        """
        g, inner = self.geometry, image.transpose(INNER)
        flat = cotangent.reshape(*cotangent.shape[:2], -1)

        def add(total: Any, number: int, worker: int) -> Any:
            if total is None:
                total = np.zeros((PLANES, g.channels * g.k1, g.filters), cotangent.dtype)
            first, block = self._block(number, worker)
            both = zip(self._patches(inner, first, block), self._planes(flat, first, block))
            for pair, (patches, planes) in enumerate(both):
                of_pair = total[2 * pair : 2 * pair + 2]
                np.add(of_pair, np.matmul(patches, planes.swapaxes(1, 2)), out=of_pair)
            return total

        total = threads.summed(add, self.blocks, parts, self.workers)
        rows = np.matmul(FILTER.T, total.reshape(PLANES, -1))
        rows = rows.reshape(3, g.channels, g.k1, g.filters)
        found = np.empty((g.filters, g.channels, 3, g.k1), rows.dtype)
        for i, j in np.ndindex(3, g.k1):
            np.copyto(found[:, :, i, j], rows[i, :, j].T)
        return found if is_finite(found) else None
