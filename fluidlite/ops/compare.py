"""Comparisons, logic, and tests of whole tensors; nothing flows through them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ..errors import AttributeValueError, DTypeError
from ..ground.dtypes import DType
from ..opdef.annotations import Array, Specs
from ..opdef.attribute import Tolerance, attr
from ..opdef.conjugation import AS_WRITTEN, OfComplex
from ..opdef.definition import Detached, Op
from ..opdef.fluid_form import FluidForm
from ..opdef.prepared import Prepared
from ..opdef.spec import Spec, broadcast, need_float, need_one, need_shape, same_dtype, spec
from .elementwise import align, aligned_ufunc
from .families import OfPairs, OneNumber, define


class Compare(Op, abstract=True):
    """A comparison of pairs of elements.

    axis: the dimension of the operand with more dimensions at which the other one starts; with -1
        their last dimensions meet.  Sizes of 1 stretch.
    """

    signature = "X, Y -> Out"
    of_bfloat16: ClassVar[bool] = True
    axis: int = -1
    force_cpu: bool = attr(False, inert=True)
    grad = None

    def infer(self, X: Spec, Y: Spec) -> Spec:
        same_dtype(X=X, Y=Y)
        return X.with_shape(broadcast(X.shape, Y.shape, self.axis)).with_dtype(DType.BOOL)

    def run(self, xp, X, Y):
        return getattr(xp, self.ufunc.__name__)(*align(xp, X, Y, self.axis))

    def prepare(self, X: Spec, Y: Spec) -> Prepared | None:
        return aligned_ufunc(self.ufunc, X, Y, self.axis)


class Equality(Compare, abstract=True):
    """A comparison that needs no order."""

    of_complex: ClassVar[OfComplex | None] = AS_WRITTEN


define(
    Equality,
    equal=("Whether X equals Y, for each element.", np.equal),
    not_equal=("Whether X and Y differ, for each element.", np.not_equal),
)
define(
    Compare,
    less_than=("Whether X is below Y, for each element.", np.less),
    less_equal=("Whether X is not above Y, for each element.", np.less_equal),
    greater_than=("Whether X is above Y, for each element.", np.greater),
    greater_equal=("Whether X is not below Y, for each element.", np.greater_equal),
)


def need_bool(**specs: Spec) -> None:
    """Check that specs are of truth values."""
    for name, s in specs.items():
        if s.dtype is not DType.BOOL:
            raise DTypeError(f"expected {name} to hold truth values (bool), got {s.dtype}")


class Logical(OfPairs, abstract=True):
    """An operator on pairs of truth values; shapes broadcast from the last dimension."""

    needs = (need_bool,)


define(
    Logical,
    logical_and=("Whether X and Y are both true, for each element.", np.logical_and),
    logical_or=("Whether X or Y or both are true, for each element.", np.logical_or),
    logical_xor=(
        "Whether one of X and Y is true and the other is not, for each element.",
        np.logical_xor,
    ),
)


class logical_not(Op):
    """Whether X is not true, for each element."""

    signature = "X -> Out"
    ufunc: ClassVar[Callable[..., Any] | None] = np.logical_not
    grad = None

    def infer(self, X: Spec) -> Specs:
        need_bool(X=X)
        return X


class Question(Detached, abstract=True):
    """A question about a whole tensor, answered by one truth value of shape [1]."""

    signature = "X -> Out"

    def infer(self, *specs: Spec) -> Spec:
        return spec([1], DType.BOOL)


class equal_reduce(Question):
    """Out = whether X and Y are equal everywhere.

    axis: the dimension of the operand with more dimensions at which the other one starts; with -1
        their last dimensions meet.  Sizes of 1 stretch.
    """

    signature = "X, Y -> Out"
    axis: int = -1

    def infer(self, X: Spec, Y: Spec) -> Specs:
        same_dtype(X=X, Y=Y)
        broadcast(X.shape, Y.shape, self.axis)
        return super().infer(X, Y)

    def run(self, xp: Any, X: Array, Y: Array) -> Array:
        x, y = align(xp, X, Y, self.axis)
        return xp.reshape(xp.asarray(xp.all(x == y)), (1,))


class isfinite(Question):
    """Out = whether all elements of X are finite numbers."""

    of_complex: ClassVar[OfComplex | None] = AS_WRITTEN

    def run(self, xp: Any, X: Array) -> Array:
        return xp.reshape(xp.all(xp.isfinite(X)), (1,))


class isnan(Question):
    """Out = whether an element of X is not a number."""

    of_complex: ClassVar[OfComplex | None] = AS_WRITTEN

    def run(self, xp: Any, X: Array) -> Array:
        return xp.reshape(xp.any(xp.isnan(X)), (1,))


class isinf(Question):
    """Out = whether an element of X is infinite."""

    of_complex: ClassVar[OfComplex | None] = AS_WRITTEN

    def run(self, xp: Any, X: Array) -> Array:
        return xp.reshape(xp.any(xp.isinf(X)), (1,))


class is_empty(Question):
    """Out = whether X has no elements.

    X: a variable.
    """

    of_complex: ClassVar[OfComplex | None] = AS_WRITTEN

    def run(self, xp: Any, X: Array) -> Array:
        return xp.asarray([0 in X.shape])


class EachQuestion(Op, abstract=True):
    """A question about each element."""

    signature = "X -> Out"
    of_complex: ClassVar[OfComplex | None] = AS_WRITTEN
    of_bfloat16: ClassVar[bool] = True
    grad = None

    def infer(self, X: Spec) -> Specs:
        return X.with_dtype(DType.BOOL)


define(
    EachQuestion,
    isfinite_v2=("Out = whether each element of X is a finite number.", np.isfinite),
    isnan_v2=("Out = whether each element of X is not a number.", np.isnan),
    isinf_v2=("Out = whether each element of X is infinite.", np.isinf),
)


class equal_all(Question):
    """Out = whether X and Y have the same shape and are equal everywhere, of shape []."""

    signature = "X, Y -> Out"
    of_complex: ClassVar[OfComplex | None] = AS_WRITTEN

    def infer(self, X: Spec, Y: Spec) -> Spec:
        same_dtype(X=X, Y=Y)
        return spec([], DType.BOOL)

    def run(self, xp: Any, X: Array, Y: Array) -> Array:
        same = X.shape == Y.shape
        return xp.asarray(xp.all(X == Y) if same else False)


class Close(Detached, abstract=True):
    """Whether ``|Input - Other| <= atol + rtol * |Other|``.

    Rtol, Atol: the same as ``rtol`` and ``atol``, as tensors of one element, which win.
    rtol: how far they may be apart, relative to Other.
    atol: how far they may be apart.
    equal_nan: whether two elements that are no numbers count as close.
    """

    signature = "Input, Other, Rtol?!, Atol?! -> Out"
    of_complex: ClassVar[OfComplex | None] = AS_WRITTEN
    equal_nan: bool = False
    if TYPE_CHECKING:  # each operator has its own form of them
        rtol: float | str
        atol: float | str

    def near(self, xp: Any, x: Array, y: Array, rtol: Array | None, atol: Array | None) -> Array:
        """The answer for each element."""
        relative = float(self.rtol) if rtol is None else xp.reshape(rtol, ())
        absolute = float(self.atol) if atol is None else xp.reshape(atol, ())
        same = x == y  # infinities too, which have no difference
        apart = xp.abs(xp.where(same, xp.zeros_like(x), x) - xp.where(same, xp.zeros_like(y), y))
        near = ((apart <= absolute + relative * xp.abs(y)) & xp.isfinite(y)) | same
        return near | ((x != x) & (y != y)) if self.equal_nan else near


class allclose(Close, OneNumber):
    """Whether ``|Input - Other| <= atol + rtol * |Other|`` everywhere.

    Input: a float variable.
    Other: of the shape and element type of Input.
    """

    fluid: ClassVar[FluidForm] = FluidForm(newer=("Rtol", "Atol"))
    rtol: Tolerance = 1e-5
    atol: Tolerance = 1e-8

    def infer(self, Input: Spec, Other: Spec, Rtol: Spec | None, Atol: Spec | None) -> Spec:
        need_float(Input=Input, Other=Other)
        same_dtype(Input=Input, Other=Other)
        need_shape("Other", Other, Input.shape, "as Input")
        need_one(Rtol=Rtol, Atol=Atol)
        return spec(self.one, DType.BOOL)

    def run(
        self, xp: Any, Input: Array, Other: Array, Rtol: Array | None, Atol: Array | None
    ) -> Array:
        return xp.reshape(xp.all(self.near(xp, Input, Other, Rtol, Atol)), self.one)


class isclose(Close):
    """Whether ``|Input - Other| <= atol + rtol * |Other|``, for each element.

    Input: numbers.
    Other: of the element type of Input; shapes spread over each other's.
    rtol, atol: numbers as texts.
    """

    rtol: str = "1e-5"
    atol: str = "1e-8"

    def infer(self, Input: Spec, Other: Spec, Rtol: Spec | None, Atol: Spec | None) -> Spec:
        same_dtype(Input=Input, Other=Other)
        need_one(Rtol=Rtol, Atol=Atol)
        for name in ("rtol", "atol"):
            try:
                float(getattr(self, name))
            except ValueError:
                raise AttributeValueError(
                    f"expected {name} to be a number, got {getattr(self, name)!r}"
                ) from None
        return Input.with_shape(broadcast(Input.shape, Other.shape)).with_dtype(DType.BOOL)

    def run(
        self, xp: Any, Input: Array, Other: Array, Rtol: Array | None, Atol: Array | None
    ) -> Array:
        return self.near(xp, Input, Other, Rtol, Atol)
