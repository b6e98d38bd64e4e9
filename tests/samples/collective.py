"""Samples of what several processes compute together; a test is a group of one."""

from .form import Sample, samples

WHY = "nothing flows, as in fluid"


@samples("c_allreduce_sum", "c_reducescatter", "c_sync_calc_stream", "c_sync_comm_stream")
def differentiable(rng, type):
    yield Sample(dict(X=rng.normal(size=[2, 3])))
    yield Sample(dict(X=rng.normal(size=[4])))


@samples("c_allgather")
def c_allgather(rng):
    yield Sample(dict(X=rng.normal(size=[2, 3])), dict(nranks=1))


@samples("c_allreduce_max", "c_allreduce_min", "c_allreduce_prod", "c_broadcast", "broadcast")
def constant(rng, type):
    yield Sample(dict(X=rng.normal(size=[2, 3])), order=0, why=WHY)


@samples("allreduce")
def allreduce(rng):
    for reduce_type in range(4):
        attrs = dict(reduce_type=reduce_type, sync_mode=True)
        yield Sample(dict(X=rng.normal(size=[2, 3])), attrs, order=0, why=WHY)
