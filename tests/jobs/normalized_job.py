"""Trainings with statistics of each process, and with 16 bits, where one process overflows.

As a script: ``normalized_job.py OUT``; process 0 writes what came of it to the file OUT.
"""

import sys
from functools import partial

import numpy as np
import pytest

import fluidlite as fluid

BATCH, STEPS = 8, 6


def normalized():
    """A net with batch_norm, its loss."""
    x, y = fluid.data("x", [None, 3, 4, 4], "float64"), fluid.data("y", [None, 1], "float64")
    maps = fluid.layers.batch_norm(fluid.layers.conv2d(x, 3, 3), act="relu", momentum=0.5)
    loss = fluid.layers.mean(fluid.layers.square(fluid.layers.fc(maps, 1) - y))
    fluid.optimizer.Momentum(0.05, 0.9).minimize(loss)
    return loss


def batch(step):
    """What is fed in a step."""
    rng = np.random.default_rng(step)
    return {"x": rng.normal(size=[BATCH, 3, 4, 4]), "y": rng.normal(size=[BATCH, 1])}


def run(program, loss, part=slice(None)):
    """Train; the losses of each step, and what is kept at the end."""
    exe = fluid.Executor()
    fluid.default_startup_program().random_seed = 11
    exe.run(fluid.default_startup_program())
    losses = []
    for step in range(STEPS):
        feed = {name: value[part] for name, value in batch(step).items()}
        losses.append(exe.run(program, feed=feed, fetch_list=[loss])[0])
    kept = [v.name for v in fluid.default_main_program().list_vars() if v.persistable]
    return losses, {name: np.array(fluid.global_scope().value(name)) for name in kept}


def mixed(group):
    """Losses are scaled for 16 bits; in step 2 the gradients of one process overflow."""
    main, startup = fluid.Program(), fluid.Program()
    with fluid.unique_name.guard(), fluid.program_guard(main, startup):
        x = fluid.data("x", [None, 4], "float32")
        loss = fluid.layers.mean(fluid.layers.fc(x, 1))
        decorate = fluid.contrib.mixed_precision.decorate
        optimizer = decorate(
            fluid.optimizer.SGD(0.1),
            init_loss_scaling=8.0,
            decr_every_n_nan_or_inf=1,
            decr_ratio=0.5,
        )
        optimizer.minimize(loss)
        fluid.distributed.data_parallel(main, startup)
        factor = optimizer.get_loss_scaling().name
    (weight,) = [p.name for p in main.all_parameters() if p.shape == (4, 1)]
    with fluid.scope_guard(fluid.Scope()) as _:
        exe, scope = fluid.Executor(), fluid.global_scope()
        exe.run(startup)
        before = None
        for step in range(4):
            before = np.array(scope.value(weight))
            given = np.ones([2, 4], "float32")
            if step == 2 and group.rank == group.size - 1:
                given[0, 0] = np.inf
            exe.run(main, feed={"x": given})
            moved = bool((scope.value(weight) != before).any())
            assert moved is (step != 2), f"step {step} on process {group.rank}"
            assert float(scope.value(factor)[0]) == (8.0 if step < 2 else 4.0)
        weights = group.all_gather(scope.value(weight)[None], 0)
        assert (weights == weights[0]).all()


def guarded(group):
    """A process that looks for values that are not finite names where they come from, also where
    the others have sent theirs; a run that is repeated for it sends nothing again.
    """
    main, startup = fluid.Program(), fluid.Program()
    with fluid.unique_name.guard(), fluid.program_guard(main, startup):
        x = fluid.data("x", [None, 4], "float32")
        loss = fluid.layers.mean(fluid.layers.log(x) * fluid.layers.fc(x, 4))
        fluid.optimizer.SGD(0.1).minimize(loss)
        fluid.distributed.data_parallel(main, startup)
    with fluid.scope_guard(fluid.Scope()):
        exe = fluid.Executor()
        exe.run(startup)
        for step in range(5):
            given = np.ones([2, 4], "float32")
            if step == 3 and group.rank == 0:
                given[0, 0] = 0.0
            step_made = partial(
                exe.run, main, feed={"x": given}, fetch_list=[loss], check_nan_inf=True
            )
            if step != 3:
                step_made()
                continue
            with pytest.raises(fluid.errors.NonFiniteError, match="" if group.rank else "log"):
                step_made()  # the others get it with their gradients


def main(out):
    """All of it."""
    group = fluid.distributed.join()
    loss = normalized()
    fluid.distributed.data_parallel(fluid.default_main_program())
    first, last = group.rank * BATCH // group.size, (group.rank + 1) * BATCH // group.size
    losses, kept = run(fluid.default_main_program(), loss, slice(first, last))
    losses = [group.all_gather(each, 0) for each in losses]
    if group.rank == 0:
        np.savez(out, losses=np.array(losses), **kept)
    mixed(group)
    guarded(group)


if __name__ == "__main__":
    main(sys.argv[1])
