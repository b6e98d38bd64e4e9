"""What scales gradients down again, and moves the factor that losses were scaled up by."""

from __future__ import annotations

from typing import Any

from ..errors import AttributeValueError
from ..ground.dtypes import DType
from ..opdef.annotations import Arrays, Specs
from ..opdef.attribute import REQUIRED, need_above, need_least
from ..opdef.definition import Detached
from ..opdef.spec import Spec, need_float, need_one, spec


class check_finite_and_unscale(Detached):
    """Out[i] = X[i] / Scale, and whether an element of any X is not finite.

    X: floats.
    Scale: one element.
    FoundInfinite: bool, of shape [1].
    """

    signature = "X*, Scale -> Out*, FoundInfinite"

    def width(self, X: Any, Scale: Any) -> int:
        return len(X)

    def infer(self, X: list[Spec], Scale: Spec) -> Specs:
        for i, each in enumerate(X):
            need_float(**{f"X[{i}]": each})
        need_one(Scale=Scale)
        return X, spec([1], DType.BOOL)

    def run(self, xp: Any, X: Any, Scale: Any) -> Arrays:
        factor = 1 / xp.reshape(Scale, ())
        strange = [xp.logical_not(xp.isfinite(each)).any() for each in X]
        found = xp.reshape(xp.stack(strange).any() if strange else xp.zeros((), bool), (1,))
        return [each * factor.astype(each.dtype) for each in X], found


class update_loss_scaling(Detached):
    """Out[i] = X[i], or zeros where FoundInfinite, and the scaling for the next step.

    Behind ``incr_every_n_steps`` steps without, the scaling is multiplied by ``incr_ratio``, where
    it stays finite; behind ``decr_every_n_nan_or_inf`` with something that is not finite, by
    ``decr_ratio``, but not to less than 1.

    FoundInfinite, PrevLossScaling, InGoodSteps, InBadSteps: one element each.
    StopUpdate: whether the scaling and the numbers of steps stay; wins over ``stop_update``.
    LossScaling, OutGoodSteps, OutBadSteps: after the step.
    incr_every_n_steps, decr_every_n_nan_or_inf: numbers of steps.
    incr_ratio, decr_ratio: the factors.
    stop_update: the scaling and the numbers of steps stay.
    """

    signature = (
        "X*, FoundInfinite, PrevLossScaling, InGoodSteps, InBadSteps, StopUpdate? -> "
        "Out*, LossScaling, OutGoodSteps, OutBadSteps"
    )
    incr_every_n_steps: int = REQUIRED
    decr_every_n_nan_or_inf: int = REQUIRED
    incr_ratio: float = REQUIRED
    decr_ratio: float = REQUIRED
    stop_update: bool = False

    def width(self, X: Any, *state: Any) -> int:
        return len(X)

    def infer(self, X: list[Spec], *of_one: Spec | None) -> Specs:
        need_one(**dict(zip([*self.input_slots][1:], of_one)))
        need_least(self, 1, "incr_every_n_steps", "decr_every_n_nan_or_inf")
        need_above(self, 1, "incr_ratio")
        if not 0 < self.decr_ratio < 1:
            raise AttributeValueError(f"expected decr_ratio between 0 and 1, got {self.decr_ratio}")
        return X, *of_one[1:4]

    def run(self, xp: Any, X: Any, FoundInfinite: Any, *state: Any) -> Arrays:
        is_infinite = xp.reshape(FoundInfinite, ())
        out = [xp.where(is_infinite, xp.zeros_like(each), each) for each in X]
        *before, StopUpdate = state
        if StopUpdate is None and self.stop_update:
            return out, *before
        after = self.moved(xp, is_infinite, *before)
        if StopUpdate is None:
            return out, *after
        stays = xp.reshape(StopUpdate, ())
        return out, *(xp.where(stays, was, now) for was, now in zip(before, after))

    def moved(
        self, xp: Any, is_infinite: Any, PrevLossScaling: Any, InGoodSteps: Any, InBadSteps: Any
    ) -> Arrays:
        """The scaling and the numbers of steps after a step."""
        zero = xp.zeros_like(InGoodSteps)
        good = xp.where(is_infinite, zero, InGoodSteps + 1)
        bad = xp.where(is_infinite, InBadSteps + 1, zero)
        grows, shrinks = good == self.incr_every_n_steps, bad == self.decr_every_n_nan_or_inf
        larger = PrevLossScaling * xp.asarray(self.incr_ratio, PrevLossScaling.dtype)
        larger = xp.where(xp.isfinite(larger), larger, PrevLossScaling)
        smaller = PrevLossScaling * xp.asarray(self.decr_ratio, PrevLossScaling.dtype)
        smaller = xp.maximum(smaller, xp.ones_like(smaller))
        one = lambda flag: xp.reshape(flag, PrevLossScaling.shape)
        scaling = xp.where(one(grows), larger, xp.where(one(shrinks), smaller, PrevLossScaling))
        return scaling, xp.where(grows, zero, good), xp.where(shrinks, zero, bad)
