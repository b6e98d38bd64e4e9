"""What sends rows to experts: how many each takes, which rows are left out, and where they go.

(Fedus, Zoph and Shazeer, Switch transformers, JMLR 2022.)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import ShapeError
from ..opdef.annotations import Array, Specs
from ..opdef.attribute import REQUIRED, Long, need_least
from ..opdef.definition import Detached, DetachedValues
from ..opdef.spec import Spec, agree, need_float, need_integer, need_ndim, need_shape, size_of


class limit_by_capacity(Detached):
    """Out = expert_count with what an expert cannot take left out, of the last workers first.

    expert_count: how many rows each worker sends to each expert, worker by worker, [n_worker *
        experts].
    capacity: how many rows each expert takes, [experts].
    n_worker: how many workers there are.
    """

    signature = "expert_count, capacity -> Out"
    n_worker: int = REQUIRED

    def infer(self, expert_count: Spec, capacity: Spec) -> Specs:
        need_integer(expert_count=expert_count, capacity=capacity)
        need_least(self, 1, "n_worker")
        experts = size_of(capacity.shape)
        if experts != -1 and not agree(size_of(expert_count.shape), experts * self.n_worker):
            raise ShapeError(
                f"expected expert_count of {experts * self.n_worker} numbers, got shape "
                f"{list(expert_count.shape)}"
            )
        return expert_count

    def run(self, xp: Any, expert_count: Array, capacity: Array) -> Array:
        counts = xp.reshape(expert_count, (self.n_worker, -1))
        before = xp.cumsum(counts, axis=0) - counts
        room = xp.maximum(xp.reshape(capacity, (1, -1)) - before, 0)
        out = xp.minimum(counts, room)
        return xp.reshape(xp.asarray(out, expert_count.dtype), expert_count.shape)


class prune_gate_by_capacity(Detached):
    """NewGateIdx = GateIdx, and -1 for rows that come when their expert has taken all it can.

    GateIdx: the expert of each row, [n].
    ExpertCount: how many rows each takes, [n_expert * n_worker].
    n_expert, n_worker: experts of a worker, and workers.
    """

    signature = "GateIdx, ExpertCount -> NewGateIdx"
    n_expert: Long = 0
    n_worker: Long = 0

    def infer(self, GateIdx: Spec, ExpertCount: Spec) -> Specs:
        need_integer(GateIdx=GateIdx, ExpertCount=ExpertCount)
        count = self.n_expert * self.n_worker
        need_shape("ExpertCount", ExpertCount, (count,), "a number for each expert")
        return GateIdx

    def run(self, xp: Any, GateIdx: Array, ExpertCount: Array) -> Array:
        gate = xp.reshape(GateIdx, -1)
        chosen = xp.asarray(gate[:, None] == xp.arange(len(ExpertCount)), "int64")
        earlier = xp.cumsum(chosen, axis=0) - chosen
        fits = xp.any((chosen != 0) & (earlier < ExpertCount), axis=1)
        return xp.reshape(xp.asarray(xp.where(fits, gate, -1), GateIdx.dtype), GateIdx.shape)


class random_routing(Detached):
    """Out = TopK_Idx, and -1 for the second expert of a row whose value is small beside a chance.

    Prob: a chance for each row, [n].
    TopK_Value, TopK_Idx: the values and numbers of the two best experts, [n, 2].
    """

    signature = "Prob, TopK_Value, TopK_Idx -> Out"

    def infer(self, Prob: Spec, TopK_Value: Spec, TopK_Idx: Spec) -> Specs:
        need_float(Prob=Prob, TopK_Value=TopK_Value)
        need_integer(TopK_Idx=TopK_Idx)
        need_ndim(1, Prob=Prob)
        for name, each in dict(TopK_Value=TopK_Value, TopK_Idx=TopK_Idx).items():
            need_shape(name, each, (Prob.shape[0], 2), "two experts for each row")
        return TopK_Idx

    def run(self, xp: Any, Prob: Array, TopK_Value: Array, TopK_Idx: Array) -> Array:
        dropped = (TopK_Value[:, 1] * 2 < Prob)[:, None] & (xp.arange(2) == 1)
        return xp.asarray(xp.where(dropped, -1, TopK_Idx), TopK_Idx.dtype)


class assign_pos(DetachedValues):
    """Out = the numbers of the rows in the order of their experts.

    X: the expert of each row; -1 for none.
    cum_count: how many rows the experts up to each one have, [experts].
    eff_num_len: how many rows have an expert, of one element.
    """

    signature = "X, cum_count, eff_num_len -> Out"

    def infer(self, X: Spec, cum_count: Spec, eff_num_len: Spec) -> Specs:
        need_integer(X=X, cum_count=cum_count, eff_num_len=eff_num_len)
        return cum_count.with_shape([-1])

    def run(self, xp: Any, X: Array, cum_count: Array, eff_num_len: Array) -> Array:
        experts = np.asarray(X).reshape(-1)
        left = np.asarray(cum_count).copy()
        out = np.zeros(int(np.asarray(eff_num_len).reshape(-1)[0]), left.dtype)
        for row, expert in enumerate(experts):
            if expert >= 0:  # filled from the end of each expert's part
                left[expert] -= 1
                out[left[expert]] = row
        return xp.asarray(out)
