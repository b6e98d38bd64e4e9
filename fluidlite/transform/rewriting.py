"""Rewriting programs by rules."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from ..errors import (
    ArgumentError,
    FluidError,
    RewriteError,
    UnknownVariableError,
    suggestion,
    with_context,
)
from ..ground.arguments import refused
from ..ground.callsite import CallSite
from ..ground.console import say
from ..ground.quoting import escaping
from ..ground.state import collector_paused
from ..ir.block import Block
from ..ir.operator import Operator
from ..ir.program import Program
from ..ir.pruning import drop_unused
from ..ir.variable import Variable
from ..scope import Scope
from .block_values import BlockValues, needed_names, said_operator
from .editing import infer_shapes, verified
from .equivalence import compare
from .forwarding import forwarded
from .gradient_sections import GradientSections
from .matches import Match, operands_of
from .matching import Matcher, Mismatch
from .patterns import Variant, variants_of
from .placing import Refusal, position_for, refused_role, removed_by
from .rules import Rule
from .selecting import one_or_several
from .templates import Templates, arguments_of, check_results, operators_in_place


class Outcome(NamedTuple):
    """What came of a place where the last operator of a pattern may be."""

    rule: str
    block: int
    position: int  #: of the operator, in the block as it was in this round
    type: str  #: of the operator
    callsite: CallSite | None  #: the line of the user's
    reason: str = ""  #: why nothing was done; empty where the place was rewritten
    round: int = 1

    def __str__(self) -> str:
        operator = said_operator(self.block, self.position, self.type, self.callsite)
        return f"{operator}: {self.rule}: {self.reason or 'rewritten'}"


@dataclass(frozen=True)
class Rewriting:
    """What :func:`rewriting` did: the program, and what came of each place.

    >>> y = fluid.layers.relu(fluid.layers.relu(fluid.data("x", [None, 3])))
    >>> once = fluid.transform.Rule(
    ...     lambda x: fluid.layers.relu(fluid.layers.relu(x)), lambda x: fluid.layers.relu(x)
    ... )
    >>> rewriting = fluid.transform.rewriting(fluid.default_main_program(), once)
    >>> rewriting.count, rewriting.settled
    (1, False)
    """

    program: Program
    places: tuple[Outcome, ...]
    settled: bool  #: whether no rule matches any more, as far as the last round saw

    @property
    def count(self) -> int:
        """How many places were rewritten."""
        return sum(not place.reason for place in self.places)

    @escaping
    def __str__(self) -> str:
        lines = [str(place) for place in self.places]
        return "\n".join([*lines, f"{self.count} of {len(lines)} places rewritten"])


def rewrite(
    program: Program,
    rules: Rule | Iterable[Rule],
    *,
    check: Mapping[str, Any] | None = None,
    explain: bool = False,
    keep: Iterable[Variable | str] = (),
    rounds: int = 1,
    scope: Scope | None = None,
) -> Program:
    """A program in which rules were applied wherever their patterns are found.

    Blocks are gone through from the first operator to the last. At each operator the first rule
    counts that matches and may be applied; matches do not overlap. What a pattern gives keeps its
    names; values between its operators go with them, so none of these may be read elsewhere or be
    in ``keep``. Where the program has gradients of a loss, they are derived anew; operators of
    optimizers stay.

    Args:
        program: any; it stays as it is.
        rules: one or several.
        check: feeds, name -> array: runs both programs from the same values and compares what they
            give, and gradients, in double precision.
        explain: print what came of each place where a pattern could end.
        keep: variables that are to be fetched besides those that no operator reads.
        rounds: how many times the rules are applied to what they gave; ends earlier when none
            matches.
        scope: where ``check`` takes the values of parameters from; the global scope when None.

    Returns:
        the new program, with inferred shapes, and verified.

    Raises:
        ArgumentError: an argument does not fit.
        RewriteError: a function of a rule raises, or gives what cannot stand in a program.
        ShapeError, DTypeError, LoDError: a replacement is not like what it replaces.
        NoGradientError: a replacement has no gradient where one is needed.
        EquivalenceError: the programs give something else.
        VerifyError: the result breaks a rule of programs.

    >>> x = fluid.data("x", [None, 3], "float32")
    >>> y = fluid.layers.relu(fluid.layers.relu(x))
    >>> once = fluid.transform.Rule(
    ...     lambda x: fluid.layers.relu(fluid.layers.relu(x)), lambda x: fluid.layers.relu(x)
    ... )
    >>> made = fluid.transform.rewrite(fluid.default_main_program(), once)
    >>> [op.type for op in made.global_block().ops]
    ['relu']
    """
    done = rewriting(program, rules, keep=keep, rounds=rounds, explain=explain)
    if explain:
        say(done)
    if check is not None:
        compare(program, done.program, check, scope)
    return done.program


def rewriting(
    program: Program,
    rules: Rule | Iterable[Rule],
    *,
    keep: Iterable[Variable | str] = (),
    rounds: int = 1,
    explain: bool = True,
) -> Rewriting:
    """What :func:`rewrite` does, with what came of each place.

    Args:
        program, rules, keep, rounds: as of :func:`rewrite`.
        explain: whether places where nothing was done are listed, too.

    Returns:
        the program, and the places.

    >>> x = fluid.data("x", [None, 3], "float32")
    >>> y = fluid.layers.relu(fluid.layers.tanh(x))
    >>> once = fluid.transform.Rule(
    ...     lambda x: fluid.layers.relu(fluid.layers.relu(x)),
    ...     lambda x: fluid.layers.relu(x),
    ...     name="once",
    ... )
    >>> fluid.transform.rewriting(fluid.default_main_program(), once).places[0].reason
    "'tanh_0.tmp_0' is written by `tanh`, expected `relu`"
    """
    listed = one_or_several(rules, Rule, "rules")
    for each in listed:
        if not isinstance(each, Rule):
            raise refused("rewrite", "rules", "rules", each)
    if not isinstance(program, Program):
        raise refused("rewrite", "program", "a program", program)
    if isinstance(rounds, bool) or not isinstance(rounds, int) or rounds < 1:
        raise ArgumentError(f"expected rounds to be an integer of at least 1, got {rounds!r}")
    wanted = frozenset(_kept_name(each, program) for each in keep)
    variants = [variant for each in listed for variant in variants_of(each)]
    places: list[Outcome] = []
    settled = False
    with collector_paused():
        for number in range(1, rounds + 1):
            round = _Round(variants, wanted, explain, number)
            changed = verified(program, round.apply, round.known)
            places += round.places
            settled = not round.count
            if settled:
                break
            program = changed
    copied = program.clone() if settled and number == 1 else program
    return Rewriting(copied, tuple(places), settled)


def _kept_name(given: Variable | str, program: Program) -> str:
    name = given.name if isinstance(given, Variable) else given
    if not isinstance(name, str):
        raise refused("rewrite", "keep", "variables or their names", given)
    if not any(name in block.vars for block in program.blocks):
        known = [name for block in program.blocks for name in block.vars]
        raise UnknownVariableError(
            f"keep has {name!r}, which is no variable of the program{suggestion(name, known)}"
        )
    return name


_NOTHING = Mismatch(-1, str)


class _Round:
    """One application of rules to a program.

    Args:
        variants: of the patterns, in the order in which they are tried.
        keep: names that are to be fetched.
        explain: whether to say why places are left as they are.
        number: of the round.
    """

    def __init__(
        self, variants: Iterable[Variant], keep: Collection[str], explain: bool, number: int
    ) -> None:
        self.keep = keep
        self.explain = explain
        self.number = number
        self.places: list[Outcome] = []
        self.count = 0
        self._templates = Templates()
        #: of the block at hand: position -> the operators that stand in front of it now
        self._added: dict[int, list[Operator]] = {}
        #: identities of those among them that only copy
        self._copies: set[int] = set()
        #: names that no operator of it may write any more
        self._lost: set[str] = set()
        self._reshaped = False  #: whether a result is known better than what it replaces
        #: operators that fit what is declared, or are as they were
        self.known: set[Operator] = set()
        self._unknown: set[Operator] = set()
        #: identity of an operator -> its position as the user knows it
        self._numbers: dict[int, int] = {}
        #: type of an operator -> the patterns that may end there
        self._by_type: dict[str, list[Variant]] = {}
        for variant in variants:
            for each in variant.root.accepts:
                self._by_type.setdefault(each, []).append(variant)

    def apply(self, program: Program) -> None:
        """Change a program."""
        if not any(op.type in self._by_type for block in program.blocks for op in block.ops):
            return
        self._numbers = {id(op): at for block in program.blocks for at, op in enumerate(block.ops)}
        sections = GradientSections(program)
        sections.take_out()
        gone: set[str] = set()
        for block, needed in zip(
            program.blocks, needed_names(program, {*self.keep, *sections.needed}), strict=True
        ):
            gone |= self._rewrite(block, needed, sections)
        drop_unused(program, gone)
        if not self._reshaped:
            self.known.update(*(block.ops for block in program.blocks))
            self.known -= self._unknown
        derived = sections.put_back(self.count > 0)
        if not self._reshaped and not self._unknown:
            self.known.update(derived)
        if self._reshaped:
            infer_shapes(program)

    def _rewrite(self, block: Block, needed: set[str], sections: GradientSections) -> set[str]:
        """Rewrite a block; the names that its operators do not mention any more."""
        if not any(op.type in self._by_type for op in block.ops):
            return set()
        values = BlockValues(block, needed, self._numbers)
        added = self._added = dict[int, list[Operator]]()
        copies, self._lost = set[int](), set()
        self._copies = copies
        of_variants: dict[int, Matcher] = {}
        by_type: dict[str, list[Matcher]] = {}
        for type, variants in self._by_type.items():
            for variant in variants:
                matcher = of_variants.get(id(variant)) or Matcher(variant, values, self.explain)
                of_variants[id(variant)] = matcher
                by_type.setdefault(type, []).append(matcher)
        for at, op in enumerate(values.ops):
            matchers = by_type.get(op.type)
            if matchers is not None:
                self._replace_at(at, op, matchers, sections)
        if not added:
            return set()
        ops: list[Operator] = []
        for at, op in enumerate(values.ops):
            ops += added.get(at, ())
            if at not in values.gone:
                ops.append(op)
        ops, unread = forwarded(ops, copies, values)
        block.set_ops(ops)
        return unread | self._lost

    def _replace_at(
        self, at: int, op: Operator, matchers: Sequence[Matcher], sections: GradientSections
    ) -> None:
        """Replace the first match at an operator; notes what came of each rule."""
        #: by rule, of the graph that came furthest
        failures: dict[Rule, Mismatch] = {}
        values = matchers[0].values
        why = _why_left(values, at, op)
        if why:
            failures = dict.fromkeys(
                [matcher.variant.rule for matcher in matchers], Mismatch(0, partial(str, why))
            )
            matchers = ()
        for matcher in matchers:
            variant = matcher.variant
            rule, match, failure = variant.rule, matcher.match(at), matcher.failure
            if match is not None:
                refusal = self._replace(match, sections)
                if refusal is None:
                    failures.pop(rule, None)
                    self._note_failures(failures, values, at)
                    self._note(rule, values, at, "")
                    return
                failure = Mismatch(len(variant.nodes) + 1, partial(str, refusal.reason))
            if failure is not None and failure.depth > failures.get(rule, _NOTHING).depth:
                failures[rule] = failure
        self._note_failures(failures, values, at)

    def _replace(self, match: Match, sections: GradientSections) -> Refusal | None:
        """Replace a match; why it stays, where it does."""
        rule, values = match.variant.rule, match.values
        if rule.where is not None:
            operands = operands_of(match, match.variant.operands)
            try:
                holds = rule.where(**arguments_of(match, rule.asked, operands))
            except Exception as error:
                raise _failed(rule, "condition", error, match) from error
            if not holds:
                return Refusal("its condition says no")
        removed = removed_by(match, sections)
        if isinstance(removed, Refusal):
            return removed
        try:
            template = self._templates.of(match)
            self._reshaped = check_results(match, template) or self._reshaped
        except FluidError as error:
            raise with_context(error, f"  at {values.said(match.root)}") from error.__cause__
        position = position_for(match, removed, template)
        if isinstance(position, Refusal):
            return position
        reads = [match.found[name] for name in template.operands]
        ops, copies = operators_in_place(match, template)
        if not template.is_right:
            self._unknown.update(ops)
        values.replace(position, removed, reads, match.results)
        for at in removed:
            for names in values.ops[at].outputs.values():
                self._lost.update(names)
        self._lost.difference_update([name for name, _ in match.results])
        there = self._added.get(position)
        if there is None:
            self._added[position] = ops
        else:
            there += ops
        if copies:
            self._added[position] += copies
            self._copies.update(map(id, copies))
        return None

    def _note_failures(
        self, failures: Mapping[Rule, Mismatch], values: BlockValues, at: int
    ) -> None:
        """Note why rules were not applied."""
        if failures and self.explain:
            for rule, failure in failures.items():
                self._note(rule, values, at, failure.reason())

    def _note(self, rule: Rule, values: BlockValues, at: int, reason: str) -> None:
        self.count += not reason
        if self.explain or not reason:
            op, block = values.ops[at], values.block.idx
            position = self._numbers[id(op)]
            self.places.append(
                Outcome(rule.name, block, position, op.type, op.callsite, reason, self.number)
            )


def _why_left(values: BlockValues, at: int, op: Operator) -> str:
    """Why rules leave an operator as it is, whatever they are; empty where they need not."""
    if at in values.gone:
        return "it is a part of another match"
    return f"it {role}" if op.role and (role := refused_role(op)) else ""


def _failed(rule: Rule, what: str, error: Exception, match: Match) -> RewriteError:
    return RewriteError(
        f"rule {rule.name!r}: its {what} fails: {type(error).__name__}: {error}\n"
        f"  at {match.values.said(match.root)}"
    )
