"""Other shapes of the same elements, other orders of the dimensions, and repetition."""

from __future__ import annotations

from ..errors import ShapeError
from ..opdef.attribute import REQUIRED, attr
from ..opdef.definition import Op
from ..opdef.spec import resolved
from .knobs import UseMkldnn, UseQuantizer


class Reshape(Op, abstract=True):
    """What `reshape` and `reshape2` have in common."""

    shape: list[int] = ()

    def target(self, Shape, ShapeTensor):
        """The new shape, from the first of ShapeTensor, Shape and ``shape`` that is given."""
        if ShapeTensor:
            return [int(size.reshape(())) for size in ShapeTensor]
        return self.shape if Shape is None else [int(size) for size in Shape]

    def infer(self, X, Shape, ShapeTensor):
        if ShapeTensor:
            whole = len(self.shape) == len(ShapeTensor)
            out = X.with_shape(self.shape if whole else (-1,) * len(ShapeTensor))
        elif Shape is not None:
            out = X.with_shape((-1,) * Shape.shape[0])
        else:
            out = X.with_shape(resolved(self.shape, X.shape))
        return out

    def run(self, xp, X, Shape, ShapeTensor):
        return X.reshape(resolved(self.target(Shape, ShapeTensor), X.shape))


class reshape(Reshape):
    """Out = the elements of X, in their order, in another shape.

    Shape: the new shape as a vector; goes before ``shape``.
    ShapeTensor: the new shape as one number each; goes before Shape.
    shape: the new shape; 0 copies the size of X there, one size may be -1 and takes what is left.
    """

    signature = "X, Shape?!, ShapeTensor?*! -> Out"

    def grad(self, f, X, Shape, ShapeTensor, Out, dOut):
        return dict(X=lambda: f.reshape(dOut, shape=X.shape))


class transpose(UseMkldnn, UseQuantizer, Op):
    """Out = X with its dimensions in the order ``axis``: dimension i of Out is axis[i] of X."""

    signature = "X -> Out"
    axis: list[int] = REQUIRED
    data_format: str = attr("AnyLayout", inert=True)

    def infer(self, X):
        if sorted(d % max(X.ndim, 1) for d in self.axis) != list(range(X.ndim)):
            raise ShapeError(
                f"expected axis to name each of the {X.ndim} dimensions of X once, "
                f"got {list(self.axis)} for shape {list(X.shape)}"
            )
        return X.with_shape(X.shape[d] for d in self.axis)

    def run(self, xp, X):
        return xp.transpose(X, self.axis)

    def grad(self, f, X, Out, dOut):
        return dict(X=lambda: f.transpose(dOut, axis=self.inverse))

    @property
    def inverse(self):
        """The order that undoes ``axis``."""
        ndim = len(self.axis)
        order = [d % ndim for d in self.axis]
        return [order.index(d) for d in range(ndim)]


class expand(Op):
    """Out = X repeated ``expand_times[i]`` times along each dimension i.

    ExpandTimes: the numbers as a vector; goes before ``expand_times``.
    expand_times_tensor: the numbers as one each; goes before ExpandTimes.
    expand_times: how often X is repeated along each dimension; -1 where only an input says.
    """

    signature = "X, ExpandTimes?!, expand_times_tensor?*! -> Out"
    expand_times: list[int] = ()

    def infer(self, X, ExpandTimes, expand_times_tensor):
        return X.with_shape(repeated(X.shape, self.expand_times))

    def times(self, ExpandTimes, expand_times_tensor):
        """The numbers, from the first of expand_times_tensor, ExpandTimes and the attribute."""
        if expand_times_tensor:
            return [int(n.reshape(())) for n in expand_times_tensor]
        return self.expand_times if ExpandTimes is None else [int(n) for n in ExpandTimes]

    def run(self, xp, X, ExpandTimes, expand_times_tensor):
        return tile(xp, X, self.times(ExpandTimes, expand_times_tensor))

    def grad(self, f, X, ExpandTimes, expand_times_tensor, dOut):
        return dict(X=lambda: sum_of_tiles(f, dOut, X.shape))


def repeated(shape, times):
    """A shape after repetition; unknown numbers are -1."""
    if len(times) != len(shape):
        raise ShapeError(
            f"expected one of expand_times for each dimension of X, got {list(times)} "
            f"for shape {list(shape)}"
        )
    return tuple(-1 if -1 in (n, t) else n * t for n, t in zip(shape, times))


def tile(xp, value, times):
    """``value`` repeated along each dimension; a view where only sizes of 1 are."""
    out = tuple(n * t for n, t in zip(value.shape, times, strict=True))
    if all(n == 1 or t == 1 for n, t in zip(value.shape, times)):
        return xp.broadcast_to(value, out)
    ones = tuple(m for n in value.shape for m in (1, n))
    pairs = tuple(m for n, t in zip(value.shape, times) for m in (t, n))
    return xp.broadcast_to(value.reshape(ones), pairs).reshape(out)


def sum_of_tiles(f, tiled, shape):
    """The sum of the copies of a tensor of ``shape`` that ``tiled`` consists of."""
    times = [m // n if n else 1 for m, n in zip(tiled.shape, shape)]
    repeated = [i for i, t in enumerate(times) if t != 1]
    if not repeated:
        return f.scale(tiled, scale=1.0)
    if all(shape[i] == 1 for i in repeated):
        return f.reduce_sum(tiled, dim=repeated, keep_dim=True)
    pairs = [m for n, t in zip(shape, times) for m in (t, n)]
    apart = f.reshape(tiled, shape=pairs)
    total = f.reduce_sum(apart, dim=[2 * i for i in repeated], keep_dim=True)
    return f.reshape(total, shape=shape)
