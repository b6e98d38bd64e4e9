"""Whether the gradient part of a program is the derivative of its forward part."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import zip_longest
from typing import Any, NamedTuple

import numpy as np

from ..errors import ArgumentError, GradientCheckError, UnsupportedError, suggestion
from ..ground.callsite import CallSite
from ..ir.analysis import blocks_of
from ..ir.program import Program
from ..ir.variable import Variable
from ..opdef.conjugation import is_complex
from .certificate import (
    ONES,
    Certificate,
    CertifiedGradient,
    CertifiedOperator,
    digest_of,
    digest_of_value,
    fields_of,
    number_of,
)
from .certifying.amounts import Amount
from .certifying.culprits import culprits, text_of
from .certifying.equations import AT_KINKS, NOT_FINITE, Equation, Equations, ValueTrace, traced
from .certifying.evaluation import OperatorRunner
from .certifying.field import EXPONENTS, PrimeField, ZeroDivisorError
from .certifying.inside import differences_inside
from .certifying.points import DrawnPoint
from .certifying.sweeps import (
    ClaimedSweep,
    Key,
    Mention,
    differentiated_by,
    mentions_of,
    names_in,
    sweeps_of,
)

#: a wrong gradient passes with a probability below 2^-60
_BITS = 60
_POINTS = 8  #: that are drawn at most, to take each branch once
_SPREAD = 3.0  #: of the numbers at every other point
_TRIES = 8  #: points that are drawn where one is a pole
_WEAKEST = ("field", "numbers", "unknown", "missing", "wrong")


class _Case(NamedTuple):
    """What is certified, and how."""

    program: Program
    mentions: list[Mention]
    sweeps: list[ClaimedSweep]
    feed: dict[str, Any]
    weights: dict[str, str]
    stopped: tuple[str, ...]
    seed: int
    rounds: int
    batch_size: int


class _Round(NamedTuple):
    """What was found at one point."""

    field: PrimeField
    trace: ValueTrace
    equations: list[Equation]


def certify(
    program: Program,
    feed: Mapping[str, Any] | None = None,
    *,
    target_gradients: Mapping[str | Variable, str | Variable | None] | None = None,
    no_grad_set: Iterable[str | Variable] | None = None,
    seed: int = 0,
    rounds: int = 2,
    batch_size: int = 2,
    raise_error: bool = True,
) -> Certificate:
    """Check that the gradients which a program computes are derivatives of what it computes before.

    Operators that compute with sums, products, ratios and functions like ``exp`` are evaluated in a
    prime field, at random points, on values and their derivatives; what is equal there is equal but
    for a probability below 2^-60.  Kinks (relu, max, abs) take the branch that random numbers say.
    What has no meaning in the field is compared in numbers.  No rule of a gradient says what is
    expected: forward kernels are run on arrays with derivatives.

    Args:
        program: with ``append_backward``, ``gradients`` or ``minimize`` done, or read from a file.
        feed: values of data that random numbers do not fit: numbers of classes, positive data.
            Whole numbers are drawn from 0 and 1 where they are not given.
        target_gradients: target -> variable that it is weighted with, as given to ``gradients``;
            None for ones, where no operator fills its gradient any more (:func:`simplify`).
        no_grad_set: variables at which gradients were told to stop when they were made.
        seed: of all that is drawn.
        rounds: at how many points.
        batch_size: what unknown sizes are taken for.
        raise_error: whether to raise when a gradient is wrong; else the certificate says so.

    Returns:
        the certificate; its text can be checked again by :func:`check_certificate`.

    Raises:
        GradientCheckError: a gradient is not the derivative; names the operators at fault.
        ArgumentError: the program has no gradients, or an argument does not fit.
        UnsupportedError: it computes with complex numbers.

    >>> x = fluid.data("x", [None, 3], "float32")
    >>> loss = fluid.layers.mean(fluid.layers.fc(x, 2, act="relu"))
    >>> pairs = fluid.append_backward(loss)
    >>> certificate = fluid.transform.certify(fluid.default_main_program())
    >>> certificate.ok, certificate.bits > 60
    (True, True)
    """
    case = _case(program, feed, target_gradients, no_grad_set, seed, rounds, batch_size)
    certificate = _certified(case)
    if raise_error and certificate.faults:
        raise GradientCheckError(str(certificate))
    return certificate


def check_certificate(
    text: str, program: Program, feed: Mapping[str, Any] | None = None, seed: int | None = None
) -> Certificate:
    """Do the work of a certificate once more, from its seeds, and compare.

    Args:
        text: of the certificate.
        program: that it is of.
        feed: what it was made with.
        seed: of another test at other points, in place of the certificate's own.

    Returns:
        the certificate that was made now.

    Raises:
        GradientCheckError: the program is another one, or something was found that the text does
            not say; names the first line that differs.
        FileFormatError: the text is no certificate.

    >>> x = fluid.data("x", [None, 3], "float32")
    >>> pairs = fluid.append_backward(fluid.layers.mean(fluid.layers.fc(x, 2)))
    >>> program = fluid.default_main_program()
    >>> text = str(fluid.transform.certify(program))
    >>> fluid.transform.check_certificate(text, program).ok
    True
    """
    fields = fields_of(text)
    said = fields.get("program", [""])[0].removeprefix("sha256 ")
    if said != digest_of(program):
        raise GradientCheckError(
            f"the certificate is of another program: its digest is {said or 'missing'}, that of "
            f"this program {digest_of(program)}"
        )
    weights: dict[str | Variable, str | Variable | None] = {
        target: None if weight == ONES else weight
        for target, _, weight in (line.partition(" = ") for line in fields.get("weight", []))
    }
    certificate = certify(
        program,
        feed,
        target_gradients=weights,
        no_grad_set=fields.get("stopped at", []),
        seed=number_of(fields, "seed") if seed is None else seed,
        rounds=number_of(fields, "rounds"),
        batch_size=number_of(fields, "batch size"),
        raise_error=False,
    )
    old, new = _lines(text), _lines(str(certificate))
    if seed is not None:  # at other points degrees and residues are others
        old, new = [[each for each in lines if "result: " in each] for lines in (old, new)]
    for before, now in zip_longest(old, new, fillvalue=""):
        if before != now:
            raise GradientCheckError(
                f"the certificate does not hold: it says {before!r}, found now is {now!r}"
            )
    return certificate


def _lines(text: str) -> list[str]:
    """The lines of a report without users' lines, which a file may lack."""
    return [re.sub(r" \([^()]*:\d+\)", "", line).rstrip() for line in text.splitlines()]


# -- what is certified -----------------------------------------------------------------------------


def _case(
    program: Program,
    feed: Mapping[str, Any] | None,
    weights: Mapping[str | Variable, str | Variable | None] | None,
    stopped: Iterable[str | Variable] | None,
    seed: int,
    rounds: int,
    batch_size: int,
) -> _Case:
    if not isinstance(program, Program):
        raise ArgumentError(
            f"expected a program, got {program!r:.60} of type {type(program).__name__}"
        )
    for name, value, least in (
        ("seed", seed, 0),
        ("rounds", rounds, 1),
        ("batch_size", batch_size, 1),
    ):
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise ArgumentError(
                f"expected {name} to be an integer of at least {least}, got {value!r}"
            )
    block = program.global_block()
    unreal = [v.name for each in program.blocks for v in each.vars.values() if is_complex(v)]
    if unreal:
        raise UnsupportedError(
            f"certificates are of real numbers, and {unreal[0]!r} is of complex ones; compare its "
            f"gradients with differences: inspect.gradcheck"
        )
    for name in feed or ():
        if name not in block.vars:
            raise ArgumentError(
                f"the program has no variable {name!r} to feed{suggestion(name, block.vars)}"
            )
    names = {_name(k): "" if v is None else _name(v) for k, v in (weights or {}).items()}
    stops = tuple(sorted(_name(each) for each in stopped or ()))
    for name in stops:
        if not any(name in each.vars for each in program.blocks):
            raise ArgumentError(
                f"no_grad_set: the program has no variable {name!r}{suggestion(name, block.vars)}"
            )
    mentions = mentions_of(block)
    sweeps = sweeps_of(block, mentions, names)
    return _Case(
        program, mentions, sweeps, dict(feed or {}), names, stops, seed, rounds, batch_size
    )


def _name(given: str | Variable) -> str:
    return given.name if isinstance(given, Variable) else given


def _certified(case: _Case) -> Certificate:
    """The certificate of a case: with a larger prime where degrees ask for it."""
    for exponent in EXPONENTS[1:]:
        rounds: list[_Round] = []
        while len(rounds) < case.rounds or (_untaken(case, rounds) and len(rounds) < _POINTS):
            rounds.append(_round(case, exponent, len(rounds)))
        degree = max(_degree(each) for each in rounds)
        bits = exponent - math.log2(max(degree, 1)) - 0.01  # a branch may be taken at one point
        if bits > _BITS:
            break
    return _stated(case, rounds, exponent, degree, bits)


def _untaken(case: _Case, rounds: list[_Round]) -> dict[int, Mention]:
    """The blocks that did not run at any point although gradients depend on them, and the operators
    of block 0 that hold them.
    """
    untaken: dict[int, Mention] = {}
    needed = _needed(case, rounds)
    for mention in case.mentions:
        held = [mention.op] if mention.position in needed else []
        for op in held:
            for block in blocks_of(op):
                untaken[block.idx] = mention
                held += block.ops
    for each in rounds:
        for number in each.trace.runner.ran:
            untaken.pop(number, None)
    return untaken


def _degree(found: _Round) -> int:
    """The degree that counts: of the identities, and of differences of arguments of functions that
    might be equal by chance.
    """
    most = max([each.degree for each in found.equations], default=0)
    pairs = len(found.field.unknowns) ** 2 // 2
    return most + pairs * found.field.widest


def _round(case: _Case, exponent: int, number: int) -> _Round:
    """The equations of all sweeps at one point that is no pole."""
    last: _Round | None = None
    for attempt in range(_TRIES):
        point = _point(case, exponent, number, attempt)
        runner = OperatorRunner(case.program, point.field, case.seed + number)
        try:
            with np.errstate(all="ignore"):
                trace = traced(case.mentions, point.sources(), runner, case.sweeps[-1].end)
                if trace.failed and point.is_wild:
                    continue
                equations: list[Equation] = []
                for k, sweep in enumerate(case.sweeps):
                    block = case.program.global_block()
                    equations += Equations(
                        block, case.mentions, trace, k, sweep, case.stopped, point.rng
                    ).solved()
        except ZeroDivisorError:
            continue
        last = _Round(point.field, trace, equations)
        if not any(each.why in (NOT_FINITE, AT_KINKS) for each in equations):
            break
    if last is None:
        raise ArgumentError(
            f"the program divides by zero at each of {_TRIES} random points: a divisor is zero "
            "whatever is fed"
        )
    return last


def _point(case: _Case, exponent: int, number: int, attempt: int) -> DrawnPoint:
    """The point of a round, at an attempt: the first attempts of rounds that are added to take
    other branches spread numbers more.
    """
    return DrawnPoint(
        case.program.global_block(),
        case.mentions,
        case.feed,
        case.batch_size,
        PrimeField(exponent, case.seed * 1_000_003 + number * _TRIES + attempt),
        np.random.default_rng([case.seed, number, attempt, 0x6365_7274]),
        scale=_SPREAD if number % 2 and attempt < _TRIES // 2 else 1.0,
        positive=attempt % 2 == 1,
        wild=number >= case.rounds and attempt < _TRIES // 2,
    )


# -- what is said of it ----------------------------------------------------------------------------


def _stated(
    case: _Case, rounds: list[_Round], exponent: int, degree: int, bits: float
) -> Certificate:
    gradients = _gradients(case, rounds)
    differences = {type for each in rounds for type in each.trace.runner.f.seen_differences}
    covered = {g.variable for g in gradients}
    named = [p.name for p in case.program.all_parameters() if p.trainable]
    return Certificate(
        digest=digest_of(case.program),
        targets=tuple(_targets(case)),
        exponent=exponent,
        seed=case.seed,
        rounds=case.rounds,
        points=len(rounds),
        batch_size=case.batch_size,
        degree=degree,
        bits=bits,
        gradients=tuple(gradients),
        operators=tuple(_operators(case, rounds)),
        idle=tuple(_idle(case, rounds)),
        untaken=tuple(
            f"#{mention.position} {mention.op.type}: block {number}"
            for number, mention in sorted(_untaken(case, rounds).items())
        ),
        held_constant=tuple(_held_constant(case)),
        not_asked=tuple(name for name in named if name not in covered),
        changed=tuple(_changed(case, {gradient.gradient for gradient in gradients})),
        differences=tuple(sorted(differences)),
        stopped=case.stopped,
        weights=tuple(case.weights.items()),
        again=lambda text: check_certificate(text, case.program, case.feed),
        fed=tuple((name, digest_of_value(value)) for name, value in sorted(case.feed.items())),
    )


def _targets(case: _Case) -> Iterable[str]:
    for sweep in case.sweeps:
        yield ", ".join(
            key.name if weight is None else f"{key.name} weighted with {weight.name}"
            for key, weight in sweep.targets.items()
        )


def _merged(rounds: list[_Round]) -> dict[tuple[int, Key], list[Equation]]:
    """The equations of all rounds by sweep and value."""
    equations: dict[tuple[int, Key], list[Equation]] = {}
    for each in rounds:
        for equation in each.equations:
            equations.setdefault((equation.sweep, equation.key), []).append(equation)
    return equations


def _worst(equations: list[Equation]) -> Equation:
    """The one that is worst, of the rounds."""
    return max(equations, key=lambda each: _WEAKEST.index(each.method))


def _gradients(case: _Case, rounds: list[_Round]) -> list[CertifiedGradient]:
    gradients = []
    for (sweep, key), equations in _merged(rounds).items():
        worst = _worst(equations)
        wrong = worst.method in ("wrong", "missing")
        first = equations[0].found
        gradients.append(
            CertifiedGradient(
                variable=key.name,
                version=key.version,
                sweep=sweep,
                gradient="" if worst.claim is None else worst.claim.name,
                method=worst.method,
                residue=first.residue if worst.method == "field" and first else None,
                expected=_amount_text(worst.expected) if wrong else "",
                found=_amount_text(worst.found) if wrong else "",
                culprits=tuple(_culprit_lines(case, rounds, worst)) if wrong else (),
                held=max(each.held for each in equations),
                why=worst.why,
            )
        )
    return gradients


def _culprit_lines(case: _Case, rounds: list[_Round], equation: Equation) -> Iterable[str]:
    trace = next(each.trace for each in rounds if equation in each.equations)
    yield from culprits(case.mentions, trace, equation)
    sweep = case.sweeps[equation.sweep]
    for mention in case.mentions[sweep.begin : sweep.end]:  # what computed it may drive a block
        bases = [differentiated_by(name, {equation.key.name}) for name in mention.writes]
        if any(bases) and list(blocks_of(mention.op)):
            yield from differences_inside(case.program, sweep, mention.op, case.stopped)


def _amount_text(amount: Amount | None) -> str:
    return "nothing" if amount is None else text_of(amount)


def _operators(case: _Case, rounds: list[_Round]) -> Iterable[CertifiedOperator]:
    """The operators that gradients flow through, in order."""
    by_position: dict[int, dict[str, list[Equation]]] = {}
    for each in rounds:
        for equation in each.equations:
            for share in equation.shares:
                names = by_position.setdefault(share.position, {})
                names.setdefault(equation.key.name, []).append(equation)
    for position in sorted(by_position):
        op = case.mentions[position].op
        equations = [e for found in by_position[position].values() for e in found]
        yield CertifiedOperator(
            position,
            op.type,
            _line(op.callsite),
            tuple(sorted(by_position[position])),
            _worst(equations).method,
        )


def _line(site: CallSite | None) -> str:
    return "" if site is None else str(site)


def _needed(case: _Case, rounds: list[_Round]) -> set[int]:
    """The positions of the operators that the gradients above depend on."""
    needed = {e.claim for each in rounds for e in each.equations if e.claim is not None}
    positions = set()
    for mention in reversed(case.mentions):
        if not needed.isdisjoint(mention.writes.values()):
            positions.add(mention.position)
            needed.update(mention.reads.values())
    return positions


def _changed(case: _Case, gradients: set[str]) -> Iterable[str]:
    """The operators behind the last sweep that write a gradient anew, as those of regularizers."""
    for mention in case.mentions[case.sweeps[-1].end :]:
        names = sorted(gradients.intersection(mention.writes))
        if names:
            yield f"#{mention.position} {mention.op.type} -> {', '.join(names)}"


def _idle(case: _Case, rounds: list[_Round]) -> Iterable[str]:
    """The operators that write gradients on which no gradient above depends."""
    needed, names = _needed(case, rounds), names_in(case.mentions)
    for mention in case.mentions[: case.sweeps[-1].end]:
        gradients = [name for name in mention.writes if differentiated_by(name, names)]
        if gradients and mention.position not in needed:
            yield f"#{mention.position} {mention.op.type} -> {', '.join(gradients)}"


def _held_constant(case: _Case) -> Iterator[str]:
    """The operators through which no gradient flows, as in fluid, although results change."""
    block = case.program.global_block()
    for mention in case.mentions[: case.sweeps[-1].end]:
        op = mention.op
        if op.definition is not None and op.definition.fluid.lacks_gradient:
            inputs = map(block.find_var_recursive, op.input_arg_names)
            if any(variable is not None and variable.takes_gradient for variable in inputs):
                yield f"#{mention.position} {op.type} -> {', '.join(op.output_arg_names)}"
