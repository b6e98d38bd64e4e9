"""What a notebook shows: HTML without scripts, in which text is only text."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from html import escape
from typing import Any

from ..ground.quoting import markup, python_comment
from ..ground.values import on_host
from ..ir.block import Block
from ..ir.highlight import spans
from ..ir.operator import Operator
from ..ir.program import Program
from ..ir.text import SECTIONS, operator_text, variable_text
from ..ir.variable import Variable
from ..runtime.plan import Plan
from ..scope import Scope
from .folding import VISIBLE
from .graph import role_of
from .html import to_html
from .memory import memory_timeline
from .operators import explain
from .stepping import Trace
from .value_summary import digest_of

_LONGEST = 60  # lines of a program that are shown; Page and print show all
_WIDEST = 240  # letters of a line that are shown
_FONT = "font:12.5px/1.5 ui-monospace,monospace"
_EDGES = {
    "forward": "#0072b2",
    "backward": "#c2500a",
    "optimize": "#0b7d5a",
    "learning rate": "#9b4d82",
}
_STYLES = {
    "comment": "opacity:.6",
    "string": "color:#1a7f37",
    "word": "font-weight:600",
    "type": "color:#0969da",
    "number": "color:#9a6700",
    "call": "font-weight:600",
    "section": "font-weight:600",
}


def html_of(shown: Any) -> str:
    """What a notebook shows of a program, a block, an operator, a variable, a scope or a plan."""
    forms: dict[type, Callable[[Any], str]] = {
        Program: _of_program,
        Block: partial(_of_block, is_open=True),
        Operator: _of_operator,
        Variable: _of_variable,
        Scope: _of_scope,
        Plan: _of_plan,
    }
    for kind, form in forms.items():
        if isinstance(shown, kind):
            return form(shown)
    return f"<pre>{markup(repr(shown))}</pre>"


class Page:
    """A program as a page in a notebook, to be searched, folded and clicked.

    Args:
        program: what to show.
        trace: a run whose values are shown.
        height: of the page, in pixels.
        visible: how many nodes may be seen at first.

    >>> y = fluid.layers.relu(fluid.data("x", [8, 4]))
    >>> fluid.inspect.Page(fluid.default_main_program())
    <Page of Program: 1 blocks, 1 operators, 0 parameters>
    """

    def __init__(
        self,
        program: Program,
        trace: Trace | None = None,
        height: int = 620,
        visible: int = VISIBLE,
    ) -> None:
        self._page = to_html(program, trace=trace, visible=visible)
        self._height = int(height)
        self._shown = repr(program)[1:-1]

    def __repr__(self) -> str:
        return f"<Page of {self._shown}>"

    def _repr_html_(self) -> str:
        return (
            f'<iframe srcdoc="{escape(self._page)}" sandbox="allow-scripts" '
            f'style="width:100%;height:{self._height}px;border:1px solid #8885"></iframe>'
        )


def _of_program(program: Program) -> str:
    """The program cut to some lines, which its first blocks get: a notebook keeps what it shows."""
    left, blocks = _LONGEST, []
    for block in program.blocks:
        blocks.append(_of_block(block, is_open=block.idx == 0, most=left))
        left = max(left - len(block.ops), 0)
    hidden = sum(len(b.ops) for b in program.blocks) - _LONGEST
    all_of_it = "<div>Page(program) of fluid.inspect shows all of it</div>" if hidden > 0 else ""
    return f"<div><b>{markup(repr(program)[1:-1])}</b>{''.join(blocks)}{all_of_it}</div>"


def _of_block(block: Block, is_open: bool, most: int = _LONGEST) -> str:
    head = f"block {block.idx}: {len(block.vars)} variables, {len(block.ops)} operators"
    if block.parent_idx >= 0:
        head += f", in block {block.parent_idx}"
    variables = "".join(_line(variable_text(v)) for v in list(block.vars.values())[:most])
    variables += _rest(len(block.vars), most)
    return (
        f"<details{' open' if is_open else ''}><summary>{markup(head)}</summary>"
        f'<details style="margin-left:1em"><summary>variables</summary>'
        f'<div style="{_FONT}">{variables}</div></details>'
        f'<div style="{_FONT};margin-left:1em">{"".join(_operators(block, most))}</div></details>'
    )


def _operators(block: Block, most: int) -> Iterator[str]:
    """Lines, with the role in words where it changes and as a coloured edge everywhere."""
    role = 0
    for op in block.ops[:most]:
        if op.role != role:
            role = op.role
            words = SECTIONS.get(role, f"role {int(role)}")
            yield f"<div>&mdash; {markup(words)} &mdash;</div>"
        site = "" if op.callsite is None else f"  # {python_comment(str(op.callsite))}"
        yield _line(operator_text(op) + site, _EDGES[role_of(op)])
    yield _rest(len(block.ops), most)


def _rest(count: int, most: int = _LONGEST) -> str:
    return f"<div>... and {count - most} more</div>" if count > most else ""


def _line(text: str, edge: str = "") -> str:
    """A line of a program's text in colours."""
    text = text if len(text) <= _WIDEST else f"{text[:_WIDEST]} ..."
    parts, at = [], 0
    for kind, start, end in spans(text):
        parts.append(markup(text[at:start]))
        parts.append(f'<span style="{_STYLES[kind]}">{markup(text[start:end])}</span>')
        at = end
    parts.append(markup(text[at:]))
    border = f"border-left:3px solid {edge};" if edge else ""
    style = f"{border}padding-left:.6em;white-space:pre-wrap;overflow-wrap:anywhere"
    return f'<div style="{style}">{"".join(parts)}</div>'


def _of_operator(op: Operator) -> str:
    if any(each is op for each in op.block.ops):
        told: str = explain(op)._repr_html_()
        return told
    return f'<div style="{_FONT}">{_line(operator_text(op))}</div>'


def _of_variable(variable: Variable) -> str:
    maker = variable.op
    rows = [_line(variable_text(variable))]
    if maker is not None:
        site = "" if maker.callsite is None else f"  # {python_comment(str(maker.callsite))}"
        rows.append("<div>written last by</div>")
        rows.append(_line(operator_text(maker) + site, _EDGES[role_of(maker)]))
    return f'<div style="{_FONT}">{"".join(rows)}</div>'


def _of_scope(scope: Scope) -> str:
    rows = []
    for held in list(scope)[:_LONGEST]:
        value = "no value" if held.value is None else str(digest_of(on_host(held.value)))
        rows.append(f"<tr><td>{markup(held.name)}</td><td>{markup(value)}</td></tr>")
    count = len(scope.local_var_names())
    table = f'<table style="{_FONT};text-align:left">{"".join(rows)}</table>'
    return f"<b>Scope of {count} variables</b>{table}{_rest(count)}"


def _of_plan(plan: Plan) -> str:
    return memory_timeline(plan)._repr_html_()
