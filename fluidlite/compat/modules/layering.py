"""What modules of ``fluid.layers`` had that is no layer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ... import layers
from ...ground.place import CPUPlace, cpu_places
from ...layers import autoincreased_step_counter, cast
from .decorators import deprecated
from .patches import compare_ops

kIgnoreIndex = -100

__all__ = ["compare_ops", "deprecated"]


def _decay_step_counter(begin: int = 0) -> Any:
    counter = autoincreased_step_counter("@LR_DECAY_COUNTER@", begin=begin, step=1)
    return cast(counter, "float32")


def get_places(device_count: int | None = None, device_type: str | None = None) -> list[CPUPlace]:
    """The CPU as a list of places.

    Args:
        device_count: how many; 1 when None.
        device_type: not read.
    """
    return cpu_places(device_count)


def generate_layer_fn(op_type: str) -> Callable[..., Any]:
    """The layer of an operator.

    Args:
        op_type: the operator's type.
    """
    found: Callable[..., Any] = getattr(layers, op_type)
    return found


generate_activation_fn = generate_layer_fn


def autodoc(comment: str = "") -> Callable[[Any], Any]:
    """A decorator that leaves a function as it is."""
    return lambda function: function


def templatedoc(op_type: str | None = None) -> Callable[[Any], Any]:
    """A decorator that leaves a function as it is."""
    return lambda function: function


def escape_math(text: str) -> str:
    """The text."""
    return text


def monkey_patch_reader_methods(reader: Any) -> Any:
    """The reader, which has its methods."""
    return reader
