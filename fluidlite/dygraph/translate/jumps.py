"""``return``, ``break`` and ``continue`` as flags and as functions of what follows.

Behind this, loops have none of them, and a branch with ``return`` is the last statement of its
function, with a ``return`` at the end of both ways.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Sequence
from typing import Any

from .names import contains, names_of

_JUMPS = (ast.Return, ast.Break, ast.Continue)
#: marks a branch of which both ways end with ``return``
RETURNS = "_both_ways_return"


def name(id: str, store: bool = False) -> ast.Name:
    """A name, read or assigned."""
    return ast.Name(id=id, ctx=ast.Store() if store else ast.Load())


def assigned(id: str, value: Any, at: ast.AST) -> ast.stmt:
    """A statement that assigns a value to a name, at the place of another node."""
    node: Any = value if isinstance(value, ast.AST) else ast.Constant(value=value)
    made = ast.Assign(targets=[name(id, True)], value=node)
    return ast.fix_missing_locations(ast.copy_location(made, at))


def _unless(flags: Sequence[str], body: list[ast.stmt], at: ast.AST) -> ast.stmt:
    reads: list[ast.expr] = [name(flag) for flag in flags]
    any_of = reads[0] if len(reads) == 1 else ast.BoolOp(op=ast.Or(), values=reads)
    made = ast.If(test=ast.UnaryOp(op=ast.Not(), operand=any_of), body=body, orelse=[])
    return ast.fix_missing_locations(ast.copy_location(made, at))


def _without(flag: str, body: Any) -> Any:
    """A statement without the assignments of a flag that nothing reads."""

    class Out(ast.NodeTransformer):
        def visit_Assign(self, node: ast.Assign) -> ast.AST:
            target = node.targets[0]
            own = isinstance(target, ast.Name) and target.id == flag
            return ast.copy_location(ast.Pass(), node) if own else node

    return Out().visit(body)


def falls_through(body: Sequence[ast.stmt]) -> bool:
    """Whether what stands behind statements may be reached."""
    if not body:
        return True
    last = body[-1]
    if isinstance(last, (*_JUMPS, ast.Raise)):
        return False
    if isinstance(last, ast.If):
        return falls_through(last.body) or falls_through(last.orelse)
    return not (isinstance(last, ast.With) and not falls_through(last.body))


class JumpLowering:
    """Lowers the jumps of one function."""

    def __init__(self) -> None:
        self._count = 0

    def function(self, body: list[ast.stmt]) -> list[ast.stmt]:
        """The body of a function."""
        return self._tail(self._loops(body))

    def _loops(self, body: Sequence[ast.stmt]) -> list[ast.stmt]:
        """Statements whose loops have no jumps, the innermost first."""
        statements: list[ast.stmt] = []
        for statement in body:
            for part in ("body", "orelse", "finalbody"):
                inner = getattr(statement, part, None)
                if isinstance(inner, list) and not isinstance(
                    statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
                ):
                    setattr(statement, part, self._loops(inner))
            for handler in getattr(statement, "handlers", ()):
                handler.body = self._loops(handler.body)
            if isinstance(statement, (ast.For, ast.While)):
                statements += self._loop(statement)
            else:
                statements.append(statement)
        return statements

    def _loop(self, loop: Any) -> list[ast.stmt]:
        self._count += 1
        end, skip = f"_break_{self._count}", f"_continue_{self._count}"
        back, value = f"_returned_{self._count}", f"_value_{self._count}"
        breaks = contains(loop.body, (ast.Break, ast.Return), loops=False)
        returns = contains(loop.body, ast.Return)
        before: list[ast.stmt] = []
        behind: list[ast.stmt] = []
        if breaks or contains(loop.body, ast.Continue, loops=False):
            loop.body = self._guarded(loop.body, (end, skip, back, value))
            if skip in names_of(loop.body).read:
                loop.body.insert(0, assigned(skip, False, loop))
            else:
                loop.body = [_without(skip, each) for each in loop.body]
        if breaks:
            loop.stop = end
            before.append(assigned(end, False, loop))
        if returns:
            before.append(assigned(back, False, loop))
            leave = ast.If(test=name(back), body=[ast.Return(value=name(value))], orelse=[])
            behind.append(ast.fix_missing_locations(ast.copy_location(leave, loop)))
        if loop.orelse:
            behind += [_unless([end], loop.orelse, loop)] if breaks else loop.orelse
            loop.orelse = []
        return [*before, loop, *behind]

    def _guarded(self, body: Sequence[ast.stmt], names: tuple[str, ...]) -> list[ast.stmt]:
        """Statements of a loop without jumps: what they would pass over stands under a branch."""
        end, skip, back, value = names
        statements: list[ast.stmt] = []
        for place, statement in enumerate(body):
            rest = list(body[place + 1 :])
            if isinstance(statement, ast.Break):
                return [*statements, assigned(end, True, statement)]
            if isinstance(statement, ast.Continue):
                return [*statements, assigned(skip, True, statement)]
            if isinstance(statement, ast.Return):
                given = statement.value or ast.Constant(value=None)
                statements += [assigned(value, given, statement), assigned(back, True, statement)]
                return [*statements, assigned(end, True, statement)]
            if not contains([statement], _JUMPS, loops=False):
                statements.append(statement)
                continue
            if isinstance(statement, ast.If):
                if rest and not falls_through(statement.body):
                    statement.orelse, rest = [*statement.orelse, *rest], []
                elif rest and not falls_through(statement.orelse):
                    statement.body, rest = [*statement.body, *rest], []
            flags = [end] if contains([statement], (ast.Break, ast.Return), loops=False) else []
            if contains([statement], ast.Continue, loops=False):
                flags.append(skip)
            for part in ("body", "orelse", "finalbody"):
                inner = getattr(statement, part, None)
                if inner:
                    setattr(statement, part, self._guarded(inner, names))
            for handler in getattr(statement, "handlers", ()):
                handler.body = self._guarded(handler.body, names)
            statements.append(statement)
            if rest:
                statements.append(_unless(flags, self._guarded(rest, names), rest[0]))
            return statements
        return statements or [ast.Pass()]

    def _tail(self, body: Sequence[ast.stmt]) -> list[ast.stmt]:
        """Statements at the end of a function, the branches with ``return`` as the last of them."""
        for place, statement in enumerate(body):
            before, rest = list(body[:place]), list(body[place + 1 :])
            if isinstance(statement, (ast.Return, ast.Raise)):
                return [*before, statement]
            if not contains([statement], ast.Return):
                continue
            if isinstance(statement, ast.If):
                one = [*statement.body, *(rest if falls_through(statement.body) else [])]
                twice = copy.deepcopy(rest) if falls_through(statement.body) else rest
                other = [*statement.orelse, *(twice if falls_through(statement.orelse) else [])]
                statement.body, statement.orelse = (
                    self._ended(one, statement),
                    self._ended(other, statement),
                )
                setattr(statement, RETURNS, True)
                return [*before, statement]
            if isinstance(statement, ast.With) and (not rest or not falls_through(statement.body)):
                statement.body = self._tail(statement.body)
                return [*before, statement]
        return list(body)

    def _ended(self, body: list[ast.stmt], at: ast.AST) -> list[ast.stmt]:
        ended = self._tail(body)
        if falls_through(ended):
            end = ast.Return(value=ast.Constant(value=None))
            ended.append(ast.fix_missing_locations(ast.copy_location(end, at)))
        return ended
