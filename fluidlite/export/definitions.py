"""The source of the functions that a file defines, with what they need in turn."""

from __future__ import annotations

import ast
import inspect
import re
import sys
import textwrap
from collections.abc import Iterable, Mapping
from importlib.util import resolve_name
from types import FunctionType, GenericAlias, ModuleType
from typing import Any

import numpy as np

from ..backend import numpy_
from ..errors import FluidError, UnsupportedError
from ..ground.advice import Advice
from ..ground.quoting import python_string
from ..ground.values import LoDTensor
from ..kernels import linear_algebra
from . import library
from .kernels import KernelClass

#: what kernels call of the array namespace that NumPy does not have
_OWN = {
    name: getattr(numpy_, name)
    for name in (
        *(
            "add_at",
            "add_rows",
            "complex_of",
            "erf",
            "erfc",
            "imag",
            "in_range",
            "max_rows",
            "min_rows",
            "real",
            "scatter_add",
            "scatter_set",
        ),
        *("segment_argmax", "segment_max", "segment_sum", "windows"),
    )
} | {name: getattr(linear_algebra, name) for name in linear_algebra.NAMES}
_OF_NAMESPACE = re.compile(r"\bxp\.(\w+)")
_PACKAGE = __name__.partition(".")[0]


class Definitions:
    """Functions in the order in which a file has them, and what it has to import for them."""

    def __init__(self) -> None:
        self.sources: dict[str, str] = {}
        self.imports: set[str] = set()
        self._by_name: dict[str, Any] = {}

    def add(self, function: Any) -> None:
        """Take a function, or a class, and all that it calls.

        Raises:
            UnsupportedError: it needs what does not go to a file.
        """
        name = function.__name__
        if name in self._by_name:
            if self._by_name[name] is not function:
                raise UnsupportedError(f"two functions are called {name!r}")
            return
        self._by_name[name] = function
        if isinstance(function, KernelClass):
            source = self._class(function)
        else:
            source = self._source(function)
        self.sources[name] = source

    def _class(self, kernel: KernelClass) -> str:
        """The source of a class."""
        values = [f"    {name} = {text}" for name, text in sorted(kernel.values.items())]
        parts = [f'    """{kernel.doc}"""', *(["\n".join(values)] if values else [])]
        for method in reversed(kernel.methods.values()):
            source = self._source(method)
            for name in kernel.dtypes:  # which are strings in the file
                source = source.replace(f"self.{name}.dtype", f"self.{name}")
            parts.append(source)
        return "\n\n".join([f"class {kernel.name}:\n{parts[0]}", *parts[1:]])

    def _source(self, function: Any) -> str:
        """The source of a function, by the names that things have in the file."""
        source = inspect.getsource(function).rstrip()
        names = _names_in(textwrap.dedent(source))
        renamed: dict[str, str] = {}
        known = vars(sys.modules[function.__module__])
        for used in sorted(names & known.keys()):
            renamed.update(self._need(used, known[used], function.__module__))
        for old, new in renamed.items():
            if new == "Any":  # an alias in annotations
                source = re.sub(rf"\b{old}\b", new, source)
            source = source.replace(f"raise {old}(", f"raise {new}(")
            source = source.replace(f"        {old}: ", f"        {new}: ")
        source = re.sub(rf"\b{LoDTensor.__name__}\b", library.SequenceRows.__name__, source)
        for used in sorted(set(_OF_NAMESPACE.findall(source)) & _OWN.keys()):
            self.add(_OWN[used])
            source = re.sub(rf"\bxp\.{used}\b", _OWN[used].__name__, source)
        return source

    def _need(self, name: str, value: Any, module: str) -> Mapping[str, str]:
        """Take what a function reads; gives what it is called in the file where that differs."""
        if isinstance(value, ModuleType):
            self.imports.add(_import_of(value, name))
        elif isinstance(value, type) and issubclass(value, FluidError):
            built_in = (base for base in value.__mro__ if base.__module__ == "builtins")
            return {name: next(built_in).__name__}
        elif value is LoDTensor or value is library.SequenceRows:
            self.add(library.SequenceRows)
        elif isinstance(value, (FunctionType, type)) and value.__module__.startswith(_PACKAGE):
            self.add(value)
        elif isinstance(value, Advice):
            self._by_name[name] = value
            self.sources[name] = f"{name} = {python_string(value.python)}"
        elif isinstance(value, (int, float, str, tuple, np.generic, GenericAlias)):
            self._constant(name, value, module)
        elif value is Any:
            self.imports.add("from typing import Any")
            return {name: "Any"}
        elif str(getattr(value, "__module__", "")).partition(".")[0] in sys.stdlib_module_names:
            self.imports.add(f"from {value.__module__} import {name}")
        else:
            raise UnsupportedError(f"a function of the file would need {name!r}")
        return {}

    def _constant(self, name: str, value: Any, module: str) -> None:
        """Take a constant of a module, as it is written there."""
        if name in self._by_name:
            if self._by_name[name] is not value:
                raise UnsupportedError(f"two constants are called {name!r}")
            return
        self._by_name[name] = value
        source_module = sys.modules[module]
        text = inspect.getsource(source_module)
        for node in ast.parse(text).body:
            if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == name:
                source = ast.get_source_segment(text, node) or ""
                for used in sorted((_names_in(source) - {name}) & vars(source_module).keys()):
                    self._need(used, vars(source_module)[used], module)
                self.sources[name] = source
                return
            if isinstance(node, ast.ImportFrom) and name in {each.name for each in node.names}:
                dots = "." * node.level
                where = resolve_name(f"{dots}{node.module or ''}", source_module.__package__ or "")
                del self._by_name[name]
                self._constant(name, value, where)
                return
        raise UnsupportedError(f"a function of the file would need {name!r}")


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
    begins = ("def ", "class ")
    constants = [text for text in sources.values() if not text.startswith(begins)]
    functions = [text for text in sources.values() if text.startswith(begins)]
    if constants:
        yield "\n".join(constants)
    yield from functions
