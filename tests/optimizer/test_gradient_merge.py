"""Gradient merge: several runs make one step of the larger batch."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.errors import ArgumentError

RNG = np.random.default_rng(0)
IMAGES = RNG.normal(size=[12, 3]).astype("float32")
LABELS = RNG.normal(size=[12, 1]).astype("float32")
K = 4


def loss_of():
    x, y = fluid.data("x", [None, 3], "float32"), fluid.data("y", [None, 1], "float32")
    first = fluid.ParamAttr(initializer=fluid.initializer.Constant(0.3))
    hidden = fluid.layers.fc(x, 4, act="tanh", param_attr=first)
    out = fluid.layers.fc(hidden, 1, param_attr=first)
    return fluid.layers.mean(fluid.layers.square_error_cost(out, y))


def optimizers():
    clip = fluid.clip.GradientClipByGlobalNorm(0.5)
    decay = fluid.regularizer.L2Decay(0.1)
    return {
        "sgd": lambda: fluid.optimizer.SGD(0.1),
        "momentum, decay": lambda: fluid.optimizer.Momentum(0.1, 0.9, regularization=decay),
        "adam, clip": lambda: fluid.optimizer.Adam(0.1, grad_clip=clip),
        "lamb": lambda: fluid.optimizer.Lamb(0.1),
    }


def trained(minimize, batches):
    """All persistable values after some batches, after each."""
    main, startup = fluid.Program(), fluid.Program()
    with fluid.program_guard(main, startup), fluid.unique_name.guard():
        minimize(loss_of())
    names = [v.name for v in main.list_vars() if v.persistable and "Merge" not in v.name]
    names = [name for name in names if "gradient_merge" not in name]
    exe, scope = fluid.Executor(), fluid.Scope()
    found = []
    with fluid.scope_guard(scope):
        exe.run(startup)
        for rows in batches:
            exe.run(main, feed={"x": IMAGES[rows], "y": LABELS[rows]})
            found.append({n: np.array(scope.find_var(n).get_tensor()) for n in names})
    return found


@pytest.mark.parametrize("make", optimizers().values(), ids=optimizers())
def test_k_runs_make_one_step_of_the_larger_batch(make):
    parts = [slice(i, i + 3) for i in range(0, 12, 3)] * 3
    merge = lambda loss: fluid.optimizer.GradientMergeOptimizer(make(), K).minimize(loss)
    merged = trained(merge, parts)
    whole = trained(lambda loss: make().minimize(loss), [slice(0, 12)] * 3)
    for step in range(3):
        for name, value in whole[step].items():
            np.testing.assert_allclose(
                merged[K * step + K - 1][name], value, rtol=1e-4, atol=1e-6, err_msg=name
            )
    for between in (0, 1, 2):  # nothing moves before
        start = trained(merge, parts[:1])[0]
        for name, value in merged[between].items():
            np.testing.assert_array_equal(value, start[name], err_msg=name)


def test_the_sum_is_a_step_that_is_k_times_as_long():
    parts = [slice(i, i + 3) for i in range(0, 12, 3)]
    sgd = lambda rate: fluid.optimizer.SGD(rate)

    def merge(loss):
        fluid.optimizer.GradientMergeOptimizer(sgd(0.05), K, avg=False).minimize(loss)

    merged = trained(merge, parts)
    whole = trained(lambda loss: sgd(0.05 * K).minimize(loss), [slice(0, 12)])
    for name in ("fc_0.w_0", "fc_1.b_0"):
        np.testing.assert_allclose(merged[-1][name], whole[-1][name], rtol=1e-5)


def test_one_run_for_a_step_is_the_inner_optimizer():
    loss = loss_of()
    ops, pairs = fluid.optimizer.GradientMergeOptimizer(fluid.optimizer.SGD(0.1), 1).minimize(loss)
    assert len(ops) == len(pairs) == 4
    assert fluid.default_main_program().num_blocks == 1


def test_it_returns_what_the_inner_optimizer_does():
    loss = loss_of()
    ops, pairs = fluid.optimizer.GradientMergeOptimizer(fluid.optimizer.SGD(0.1), 2).minimize(loss)
    assert [op.type for op in ops if op.type == "sgd"] == ["sgd"] * 4
    assert [g.name for _, g in pairs] == [f"{p.name}@GRAD" for p, _ in pairs]


def test_rows_of_sparse_gradients_are_added_up():
    words = fluid.data("words", [None, 1], "int64")
    table = fluid.layers.embedding(words, [5, 2], is_sparse=True)
    loss = fluid.layers.reduce_sum(table)
    sgd = fluid.optimizer.SGD(1.0)
    fluid.optimizer.GradientMergeOptimizer(sgd, 2, avg=False).minimize(loss)
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    value = lambda: np.array(fluid.global_scope().find_var("embedding_0.w_0").get_tensor())
    before = value()
    exe.run(feed={"words": np.array([[1], [1], [3]])})
    np.testing.assert_array_equal(value(), before)
    exe.run(feed={"words": np.array([[1], [4]])})
    np.testing.assert_allclose((before - value())[:, 0], [0, 3, 0, 1, 1], atol=1e-6)


def test_it_works_around_mixed_precision():
    loss = loss_of()
    inner = fluid.contrib.mixed_precision.decorate(fluid.optimizer.SGD(0.1), None, 8.0)
    fluid.optimizer.GradientMergeOptimizer(inner, 2).minimize(loss)
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    feed = {"x": IMAGES, "y": LABELS}
    found = [exe.run(feed=feed, fetch_list=[loss])[0][0] for _ in range(6)]
    assert found[0] == found[1] > found[2] == found[3] > found[4]
    exe.run(feed={"x": IMAGES * np.inf, "y": LABELS})  # the step of this pair is skipped
    exe.run(feed=feed)
    weight = np.array(fluid.global_scope().find_var("fc_0.w_0").get_tensor())
    assert np.isfinite(weight).all()
    exe.run(feed=feed)
    exe.run(feed=feed)
    assert not np.array_equal(fluid.global_scope().find_var("fc_0.w_0").get_tensor(), weight)


class Failing(fluid.optimizer.SGD):
    def attrs(self, param):
        raise RuntimeError("no attributes")


def test_a_minimize_that_fails_leaves_the_programs_as_they_were():
    loss = loss_of()
    programs = fluid.default_main_program(), fluid.default_startup_program()
    before = list(map(str, programs))
    with pytest.raises(RuntimeError):
        fluid.optimizer.GradientMergeOptimizer(Failing(0.1), 2).minimize(loss)
    assert list(map(str, programs)) == before


@pytest.mark.parametrize(
    "given, message",
    [
        ({"inner_optimizer": None}, "expected an optimizer, such as .*, got None"),
        ({"k_steps": 0}, "expected k_steps to be a positive integer, got 0"),
        ({"k_steps": 2.0}, "expected k_steps to be a positive integer, got 2.0"),
    ],
)
def test_arguments_of_another_kind_are_refused(given, message):
    with pytest.raises(ArgumentError, match=message):
        fluid.optimizer.GradientMergeOptimizer(
            **{"inner_optimizer": fluid.optimizer.SGD(0.1), **given}
        )


def test_an_optimizer_of_eager_parameters_is_refused():
    w = fluid.create_parameter([2], "float32")
    with pytest.raises(ArgumentError, match="added up by backward"):
        fluid.optimizer.GradientMergeOptimizer(fluid.optimizer.SGD(0.1, parameter_list=[w]), 2)


def test_gradients_may_be_applied_outside_of_the_program_s_guard():
    main = fluid.Program()
    optimizer = fluid.optimizer.GradientMergeOptimizer(fluid.optimizer.SGD(0.1), 2)
    with fluid.program_guard(main):
        pairs = optimizer.backward(loss_of())
    ops = optimizer.apply_gradients(pairs)
    assert {op.block.program for op in ops} == {main}
    assert not fluid.default_main_program().global_block().ops
