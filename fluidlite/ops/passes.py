"""Values of the passes of a loop, in arrays of tensors: what the gradient of a gradient reads.

They are `write_to_array` and `read_from_array` for values that a pass need not have: those of
branches that it does not take.
"""

from __future__ import annotations

from functools import reduce
from typing import Any, ClassVar

from ..ground.values import LoDTensorArray, added, bare, zeros_like
from ..opdef.annotations import Rules, Value
from ..opdef.definition import Op
from ..opdef.fluid_form import FluidForm
from .array import position, write_to_array
from .families import PassesThrough


class keep_value(Op):
    """Out = the array Out with X at position I; the array as it is where nothing has written X.

    I: one position; the array grows as far as needed.
    """

    signature = "X, I! -> Out"
    hands_on: ClassVar[bool] = True
    fluid: ClassVar[FluidForm] = FluidForm(direct=True, updates=("Out",))
    lod: ClassVar[str | None] = None

    def execute(self, run: Any) -> None:
        (x,), (i,) = run.names("inputs", "X"), run.names("inputs", "I")
        (out,) = run.names("outputs", "Out")
        value, array = run.find(x), run.find(out) or LoDTensorArray()
        at = position(bare(run.value(i)))
        run.set(out, array if value is None else array.with_item(at, value))

    def grad(self, f: Any, X: Value, I: Value, dOut: Value) -> Rules:
        return dict(X=lambda: f.kept_value(dOut, I, Like=X), Out=lambda: f.array_without(dOut, I))


class kept_value(Op):
    """Out = the element of the array X at position I; nothing if there is none.

    I: one position.
    Like: where it holds something, a missing element is 0 in its form: so gradients are read.
    """

    signature = "X, I!, Like?! -> Out"
    hands_on: ClassVar[bool] = True
    fluid: ClassVar[FluidForm] = FluidForm(direct=True)
    lod: ClassVar[str | None] = None

    def execute(self, run: Any) -> None:
        (x,), (i,) = run.names("inputs", "X"), run.names("inputs", "I")
        array = run.find(x)
        value = None if array is None else array.item(position(bare(run.value(i))))
        for name in run.names("inputs", "Like"):
            like = run.find(name)
            if value is None and like is not None:
                value = zeros_like(like)
        if value is not None:
            run.set(run.names("outputs", "Out")[0], value)

    def grad(self, f: Any, I: Value, dOut: Value) -> Rules:
        return dict(X=lambda: f.keep_value(dOut, I))


class sum_of_written(Op):
    """Out = the sum of those X that something has written; nothing if there are none."""

    signature = "X* -> Out"
    hands_on: ClassVar[bool] = True
    fluid: ClassVar[FluidForm] = FluidForm(direct=True)

    def execute(self, run: Any) -> None:
        values = [run.find(name) for name in run.names("inputs", "X")]
        written = [value for value in values if value is not None]
        if written:
            run.set(run.names("outputs", "Out")[0], reduce(added, written))

    def grad(self, f: Any, X: list[Value], dOut: Value) -> Rules:
        return dict(X=lambda: [f.sum_of_written([dOut]) for _ in X])


class keep_statistic(write_to_array):
    """Out = the array Out with X at position I, for X that stops gradients and that
    an operator made beside its results: the gradient of a gradient has a share of it.

    I: one position; the array grows as far as needed.
    """

    byproducts: ClassVar[frozenset[str]] = frozenset({"X"})


class pass_statistic(PassesThrough):
    """Out = X, for X as of `keep_statistic`."""

    byproducts: ClassVar[frozenset[str]] = frozenset({"X"})
    fluid: ClassVar[FluidForm] = FluidForm(direct=True)
