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


@samples("c_scale_loss_grad")
def c_scale_loss_grad(rng):
    yield Sample(dict(X=rng.normal(size=[1])))
    yield Sample(dict(X=rng.normal(size=[2, 3])))


@samples("c_allreduce_start")
def c_allreduce_start(rng):
    row = [rng.normal(size=[2, 3]), rng.normal(size=[4])]
    yield Sample(dict(X=row), dict(of=["w@GRAD", "b@GRAD"]), order=0, why=WHY)


@samples("c_allreduce_wait")
def c_allreduce_wait(rng):
    shapes = dict(shape_concat=[2, 3, 4], ranks=[2, 1])
    yield Sample(dict(Handle=rng.normal(size=[10])), shapes, order=0, why=WHY)


@samples("c_allgather_rows")
def c_allgather_rows(rng):
    yield Sample(dict(X=rng.normal(size=[2, 3])), order=0, why=WHY)
