"""Products of vectors and matrices beside ``mul`` and ``matmul``."""

from __future__ import annotations

from math import prod
from typing import Any, ClassVar

from ..errors import AttributeValueError, ShapeError
from ..ground.dtypes import DType, as_dtype
from ..opdef.annotations import Array, Rules, Specs, Value
from ..opdef.attribute import attr
from ..opdef.conjugation import AS_WRITTEN, HOLOMORPHIC, OfComplex
from ..opdef.definition import Op
from ..opdef.spec import (
    Shape,
    Spec,
    agree,
    flat,
    known,
    need_float,
    need_ndim,
    need_numbers,
    need_rank,
    need_shape,
    normal_axis,
    same_dtype,
)
from .elementwise import product_dtype
from .inert_attributes import ShapeAtRuntime, UseMkldnn, UseQuantizer
from .math import matmul


def same_shape(**specs: Spec) -> Shape:
    """The sizes of tensors of one element type and one shape.

    Raises:
        DTypeError: they have several element types.
        ShapeError: they differ in a size.
    """
    same_dtype(**specs)
    first, *rest = (s.shape for s in specs.values() if s is not None)
    for other in rest:
        if len(other) != len(first) or not all(map(agree, first, other)):
            names = " and ".join(name for name, s in specs.items() if s is not None)
            listed = ", ".join(str(list(s.shape)) for s in specs.values() if s is not None)
            raise ShapeError(f"expected {names} of the same shape, got {listed}")
        first = tuple(map(known, first, other))
    return first


def need_inner(X: Spec, Y: Spec, columns: int, rows: int) -> None:
    """Check that X has as many columns as Y has rows."""
    if not agree(columns, rows):
        raise ShapeError(
            f"expected as many columns in X as rows in Y, got {columns} and {rows}: X of shape "
            f"{list(X.shape)}, Y of shape {list(Y.shape)}"
        )


class matmul_v2(Op):
    """The product of the matrices in the last two dimensions of X and Y.

    The dimensions before them are aligned at the end, and sizes of 1 stretch.  A vector X is a row,
    a vector Y a column, whatever is transposed; Out lacks the dimension that this adds.

    X, Y: numbers; integers are multiplied in double precision, which has all up to 2^53.
    trans_x: swap the last two dimensions of X.
    trans_y: swap the last two dimensions of Y.
    """

    signature = "X, Y -> Out"
    of_complex: ClassVar[OfComplex | None] = AS_WRITTEN
    of_bfloat16: ClassVar[bool] = True
    trans_x: bool = False
    trans_y: bool = False

    def infer(self, X: Spec, Y: Spec) -> Specs:
        need_numbers("X", X)
        dtype = product_dtype(X, Y)
        need_rank("X", X, 1)
        need_rank("Y", Y, 1)
        shape = self.product(X.ndim, Y.ndim).out_shape(X.shape, Y.shape)
        return X.with_dtype(dtype).with_shape(() if X.ndim == Y.ndim == 1 else shape)

    def product(self, ndim_x: int, ndim_y: int) -> Any:
        """The operator for so many dimensions."""
        swapped = self.trans_x and ndim_x > 1, self.trans_y and ndim_y > 1
        return matmul({"transpose_X": swapped[0], "transpose_Y": swapped[1]})

    def expand(self, f: Any, X: Value, Y: Value) -> Value:
        whole = as_dtype(X.dtype)
        is_whole = whole.dtype.kind in "iu"
        if is_whole:
            X, Y = (f.cast(each, in_dtype=whole, out_dtype=DType.FP64) for each in (X, Y))
        ranks = len(X.shape), len(Y.shape)
        out = f.matmul(X, Y, **self.product(*ranks).attr_values())
        if ranks == (1, 1):
            out = f.reshape(out, shape=[])
        return f.cast(out, in_dtype=DType.FP64, out_dtype=whole) if is_whole else out


class bmm(Op):
    """The products of pairs of matrices: ``Out[i] = X[i] Y[i]``.

    X: matrices, [N, M, K].
    Y: matrices, [N, K, L].
    Out: of shape [N, M, L].
    """

    signature = "X, Y -> Out"
    of_complex: ClassVar[OfComplex | None] = HOLOMORPHIC

    def infer(self, X: Spec, Y: Spec) -> Specs:
        need_float(X=X, Y=Y)
        same_dtype(X=X, Y=Y)
        need_ndim(3, X=X, Y=Y)
        if not agree(X.shape[0], Y.shape[0]):
            raise ShapeError(
                f"expected as many matrices in X as in Y, got shapes {list(X.shape)} and "
                f"{list(Y.shape)}"
            )
        need_inner(X, Y, X.shape[2], Y.shape[1])
        return X.with_shape((known(X.shape[0], Y.shape[0]), X.shape[1], Y.shape[2]))

    def run(self, xp: Any, X: Array, Y: Array) -> Array:
        return xp.matmul(X, Y)

    def grad(self, f: Any, X: Value, Y: Value, dOut: Value) -> Rules:
        return dict(
            X=lambda: f.matmul(dOut, Y, transpose_Y=True),
            Y=lambda: f.matmul(X, dOut, transpose_X=True),
        )


class dot(Op):
    """The inner products of pairs of vectors: the sum of ``X * Y`` over the last dimension, which
    stays with size 1.

    X, Y: one vector, or one in each row.
    Out: of the shape of X with 1 as last size.
    drops: Out does not have that size.
    """

    signature = "X, Y -> Out"
    of_complex: ClassVar[OfComplex | None] = HOLOMORPHIC
    lod: ClassVar[str | None] = None
    drops: bool = attr(False, edition=True)

    def infer(self, X: Spec, Y: Spec) -> Specs:
        need_numbers("X", X)
        need_ndim((1, 2), X=X)
        shape = same_shape(X=X, Y=Y)[:-1]
        return X.with_shape(shape if self.drops else (*shape, 1))

    def run(self, xp: Any, X: Array, Y: Array) -> Array:
        return xp.sum(X * Y, axis=-1, dtype=X.dtype, keepdims=not self.drops)

    def grad(self, f: Any, X: Value, Y: Value, dOut: Value) -> Rules:
        def kept() -> Any:
            return f.unsqueeze(dOut, axes=[-1]) if self.drops else dOut

        return dict(X=lambda: kept() * Y, Y=lambda: kept() * X)


class addmm(UseMkldnn, Op):
    """``Alpha`` times the product of two matrices, plus ``Beta`` times a third one: ``Alpha X Y +
    Beta Input``.

    Input: of the shape of the product X Y; sizes of 1 stretch.
    Out: of shape [M, N].
    Alpha: factor of the product.
    Beta: factor of Input.
    X: [M, K].
    Y: [K, N].
    """

    signature = "Input, X, Y -> Out"
    of_complex: ClassVar[OfComplex | None] = AS_WRITTEN
    Alpha: float = 1.0
    Beta: float = 1.0

    def infer(self, Input: Spec, X: Spec, Y: Spec) -> Specs:
        specs = dict(Input=Input, X=X, Y=Y)
        need_float(**specs)
        same_dtype(**specs)
        need_ndim(2, **specs)
        need_inner(X, Y, X.shape[1], Y.shape[0])
        shape = (X.shape[0], Y.shape[1])
        if not all(n == 1 or agree(n, m) for n, m in zip(Input.shape, shape)):
            raise ShapeError(
                f"expected Input of shape {list(shape)}, or with sizes of 1, got "
                f"{list(Input.shape)}"
            )
        return X.with_shape(shape)

    def expand(self, f: Any, Input: Value, X: Value, Y: Value) -> Value:
        return f.matmul(X, Y, alpha=self.Alpha) + f.scale(Input, scale=self.Beta)


class cross(Op):
    """Out = the vector products of X and Y along ``dim``.

    X, Y: of one shape.
    dim: a dimension of size 3, which may count from the end; 9 takes the first one.
    """

    signature = "X, Y -> Out"
    of_complex: ClassVar[OfComplex | None] = HOLOMORPHIC
    dim: int = 9

    def infer(self, X: Spec, Y: Spec) -> Specs:
        need_numbers("X", X)
        shape = same_shape(X=X, Y=Y)
        if self.dim != 9 or -1 not in shape:
            self.place(shape)
        return X.with_shape(shape)

    def place(self, shape: Shape) -> int:
        """The dimension of a tensor of that shape.

        Raises:
            ShapeError: it has no dimension of size 3.
        """
        if self.dim == 9:
            if 3 not in shape:
                raise ShapeError(f"expected a dimension of size 3, got shape {list(shape)}")
            return shape.index(3)
        axis = normal_axis(self.dim, len(shape), "dim")
        if not agree(shape[axis], 3):
            raise ShapeError(
                f"expected size 3 along dim={self.dim}, got {shape[axis]} in shape {list(shape)}"
            )
        return axis

    def run(self, xp: Any, X: Array, Y: Array) -> Array:
        axis = self.place(X.shape)
        next, last = (lambda v: xp.roll(v, -1, axis)), (lambda v: xp.roll(v, -2, axis))
        return next(X) * last(Y) - last(X) * next(Y)

    def grad(self, f: Any, X: Value, Y: Value, dOut: Value) -> Rules:
        return dict(
            X=lambda: f.cross(Y, dOut, dim=self.dim), Y=lambda: f.cross(dOut, X, dim=self.dim)
        )


class kron(Op):
    """The Kronecker product: X with each element replaced by its product with Y.

    X: a variable of numbers.
    Y: of the element type of X; the one with fewer dimensions gets dimensions of 1 in front.
    Out: whose sizes are the products of those of X and Y.
    """

    signature = "X, Y -> Out"
    of_complex: ClassVar[OfComplex | None] = AS_WRITTEN
    lod: ClassVar[str | None] = None

    def infer(self, X: Spec, Y: Spec) -> Specs:
        need_numbers("X", X)
        same_dtype(X=X, Y=Y)
        pairs = zip(*padded(X.shape, Y.shape), strict=True)
        return X.with_shape(-1 if -1 in (m, n) else m * n for m, n in pairs)

    def expand(self, f: Any, X: Value, Y: Value) -> Value:
        x, y = padded(X.shape, Y.shape)
        outer = f.reshape(X, shape=[n for m in x for n in (m, 1)])
        inner = f.reshape(Y, shape=[n for m in y for n in (1, m)])
        return f.reshape(outer * inner, shape=[m * n for m, n in zip(x, y, strict=True)])


def padded(*shapes: Shape) -> list[Any]:
    """Shapes with dimensions of 1 in front, so that all have as many dimensions."""
    ndim = max(map(len, shapes))
    return [(1,) * (ndim - len(shape)) + tuple(shape) for shape in shapes]


class bilinear_tensor_product(Op):
    """Out[i, k] = X[i] Weight[k] Y[i], plus Bias[0, k].

    X: [N, I].
    Y: [N, J].
    Weight: [K, I, J].
    Bias: [1, K].
    """

    signature = "X, Y, Weight, Bias? -> Out"

    def infer(self, X: Spec, Y: Spec, Weight: Spec, Bias: Spec) -> Specs:
        specs = dict(X=X, Y=Y, Weight=Weight, Bias=Bias)
        need_float(**specs)
        same_dtype(**specs)
        need_ndim(2, X=X, Y=Y)
        need_ndim(3, Weight=Weight)
        count = Weight.shape[0]
        fit = zip(Weight.shape[1:], (X.shape[1], Y.shape[1]))
        if not agree(X.shape[0], Y.shape[0]) or not all(agree(m, n) for m, n in fit):
            raise ShapeError(
                f"expected X [n, i], Y [n, j] and Weight [k, i, j], got {list(X.shape)}, "
                f"{list(Y.shape)} and {list(Weight.shape)}"
            )
        need_shape("Bias", Bias, (1, count))
        return X.with_shape((known(X.shape[0], Y.shape[0]), count))

    def run(self, xp: Any, X: Array, Y: Array, Weight: Array, Bias: Array) -> Array:
        out = xp.sum(xp.matmul(X, Weight) * Y, axis=-1).T
        return out if Bias is None else out + Bias

    def grad(self, f: Any, X: Value, Y: Value, Weight: Value, dOut: Value) -> Rules:
        def by_class():
            """The cotangent as [K, N, 1], to stand beside [K, N, I] and [K, N, J]."""
            n, k = dOut.shape
            return f.reshape(f.transpose(dOut, axis=[1, 0]), shape=[k, n, 1])

        total = lambda v: f.reduce_sum(v, dim=[0])
        stacked = lambda v: f.reshape(v, shape=[1, *v.shape])
        return dict(
            X=lambda: total(f.matmul(Y, Weight, transpose_Y=True) * by_class()),
            Y=lambda: total(f.matmul(X, Weight) * by_class()),
            Weight=lambda: f.matmul(stacked(X) * by_class(), Y, transpose_X=True),
            Bias=lambda: f.reduce_sum(dOut, dim=[0], keep_dim=True),
        )


class fsp(Op):
    """The flow between two layers of a net, how channels of two feature maps go together:
    ``Out[n, i, j]`` is the mean of ``X[n, i] Y[n, j]`` over all pixels.

    (Yim et al., A gift from knowledge distillation, CVPR 2017.)

    X, Y: images of one size, with any numbers of channels.
    Out: of shape [N, C, D]: the means of products over all pixels.
    """

    signature = "X, Y -> Out"
    lod: ClassVar[str | None] = "X"

    def infer(self, X: Spec, Y: Spec) -> Specs:
        need_float(X=X, Y=Y)
        same_dtype(X=X, Y=Y)
        need_ndim(4, X=X, Y=Y)
        if not all(agree(X.shape[i], Y.shape[i]) for i in (0, 2, 3)):
            raise ShapeError(
                f"expected X and Y to agree in all sizes but the channels, got {list(X.shape)} "
                f"and {list(Y.shape)}"
            )
        return X.with_shape((known(X.shape[0], Y.shape[0]), X.shape[1], Y.shape[1]))

    def expand(self, f: Any, X: Value, Y: Value) -> Value:
        pixels = prod(X.shape[2:])
        rows = lambda v: f.reshape(v, shape=[*v.shape[:2], pixels])
        return f.matmul(rows(X), rows(Y), transpose_Y=True) * (1.0 / max(pixels, 1))


class fc(UseMkldnn, UseQuantizer, ShapeAtRuntime, Op):
    """Out = Input W + Bias, with what is below 0 cut off where ``activation_type`` says.

    Programs for inference have it in place of ``mul`` and ``elementwise_add``; no gradient flows.

    Input: its first dimensions are rows.
    W: [columns, K].
    Bias: a number for each of K.
    in_num_col_dims: how many dimensions of Input are rows.
    activation_type: "relu", or "" for none.
    padding_weights: the last 4 rows and columns of W are padding.
    """

    signature = "Input, W, Bias? -> Out"
    in_num_col_dims: int = 1
    activation_type: str = ""
    padding_weights: bool = False
    Scale_in: float = attr(1.0, inert=True)
    Scale_weights: list[float] = attr((1.0,), inert=True)
    Scale_out: float = attr(1.0, inert=True)
    force_fp32_output: bool = attr(False, inert=True)
    grad = None

    def infer(self, Input: Spec, W: Spec, Bias: Spec | None) -> Specs:
        specs = dict(Input=Input, W=W, Bias=Bias)
        need_float(**specs)
        same_dtype(**specs)
        need_ndim(2, W=W)
        if self.activation_type not in ("", "relu"):
            raise AttributeValueError(
                f'expected activation_type "relu" or "", got {self.activation_type!r}'
            )
        rows = self.in_num_col_dims
        if not 0 < rows < Input.ndim:
            raise ShapeError(
                f"expected Input to have more than in_num_col_dims={rows} dimensions, and that to "
                f"be at least 1; got shape {list(Input.shape)}"
            )
        padding = 4 if self.padding_weights else 0
        height, width = (-1 if n == -1 else n - padding for n in W.shape)
        columns = flat(Input.shape, rows)[1]
        if not agree(columns, height):
            raise ShapeError(
                f"expected as many columns in Input as rows in W, got {columns} and {height}: "
                f"Input of shape {list(Input.shape)}, W of shape {list(W.shape)}"
            )
        if Bias is not None and not agree(flat(Bias.shape, 0)[1], width):
            raise ShapeError(f"expected Bias of {width} numbers, got shape {list(Bias.shape)}")
        return Input.with_shape((*Input.shape[:rows], width))

    def expand(self, f: Any, Input: Value, W: Value, Bias: Value) -> Value:
        if self.padding_weights:
            W = f.slice(W, axes=[0, 1], starts=[0, 0], ends=[-4, -4])
        out = f.mul(Input, W, x_num_col_dims=self.in_num_col_dims)
        if Bias is not None:
            out = out + f.reshape(Bias, shape=[-1])
        return f.relu(out) if self.activation_type else out
