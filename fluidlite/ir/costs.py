"""What an operator costs, from declared shapes: multiply-adds and bytes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from ..opdef.definition import Op
from .operator import EMPTY, Operator
from .variable import Variable

Shape = tuple[int, ...]
#: what counts of elements, bytes and multiplications end at: a file may declare any sizes
MOST = 2**80


def counted(shape: Shape) -> int:
    """The number of elements of a shape whose sizes are known; :data:`MOST` where there are more.

    >>> counted((2, 3)), counted((2**62,) * 9) == MOST, counted((2**62, 2**62, 0))
    (6, True, 0)
    """
    if 0 in shape:
        return 0
    count = 1
    for size in shape:
        count *= size
        if count >= MOST:
            return MOST
    return count


def shape_of(variable: Variable, batch_size: int) -> Shape:
    """The declared shape with a size in place of what is unknown."""
    return tuple(batch_size if n < 0 else n for n in variable.shape)


def elements_of(variable: Variable, batch_size: int) -> int:
    """How many elements a variable has; 0 where its shape is unknown."""
    return counted(shape_of(variable, batch_size)) if variable.has_shape else 0


def bytes_of(variable: Variable, batch_size: int) -> int:
    """How many bytes a variable takes; 0 where its shape is unknown."""
    return min(elements_of(variable, batch_size) * int(variable.dtype.dtype.itemsize), MOST)


def multiply_adds(op: Operator, batch_size: int) -> int:
    """How many multiplications an operator does whose results it adds up: those of matrix products
    and convolutions, and twice or once as many in their gradients; 0 for others.

    Args:
        op: the operator.
        batch_size: what sizes of -1 are taken for.
    """
    definition = op.definition
    if definition is None:
        return 0
    count = _count_of(definition)
    if count is not None:
        return _asked(count, op, batch_size)
    forward = definition.derived_from
    count = None if forward is None else _count_of(forward)
    if count is None:
        return 0
    wanted = [slot for slot in op.outputs if slot.partition("@")[0] in _FACTORS]
    return len(wanted) * _asked(count, op, batch_size)


def _count_of(definition: type[Op]) -> Callable[[_Shapes], int] | None:
    """How often operators of a type multiply and add; None for those that do not."""
    if definition.filtered:
        return partial(_convolution, definition.filtered)
    return _COUNTS.get(definition.type)


def _asked(count: Callable[[_Shapes], int], op: Operator, batch_size: int) -> int:
    try:
        return min(count(_Shapes(op, batch_size)), MOST)
    except (KeyError, IndexError):  # a slot is empty, or a shape is not known
        return 0


class _Shapes:
    """The shapes that an operator sees, by slot.  In a gradient operator an output's gradient has
    the output's shape.
    """

    def __init__(self, op: Operator, batch_size: int) -> None:
        self.op = op
        self._batch_size = batch_size

    def __getitem__(self, slot: str) -> Shape:
        for side in (self.op.outputs, self.op.inputs):
            for name in (slot, f"{slot}@GRAD"):
                names = side.get(name, (EMPTY,))
                variable = None if names[0] == EMPTY else self.op.find_var(names[0])
                if variable is not None and variable.has_shape:
                    return shape_of(variable, self._batch_size)
        raise KeyError(slot)


def _product(shapes: _Shapes) -> int:
    """Of ``mul``: the inner size for each element of the output."""
    columns = shapes.op.attrs.get("x_num_col_dims", 1)
    return counted(shapes["Out"]) * counted(shapes["X"][columns:])


def _matmul(shapes: _Shapes) -> int:
    x = shapes["X"]
    turned = shapes.op.attrs.get("transpose_X", False) or shapes.op.attrs.get("trans_x", False)
    inner = x[-2] if turned and len(x) > 1 else x[-1]
    return counted(shapes["Out"]) * inner


def _convolution(filtered: str, shapes: _Shapes) -> int:
    """A filter for each element of a slot."""
    return counted(shapes[filtered]) * counted(shapes["Filter"][1:])


def _bilinear(shapes: _Shapes) -> int:
    return shapes["X"][0] * counted(shapes["Weight"])


#: operators that multiply and add, convolutions apart -> how often
_COUNTS: dict[str, Callable[[_Shapes], int]] = {
    "mul": _product,
    "matmul": _matmul,
    "matmul_v2": _matmul,
    "bilinear_tensor_product": _bilinear,
}
#: the slots of what they multiply
_FACTORS = frozenset({"X", "Y", "Input", "Filter", "Weight"})


def as_bytes(count: float) -> str:
    """A number of bytes in words.

    >>> as_bytes(512), as_bytes(1536), as_bytes(3 * 2**20)
    ('512 B', '1.5 KB', '3.0 MB')
    """
    for unit in ("B", "KB", "MB", "GB"):
        if count < 1024 or unit == "GB":
            return f"{count:.0f} B" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1024
    return ""


def as_count(count: float) -> str:
    """A number in words.

    >>> as_count(950), as_count(12_300), as_count(4_500_000)
    ('950', '12.3 k', '4.5 M')
    """
    for unit in ("", "k", "M", "G"):
        if count < 1000 or unit == "G":
            return f"{count:.0f}" if not unit else f"{count:.1f} {unit}"
        count /= 1000
    return ""
