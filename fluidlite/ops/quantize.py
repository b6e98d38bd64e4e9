"""Numbers rounded to few bits, as they will be when a network runs in small integers."""

from __future__ import annotations

from typing import Any, ClassVar

from ..errors import AttributeValueError, DTypeError, ShapeError
from ..ground.dtypes import DType
from ..opdef.annotations import Array, Arrays, Specs
from ..opdef.attribute import REQUIRED, attr, need_above, need_choice, need_least, need_range
from ..opdef.definition import Op
from ..opdef.fluid_form import FluidForm
from ..opdef.spec import (
    Spec,
    agree,
    need_float,
    need_ndim,
    need_one,
    need_rank,
    need_shape,
    same_dtype,
    same_float,
    size_of,
)
from ..opdef.structure import Epilogue
from ..opdef.whole_numbers import LEAST_SCALE, beside, largest, scales_along

MOVING_RATE = 0.9  #: how much a step of training counts of what the next one does


class StraightThrough(Op, abstract=True):
    """Roundings: a step has no slope, so what they are trained by is the gradient of their result,
    as it is.  It goes through numbers to which whole ones are turned back, too: the pair counts as
    if nothing was rounded.
    """

    def grad(self, f: Any, dOut: Any) -> Any:
        return dict(X=lambda: dOut)


class Quantized(StraightThrough, abstract=True):
    """What roundings have in common.

    bit_length: how many bits a number has, one of which is the sign.
    round_type: 0 for halves to the even number, 1 for halves away from 0.
    OutScale: the number that the largest whole number stands for.
    """

    bit_length: int = 8
    round_type: int = attr(1, local=True)

    def check(self, X: Spec) -> None:
        """Check X and the bits."""
        need_float(X=X)
        need_range(self, 2, 16, "bit_length")
        need_choice(self, "round_type", 0, 1)

    def whole(self, xp: Any, x: Array, scale: Array) -> Array:
        """``x`` as whole numbers; zeros where the scale is nearly 0."""
        there = scale >= LEAST_SCALE
        steps = largest(self.bit_length) * (1 / xp.where(there, scale, 1))  # halves are as fluid's
        parts = xp.minimum(xp.maximum(x, -scale), scale) * steps
        nearest = away(xp, parts) if self.round_type else xp.rint(parts)
        return (nearest * there).astype(x.dtype)


def away(xp: Any, x: Array) -> Array:
    """``x`` rounded to whole numbers, halves away from zero."""
    return xp.copysign(xp.floor(xp.abs(x) + 0.5), x)


class fake_quantize_abs_max(Quantized):
    """Out = X in whole numbers, of which the largest stands for the largest of |X|."""

    signature = "X -> Out, OutScale"

    def infer(self, X: Spec) -> Specs:
        self.check(X)
        return X, X.with_shape([1])

    def run(self, xp: Any, X: Array) -> Arrays:
        scale = xp.max(xp.abs(X), initial=0)
        return self.whole(xp, X, scale), xp.reshape(scale, (1,)).astype(X.dtype)


class fake_channel_wise_quantize_abs_max(Quantized):
    """Out = X in whole numbers, each slice along ``quant_axis`` with a scale of its own.

    quant_axis: 0 or 1.
    is_test: keep the scales that OutScale holds.
    """

    signature = "X -> Out, OutScale"
    quant_axis: int = attr(0, local=True)
    is_test: bool = attr(False, local=True)
    fluid: ClassVar[FluidForm] = FluidForm(updates=("OutScale",), updates_where="is_test")

    def infer(self, X: Spec) -> Specs:
        self.check(X)
        need_range(self, 0, 1, "quant_axis")
        need_rank("X", X, self.quant_axis + 1)
        return X, X.with_shape([X.shape[self.quant_axis]])

    def run(self, xp: Any, X: Array, OutScale: Array | None) -> Arrays:
        if self.is_test and OutScale is not None:
            return self.whole(xp, X, beside(xp, OutScale, X, self.quant_axis)), OutScale
        scale, each = scales_along(xp, X, self.quant_axis)
        return self.whole(xp, X, each), scale


class Averaged(Quantized, abstract=True):
    """Roundings whose scale is a mean over all runs so far, of which older ones count less.

    InScale: the scale before.
    InAccum, OutAccum: the sum of the largest numbers, before and after.
    InState, OutState: the sum of what they count, before and after.
    moving_rate: how much a run counts of what the next one does.
    is_test: keep the scale as it is.
    """

    signature = "X, InScale!, InAccum?!, InState?! -> Out, OutScale, OutState?~, OutAccum?~"
    moving_rate: float = 0.9
    is_test: bool = False

    def infer(self, X: Spec, InScale: Spec, InAccum: Spec, InState: Spec) -> Specs:
        self.check(X)
        return X, *self.averages(X, InScale, InAccum, InState)

    def averages(self, X: Spec, InScale: Spec, InAccum: Any, InState: Any) -> Any:
        """The specs of scale, state and sum."""
        given = dict(InScale=InScale, InAccum=InAccum, InState=InState)
        same_dtype(X=X, **given)
        need_one(**given)
        if not self.is_test and (InAccum is None) != (InState is None):
            raise ShapeError("expected both of InAccum and InState, or none of them")
        moves = not self.is_test and InAccum is not None
        one = X.with_shape([1])
        return one, one if moves else None, one if moves else None

    def moved(
        self, xp: Any, X: Array, InScale: Array, InAccum: Array, InState: Array
    ) -> tuple[Any, ...]:
        """Scale, state and sum after this run."""
        if self.is_test:
            return InScale, None, None
        now = xp.reshape(xp.max(xp.abs(X), initial=0), (1,))
        if InAccum is None:
            return now.astype(X.dtype), None, None
        state = self.moving_rate * xp.reshape(InState, (1,)) + 1
        total = self.moving_rate * xp.reshape(InAccum, (1,)) + now
        return (total / state).astype(X.dtype), state.astype(X.dtype), total.astype(X.dtype)

    def run(self, xp: Any, X: Array, InScale: Array, InAccum: Array, InState: Array) -> Arrays:
        scale, state, total = self.moved(xp, X, InScale, InAccum, InState)
        return self.rounded(xp, X, scale), xp.reshape(scale, (1,)), state, total

    def rounded(self, xp: Any, X: Array, scale: Array) -> Array:
        """What Out is."""
        return self.whole(xp, X, xp.reshape(scale, ()))


class fake_quantize_moving_average_abs_max(Averaged):
    """Out = X in whole numbers, of which the largest stands for a mean of the largest of |X|."""


class fake_quantize_dequantize_moving_average_abs_max(Averaged):
    """Out = X rounded to what whole numbers stand for, the largest for a mean of those of |X|."""

    def rounded(self, xp: Any, X: Array, scale: Array) -> Array:
        scale = xp.reshape(scale, ())
        step = scale / largest(self.bit_length)
        return (self.whole(xp, X, scale) * step).astype(X.dtype)


class moving_average_abs_max_scale(StraightThrough):
    """Out = X, OutScale = a mean of the largest of |X| over all runs, of which older count less.

    InAccum, OutAccum: the sum of the largest numbers, before and after.
    InState, OutState: the sum of what they count, before and after.
    moving_rate: how much a run counts of what the next one does.
    is_test: compute no scale.
    """

    signature = "X, InAccum?!, InState?! -> Out?, OutScale~, OutState?~, OutAccum?~"
    moving_rate: float = 0.9
    is_test: bool = False

    def infer(self, X: Spec, InAccum: Spec, InState: Spec) -> Specs:
        need_float(X=X)
        need_one(InAccum=InAccum, InState=InState)
        one = X.with_shape([1])
        if self.is_test:
            return X, None, None, None
        if InAccum is None or InState is None:
            raise ShapeError("expected InAccum and InState, unless is_test is True")
        return X, one, one, one

    def run(self, xp: Any, X: Array, InAccum: Array, InState: Array) -> Arrays:
        if self.is_test:
            return X, None, None, None
        state = self.moving_rate * xp.reshape(InState, (1,)) + 1
        total = self.moving_rate * xp.reshape(InAccum, (1,)) + xp.max(xp.abs(X), initial=0)
        return X, *(v.astype(X.dtype) for v in (total / state, state, total))


class fake_quantize_range_abs_max(Quantized):
    """Out = X in whole numbers, of which the largest stands for the largest of |X| in a window.

    InScale: the scale before.
    Iter: the number of this run.
    OutScales: the largest numbers of the last runs, whose value before is read.
    window_size: how many runs count.
    is_test: keep the scale as it is.
    """

    signature = "X, InScale!, Iter?! -> Out, OutScale, OutScales?~"
    window_size: int = 10000
    is_test: bool = False
    fluid: ClassVar[FluidForm] = FluidForm(updates=("OutScales",))

    def infer(self, X: Spec, InScale: Spec, Iter: Spec | None) -> Specs:
        self.check(X)
        same_dtype(X=X, InScale=InScale)
        need_one(InScale=InScale, Iter=Iter)
        need_least(self, 1, "window_size")
        window = None if self.is_test or Iter is None else X.with_shape([self.window_size])
        return X, X.with_shape([1]), window

    def run(self, xp: Any, X: Array, InScale: Array, Iter: Array, OutScales: Array) -> Arrays:
        scale = xp.reshape(InScale, (1,))
        if self.is_test or Iter is None:
            return self.whole(xp, X, scale[0]), scale, None
        now = xp.max(xp.abs(X), initial=0)
        window = xp.zeros(self.window_size, X.dtype) if OutScales is None else OutScales
        at = int(xp.reshape(Iter, ())) % self.window_size
        gone = window[at]
        window = xp.scatter_set(window, at, now)
        if now > scale[0]:
            scale = xp.reshape(now, (1,))
        elif abs(gone - scale[0]) < 1e-6:  # the largest has left the window
            scale = xp.reshape(xp.max(window), (1,))
        return self.whole(xp, X, scale[0]), scale.astype(X.dtype), window


class Dequantized(StraightThrough, abstract=True):
    """What whole numbers stand for.

    Scale: what ``max_range`` stands for.
    max_range: the largest whole number.
    """

    signature = "X, Scale! -> Out"
    max_range: float = REQUIRED

    def infer(self, X: Spec, Scale: Spec) -> Specs:
        need_float(Scale=Scale)
        need_one(Scale=Scale)
        need_above(self, 0, "max_range")
        return X.with_dtype(Scale.dtype)

    def run(self, xp: Any, X: Array, Scale: Array) -> Arrays:
        return (X.astype(Scale.dtype) * xp.reshape(Scale, ()) / self.max_range).astype(Scale.dtype)


class fake_dequantize_max_abs(Dequantized):
    """Out = X * Scale / max_range: what whole numbers stand for.

    Scale: what ``max_range`` stands for.
    max_range: the largest whole number.
    """

    def infer(self, X: Spec, Scale: Spec) -> Specs:
        same_float(X=X, Scale=Scale)
        return super().infer(X, Scale)


class fake_channel_wise_dequantize_max_abs(StraightThrough):
    """Out = X * Scales / the largest whole number: what whole numbers stand for.

    Scales: one for each slice along a dimension of X, and a second one, of one element, where X is
        a product of whole numbers.
    quant_bits: the bits of whole numbers, for each of Scales.
    quant_axis: the dimension without a second scale.
    x_num_col_dims: the dimension with a second scale.
    """

    signature = "X, Scales*! -> Out"
    quant_bits: list[int] = (8,)
    quant_axis: int = attr(0, local=True)
    x_num_col_dims: int = attr(1, local=True)

    def axis(self, Scales: list[Any]) -> int:
        """The dimension of the slices."""
        return self.quant_axis if len(Scales) == 1 else self.x_num_col_dims

    def infer(self, X: Spec, Scales: list[Spec]) -> Specs:
        need_float(X=X)
        count = len(Scales)
        bits = self.quant_bits
        if count not in (1, 2) or len(bits) < count or min(bits) < 2 or max(bits) > 64:
            raise AttributeValueError(
                f"expected one or two Scales and quant_bits for each, 2 to 64; got {count} and "
                f"{list(self.quant_bits)}"
            )
        axis = self.axis(Scales)
        if X.ndim <= axis or not agree(size_of(Scales[0].shape), X.shape[axis]):
            raise ShapeError(
                f"expected a scale for each slice along dimension {axis} of X "
                f"{list(X.shape)}, got shape {list(Scales[0].shape)}"
            )
        if count == 2:
            need_one(**{"Scales[1]": Scales[1]})
        return X

    def run(self, xp: Any, X: Array, Scales: list[Array]) -> Array:
        out = X * beside(xp, Scales[0], X, self.axis(Scales)) / largest(self.quant_bits[0])
        if len(Scales) > 1:
            out = out * xp.reshape(Scales[1], ()) / largest(self.quant_bits[1])
        return out.astype(X.dtype)


def need_int8(X: Spec) -> None:
    """Check that X holds whole numbers of 8 bits."""
    if X.dtype is not DType.INT8:
        raise DTypeError(f"expected X to be int8, got {X.dtype}")


class dequantize_abs_max(Dequantized):
    """Out = X * Scale / max_range: what whole numbers of 8 bits stand for.

    Scale: what ``max_range`` stands for.
    max_range: the largest whole number.
    """

    grad = None

    def infer(self, X: Spec, Scale: Spec) -> Specs:
        need_int8(X)
        return super().infer(X, Scale)


class dequantize_log(Op):
    """Out = Dict[X], and -Dict[X + 128] where X is below 0.

    X: whole numbers of 8 bits.
    Dict: what 0 to 127 stand for.
    """

    signature = "X, Dict -> Out"
    grad = None

    def infer(self, X: Spec, Dict: Spec) -> Specs:
        need_int8(X)
        need_float(Dict=Dict)
        need_ndim(1, Dict=Dict)
        need_shape("Dict", Dict, (128,))
        return X.with_dtype(Dict.dtype)

    def run(self, xp: Any, X: Array, Dict: Array) -> Array:
        X = X.astype("int64")
        found = xp.take(Dict, xp.where(X < 0, X + 128, X))
        return xp.where(X < 0, -found, found)


class RoundedBack(Quantized, abstract=True):
    """Roundings of X to what whole numbers stand for, the largest of which stands for OutScale."""

    signature = "X -> Out, OutScale"

    def whole(self, xp: Any, x: Array, scale: Array) -> Array:
        """What whole numbers stand for."""
        step = scale / largest(self.bit_length)
        return (super().whole(xp, x, scale) * step).astype(x.dtype)


class fake_quantize_dequantize_abs_max(RoundedBack, fake_quantize_abs_max):
    """Out = X rounded to what whole numbers stand for, the largest for the largest of |X|."""


class fake_channel_wise_quantize_dequantize_abs_max(RoundedBack):
    """Out = X rounded to what whole numbers stand for, each slice along ``quant_axis`` with a scale
    of its own.

    quant_axis: 0 or 1.
    """

    quant_axis: int = 0

    def infer(self, X: Spec) -> Specs:
        self.check(X)
        need_range(self, 0, 1, "quant_axis")
        need_rank("X", X, self.quant_axis + 1)
        return X, X.with_shape([X.shape[self.quant_axis]])

    def run(self, xp: Any, X: Array) -> Arrays:
        scale, each = scales_along(xp, X, self.quant_axis)
        return self.whole(xp, X, each), scale


class OfScale(Op, abstract=True):
    """Whole numbers of a scale.

    Scale: what the largest whole number stands for; one for each slice along ``quant_axis``.
    ZeroPoint: not read: numbers are symmetric.
    InAccum, OutAccum: the sum of the largest numbers in training, before and after.
    InState, OutState: the sum of what they count, before and after.
    OutScale: the scale after a step of training.
    quant_axis: the dimension; -1 for one scale of all.
    bit_length: how many bits a number has, one of which is the sign.
    round_type: 0 for halves to the even number, and one more number below 0; 1 for halves away
        from 0.
    is_test: keep the scale as it is.
    only_observer: move the scale, and leave the numbers alone.
    computes_in_int8: plans may read the whole numbers in place of what they stand for.
    """

    signature = (
        "X, Scale!, ZeroPoint!, InAccum?!, InState?! -> Y, OutState?~, OutAccum?~, OutScale?~"
    )
    quant_axis: int = 0
    bit_length: int = 8
    round_type: int = 0
    is_test: bool = True
    only_observer: bool = False
    computes_in_int8: bool = attr(False, local=True)

    def grad(self, f: Any, dY: Any) -> Any:
        return dict(X=lambda: dY)

    def check(self, X: Spec, Scale: Spec) -> None:
        """Check the attributes, and that there is a scale for each slice."""
        need_float(Scale=Scale)
        need_range(self, 1, 16, "bit_length")
        need_choice(self, "round_type", 0, 1)
        need_range(self, -1, X.ndim - 1, "quant_axis")
        count = 1 if self.quant_axis < 0 else X.shape[self.quant_axis]
        if not agree(size_of(Scale.shape), count):
            raise ShapeError(
                f"expected {count} numbers in Scale for X of shape {list(X.shape)} and quant_axis="
                f"{self.quant_axis}, got shape {list(Scale.shape)}"
            )


class quantize_linear(OfScale):
    """Y = X in whole numbers, the largest of which stands for Scale."""

    def infer(self, X: Spec, Scale: Spec, InAccum: Spec | None, InState: Spec | None) -> Specs:
        need_float(X=X)
        self.check(X, Scale)
        if self.is_test:
            return X, None, None, None
        if self.quant_axis >= 0:
            return X, None, None, Scale
        if InAccum is None or InState is None:
            raise ShapeError("expected InAccum and InState, unless is_test is True")
        one = X.with_shape([1])
        return X, one, one, one

    def run(
        self, xp: Any, X: Array, Scale: Array, InAccum: Array | None, InState: Array | None
    ) -> Arrays:
        scale, state, total = Scale, None, None
        if not self.is_test and self.quant_axis >= 0:
            scale = xp.reshape(scales_along(xp, X, self.quant_axis)[0], Scale.shape)
        elif not self.is_test:
            state = (MOVING_RATE * xp.reshape(InState, (1,)) + 1).astype(X.dtype)
            most = xp.max(xp.abs(X), initial=0)
            total = (MOVING_RATE * xp.reshape(InAccum, (1,)) + most).astype(X.dtype)
            scale = total / state
        out = X if self.only_observer else self.whole(xp, X, scale)
        return out, state, total, None if self.is_test else scale

    def epilogue(self, x: Spec, *others: Spec) -> Epilogue | None:
        is_fixed = self.is_test and not self.only_observer and self.quant_axis < 0
        return Epilogue("quantize_linear") if self.computes_in_int8 and is_fixed else None

    def whole(self, xp: Any, x: Array, scale: Array) -> Array:
        """``x`` as whole numbers; zeros where the scale is nearly 0."""
        scale, most = beside(xp, scale, x, self.quant_axis), largest(self.bit_length)
        there = scale >= LEAST_SCALE
        inverse = 1 / xp.where(there, scale, 1)
        if self.round_type == 0:
            out = xp.rint(most * x * inverse)
            out = xp.minimum(xp.maximum(out, -most - 1), most)
        else:
            out = away(xp, xp.minimum(xp.maximum(x, -scale), scale) * (most * inverse))
        return (out * there).astype(x.dtype)


class dequantize_linear(OfScale):
    """Y = X * Scale / the largest whole number: what whole numbers stand for."""

    def infer(self, X: Spec, Scale: Spec) -> Specs:
        self.check(X, Scale)
        return X.with_dtype(Scale.dtype), None, None, None

    def run(self, xp: Any, X: Array, Scale: Array) -> Arrays:
        x = X.astype(Scale.dtype)
        if not self.only_observer:
            x = x * beside(xp, Scale, X, self.quant_axis) / largest(self.bit_length)
        return x.astype(Scale.dtype), None, None, None
