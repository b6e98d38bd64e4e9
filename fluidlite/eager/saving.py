"""Hooks around the values that are kept for gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import ArgumentError, ShapeError
from ..ground.reprs import Described
from .mode import RecordingGuard, thread
from .nodes import GradNode
from .recording import TensorRecord
from .straight_line import ShapeDtype


class Packed:
    """What stands in place of a kept value.

    Args:
        array: the value.
        kind: the class of tensors that the functions get and give.
        pack: makes something else of a tensor.
        unpack: makes the tensor of that again.
        stops: whether the tensor stops gradients.
    """

    __slots__ = ("_form", "_unpack", "_what")

    def __init__(
        self,
        array: Any,
        kind: type[TensorRecord],
        pack: Callable[..., Any],
        unpack: Callable[..., Any],
        stops: bool = False,
    ) -> None:
        self._form = ShapeDtype(array.shape, array.dtype)
        self._unpack = unpack
        self._what = pack(kind(array, None, stops))

    def tensor(self) -> TensorRecord:
        """The value.

        Raises:
            ArgumentError: something else came back.
            ShapeError: it has another shape or type.
        """
        with _Unhooked():
            tensor = self._unpack(self._what)
        if not isinstance(tensor, TensorRecord):
            raise ArgumentError(f"expected unpack to give a tensor, got {tensor!r:.60}")
        form = ShapeDtype(tensor.array.shape, tensor.array.dtype)
        if form != self._form:
            raise ShapeError(
                f"expected unpack to give back {self._form.dtype}{list(self._form.shape)}, got "
                f"{form.dtype}{list(form.shape)}"
            )
        return tensor


class _Unhooked(RecordingGuard):
    """What the functions do is not remembered, and nothing is packed on the way."""

    def __init__(self) -> None:
        super().__init__(False)

    def __enter__(self) -> RecordingGuard:
        self._hooks, thread.packing = thread.packing, None
        return super().__enter__()

    def __exit__(self, *error: object) -> None:
        super().__exit__(*error)
        thread.packing = self._hooks


class saved_tensors_hooks(Described):
    """A guard under which values that operators keep for their gradients are packed.

    Of what gradients need only the shape of, nothing is kept, and nothing packed.

    Args:
        pack_hook: takes a tensor, gives anything: a file's name, a smaller copy.
        unpack_hook: takes that, gives a tensor of the same shape and type; called in ``backward``.

    >>> x = fluid.to_tensor([1.0, 2.0], stop_gradient=False)
    >>> with fluid.autograd.saved_tensors_hooks(lambda t: t.tolist(), fluid.to_tensor):
    ...     y = x * x
    >>> fluid.grad(y, x)[0].tolist()
    [2.0, 4.0]
    """

    def __init__(self, pack_hook: Callable[[Any], Any], unpack_hook: Callable[[Any], Any]) -> None:
        for name, function in (("pack_hook", pack_hook), ("unpack_hook", unpack_hook)):
            if not callable(function):
                raise ArgumentError(f"expected {name} to be a function, got {function!r:.60}")
        self._pack_hook, self._unpack_hook = pack_hook, unpack_hook
        self._before: list[Any] = []

    def __enter__(self) -> saved_tensors_hooks:
        self._before.append(thread.packing)
        thread.packing = self.keep
        return self

    def __exit__(self, *error: object) -> None:
        thread.packing = self._before.pop()

    def keep(self, node: GradNode | _Kept, kind: type[TensorRecord]) -> None:
        """Pack what a node keeps.

        Args:
            node: of an operator that was just remembered.
            kind: the class of its tensors.
        """

        def packed(value: Any) -> Any:
            if isinstance(value, (list, tuple)) and not isinstance(value, ShapeDtype):
                return [packed(each) for each in value]
            array = value.array if isinstance(value, TensorRecord) else value
            if type(array) is not np.ndarray:
                return value
            stops = isinstance(value, TensorRecord) and value.stop
            return Packed(array, kind, self._pack_hook, self._unpack_hook, stops)

        with _Unhooked():
            node.saved = [
                packed(v) if isinstance(v, (TensorRecord, list, tuple)) else v for v in node.saved
            ]
            if isinstance(node.out, dict):
                node.out = {slot: packed(value) for slot, value in node.out.items()}
            else:
                node.out = packed(node.out)


class _Kept:
    """Stands in place of a node that keeps one value."""

    def __init__(self, tensor: TensorRecord) -> None:
        self.saved: Any = [tensor]
        self.out: Any = None


def packed(tensor: TensorRecord) -> TensorRecord | Packed:
    """A tensor that a function of the user's keeps, packed where hooks say so."""
    if thread.packing is None:
        return tensor
    kept = _Kept(tensor)
    thread.packing(kept, tensor.results)
    return kept.saved[0]


def opened(value: Any) -> Any:
    """A kept output, or kept outputs by slot, as arrays again."""
    if type(value) is Packed:
        return value.tensor().array
    if type(value) is dict:
        return {slot: opened(each) for slot, each in value.items()}
    return [opened(each) for each in value] if type(value) is list else value
