"""Writing to tensors, in OneFlow's spelling."""

from __future__ import annotations

from typing import Any

from ..errors import InplaceError
from ..imperative import arithmetic, engine, shaping
from ..imperative.elementary import cast
from ..imperative.sweep import described
from ..imperative.writing import Writing
from . import elementary


class InPlace(Writing, results=False):
    """Tensors that Python's ``x += y`` and methods that end in ``_`` write to."""

    def __iadd__(self, other: Any) -> Any:
        return self._replaced(arithmetic.add, other)

    def __isub__(self, other: Any) -> Any:
        return self._replaced(arithmetic.subtract, other)

    def __imul__(self, other: Any) -> Any:
        return self._replaced(arithmetic.multiply, other)

    def __itruediv__(self, other: Any) -> Any:
        return self._replaced(arithmetic.divide, other)

    def __ipow__(self, other: Any) -> Any:
        return self._replaced(arithmetic.pow, other)

    def __ifloordiv__(self, other: Any) -> Any:
        return self._replaced(arithmetic.floor_divide, other)

    def __imod__(self, other: Any) -> Any:
        return self._replaced(arithmetic.remainder, other)

    def _replaced(self, function: Any, other: Any) -> Any:
        """What Python's ``x += y`` and the like do: write the result to this tensor.

        Raises:
            InplaceError: it has fractions and this tensor none, or the tensor cannot be written.
        """

        def change(old: Any) -> Any:
            made = function(old, other)
            if made.array.dtype.kind == "f" and old.array.dtype.kind != "f":
                raise engine.located(
                    InplaceError(
                        f"{described(self)} cannot take the result of type {made.array.dtype} in "
                        f"place; write x = x.float() first"
                    )
                )
            return made

        return self.write(change)

    def add_(self, other: Any, *, alpha: Any = 1) -> Any:
        """Add to the tensor in place."""
        return self._replaced(lambda x, y: elementary.add(x, y, alpha=alpha), other)

    def sub_(self, other: Any, *, alpha: Any = 1) -> Any:
        """Subtract from the tensor in place."""
        return self._replaced(lambda x, y: elementary.sub(x, y, alpha=alpha), other)

    def mul_(self, other: Any) -> Any:
        """Multiply the tensor in place."""
        return self._replaced(arithmetic.multiply, other)

    def div_(self, other: Any) -> Any:
        """Divide the tensor in place."""
        return self._replaced(arithmetic.divide, other)

    def clamp_(self, min: Any = None, max: Any = None) -> Any:
        """Keep the tensor in [min, max], in place."""
        return self.write(lambda old: elementary.clamp(old, min, max))

    def copy_(self, src: Any) -> Any:
        """Take the elements of another tensor, in place."""
        return self.write(
            lambda old: shaping.broadcast_to(cast(src, old.array.dtype), list(old.array.shape))
        )
