"""Tensors that share their elements, and writing in place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from ..errors import ArgumentError, InplaceError
from ..functions import arithmetic, elementary, numeric, selection, shaping
from ..functions.items import set_item
from ..ground.dtypes import as_dtype
from ..ground.spellings import Spelling
from ..opdef.operand import Operand
from . import engine
from .mode import no_grad, thread
from .prepared import generator
from .recording import TensorRecord, eager
from .sweep import described
from .views import Viewed, cut_off, leave, mark_overwritten, see, take

WRITTEN = Spelling({"x": "self"}, ["name"], writes="write")
RESHAPED = Spelling({"x": "self"}, ["name"], writes="write_shape")


def need_no_leaf(tensor: Any) -> None:
    """Refuse to write a leaf that wants a gradient.

    Raises:
        InplaceError: it is one.
    """
    if tensor.origin is None and not tensor.stop:
        raise engine.located(
            InplaceError,
            f"{described(tensor)} is a leaf that wants a gradient: it cannot be written in "
            f"place; do that under no_grad(), with set_value, or on a clone()",
        )


class Writing(Viewed, results=False):
    """Tensors that can be written in place.

    Arrays are never written to: a write gives the tensor, and those that share its elements,
    another array, and counts their versions.
    """

    #: whether writes to what ``data`` gives are noticed by none
    unnoticed_data: ClassVar[bool] = False

    def alias(self) -> Any:
        """Another handle of the same value with the same past."""
        return self.results(self.array, self.origin, self.stop)

    def detach(self) -> Any:
        """A tensor of the same elements that stops gradients; what is written in one shows in both.

        >>> x = fluid.to_tensor([1.0, 2.0])
        >>> x.detach()[0] = 7.0
        >>> x.tolist()
        [7.0, 2.0]
        """
        return see(self.results(self.array), self, cut_off)

    def detach_(self) -> Any:
        """This tensor, cut off from what it was made of."""
        self.origin: Any = None
        self.stop: bool = True
        return self

    @property
    def data(self) -> Any:
        """A tensor of the same elements that stops gradients; assigning to it replaces them."""
        made = Writing.detach(self)
        made._unnoticed = self.unnoticed_data
        return made

    @data.setter
    def data(self, value: Operand) -> None:
        if not isinstance(value, Operand):
            raise engine.located(ArgumentError, f"expected a tensor, got {value!r:.60}")
        self.replace(value.array)

    def write(self, change: Any, reshaped: bool = False, retyped: bool = False) -> Any:
        """Take what a function makes of this tensor in its place.

        The function is recorded; what was recorded before still means the old elements.

        Args:
            change: takes an alias of this tensor, and gives a tensor of its shape.
            reshaped: the shape may change.
            retyped: the element type may change; results are converted to it otherwise.

        Raises:
            InplaceError: the tensor is a leaf that wants a gradient, or the shape would change.
        """
        if thread.recording:
            need_no_leaf(self)
        result = change(self.alias() if self.origin is not None or self.stop else self)
        if result.array.shape != self.array.shape and not reshaped:
            raise engine.located(
                InplaceError,
                f"a write in place cannot change the shape of {described(self)} to "
                f"{list(result.array.shape)}",
            )
        if result.array.dtype != self.array.dtype and not retyped:
            result = eager.cast(
                result, in_dtype=as_dtype(result.array.dtype), out_dtype=as_dtype(self.array.dtype)
            )
        if (self._whole is not None or self._views is not None) and result.array.size:
            if np.may_share_memory(result.array, self.array) and reshaped:
                see(self, leave(self), change)
            elif (result.array.shape, result.array.dtype) != (self.array.shape, self.array.dtype):
                leave(self)
            else:
                take(self, result, not self._unnoticed)
                return self
        own: TensorRecord = self
        own.array = result.array
        if not self._unnoticed:
            own.version += 1
            if not self.keeps_results:
                mark_overwritten(self.origin)
        if thread.recording:
            self.origin, self.stop = result.origin, result.stop
        return self

    def _overwrite(self, value: Any) -> None:
        """Take another tensor's elements and past; its shape, too.

        A leaf that wants a gradient takes those of a tensor without a past, and stays a leaf: from
        then on its gradient belongs to the new elements.

        Raises:
            InplaceError: this is a leaf that wants a gradient, and gradients flow into ``value``.
        """
        if self.origin is None and not self.stop and value.stop:
            with no_grad():
                self.write_shape(lambda old: value)
        else:
            self.write_shape(lambda old: value)

    def write_shape(self, change: Any) -> Any:
        """The same as ``write`` for a function that changes the shape."""
        return self.write(change, reshaped=True)

    def write_type(self, change: Any) -> Any:
        """The same as ``write`` for a function that changes the element type."""
        return self.write(change, retyped=True)

    add_: ClassVar[Callable[..., Any]] = WRITTEN(arithmetic.add)
    subtract_: ClassVar[Callable[..., Any]] = WRITTEN(arithmetic.subtract)
    multiply_: ClassVar[Callable[..., Any]] = WRITTEN(arithmetic.multiply)
    divide_: ClassVar[Callable[..., Any]] = WRITTEN(numeric.divide)
    scale_: ClassVar[Callable[..., Any]] = WRITTEN(elementary.scale, fixed={"act": None})
    clip_: ClassVar[Callable[..., Any]] = WRITTEN(elementary.clip)
    exp_: ClassVar[Callable[..., Any]] = WRITTEN(elementary.exp)
    sqrt_: ClassVar[Callable[..., Any]] = WRITTEN(elementary.sqrt)
    rsqrt_: ClassVar[Callable[..., Any]] = WRITTEN(elementary.rsqrt)
    reciprocal_: ClassVar[Callable[..., Any]] = WRITTEN(elementary.reciprocal)
    tanh_: ClassVar[Callable[..., Any]] = WRITTEN(elementary.tanh)
    floor_: ClassVar[Callable[..., Any]] = WRITTEN(elementary.floor)
    ceil_: ClassVar[Callable[..., Any]] = WRITTEN(elementary.ceil)
    round_: ClassVar[Callable[..., Any]] = WRITTEN(elementary.round)
    abs_: ClassVar[Callable[..., Any]] = WRITTEN(elementary.abs)
    neg_: ClassVar[Callable[..., Any]] = WRITTEN(elementary.neg)
    sin_: ClassVar[Callable[..., Any]] = WRITTEN(elementary.sin)
    cos_: ClassVar[Callable[..., Any]] = WRITTEN(elementary.cos)
    log_: ClassVar[Callable[..., Any]] = WRITTEN(elementary.log)
    square_: ClassVar[Callable[..., Any]] = WRITTEN(elementary.square)
    sigmoid_: ClassVar[Callable[..., Any]] = WRITTEN(elementary.sigmoid)
    pow_: ClassVar[Callable[..., Any]] = WRITTEN(arithmetic.pow)
    remainder_: ClassVar[Callable[..., Any]] = WRITTEN(arithmetic.remainder)
    floor_divide_: ClassVar[Callable[..., Any]] = WRITTEN(arithmetic.floor_divide)
    lerp_: ClassVar[Callable[..., Any]] = WRITTEN(arithmetic.lerp)
    tril_: ClassVar[Callable[..., Any]] = WRITTEN(shaping.tril)
    triu_: ClassVar[Callable[..., Any]] = WRITTEN(shaping.triu)
    masked_fill_: ClassVar[Callable[..., Any]] = WRITTEN(selection.masked_fill)
    scatter_: ClassVar[Callable[..., Any]] = WRITTEN(selection.scatter)
    squeeze_: ClassVar[Callable[..., Any]] = RESHAPED(shaping.squeeze)
    unsqueeze_: ClassVar[Callable[..., Any]] = RESHAPED(shaping.unsqueeze)
    flatten_: ClassVar[Callable[..., Any]] = RESHAPED(shaping.flatten)

    def uniform_(
        self, min: float = -1.0, max: float = 1.0, seed: int = 0, name: str | None = None
    ) -> Any:
        """Draw all elements anew, equally likely in [min, max), in place.

        Args:
            min, max: the bounds.
            seed: fixes them; with 0 they come from ``fluid.seed``'s stream.
        """
        return self._drawn(
            lambda kind, shape: generator.get().fractions(shape, kind, seed) * (max - min) + min
        )

    def normal_(self, mean: float = 0.0, std: float = 1.0, name: str | None = None) -> Any:
        """Draw all elements anew, normally distributed, in place.

        >>> fluid.zeros([2, 3]).normal_().shape
        [2, 3]
        """
        return self._drawn(lambda kind, shape: generator.get().normal(shape, kind) * std + mean)

    def exponential_(self, lam: float = 1.0, name: str | None = None) -> Any:
        """Draw all elements anew, exponentially distributed with the mean ``1 / lam``, in place."""
        return self._drawn(lambda kind, shape: generator.get().exponential(shape, kind) / lam)

    def _drawn(self, function: Any) -> Any:
        def made(old: Any) -> Any:
            kind = old.array.dtype
            return old.results(np.asarray(function(kind, old.array.shape), kind))

        return self.write(made)

    def fill_diagonal_(
        self, value: Any, offset: int = 0, wrap: bool = False, name: str | None = None
    ) -> Any:
        """Make the elements on the diagonal of a matrix, or of a cube, one number, in place.

        Args:
            value: the number.
            offset: how far above the main diagonal.
            wrap: begin anew below the square in matrices that are higher than wide.
        """

        def filled(old: Any) -> Any:
            if old.array.ndim > 2 and len({*old.array.shape}) == 1:  # the diagonal of a cube
                return set_item(old, (np.arange(old.array.shape[0]),) * old.array.ndim, value)
            rows, columns = old.array.shape
            high = rows if wrap else min(rows, columns + max(-offset, 0))
            there = np.arange(high)
            step = (there + offset) % (columns + 1) if wrap else there + offset
            keep = (step >= 0) & (step < columns)
            return set_item(old, (there[keep], step[keep]), value)

        return self.write(filled)

    def reshape_(self, shape: Any, *more: Any) -> Any:
        """Change the shape in place."""
        return self.write_shape(lambda old: shaping.reshape(old, shape, *more))

    def zero_(self) -> Any:
        """Make all elements 0, in place."""
        return self.fill_(0)

    def fill_(self, value: Any) -> Any:
        """Make all elements one number, in place."""

        def filled(old: Any) -> Any:
            sizes = [+n for n in old.array.shape]
            return old.results(np.full(sizes, value, old.array.dtype))

        return self.write(filled)
