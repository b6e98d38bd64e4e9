"""What operators on stacks of matrices share: checks of their shapes, and steps of their rules."""

from __future__ import annotations

from typing import Any, ClassVar

from ..errors import DTypeError, ShapeError
from ..ground.dtypes import DType, as_dtype
from ..kernels.factors import LARGE, has_lapack
from ..opdef.annotations import Value
from ..opdef.conjugation import conj, is_complex
from ..opdef.definition import Op
from ..opdef.spec import Shape, Spec, agree, broadcast, need_rank, same_dtype
from .elementwise import sum_like

_TYPES = (DType.FP32, DType.FP64)


class OfMatrices(Op, abstract=True):
    """An operator on the matrices in the last two dimensions, with any dimensions in front."""

    lod: ClassVar[str | None] = None


class OfSquares(OfMatrices, abstract=True):
    """An operator that makes of square matrices others of the same shape."""

    def infer(self, *specs: Any) -> Any:
        need_square(**dict(zip(self.input_slots, specs)))
        return super().infer(*specs)


def need_matrices(**specs: Spec) -> None:
    """Check that all given specs are matrices, or stacks of them, of one element type."""
    same_dtype(**specs)
    for name, s in specs.items():
        if s.dtype.part not in _TYPES:
            raise DTypeError(
                f"expected {name} to be float32, float64, complex64 or complex128, got {s.dtype}"
            )
        need_rank(name, s, 2)


def need_square(**specs: Spec) -> None:
    """Check that all given specs are matrices, or stacks of them, with as many rows as columns."""
    need_matrices(**specs)
    for name, s in specs.items():
        if not agree(*s.shape[-2:]):
            raise ShapeError(
                f"expected {name} to have as many rows as columns, got shape {list(s.shape)}"
            )


def batch_of(x: Shape, y: Shape) -> Shape:
    """The dimensions in front of two stacks of matrices, spread over each other's."""
    return broadcast(tuple(x[:-2]), tuple(y[:-2]))


def least(m: int, n: int) -> int:
    """The smaller of two sizes, of which -1 is unknown."""
    return -1 if -1 in (m, n) else min(m, n)


def shares_factors(x: Any) -> bool:
    """Whether one LU decomposition of matrices is to serve an operator and its gradient."""
    return x.shape[-1] >= LARGE and has_lapack()


# -- steps of rules --------------------------------------------------------------------------------


def factors_of(f: Any, x: Value) -> dict[str, Value]:
    """What ``lu`` gives for matrices, by slot, where it serves an operator and its gradient."""
    if not shares_factors(x):
        return {}
    factors, pivots, _ = f.lu(x)
    return dict(Factors=factors, Pivots=pivots)


def swapped(f: Any, x: Value) -> Value:
    """The transposes."""
    n = len(x.shape)
    return f.transpose(x, axis=[*range(n - 2), n - 1, n - 2])


def turned(f: Any, x: Value) -> Value:
    """The conjugate transposes."""
    return conj(f, swapped(f, x))


def turned_times(f: Any, x: Value, y: Value) -> Value:
    """The products of the conjugate transposes of x with y."""
    return f.matmul(conj(f, x), y, transpose_X=True)


def times_turned(f: Any, x: Value, y: Value) -> Value:
    """The products of x with the conjugate transposes of y."""
    return f.matmul(x, conj(f, y), transpose_Y=True)


def solved_turned(f: Any, x: Value, y: Value, **triangle: bool) -> Value:
    """What the conjugate transposes of triangular matrices x are multiplied by to give y."""
    return f.triangular_solve(conj(f, x), y, transpose=True, **triangle)


def halved(f: Any, x: Value) -> Value:
    """The Hermitian parts."""
    return (x + turned(f, x)) * 0.5


def mirrored(f: Any, x: Value) -> Value:
    """Hermitian matrices that have the lower triangles of x."""
    below = lower(f, x, -1)
    middle = f.take_diagonal(x)
    middle = f.real(middle) if is_complex(x) else middle
    return below + turned(f, below) + on_diagonal(f, middle)


def lower(f: Any, x: Value, diagonal: int = 0) -> Value:
    """What is on a diagonal and below."""
    return f.tril_triu(x, lower=True, diagonal=diagonal)


def upper(f: Any, x: Value, diagonal: int = 0) -> Value:
    """What is on a diagonal and above."""
    return f.tril_triu(x, lower=False, diagonal=diagonal)


def on_diagonal(f: Any, x: Value) -> Value:
    """Square matrices with vectors on their diagonals."""
    n = x.shape[-1]
    return f.place_diagonal(x, num_rows=n, num_columns=n)


def eye_like(f: Any, x: Value, n: int) -> Value:
    """A matrix of n rows with ones on its diagonal, in the real type of x."""
    dtype = as_dtype(x.dtype).part
    return on_diagonal(f, f.fill_constant(shape=[n], dtype=dtype, value=1.0))


def columns(f: Any, x: Value, start: int, end: int) -> Value:
    """Some columns of matrices."""
    return f.slice(x, axes=[len(x.shape) - 1], starts=[start], ends=[end])


def rows(f: Any, x: Value, start: int, end: int) -> Value:
    """Some rows of matrices."""
    return f.slice(x, axes=[len(x.shape) - 2], starts=[start], ends=[end])


def as_row(f: Any, x: Value) -> Value:
    """Vectors, the last dimension, as matrices of one row."""
    return f.reshape(x, shape=[*x.shape[:-1], 1, x.shape[-1]])


def as_column(f: Any, x: Value) -> Value:
    """Vectors, the last dimension, as matrices of one column."""
    return f.reshape(x, shape=[*x.shape, 1])


def to_matrices(f: Any, x: Value) -> Value:
    """Numbers, one for each matrix of a stack, beside the matrices."""
    return f.reshape(x, shape=[*x.shape, 1, 1])


def summed_like(f: Any, x: Value, like: Value) -> Value:
    """A stack of matrices summed over the dimensions in front along which ``like`` was spread."""
    return sum_like(f, x, like)
