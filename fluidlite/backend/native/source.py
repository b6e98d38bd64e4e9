"""The C of a kernel: its loops, what goes before and behind them, and how it takes arrays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import blake2b
from math import prod
from typing import NamedTuple

from .blocks import Pieces
from .channels import ChannelNest, channels_of
from .index_maps import NotFusible
from .lazy import lazy
from .loops import (
    BLOCKS,
    C_TYPES,
    COSTLY,
    FLAT,
    SMALLEST_CUT,
    KnownElements,
    Nest,
    ordered,
    reduction_of,
)
from .symbols import Expression

MOST_COLUMNS = 1 << 15  #: of which sums over rows are kept


class KernelSource(NamedTuple):
    """A kernel in C.

    Its functions take a tuple of arrays: the inputs, memory to work in where it needs some, and the
    outputs.
    """

    name: str  #: of its functions, from what they compute
    text: str
    inputs: int  #: how many arrays it reads
    scratch: int  #: bytes that it works in
    blocks: int  #: parts that may be worked on at once
    work: float  #: about how many elements it computes or moves
    #: the inputs that a result of their form may be written over
    over: tuple[int, ...] = ()


def kernel_source(inputs: Sequence[Expression], outputs: Sequence[Expression]) -> KernelSource:
    """The kernel that computes expressions of others.

    Raises:
        NotFusible: they do not fit into one loop over rows and columns, nor over channels.
    """
    return KernelLoops(inputs, outputs).source


def named(
    lines: Sequence[str], inputs: int, scratch: int, blocks: int, work: float
) -> KernelSource:
    """A kernel of lines of C, in which ``NAME`` stands for its name.

    Args:
        lines: with the functions ``NAME_part`` and ``NAME_end``, and what ``entries`` gives.
        inputs, scratch, blocks, work: as the kernel has them.
    """
    text = "\n".join(line for line in lines if line)
    name = f"k{blake2b(text.encode(), digest_size=10).hexdigest()}"
    return KernelSource(name, text.replace("NAME", name) + "\n", inputs, scratch, blocks, work)


def entries(count: int, written: int, blocks: int | str) -> list[str]:
    """The functions that compute a kernel's blocks: all in turn, or shared by the threads of
    OpenMP; and that which looks at the arrays alone.

    Args:
        count: how many arrays it takes.
        written: the first of them that it writes.
        blocks: how many there are, or the C that says it.
    """
    return [
        "int NAME(PyObject *args) {",
        f"  if (!are_arrays(args, {count}, {written})) return UNFIT;",
        f"  const i64 blocks = {blocks};",
        "  int bad = 0;",
        "  for (i64 block = 0; block < blocks; block++) bad |= NAME_part(args, block);",
        "  return bad | NAME_end(args);",
        "}",
        "static void NAME_take(void *given) {",
        "  struct work *work = given;",
        "  PyObject *args = work->args;",
        f"  i64 block, blocks = {blocks};",
        "  int bad = 0;",
        "  while ((block = __atomic_fetch_add(&work->next, 1, __ATOMIC_RELAXED)) < blocks)",
        "    bad |= NAME_part(args, block);",
        "  __atomic_fetch_or(&work->bad, bad, __ATOMIC_RELAXED);",
        "}",
        "int NAME_team(PyObject *args, parallel_function parallel) {",
        f"  if (!are_arrays(args, {count}, {written})) return UNFIT;",
        "  struct work work = {args, 0, 0};",
        "  parallel(NAME_take, &work, 0, 0);",
        "  return work.bad | NAME_end(args);",
        "}",
        "int NAME_check(PyObject *args) {",
        f"  return are_arrays(args, {count}, {written}) ? 0 : UNFIT;",
        "}",
    ]


class KernelLoops:
    """The loops of a kernel that computes expressions of others.

    Many are tried for each that is compiled, so the C is written when it is first read, by loops of
    their own.

    Args:
        inputs, outputs: the expressions.
        known: by form of loops, what is known of others that are tried; None where they are to be
            written at once.

    Raises:
        NotFusible: they do not fit into one loop over rows and columns, nor over channels.
    """

    def __init__(
        self,
        inputs: Sequence[Expression],
        outputs: Sequence[Expression],
        known: dict[tuple[int, ...], KnownElements] | None = None,
    ) -> None:
        self._known = known
        self._inputs, self._outputs = list(inputs), list(outputs)
        self._nodes = ordered(outputs)
        given = {node.serial for node in inputs}
        if any(n.function == "input" and n.serial not in given for n in self._nodes):
            raise NotFusible
        self._pieces = Pieces(self._nodes, outputs)
        self._size = self._pieces.size
        self._names = {node.serial: f"a{k}" for k, node in enumerate(inputs)}
        self._columns: int | None = None  # as reductions ask for; None where they do not
        self._totals: list[Expression] = []
        self._late: set[int] = set()  # what depends on totals
        self._over: tuple[int, ...] = ()
        #: the loops over rows or channels, in C how many there are, and the loops behind those
        self._nest, self._rows, self._behind = self._found()

    @lazy
    def source(self) -> KernelSource:
        """The kernel in C."""
        if self._known is not None:
            self._write_by_themselves()
        nest = self._nest
        body = list(nest.written()) if nest.stores or nest.totals else []
        behind = [line for tail in self._behind for line in _written_behind(tail)]
        if not isinstance(nest, ChannelNest):
            self._over = self._overwritable()
        return self._assembled(body, behind)

    def _write_by_themselves(self) -> None:
        """Have loops of their own in place of those that were tried."""
        self._known = None
        if isinstance(self._nest, ChannelNest):
            self._nest, self._rows, self._behind = self._by_channels()
        else:
            self._nest, *self._behind = self._with_rows(self._nest.columns)

    def _of_form(self, *form: int) -> KnownElements | None:
        """What is known of loops of a form that are tried; None where they are to be written."""
        if self._known is None:
            return None
        return self._known.setdefault(form, KnownElements({}, set()))

    def _look_at(self, node: Expression) -> None:
        """Look at a reduction."""
        how = reduction_of(node)
        if how.columns and node.arguments[0].size == self._size:
            if self._columns not in (None, how.columns):
                raise NotFusible
            self._columns = how.columns
        if how.over == "columns":
            return
        if node.function == "max" or node.serial in self._late or node.dtype.itemsize != 4:
            raise NotFusible
        if how.over == "rows" and how.columns > MOST_COLUMNS:
            raise NotFusible
        self._totals.append(node)
        self._late.add(node.serial)

    def _found(self) -> tuple[Nest, str, list[Nest]]:
        """The loops, over rows where that is possible, else over channels."""
        try:
            return self._by_rows()
        except NotFusible:
            return self._by_channels()

    def _by_channels(self) -> tuple[Nest, str, list[Nest]]:
        spaces = {channels_of(node) for node in self._nodes if node.function in ("sum", "max")}
        if len(spaces) != 1:
            raise NotFusible
        (space,) = spaces
        if prod(space) != self._size:
            raise NotFusible
        self._totals.clear()
        nest = ChannelNest(space, self._names, self._of_form(*space))
        for k, node in enumerate(self._outputs):
            by_channel = node.size * space.samples * space.positions == self._size
            if node.size != self._size and not by_channel:
                raise NotFusible
            nest.store(f"o{k}", node, by_channel)
        nest.check()
        return nest, f"{space.channels}L", []

    def _by_rows(self) -> tuple[Nest, str, list[Nest]]:
        """The loops for the longest rows that fit."""
        late = self._late
        for node in self._nodes:
            if late and any(argument.serial in late for argument in node.arguments):
                late.add(node.serial)
            if node.function in ("sum", "max"):
                self._look_at(node)
        for columns in self._candidates():
            try:
                nest, *behind = self._with_rows(columns)
            except NotFusible:
                continue
            return nest, f"n / {columns}L" if columns else f"(n + {FLAT - 1}) / {FLAT}", behind
        raise NotFusible

    def _candidates(self) -> list[int]:
        if self._columns is not None:
            return [self._columns]
        widths = {0}
        for node in self._nodes:
            if node.function == "stretch" and node.size == self._size:
                widths |= {prod(node.shape[k:]) for k in range(1, len(node.shape))}
        widths |= {n for n in self._pieces.rows() if self._size % n == 0}
        return [0, *sorted((n for n in widths if n > 1 or self._pieces.is_cut), reverse=True)]

    def _with_rows(self, columns: int) -> list[Nest]:
        """The loops over rows of so many columns, and those of what is computed when all rows are
        done.
        """
        nest = Nest(self._size, columns, self._names, self._of_form(self._size, columns))
        tails: dict[int, list[int]] = {}
        for k, node in enumerate(self._outputs):
            maps = self._pieces.maps(node)
            if node.serial in self._late:
                tails.setdefault(node.size, []).append(k)
            elif maps:
                for index_map in maps:
                    nest.store_part(f"o{k}", node, index_map)
            elif node.size == self._size:
                nest.store(f"o{k}", node, False)
            elif columns and node.size * columns == self._size:
                nest.store(f"o{k}", node, True)
            else:
                tails.setdefault(node.size, []).append(k)
        for node in self._totals:
            nest.total(node)
        nests = [nest, *self._tails(tails)]
        for each in nests:
            each.check()
        if self._pieces.is_cut:
            self._pieces.check(each for some in nests for each in some.computed())
        return nests

    def _tails(self, tails: dict[int, list[int]]) -> Iterator[Nest]:
        """The loops over what is computed when all rows are done: by sizes, the outputs."""
        leaves = {
            **self._names,
            **{node.serial: f"total{k}" for k, node in enumerate(self._totals)},
        }
        for size, places in tails.items():
            tail = Nest(size, 0, leaves, self._of_form(size))
            for k in places:
                tail.store(f"o{k}", self._outputs[k], False)
            yield tail

    def _overwritable(self) -> tuple[int, ...]:
        """The inputs that results may be written over: each element is read before all results are
        written to its place.
        """
        nest, behind = self._nest, self._behind
        if any(each.has_checks for each in (nest, *behind)):
            return ()
        read = {array for each in behind for array in each.reads}
        return tuple(
            k
            for k, node in enumerate(self._inputs)
            if node.size == self._size and f"a{k}" in nest.overwritable - read
        )

    def _assembled(self, body: list[str], behind: list[str]) -> KernelSource:
        nest = self._nest
        blocks = BLOCKS if self._size >= SMALLEST_CUT else 1  # those behind the last row are empty
        lines = [*self._head("part", body, ", i64 block")]
        offset = 0
        lines.append(f"  const i64 n = {self._count()}, rows = {self._rows};")
        lines.append(f"  const i64 blocks = {blocks};")
        lines.append(
            "  const i64 first = rows * block / blocks, last = rows * (block + 1) / blocks;"
        )
        combined, scratch_at = [], len(self._inputs)
        for k, (node, _, over) in enumerate(nest.totals):
            kind = "double" if over == "all" else C_TYPES[node.dtype]
            length = 1 if over == "all" else nest.columns
            step = -(-length * (8 if over == "all" else 4) // 64) * 64
            place = f"DATA(args, {scratch_at}) + {offset}"
            lines.append(f"  {kind} *restrict acc{k} = ({kind} *)({place} + block * {step});")
            lines.append(f"  for (i64 c = 0; c < {length}; c++) acc{k}[c] = 0;")
            combined += [
                f"  {kind} *sum{k} = ({kind} *)({place});",
                f"  for (i64 b = 1; b < blocks; b++) for (i64 c = 0; c < {length}; c++)",
                f"    sum{k}[c] += (({kind} *)({place} + b * {step}))[c];",
            ]
            own = C_TYPES[node.dtype]
            combined.append(
                f"  const {own} total{k}[1] = {{({own})sum{k}[0]}};"
                if over == "all"
                else f"  const {own} *total{k} = sum{k};"
            )
            offset += step * blocks
        lines += [*body, "  return bad;", "}", *self._head("end", [*combined, *behind], "")]
        lines += [f"  const i64 blocks = {blocks};", *combined, *behind, "  return bad;", "}"]
        written = len(self._inputs) + bool(offset)
        lines += entries(written + len(self._outputs), written, blocks)
        costs = sum(
            (8 if n.function in COSTLY else 1) * n.size for n in self._nodes if n.size >= self._size
        )
        made = named(lines, len(self._inputs), offset, blocks, float(costs))
        return made._replace(over=self._over)

    def _count(self) -> str:
        """The C of the number of elements: of an array that has all of them, if there is one."""
        for k, node in enumerate(self._inputs):
            if node.size == self._size:
                return f"elements(args, {k})"
        first = len(self._inputs) + bool(self._totals)
        for k, node in enumerate(self._outputs):
            if node.size == self._size:
                return f"elements(args, {first + k})"
        return f"{self._size}L"

    def _head(self, which: str, body: Sequence[str], more: str) -> Iterator[str]:
        """The head of a function that uses arrays, and the names of those."""
        text = "\n".join(body)
        alone = "" if self._over else "restrict "
        yield f"int NAME_{which}(PyObject *args{more}) {{"
        yield "  int bad = 0;"
        for k, node in enumerate(self._inputs):
            if f"a{k}[" in text:
                kind = C_TYPES[node.dtype]
                yield f"  const {kind} *{alone}a{k} = (const {kind} *)DATA(args, {k});"
        first = len(self._inputs) + bool(self._totals)
        for k, node in enumerate(self._outputs):
            if f"o{k}[" in text:
                kind = C_TYPES[node.dtype]
                yield f"  {kind} *{alone}o{k} = ({kind} *)DATA(args, {first + k});"


def _written_behind(tail: Nest) -> Iterator[str]:
    """The C of loops when all rows are done."""
    yield f"  {{ const i64 n = {tail.size}, first = 0, last = (n + {FLAT - 1}) / {FLAT};"
    yield from tail.written()
    yield "  }"
