"""Steps that leave values as they are, or only write them otherwise: what Paddle's runtime and its
passes put between operators.
"""

from __future__ import annotations

from typing import Any

from ..errors import NonFiniteError
from ..ground.dtypes import DType, as_dtype
from ..opdef.annotations import Array, Arrays, Rules, Specs, Value, Values
from ..opdef.attribute import REQUIRED, Long, attr, need_least
from ..opdef.definition import Detached, Op, ValueShaped
from ..opdef.spec import Spec, need_float, need_integer, need_ndim, need_numbers, need_one, spec
from .families import PassesThrough


class npu_identity(PassesThrough):
    """out = x.

    x: any tensor.
    """

    signature = "x -> out"
    format: int = attr(-1, inert=True)

    def run(self, xp: Any, x: Array) -> Array:
        return x

    def grad(self, f: Any, dout: Value) -> Rules:
        return dict(x=lambda: f.assign(dout))


class transfer_layout(PassesThrough):
    """Out = X; the order in memory is not what values mean."""

    src_layout: int = attr(-1, inert=True)
    dst_layout: int = attr(REQUIRED, inert=True)


class transfer_dtype(Op):
    """Out = X in another element type.

    out_dtype: that of Out.
    in_dtype: that of X.
    """

    signature = "X -> Out"
    out_dtype: DType = REQUIRED
    in_dtype: DType = REQUIRED
    use_mkldnn: bool = attr(False, inert=True)

    def infer(self, X: Spec) -> Specs:
        return X.with_dtype(self.out_dtype)

    def expand(self, f: Any, X: Value) -> Value:
        return f.cast(X, in_dtype=as_dtype(X.dtype), out_dtype=self.out_dtype)


class depend(PassesThrough):
    """Out = X, when Dep are there.

    Dep: what is computed before.
    """

    signature = "X, Dep*! -> Out"

    def infer(self, X: Spec, Dep: list[Spec]) -> Specs:
        return X

    def run(self, xp: Any, X: Array, Dep: list[Array]) -> Array:
        return X


class nop(Op):
    """Out = X."""

    signature = "X* -> Out*"

    def width(self, X: list[Any]) -> int:
        return len(X)

    def infer(self, X: list[Spec]) -> Specs:
        return list(X)

    def run(self, xp: Any, X: list[Array]) -> Arrays:
        return list(X)

    def grad(self, f: Any, dOut: list[Value]) -> Rules:
        return dict(X=lambda: dOut)


class check_numerics(Detached):
    """stats = how many elements of tensor are NaN, infinite and 0; values = its largest, least and
    mean element.

    tensor: numbers.
    op_type, var_name: what the tensor is of.
    check_nan_inf_level: 0 for an error where an element is not finite; above that none.
    """

    signature = "tensor -> stats, values"
    op_type: str = ""
    var_name: str = ""
    check_nan_inf_level: int = 0
    stack_height_limit: int = attr(-1, inert=True)
    output_dir: str = attr("", inert=True)

    def infer(self, tensor: Spec) -> Specs:
        need_float(tensor=tensor)
        return spec([3], DType.INT64), spec([3], DType.FP32)

    def run(self, xp: Any, tensor: Array) -> Arrays:
        counts = [xp.sum(each) for each in (xp.isnan(tensor), xp.isinf(tensor), tensor == 0)]
        if self.check_nan_inf_level == 0 and counts[0] + counts[1]:
            raise NonFiniteError(
                f"check_numerics: {self.var_name or 'a tensor'} of {self.op_type or 'an operator'} "
                f"has {counts[0]} NaN and {counts[1]} infinite elements"
            )
        ends = [xp.max(tensor), xp.min(tensor), xp.mean(tensor)]
        return xp.asarray(counts, "int64"), xp.asarray(ends, "float32")


class pow2_decay_with_linear_warmup(Detached):
    """LearningRateOut = a rate that rises evenly to ``base_lr`` and falls as a parabola to
    ``end_lr``; StepOut = Step + 1.

    LearningRate: the rate before, which is not read.
    Step: how many steps there were.
    warmup_steps: in how many steps it rises.
    total_steps: in how many it has fallen.
    base_lr, end_lr: the highest rate, and the last one.
    """

    signature = "LearningRate, Step -> LearningRateOut, StepOut"
    warmup_steps: Long = REQUIRED
    total_steps: Long = REQUIRED
    base_lr: float = REQUIRED
    end_lr: float = REQUIRED

    def infer(self, LearningRate: Spec, Step: Spec) -> Specs:
        need_float(LearningRate=LearningRate)
        need_integer(Step=Step)
        need_one(LearningRate=LearningRate, Step=Step)
        need_least(self, 1, "warmup_steps")
        need_least(self, self.warmup_steps + 1, "total_steps")
        return LearningRate, Step

    def run(self, xp: Any, LearningRate: Array, Step: Array) -> Arrays:
        step = Step + 1
        rising = self.base_lr * step / self.warmup_steps
        rest = xp.maximum(self.total_steps - step, 0) / (self.total_steps - self.warmup_steps)
        falling = (self.base_lr - self.end_lr) * rest * rest + self.end_lr
        rate = xp.where(step <= self.warmup_steps, rising, falling)
        return xp.asarray(rate, LearningRate.dtype), xp.asarray(step, Step.dtype)


class unzip(ValueShaped):
    """Y[i] = the elements of X of the i-th row, and zeros behind them.

    X: all elements, one after the other, [n].
    lod: where each row begins, and where the last one ends, [rows + 1].
    len: how many elements Y has in a row.
    """

    signature = "X, lod! -> Y"
    len: int = 1

    def infer(self, X: Spec, lod: Spec) -> Specs:
        need_numbers("X", X)
        need_integer(lod=lod)
        need_ndim(1, X=X, lod=lod)
        rows = lod.shape[0]
        return X.with_shape([-1 if rows == -1 else rows - 1, self.len])

    def expand(self, f: Any, X: Value, lod: Value) -> Values:
        places = f.places_in_rows(lod, width=self.len, size=X.shape[0])
        row = f.concat([X, f.fill_constant(shape=[1], dtype=as_dtype(X.dtype), value=0.0)], axis=0)
        flat = f.reshape(places, shape=[places.shape[0] * self.len])
        return f.reshape(f.gather(row, flat), shape=[places.shape[0], self.len])


class places_in_rows(Detached):
    """Out = the numbers of the elements of rows that lie one after the other; ``size`` for none.

    X: where each row begins, and where the last one ends.
    width: how many numbers Out has in a row.
    size: how many elements there are.
    """

    signature = "X -> Out"
    width: int = REQUIRED
    size: int = REQUIRED

    def infer(self, X: Spec) -> Specs:
        rows = X.shape[0]
        return spec([-1 if rows == -1 else rows - 1, self.width], DType.INT64)

    def run(self, xp: Any, X: Array) -> Array:
        places = X[:-1, None] + xp.arange(self.width)
        return xp.asarray(xp.where(places < X[1:, None], places, self.size), "int64")
