"""Elements as they lie in memory: taken at equal distances, in windows, or as another type."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ..errors import AttributeValueError, ShapeError
from ..ground.dtypes import DType
from ..opdef.annotations import Array, Specs, Value
from ..opdef.attribute import REQUIRED, Long
from ..opdef.conjugation import AS_WRITTEN, OfComplex
from ..opdef.definition import Detached, Op
from ..opdef.spec import Spec, normal_axis, resolved, size_of, spec


class Laid(Op, abstract=True):
    """Elements of input; those that are taken several times add up backwards."""

    signature = "input -> out"
    of_complex: ClassVar[OfComplex | None] = AS_WRITTEN
    of_bfloat16: ClassVar[bool] = True
    lod: ClassVar[str | None] = None


class as_strided(Laid):
    """out = the elements of input that lie at equal distances in memory.

    dims: the sizes of out.
    stride: how many elements lie between neighbours, for each dimension.
    offset: where the first element lies, in bytes.
    """

    dims: list[Long] = ()
    stride: list[Long] = ()
    offset: Long = 0

    def infer(self, input: Spec) -> Specs:
        first, rest = divmod(self.offset, input.dtype.dtype.itemsize)
        if len(self.dims) != len(self.stride) or rest or min(self.dims, default=0) < 0:
            raise AttributeValueError(
                f"expected a stride for each of dims and an offset of whole elements, got dims "
                f"{list(self.dims)}, stride {list(self.stride)} and offset {self.offset}"
            )
        spans = [(n - 1) * step for n, step in zip(self.dims, self.stride)]
        low = first + sum(min(n, 0) for n in spans)
        high = first + sum(max(n, 0) for n in spans)
        count = size_of(input.shape)
        if 0 not in self.dims and (low < 0 or (count != -1 and high >= count)):
            raise AttributeValueError(
                f"expected elements within input of shape {list(input.shape)}, got dims "
                f"{list(self.dims)}, stride {list(self.stride)} and offset {self.offset} bytes"
            )
        return input.with_shape(self.dims)

    def expand(self, f: Any, input: Value) -> Value:
        first = self.offset // np.dtype(input.dtype).itemsize
        places = f.strided_places(dims=self.dims, stride=self.stride, first=first)
        flat = f.reshape(input, shape=[int(np.prod(input.shape))])
        return f.reshape(f.gather(flat, places), shape=self.dims)


class strided_places(Detached):
    """Out = the numbers of elements that lie at equal distances, in a row.

    dims: how many there are along each dimension.
    stride: how far neighbours are from each other, for each dimension.
    first: where the first one is.
    """

    signature = "-> Out"
    dims: list[Long] = REQUIRED
    stride: list[Long] = REQUIRED
    first: Long = 0

    def infer(self) -> Specs:
        return spec([size_of(self.dims)], DType.INT64)

    def run(self, xp: Any) -> Array:
        places = xp.full(self.dims, self.first, "int64")
        for axis, (size, step) in enumerate(zip(self.dims, self.stride)):
            ahead = len(self.dims) - 1 - axis
            places = places + xp.reshape(xp.arange(size, dtype="int64") * step, (-1, *[1] * ahead))
        return xp.reshape(places, -1)


class tensor_unfold(Laid):
    """out = windows that move along a dimension of input; places within a window come last.

    axis: the dimension; may count from the end.
    size: how many elements a window has.
    step: how far it moves.
    """

    axis: Long = REQUIRED
    size: Long = REQUIRED
    step: Long = REQUIRED

    def infer(self, input: Spec) -> Specs:
        axis = normal_axis(self.axis, input.ndim)
        whole = input.shape[axis]
        if self.step < 1 or self.size < 0 or (whole != -1 and self.size > whole):
            raise ShapeError(
                f"expected size up to {whole} and step from 1, got {self.size} and {self.step}"
            )
        count = -1 if whole == -1 else (whole - self.size) // self.step + 1
        return input.with_shape([*input.with_dim(axis, count).shape, self.size])

    def expand(self, f: Any, input: Value) -> Value:
        axis, shape = normal_axis(self.axis, len(input.shape)), input.shape
        count = (shape[axis] - self.size) // self.step + 1
        places = f.strided_places(dims=[count, self.size], stride=[self.step, 1])
        windows = f.index_select(input, places, dim=axis)
        cut = f.reshape(windows, shape=[*shape[:axis], count, self.size, *shape[axis + 1 :]])
        order = [k for k in range(len(shape) + 1) if k != axis + 1]
        return f.transpose(cut, axis=[*order, axis + 1])


class index_select_strided(Op):
    """out = one slice of x along ``axis``, without the dimension.

    index: which one.
    axis: the dimension; may count from the end.
    """

    signature = "x -> out"
    of_complex: ClassVar[OfComplex | None] = AS_WRITTEN
    of_bfloat16: ClassVar[bool] = True
    lod: ClassVar[str | None] = None
    index: Long = REQUIRED
    axis: int = 0

    def infer(self, x: Spec) -> Specs:
        axis = normal_axis(self.axis, x.ndim)
        if self.index < 0 or (x.shape[axis] != -1 and self.index >= x.shape[axis]):
            raise AttributeValueError(
                f"expected index below the size {x.shape[axis]}, got {self.index}"
            )
        return x.with_shape([*x.shape[:axis], *x.shape[axis + 1 :]])

    def expand(self, f: Any, x: Value) -> Value:
        axis = normal_axis(self.axis, len(x.shape))
        part = f.slice(x, axes=[axis], starts=[self.index], ends=[self.index + 1])
        return f.reshape(part, shape=[*x.shape[:axis], *x.shape[axis + 1 :]])


class view_shape(Laid):
    """out = input in another shape.

    dims: its sizes; -1 for one that follows from the others.
    """

    dims: list[Long] = ()

    def infer(self, input: Spec) -> Specs:
        return input.with_shape(resolved(self.dims, input.shape, exact=True))

    def expand(self, f: Any, input: Value) -> Value:
        return f.reshape(input, shape=resolved(self.dims, input.shape, exact=True))


class view_dtype(Laid):
    """out = the bytes of input as elements of another type.

    dtype: the type; with its width the last size changes.
    """

    dtype: DType = REQUIRED
    grad = None

    def infer(self, input: Spec) -> Specs:
        old, new = input.dtype.dtype.itemsize, self.dtype.dtype.itemsize
        if old == new:
            return input.with_dtype(self.dtype)
        if not input.ndim or (input.shape[-1] != -1 and input.shape[-1] * old % new):
            raise ShapeError(
                f"expected rows of input of whole elements of {self.dtype}, got shape "
                f"{list(input.shape)} of {input.dtype}"
            )
        last = input.shape[-1]
        out = input.with_dim(input.ndim - 1, -1 if last == -1 else last * old // new)
        return out.with_dtype(self.dtype)

    def run(self, xp: Any, input: Array) -> Array:
        return xp.ascontiguousarray(input).view(self.dtype.dtype)
