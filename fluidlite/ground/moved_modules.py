"""Modules that have moved: their old names go on working.

``import fluidlite.dtypes`` gives the module ``fluidlite.ground.dtypes`` itself, so that a class is
the same under both names.  The finder is asked first: what lies below a package that has moved
would be found beside it once more.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType

_ROOT = __name__.partition(".")[0]
#: old name -> new name, both below the package
MOVED = {
    **{
        name: f"ground.{name}"
        for name in (
            *("console", "docstrings", "dtypes", "extension", "fields", "files", "place"),
            *("interrupts", "process_group", "quoting", "state", "turns", "values"),
        )
    },
    "absent": "ground.missing_names",
    "allocated": "ground.filled_tensors",
    "cells": "ground.notebook_cells",
    "cli": "command_line.cli",
    "completion": "command_line.completion",
    "config": "command_line.config",
    "described": "ground.reprs",
    "imperative": "eager",
    **{
        f"imperative.{name}": f"functions.{name}"
        for name in (
            *("arithmetic", "composed", "counting", "creation", "diagonals", "einsum"),
            *("elementary", "items", "noise", "reduction", "selection", "shaping", "sizes"),
        )
    },
    "inspect.culprit": "inspect.faulty_rules",
    "inspect.digest": "inspect.value_summary",
    "inspect.trial": "inspect.seeded_runs",
    "ir.callsite": "ground.callsite",
    "launched": "ground.job_environment",
    "namespace": "ground.public_names",
    "runtime.pipeline": "runtime.passes.pipeline",
    "private": "ground.private_folders",
    "quiet": "ground.tracebacks",
    "weak": "ground.weak_tables",
}


class LoadedElsewhere:
    """Loads modules that are there under another name."""

    def module_of(self, origin: str) -> ModuleType:
        """The module itself: written by subclasses.

        Args:
            origin: its other name.
        """
        raise NotImplementedError

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """The module, which keeps its specification."""
        module = self.module_of(spec.origin or "")
        spec.loader_state = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Give the module its own specification back: importing puts that of this name there."""
        spec = module.__spec__
        assert spec is not None
        module.__spec__ = spec.loader_state


class MovedModules(LoadedElsewhere):
    """Finds a module by its old name."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The specification of a module that has moved; None for any other."""
        root, _, name = fullname.partition(".")
        if root != _ROOT:
            return None
        head, rest = name, ""
        while head not in MOVED:
            head, _, last = head.rpartition(".")
            if not head:
                return None
            rest = f".{last}{rest}"
        moved = f"{root}.{MOVED[head]}{rest}"
        # not derived from importlib.abc.Loader: importing that takes long
        return ModuleSpec(fullname, self, origin=moved)  # type: ignore[arg-type]

    def module_of(self, origin: str) -> ModuleType:
        """The module by its new name."""
        return import_module(origin)


def serve() -> None:
    """Have old names found."""
    sys.meta_path.insert(0, MovedModules())
