"""What functions and layers run as programs."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from ...compiler import BuildStrategy
from ...dygraph.translate import ProgramTranslator, declarative
from ...dygraph.translate.calls import AS_IT_IS
from ...dygraph.translate.functions import bare
from ...errors import ArgumentError
from ...ground.public_names import list_public_names
from ...ground.spellings import Spelling
from ...ground.tracebacks import api_boundaries
from ...nn.layer import Layer
from .static_function import StaticForward, StaticFunction

F = TypeVar("F", bound=Callable[..., Any])

__all__ = [
    "enable_to_static", "ignore_module", "not_to_static", "set_code_level", "set_verbosity",
    "to_static",
]  # fmt: skip


def to_static(
    function: Any = None,
    input_spec: Sequence[Any] | None = None,
    build_strategy: BuildStrategy | None = None,
    backend: str | None = None,
    **kwargs: Any,
) -> Any:
    """A function or a layer that runs as a program, once for each form of its arguments.

    Args:
        function: a function of tensors, the ``forward`` of a layer, or a layer, which is given
            back; None to decorate with options.
        input_spec: what it is called with, for ``save`` and ``concrete_program``.
        build_strategy: accepted.
        backend: "CINN" or None, accepted.
        kwargs: ``full_graph=True``: what cannot be a program is an error; without it the function
            then runs as it is.  Others are accepted.

    Raises:
        ArgumentError: ``function`` cannot be called, or an option is of another kind.

    >>> from fluidlite import paddle
    >>> @paddle.jit.to_static
    ... def positive(x):
    ...     if paddle.sum(x) > 0:
    ...         return x
    ...     return -x
    >>> positive(paddle.to_tensor([1.0, -3.0])).tolist()
    [-1.0, 3.0]
    """
    if input_spec is not None and not isinstance(input_spec, (list, tuple)):
        raise ArgumentError(f"expected a list as input_spec, got {input_spec!r:.60}")
    if build_strategy is not None and not isinstance(build_strategy, BuildStrategy):
        raise ArgumentError(f"expected a BuildStrategy, got {build_strategy!r:.60}")
    if backend not in (None, "CINN"):
        raise ArgumentError(f"expected backend to be 'CINN' or None, got {backend!r:.60}")
    if function is None:
        return functools.partial(
            to_static,
            input_spec=input_spec,
            build_strategy=build_strategy,
            backend=backend,
            **kwargs,
        )
    whole = bool(kwargs.get("full_graph", False))
    if isinstance(function, Layer):
        return _layer(function, input_spec, whole)
    if isinstance(function, StaticFunction):
        function = function.function
    if not callable(function):
        raise ArgumentError(f"expected a function or a layer, got {function!r:.60}")
    if isinstance(function, types.MethodType):
        plain: Any = bare(function.__func__)
        owner: Any = function.__self__
        return StaticFunction(plain, input_spec, whole, owner)
    return StaticFunction(bare(function), input_spec, whole)


def _layer(layer: Layer, input_spec: Sequence[Any] | None, whole: bool) -> Layer:
    """A layer whose calls run as programs from here on."""
    forward: Any = layer.forward
    if isinstance(forward, StaticFunction):
        forward = forward.function
    layer.forward = forward  # type: ignore[method-assign]
    declarative(layer)
    call: Any = layer.forward
    made = StaticForward(call.__func__, layer, forward, input_spec, whole)
    layer.forward = made  # type: ignore[method-assign]
    return layer


def not_to_static(func: F | None = None) -> F | Callable[[F], F]:
    """A function that runs as it is where a function that runs as a program calls it.

    Args:
        func: the function; None to decorate with options.
    """
    if func is None:
        return not_to_static  # type: ignore[return-value]
    setattr(func, AS_IT_IS, True)
    return func


def ignore_module(modules: Iterable[types.ModuleType]) -> None:
    """Have the functions of modules run as they are.

    Args:
        modules: the modules.
    """
    for module in modules:
        for value in vars(module).values():
            if isinstance(value, types.FunctionType) and value.__module__ == module.__name__:
                setattr(value, AS_IT_IS, True)


def enable_to_static(enable_to_static_bool: bool) -> None:
    """Say whether functions run as programs, or at once as they are.

    Args:
        enable_to_static_bool: True for programs.
    """
    ProgramTranslator().enable(enable_to_static_bool)


def set_code_level(level: int = 100, also_to_stdout: bool = False) -> None:
    """Accepted: ``function.code`` shows translated code.

    Args:
        level: a whole number, without meaning here.
        also_to_stdout: without meaning here.

    Raises:
        ArgumentError: ``level`` is no whole number.
    """
    if not isinstance(level, int):
        raise ArgumentError(f"expected level to be a whole number, got {level!r:.60}")


set_verbosity: Callable[..., None] = Spelling({})(
    set_code_level, "set_verbosity", "Accepted: there is nothing to log.", defaults={"level": 0}
)


list_public_names(globals())
api_boundaries(globals())
