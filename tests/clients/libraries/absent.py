"""Modules that a library imports, and the parts that are tried do not call."""

import importlib
import sys
import types


class Absent(types.ModuleType):
    """A module whose names are all there, and do nothing."""

    __path__ = []

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *words, **more: None


def stand_in(*names):
    """Put such modules where none can be imported."""
    for name in names:
        try:
            importlib.import_module(name)
        except ImportError:
            sys.modules[name] = Absent(name)
