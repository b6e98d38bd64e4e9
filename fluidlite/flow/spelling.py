"""How OneFlow calls what functions of tensors take."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from ..ground.spellings import Spelling

if TYPE_CHECKING:
    from .tensor import Tensor

    Function = Callable[..., Tensor]
    Several = Callable[..., tuple[Tensor, ...]]
    Picking = Callable[..., "Found"]

_SHAPE = re.compile(r"(?<=\.shape\n)(\[.*\])$", re.MULTILINE)


def in_oneflow(example: str) -> str:
    """An example in OneFlow's spelling.

    Args:
        example: one in paddle's; those that are OneFlow's already stay.
    """
    text = re.sub(r"\bfluid\.(?!flow\.)(paddle\.)?", "fluid.flow.", example)
    text = text.replace(".to_tensor(", ".tensor(")
    return _SHAPE.sub(r"oneflow.Size(\1)", text)


_NAMES = {"x": "input", "y": "other", "axis": "dim", "label": "target", "epsilon": "eps"}
_TYPES = {"TensorCore": "Tensor"}
ONEFLOW = Spelling(_NAMES, without=["name"], types=_TYPES, examples=in_oneflow)
#: the same of functions that write their results to the input where ``inplace`` is true
WRITTEN_IF_ASKED = Spelling(
    _NAMES, without=["name"], types=_TYPES, examples=in_oneflow, writes="write", asks="inplace"
)


class Found(NamedTuple):
    """Elements that were looked for along a dimension, and their places."""

    values: Tensor
    indices: Tensor

    def __repr__(self) -> str:
        name = type(self).__name__
        return f"oneflow.return_types.{name}(\nvalues={self.values!r},\nindices={self.indices!r})"


def found_by(name: str) -> Callable[[tuple[Tensor, Tensor]], Found]:
    """What makes the result of a function of elements and their places.

    Args:
        name: the function's, which the result says.
    """
    kind: Any = type(name, (Found,), {"__slots__": (), "__module__": __name__})

    def found(pair: tuple[Tensor, Tensor]) -> Found:
        """Elements and their places, by their names."""
        return kind(*pair)

    return found


def truth(value: Tensor) -> bool | Tensor:
    """A truth value; what a program computes stays a variable."""
    return bool(value.array) if value.appends is None else value
