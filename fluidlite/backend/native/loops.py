"""Expressions as loops in C: rows and columns, reductions of both, and what follows from these.

The elements of the largest value are numbered as rows of columns.  A row is worked on in passes
over its columns, one after each reduction along the row that others wait for.  What is reduced over
rows is added up in blocks whose number depends on the sizes alone, so that results do not depend on
the number of threads; what is made of that follows behind all rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from math import isinf, isnan
from typing import NamedTuple

import numpy as np

from .blocks import piece_of
from .index_maps import Map, NotFusible, begun, composed, cut, identity, merged, split, stretched
from .symbols import Expression

ROW, COLUMN = 1, 2  #: what a value depends on
FLAT = 2048  #: columns of a row where nothing asks for rows
WIDEST = 1 << 16  #: columns that may be kept between passes
BLOCKS, SMALLEST_CUT = 16, 1 << 15  #: of reductions over rows, and elements from which on
#: functions of which the result is kept rather than computed again
COSTLY = frozenset(["exp", "log", "log1p", "expm1", "tanh", "erf", "divide", "sqrt", "reciprocal"])
_NAMES = {
    "float32": "float", "float64": "double", "int32": "int", "int64": "i64", "bool": "u8",
    "uint8": "u8",
}  # fmt: skip
#: what C calls element types, which NumPy takes ten microseconds to name
C_TYPES = {np.dtype(name): in_c for name, in_c in _NAMES.items()}
#: functions that C has for float only
SINGLE = frozenset(["exp", "log", "log1p", "expm1", "tanh", "erf"])
OPERATORS = {
    "add": "+", "subtract": "-", "multiply": "*", "divide": "/", "greater": ">",
    "greater_equal": ">=", "less": "<", "less_equal": "<=", "equal": "==", "not_equal": "!=",
    "logical_and": "&", "logical_or": "|",
}  # fmt: skip


def local(node: Expression) -> str:
    """The C type of a variable that holds an element: that of truths is an int."""
    return "int" if node.dtype.kind == "b" else C_TYPES[node.dtype]


def number(node: Expression) -> str:
    """A number in C."""
    value = node.data
    if node.dtype.kind != "f":
        return f"{int(value)}" if node.dtype.itemsize < 8 else f"{int(value)}L"
    suffix = "f" if node.dtype.itemsize == 4 else ""
    if isnan(value):
        return f'__builtin_nan{suffix}("")'
    if isinf(value):
        return f"{'-' if value < 0 else ''}__builtin_inf{suffix}()"
    return f"{float(value).hex()}{suffix}"


def applied(node: Expression, given: Sequence[str]) -> str:
    """The C of a function of elements.

    Raises:
        NotFusible: there is none.
    """
    name, kind = node.function, node.dtype
    real = kind.kind == "f"
    suffix = "f" if real and kind.itemsize == 4 else ""
    if name in OPERATORS:
        if name == "divide" and not real:
            raise NotFusible
        if name in ("equal", "greater", "less", "add", "subtract", "multiply", "divide") or given:
            return f"{given[0]} {OPERATORS[name]} {given[1]}"
    if name in SINGLE:
        if suffix != "f":
            raise NotFusible
        return f"{name}_f({given[0]})"
    if name == "cast":
        return f"{given[0]} != 0" if kind.kind == "b" else f"({C_TYPES[kind]}){given[0]}"
    if name == "where":
        return f"{given[0]} ? {given[1]} : {given[2]}"
    x = given[0]
    if name in ("maximum", "minimum"):
        sign, y = ">" if name == "maximum" else "<", given[1]
        return (
            f"({x} {sign} {y} || {x} != {x}) ? {x} : {y}" if real else f"{x} {sign} {y} ? {x} : {y}"
        )
    if name in ("sqrt", "floor", "ceil", "rint"):
        if not real:
            raise NotFusible
        return f"__builtin_{name}{suffix}({x})"
    if name == "absolute":
        return f"__builtin_fabs{suffix}({x})" if real else f"{x} < 0 ? -{x} : {x}"
    simple = {
        "negative": f"-{x}",
        "square": f"{x} * {x}",
        "logical_not": f"!{x}",
        "isnan": f"{x} != {x}",
        "isfinite": f"({x} - {x}) == 0",
    }
    if name == "reciprocal" and real:
        return f"1 / {x}"
    if name == "sign" and real:
        return f"{x} != {x} ? {x} : ({local(node)})(({x} > 0) - ({x} < 0))"
    if name not in simple:
        raise NotFusible
    return simple[name]


@dataclass
class Reduction:
    """How dimensions of a value are reduced."""

    over: str  #: "columns" of each row, "rows", or "all"
    columns: int  #: of the value; 0 where that does not matter


def reduction_of(node: Expression) -> Reduction:
    """How a value is reduced.

    Raises:
        NotFusible: over dimensions in the middle.
    """
    shape = node.arguments[0].shape
    dims = [(n, i in node.data) for i, n in enumerate(shape) if n != 1]
    flags = [is_reduced for _, is_reduced in dims]
    if all(flags):
        return Reduction("all", 0)
    first = flags[0]
    turn = flags.index(not first)
    if any(flag == first for flag in flags[turn:]):
        raise NotFusible
    columns = 1
    for n, _ in dims[turn:]:
        columns *= n
    return Reduction("rows" if first else "columns", columns)


def ordered(outputs: Iterable[Expression]) -> list[Expression]:
    """All expressions below some, arguments first."""
    seen: dict[int, Expression] = {}
    stack = [(node, False) for node in outputs]
    done: list[Expression] = []
    while stack:
        node, ready = stack.pop()
        if ready:
            done.append(node)
        elif node.serial not in seen:
            seen[node.serial] = node
            stack.append((node, True))
            stack += [(a, False) for a in node.arguments if a.serial not in seen]
    return list({node.serial: node for node in done}.values())


@dataclass(eq=False)
class Element:
    """A variable: an expression seen from the loops by a map."""

    node: Expression
    level: int
    phase: int  #: the pass over the columns in which it is known; of a value of a row, before which
    code: str = ""  #: what it is; for what is loaded too
    given: tuple[Element, ...] = ()
    costly: bool = False
    is_reduction: bool = False
    name: str = ""


class Store(NamedTuple):
    """What is written to an array."""

    array: str  #: its C name
    found: Element
    by_row: bool  #: whether there is one for each row
    position: str = "r"  #: the C of its place


class KnownElements(NamedTuple):
    """What is known of the elements of loops of one form: those that there are, and keys of those
    for which there is no variable.
    """

    found: dict[tuple[int, Map], Element]
    missing: set[tuple[int, Map]]


class Nest:
    """Loops over rows and columns.

    Args:
        size: elements of the space.
        columns: of a row; 0 where there are no rows.
        leaves: C names of arrays by the serial number of the expression that they hold.
        known: of loops of this form over the same expressions, which are tried; these are only
            looked at, and not written.  None where they are written.
    """

    def __init__(
        self, size: int, columns: int, leaves: dict[int, str], known: KnownElements | None = None
    ) -> None:
        self.size = size
        self.columns = columns
        self._leaves = leaves
        self._is_tried = known is not None
        self._known = KnownElements({}, set()) if known is None else known
        self._order: list[Element] = []
        self.stores: list[Store] = []
        #: what is added up over rows: the expression, its element, and "rows" or "all"
        self.totals: list[tuple[Expression, Element, str]] = []
        #: by C name of an array, where it is read, and as what
        self.reads: dict[str, list[tuple[str, Element]]] = {}
        #: names of arrays that results may be written over, once it is written itself
        self.overwritable: set[str] = set()

    @property
    def elements(self) -> Sequence[Element]:
        """The variables; arguments first, where they are written."""
        if not self._is_tried:
            return self._order
        seen: dict[Element, None] = {}
        stack = [*(store.found for store in self.stores), *(found for _, found, _ in self.totals)]
        while stack:
            each = stack.pop()
            if each not in seen:
                seen[each] = None
                stack += each.given
        return list(seen)

    @property
    def has_checks(self) -> bool:
        """Whether it looks at elements, and may decline."""
        return any(each.node.function == "check" for each in self.elements)

    @property
    def by_row(self) -> Map:
        """The map to a value that has one element for each row."""
        return merged([(self.size // self.columns, 1), (self.columns, 0)])

    def element(self, node: Expression, seen: Map) -> Element:
        """The variable of an expression.

        Raises:
            NotFusible: it does not lie in rows and columns.
        """
        key = node.serial, seen
        element = self._known.found.get(key)
        if element is None:
            if key in self._known.missing:
                raise NotFusible
            try:
                element = self._made(node, seen)
            except NotFusible:
                self._known.missing.add(key)
                raise
            self._known.found[key] = element
            if not element.name:  # a view is the same variable
                element.name = f"x{len(self._order)}"
                self._order.append(element)
        return element

    def _level(self, seen: Map) -> tuple[int, str]:
        """What a value depends on that is seen by a map, and the C of its position."""
        begin, seen = begun(seen)
        first = [f"{begin}L"] if begin else []
        if not self.columns:
            if not seen or all(step == 0 for _, step in seen):
                return 0, f"{begin}"
            if seen != identity(self.size):
                raise NotFusible
            return ROW | COLUMN, " + ".join(["at", "c", *first])
        rows, step = split(seen, self.columns)
        terms, below = first, 1
        for extent, own in reversed(rows):
            if own:
                number = "r" if below == 1 else f"(r / {below})"
                outermost = below * extent * self.columns >= self.size
                number = number if outermost else f"{number} % {extent}"
                terms.append(f"({number}) * {own}L" if own != 1 else f"({number})")
            below *= extent
        level = (ROW if len(terms) > bool(begin) else 0) | (COLUMN if step else 0)
        terms += ["c"] if step else []
        return level, " + ".join(terms) or "0"

    def _made(self, node: Expression, seen: Map) -> Element:
        name = node.function
        if node.serial in self._leaves:
            level, position = self._level(seen)
            array = self._leaves[node.serial]
            code = f"{array}[{position}]" + (" != 0" if node.dtype.kind == "b" else "")
            found = Element(node, level, 0, code)
            self.reads.setdefault(array, []).append((position, found))
            return found
        if name == "number":
            return Element(node, 0, 0, number(node))
        if name == "index":
            if self.columns != node.size:
                raise NotFusible
            rows, step = split(seen, self.columns)
            if step != 1 or any(own for _, own in rows):
                raise NotFusible
            return Element(node, COLUMN, 0, "(i64)c")
        if name == "view":
            return self.element(node.arguments[0], seen)
        if name == "stretch":
            (inner,) = node.arguments
            return self.element(inner, composed(seen, stretched(inner.shape, node.shape)))
        if name == "part":
            (inner,) = node.arguments
            return self.element(inner, composed(seen, cut(node.data, node.shape, inner.shape)))
        if name == "concat":
            return self.element(*piece_of(node, seen))
        if name in ("sum", "max"):
            return self._along_row(node, seen)
        arguments = tuple(self.element(a, seen) for a in node.arguments)
        level = 0
        for each in arguments:
            level |= each.level
        phase = max((each.phase for each in arguments), default=0)
        costly = name in COSTLY or any(each.costly for each in arguments if each.level & COLUMN)
        code = (
            applied(node, [f"{{{k}}}" for k in range(len(arguments))]) if name != "check" else "{0}"
        )
        return Element(node, level, phase, code, arguments, costly or len(arguments) > 2)

    def _along_row(self, node: Expression, seen: Map) -> Element:
        (inner,) = node.arguments
        how = reduction_of(node)
        fits = self.columns and how.over == "columns" and how.columns == self.columns
        if not fits or inner.size != self.size or seen != self.by_row:
            raise NotFusible
        given = self.element(inner, identity(self.size))
        return Element(node, ROW, given.phase + 1, "", (given,), is_reduction=True)

    def store(self, array: str, node: Expression, by_row: bool) -> None:
        """Write an expression to an array.

        Raises:
            NotFusible: it has no place in the loops.
        """
        if not by_row:
            self.store_part(array, node, identity(self.size))
            return
        found = self.element(node, self.by_row)
        if found.level & COLUMN:
            raise NotFusible
        self.stores.append(Store(array, found, True))

    def store_part(self, array: str, node: Expression, seen: Map) -> None:
        """Write the elements of an expression that a map names to their places in an array.

        Raises:
            NotFusible: they have no place in the loops.
        """
        _, position = self._level(seen)
        self.stores.append(Store(array, self.element(node, seen), False, position))

    def computed(self) -> Iterator[tuple[Expression, int]]:
        """The expressions that are computed, and of how many elements."""
        for each in self.elements:
            if each.given:
                row = self.size // self.columns if self.columns else 1
                yield each.node, self.size if each.level & COLUMN else row

    def total(self, node: Expression) -> None:
        """Add an expression up over rows, or over everything, to an array of its number.

        Raises:
            NotFusible: it has no place in the loops.
        """
        (inner,) = node.arguments
        how = reduction_of(node)
        if how.over == "rows":
            if how.columns != self.columns or inner.size != self.size:
                raise NotFusible
            element = self.element(inner, identity(self.size))
        elif inner.size == self.size:
            element = self.element(inner, identity(self.size))
        elif self.columns and inner.size == self.size // self.columns:
            element = self.element(inner, self.by_row)
            if element.level & COLUMN:
                raise NotFusible
        else:
            raise NotFusible
        self.totals.append((node, element, how.over))

    def check(self) -> None:
        """Look whether the loops can be written.

        Raises:
            NotFusible: an element is looked at in each column, or rows are too wide to be kept.
        """
        if any(each.node.function == "check" and each.level & COLUMN for each in self.elements):
            raise NotFusible
        if self.columns > WIDEST:
            RowWriter(self, self.elements)

    # -- writing -----------------------------------------------------------------------------------

    def written(self) -> Iterator[str]:
        """The C of one row, and before it that of what depends on none."""
        writer = RowWriter(self, self._order)
        self.overwritable = writer.overwritable()
        return writer.written()


@dataclass
class RowWriter:
    """Writes the passes over a row."""

    nest: Nest
    order: Sequence[Element]
    _kept: dict[Element, str] = field(default_factory=dict)  # what may be loaded again
    _held: dict[Element, int] = field(default_factory=dict)  # elements to keep

    def __post_init__(self) -> None:
        stored = {each.found: each for each in self.nest.stores if not each.by_row}
        self._phases = max((e.phase for e in self.order), default=0) + 1
        #: what each pass is for
        self._sinks: list[list[Element]] = [[] for _ in range(self._phases)]
        for element in stored:
            self._sinks[element.phase].append(element)
        for _, element, over in self.nest.totals:
            if element.level & COLUMN or over == "rows" or not self.nest.columns:
                self._sinks[element.phase].append(element)
        for element in self.order:
            if element.is_reduction:
                self._sinks[element.phase - 1].append(element.given[0])
        for phase in range(self._phases):
            for element in self._needed(phase):
                if element.phase < phase and element not in self._kept:
                    self._keep(element, stored)

    def overwritable(self) -> set[str]:
        """The arrays that are read at one place, to which all results are written, and in no pass
        behind the first that writes.
        """
        stores = [store for store in self.nest.stores if not store.by_row]
        first = min((store.found.phase for store in stores), default=0)
        later = {each for p in range(first + 1, self._phases) for each in self._needed(p)}
        places = [*{store.position for store in stores}]
        return {
            array
            for array, reads in self.nest.reads.items()
            if [place for place, _ in reads] == places
            and later.isdisjoint(element for _, element in reads)
        }

    def _needed(self, phase: int) -> list[Element]:
        """The elements of columns that a pass uses, arguments first."""
        needed: dict[Element, None] = {}
        for sink in self._sinks[phase]:
            self._visit(sink, phase, needed)
        return list(needed)

    def _visit(self, each: Element, phase: int, needed: dict[Element, None]) -> None:
        # no function within _needed: that would be a cycle, which only the collector frees
        if each in needed or not each.level & COLUMN or each.is_reduction:
            return
        if each not in self._kept or each.phase == phase:
            for other in each.given:
                self._visit(other, phase, needed)
        needed[each] = None

    def _keep(self, each: Element, stored: dict[Element, Store]) -> None:
        """Let a later pass load what is dear."""
        if each in stored:
            self._kept[each] = f"{stored[each].array}[{stored[each].position}]"
        elif each.costly and each in self._needed(each.phase):
            if self.nest.columns > WIDEST:
                raise NotFusible
            self._held[each] = each.phase
            self._kept[each] = f"kept_{each.name}[c]"

    def _define(self, each: Element, phase: int) -> str:
        kept = self._kept.get(each)
        if kept is not None and each.phase < phase:
            truth = " != 0" if each.node.dtype.kind == "b" else ""
            return f"const {local(each.node)} {each.name} = {kept}{truth};"
        code = each.code.format(*(other.name for other in each.given))
        return f"const {local(each.node)} {each.name} = {code};"

    def written(self) -> Iterator[str]:
        outside = [e for e in self.order if not e.level and not e.is_reduction]
        for element in outside:
            yield "  " + self._define(element, 0)
            yield from self._checked(element, "  ")
        nest = self.nest
        yield "  for (i64 r = first; r < last; r++) {"
        if not nest.columns:
            yield f"    const i64 at = r * {FLAT}L, m = n - at < {FLAT}L ? n - at : {FLAT}L;"
        for element in self._held:
            kind = C_TYPES[element.node.dtype]
            yield f"    {kind} kept_{element.name}[{nest.columns}];"
        for phase in range(self._phases):
            yield from self._row_values(phase)
            yield from self._pass(phase)
        yield from self._behind_columns()
        yield "  }"

    def _row_values(self, phase: int) -> Iterator[str]:
        """What is the same for all columns of a row, and known before a pass."""
        for each in self.order:
            if each.level == ROW and each.phase == phase and not each.is_reduction:
                yield "    " + self._define(each, phase)
                yield from self._checked(each, "    ")

    @staticmethod
    def _checked(each: Element, indent: str) -> Iterator[str]:
        if each.node.function == "check":
            name = each.name
            yield f"{indent}bad |= {name} < 0 || {name} >= {each.node.data};"

    def _pass(self, phase: int) -> Iterator[str]:
        sinks = set(self._sinks[phase])
        if not sinks:
            return
        nest = self.nest
        reductions = [e for e in self.order if e.is_reduction and e.phase == phase + 1]
        sums = [e for e in reductions if e.node.function == "sum"]
        largest = [e for e in reductions if e.node.function == "max"]
        totals = [
            (k, e)
            for k, (_, e, over) in enumerate(nest.totals)
            if over == "all" and e in sinks and e.phase == phase and self._is_summed_in_columns(e)
        ]
        clauses = ""
        for element in sums:
            yield f"    {local(element.node)} {element.name} = 0;"
        for element in largest:
            yield f"    {local(element.node)} {element.name} = -__builtin_inff();"
            yield f"    int nan_{element.name} = 0, plus_{element.name} = 0;"
        for k, element in totals:
            yield f"    {local(element.node)} t{k} = 0;"
        added = [e.name for e in sums] + [f"t{k}" for k, _ in totals]
        clauses += f" reduction(+:{', '.join(added)})" if added else ""
        if largest:
            clauses += f" reduction(max:{', '.join(e.name for e in largest)})"
            flags = [f"{flag}_{e.name}" for e in largest for flag in ("nan", "plus")]
            clauses += f" reduction(|:{', '.join(flags)})"
        yield f"#pragma omp simd{clauses}"
        yield f"    for (i64 c = 0; c < {nest.columns or 'm'}; c++) {{"
        yield from (f"      {line}" for line in self._column(phase, sums, largest, totals))
        yield "    }"
        for element in largest:
            name = element.name
            yield f"    if ({name} == 0) {name} = plus_{name} ? 0.0f : -0.0f;"
            yield f'    if (nan_{name}) {name} = __builtin_nanf("");'
        for k, _ in totals:
            yield f"    acc{k}[0] += t{k};"

    def _column(
        self,
        phase: int,
        sums: Sequence[Element],
        largest: Sequence[Element],
        totals: Sequence[tuple[int, Element]],
    ) -> Iterator[str]:
        nest = self.nest
        for element in self._needed(phase):
            yield self._define(element, phase)
            if self._held.get(element) == phase:
                yield f"{self._kept[element]} = {element.name};"
        for store in nest.stores:
            if not store.by_row and store.found.phase == phase:
                yield f"{store.array}[{store.position}] = {store.found.name};"
        for element in sums:
            yield f"{element.name} += {element.given[0].name};"
        for element in largest:
            x, y = element.name, element.given[0].name
            yield f"{x} = {y} > {x} ? {y} : {x}; nan_{x} |= {y} != {y};"
            suffix = "f" if element.node.dtype.itemsize == 4 else ""
            yield f"plus_{x} |= __builtin_copysign{suffix}(1, {y}) > 0;"
        for k, element in totals:
            yield f"t{k} += {element.name};"
        for k, (_, element, over) in enumerate(nest.totals):
            if over == "rows" and element.phase == phase:
                yield f"acc{k}[c] += {element.name};"

    def _is_summed_in_columns(self, each: Element) -> bool:
        """Whether what is added up over everything differs from column to column."""
        return not self.nest.columns or bool(each.level & COLUMN)

    def _behind_columns(self) -> Iterator[str]:
        for store in self.nest.stores:
            if store.by_row:
                yield f"    {store.array}[{store.position}] = {store.found.name};"
        for k, (node, each, over) in enumerate(self.nest.totals):
            if over == "all" and not self._is_summed_in_columns(each):
                times = 1 if node.arguments[0].size != self.nest.size else self.nest.columns
                yield f"    acc{k}[0] += {times} * (double){each.name};"
