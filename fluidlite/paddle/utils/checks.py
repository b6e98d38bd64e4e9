"""What an installation is asked: which version it is, what can be imported, what it leaves."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import Any, TypeVar

from ...framework import check_version
from ...framework import require_version as of_fluid
from ...ground.spellings import parameters_of
from ...ground.tracebacks import api_boundaries

PADDLE = (2, 6, 2, 0)  #: the version of paddle whose interface this is
F = TypeVar("F", bound=Callable[..., object])


def disable_signal_handler() -> None:
    """Nothing: no handlers of signals are put in place of Python's.

    >>> fluid.paddle.disable_signal_handler()
    """


def deprecated(
    update_to: str = "", since: str = "", reason: str = "", level: int = 0
) -> Callable[[F], F]:
    """A decorator that gives a function back as it is, as in releases of paddle 2.6.

    Args:
        update_to: what replaces the function.
        since: the version that says so.
        reason: why.
        level: how much is made of it.
    """
    return lambda function: function


@parameters_of(of_fluid)
def require_version(*versions: Any) -> None:
    """Check that a script is made for the paddle whose interface this is, which is 2.6.2.

    >>> from fluidlite import paddle
    >>> paddle.utils.require_version("2.0")
    """
    check_version("paddle 2.6.2", PADDLE, *versions)


def try_import(module_name: str, err_msg: str | None = None) -> ModuleType:
    """A module that may not be installed.

    Args:
        module_name: its name.
        err_msg: what is said where it is not; how to install it when None.

    Raises:
        ImportError: it is not installed.

    >>> from fluidlite import paddle
    >>> paddle.utils.try_import("math").floor(1.5)
    1
    """
    try:
        return import_module(module_name)
    except ImportError as error:
        advice = f"{module_name} is not installed: python -m pip install {module_name}"
        raise ImportError(advice if err_msg is None else err_msg) from error


api_boundaries(globals())
