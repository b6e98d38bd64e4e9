"""Simpler programs by laws of algebra, with the derivation."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ..errors import ArgumentError
from ..ground.console import say
from ..ground.quoting import escaping
from ..ir.analysis import reads_of, undeclared_inside, writes_of
from ..ir.operator import OpRole
from ..ir.program import Program
from ..ir.variable import Variable
from .editing import verified
from .expansion import expand
from .formulas import Formula, formula
from .laws import LAWS, Law
from .rewriting import rewriting
from .selecting import names_in_block_0
from .sharing import drop_unneeded, share
from .specialization import fold_constants

_ROUNDS = 100  #: applications of laws, at most


@dataclass(frozen=True, repr=False)
class Simplification:
    """What :func:`simplification` did: a program, and how it came about.

    >>> x = fluid.data("x", [2])
    >>> y = fluid.layers.scale(fluid.layers.scale(x, 2.0), 3.0)
    >>> result = fluid.transform.simplification(fluid.default_main_program(), [y])
    """

    program: Program
    #: names of laws, and the formula behind each that changes it; the first one is what was given
    steps: tuple[tuple[str, Formula], ...]

    @escaping
    def __str__(self) -> str:
        first, *others = self.steps
        lines = [str(first[1])]
        for law, each in others:
            lines += [f"-- {law}", str(each)]
        return "\n".join(lines)

    __repr__ = __str__


def simplify(
    program: Program,
    outputs: Iterable[Variable | str] | Variable | str | None = None,
    *,
    laws: Sequence[Law] = LAWS,
    exact: bool = False,
    explain: bool = False,
) -> Program:
    """A program that computes the same with fewer operators, by laws of algebra.

    Gradient operators whose shapes are known are written out first, so that gradients are
    simplified as well.  Constants are folded, what is computed twice is computed once, and what
    the outputs do not depend on is left out.  Values are the same but for rounding, where all are
    finite; with ``exact`` every bit stays, but for the sign of zero.

    Args:
        program: stays as it is.
        outputs: variables of block 0 to keep; when None, those that no operator reads.
        laws: in the order in which they are tried.
        exact: only laws, and foldings, that keep every bit.
        explain: print the derivation: formula, law, formula.

    >>> from fluidlite import transform
    >>> x = fluid.data("x", [3])
    >>> y = fluid.layers.log(fluid.layers.exp(x)) + 1.0 * x
    >>> simple = transform.simplify(fluid.default_main_program(), y, explain=True)
    tmp_1 = log(exp(x)) + x
    -- log(exp(x)) = x
    tmp_1 = x + x
    -- x + x = 2 x
    tmp_1 = 2.0 * x
    """
    done = simplification(program, outputs, laws=laws, exact=exact, formulas=explain)
    if explain:
        say(done)
    return done.program


def simplification(
    program: Program,
    outputs: Iterable[Variable | str] | Variable | str | None = None,
    *,
    laws: Sequence[Law] = LAWS,
    exact: bool = False,
    formulas: bool = True,
) -> Simplification:
    """What :func:`simplify` does, with its steps.

    Args:
        program, outputs, laws, exact: as of :func:`simplify`.
        formulas: whether each law is applied by itself, and the formula behind it kept.

    >>> y = fluid.layers.scale(fluid.data("x", [2]), 1.0)
    >>> print(fluid.transform.simplification(fluid.default_main_program(), y))
    scale_0.tmp_0 = x
    """
    for law in laws:
        if not isinstance(law, Law):
            raise ArgumentError(f"expected laws, got {law!r:.60} of type {type(law).__name__}")
    goals = _goals(program, outputs)
    chosen = [law for law in laws if law.exact or not exact]
    steps: list[tuple[str, Formula]] = []

    def note(law: str) -> None:
        if formulas:
            found = formula(current, goals)
            if not steps or str(found) != str(steps[-1][1]):
                steps.append((law, found))

    current = program
    note("given")
    roles = _roles(program)
    if not exact and _can_expand(program):
        current = expand(current)
        roles = _roles(current)
        note("gradients, written out")
    current = fold_constants(_without_roles(current), keep=goals)
    if formulas and len(current.global_block().ops) < len(program.global_block().ops):
        note("what is constant, computed")
    groups = [[law] for law in chosen] if formulas else [chosen]
    for _ in range(_ROUNDS):
        current = drop_unneeded(share(current, goals), set(goals))
        for group in groups:
            done = rewriting(current, [law.rule for law in group], keep=goals, explain=False)
            if done.count:
                current = done.program
                note(group[0].name)
                break
        else:
            break
    current = drop_unneeded(share(fold_constants(current, keep=goals), goals), set(goals))
    return Simplification(_with_roles(current, roles), tuple(steps))


def _goals(
    program: Program, outputs: Iterable[Variable | str] | Variable | str | None
) -> list[str]:
    if outputs is not None:
        return names_in_block_0(program, outputs)
    block = program.global_block()
    read = {name for op in block.ops if op.type != "fetch" for name in reads_of(op)}
    written = dict.fromkeys(name for op in block.ops for name in writes_of(op))
    return [name for name in written if name not in read and name in block.vars]


def _can_expand(program: Program) -> bool:
    """Whether there are gradient operators, all of whose inputs have known sizes."""
    undeclared = undeclared_inside(program)
    derived = [
        op
        for block in program.blocks
        for op in block.ops
        if getattr(op.definition, "derived_from", None) is not None
        and undeclared.get(block.idx, set()).isdisjoint(op.input_arg_names)  # others stay
    ]
    read = (op.block.find_var_recursive(n) for op in derived for n in op.input_arg_names)
    return bool(derived) and all(v is not None and v.has_shape and -1 not in v.shape for v in read)


# -- roles -----------------------------------------------------------------------------------------

_Role = tuple[int, tuple[str, ...]]


def _roles(program: Program) -> dict[str, _Role]:
    """What the operators that write names of block 0 are for."""
    return {
        name: (int(op.role), tuple(op.role_vars))
        for op in program.global_block().ops
        for name in writes_of(op)
    }


def _without_roles(program: Program) -> Program:
    """A program whose operators that compute gradients are ones like others."""

    def change(copied: Program) -> None:
        for op in copied.global_block().ops:
            if op.role & (OpRole.BACKWARD | OpRole.LOSS) and not op.role & OpRole.OPTIMIZE:
                op.role, op.role_vars = OpRole.FORWARD, ()

    return verified(program, change)


def _with_roles(program: Program, roles: dict[str, _Role]) -> Program:
    """A program whose operators are for what they were for; a new one is for what reads it."""

    def change(copied: Program) -> None:
        needed: dict[str, int] = {}
        for op in reversed(copied.global_block().ops):
            known = next((roles[n] for n in writes_of(op) if n in roles), None)
            if known is not None:
                op.role, op.role_vars = known
            elif not op.role:
                op.role = min((needed[n] for n in writes_of(op) if n in needed), default=0)
            for name in reads_of(op):
                needed[name] = min(
                    int(op.role) & OpRole.BACKWARD, needed.get(name, OpRole.BACKWARD)
                )

    return verified(program, change)
