"""Convolutions of images, forward and both adjoints, with their room to work in made once.

As ``ops/conv.py`` says, images are kept as [channel, row, column, sample], and the patches of a few
output rows at a time are copied into a buffer that stays in the cache, and multiplied.  Windows of
three rows may have the form of ``winograd.py``.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from ..opdef.prepared import Prepared, carved, prepares, size_of_carved
from ..opdef.spec import Shape, Spec
from . import inside, threads, winograd
from .half import in_single

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .inside import Sliding

PATCH_BYTES = 1 << 19
POSITIONS = 128  #: from which on matrices pay that OpenBLAS takes as they lie
LINE = 64  #: bytes that go unused behind each row of patches, so that no two meet in the cache
INNER, OUTER = (1, 2, 3, 0), (3, 0, 1, 2)
#: what samples are copied as, by their bytes
ITEMS: dict[int, Any] = {8: np.float64, 16: np.complex128, 32: np.dtype("V32"), 64: np.dtype("V64")}
#: sums over blocks of patches are taken in so many parts where filters are small, and in two
SUMS, SMALL_FILTER = 4, 1 << 20
#: samples, at least, that the map to the cotangent of an image works on at once
SAMPLES = 16
#: how many times more patches there may be for turned filters to pay, and more positions; and how
#: many times fewer for the gradient of filters to be taken of the patches of its cotangent
MORE_PATCHES, MORE_POSITIONS, FEWER_PATCHES = 3.0, 1.6, 1.5


class Geometry:
    """A convolution of images of one shape with filters of another.

    Args:
        op: its attributes: a convolution or an adjoint of one.
        image: [sample, channel, row, column].
        filter: [filter, channel, row, column].
    """

    top: int
    bottom: int
    left: int
    right: int
    samples: int
    channels: int
    height: int
    width: int
    filters: int
    k0: int
    k1: int
    s0: Any
    s1: Any
    d0: Any
    d1: Any
    rows: Any
    columns: Any

    def __init__(self, op: Any, image: Shape, filter: Shape) -> None:
        self.samples, self.channels, self.height, self.width = image
        self.filters, _, self.k0, self.k1 = filter
        self.s0, self.s1 = op.strides
        self.d0, self.d1 = op.spacing
        (self.top, self.bottom), (self.left, self.right) = op.pads(image[2:], filter[2:])
        _, _, self.rows, self.columns = op.convolved(image, filter)
        self.depth: int = self.channels * self.k0 * self.k1
        #: into how many parts columns are sorted to add to them; 1 where few elements meet
        self.phases: int = self.s1 if self.k0 * self.k1 > self.s0 * self.s1 else 1
        padded = (self.height + self.top + self.bottom, self.width + self.left + self.right)
        self.padded: Shape = (self.channels, *padded, self.samples)
        strides, spacing = (self.s0, self.s1), (self.d0, self.d1)
        positions, before = (self.rows, self.columns), (self.top, self.left)
        self.sliding: Sliding = inside.Sliding(
            image[2:], filter[2:], positions, strides, spacing, before
        )
        self.inside: tuple[slice, slice, slice] = (
            slice(None),
            slice(self.top, self.top + self.height),
            slice(self.left, self.left + self.width),
        )
        pads = (self.top, self.bottom, self.left, self.right)
        #: what convolutions that can work in the same room have in common
        self.key: tuple[Any, ...] = (image, filter, strides, spacing, pads, positions)

    @property
    def is_bare(self) -> bool:
        """Whether there are no zeros around an image."""
        return self.padded[1:3] == (self.height, self.width)

    @property
    def is_plain(self) -> bool:
        """Whether an image is its own patches."""
        return self.is_bare and (self.k0, self.k1, self.s0, self.s1) == (1, 1, 1, 1)

    @property
    def shrinks(self) -> bool:
        """Whether an image has so many more positions that turned filters would not pay."""
        return bool(self.height * self.width > MORE_POSITIONS * self.rows * self.columns)

    @property
    def is_cut(self) -> bool:
        """Whether each pixel lies under one element of one window."""
        steps = (self.s0, self.s1, self.rows * self.k0, self.columns * self.k1)
        apart = (self.d0 == 1 or self.k0 == 1) and (self.d1 == 1 or self.k1 == 1)
        return apart and self.is_bare and steps == (self.k0, self.k1, self.height, self.width)

    def step(self, itemsize: int) -> int:
        """How many output rows are worked on at a time."""
        positions = max(1, self.columns * self.samples)
        rows = max(1, min(self.rows, PATCH_BYTES // (self.depth * positions * itemsize)))
        unpacked = winograd.UNPACKED // (self.depth * self.filters * positions)
        return min(rows, unpacked) if unpacked * positions >= POSITIONS else rows

    @property
    def in_phases(self) -> Shape:
        """The shape of a padded image whose columns lie in the order in which windows step over
        them: [channel, row, remainder, quotient, sample], of a column divided by ``phases``.
        """
        channels, height, width, samples = self.padded
        return channels, height, self.phases, -(-width // self.phases), samples

    def added(self, image: Any, elements: Any, first: int, last: int) -> Iterator[tuple[Any, Any]]:
        """Parts of a padded image, and what is added to each, for some output rows.

        Args:
            image: as :attr:`in_phases`.
            elements: [channel, row of the window, column of it, output row, column, sample].
            first, last: the output rows.
        """
        columns, step = [], self.s1 // self.phases
        for j in range(self.k1):
            left, phase = divmod(j * self.d1, self.phases)
            columns.append(image[:, :, phase, left : left + (self.columns - 1) * step + 1 : step])
        top = first * self.s0
        if last - first == 1:  # the rows of one window never meet
            rows = slice(top, top + (self.k0 - 1) * self.d0 + 1, self.d0)
            for j, column in enumerate(columns):
                yield column[:, rows], elements[:, :, j, 0]
            return
        for i in range(self.k0):
            begin = top + i * self.d0
            rows = slice(begin, begin + (last - first - 1) * self.s0 + 1, self.s0)
            for j, column in enumerate(columns):
                yield column[:, rows], elements[:, i, j]


def _patches(g: Geometry, positions: int, dtype: Any) -> tuple[Shape, Any]:
    """Shape and element type of a buffer of patches for some output positions."""
    return (g.depth, positions + LINE // np.dtype(dtype).itemsize), dtype


def _copy(target: Any, source: Any) -> None:
    """Copy pixels; where they lie apart their samples as one item, if there is such an item."""
    size = target.shape[-1] * target.itemsize
    item, apart = ITEMS.get(size), not target.strides[-2] == source.strides[-2] == size
    in_a_row = target.strides[-1] == source.strides[-1] == target.itemsize == source.itemsize
    if item is not None and apart and in_a_row:
        target, source = target.view(item), source.view(item)
    np.copyto(target, source)


def _add(target: Any, source: Any) -> None:
    np.add(target, source, out=target)


class Maker:
    """Makes what a convolution works in; equal ones make the same.

    Args:
        room: the class of what is made.
        geometry: of the convolution.
        dtype: of its values.
    """

    def __init__(
        self,
        room: type[PatchMemory] | type[AdjointRoom] | type[winograd.TileRoom],
        geometry: Geometry,
        dtype: Any,
    ) -> None:
        self._room, self._geometry, self._dtype = room, geometry, np.dtype(dtype)
        self._workers = threads.count()
        self._key = (room, geometry.key, self._dtype.str, self._workers)
        #: what it needs of the memory that all kernels work in, one after the other
        self.common: int = room.size(geometry, self._dtype, self._workers)

    def __call__(self, memory: Any = None) -> Any:
        return self._room(self._geometry, self._dtype, self._workers, memory)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Maker) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)


class PatchMemory:
    """What a convolution works in.

    Args:
        geometry: of the convolution.
        dtype: of its values.
        workers: how many threads work at once.
        memory: for all that; None to make some.
    """

    image: Any

    def __init__(self, geometry: Geometry, dtype: Any, workers: int, memory: Any = None) -> None:
        self.geometry = g = geometry
        self.image, *self._patches = carved(memory, *self._wanted(g, dtype, workers))
        self.inside: Any = self.image[g.inside]
        every, rows = slice(None), slice(g.top, g.top + g.height)
        sides = (
            (every, slice(0, g.top)),
            (every, slice(g.top + g.height, None)),
            (every, rows, slice(0, g.left)),
            (every, rows, slice(g.left + g.width, None)),
        )
        #: what is around the middle
        self._around = [self.image[side] for side in sides if self.image[side].size]
        self.rows: int = g.step(self.image.itemsize)
        self.windows: NDArray[Any] = self._windows(self.image)
        #: how many blocks of output rows there are
        self.blocks: Any = -(-g.rows // self.rows)
        self.workers: int = len(self._patches)

    @staticmethod
    def _wanted(g: Geometry, dtype: Any, workers: int) -> list[Any]:
        """Shapes and element types of the image, and of the patches of each thread."""
        rows = g.step(np.dtype(dtype).itemsize)
        patches = _patches(g, rows * g.columns * g.samples, dtype)
        return [(g.padded, dtype), *[patches] * min(workers, -(-g.rows // rows))]

    @classmethod
    def size(cls, g: Geometry, dtype: Any, workers: int) -> int:
        """Bytes of all that."""
        return size_of_carved(*cls._wanted(g, dtype, workers))

    def _windows(self, image: Any) -> Any:
        """All windows over a padded image: [channel, row and column in a window, those of it, n]"""
        g = self.geometry
        c, y, x, n = image.strides
        strides = (c, y * g.d0, x * g.d1, y * g.s0, x * g.s1, n)
        shape = (g.channels, g.k0, g.k1, g.rows, g.columns, g.samples)
        return np.ndarray(shape, image.dtype, image, 0, strides)

    def take(self, image: Any) -> Any:
        """The windows over an image [sample, channel, row, column], which is copied to the middle
        of the padded one where it must be.
        """
        inner = image.transpose(INNER)
        if self.geometry.is_bare and inner.dtype == self.image.dtype and inner.flags.c_contiguous:
            return self._windows(inner)
        for side in self._around:
            side.fill(0)
        parts = threads.ranges(self.geometry.height, self.inside.nbytes)

        def part(k: int, _: int) -> None:
            np.copyto(self.inside[:, parts[k]], inner[:, parts[k]])

        threads.each(part, len(parts), self.workers)
        return self.windows

    def patches(self, windows: Any, block: int, worker: int) -> tuple[slice, Any]:
        """Output positions of a block, and their patches."""
        g = self.geometry
        first = block * self.rows
        last, per_row = min(first + self.rows, g.rows), g.columns * g.samples
        where, size = slice(first * per_row, last * per_row), (last - first) * per_row
        if g.is_plain:
            return where, windows.reshape(g.channels, -1)[:, where]
        patches = self._patches[worker][:, :size]
        shape = (g.channels, g.k0, g.k1, last - first, g.columns, g.samples)
        _copy(patches.reshape(shape), windows[:, :, :, first:last])
        return where, patches

    def convolve(self, image: Any, filter: Any, result: Any) -> bool:
        """The convolution of an image with filters; whether it is one.

        Args:
            image: [sample, channel, row, column].
            filter: [filter, channel, row, column].
            result: what to write to, [filter, row, column, sample].
        """
        g, windows = self.geometry, self.take(image)
        flat, weights = result.reshape(g.filters, -1), filter.reshape(g.filters, -1)

        def part(block: int, worker: int) -> None:
            where, patches = self.patches(windows, block, worker)
            np.matmul(weights, patches, out=flat[:, where])

        threads.each(part, self.blocks, self.workers, blas=True)
        return True

    def filter_cotangent(self, image: Any, cotangent: Any, parts: int) -> Any:
        """The cotangent of filters, [filter, channel, row, column]; None where it is none.

        Args:
            image: [sample, channel, row, column].
            cotangent: [filter, row, column, sample].
            parts: how many sums over blocks are taken.
        """
        g, windows = self.geometry, self.take(image)
        flat = cotangent.reshape(g.filters, -1)

        def add(total: Any, block: int, worker: int) -> Any:
            where, patches = self.patches(windows, block, worker)
            product = np.matmul(patches, flat[:, where].T)
            return product if total is None else np.add(total, product, out=total)

        total = threads.summed(add, self.blocks, parts, self.workers)
        return np.ascontiguousarray(total.T).reshape(g.filters, g.channels, g.k0, g.k1)


def _room(g: Geometry, dtype: Any) -> Maker:
    """What makes the memory that a convolution works in, which has the form that is fastest."""
    return Maker(winograd.TileRoom if winograd.pays(g, dtype) else PatchMemory, g, dtype)


def _fits(op: Any, *specs: Spec) -> bool:
    """Whether a convolution is of the kind that is prepared here."""
    return (
        op.groups == 1
        and not op.cuts
        and op.data_format in ("NCHW", "AnyLayout")
        and all(s.ndim == 4 and s.dtype.is_float and 0 not in s.shape for s in specs)
    )


def _convolve(room: PatchMemory | winograd.TileRoom, image: Any, filter: Any, out: Any) -> Any:
    """The convolution of an image with filters, [sample, filter, row, column].

    Args:
        room: to work in.
        image: [sample, channel, row, column].
        filter: [filter, channel, row, column].
        out: what to write to, or None.
    """
    g = room.geometry
    result = None if out is None else out.transpose(INNER)
    if result is None or not result.flags.c_contiguous:
        result = np.empty((g.filters, g.rows, g.columns, g.samples), filter.dtype)
    with np.errstate(all="ignore"):
        if g.sliding.leaves_out(filter) or not room.convolve(image, filter, result):
            np.copyto(result, inside.convolved(g.sliding, image.transpose(INNER), filter))
    return result.transpose(OUTER)


@prepares("conv2d", "depthwise_conv2d")
@in_single
def conv2d(op: Any, Input: Spec, Filter: Spec, Bias: Spec | None, *more: Any) -> Prepared | None:
    """The convolution."""
    if Bias is not None or not _fits(op, Input, Filter):
        return None
    g = Geometry(op, Input.shape, Filter.shape)
    dtype = Input.dtype.dtype
    turned = _by_turning(op, g, MORE_PATCHES)

    def run(image: Any, filter: Any, *rest: Any, out: Any = None) -> Any:
        if turned is not None:
            return _scatter(rest[-1], dtype, image, _turn(filter), out)
        return _convolve(rest[-1], image, filter, out)

    room = _room(g, dtype) if turned is None else Maker(AdjointRoom, turned, dtype)
    return Prepared(run, out=True, scratch=room)


@prepares("conv2d_adjoint_filter")
@in_single
def adjoint_filter(op: Any, Input: Spec, G: Spec) -> Prepared | None:
    """The map to the cotangent of the filters."""
    if not _fits(op, Input, G):
        return None
    g = Geometry(op, Input.shape, tuple(op.size))
    dtype = Input.dtype.dtype
    parts = SUMS if prod(op.size) * dtype.itemsize <= SMALL_FILTER else 2
    turned = _by_turning(op, g, FEWER_PATCHES)

    def run(image: Any, cotangent: Any, room: Any) -> Any:
        # of a turned convolution the cotangent is the image, whose windows there are
        windowed, other = (image, cotangent) if turned is None else (cotangent, image)
        sliding, inner = room.geometry.sliding, np.ascontiguousarray(other.transpose(INNER))
        with np.errstate(all="ignore"):
            gradient = room.filter_cotangent(windowed, inner, parts)
            # what is not finite in the other one shows in each element of so small a result
            if gradient is None or (sliding.leaves_out(gradient) and sliding.leaves_out(other)):
                pair = (each.transpose(INNER) for each in (image, cotangent))
                return inside.filter_cotangent(g.sliding, *pair)
        return gradient if turned is None else np.ascontiguousarray(_turn(gradient))

    return Prepared(run, scratch=_room(g if turned is None else turned, dtype))


class AdjointRoom:
    """What the map to the cotangent of an image works in.

    Patches are added where windows overlap.  What is worked on at once does not: every other band
    of rows, and then the rest; or groups of samples, where there are too few rows.
    """

    image: Any
    flat: Any
    rows: Any

    def __init__(self, g: Geometry, dtype: Any, workers: int, memory: Any = None) -> None:
        wanted = self._plan(g, dtype, workers)
        self.image, self.flat, *self._patches = carved(memory, *wanted)

    def _plan(self, g: Geometry, dtype: Any, workers: int) -> list[Any]:
        """Decide how the work is divided.

        Returns:
            shapes and element types of the image, the cotangent, and the patches of each thread.
        """
        self.geometry = g
        self.rows = rows = g.step(np.dtype(dtype).itemsize)
        overlap = -(-max(0, g.d0 * (g.k0 - 1) - g.s0 + 1) // g.s0)
        bands = threads.ranges(g.rows, g.rows, rows * max(1, -(-overlap // rows)))
        groups = 1
        if rows < g.rows and len(bands) < 4:
            groups = next((n for n in (4, 2) if g.samples % n == 0 <= g.samples - n * SAMPLES), 1)
        if groups > 1:
            self.rows, bands = min(g.rows, rows * groups), [slice(0, g.rows)]
        self.samples: int = g.samples // groups
        #: parts that are worked on at once: pairs of a group and a band
        self.phases: list[list[tuple[int, slice[int, Any, Any] | slice]]] = [
            [(group, band) for group in range(groups) for band in bands[begin::2]]
            for begin in range(min(2, len(bands)))
        ]
        self.workers: int = min(workers, len(self.phases[0]))
        patches = _patches(g, self.rows * g.columns * self.samples, dtype)
        return [
            ((0 if g.is_cut else groups, *g.in_phases[:4], self.samples), dtype),
            ((groups, g.filters, g.rows, g.columns, self.samples), dtype),
            *[patches] * self.workers,
        ]

    @classmethod
    def size(cls, g: Geometry, dtype: Any, workers: int) -> int:
        """Bytes of all that."""
        return size_of_carved(*cls.__new__(cls)._plan(g, dtype, workers))

    def blocks(self, band: slice, worker: int) -> Iterator[tuple[int, int, slice, Any]]:
        """Output rows of a band, some at a time, their positions, and room for their patches."""
        per_row = self.geometry.columns * self.samples
        for first in range(band.start, band.stop, self.rows):
            last = min(first + self.rows, band.stop)
            patches = self._patches[worker][:, : (last - first) * per_row]
            yield first, last, slice(first * per_row, last * per_row), patches

    def take(self, cotangent: Any) -> Any:
        """A cotangent [sample, filter, row, column] as [group, filter, position]."""
        inner = cotangent.transpose(INNER)
        if len(self.flat) > 1 or inner.dtype != self.flat.dtype or not inner.flags.c_contiguous:
            for group, flat in enumerate(self.flat):
                np.copyto(flat, inner[..., group * self.samples : (group + 1) * self.samples])
            inner = self.flat
        return inner.reshape(len(self.flat), self.geometry.filters, -1)

    def give(self, made: Any) -> None:
        """Copy the middle of the padded image to an array [channel, row, column, sample]."""
        g = self.geometry
        parts = threads.ranges(g.channels, made.nbytes)

        rows = slice(g.top, g.top + g.height)

        def part(k: int, _: int) -> None:
            for group, image in enumerate(self.image):
                where = slice(group * self.samples, (group + 1) * self.samples)
                for phase in range(g.phases):
                    first = (phase - g.left) % g.phases
                    columns = made[parts[k], :, first :: g.phases, where]
                    begin = (first + g.left) // g.phases
                    end = begin + columns.shape[2]
                    _copy(columns, image[parts[k], rows, phase, begin:end])

        threads.each(part, len(parts), self.workers)


class _Turned:
    """A convolution over the cotangent, with turned filters, that gives the image's: of an operator
    with its geometry, of stride 1.
    """

    strides = (1, 1)

    def __init__(self, op: Any, g: Geometry) -> None:
        self.spacing = op.spacing
        self._size = (g.samples, g.channels, g.height, g.width)
        rows, columns = g.d0 * (g.k0 - 1), g.d1 * (g.k1 - 1)
        self.around = ((rows - g.top, rows - g.bottom), (columns - g.left, columns - g.right))

    def pads(self, image: Shape, filter: Shape) -> tuple[tuple[int, int], tuple[int, int]]:
        """The zeros around the cotangent."""
        return self.around

    def convolved(self, image: Shape, filter: Shape) -> Shape:
        """The shape of the image."""
        return self._size


def _turned_geometry(op: Any, g: Geometry) -> Geometry | None:
    """That convolution; None where it has strides, or pixels of the cotangent fall off."""
    turned = _Turned(op, g)
    if (g.s0, g.s1) != (1, 1) or min(map(min, turned.around)) < 0:
        return None
    filter = (g.channels, g.filters, g.k0, g.k1)
    return Geometry(turned, (g.samples, g.filters, g.rows, g.columns), filter)


def _turn(filter: Any) -> Any:
    """Turned filters; and those back."""
    return filter[:, :, ::-1, ::-1].transpose(1, 0, 2, 3)


def _by_turning(op: Any, g: Geometry, more: float) -> Geometry | None:
    """The turned convolution, where this one has so many times more patches: an adjoint of it."""
    is_deep = g.channels > more * g.filters and g.k0 * g.k1 > 1
    return _turned_geometry(op, g) if is_deep and not g.shrinks else None


def _adjoint_by_turning(op: Any, g: Geometry, dtype: Any) -> Prepared | None:
    """The map to the cotangent of an image as a convolution; None where that does not pay."""
    forward = _turned_geometry(op, g)
    if forward is None or g.shrinks or g.filters > MORE_PATCHES * g.channels:
        return None

    def run(cotangent: Any, filter: Any, room: Any, out: Any = None) -> Any:
        return _convolve(room, cotangent, _turn(filter), out)

    return Prepared(run, out=True, scratch=_room(forward, dtype))


def _scatter(room: AdjointRoom, dtype: Any, cotangent: Any, filter: Any, out: Any) -> Any:
    """The cotangent of an image, [sample, channel, row, column]: patches, added where they lie.

    Args:
        room: to work in.
        dtype: of the values.
        cotangent: [sample, filter, row, column].
        filter: [filter, channel, row, column].
        out: what to write to, or None.
    """
    g = room.geometry
    weights = filter.reshape(g.filters, -1).T
    result = None if out is None else out.transpose(INNER)
    if result is None:
        result = np.empty((g.channels, g.height, g.width, g.samples), dtype)
    flat = room.take(cotangent)
    images, put = room.image, _add
    images.fill(0)
    if g.is_cut:
        bounds = range(0, g.samples, room.samples)
        images, put = [result[:, :, None, :, k : k + room.samples] for k in bounds], _copy
    for phase in room.phases:

        def part(k: int, worker: int, phase: Any = phase) -> None:
            group, band = phase[k]
            image = images[group]
            for first, last, where, patches in room.blocks(band, worker):
                np.matmul(weights, flat[group][:, where], out=patches)
                shape = (g.channels, g.k0, g.k1, last - first, g.columns, room.samples)
                elements = patches.reshape(shape)
                for where, part in g.added(image, elements, first, last):
                    put(where, part)

        threads.each(part, len(phase), room.workers, blas=True)
    if not g.is_cut:
        room.give(result)
    return result.transpose(OUTER)


@prepares("conv2d_adjoint_input")
@in_single
def adjoint_input(op: Any, G: Spec, Filter: Spec) -> Prepared | None:
    """The map to the cotangent of the image."""
    if not _fits(op, G, Filter):
        return None
    g = Geometry(op, tuple(op.size), Filter.shape)
    dtype = G.dtype.dtype
    turned = _adjoint_by_turning(op, g, dtype)
    if turned is not None:
        return turned

    def run(cotangent: Any, filter: Any, room: AdjointRoom, out: Any = None) -> Any:
        return _scatter(room, dtype, cotangent, filter, out)

    return Prepared(run, out=True, scratch=Maker(AdjointRoom, g, dtype))
