"""Products of matrices and of stacks of them, with what follows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from copy import copy
from itertools import pairwise
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...kernels import threads
from ...opdef.prepared import Epilogues, Offer, Prepared
from ...opdef.spec import flat
from ..commands import NativeCommand
from .elementwise import OTHER
from .library import Library, NotDone
from .memory import (
    ExecutionContext,
    Form,
    Layout,
    Primitive,
    PrimitiveDescriptor,
    address_of,
    plain,
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
from .post_ops import KEEPS_ZERO, LINEAR, POST, PostOp, post_ops

if TYPE_CHECKING:
    from .memory import ContextFactory

#: operations from which on a product is faster here on one thread, and there with Y transposed,
#: and of a stack, of which NumPy multiplies one after the other
SMALLEST, SMALLEST_TRANSPOSED, SMALLEST_STACK = 1 << 21, 1 << 18, 1 << 20
NARROW = 16  #: rows or columns, below which that BLAS is faster on one thread
NARROW_OF_MANY = 2  #: the same on several, of which those of two libraries wait for each other
#: operations from which on the primitive is slower than :class:`Gemm`: where X is transposed, and
#: where nothing is
LARGE_TURNED, LARGE_PLAIN = 1 << 25, 1 << 29
MOST_DIMENSIONS = 6
WAYS = 4  #: in which operands of one product may lie
SOURCE, WEIGHTS, TARGET = 1, 33, 17
ITEM = 4  #: bytes of an element
NOT_COPIED = (False, False)


class Gemm:
    """A product of matrices by a function of the library that has no post-ops.  It reads what is
    transposed where it lies, while the primitive copies X then.

    Args:
        library: oneDNN.
        x, y: how the operands lie.
    """

    def __init__(self, library: Library, x: Form, y: Form) -> None:
        self._sgemm = library.sgemm
        self._first, self._second = _read(x), _read(y)
        (self._rows, self._depth), (_, self._columns) = x.sizes, y.sizes

    def at(self, context: ExecutionContext) -> Callable[..., None]:
        """A function of two operands and the result, which is a plain array."""
        return self._run

    def _run(self, a: Any, b: Any, out: Any) -> None:
        (how, step), (other_how, other_step) = self._first, self._second
        failed = self._sgemm(
            *(how, other_how, self._rows, self._columns, self._depth, 1.0),
            *(address_of(a), step, address_of(b), other_step),
            *(0.0, address_of(out), self._columns),
        )
        if failed:
            raise NotDone(f"oneDNN failed to multiply matrices, status {failed}")


def _read(form: Form) -> tuple[bytes, int]:
    """Whether a matrix is transposed, and the elements between its rows, or columns.  If there is
    one alone, what is between does not matter, but the library asks for enough.
    """
    (down, across), (rows, columns) = form.steps, form.sizes
    return (b"N", max(down, columns)) if across == 1 else (b"T", max(across, rows))


def _overlap(sizes: Sequence[int], steps: Sequence[int]) -> bool:
    """Whether rows begin within others, as those of windows do that slide."""
    along = sorted((step, size) for step, size in zip(steps, sizes) if size > 1)
    return any(step < last * size for (last, size), (step, _) in pairwise(along))


class Way(NamedTuple):
    """How operands are multiplied that lie in one way."""

    primitive: Primitive | Gemm
    copied: tuple[bool, bool]  #: which are copied to plain arrays before


class ProductGeometry:
    """A product of matrices, or of stacks, either of which may be stretched, as the library sees
    it: rows of a stack that are multiplied with one matrix are one matrix.

    Args:
        op: its attributes: of ``mul`` or ``matmul``.
        x, y: shapes.

    Raises:
        NotDone: it is another product.
    """

    def __init__(self, op: Any, x: tuple[int, ...], y: tuple[int, ...]) -> None:
        if op.type == "mul":
            #: dimensions of the result that are rows, or stand for matrices of a stack
            self._lead = op.x_num_col_dims
            self._given: tuple[tuple[int, ...], ...] = (
                flat(x, self._lead),
                flat(y, op.y_num_col_dims),
            )
            self._turned = (False, False)
            self.factor: Any = 1.0
            #: of the result
            self.shape: tuple[int, ...] = (*x[: self._lead], *y[op.y_num_col_dims :])
        else:
            self._lead, self._given = max(len(x), len(y)) - 1, (x, y)
            self._turned, self.factor = (op.transpose_X, op.transpose_Y), op.alpha
            if len(y) == 2 < len(x) and not op.transpose_X:
                self._given = flat(x, self._lead), y
            elif min(len(x), len(y)) < 2 or self._lead >= MOST_DIMENSIONS:
                raise NotDone("vectors, or too many dimensions")
            else:
                most = self._lead + 1
                self._given = tuple((1,) * (most - len(each)) + each for each in (x, y))
            if op.head_number != 1:
                raise NotDone("a product of several heads")
            rows, columns = x[-1 if op.transpose_X else -2], y[-2 if op.transpose_Y else -1]
            self.shape = (*np.broadcast_shapes(x[:-2], y[:-2]), rows, columns)
        #: which operands are seen in their own shape
        self._is_own = tuple(a == b for a, b in zip(self._given, (x, y)))
        (*stack, rows, depth), (*others, _, columns) = self._seen(0), self._seen(1)
        #: of the result, as matrices
        self.sizes: tuple[int, ...] = (*np.broadcast_shapes(stack, others), rows, columns)
        self.operations: int = 2 * prod(self.sizes) * depth

    def _seen(self, place: int) -> tuple[int, ...]:
        """The sizes of an operand, as matrices that are multiplied."""
        sizes = self._given[place]
        return (*sizes[:-2], sizes[-1], sizes[-2]) if self._turned[place] else sizes

    def form(self, place: int, strides: Sequence[int] | None = None) -> Form | None:
        """How an operand lies; None where the library does not multiply what lies like that.

        Args:
            place: of the operand.
            strides: bytes between its elements; None for a plain array.
        """
        sizes = self._given[place]
        if strides is None:
            steps = row_major(sizes).steps
        else:
            steps = tuple(step // ITEM for step in strides)
            odd = any(step % ITEM or step <= 0 for step in strides)
            if odd or 1 not in steps[-2:] or not self._is_own[place] or _overlap(sizes, steps):
                return None
        if self._turned[place]:
            steps = (*steps[:-2], steps[-1], steps[-2])
        return Form(self._seen(place), steps)

    def suits_gemm(self, x: Form | None, y: Form | None) -> bool:
        """Whether operands that lie so are multiplied faster by :class:`Gemm`."""
        if x is None or y is None or len(self.sizes) > 2 or y.steps[-1] != 1:
            return False
        return self.operations >= (LARGE_PLAIN if x.steps[-1] == 1 else LARGE_TURNED)

    def aligned(self, shape: Sequence[int]) -> tuple[int, ...] | None:
        """The sizes of a value that a post-op combines with the result; None where it cannot.

        Args:
            shape: aligned with that of the result.
        """
        if len(self.sizes) == len(self.shape):
            return tuple(shape)
        sizes = prod(shape[: self._lead]), prod(shape[self._lead :])
        return sizes if all(n in (1, most) for n, most in zip(sizes, self.sizes)) else None


class Product:
    """A product and what follows, for operands that lie in one way or another.

    Args:
        onednn: the kernels of the graph.
        geometry: of the product.
        posts: what follows.
        order: of the dimensions of the result; as they are when empty.

    Raises:
        NotDone: the library has no fast kernel for plain arrays.
    """

    def __init__(
        self,
        onednn: OneDnnKernels,
        geometry: ProductGeometry,
        posts: Sequence[PostOp],
        order: Sequence[int] = (),
    ) -> None:
        self.contexts: ContextFactory = onednn.contexts
        self._known = onednn.known
        self._geometry = geometry
        library = onednn.library
        first, second = geometry.form(0), geometry.form(1)
        if (posts or order) and geometry.suits_gemm(first, second):
            raise NotDone("a large product is faster without what follows")
        #: of the result
        self.shape: tuple[int, ...] = tuple(geometry.shape[i] for i in order) or geometry.shape
        form = row_major(geometry.sizes)
        if order:
            if geometry.sizes != geometry.shape:
                raise NotDone("dimensions that the library sees as one")
            lying = row_major(self.shape).steps
            form = Form(form.sizes, tuple(lying[order.index(i)] for i in range(len(order))))
        self._made = Layout(library, form)
        self._posts: list[tuple[Any, ...]] = []
        self._others: list[tuple[int, Layout]] = []
        if geometry.factor != 1.0:
            self._posts.append(("eltwise", LINEAR, geometry.factor, KEEPS_ZERO))
        for post in posts:
            steps = post.steps
            if post.value is not None:
                sizes = geometry.aligned(post.shape)
                if sizes is None:
                    raise NotDone("a post-op of another shape")
                layout = Layout(library, row_major(sizes))
                self._others.append((POST * (len(self._posts) + 1) | OTHER, layout))
                steps = [(*step, layout) for step in steps]
            self._posts += steps
        self._is_alone = not (self._posts or order)
        #: by the strides of the operands, which are known when they come; None for plain ones
        self._ways: dict[Any, Way] = {}
        self._way((None, None))

    def _way(self, strides: tuple[Any, Any]) -> Way:
        """How operands are multiplied that have these strides."""
        while len(self._ways) >= WAYS:
            self._ways.pop(next(iter(self._ways)))
        way = None
        first, second = (self._geometry.form(place, each) for place, each in enumerate(strides))
        if first is not None and second is not None:
            with suppress(NotDone):
                if self._is_alone and self._geometry.suits_gemm(first, second):
                    way = Way(Gemm(self.contexts.library, first, second), NOT_COPIED)
                else:
                    way = Way(self._primitive(first, second), NOT_COPIED)
        if way is None:
            if strides == (None, None):
                raise NotDone("no fast kernel for plain arrays")
            known = self._ways.get((None, None)) or self._way((None, None))
            way = Way(known.primitive, (strides[0] is not None, strides[1] is not None))
        self._ways[strides] = way
        return way

    def _primitive(self, x: Form, y: Form) -> Primitive:
        """The primitive for operands that lie so, with memories of its own; to make one takes long,
        and layers repeat themselves.
        """
        key = "product", x, y, self._made.form, repr(self._posts)
        if key not in self._known:
            self._known[key] = self._new_primitive(x, y)
        primitive: Primitive = copy(self._known[key])
        return primitive

    def _new_primitive(self, x: Form, y: Form) -> Primitive:
        library = self.contexts.library
        first, second = Layout(library, x), Layout(library, y)
        descriptor = PrimitiveDescriptor(
            library, "matmul", first, second, None, self._made, posts=self._posts
        )
        arguments = [(SOURCE, first), (WEIGHTS, second), *self._others, (TARGET, self._made)]
        return Primitive(self.contexts, descriptor, arguments)

    def _way_of(self, a: Any, b: Any) -> Way:
        """How these operands are multiplied."""
        key = (
            None if a.flags.c_contiguous else a.strides,
            None if b.flags.c_contiguous else b.strides,
        )
        return self._ways.get(key) or self._way(key)

    def run(self, a: Any, b: Any, *rest: Any, out: Any = None) -> Any:
        """The product of two arrays; behind them come what post-ops read, and a context."""
        primitive, copied = self._way_of(a, b)
        if copied is not NOT_COPIED:
            a, b = (plain(each) if copies else each for each, copies in zip((a, b), copied))
        out = whole(out, self.shape)
        run = primitive.at(rest[-1])
        if len(rest) == 1:
            run(a, b, out)
        else:
            run(a, b, *map(plain, rest[:-1]), out)
        return out

    def command(self, a: Any, b: Any, *rest: Any) -> NativeCommand | None:
        """The call of the primitive, on operands, what post-ops read, a context and the result."""
        *others, context, out = rest
        way = self._way_of(a, b)
        if way.copied is not NOT_COPIED or isinstance(way.primitive, Gemm):
            return None
        if not all(each.flags.c_contiguous for each in (*others, out)):
            return None
        return way.primitive.command(context, (a, b, *others, out))


def _are_stacks(instruction: Any) -> bool:
    """Whether one matrix after the other is multiplied."""
    if instruction.op.type != "matmul":
        return False
    x, y = instruction.operands
    return y.ndim > 2 or (x.ndim > 2 and y.ndim == 2 and bool(instruction.op.transpose_X))


def _cost(onednn: OneDnnKernels, instruction: Any, layouts: Layouts) -> float:
    """Whether a product is faster here.

    With several threads it is all products of a plan or none, since the threads of two libraries
    get into each other's way; and it is where NumPy's BLAS does not use what the processor has.
    """
    (x, y), result = instruction.operands, instruction.results[0]
    if _are_stacks(instruction):
        depth = x.shape[-2 if instruction.op.transpose_X and x.ndim > 1 else -1]
        return LOW if 2 * result.size * depth >= SMALLEST_STACK else HIGH
    operations, least = operations_of(x, y, result)
    works_anyhow = threads.count() > 1 and onednn.works_anyhow
    if works_anyhow or onednn.library.is_newer_than_blas:  # to know that takes milliseconds
        return LOW if operations > SMALLEST_OF_MANY and least >= NARROW_OF_MANY else HIGH
    if threads.count() > 1:
        return HIGH
    product = instruction.op.product(x.spec, y.spec)
    least_operations = SMALLEST_TRANSPOSED if product and product.transpose_y else SMALLEST
    return LOW if operations >= least_operations and least >= NARROW else HIGH


@serves("mul", "matmul", cost=_cost)
def product(
    onednn: OneDnnKernels, instruction: Any, layouts: Layouts, epilogues: Epilogues
) -> Offer | None:
    """The product of two matrices or of two stacks of them, either of which may be transposed, what
    follows, and the order of the dimensions of that.
    """
    x, y = instruction.operands
    geometry = ProductGeometry(instruction.op, x.shape, y.shape)
    posts = post_ops(epilogues.chain, instruction.result)
    order = epilogues.order_behind(len(posts))
    while True:
        try:
            kernel = Product(onednn, geometry, posts, order)
            break
        except NotDone:
            if order:
                order = ()
            elif posts:
                posts.pop()
            else:
                raise
    prepared = Prepared(kernel.run, out=True, scratch=kernel.contexts, command=kernel.command)
    operands = (x, y, *(post.value for post in posts if post.value is not None))
    takes = (None,) * len(operands)
    fused = len(posts) + bool(order)
    return Offer(prepared, takes, (None,), operands=operands, fused=fused)
