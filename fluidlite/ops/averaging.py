"""Averages of parameters over the last steps of a training."""

from __future__ import annotations

from ..opdef.annotations import Specs
from ..opdef.attribute import REQUIRED, Long
from ..opdef.definition import Detached
from ..opdef.spec import Spec, need_integer, need_one, need_shape, same_float

CLOSED = 16384  #: how many parameters are summed up in single precision before that sum is put away


class average_accumulates(Detached):
    """Out_sum_1 = in_sum_1 + param: sums over a window of steps; their mean is that of
    out_sum_1 + out_sum_2 + out_sum_3 over out_num_accumulates + out_old_num_accumulates steps.

    param: the parameter after a step.
    in_sum_1, out_sum_1: the sum over the newest steps.
    in_sum_2, out_sum_2: the rest of the window, kept apart so that small numbers are not lost.
    in_sum_3, out_sum_3: the sum over the window before.
    in_num_accumulates, out_num_accumulates: how many steps the window has.
    in_old_num_accumulates, out_old_num_accumulates: how many the one before had.
    in_num_updates, out_num_updates: how many steps there were.
    average_window: how many steps a window gets, relative to the number of steps.
    max_average_window: how many it gets at most.
    min_average_window: how many it gets at least.
    """

    signature = (
        "param, in_sum_1, in_sum_2, in_sum_3, "
        "in_num_accumulates, in_old_num_accumulates, in_num_updates -> "
        "out_sum_1, out_sum_2, out_sum_3, "
        "out_num_accumulates, out_old_num_accumulates, out_num_updates"
    )
    average_window: float = 0.0
    max_average_window: Long = REQUIRED
    min_average_window: Long = 10000

    def infer(self, *specs: Spec) -> Specs:
        param, *accumulators = specs
        names = [slot.name for slot in self.inputs[1:]]
        sums, numbers = (
            dict(zip(names[:3], accumulators[:3])),
            dict(zip(names[3:], accumulators[3:])),
        )
        same_float(param=param, **sums)
        for name, one in sums.items():
            need_shape(name, one, param.shape, "as param")
        need_integer(**numbers)
        need_one(**numbers)
        return *accumulators[:3], *(one.with_shape([1]) for one in accumulators[3:])

    def run(
        self,
        xp,
        param,
        in_sum_1,
        in_sum_2,
        in_sum_3,
        in_num_accumulates,
        in_old_num_accumulates,
        in_num_updates,
    ):
        steps, old, updates = [
            xp.reshape(n, (1,))
            for n in (in_num_accumulates, in_old_num_accumulates, in_num_updates)
        ]
        steps, updates, nothing = steps + 1, updates + 1, xp.zeros_like(param)
        newest, rest, before = in_sum_1 + param, in_sum_2, in_sum_3
        closed = xp.reshape(updates % CLOSED == 0, ())
        newest, rest = xp.where(closed, nothing, newest), xp.where(closed, rest + newest, rest)
        window = xp.minimum(self.max_average_window, xp.floor(updates * self.average_window))
        full = (steps >= self.min_average_window) & (steps >= window)
        old, steps = xp.where(full, steps, old), xp.where(full, xp.zeros_like(steps), steps)
        full = xp.reshape(full, ())
        before = xp.where(full, newest + rest, before)
        newest, rest = xp.where(full, nothing, newest), xp.where(full, nothing, rest)
        return newest, rest, before, steps, old, updates
