"""Statements and expressions of Python as calls of what decides when it is known what they get.

The branches and bodies become functions within the function; the values that they assign stay
names of it (``nonlocal``), which what is called finds in their cells.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from typing import Any

from .jumps import RETURNS, JumpLowering, assigned, name
from .names import CHANGING, contains, names_of, read_first
from .source import RUNTIME

_JUMPS = (ast.Return, ast.Break, ast.Continue)
_COMPARED = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}


def _call(function: str, *args: Any) -> ast.Call:
    """A call of the runtime."""
    what = ast.Attribute(value=name(RUNTIME), attr=function, ctx=ast.Load())
    nodes: list[Any] = [
        each if isinstance(each, ast.AST) else ast.Constant(value=each) for each in args
    ]
    return ast.Call(func=what, args=nodes, keywords=[])


def _lambda(body: ast.expr) -> ast.Lambda:
    none = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])
    return ast.Lambda(args=none, body=body)


def _texts(names: Iterable[str]) -> ast.Tuple:
    return ast.Tuple(elts=[ast.Constant(value=n) for n in names], ctx=ast.Load())


def _assigned(body: Sequence[ast.stmt], names: Sequence[str], live: Sequence[str]) -> ast.Call:
    """What statements assign, as the runtime gets it."""
    lists = [n for n in names_of(body).lists if n in names]
    return _call("assigned", _texts(names), _texts(lists), _texts(live))


def _placed(node: Any, at: ast.AST) -> Any:
    return ast.fix_missing_locations(ast.copy_location(node, at))


class Rewriter(ast.NodeTransformer):
    """Rewrites one function.

    Args:
        tree: its definition.
    """

    def __init__(self, tree: ast.FunctionDef) -> None:
        self._tree = tree
        self._count = 0
        self._moved: set[str] = set()
        args = tree.args
        given = (*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg)
        self._args = {arg.arg for arg in given if arg is not None}
        #: names that a nonlocal statement shares with a function around
        self._free = {
            n
            for each in ast.walk(ast.Module(body=tree.body, type_ignores=[]))
            if isinstance(each, ast.Nonlocal)
            for n in each.names
        }

    def function(self) -> ast.FunctionDef:
        """The function, rewritten."""
        tree = self._tree
        tree.body = JumpLowering().function(tree.body)
        found = names_of(tree.body)
        self._shared = set(found.shared)
        self._own = (set(found.assigned) | self._args) - self._shared
        self._read_counts = _counted(tree.body)
        tree.body = self._all(tree.body)
        moved = sorted(self._moved - self._args - self._free)
        if moved:
            targets: list[ast.expr] = [name(n, True) for n in moved]
            declare = ast.Assign(targets=targets, value=ast.Constant(value=None))
            here = ast.If(test=ast.Constant(value=0), body=[declare], orelse=[])
            place = 1 if ast.get_docstring(tree, clean=False) is not None else 0
            tree.body.insert(place, _placed(here, tree.body[0]))
        return tree

    def _all(self, body: Sequence[ast.stmt]) -> list[ast.stmt]:
        statements: list[ast.stmt] = []
        for each in body:
            found = self.visit(each)
            statements += found if isinstance(found, list) else [found]
        return statements

    def _stem(self, what: str) -> str:
        self._count += 1
        return f"_{what}_{self._count}"

    def _function(
        self, stem: str, body: list[ast.stmt], names: Sequence[str], arg: str | None = None
    ) -> ast.FunctionDef:
        """A function within the function that assigns names of it."""
        given = [ast.arg(arg=arg)] if arg else []
        args = ast.arguments(posonlyargs=[], args=given, kwonlyargs=[], kw_defaults=[], defaults=[])
        shared = [n for n in self._shared if n in names_of(body).assigned]
        start: list[ast.stmt] = [ast.Global(names=shared)] if shared else []
        if names:
            start.append(ast.Nonlocal(names=list(names)))
        self._moved = self._moved | set(names)
        function = ast.FunctionDef(
            name=stem, args=args, body=[*start, *body], decorator_list=[], returns=None
        )
        if "type_params" in function._fields:
            function.type_params = []  # type: ignore[attr-defined]
        return function

    def _changed(self, body: Sequence[ast.stmt]) -> list[str]:
        """The names of the function that statements assign."""
        found = names_of(body)
        both = dict.fromkeys((*found.assigned, *found.lists))
        return [n for n in both if n in self._own]

    def _live(self, body: Sequence[ast.stmt], names: Sequence[str], first: set[str]) -> list[str]:
        """Of names that statements assign, those that are read elsewhere, or are among the first
        reads.
        """
        inside = _counted(body)
        return [n for n in names if n in first or self._read_counts.get(n, 0) > inside.get(n, 0)]

    # -- statements ------------------------------------------------------------------------------

    def visit_If(self, node: ast.If) -> Any:
        returns = getattr(node, RETURNS, False)
        if not returns and contains([node], _JUMPS, loops=False):
            node.test = self._plain(node.test, "if")
            node.body, node.orelse = self._all(node.body), self._all(node.orelse)
            return node
        both = [*node.body, *node.orelse]
        names = self._changed(both)
        told = _assigned(both, names, self._live(both, names, set()))
        statements: list[Any] = []
        functions: list[ast.expr] = []
        for stem, body in (("true", node.body), ("false", node.orelse)):
            if not body:
                functions.append(ast.Constant(value=None))
                continue
            stem = self._stem(stem)
            statements.append(_placed(self._function(stem, self._all(body), names), body[0]))
            functions.append(name(stem))
        call = _call("choose" if returns else "if_", self.visit(node.test), *functions, told)
        end: ast.stmt = ast.Return(value=call) if returns else ast.Expr(value=call)
        return [*statements, _placed(end, node)]

    def _plain(self, node: ast.expr, what: str) -> ast.expr:
        """What decides in Python only, in a statement that stays."""
        found: ast.expr = _placed(_call("plain", self.visit(node), what), node)
        return found

    def visit_While(self, node: ast.While) -> Any:
        if contains(node.body, _JUMPS, loops=False):  # in a try, or in a branch that stays Python
            node.test, node.body = self._plain(node.test, "while"), self._all(node.body)
            return node
        return self._loop(node, "while_", _lambda(self.visit(node.test)))

    def visit_For(self, node: ast.For) -> Any:
        if contains(node.body, _JUMPS, loops=False):
            node.iter, node.body = self._plain(node.iter, "for"), self._all(node.body)
            return node
        item = self._stem("item")
        taken = _placed(ast.Assign(targets=[node.target], value=name(item)), node.target)
        return self._loop(node, "for_", self.visit(node.iter), [taken], item)

    def _loop(
        self,
        node: ast.While | ast.For,
        function: str,
        over: ast.expr,
        before: Sequence[ast.stmt] = (),
        item: str | None = None,
    ) -> list[ast.stmt]:
        """The body of a loop as a function, and a call that repeats it.

        Args:
            node: the loop.
            function: what repeats it.
            over: its first argument.
            before: statements in front of the body.
            item: the argument of the body.
        """
        whole = [*before, *node.body]
        names = self._changed(whole)
        told = _assigned(whole, names, self._live(whole, names, read_first(whole)))
        stem, first = self._stem("body"), node.body[0]
        body = self._function(stem, [*before, *self._all(node.body)], names, item)
        stop = getattr(node, "stop", None)
        ends = _lambda(name(stop)) if stop else None
        call = ast.Expr(value=_call(function, over, name(stem), ends, told))
        return [_placed(body, first), _placed(call, node)]

    def visit_Assert(self, node: ast.Assert) -> Any:
        message = _lambda(self.visit(node.msg)) if node.msg else None
        check = _call("assert_", _lambda(self.visit(node.test)), message)
        return _placed(ast.Expr(value=check), node)

    def visit_Raise(self, node: ast.Raise) -> Any:
        self.generic_visit(node)
        return [_placed(ast.Expr(value=_call("raises")), node), node]

    def visit_Expr(self, node: ast.Expr) -> Any:
        method = _changing(node.value)
        if method is None or method.value.id not in self._own:
            self.generic_visit(node)
            return node
        assert isinstance(node.value, ast.Call)
        arguments = [self.visit(each) for each in node.value.args]
        target = method.value.id
        if method.attr == "append" and len(arguments) == 1:
            return _placed(assigned(target, _call("append", name(target), *arguments), node), node)
        return _placed(ast.Expr(value=_call("pop", name(target), *arguments)), node)

    def visit_Assign(self, node: ast.Assign) -> Any:
        only = node.targets[0]
        if (
            len(node.targets) == 1
            and isinstance(only, ast.Subscript)
            and isinstance(only.value, ast.Name)
            and only.value.id in self._own
        ):
            place, value = self.visit(only.slice), self.visit(node.value)
            target = only.value.id
            put = _call("set_item", name(target), place, value)
            return _placed(assigned(target, put, node), node)
        self.generic_visit(node)
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        node.decorator_list = [self.visit(each) for each in node.decorator_list]
        if not contains(node.body, (ast.Yield, ast.YieldFrom)):
            Rewriter(node).function()
        return node

    def visit_AsyncFunctionDef(self, node: Any) -> Any:
        return node

    visit_ClassDef = visit_AsyncFunctionDef

    # -- expressions -----------------------------------------------------------------------------

    def visit_BoolOp(self, node: ast.BoolOp) -> Any:
        if _binds(node):
            return node
        self.generic_visit(node)
        kind = "and_" if isinstance(node.op, ast.And) else "or_"
        return _placed(_call(kind, *[_lambda(each) for each in node.values]), node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> Any:
        self.generic_visit(node)
        return _placed(_call("not_", node.operand), node) if isinstance(node.op, ast.Not) else node

    def visit_IfExp(self, node: ast.IfExp) -> Any:
        if _binds(node):
            return node
        self.generic_visit(node)
        return _placed(_call("if_value", node.test, _lambda(node.body), _lambda(node.orelse)), node)

    def visit_Compare(self, node: ast.Compare) -> Any:
        node.left = self._operand(node.left)
        node.comparators = [self._operand(each) for each in node.comparators]
        if len(node.ops) == 1 or _binds(node) or any(type(op) not in _COMPARED for op in node.ops):
            return node
        parts: list[Any] = [node.left]
        for op, each in zip(node.ops, node.comparators):
            parts += [_COMPARED[type(op)], _lambda(each)]
        return _placed(_call("chain", *parts), node)

    def visit_BinOp(self, node: ast.BinOp) -> Any:
        node.left, node.right = self._operand(node.left), self._operand(node.right)
        return node

    def _operand(self, node: ast.expr) -> Any:
        """An operand; one that the function did not make may be a tensor."""
        operand = self.visit(node)
        outer = isinstance(node, ast.Attribute) and node.attr != "shape"
        if isinstance(node, ast.Name):
            outer = node.id not in self._own
        return _placed(_call("value", operand), node) if outer else operand

    def visit_Call(self, node: ast.Call) -> Any:
        found = _changing(node)
        if found is not None and found.attr == "pop" and found.value.id in self._own:
            given = [self.visit(each) for each in node.args]
            return _placed(_call("pop", name(found.value.id), *given), node)
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id in ("super", "locals", "globals"):
            return node
        node.func = _placed(_call("call", node.func), node.func)
        return node

    def visit_Attribute(self, node: ast.Attribute) -> Any:
        self.generic_visit(node)
        if node.attr == "shape" and isinstance(node.ctx, ast.Load):
            return _placed(_call("shape", node.value), node)
        return node

    def visit_Subscript(self, node: ast.Subscript) -> Any:
        self.generic_visit(node)
        if isinstance(node.ctx, ast.Load) and not isinstance(node.slice, ast.Slice):
            parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else []
            if not any(isinstance(each, ast.Slice) for each in parts):
                return _placed(_call("item", node.value, node.slice), node)
        return node


def _changing(node: Any) -> Any:
    """The ``a.append`` of a call ``a.append(...)``, where it changes a list."""
    found = node.func if isinstance(node, ast.Call) and not node.keywords else None
    if not isinstance(found, ast.Attribute) or found.attr not in CHANGING:
        return None
    return found if isinstance(found.value, ast.Name) else None


def _binds(node: ast.AST) -> bool:
    """Whether an expression assigns a name, which it could not in a function of its own."""
    return any(isinstance(each, (ast.NamedExpr, ast.Await)) for each in ast.walk(node))


def _counted(body: Iterable[ast.AST]) -> dict[str, int]:
    """How often each name is read, or may be."""
    counts: dict[str, int] = {}
    for node in body:
        for part in ast.walk(node):
            taken: list[Any] = [part] if isinstance(part, ast.Name) else []
            taken += [part.target] if isinstance(part, ast.AugAssign) else []
            for one in taken:
                if isinstance(one, ast.Name) and (one is not part or isinstance(one.ctx, ast.Load)):
                    counts[one.id] = counts.get(one.id, 0) + 1
            if isinstance(part, (ast.For, ast.While)) and getattr(part, "stop", None):
                counts[part.stop] = counts.get(part.stop, 0) + 1  # type: ignore[union-attr]
    return counts
