"""Statements of Python while they are gathered: values with the expressions that make them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..ground.dtypes import as_dtype
from ..onnx.tracing import Cell, TracedArray
from ..opdef.spec import Spec
from .literals import ATOM, Part, Reference, call, operand
from .numpy_text import by_method, form_of_function


@dataclass(eq=False)
class Statement:
    """``targets = expression``."""

    targets: list[Cell]
    parts: list[Part]  #: of the expression: text, and the values that it reads
    level: int = ATOM  #: how tightly the expression binds
    origin: str = ""  #: the user's operator and line

    def reads(self) -> Iterator[Cell]:
        """The cells that the expression reads."""
        return (part.cell for part in self.parts if isinstance(part, Reference))


@dataclass(eq=False)
class Compound:
    """A statement with blocks below it: a loop or a branch."""

    #: pairs of a header (``while ...:``) and the statements below it
    clauses: list[tuple[list[Part], list[Any]]]
    origin: str = ""
    #: the values that the blocks bind: each has one name everywhere
    bound: list[Cell] = field(default_factory=list)


@dataclass(eq=False)
class Update:
    """``names = expressions``: what a pass hands on to the next, or a branch to what follows."""

    targets: list[Cell]
    sources: list[list[Part]]
    origin: str = ""
    appends: bool = False  #: the targets are lists, which get one element more
    unpacks: bool = False  #: the only source is the whole line


def cells_in(item: Any) -> Iterator[Cell]:
    """The cells that a statement reads, those of the blocks below it among them."""
    if isinstance(item, Statement):
        yield from item.reads()
    elif isinstance(item, Update):
        yield from (p.cell for parts in item.sources for p in parts if isinstance(p, Reference))
    else:
        for header, statements in item.clauses:
            yield from (part.cell for part in header if isinstance(part, Reference))
            for each in statements:
                yield from cells_in(each)


class SourceGraph:
    """Statements in order, and what they need beside them.

    It stands in place of an :class:`~fluidlite.onnx.graph.OnnxGraph`: kernels that run on
    traced arrays append to it what they do.
    """

    def __init__(self) -> None:
        self.statements: list[Any] = []  #: of the block that is being written
        self.origin = ""
        self.checks: list[str] = []
        self.helpers: dict[str, Any] = {}  #: functions that the file has to define, by name
        self.tables: dict[Cell, Any] = {}  #: parameters and large constants
        self.sparse: set[Cell] = set()  #: gradients of which only some rows are stored here
        self.draws = False  #: whether anything draws random numbers
        self.inputs: list[Cell] = []
        self._blocks: list[Any] = []  #: all lists of statements, so that none takes another's id
        self._known: dict[Any, TracedArray] = {}

    @property
    def innermost(self) -> SourceGraph:
        """The graph that takes the next statements."""
        return self

    @contextmanager
    def below(self) -> Iterator[list[Any]]:
        """Statements go to a list of their own inside a ``with`` block."""
        around, self.statements = self.statements, []
        self._blocks.append(self.statements)
        try:
            yield self.statements
        finally:
            self.statements = around

    # -- values ------------------------------------------------------------------------------------

    def value(self, spec: Spec | None, name: str = "") -> TracedArray:
        """A value that no statement makes: an input, or what a loop carries."""
        made = TracedArray(self, spec, Cell(name))  # type: ignore[arg-type]
        made.cell.spec = spec
        return made

    def constant(self, array: Any) -> TracedArray:
        """An array as a value."""
        array = np.asarray(array)
        made = self.value(Spec(array.shape, as_dtype(array.dtype)))
        made.cell.constant = array
        return made

    def table(self, name: str, array: Any, fixed: bool) -> TracedArray:
        """A parameter: the file of arrays has it.

        Args:
            name: of the variable.
            array: its value.
            fixed: whether nothing changes it.
        """
        parameter = self.value(Spec(array.shape, as_dtype(array.dtype)), name)
        self.tables[parameter.cell] = array
        if fixed and (array.dtype.kind in "iub" or array.size == 1):
            parameter.cell.constant = array  # what such a parameter says is known
        return parameter

    def expression(self, parts: Iterable[Part], level: int = ATOM, outputs: int = 1) -> Any:
        """Append a statement; gives its value, or a tuple of them."""
        parts = list(parts)
        key = tuple(p if isinstance(p, str) else (p.cell, p.level) for p in parts)
        known = self._known.get((id(self.statements), key))
        if known is not None and outputs == 1:  # the same has been computed
            return TracedArray(self, known.spec, known.cell)  # type: ignore[arg-type]
        results = [TracedArray(self, None) for _ in range(outputs)]  # type: ignore[arg-type]
        cells = [value.cell for value in results]
        self.statements.append(Statement(cells, parts, level, self.origin))
        if outputs == 1:
            self._known[id(self.statements), key] = results[0]
        return results[0] if outputs == 1 else tuple(results)

    def forget(self, count: int) -> None:
        """Leave out statements of this block behind the first ``count``."""
        gone = {cell for item in self.statements[count:] for cell in getattr(item, "targets", ())}
        self._known = {k: v for k, v in self._known.items() if v.cell not in gone}
        del self.statements[count:]

    def helper(
        self, function: Callable[..., Any], *args: Any, outputs: int = 1, **named: Any
    ) -> Any:
        """Append a call of a function that the file then defines."""
        self.helpers[function.__name__] = function
        return self.expression(call(function.__name__, args, named), outputs=outputs)

    def drawn(self, function: str, args: Any, named: Any, like: Any) -> TracedArray:
        """Append a call that draws random numbers.

        Args:
            function: what is called, as text.
            args, named: the arguments.
            like: an array such as it gives.
        """
        made: TracedArray = self.expression(call(function, args, named))
        made.spec = Spec(like.shape, as_dtype(like.dtype))
        return made

    # -- what traced arrays ask for ----------------------------------------------------------------

    def form(self, function: Any) -> Callable[..., Any]:
        """What writes a function of NumPy down."""
        return form_of_function(function)

    def by_method(self, ufunc: Any, method: str, ins: Any, named: Any) -> Any:
        """Write down what a method of a ufunc computes."""
        return by_method(self, ufunc, method, ins, named)

    def like(self, value: Any, dtype: Any) -> Any:
        """A value in another element type; itself where it has that."""
        dtype = np.dtype(dtype)
        if not isinstance(value, TracedArray) or value.constant is not None:
            return self.constant(np.asarray(value).astype(dtype))
        if value.spec is not None and value.dtype == dtype:
            return value
        made = self.expression([*operand(value, ATOM), *call(".astype", (dtype,), {})])
        made.spec = None if value.spec is None else value.spec.with_dtype(dtype)
        return made
