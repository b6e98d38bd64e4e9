"""GEMM batching: many small products of matrices as one large one.

Each pass through the block of a recurrent network multiplies a few rows.  What does not depend on
the pass before is computed for all passes at once:

- products of what is there before the first of them with one matrix, such as the inputs of all
  passes with their weight: of all of them, one below the other;
- sums of products, such as the gradient of a weight that every pass reads: the sum of all A'B is
  the product of the A, one below the other, and the B, one below the other; in an order in which
  these are an array that is there, if there is such an order.

A matrix by whose transpose several passes multiply a few rows is transposed once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from ...ground.dtypes import Kind
from ...opdef.prepared import Prepared
from ...opdef.structure import MatrixProduct
from ...opdef.view_analysis import whole_of
from ..graph import Graph, Instruction
from ..value import Value
from .form import Context, Pass, differing_in

FEWEST = 3  #: products that are worth batching
FEWEST_TRANSPOSED = 6  #: products with the transpose of one matrix for which it is worth a copy
STRIP = 16  #: columns that are written at a time, as many as a line of the cache holds
MOST_ROWS = 256  #: of a product that is small

#: makes a value by appending instructions
Build = Callable[[Any], Value]


def batch_products(graph: Graph, context: Context) -> bool:
    """Batch products with one matrix, sums of products, and transposes of one matrix.

    Rounding: sums are taken in another order.
    """
    groups = _groups(graph)
    sums = [i for i in graph if i.op.adds_all and len(i.inputs) >= FEWEST]
    changed = False
    position = {instruction: index for index, instruction in enumerate(graph)}
    for group in groups.values():
        if len(group) >= FEWEST:
            changed |= _batch(_ready_before_first(group, position), graph, context, position)
    orders = _Orders()
    builds = [
        _sum_of([v.producer for v in total.inputs], [total] * len(total.inputs), orders)
        for total in sums
    ]
    for total, build in zip(sums, builds):
        if build is not None:
            with context.builder.at(total) as f:
                graph.replace(total, build(f))
            changed = True
    for group in _groups(graph, transposed=True).values():
        if len(group) >= FEWEST_TRANSPOSED:
            _transpose_once(group, graph, context)
            changed = True
    return changed


def _small_product(instruction: Instruction) -> MatrixProduct | None:
    """How an instruction multiplies two matrices of which the first has few rows."""
    if not instruction.op.multiplies() or len(instruction.operands) < 2:
        return None
    x, y = instruction.operands[:2]
    if not (isinstance(x, Value) and isinstance(y, Value)) or x.kind is not Kind.LOD_TENSOR:
        return None
    if not (x.is_static and y.is_static) or y.kind is not Kind.LOD_TENSOR:
        return None
    found = instruction.op.product(x.spec, y.spec)
    return found if found is not None and x.shape[0] <= MOST_ROWS else None


def _groups(graph: Graph, transposed: bool = False) -> dict[Any, list[Instruction]]:
    """Small products with one matrix, or with the transpose of one."""
    groups: dict[Any, list[Instruction]] = {}
    for instruction in graph:
        product = _small_product(instruction)
        if product is None or product.transpose_x or (transposed and not product.transpose_y):
            continue
        if not transposed and instruction.rematerializes:
            continue  # it is repeated to hold its value for a shorter time
        x, y = instruction.operands[:2]
        same = y.number if y.constant is None else id(y.constant)
        groups.setdefault((instruction.op.type, product, x.shape, same), []).append(instruction)
    return groups


# -- products with one matrix ----------------------------------------------------------------------


def _ready_before_first(
    group: Sequence[Instruction], position: dict[Instruction, int]
) -> list[Instruction]:
    """The products whose first operand is there before the first of them, but for views."""
    place = position[group[0]]
    return [
        i
        for i in group
        if i is group[0] or _views_since(i.operands[0], place, position) is not None
    ]


def _views_since(
    value: Value, place: int, position: dict[Instruction, int]
) -> list[Instruction] | None:
    """The views, from a place on, through which a value shows what is there before it; None where
    something is computed.
    """
    views: list[Instruction] = []
    maker = value.producer
    while maker is not None and position.get(maker, place) >= place:
        if not maker.op.is_view or len(maker.inputs) != 1 or len(maker.results) != 1:
            return None
        views.append(maker)
        maker = maker.inputs[0].producer
    return views[::-1]


def _batch(
    group: Sequence[Instruction], graph: Graph, context: Context, position: dict[Instruction, int]
) -> bool:
    """One product in place of several, and slices of it."""
    if len(group) < FEWEST:
        return False
    first = group[0]
    place = position[first]
    rows, matrix = first.operands[0].shape[0], first.operands[1]
    for member in group:
        for view in _views_since(member.operands[0], place, position) or ():
            graph.move(view, first)
            position[view] = place - 1
    product = first.op.product(first.operands[0].spec, matrix.spec)
    with context.builder.at(first) as f:
        below = f.concat([member.operands[0] for member in group], axis=0)
        whole = f.matmul(below, matrix, transpose_Y=product.transpose_y)
        parts = [
            f.slice(whole, axes=[0], starts=[rows * k], ends=[rows * (k + 1)])
            for k in range(len(group))
        ]
    for made in (below, whole, *parts):
        if made.producer is not None:
            position[made.producer] = place
    for member, part in zip(group, parts, strict=True):
        graph.replace(member, part)
    return True


# -- sums of products ------------------------------------------------------------------------------


class _Orders:
    """The orders in which factors are joined.

    The terms of a sum may stand in any order.  In that in which one factor of each makes up an
    array that is there, such as what is fed to all passes, nothing is copied for it; and the other
    factors are joined alike in all sums that have them.
    """

    def __init__(self) -> None:
        self._places: dict[frozenset[int], dict[int, int]] = {}

    def note(self, factors: Sequence[Value], others: Sequence[Value]) -> None:
        """Keep to the order in which ``others`` make up an array, where they do."""
        found = whole_of(others)
        if found is not None:
            places = {factors[k].number: place for place, k in enumerate(found[1])}
            self._places.setdefault(frozenset(places), places)

    def joined(self, f: Any, factors: Sequence[Value], values: Sequence[Value]) -> Value:
        """Values one below the other, in the order of the factors of the same terms."""
        places = self._places.get(frozenset(v.number for v in factors))
        order = sorted(range(len(values)), key=lambda k: places[factors[k].number] if places else k)
        made: Value = f.concat([values[k] for k in order], axis=0)
        return made


def _sum_of(
    terms: Sequence[Instruction | None], readers: Sequence[Instruction], orders: _Orders
) -> Build | None:
    """What makes the sum of what instructions make, each of which one reader alone may read; None
    where it is made term by term.
    """
    producers: list[Instruction] = []
    for term, reader in zip(terms, readers, strict=True):
        if term is None or len(term.results) != 1 or term.result.only_user is not reader:
            return None
        producers.append(term)
    first = producers[0]
    like = {(type(t.op), t.op.frozen_attrs(), tuple(map(_shape, t.operands))) for t in producers}
    if len(like) > 1 or len(set(producers)) < len(producers):
        return None
    if first.op.multiplies():
        return _sum_of_products(producers, orders)
    inputs, shape = first.inputs, list(first.result.shape)
    if len(inputs) != 1 or inputs[0].kind is not Kind.LOD_TENSOR:
        return None
    if first.op.reshapes():
        build = _sum_of([t.inputs[0].producer for t in producers], producers, orders)
        return build and (lambda f: f.reshape(build(f), shape=shape))
    if first.op.sums_rows(inputs[0].spec):
        rows, keeps = [t.inputs[0] for t in producers], len(shape) == 2
        orders.note(rows, rows)
        return lambda f: f.reduce_sum(orders.joined(f, rows, rows), dim=[0], keep_dim=keeps)
    return None


def _sum_of_products(terms: Sequence[Instruction], orders: _Orders) -> Build | None:
    """What makes the sum of A'B."""
    product = _small_product(terms[0])
    if product is None or product != MatrixProduct(transpose_x=True):
        return None
    rows, height = terms[0].operands[0].shape
    width = terms[0].operands[1].shape[1]
    if rows * (height + width) > 2 * height * width:  # to concatenate costs more than to add
        return None
    above, beside = ([t.operands[k] for t in terms] for k in (0, 1))
    orders.note(beside, above)
    orders.note(beside, beside)

    def build(f: Any) -> Value:
        joined = [orders.joined(f, beside, each) for each in (above, beside)]
        made: Value = f.matmul(*joined, transpose_X=True)
        return made

    return build


def _shape(value: Any) -> Any:
    return value.shape if isinstance(value, Value) else None


# -- products with one transpose -------------------------------------------------------------------


def _transpose_once(group: Sequence[Instruction], graph: Graph, context: Context) -> None:
    """Let products with the transpose of one matrix multiply by a copy of that."""
    matrix = group[0].operands[1]
    with context.builder.at(group[0]) as f:
        turned = f.transpose(matrix, axis=[1, 0])
    if turned.producer is not None:  # else the matrix is known
        turned.producer.kernel = Prepared(partial(_transposed, strip=STRIP), out=True)
    for member in group:
        with context.builder.at(member) as f:
            graph.replace(member, f.matmul(member.operands[0], turned))


def _transposed(matrix: Any, out: Any = None, strip: int = STRIP) -> Any:
    """The transpose of a matrix, its rows one after the other."""
    out = np.empty(matrix.shape[::-1], matrix.dtype) if out is None else out
    for begin in range(0, len(matrix), strip):
        out[:, begin : begin + strip] = matrix[begin : begin + strip].T
    return out


GEMM_BATCHING = Pass(
    "gemm_batching", batch_products, exact=False, concerns=differing_in("multiplies", "adds_all")
)
