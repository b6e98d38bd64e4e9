"""Kernels made ready for values of known shapes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from typing import Any, NamedTuple

import numpy as np


class Prepared(NamedTuple):
    """A NumPy kernel for values of known shapes.

    ``function`` takes the values that ``run`` takes and gives one array, or a tuple of them.
    """

    function: Callable[..., Any]
    #: whether it takes ``out=``: an array to write its result to, or None; a tuple of them where it
    #: gives several
    out: bool = False
    #: positions of arguments that ``out`` may be
    over: tuple[int, ...] = ()
    #: position of an argument that the result is like, where the shape rule cannot know it
    like: int | None = None
    #: makes an array to work in, which is passed behind the other arguments; kernels whose makers
    #: are equal get the same one
    scratch: Callable[[], Any] | None = None
    #: bytes of the arrays that it makes beside the result, and lets go of before it ends, at the
    #: moment when they are most
    between: int = 0


@dataclass(frozen=True)
class Scratch:
    """Makes an array to work in."""

    shape: tuple[int, ...]
    dtype: Any

    @property
    def nbytes(self) -> int:
        """The size in memory."""
        return prod(self.shape) * np.dtype(self.dtype).itemsize

    def __call__(self) -> Any:
        return np.empty(self.shape, self.dtype)


class Laid(NamedTuple):
    """A kernel of a library for values in layouts that the library chose."""

    prepared: Prepared | None  #: of arrays as they lie; None where nothing is to do
    #: the layout of each argument, or of all in a list; None for plain arrays
    takes: tuple[Any, ...]
    gives: tuple[Any, ...]  #: the layout of each value that is made
    #: keys of what it reads beside the arguments, made by kernels before it
    reads: tuple[Any, ...] = ()
    #: keys and shapes of arrays of bytes that it makes beside the values
    makes: tuple[tuple[Any, tuple[int, ...]], ...] = ()
    #: values that it takes in the place of the kernel's arguments
    arguments: tuple[Any, ...] | None = None
    same: int = 0  #: where nothing is to do: the position of the argument that the result is


#: makes a prepared kernel of an operator and the specs of what ``run`` takes; None where it cannot
Preparation = Callable[..., "Prepared | None"]
_preparations: dict[str, Preparation] = {}


def prepares(*types: str) -> Callable[[Preparation], Preparation]:
    """A decorator for functions that make NumPy kernels ready.

    The function takes the operator (of a derived gradient operator the forward operator), and the
    specs of what its ``run``, or its rule, takes.

    Args:
        types: of the operators.
    """

    def register(preparation: Preparation) -> Preparation:
        _preparations.update(dict.fromkeys(types, preparation))
        return preparation

    return register


def preparation_of(type: str) -> Preparation | None:
    """The function that prepares kernels of an operator; None where there is none."""
    return _preparations.get(type)
