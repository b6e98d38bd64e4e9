"""Complex numbers, and the real numbers that they are made of.

The gradient of a real loss by a complex number is that by its real part plus i times that by its
imaginary part, so that a step against it makes the loss smaller.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..eager.recording import eager
from .arithmetic import multiply
from .elementary import cos, sin

if TYPE_CHECKING:
    from ..eager.tensor import Tensor


def real(x: Tensor, name: str | None = None) -> Tensor:
    """The real parts of complex numbers.

    >>> fluid.real(fluid.to_tensor([1 + 2j, 3 - 1j])).tolist()
    [1.0, 3.0]
    """
    return eager.real(x)


def imag(x: Tensor, name: str | None = None) -> Tensor:
    """The imaginary parts of complex numbers.

    >>> fluid.imag(fluid.to_tensor([1 + 2j, 3 - 1j])).tolist()
    [2.0, -1.0]
    """
    return eager.imag(x)


def conj(x: Tensor, name: str | None = None) -> Tensor:
    """The conjugates of complex numbers, whose imaginary parts have the other sign; real numbers
    as they are.

    >>> fluid.conj(fluid.to_tensor([1 + 2j])).tolist()
    [(1-2j)]
    """
    return eager.conj(x)


def angle(x: Tensor, name: str | None = None) -> Tensor:
    """The angles of numbers, in (-pi, pi]: those between them and the positive real numbers.

    >>> fluid.angle(fluid.to_tensor([1j, -1.0])).numpy().round(4)
    array([1.5708, 3.1416], dtype=float32)
    """
    return eager.angle(x)


def complex(real: Tensor, imag: Tensor, name: str | None = None) -> Tensor:
    """Complex numbers of their real and imaginary parts, which broadcast.

    Args:
        real, imag: tensors of float32, or of float64.

    >>> fluid.complex(fluid.to_tensor([1.0]), fluid.to_tensor([2.0])).tolist()
    [(1+2j)]
    """
    return eager.complex(real, imag)


def polar(abs: Tensor, angle: Tensor, name: str | None = None) -> Tensor:
    """Complex numbers of their distances from 0 and their angles.

    Args:
        abs, angle: tensors of float32, or of float64.

    >>> fluid.polar(fluid.to_tensor([2.0]), fluid.to_tensor([0.0])).tolist()
    [(2+0j)]
    """
    return eager.complex(multiply(abs, cos(angle)), multiply(abs, sin(angle)))


def as_complex(x: Tensor, name: str | None = None) -> Tensor:
    """Complex numbers of pairs of real ones.

    Args:
        x: [..., 2], of float32 or float64.

    Raises:
        ShapeError: the last dimension has another size.

    >>> fluid.as_complex(fluid.to_tensor([[1.0, 2.0]])).tolist()
    [(1+2j)]
    """
    return eager.as_complex(x)


def as_real(x: Tensor, name: str | None = None) -> Tensor:
    """The real and the imaginary parts of complex numbers, in a new last dimension of size 2.

    >>> fluid.as_real(fluid.to_tensor([1 + 2j])).tolist()
    [[1.0, 2.0]]
    """
    return eager.as_real(x)
