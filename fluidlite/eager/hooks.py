"""Functions that are called with gradients."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

from .sweep import BackwardPass

Hooks = dict[int, Any]
_numbers = itertools.count()


class HookHandle:
    """Takes a hook away again.

    Args:
        hooks: where it is kept.
        entry: the hook.
    """

    def __init__(self, hooks: Hooks, entry: Any) -> None:
        self._hooks = hooks
        self._number = next(_numbers)
        hooks[self._number] = entry

    def remove(self) -> bool:
        """Take the hook away.  Returns whether it was there."""
        return self._hooks.pop(self._number, None) is not None


def called(hook: Any, sweep: BackwardPass, tensor_type: Any, gradient: Any) -> Any:
    """A gradient after one hook."""
    return sweep.called(hook, tensor_type, gradient)


def keep_gradient(tensor: Any) -> Callable[[Any], None]:
    """A hook that stores the gradient in a tensor as long as that lives.

    Args:
        tensor: a weak reference to it.
    """

    def keep(gradient: Any) -> None:
        alive = tensor()
        if alive is not None:
            recorded = gradient.origin is not None
            value = gradient if recorded else gradient.array
            alive.accumulate(value, alive.accumulates_kept)

    return keep
