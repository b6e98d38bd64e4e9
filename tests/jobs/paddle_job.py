"""What processes of paddle 2 compute together: each call is held against what it has to be.

As a script it ends with an error where something is wrong.
"""

import numpy as np
import pytest

import fluidlite.paddle as paddle
from fluidlite.paddle import distributed as dist


def own(rank, dtype="float32"):
    """What each process has."""
    return paddle.to_tensor(np.array([rank + 1, 10 * (rank + 1)], dtype))


def values(tensors):
    return [each.tolist() for each in tensors]


def reductions(rank, size):
    numbers = np.array([[r + 1.0, 10.0 * (r + 1)] for r in range(size)])
    ways = {"SUM": np.sum, "MAX": np.max, "MIN": np.min, "PROD": np.prod, "AVG": np.mean}
    for name, way in ways.items():
        for dtype in ("float32", "float64", "int64"):
            x = own(rank, dtype)
            dist.all_reduce(x, getattr(dist.ReduceOp, name))
            wanted = way(numbers, 0).astype(dtype)
            np.testing.assert_allclose(x.numpy(), wanted, 1e-6)
            assert x.numpy().dtype == wanted.dtype
    x = own(rank)
    dist.reduce(x, size - 1)
    assert x.tolist() == (numbers.sum(0) if rank == size - 1 else numbers[rank]).tolist()
    x = paddle.zeros([2])
    dist.reduce_scatter(x, [own(rank) * (k + 1) for k in range(size)])
    assert x.tolist() == (numbers.sum(0) * (rank + 1)).tolist()
    with pytest.raises(AssertionError, match="expected op to be one of ReduceOp"):
        dist.all_reduce(own(rank), 77)


def moves(rank, size):
    everybody = [[r + 1.0, 10.0 * (r + 1)] for r in range(size)]
    x = own(rank)
    dist.broadcast(x, 1)
    assert x.tolist() == everybody[1]
    gathered = []
    dist.all_gather(gathered, own(rank))
    assert values(gathered) == everybody
    dist.all_gather(gathered, own(rank) * 2)  # the same tensors again
    assert values(gathered) == [[2 * n for n in row] for row in everybody]
    whole = paddle.zeros([2 * size])
    dist.stream.all_gather(whole, own(rank))
    assert whole.tolist() == [n for row in everybody for n in row]
    gathered = []
    dist.gather(own(rank), gathered, dst=1)
    assert values(gathered) == (everybody if rank == 1 else [])
    x = paddle.zeros([2])
    dist.scatter(x, [own(k) for k in range(size)] if rank == 1 else None, src=1)
    assert x.tolist() == everybody[rank]
    came = []
    dist.alltoall([own(rank) + 100.0 * k for k in range(size)], came)
    assert values(came) == [[n + 100.0 * rank for n in row] for row in everybody]
    rows = paddle.zeros([size])
    dist.alltoall_single(paddle.to_tensor([10.0 * rank + k for k in range(size)]), rows)
    assert rows.tolist() == [10.0 * k + rank for k in range(size)]


def messages(rank, size):
    after, before = (rank + 1) % size, (rank - 1) % size
    x = paddle.zeros([2])
    tasks = [dist.isend(own(rank), after), dist.irecv(x, before)]
    assert not tasks[1].is_completed()
    assert all(task.wait() for task in tasks) and tasks[1].is_completed()
    assert x.tolist() == own(before).tolist()
    if rank == 0:
        dist.send(own(7), 1)
    elif rank == 1:
        dist.recv(x, 0)
        assert x.tolist() == own(7).tolist()
    y = paddle.zeros([2])
    calls = [dist.P2POp(dist.isend, own(rank), before), dist.P2POp(dist.irecv, y, after)]
    for task in dist.batch_isend_irecv(calls):
        task.wait()
    assert y.tolist() == own(after).tolist()


def objects(rank, size):
    found = []
    dist.all_gather_object(found, {"rank": rank, "text": "x" * rank})
    assert found == [{"rank": r, "text": "x" * r} for r in range(size)]
    listed = [{"a": [rank]}, rank]
    dist.broadcast_object_list(listed, src=1)
    assert listed == [{"a": [1]}, 1]
    scattered = []
    dist.scatter_object_list(scattered, [("of", r) for r in range(size)] if rank == 0 else None)
    assert scattered == [("of", rank)]


def parts(rank, size):
    """Groups of some processes."""
    group = dist.new_group([0, size - 1])
    alone = dist.new_group([1])
    assert (group.id, group.nranks, dist.get_group(10) is group) == (10, len({0, size - 1}), True)
    x = own(rank)
    dist.all_reduce(x, group=group)
    inside = rank in (0, size - 1)
    assert dist.get_rank(group) == ([0, size - 1].index(rank) if inside else -1)
    assert x.tolist() == ([size + 1.0, 10.0 * (size + 1)] if inside else own(rank).tolist())
    x = own(rank)
    dist.broadcast(x, src=size - 1, group=group)
    assert x.tolist() == (own(size - 1) if inside else own(rank)).tolist()
    assert alone.rank == (0 if rank == 1 else -1)
    dist.barrier(group)
    dist.destroy_process_group(group)
    assert dist.get_group(10) is None


def programs(rank, size):
    sent = own(rank).numpy()
    wanted = values(own(r) for r in range(size))
    paddle.enable_static()
    with paddle.static.program_guard(paddle.static.Program()):
        x = paddle.static.data("x", [2], "float32")
        dist.all_reduce(x)
        y = paddle.static.data("y", [2], "float32")
        parts = []
        dist.all_gather(parts, y)
        assert len(parts) == size
        feed = {"x": sent, "y": sent}
        program = paddle.static.default_main_program()
        found = paddle.static.Executor().run(program, feed=feed, fetch_list=[x, *parts])
    paddle.disable_static()
    total = size * (size + 1) / 2
    assert values(found) == [[total, 10 * total], *wanted]


def trains(rank, size):
    """A layer whose gradients are the means of all processes."""
    paddle.seed(7)
    net = paddle.DataParallel(paddle.nn.Linear(2, 1))
    optimizer = paddle.optimizer.SGD(0.1, parameters=net.parameters())
    net(own(rank).reshape([1, 2])).sum().backward()
    mean = [np.mean([r + 1.0 for r in range(size)]), np.mean([10.0 * (r + 1) for r in range(size)])]
    np.testing.assert_allclose(net.parameters()[0].grad.numpy().ravel(), mean, 1e-6)
    optimizer.step()


def fleets(rank, size):
    """Layers and programs that fleet trains."""
    fleet = dist.fleet
    fleet.init(is_collective=True)
    assert (fleet.worker_index(), fleet.worker_num()) == (rank, size)
    assert fleet.is_first_worker() == (rank == 0)
    assert isinstance(fleet.distributed_model(paddle.nn.Linear(2, 1)), paddle.DataParallel)
    assert fleet.util.all_reduce(np.array([rank]), "max").tolist() == [size - 1]
    assert fleet.util.all_gather(rank) == list(range(size))
    files = fleet.util.get_file_shard([str(k) for k in range(size + 1)])
    assert len(files) == (2 if rank == 0 else 1)
    assert fleet.metrics.acc(np.array([rank + 1.0]), np.array([4.0])) == (size + 1) / 8
    fleet.barrier_worker()
    given = own(rank).numpy().reshape(1, 2)
    paddle.enable_static()
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(main, startup):
        x = paddle.static.data("x", [None, 2])
        loss = paddle.mean(paddle.static.nn.fc(x, 1))
        with pytest.raises(NotImplementedError, match="sharding is not supported"):
            strategy = fleet.DistributedStrategy()
            strategy.sharding = True
            fleet.distributed_optimizer(paddle.optimizer.SGD(0.1), strategy)
        fleet.distributed_optimizer(paddle.optimizer.SGD(0.1)).minimize(loss)
        executor = paddle.static.Executor()
        executor.run(startup)
        name = main.all_parameters()[0].name
        before = np.array(paddle.static.global_scope().find_var(name).get_tensor())
        executor.run(main, feed={"x": given}, fetch_list=[loss])
        after = np.array(paddle.static.global_scope().find_var(name).get_tensor())
    paddle.disable_static()
    firsts = []
    dist.all_gather_object(firsts, after.tolist())
    assert all(each == firsts[0] for each in firsts)
    mean = [np.mean([r + 1.0 for r in range(size)]), np.mean([10.0 * (r + 1) for r in range(size)])]
    if rank == 0:  # all begin with the values of process 0
        np.testing.assert_allclose((before - after).ravel() / 0.1, mean, 1e-4)


if __name__ == "__main__":
    assert not dist.is_initialized()
    group = dist.init_parallel_env()
    assert dist.is_initialized() and dist.get_backend() == "MPI"
    assert dist.get_group() is group is dist.init_parallel_env()
    number, count = dist.get_rank(), dist.get_world_size()
    env = dist.ParallelEnv()
    assert (env.rank, env.world_size, len(env.trainer_endpoints)) == (number, count, count)
    for check in (reductions, moves, messages, objects, parts, programs, trains, fleets):
        check(number, count)
    dist.barrier()
    print("all is well", flush=True)
