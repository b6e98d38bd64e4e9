"""Kernels made ready for values of known shapes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple


class Prepared(NamedTuple):
    """A kernel for values of known shapes.

    ``function`` takes the values that ``run`` takes and gives one array, or a tuple of them.
    """

    function: Callable[..., Any]
    #: whether it takes ``out=``, an array of its result's shape and type to write to
    out: bool = False
    #: positions of arguments that ``out`` may be
    over: tuple[int, ...] = ()
    #: whether the result is an array that shares no memory with an argument
    fresh: bool = True
    #: functions that make arrays to work in, which are passed behind the other arguments
    scratch: tuple[Callable[[], Any], ...] = ()
