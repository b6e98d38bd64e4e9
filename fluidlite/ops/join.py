"""Several tensors made one, and one made several: each the adjoint of another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from ..errors import AttributeValueError, ShapeError
from ..opdef.annotations import Array, Arrays, Rules, Specs, Value
from ..opdef.attribute import REQUIRED
from ..opdef.conjugation import AS_WRITTEN, OfComplex
from ..opdef.definition import Op
from ..opdef.fluid_form import FluidForm
from ..opdef.spec import Shape, Spec, agree, known, normal_axis, same_dtype, spec
from .given import foretold, numbers
from .inert_attributes import UseMkldnn, UseQuantizer


def common(specs: list[Spec], but: int | None = None) -> Shape:
    """The sizes that tensors have in common; those along the dimension ``but`` do not matter.

    Raises:
        DTypeError: the tensors have several element types.
        ShapeError: they differ in another size.
    """
    same_dtype(**{f"X[{i}]": one for i, one in enumerate(specs)})
    shape = specs[0].shape
    for one in specs[1:]:
        if len(one.shape) != len(shape) or not all(
            i == but or agree(m, n) for i, (m, n) in enumerate(zip(shape, one.shape))
        ):
            listed = ", ".join(str(list(each.shape)) for each in specs)
            where = "" if but is None else f" except along {but}"
            raise ShapeError(f"expected tensors of the same sizes{where}, got {listed}")
        shape = tuple(map(known, shape, one.shape))
    return shape


class concat(UseMkldnn, UseQuantizer, Op):
    """Out = all X, one after the other along ``axis``.

    X: tensors of the same sizes but along ``axis``.
    AxisTensor: the dimension as a tensor of one element; goes before ``axis``.
    axis: the dimension; may count from the end.
    """

    signature = "X*, AxisTensor?! -> Out"
    of_complex: ClassVar[OfComplex | None] = AS_WRITTEN
    of_bfloat16: ClassVar[bool] = True
    axis: int = 0

    @property
    def lod(self) -> str:
        return "first" if self.axis else "joined"

    def infer(self, X: list[Spec], AxisTensor: Spec | None) -> Spec:
        if AxisTensor is not None:
            return X[0].with_shape((-1,) * X[0].ndim)
        axis = normal_axis(self.axis, X[0].ndim)
        sizes = [one.shape[axis] if one.ndim == X[0].ndim else -1 for one in X]
        total = -1 if -1 in sizes else sum(sizes)
        return X[0].with_shape(common(X, but=axis)).with_dim(axis, total)

    def run(self, xp: Any, X: list[Array], AxisTensor: Array) -> Array:
        axis = normal_axis(self.place(AxisTensor), X[0].ndim)  # NumPy's own has a second meaning
        return xp.concatenate(X, axis=axis)

    def grad(self, f: Any, X: list[Value], AxisTensor: Value, dOut: Value) -> Rules:
        def parts():
            axis = self.place(AxisTensor)
            return f.split(dOut, axis=axis, sections=[one.shape[axis] for one in X])

        return dict(X=parts)

    def joins(self, x: Spec) -> int | None:
        return normal_axis(self.axis, x.ndim)

    def place(self, AxisTensor: Array) -> int:
        """The dimension."""
        return self.axis if AxisTensor is None else int(AxisTensor.reshape(()))


#: more parts than anybody has variables for
MOST_PARTS = 2**16


def few(name: str, number: int) -> None:
    """Check a number of parts, before there is a list of them."""
    if not 0 <= number <= MOST_PARTS:
        raise AttributeValueError(f"expected {name} in [0, {MOST_PARTS}], got {number}")


class split(Op):
    """Out = the parts of X along ``axis``.

    AxisTensor: the dimension as a tensor of one element; goes before ``axis``.
    SectionsTensorList: the sizes of the parts as one number each; goes before ``sections``.
    sections: the sizes of the parts; one may be -1 and takes what is left.
    num: how many parts there are, all of one size; 0 where ``sections`` says.
    axis: the dimension; may count from the end.
    """

    signature = "X, AxisTensor?!, SectionsTensorList?*! -> Out*"
    of_complex: ClassVar[OfComplex | None] = AS_WRITTEN
    of_bfloat16: ClassVar[bool] = True
    sections: list[int] = ()
    num: int = 0
    axis: int = 0
    fluid: ClassVar[FluidForm] = FluidForm(direct=True)

    def width(self, X: Any, AxisTensor: Any, SectionsTensorList: Any) -> Any:
        few("num", self.num)
        return self.num or len(SectionsTensorList or self.sections)

    def infer(self, X, AxisTensor, SectionsTensorList):
        if AxisTensor is not None:
            unknown = X.with_shape((-1,) * X.ndim)
            return [unknown] * self.width(X, AxisTensor, SectionsTensorList)
        axis = normal_axis(self.axis, X.ndim)
        few("num", self.num)
        if SectionsTensorList and not self.num:
            sizes = foretold(self.sections, None, SectionsTensorList)
        else:
            sizes = self.sizes(X.shape[axis], self.sections)
        return [X.with_dim(axis, n) for n in sizes]

    def run(self, xp: Any, X: Any, AxisTensor: Any, SectionsTensorList: Any) -> Any:
        axis = self.axis if AxisTensor is None else int(AxisTensor.reshape(()))
        axis = normal_axis(axis, X.ndim)
        sections = numbers(self.sections, None, SectionsTensorList)
        parts, start = [], 0
        for n in self.sizes(X.shape[axis], sections):
            parts.append(X[(slice(None),) * axis + (slice(start, start + n),)])
            start += n
        return parts

    def grad(self, f: Any, AxisTensor: Value, dOut: list[Value]) -> Rules:
        return dict(X=lambda: f.concat(dOut, AxisTensor, axis=self.axis))

    def slices(self, x: Spec) -> list[list[slice]] | None:
        axis, slices, start = normal_axis(self.axis, x.ndim), [], 0
        for n in self.sizes(x.shape[axis], self.sections):
            cuts = [slice(0, size, 1) for size in x.shape]
            cuts[axis] = slice(start, start + n, 1)
            slices.append(cuts)
            start += n
        return slices

    def sizes(self, size: int, sections: Sequence[int]) -> list[int]:
        """The sizes of the parts of ``size`` elements; unknown ones are -1.

        Raises:
            AttributeValueError: nothing says how many parts there are, or two of them take the
                rest.
            ShapeError: the parts do not make up the whole.
        """
        if self.num > 0:
            if size != -1 and size % self.num:
                raise ShapeError(
                    f"expected a size along axis {self.axis} that num {self.num} divides, "
                    f"got {size}"
                )
            return [-1 if size == -1 else size // self.num] * self.num
        if not sections or sum(n < 0 for n in sections) > 1:
            raise AttributeValueError(
                f"expected num of at least 1, or sections with at most one size of -1, "
                f"got num={self.num} and sections={list(sections)}"
            )
        rest = size - sum(n for n in sections if n >= 0)
        takes_rest = any(n < 0 for n in sections)
        if size != -1 and (rest < 0 or (rest > 0 and not takes_rest)):
            raise ShapeError(
                f"expected sections that add up to the size {size} along axis {self.axis}, "
                f"got {list(sections)}"
            )
        return [n if n >= 0 else -1 if size == -1 else rest for n in sections]


class stack(Op):
    """Y[i] = X[i], along a new dimension of Y.

    X: tensors of one shape.
    axis: the place of the new dimension; may count from the end.
    """

    signature = "X* -> Y"
    of_complex: ClassVar[OfComplex | None] = AS_WRITTEN
    of_bfloat16: ClassVar[bool] = True
    fluid: ClassVar[FluidForm] = FluidForm(bare_gradients=True)
    axis: int = 0

    def infer(self, X: list[Spec]) -> Spec:
        shape = list(common(X))
        shape.insert(normal_axis(self.axis, len(shape) + 1), len(X))
        return spec(shape, X[0].dtype)

    def run(self, xp: Any, X: list[Array]) -> Array:
        return xp.stack(X, axis=self.axis)

    def part(self, inputs: Sequence[Spec], cuts: Sequence[slice]) -> int | str | None:
        axis = normal_axis(self.axis, len(cuts))
        whole = list(inputs[0].shape)
        whole.insert(axis, len(inputs))
        spans = [range(n)[c] for c, n in zip(cuts, whole)]
        if any(len(s) != n for i, (s, n) in enumerate(zip(spans, whole)) if i != axis):
            return None
        return spans[axis][0] if len(spans[axis]) == 1 else None

    def grad(self, f: Any, dY: Value) -> Rules:
        return dict(X=lambda: f.unstack(dY, axis=self.axis, num=dY.shape[self.axis]))


class unstack(Op):
    """Y[i] = X[i], counted along a dimension of X that Y do not have.

    axis: the dimension; may count from the end.
    num: its size, which is how many Y there are.
    """

    signature = "X -> Y*"
    of_complex: ClassVar[OfComplex | None] = AS_WRITTEN
    of_bfloat16: ClassVar[bool] = True
    axis: int = 0
    num: int = REQUIRED
    lod: ClassVar[str | None] = None

    def width(self, X: Any) -> int:
        return self.num

    def infer(self, X: Spec) -> Specs:
        axis = normal_axis(self.axis, X.ndim)
        few("num", self.num)
        if not agree(X.shape[axis], self.num):
            raise ShapeError(
                f"expected num to be the size of X along axis {self.axis}, "
                f"got {self.num} for shape {list(X.shape)}"
            )
        return [spec(X.shape[:axis] + X.shape[axis + 1 :], X.dtype)] * self.num

    def run(self, xp: Any, X: Array) -> Arrays:
        lead = (slice(None),) * normal_axis(self.axis, X.ndim)
        if X.shape[self.axis] != self.num:
            raise ShapeError(
                f"expected {self.num} elements along axis {self.axis}, got {X.shape[self.axis]}"
            )
        return [X[(*lead, i)] for i in range(self.num)]

    def grad(self, f: Any, dY: list[Value]) -> Rules:
        return dict(X=lambda: f.stack(dY, axis=self.axis))


class unbind(Op):
    """Out[i] = X[i], counted along a dimension of X that Out do not have.

    axis: the dimension; may count from the end.
    """

    signature = "X -> Out*"
    of_complex: ClassVar[OfComplex | None] = AS_WRITTEN
    of_bfloat16: ClassVar[bool] = True
    axis: int = 0
    lod: ClassVar[str | None] = None
    fluid: ClassVar[FluidForm] = FluidForm(direct=True)

    def width(self, X: Any) -> int:
        count = X.shape[normal_axis(self.axis, len(X.shape))]
        if count == -1:
            raise ShapeError(
                f"expected X to have a known size along axis {self.axis}, got {list(X.shape)}"
            )
        return count

    def infer(self, X: Spec) -> Specs:
        axis = normal_axis(self.axis, X.ndim)
        part = spec(X.shape[:axis] + X.shape[axis + 1 :], X.dtype)
        return None if X.shape[axis] == -1 else [part] * X.shape[axis]

    def run(self, xp: Any, X: Array) -> Arrays:
        lead = (slice(None),) * normal_axis(self.axis, X.ndim)
        return [X[(*lead, i)] for i in range(X.shape[self.axis])]

    def grad(self, f: Any, dOut: Value) -> Rules:
        return dict(X=lambda: f.stack(dOut, axis=self.axis))


class Partial(Op, abstract=True):
    """Some columns of each X.

    X: matrices of one shape.
    start_index: the first column; may count from the end.
    length: how many columns; -1 for all that follow.
    """

    signature = "X* -> Out"
    start_index: int = 0
    length: int = -1

    def check(self, X):
        """The number of rows and of columns that are taken."""
        rows, size = common(X) if X and all(one.ndim == 2 for one in X) else (None, None)
        if rows is None:
            listed = ", ".join(str(list(one.shape)) for one in X)
            raise ShapeError(f"expected X to be matrices, got {listed or 'none'}")
        if size == -1:
            return rows, self.length
        start = normal_axis(self.start_index, size, "start_index")
        length = size - start if self.length < 0 else self.length
        if not 0 < length <= size - start:
            raise AttributeValueError(
                f"expected length from 1 to {size - start}, the columns from start_index="
                f"{self.start_index} on; got {self.length}"
            )
        return rows, length

    def parts(self, f: Any, X: list[Value]) -> list[Value]:
        """The columns of each X."""
        size = X[0].shape[1]
        start = self.start_index % size
        end = size if self.length < 0 else start + self.length
        return [f.slice(one, axes=[1], starts=[start], ends=[end]) for one in X]


class partial_concat(Partial):
    """Out = some columns of each X, side by side."""

    def infer(self, X: list[Spec]) -> Specs:
        rows, length = self.check(X)
        return X[0].with_shape((rows, -1 if length == -1 else length * len(X)))

    def expand(self, f: Any, X: list[Value]) -> Value:
        return f.concat(self.parts(f, X), axis=1)


class partial_sum(UseMkldnn, Partial):
    """Out = the sum of some columns of each X."""

    fluid: ClassVar[FluidForm] = FluidForm(numbers=("X",))

    def infer(self, X: list[Spec]) -> Specs:
        shape = self.check(X)
        return X[0].with_shape(shape)

    def expand(self, f: Any, X: list[Value]) -> Value:
        return f.sum(self.parts(f, X))
