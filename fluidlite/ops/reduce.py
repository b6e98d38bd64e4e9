"""Reductions over some dimensions or all of them."""

from __future__ import annotations

from ..opdef.attribute import DType, attr
from ..opdef.definition import Op
from ..opdef.spec import reduced


class Reduce(Op, abstract=True):
    """What the reductions have in common.

    dim: the dimensions that are reduced; may count from the end.
    keep_dim: they stay, with size 1.
    reduce_all: reduce all dimensions, whatever ``dim`` says; Out has shape [1] then.
    in_dtype: not read: X knows its element type.
    out_dtype: the element type to reduce in; -1: that of X.
    zero_d: Out has shape [] where it would have [1] because no dimension is left.
    """

    signature = "X -> Out"
    dim: list[int] = (0,)
    keep_dim: bool = False
    reduce_all: bool = False
    in_dtype: DType = attr(-1, inert=True)
    out_dtype: DType = -1
    zero_d: bool = attr(False, local=True)

    @property
    def dims(self):
        """The dimensions to reduce, None for all."""
        return self.dim if self.dim and not self.reduce_all else None

    def axes(self, ndim):
        """The dimensions to reduce, counted from the front."""
        return (
            tuple(range(ndim)) if self.dims is None else tuple(sorted({d % ndim for d in self.dim}))
        )

    def infer(self, X):
        shape = reduced(X.shape, self.dims, self.keep_dim)
        if not shape and not self.zero_d:
            shape = (1,)
        return X.with_shape(shape).with_dtype(X.dtype if self.out_dtype == -1 else self.out_dtype)

    def run(self, xp, X):
        if self.out_dtype != -1:
            X = xp.asarray(X, self.out_dtype.dtype)
        out = self.reduce(xp, X, axis=self.axes(X.ndim), keepdims=self.keep_dim)
        return out if self.zero_d or out.ndim else out.reshape(1)

    def reduce(self, xp, X, axis, keepdims):
        """The reduction with NumPy's arguments."""
        raise NotImplementedError

    def kept(self, f, value, X):
        """An output or its cotangent in the element type of X, with size 1 where X was reduced."""
        if value.dtype != X.dtype:
            value = f.cast(value, in_dtype=value.dtype, out_dtype=X.dtype)
        shape = reduced(X.shape, self.dims, True)
        return value if value.shape == shape else f.reshape(value, shape=shape)

    def spread(self, f, value, X):
        """An output or its cotangent repeated to the shape of X."""
        axes = self.axes(len(X.shape))
        times = [n if i in axes else 1 for i, n in enumerate(X.shape)]
        return f.expand(self.kept(f, value, X), expand_times=times)


class reduce_sum(Reduce):
    """Out = the sum of X over ``dim``."""

    def reduce(self, xp, X, axis, keepdims):
        return xp.sum(X, axis=axis, dtype=X.dtype, keepdims=keepdims)

    def grad(self, f, X, dOut):
        return dict(X=lambda: self.spread(f, dOut, X))
