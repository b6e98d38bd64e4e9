"""The programs on fluidlite, or on fluid 1.8 itself."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Mapping
from typing import Any

import numpy as np
import programs
from problems import Array, Problem


class Step:
    """A program, run by ``Executor.run``.

    Args:
        problem: what to build.
        module: ``fluidlite`` or ``paddle.fluid``.
        prepared: by what ``Executor.prepare`` gives instead.
        backend: of fluidlite's executor, where that is not NumPy.
    """

    def __init__(
        self, problem: Problem, module: str = "fluidlite", prepared: bool = False, backend: str = ""
    ) -> None:
        fluid = importlib.import_module(module)
        self._names = list(problem.start)
        self._main, self._startup, self._loss = programs.build(fluid, problem)
        self._scope = fluid.Scope() if module == "fluidlite" else fluid.core.Scope()
        how = {"backend": backend} if backend else {}
        self._exe = fluid.Executor(fluid.CPUPlace(), **how)
        self._place = fluid.CPUPlace()
        self._prepared = prepared
        self._run: Any = None

    def load(self, start: Mapping[str, Array]) -> None:
        self._exe.run(self._startup, scope=self._scope)
        for name, value in start.items():
            self._scope.find_var(name).get_tensor().set(value, self._place)

    def step(self, feed: Mapping[str, Array]) -> Any:
        if self._prepared:
            if self._run is None:
                self._run = self._exe.prepare(
                    self._main, list(feed), [self._loss], scope=self._scope
                )
            return self._run(feed)[0].item()
        # the cache is what fluidlite has by itself, and fluid 1.8 only where it is asked for
        fetched = self._exe.run(
            self._main,
            feed=feed,
            fetch_list=[self._loss],
            scope=self._scope,
            use_program_cache=True,
        )
        return fetched[0].item()

    def waits_for_kernels(self) -> bool:
        """Whether a compiler that yields to other work may still make kernels for the step.

        A prepared step finds those of the contestant that is timed before it.
        """
        if self._prepared or os.environ.get("FLUIDLITE_KERNELS") != "auto":
            return False
        return not programs.has_kernels(self._exe, self._main, self._loss)

    def planned(self) -> tuple[int, int] | None:
        """Bytes that all values of a step take, and those that its plan says it takes at the worst
        moment; None before there is one, and where a step is compiled by another.
        """
        plan = getattr(self._exe, "plan", None)
        footprint = plan and plan(self._main, [self._loss]).footprint
        return (footprint.everything, footprint.peak) if footprint else None

    def parameters(self) -> dict[str, Array]:
        return {name: np.array(self._scope.find_var(name).get_tensor()) for name in self._names}


def describe() -> dict[str, Any]:
    """The version of what was imported."""
    name = "paddle" if "paddle" in sys.modules else "fluidlite"
    return {"version": f"{sys.modules[name].__version__}, NumPy {np.__version__}"}
