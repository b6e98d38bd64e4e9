"""Trainings on one batch, by one process or by several on shares of it.

As a script: ``shared_training.py OUT NET...`` trains nets on the share of a process, and process 0
writes what came of it to the file OUT.
"""

import sys

import numpy as np

import fluidlite as fluid

BATCH = 12  # 1, 2, 3 and 4 processes have equal shares
STEPS = 20


def mlp(dtype):
    """A net of two layers, with Adam and decay of weights."""
    x, y = fluid.data("x", [None, 6], dtype), fluid.data("y", [None, 1], dtype)
    hidden = fluid.layers.fc(x, 8, act="tanh")
    loss = fluid.layers.mean(fluid.layers.square(fluid.layers.fc(hidden, 1) - y))
    decay = fluid.regularizer.L2Decay(0.01)
    return loss, fluid.optimizer.Adam(0.05, regularization=decay)


def lenet(dtype):
    """Convolutions, with Momentum, and a clip that is narrower than most gradients."""
    image, label = (
        fluid.data("image", [None, 1, 10, 10], dtype),
        fluid.data("y", [None, 1], "int64"),
    )
    maps = fluid.layers.conv2d(image, 4, 3, act="relu")
    maps = fluid.layers.pool2d(maps, 2, "max", 2)
    scores = fluid.layers.fc(fluid.layers.fc(maps, 10, act="relu"), 3)
    loss = fluid.layers.mean(fluid.layers.softmax_with_cross_entropy(scores, label))
    clip = fluid.clip.GradientClipByGlobalNorm(0.3)
    return loss, fluid.optimizer.Momentum(0.2, 0.9, grad_clip=clip)


def word2vec(dtype):
    """Words by those around them, with a table of which some rows get a gradient; a narrow clip."""
    words = [fluid.data(f"w{k}", [None, 1], "int64") for k in range(3)]
    shared = fluid.ParamAttr("table")
    found = [
        fluid.layers.embedding(w, [30, 4], is_sparse=True, param_attr=shared, dtype=dtype)
        for w in words
    ]
    joined = fluid.layers.concat([fluid.layers.reshape(each, [-1, 4]) for each in found], axis=1)
    target = fluid.data("y", [None, 1], "int64")
    scores = fluid.layers.fc(joined, 30)
    loss = fluid.layers.mean(fluid.layers.softmax_with_cross_entropy(scores, target))
    return loss, fluid.optimizer.SGD(1.0, grad_clip=fluid.clip.GradientClipByGlobalNorm(0.4))


def lstm(dtype):
    """Sequences of several lengths."""
    x = fluid.data("sequence", [None, 3], dtype, lod_level=1)
    y = fluid.data("y", [None, 1], dtype)
    hidden, _ = fluid.layers.dynamic_lstm(fluid.layers.fc(x, 16), 16, dtype=dtype)
    last = fluid.layers.sequence_last_step(hidden)
    loss = fluid.layers.mean(fluid.layers.square(fluid.layers.fc(last, 1) - y))
    return loss, fluid.optimizer.Adam(0.03)


def merged(dtype):
    """A step every second run, of the mean of the gradients."""
    loss, optimizer = mlp(dtype)
    return loss, fluid.optimizer.GradientMergeOptimizer(optimizer, k_steps=2)


def recomputed(dtype):
    """Values that are computed again for backward."""
    x, y = fluid.data("x", [None, 6], dtype), fluid.data("y", [None, 1], dtype)
    first = fluid.layers.fc(x, 8, act="tanh")
    second = fluid.layers.fc(first, 8, act="tanh")
    loss = fluid.layers.mean(fluid.layers.square(fluid.layers.fc(second, 1) - y))
    optimizer = fluid.optimizer.RecomputeOptimizer(fluid.optimizer.Adam(0.05))
    optimizer._set_checkpoints([first, second])
    return loss, optimizer


def averaged(dtype):
    """Parameters that are averaged over steps."""
    loss, optimizer = mlp(dtype)
    return loss, optimizer


NETS = {f.__name__: f for f in (mlp, lenet, word2vec, lstm, merged, recomputed, averaged)}


def batch(name, dtype, step):
    """What is fed in a step, all of it."""
    rng = np.random.default_rng(step % 3)
    if name == "lenet":
        return {
            "image": rng.normal(size=[BATCH, 1, 10, 10]).astype(dtype),
            "y": rng.integers(0, 3, [BATCH, 1]),
        }
    if name == "word2vec":
        found = {f"w{k}": rng.integers(0, 30, [BATCH, 1]) for k in range(3)}
        return {**found, "y": rng.integers(0, 30, [BATCH, 1])}
    y = rng.normal(size=[BATCH, 1]).astype(dtype)
    if name == "lstm":
        lengths = rng.integers(1, 5, BATCH).tolist()
        rows = rng.normal(size=[sum(lengths), 3]).astype(dtype)
        return {"sequence": fluid.create_lod_tensor(rows, [lengths]), "y": y}
    return {"x": rng.normal(size=[BATCH, 6]).astype(dtype), "y": y}


def share(feed, rank, size):
    """What a process is fed of a batch."""
    first, last = rank * BATCH // size, (rank + 1) * BATCH // size
    found = {}
    for name, value in feed.items():
        if isinstance(value, np.ndarray):
            found[name] = value[first:last]
        else:
            lengths = value.recursive_sequence_lengths()[0]
            begin, end = sum(lengths[:first]), sum(lengths[:last])
            rows = np.array(value)[begin:end]
            found[name] = fluid.create_lod_tensor(rows, [lengths[first:last]])
    return found


def trained(name, dtype, group, rewrite=True, seed=5):
    """The losses of all processes' steps, their mean, and the parameters at the end."""
    main, startup = fluid.Program(), fluid.Program()
    startup.random_seed = seed
    with fluid.unique_name.guard(), fluid.program_guard(main, startup):
        loss, optimizer = NETS[name](dtype)
        optimizer.minimize(loss, startup_program=startup)
        average = fluid.optimizer.ExponentialMovingAverage(0.9) if name == "averaged" else None
        if average is not None:
            average.update()
    if rewrite:
        fluid.distributed.data_parallel(main, startup, bucket_bytes=300)
    losses, scope = [], fluid.Scope()
    with fluid.scope_guard(scope):
        exe = fluid.Executor()
        exe.run(startup)
        for step in range(STEPS):
            feed = share(batch(name, dtype, step), group.rank, group.size)
            (found,) = exe.run(main, feed=feed, fetch_list=[loss])
            losses.append(float(group.all_reduce(found, "sum", 0)[0]) / group.size)
        kept = {v.name: np.array(scope.value(v.name)) for v in main.list_vars() if v.persistable}
    return {"losses": np.array(losses), **kept}


def main(out, *wanted):
    """Train nets; process 0 writes what came of it, and how far the others' parameters are."""
    group = fluid.distributed.join()
    found = {}
    for each in wanted:
        name, dtype = each.split(":")
        # processes begin with other numbers: those of process 0 are what counts
        made = trained(name, dtype, group, seed=5 + group.rank)
        for key, value in made.items():
            found[f"{each}:{key}"] = value
            if value.dtype.kind == "f":
                far = np.abs(value - group.broadcast(value, 0, 0)).max(initial=0.0)
                assert far <= 1e-5, f"{each}: {key} differs by {far} from that of process 0"
    if group.rank == 0:
        np.savez(out, **found)


if __name__ == "__main__":
    main(*sys.argv[1:])
