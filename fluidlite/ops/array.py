"""Arrays of tensors: writing, reading, length.

An array is immutable: writing an element gives a new array under the old name.
"""

from __future__ import annotations

from typing import Any, ClassVar

from ..errors import OutOfRangeError, ShapeError
from ..ground.dtypes import DType, Kind
from ..ground.values import LoDTensor, LoDTensorArray, bare, with_lod
from ..opdef.annotations import Array, Arrays, Rules, Specs, Value
from ..opdef.attribute import Long
from ..opdef.conjugation import AS_WRITTEN, OfComplex
from ..opdef.definition import Detached, Op
from ..opdef.fluid_form import FluidForm
from ..opdef.spec import Spec, need_integer, need_one, normal_axis, spec


def position(I: Array) -> int:
    """A position in an array, from a tensor of one element."""
    return int(I.reshape(()))


def need_position(I: Spec) -> None:
    """Check that ``I`` says one position."""
    need_integer(I=I)
    need_one(I=I)


class empty_array(Detached):
    """Out = an array without elements.

    shape, dtype: what elements are to be.
    """

    signature = "-> Out"
    shape: list[Long] = ()
    dtype: DType = DType.FP32
    hands_on: ClassVar[bool] = True
    folds: ClassVar[bool] = False

    def infer(self) -> Specs:
        return spec(self.shape, self.dtype)._replace(kind=Kind.LOD_TENSOR_ARRAY)

    def run(self, xp: Any) -> Array:
        return LoDTensorArray()


class write_to_array(Op):
    """Out = the array Out with X at position I.

    I: one position; the array grows as far as needed.
    """

    signature = "X[], I! -> Out"
    of_complex: ClassVar[OfComplex | None] = AS_WRITTEN
    hands_on: ClassVar[bool] = True
    fluid: ClassVar[FluidForm] = FluidForm(direct=True, updates=("Out",))
    lod: ClassVar[str | None] = None

    def infer(self, X: Spec, I: Spec) -> Spec:
        need_position(I)
        return X

    def run(self, xp: Any, X: Array, I: Array, Out: Array) -> Array:
        return (Out or LoDTensorArray()).with_item(position(I), X)

    def grad(self, f: Any, X: Value, I: Value, dOut: Value) -> Rules:
        return dict(
            X=lambda: f.read_from_array(dOut, I, X_W=X), Out=lambda: f.array_without(dOut, I)
        )


class read_from_array(Op):
    """Out = the element of the array X at position I.

    I: one position.
    X_W: where X has no element there, Out is 0 in the form of this: so gradients are read.
    """

    signature = "X, I!, X_W?![] -> Out"
    of_complex: ClassVar[OfComplex | None] = AS_WRITTEN
    hands_on: ClassVar[bool] = True
    fluid: ClassVar[FluidForm] = FluidForm(direct=True)
    lod: ClassVar[str | None] = None

    def infer(self, X: Spec, I: Spec, X_W: Spec) -> Spec:
        need_position(I)
        return (X if X_W is None else X_W)._replace(kind=Kind.LOD_TENSOR)

    def run(self, xp: Any, X: Array, I: Array, X_W: Array) -> Array:
        found = X.item(position(I))
        if found is not None:
            return found
        if X_W is not None:
            lod = X_W.offsets if isinstance(X_W, LoDTensor) else ()
            return with_lod(xp.zeros_like(bare(X_W)), lod)
        raise OutOfRangeError(
            f"expected a position that has been written, one below {len(X)}, got {position(I)}"
            if len(X)
            else f"expected a position that has been written, got {position(I)} of an empty array; "
            "sequences that are all empty have no steps"
        )

    def grad(self, f: Any, I: Value, dOut: Value) -> Rules:
        return dict(X=lambda: f.write_to_array(dOut, I))


class array_without(Op):
    """Out = the array X without the element at position I.

    The gradient of an array before an element was written over.

    I: one position.
    """

    signature = "X, I! -> Out"
    of_complex: ClassVar[OfComplex | None] = AS_WRITTEN
    fluid: ClassVar[FluidForm] = FluidForm(direct=True)
    lod: ClassVar[str | None] = None

    def run(self, xp: Any, X: Array, I: Array) -> Array:
        at = position(I)
        return X.with_item(at, None) if at < len(X) else X

    def grad(self, f: Any, I: Value, dOut: Value) -> Rules:
        return dict(X=lambda: f.array_without(dOut, I))


class tensor_array_to_tensor(Op):
    """Out = the elements of the array X joined along ``axis``.

    OutIndex: the size of each element along ``axis``; 1 where it has no such dimension.
    axis: the dimension; may count from the end.
    use_stack: whether ``axis`` is a new dimension, in which they lie one after the other.
    """

    signature = "X -> Out, OutIndex!"
    of_complex: ClassVar[OfComplex | None] = AS_WRITTEN
    hands_on: ClassVar[bool] = True
    axis: int = 0
    use_stack: bool = False
    lod: ClassVar[str | None] = None

    def infer(self, X: Spec) -> Specs:
        axis = normal_axis(self.axis, X.ndim + self.use_stack)
        shape = [*X.shape[:axis], -1, *X.shape[axis + (not self.use_stack) :]]
        return X._replace(kind=Kind.LOD_TENSOR).with_shape(shape), spec([-1], DType.INT32)

    def run(self, xp: Any, X: Array) -> Arrays:
        whole = [bare(each) for each in X if each is not None]
        if not whole or len(whole) < len(X):
            raise OutOfRangeError(
                f"expected an array whose elements have all been written, got {len(whole)} of "
                f"{len(X)}"
            )
        if len({(each.ndim, each.dtype) for each in whole}) > 1:
            listed = ", ".join(f"{each.dtype}{list(each.shape)}" for each in whole)
            raise ShapeError(f"expected elements of one rank and element type, got {listed}")
        axis = normal_axis(self.axis, whole[0].ndim + self.use_stack)
        others = {each.shape[:axis] + each.shape[axis + 1 :] for each in whole}
        if len({each.shape for each in whole} if self.use_stack else others) > 1:
            wanted = "of one shape" if self.use_stack else f"that differ along axis {axis} only"
            listed = ", ".join(str(list(each.shape)) for each in whole)
            raise ShapeError(f"expected elements {wanted}, got shapes {listed}")
        join = xp.stack if self.use_stack else xp.concatenate
        sizes = [each.shape[axis] if axis < each.ndim else 1 for each in whole]
        return join(whole, axis=axis), xp.asarray(sizes, "int32")

    def grad(self, f: Any, X: Value, dOut: Value) -> Rules:
        how = dict(axis=self.axis, use_stack=self.use_stack)
        return dict(X=lambda: f.tensor_to_array(dOut, X, **how))


class tensor_to_array(Op):
    """Out = the array of parts of X along ``axis``, as the array Like has them.

    axis, use_stack: as of tensor_array_to_tensor.
    """

    signature = "X, Like! -> Out"
    of_complex: ClassVar[OfComplex | None] = AS_WRITTEN
    axis: int = 0
    use_stack: bool = False
    lod: ClassVar[str | None] = None

    def infer(self, X: Spec, Like: Spec) -> Specs:
        return Like

    def run(self, xp: Any, X: Array, Like: Array) -> Array:
        whole = xp.moveaxis(X, self.axis, 0)
        parts, begin = [], 0
        for like in map(bare, Like):
            if self.use_stack:
                parts.append(whole[begin])
                begin += 1
            else:
                end = begin + like.shape[self.axis]
                parts.append(xp.moveaxis(whole[begin:end], 0, self.axis))
                begin = end
        return LoDTensorArray(parts)

    def grad(self, f: Any, Like: Value, dOut: Value) -> Rules:
        how = dict(axis=self.axis, use_stack=self.use_stack)
        return dict(X=lambda: f.tensor_array_to_tensor(f.array_filled(dOut, Like), **how)[0])


class array_filled(Op):
    """Out = the array X, with zeros in the form of Like where an element is missing."""

    signature = "X, Like! -> Out"
    of_complex: ClassVar[OfComplex | None] = AS_WRITTEN
    fluid: ClassVar[FluidForm] = FluidForm(direct=True)
    lod: ClassVar[str | None] = None

    def infer(self, X: Spec, Like: Spec) -> Specs:
        return Like

    def run(self, xp: Any, X: Array, Like: Array) -> Array:
        found = [X.item(k) for k in range(len(Like))]
        return LoDTensorArray(
            xp.zeros_like(bare(like)) if each is None else each for each, like in zip(found, Like)
        )

    def grad(self, f: Any, dOut: Value) -> Rules:
        return dict(X=lambda: dOut)


class lod_array_length(Detached):
    """Out = how many elements the array X has."""

    signature = "X! -> Out"

    def infer(self, X: Spec) -> Specs:
        return spec([1], DType.INT64)

    def run(self, xp: Any, X: Array) -> Array:
        return xp.asarray([len(X)], "int64")
