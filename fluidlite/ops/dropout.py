"""Dropout, of elements and of slices."""

from __future__ import annotations

from typing import Any, ClassVar

from ..ground.dtypes import DType
from ..opdef.annotations import Array, Arrays, Rules, Specs, Value
from ..opdef.attribute import need_choice, need_range
from ..opdef.definition import Op
from ..opdef.spec import Shape, Spec, need_float, need_integer, normal_axis

WAYS = ("downgrade_in_infer", "upscale_in_train")


class Dropping(Op, abstract=True):
    """Elements set to 0 with probability ``dropout_prob``.

    Seed: one element that fixes the random numbers.
    Mask: 1 where an element is kept, 0 elsewhere; absent when ``is_test``.
    is_test: nothing is set to 0; Out is the expectation of what training gives.
    dropout_implementation: with "upscale_in_train" what is kept is divided by 1 - dropout_prob,
        so that the expectation is X; with "downgrade_in_infer" it is left as it is.
    """

    signature = "X, Seed?! -> Out, Mask!~"
    random: ClassVar[bool] = True
    dropout_prob: float = 0.5
    is_test: bool = False
    dropout_implementation: str = "downgrade_in_infer"

    def absent_outputs(self) -> tuple[str, ...]:
        return ("Mask",) if self.is_test else ()

    @property
    def factor(self) -> float:
        """What an element is multiplied by that is not set to 0."""
        keep_prob = 1.0 - self.dropout_prob
        if self.is_test:
            return 1.0 if self.dropout_implementation == "upscale_in_train" else keep_prob
        if self.dropout_implementation == "upscale_in_train" and keep_prob:
            return 1.0 / keep_prob
        return 1.0

    def infer(self, X: Spec, Seed: Spec) -> Specs:
        need_float(X=X)
        need_integer(Seed=Seed)
        need_range(self, 0, 1, "dropout_prob")
        need_choice(self, "dropout_implementation", *WAYS)
        mask = X.with_shape(self.drawn(X.shape)).with_dtype(DType.UINT8)
        return X, None if self.is_test else mask

    def run(self, xp: Any, rng: Any, X: Array, Seed: Array) -> Arrays:
        if self.is_test:
            return X * self.factor, None
        seed = Seed.item() if Seed is not None else self.own_seed
        kept = rng(seed).random(self.drawn(X.shape), "float32") >= self.dropout_prob
        return xp.where(kept, X * self.factor, xp.zeros((), X.dtype)), kept.astype(xp.uint8)

    @property
    def own_seed(self) -> int:
        """The seed where no tensor gives it; 0 for the program's stream."""
        return 0

    def drawn(self, shape: Shape) -> Shape:
        """The shape of Mask, for an X of a shape."""
        return shape

    def grad(self, f: Any, dOut: Value, Mask: Value = None) -> Rules:
        def flow():
            if self.is_test:
                return dOut * self.factor
            kept = f.cast(Mask, in_dtype=Mask.dtype, out_dtype=dOut.dtype)
            return dOut * kept * self.factor

        return dict(X=flow)


class dropout(Dropping):
    """Out = X with each element set to 0 with probability ``dropout_prob``.

    Srivastava et al., Dropout: a simple way to prevent neural networks from overfitting, JMLR 2014.

    Seed: one element that fixes the random numbers; wins over ``seed``.
    fix_seed: the random numbers are those of ``seed``, in every run.
    """

    fix_seed: bool = False
    seed: int = 0

    @property
    def own_seed(self) -> int:
        return self.seed if self.fix_seed else 0


class dropout_nd(Dropping):
    """Out = X with slices set to 0 with probability ``dropout_prob``.

    axis: the dimensions along which slices differ; along the others they are set to 0 as a
        whole.
    """

    axis: list[int] = ()

    def drawn(self, shape: Shape) -> Shape:
        if not self.axis:
            return shape
        axes = {normal_axis(a, len(shape)) for a in self.axis}
        return tuple(n if k in axes else 1 for k, n in enumerate(shape))
