"""In what one program differs from another: what a pass, or a step of building, changed."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..errors import ArgumentError
from ..ground.quoting import escaping, markup
from ..ir.block import Block
from ..ir.operator import Operator
from ..ir.program import Program
from ..ir.text import operator_text, variable_text
from .graph import ROLES, role_of

_CONTEXT = 2  # equal operators around those that differ
_STYLES = {
    "+": "background:#1a7f3722;color:#1a7f37",
    "-": "background:#cf222e22;color:#cf222e",
    "~": "background:#9a670022;color:#9a6700",
    " ": "",
    "#": "font-weight:600",
}


@dataclass(frozen=True)
class Line:
    """One line of differences."""

    mark: str  #: "+" only after, "-" only before, "~" changed, " " the same, "#" a heading
    text: str
    block: int
    what: str  #: "variable", "operator", "program" or ""

    @escaping
    def __str__(self) -> str:
        indent = "" if self.mark == "#" else "  "
        return f"{indent}{self.text}" if self.mark == "#" else f"{indent}{self.mark} {self.text}"


@dataclass(frozen=True)
class Difference:
    """In what a program differs from the one before; false when it does not.

    >>> x = fluid.data("x", [None, 3])
    >>> before = fluid.default_main_program().clone()
    >>> y = fluid.layers.relu(x)
    >>> difference = fluid.inspect.diff(before, fluid.default_main_program())
    >>> bool(difference), difference.roles
    (True, (('forward', 1),))
    """

    lines: tuple[Line, ...]
    roles: tuple[tuple[str, int], ...]  #: how many of the added operators are for what

    def __bool__(self) -> bool:
        return bool(self.lines)

    def select(self, mark: str, what: str) -> list[str]:
        """The texts of what was added (``"+"``), left out (``"-"``) or changed (``"~"``).

        Args:
            mark: one of these.
            what: "variable" or "operator".
        """
        return [line.text for line in self.lines if line.mark == mark and line.what == what]

    @property
    def headline(self) -> str:
        """How much differs, in a line."""
        if not self:
            return "no differences"
        parts = []
        for what in ("operator", "variable"):
            for mark, word in (("+", "added"), ("-", "left out"), ("~", "changed")):
                count = len(self.select(mark, what))
                if count:
                    text = f"{count} {what}{'s' * (count > 1)} {word}"
                    if (mark, what) == ("+", "operator"):
                        text += f" ({', '.join(f'{n} {role}' for role, n in self.roles)})"
                    parts.append(text)
        parts += [line.text for line in self.lines if line.what == "program"]
        return "; ".join(parts) or "blocks without operators differ"

    @escaping
    def __str__(self) -> str:
        return "\n".join([self.headline, *map(str, self.lines if self else ())])

    def _repr_html_(self) -> str:
        return self.to_html()

    def to_html(self) -> str:
        """The differences in colours; marks say the same as the colours."""
        rows = [
            f'<div style="{_STYLES[line.mark]};white-space:pre-wrap;padding-left:4.5em;'
            f'text-indent:-3.5em">{markup(str(line))}</div>'
            for line in (self.lines if self else ())
        ]
        style = "font:12.5px/1.5 ui-monospace,monospace"
        return f'<div style="{style}"><b>{markup(self.headline)}</b>{"".join(rows)}</div>'


def diff(before: Program, after: Program) -> Difference:
    """In what a program differs from the one before.

    The order of operators counts, that of variables does not; nor do the lines that made them.

    Args:
        before, after: the programs.

    Raises:
        ArgumentError: one of them is no program.

    >>> x = fluid.data("x", [None, 3])
    >>> before = fluid.default_main_program().clone()
    >>> y = fluid.layers.relu(x)
    >>> print(fluid.inspect.diff(before, fluid.default_main_program()))
    1 operator added (1 forward); 1 variable added
    block 0
      + var relu_0.tmp_0: float32[-1, 3]
      + relu_0.tmp_0 = relu(X=x)
    """
    for program in (before, after):
        if not isinstance(program, Program):
            raise ArgumentError(
                f"expected two programs to compare, got {program!r:.60} of type "
                f"{type(program).__name__}"
            )
    lines: list[Line] = []
    added: Counter[str] = Counter()
    if before.random_seed != after.random_seed:
        text = f"random seed {before.random_seed} -> {after.random_seed}"
        lines.append(Line("~", text, 0, "program"))
    for index in range(max(before.num_blocks, after.num_blocks)):
        old, new = (p.blocks[index] if index < p.num_blocks else None for p in (before, after))
        found = [*_variables(index, old, new), *_operators(index, old, new, added)]
        if old is None or new is None or any(line.mark != " " for line in found):
            lines += [Line("#", f"block {index}{_fate(old, new)}", index, ""), *found]
    roles = tuple((role, added[role]) for role in ROLES if added[role])
    return Difference(tuple(lines), roles)


def _fate(before: Block | None, after: Block | None) -> str:
    if before is None:
        return ", which is new"
    return ", which is left out" if after is None else ""


def _variables(index: int, before: Block | None, after: Block | None) -> Iterator[Line]:
    old = {} if before is None else before.vars
    new = {} if after is None else after.vars
    for name, variable in old.items():
        text = variable_text(variable)
        if name not in new:
            yield Line("-", text, index, "variable")
        elif text != (now := variable_text(new[name])):
            yield Line("~", f"{text}  ->  {now}", index, "variable")
    for name, variable in new.items():
        if name not in old:
            yield Line("+", variable_text(variable), index, "variable")


def _operators(
    index: int, before: Block | None, after: Block | None, added: Counter[str]
) -> Iterator[Line]:
    old = [] if before is None else before.ops
    new = [] if after is None else after.ops
    matcher = difflib.SequenceMatcher(
        None, [_key(op) for op in old], [_key(op) for op in new], autojunk=False
    )
    for tag, i, j, k, m in matcher.get_opcodes():
        if tag == "equal":
            yield from _equal(index, old[i:j], i == 0, j == len(old))
            continue
        yield from _replaced(index, old[i:j], new[k:m], added)


def _equal(index: int, ops: Sequence[Operator], is_first: bool, is_last: bool) -> Iterator[Line]:
    """Those of a row of equal operators that stand beside others."""
    head = 0 if is_first else _CONTEXT
    tail = 0 if is_last else _CONTEXT
    if len(ops) <= head + tail + 1:
        head, tail = len(ops), 0
    for op in ops[:head]:
        yield Line(" ", operator_text(op), index, "operator")
    hidden = len(ops) - head - tail
    if hidden:
        yield Line(" ", f"... {hidden} operators that are the same", index, "")
    for op in ops[len(ops) - tail :]:
        yield Line(" ", operator_text(op), index, "operator")


def _replaced(
    index: int, old: Sequence[Operator], new: Sequence[Operator], added: Counter[str]
) -> Iterator[Line]:
    """Operators that differ; those of one type that write the same count as changed."""
    partners: dict[object, list[Operator]] = {}
    for op in old:
        partners.setdefault((op.type, *op.outputs.items()), []).append(op)
    changed: dict[int, Operator] = {}
    for op in new:
        waiting = partners.get((op.type, *op.outputs.items()))
        if waiting:
            changed[id(op)] = waiting.pop(0)
    gone = {id(op) for op in changed.values()}
    for op in old:
        if id(op) not in gone:
            yield Line("-", operator_text(op), index, "operator")
    for op in new:
        partner = changed.get(id(op))
        if partner is None:
            added[role_of(op)] += 1
            yield Line("+", operator_text(op), index, "operator")
        else:
            yield Line("~", f"{operator_text(op)}  ({_change(partner, op)})", index, "operator")


def _key(op: Operator) -> tuple[object, ...]:
    return operator_text(op), int(op.role), op.role_vars, op.namescope, op.device


def _change(a: Operator, b: Operator) -> str:
    """In what two operators of one type with the same outputs differ."""
    differences = []
    for slot in dict.fromkeys((*a.inputs, *b.inputs)):
        old, new = (", ".join(op.inputs.get(slot, ())) or "nothing" for op in (a, b))
        if old != new:
            differences.append(f"{slot}: {old} -> {new}")
    for name in dict.fromkeys((*a.attrs, *b.attrs)):
        old, new = (_value(op, name) for op in (a, b))
        if old != new:
            differences.append(f"{name}: {old} -> {new}")
    for field in ("role", "role_vars", "namescope", "device"):
        old, new = (str(getattr(op, field)) for op in (a, b))
        if old != new:
            differences.append(f"{field}: {old} -> {new}")
    return "; ".join(differences)


def _value(op: Operator, name: str) -> str:
    definition = op.definition
    if name in op.attrs:
        return str(op.attrs[name])
    declared = None if definition is None else definition.attributes.get(name)
    return "absent" if declared is None else str(declared.default)
