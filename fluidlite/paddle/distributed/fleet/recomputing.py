"""Parts of a layer that are computed again for their gradients."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ....autograd import checkpoint
from ....errors import ArgumentError
from ....ground.public_names import list_public_names
from ....ground.tracebacks import api_boundaries

#: words of the call itself, which the function does not get
_OWN = ("preserve_rng_state", "use_reentrant", "offload", "partition")


def recompute(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call a function without keeping what its gradients need: they call it again.

    The second call draws the same random numbers.

    Args:
        function: a function of tensors, or a layer.
        args, kwargs: what it is called with; ``preserve_rng_state`` and ``use_reentrant`` are
            accepted.

    Returns:
        what it gives.

    >>> from fluidlite import paddle
    >>> from fluidlite.paddle.distributed.fleet import utils
    >>> x = paddle.to_tensor([2.0], stop_gradient=False)
    >>> utils.recompute(lambda x: x * x, x).backward()
    >>> x.grad.tolist()
    [4.0]
    """
    for name in _OWN:
        kwargs.pop(name, None)
    return checkpoint(function, *args, **kwargs)


def recompute_sequential(ctx: Mapping[str, Any], functions: Any, *args: Any, **kwargs: Any) -> Any:
    """Call functions one after the other, in segments that are computed again.

    Args:
        ctx: ``segments``, how many; 1 if it is missing.
        functions: layers in a row, as ``paddle.nn.Sequential`` holds them, or a list.
        args, kwargs: what the first segment is called with.

    Returns:
        what the last one gives.

    Raises:
        ArgumentError: there are fewer functions than segments.
    """
    steps: Sequence[Any] = (
        list(functions.children()) if hasattr(functions, "children") else [*functions]
    )
    segments = ctx.get("segments", 1)
    size = len(steps) // segments if segments else 0
    if size < 1:
        raise ArgumentError(f"expected 1 to {len(steps)} segments, got {segments!r:.60}")

    def part(begin: int, end: int) -> Callable[..., Any]:
        def run(*given: Any) -> Any:
            value: Any = given
            for step in steps[begin:end]:
                value = step(*value) if isinstance(value, tuple) else step(value)
            return value

        return run

    value: Any = args
    for number in range(segments):
        end = len(steps) if number == segments - 1 else (number + 1) * size
        given = value if isinstance(value, tuple) else (value,)
        value = recompute(part(number * size, end), *given, **kwargs)
    return value


def recompute_hybrid(
    ctx: Mapping[str, Any], function: Callable[..., Any], *args: Any, **kwargs: Any
) -> Any:
    """The same as ``recompute``, within a group of processes that a model is divided among.

    Args:
        ctx: ``mp_group``, the group; ``offload`` and ``partition`` are accepted.
        function: a function of tensors, or a layer.
        args, kwargs: what it is called with.

    Raises:
        ArgumentError: there is no group.
    """
    if ctx.get("mp_group") is None:
        raise ArgumentError("recompute_hybrid: expected ctx to name an mp_group")
    return recompute(function, *args, **kwargs)


list_public_names(globals())
api_boundaries(globals())
