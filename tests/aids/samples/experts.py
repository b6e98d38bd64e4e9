"""Samples of the operators in fluidlite/ops/experts.py."""

import numpy as np

from .form import Sample, samples


@samples("limit_by_capacity")
def limit_by_capacity(rng):
    counts, capacity = np.array([3, 1, 2, 4, 0, 5]), np.array([4, 1, 6])
    yield Sample(dict(expert_count=counts, capacity=capacity), dict(n_worker=2))


@samples("prune_gate_by_capacity")
def prune_gate_by_capacity(rng):
    ins = dict(GateIdx=np.array([1, 3, 1, 1, 0]), ExpertCount=np.array([1, 2, 0, 1]))
    yield Sample(ins, dict(n_expert=2, n_worker=2))


@samples("random_routing")
def random_routing(rng):
    values = np.array([[0.7, 0.2], [0.5, 0.4], [0.9, 0.1]])
    chosen = np.array([[1, 0], [2, 1], [0, 2]])
    yield Sample(dict(Prob=np.array([0.3, 0.9, 0.5]), TopK_Value=values, TopK_Idx=chosen))


@samples("assign_pos")
def assign_pos(rng):
    ins = dict(X=np.array([1, 0, 1, -1, 2]), cum_count=np.array([1, 3, 4]))
    yield Sample(dict(ins, eff_num_len=np.array([4])))
