"""Which names statements assign, read, and change in place."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from typing import Any

#: methods that change a list in place
CHANGING = ("append", "pop")
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_INNER = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


class _Names(ast.NodeVisitor):
    def __init__(self) -> None:
        self.assigned: dict[str, None] = {}
        self.read: dict[str, None] = {}
        self.lists: dict[str, None] = {}
        self.shared: dict[str, None] = {}
        self._hidden: list[set[str]] = []

    def visit_Name(self, node: ast.Name) -> None:
        if any(node.id in names for names in self._hidden):
            return
        if isinstance(node.ctx, ast.Load):
            self.read[node.id] = None
        else:
            self.assigned[node.id] = None

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        if isinstance(node.target, ast.Name):
            self.read[node.target.id] = None
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        found = node.func
        method = isinstance(found, ast.Attribute) and found.attr in CHANGING
        if method and isinstance(found.value, ast.Name):  # type: ignore[attr-defined]
            self.lists[found.value.id] = None  # type: ignore[attr-defined]
        self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> None:
        for target in node.targets:
            if isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
                self.lists[target.value.id] = None
        self.generic_visit(node)

    def visit_Global(self, node: ast.Global) -> None:
        self.shared.update(dict.fromkeys(node.names))

    def visit_Import(self, node: Any) -> None:
        for alias in node.names:
            self.assigned[(alias.asname or alias.name).split(".")[0]] = None

    visit_ImportFrom = visit_Import

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        if node.name:
            self.assigned[node.name] = None
        self.generic_visit(node)

    def visit_scope(self, node: Any) -> None:
        if not isinstance(node, ast.Lambda):
            self.assigned[node.name] = None
            for child in node.decorator_list:
                self.visit(child)
        inner = _Names()
        body = node.body if isinstance(node.body, list) else [node.body]
        for child in body:
            inner.visit(child)
        own: set[str] = set(inner.assigned)
        if not isinstance(node, ast.ClassDef):
            args = node.args
            for arg in (*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg):
                if arg is not None:
                    own.add(arg.arg)
            for default in (*args.defaults, *args.kw_defaults):
                if default is not None:
                    self.visit(default)
        outer = {n for each in ast.walk(node) if isinstance(each, ast.Nonlocal) for n in each.names}
        for name in inner.read:
            if name not in own or name in outer:
                self.read[name] = None
        self.assigned.update(dict.fromkeys(outer))

    visit_FunctionDef = visit_AsyncFunctionDef = visit_Lambda = visit_ClassDef = visit_scope

    def visit_inner(self, node: Any) -> None:
        hidden = {
            each.id
            for part in node.generators
            for each in ast.walk(part.target)
            if isinstance(each, ast.Name)
        }
        self.visit(node.generators[0].iter)
        self._hidden.append(hidden)
        self.generic_visit(node)
        self._hidden.pop()

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = visit_inner

    def generic_visit(self, node: ast.AST) -> None:
        name = getattr(node, "name", None)
        if type(node).__name__ in ("MatchAs", "MatchStar") and name:
            self.assigned[name] = None
        super().generic_visit(node)


def names_of(nodes: ast.AST | Iterable[ast.AST]) -> _Names:
    """The names that nodes assign and read, in the scope that they stand in."""
    found = _Names()
    for node in [nodes] if isinstance(nodes, ast.AST) else nodes:
        found.visit(node)
    return found


def contains(nodes: Iterable[ast.AST], kinds: Any, loops: bool = True) -> bool:
    """Whether a node of a kind stands in statements, not in functions within them.

    Args:
        nodes: statements.
        kinds: of nodes.
        loops: whether to look into loops.
    """
    for node in nodes:
        if isinstance(node, kinds):
            return True
        if isinstance(node, _SCOPES):
            continue
        if not loops and isinstance(node, (ast.For, ast.While)):
            if contains(node.orelse, kinds, loops):
                return True
            continue
        if contains(ast.iter_child_nodes(node), kinds, loops):
            return True
    return False


def read_first(body: Sequence[ast.stmt]) -> set[str]:
    """The names that statements may read before they assign them."""
    known: set[str] = set()
    reads: set[str] = set()
    for statement in body:
        names = names_of(statement)
        reads |= set(names.read).union(names.lists) - known
        if isinstance(statement, ast.Assign):
            for target in statement.targets:
                known.update(n.id for n in ast.walk(target) if isinstance(n, ast.Name))
    return reads
