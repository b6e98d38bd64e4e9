"""Faults made mechanically in the functions of a source file, one at a time.

A fault is named by the function, the text of what it changes, and what it puts there, never by a
line's number, so that a list of faults stays true while the files around them change.
"""

from __future__ import annotations

import ast
import copy
import hashlib
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import CodeType
from typing import Any

ROOT = Path(__file__).resolve().parents[3]
LIST = Path(__file__).with_name("list.json")

OPERATORS = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.Pow: ast.Mult,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
COMPARISONS = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
NAMES = {
    "min": "max",
    "minimum": "maximum",
    "argmin": "argmax",
    "sum": "mean",
    "any": "all",
    "floor": "ceil",
    "zeros": "ones",
    "zeros_like": "ones_like",
    "log": "exp",
    "sin": "cos",
    "less_than": "less_equal",
    "greater_than": "greater_equal",
    "append": "remove",
    "elementwise_add": "elementwise_sub",
    "reduce_sum": "reduce_mean",
    "isnan": "isinf",
}
NAMES.update({b: a for a, b in list(NAMES.items())})
#: what these say is read by people, or by tools
SPOKEN = {"__repr__", "__str__", "_repr_html_"}

Path_ = tuple[tuple[str, int | None], ...]


@dataclass(frozen=True)
class Fault:
    """One change of one function.

    Args:
        file: below the root of the repository.
        function: its qualified name; lambdas belong to the function around them.
        line: the first line of the statement, stripped.
        kind: what was done.
        before: the text that is replaced.
        after: the text in its place.
        nth: which of those that agree in all of this.
    """

    file: str
    function: str
    line: str
    kind: str
    before: str
    after: str
    nth: int = 0

    def __str__(self) -> str:
        what = f"{self.before}  ->  {self.after}" if len(self.before) < 60 else self.kind
        return f"{self.file}, {self.function}: {what}"

    def rank(self, seed: int) -> bytes:
        """A random number that depends on the fault alone: new files do not change it."""
        return hashlib.sha256(f"{seed} {self!r}".encode()).digest()


@dataclass(frozen=True)
class Site:
    """Where a fault is made: the way to the node, what comes there, the function around it."""

    fault: Fault
    path: Path_
    replacement: Any
    inner: tuple[str, int]  #: name and first line of the innermost function


def listed() -> list[dict[str, Any]]:
    """The entries of the list."""
    return json.loads(LIST.read_text(encoding="utf-8")) if LIST.exists() else []


def fault_of(entry: dict[str, Any]) -> Fault:
    return Fault(**{name: entry[name] for name in Fault.__dataclass_fields__})


def written(entries: list[dict[str, Any]]) -> None:
    """Write the list, in the order of files and functions; an entry a paragraph."""
    entries = sorted(entries, key=lambda e: (e["file"], e["function"], e["line"], e["kind"]))
    text = json.dumps(entries, indent=1, ensure_ascii=False)
    LIST.write_text(text + "\n", encoding="utf-8")


def sites(file: str) -> list[Site]:
    """All faults that can be made in a file, in the order of the text."""
    source = (ROOT / file).read_text(encoding="utf-8")
    finder = Finder(file, source)
    finder.walk(ast.parse(source), (), (), ("", 0), None)
    return finder.found


def mutated(site: Site) -> ast.Module:
    """The syntax tree of the file with that fault."""
    tree = ast.parse((ROOT / site.fault.file).read_text(encoding="utf-8"))
    node: Any = tree
    for field, index in site.path[:-1]:
        node = getattr(node, field) if index is None else getattr(node, field)[index]
    field, index = site.path[-1]
    if index is None:
        setattr(node, field, copy.deepcopy(site.replacement))
    else:
        getattr(node, field)[index] = copy.deepcopy(site.replacement)
    return ast.fix_missing_locations(tree)


def changed_code(site: Site) -> list[tuple[CodeType, CodeType]]:
    """The code of the functions that the fault changes, without it and with it."""
    name = str(ROOT / site.fault.file)
    source = (ROOT / site.fault.file).read_text(encoding="utf-8")
    good = dict(code_objects(compile(source, name, "exec", dont_inherit=True)))
    bad = dict(code_objects(compile(mutated(site), name, "exec", dont_inherit=True)))
    return [
        (code, bad[key])
        for key, code in good.items()
        if key in bad and bad[key] != code and bad[key].co_freevars == code.co_freevars
    ]


def code_objects(code: CodeType) -> Iterator[tuple[Any, CodeType]]:
    """The functions in compiled code, outer ones first, each with a name of its own."""
    met: Counter[Any] = Counter()

    def inside(code: CodeType, names: tuple[str, ...]) -> Iterator[tuple[Any, CodeType]]:
        for constant in code.co_consts:
            if isinstance(constant, CodeType):
                key = (*names, constant.co_name, constant.co_firstlineno)
                met[key] += 1
                yield (key, met[key]), constant
                yield from inside(constant, (*names, constant.co_name))

    return inside(code, ())


class Finder:
    """Collects the sites of one file."""

    def __init__(self, file: str, source: str) -> None:
        self.file, self.source = file, source
        self.lines = source.splitlines()
        self.found: list[Site] = []
        self.met: Counter[Fault] = Counter()

    def walk(
        self,
        node: ast.AST,
        path: Path_,
        names: tuple[str, ...],
        inner: tuple[str, int],
        statement: ast.stmt | None,
    ) -> None:
        """Visit a node and what is in it."""
        if isinstance(node, (ast.Raise, ast.JoinedStr, ast.Import, ast.ImportFrom, ast.Assert)):
            return
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "warn":
            return
        if isinstance(node, ast.stmt):
            statement = node
        if inner[1] and statement is not None and isinstance(node, (ast.stmt, ast.expr)):
            for kind, replacement in changes(node):
                self.add(node, kind, replacement, path, names, inner, statement)
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            if node.name in SPOKEN:
                return
            names = (*names, node.name)
        for field, value in ast.iter_fields(node):
            within = inner
            if isinstance(node, ast.FunctionDef):
                if field != "body":
                    continue
                first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
                within = (node.name, first)
            elif isinstance(node, ast.Lambda) and field == "body" and inner[1]:
                within = ("<lambda>", node.lineno)
            elif field in ("annotation", "returns", "decorator_list", "bases", "keywords_"):
                continue
            if isinstance(value, list):
                for k, each in enumerate(value):
                    if isinstance(each, ast.AST):
                        self.walk(each, (*path, (field, k)), names, within, statement)
            elif isinstance(value, ast.AST):
                self.walk(value, (*path, (field, None)), names, within, statement)

    def add(self, node, kind, replacement, path, names, inner, statement) -> None:
        before = ast.unparse(node) if not isinstance(node, ast.stmt) else self.head(node)
        after = ast.unparse(replacement)
        if isinstance(node, ast.stmt) and kind in ("condition negated", "condition removed"):
            after = "if " + ast.unparse(replacement.test) + ":"
        one = Fault(
            self.file, ".".join(names), self.head(statement), kind, " ".join(before.split()), after
        )
        nth = self.met[one]
        self.met[one] += 1
        fault = Fault(*(getattr(one, f) for f in list(Fault.__dataclass_fields__)[:-1]), nth)
        self.found.append(Site(fault, path, replacement, inner))

    def head(self, statement: ast.stmt) -> str:
        """The first line of a statement."""
        return self.lines[statement.lineno - 1].strip()


def changes(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """What is done to a node: a word for it, and the node in its place."""
    for type_, function in CHANGES.items():
        if isinstance(node, type_):
            yield from function(node)


def _with(node: Any, **fields: Any) -> Any:
    """A copy of a node with other fields."""
    found = copy.copy(node)
    for name, value in fields.items():
        setattr(found, name, value)
    return found


def _of_binary(node: ast.BinOp) -> Iterator[tuple[str, ast.AST]]:
    if isinstance(node.left, (ast.Constant, ast.JoinedStr)) and isinstance(
        getattr(node.left, "value", ""), str
    ):
        return  # texts are put together
    if type(node.op) in OPERATORS:
        yield "other operator", _with(node, op=OPERATORS[type(node.op)]())
    if isinstance(node.op, (ast.Sub, ast.Div, ast.FloorDiv, ast.Pow, ast.MatMult, ast.Mod)):
        yield "operands swapped", _with(node, left=node.right, right=node.left)
    if isinstance(node.op, (ast.Add, ast.Sub, ast.Mult, ast.Div)):
        yield "second operand dropped", node.left
    if isinstance(node.op, (ast.Add, ast.Mult)):
        yield "first operand dropped", node.right


def _of_comparison(node: ast.Compare) -> Iterator[tuple[str, ast.AST]]:
    if type(node.ops[0]) in COMPARISONS:
        yield "other comparison", _with(node, ops=[COMPARISONS[type(node.ops[0])](), *node.ops[1:]])


def _of_boolean(node: ast.BoolOp) -> Iterator[tuple[str, ast.AST]]:
    yield (
        "and for or, or for and",
        _with(node, op=ast.Or() if isinstance(node.op, ast.And) else ast.And()),
    )
    for k in range(len(node.values)):
        rest = node.values[:k] + node.values[k + 1 :]
        yield ("condition dropped", rest[0] if len(rest) == 1 else _with(node, values=rest))


def _of_unary(node: ast.UnaryOp) -> Iterator[tuple[str, ast.AST]]:
    if isinstance(node.op, (ast.USub, ast.Not, ast.Invert)):
        yield "negation dropped", node.operand


def _of_constant(node: ast.Constant) -> Iterator[tuple[str, ast.AST]]:
    if isinstance(node.value, bool):
        yield "other truth", ast.Constant(not node.value)
    elif isinstance(node.value, int):
        yield "off by one", ast.Constant(node.value + 1)
    elif isinstance(node.value, float):
        yield "other number", ast.Constant(node.value * 2 or 1.0)


def _of_condition(node: ast.If) -> Iterator[tuple[str, ast.AST]]:
    yield "condition negated", _with(node, test=ast.UnaryOp(ast.Not(), node.test))
    yield "condition removed", _with(node, test=ast.Constant(True))
    yield "condition removed", _with(node, test=ast.Constant(False))


def _of_choice(node: ast.IfExp) -> Iterator[tuple[str, ast.AST]]:
    yield "choices swapped", _with(node, body=node.orelse, orelse=node.body)


def _of_call(node: ast.Call) -> Iterator[tuple[str, ast.AST]]:
    first = node.args[:2]
    if len({ast.dump(a) for a in first if not isinstance(a, ast.Starred)}) == 2:
        yield "arguments swapped", _with(node, args=[*reversed(first), *node.args[2:]])
    named = [k for k, keyword in enumerate(node.keywords) if keyword.arg]
    for k in named:
        if not (isinstance(node.func, ast.Name) and node.func.id == "dict"):
            rest = node.keywords[:k] + node.keywords[k + 1 :]
            yield "argument dropped", _with(node, keywords=rest)
    if len(named) >= 2 and isinstance(node.func, ast.Name) and node.func.id == "dict":
        a, b = node.keywords[named[0]], node.keywords[named[1]]
        swapped = [_with(a, value=b.value), _with(b, value=a.value)]
        others = [k for n, k in enumerate(node.keywords) if n not in named[:2]]
        yield "slots swapped", _with(node, keywords=[*swapped, *others])
    if isinstance(node.func, ast.Attribute) and node.func.attr in NAMES:
        other = _with(node.func, attr=NAMES[node.func.attr])
        yield "other function", _with(node, func=other)
    elif isinstance(node.func, ast.Name) and node.func.id in ("min", "max", "any", "all"):
        yield "other function", _with(node, func=ast.Name(NAMES[node.func.id], ast.Load()))


def _of_slice(node: ast.Slice) -> Iterator[tuple[str, ast.AST]]:
    if node.lower is not None and node.upper is None:
        yield "bounds swapped", _with(node, lower=None, upper=node.lower)
    elif node.upper is not None and node.lower is None:
        yield "bounds swapped", _with(node, lower=node.upper, upper=None)


def _of_return(node: ast.Return) -> Iterator[tuple[str, ast.AST]]:
    if node.value is not None and not isinstance(node.value, ast.Constant):
        yield "nothing returned", _with(node, value=ast.Constant(None))


def _of_added(node: ast.AugAssign) -> Iterator[tuple[str, ast.AST]]:
    yield "assigned, not added", ast.Assign([node.target], node.value, lineno=node.lineno)
    if type(node.op) in OPERATORS:
        yield "other operator", _with(node, op=OPERATORS[type(node.op)]())


def _of_statement(node: ast.Expr) -> Iterator[tuple[str, ast.AST]]:
    if isinstance(node.value, ast.Call):
        yield "statement removed", ast.Pass()


def _of_jump(node: ast.stmt) -> Iterator[tuple[str, ast.AST]]:
    yield "statement removed", ast.Pass()


CHANGES: dict[Any, Any] = {
    ast.BinOp: _of_binary,
    ast.Compare: _of_comparison,
    ast.BoolOp: _of_boolean,
    ast.UnaryOp: _of_unary,
    ast.Constant: _of_constant,
    ast.If: _of_condition,
    ast.IfExp: _of_choice,
    ast.Call: _of_call,
    ast.Slice: _of_slice,
    ast.Return: _of_return,
    ast.AugAssign: _of_added,
    ast.Expr: _of_statement,
    (ast.Continue, ast.Break): _of_jump,
}
