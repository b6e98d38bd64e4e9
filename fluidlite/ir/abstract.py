"""What functions of tensors see of a variable, and what appends for them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any, NoReturn, Protocol

import numpy as np

from ..errors import ArgumentError
from ..ground import advice
from ..ground.callsite import called
from ..ground.extension import ExtensionPoint
from ..ground.shaped import Shaped

if TYPE_CHECKING:
    from ..opdef.definition import Op
    from .variable import Variable


def _need_size(*others: Any) -> NoReturn:
    raise ArgumentError(
        f"{called()} computes with a size of a variable that is unknown (-1, or None, where it was "
        f"declared); declare the size, or {advice.FUNCTIONS}"
    )


class UnknownSize(int):
    """A size that is known when the program runs: -1, with which nothing can be computed.

    Args:
        variable: has the size.
        axis: along which dimension.
    """

    variable: Variable
    axis: int

    def __new__(cls, variable: Variable, axis: int) -> UnknownSize:
        size = super().__new__(cls, -1)
        size.variable, size.axis = variable, axis
        return size

    def __reduce__(self) -> tuple[type[int], tuple[int]]:
        return int, (-1,)


#: Python's methods that compute with a value
_OPERATORS = (
    "lt", "le", "gt", "ge", "add", "radd", "sub", "rsub", "mul", "rmul", "truediv", "rtruediv",
    "floordiv", "rfloordiv", "mod", "pow", "neg",
)  # fmt: skip
for _name in (*_OPERATORS, "rmod", "divmod", "rdivmod", "pos", "abs"):
    setattr(UnknownSize, f"__{_name}__", _need_size)


class AbstractShape(tuple[int, ...]):
    """A shape that is no key of anything that is kept for a shape of an array."""

    def __hash__(self) -> int:
        return hash(("abstract", *self))

    def __eq__(self, other: object) -> bool:
        return tuple.__eq__(self, other) if isinstance(other, tuple) else False

    def __ne__(self, other: object) -> bool:
        return not self == other


class AbstractArray(Shaped):
    """What stands in place of the array of a variable: what is declared, and no elements.

    Args:
        variable: of a program.
    """

    __slots__ = ("variable",)

    def __init__(self, variable: Variable) -> None:
        self.variable: Variable = variable

    @property
    def shape(self) -> AbstractShape:
        """The declared sizes."""
        sizes = enumerate(self.variable.shape)
        return AbstractShape(UnknownSize(self.variable, k) if n < 0 else n for k, n in sizes)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The declared element type."""
        return self.variable.dtype.dtype

    def _no_elements(self, *others: Any, **named: Any) -> NoReturn:
        raise ArgumentError(
            f"{called()} reads the elements of variable {self.variable.name!r}, which has none "
            f"before the program runs; {advice.FUNCTIONS}, or fetch the variable"
        )

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        self._no_elements()


_READING = (
    "array", "array_ufunc", "array_function", "iter", "len", "getitem", "int", "float", "bool",
    "index", "eq", "ne", "and", "or", "invert",
)  # fmt: skip
for _name in (*_OPERATORS, *_READING):
    setattr(AbstractArray, f"__{_name}__", AbstractArray._no_elements)


class Appender(Protocol):
    """How functions of tensors append to programs."""

    def methods(self) -> Mapping[str, Any]:
        """The methods that variables have because tensors have them."""
        ...

    def append(
        self, x: Variable, op: Op, ins: Mapping[str, Any], want: Collection[str] | None = None
    ) -> dict[str, Any]:
        """Append an operator to the current block of a variable's program; its outputs by slot."""
        ...

    def result(self, x: Variable, given: Any, origin: Any = None, stop: bool = True) -> Variable:
        """A variable in place of a tensor that would be made of an array."""
        ...

    def beside(self, x: Variable, value: Any) -> Variable:
        """A variable in place of an array, or of a tensor that may stand beside x."""
        ...

    def promotion(self) -> Any:
        """How element types are chosen for functions of variables."""
        ...

    def mixed(self, x: Variable, method: str, other: Any, reflected: bool) -> Variable | None:
        """What a method of Python's operators makes of variables of two element types, or of
        quotients that are rounded, where another spelling than fluid's says so; else None.
        """
        ...

    def is_operand(self, value: Any) -> bool:
        """Whether Python's operators take a value, which is no number, beside a variable."""
        ...

    def item(self, x: Variable, index: Any) -> Variable:
        """``x[index]``, for any index."""
        ...

    def iterates(self) -> bool:
        """Whether a variable of known rows is iterated over, as tensors are."""
        ...

    def put_item(self, x: Variable, index: Any, value: Any) -> None:
        """``x[index] = value``: the variable has other elements from here on."""
        ...


APPENDER: ExtensionPoint[Appender] = ExtensionPoint("appending for functions of tensors")
