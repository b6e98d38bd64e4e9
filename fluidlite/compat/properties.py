"""Module state that programs read and assign: ``framework._main_program_`` and its relatives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..ground import state
from ..ground.place import CPUPlace
from ..ir.program import (
    default_main_program,
    default_startup_program,
    switch_main_program,
    switch_startup_program,
)
from ..scope import Scope, global_scope
from ..unique_name import NameGenerator, current
from .dataset.homes import HomeState
from .dataset.movielens import FilmsState
from .dataset.uci_housing import HousesState


def _variable(read: Callable[[], Any], assign: Callable[[Any], Any]) -> property:
    """What is read and assigned by functions."""
    return property(lambda self: read(), lambda self, value: assign(value))


class FrameworkState:
    """What ``paddle.fluid.framework`` kept at module level."""

    _main_program_: Any = _variable(default_main_program, switch_main_program)
    _startup_program_: Any = _variable(default_startup_program, switch_startup_program)

    @property
    def _dygraph_tracer_(self) -> Any:
        """Something true where layers run at once; else None."""
        return state.eager.get() or None

    @property
    def _dygraph_current_expected_place_(self) -> CPUPlace | None:
        return CPUPlace() if state.in_dygraph_mode() else None


class NamesState:
    """What ``paddle.fluid.unique_name`` kept at module level."""

    @property
    def generator(self) -> NameGenerator:
        """What makes names now."""
        return current()


class ExecutorState:
    """What ``paddle.fluid.executor`` kept at module level."""

    @property
    def g_scope(self) -> Scope:
        """The global scope."""
        return global_scope()


PROPERTIES: dict[str, type] = {
    "paddle.dataset.common": HomeState,
    "paddle.dataset.movielens": FilmsState,
    "paddle.dataset.uci_housing": HousesState,
    "paddle.fluid.framework": FrameworkState,
    "paddle.fluid.executor": ExecutorState,
    "paddle.fluid.unique_name": NamesState,
}
