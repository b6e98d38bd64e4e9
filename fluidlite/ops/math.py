"""Products of matrices, scaling, sums of tensors, conversion of element types, and clipping."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np

from ..errors import AttributeValueError, DTypeError, ShapeError
from ..ground.dtypes import DType, Kind
from ..ground.values import SelectedRows
from ..opdef.annotations import Array, Arrays, Rules, Value
from ..opdef.attribute import REQUIRED, attr, need_above, need_least
from ..opdef.conjugation import AS_WRITTEN, HOLOMORPHIC, OfComplex, conj, is_complex
from ..opdef.definition import Op
from ..opdef.fluid_form import FluidForm
from ..opdef.spec import (
    Shape,
    Spec,
    agree,
    broadcast,
    flat,
    known,
    need_float,
    need_numbers,
    need_one,
    need_rank,
    same_dtype,
    same_float,
)
from ..opdef.structure import Epilogue, MatrixProduct
from .activation import between
from .elementwise import product_dtype, sum_like
from .inert_attributes import UseMkldnn, UseQuantizer


class mul(UseMkldnn, Op):
    """The product of the two matrices that X and Y are flattened to.

    X: float variables.
    Y: float variables.
    Out: of the row sizes of X, then the column sizes of Y.
    x_num_col_dims: so many first dimensions of X are its rows, the others its columns.
    y_num_col_dims: so many first dimensions of Y are its rows, the others its columns.
    """

    signature = "X, Y -> Out"
    of_complex: ClassVar[OfComplex | None] = HOLOMORPHIC
    of_bfloat16: ClassVar[bool] = True
    fluid: ClassVar[FluidForm] = FluidForm(bare_gradients=True)
    x_num_col_dims: int = 1
    y_num_col_dims: int = 1
    scale_x: float = attr(1.0, inert=True)
    scale_y: list[float] = attr((1.0,), inert=True)
    scale_out: float = attr(1.0, inert=True)
    force_fp32_output: bool = attr(False, inert=True)

    def infer(self, X: Spec, Y: Spec) -> Spec:
        need_float(X=X, Y=Y)
        dtype = product_dtype(X, Y)
        rows, columns = self.x_num_col_dims, self.y_num_col_dims
        for name, s, n in (("X", X, rows), ("Y", Y, columns)):
            if not 0 < n < s.ndim:
                raise ShapeError(
                    f"expected {name} to have more than {name.lower()}_num_col_dims={n} "
                    f"dimensions, and that to be at least 1; got {name} of shape {list(s.shape)}"
                )
        width, height = flat(X.shape, rows)[1], flat(Y.shape, columns)[0]
        if not agree(width, height):
            raise ShapeError(
                f"expected as many columns in X as rows in Y, got {width} and {height}: X of shape "
                f"{list(X.shape)} with x_num_col_dims={rows}, Y of shape {list(Y.shape)} with "
                f"y_num_col_dims={columns}"
            )
        return X.with_dtype(dtype).with_shape(X.shape[:rows] + Y.shape[columns:])

    def run(self, xp: Any, X: Array, Y: Array) -> Array:
        rows, columns = self.x_num_col_dims, self.y_num_col_dims
        if X.ndim == Y.ndim == 2:
            return xp.matmul(X, Y)
        out = xp.matmul(X.reshape(flat(X.shape, rows)), Y.reshape(flat(Y.shape, columns)))
        return out.reshape(X.shape[:rows] + Y.shape[columns:])

    def multiplies(self) -> bool:
        return True

    def product(self, x: Spec, y: Spec) -> MatrixProduct | None:
        return MatrixProduct() if x.ndim == y.ndim == 2 else None

    whole: ClassVar[bool] = False

    def grad_numpy(self, xp: Any, X: Array, Y: Array, dOut: Array) -> Arrays:
        rows, columns = self.x_num_col_dims, self.y_num_col_dims
        x, y = X.reshape(flat(X.shape, rows)), Y.reshape(flat(Y.shape, columns))
        out = dOut.reshape(flat(dOut.shape, rows))
        return dict(
            X=lambda: xp.matmul(out, y.T).reshape(X.shape),
            Y=lambda: xp.matmul(x.T, out).reshape(Y.shape),
        )

    def grad(self, f: Any, X: Value, Y: Value, dOut: Value) -> Rules:
        def times(a, a_rows, b, b_rows, like, **transposed):
            out = f.matmul(matrix(f, a, a_rows), matrix(f, b, b_rows), **transposed)
            return reshaped(f, out, like.shape)

        rows, columns = self.x_num_col_dims, self.y_num_col_dims
        return dict(
            X=lambda: times(dOut, rows, Y, columns, X, transpose_Y=True),
            Y=lambda: times(X, rows, dOut, rows, Y, transpose_X=True),
        )


def reshaped(f: Any, value: Value, shape: Shape) -> Value:
    """``value`` in another shape."""
    return value if value.shape == shape else f.reshape(value, shape=shape)


def matrix(f: Any, value: Any, num_col_dims: Any) -> Any:
    """``value`` flattened to a matrix whose rows are its first ``num_col_dims`` dimensions."""
    return reshaped(f, value, flat(value.shape, num_col_dims))


class matmul(UseMkldnn, UseQuantizer, Op):
    """``alpha X Y``, the product of the matrices in the last two dimensions of X and Y.

    The dimensions before them are aligned at the end, and sizes of 1 stretch.  A vector X is a
    row, a vector Y a column; Out lacks the dimension this adds unless the vector was transposed
    and has several elements, and has shape [1] where nothing is left.

    Out: with a product for each of the dimensions in front; of shape [1] for two vectors.
    transpose_X: swap the last two dimensions of X.
    transpose_Y: swap the last two dimensions of Y.
    alpha: factor of the product.
    head_number: into how many parts the columns of X and the rows of Y are cut; Out has the
        products of these parts side by side, and not their sum.
    X, Y: floats.
    """

    signature = "X, Y -> Out"
    of_complex: ClassVar[OfComplex | None] = HOLOMORPHIC
    of_bfloat16: ClassVar[bool] = True
    fluid: ClassVar[FluidForm] = FluidForm(bare_gradients=True)
    transpose_X: bool = False
    transpose_Y: bool = False
    alpha: float = 1.0
    fused_reshape_Out: list[int] = attr((), inert=True)
    fused_transpose_Out: list[int] = attr((), inert=True)
    Scale_x: float = attr(1.0, inert=True)
    Scale_y: float = attr(1.0, inert=True)
    Scale_out: float = attr(1.0, inert=True)
    force_fp32_output: bool = attr(False, inert=True)
    head_number: int = 1

    def infer(self, X: Spec, Y: Spec) -> Spec:
        need_least(self, 1, "head_number")
        need_float(X=X, Y=Y)
        dtype = product_dtype(X, Y)
        need_rank("X", X, 1)
        need_rank("Y", Y, 1)
        return X.with_dtype(dtype).with_shape(self.out_shape(X.shape, Y.shape))

    def run(self, xp: Any, X: Array, Y: Array) -> Array:
        if self.head_number > 1:
            shape = self.out_shape(X.shape, Y.shape)  # checks them
            parts = self.heads(X.shape, Y.shape)
            made = [self.one_head.run(xp, X[x], Y[y]) for x, y in parts]
            return xp.concatenate(made, axis=-1).reshape(shape)
        x, y = X.reshape(row(X.shape)), Y.reshape(column(Y.shape))
        if y.ndim == 2 and x.ndim > 2 and not self.transpose_X:
            x = x.reshape(-1, x.shape[-1])  # one large product is faster than many small ones
        out = xp.matmul(
            xp.swapaxes(x, -1, -2) if self.transpose_X else x,
            xp.swapaxes(y, -1, -2) if self.transpose_Y else y,
        )
        if self.alpha != 1.0:
            out = out * self.alpha
        return out.reshape(self.out_shape(X.shape, Y.shape))

    def multiplies(self) -> bool:
        return True

    def product(self, x: Spec, y: Spec) -> MatrixProduct | None:
        if x.ndim != 2 or y.ndim != 2 or self.alpha != 1.0 or self.head_number != 1:
            return None
        return MatrixProduct(self.transpose_X, self.transpose_Y)

    @property
    def one_head(self) -> Any:
        """The product of one part."""
        return matmul({**self.attr_values(), "head_number": 1})

    def heads(self, x: Shape, y: Shape) -> Iterator[Any]:
        """Indices of each part of X and of Y."""
        axes = self.inner_axes(x, y)
        step = x[axes[0]] // self.head_number
        for k in range(self.head_number):
            inner = slice(k * step, (k + 1) * step)
            yield [
                tuple(inner if i == axis else slice(None) for i in range(len(shape)))
                for shape, axis in zip((x, y), axes)
            ]

    def inner_axes(self, x: Shape, y: Shape) -> Shape:
        """The dimensions of X and Y that the product sums over."""
        of_x = len(x) - 1 if len(x) == 1 or not self.transpose_X else len(x) - 2
        of_y = len(y) - 1 if len(y) == 1 or self.transpose_Y else len(y) - 2
        return of_x, of_y

    def by_heads(self, f: Any, X: Value, Y: Value, dOut: Value) -> Any:
        """The rules for X and Y where there are several heads."""

        def some(v, axis, k, count):
            step = v.shape[axis] // count
            return f.slice(v, axes=[axis], starts=[k * step], ends=[(k + 1) * step])

        count, axes = self.head_number, self.inner_axes(X.shape, Y.shape)

        def part(name, k):
            x, y = (some(v, axis, k, count) for v, axis in zip((X, Y), axes))
            g = some(dOut, len(dOut.shape) - 1, k, count)
            g = reshaped(f, g, self.one_head.out_shape(x.shape, y.shape))
            return self.one_head.grad(f, x, y, g)[name]()

        def joined(name, axis):
            return f.concat([part(name, k) for k in range(count)], axis=axis)

        return {name: functools.partial(joined, name, axis) for name, axis in zip(("X", "Y"), axes)}

    def grad(self, f: Any, X: Value, Y: Value, dOut: Value) -> Rules:
        if self.head_number > 1:
            return self.by_heads(f, X, Y, dOut)

        across, down = self.transpose_X, self.transpose_Y
        if len(X.shape) == len(Y.shape) == 2:
            scaled = functools.partial(f.matmul, alpha=self.alpha)
            return dict(
                X=(lambda: scaled(Y, dOut, transpose_X=down, transpose_Y=True))
                if across
                else lambda: scaled(dOut, Y, transpose_Y=not down),
                Y=(lambda: scaled(dOut, X, transpose_X=True, transpose_Y=across))
                if down
                else lambda: scaled(X, dOut, transpose_X=not across),
            )

        def operands():
            """X, Y and dOut as matrices, or as stacks of them."""
            x, y = row(X.shape), column(Y.shape)
            g = self.stacked(X.shape, Y.shape)
            if len(y) == 2 and len(x) > 2 and not self.transpose_X:
                x, g = flat(x, len(x) - 1), flat(g, len(g) - 1)
            return reshaped(f, X, x), reshaped(f, Y, y), reshaped(f, dOut, g)

        def times(a, b, a_swapped, b_swapped, like, shape):
            out = f.matmul(a, b, transpose_X=a_swapped, transpose_Y=b_swapped, alpha=self.alpha)
            return reshaped(f, sum_like(f, out, like), shape)

        def dX():
            x, y, g = operands()
            if across:
                return times(y, g, down, True, x, X.shape)
            return times(g, y, False, not down, x, X.shape)

        def dY():
            x, y, g = operands()
            if down:
                return times(g, x, True, across, y, Y.shape)
            return times(x, g, not across, False, y, Y.shape)

        return dict(X=dX, Y=dY)

    def stacked(self, x: Shape, y: Shape) -> Shape:
        """The shape of the product before the dimensions that vectors add are dropped."""
        *x_batch, m, k = row(x)
        *y_batch, l, n = column(y)
        if self.transpose_X:
            m, k = k, m
        if self.transpose_Y:
            l, n = n, l
        if not agree(k, l):
            swapped = [f"transpose_{s}" for s in "XY" if getattr(self, f"transpose_{s}")]
            ranks = len(x), len(y)
            raise ShapeError(
                f"expected as many columns in X as rows in Y, got {k} and {l}: X of shape "
                f"{list(x)}, Y of shape {list(y)}"
                + (f", with {' and '.join(swapped)}" if swapped else "")
                + ("; fluid.matmul does not transpose vectors" if swapped and 1 in ranks else "")
            )
        return (*broadcast(tuple(x_batch), tuple(y_batch)), m, n)

    def out_shape(self, x: Shape, y: Shape) -> Shape:
        """The shape of the output for inputs of shapes ``x`` and ``y``."""
        *batch, m, n = self.stacked(x, y)
        m_stays = len(x) > 1 or (self.transpose_X and m != 1)
        n_stays = len(y) > 1 or (self.transpose_Y and n != 1) or self.head_number > 1
        if self.head_number > 1:
            inner = x[self.inner_axes(x, y)[0]]
            if inner != -1 and inner % self.head_number:
                raise ShapeError(
                    f"expected {inner} columns of X to be parts of head_number="
                    f"{self.head_number} heads: X of shape {list(x)}, Y of shape {list(y)}"
                )
            n = -1 if n == -1 else n * self.head_number
        return (*batch, *([m] if m_stays else []), *([n] if n_stays else [])) or (1,)


def row(shape: Shape) -> Shape:
    """The shape of X as a matrix: a vector is a row."""
    return (1, *shape) if len(shape) == 1 else shape


def column(shape: Shape) -> Shape:
    """The shape of Y as a matrix: a vector is a column."""
    return (*shape, 1) if len(shape) == 1 else shape


def _number_in(xp: Any, number: float, dtype: Any) -> Array:
    """A number in an element type; in one without signs what is below 0 counts from its end."""
    if dtype.kind == "u":
        return xp.asarray(int(number) % (1 << 8 * dtype.itemsize), dtype)
    return xp.asarray(number, dtype)


class scale(Op):
    """``scale * X + bias``, for each element, computed in the element type of X.

    X: a variable of numbers.
    ScaleTensor: one number to use instead of ``scale``.
    scale: a number, or a variable of one element.
    bias: a number.
    bias_after_scale: False for ``scale * (X + bias)``.
    """

    signature = "X, ScaleTensor?! -> Out"
    of_complex: ClassVar[OfComplex | None] = AS_WRITTEN
    of_bfloat16: ClassVar[bool] = True
    by_element: ClassVar[bool] = True
    fluid: ClassVar[FluidForm] = FluidForm(direct=True, numbers=("X",), rows=("X",))
    scale: float = 1.0
    bias: float = 0.0
    bias_after_scale: bool = True

    def infer(self, X: Spec, ScaleTensor: Spec | None) -> Spec:
        need_one(ScaleTensor=ScaleTensor)
        if is_complex(ScaleTensor) and not is_complex(X):
            raise DTypeError(f"expected a real ScaleTensor beside X {X}, got {ScaleTensor}")
        return X._replace(kind=Kind.LOD_TENSOR) if self.bias else X

    def run(self, xp: Any, X: Array, ScaleTensor: Array) -> Array:
        if isinstance(X, SelectedRows):
            if not self.bias:
                return X.with_value(self.run(xp, X.value, ScaleTensor))
            X = X.to_dense()
        out = X
        if self.bias and not self.bias_after_scale:
            out = out + _number_in(xp, self.bias, X.dtype)
        if ScaleTensor is not None:
            out = out * ScaleTensor.reshape(()).astype(X.dtype)
        elif self.scale != 1.0:
            out = out * _number_in(xp, self.scale, X.dtype)
        if self.bias and self.bias_after_scale:
            out = out + _number_in(xp, self.bias, X.dtype)
        return out

    def copies(self) -> bool:
        return self.scale == 1.0 and not self.bias

    def epilogue(self, x: Spec, *others: Spec) -> Epilogue | None:
        if others:  # ScaleTensor
            return None
        bias = self.bias if self.bias_after_scale else self.scale * self.bias
        return Epilogue(self.type, (self.scale, bias))

    def grad(self, f: Any, ScaleTensor: Value, dOut: Value) -> Rules:
        # all attributes are given since programs list those of this operator
        attrs = dict(scale=self.scale, bias=0.0, bias_after_scale=True)
        return dict(X=lambda: f.scale(dOut, conj(f, ScaleTensor), **attrs))


class increment(Op):
    """Out = X + step, for X of one number.

    step: what is added, in the element type of X.
    """

    signature = "X -> Out"
    of_complex: ClassVar[OfComplex | None] = AS_WRITTEN
    fluid: ClassVar[FluidForm] = FluidForm(direct=True)
    step: float = 1.0

    def infer(self, X: Spec) -> Spec:
        need_one(X=X)
        need_numbers("X", X)
        return X

    def run(self, xp: Any, X: Array) -> Array:
        return X + xp.asarray(self.step, X.dtype)

    def grad(self, f: Any, dOut: Value) -> Rules:
        return dict(X=lambda: f.assign(dOut))


class Sum(UseMkldnn, Op, type="sum"):
    """The sum of all X, element by element, which are of one shape; of SelectedRows, each row is
    stored once.

    X: a variable or a list of them, all of one shape.
    X: a variable or a list of them, all of one shape.
    Out: of that shape.
    Out: of that shape.
    """

    signature = "X* -> Out"
    of_complex: ClassVar[OfComplex | None] = AS_WRITTEN
    of_bfloat16: ClassVar[bool] = True
    fluid: ClassVar[FluidForm] = FluidForm(direct=True, numbers=("X",), rows=("X",))
    adds_all: ClassVar[bool] = True

    def infer(self, X: list[Spec]) -> Spec:
        if not X:
            raise ShapeError("expected at least one X, got none")
        same_dtype(**{f"X[{i}]": s for i, s in enumerate(X)})
        shape = X[0].shape
        for i, s in enumerate(X):
            if len(s.shape) != len(shape) or not all(map(agree, shape, s.shape)):
                raise ShapeError(
                    f"expected all X to have one shape, got X[0] {list(X[0].shape)} "
                    f"and X[{i}] {list(s.shape)}"
                )
            shape = tuple(map(known, shape, s.shape))
        whole = next((s for s in X if s.kind is not Kind.SELECTED_ROWS), X[0])
        return whole.with_shape(shape)

    def run(self, xp: Any, X: list[Array]) -> Array:
        total = X[0]
        for value in X[1:]:
            total = total + value
        return total.merged() if isinstance(total, SelectedRows) else total

    def grad(self, f: Any, X: list[Value], dOut: Value) -> Rules:
        return dict(X=lambda: [f.scale(dOut, scale=1.0) for _ in X])


class cast(Op):
    """Out = X in another element type; to bool: X != 0.  Of complex numbers the real part is taken.

    in_dtype: the element type of X.
    out_dtype: the element type of Out.
    """

    signature = "X -> Out"
    of_complex: ClassVar[OfComplex | None] = AS_WRITTEN
    of_bfloat16: ClassVar[bool] = True
    fluid: ClassVar[FluidForm] = FluidForm(direct=True, rows=("X",))
    out_dtype: DType = REQUIRED
    in_dtype: DType = REQUIRED

    def infer(self, X: Spec) -> Spec:
        return X.with_dtype(self.out_dtype)

    def run(self, xp: Any, X: Array) -> Array:
        if isinstance(X, SelectedRows):
            return X.with_value(xp.asarray(X.value, self.out_dtype.dtype))
        if X.dtype.kind == "c" and not (self.out_dtype.is_complex or self.out_dtype is DType.BOOL):
            X = xp.real(X)
        return xp.asarray(X, self.out_dtype.dtype)

    def grad(self, f: Any, dOut: Value) -> Rules:
        if not (self.in_dtype.is_continuous and self.out_dtype.is_continuous):
            return {}  # steps and integers have no slope
        return dict(X=lambda: f.cast(dOut, in_dtype=self.out_dtype, out_dtype=self.in_dtype))

    def epilogue(self, x: Spec, *others: Spec) -> Epilogue | None:
        return _ROUNDS.get((x.dtype, self.out_dtype))


_ROUNDS = {
    (DType.FP32, DType.BF16): Epilogue("to_bfloat16"),
    (DType.BF16, DType.FP32): Epilogue("from_bfloat16"),
}


class clip(Op):
    """Out = X kept in [min, max]; the gradient is 0 outside and at the bounds.

    Min: one number to use instead of ``min``.
    Max: one number to use instead of ``max``.
    takes_integers: paddle 2's form: of integers, too; bounds lose their fractions.
    """

    signature = "X, Min?!, Max?! -> Out"
    fluid: ClassVar[FluidForm] = FluidForm(bare_gradients=True, rows=("X",))
    min: float = REQUIRED
    max: float = REQUIRED
    takes_integers: bool = attr(False, edition=True)

    def infer(self, X: Spec, Min: Spec | None, Max: Spec | None) -> Spec:
        if not (self.takes_integers and X.dtype.dtype.kind in "iu"):
            same_float(X=X, Min=Min, Max=Max)
        need_one(Min=Min, Max=Max)
        if Min is None and Max is None and not self.min < self.max:
            raise AttributeValueError(
                f"expected min to be less than max, got min={self.min} and max={self.max}"
            )
        return X if self.keeps_zeros(Min, Max) else X._replace(kind=Kind.LOD_TENSOR)

    def keeps_zeros(self, Min: Array, Max: Any) -> bool:
        """Whether 0 is known to be within the bounds: rows that are not stored stay so."""
        return Min is None and Max is None and self.min <= 0 <= self.max

    def bounds(self, Min: Array, Max: Array) -> tuple[Any, ...]:
        """The bounds: numbers, or arrays of one."""
        return self.min if Min is None else Min, self.max if Max is None else Max

    def run(self, xp: Any, X: Array, Min: Array, Max: Array) -> Array:
        if isinstance(X, SelectedRows):
            if self.keeps_zeros(Min, Max):
                rows = X.merged()
                return rows.with_value(self.run(xp, rows.value, Min, Max))
            X = X.to_dense()
        low, high = self.bounds(Min, Max)
        low = _bound_in(X.dtype, low) if Min is None else xp.reshape(low, ())
        high = _bound_in(X.dtype, high) if Max is None else xp.reshape(high, ())
        return xp.clip(X, low, high)

    def grad(self, f: Any, X: Value, Min: Value, Max: Value, dOut: Value) -> Rules:
        return dict(X=lambda: dOut * between(f, X, *self.bounds(Min, Max)))


def _bound_in(dtype: Any, bound: float) -> float:
    """A bound as an element type holds it."""
    if dtype.kind not in "iu":
        return bound
    least, most = np.iinfo(dtype).min, np.iinfo(dtype).max
    return most if bound >= most else least if bound <= least else int(bound)


class clip_by_norm(Op):
    """Out = X, scaled to the Euclidean norm ``max_norm`` where its own is larger.

    X: a float variable; its length is the square root of the sum of its squared elements.
    max_norm: the largest norm of Out; positive.
    """

    signature = "X -> Out"
    fluid: ClassVar[FluidForm] = FluidForm(rows=("X",), lacks_gradient=True)
    max_norm: float = REQUIRED
    grad = None

    def infer(self, X: Spec) -> Spec:
        need_float(X=X)
        need_above(self, 0, "max_norm")
        return X

    def run(self, xp: Any, X: Array) -> Array:
        if isinstance(X, SelectedRows):
            rows = X.merged()
            return rows.with_value(self.run(xp, rows.value))
        norm = xp.sqrt(xp.sum(X * X, keepdims=True))
        return X * (self.max_norm / xp.maximum(norm, self.max_norm))
