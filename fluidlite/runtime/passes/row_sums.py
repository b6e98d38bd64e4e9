"""Sums of rows: rows of a matrix that are taken by number, weighted, and added by number are a
product with a sparse matrix, for which they need not be there.

So it is in convolutions on graphs, and in their gradients.
"""

from __future__ import annotations

from ...ground.dtypes import Kind
from ..graph import Graph, Instruction
from ..value import Value
from .form import Context, Pass, differing_in


def multiply_rows(graph: Graph, context: Context) -> bool:
    """Replace sums of rows that nothing else reads by products with a sparse matrix.

    Rounding: none with a compiler, where terms are added in their order.
    """
    changed = False
    for instruction in graph:
        sum_of = instruction.op.adds_rows(*instruction.operands)
        if sum_of is None or instruction.bodies or not _fits(instruction.result):
            continue
        start, rows, terms = sum_of
        if start is not None and not _is_zero(start):
            continue
        taken, weights = _factors(terms, instruction)
        if taken is None:
            continue
        dense, cols = taken
        count = terms.shape[0]
        with context.builder.at(instruction) as f:
            if weights is None:
                weights = f.fill_constant(shape=[count], dtype=dense.spec.dtype, value=1.0)
            elif weights.ndim != 1:
                weights = f.reshape(weights, shape=[count])
            ordered = instruction.op.counted_by is not None  # others are refused
            made = f.sparse_product(
                rows, cols, weights, dense, size=instruction.result.shape[0], ordered=ordered
            )
        graph.replace(instruction, made)
        changed = True
    return changed


def _factors(terms: Value, reader: Instruction) -> tuple[tuple[Value, Value] | None, Value | None]:
    """A matrix and the numbers of its rows, and their weights, of terms that are such rows or their
    products; the first is None where they are not, and the second where there are no weights.
    """
    taken = _taken(terms, reader)
    maker = terms.producer
    if taken is not None or maker is None or terms.only_user is not reader:
        return taken, None
    if len(maker.inputs) != 2 or len(maker.results) != 1 or maker.kernel is not None:
        return None, None
    for rows, other in (maker.inputs, maker.inputs[::-1]):
        taken = _taken(rows, maker)
        if taken is None or rows.shape != terms.shape or other.dtype != terms.dtype:
            continue
        if rows is not maker.inputs[0] and other.ndim != rows.ndim:
            continue
        found, count = maker.op.epilogue(rows.spec, other.spec), terms.shape[0]
        if found is None or found.function != "multiply" or other.size != count:
            continue
        if found.shape == (count, 1):
            return taken, other
    return None, None


def _taken(value: Value, reader: Instruction) -> tuple[Value, Value] | None:
    """A matrix and the numbers of its rows that a value is, which nothing but an instruction reads;
    None where it is something else.
    """
    maker = value.producer
    if maker is None or value.only_user is not reader or maker.bodies or not _fits(value):
        return None
    found = maker.op.takes_rows(*maker.operands)
    return found if found is not None and _fits(found[0]) else None


def _fits(value: Value) -> bool:
    """Whether a value is a matrix for which there are kernels."""
    is_matrix = value.kind is Kind.LOD_TENSOR and value.ndim == 2 and value.is_static
    return is_matrix and value.dtype.char in "fd"


def _is_zero(value: Value) -> bool:
    """Whether a value is zero everywhere."""
    if value.constant is not None:
        return not value.constant.any()
    maker = value.producer
    return maker is not None and maker.op.fills(*maker.operands) == 0


ROW_SUMS = Pass("row_sums", multiply_rows, exact=False, concerns=differing_in("adds_rows"))
