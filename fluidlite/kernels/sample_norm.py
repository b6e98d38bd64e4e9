"""Normalisation of each sample, or of groups of its channels, forward and backward, in few passes
over pieces that stay in the cache.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from ..ground.dtypes import DType
from ..opdef.prepared import Prepared, Scratch, prepares
from ..opdef.spec import Spec, flat
from .batch import dots, pieces
from .samples_last import SamplesLast

#: squares of means by variances up to which sums of squares lose a digit at most; at four times
#: as much, gradients of scales in float32 have lost two
NEAR = 1.0
#: how many times as much as of other arrays lies in the cache of one that is summed alone
ALONE = 4


def _is_plain(op: Any, X: Spec, *others: Spec | None) -> bool:
    """Whether values are of one type that sums are taken in, and have elements."""
    return (
        all(other is None or other.dtype == X.dtype for other in others)
        and X.dtype is not DType.FP16
        and 0 not in X.shape
    )


class _Rows:
    """Rows to be normalised: samples, or groups of channels.

    Args:
        X: the images.
        shape: how many rows there are, and of how many elements.
        epsilon: is added to variances.
    """

    def __init__(self, X: Spec, shape: tuple[int, int], epsilon: float) -> None:
        self.count, self.width = shape
        self.dtype = X.dtype.dtype
        self.shape = shape
        self.epsilon: Any = np.asarray(epsilon, self.dtype)
        self.share: Any = np.asarray(1 / self.width, self.dtype)
        self.size: Any = np.asarray(self.width, self.dtype)
        self.pieces = list(pieces(self.count, self.width * self.dtype.itemsize))

    def new(self, out: Any, shape: tuple[int, ...]) -> tuple[Any, Any]:
        """A result, and its rows."""
        result = out[0] if out is not None and out[0] is not None else None
        if result is None or not result.flags.c_contiguous:
            result = np.empty(shape, self.dtype)
        return result, result.reshape(self.shape)

    def normalise(self, rows: Any, y: Any, mean: Any, variance: Any) -> None:
        """Write a piece of rows that is normalised, its means and its variances: what the operators
        compute, bit by bit.
        """
        np.divide(np.add.reduce(rows, 1, out=mean), self.size, out=mean)
        np.subtract(rows, mean[:, None], out=y)
        np.add.reduce(np.multiply(y, y), 1, out=variance)
        np.divide(variance, self.size, out=variance)
        deviation = variance + self.epsilon
        np.divide(y, np.sqrt(deviation, out=deviation)[:, None], out=y)

    def through(self, g: Any, normal: Any, sums: Any, products: Any, inverse: Any) -> None:
        """Make the cotangent of rows of that of the normalised ones.

        Args:
            g: that cotangent, which is written over.
            normal: the normalised rows, which are written over.
            sums, products: of the elements of each row of g, and of them and normal's.
            inverse: of the deviations.
        """
        np.multiply(normal, (products * self.share)[:, None], out=normal)
        np.subtract(g, normal, out=g)
        np.subtract(g, (sums * self.share)[:, None], out=g)
        np.multiply(g, inverse[:, None], out=g)


@prepares("layer_norm")
def layer_norm(op: Any, X: Spec, Scale: Spec | None, Bias: Spec | None) -> Prepared | None:
    """The normalised samples, their means and variances."""
    if not _is_plain(op, X, Scale, Bias):
        return None
    r = _Rows(X, flat(X.shape, op.begin_norm_axis), op.epsilon)

    def run(x: Any, scale: Any, bias: Any, out: Any = None) -> Any:
        rows = x.reshape(r.shape)
        result, y = r.new(out, X.shape)
        mean, variance = np.empty(r.count, r.dtype), np.empty(r.count, r.dtype)
        cut = [(rows, y, mean, variance)]
        if len(r.pieces) > 1:
            cut = [(rows[s], y[s], mean[s], variance[s]) for s in r.pieces]
        for of_rows, part, *of_part in cut:
            r.normalise(of_rows, part, *of_part)
            if scale is not None:
                np.multiply(part, scale, out=part)
            if bias is not None:
                np.add(part, bias, out=part)
        return result, mean, variance

    return Prepared(run, out=True)


@prepares("layer_norm_grad")
def layer_norm_grad(
    op: Any, X: Spec, Scale: Spec | None, Bias: Spec | None, Mean: Spec, Variance: Spec, *more: Any
) -> Prepared | None:
    """The cotangents of X, Scale and Bias."""
    dY, *others = more
    if Scale is None or Bias is None or dY is None or any(o is not None for o in others):
        return None
    if not _is_plain(op, X, Scale, dY):
        return None
    r = _Rows(X, flat(X.shape, op.begin_norm_axis), op.epsilon)
    whole = np.ones(r.count, r.dtype)

    def run(
        x: Any, scale: Any, _: Any, mean: Any, variance: Any, g: Any, *rest: Any, out: Any = None
    ) -> Any:
        rows, g = x.reshape(r.shape), g.reshape(r.shape)
        result, dx = r.new(out, X.shape)
        inverse = 1 / np.sqrt(variance + r.epsilon)
        dscale = np.zeros(r.width, r.dtype)
        for some in r.pieces:
            part, own = dx[some], g[some]
            normal = np.subtract(rows[some], mean[some, None])
            np.multiply(normal, inverse[some, None], out=normal)
            np.multiply(own, normal, out=part)
            dscale += np.dot(whole[: len(part)], part)
            products = np.dot(part, scale)
            np.multiply(own, scale, out=part)
            r.through(part, normal, np.dot(own, scale), products, inverse[some])
        return result, dscale, np.dot(whole, g)

    return Prepared(run, out=True, unread=(2,))


class _Groups(_Rows):
    """Groups of channels.

    Args:
        op: a group normalisation.
        X: the images, channels before rows.
    """

    def __init__(self, op: Any, X: Spec) -> None:
        channels = X.shape[1]
        super().__init__(X, (X.shape[0] * op.groups, prod(X.shape[1:]) // op.groups), op.epsilon)
        self.samples, self.groups, self.each = X.shape[0], op.groups, channels // op.groups
        self.positions = prod(X.shape[2:])

    def of_rows(self, per_channel: Any) -> Any:
        """Numbers of channels, for each row."""
        own = per_channel.reshape(self.groups, self.each, 1)
        return np.tile(own, (self.samples, 1, 1))

    def channels(self, rows: Any) -> Any:
        """Rows as [row, channel, position]."""
        return rows.reshape(len(rows), self.each, self.positions)

    def total(self, per_row: Any) -> Any:
        """The sums over samples of numbers for each channel of a row."""
        return np.add.reduce(per_row.reshape(self.samples, -1), 0)


class _GroupsSamplesLast(SamplesLast):
    """Groups of channels of images whose samples lie last, some groups at a time.

    Args:
        r: the groups, as rows.
        X: the images.
    """

    def __init__(self, r: _Groups, X: Spec) -> None:
        super().__init__(X.shape)
        self._epsilon, self._share, self._dtype = r.epsilon, r.share, r.dtype
        self._groups, self._each = r.groups, r.each
        step = r.each * self.lines * self.width
        self._pieces = list(pieces(r.groups, step * r.dtype.itemsize))
        most = min(self._pieces[0].stop, r.groups)
        self._channel_pieces = [slice(v.start * r.each, v.stop * r.each) for v in self._pieces]
        #: makes what they work in
        self.room: Scratch = Scratch((most, r.each * self.lines, self.width), r.dtype)

    def _blocks(self, lines: Any) -> Any:
        """Lines as [group, line, element]."""
        return lines.reshape(self._groups, -1, self.width)

    def _of_channels(self, blocks: Any) -> Any:
        """Blocks as [group, channel, line, element]."""
        return blocks.reshape(len(blocks), self._each, self.lines, self.width)

    def _inverse(self, variance: Any) -> Any:
        """The inverse of deviations."""
        return 1 / np.sqrt(variance + self._epsilon)

    def _scale(self, blocks: Any, per_sample: Any, factors: Any, out: Any) -> None:
        """Multiply blocks.

        Args:
            blocks: [group, line, element].
            per_sample: numbers [group, sample].
            factors: numbers [group, channel], too; or None.
            out: what to write to, like the blocks.
        """
        if factors is not None:
            both = factors[..., None] * per_sample[:, None]
            if np.isfinite(both).all():  # not beyond the range, where the result need not be
                per_channel, written = self._of_channels(blocks), self._of_channels(out)
                np.multiply(per_channel, self.repeated(both), out=written)
                return
        np.multiply(blocks, self.repeated(per_sample), out=out)
        if factors is not None:
            written = self._of_channels(out)
            np.multiply(written, factors[..., None, None], out=written)

    def _is_near(self, mean: Any, variance: Any) -> bool:
        """Whether no mean is larger than its deviation, so that little is lost where means are
        taken off sums instead of what is summed; and no square was beyond the range.
        """
        near = np.square(mean) <= NEAR * variance
        return bool((near & np.isfinite(variance)).all())

    def _totals(self, function: Any, *lines: Any) -> Any:
        """What a function gives of lines [channel, line, element], some channels at a time."""
        totals = np.empty((self.channels, self.samples), self._dtype)
        step = ALONE // len(lines) * self._each * self._pieces[0].stop
        for begin in range(0, self.channels, step):
            some = slice(begin, begin + step)
            totals[some] = function(*[each[some] for each in lines])
        return totals

    def _of_groups(self, per_channel: Any) -> Any:
        """Sums over the channels of a group: [group, sample]."""
        return np.add.reduce(per_channel.reshape(self._groups, self._each, -1), 1)

    def _to_channels(self, per_group: Any) -> Any:
        """Numbers [group, sample] for each channel: [channel, sample]."""
        return np.repeat(per_group, self._each, 0)

    def normalised(self, x: Any, scale: Any, bias: Any, out: Any) -> tuple[Any, ...]:
        """The normalised images, means and variances."""
        image, y = self.new(out, self._dtype)
        x = self.lined(x)
        mean = self._of_groups(self._totals(self.sums, x)) * self._share
        square = self._of_groups(self._totals(self.products, x, x)) * self._share
        variance = square - np.square(mean)
        if self._is_near(mean, variance):
            slope = self._to_channels(self._inverse(variance))
            slope = slope if scale is None else slope * scale[:, None]
            shift = -self._to_channels(mean) * slope
            shift = shift if bias is None else shift + bias[:, None]
            if np.isfinite(slope).all() and np.isfinite(shift).all():
                slope, shift = self.repeated_finite(slope), self.repeated_finite(shift)
                for some in self._channel_pieces:
                    part = np.multiply(x[some], slope[some], out=y[some])
                    np.add(part, shift[some], out=part)
                return image, *(np.ascontiguousarray(v.T) for v in (mean, variance))
        self._normalise_apart(self._blocks(x), self._blocks(y), mean, variance, scale, bias)
        return image, *(np.ascontiguousarray(v.T) for v in (mean, variance))

    def _normalise_apart(
        self, x: Any, y: Any, mean: Any, variance: Any, scale: Any, bias: Any
    ) -> None:
        """Write normalised blocks, their means and variances; means are taken off first."""
        factors, terms = (
            v if v is None else v.reshape(self._groups, self._each) for v in (scale, bias)
        )
        for some in self._pieces:
            part = y[some]
            middle = np.multiply(self.sums(x[some]), self._share, out=mean[some])
            np.subtract(x[some], self.repeated(middle), out=part)
            spread = np.multiply(self.products(part, part), self._share, out=variance[some])
            own = None if factors is None else factors[some]
            self._scale(part, self._inverse(spread), own, part)
            if terms is not None:
                written = part.reshape(len(part), self._each, -1)
                np.add(written, terms[some, :, None], out=written)

    def cotangents(
        self, scale: Any, variance: Any, g: Any, x: Any, mean: Any, room: Any, out: Any
    ) -> tuple[Any, ...]:
        """The cotangents of the images, of scales and of biases."""
        image, dx = self.new(out, self._dtype)
        x, g, mean, inverse = self.lined(x), self.lined(g), mean.T, self._inverse(variance.T)
        of_channels = None
        if self._is_near(mean, variance.T):
            of_channels = self._cotangents_near(scale, mean, inverse, g, x, dx, room)
        if of_channels is None:
            g, x, dx = (self._blocks(v) for v in (g, x, dx))
            of_channels = self._cotangents_apart(scale, mean, inverse, g, x, dx, room)
        return image, *of_channels

    def _cotangents_near(
        self, scale: Any, mean: Any, inverse: Any, g: Any, x: Any, dx: Any, room: Any
    ) -> tuple[Any, Any] | None:
        """Write the cotangents of lines.

        Returns:
            those of scales and of biases; None where some factor is not finite.
        """
        sums = self._totals(self.sums, g)
        products = self._totals(self.products, g, x) - self._to_channels(mean) * sums
        products *= self._to_channels(inverse)
        shares = inverse * self._share
        total, product = (self._of_groups(v * scale[:, None]) * shares for v in (sums, products))
        product *= inverse
        total -= product * mean
        slope = self._to_channels(inverse) * scale[:, None]
        if not all(np.isfinite(v).all() for v in (slope, product, total)):
            return None
        slope, product, total = map(self.repeated_finite, (slope, product, total))
        slope = slope.reshape(self._groups, self._each, 1, -1)
        blocks = [self._blocks(v) for v in (g, x, dx)]
        for some in self._pieces:
            own, images, part = (v[some] for v in blocks)
            normal = room[: len(part)]
            np.multiply(self._of_channels(own), slope[some], out=self._of_channels(part))
            np.multiply(images, product[some], out=normal)
            np.subtract(part, normal, out=part)
            np.subtract(part, total[some], out=part)
        return np.add.reduce(products, -1), np.add.reduce(sums, -1)

    def _cotangents_apart(
        self, scale: Any, mean: Any, inverse: Any, g: Any, x: Any, dx: Any, room: Any
    ) -> tuple[Any, Any]:
        """Write the cotangents of blocks, and give those of scales and biases; means are taken off
        first.
        """
        factors = scale.reshape(self._groups, self._each)
        both = np.empty((2, self._groups, self._each, self.samples), self._dtype)
        for some in self._pieces:
            own, part, normal = g[some], dx[some], room[: len(g[some])]
            np.subtract(x[some], self.repeated(mean[some]), out=normal)
            np.multiply(normal, self.repeated(inverse[some]), out=normal)
            slopes = self._of_channels(own)
            both[0, some] = self.sums(slopes)
            both[1, some] = self.products(slopes, self._of_channels(normal))
            totals = np.add.reduce(both[:, some] * factors[some, :, None], 2)
            total, product = totals * (inverse[some] * self._share)
            self._scale(own, inverse[some], factors[some], part)
            np.multiply(normal, self.repeated(product), out=normal)
            np.subtract(part, normal, out=part)
            np.subtract(part, self.repeated(total), out=part)
        sums, products = np.add.reduce(both, -1).reshape(2, -1)
        return products, sums


def _has_groups(op: Any, X: Spec) -> bool:
    return X.ndim > 1 and not op.last and X.shape[1] % op.groups == 0


@prepares("group_norm")
def group_norm(op: Any, X: Spec, Scale: Spec | None, Bias: Spec | None) -> Prepared | None:
    """The normalised images, means and variances of their groups."""
    if not _is_plain(op, X, Scale, Bias) or not _has_groups(op, X):
        return None
    r = _Groups(op, X)
    of_groups, last = (X.shape[0], op.groups), _GroupsSamplesLast(r, X)

    def run(x: Any, scale: Any, bias: Any, out: Any = None) -> Any:
        if last.holds(x):
            return last.normalised(x, scale, bias, None if out is None else out[0])
        rows = x.reshape(r.shape)
        result, y = r.new(out, X.shape)
        mean, variance = np.empty(r.count, r.dtype), np.empty(r.count, r.dtype)
        factors, terms = (v if v is None else r.of_rows(v) for v in (scale, bias))
        for some in r.pieces:
            r.normalise(rows[some], y[some], mean[some], variance[some])
            part = r.channels(y[some])
            if factors is not None:
                np.multiply(part, factors[some], out=part)
            if terms is not None:
                np.add(part, terms[some], out=part)
        return result, mean.reshape(of_groups), variance.reshape(of_groups)

    return Prepared(run, out=True)


@prepares("group_norm_grad")
def group_norm_grad(
    op: Any, Scale: Spec | None, Bias: Spec | None, Y: Any, Variance: Spec, *more: Any
) -> Prepared | None:
    """The cotangents of X, Scale and Bias."""
    dY, X, Mean, *others = more
    if any(v is None for v in (Scale, Bias, dY, X, Mean)) or any(o is not None for o in others):
        return None
    if not _is_plain(op, X, Scale, dY) or not _has_groups(op, X):
        return None
    r = _Groups(op, X)
    ones, last = np.ones(r.positions, r.dtype), _GroupsSamplesLast(r, X)

    def run(
        scale: Any,
        _: Any,
        y: Any,
        variance: Any,
        g: Any,
        x: Any,
        mean: Any,
        *rest: Any,
        out: Any = None,
    ) -> Any:
        if last.holds(x):
            first = None if out is None else out[0]
            return last.cotangents(scale, variance, g, x, mean, rest[-1], first)
        rows, g = x.reshape(r.shape), g.reshape(r.shape)
        result, dx = r.new(out, X.shape)
        mean, factors = mean.reshape(-1), r.of_rows(scale)
        inverse = 1 / np.sqrt(variance.reshape(-1) + r.epsilon)
        sums, products = np.empty((2, r.count, r.each), r.dtype)
        for some in r.pieces:
            slopes, part = r.channels(g[some]), r.channels(dx[some])
            normal = np.subtract(rows[some], mean[some, None])
            np.multiply(normal, inverse[some, None], out=normal)
            own = factors[some, :, 0]
            np.matmul(slopes, ones, out=sums[some])
            products[some] = dots(slopes, r.channels(normal))
            np.multiply(slopes, factors[some], out=part)
            total, product = (dots(own, v[some]) for v in (sums, products))
            r.through(dx[some], normal, total, product, inverse[some])
        return result, r.total(products), r.total(sums)

    return Prepared(run, out=True, unread=(1, 2), scratch=last.room)
