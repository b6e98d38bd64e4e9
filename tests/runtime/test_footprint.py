"""What a plan says that a run takes of memory is what a run takes."""

import tracemalloc

import numpy as np
import pytest

import fluidlite as fluid

layers = fluid.layers
WITHIN = 0.05


@pytest.fixture(autouse=True)
def on_numpy_alone(monkeypatch):
    monkeypatch.setenv("FLUIDLITE_KERNELS", "numpy")


def lenet(batch=32):
    image = fluid.data("image", [batch, 1, 20, 20], "float32")
    label = fluid.data("label", [batch, 1], "int64")
    hidden = fluid.nets.simple_img_conv_pool(image, 12, 5, 2, 2, act="relu")
    hidden = fluid.nets.simple_img_conv_pool(hidden, 20, 3, 2, 2, act="relu")
    loss = layers.mean(layers.softmax_with_cross_entropy(layers.fc(hidden, 10), label))
    return loss, {"image": [batch, 1, 20, 20], "label": [batch, 1]}


def mlp(batch=256):
    x = fluid.data("x", [batch, 100], "float32")
    label = fluid.data("label", [batch, 1], "int64")
    hidden = layers.fc(layers.fc(x, 300, act="relu"), 200, act="tanh")
    loss = layers.mean(layers.softmax_with_cross_entropy(layers.fc(hidden, 10), label))
    return loss, {"x": [batch, 100], "label": [batch, 1]}


def separable(batch=48):
    image = fluid.data("image", [batch, 24, 20, 20], "float32")
    label = fluid.data("label", [batch, 1], "int64")
    deep = layers.conv2d(image, 24, 3, padding=1, groups=24, act="relu")
    deep = layers.conv2d(deep, 24, 3, stride=2, padding=1, groups=24, act="relu")
    loss = layers.mean(layers.softmax_with_cross_entropy(layers.fc(deep, 10), label))
    return loss, {"image": [batch, 24, 20, 20], "label": [batch, 1]}


def measured(step, runs=3):
    """Bytes at the worst moment of runs beyond what was there before them."""
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    tracemalloc.reset_peak()
    for _ in range(runs):
        step()
    peak = tracemalloc.get_traced_memory()[1] - before
    tracemalloc.stop()
    return peak


def trained(build):
    """The plan of a training, what runs it, and what a step of it does."""
    loss, shapes = build()
    fluid.optimizer.Adam(1e-3).minimize(loss)
    exe, rng = fluid.Executor(), np.random.default_rng(0)
    exe.run(fluid.default_startup_program())
    feed = {
        name: rng.integers(0, 10, shape)
        if name == "label"
        else rng.normal(size=shape).astype("float32")
        for name, shape in shapes.items()
    }
    return lambda: exe.run(feed=feed, fetch_list=[loss]), lambda: exe.plan(fetch_list=[loss])


@pytest.mark.parametrize("build", [lenet, mlp])
def test_the_planned_peak_is_the_measured_one(build):
    step, plan = trained(build)
    step()
    assert plan().footprint is None  # nothing has been planned
    step()
    found = measured(step)  # buffers are made in the first of these runs
    footprint = plan().footprint
    assert footprint.peak == pytest.approx(found, rel=WITHIN)
    parameters = sum(
        fluid.global_scope().value(p.name).nbytes
        for p in fluid.default_main_program().all_parameters()
    )
    assert 3 * parameters <= footprint.donated <= 3 * parameters + 1000  # with those of Adam


def test_what_convolutions_in_groups_make_beside_their_results_is_planned_too():
    step, plan = trained(separable)
    step()
    step()
    found = measured(step)
    footprint = plan().footprint
    # whether images are copied before depends on how they lie
    assert 0.88 * found < footprint.peak < 1.05 * found
    images = 48 * 24 * 22 * 22 * 4  # with their border
    assert footprint.arrays > images


def test_less_is_kept_than_everything():
    step, plan = trained(mlp)
    step()
    step()
    footprint = plan().footprint
    assert footprint.buffers + footprint.arrays < 0.75 * footprint.everything


def test_kernels_work_in_one_memory_after_each_other():
    x = fluid.data("x", [4, 8, 16, 16], "float32")
    for _ in range(6):
        x = layers.conv2d(x, 8, 3, padding=1, bias_attr=False)
    loss = layers.reduce_sum(x)
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    feed = {"x": np.ones([4, 8, 16, 16], "float32")}
    for _ in range(2):
        exe.run(feed=feed, fetch_list=[loss])
    six = exe.plan(fetch_list=[loss]).footprint
    function = exe.plan(fetch_list=[loss]).items[0].last
    makers = {kernel.kernel.scratch for kernel in function.order if kernel.op.type == "conv2d"}
    assert len(makers) == 1
    assert six.scratch == next(iter(makers)).common


def test_a_view_of_a_large_array_is_let_go_of():
    x = fluid.data("x", [400, 1000], "float32")
    parts = []
    for _ in range(20):
        large = layers.cumsum(x, axis=0)  # makes an array of its own
        parts.append(
            layers.reduce_sum(layers.slice(large, axes=[0, 1], starts=[0, 0], ends=[1, 9]))
        )
        x = layers.scale(x, 1.5)
    total = layers.sum(parts)
    exe, feed = fluid.Executor(), {"x": np.ones([400, 1000], "float32")}
    for _ in range(2):
        exe.run(feed=feed, fetch_list=[total])
    found = measured(lambda: exe.run(feed=feed, fetch_list=[total]))
    assert found < 6 * 1_600_000
    footprint = exe.plan(fetch_list=[total]).footprint
    assert footprint.peak == pytest.approx(found, rel=WITHIN)


def test_a_plan_that_is_interpreted_in_part_has_no_footprint():
    x = fluid.data("x", [4, 4], "float32")
    some = layers.where(x > 0.0)  # as many rows as there are
    y = layers.tanh(x)
    exe = fluid.Executor()
    feed = {"x": np.ones([4, 4], "float32")}
    for _ in range(3):
        exe.run(feed=feed, fetch_list=[some, y])
    assert exe.plan(fetch_list=[some, y]).footprint is None


def test_a_plan_with_a_loop_whose_passes_depend_on_values_has_no_footprint():
    x = fluid.data("x", [4, 4], "float32")
    total = layers.tanh(x)
    i, limit = layers.fill_constant([1], "int64", 0), fluid.data("limit", [1], "int64")
    condition = layers.less_than(i, limit)
    loop = layers.While(condition)
    with loop.block():
        layers.assign(layers.elementwise_add(total, x), total)
        layers.increment(i)
        layers.less_than(i, limit, cond=condition)
    exe = fluid.Executor()
    for _ in range(3):
        feed = {"x": np.ones([4, 4], "float32"), "limit": np.array([3])}
        exe.run(feed=feed, fetch_list=[total])
    plan = exe.plan(fetch_list=[total])
    assert "def run(" in plan.source and plan.footprint is None
