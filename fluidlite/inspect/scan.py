"""What a program would do, without running anything of it."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from ..errors import ArgumentError
from ..ground.dtypes import DType
from ..ground.quoting import escaping
from ..ground.values import LoDTensor, SelectedRows
from ..ir.costs import MOST, as_bytes, bytes_of, counted
from ..ir.effects import OperatorPlace, deed_of, deed_text, every_place, unknown_in
from ..ir.operator import Operator
from ..ir.program import Program
from .bounds import LoopBounds

_LARGEST = 5  # tensors, and constants, that are told
_SHOWN = 20  # lines of one sort in the text


@dataclass(frozen=True)
class ScannedEffect:
    """An operator that does something outside of the scope."""

    kind: str  #: "files", "python" or "processes"
    operator: str  #: its type
    verb: str
    target: str | int | None  #: the path, or the number of the function
    refused: bool  #: whether a run of the program is refused for it
    block: int
    index: int  #: of the operator in its block
    site: str  #: where it was built; empty where that is not known

    @escaping
    def __str__(self) -> str:
        what = deed_text(self.operator, self.verb, self.target)
        allowed = "" if self.refused else ", may run"
        return f"{self.kind}: {what} ({_where(self.block, self.index, self.site)}){allowed}"


@dataclass(frozen=True)
class _MissingType:
    """A type of which there is nothing here."""

    type: str
    count: int

    @escaping
    def __str__(self) -> str:
        times = f", {self.count} times" if self.count > 1 else ""
        return f"{self.type!r}{times} ({self._why()})"

    def _why(self) -> str:
        raise NotImplementedError


@dataclass(frozen=True)
class UnknownType(_MissingType):
    """A type of operators that nobody defined."""

    block: int  #: of the first one
    index: int
    site: str

    def _why(self) -> str:
        return _where(self.block, self.index, self.site)


@dataclass(frozen=True)
class UnreadType(_MissingType):
    """A type of nodes of a model in another format that have no form here."""

    place: str  #: of the first one
    reason: str

    def _why(self) -> str:
        return f"{self.place}: {self.reason}"


@dataclass(frozen=True)
class ScannedTensor:
    """A variable, or what an operator makes of numbers that the program holds."""

    name: str
    shape: tuple[int, ...]  #: -1 where a size is unknown
    dtype: str
    bytes: int  #: with 1 for sizes that are unknown

    @escaping
    def __str__(self) -> str:
        sizes = ", ".join(map(str, self.shape[:8])) + (", ..." if len(self.shape) > 8 else "")
        return f"{self.name!r} {self.dtype}[{sizes}], {as_bytes(self.bytes)}"


@dataclass(frozen=True)
class Loop:
    """An operator that runs its block until a condition says no."""

    operator: str
    body: int  #: the block
    passes: int | None  #: at most; None where nothing in the program bounds them
    block: int
    index: int
    site: str

    @escaping
    def __str__(self) -> str:
        bound = (
            "without a known bound" if self.passes is None else f"at most {self.passes:,} passes"
        )
        where = _where(self.block, self.index, self.site)
        return f"{self.operator} over block {self.body}, {bound} ({where})"


def _where(block: int, index: int, site: str) -> str:
    return f"operator {index} of block {block}" + (f", built at {site}" if site else "")


@dataclass(frozen=True)
class Scan:
    """What a program would do.

    >>> y = fluid.layers.relu(fluid.data("x", [None, 3]))
    >>> scan = fluid.inspect.scan(fluid.default_main_program())
    >>> scan.operators, bool(scan)
    (1, False)
    """

    operators: int
    effects: tuple[ScannedEffect, ...]
    unknown: tuple[
        UnknownType | UnreadType, ...
    ]  #: types of operators that are missing, all of them
    tensors: tuple[ScannedTensor, ...]  #: the largest variables
    constants: tuple[ScannedTensor, ...]  #: the largest values that operators make of nothing
    loops: tuple[Loop, ...]
    nesting: int  #: how deep blocks lie in each other; 0 if there is one

    def __bool__(self) -> bool:
        """Whether there is an effect, or an unknown operator."""
        return bool(self.effects or self.unknown)

    def to_dict(self) -> dict[str, Any]:
        """For scripts."""
        return asdict(self)

    @escaping
    def __str__(self) -> str:
        lines = [f"operators: {self.operators:,}, blocks nested {self.nesting} deep"]
        lines += _listed("effects", self.effects)
        lines += _listed("unknown operators", self.unknown)
        lines += _listed("loops", self.loops)
        lines += _listed("largest tensors", self.tensors)
        lines += _listed("largest constants", self.constants)
        return "\n".join(lines)


def _listed(title: str, found: tuple[Any, ...]) -> list[str]:
    if not found:
        return [f"{title}: none"]
    more = [f"  and {len(found) - _SHOWN:,} more"] if len(found) > _SHOWN else []
    return [f"{title}:", *(f"  {each}" for each in found[:_SHOWN]), *more]


def scan(program: Program) -> Scan:
    """List what a program would do, without running anything: effects outside of the scope,
    unknown operators, the largest tensors, loops, nesting.

    Args:
        program: as it was read.

    Returns:
        what was found, to be printed or looked at; false where the program has no effect and all
        of its operators are there.

    Raises:
        ArgumentError: it is no program.

    >>> x = fluid.data("x", [None, 2], "float32")
    >>> y = fluid.layers.relu(x)
    >>> found = fluid.inspect.scan(fluid.default_main_program())
    >>> bool(found), found.effects, found.operators
    (False, (), 1)
    """
    if not isinstance(program, Program):
        raise ArgumentError(
            f"expected a Program, got {program!r:.60} of type {type(program).__name__}"
        )
    places = every_place(program)
    variables = (
        (v.name, tuple(v.shape), v.dtype, bytes_of(v, 1))
        for v in program.list_vars()
        if v.has_shape and v.has_dtype
    )
    return Scan(
        operators=len(places),
        effects=tuple(_effects(places)),
        unknown=tuple(_unknown(places)),
        tensors=_largest(variables),
        constants=_largest(each for place in places for each in _made_of_nothing(place.op)),
        loops=tuple(_loops(places, LoopBounds(program))),
        nesting=_nesting(program),
    )


def with_unread(found: Scan, unread: Iterable[tuple[str, str, str]]) -> Scan:
    """What a model in another format would do, of which only a part could be read.

    Args:
        found: of that part.
        unread: type, place and reason of each node that could not be.
    """
    kinds: dict[str, UnreadType] = {}
    for type_, place, reason in unread:
        known = kinds.get(type_) or UnreadType(type_, 0, place, reason)
        kinds[type_] = replace(known, count=known.count + 1)
    count = sum(each.count for each in kinds.values())
    return replace(
        found, operators=found.operators + count, unknown=(*found.unknown, *kinds.values())
    )


def scan_values(values: Mapping[str, Any]) -> Scan:
    """What there is to say of values in a file without a program.

    Args:
        values: arrays, LoDTensors or SelectedRows by name.
    """
    arrays = {name: _bare(value) for name, value in values.items()}
    found = _largest((name, a.shape, a.dtype, a.nbytes) for name, a in arrays.items())
    return Scan(0, (), (), found, (), (), 0)


def _bare(value: Any) -> Any:
    if isinstance(value, SelectedRows):
        return value.value
    return value.data if isinstance(value, LoDTensor) else value


def _effects(places: Iterable[OperatorPlace]) -> Iterator[ScannedEffect]:
    for place in places:
        deed = deed_of(place)
        if deed is not None:
            yield ScannedEffect(
                deed.effect.kind,
                place.op.type,
                deed.effect.verb,
                deed.target,
                deed.is_refused,
                *_at(place),
            )


def _unknown(places: Iterable[OperatorPlace]) -> Iterator[UnknownType]:
    for type_, where in unknown_in(places).items():
        yield UnknownType(type_, len(where), *_at(where[0]))


def _loops(places: Iterable[OperatorPlace], bounds: LoopBounds) -> Iterator[Loop]:
    for place in places:
        definition = place.op.definition
        if definition is not None and definition.repeats:
            for name in definition.block_attributes:
                body = place.op.attrs.get(name)
                if body is not None:
                    passes = bounds.passes(place.op, place.position, body)
                    yield Loop(place.op.type, int(body), passes, *_at(place))


def _at(place: OperatorPlace) -> tuple[int, int, str]:
    site = place.op.callsite
    return place.op.block.idx, place.position, "" if site is None else str(site)


def _largest(found: Iterable[tuple[str, tuple[int, ...], Any, int]]) -> tuple[ScannedTensor, ...]:
    most = heapq.nlargest(_LARGEST, found, key=lambda each: each[3])
    return tuple(ScannedTensor(name, shape, str(dtype), size) for name, shape, dtype, size in most)


def _made_of_nothing(op: Operator) -> Iterator[tuple[str, tuple[int, ...], Any, int]]:
    """What an operator without inputs makes, as its attributes say."""
    definition = op.definition
    if definition is None or definition.execute is not None or op.inputs or not op.outputs:
        return
    attrs = {a.name: op.attrs.get(a.name, a.default) for a in definition.attributes.values()}
    shape = attrs.get("shape")
    if not isinstance(shape, tuple) or any(n < 0 for n in shape):
        return
    found = attrs.get("dtype")
    dtype = found if isinstance(found, DType) else DType.FP32
    size = min(counted(shape) * dtype.dtype.itemsize, MOST)
    yield op.first_output, shape, dtype, size


def _nesting(program: Program) -> int:
    depths: list[int] = []
    for block in program.blocks:  # parents come first
        depths.append(depths[block.parent_idx] + 1 if block.parent_idx >= 0 else 0)
    return max(depths, default=0)
