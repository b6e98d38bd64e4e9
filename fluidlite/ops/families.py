"""What families of operators share: tables of those that differ by NumPy's function, and a base of
those that do nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from ..opdef.annotations import Array, Arrays, Rules, Specs, Value
from ..opdef.attribute import attr
from ..opdef.conjugation import AS_WRITTEN, OfComplex
from ..opdef.definition import Definition, Op
from ..opdef.spec import Spec, broadcast


def define(base: Definition, **rows: tuple[Any, ...]) -> None:
    """Define operators.

    Args:
        base: what they have in common.
        **rows: by type: the docstring, the function, and the gradient rule where one flows.
    """
    for name, (doc, ufunc, *rule) in rows.items():
        fields = {"__doc__": doc, "__module__": base.__module__, "ufunc": ufunc}
        if rule:
            fields["grad"] = rule[0]
        type(name, (base,), fields)


def of_x(slope: Callable[[Any, Any, Any], Any]) -> Callable[..., Any]:
    """A gradient rule that reads X.

    Args:
        slope: takes an interpreter, X and the cotangent of Out; gives that of X.
    """

    def grad(self, f, X, dOut):
        return dict(X=lambda: slope(f, X, dOut))

    return grad


def of_y(slope: Callable[[Any, Any, Any], Any]) -> Callable[..., Any]:
    """A gradient rule that reads Out, and not X; see :func:`of_x`."""

    def grad(self, f, Out, dOut):
        return dict(X=lambda: slope(f, Out, dOut))

    return grad


class OfPairs(Op, abstract=True):
    """An operator on pairs of elements, without a gradient; shapes spread over each other's."""

    signature = "X, Y -> Out"
    needs: ClassVar[tuple[Callable[..., None], ...]] = ()  #: what checks the types of X and Y
    grad = None

    def infer(self, X: Spec, Y: Spec) -> Specs:
        for need in self.needs:
            need(X=X, Y=Y)
        return X.with_shape(broadcast(X.shape, Y.shape))


class OneNumber(Op, abstract=True):
    """An operator with a result of one number.

    zero_d: it has shape [] where it would have [1]: that is paddle 2's.
    """

    zero_d: bool = attr(False, edition=True)

    @property
    def one(self) -> tuple[int, ...]:
        """The shape of one number."""
        return () if self.zero_d else (1,)


class PassesThrough(Op, abstract=True):
    """Out = X: values never change, so that one serves both."""

    signature = "X -> Out"
    of_complex: ClassVar[OfComplex | None] = AS_WRITTEN
    of_bfloat16: ClassVar[bool] = True

    def run(self, xp: Any, X: Array) -> Arrays:
        return X

    def copies(self) -> bool:
        return True

    def grad(self, f: Any, dOut: Value) -> Rules:
        return dict(X=lambda: f.assign(dOut))
