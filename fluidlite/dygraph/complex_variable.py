"""Complex numbers of fluid 1.8: two tensors, the real part and the imaginary one."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Sequence
from numbers import Number
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from ..eager import engine
from ..eager.recording import TensorRecord
from ..errors import ArgumentError, DTypeError, ShapeError
from ..functions.complex_parts import complex as complex_of
from ..functions.complex_parts import imag as imag_of
from ..functions.complex_parts import real as real_of
from ..ground.dtypes import DType, as_dtype
from ..ground.missing_names import answer
from ..ground.public_names import list_public_names
from ..ground.tracebacks import api_boundaries
from ..ir.variable import Variable

if TYPE_CHECKING:
    from ..eager.tensor import Tensor

__all__ = ["ComplexVariable", "complex_variable_exists", "is_complex", "is_real"]

#: a tensor, or a variable of a program
Part: TypeAlias = "Tensor | Variable"
#: what stands beside a complex variable in sums and products
Beside: TypeAlias = "ComplexVariable | Part | complex | np.ndarray[Any, Any]"
#: the types of parts that make complex64
_SINGLE = (DType.FP16, DType.FP32)

_Combining: TypeAlias = "Callable[[ComplexVariable, Beside], ComplexVariable]"


def _both_ways(combine: Callable[[Any, Any], Any]) -> tuple[_Combining, _Combining]:
    """Python's methods for an operator: of what stands on the left of it, and on the right."""

    def on_left(self: ComplexVariable, other: Beside) -> ComplexVariable:
        return self._combine(combine, other, False)

    def on_right(self: ComplexVariable, other: Beside) -> ComplexVariable:
        return self._combine(combine, other, True)

    on_left.__name__, on_right.__name__ = (f"__{side}{combine.__name__}__" for side in ("", "r"))
    for method in (on_left, on_right):
        method.__qualname__ = f"ComplexVariable.{method.__name__}"
    return on_left, on_right


class ComplexVariable:
    """Complex numbers as fluid 1.8 has them: two tensors, or two variables of a program.

    Gradients are those of the parts: ``x.real.gradient()`` and ``x.imag.gradient()``.  Python's
    operators take other complex variables, tensors, arrays and numbers.

    Args:
        real, imag: the parts, of one shape and element type.

    Raises:
        ArgumentError: a part is no tensor and no variable.
        ShapeError: the parts have different shapes.
        DTypeError: the parts have different element types.

    >>> with fluid.dygraph.guard():
    ...     x = fluid.dygraph.to_variable(np.array([1 + 2j, 3j]), name="x")
    ...     y = x * x + 1
    >>> x.name, x.dtype, x.shape
    ({'real': 'x.real', 'imag': 'x.imag'}, 'complex128', [2])
    >>> y.numpy()
    array([-2.+4.j, -8.+0.j])
    """

    __array_ufunc__ = None  # array + variable is the variable's to answer

    def __init__(self, real: Part, imag: Part) -> None:
        for name, part in (("real", real), ("imag", imag)):
            if not is_real(part):
                raise engine.located(
                    ArgumentError,
                    f"ComplexVariable: expected {name} to be a tensor or a variable, got "
                    f"{part!r:.60} of type {type(part).__name__}",
                )
        if list(real.shape) != list(imag.shape):
            raise engine.located(
                ShapeError,
                f"ComplexVariable: expected parts of one shape, got real {list(real.shape)} and "
                f"imag {list(imag.shape)}",
            )
        if as_dtype(real.dtype) != as_dtype(imag.dtype):
            raise engine.located(
                DTypeError,
                f"ComplexVariable: expected parts of one element type, got real {real.dtype} and "
                f"imag {imag.dtype}; cast one of them",
            )
        self.real = real
        self.imag = imag

    @property
    def dtype(self) -> str:
        """``"complex64"`` where the parts are float16 or float32, else ``"complex128"``."""
        return "complex64" if as_dtype(self.real.dtype) in _SINGLE else "complex128"

    @property
    def shape(self) -> Sequence[int]:
        """The sizes, as the parts give them."""
        return self.real.shape

    @property
    def name(self) -> dict[str, str]:
        """The names of the parts, by "real" and "imag"."""
        return {"real": self.real.name, "imag": self.imag.name}

    @property
    def value(self) -> Part:
        """The numbers as one tensor, or one variable, of a complex element type."""
        parts: Any = (self.real, self.imag)
        precision = DType.FP32 if self.dtype == "complex64" else DType.FP64
        if as_dtype(self.real.dtype) is not precision:
            parts = [each.astype(precision) for each in parts]
        return complex_of(*parts)

    def numpy(self) -> np.ndarray[Any, Any]:
        """A copy of the numbers, as an array.

        Raises:
            ArgumentError: these are variables of a program, which have no numbers.
        """
        if not isinstance(self.real, TensorRecord):
            raise engine.located(
                ArgumentError,
                f"numpy: variable {self.real.name} has no value while a program is built; fetch "
                "the parts with exe.run, or compute within fluid.dygraph.guard()",
            )
        numbers = np.empty(self.real.array.shape, self.dtype)
        numbers.real, numbers.imag = self.real.array, self.imag.array
        return numbers

    def __repr__(self) -> str:
        return f"REAL: {self.real}\nIMAG: {self.imag}\n"

    def __neg__(self) -> ComplexVariable:
        return ComplexVariable(-self.real, -self.imag)

    def _combine(self, combine: Callable[[Any, Any], Any], other: Beside, reflected: bool) -> Any:
        if not isinstance(other, (ComplexVariable, TensorRecord, Variable, Number, np.ndarray)):
            return NotImplemented
        pair = [self.value, other.value if isinstance(other, ComplexVariable) else other]
        return of_value(combine(*reversed(pair) if reflected else pair))

    __add__, __radd__ = _both_ways(operator.add)
    __sub__, __rsub__ = _both_ways(operator.sub)
    __mul__, __rmul__ = _both_ways(operator.mul)
    __truediv__, __rtruediv__ = _both_ways(operator.truediv)
    __matmul__, __rmatmul__ = _both_ways(operator.matmul)


def of_value(value: Any) -> ComplexVariable:
    """The complex variable of a tensor, or a variable, of a complex element type."""
    return ComplexVariable(real_of(value), imag_of(value))


def is_complex(x: object) -> bool:
    """Whether something is a complex variable.

    Args:
        x: anything.
    """
    return isinstance(x, ComplexVariable)


def is_real(x: object) -> bool:
    """Whether something is a tensor, or a variable of a program.

    Args:
        x: anything.
    """
    return isinstance(x, (TensorRecord, Variable))


def complex_variable_exists(inputs: Iterable[object], layer_name: str) -> None:
    """Refuse operands none of which is a complex variable.

    Args:
        inputs: the operands.
        layer_name: of the function of ``paddle.complex``, for the message.

    Raises:
        ArgumentError: none is.
    """
    operands = list(inputs)
    if not any(map(is_complex, operands)):
        raise engine.located(
            ArgumentError,
            f"paddle.complex.{layer_name}: expected a ComplexVariable, got "
            f"{', '.join(type(each).__name__ for each in operands)}; fluid.layers has the function "
            "of real numbers",
        )


list_public_names(globals())
api_boundaries(globals(), but=("of_value",))

answer(globals())
