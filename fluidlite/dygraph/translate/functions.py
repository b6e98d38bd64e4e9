"""Translated functions, made once each."""

from __future__ import annotations

import ast
import inspect
import types
import weakref
from typing import Any

from ...ground.callsite import warn
from ...ground.fields import is_written
from ...ground.object_caches import cache_of
from ..capture import value
from . import branches, lists, loops
from .calls import Caller
from .cells import Assigned
from .names import contains
from .rewrite import Rewriter
from .source import NoSource, function_of, mangled, tree_of

#: where a decorated function keeps the one that it was made of
DECORATED = "_declared_function"


def bare(function: Any) -> Any:
    """The function that ``declarative`` was given."""
    return getattr(function, DECORATED, function)


#: what translated code calls, besides what calls functions
_RUNTIME = (
    *(branches.if_, branches.choose, branches.if_value, branches.and_, branches.or_, branches.not_),
    *(branches.chain, branches.assert_, branches.plain, branches.raises, loops.while_, loops.for_),
    *(value, lists.append, lists.pop, lists.item, lists.set_item, lists.shape),
)


class Functions:
    """Translated functions, made once each."""

    def __init__(self) -> None:
        self._without_source: weakref.WeakSet[Any] = weakref.WeakSet()
        self._codes: set[Any] = set()
        self._runtime = types.SimpleNamespace(
            call=Caller(self.translated),
            assigned=Assigned,
            **{function.__name__: function for function in _RUNTIME},
        )

    def translated(self, function: Any) -> Any:
        """The function in its translated form; itself where it is that, or has no source."""
        plain = bare(function)
        if not isinstance(plain, types.FunctionType) or plain.__code__ in self._codes:
            return function
        if is_written(plain):
            return function
        translation = cache_of(plain).get(self)
        if translation is None:
            if plain in self._without_source:
                return function
            try:
                translation = self._made_of(plain)
            except NoSource as error:
                if plain.__name__ != "<lambda>":
                    warn(f"{error}; it is called as it is, its branches are not translated", None)
                self._without_source.add(plain)
                return function
            cache_of(plain)[self] = translation
        return translation

    def is_unreadable(self, function: Any) -> bool:
        """Whether a function that was to be translated has statements that nobody can read."""
        plain = bare(function)
        if not isinstance(plain, types.FunctionType) or plain.__name__ == "<lambda>":
            return False
        return not (self in cache_of(plain) or plain.__code__ in self._codes or is_written(plain))

    def _made_of(self, function: Any) -> Any:
        tree = self.tree(function)
        if tree is None:
            return function
        return function_of(function, tree, self._runtime, self._codes.add)

    def tree(self, function: Any) -> ast.FunctionDef | None:
        """The definition of the translated form; None where it stays as it is."""
        if inspect.isgeneratorfunction(function) or inspect.iscoroutinefunction(function):
            return None
        tree = mangled(function, tree_of(function))
        if contains(tree.body, (ast.Yield, ast.YieldFrom)):
            return None
        return Rewriter(tree).function()

    def code(self, function: Any) -> str:
        """The source of the translated form."""
        plain = bare(function)
        tree = self.tree(plain)
        return inspect.getsource(plain) if tree is None else ast.unparse(tree)
