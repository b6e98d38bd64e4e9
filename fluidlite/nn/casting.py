"""Layers whose parameters and buffers get other element types."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from ..errors import ArgumentError
from ..functions.arguments import DTypeLike
from ..ground.brain_float import kind_of
from ..ground.callsite import warn
from ..ground.docstrings import Family
from ..ground.dtypes import DType, as_dtype
from ..ground.place import Place
from .states import StatefulLayer

L = TypeVar("L", bound="CastLayer")


_CASTS = Family(
    returns="this layer.",
    raises="ArgumentError: the device is another, or ``blocking`` no truth value.",
).like(StatefulLayer.to)


class CastLayer(StatefulLayer):
    """A layer that can be cast."""

    @_CASTS
    def to(
        self: L,
        device: str | Place | None = None,
        dtype: DTypeLike = None,
        blocking: bool | None = None,
    ) -> L:
        """Cast all parameters and buffers; there is one place.

        Args:
            dtype: an element type; None leaves them as they are.

        >>> fluid.nn.Linear(2, 3).to(dtype="float64").weight.dtype
        VarType.FP64
        """
        if device is not None and "cpu" not in str(device).lower():
            raise ArgumentError(f"expected device to be 'cpu' or None, got {device!r:.60}")
        if blocking is not None and not isinstance(blocking, bool):
            raise ArgumentError(f"expected blocking to be True, False or None, got {blocking!r}")
        return self if dtype is None else self.astype(dtype)

    def astype(self: L, dtype: DTypeLike = None) -> L:
        """Cast all parameters and buffers, those of integers, too.

        Args:
            dtype: an element type.

        Returns:
            this layer.

        Raises:
            ArgumentError: it is none.

        >>> fluid.nn.Linear(2, 3).astype("float64").bias.dtype
        VarType.FP64
        """
        if dtype is None:
            raise ArgumentError("expected an element type, got None")
        return self._cast(as_dtype(dtype), lambda tensor, layer: True)

    def float(self: L, excluded_layers: Any = None) -> L:
        """Cast parameters and buffers of fractions to float32.

        Args:
            excluded_layers: a class of layers, or a list of them, that stay as they are.

        Returns:
            this layer.

        Raises:
            ArgumentError: ``excluded_layers`` is something else.
        """
        return self._cast_fractions("float32", excluded_layers)

    def float16(self: L, excluded_layers: Any = None) -> L:
        """Leave parameters as they are, with a warning: CPUs do not compute in float16.

        Args:
            excluded_layers: as of :meth:`float`.

        Returns:
            this layer.
        """
        _classes(excluded_layers)
        warn("a CPU does not compute in float16: the layer keeps its element type", None)
        return self

    def bfloat16(self: L, excluded_layers: Any = None) -> L:
        """Cast parameters and buffers of fractions to bfloat16.

        Args:
            excluded_layers: as of :meth:`float`.

        Returns:
            this layer.

        Raises:
            DTypeError: ml_dtypes is not installed.
        """
        return self._cast_fractions("bfloat16", excluded_layers)

    def _cast_fractions(self: L, dtype: str, excluded_layers: Any) -> L:
        excluded = _classes(excluded_layers)

        def chosen(tensor: Any, layer: Any) -> bool:
            return kind_of(tensor.array.dtype) == "f" and not isinstance(layer, excluded)

        return self._cast(as_dtype(dtype), chosen)

    def _cast(self: L, kind: DType, chosen: Callable[[Any, Any], bool]) -> L:
        """Cast what a function of tensors and their layers says."""
        held = [
            (tensor, layer)
            for _, layer in self._walk()
            for tensor in (*layer.own_parameters.values(), *layer.own_buffers.values())
            if tensor is not None
        ]
        for tensor, _ in held:
            self._need_tensor(tensor, "an element type to change")
        for tensor, layer in held:
            if chosen(tensor, layer):
                tensor.array = tensor.array.astype(kind.dtype)
                tensor.clear_gradient(False)
        for _, layer in self._walk():
            layer._dtype = layer._element_type = kind
        return self


def _classes(given: Any) -> tuple[type, ...]:
    """The classes of layers that an argument names."""
    listed = [] if given is None else given if isinstance(given, (list, tuple)) else [given]
    for each in listed:
        if not (isinstance(each, type) and issubclass(each, StatefulLayer)):
            raise ArgumentError(f"expected excluded_layers to be classes of layers, got {each!r}")
    return tuple(listed)
