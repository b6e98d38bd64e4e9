"""A program as one page to look into: it needs no network, and nothing else but a browser.

What comes from a program reaches the page as JSON and is shown as text, never as markup.  The
hashes name the page's own scripts, so that a browser runs no other.
"""

from __future__ import annotations

import base64
import hashlib
import inspect
import json
import linecache
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..errors import ArgumentError
from ..ground.files import write_text
from ..ground.quoting import json_in_markup, markup
from ..ir.operator import EMPTY, Operator
from ..ir.program import Program
from ..ir.text import operator_text, variable_text
from ..ir.variable import Parameter, Variable
from ..opdef.attribute import BlockRef
from .folding import VISIBLE, Folding, Group
from .graph import ROLES, ProgramGraph
from .stepping import Trace
from .value_summary import digest_of

_PAGE = Path(__file__).with_name("page")
_SCRIPTS = ("model.js", "view.js", "panel.js", "steps.js", "start.js")
_LONGEST = 2000  # letters of an attribute's value
_MOST_STEPS = 5000  # of a run, that the slider goes over: the last ones


def to_html(
    program: Program,
    path: str | os.PathLike[str] | None = None,
    *,
    title: str = "",
    trace: Trace | None = None,
    step: int | None = None,
    visible: int = VISIBLE,
) -> str:
    """A program as a self-contained page: its graph, to be searched, folded and clicked.

    Args:
        program: it need not be verified, and operators need not be defined.
        path: where to write the page; it is only returned when None.
        title: what stands above it; the file's name, or "program".
        trace: a run whose values are shown, from ``Executor.trace``; a slider goes through it.
        step: how many operators have been run where the slider stands at first; all when None.
        visible: how many nodes may be seen at first; what is more is folded.

    Returns:
        the page.

    Raises:
        ArgumentError: the first argument is no program, the trace is of another one, or has no such
            step.

    >>> x = fluid.data("x", [None, 3], "float32")
    >>> y = fluid.layers.fc(x, size=2)
    >>> page = fluid.inspect.to_html(fluid.default_main_program(), "net.html")
    >>> page[:15]
    '<!DOCTYPE html>'
    """
    if not isinstance(program, Program):
        raise ArgumentError(
            f"expected a Program to draw, got {program!r:.60} of type {type(program).__name__}"
        )
    if trace is not None and trace.program is not program:
        raise ArgumentError("the trace is of another program: trace the one that is drawn")
    last = 0 if trace is None else len(trace)
    if step is not None and not 0 <= step <= last:
        raise ArgumentError(f"expected a step from 0 to {last}, all of the trace, got {step}")
    if not title:
        title = "program" if path is None else Path(path).stem
    text = _filled(
        title=markup(title),
        about=markup(_about(program)),
        program=_json(page_data(program, trace, visible, step)),
    )
    if path is not None:
        write_text(path, text, "backslashreplace")
    return text


def _filled(**given: str) -> str:
    """The page with what differs from page to page filled in."""
    style = (_PAGE / "page.css").read_text(encoding="utf-8")
    parts = {
        name: (_PAGE / file).read_text(encoding="utf-8")
        for name, file in (("dagre", "dagre.min.js"), ("layout", "layout.js"))
    }
    own = "\n".join((_PAGE / name).read_text(encoding="utf-8") for name in _SCRIPTS)
    parts["script"] = f'"use strict";\n{own}'
    hashes = " ".join(_hash(text) for text in parts.values())
    parts["policy"] = (
        f"default-src 'none'; script-src {hashes}; style-src {_hash(style)}; "
        f"worker-src blob:; base-uri 'none'; form-action 'none'"
    )
    parts |= {"style": style, **given}
    pieces = (_PAGE / "page.html").read_text(encoding="utf-8").split("{{")
    filled = [pieces[0]]
    for piece in pieces[1:]:
        name, _, rest = piece.partition("}}")
        filled += [parts[name], rest]
    return "".join(filled)


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def _json(data: Any) -> str:
    """Data for the scripts of a page."""
    return json_in_markup(json.dumps(data, separators=(",", ":"), ensure_ascii=True))


def _about(program: Program) -> str:
    ops = sum(len(block.ops) for block in program.blocks)
    parameters = program.all_parameters()
    elements = sum(_size(p.shape) for p in parameters)
    parts = [f"{ops:,} operators", f"{len(parameters):,} parameters of {elements:,} elements"]
    if program.num_blocks > 1:
        parts.insert(0, f"{program.num_blocks} blocks")
    return ", ".join(parts)


def _size(shape: tuple[int, ...]) -> int:
    size = 1
    for n in shape:
        size *= max(n, 0)
    return size


# -- what the page holds ---------------------------------------------------------------------------


def page_data(
    program: Program, trace: Trace | None, visible: int, step: int | None = None
) -> dict[str, Any]:
    """A program as the scripts of the page take it.

    Args:
        program: what to show.
        trace: values to show, or None.
        visible: how many nodes may be seen at first.
        step: where the slider stands at first; at the end when None.
    """
    graph = ProgramGraph(program)
    folding = Folding(graph, visible)
    return {
        "ops": [_operator(graph, number, op) for number, op in enumerate(graph.ops)],
        "vars": [_variable(use.variable) for use in graph.variables],
        "edges": graph.edges,
        "given": graph.given,
        "groups": [_group(group) for group in folding.groups],
        "open": sorted(folding.open),
        "docs": _docs(graph),
        "steps": _steps(graph, trace, step),
    }


def _operator(graph: ProgramGraph, number: int, op: Operator) -> dict[str, Any]:
    return {
        "t": op.type,
        "r": ROLES.index(graph.roles[number]),
        "b": op.block.idx,
        "i": graph.position(number),
        "x": operator_text(op),
        "c": "" if op.callsite is None else str(op.callsite),
        "l": source_line(op),
        "f": graph.forward_of.get(number, -1),
        "in": _slots(graph, op, op.inputs),
        "out": _slots(graph, op, op.outputs),
        "a": [[name, _attribute(value)] for name, value in op.attrs.items()],
    }


def _slots(graph: ProgramGraph, op: Operator, slots: Mapping[str, tuple[str, ...]]) -> list[Any]:
    """Names by slot: numbers of variables, and texts where none is declared."""
    entries = []
    for slot, names in slots.items():
        references: list[int | str] = []
        for name in names:
            known = None if name == EMPTY else graph.variable_number(op.block, name)
            references.append(name if known is None else known)
        entries.append([slot, references])
    return entries


def _attribute(value: Any) -> str:
    text = f"block {value}" if isinstance(value, BlockRef) else str(value)
    if isinstance(value, tuple):
        text = f"[{', '.join(map(str, value))}]"
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}... ({len(text)} letters)"


def _variable(variable: Variable) -> dict[str, Any]:
    kind = "var"
    if isinstance(variable, Parameter):
        kind = "param"
    elif variable.is_data:
        kind = "data"
    elif variable.persistable:
        kind = "kept"
    return {"n": variable.name, "s": short_type(variable), "d": variable_text(variable), "k": kind}


def short_type(variable: Variable) -> str:
    """Element type and shape, as in ``float32[-1, 3]``; a float32 shows its shape alone."""
    shape = f"[{', '.join(map(str, variable.shape))}]" if variable.has_shape else "[?]"
    dtype = variable.dtype.plain if variable.has_dtype else "?"
    return shape if dtype == "float32" else dtype + shape


def source_line(op: Operator) -> str:
    """The user's line that made an operator; empty where it cannot be read.

    Only lines that this process has seen itself: a program file could name any file.
    """
    site = op.callsite
    if site is None or site.stack:
        return ""
    try:
        return linecache.getline(site.file, site.line).strip()
    except ValueError:  # no path can be like that
        return ""


def _group(group: Group) -> list[Any]:
    children = [-c.number if isinstance(c, Group) else c for c in group.children]
    role = ROLES.index(group.role) if group.role else 0
    return [group.label, group.kind, role, children]


def _docs(graph: ProgramGraph) -> dict[str, str]:
    """Type of operator -> what it computes, in a sentence."""
    docs = {}
    for op in graph.ops:
        if op.type not in docs:
            definition = op.definition
            text = inspect.getdoc(definition) if definition is not None else ""
            docs[op.type] = (text or "").partition("\n\n")[0].replace("\n", " ").replace("``", "")
    return docs


def _steps(graph: ProgramGraph, trace: Trace | None, at: int | None) -> dict[str, Any]:
    """A run: the values before it, [number of a variable, what is said of the value] each; of each
    operator that was run its number and the values that it wrote; and how many have been run where
    the slider stands first.  Of a long run the first steps are left out.
    """
    records = [] if trace is None else trace.records
    left_out = max(len(records) - _MOST_STEPS, 0)
    first_values: dict[int, Any] = {}
    written: set[int] = set()
    numbers = {id(op): number for number, op in enumerate(graph.ops)}
    ran: list[list[Any]] = []
    for record in records:
        op = record.op
        for number, value in _numbered(graph, op, record.inputs):
            if number not in written and number not in first_values:  # it came from outside
                first_values[number] = digest_of(value).as_json()
        outputs = _numbered(graph, op, record.outputs)
        written.update(number for number, _ in outputs)
        results = [(number, digest_of(value).as_json()) for number, value in outputs]
        if record.number < left_out:
            first_values.update(results)
        else:
            ran.append([numbers.get(id(op), -1), results])
    place = len(ran) if at is None else max(at - left_out, 0)
    return {"given": [*first_values.items()], "ran": ran, "before": left_out, "at": place}


def _numbered(
    graph: ProgramGraph, op: Operator, values: Mapping[str, Any]
) -> list[tuple[int, Any]]:
    """Values by number of a variable."""
    numbered: list[tuple[int, Any]] = []
    for name, value in values.items():
        number = graph.variable_number(op.block, name)
        if number is not None:
            numbered.append((number, value))
    return numbered
