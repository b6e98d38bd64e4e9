"""Complex numbers, and the real numbers that they are made of."""

from __future__ import annotations

from typing import Any, ClassVar

from ..errors import DTypeError, ShapeError
from ..opdef.annotations import Array, Rules, Specs, Value
from ..opdef.conjugation import AS_WRITTEN, OfComplex, is_complex
from ..opdef.definition import Op
from ..opdef.spec import Spec, agree, broadcast, need_float, need_rank, same_dtype
from .elementwise import indicator, sum_like


def need_complex(X: Spec) -> None:
    """Refuse real numbers."""
    if not X.dtype.is_complex:
        raise DTypeError(f"expected X of type complex64 or complex128, got {X.dtype}")


def need_real(**specs: Spec) -> None:
    """Refuse what a complex number cannot be made of."""
    for name, s in specs.items():
        if s.dtype.whole.part is not s.dtype:
            raise DTypeError(f"expected {name} of type float32 or float64, got {s.dtype}")


def safe(f: Any, value: Value) -> Value:
    """A value with 1 in place of 0, so that it may stand below a fraction."""
    return value + indicator(f, value == 0.0, value)


class OfParts(Op, abstract=True):
    """A function of each element of complex numbers."""

    signature = "X -> Out"
    by_element: ClassVar[bool] = True
    of_complex: ClassVar[OfComplex | None] = AS_WRITTEN


class conj(OfParts):
    """Out = the conjugate of X, whose imaginary part has the other sign; real numbers stay."""

    def run(self, xp: Any, X: Array) -> Array:
        return xp.conj(X)

    def grad(self, f: Any, dOut: Value) -> Rules:
        return dict(X=lambda: f.conj(dOut))


class OneReal(OfParts, abstract=True):
    """A real number that is made of each complex one."""

    by_element: ClassVar[bool] = False  # what flows back is of another type

    def infer(self, X: Spec) -> Spec:
        need_complex(X)
        return X.with_dtype(X.dtype.part)


class real(OneReal):
    """Out = the real part of X."""

    def run(self, xp: Any, X: Array) -> Array:
        return xp.real(X)

    def grad(self, f: Any, dOut: Value) -> Rules:
        return dict(X=lambda: f.complex(dOut, f.fill_zeros_like(dOut)))


class imag(OneReal):
    """Out = the imaginary part of X."""

    def run(self, xp: Any, X: Array) -> Array:
        return xp.imag(X)

    def grad(self, f: Any, dOut: Value) -> Rules:
        return dict(X=lambda: f.complex(f.fill_zeros_like(dOut), dOut))


class angle(OneReal):
    """Out = the angle of X, in (-pi, pi]: that between X and the positive real numbers.

    No gradient flows to X = 0, nor to real numbers, whose angles are 0 and pi.
    """

    def infer(self, X: Spec) -> Spec:
        need_float(X=X)
        return X.with_dtype(X.dtype.part)

    def run(self, xp: Any, X: Array) -> Array:
        if X.dtype.kind == "c":
            return xp.arctan2(xp.imag(X), xp.real(X))
        flat = xp.where(X < 0, xp.asarray(xp.pi, X.dtype), xp.zeros_like(X))
        return xp.where(xp.isnan(X), X, flat)

    def grad(self, f: Any, X: Value, dOut: Value) -> Rules:
        def dx():
            if not is_complex(X):
                return f.fill_zeros_like(X)
            x, y = f.real(X), f.imag(X)
            share = dOut / safe(f, x * x + y * y)
            return f.complex(-share * y, share * x)

        return dict(X=dx)


class complex(Op):
    """Out = X + i Y: complex numbers of real parts and imaginary ones, which broadcast."""

    signature = "X, Y -> Out"
    of_complex: ClassVar[OfComplex | None] = AS_WRITTEN

    def infer(self, X: Spec, Y: Spec) -> Spec:
        same_dtype(X=X, Y=Y)
        need_real(X=X, Y=Y)
        return X.with_dtype(X.dtype.whole).with_shape(broadcast(X.shape, Y.shape))

    def run(self, xp: Any, X: Array, Y: Array) -> Array:
        return xp.complex_of(*xp.broadcast_arrays(X, Y))

    def grad(self, f: Any, X: Value, Y: Value, dOut: Value) -> Rules:
        return dict(X=lambda: sum_like(f, f.real(dOut), X), Y=lambda: sum_like(f, f.imag(dOut), Y))


class as_complex(Op):
    """Out = complex numbers of pairs of real ones, which the last dimension of X has."""

    signature = "X -> Out"
    of_complex: ClassVar[OfComplex | None] = AS_WRITTEN

    def infer(self, X: Spec) -> Specs:
        need_real(X=X)
        need_rank("X", X, 1)
        if not agree(X.shape[-1], 2):
            raise ShapeError(
                f"expected X to have 2 elements along its last dimension, the real part and the "
                f"imaginary one; got shape {list(X.shape)}"
            )
        return X.with_dtype(X.dtype.whole).with_shape(X.shape[:-1])

    def run(self, xp: Any, X: Array) -> Array:
        return xp.complex_of(X[..., 0], X[..., 1])

    def grad(self, f: Any, dOut: Value) -> Rules:
        return dict(X=lambda: f.as_real(dOut))


class as_real(Op):
    """Out = the real part and the imaginary one of X, beside each other in a new last dimension."""

    signature = "X -> Out"
    of_complex: ClassVar[OfComplex | None] = AS_WRITTEN

    def infer(self, X: Spec) -> Specs:
        need_complex(X)
        return X.with_dtype(X.dtype.part).with_shape((*X.shape, 2))

    def run(self, xp: Any, X: Array) -> Array:
        return xp.stack([xp.real(X), xp.imag(X)], -1)

    def grad(self, f: Any, dOut: Value) -> Rules:
        return dict(X=lambda: f.as_complex(dOut))
