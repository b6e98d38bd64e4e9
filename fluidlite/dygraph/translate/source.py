"""From a function to its syntax tree, and back: the lines stay those of the user's file."""

from __future__ import annotations

import ast
import inspect
import types
from collections.abc import Callable
from typing import Any

from ...errors import ArgumentError

#: what translated code calls this package by
RUNTIME = "_translated"
_INNER = "_translated_function"


class NoSource(ArgumentError):
    """The source of a function cannot be had; says why."""


def where(function: Any) -> str:
    """The file and line of a function."""
    code = function.__code__
    return f"{code.co_filename}:{code.co_firstlineno}"


def tree_of(function: Any) -> ast.FunctionDef:
    """The definition of a function, with the lines of its file and without decorators.

    Raises:
        NoSource: there is no source, or it is no definition of one function.
    """
    code = function.__code__
    try:
        lines, first = inspect.getsourcelines(code)
    except (OSError, TypeError) as error:
        raise NoSource(
            f"the source of {function.__qualname__} cannot be read ({error}); define it in a file"
        ) from None
    text, shift = "".join(lines), max(first, 1) - 1
    if lines and lines[0][:1].isspace():  # the text stays as it is: texts in it may have margins
        text, shift = "if 1:\n" + text, shift - 1
    try:
        definition: Any = ast.parse(text).body[0]
    except SyntaxError as error:
        raise NoSource(
            f"the source of {function.__qualname__} cannot be read on its own: {error}"
        ) from None
    if shift != max(first, 1) - 1:
        definition = definition.body[0]
    if not isinstance(definition, ast.FunctionDef) or definition.name != code.co_name:
        raise NoSource(
            f"the source of {function.__qualname__} cannot be read: {where(function)} is not where "
            f"it is defined"
        )
    definition.decorator_list = []
    ast.increment_lineno(definition, shift)
    plain: ast.FunctionDef = _WithoutAnnotations().visit(definition)
    return plain


class _WithoutAnnotations(ast.NodeTransformer):
    """Turns annotated assignments of locals into plain ones: Python never runs their annotations,
    and refuses one for a name that an inner function assigns.
    """

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        if node.value is None:
            return ast.copy_location(ast.Pass(), node)
        return ast.copy_location(ast.Assign(targets=[node.target], value=node.value), node)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        return node  # a class keeps its annotations


class _Mangle(ast.NodeTransformer):
    """Writes out the private names of a class, as Python does inside of it."""

    def __init__(self, owner: str) -> None:
        self._owner = owner.lstrip("_")

    def _name(self, name: str) -> str:
        private = name.startswith("__") and not name.endswith("__") and "." not in name
        return f"_{self._owner}{name}" if private and self._owner else name

    def visit_Name(self, node: ast.Name) -> ast.AST:
        node.id = self._name(node.id)
        return node

    def visit_arg(self, node: ast.arg) -> ast.AST:
        node.arg = self._name(node.arg)
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        node.attr = self._name(node.attr)
        self.generic_visit(node)
        return node


def mangled(function: Any, tree: ast.FunctionDef) -> ast.FunctionDef:
    """The definition with the private names of the class that it stands in written out."""
    places = function.__qualname__.split(".")
    if len(places) > 1 and places[-2] != "<locals>":
        tree = _Mangle(places[-2]).visit(tree)
    return tree


def function_of(
    function: Any, tree: ast.FunctionDef, runtime: Any, note: Callable[[Any], None]
) -> Any:
    """A function with another body: the same name, defaults, globals and free variables.

    Args:
        function: the one that the definition was made of.
        tree: the new definition.
        runtime: what the new body calls.
        note: is called with the code of each function in it.
    """
    code = function.__code__
    cells = dict(zip(code.co_freevars, function.__closure__ or ()))
    cells[RUNTIME] = types.CellType(runtime)
    nothing = ast.arguments(
        posonlyargs=[],
        args=[ast.arg(arg=name) for name in cells],
        kwonlyargs=[],
        kw_defaults=[],
        defaults=[],
    )
    fields: dict[str, Any] = {name: getattr(tree, name, None) for name in tree._fields}
    bare = ast.FunctionDef(**fields)
    ast.copy_location(bare, tree)
    bare.name = _INNER  # its own name may mean a global
    parameters = tree.args  # the defaults are values by now
    bare.args = ast.arguments(
        posonlyargs=parameters.posonlyargs,
        args=parameters.args,
        vararg=parameters.vararg,
        kwonlyargs=parameters.kwonlyargs,
        kw_defaults=[None] * len(parameters.kwonlyargs),
        kwarg=parameters.kwarg,
        defaults=[],
    )
    bare.returns = None
    for arg in (
        *parameters.posonlyargs,
        *parameters.args,
        *parameters.kwonlyargs,
        parameters.vararg,
        parameters.kwarg,
    ):
        if arg is not None:
            arg.annotation = None
    around = ast.FunctionDef(name="_around", args=nothing, body=[bare], decorator_list=[])
    if "type_params" in around._fields:
        around.type_params = []  # type: ignore[attr-defined]
    module = ast.fix_missing_locations(ast.Module(body=[around], type_ignores=[]))
    made = compile(module, code.co_filename, "exec", dont_inherit=True, flags=_future(code))
    outer = next(c for c in made.co_consts if isinstance(c, types.CodeType))
    inner = next(
        c for c in outer.co_consts if isinstance(c, types.CodeType) and c.co_name == _INNER
    )
    names = {"co_name": tree.name, "co_qualname": function.__qualname__}
    inner = inner.replace(**{n: v for n, v in names.items() if hasattr(inner, n)})
    _note_all(inner, note)
    closure = tuple(cells[name] for name in inner.co_freevars)
    built = types.FunctionType(
        inner, function.__globals__, function.__name__, function.__defaults__, closure
    )
    built.__kwdefaults__ = function.__kwdefaults__
    built.__qualname__ = function.__qualname__
    built.__module__ = function.__module__
    built.__doc__ = function.__doc__
    built.__dict__.update(function.__dict__)
    return built


def _future(code: Any) -> int:
    """The ``__future__`` features of the user's file."""
    flags = 0x1000000  # annotations: CO_FUTURE_ANNOTATIONS
    found: int = code.co_flags & flags
    return found


def _note_all(code: Any, note: Callable[[Any], None]) -> None:
    note(code)
    for each in code.co_consts:
        if isinstance(each, types.CodeType):
            _note_all(each, note)
