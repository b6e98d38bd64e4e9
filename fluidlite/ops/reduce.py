"""Reductions over some dimensions or all of them."""

from __future__ import annotations

from math import prod
from typing import Any, ClassVar

from ..errors import AttributeValueError, ShapeError
from ..ground.dtypes import DType, as_dtype
from ..opdef.annotations import Array, Rules, Specs, Value
from ..opdef.attribute import REQUIRED, Long, attr
from ..opdef.conjugation import AS_WRITTEN, HOLOMORPHIC, OfComplex
from ..opdef.definition import Op
from ..opdef.fluid_form import FluidForm
from ..opdef.spec import (
    Shape,
    Spec,
    need_float,
    need_numbers,
    need_shape,
    normal_axis,
    reduced,
    same_dtype,
    spec,
)
from .compare import need_bool
from .elementwise import indicator, truncated_quotient
from .families import OneNumber


class Reduce(OneNumber, abstract=True):
    """What the reductions have in common.

    dim: the dimensions that are reduced; may count from the end.
    keep_dim: they stay, with size 1.
    reduce_all: reduce all dimensions, whatever ``dim`` says; Out has shape [1] then.
    in_dtype: not read: X knows its element type.
    out_dtype: the element type to reduce in; -1: that of X.
    """

    signature = "X -> Out"
    dim: list[int] = (0,)
    keep_dim: bool = False
    reduce_all: bool = False
    in_dtype: DType = attr(-1, inert=True)
    out_dtype: DType = -1

    @property
    def dims(self) -> Any:
        """The dimensions to reduce, None for all."""
        return self.dim if self.dim and not self.reduce_all else None

    @property
    def lod(self) -> Any:
        """Out has the sequences of X where it has its rows."""
        return None if self.dims is None or 0 in self.dims else "first"

    def axes(self, ndim: int) -> Shape:
        """The dimensions to reduce, counted from the front."""
        return (
            tuple(range(ndim)) if self.dims is None else tuple(sorted({d % ndim for d in self.dim}))
        )

    def infer(self, X: Spec) -> Spec:
        self.check(X)
        shape = reduced(X.shape, self.dims, self.keep_dim)
        out = spec(shape or self.one, X.dtype if self.out_dtype == -1 else self.out_dtype)
        return out if 0 in self.axes(X.ndim) else out._replace(lod_level=X.lod_level)

    def check(self, X: Spec) -> None:
        """Refuse an input that cannot be reduced."""
        need_numbers("X", X)

    def run(self, xp: Any, X: Array) -> Array:
        if self.out_dtype != -1:
            X = xp.asarray(X, self.out_dtype.dtype)
        out = self.reduce(xp, X, axis=self.axes(X.ndim), keepdims=self.keep_dim)
        return out if out.ndim else out.reshape(self.one)

    def reduce(self, xp: Any, X: Any, axis: Any, keepdims: Any) -> Any:
        """The reduction with NumPy's arguments."""
        raise NotImplementedError

    def count(self, shape: Shape) -> int:
        """How many elements of a tensor of that shape make one of Out."""
        return prod(shape[d] for d in self.axes(len(shape)))

    def kept(self, f: Any, value: Any, X: Any) -> Any:
        """An output or its cotangent in the element type of X, with size 1 where X was reduced."""
        if value.dtype != X.dtype:
            value = f.cast(value, in_dtype=value.dtype, out_dtype=X.dtype)
        shape = reduced(X.shape, self.dims, True)
        return value if value.shape == shape else f.reshape(value, shape=shape)

    def spread(self, f: Any, value: Any, X: Any) -> Any:
        """An output or its cotangent repeated to the shape of X."""
        if 0 in X.shape:
            return f.fill_zeros_like(X)
        axes = self.axes(len(X.shape))
        times = [n if i in axes else 1 for i, n in enumerate(X.shape)]
        return f.expand(self.kept(f, value, X), expand_times=times)


class reduce_sum(Reduce):
    """Out = the sum of X over ``dim``.

    widens: paddle 2's form: the sum of truth values, and of integers, is int64.
    """

    of_complex: ClassVar[OfComplex | None] = AS_WRITTEN
    of_bfloat16: ClassVar[bool] = True
    widens: bool = attr(False, edition=True)

    def sums_rows(self, x: Spec) -> bool:
        return x.ndim == 2 and self.axes(2) == (0,) and self.out_dtype == -1 and not self.widens

    def infer(self, X: Spec) -> Spec:
        return super().infer(X.with_dtype(DType.INT64) if self.is_widened(X.dtype) else X)

    def is_widened(self, dtype: Any) -> bool:
        """Whether elements of a type are added as int64."""
        is_added = self.widens and self.out_dtype == -1
        return is_added and as_dtype(dtype) in (DType.BOOL, DType.INT32)

    def reduce(self, xp: Any, X: Array, axis: Shape, keepdims: bool) -> Array:
        dtype = "int64" if self.is_widened(X.dtype) else X.dtype
        return xp.sum(X, axis=axis, dtype=dtype, keepdims=keepdims)

    def grad(self, f: Any, X: Value, dOut: Value) -> Rules:
        return dict(X=lambda: self.spread(f, dOut, X))


class reduce_mean(Reduce):
    """Out = the mean of X over ``dim``, rounded towards zero for integers."""

    of_complex: ClassVar[OfComplex | None] = AS_WRITTEN

    def reduce(self, xp: Any, X: Array, axis: Shape, keepdims: bool) -> Array:
        total = xp.sum(X, axis=axis, dtype=X.dtype, keepdims=keepdims)
        count = xp.asarray(self.count(X.shape), X.dtype)
        return truncated_quotient(xp, total, count) if X.dtype.kind == "i" else total / count

    def grad(self, f: Any, X: Value, dOut: Value) -> Rules:
        return dict(X=lambda: self.spread(f, dOut / float(max(self.count(X.shape), 1)), X))


class Extreme(Reduce, abstract=True):
    """An element that goes before all others; where several are equal, each gets the gradient."""

    def check(self, X: Spec) -> None:
        super().check(X)
        axes = [normal_axis(d, X.ndim, "dim") for d in (self.dims or range(X.ndim))]
        if any(X.shape[d] == 0 for d in axes):
            raise ShapeError(
                f"expected an element to choose along dim={axes}, got X of shape {list(X.shape)}"
            )

    def grad(self, f: Any, X: Value, Out: Value, dOut: Value) -> Rules:
        def dx():
            chosen = f.equal(X, self.spread(f, Out, X))
            return self.spread(f, dOut, X) * indicator(f, chosen, X)

        return dict(X=dx)


class Largest(Extreme, abstract=True):
    """The largest element."""

    def reduce(self, xp: Any, X: Any, axis: Any, keepdims: Any) -> Any:
        return xp.max(X, axis=axis, keepdims=keepdims)


class Smallest(Extreme, abstract=True):
    """The smallest element."""

    def reduce(self, xp: Any, X: Any, axis: Any, keepdims: Any) -> Any:
        return xp.min(X, axis=axis, keepdims=keepdims)


class reduce_max(Largest):
    """Out = the largest element of X over ``dim``."""


class reduce_min(Smallest):
    """Out = the smallest element of X over ``dim``."""


class SharedExtreme(Extreme, abstract=True):
    """An element that goes before all others; where several are equal, they share the gradient."""

    def grad(self, f: Any, X: Value, Out: Value, dOut: Value) -> Rules:
        def dx():
            chosen = indicator(f, f.equal(X, self.spread(f, Out, X)), X)
            axes = list(self.axes(len(X.shape)))
            count = f.reduce_sum(chosen, dim=axes, keep_dim=True) if axes else chosen
            return self.spread(f, self.kept(f, dOut, X) / count, X) * chosen

        return dict(X=dx)


class amax(SharedExtreme, Largest):
    """Out = the largest element of X over ``dim``; of equal ones each gets its share."""


class amin(SharedExtreme, Smallest):
    """Out = the smallest element of X over ``dim``; of equal ones each gets its share."""


class ByTensor(Reduce, abstract=True):
    """A reduction whose dimensions may be tensors in programs, which is refused: no function of
    Paddle's makes such a program.

    AxisTensor, AxisTensorList: the dimensions; absent.
    """

    signature = "X, AxisTensor?!, AxisTensorList*?! -> Out"
    fluid: ClassVar[FluidForm] = FluidForm(newer=("AxisTensor", "AxisTensorList"))

    def infer(self, X: Spec, AxisTensor: Spec | None, AxisTensorList: list[Spec] | None) -> Spec:
        if AxisTensor is not None or AxisTensorList:
            raise AttributeValueError("expected the dimensions in dim, got them as a tensor")
        return super().infer(X)

    def run(self, xp: Any, X: Array, AxisTensor: Any, AxisTensorList: Any) -> Array:
        return super().run(xp, X)


class SharedByTensor(ByTensor, SharedExtreme, abstract=True):
    """An operator that only paddle 2 has."""

    dim: list[Long] = (0,)
    zero_d: bool = attr(True, local=True)


class reduce_amax(SharedByTensor, Largest):
    """Out = the largest element of X over ``dim``; of equal ones each gets its share."""


class reduce_amin(SharedByTensor, Smallest):
    """Out = the smallest element of X over ``dim``; of equal ones each gets its share."""


class reduce_prod(Reduce):
    """Out = the product of X over ``dim``."""

    of_complex: ClassVar[OfComplex | None] = HOLOMORPHIC

    def reduce(self, xp: Any, X: Array, axis: Shape, keepdims: bool) -> Array:
        return xp.prod(X, axis=axis, dtype=X.dtype, keepdims=keepdims)

    def grad(self, f: Any, X: Value, Out: Value, dOut: Value) -> Rules:
        def dx():
            others = f.product_slope(X, dim=list(self.axes(len(X.shape))))
            return self.spread(f, dOut, X) * others

        return dict(X=dx)


class product_slope(Op):
    """Out = the derivative by X of the product of X over ``dim``: the product of all others.

    With Directions D, E, ... it is the derivative by X of the derivative of that product along all
    of them: the coefficient of d e ... in the same of X + d D + e E + ...  All derivatives of
    products are of this form, and no division stands in the way of elements that are 0.

    Directions: tensors of the shape of X.
    dim: the dimensions of the product, counted from the front.
    """

    signature = "X, Directions?* -> Out"
    of_complex: ClassVar[OfComplex | None] = HOLOMORPHIC
    dim: list[int] = REQUIRED

    def infer(self, X: Spec, Directions: list[Spec] | None) -> Specs:
        need_float(X=X)
        for i, s in enumerate(Directions or ()):
            same_dtype(X=X, **{f"Directions[{i}]": s})
            need_shape(f"Directions[{i}]", s, X.shape, "as X")
        return X

    def run(self, xp: Any, X: Array, Directions: list[Array] | None) -> Array:
        """Products over larger and larger blocks, each element getting those of the other halves.

        A term is kept for each set of directions; bit k of its number stands for Directions[k].
        """
        rest = [d for d in range(X.ndim) if d not in self.dim]
        order = [*rest, *self.dim]
        sizes = [X.shape[d] for d in order]
        n = prod(sizes[len(rest) :])
        padded = 1 << max(n - 1, 0).bit_length()

        def laid_out(value, filler):
            rows = xp.reshape(xp.transpose(value, order), (prod(sizes[: len(rest)]), n))
            more = xp.full((rows.shape[0], padded - n), filler, X.dtype)
            return xp.concatenate([rows, more], axis=1)

        whole = {0: laid_out(X, 1)}
        whole.update({1 << k: laid_out(D, 0) for k, D in enumerate(Directions or ())})
        others = {0: xp.ones_like(whole[0])}
        for block in (1 << k for k in range(padded.bit_length() - 1)):
            beside = {terms: neighbours(xp, value, block) for terms, value in whole.items()}
            others, whole = multiplied(others, beside), multiplied(whole, beside)
        product = others.get((1 << len(Directions or ())) - 1)
        if product is None:  # more directions than elements
            return xp.zeros_like(X)
        back = [order.index(d) for d in range(X.ndim)]
        return xp.transpose(xp.reshape(product[:, :n], sizes), back)

    def grad(self, f: Any, X: Value, Directions: list[Value] | None, dOut: Value) -> Rules:
        all_directions = list(Directions or ())

        def slope(directions):
            return f.product_slope(X, [*directions, dOut], dim=self.dim)

        def along():
            return [
                slope(all_directions[:k] + all_directions[k + 1 :])
                for k in range(len(all_directions))
            ]

        return dict(
            X=lambda: slope(all_directions), **(dict(Directions=along) if all_directions else {})
        )


def neighbours(xp: Any, rows: Array, block: int) -> Array:
    """``rows`` with each two neighbouring blocks of columns exchanged."""
    pairs = xp.reshape(rows, (rows.shape[0], rows.shape[1] // (2 * block), 2, block))
    return xp.reshape(xp.flip(pairs, 2), rows.shape)


def multiplied(a: dict[Any, Any], b: dict[Any, Any]) -> dict[Any, Any]:
    """The product of two sums of terms in which each direction occurs at most once."""
    out = {}
    for left, x in a.items():
        for right, y in b.items():
            if not left & right:
                terms = left | right
                out[terms] = out[terms] + x * y if terms in out else x * y
    return out


class Quantifier(ByTensor, abstract=True):
    """A question about truth values."""

    grad = None

    def check(self, X: Spec) -> None:
        need_bool(X=X)


class reduce_all(Quantifier):
    """Out = whether X holds everywhere over ``dim``."""

    def reduce(self, xp: Any, X: Array, axis: Shape, keepdims: bool) -> Array:
        return xp.all(X, axis=axis, keepdims=keepdims).astype(X.dtype)


class reduce_any(Quantifier):
    """Out = whether X holds somewhere over ``dim``."""

    def reduce(self, xp: Any, X: Array, axis: Shape, keepdims: bool) -> Array:
        return xp.any(X, axis=axis, keepdims=keepdims).astype(X.dtype)


class mean(OneNumber):
    """Out = the mean of all elements of X, of shape [1].

    X: a float variable.
    Out: of shape [1].
    """

    signature = "X -> Out"
    of_complex: ClassVar[OfComplex | None] = AS_WRITTEN
    lod: ClassVar[str | None] = None

    def infer(self, X: Spec) -> Spec:
        need_float(X=X)
        return spec(self.one, X.dtype)

    def run(self, xp: Any, X: Array) -> Array:
        if not prod(X.shape):
            return xp.full(self.one, xp.nan, X.dtype)
        return xp.reshape(xp.mean(X, dtype=X.dtype), self.one)

    def grad(self, f: Any, X: Value, dOut: Value) -> Rules:
        def dx():
            part = f.reshape(dOut / float(max(prod(X.shape), 1)), shape=[1] * len(X.shape))
            return f.expand(part, expand_times=X.shape)

        return dict(X=dx)
