"""One of two processes that train together; prints the loss of each step."""

import sys

import numpy as np

import fluidlite as fluid


def main(address, number):
    fluid.distributed.initialize(address, 2, number)
    import jax

    fluid.default_startup_program().random_seed = 3
    x, y = fluid.data("x", [None, 6], "float32"), fluid.data("y", [None, 1], "float32")
    loss = fluid.layers.mean(fluid.layers.square(fluid.layers.fc(x, 1) - y))
    fluid.optimizer.SGD(0.1).minimize(loss)
    fluid.Executor(backend="numpy").run(fluid.default_startup_program())
    rng = np.random.default_rng(0)
    given = rng.normal(size=[8, 6]).astype("float32")
    part = given[4 * number : 4 * number + 4]
    exe = fluid.Executor(backend="jax")
    with fluid.distributed.mesh(data=len(jax.devices())):
        for _ in range(3):
            feed = {"x": part, "y": part.sum(axis=1, keepdims=True)}
            print("loss", float(exe.run(feed=feed, fetch_list=[loss])[0]), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
