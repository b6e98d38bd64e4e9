"""What is exported and loaded again computes, and learns, as before."""

import numpy as np
import pytest
from exported.models import assert_same
from exported.test_operators import AT_MOST, DEFINITIONS, exported
from exported.test_programs import MODELS, OF_PADDLE2, recorded

import fluidlite as fluid
from fluidlite import layers
from fluidlite.errors import UnsupportedError
from fluidlite.ground.values import bare

from cases import cases_of


@pytest.fixture
def path(tmp_path):
    return str(tmp_path / "model.onnx")


def run_again(path, feeds):
    """What a loaded model computes, in order."""
    with fluid.scope_guard(fluid.Scope()):
        model = fluid.onnx.load(path)
        given = {name: np.asarray(bare(feeds[name])) for name in model.feeds}
        return fluid.Executor().run(model.program, feed=given, fetch_list=model.fetches)


@pytest.mark.parametrize("definition", DEFINITIONS, ids=lambda op: op.type)
def test_an_operator_comes_back(definition, path):
    for case in cases_of(definition)[:AT_MOST]:
        try:
            feeds, right = exported(case, path)
        except UnsupportedError:
            continue
        for found, value in zip(run_again(path, feeds), right.values()):
            assert_same(found, value)


@pytest.mark.parametrize("model", [*MODELS, *OF_PADDLE2])
def test_a_saved_model_comes_back(model, tmp_path, path):
    folder, feeds, outputs = recorded(model, tmp_path)
    whole = {k: v for k, v in feeds.items() if isinstance(v, fluid.LoDTensor)}
    fluid.onnx.export(folder, path, whole or None)
    for found, right in zip(run_again(path, feeds), outputs, strict=True):
        assert_same(found, right)


def network():
    """A convolutional network, and a folder that holds it."""
    x = fluid.data("x", [-1, 1, 8, 8], "float32")
    hidden = layers.batch_norm(layers.conv2d(x, 4, 3, act="relu"))
    hidden = layers.fc(layers.pool2d(hidden, 2, "max", 2), 6, act="tanh")
    return layers.fc(hidden, 3)


def losses(program, startup, scores, scope, feed):
    """What comes of some steps of an optimizer."""
    with fluid.scope_guard(scope), fluid.program_guard(program, startup), fluid.unique_name.guard():
        label = fluid.data("label", [-1, 1], "int64")
        loss = layers.mean(layers.softmax_with_cross_entropy(scores, label))
        fluid.optimizer.Adam(0.05).minimize(loss)
        exe = fluid.Executor()
        exe.run(startup)
        return [exe.run(program, feed=feed, fetch_list=[loss])[0].item() for _ in range(4)]


def trainable_again(program, names):
    """Make parameters of the variables of a model to be served."""
    block = program.global_block()
    for name in names:
        variable = block.vars[name]
        block.drop_var(name)
        block.create_parameter(variable.shape, variable.dtype, name)


def test_training_goes_on_from_a_loaded_model_as_from_the_original(tmp_path, path):
    rng, folder = np.random.default_rng(0), str(tmp_path / "served")
    feed = {
        "x": rng.normal(size=(8, 1, 8, 8)).astype("float32"),
        "label": rng.integers(0, 3, (8, 1)),
    }
    program, startup = fluid.Program(), fluid.Program()
    with fluid.scope_guard(fluid.Scope()), fluid.program_guard(program, startup):
        scores, exe = network(), fluid.Executor()
        exe.run(startup)
        fluid.io.save_inference_model(folder, ["x"], [scores], exe, program)
    fluid.onnx.export(folder, path)
    ours, theirs = fluid.Scope(), fluid.Scope()
    model = fluid.onnx.load(path, scope=ours)
    with fluid.scope_guard(theirs):
        original, _, fetches = fluid.io.load_inference_model(folder, fluid.Executor())
    trainable_again(original, [p.name for p in model.program.all_parameters() if p.trainable])
    found = losses(model.program, model.startup, model.fetches[0], ours, feed)
    right = losses(original, fluid.Program(), fetches[0], theirs, feed)
    np.testing.assert_allclose(found, right, rtol=1e-6)
    assert found[-1] < found[0]


@pytest.mark.parametrize("model", MODELS)
def test_a_saved_model_learns_the_same_after_the_round_trip(model, tmp_path, path):
    folder, feeds, _ = recorded(model, tmp_path)
    whole = {k: v for k, v in feeds.items() if isinstance(v, fluid.LoDTensor)}
    fluid.onnx.export(folder, path, whole or None)
    ours, theirs = fluid.Scope(), fluid.Scope()
    loaded = fluid.onnx.load(path, scope=ours)
    files = ("model", "params") if model.endswith("combined") else ()
    with fluid.scope_guard(theirs):
        original, _, fetches = fluid.io.load_inference_model(str(folder), fluid.Executor(), *files)
    trainable_again(original, [p.name for p in loaded.program.all_parameters() if p.trainable])
    bare_feeds = {name: np.asarray(bare(value)) for name, value in feeds.items()}
    found = squares(loaded.program, loaded.startup, loaded.fetches, ours, bare_feeds)
    right = squares(original, fluid.Program(), fetches, theirs, feeds)
    np.testing.assert_allclose(found, right, rtol=1e-5)
    assert found[1] != found[0]


def squares(program, startup, outputs, scope, feed):
    """The sum of squares of the last output of floats, before and after a step of an optimizer."""
    with fluid.scope_guard(scope), fluid.program_guard(program, startup), fluid.unique_name.guard():
        floats = [v for v in outputs if np.dtype(str(v.dtype)).kind == "f"]
        loss = layers.reduce_sum(layers.square(floats[-1]))
        fluid.optimizer.SGD(0.01).minimize(loss)
        exe = fluid.Executor()
        exe.run(startup)
        return [exe.run(program, feed=feed, fetch_list=[loss])[0].item() for _ in range(2)]
