"""Quanters and observers that are made later, once for each place."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from types import FunctionType
from typing import Any

from ...errors import ArgumentError
from ...ground.public_names import list_public_names
from .base_quanter import BaseQuanter


class ClassWithArguments:
    """A class, and the arguments that its objects are made with.

    Args:
        args, kwargs: the arguments, but for the layer.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._args, self._kwargs = args, kwargs

    @property
    def args(self) -> tuple[Any, ...]:
        """Those by place."""
        return self._args

    @property
    def kwargs(self) -> dict[str, Any]:
        """Those by name."""
        return self._kwargs

    def _get_class(self) -> Callable[..., Any]:
        raise NotImplementedError(f"{type(self).__name__} needs a method _get_class(self)")

    def __str__(self) -> str:
        told = [*map(str, self.args), *(f"{k}={v}" for k, v in self.kwargs.items())]
        return f"{type(self).__name__}({','.join(told)})"

    __repr__ = __str__


class QuanterFactory(ClassWithArguments):
    """Makes quanters.

    A subclass gives their class in ``_get_class``; its objects are made of a layer and the
    arguments.
    """

    @property
    def partial_class(self) -> Callable[..., Any]:
        """Makes a quanter of a layer."""
        return functools.partial(self._get_class(), *self.args, **self.kwargs)

    def _instance(self, layer: Any) -> BaseQuanter:
        made: BaseQuanter = self._get_class()(layer, *self.args, **self.kwargs)
        return made


ObserverFactory = QuanterFactory


def quanter(class_name: str) -> Callable[[type[BaseQuanter]], type[BaseQuanter]]:
    """A decorator that makes a factory of a class of quanters, in the class's module.

    Args:
        class_name: the name of the factory.

    Raises:
        ArgumentError: it is no name.

    >>> from fluidlite import paddle
    >>> from fluidlite.paddle.quantization import BaseQuanter, quanter
    >>> @quanter("Nothing")
    ... class NothingLayer(BaseQuanter):
    ...     def __init__(self, layer, bits=8):
    ...         super().__init__()
    ...         self.bits = bits
    ...
    ...     def forward(self, input):
    ...         return input
    ...
    ...     def scales(self):
    ...         return paddle.ones([1])
    ...
    ...     def zero_points(self):
    ...         return None
    ...
    ...     def quant_axis(self):
    ...         return -1
    ...
    ...     def bit_length(self):
    ...         return self.bits
    >>> factory = Nothing(bits=4)
    >>> factory, factory._instance(None).bit_length()
    (Nothing(bits=4), 4)
    """
    if not isinstance(class_name, str) or not class_name.isidentifier():
        raise ArgumentError(f"expected class_name to be the name of a factory, got {class_name!r}")

    def decorated(target: type[BaseQuanter]) -> type[BaseQuanter]:
        made = type(class_name, (QuanterFactory,), {"__module__": target.__module__})
        made._get_class = lambda self: target  # type: ignore[attr-defined]
        made.__doc__ = target.__doc__
        _namespace(target)[class_name] = made
        return target

    return decorated


def _namespace(target: type) -> dict[str, Any]:
    """The names of the module that a class is written in."""
    methods = (value for value in vars(target).values() if isinstance(value, FunctionType))
    method = next(methods, None)
    return vars(sys.modules[target.__module__]) if method is None else method.__globals__


list_public_names(globals())
