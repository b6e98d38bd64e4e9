"""What stood between layers that run at once and their operators."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any

from ... import layers
from ...ground import state
from ...ir.program import Program, program_guard


def _switch_to_static_graph_(function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    def call(*args: Any, **keywords: Any) -> Any:
        with state.eager.guard(False):
            return function(*args, **keywords)

    return call


#: a decorator: the function's layers build programs wherever it is called
switch_to_static_graph = _switch_to_static_graph_


@contextmanager
def program_desc_tracing_guard(enable: bool) -> Iterator[None]:
    """Nothing: a trace says itself when it begins."""
    yield


@contextmanager
def param_guard(parameters: Any) -> Iterator[None]:
    """Nothing: parameters are what layers take them for."""
    yield


def _append_activation_in_dygraph(
    input: Any, act: str | None = None, use_cudnn: Any = None, use_mkldnn: Any = None
) -> Any:
    return getattr(layers, act)(input) if act else input


def _append_bias_in_dygraph(
    input: Any, bias: Any = None, axis: int = 1, use_mkldnn: Any = False
) -> Any:
    return input if bias is None else layers.elementwise_add(input, bias, axis)


def start_gperf_profiler() -> None:
    """Nothing: measure with ``fluid.profiler``."""


def stop_gperf_profiler() -> None:
    """Nothing: measure with ``fluid.profiler``."""


@contextmanager
def static_programs() -> Iterator[tuple[Program, Program]]:
    """A guard with programs of its own, in which layers build."""
    main, startup = Program(), Program()
    with state.eager.guard(False), program_guard(main, startup):
        yield main, startup
