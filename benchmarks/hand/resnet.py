"""A small residual network with batch normalisation, with Momentum."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod

import numpy as np
from problems import Array, Problem, convolutions, shapes

from .arrays import empty, zeros
from .convolution import Convolution, Gradients, flattened, restored, turned
from .parts import Flat, Loss, Momentum

GROUP = 160 * 1024  # bytes of the channels that are normalised at a time
MOMENTUM, EPSILON = 0.9, 1e-5  # of batch normalisation


def _by_rows(left: Array, right: Array) -> Array:
    return np.einsum("ij,ij->i", left, right)


#: the products of rows; NumPy 2 has a faster one
row_products = getattr(np, "vecdot", _by_rows)


class Normed:
    """A convolution without bias and its batch normalisation.

    What follows (relu, an addition) is done by who calls, group of channels by group, while the
    group is in the cache.

    Args:
        image: [channels, height, width, batch], padded.
        image_back: where its gradient goes: with a stride of 1, for what is not padded; else added
            to an array of the shape of ``image``; None where nobody wants it.
        key: the name of the filter.
        values, gradients: parameters.
        table: filter size and stride by name.
    """

    def __init__(
        self,
        image: Array,
        image_back: Array | None,
        key: str,
        values: Flat,
        gradients: Flat,
        table: Mapping[str, tuple[int, int, int, int]],
    ) -> None:
        filters, _, size, stride = table[key]
        dtype, batch = image.dtype, image.shape[3]
        high, wide = ((edge - size) // stride + 1 for edge in image.shape[1:3])
        self.shape = (filters, high, wide, batch)
        count = high * wide * batch
        self.out = empty(self.shape, dtype)
        self._flat = self.out.reshape(filters, count)
        self._weight = values[key]
        self._convolution = Convolution(image, values[key], self.out, size, stride)
        self._scale, self._shift = values[f"{key}_scale"], values[f"{key}_shift"]
        self._scale_back = gradients[f"{key}_scale"]
        self._shift_back = gradients[f"{key}_shift"]
        self._running_mean, self._running_variance = np.zeros(filters), np.ones(filters)
        self._mean = self._deviation = self._factor = np.zeros(filters, dtype)
        self._shares, self._ones = np.full(count, 1 / count, dtype), np.ones(count, dtype)
        self._count = count
        step = max(1, GROUP // (count * image.itemsize))
        self.groups = [slice(begin, begin + step) for begin in range(0, filters, step)]
        self.zeros = zeros((step, high, wide, batch), dtype)
        self.part = empty((step, high, wide, batch), dtype)
        # the gradient by the convolution, padded where a convolution takes it back
        direct = image_back is not None and stride == 1
        pad = size - 1 - size // 2 if direct else 0
        self._padded_back = zeros((filters, high + 2 * pad, wide + 2 * pad, batch), dtype)
        back = self._padded_back[:, pad : pad + high, pad : pad + wide]
        self._back = back
        self._gradients = Gradients(
            image,
            values[key],
            back,
            gradients[key],
            None if direct else image_back,
            size=size,
            stride=stride,
        )
        self._size = size
        self._turned = empty((filters * size * size, image.shape[0]), dtype)
        self._returning = None
        if image_back is not None and stride == 1:
            self._returning = Convolution(self._padded_back, self._turned, image_back, size)

    def restart(self) -> None:
        """Forget the running statistics."""
        self._running_mean.fill(0)
        self._running_variance.fill(1)

    def run(self) -> None:
        """Convolve, and find mean and deviation."""
        self._convolution.run()
        self._mean = np.dot(self._flat, self._shares)
        variance = row_products(self._flat, self._flat) / self._count - self._mean**2
        self._deviation = 1 / np.sqrt(variance + EPSILON)
        self._factor = self._scale * self._deviation
        self._offset = self._shift - self._mean * self._factor
        for running, now in ((self._running_mean, self._mean), (self._running_variance, variance)):
            running *= MOMENTUM
            running += (1 - MOMENTUM) * now

    def group(self, channels: slice) -> Array:
        """Some channels, normalised; in a buffer that the next call takes."""
        out = self.out[channels]
        part = self.part[: len(out)]
        np.multiply(out, self._factor[channels, None, None, None], out=part)
        np.add(part, self._offset[channels, None, None, None], out=part)
        return part

    def pull(self, back: Array) -> None:
        """The gradients from that by the normalised output, which is left as it is."""
        flat = back.reshape(self._flat.shape)
        shift_back, factor = np.dot(flat, self._ones), self._factor
        scale_back = row_products(flat, self._flat) - self._mean * shift_back
        scale_back *= self._deviation
        self._shift_back[...], self._scale_back[...] = shift_back, scale_back
        slope = -factor * self._deviation * scale_back / self._count
        level = -factor * shift_back / self._count - slope * self._mean
        for channels in self.groups:
            out = self.out[channels]  # which is no longer needed after
            part = self.part[: len(out)]
            np.multiply(out, slope[channels, None, None, None], out=out)
            np.add(out, level[channels, None, None, None], out=out)
            np.multiply(back[channels], factor[channels, None, None, None], out=part)
            np.add(out, part, out=self._back[channels])
        self._gradients.run()
        if self._returning is not None:
            turned(self._weight, self._turned, self._size)
            self._returning.run()


class Active:
    """What relu gave, in the middle of zeros for the next convolution, and its gradient."""

    def __init__(self, shape: tuple[int, ...], dtype: str, pad: int = 1) -> None:
        channels, high, wide, batch = shape
        self.padded, self.padded_back = (
            zeros((channels, high + 2 * pad, wide + 2 * pad, batch), dtype) for _ in range(2)
        )
        inside = (slice(None), slice(pad, pad + high), slice(pad, pad + wide))
        self.inside, self.inside_back = self.padded[inside], self.padded_back[inside]
        self.back = empty(shape, dtype)  # before relu
        self._positive = empty(shape[1:], bool)

    def pull(self) -> Array:
        """The gradient before relu."""
        for out, after, back in zip(self.inside, self.inside_back, self.back):
            np.greater(out, 0, out=self._positive)
            np.multiply(after, self._positive, out=back)
        return self.back


class Block:
    """Two convolutions and what goes around them.

    Args:
        before: what the block reads.
        name: of the block.
        rest: parameters, gradients and the table of filters, as of ``Normed``.
        pad: zeros around the result.
    """

    def __init__(self, before: Active, name: str, rest: tuple, pad: int, dtype: str) -> None:
        table = rest[2]
        self._before = before
        short = f"{name}_short" in table
        self._strided = short
        # with a stride, gradients are scattered to the padded image
        self._a = Normed(
            before.padded, before.padded_back if short else before.inside_back, f"{name}_a", *rest
        )
        self._middle = Active(self._a.shape, dtype)
        self._b = Normed(self._middle.padded, self._middle.inside_back, f"{name}_b", *rest)
        self._short = None
        if short:
            self._short = Normed(before.inside, before.inside_back, f"{name}_short", *rest)
        self.after = Active(self._b.shape, dtype, pad)
        self.normed = [n for n in (self._a, self._b, self._short) if n is not None]

    def run(self) -> None:
        a, b, short = self._a, self._b, self._short
        a.run()
        for channels in a.groups:
            part = a.group(channels)
            np.maximum(part, a.zeros[: len(part)], out=self._middle.inside[channels])
        b.run()
        if short is not None:
            short.run()
        for channels in b.groups:
            part = b.group(channels)
            other = self._before.inside[channels] if short is None else short.group(channels)
            np.add(part, other, out=part)
            np.maximum(part, b.zeros[: len(part)], out=self.after.inside[channels])

    def pull(self) -> None:
        back = self.after.pull()
        self._b.pull(back)
        if self._strided:
            self._before.padded_back.fill(0)
        self._a.pull(self._middle.pull())
        if self._short is not None:
            self._short.pull(back)
        else:
            np.add(self._before.inside_back, back, out=self._before.inside_back)


class Step:
    """Images lie samples last, each in the middle of the zeros that the next convolution needs;
    filters are [channels * size * size, filters].
    """

    def __init__(self, problem: Problem) -> None:
        sizes, dtype = problem.sizes, problem.dtype
        n, edge, classes = sizes["batch"], sizes["size"], sizes["classes"]
        table = convolutions(sizes)
        self._shapes = shapes(problem.name, sizes)
        laid = {name: (prod(s[1:]), s[0]) if len(s) == 4 else s for name, s in self._shapes.items()}
        self._values, self._gradients = Flat(laid, dtype), Flat(laid, dtype)
        self._momentum = Momentum(self._values, self._gradients, problem.rate, 0.9)
        self._loss = Loss(classes, n, dtype)
        rest = (self._values, self._gradients, table)
        padded = zeros((3, edge + 2, edge + 2, n), dtype)
        self._image = padded[:, 1:-1, 1:-1]
        self._stem = Normed(padded, None, "stem", *rest)
        self._first = Active(self._stem.shape, dtype)
        self._blocks: list[Block] = []
        before = self._first
        for name, pad in (("one", 1), ("two", 1), ("three", 0)):
            self._blocks.append(Block(before, name, rest, pad, dtype))
            before = self._blocks[-1].after
        self._last = before
        channels, high, wide, _ = before.inside.shape
        self._whole = before.inside.reshape(channels, high * wide, n)
        self._whole_back = before.inside_back.reshape(channels, high * wide, n)
        self._area = np.array(high * wide, dtype)
        self._mean, self._mean_back = (empty((channels, n), dtype) for _ in range(2))
        self._scores = empty((classes, n), dtype)
        self._ones = np.ones(n, dtype)
        self._column = self._values["b1"][:, None]

    def load(self, start: Mapping[str, Array]) -> None:
        self._values.load({k: flattened(v) if v.ndim == 4 else v for k, v in start.items()})
        self._momentum.restart()
        for normed in [self._stem, *(n for block in self._blocks for n in block.normed)]:
            normed.restart()

    def step(self, feed: Mapping[str, Array]) -> float:
        v, d, scores = self._values, self._gradients, self._scores
        np.copyto(self._image, feed["x"].transpose(1, 2, 3, 0))
        stem, first = self._stem, self._first
        stem.run()
        for channels in stem.groups:
            part = stem.group(channels)
            np.maximum(part, stem.zeros[: len(part)], out=first.inside[channels])
        for block in self._blocks:
            block.run()
        np.add.reduce(self._whole, axis=1, out=self._mean)
        np.divide(self._mean, self._area, self._mean)
        np.dot(v["w1"].T, self._mean, scores)
        np.add(scores, self._column, scores)
        loss = self._loss(scores, feed["y"])
        np.dot(self._mean, scores.T, d["w1"])
        np.dot(scores, self._ones, d["b1"])
        np.dot(v["w1"], scores, self._mean_back)
        np.divide(self._mean_back, self._area, self._mean_back)
        self._whole_back[...] = self._mean_back[:, None]
        for block in reversed(self._blocks):
            block.pull()
        stem.pull(first.pull())
        self._momentum.step()
        return loss

    def parameters(self) -> dict[str, Array]:
        found = self._values.copies()
        for name, shape in self._shapes.items():
            if len(shape) == 4:
                found[name] = restored(found[name], shape)
        return found
