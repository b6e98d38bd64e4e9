"""Products of matrices."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...errors import UnsupportedError
from ...functions.einsum import einsum as product_of
from ..building import Appending, TooLarge
from ..forms import operator


@operator("MatMul")
def matmul(f: Any, x: Any, y: Any) -> Any:
    """Products of the last two dimensions; vectors get one more, and lose it again."""
    kind = f.type_of(x)
    if kind.kind != "f":
        return f.to(matmul(f, f.to(x, "float64"), f.to(y, "float64")), kind)
    a, b = f.ndim(x), f.ndim(y)
    if a == 2 and b == 2:
        return f.matmul(x, y)
    left = f.added(x, 0) if a == 1 else x
    right = f.added(y, 1) if b == 1 else y
    out = f.matmul(*_same_rank(f, left, right))
    rank = f.ndim(out)
    return f.dropped(out, *[rank - 2][: a == 1], *[rank - 1][: b == 1])


def _same_rank(f: Any, x: Any, y: Any) -> tuple[Any, Any]:
    """Two stacks of matrices with as many dimensions, spread over each other's."""
    a, b = f.ndim(x), f.ndim(y)
    if b == 2 and a > 2:
        return x, y
    rank = max(a, b)
    x, y = f.added(x, *range(rank - a)), f.added(y, *range(rank - b))
    lead = list(zip(f.sizes(x)[:-2], f.sizes(y)[:-2]))
    for axis, (m, n) in enumerate(lead):
        if m == 1 and n not in (1, -1):
            x = f.expand(x, expand_times=[n if i == axis else 1 for i in range(rank)])
        elif n == 1 and m not in (1, -1):
            y = f.expand(y, expand_times=[m if i == axis else 1 for i in range(rank)])
    return x, y


@dataclass(frozen=True)
class Factors:
    """Attributes of a product of matrices to which another matrix is added."""

    alpha: float = 1.0  #: of the product
    beta: float = 1.0  #: of what is added
    transA: int = 0
    transB: int = 0


@operator("Gemm", unread=["broadcast"])
def gemm(f: Any, a: Any, b: Any, c: Any = None, *, by: Factors = Factors()) -> Any:
    kind = f.type_of(a)
    if kind.kind != "f":
        ins = [None if v is None else f.to(v, "float64") for v in (a, b, c)]
        return f.to(gemm(f, *ins, by=by), kind)
    turned = dict(transpose_X=bool(by.transA), transpose_Y=bool(by.transB))
    out = f.matmul(a, b, **turned, alpha=by.alpha)
    if c is None or by.beta == 0:
        return out
    return f.elementwise_add(out, c if by.beta == 1 else f.scale(c, scale=by.beta))


@operator("Einsum")
def einsum(f: Any, *xs: Any, equation: str) -> Any:
    if not isinstance(f, Appending):
        raise TooLarge("products are not computed before a run")
    out = product_of(equation, *map(f.variable, xs))
    return f.reshaped(out, []) if _is_scalar(equation.replace(" ", "")) else out


def _is_scalar(equation: str) -> bool:
    """Whether a sum of products has no dimension."""
    left, arrow, right = equation.partition("->")
    letters = left.replace(",", "")
    return not right if arrow else all(letters.count(c) > 1 for c in letters)


@operator("Det")
def det(f: Any, x: Any) -> Any:
    """The determinant, by elimination without exchanges, of matrices of known size up to 3."""
    size = f.known_sizes(x, [f.ndim(x) - 1])[0]
    rank = f.ndim(x)
    if size > 3:
        raise UnsupportedError(f"determinants are built up to size 3, got {size}")
    at = lambda i, j: f.cut(f.cut(x, rank - 2, i, i + 1), rank - 1, j, j + 1)

    def minor(rows: list[int], columns: list[int]) -> Any:
        if len(rows) == 1:
            return at(rows[0], columns[0])
        determinant = None
        for k, column in enumerate(columns):
            rest = minor(rows[1:], columns[:k] + columns[k + 1 :])
            term = f.elementwise_mul(at(rows[0], column), rest)
            if determinant is None:
                determinant = term
            else:
                determinant = (f.elementwise_sub if k % 2 else f.elementwise_add)(determinant, term)
        return determinant

    every = list(range(size))
    return f.dropped(minor(every, every), rank - 2, rank - 1)
