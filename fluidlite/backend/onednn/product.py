"""Products of matrices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...kernels import threads
from ...opdef.prepared import Epilogues, Offer, Prepared
from ...opdef.spec import flat
from .library import Library, NotDone
from .memory import (
    ContextFactory,
    ExecutionContext,
    Form,
    Layout,
    Primitive,
    PrimitiveDescriptor,
    address_of,
    row_major,
)
from .offers import (
    HIGH,
    LOW,
    SMALLEST_OF_MANY,
    Layouts,
    OneDnnKernels,
    operations_of,
    serves,
    whole,
)

#: operations from which on a product is faster here on one thread, and there with an operand that
#: is transposed
SMALLEST, SMALLEST_TRANSPOSED = 1 << 21, 1 << 23
NARROW = 32  #: rows or columns, below which that BLAS is faster on one thread
SMALLEST_STACK = 1 << 20  #: the same of a stack, of which NumPy multiplies one after the other
MOST_DIMENSIONS = 6
WAYS = 4  #: in which operands of one product may lie
SOURCE, WEIGHTS, TARGET = 1, 33, 17
FLOAT, ITEM = np.dtype("float32"), 4

#: a function of two matrices and ``out``
Multiply = Callable[..., Any]


def _steps(matrix: Any) -> tuple[bytes, int] | None:
    """Whether a matrix is transposed, and the elements between its rows; None for other views."""
    (down, across), (rows, columns) = matrix.strides, matrix.shape
    if across == ITEM and down >= columns * ITEM and down % ITEM == 0:
        return b"N", down // ITEM
    if down == ITEM and across >= rows * ITEM and across % ITEM == 0:
        return b"T", across // ITEM
    return None


def multiply(library: Library) -> Multiply:
    """A function that multiplies matrices of float32 as ``np.matmul`` does."""
    sgemm = library.sgemm

    def product(a: Any, b: Any, out: Any = None) -> Any:
        if out is None:
            out = np.empty((a.shape[0], b.shape[1]), FLOAT)
        first, second, third = _steps(a), _steps(b), _steps(out)
        if first is None or second is None or third is None or third[0] != b"N":
            return np.matmul(a, b, out=out)
        count, depth = a.shape
        columns = b.shape[1]
        failed = sgemm(
            *(first[0], second[0], count, columns, depth, 1.0),
            *(address_of(a), first[1], address_of(b), second[1], 0.0, address_of(out), third[1]),
        )
        return np.matmul(a, b, out=out) if failed else out

    return product


def _prepared(onednn: OneDnnKernels, op: Any, x: Any, y: Any) -> Prepared | None:
    """A kernel for matrices."""
    product = multiply(onednn.library)
    if op.type == "mul":
        rows, columns = op.x_num_col_dims, op.y_num_col_dims
        first, second = flat(x.shape, rows), flat(y.shape, columns)
        if x.ndim == y.ndim == 2:
            return Prepared(product, out=True)
        shape = x.shape[:rows] + y.shape[columns:]
        return Prepared(lambda a, b: product(a.reshape(first), b.reshape(second)).reshape(shape))
    if x.ndim != 2 or y.ndim != 2 or op.alpha != 1.0:
        return None
    if op.transpose_X and op.transpose_Y:
        return Prepared(lambda a, b, out=None: product(a.T, b.T, out=out), out=True)
    if op.transpose_X:
        return Prepared(lambda a, b, out=None: product(a.T, b, out=out), out=True)
    if op.transpose_Y:
        return Prepared(lambda a, b, out=None: product(a, b.T, out=out), out=True)
    return Prepared(product, out=True)


def _are_stacks(instruction: Any) -> bool:
    x, y = instruction.operands
    return instruction.op.type == "matmul" and x.ndim > 2 and x.shape[:-2] == y.shape[:-2]


def _cost(onednn: OneDnnKernels, instruction: Any, layouts: Layouts) -> float:
    """Whether a product is faster here.

    With several threads it is all products of a plan or none, since the threads of two libraries
    get into each other's way; and it is where NumPy's BLAS does not use what the processor has.
    """
    (x, y), made = instruction.operands, instruction.results[0]
    if _are_stacks(instruction):
        depth = x.shape[-2 if instruction.op.transpose_X else -1]
        return LOW if 2 * made.size * depth >= SMALLEST_STACK else HIGH
    operations, least = operations_of(x, y, made)
    if onednn.library.is_newer_than_blas or (threads.count() > 1 and onednn.works_anyhow):
        return LOW if operations > SMALLEST_OF_MANY else HIGH
    if threads.count() > 1:
        return HIGH
    product = instruction.op.product(x.spec, y.spec)
    transposed = product is not None and any(product)
    pays = operations >= (SMALLEST_TRANSPOSED if transposed else SMALLEST) and least >= NARROW
    return LOW if pays else HIGH


@serves("mul", "matmul", cost=_cost)
def matmul(
    onednn: OneDnnKernels, instruction: Any, layouts: Layouts, epilogues: Epilogues
) -> Offer | None:
    """The product of two matrices, or of two stacks of them; either may be transposed."""
    x, y = instruction.operands
    if instruction.op.type == "matmul" and instruction.op.head_number != 1:
        return None
    if _are_stacks(instruction):
        return _stacks(onednn, instruction)
    prepared = _prepared(onednn, instruction.op, x, y)
    if prepared is None:
        return None
    return Offer(prepared, (None, None), (None,))


def _stacks(onednn: OneDnnKernels, instruction: Any) -> Offer | None:
    """The products of the matrices in two stacks."""
    op, x, made = instruction.op, instruction.operands[0], instruction.results[0]
    shape = made.shape
    if made.ndim > MOST_DIMENSIONS:
        return None
    turned = (*range(x.ndim - 2), x.ndim - 1, x.ndim - 2)
    factor = None if op.alpha == 1.0 else np.asarray(op.alpha, FLOAT)
    contexts = onednn.contexts
    #: by the steps of the operands, which are known when they come; None for NumPy
    ways: dict[Any, Primitive | None] = {}

    def run(a: Any, b: Any, context: ExecutionContext, out: Any = None) -> Any:
        a = a.transpose(turned) if op.transpose_X else a
        b = b.transpose(turned) if op.transpose_Y else b
        out = whole(out, shape)
        key = a.strides, b.strides
        if key not in ways:
            while len(ways) >= WAYS:
                ways.pop(next(iter(ways)))
            ways[key] = _stacked(contexts, a, b, shape)
        way = ways[key]
        if way is None:
            np.matmul(a, b, out=out)
        else:
            way.at(context)(a, b, out)
        return out if factor is None else np.multiply(out, factor, out=out)

    return Offer(Prepared(run, out=True, scratch=contexts), (None, None), (None,))


def _stacked(contexts: ContextFactory, a: Any, b: Any, shape: tuple[int, ...]) -> Primitive | None:
    """The primitive for stacks that lie as these do; None where there is no fast one."""
    forms = []
    for array in (a, b):
        steps = tuple(step // ITEM for step in array.strides)
        if any(step % ITEM or step <= 0 for step in array.strides) or 1 not in steps[-2:]:
            return None
        forms.append(Form(array.shape, steps))
    first, second, out = (Layout(contexts.library, f) for f in (*forms, row_major(shape)))
    try:
        descriptor = PrimitiveDescriptor(contexts.library, "matmul", first, second, None, out)
        return Primitive(contexts, descriptor, [(SOURCE, first), (WEIGHTS, second), (TARGET, out)])
    except NotDone:
        return None
