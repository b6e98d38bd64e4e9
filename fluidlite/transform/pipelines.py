"""Passes in a row, and the program behind each of them."""

from __future__ import annotations

import ast
import os
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import ArgumentError, FluidError, ParseError, suggestion, with_text
from ..ground.files import write_text
from ..ground.quoting import escaping, markup
from ..ground.reprs import Described
from ..inspect.diff import Difference, diff
from ..ir.program import Program
from .equivalence import compare
from .passes import ProgramPass
from .selecting import one_or_several


@dataclass(frozen=True)
class ProgramStage:
    """A program behind a pass, and in what it differs from the one before.

    >>> @fluid.transform.program_pass
    ... def clean(program):
    ...     return fluid.transform.simplify(program)
    >>> y = fluid.layers.scale(fluid.data("x", [2]), 3.0)
    >>> stages = fluid.transform.Pipeline([clean]).run(fluid.default_main_program()).stages
    >>> [stage.name for stage in stages]
    ['input', 'clean']
    """

    name: str  #: of the pass and its options; "input" for the program that the pipeline was given
    program: Program
    difference: Difference | None  #: None of the first one
    seconds: float

    @escaping
    def __str__(self) -> str:
        if self.difference is None:
            return f"== {self.name}\n{self.program}"
        return f"== {self.name}: {self.difference}"


@dataclass(frozen=True)
class Staged:
    """A pipeline's result: the program, and the stages on the way.

    >>> @fluid.transform.program_pass
    ... def shared(program):
    ...     return fluid.transform.share(program)
    >>> x = fluid.data("x", [2])
    >>> y = fluid.layers.exp(x) + fluid.layers.exp(x)
    >>> staged = fluid.transform.Pipeline([shared]).run(fluid.default_main_program())
    >>> len(staged.program.global_block().ops), len(staged.stages)
    (2, 2)
    """

    program: Program
    stages: tuple[ProgramStage, ...]

    @escaping
    def __str__(self) -> str:
        return "\n".join(str(stage) for stage in self.stages[1:]) or "no passes"

    def to_html(self, path: str | os.PathLike[str] | None = None) -> str:
        """A page with what each pass changed, in colours.

        Args:
            path: where to write it; it is only returned when None.
        """
        parts = [
            f"<h2>{markup(stage.name)}</h2><p>{stage.seconds * 1e3:.1f} ms</p>"
            f"{stage.difference.to_html()}"
            for stage in self.stages
            if stage.difference is not None
        ]
        page = f"<!DOCTYPE html><meta charset='utf-8'><title>passes</title>{''.join(parts)}\n"
        if path is not None:
            write_text(path, page, "backslashreplace")
        return page

    def _repr_html_(self) -> str:
        return self.to_html()


class Pipeline(Described):
    """Passes in a row: called with a program, it gives what the last of them gives.

    Args:
        passes: in order.
        check: feeds with which the program is run behind each pass, and compared with the one
            before: results and gradients; None for no comparison.

    Raises:
        ArgumentError: one is no pass.

    >>> from fluidlite import transform
    >>> @transform.program_pass
    ... def doubled(program):
    ...     program.global_block().ops[0].set_attr("scale", 2.0)
    >>> y = fluid.layers.scale(fluid.data("x", [2]))
    >>> staged = transform.Pipeline([doubled]).run(fluid.default_main_program())
    >>> print(staged)
    == doubled: 1 operator changed
    block 0
      ~ scale_0.tmp_0 = scale(X=x, scale=2.0)  (scale: 1.0 -> 2.0)
    """

    def __init__(
        self, passes: Iterable[ProgramPass] | ProgramPass, check: Mapping[str, Any] | None = None
    ) -> None:
        listed = one_or_several(passes, ProgramPass, "passes, as program_pass makes them")
        for pass_ in listed:
            if not isinstance(pass_, ProgramPass):
                raise ArgumentError(
                    f"expected passes, as program_pass makes them, got {pass_!r:.60} of type "
                    f"{type(pass_).__name__}"
                )
        self.passes: tuple[ProgramPass, ...] = tuple(listed)
        self.check: Mapping[str, Any] | None = check

    def __call__(self, program: Program) -> Program:
        """The program behind the last pass; the one that was given stays as it is."""
        for pass_ in self.passes:
            program = self._applied(pass_, program)
        return program

    def run(self, program: Program) -> Staged:
        """The program behind the last pass, and all stages on the way."""
        return Staged(*self._staged(program))

    def _staged(self, program: Program) -> tuple[Program, tuple[ProgramStage, ...]]:
        stages = [ProgramStage("input", program, None, 0.0)]
        for pass_ in self.passes:
            begin = time.perf_counter()
            changed = self._applied(pass_, program)
            seconds = time.perf_counter() - begin
            stages.append(ProgramStage(str(pass_), changed, diff(program, changed), seconds))
            program = changed
        return program, tuple(stages)

    def _applied(self, pass_: ProgramPass, program: Program) -> Program:
        changed = pass_(program)
        if self.check is not None:
            try:
                compare(program, changed, self.check)
            except FluidError as error:
                raise with_text(error, f"behind pass {pass_}: {error}") from error.__cause__
        return changed

    def __str__(self) -> str:
        return ",".join(map(str, self.passes))

    @classmethod
    def parse(cls, text: str, known: Mapping[str, ProgramPass]) -> Pipeline:
        """The pipeline that a text describes: names of passes with their options.

        Args:
            text: ``fold_constants, less_dropout(most=0.25)``; options are literals of Python.
            known: passes by name.

        Raises:
            ParseError: the text is no list of passes.
            ArgumentError: there is no pass, or no option, of a name.
        """
        try:
            listed = ast.parse(f"[{text}\n]", mode="eval").body
            entries = [_entry(node) for node in listed.elts]  # type: ignore[attr-defined]
        except (SyntaxError, ValueError, AttributeError, RecursionError, MemoryError):
            raise ParseError(
                f"expected passes as name, or name(option=value), with commas between, got "
                f"{text!r:.120}"
            ) from None
        passes = []
        for name, options in entries:
            if name not in known:
                listed_names = ", ".join(sorted(known)) or "none"
                raise ArgumentError(
                    f"there is no pass {name!r}{suggestion(name, known)}; there are {listed_names}"
                )
            passes.append(known[name].with_options(**options))
        return cls(passes)


def _entry(node: ast.expr) -> tuple[str, dict[str, Any]]:
    """The name of a pass, and its options."""
    options: dict[str, Any] = {}
    if isinstance(node, ast.Call) and not node.args:
        for keyword in node.keywords:
            if keyword.arg is None:
                raise ValueError
            options[keyword.arg] = ast.literal_eval(keyword.value)
        node = node.func
    if not isinstance(node, ast.Name):
        raise ValueError
    return node.id, options
