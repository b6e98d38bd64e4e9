"""Variables that are fed, in paddle 2's spelling."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ... import input
from ...functions.arithmetic import get_default_dtype
from ...ground.public_names import list_public_names
from ...ground.tracebacks import api_boundaries
from ...ir.variable import Variable

if TYPE_CHECKING:
    from ...functions.arguments import DTypeLike


def data(
    name: str, shape: Sequence[int | str | None], dtype: DTypeLike = None, lod_level: int = 0
) -> Variable:
    """A variable of the main program that is fed.

    Args:
        name: its name, the key of the feed.
        shape: sizes; None or -1 where unknown, or a name: sizes of one name are equal.
        dtype: the element type; the default type when None.
        lod_level: number of levels of sequences.

    Raises:
        ArgumentError: the shape holds something that is no size.
        DuplicateVariableError: a variable of that name has another shape or element type.

    >>> from fluidlite import paddle
    >>> paddle.static.data("x", [None, 4]).shape
    (-1, 4)
    """
    return input.data(name, shape, get_default_dtype() if dtype is None else dtype, lod_level)


list_public_names(globals())
api_boundaries(globals())
