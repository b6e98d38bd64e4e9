"""Handwritten digits, learnt by several processes together; goes on where a checkpoint stands.

python examples/many_processes.py [--quick]
mpiexec -n 4 python examples/many_processes.py
python -m fluidlite.distributed.launch --nproc 4 examples/many_processes.py
"""

import argparse
import os

import numpy as np

import fluidlite as fluid
from fluidlite.dataset import digits

FOLDER = "digits"


def network():
    """The loss of a share of a batch, times its weight."""
    image = fluid.data("image", [None, 64], "float32")
    label = fluid.data("label", [None, 1], "int64")
    weight = fluid.data("weight", [1], "float32")
    hidden = fluid.layers.fc(image, 64, act="relu")
    cost = fluid.layers.cross_entropy(fluid.layers.fc(hidden, 10, act="softmax"), label)
    return fluid.layers.mean(cost) * weight


def feed_of(share, weight):
    """What is fed of a share: pairs of an image and a label."""
    images, labels = zip(*share, strict=True)
    return {
        "image": np.stack(images).reshape(-1, 64).astype("float32"),
        "label": np.array(labels, "int64").reshape(-1, 1),
        "weight": weight,
    }


def main():
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer epochs")
    epochs = 2 if parser.parse_args().quick else 10

    group = fluid.distributed.join()
    loss = network()
    fluid.optimizer.Adam(learning_rate=0.005).minimize(loss)
    program = fluid.distributed.data_parallel(fluid.default_main_program())
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())

    batches = fluid.io.batch(fluid.io.shuffle(digits.train(), 2000), 128)
    reader = fluid.distributed.shard_reader(batches, weights=True, seed=1)
    step = 0
    if os.path.isdir(FOLDER) and fluid.checkpoint.latest(FOLDER):
        step = fluid.checkpoint.load(FOLDER, program, executor=exe, reader=reader).step
    for _ in range(epochs):
        losses = []
        for share, weight in reader():
            (value,) = exe.run(program, feed=feed_of(share, weight), fetch_list=[loss])
            losses.append(group.all_reduce(value, "sum", 0) / group.size)
            step += 1
        fluid.checkpoint.save(FOLDER, program, step=step, executor=exe, reader=reader)
        if group.rank == 0:
            print(f"step {step:4d}  loss {np.mean(losses):.4f}", flush=True)


if __name__ == "__main__":
    main()
