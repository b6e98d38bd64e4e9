"""NumPy's kernels give the same bits with one thread and with two."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.kernels import threads

layers = fluid.layers


def element_by_element(x):
    return layers.reduce_sum(layers.gelu(x) * layers.sigmoid(x), dim=1)


def normalized(x):
    return layers.reduce_mean(layers.square(layers.layer_norm(layers.softmax(x))), dim=0)


def pooled(x):
    images = layers.reshape(x, [8, 4, 128, 128])
    return layers.reduce_sum(
        layers.pool2d(images, 2, "max", 2) + layers.pool2d(images, 2, "avg", 2)
    )


def trained(compute, threads_wanted, monkeypatch):
    """The loss of each step, and the parameter after them."""
    monkeypatch.setenv("FLUIDLITE_NUM_THREADS", str(threads_wanted))
    monkeypatch.setattr(threads, "cores", lambda: threads_wanted)
    threads._pool.reset()
    main, startup = fluid.Program(), fluid.Program()
    startup.random_seed = 5
    with fluid.program_guard(main, startup), fluid.unique_name.guard():
        x = fluid.data("x", [512, 1024], "float32")  # large enough to be cut
        w = layers.create_parameter([512, 1024], "float32", "w")
        loss = layers.mean(compute(layers.tanh(x * w)))
        fluid.optimizer.Adam(0.01).minimize(loss)
    exe, scope = fluid.Executor(), fluid.Scope()
    feed = {"x": np.random.default_rng(3).standard_normal([512, 1024]).astype("float32")}
    with fluid.scope_guard(scope):
        exe.run(startup)
        found = [exe.run(main, feed=feed, fetch_list=[loss])[0] for _ in range(4)]
        assert threads.count() == threads_wanted
        return [*found, np.array(scope.find_var("w").get_tensor())]


@pytest.mark.parametrize("compute", [element_by_element, normalized, pooled])
def test_one_thread_and_two_train_alike(compute, monkeypatch):
    monkeypatch.setenv("FLUIDLITE_KERNELS", "numpy")
    one, two = (trained(compute, count, monkeypatch) for count in (1, 2))
    monkeypatch.undo()
    threads._pool.reset()
    for alone, together in zip(one, two, strict=True):
        np.testing.assert_array_equal(alone, together)
