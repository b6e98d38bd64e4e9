"""Trainings by fluid's doors to many processes, on shares of batches.

As a script: ``doors_job.py OUT DOOR...``; process 0 writes what came of them to the file OUT.
"""

import sys

import numpy as np
from shared_training import batch, mlp, share

import fluidlite as fluid
from fluidlite.ground.process_group import groups
from fluidlite.incubate.fleet import role_maker
from fluidlite.incubate.fleet.collective import DistributedStrategy, fleet

STEPS = 8


def by_fleet(mode, **settings):
    """``fleet``, in one of its modes."""

    def build():
        fleet.init(role_maker.PaddleCloudRoleMaker(is_collective=True))
        loss, optimizer = mlp("float64")
        strategy = DistributedStrategy()
        strategy.mode = mode
        for name, value in settings.items():
            setattr(strategy, name, value)
        if strategy.forward_recompute:
            strategy.recompute_checkpoints = [loss.block.var("fc_0.tmp_2")]
        fleet.distributed_optimizer(optimizer, strategy).minimize(loss)
        return fleet.startup_program, fleet.main_program, loss

    return build


def by_transpiler(mode):
    """``DistributeTranspiler``, with another start-up program than that which has run."""

    def build():
        loss, optimizer = mlp("float64")
        optimizer.minimize(loss)
        group = fluid.distributed.join()
        config = fluid.DistributeTranspilerConfig()
        config.mode = mode
        names = ",".join(f"127.0.0.1:{6170 + k}" for k in range(group.size))
        transpiler = fluid.DistributeTranspiler(config)
        transpiler.transpile(
            group.rank,
            trainers=names,
            current_endpoint=names.split(",")[group.rank],
            startup_program=fluid.Program(),
        )
        program = transpiler.get_trainer_program()
        return fluid.default_startup_program(), program, loss

    return build


def by_compiled():
    """``with_data_parallel`` alone."""
    loss, optimizer = mlp("float64")
    optimizer.minimize(loss)
    program = fluid.CompiledProgram(fluid.default_main_program())
    program.with_data_parallel(loss_name=loss.name)
    return fluid.default_startup_program(), program, loss


def by_parallel_executor():
    """``ParallelExecutor``, which runs the program by itself."""
    loss, optimizer = mlp("float64")
    optimizer.minimize(loss)
    made = fluid.ParallelExecutor(use_cuda=False, loss_name=loss.name)
    return fluid.default_startup_program(), made, loss


def by_nothing():
    """One process: no door."""
    loss, optimizer = mlp("float64")
    optimizer.minimize(loss)
    return fluid.default_startup_program(), fluid.default_main_program(), loss


DOORS = {
    "fleet nccl2": by_fleet("nccl2"),
    "fleet collective": by_fleet("collective"),
    "fleet recompute": by_fleet("nccl2", forward_recompute=True),
    "transpiler nccl2": by_transpiler("nccl2"),
    "transpiler collective": by_transpiler("collective"),
    "compiled program": by_compiled,
    "parallel executor": by_parallel_executor,
}


def trained(build):
    """The mean loss of each step, and the parameters at the end."""
    main, startup = fluid.Program(), fluid.Program()
    with fluid.unique_name.guard(), fluid.program_guard(main, startup):
        startup.random_seed = 5
        first, program, loss = build()
    group = groups.get()
    first.random_seed = 5 + group.rank  # each process begins with numbers of its own
    with fluid.scope_guard(fluid.Scope()):
        exe = fluid.Executor()
        exe.run(first)
        losses = []
        for step in range(STEPS):
            feed = share(batch("mlp", "float64", step), group.rank, group.size)
            if isinstance(program, fluid.ParallelExecutor):
                # the executor was made for the scope that was there then
                program._scope = fluid.global_scope()
                (found,) = program.run([loss.name], feed=feed)
            else:
                (found,) = exe.run(program, feed=feed, fetch_list=[loss.name])
            losses.append(group.all_reduce(np.asarray(found), "sum", 0)[0] / group.size)
        kept = {
            v.name: np.array(fluid.global_scope().value(v.name))
            for v in main.list_vars()
            if v.persistable
        }
    return {"losses": np.array(losses), **kept}


class Net(fluid.dygraph.Layer):
    """Layers that run at once, with a table of which some rows get a gradient."""

    def __init__(self, sparse):
        super().__init__()
        self.table = fluid.dygraph.Embedding([12, 4], is_sparse=sparse, dtype="float64")
        self.first = fluid.dygraph.Linear(4, 5, act="tanh", dtype="float64")
        self.last = fluid.dygraph.Linear(5, 1, dtype="float64")
        self.unused = fluid.dygraph.Linear(5, 1, dtype="float64")

    def forward(self, words):
        return self.last(self.first(self.table(words)))


def at_once(sparse):
    """What layers that run at once make of the same steps."""
    with fluid.dygraph.guard(), fluid.unique_name.guard():
        strategy = fluid.dygraph.prepare_context()
        rank, size = strategy.local_rank, strategy.nranks
        np.random.seed(0)
        fluid.default_startup_program().random_seed = 5 + rank
        net = Net(sparse)
        for k, each in enumerate(net.parameters()):  # what the others have is to be replaced
            begin = np.random.RandomState(k).normal(size=each.shape)
            each.set_value(begin if rank == 0 else begin + rank)
        net = fluid.dygraph.DataParallel(net, strategy)
        optimizer = fluid.optimizer.Adam(0.05, parameter_list=net.parameters())
        losses = []
        for step in range(STEPS):
            rng = np.random.default_rng(step)
            words, y = rng.integers(0, 12, [12, 1]), rng.normal(size=[12, 1, 1])
            first, last = rank * 12 // size, (rank + 1) * 12 // size
            made = net(fluid.dygraph.to_variable(words[first:last]))
            error = made - fluid.dygraph.to_variable(y[first:last])
            loss = net.scale_loss(fluid.layers.mean(fluid.layers.square(error)))
            loss.backward()
            net.apply_collective_grads()
            optimizer.minimize(loss)
            net.clear_gradients()
            losses.append(groups.get().all_reduce(loss.numpy(), "sum", 0)[0])
        return {"losses": np.array(losses), **{k: v.numpy() for k, v in net.state_dict().items()}}


def main(out, *doors):
    """Train by doors; process 0 writes what came of it."""
    found = {}
    for door in doors:
        kind = door.partition("at once, ")[2]
        made = at_once(kind == "sparse") if kind else trained(DOORS[door])
        group = groups.get()
        for name, value in made.items():
            found[f"{door}:{name}"] = value
            assert np.array_equal(value, group.broadcast(value, 0, 0)), f"{door}: {name} differs"
    if groups.get().rank == 0:
        np.savez(out, **found)


if __name__ == "__main__":
    main(*sys.argv[1:])
