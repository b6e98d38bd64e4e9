"""Names of sizes that are not known before a program runs, and how they flow through operators.

No operator has a rule for names: its shape rule is asked again, with numbers in place of names.
What comes out as the number of a name has that size; so a name is carried on only where the rule
proves it, and dropped elsewhere.  Where two names lead to numbers that the rule refuses, and equal
numbers do not, the sizes clash.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import permutations
from typing import Any

from ..errors import ArgumentError, DuplicateVariableError, FluidError, ShapeError
from ..ground.callsite import CallSite
from ..opdef.definition import ValueShaped
from ..opdef.spec import Shape, SizeNames, Spec
from .operator import EMPTY, Operator, located
from .variable import Variable

#: gives specs by output slot, of specs by input slot
Infer = Callable[[Mapping[str, Any]], Mapping[str, Any]]
Sizes = Mapping[str, int]


class SizeName(str):
    """The name of a size, and where it was given.

    Args:
        name: an identifier.
        variable: of whose shape.
        site: the user's line; None in texts of programs.
    """

    def __new__(cls, name: str, variable: str = "", site: CallSite | None = None) -> SizeName:
        made = super().__new__(cls, name)
        made.variable, made.site = variable, site
        return made

    variable: str
    site: CallSite | None

    @property
    def told(self) -> str:
        """The name, and who gave it."""
        return f"{str(self)!r} of variable {self.variable!r}{declared_at(self)}"


def declared_at(name: str) -> str:
    """Where a name of a size was given, to put behind it; nothing where nobody knows."""
    site = name.site if isinstance(name, SizeName) else None
    return "" if site is None else f" (declared at {site})"


def is_size_name(name: str) -> bool:
    """Whether a text may stand for a size: an identifier of ASCII letters."""
    return name.isascii() and name.isidentifier()


def size_name(name: str, variable: str, site: CallSite | None) -> SizeName:
    """What stands in a shape for a size with a name.

    Args:
        name, variable, site: as of :class:`SizeName`.

    Raises:
        ArgumentError: it is no identifier of ASCII letters.
    """
    if not is_size_name(name):
        raise ArgumentError(
            f"the shape of variable {variable!r} holds {name!r}; expected integers, -1 or None "
            f"where unknown, or a name of letters, digits and _ for a size that is unknown"
        )
    return SizeName(name, variable, site)


def sizes_and_names(shape: Sequence[int | str]) -> tuple[Shape, SizeNames]:
    """A shape of integers, -1 in place of names, and the names as ``Variable.size_names`` has
    them.

    Args:
        shape: sizes and names of sizes.
    """
    sizes = tuple(-1 if isinstance(n, str) else n for n in shape)
    return sizes, _names_if_any([n if isinstance(n, str) else None for n in shape])


def give_names(variable: Variable, names: SizeNames) -> None:
    """Name the sizes of a variable that was declared.

    Args:
        variable: one without names, or with these.
        names: one for each size, None for those that have none; nothing where none has one.

    Raises:
        DuplicateVariableError: the variable has other names.
    """
    for old, new in zip(variable.size_names, names):
        if old is not None and new is not None and old != new:
            raise DuplicateVariableError(
                f"variable {variable.name!r} is there already, with the size {_told(old)}, not "
                f"{_told(new)}; use another name, or declare it alike"
            )
    if names and not variable.size_names:
        variable.size_names = names


def names_of_results(
    op: Operator, infer: Infer, specs: Mapping[str, Any], named: Mapping[str, SizeNames]
) -> dict[str, list[SizeNames]]:
    """The names of sizes of what an operator writes, by output slot.

    Args:
        op: the operator.
        infer: its shape rule.
        specs: of what it reads, by slot.
        named: names of sizes, by variable that has some.

    Raises:
        ShapeError: two sizes of different names have to be equal, or one has to be a number.
    """
    return _Flow(op, infer, specs, named).results()


class _Flow:
    """An operator that reads sizes with names; arguments as of :func:`names_of_results`."""

    def __init__(
        self, op: Operator, infer: Infer, specs: Mapping[str, Any], named: Mapping[str, SizeNames]
    ) -> None:
        self.op = op
        self.infer = infer
        self.specs = specs
        self.named = named
        self.names: list[str] = list(
            dict.fromkeys(n for names in named.values() for n in names if n is not None)
        )

    def results(self) -> dict[str, list[SizeNames]]:
        """The names by output slot."""
        if issubclass(self.op.instance().__class__, ValueShaped):
            return {}
        trials = [self.distinct(840, 101), self.distinct(2520, 3001)]
        results = [specs for sizes in trials if (specs := self.tried(sizes)) is not None]
        if len(results) < len(trials):
            self.check_names()
            self.check_numbers(trials[0])
            return {}
        # a size may be 1, which some rules stretch or leave out
        ones = dict.fromkeys(self.names, 1)
        of_ones = self.tried(ones)
        if of_ones is not None:
            trials.append(ones)
            results.append(of_ones)
        return {
            slot: [
                self.names_of(each, trials)
                for each in zip(*[_listed(one.get(slot)) for one in results])
            ]
            for slot in results[0]
        }

    def distinct(self, factor: int, first: int) -> dict[str, int]:
        """Another number for each name: a product of many factors and a prime of its own."""
        return dict(zip(self.names, (factor * prime for prime in _primes(first))))

    def tried(self, sizes: Sizes) -> Mapping[str, Any] | None:
        """What the shape rule gives for numbers in place of names; None where it refuses."""
        specs = {
            slot: [self.filled(*each, sizes) for each in zip(self.op.inputs[slot], given)]
            if isinstance(given, list)
            else self.filled(self.op.inputs[slot][0], given, sizes)
            for slot, given in self.specs.items()
        }
        try:
            return self.infer(specs)
        except FluidError:
            return None

    def filled(self, variable: str, spec: Spec | None, sizes: Sizes) -> Spec | None:
        """A spec with numbers in place of names; not for the rows of sequences."""
        names = self.named.get(variable)
        if names is None or spec is None:
            return spec
        first = 1 if spec.lod_level else 0
        return spec.with_shape(
            n if name is None or axis < first else sizes[name]
            for axis, (n, name) in enumerate(zip(spec.shape, names))
        )

    def names_of(self, specs: Sequence[Spec | None], trials: Sequence[Sizes]) -> SizeNames:
        """The names of the sizes of one result, of what each trial gave for it."""
        shapes = [spec.shape for spec in specs if spec is not None]
        if len(shapes) < len(trials) or len({len(shape) for shape in shapes}) > 1:
            return ()
        return _names_if_any(
            [
                next(
                    (
                        name
                        for name in self.names
                        if all(n == sizes[name] for n, sizes in zip(along, trials))
                    ),
                    None,
                )
                for along in zip(*shapes)
            ]
        )

    # -- why a shape rule refuses ------------------------------------------------------------------

    def works(self, sizes: Sizes) -> bool:
        """Whether the shape rule takes these numbers."""
        return self.tried(sizes) is not None

    def check_names(self) -> None:
        """Refuse names that have to be equal."""
        low, high = 840 * 101, 840 * 103
        if not self.works(dict.fromkeys(self.names, low)):
            return
        for one, other in permutations(self.names, 2):
            rest = dict.fromkeys(self.names, low)
            apart = any(
                self.works({**dict.fromkeys(self.names, a), one: b})
                for a, b in ((low, high), (high, low))
            )
            if not apart and self.works({**rest, one: high, other: high}):
                self.refuse(
                    f"sizes of different names have to be equal: {self.said(one)}, and "
                    f"{self.said(other)}; give both the same name where they are declared"
                )

    def check_numbers(self, sizes: Sizes) -> None:
        """Refuse a name whose size has to be a number."""
        known = {n for spec in _all_of(self.specs) for n in spec.shape if n > 1}
        for name in self.names:
            for n in sorted(known):
                near = [self.works({**sizes, name: n + step}) for step in (-1, 0, 1)]
                if near == [False, True, False]:
                    self.refuse(
                        f"a size with a name has to be {n}: {self.said(name)}; declare it {n} "
                        f"in place of the name"
                    )

    def said(self, name: str) -> str:
        """A name, who gave it, and which input of the operator has it."""
        variable, names = next(pair for pair in self.named.items() if name in pair[1])
        size = next(each for each in names if each == name)
        declared = isinstance(size, SizeName) and size.variable == variable
        return _told(size) if declared else f"{_told(size)}, in {variable!r}"

    def refuse(self, message: str) -> None:
        """Raise what is wrong, with the operator and its line."""
        pairs = [
            (name, spec)
            for slot, given in self.specs.items()
            for name, spec in zip(self.op.inputs[slot], _listed(given))
            if name != EMPTY
        ]
        raise located(ShapeError(message), self.op, pairs)


def _told(name: str | None) -> str:
    return name.told if isinstance(name, SizeName) else repr(name)


def _names_if_any(names: Sequence[str | None]) -> SizeNames:
    return tuple(names) if any(names) else ()


def _listed(given: Any) -> list[Any]:
    return given if isinstance(given, list) else [given]


def _all_of(specs: Mapping[str, Any]) -> Iterator[Spec]:
    for given in specs.values():
        yield from (spec for spec in _listed(given) if spec is not None)


def _primes(first: int) -> Iterator[int]:
    number = first
    while True:
        if all(number % k for k in range(3, int(number**0.5) + 1, 2)):
            yield number
        number += 2
