"""Programs and saved models as Python files that need NumPy alone."""

import ast
import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from exported.sources import assert_same, given, loaded, run

import fluidlite as fluid
from fluidlite import layers
from fluidlite.command_line.cli import main as command
from fluidlite.errors import ArgumentError, FileError, UnknownVariableError, UnsupportedError

import saved_models

numpy_source = fluid.export.numpy_source
MODELS = ["cond", "crf", "fc", "lenet", "lstm", "mlp_adam", "resnet", "while"]
#: runs files where nothing can be imported but NumPy and what Python brings
ALONE = """
import importlib.util, json, sys
import numpy as np

class Refusing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] not in {*sys.stdlib_module_names, "numpy", "written"}:
            raise ImportError(name)

sys.meta_path.insert(0, Refusing())
for job in json.loads(sys.argv[1]):
    spec = importlib.util.spec_from_file_location("written", job["path"])
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    with np.load(job["feeds"]) as feeds:
        given = {name: feeds[name] for name in job["inputs"]}
    given.update((name, (given[name], lengths)) for name, lengths in job["lengths"].items())
    found = module.predict(module.load(), *given.values())
    np.savez(job["found"], *found.values())
"""


@pytest.fixture
def program():
    with fluid.program_guard(fluid.Program(), fluid.Program()), fluid.unique_name.guard():
        with fluid.scope_guard(fluid.Scope()):
            yield fluid.default_main_program()


@pytest.fixture
def path(tmp_path):
    return str(tmp_path / "model.py")


def started():
    executor = fluid.Executor()
    executor.run(fluid.default_startup_program())
    return executor


def recorded(model, tmp_path):
    """The folder of a model, what it was fed, and what came out."""
    folder = saved_models.unpack(tmp_path, f"{model}/")
    known = saved_models.arrays(f"{model}/io.npz")
    feeds = {k.split("/")[1]: v for k, v in known.items() if k.startswith("infer_feed/")}
    for key, lengths in known.items():
        if key.startswith("infer_feed_lod/"):
            name = key.split("/")[1]
            feeds[name] = fluid.create_lod_tensor(feeds[name], [lengths.tolist()], None)
    whole = folder / "inference"
    outputs = [v for k, v in known.items() if k.startswith("infer_out/")]
    return whole if whole.exists() else folder / "inference_combined", feeds, outputs


def as_saved(model, tmp_path):
    """A saved model as a written file; also what it was fed, and what came out."""
    folder, feeds, outputs = recorded(model, tmp_path)
    like = {k: v for k, v in feeds.items() if isinstance(v, fluid.LoDTensor)}
    return numpy_source(folder, tmp_path / f"{model}.py", feeds=like or None), feeds, outputs


def test_saved_models_run_where_there_is_only_numpy(tmp_path):
    jobs, right = [], {}
    for model in MODELS:
        written, feeds, right[model] = as_saved(model, tmp_path)
        fed = str(tmp_path / f"{model}-feeds.npz")
        values = dict(zip(written.inputs, given(written, feeds)))
        lengths = {name: value[1] for name, value in values.items() if isinstance(value, tuple)}
        rows = {name: value[0] if name in lengths else value for name, value in values.items()}
        np.savez(fed, **rows)
        found = str(tmp_path / f"{model}-found.npz")
        job = {"path": written.path, "feeds": fed, "inputs": written.inputs, "found": found}
        jobs.append({**job, "lengths": lengths})
    subprocess.run([sys.executable, "-I", "-c", ALONE, json.dumps(jobs)], check=True)
    for model, job in zip(MODELS, jobs):
        with np.load(job["found"]) as found:
            for key, value in zip(found.files, right[model], strict=True):
                assert_same(found[key], value)


def test_a_file_holds_for_the_lengths_of_its_example_and_refuses_others(program, path):
    x = fluid.data("x", [-1, 2], "float32", lod_level=1)
    out = layers.sequence_pool(x, "sum")
    rows = np.arange(10, dtype="float32").reshape(5, 2)
    like = fluid.create_lod_tensor(rows, [[2, 3]], None)
    module = loaded(numpy_source(program, path, feeds={"x": like}, fetches=[out]).path)
    (found,) = module.predict({}, (rows, [[2, 3]])).values()
    np.testing.assert_array_equal(found, [rows[:2].sum(0), rows[2:].sum(0)])
    with pytest.raises(ValueError, match=r"x of sequences of lengths \[\[2, 3\]\].*\[\[3, 2\]\]"):
        module.predict({}, (rows, [[3, 2]]))
    with pytest.raises(ValueError, match=r"lengths \[\[2, 3\]\].*got \[2, 3\]"):
        module.predict({}, (rows, [2, 3]))
    with pytest.raises(ValueError, match=r"x as a pair, \(rows, \[\[2, 3\]\]\), got ndarray"):
        module.predict({}, rows)


@pytest.mark.parametrize("model", ["fc", "lenet", "mlp_adam", "resnet"])
def test_a_file_holds_for_every_size_of_the_batch(model, tmp_path):
    written, feeds, outputs = as_saved(model, tmp_path)
    assert written.free == ["n"]
    for count in (1, 3):
        several = {name: np.concatenate([value] * count) for name, value in feeds.items()}
        for found, right in zip(run(written, several).values(), outputs, strict=True):
            assert_same(found, np.concatenate([right] * count))
    one = {name: value[:1] for name, value in feeds.items()}
    for found, right in zip(run(written, one).values(), outputs, strict=True):
        assert_same(found, right[:1])


def test_what_follows_from_constants_keeps_its_shape_and_type(program, path):
    """Numbers of Python's would become a number of double precision."""
    half = layers.fill_constant([1], "float32", 0.5)
    both = layers.elementwise_mul(half, layers.fill_constant([1], "float32", 0.25))
    power = layers.elementwise_pow(both, half)
    most = layers.elementwise_max(power, half)
    found = run(numpy_source(program, path, fetches=[both, power, most]), {})
    right = [np.float32(v) for v in (0.125, 0.125**0.5, 0.5)]
    for value, expected in zip(found.values(), right, strict=True):
        assert_same(value, np.array([expected]))


def test_functions_have_the_names_that_numpy_1_knows(program, path):
    x = fluid.data("x", [-1, 3], "float32")
    out = layers.acos(layers.asin(layers.atan(x)))
    text = Path(numpy_source(program, path, fetches=[out]).path).read_text(encoding="utf-8")
    assert "np.arccos(np.arcsin(np.arctan(x)))" in text


def test_a_layer_is_a_line_with_the_names_of_the_program(program, path):
    x = fluid.data("x", [-1, 3], "float32")
    hidden = layers.fc(x, 2, param_attr="weights", bias_attr="shift", name="hidden", act="relu")
    started()
    written = numpy_source(program, path, fetches=[hidden])
    lines = [line.strip() for line in Path(path).read_text().splitlines()]
    place = next(k for k, line in enumerate(lines) if line.startswith("# test_numpy_source.py:"))
    assert lines[place].endswith("mul, elementwise_add, relu")
    assert lines[place + 1] == 'hidden = np.maximum(x @ params["weights"] + params["shift"], 0)'
    assert str(written) == f"{path}: predict(params, x) -> {hidden.name}"
    assert set(loaded(path).load()) == {"weights", "shift"}


def mlp():
    """Two layers with Adam."""
    x, label = fluid.data("x", [-1, 9], "float32"), fluid.data("label", [-1, 1], "int64")
    hidden = layers.fc(x, 8, act="relu")
    loss = layers.mean(layers.softmax_with_cross_entropy(layers.fc(hidden, 4), label))
    fluid.optimizer.Adam(0.01).minimize(loss)
    return loss, lambda rng, n: dict(x=numbers(rng, n, 9), label=rng.integers(0, 4, (n, 1)))


def lenet():
    """Convolutions and pooling of both kinds, with momentum and weight decay."""
    x, label = fluid.data("x", [-1, 1, 10, 10], "float32"), fluid.data("label", [-1, 1], "int64")
    hidden = layers.pool2d(layers.conv2d(x, 3, 3, act="relu"), 2, "max", 2)
    hidden = layers.batch_norm(layers.conv2d(hidden, 4, 3, padding=1, act="tanh"))
    hidden = layers.pool2d(hidden, 2, "avg", 2)
    loss = layers.mean(layers.cross_entropy(layers.fc(hidden, 5, act="softmax"), label))
    decay = fluid.regularizer.L2Decay(1e-3)
    fluid.optimizer.Momentum(0.05, 0.9, regularization=decay).minimize(loss)
    return loss, lambda rng, n: dict(x=numbers(rng, n, 1, 10, 10), label=rng.integers(0, 5, (n, 1)))


def word2vec():
    """Embeddings that words share."""
    words = [fluid.data(f"w{k}", [-1, 1], "int64") for k in range(3)]
    embedded = [fluid.embedding(word, [20, 4], param_attr="shared") for word in words[:2]]
    joined = layers.concat([layers.reshape(each, [-1, 4]) for each in embedded], axis=1)
    predicted = layers.fc(layers.fc(joined, 6, act="sigmoid"), 20, act="softmax")
    loss = layers.mean(layers.cross_entropy(predicted, words[2]))
    fluid.optimizer.SGD(0.1).minimize(loss)
    return loss, lambda rng, n: {f"w{k}": rng.integers(0, 20, (n, 1)) for k in range(3)}


def sparse(optimizer):
    """Gradients of which only some rows are stored."""
    word = fluid.data("word", [-1, 1], "int64")
    embedded = fluid.embedding(word, [20, 4], is_sparse=True, padding_idx=3)
    loss = layers.reduce_mean(layers.square(layers.fc(embedded, 1) - 1.0))
    optimizer.minimize(loss)
    return loss, lambda rng, n: dict(word=rng.integers(0, 20, (n, 1)))


def sparse_adam():
    return sparse(fluid.optimizer.Adam(0.1))


def sparse_adagrad():
    return sparse(fluid.optimizer.Adagrad(0.1))


def recurrent():
    """A long short-term memory, step by step."""
    steps, width = 4, 5
    x, label = fluid.data("x", [steps, -1, 3], "float32"), fluid.data("label", [-1, 1], "int64")
    zero = layers.fill_constant_batch_size_like(x, [-1, width], "float32", 0.0, input_dim_idx=1)
    rnn = layers.StaticRNN()
    with rnn.step():
        word, h, c = rnn.step_input(x), rnn.memory(init=zero), rnn.memory(init=zero)
        gates = layers.split(layers.fc([word, h], 4 * width), 4, dim=1)
        i, f, o = map(layers.sigmoid, gates[:3])
        after = f * c + i * layers.tanh(gates[3])
        out = o * layers.tanh(after)
        rnn.update_memory(h, out)
        rnn.update_memory(c, after)
        rnn.step_output(out)
    last = layers.reshape(layers.slice(rnn(), [0], [steps - 1], [steps]), [-1, width])
    loss = layers.mean(layers.softmax_with_cross_entropy(layers.fc(last, 3), label))
    fluid.optimizer.Adam(0.02).minimize(loss)
    return loss, lambda rng, n: dict(x=numbers(rng, steps, n, 3), label=rng.integers(0, 3, (n, 1)))


def dropped():
    """Random numbers, and a learning rate that falls."""
    x, y = fluid.data("x", [-1, 6], "float32"), fluid.data("y", [-1, 1], "float32")
    hidden = layers.dropout(layers.fc(x, 8, act="tanh"), 0.4)
    loss = layers.reduce_mean(layers.square(layers.fc(hidden, 1) - y))
    rate = layers.exponential_decay(0.1, decay_steps=5, decay_rate=0.5)
    fluid.optimizer.Adagrad(rate).minimize(loss)
    return loss, lambda rng, n: dict(x=numbers(rng, n, 6), y=numbers(rng, n, 1))


def branching():
    """A loop and a branch, with gradients through both."""
    x = fluid.data("x", [4, 5], "float32")
    i, count = layers.fill_constant([1], "int64", 0), layers.fill_constant([1], "int64", 3)
    _, hidden = layers.while_loop(
        lambda i, h: layers.less_than(i, count),
        lambda i, h: [
            layers.increment(i, in_place=False),
            layers.fc(h, 6, act="tanh", param_attr="loop_w", bias_attr="loop_b"),
        ],
        [i, layers.fc(x, 6, act="tanh")],
    )
    large = layers.less_than(layers.fill_constant([1], "float32", 0.0), layers.reduce_sum(x))
    out = layers.cond(large, lambda: layers.fc(hidden, 3), lambda: layers.fc(hidden * 2.0, 3))
    loss = layers.mean(layers.square(out - 1.0))
    fluid.optimizer.Momentum(0.1, 0.9).minimize(loss)
    return loss, lambda rng, n: dict(x=numbers(rng, 4, 5))


def numbers(rng, *shape):
    return rng.normal(size=shape).astype("float32")


STEPS = [mlp, lenet, word2vec, recurrent, dropped, branching, sparse_adam, sparse_adagrad]


@pytest.mark.parametrize("build", STEPS, ids=lambda build: build.__name__)
def test_a_written_step_trains_as_the_executor_does(program, path, build):
    program.random_seed = fluid.default_startup_program().random_seed = 3
    loss, feeds = build()
    executor, rng = started(), np.random.default_rng(0)
    written = numpy_source(program, path, fetches=[loss])
    module = loaded(path)
    params, losses = module.load(), []
    for step in range(20):
        feed = feeds(rng, 4 + step % 3)
        (right,) = executor.run(program, feed=feed, fetch_list=[loss])
        draws = {"step": step} if build is dropped else {}
        found, after = module.train_step(params, *given(written, feed), **draws)
        assert_same(found[loss.name], right)
        assert all(params[name] is not after[name] for name in written.state)
        params = after
        losses.append(found[loss.name].item())
    assert len(set(losses)) == 20
    for name in written.state:
        assert_same(params[name], fluid.global_scope().value(name), 1e-5)


@pytest.mark.skipif(importlib.util.find_spec("ruff") is None, reason="needs ruff")
@pytest.mark.parametrize("build", STEPS, ids=lambda build: build.__name__)
def test_a_written_file_is_as_ruff_would_write_it(program, path, build):
    loss, _ = build()
    started()
    numpy_source(program, path, fetches=[loss])
    ruff = [sys.executable, "-m", "ruff"]
    rules = ["--isolated", "--no-cache"]
    for action in (["check", "--select", "E4,E7,E9,F,W,I,UP"], ["format", "--diff"]):
        done = subprocess.run([*ruff, *action, *rules, path], capture_output=True, text=True)
        assert done.returncode == 0, done.stdout


def test_an_update_of_some_rows_only_is_refused(program, path):
    loss, _ = sparse(fluid.optimizer.Adam(0.1, lazy_mode=True))
    started()
    with pytest.raises(UnsupportedError, match="adam at .* only some rows"):
        numpy_source(program, path, fetches=[loss])


def test_a_kernel_that_looks_at_values_goes_to_the_file_as_it_is(program, path):
    boxes, scores = fluid.data("b", [1, 9, 4], "float32"), fluid.data("s", [1, 2, 9], "float32")
    out = layers.multiclass_nms(boxes, scores, 0.1, 9, 5, 0.3, background_label=-1)
    rng, written = np.random.default_rng(0), numpy_source(program, path, fetches=[out])
    assert written.ways["multiclass_nms"] == "source"
    corner, size = rng.uniform(0, 9, (1, 9, 2)), rng.uniform(1, 5, (1, 9, 2))
    feed = {
        "b": np.concatenate([corner, corner + size], -1).astype("float32"),
        "s": rng.uniform(0, 1, (1, 2, 9)).astype("float32"),
    }
    (right,) = fluid.Executor().run(program, feed=feed, fetch_list=[out], return_numpy=False)
    assert_same(run(written, feed)[out.name], right)


def test_names_of_a_program_are_no_code(program, tmp_path):
    path = str(tmp_path / 'a"); raise SystemExit(1) #.py')
    worst = [
        'x"]; raise SystemExit("1")\n#',
        '"""\nraise SystemExit(2)\n"""',
        "params",
        "np",
        "class",
        "__import__('os')",
        "näme 名",
        "\\",
    ]
    inputs = [fluid.data(name, [-1, 2], "float32") for name in worst]
    total = layers.sums(inputs)
    weights = layers.create_parameter([2, 2], "float32", name='w"]; raise SystemExit(3) #')
    out = layers.matmul(total, weights, name='out"""; raise SystemExit(4)')
    executor = started()
    written = numpy_source(program, path, fetches=[out])
    calls = {
        node.func.id
        for node in ast.walk(ast.parse(Path(path).read_text()))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    assert "SystemExit" not in calls
    feed = {name: np.full([3, 2], k, "float32") for k, name in enumerate(worst)}
    (right,) = executor.run(program, feed=feed, fetch_list=[out])
    assert_same(run(written, feed)[out.name], right)


@pytest.mark.parametrize(
    "name", ["expect", "expect_rows", "SequenceRows", "load", "ze\0ro", "np.exp"]
)
def test_names_are_none_of_those_that_the_file_has(program, path, name):
    x = fluid.data(name, [-1, 2], "float32")
    more = fluid.data("more", [-1, 2], "float32", lod_level=1)
    weights = layers.create_parameter([2, 2], "float32", name=f"{name}.w")
    out = layers.sequence_pool(layers.matmul(more, weights), "sum") + layers.reduce_sum(x)
    executor = started()
    rows = fluid.create_lod_tensor(np.ones([3, 2], "float32"), [[1, 2]], None)
    written = numpy_source(program, path, feeds={"more": rows, name: [3, 2]}, fetches=[out])
    feed = {name: np.ones([3, 2], "float32"), "more": rows}
    (right,) = executor.run(program, feed=feed, fetch_list=[out])
    assert_same(run(written, feed)[out.name], right)


@pytest.mark.parametrize("name", ["expect", "ze\0ro"])
def test_a_step_gives_back_parameters_of_any_name(program, path, name):
    x = fluid.data("x", [-1, 2], "float32")
    loss = layers.mean(layers.fc(x, 1, param_attr=name))
    fluid.optimizer.Momentum(0.1, 0.9).minimize(loss)
    executor, value = started(), np.ones([3, 2], "float32")
    step = loaded(numpy_source(program, path, fetches=[loss]).path)
    params = step.load()
    for _ in range(3):
        found, params = step.train_step(params, value)
        (right,) = executor.run(program, feed={"x": value}, fetch_list=[loss])
        assert_same(found[loss.name], right)


@pytest.mark.parametrize("kind", ["SGD", "Momentum", "Adam"])
def test_the_rate_of_a_step_is_the_parameter_for_all_that_it_trains(program, path, kind):
    """For weights and for biases, which have fewer dimensions."""
    x = fluid.data("x", [-1, 2], "float32")
    loss = layers.mean(layers.fc(x, 1, param_attr="w", bias_attr="b"))
    more = {"momentum": 0.9} if kind == "Momentum" else {}
    getattr(fluid.optimizer, kind)(0.5, **more).minimize(loss)
    started()
    step = loaded(numpy_source(program, path, fetches=[loss]).path)
    params = {**step.load(), "learning_rate_0": np.zeros([1], "float32")}
    _, after = step.train_step(params, np.ones([3, 2], "float32"))
    for name in ("w", "b"):
        np.testing.assert_array_equal(after[name], params[name])


def test_what_is_fed_is_checked(program, path):
    y = layers.relu(fluid.data("x", [-1, 3], "float32"))
    z = y + fluid.data("more", [-1, 3], "float32")
    numpy_source(program, path, fetches=[z])
    predict, x = loaded(path).predict, np.ones([4, 3], "float32")
    assert predict({}, x, x)[z.name].shape == (4, 3)
    for wrong in (x[:, :2], x.astype("float64"), x[0], x[:2]):
        with pytest.raises(ValueError, match="expected more of shape .* and type float32, got"):
            predict({}, x, wrong)


def test_what_depends_on_sizes_asks_for_them_and_then_refuses_others(program, path):
    x = fluid.data("x", [-1, 2], "float32")
    y = layers.concat([layers.reshape(x, [1, -1])] * 2)
    out = layers.cumsum(layers.expand_as(layers.reduce_sum(y, keep_dim=True), y))
    numpy_source(program, path, fetches=[out])
    sequences = layers.sequence_pool(layers.lod_reset(x, target_lod=[0, 2, 3]), "max")
    with pytest.raises(
        UnsupportedError, match=r"(?s)lod_reset at .*x: \[n, 2\].*feeds=\{name: shape\}"
    ):
        numpy_source(program, path, fetches=[sequences])
    written = numpy_source(program, path, feeds={"x": [3, 2]}, fetches=[sequences])
    value = np.arange(6, dtype="float32").reshape(3, 2)
    assert_same(run(written, {"x": value})[sequences.name], np.stack([value[1], value[2]]))
    with pytest.raises(ValueError, match=r"expected x of shape \[3, 2\]"):
        run(written, {"x": value[:2]})


def test_all_that_cannot_be_written_is_listed_with_its_line(program, path):
    x, n = fluid.data("x", [3, 4], "int64"), fluid.data("n", [3], "int64")
    mask = layers.sequence_mask(n)
    found = layers.py_func(lambda value: value, x, program.global_block().create_var(name="y"))
    with pytest.raises(UnsupportedError) as raised:
        numpy_source(program, path, fetches=[mask, found])
    lines = str(raised.value).splitlines()[1:]
    assert [line.split()[0] for line in lines] == ["sequence_mask", "py_func"]
    assert all("test_numpy_source.py:" in line for line in lines)


def test_wrong_names_and_paths_are_refused(program, path):
    x = fluid.data("features", [2], "float32")
    y = layers.relu(x)
    with pytest.raises(ArgumentError, match="ends in .py"):
        numpy_source(program, "model.txt", fetches=[y])
    with pytest.raises(UnknownVariableError, match="did you mean 'features'"):
        numpy_source(program, path, feeds=["feature"], fetches=[y])
    with pytest.raises(ArgumentError, match="fetches nothing"):
        numpy_source(program, path)
    numpy_source(program, path, fetches=y)
    with pytest.raises(FileError, match=r"model\.py"):
        numpy_source(program, f"{path}/in-a-file.py", fetches=[y])


def test_a_step_can_be_written_without_its_updates(program, path):
    loss, feeds = mlp()
    executor, feed = started(), feeds(np.random.default_rng(0), 5)
    written = numpy_source(program, path, fetches=[loss], updates=False)
    assert (written.function, written.state) == ("predict", [])
    (right,) = executor.run(program, feed=feed, fetch_list=[loss])
    assert_same(run(written, feed)[loss.name], right)


def test_the_command_converts_a_model(tmp_path, path, capsys):
    folder, feeds, outputs = recorded("fc", tmp_path)
    assert command(["convert", str(folder), path]) == 0
    assert capsys.readouterr().out.startswith(f"{path}: predict(params, x) -> ")
    found = loaded(path).predict(loaded(path).load(), feeds["x"])
    assert_same(*found.values(), *outputs)
    assert command(["convert", str(folder), path, "--shape", "x=2,13"]) == 0
    with pytest.raises(ValueError, match=r"\[2, 13\]"):
        loaded(path).predict(loaded(path).load(), np.zeros([3, 13], "float32"))


def test_a_second_order_through_a_recurrent_network_is_written(program, path):
    x = fluid.data("x", [4, 2, 3], "float64")
    w = fluid.data("w", [3, 3], "float64")
    w.stop_gradient = False
    rnn = layers.StaticRNN()
    with rnn.step():
        now, before = rnn.step_input(x), rnn.memory(shape=[-1, 3], batch_ref=x)
        after = layers.tanh(layers.matmul(before, w) + now)
        rnn.update_memory(before, after)
        rnn.step_output(after)
    (slope,) = fluid.gradients(layers.reduce_sum(layers.square(rnn())), w)
    (found,) = fluid.gradients(layers.reduce_sum(layers.square(slope)), w)
    rng = np.random.default_rng(1)
    feed = {"x": rng.normal(size=[4, 2, 3]), "w": rng.normal(size=[3, 3]) * 0.4}
    (right,) = fluid.Executor().run(feed=feed, fetch_list=[found])
    written = numpy_source(program, path, fetches=[found], updates=True)
    assert_same(run(written, feed)[found.name], right)


def test_one_through_a_loop_is_a_named_error(program, path):
    x = fluid.data("x", [3], "float64")
    x.stop_gradient = False
    i, n = (layers.fill_constant([1], "int64", k) for k in (0, 2))
    step = lambda i, v: [i + 1, layers.sin(v) * x]
    _, y = layers.while_loop(lambda i, v: layers.less_than(i, n), step, [i, layers.assign(x)])
    (slope,) = fluid.gradients(y, x)
    (found,) = fluid.gradients(slope, x)
    with pytest.raises(UnsupportedError, match="while_grad .* gradients flow through an array"):
        numpy_source(program, path, fetches=[found], updates=True)


@pytest.mark.parametrize("length", [47, 48, 49])
def test_sizes_stay_apart_whatever_lines_their_numbers_break(length, program, path):
    x = fluid.data("x", [None, None, 6], "float32")
    scale = layers.create_parameter([6], "float32", name="w" * length)
    y = layers.layer_norm(layers.elementwise_mul(x, scale), begin_norm_axis=2)
    executor = started()
    written = numpy_source(program, path, feeds=["x"], fetches=[y])
    assert written.free == ["n", "x_1"]
    feed = {"x": np.arange(30, dtype="float32").reshape(1, 5, 6)}
    (found,) = run(written, feed).values()
    assert_same(found, executor.run(program, feed=feed, fetch_list=[y])[0])


def test_a_file_for_equal_sizes_refuses_others(program, path):
    x = fluid.data("x", [None, None], "float32")
    y = layers.matmul(x, x)
    written = numpy_source(program, path, feeds=["x"], fetches=[y])
    assert written.free == ["n"]
    (found,) = run(written, {"x": np.full([3, 3], 2, "float32")}).values()
    np.testing.assert_array_equal(found, np.full([3, 3], 12))
    with pytest.raises(ValueError, match=r"expected x of shape \[2, 2\] .*, got \[2, 3\]"):
        run(written, {"x": np.ones([2, 3], "float32")})


def test_second_dimensions_are_alike_where_they_have_to_be(program, path):
    x, y = (fluid.data(name, [None, None], "float32") for name in "xy")
    written = numpy_source(program, path, feeds=["x", "y"], fetches=[x * y])
    assert written.free == ["n", "n_1"]
    feed = {name: np.full([2, 3], 2, "float32") for name in "xy"}
    np.testing.assert_array_equal(*run(written, feed).values(), np.full([2, 3], 4))
