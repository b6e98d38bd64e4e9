"""Tensors within lists and dictionaries, for several processes, in OneFlow's spelling."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...ground.public_names import list_public_names
from ...ground.tracebacks import api_boundaries
from ..nn.module import Module
from ..placements import SbpLike, placement
from ..tensor import Tensor

__all__ = ["to_global", "to_local"]


def to_global(
    input: Any,
    placement: placement | None = None,
    sbp: SbpLike = None,
    warn_on_non_tensor_leaf: bool = True,
) -> Any:
    """The same, whose tensors lie with all processes: the only one.

    Args:
        input: a tensor, a module, or lists and dictionaries of tensors.
        placement: the processes.
        sbp: how the parts of tensors lie.
        warn_on_non_tensor_leaf: accepted: what is no tensor stays as it is.

    >>> where = fluid.flow.placement("cpu", [0])
    >>> state = {"w": fluid.flow.ones(2)}
    >>> found = fluid.flow.utils.global_view.to_global(state, where, fluid.flow.sbp.broadcast)
    >>> found["w"].is_global
    True
    """
    return _mapped(input, lambda each: each.to_global(placement, sbp))


def to_local(input: Any) -> Any:
    """The same, whose tensors lie with this process.

    Args:
        input: a tensor, a module, or lists and dictionaries of tensors.
    """
    return _mapped(input, lambda each: each.to_local())


def _mapped(value: Any, change: Callable[[Any], Any]) -> Any:
    if isinstance(value, (Tensor, Module)):
        return change(value)
    if isinstance(value, dict):
        return type(value)((name, _mapped(each, change)) for name, each in value.items())
    if isinstance(value, (list, tuple)):
        return type(value)(_mapped(each, change) for each in value)
    return value


list_public_names(globals())
api_boundaries(globals())
