"""The source of the functions that a file defines, with what they need in turn."""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Iterable, Mapping
from types import FunctionType, ModuleType
from typing import Any

from ..errors import FluidError, UnsupportedError

_PACKAGE = __name__.partition(".")[0]


class Definitions:
    """Functions in the order in which a file has them, and what it has to import for them."""

    def __init__(self) -> None:
        self.sources: dict[str, str] = {}
        self.imports: set[str] = set()
        self._by_name: dict[str, Any] = {}

    def add(self, function: FunctionType) -> None:
        """Take a function, and all that it calls.

        Raises:
            UnsupportedError: it needs what does not go to a file.
        """
        name = function.__name__
        if name in self._by_name:
            if self._by_name[name] is not function:
                raise UnsupportedError(f"two functions are called {name!r}")
            return
        self._by_name[name] = function
        source = inspect.getsource(function).rstrip()
        renamed: dict[str, str] = {}
        for used in sorted(_names_in(source) & function.__globals__.keys()):
            renamed.update(self._need(used, function.__globals__[used], function.__module__))
        for old, new in renamed.items():
            source = source.replace(f"raise {old}(", f"raise {new}(")
            source = source.replace(f"        {old}: ", f"        {new}: ")
        self.sources[name] = source

    def _need(self, name: str, value: Any, module: str) -> Mapping[str, str]:
        """Take what a function reads; gives what it is called in the file where that differs."""
        if isinstance(value, ModuleType):
            self.imports.add(_import_of(value, name))
        elif isinstance(value, type) and issubclass(value, FluidError):
            built_in = (base for base in value.__mro__ if base.__module__ == "builtins")
            return {name: next(built_in).__name__}
        elif isinstance(value, FunctionType) and value.__module__.startswith(_PACKAGE):
            self.add(value)
        elif isinstance(value, (int, float, str, tuple)):
            self._constant(name, module)
        elif getattr(value, "__module__", "") in ("typing", "collections.abc"):
            self.imports.add(f"from {value.__module__} import {name}")
        else:
            raise UnsupportedError(f"a function of the file would need {name!r}")
        return {}

    def _constant(self, name: str, module: str) -> None:
        if name in self.sources:
            return
        text = inspect.getsource(sys.modules[module])
        for node in ast.parse(text).body:
            if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == name:
                self.sources[name] = ast.get_source_segment(text, node) or ""


def _names_in(source: str) -> set[str]:
    return {node.id for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Name)}


def _import_of(module: ModuleType, name: str) -> str:
    if module.__name__ == "numpy":
        return "import numpy as np"
    root = module.__name__.partition(".")[0]
    if root not in sys.stdlib_module_names:
        raise UnsupportedError(f"a function of the file would need the module {module.__name__!r}")
    return f"import {module.__name__}"


def blocks(sources: Mapping[str, str]) -> Iterable[str]:
    """The definitions, constants before what reads them."""
    constants = [text for text in sources.values() if not text.startswith("def ")]
    functions = [text for text in sources.values() if text.startswith("def ")]
    if constants:
        yield "\n".join(constants)
    yield from functions
