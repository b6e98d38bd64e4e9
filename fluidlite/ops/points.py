"""Images between their elements: at any point, the mean of the elements around it by distance.

Sums of elements at given places by given weights are linear in the elements and in the weights.
Three maps, each an adjoint of another, close them at every order; weights are products of one for
each dimension, linear from element to element.
"""

from __future__ import annotations

from typing import Any

from ..errors import AttributeValueError, ShapeError
from ..ground.dtypes import DType
from ..opdef.annotations import Array, Arrays, Rules, Specs, Value
from ..opdef.attribute import REQUIRED, attr, need_choice
from ..opdef.definition import Op
from ..opdef.spec import Spec, need_float, need_integer, need_ndim, need_shape, same_float, spec
from .given import numbers


class Weighted(Op, abstract=True):
    """A map of sums Out[n, c, p] = sum over j of X[n, c, Index[n, p, j]] * Weight[n, p, j].

    Index: places, each of which belongs to the sum of a point.
    """

    def listed(self, xp: Any, x: Array) -> Array:
        """Values as one row for each place or point of each sample."""
        return xp.reshape(xp.transpose(x, (0, 2, 1)), (-1, x.shape[1]))

    def places(self, xp: Any, Index: Array, size: int) -> list[Array]:
        """For each j, the rows that belong to the points."""
        lead = xp.arange(Index.shape[0])[:, None] * size
        index = xp.in_range(Index, size, "Index")
        return [xp.reshape(index[..., j] + lead, -1) for j in range(Index.shape[2])]


class weighted_take(Weighted):
    """Out[n, c, p] = sum over j of X[n, c, Index[n, p, j]] * Weight[n, p, j].

    Weight: of the places.
    """

    signature = "X, Index!, Weight -> Out"

    def infer(self, X: Spec, Index: Spec, Weight: Spec) -> Specs:
        return X.with_dim(2, Index.shape[1])

    def run(self, xp: Any, X: Array, Index: Array, Weight: Array) -> Array:
        rows, out = self.listed(xp, X), 0
        for j, places in enumerate(self.places(xp, Index, X.shape[2])):
            out = out + xp.take(rows, places, axis=0) * xp.reshape(Weight[..., j], (-1, 1))
        out = xp.reshape(out, (X.shape[0], Index.shape[1], X.shape[1]))
        return xp.transpose(out, (0, 2, 1))

    def grad(self, f: Any, X: Value, Index: Value, Weight: Value, dOut: Value) -> Rules:
        return dict(
            X=lambda: f.weighted_put(dOut, Index, Weight, size=X.shape[2]),
            Weight=lambda: f.weighted_dot(X, dOut, Index),
        )


class weighted_put(Weighted):
    """Out[n, c, i] = sum of X[n, c, p] * Weight[n, p, j] over all p, j where Index[n, p, j] = i.

    Weight: of the places.
    size: how many places there are.
    """

    signature = "X, Index!, Weight -> Out"
    size: int = REQUIRED

    def infer(self, X: Spec, Index: Spec, Weight: Spec) -> Specs:
        return X.with_dim(2, self.size)

    def run(self, xp: Any, X: Array, Index: Array, Weight: Array) -> Array:
        rows = self.listed(xp, X)
        out = xp.zeros((X.shape[0] * self.size, X.shape[1]), X.dtype)
        for j, places in enumerate(self.places(xp, Index, self.size)):
            out = xp.scatter_add(out, places, rows * xp.reshape(Weight[..., j], (-1, 1)))
        return xp.transpose(xp.reshape(out, (X.shape[0], self.size, X.shape[1])), (0, 2, 1))

    def grad(self, f: Any, X: Value, Index: Value, Weight: Value, dOut: Value) -> Rules:
        return dict(
            X=lambda: f.weighted_take(dOut, Index, Weight),
            Weight=lambda: f.weighted_dot(dOut, X, Index),
        )


class weighted_dot(Weighted):
    """Out[n, p, j] = sum over c of X[n, c, Index[n, p, j]] * Y[n, c, p]."""

    signature = "X, Y, Index! -> Out"

    def infer(self, X: Spec, Y: Spec, Index: Spec) -> Specs:
        return X.with_shape(Index.shape)

    def run(self, xp: Any, X: Array, Y: Array, Index: Array) -> Array:
        rows, points = self.listed(xp, X), self.listed(xp, Y)
        sums = [
            xp.sum(xp.take(rows, places, axis=0) * points, axis=1)
            for places in self.places(xp, Index, X.shape[2])
        ]
        return xp.reshape(xp.stack(sums, axis=1), Index.shape)

    def grad(self, f: Any, X: Value, Y: Value, Index: Value, dOut: Value) -> Rules:
        return dict(
            X=lambda: f.weighted_put(Y, Index, dOut, size=X.shape[2]),
            Y=lambda: f.weighted_take(X, Index, dOut),
        )


class Neighbours(Op, abstract=True):
    """The two elements beside each point along one dimension.

    X: where the points are; element i is at i.
    size: how many elements there are; those beyond are zeros.
    open_end: whether a point at -1, where all weights are 0, has no slope either.
    """

    size: int = REQUIRED
    open_end: bool = False

    def pair(self, xp: Any, X: Array) -> Arrays:
        """Both neighbours, and 1 where they exist."""
        both = xp.stack([xp.floor(X), xp.floor(X) + 1], axis=-1)
        there = (both >= 0) & (both < self.size)
        if self.open_end:
            there = there & (X > -1)[..., None]
        return both, there.astype(X.dtype)


class neighbours(Neighbours):
    """Index, Weight = the elements beside each point X, and how much they count: 1 - distance."""

    signature = "X -> Index!, Weight"

    def infer(self, X: Spec) -> Specs:
        both = X.with_shape([*X.shape, 2])
        return both.with_dtype(DType.INT64), both

    def run(self, xp: Any, X: Array) -> Arrays:
        both, there = self.pair(xp, X)
        index = xp.where(there > 0, both, xp.zeros_like(both)).astype("int64")
        return index, there * (1 - xp.abs(X[..., None] - both))

    def grad(self, f: Any, X: Value, dWeight: Value) -> Rules:
        slopes = lambda: dWeight * f.neighbour_slopes(X, size=self.size, open_end=self.open_end)
        return dict(X=lambda: f.reshape(f.reduce_sum(slopes(), dim=[-1]), shape=X.shape))


class neighbour_slopes(Neighbours):
    """Out = the derivatives of the weights of ``neighbours`` by X: -1, 1, or 0 beyond an end."""

    signature = "X -> Out"
    grad = None

    def infer(self, X: Spec) -> Specs:
        return X.with_shape([*X.shape, 2])

    def run(self, xp: Any, X: Array) -> Array:
        _, there = self.pair(xp, X)
        return there * xp.asarray([-1, 1], dtype=X.dtype)


def between(
    f: Any, x: Any, rows: Any, columns: Any, mask: Value = None, open_end: bool = False
) -> Any:
    """The values of images at points.

    Args:
        f: the interpreter.
        x: [sample, channel, row, column].
        rows, columns: where the points are, in elements: [sample, point].
        mask: what the value at each point is multiplied with, or None.
        open_end: as of ``neighbours``.

    Returns:
        [sample, channel, point].
    """
    samples, channels, height, width = x.shape
    points = rows.shape[1]
    row, down = f.neighbours(rows, size=height, open_end=open_end)
    column, across = f.neighbours(columns, size=width, open_end=open_end)
    first = lambda v: f.reshape(v, shape=[samples, points, 2, 1])
    second = lambda v: f.reshape(v, shape=[samples, points, 1, 2])
    four = lambda v: f.reshape(v, shape=[samples, points, 4])
    index = four(f.elementwise_add(first(f.scale(row, scale=width)), second(column)))
    weight = four(f.elementwise_mul(first(down), second(across)))
    if mask is not None:
        weight = f.elementwise_mul(weight, mask, axis=0)
    return f.weighted_take(f.reshape(x, shape=[samples, channels, height * width]), index, weight)


class grid_sampler(Op):
    """The values of X at the points of Grid.

    X: images, [N, C, H, W].
    Grid: [n, height, width, 2], points (x, y), where -1 and 1 are the centres of the outermost
        elements.
    Output: of shape [N, C, height, width].
    mode: bilinear, which is linear between elements, or nearest.
    padding_mode: what is beyond the image: zeros, its border, or its reflection.
    align_corners: -1 and 1 are the centres of the outermost elements, not their outer edges.
    """

    signature = "X, Grid -> Output"
    use_cudnn: bool = attr(True, inert=True)
    mode: str = attr("bilinear", local=True)
    padding_mode: str = attr("zeros", local=True)
    align_corners: bool = attr(True, local=True)

    def infer(self, X: Spec, Grid: Spec) -> Specs:
        need_choice(self, "mode", "bilinear", "nearest")
        need_choice(self, "padding_mode", "zeros", "border", "reflection")
        same_float(X=X, Grid=Grid)
        need_ndim(4, X=X, Grid=Grid)
        need_shape("Grid", Grid, (X.shape[0], *Grid.shape[1:3], 2), "for X", X)
        return X.with_shape([*X.shape[:2], *Grid.shape[1:3]])

    def expand(self, f: Any, X: Value, Grid: Value) -> Value:
        samples, height, width, _ = Grid.shape
        points = f.reshape(Grid, shape=[samples, height * width, 2])

        def along(k, size):
            part = f.slice(points, axes=[2], starts=[k], ends=[k + 1])
            return self.places(f, f.reshape(part, shape=[samples, height * width]), size)

        out = between(f, X, along(1, X.shape[2]), along(0, X.shape[3]))
        return f.reshape(out, shape=[*X.shape[:2], height, width])

    def places(self, f: Any, points: Value, size: int) -> Value:
        """Where points lie along a dimension, counted in elements."""
        if self.padding_mode == "reflection":
            around = points + 1.0
            around = around - f.scale(f.floor(f.scale(around, scale=0.25)), scale=4.0)
            points = 1.0 - f.abs(around - 2.0)
        places = (points + 1.0) * ((size - 1 if self.align_corners else size) / 2)
        if not self.align_corners:
            places = places - 0.5
        if self.padding_mode != "zeros":
            places = f.clip(places, min=0.0, max=float(size - 1))
        return f.round(places) if self.mode == "nearest" else places


class affine_grid(Op):
    """Where each element of an image comes from under the map Theta of the plane:
    ``Output[n, i, j] = Theta[n] (x, y, 1)``.

    (Jaderberg, Simonyan, Zisserman and Kavukcuoglu, Spatial transformer networks, NIPS 2015.)

    Theta: [n, 2, 3], a map of the plane, in which -1 and 1 are the centres of the outermost
        elements.
    OutputShape: the shape of the image, [n, channels, height, width], as a tensor.
    Output: of shape [N, H, W, 2], for ``grid_sampler``; N is that of Theta.
    output_shape: the shape of the images, [N, C, H, W]: numbers, or a variable that holds them.
    align_corners: -1 and 1 are the centres of the outermost elements, not their outer edges.
    """

    signature = "Theta, OutputShape?! -> Output"
    use_cudnn: bool = attr(True, inert=True)
    output_shape: list[int] = ()
    align_corners: bool = attr(True, local=True)

    def infer(self, Theta: Spec, OutputShape: Spec) -> Specs:
        need_float(Theta=Theta)
        need_integer(OutputShape=OutputShape)
        need_ndim(3, Theta=Theta)
        need_shape("Theta", Theta, (-1, 2, 3))
        if OutputShape is not None:
            return Theta.with_shape([Theta.shape[0], -1, -1, 2])
        if len(self.output_shape) != 4 or min(self.output_shape[2:]) < 1:
            raise AttributeValueError(
                f"expected output_shape [n, channels, height, width], or OutputShape; got "
                f"{list(self.output_shape)}"
            )
        return Theta.with_shape([Theta.shape[0], *self.output_shape[2:], 2])

    def run(self, xp, Theta, OutputShape):
        shape = numbers(self.output_shape, OutputShape, None)
        if len(shape) != 4 or min(shape[2:]) < 1:
            raise ShapeError(f"expected a shape [n, channels, height, width], got {shape}")
        points = corners_to_points(xp, *shape[2:], Theta.dtype, self.align_corners)
        out = xp.matmul(points, xp.swapaxes(Theta, 1, 2))
        return xp.reshape(out, (Theta.shape[0], *shape[2:], 2))

    def grad(self, f: Any, OutputShape: Value, dOutput: Value) -> Rules:
        def theta():
            samples, height, width, _ = dOutput.shape
            attrs = dict(height=height, width=width, align_corners=self.align_corners)
            points = f.plane_points(**attrs, dtype=dOutput.dtype)
            flow = f.reshape(dOutput, shape=[samples, height * width, 2])
            return f.matmul(flow, points, transpose_X=True)

        return dict(Theta=theta)


class plane_points(Op):
    """Out = (x, y, 1) of each element of an image, by rows; -1 and 1 are the outermost ones.

    height, width: of the image.
    dtype: the element type.
    align_corners: as of ``affine_grid``.
    """

    signature = " -> Out"
    height: int = REQUIRED
    width: int = REQUIRED
    dtype: DType = DType.FP32
    align_corners: bool = True
    grad = None

    def infer(self) -> Specs:
        return spec([self.height * self.width, 3], self.dtype)

    def run(self, xp: Any) -> Arrays:
        sizes = self.height, self.width
        return corners_to_points(xp, *sizes, self.dtype.dtype, self.align_corners)


def corners_to_points(xp: Any, height: int, width: int, dtype: Any, align_corners: bool) -> Array:
    """(x, y, 1) of each element of an image: [height * width, 3]."""
    end = lambda size: 1.0 if align_corners else 1 - 1 / size
    lines = [xp.linspace(-end(size), end(size), size) for size in (height, width)]
    y, x = xp.meshgrid(*lines, indexing="ij")
    return xp.reshape(xp.stack([x, y, xp.ones_like(x)], axis=2), (-1, 3)).astype(dtype)
