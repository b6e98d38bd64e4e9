"""Many small products of matrices as one large one.

Each pass through the block of a recurrent network multiplies a few rows.  What does not depend on
the pass before is computed for all passes at once:

- sums of products, such as the gradient of a weight that every pass reads: the sum of all A'B is
  the product of the A, one below the other, and the B, one below the other;
- products of what is there before the first of them with one matrix, such as the inputs of all
  passes with their weight: of all of them, one below the other.

A matrix by whose transpose several passes multiply a few rows is transposed once.  Sums are added
up in another order than the steps say, so results agree to rounding.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np

from ..dtypes import Kind
from ..opdef.prepared import Prepared
from .rewriting import Rewriting
from .trace import Kernel, Trace, Value

FEWEST = 3  #: products that are worth putting together
FEWEST_TURNED = 6  #: products with the transpose of one matrix for which it is worth a copy
STRIP = 16  #: columns that are written at a time, as many as a line of the cache holds
MOST_ROWS = 256  #: of a product that is small
#: operators that only look at a value in another way
VIEWS = frozenset({"slice", "reshape", "reshape2", "squeeze", "unsqueeze", "transpose"})


def stacked(
    kernels: Sequence[Kernel], wanted: Iterable[Value], trace: Trace
) -> tuple[list[Kernel], dict[int, Value]] | None:
    """Kernels with small products put together where that pays.

    Args:
        kernels: in order, none of which computes what another one does.
        wanted: values that are needed at the end.
        trace: makes kernels.

    Returns:
        the kernels, and by number of a value that is known now the one to use in its place; None
        where nothing changes.  Some kernels may make what nothing reads any more, or the same as
        another.
    """
    found = Counter(_product_of(kernel) for kernel in kernels if _is_small(kernel))
    sums = (len(kernel.inputs) for kernel in kernels if kernel.op.type == "sum")
    if not found or max((*found.values(), *sums)) < FEWEST:
        return None
    kept = {v.number for v in wanted}
    new = Rewriting(trace)
    for rewrite in (_at_once, partial(_sums_at_once, kept=kept), _transposed_once):
        kernels, new.listed = rewrite(kernels, new), []
    return list(kernels), new.instead


def _matrix(value: Any) -> bool:
    return isinstance(value, Value) and value.ndim == 2 and value.kind is Kind.LOD_TENSOR


def _product_of(kernel: Kernel) -> Any:
    """What products with one matrix, or with the transpose of one, have in common."""
    op, (x, y) = kernel.op, kernel.arguments[:2]
    return op.type, op.frozen_attrs(), x.shape, y.number if y.constant is None else id(y)


def _is_small(kernel: Kernel) -> bool:
    """Whether a kernel is a product of two matrices of which the first has few rows."""
    op: Any = kernel.op
    if op.type not in ("mul", "matmul") or not all(map(_matrix, kernel.arguments[:2])):
        return False
    if op.type == "matmul" and (op.alpha != 1.0 or op.head_number != 1):
        return False
    return bool(kernel.arguments[0].shape[0] <= MOST_ROWS)


# -- products with one matrix ----------------------------------------------------------------------


def _at_once(kernels: Sequence[Kernel], new: Rewriting) -> list[Kernel]:
    """Products with one matrix, of what is there before the first of them, as one."""
    makers = {v.number: index for index, kernel in enumerate(kernels) for v in kernel.outputs}
    groups: dict[Any, list[int]] = {}
    for index, kernel in enumerate(kernels):
        if not _is_small(kernel) or getattr(kernel.op, "transpose_X", False):
            continue
        if kernel.computes_again:  # to hold the value for a shorter time
            continue
        group = groups.setdefault(_product_of(kernel), [])
        if not group:
            group.append(index)
            continue
        if _views_of(kernel.arguments[0], group[0], kernels, makers) is not None:
            group.append(index)
    first_of = {group[0]: group for group in groups.values() if len(group) >= FEWEST}
    if not first_of:
        return list(kernels)
    done: set[int] = set()
    moved: set[int] = set()
    for index, kernel in enumerate(kernels):
        if index in first_of:
            members = [kernels[member] for member in first_of[index]]
            for member in members:
                for view in _views_of(member.arguments[0], index, kernels, makers) or ():
                    if view not in moved:
                        moved.add(view)
                        new.listed.append(kernels[view])
            _multiply_together(members, new)
            done.update(first_of[index])
        elif index not in done and index not in moved:
            new.listed.append(kernel)
    return new.listed


def _multiply_together(group: Sequence[Kernel], new: Rewriting) -> None:
    """Note one product in the place of several, and its parts."""
    first = group[0]
    op: Any = first.op
    rows, matrix = first.arguments[0].shape[0], first.arguments[1]
    given = [kernel.arguments[0] for kernel in group]
    below = new.make(first, lambda f: f.concat(given, axis=0))
    how = {"transpose_Y": op.transpose_Y} if op.type == "matmul" else {}
    product = new.make(first, lambda f: getattr(f, op.type)(below, matrix, **how))
    for number, kernel in enumerate(group):
        new.make_as(kernel, partial(_rows, whole=product, begin=rows * number, count=rows))


def _rows(f: Trace, whole: Value, begin: int, count: int) -> Value:
    made: Value = f.slice(whole, axes=[0], starts=[begin], ends=[begin + count])
    return made


def _views_of(
    value: Value, place: int, kernels: Sequence[Kernel], makers: dict[int, int]
) -> list[int] | None:
    """The kernels from a place on that look at what is there before it in the way of a value; None
    where they compute something.
    """
    found: list[int] = []
    while value.constant is None and makers.get(value.number, -1) >= place:
        kernel = kernels[makers[value.number]]
        if kernel.op.type not in VIEWS or len(kernel.inputs) != 1:
            return None
        found.append(makers[value.number])
        (value,) = kernel.inputs
    return found[::-1]


# -- sums of products ------------------------------------------------------------------------------


def _sums_at_once(kernels: Sequence[Kernel], new: Rewriting, kept: set[int]) -> list[Kernel]:
    """Sums of products, and sums of sums over rows, as one."""
    makers = {v.number: kernel for kernel in kernels for v in kernel.outputs}
    readers = Counter(v.number for kernel in kernels for v in kernel.inputs)
    once = {number for number, count in readers.items() if count == 1 and number not in kept}
    for kernel in kernels:
        terms = kernel.arguments[0] if kernel.op.type == "sum" else ()
        build = None
        if len(terms) >= FEWEST and all(v.number in once and v.number in makers for v in terms):
            build = _sum_of([makers[v.number] for v in terms], makers, once)
        if build is None:
            new.listed.append(kernel)
        else:
            new.make_as(kernel, build)
    return new.listed


def _sum_of(
    terms: Sequence[Kernel], makers: dict[int, Kernel], once: set[int]
) -> Callable[[Trace], Value] | None:
    """What makes the sum of what some kernels make; None where it is made term by term."""
    first = terms[0]
    op: Any = first.op
    if len({(t.op.type, t.op.frozen_attrs(), tuple(map(_shape, t.arguments))) for t in terms}) > 1:
        return None
    if op.type == "matmul" and op.head_number == 1:
        return _sum_of_products(terms)
    if op.type == "reshape" and len(first.inputs) == 1:
        inner = [t.arguments[0] for t in terms]
        if all(v.number in once and v.number in makers for v in inner):
            build = _sum_of([makers[v.number] for v in inner], makers, once)
            shape = list(first.outputs[0].shape)
            return build and (lambda f: f.reshape(build(f), shape=shape))
    if op.type == "reduce_sum" and _adds_up_rows(first):
        rows = [t.inputs[0] for t in terms]
        how = {"dim": [0], "keep_dim": op.keep_dim}
        return lambda f: f.reduce_sum(f.concat(rows, axis=0), **how)
    return None


def _adds_up_rows(kernel: Kernel) -> bool:
    """Whether a sum is that of the rows of a matrix."""
    op: Any = kernel.op
    return (
        len(kernel.inputs) == 1
        and _matrix(kernel.inputs[0])
        and op.axes(2) == (0,)
        and op.out_dtype == -1
    )


def _sum_of_products(terms: Sequence[Kernel]) -> Callable[[Trace], Value] | None:
    """What makes the sum of A'B."""
    first = terms[0]
    op: Any = first.op
    if not _is_small(first) or not op.transpose_X or op.transpose_Y:
        return None
    rows, height = first.arguments[0].shape
    width = first.arguments[1].shape[1]
    if rows * (height + width) > 2 * height * width:  # putting them together costs more than adding
        return None
    above = [t.arguments[0] for t in terms]
    beside = [t.arguments[1] for t in terms]
    return lambda f: f.matmul(f.concat(above, axis=0), f.concat(beside, axis=0), transpose_X=True)


def _shape(value: Any) -> Any:
    return value.shape if isinstance(value, Value) else None


# -- products with one transpose -------------------------------------------------------------------


def _transposed_once(kernels: Sequence[Kernel], new: Rewriting) -> list[Kernel]:
    """Products of few rows with the transpose of one matrix, as products with a copy of that."""
    found = Counter(_product_of(kernel) for kernel in kernels if _takes_transpose(kernel))
    copies: dict[Any, Value] = {}
    for kernel in kernels:
        if not _takes_transpose(kernel) or found[_product_of(kernel)] < FEWEST_TURNED:
            new.listed.append(kernel)
            continue
        x, y = kernel.arguments[:2]
        key = _product_of(kernel)
        if key not in copies:
            before = len(new.listed)
            copies[key] = new.make(kernel, partial(_turned, matrix=y))
            for made in new.listed[before:]:  # none where the matrix is known
                made.prepared = Prepared(_copied_turned, out=True)
        new.make_as(kernel, partial(_multiplied, x=x, y=copies[key]))
    return new.listed


def _takes_transpose(kernel: Kernel) -> bool:
    """Whether a kernel is a small product with the transpose of a matrix."""
    op: Any = kernel.op
    return op.type == "matmul" and _is_small(kernel) and op.transpose_Y and not op.transpose_X


def _turned(f: Trace, matrix: Value) -> Value:
    made: Value = f.transpose(matrix, axis=[1, 0])
    return made


def _multiplied(f: Trace, x: Value, y: Value) -> Value:
    made: Value = f.matmul(x, y)
    return made


def _copied_turned(matrix: Any, out: Any = None) -> Any:
    """The transpose of a matrix, its rows one behind the other."""
    out = np.empty(matrix.shape[::-1], matrix.dtype) if out is None else out
    for begin in range(0, len(matrix), STRIP):
        out[:, begin : begin + STRIP] = matrix[begin : begin + STRIP].T
    return out
