"""Kernels that look at values, as they stand in the operators' definitions: a class with the
operator's attributes, and those methods that its kernel calls.
"""

from __future__ import annotations

import ast
import functools
import inspect
import textwrap
from types import FunctionType
from typing import Any

from ..errors import UnsupportedError
from ..ground.dtypes import DType
from ..ground.quoting import python_docstring
from ..opdef.definition import Op
from .literals import literal


class KernelClass:
    """The kernel of an operator as the source of a class.

    Args:
        op: the operator; it has a kernel of its own.
        name: of the class.

    Raises:
        UnsupportedError: the kernel asks for more of an operator than its attributes and methods.
    """

    __name__: str

    def __init__(self, op: Op, name: str) -> None:
        self.name = self.__name__ = name
        self.values: dict[str, str] = {}  #: attributes and their texts
        self.methods: dict[str, FunctionType] = {}
        self.dtypes: list[str] = []  #: attributes that are element types
        self._op = op
        queue = ["run"]
        while queue:
            member = queue.pop()
            if member not in self.values and member not in self.methods:
                queue += self._take(member)
        doc = inspect.cleandoc(type(op).__doc__ or "").split("\n\n")[0]
        lines = textwrap.wrap(python_docstring(" ".join(doc.split())), 84)
        self.doc: str = "\n    ".join(lines[:1] if len(lines) == 1 else [*lines, ""]).rstrip()

    @property
    def key(self) -> Any:
        """What is equal for equal classes."""
        return type(self._op), tuple(self.values.items())

    def _take(self, member: str) -> list[str]:
        """Take an attribute or a method; gives the names of those that it asks for."""
        found = inspect.getattr_static(self._op, member)
        function = getattr(found, "fget", None) or getattr(found, "__func__", found)
        if isinstance(found, functools.cached_property):
            function = found.func
        if not isinstance(function, FunctionType):
            value = getattr(self._op, member)
            self.values[member] = _text_of(value)
            if isinstance(value, DType):
                self.dtypes.append(member)
            return []
        if function.__module__.startswith(Op.__module__.rpartition(".")[0]):
            raise UnsupportedError(f"its kernel calls {member!r} of operators")
        if function.__closure__:
            raise UnsupportedError("its kernel was made by another function")
        self.methods[member] = function
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
        asked = []
        attributes = {id(n.value): n.attr for n in ast.walk(tree) if isinstance(n, ast.Attribute)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Name) and node.id in ("super", "getattr"):
                raise UnsupportedError("its kernel is that of several definitions")
            if isinstance(node, ast.Name) and node.id == "self":
                if id(node) not in attributes:
                    raise UnsupportedError("its kernel hands the operator on")
                asked.append(attributes[id(node)])
        return asked


def _text_of(value: Any) -> str:
    """An attribute as text."""
    if isinstance(value, (list, tuple)):
        inner = ", ".join(map(_text_of, value))
        return f"({inner},)" if len(value) == 1 else f"({inner})"
    return literal(value)
