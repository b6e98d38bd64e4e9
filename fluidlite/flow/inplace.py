"""Writing to tensors, in OneFlow's spelling."""

from __future__ import annotations

from typing import Any

from ..eager import engine
from ..eager.sweep import described
from ..eager.writing import Writing
from ..errors import InplaceError
from ..functions import arithmetic, shaping
from ..functions.elementary import cast
from . import elementary


class InPlace(Writing, results=False):
    """Tensors that Python's ``x += y`` and methods that end in ``_`` write to."""

    def __iadd__(self, other: Any) -> Any:
        return _replaced(self, arithmetic.add, other)

    def __isub__(self, other: Any) -> Any:
        return _replaced(self, arithmetic.subtract, other)

    def __imul__(self, other: Any) -> Any:
        return _replaced(self, arithmetic.multiply, other)

    def __itruediv__(self, other: Any) -> Any:
        return _replaced(self, arithmetic.divide, other)

    def __ipow__(self, other: Any) -> Any:
        return _replaced(self, arithmetic.pow, other)

    def __ifloordiv__(self, other: Any) -> Any:
        return _replaced(self, arithmetic.floor_divide, other)

    def __imod__(self, other: Any) -> Any:
        return _replaced(self, arithmetic.remainder, other)

    def add_(self, other: Any, *, alpha: Any = 1) -> Any:
        """Add to the tensor in place."""
        return _replaced(self, lambda x, y: elementary.add(x, y, alpha=alpha), other)

    def sub_(self, other: Any, *, alpha: Any = 1) -> Any:
        """Subtract from the tensor in place."""
        return _replaced(self, lambda x, y: elementary.sub(x, y, alpha=alpha), other)

    def mul_(self, other: Any) -> Any:
        """Multiply the tensor in place."""
        return _replaced(self, arithmetic.multiply, other)

    def div_(self, other: Any) -> Any:
        """Divide the tensor in place."""
        return _replaced(self, arithmetic.divide, other)

    def clamp_(self, min: Any = None, max: Any = None) -> Any:
        """Keep the tensor in [min, max], in place."""
        return self.write(lambda old: elementary.clamp(old, min, max))

    def copy_(self, src: Any) -> Any:
        """Take the elements of another tensor, in place."""
        return self.write(
            lambda old: shaping.broadcast_to(cast(src, old.array.dtype), list(old.array.shape))
        )


def _replaced(x: Any, function: Any, other: Any) -> Any:
    """What Python's ``x += y`` and the like do: write the result to this tensor.

    Raises:
        InplaceError: it has fractions and this tensor none, or the tensor cannot be written.
    """

    def change(old: Any) -> Any:
        made = function(old, other)
        if made.array.dtype.kind == "f" and old.array.dtype.kind != "f":
            raise engine.located(
                InplaceError(
                    f"{described(x)} cannot take the result of type {made.array.dtype} in "
                    f"place; write x = x.float() first"
                )
            )
        return made

    return x.write(change)
