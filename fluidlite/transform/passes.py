"""Passes over programs: functions of a program, with what they need, give and keep."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from ..errors import ArgumentError, FluidError, PassError, suggestion, with_text
from ..ground.contracts import Condition, Contract, Invariant
from ..ir.program import Program
from .editing import transformed

#: a function that changes the program that it is given, or gives another one
Change = Callable[..., Program | None]


@dataclass(frozen=True)
class ProgramPass:
    """A pass: called with a program, it gives a changed one, and leaves the first as it is.

    Made by :func:`program_pass`.

    Args:
        name: for pipelines and messages.
        change: changes the copy that it is given, or gives another program.
        contract: what it needs, gives and keeps.
        options: arguments of ``change`` beside the program.

    >>> @fluid.transform.program_pass
    ... def unchanged(program):
    ...     return program
    >>> type(unchanged).__name__
    'ProgramPass'
    """

    name: str
    change: Change
    contract: Contract[Program] = field(default_factory=Contract)
    options: Mapping[str, Any] = field(default_factory=dict)

    def __call__(self, program: Program, **options: Any) -> Program:
        """The changed program, its shapes inferred, its rules verified, the contract kept.

        Args:
            program: stays as it is.
            options: of this call, beside those of the pass.

        Raises:
            PassError: the program is not what the pass needs; or the pass breaks its contract.
            VerifyError: the pass gives a program that breaks a rule.
            ArgumentError: the pass has no option of a name.
        """
        if options:
            return self.with_options(**options)(program)
        if not isinstance(program, Program):
            raise ArgumentError(
                f"{self.name}: expected a program, got {program!r:.60} of type "
                f"{type(program).__name__}"
            )
        facts = self.contract.before(self.name, program)
        try:
            changed = transformed(program, self._applied)
        except FluidError as error:
            raise with_text(error, f"pass {self}: {error}") from error.__cause__
        self.contract.behind(self.name, changed, facts)
        return changed

    def _applied(self, copied: Program) -> Program | None:
        other = self.change(copied, **self.options)
        if other is not None and not isinstance(other, Program):
            raise PassError(
                f"expected a program, or None where the pass changed the one that it was given; "
                f"got {other!r:.60} of type {type(other).__name__}"
            )
        return other

    def with_options(self, **options: Any) -> ProgramPass:
        """The pass with other options.

        Raises:
            ArgumentError: it has no option of a name.
        """
        known = self.option_names
        for name in options:
            if known is not None and name not in known:
                listed = ", ".join(known) or "none"
                raise ArgumentError(
                    f"pass {self.name} has no option {name!r}{suggestion(name, known)}; "
                    f"it has {listed}"
                )
        return replace(self, options={**self.options, **options})

    @property
    def option_names(self) -> list[str] | None:
        """The names of its options; None where it takes any."""
        more = list(inspect.signature(self.change).parameters.values())[1:]
        if any(p.kind is p.VAR_KEYWORD for p in more):
            return None
        return [p.name for p in more if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]

    def __str__(self) -> str:
        told = ", ".join(f"{name}={value!r}" for name, value in self.options.items())
        return f"{self.name}({told})" if told else self.name


def program_pass(
    change: Change | None = None,
    *,
    name: str | None = None,
    needs: Sequence[Condition[Program]] = (),
    gives: Sequence[Condition[Program]] = (),
    keeps: Sequence[Invariant[Program]] = (),
) -> Any:
    """A decorator that makes a pass of a function of a program.

    The function is given a copy.  It changes that, or gives another program; what follows its
    first parameter are the options of the pass.

    Args:
        change: the function, where the decorator has no arguments.
        name: of the pass; the function's when None.
        needs: conditions that have to hold before.
        gives: conditions that hold behind it.
        keeps: what is the same before and behind it.

    >>> from fluidlite import transform
    >>> @transform.program_pass(keeps=[transform.conditions.interface])
    ... def less_dropout(program, most=0.1):
    ...     for op in program.global_block().ops:
    ...         if op.type == "dropout":
    ...             op.set_attr("dropout_prob", min(op.attr("dropout_prob"), most))
    >>> y = fluid.layers.dropout(fluid.data("x", [2]), 0.5)
    >>> changed = less_dropout(fluid.default_main_program(), most=0.25)
    >>> [op.attr("dropout_prob") for op in changed.global_block().ops]
    [0.25]
    """
    if change is None:
        return partial(program_pass, name=name, needs=needs, gives=gives, keeps=keeps)
    contract = Contract(tuple(needs), tuple(gives), tuple(keeps))
    made = ProgramPass(name or change.__name__, change, contract)
    object.__setattr__(made, "__doc__", change.__doc__)
    return made
