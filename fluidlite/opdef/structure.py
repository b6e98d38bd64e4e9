"""What passes over plans ask of an operator, in place of its type."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

from .spec import Spec


class MatrixProduct(NamedTuple):
    """The product of two matrices, either of which may be transposed."""

    transpose_x: bool = False
    transpose_y: bool = False


class Epilogue(NamedTuple):
    """What an operator does with each element of the result of a kernel before it."""

    #: ``"add"``, ``"subtract"`` or ``"multiply"`` of another value; ``"scale"``, ``"relu"`` or
    #: another function of the element alone, named after its operator; or ``"transpose"``
    function: str
    numbers: tuple[float, ...] = ()  #: that the function depends on, as attributes tell
    #: of the other value, aligned with the result: as many dimensions, of 1 where it is stretched
    shape: tuple[int, ...] = ()
    order: tuple[int, ...] = ()  #: of the dimensions, where they are moved

    @property
    def commutes(self) -> bool:
        """Whether it is the same with the two values exchanged."""
        return self.function in ("add", "multiply")


class Structure:
    """Properties of operators that passes rely on; a definition says what differs from this.

    ``is_view``
        Out has the elements of the only input in their order or another one, and nothing is
        computed.
    ``is_update``
        a step of an optimizer: its outputs replace parameters and their moments.
    ``updates_by_element``
        such a step, where that of an element does not depend on the others.
    ``adds_all``
        Out is the sum of the list of inputs.
    ``surrounds``
        Out is the only input with ``pad_value`` around it, ``paddings`` elements on each side.
    ``condition_slot``
        of a control-flow operator whose block a graph may hold as a body: where its condition is.
    ``repeats``
        of a control-flow operator: its block runs until a condition says no.
    ``is_monotone``
        element by element, and never falling: it gives the same before and behind a maximum.
    ``by_element``
        each element of the only output depends on the same element of the first input, the only one
        that it is differentiated by.
    ``takes_composition(self, <specs of all inputs>)``, ``composition(self, f, <input slots>)``
        of an operator with a kernel and one output: whether, for values of these shapes, compiled
        plans and eager tensors that gradients flow to take a composition in its place, since the
        rule reads what its operators leave; and that composition.
    ``shapes_alone``
        the inputs of which ``grad_numpy`` reads nothing but the shape.
    ``hands_on``
        nothing is computed: a value that is not finite was fed, written by the user, or found where
        it was made.
    ``communicates``
        other processes take part: it runs once in a run, whether its results are read or not, and
        such operators run in the order of the program, which is the same in each process.
    ``calls_out``
        it calls functions of the user's, or waits for what they make: they may run programs, or
        wait for threads that do.
    ``statistics``
        inputs that hold what was seen so far: of each, the output called ``<input>Out`` takes its
        place, and it stays float32 where the first input is float16.
    ``counted_by``
        of results whose number of rows depends on values: the input of ascending numbers, the last
        of which is that of the last row.
    ``filtered``
        of a convolution: the slot for each of whose elements it multiplies one of the filters.
    """

    is_view: ClassVar[bool] = False
    is_update: ClassVar[bool] = False
    updates_by_element: ClassVar[bool] = False
    adds_all: ClassVar[bool] = False
    surrounds: ClassVar[bool] = False
    repeats: ClassVar[bool] = False
    is_monotone: ClassVar[bool] = False
    by_element: ClassVar[bool] = False
    hands_on: ClassVar[bool] = False
    communicates: ClassVar[bool] = False
    calls_out: ClassVar[bool] = False
    condition_slot: ClassVar[str] = ""
    statistics: ClassVar[tuple[str, ...]] = ()
    filtered: ClassVar[str] = ""
    counted_by: ClassVar[str | None] = None
    composition: ClassVar[Any] = None
    shapes_alone: ClassVar[tuple[str, ...]] = ()
    #: whether the rule takes cotangents with their sequences
    ragged_cotangents: ClassVar[bool] = False

    def unset(self, slot: str) -> Any:
        """What an input is that nothing has given a value; ``"@EMPTY@"``: the operator does without
        it; None: an error.
        """
        return None

    def absent_outputs(self) -> tuple[str, ...]:
        """The outputs that get no value with these attributes; readers do without one."""
        return ()

    def takes_composition(self, *specs: Any) -> bool:
        """Whether ``composition`` is better than the kernel, for values of these shapes.

        Args:
            specs: what has the shapes and element types of all inputs, in their order.
        """
        return self.composition is not None

    def temporaries(self, *specs: Any) -> int:
        """Bytes of the arrays that ``run`` makes beside its results, at the moment when they are
        most; 0 where that is little.

        Args:
            specs: of the values that ``run`` takes, in its order.
        """
        return 0

    def copies(self) -> bool:
        """Whether Out is the first input, unchanged."""
        return False

    def reshapes(self) -> bool:
        """Whether Out has all elements of the first input, in their order, in another shape."""
        return False

    def product(self, x: Spec, y: Spec) -> MatrixProduct | None:
        """How the operator multiplies its first two inputs, where they are matrices and it does
        nothing else.
        """
        return None

    def multiplies(self) -> bool:
        """Whether the operator is a product of matrices, or of stacks of them."""
        return False

    def sums_rows(self, x: Spec) -> bool:
        """Whether Out is the sum of the rows of a matrix."""
        return False

    def selects_maximum(self) -> bool:
        """Whether each element of Out is the largest one of some of the first input."""
        return False

    def slices(self, x: Spec) -> list[list[slice]] | None:
        """Where the results are parts of the only input: of each, which positions it takes along
        each dimension.
        """
        return None

    def joins(self, x: Spec) -> int | None:
        """The dimension along which Out has all X, one after the other, of which ``x`` is the
        first.
        """
        return None

    def part(self, inputs: Sequence[Spec], cuts: Sequence[slice]) -> int | str | None:
        """Where a part of Out comes from: ``"zero"``, the position of the input that it is, in
        another shape at most, or None where it is nothing so simple.
        """
        return None

    def epilogue(self, x: Spec, *others: Spec) -> Epilogue | None:
        """What a kernel before this operator may do at once; None where it is nothing so simple."""
        return None

    def fills(self, *operands: Any) -> complex | None:
        """The number that Out is everywhere; None where it is more than one, or not known.

        Args:
            operands: what ``run`` takes.
        """
        return None

    def takes_rows(self, *operands: Any) -> tuple[Any, Any] | None:
        """Of the operands, a matrix and numbers of its rows, [n] or [n, 1], where Out is these rows
        and nothing else; None where it is not.

        Args:
            operands: what ``run`` takes, with their shapes.
        """
        return None

    def adds_rows(self, *operands: Any) -> tuple[Any, Any, Any] | None:
        """Of the operands, what rows are added to (None for zeros), the numbers of the rows, [n] or
        [n, 1], and what is added to them, where Out is a matrix that is nothing else.

        Args:
            operands: as of :meth:`takes_rows`.
        """
        return None
