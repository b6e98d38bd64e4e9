"""The equations that make a gradient the derivative, one for each value.

The gradient of a value is the sum, over the operators that read it, of what their outputs'
gradients become when they are pulled back, plus its weight where it is differentiated itself.  If
that holds for every value, all gradients are right, by induction from the targets back (the chain
rule).  An equation is tested along one direction, drawn at random: the operators are run forward,
on arrays with derivatives, and of their gradient operators only the results are read.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from ...ir.block import Block
from ...opdef.gradient import is_constant
from .amounts import Amount, nothing, plain_product, product
from .evaluation import OperatorRunner, leaves, mapped, moving
from .field import PrimeField, ZeroDivisorError
from .jets import Dual, lifted, numbers
from .kinks import STEP, at_kinks, held, stepped
from .sweeps import ClaimedSweep, Key, Mention

#: relative differences up to it are rounding: rules round constants to single precision
TOLERANCE = 2.0**-22
#: the same where a slope is a difference of numbers
ROUGH_TOLERANCE = 2.0**-16
NOT_FINITE = "values are not finite at the point"
WHOLE = "compared as a whole: gradients of values in between are missing"
_DIRECTIONS = 4  # along which a kink is looked for
AT_KINKS = "all of its elements are at kinks at the point"
_TINY = 2.0**-58  # of what comes in, which counts as rounding of what goes out
_BEND = 2.0**-8  # of a slope, by which it changes at a kink


class Share(NamedTuple):
    """What an operator that reads a value contributes to its gradient."""

    position: int
    amount: Amount


@dataclass
class Equation:
    """What was found about the gradient of one value."""

    key: Key
    sweep: int
    method: str  #: "field", "numbers", "wrong", "missing", or "unknown"
    expected: Amount | None = None
    found: Amount | None = None
    shares: list[Share] = field(default_factory=list)
    claim: Key | None = None  #: the value of the gradient
    why: str = ""  #: it is not known
    degree: int = 0
    there: Any = None  #: the value, and how it moves
    held: int = 0  #: how many elements were left out, since they are at a kink


@dataclass
class ValueTrace:
    """The values of one run of a program."""

    values: dict[Key, Any]
    failed: dict[int, str]  #: position -> why the operator did not run
    runner: OperatorRunner


def traced(
    mentions: Sequence[Mention], sources: Mapping[str, Any], runner: OperatorRunner, end: int
) -> ValueTrace:
    """Run the operators of a block.

    Args:
        mentions: the operators.
        sources: values by name of what they read and do not write before.
        runner: runs them.
        end: the position behind the last one.

    Raises:
        ZeroDivisorError: the point is a pole.
    """
    env = dict(sources)
    values = {Key(name, 0): value for name, value in sources.items()}
    failed: dict[int, str] = {}
    for mention in mentions[:end]:
        if mention.op.type in ("feed", "fetch"):
            continue
        try:
            runner.run(mention.op, env)
        except ZeroDivisorError:
            raise
        except Exception as error:
            failed[mention.position] = str(error).partition("\n")[0]
            for name in mention.writes:
                env.pop(name, None)
        for name, key in mention.writes.items():
            if name in env:
                values[key] = env[name]
    return ValueTrace(values, failed, runner)


class Equations:
    """The equations of one sweep, at one point.

    Args:
        block: the first one of the program.
        mentions: its operators.
        trace: their values.
        number: which sweep it is.
        sweep: its claims.
        stopped: names at which gradients stop, beside those of variables that say so.
        rng: draws directions.
    """

    def __init__(
        self,
        block: Block,
        mentions: Sequence[Mention],
        trace: ValueTrace,
        number: int,
        sweep: ClaimedSweep,
        stopped: Collection[str],
        rng: np.random.Generator,
    ) -> None:
        self._block, self._mentions, self._trace = block, mentions, trace
        self._number, self._sweep, self._stopped, self._rng = number, sweep, stopped, rng
        self._field: PrimeField = trace.runner.f.field
        self.claims: dict[Key, Key] = {}
        self._taken: dict[str, int] = {}
        self._readers: dict[Key, list[Mention]] = {}
        self._versions: dict[str, int] = {}
        #: values that an operator should have written that failed -> it
        self._lost: dict[Key, Mention] = {}
        #: values that operators fill with zeros
        self._zeros: set[Key] = set()
        for mention in mentions[: sweep.end]:
            if mention.op.type == "fill_zeros_like":
                self._zeros.update(mention.writes.values())
            if mention.position in trace.failed:
                self._lost.update((key, mention) for key in mention.writes.values())
            for key in mention.reads.values():
                self._readers.setdefault(key, []).append(mention)
            for name, key in mention.writes.items():
                self._versions[name] = key.version

    def solved(self) -> list[Equation]:
        """What is found about each value that a target depends on."""
        equations = []
        for key in reversed(self._order()):
            equation = self._equation(key)
            if equation is not None:
                equations.append(equation)
        equations += self._of_nothing()
        equations = self._without_strangers(equations)
        if any(each.method in ("wrong", "missing") for each in equations):
            wholes = [self._whole(each) if each.method == "wrong" else None for each in equations]
            return self._without_steps(
                [whole or each for whole, each in zip(wholes, equations, strict=True)]
            )
        return equations

    def _whole(self, equation: Equation) -> Equation | None:
        """The equation of a value from the operators between it and the targets together, where it
        holds: gradients of values in between may not be there, or under other names.
        """
        key, there, claim = equation.key, equation.there, equation.claim
        if there is None or claim is None:
            return None
        self._trace.runner.f.by_differences.clear()
        try:
            share = self._along(key, there)
        except ZeroDivisorError:
            raise
        except Exception:  # an operator takes no value that moves
            return None
        whole = self._compared(key, there, claim, [share])
        if whole is None or whole.method not in ("field", "numbers"):
            return None
        whole.why = WHOLE
        return whole

    def _along(self, key: Key, there: Any) -> Share:
        """What operators in turn make of a value that moves: how the targets change."""
        values, moves = self._trace.values, {key: there}
        relevant = set(self._order())
        first = -1
        for mention in self._mentions[: self._sweep.end]:
            read = [each for each in flowing_to(mention) if each in moves]
            if not read or relevant.isdisjoint(mention.writes.values()):
                continue
            first = mention.position if first < 0 else first
            env = {name: values[k] for name, k in mention.reads.items() if k in values}
            if mention.op.instance().is_control:
                env = {**self._before(mention), **env}
            env.update((each.name, moves[each]) for each in read)
            self._trace.runner.run(mention.op, env)
            for name, out in mention.writes.items():
                if name in env and _moves(env[name]) and self._takes_gradient(out):
                    moves[out] = env[name]
        total = nothing(self._field)
        for target in self._sweep.targets:
            if target in moves and target != key:
                total = total.plus(self._weight(target, moves[target]))
        return Share(max(first, 0), total)

    def _without_steps(self, found: list[Equation]) -> list[Equation]:
        """The equations but those of gradients that were a step to others, all of which are right
        as a whole: missing ones; and where steps may be gone, the rest of what they were.
        """
        right = {e.key for e in found if e.why == WHOLE or self._whole(e) is not None}
        sources: dict[Key, set[Key]] = {}
        for mention in self._mentions[: self._sweep.end]:
            behind: set[Key] = set()
            for key in filter(self._takes_gradient, flowing_to(mention)):
                behind |= sources.get(key, {key})
            sources.update(dict.fromkeys(mention.writes.values(), behind))
        rest = self._rest() if self._sweep.is_rewritten else set()

        def is_step(e: Equation) -> bool:
            behind = sources.get(e.key, set())
            is_gone = e.method == "missing" and bool(behind)
            is_rest = e.method == "wrong" and e.claim in rest and e.key.version > 0
            return (is_gone or is_rest) and behind <= right

        return [e for e in found if not is_step(e)]

    def _rest(self) -> set[Key | None]:
        """What operators read, or give beside what is read: gradients that nobody reads."""
        rest: set[Key | None] = {key for m in self._mentions for key in m.reads.values()}
        for mention in self._mentions:
            if not rest.isdisjoint(mention.writes.values()):
                rest.update(mention.writes.values())
        return rest

    def _of_nothing(self) -> list[Equation]:
        """The claims that belong to no value on the way: such gradients are zero."""
        equations = []
        settled = set(self.claims.values())
        for name, written in self._sweep.written.items():
            key = Key(name, self._versions.get(name, 0))
            last = written[-1]
            if last in settled or (key in self.claims and len(written) == 1):
                continue
            value, gradient = self._trace.values.get(key), self._trace.values.get(last)
            if value is None:
                if gradient is not None and any(map(_is_nonzero, leaves(gradient))):
                    why = "nothing computed it, and its gradient is not zero"
                    equations.append(Equation(key, self._number, "unknown", claim=last, why=why))
                continue
            there = mapped(self._as_dual(value), self._moving)
            equation = self._compared(key, there, last, [])
            if equation is not None:
                equations.append(equation)
        return equations

    def _order(self) -> list[Key]:
        """The values that a target may depend on, in the order in which they are made."""
        relevant = set(self._sweep.targets)
        for mention in reversed(self._mentions[: self._sweep.end]):
            if not relevant.isdisjoint(mention.writes.values()):
                relevant.update(mention.reads.values())
        order = [key for key in self._readers if not key.version and key in relevant]
        order += [k for k in self._sweep.targets if not k.version and k not in self._readers]
        for mention in self._mentions[: self._sweep.end]:
            keys = mention.writes.values()
            order += [k for k in keys if k in relevant or k.name in self._sweep.written]
        return list(dict.fromkeys(order))

    def _equation(self, key: Key) -> Equation | None:
        """The equation of a value; None where nothing flows to it and nothing is claimed."""
        value = self._trace.values.get(key)
        parts = [] if value is None else leaves(value)
        whole = all(part is None or isinstance(part, (Dual, np.ndarray)) for part in parts)
        if value is not None and not (parts and whole):
            return None  # whole numbers
        readers = [m for m in self._readers.get(key, ()) if self._leads_on(m)]
        target = key in self._sweep.targets
        if not (readers or target):
            return self._filled(key)
        if value is None and key not in self._lost:
            return None  # the branch that writes it was not taken
        broken = [m for m in readers if m.position in self._trace.failed]
        if value is None or broken:
            self._claimed(key)
            lost = next(iter(broken[0].writes.values())) if broken else key
            return Equation(key, self._number, "unknown", why=self._reason(lost))
        return self._tested(key, value, readers)

    def _leads_on(self, mention: Mention) -> bool:
        """Whether an operator's outputs have gradients in this sweep."""
        return any(key in self.claims for key in mention.writes.values())

    def _claimed(self, key: Key) -> Key | None:
        """The value that is said to be the gradient of a value."""
        written = self._sweep.written.get(key.name, [])
        if not written:
            weight = self._sweep.targets.get(key)
            if weight is not None:  # is read in place of a gradient
                self.claims[key] = weight
            return weight
        if not self._versions.get(key.name) or self._single(key.name):
            claim = written[-1]
        else:
            number = self._taken.get(key.name, 0)
            if number >= len(written):
                return None
            self._taken[key.name] = number + 1
            claim = written[number]
        self.claims[key] = claim
        return claim

    def _filled(self, key: Key) -> Equation | None:
        """The equation of a value to which nothing flows, where its gradient is filled with zeros
        before that of the value that its name held earlier.
        """
        written, number = self._sweep.written.get(key.name, []), self._taken.get(key.name, 0)
        if self._versions.get(key.name, 0) < 2 or number >= len(written):
            return None
        if written[number] not in self._zeros:
            return None
        value = self._trace.values.get(key)
        there = mapped(self._as_dual(value), self._moving)
        return None if value is None else self._compared(key, there, self._claimed(key), [])

    def _reason(self, key: Key) -> str:
        """Why a value is missing."""
        maker = self._lost.get(key)
        if maker is None:
            return f"nothing computed {key.name}"
        return f"#{maker.position} {maker.op.type}: {self._trace.failed[maker.position]}"

    def _single(self, name: str) -> bool:
        """Whether a name holds one value only."""
        return self._versions[name] == 1 and Key(name, 0) not in self._trace.values

    def _moving(self, value: Dual) -> Dual:
        return moving(value, self._rng)

    def _tested(self, key: Key, value: Any, readers: list[Mention]) -> Equation | None:
        there = mapped(self._as_dual(value), self._moving)
        self._trace.runner.f.by_differences.clear()
        try:
            shares = self._shares(readers, key, there)
        except ZeroDivisorError:
            raise
        except Exception as error:
            self._claimed(key)
            return Equation(key, self._number, "unknown", why=str(error).partition("\n")[0])
        if not shares and key not in self._sweep.targets:
            return self._filled(key)
        claim = self._claimed(key)
        equation = self._compared(key, there, claim, shares)
        if equation is None or equation.method != "wrong" or equation.found is None:
            return equation
        return self._beside_kinks(equation, readers) or equation

    def _beside_kinks(self, equation: Equation, readers: list[Mention]) -> Equation | None:
        """The equation for the elements of a value that are not at a kink; None where there is no
        kink, or where it does not hold for these either.
        """
        still = at_kinks(equation.there)
        if still is None:
            return None
        key, there = equation.key, held(equation.there, still)
        again = self._compared(key, there, equation.claim, self._shares(readers, key, there))
        if again is None or again.method not in ("field", "numbers"):
            return None
        across = [held(mapped(there, self._moving), ~still) for _ in range(_DIRECTIONS)]
        if not self._is_excused(equation, across, readers):
            return None
        again.held = int(still.sum())
        if still.all():
            again.method, again.why = "unknown", AT_KINKS
        return again

    def _is_excused(
        self, equation: Equation, directions: list[Any], readers: list[Mention]
    ) -> bool:
        """Whether there is a kink along one of some directions, or differences of numbers say what
        the gradient does: where two branches meet without one, a kernel may follow any of them.
        """
        gradient = self._trace.values[equation.claim]  # type: ignore[index]
        agrees = True
        for there in directions:
            ends = [self._weighted(equation.key, there, readers, k * STEP) for k in (-1, 0, 1)]
            left, right = ((b - a) / STEP for a, b in pairwise(ends))
            amount = product(gradient, there, self._field)
            if abs(right - left) > _BEND * amount.size:
                return True
            size = amount.size + sum(abs(end) for end in ends)
            agrees = agrees and abs((left + right) / 2 - amount.number) <= ROUGH_TOLERANCE * size
        return agrees

    def _weighted(self, key: Key, there: Any, readers: list[Mention], step: float) -> float:
        """What operators make of a value that is some way along its direction, weighted with the
        gradients of their outputs; and the value itself, where it is differentiated.
        """
        at, values = stepped(there, step), self._trace.values
        total = step * self._weight(key, there).number if key in self._sweep.targets else 0.0
        for mention in readers:
            env = self._run(mention, key, at)
            for name, out in mention.writes.items():
                claim = self.claims.get(out)
                if claim is not None and claim in values and name in env:
                    total += plain_product(values[claim], env[name])
        return total

    def _shares(self, readers: list[Mention], key: Key, there: Any) -> list[Share]:
        found = [self._share(mention, key, there) for mention in readers]
        return [share for share in found if share is not None]

    def _as_dual(self, value: Any) -> Any:
        """A value whose arrays with fractions all have derivatives."""
        if isinstance(value, np.ndarray) and value.dtype.kind == "f":
            return lifted(self._field, value)
        return value

    def _share(self, mention: Mention, key: Key, there: Any) -> Share | None:
        """What an operator contributes to the gradient of one value that it reads."""
        values, env = self._trace.values, self._run(mention, key, there)
        total: Amount | None = None
        for name, out in mention.writes.items():
            if name not in env or not _moves(env[name]):
                continue
            claim = self.claims.get(out)
            if claim is not None and claim in values:
                amount = product(values[claim], env[name], self._field)
                flow = max(map(_largest, leaves(values[claim])), default=0.0)
                reach = sum(_travelled(leaf) for leaf in leaves(there))
                amount = amount._replace(size=amount.size + _TINY * flow * reach)
                total = amount if total is None else total.plus(amount)
        return None if total is None else Share(mention.position, total)

    def _run(self, mention: Mention, key: Key, there: Any) -> dict[str, Any]:
        """The values by name behind an operator that reads another value in place of one."""
        values = self._trace.values
        env = {name: values[k] for name, k in mention.reads.items() if k in values}
        if mention.op.instance().is_control:  # its block reads others, too
            env = {**self._before(mention), **env}
        env[key.name] = there
        self._trace.runner.run(mention.op, env)
        return env

    def _before(self, mention: Mention) -> dict[str, Any]:
        """The values of all names before an operator."""
        env = {k.name: v for k, v in self._trace.values.items() if not k.version}
        for each in self._mentions[: mention.position]:
            for name, key in each.writes.items():
                if key in self._trace.values:
                    env[name] = self._trace.values[key]
        return env

    def _compared(
        self, key: Key, there: Any, claim: Key | None, shares: list[Share]
    ) -> Equation | None:
        """Expected and found."""
        expected = nothing(self._field)
        for share in shares:
            expected = expected.plus(share.amount)
        if key in self._sweep.targets:
            expected = expected.plus(self._weight(key, there))
        equation = Equation(
            key, self._number, "", expected, shares=shares, claim=claim, there=there
        )
        if claim is None:
            equation.method = "missing"
            return equation if self._takes_gradient(key) and _is_something(expected) else None
        gradient = self._trace.values.get(claim)
        if gradient is None:
            equation.method, equation.why = "unknown", self._reason(claim)
            return equation
        try:
            equation.found = product(gradient, there, self._field)
        except ValueError as error:
            equation.method, equation.why = "wrong", str(error)
            return equation
        rough = self._trace.runner.f.by_differences
        tolerance = ROUGH_TOLERANCE if rough else TOLERANCE
        equation.method = equation.found.equals(expected, tolerance) or "wrong"
        sizes = [equation.found.size, expected.size, *map(_largest, leaves(there))]
        if equation.method == "wrong" and not np.isfinite(sizes).all():
            equation.method, equation.why = "unknown", NOT_FINITE
        if equation.method == "field":
            difference = (equation.found.exact - expected.exact).degree  # type: ignore[operator]
            equation.degree = difference.above + difference.below
        return equation

    def _weight(self, key: Key, there: Any) -> Amount:
        """What a target's own weight contributes."""
        weight = self._sweep.targets[key]
        if weight is None:
            ones = mapped(there, lambda v: lifted(self._field, np.ones(v.shape)))
        else:
            ones = self._trace.values[weight]
        return product(ones, there, self._field)

    def _takes_gradient(self, key: Key) -> bool:
        variable = self._block.find_var_recursive(key.name)
        return variable is not None and variable.takes_gradient and key.name not in self._stopped

    def _without_strangers(self, found: list[Equation]) -> list[Equation]:
        """The equations but those of missing gradients that nobody reads: of values that
        depend on nothing that has a gradient.
        """
        reached = set(self.claims)
        for mention in self._mentions[: self._sweep.end]:
            if any(key in reached for key in flowing_to(mention)):
                reached.update(mention.writes.values())
        reached.difference_update(self.claims)
        return [e for e in found if e.method != "missing" or e.key in reached]


def flowing_to(mention: Mention) -> Iterator[Key]:
    """The values that an operator reads through slots that gradients flow to."""
    definition = mention.op.definition
    if definition is None or is_constant(definition):
        return
    slots = definition.input_slots
    drives = mention.op.instance().is_control
    for slot, names in mention.op.inputs.items():
        if drives or (slot in slots and not slots[slot].constant):
            yield from (mention.reads[name] for name in names if name in mention.reads)


def _largest(leaf: Any) -> float:
    return 0.0 if leaf is None else float(np.max(np.abs(numbers(leaf)), initial=0.0))


def _travelled(leaf: Any) -> float:
    still = not isinstance(leaf, Dual) or leaf.real.slope is None
    return 0.0 if still else float(np.abs(leaf.real.slope).sum())


def _is_nonzero(leaf: Any) -> bool:
    return leaf is not None and bool(np.any(numbers(leaf)))


def _is_something(amount: Amount) -> bool:
    return bool(amount.residue) or amount.number != 0


def _moves(value: Any) -> bool:
    return any(isinstance(leaf, Dual) and leaf.real.slope is not None for leaf in leaves(value))
