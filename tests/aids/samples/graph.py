"""Samples of the operators in fluidlite/ops/graph.py and graph_sampling.py."""

import numpy as np

from .form import Sample, samples

POOLS = ("SUM", "MEAN", "MAX", "MIN")
BEGINS, ENDS = np.array([0, 1, 2, 0, 3]), np.array([1, 2, 1, 0, 1])
EDGES = dict(Src_index=BEGINS, Dst_index=ENDS)


def apart(rng, *shape):
    """Numbers of which no two are near each other."""
    return rng.permutation(int(np.prod(shape))).reshape(shape) * 0.1 + 0.05


@samples("pool_rows")
def pool_rows(rng):
    for how in POOLS:
        ins = dict(X=apart(rng, 5, 3), Index=ENDS)
        yield Sample(ins, dict(how=how, size=4), name=how)
    yield Sample(dict(**ins, Size=np.array([6])), dict(size=4), name="given")


@samples("segment_pool")
def segment_pool(rng):
    for how in POOLS:
        ins = dict(X=apart(rng, 5, 3), SegmentIds=np.array([0, 0, 2, 2, 2]))
        yield Sample(ins, dict(pooltype=how), name=how)


@samples("graph_send_recv")
def graph_send_recv(rng):
    for how in POOLS:
        yield Sample(dict(X=apart(rng, 4, 3), **EDGES), dict(reduce_op=how), name=how)
    ins = dict(X=apart(rng, 4, 3), **EDGES, Out_size=np.array([6]))
    yield Sample(ins, name="given")
    yield Sample(dict(X=apart(rng, 4), **EDGES), dict(out_size=[3]), name="smaller")


@samples("graph_send_ue_recv")
def graph_send_ue_recv(rng):
    for join, how in (("ADD", "SUM"), ("MUL", "MEAN"), ("ADD", "MAX"), ("MUL", "MIN")):
        ins = dict(X=apart(rng, 4, 3), Y=apart(rng, 5, 2, 1) * 3.1, **EDGES)
        yield Sample(ins, dict(message_op=join, reduce_op=how), name=f"{join}_{how}")


@samples("graph_send_uv")
def graph_send_uv(rng):
    ends = dict(src_index=BEGINS, dst_index=ENDS)
    x, y = rng.normal(size=[4, 3]), rng.normal(size=[3, 2, 1])
    for join in ("ADD", "MUL"):
        yield Sample(dict(x=x, y=y, **ends), dict(message_op=join), name=join)


ROW, COLUMNS = np.array([3, 7, 0, 9, 1, 4, 2]), np.array([0, 2, 4, 5, 6, 7])
NODES, EIDS = np.array([1, 0, 4]), np.arange(7)


@samples("graph_reindex")
def graph_reindex(rng):
    ins = dict(X=NODES, Neighbors=np.array([0, 9, 3, 7, 2]), Count=np.array([2, 2, 1], "int32"))
    yield Sample(ins)


@samples("graph_sample_neighbors")
def graph_sample_neighbors(rng):
    graph = dict(Row=ROW, Col_Ptr=COLUMNS, X=NODES)
    yield Sample(graph, name="all")
    yield Sample(dict(**graph, Eids=EIDS), dict(return_eids=True), name="numbered")
    yield Sample(graph, dict(sample_size=1), name="one", values_matter=False)


@samples("weighted_sample_neighbors")
def weighted_sample_neighbors(rng):
    weights = np.array([1, 0, 2, 0, 3, 4, 5.0])
    graph = dict(row=ROW, colptr=COLUMNS, edge_weight=weights, input_nodes=NODES)
    yield Sample(graph, name="all")
    yield Sample(dict(**graph, eids=EIDS), dict(return_eids=True, sample_size=1), name="heaviest")


@samples("graph_khop_sampler")
def graph_khop_sampler(rng):
    graph = dict(Row=ROW % 5, Col_Ptr=COLUMNS, X=NODES)
    yield Sample(graph, dict(sample_sizes=[-1, 2]))
    yield Sample(
        dict(**graph, Eids=EIDS), dict(sample_sizes=[5], return_eids=True), name="numbered"
    )
