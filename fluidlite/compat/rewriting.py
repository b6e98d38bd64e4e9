"""What NumPy does no more with values, done again for the code of old programs.

``float(a)``, ``'%f' % a`` and ``math.exp(a)`` took an array of one element, and ``np.array`` made
an array of objects of ragged lists.  Nothing outside an array can bring this back, so the programs'
sources are compiled with a call around such operands: ``float(a)`` becomes ``float(_one(a))``.
``np.reshape(a, newshape=s)`` says ``shape=s``, and ``np.greater(a, b, dtype=t)`` leaves ``t`` out
where it is a type of numbers: it said how to compare, and the answer was truth.  Lines and columns
stay, so tracebacks are those of the source.

Sources of the program itself are compiled so, and of installed packages the ones that mention
``paddle``.
"""

from __future__ import annotations

import ast
import builtins
import sys
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from inspect import signature
from types import CodeType, ModuleType
from typing import Any

import numpy as np

from .packages import PACKAGES
from .served import notice

ONE, TEXT, OLDER = "__fluidlite_one__", "__fluidlite_operands__", "__fluidlite_older__"
_NUMBERS = {"float", "int", "complex"}
_ARRAYS = {"array", "asarray"}
_COMPARISONS = {"equal", "not_equal", "less", "less_equal", "greater", "greater_equal"}
#: NumPy's functions and arguments of theirs that it has dropped -> what these are called now
_RENAMED: dict[tuple[str, str | None], str] = (
    {("reshape", "newshape"): "shape"} if "shape" in signature(np.reshape).parameters else {}
)
_PLACES = ("site-packages", "dist-packages")


def one(value: Any) -> Any:
    """The element of an array of one element; any other value as it is."""
    if isinstance(value, np.ndarray) and value.ndim and value.size == 1:
        notice(
            "one element",
            "an array of one element is taken for a number, as NumPy did before 2.4; write "
            "a.item()",
        )
        return value.item()
    return value


def operands(value: Any) -> Any:
    """What stands behind ``%``, with numbers for arrays of one element."""
    if isinstance(value, tuple):
        return tuple(_number(each) for each in value)
    return _number(value)


def _number(value: Any) -> Any:
    # An array's text was its text always: only numbers are wanted of arrays of numbers.
    return _Both(value) if isinstance(value, np.ndarray) and value.size == 1 else value


class _Both:
    """An array of one element where a text is formatted: a number for ``%f``, itself for ``%s``."""

    def __init__(self, array: Any) -> None:
        self._array = array

    def __float__(self) -> float:
        return float(self._item())

    def __int__(self) -> int:
        return int(self._item())

    def __index__(self) -> int:
        return int(self._item())

    def _item(self) -> Any:
        return one(self._array) if self._array.ndim else self._array.item()

    def __str__(self) -> str:
        return str(self._array)

    def __repr__(self) -> str:
        return repr(self._array)


def older(function: Callable[..., Any]) -> Callable[..., Any]:
    """One of NumPy's functions as it was: ``np.array`` and ``np.asarray`` make an array of objects
    of ragged lists, comparisons take a ``dtype``; any other function as it is.
    """
    return _OLDER.get(function, function) if callable(function) else function


def _ragged(function: Callable[..., Any]) -> Callable[..., Any]:
    def ragged_array(object: Any = None, dtype: Any = None, *args: Any, **keywords: Any) -> Any:
        try:
            return function(object, dtype, *args, **keywords)
        except ValueError as error:
            if dtype is not None or "inhomogeneous" not in str(error):
                raise
        notice("ragged", "ragged lists become an array of objects, as before; write dtype=object")
        return function(object, np.dtype("O"), *args, **keywords)

    ragged_array.__name__ = function.__name__
    return ragged_array


def _comparison(function: Callable[..., Any]) -> Callable[..., Any]:
    def comparison_by_type(*args: Any, dtype: Any = None, **keywords: Any) -> Any:
        if dtype is not None and np.dtype(dtype).kind not in "bO":
            notice("comparison", "comparisons have no dtype any more; leave it out")
            operands = (np.asarray(a).astype(dtype, casting="same_kind") for a in args[:2])
            args, dtype = (*operands, *args[2:]), None
        return function(*args, dtype=dtype, **keywords)

    comparison_by_type.__name__ = function.__name__
    return comparison_by_type


_OLDER: dict[Any, Callable[..., Any]] = {
    **{each: _ragged(each) for each in (np.array, np.asarray)},
    **{getattr(np, name): _comparison(getattr(np, name)) for name in _COMPARISONS},
}


class _Rewriter(ast.NodeTransformer):
    """Puts the calls around operands."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """``float(x)``, ``math.f(x)``, ``np.array(x)``."""
        self.generic_visit(node)
        function = node.func
        if isinstance(function, ast.Name) and function.id in _NUMBERS and len(node.args) == 1:
            node.args = [_call(ONE, node.args[0])]
        elif isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name):
            if function.value.id == "math":
                starred = any(isinstance(each, ast.Starred) for each in node.args)
                node.args = node.args if starred else [_call(ONE, each) for each in node.args]
            elif (function.attr in _ARRAYS and node.args) or (
                function.attr in _COMPARISONS and any(k.arg == "dtype" for k in node.keywords)
            ):
                node.func = _call(OLDER, function)
            for keyword in node.keywords:
                keyword.arg = _RENAMED.get((function.attr, keyword.arg), keyword.arg)
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        """``'text' % x``."""
        self.generic_visit(node)
        left = node.left
        is_text = isinstance(left, ast.Constant) and isinstance(left.value, str)
        if isinstance(node.op, ast.Mod) and (is_text or isinstance(left, ast.JoinedStr)):
            node.right = _call(TEXT, node.right)
        return node


def _call(name: str, operand: ast.expr) -> ast.Call:
    made = ast.Call(ast.Name(name, ast.Load()), [operand], [])
    for node in (made, made.func):
        ast.copy_location(node, operand)
    return made


def compiled(source: bytes | str, path: str) -> CodeType:
    """The code of a source, with the calls in it."""
    tree = ast.parse(source, path)
    code: CodeType = compile(_Rewriter().visit(tree), path, "exec", dont_inherit=True)
    return code


class _Loader(SourceFileLoader):
    """Loads a source with the calls in it; such code is kept in no file."""

    def get_code(self, fullname: str) -> CodeType | None:
        path = self.get_filename(fullname)
        return compiled(self.get_data(path), path)


class _Finder:
    """Finds what Python's own finder finds, and gives sources of old programs their loader."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname.partition(".")[0] in _KNOWN:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and type(spec.loader) is SourceFileLoader and _is_old(spec.loader.path):
            spec.loader = _Loader(spec.loader.name, spec.loader.path)
        return spec


#: packages that are none of an old program's
_KNOWN = {*sys.stdlib_module_names, __name__.partition(".")[0], "numpy", "google"}


def _is_old(path: str) -> bool:
    if not any(place in path for place in _PLACES):
        return True
    try:
        with open(path, "rb") as file:
            text = file.read()
    except OSError:
        return False
    return any(package.encode() in text for package in PACKAGES)


_finder = _Finder()


def install() -> None:
    """Compile sources so from now on."""
    if _finder not in sys.meta_path:
        paths = sys.meta_path.index(PathFinder) if PathFinder in sys.meta_path else 0
        sys.meta_path.insert(paths, _finder)
        # What was compiled so calls them wherever it runs.
        vars(builtins).update({ONE: one, TEXT: operands, OLDER: older})


def uninstall() -> None:
    """Compile no more sources so; what was compiled so goes on as Python and NumPy have it."""
    if _finder in sys.meta_path:
        sys.meta_path.remove(_finder)
        same: Callable[[Any], Any] = _same
        vars(builtins).update({ONE: same, TEXT: same, OLDER: same})


def _same(value: Any) -> Any:
    return value
