"""Functions of paddle 2.6 whose results are written with their arguments, as views of them."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, Final, TypeVar

from ..eager import views
from ..eager.recording import eager
from ..eager.views import reforming, viewing
from ..errors import ArgumentError
from . import diagonals, shaping, slices

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..eager.tensor import Tensor
    from ..eager.tensor_core import TensorCore
    from .arguments import Numbers

    F = TypeVar("F", bound=Callable[..., Any])

__all__ = [
    "as_strided", "atleast_1d", "atleast_2d", "atleast_3d", "diagonal", "flatten", "moveaxis",
    "reshape", "slice", "squeeze", "strided_slice", "swapaxes", "t", "transpose", "unbind",
    "unflatten", "unfold", "unsqueeze", "view", "view_as",
]  # fmt: skip


def _each_reformed(function: F) -> F:
    """The same as ``reforming`` for a function of any number of tensors."""

    @functools.wraps(function)
    def reformed(*inputs: Any, name: str | None = None) -> Any:
        many = len(inputs) != 1 or isinstance(inputs[0], (list, tuple))
        given = inputs[0] if many and len(inputs) == 1 else inputs
        one: Any = reforming(function)
        made = [one(each) for each in given]
        return made if many else made[0]

    return reformed  # type: ignore[return-value]


def _need_viewed(function: F) -> F:
    """A function that gives a form or another element type, and refuses to copy elements."""

    @functools.wraps(function)
    def viewed(x: Any, *args: Any, **named: Any) -> Any:
        view = function(x, *args, **named)
        if not isinstance(x, views.Viewed) or not x.sees or view is x:
            return view
        if view.array.dtype != x.array.dtype:
            return views.see(view, x, views.bits_of, (view.array.dtype,))
        if views.is_view(views.form(view, x)):
            return view
        raise ArgumentError(
            f"the elements of a tensor of shape {list(x.array.shape)} do not lie so that "
            f"{list(view.array.shape)} is a view of them; use reshape, which copies them"
        )

    return viewed  # type: ignore[return-value]


def _strided_view(function: F) -> F:
    """The same as ``viewing`` for a function whose offset counts bytes."""

    def in_elements(x: Any, shape: tuple[int, ...], stride: tuple[int, ...], first: int) -> Any:
        return function(x, shape, stride, first * x.array.dtype.itemsize)

    @functools.wraps(function)
    def strided(x: Any, shape: Any, stride: Any, offset: int = 0, name: str | None = None) -> Any:
        view = function(x, shape, stride, offset)
        if not x.sees:
            return view
        first = offset // x.array.dtype.itemsize
        return views.see(view, x, in_elements, (tuple(shape), tuple(stride), first))

    return strided  # type: ignore[return-value]


reshape: Final = reforming(shaping.reshape)
flatten: Final = reforming(shaping.flatten)
squeeze: Final = reforming(shaping.squeeze)
unsqueeze: Final = reforming(shaping.unsqueeze)
unflatten: Final = reforming(diagonals.unflatten)
view: Final = _need_viewed(diagonals.view)
view_as: Final = _need_viewed(diagonals.view_as)
atleast_1d: Final = _each_reformed(diagonals.atleast_1d)
atleast_2d: Final = _each_reformed(diagonals.atleast_2d)
atleast_3d: Final = _each_reformed(diagonals.atleast_3d)
t: Final = viewing(shaping.t)
moveaxis: Final = viewing(shaping.moveaxis)
swapaxes: Final = viewing(shaping.swapaxes)
diagonal: Final = viewing(diagonals.diagonal)
unfold: Final = viewing(slices.unfold)
as_strided: Final = _strided_view(slices.as_strided)
slice: Final = viewing(slices.slice)
strided_slice: Final = viewing(slices.strided_slice)


@functools.wraps(shaping.transpose)
def transpose(x: TensorCore, perm: Numbers, *more: int, name: str | None = None) -> Tensor:
    """x with its dimensions in another order: ``viewing(shaping.transpose)``, spelled out."""
    axis = shaping.numbers_in("perm", (perm, *more) if more else perm)
    turned: Tensor = eager.transpose(x, axis=axis)
    return views.see(turned, x, shaping.transpose, axis) if x.sees else turned


@functools.wraps(shaping.unbind)
def unbind(input: Tensor, axis: int = 0) -> list[Tensor]:
    """The slices of a tensor along a dimension, as views of it."""
    return views.parts(input, shaping.unbind(input, axis), axis)
