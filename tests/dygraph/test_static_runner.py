"""Saved models that run at once."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.dygraph.static_runner import StaticModelRunner
from fluidlite.errors import ArgumentError, UnsupportedError


def saved(path, build):
    """A model in a folder, what is fed to it, and what it gives."""
    main, startup = fluid.Program(), fluid.Program()
    with fluid.program_guard(main, startup), fluid.scope_guard(fluid.Scope()):
        fed, out = build()
        exe = fluid.Executor()
        if startup.global_block().ops:
            exe.run(startup)
        fluid.io.save_inference_model(str(path), [v.name for v in fed], [out], exe, main)
        values = [np.random.default_rng(0).normal(size=[3, 2]).astype("float32") for _ in fed]
        tested = main.clone(for_test=True)
        feed = {v.name: value for v, value in zip(fed, values)}
        return values, exe.run(tested, feed=feed, fetch_list=[out.name])[0]


def perceptron():
    x = fluid.data("x", [None, 2])
    return [x], fluid.layers.fc(fluid.layers.fc(x, 4, act="relu"), 3, act="softmax")


def normalized():
    x = fluid.data("x", [None, 2])
    return [x], fluid.layers.batch_norm(x)


def test_a_saved_model_gives_what_it_gave(tmp_path):
    (value,), wanted = saved(tmp_path, perceptron)
    with fluid.dygraph.guard():
        model = StaticModelRunner(str(tmp_path))
        found = model(fluid.dygraph.to_variable(value))
        np.testing.assert_allclose(found.numpy(), wanted, rtol=1e-6)
        names = [p.name for p in model.parameters()]
        assert names == [f"fc_{k}.{part}@LOADED" for k in (0, 1) for part in ("w_0", "b_0")]
        np.testing.assert_array_equal(model(value).numpy(), found.numpy())


def test_a_saved_model_is_trained_on(tmp_path):
    (value,), _ = saved(tmp_path, perceptron)
    label = np.array([[0], [1], [2]])
    with fluid.dygraph.guard():
        model = StaticModelRunner(str(tmp_path))
        optimizer = fluid.optimizer.SGD(0.5, parameter_list=model.parameters())
        losses = []
        for _ in range(30):
            found = model(fluid.dygraph.to_variable(value))
            answers = fluid.dygraph.to_variable(label)
            loss = fluid.layers.mean(fluid.layers.cross_entropy(found, answers))
            loss.backward()
            optimizer.minimize(loss)
            model.clear_gradients()
            losses.append(float(loss.numpy()))
    assert losses[-1] < losses[0] * 0.9


def test_statistics_follow_while_a_model_trains_and_stay_while_it_is_tested(tmp_path):
    (value,), wanted = saved(tmp_path, normalized)
    with fluid.dygraph.guard():
        model = StaticModelRunner(str(tmp_path))
        model.eval()
        np.testing.assert_allclose(model(value).numpy(), wanted, rtol=1e-5)
        statistics = {n: p.numpy() for n, p in model.state_dict().items()}
        model.train()
        assert abs(model(value).numpy().mean()) < 1e-5
        changed = [n for n, p in model.state_dict().items() if (p.numpy() != statistics[n]).any()]
        assert len(changed) == 2  # the mean and the variance


def test_a_model_says_what_it_is_fed(tmp_path):
    saved(tmp_path, perceptron)
    with fluid.dygraph.guard():
        model = StaticModelRunner(str(tmp_path))
        with pytest.raises(ArgumentError, match="expected x, got 2 tensors"):
            model(1, 2)


def test_a_model_with_blocks_is_run_by_an_executor(tmp_path):
    def looping():
        x = fluid.layers.fc(fluid.data("x", [None, 2]), 2)
        i, n = (fluid.layers.fill_constant([1], "int64", k) for k in (0, 2))
        body = lambda i, x: [i + 1, x * 2.0]
        fed = [x.block.var("x")]
        return fed, fluid.layers.while_loop(lambda i, x: i < n, body, [i, x])[1]

    saved(tmp_path, looping)
    with fluid.dygraph.guard(), pytest.raises(UnsupportedError, match="while drives a block"):
        StaticModelRunner(str(tmp_path))
