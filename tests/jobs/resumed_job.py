"""A training on shares of shuffled batches that writes checkpoints, and goes on where the newest
one stands.

As a script: ``resumed_job.py FOLDER LAST EVERY``; writes a checkpoint into FOLDER each EVERY steps,
and stops behind step LAST.  Each process writes the samples that it had to a file there.
"""

import os
import sys
import time

import numpy as np

import fluidlite as fluid

SAMPLES, BATCH, EPOCHS = 44, 6, 2  # the last batch of an epoch has 2 samples


def samples():
    rng = np.random.RandomState(3)
    for number in range(SAMPLES):
        yield number, rng.normal(size=[3])


def network():
    x, y = fluid.data("x", [None, 3], "float64"), fluid.data("y", [None, 1], "float64")
    weight = fluid.data("weight", [1], "float32")
    hidden = fluid.layers.fc(x, 4, act="tanh")
    cost = fluid.layers.square(fluid.layers.fc(hidden, 1) - y)
    loss = fluid.layers.mean(cost) * fluid.layers.cast(weight, "float64")
    fluid.optimizer.Adam(0.05).minimize(loss)
    return loss


def main(folder, last, every, pause=0.0):
    """Train; returns the parameters."""
    group = fluid.distributed.join()
    program, startup = fluid.Program(), fluid.Program()
    startup.random_seed = 4
    with fluid.unique_name.guard(), fluid.program_guard(program, startup):
        network()
    fluid.distributed.data_parallel(program, startup)
    batches = fluid.io.batch(fluid.io.shuffle(samples, 30), BATCH)
    reader = fluid.distributed.shard_reader(batches, weights=True, seed=11)
    exe = fluid.Executor()
    exe.run(startup)
    step = 0
    if os.path.isdir(folder) and fluid.checkpoint.latest(folder):
        step = fluid.checkpoint.load(folder, program, executor=exe, reader=reader).step
    path = os.path.join(folder, f"samples-{step}-{group.rank}.txt")
    while step < last:
        for share, weight in reader():
            rows = np.array([row for _, row in share])
            feed = {"x": rows, "y": rows.sum(axis=1, keepdims=True), "weight": weight}
            exe.run(program, feed=feed)
            step += 1
            if weight[0]:
                os.makedirs(folder, exist_ok=True)
                with open(path, "a") as file:
                    file.write("".join(f"{number}\n" for number, _ in share))
            if step % every == 0 or step == last:
                fluid.checkpoint.save(
                    folder, program, step=step, keep=0, executor=exe, reader=reader
                )
                time.sleep(pause)
            if step == last:
                break
    scope = fluid.global_scope()
    return {p.name: np.array(scope.value(p.name)) for p in program.all_parameters()}


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4]))
    print("trained", flush=True)
