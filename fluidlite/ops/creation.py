"""Operators that make values out of attributes: constants, copies, ranges."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from ..errors import AttributeValueError, DTypeError, ShapeError
from ..ground.dtypes import DType
from ..ground.values import bare
from ..opdef.annotations import Array, Rules, Specs, Value
from ..opdef.attribute import REQUIRED, Double, Long, attr, single_precision
from ..opdef.conjugation import AS_WRITTEN, OfComplex
from ..opdef.definition import Detached, DetachedValues, Op
from ..opdef.fluid_form import FluidForm
from ..opdef.sequences import lod_of
from ..opdef.spec import Shape, Spec, need_integer, need_one, normal_axis, same_dtype, size_of, spec
from .families import PassesThrough


class Creation(Detached, abstract=True):
    """An output made from nothing that could be differentiated.

    dtype: the element type of Out.
    """

    dtype: DType = DType.FP32


def sizes(shape: Sequence[int]) -> Shape:
    """``shape`` as a tuple.

    Raises:
        ShapeError: a size is below zero.
    """
    if any(n < 0 for n in shape):
        raise ShapeError(
            f"expected sizes of at least 0, got {list(shape)}; a size that only a run knows "
            "comes from layers.shape, or by a layer whose name ends with _batch_size_like"
        )
    return tuple(shape)


class ShapeFromTensors(Creation, abstract=True):
    """An output whose shape is an attribute, unless tensors give it.

    shape: sizes; -1 stands for one that a tensor gives.
    ShapeTensor: all sizes, in one tensor; wins over everything else.
    ShapeTensorList: one tensor with one element for each size.
    """

    signature = "ShapeTensor?!, ShapeTensorList*?! -> Out"
    shape: list[Long] = ()

    def infer(self, ShapeTensor: Any, ShapeTensorList: Any) -> Specs:
        need_integer(ShapeTensor=ShapeTensor)
        if ShapeTensor is not None:
            n = size_of(ShapeTensor.shape)
            return spec(self.shape if n == -1 else (-1,) * n, self.dtype)
        if ShapeTensorList:
            n = len(ShapeTensorList)
            return spec(self.shape if len(self.shape) == n else (-1,) * n, self.dtype)
        return spec(sizes(self.shape), self.dtype)

    def shape_given(self, ShapeTensor: Any, ShapeTensorList: Any) -> Any:
        """The shape, from values that must be at hand."""
        if ShapeTensor is not None:
            return sizes(ShapeTensor.reshape(-1).tolist())
        if ShapeTensorList:
            return sizes([size.item() for size in ShapeTensorList])
        return self.shape


class ShapeFromBatch(Creation, abstract=True):
    """An output whose shape is an attribute, but for one size that it has in common with Input.

    shape: sizes; the one at ``output_dim_idx`` does not matter.
    input_dim_idx: the dimension of Input whose size is taken.
    output_dim_idx: the dimension of Out that gets it.
    """

    signature = "Input -> Out"
    shape: list[int] = REQUIRED
    input_dim_idx: int = 0
    output_dim_idx: int = 0

    def infer(self, Input: Spec) -> Spec:
        return spec(self.shape_like(Input), self.dtype)

    def shape_like(self, Input: Array) -> Shape:
        """The shape, for this Input or its spec."""
        source = normal_axis(self.input_dim_idx, len(Input.shape), "input_dim_idx")
        target = normal_axis(self.output_dim_idx, len(self.shape), "output_dim_idx")
        before, after = sizes(self.shape[:target]), sizes(self.shape[target + 1 :])
        return (*before, Input.shape[source], *after)


class ConstantFill(Creation, abstract=True):
    """One number everywhere.

    value: the number.
    str_value: the number as a text, exact where a C float is not; wins over ``value``.
    """

    hands_on: ClassVar[bool] = True
    value: float = 0.0
    str_value: str = ""
    force_cpu: bool = attr(False, inert=True)
    place_type: int = attr(-1, inert=True, local=True)

    def number(self) -> complex:
        """The number as Python has it.

        Raises:
            AttributeValueError: the text is no number.
        """
        if not self.str_value:
            return self.value
        for read in (int, float, complex):
            try:
                return read(self.str_value)
            except ValueError:
                pass
        raise AttributeValueError(f"expected a number in str_value, got {self.str_value!r}")

    def full(self, xp: Any, shape: Shape) -> Array:
        """An array of the number; pages of zeros take no memory until somebody writes them."""
        number, dtype = self.number(), self.dtype.dtype
        is_real = not isinstance(number, complex)
        if number == 0 and is_real and math.copysign(1, number.real) > 0:  # -0.0 is not all bits 0
            return xp.zeros(shape, dtype)
        return xp.full(shape, number, dtype)


class fill_constant(ConstantFill, ShapeFromTensors):
    """Out = ``value``, everywhere.

    ValueTensor: the number as a tensor of one element; wins over the attributes.
    """

    signature = f"ValueTensor?, {ShapeFromTensors.signature}"

    def infer(
        self, ValueTensor: Spec | None, ShapeTensor: Spec | None, ShapeTensorList: list[Spec] | None
    ) -> Spec:
        self.number()
        need_one(ValueTensor=ValueTensor)
        return ShapeFromTensors.infer(self, ShapeTensor, ShapeTensorList)

    def run(
        self, xp: Any, ValueTensor: Array, ShapeTensor: Array, ShapeTensorList: list[Array] | None
    ) -> Array:
        shape = self.shape_given(ShapeTensor, ShapeTensorList)
        if ValueTensor is None:
            return self.full(xp, shape)
        return xp.full(shape, xp.reshape(ValueTensor, ()), self.dtype.dtype)

    def fills(self, ValueTensor: Any, *shape: Any) -> complex | None:
        return self.number() if ValueTensor is None else None


class fill_constant_batch_size_like(ConstantFill, ShapeFromBatch):
    """Out = ``value``, everywhere, in ``shape`` but for one size that is Input's.

    Input: where it has sequences, their number stands for that of its rows.
    """

    signature = "Input[] -> Out"
    per_sequence: ClassVar[tuple[str, ...]] = ("Out",)
    reads_shapes: ClassVar[bool] = True
    lod: ClassVar[str | None] = None

    def infer(self, Input: Spec) -> Spec:
        self.number()
        if Input.lod_level and Input.shape:
            Input = Input.with_shape((-1, *Input.shape[1:]))
        return ShapeFromBatch.infer(self, Input)

    def run(self, xp: Any, Input: Array) -> Array:
        rows, lod = bare(Input), lod_of(Input)
        if lod:
            rows = np.broadcast_to(rows[:1, ...], (len(lod[-1]) - 1, *rows.shape[1:]))
        return self.full(xp, self.shape_like(rows))


class fill_any_like(Op):
    """Out = ``value``, everywhere, in the shape of X.

    value: a number within the range of the element type.
    dtype: the element type of Out; -1 for that of X.
    """

    signature = "X -> Out"
    of_complex: ClassVar[OfComplex | None] = AS_WRITTEN
    of_bfloat16: ClassVar[bool] = True
    value: float = 0.0
    dtype: DType = -1
    grad = None

    def infer(self, X: Spec) -> Spec:
        out = X if self.dtype == -1 else X.with_dtype(self.dtype)
        least, most = single_bounds(out.dtype)
        if not least <= self.value <= most:
            raise AttributeValueError(
                f"expected a value that {out.dtype} can hold, from {least:g} to {most:g}; got "
                f"{self.value:g}"
            )
        return out

    def run(self, xp: Any, X: Array) -> Array:
        return xp.full(X.shape, self.value, X.dtype if self.dtype == -1 else self.dtype.dtype)

    def fills(self, X: Any) -> float:
        return self.value


def single_bounds(dtype: Any) -> tuple[float, ...]:
    """The least and the largest value of an element type, as a C float holds them."""
    if dtype is DType.BOOL:
        return 0.0, 1.0
    dtype = dtype.part
    if dtype is DType.FP64:
        dtype = DType.FP32
    limits = (np.finfo if dtype.is_float else np.iinfo)(dtype.dtype)
    return single_precision(limits.min), single_precision(limits.max)


class fill_zeros_like(Op):
    """Out = 0, everywhere, in the shape and element type of X."""

    signature = "X -> Out"
    of_complex: ClassVar[OfComplex | None] = AS_WRITTEN
    of_bfloat16: ClassVar[bool] = True
    reads_shapes: ClassVar[bool] = True
    grad = None

    def run(self, xp: Any, X: Array) -> Array:
        return xp.zeros_like(X)

    def fills(self, X: Any) -> float:
        return 0.0


class fill_zeros_like2(Op):
    """Out = 0, everywhere, in the shape of X.

    dtype: the element type of Out.
    """

    signature = "X -> Out"
    of_complex: ClassVar[OfComplex | None] = AS_WRITTEN
    of_bfloat16: ClassVar[bool] = True
    dtype: DType = DType.FP32
    grad = None

    def infer(self, X: Spec) -> Specs:
        return X.with_dtype(self.dtype)

    def run(self, xp: Any, X: Array) -> Array:
        return xp.zeros(X.shape, self.dtype.dtype)


class Listed(Detached, abstract=True):
    """Elements that are written out in an attribute, row by row.

    shape: sizes; their product is the number of elements.
    dtype: the element type of Out.
    """

    signature = "-> Out"
    of_complex: ClassVar[OfComplex | None] = AS_WRITTEN
    shape: list[int] = REQUIRED

    def elements(self) -> Any:
        """The elements."""
        raise NotImplementedError

    def infer(self):
        given = len(self.elements())
        if size_of(sizes(self.shape)) != given:
            raise ShapeError(f"shape {list(self.shape)} does not hold the {given} elements given")
        return spec(self.shape, self.dtype)

    @functools.cached_property
    def listed(self) -> Array:
        """The elements, read once: there may be millions, and each run copies them."""
        dtype: DType = getattr(self, "dtype")  # noqa: B009  which subclasses declare
        return np.asarray(self.elements(), dtype.dtype).reshape(self.shape)

    def run(self, xp):
        return xp.asarray(self.listed.copy())


class fill(Listed):
    """Out = ``value``, a list of numbers, in ``shape``."""

    value: list[float] = REQUIRED
    dtype: DType = DType.FP32
    force_cpu: bool = attr(False, inert=True)

    def elements(self) -> Any:
        return self.value


class assign_value(Listed):
    """Out = the list of numbers given for ``dtype``, in ``shape``.

    bool_values: the elements where ``dtype`` is bool.
    fp32_values: the same for float32.
    int32_values: the same for int32.
    int64_values: the same for int64.
    fp64_values: the same for float64.
    """

    dtype: DType = REQUIRED
    bool_values: list[int] = ()
    fp32_values: list[float] = ()
    int32_values: list[int] = ()
    int64_values: list[Long] = ()
    fp64_values: list[Double] = attr((), local=True)

    def elements(self) -> tuple[float, ...] | Shape:
        if self.dtype not in self._lists:
            known = "bool, int32, int64, float32 or float64"
            raise DTypeError(f"expected dtype {known}, got {self.dtype}")
        return getattr(self, self._lists[self.dtype])

    _lists = {
        DType.BOOL: "bool_values",
        DType.FP32: "fp32_values",
        DType.INT32: "int32_values",
        DType.INT64: "int64_values",
        DType.FP64: "fp64_values",
    }


class assign(PassesThrough):
    """Out = X.  Values never change, so that one serves both."""

    signature = "X? -> Out"
    fluid: ClassVar[FluidForm] = FluidForm(direct=True, rows=("X",))


class eye(Detached):
    """Out = 1 where row and column are the same, 0 elsewhere.

    dtype: the element type of Out.
    num_rows: how many rows.
    num_columns: -1 for as many as rows.
    """

    signature = "-> Out"
    of_complex: ClassVar[OfComplex | None] = AS_WRITTEN
    dtype: DType = DType.FP32
    num_rows: Long = REQUIRED
    num_columns: Long = -1

    @property
    def shape(self) -> Shape:
        """Rows and columns."""
        return self.num_rows, self.num_rows if self.num_columns == -1 else self.num_columns

    def infer(self) -> Specs:
        return spec(sizes(self.shape), self.dtype)

    def run(self, xp: Any) -> Array:
        return xp.eye(*self.shape, dtype=self.dtype.dtype)


class Spaced(DetachedValues, abstract=True):
    """Numbers at equal distances; how many depends on values."""


class linspace(Spaced):
    """Out = Num numbers from Start to Stop, both included, at equal distances.

    dtype: the element type of Out; -1: that of Start.
    """

    signature = "Start!, Stop!, Num! -> Out"
    dtype: DType = attr(-1, local=True)
    fluid: ClassVar[FluidForm] = FluidForm(numbers=("Start", "Stop"))

    def infer(self, Start: Spec, Stop: Spec, Num: Spec) -> Specs:
        same_dtype(Start=Start, Stop=Stop)
        need_integer(Num=Num)
        return spec([-1], Start.dtype if self.dtype == -1 else self.dtype)

    def run(self, xp: Any, Start: Array, Stop: Array, Num: Array) -> Array:
        if Num.item() < 1:
            raise AttributeValueError(f"expected Num of at least 1, got {Num.item()}")
        dtype = Start.dtype if self.dtype == -1 else self.dtype.dtype
        return xp.linspace(Start.item(), Stop.item(), Num.item(), dtype=dtype)


class Range(Spaced, type="range"):
    """Out = Start, Start + Step, Start + 2 Step, ... as long as they lie before End."""

    signature = "Start!, End!, Step! -> Out"
    fluid: ClassVar[FluidForm] = FluidForm(numbers=("Start", "End", "Step"))

    def infer(self, Start: Spec, End: Spec, Step: Spec) -> Specs:
        same_dtype(Start=Start, End=End, Step=Step)
        return spec([-1], Start.dtype)

    def run(self, xp: Any, Start: Array, End: Array, Step: Array) -> Array:
        start, end, step = (xp.reshape(value, (1,)) for value in (Start, End, Step))
        if step[0] == 0 or (end - start)[0] * step[0] < 0:
            raise AttributeValueError(
                f"expected Step to lead from Start {start[0]} to End {end[0]}, got {step[0]}"
            )
        # In the element type: three steps of 0.1 reach 0.3 in float32, not when widened to float64.
        count = (
            xp.ceil((end - start) / step) if start.dtype.kind == "f" else -((start - end) // step)
        )
        return start + step * xp.arange(int(count[0]), dtype=start.dtype)


class empty(ShapeFromTensors):
    """Out = some elements in ``shape``, which nothing should read: zeros."""

    dtype: DType = DType.FP32

    def run(self, xp: Any, ShapeTensor: Array, ShapeTensorList: list[Array]) -> Array:
        return xp.zeros(self.shape_given(ShapeTensor, ShapeTensorList), self.dtype.dtype)


class full_int_array(Detached):
    """out = the numbers of ``value``, in a row.

    value: whole numbers.
    dtype: the element type of out.
    """

    signature = "-> out"
    value: list[Long] = REQUIRED
    dtype: DType = DType.FP32
    place: int = attr(1, inert=True)

    def infer(self) -> Specs:
        return spec([len(self.value)], self.dtype)

    def run(self, xp: Any) -> Array:
        return xp.asarray(self.value, self.dtype.dtype)


class fill_any(Op):
    """Out = ``value``, everywhere, in the shape and element type of X.

    value: the number.
    """

    signature = "X -> Out"
    reads_shapes: ClassVar[bool] = True
    value: float = 0.0

    def run(self, xp: Any, X: Array) -> Array:
        return xp.full(X.shape, self.value, X.dtype)

    def grad(self, f: Any, dOut: Value) -> Rules:
        return dict(X=lambda: f.fill_zeros_like(dOut))


class logspace(Spaced):
    """Out = Num powers of Base, whose exponents go from Start to Stop, both included, at equal
    distances.

    dtype: the element type of Out.
    """

    signature = "Start!, Stop!, Num!, Base! -> Out"
    dtype: DType = REQUIRED

    def infer(self, Start: Spec, Stop: Spec, Num: Spec, Base: Spec) -> Specs:
        need_one(Start=Start, Stop=Stop, Num=Num, Base=Base)
        need_integer(Num=Num)
        return spec([-1], self.dtype)

    def run(self, xp: Any, Start: Array, Stop: Array, Num: Array, Base: Array) -> Array:
        count = Num.item()
        if count < 1:
            raise AttributeValueError(f"expected Num of at least 1, got {count}")
        exponents = xp.linspace(Start.item(), Stop.item(), count, dtype="float64")
        return xp.asarray(float(Base.item()) ** exponents, self.dtype.dtype)
