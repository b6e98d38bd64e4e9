"""Programs and saved models as files of ONNX."""

import numpy as np
import pytest
from exported.models import assert_same, checked, onnx, run
from recorded_models import MODELS, OF_PADDLE2, loaded, recorded

import fluidlite as fluid
from fluidlite import layers
from fluidlite.command_line.cli import main as command
from fluidlite.errors import ArgumentError, FileError, UnknownVariableError, UnsupportedError
from fluidlite.ir.analysis import fed_names, fetched_names
from fluidlite.paddle import static
from fluidlite.paddle.vision import ops as vision

export = fluid.onnx.export


@pytest.fixture
def path(tmp_path):
    return str(tmp_path / "model.onnx")


@pytest.fixture
def program():
    with fluid.program_guard(fluid.Program(), fluid.Program()), fluid.unique_name.guard():
        with fluid.scope_guard(fluid.Scope()):
            yield fluid.default_main_program()


def started():
    executor = fluid.Executor()
    executor.run(fluid.default_startup_program())
    return executor


@pytest.mark.parametrize("model", [*MODELS, *OF_PADDLE2])
def test_a_saved_model_computes_what_was_recorded(model, tmp_path, path):
    folder, feeds, outputs = recorded(model, tmp_path)
    whole = {k: v for k, v in feeds.items() if isinstance(v, fluid.LoDTensor)}
    export(folder, path, whole or None)
    for found, right in zip(run(path, feeds).values(), outputs, strict=True):
        assert_same(found, right)


@pytest.mark.filterwarnings("ignore:the model has no variables to be saved")
@pytest.mark.parametrize("model", ["lenet/inference", "lstm/inference", "dense"])
def test_a_frozen_model_computes_what_was_recorded(model, tmp_path, path):
    executor = fluid.Executor()
    program, feeds, outputs = loaded(model, tmp_path, executor)
    frozen = fluid.transform.freeze(program)
    block = frozen.global_block()
    targets = [block.var(name) for name in fetched_names(block)]
    with fluid.scope_guard(fluid.Scope()):
        folder = tmp_path / "frozen"
        fluid.io.save_inference_model(folder, fed_names(block), targets, executor, frozen)
        whole = {k: v for k, v in feeds.items() if isinstance(v, fluid.LoDTensor)}
        export(folder, path, whole or None)
    for found, right in zip(run(path, feeds).values(), outputs, strict=True):
        assert_same(found, right)


@pytest.mark.parametrize("model", [*MODELS, *OF_PADDLE2])
def test_direct_forms_keep_the_size_of_the_batch_unknown(model, tmp_path, path):
    folder, feeds, outputs = recorded(model, tmp_path)
    if any(isinstance(v, fluid.LoDTensor) for v in feeds.values()):
        pytest.skip("the lengths of its sequences are given")
    export(folder, path)
    if any(isinstance(each.shape[0], int) for each in checked(path).get_inputs()):
        pytest.skip("it was saved for one size")
    twice = {name: np.concatenate([value, value]) for name, value in feeds.items()}
    for found, right in zip(run(path, twice).values(), outputs, strict=True):
        assert_same(found, np.concatenate([right, right]))


def test_names_stay_and_weights_are_initializers(program, path):
    x = fluid.data("x", [-1, 3], "float32")
    y = layers.fc(x, 2, param_attr=fluid.ParamAttr(name="weights"), act="relu")
    started()
    found = export(program, path, fetches=[y])
    model = onnx.load(path)
    assert (found.inputs, found.outputs) == (["x"], [y.name])
    assert "weights" in {each.name for each in model.graph.initializer}
    dims = model.graph.input[0].type.tensor_type.shape.dim
    assert [d.dim_param or d.dim_value for d in dims] == ["x_0", 3]
    assert {each.key for each in model.metadata_props} == {"source", "made_by"}


def test_a_form_that_needs_sizes_asks_for_them_and_holds_for_these(program, path):
    x = fluid.data("x", [-1, 4], "float32")
    y = layers.reduce_sum(layers.lod_reset(x, target_lod=[0, 2, 3]))
    z = layers.sequence_pool(layers.lod_reset(x, target_lod=[0, 2, 3]), "sum")
    del y
    with pytest.raises(UnsupportedError, match=r"test_programs\.py:\d+ .*feeds={name: shape}"):
        export(program, path, fetches=[layers.expand_as(z, layers.concat([z, z]))])
    export(program, path, {"x": [3, 4]}, [z])
    value = np.arange(12, dtype="float32").reshape(3, 4)
    found = run(path, {"x": value})[z.name]
    assert_same(found, np.stack([value[:2].sum(0), value[2]]))
    with pytest.raises(Exception, match="(?i)dimension"):
        run(path, {"x": value[:2]})


def test_all_operators_without_a_form_are_listed_with_their_lines(program, path):
    x = fluid.data("x", [3, 4], "float32")
    y = layers.elementwise_add(layers.gaussian_random([3, 4]), x)
    z = layers.uniform_random([3, 4])
    with pytest.raises(UnsupportedError) as raised:
        export(program, path, fetches=[y, z])
    lines = str(raised.value).splitlines()[1:]
    assert [line.split()[0] for line in lines] == ["gaussian_random", "uniform_random"]
    assert all("test_programs.py:" in line and "random numbers" in line for line in lines)


def test_a_loop_and_a_branch_are_written(program, path):
    x = fluid.data("x", [2, 3], "float32")
    i = layers.fill_constant([1], "int64", 0)
    total = layers.fill_constant([2, 3], "float32", 0.0)
    _, total = layers.while_loop(
        lambda i, total: layers.less_than(i, layers.fill_constant([1], "int64", 4)),
        lambda i, total: [layers.increment(i, in_place=False), total + x],
        [i, total],
    )
    large = layers.less_than(layers.fill_constant([1], "float32", 1.0), layers.reduce_max(x))
    y = layers.cond(large, lambda: total * 2.0, lambda: total - x)
    export(program, path, fetches=[y])
    for value in (np.full([2, 3], 3.0, "float32"), np.full([2, 3], 0.5, "float32")):
        (right,) = fluid.Executor().run(program, feed={"x": value}, fetch_list=[y])
        assert_same(run(path, {"x": value})[y.name], right)


@pytest.mark.parametrize("optimizer", ["SGDOptimizer", "AdamOptimizer", "MomentumOptimizer"])
def test_a_training_step_goes_on_from_what_it_gave(program, path, optimizer):
    x, label = fluid.data("x", [4, 1, 6, 6], "float32"), fluid.data("label", [4, 1], "int64")
    hidden = layers.batch_norm(layers.conv2d(x, 3, 3, act="relu"))
    hidden = layers.fc(layers.pool2d(hidden, 2, "max", 2), 5, act="tanh")
    loss = layers.mean(layers.softmax_with_cross_entropy(layers.fc(hidden, 3), label))
    more = {"momentum": 0.9} if optimizer.startswith("Momentum") else {}
    getattr(fluid.optimizer, optimizer)(0.1, **more).minimize(loss)
    executor, rng, state = started(), np.random.default_rng(0), {}
    export(program, path, fetches=[loss], updates=True)
    for _ in range(4):
        feed = {
            "x": rng.normal(size=(4, 1, 6, 6)).astype("float32"),
            "label": rng.integers(0, 3, (4, 1)),
        }
        (right,) = executor.run(program, feed=feed, fetch_list=[loss])
        found = run(path, {**feed, **state})
        assert_same(found[loss.name], right, 1e-4)
        state = {k.removesuffix("@NEXT"): v for k, v in found.items() if k.endswith("@NEXT")}
    assert state


def test_counters_of_steps_go_on_too(program, path):
    x = fluid.data("x", [2, 3], "float32")
    loss = layers.mean(layers.fc(x, 1))
    rate = layers.exponential_decay(0.5, decay_steps=1, decay_rate=0.5)
    fluid.optimizer.SGD(rate).minimize(loss)
    executor, state = started(), {}
    export(program, path, fetches=[loss, rate], updates=True)
    feed = {"x": np.ones([2, 3], "float32")}
    for _ in range(3):
        right = executor.run(program, feed=feed, fetch_list=[loss, rate])
        found = run(path, {**feed, **state})
        assert_same(found[loss.name], right[0])
        assert_same(found[rate.name], right[1])
        state = {k.removesuffix("@NEXT"): v for k, v in found.items() if k.endswith("@NEXT")}


@pytest.mark.parametrize("top_k, keep", [(-1, -1), (20, 10), (400, 5)])
@pytest.mark.parametrize("normalized", [True, False])
def test_the_boxes_that_are_kept_are_the_same(program, path, top_k, keep, normalized):
    rng = np.random.default_rng(1)
    boxes, scores = fluid.data("b", [1, 60, 4], "float32"), fluid.data("s", [1, 3, 60], "float32")
    out = layers.multiclass_nms(boxes, scores, 0.1, top_k, keep, 0.3, normalized, 1.0, 0)
    corner, size = rng.uniform(0, 50, (1, 60, 2)), rng.uniform(5, 30, (1, 60, 2))
    feed = {
        "b": np.concatenate([corner, corner + size], -1).astype("float32"),
        "s": rng.uniform(0, 1, (1, 3, 60)).astype("float32"),
    }
    right = fluid.Executor().run(program, feed=feed, fetch_list=[out], return_numpy=False)[0]
    notes = export(program, path, fetches=[out]).notes
    assert_same(run(path, feed)[out.name], right)
    assert any("no row" in note for note in notes)


#: a region without a size, one within, one upside down
REGIONS = np.array([[1, 1, 1, 1], [0.3, 1.2, 4.6, 3.7], [3, 3, 1, 1]], "float32")
FLAT = REGIONS[[0, 0, 2, 1, 1]]


@pytest.mark.parametrize(
    "rows, call",
    [
        (REGIONS, lambda x, rows, n: vision.roi_align(x, rows, n, (3, 2), 0.75)),
        (REGIONS, lambda x, rows, n: vision.roi_align(x, rows, n, (3, 2), 0.75, aligned=False)),
        (REGIONS, lambda x, rows, n: vision.roi_pool(x, rows, n, (3, 2), 0.75)),
        (FLAT, lambda x, rows, n: vision.nms(rows, 0.3)),
    ],
)
def test_regions_with_and_without_sizes_are_the_same(program, path, rows, call):
    x = static.data("x", [None, 3, 5, 6], "float32")
    given = static.data("rows", [None, 4], "float32"), static.data("n", [None], "int32")
    out = call(x, *given)
    images = np.random.default_rng(1).normal(size=(2, 3, 5, 6)).astype("float32")
    feed = {"x": images, "rows": rows, "n": np.array([1, len(rows) - 1], "int32")}
    (right,) = fluid.Executor().run(program, feed=feed, fetch_list=[out])
    export(program, path, fetches=[out])
    assert_same(run(path, feed)[out.name], right)


@pytest.mark.parametrize("opset", [7, 17, 999])
def test_an_opset_that_is_too_old_or_unknown_is_refused(program, path, opset):
    x = fluid.data("x", [2], "float32")
    with pytest.raises(ArgumentError, match=f"opset from 18 to .* got {opset}"):
        export(program, path, fetches=[layers.relu(x)], opset=opset)


def test_names_that_are_not_there_are_refused(program, path):
    x = fluid.data("features", [2], "float32")
    y = layers.relu(x)
    with pytest.raises(UnknownVariableError, match="did you mean 'features'"):
        export(program, path, ["feature"], [y])
    with pytest.raises(UnknownVariableError, match="to fetch"):
        export(program, path, fetches=["nothing"])
    with pytest.raises(ArgumentError, match="fetches nothing"):
        export(program, path)


def test_what_only_a_step_of_training_has_is_written_with_updates(program, path):
    rate = layers.noam_decay(16, 10)
    started()
    with pytest.raises(ArgumentError, match="only a step of training has .*updates=True"):
        export(program, path, fetches=[rate])
    export(program, path, fetches=[rate], updates=True)
    assert checked(path)


def test_what_is_fed_fits_what_is_declared_and_the_file_can_be_written(program, path):
    y = layers.relu(fluid.data("x", [-1, 3], "float32"))
    with pytest.raises(ArgumentError, match=r"float32\[-1, 3\].*got float32\[2\]"):
        export(program, path, {"x": [2]}, [y])
    with pytest.raises(ArgumentError, match="got int64"):
        export(program, path, {"x": np.zeros([2, 3], "int64")}, y)
    export(program, path, fetches=[y])
    with pytest.raises(FileError, match="model.onnx"):
        export(program, f"{path}/in-a-file.onnx", fetches=[y])


def test_the_command_converts_a_model(tmp_path, path, capsys):
    folder, _, _ = recorded("fc/inference", tmp_path)
    assert command(["convert", str(folder), path, "--shape", "x=2,13"]) == 0
    assert capsys.readouterr().out.startswith(f"{path}: x -> ")
    assert checked(path).get_inputs()[0].shape == [2, 13]
    assert command(["convert", str(folder), path, "--shape", "x=two"]) == 2
    assert "--shape NAME=2,3" in capsys.readouterr().err


def test_a_softmax_keeps_its_floor(program, path):
    x = fluid.data("x", [1, 2], "float32")
    y = layers.softmax(x)
    export(program, path, fetches=[y])
    found = run(path, {"x": np.array([[0, -500]], "float32")})[y.name]
    assert found[0, 1] > 0


def test_large_parameters_lie_beside_the_model(program, path, monkeypatch):
    monkeypatch.setattr("fluidlite.onnx.model.LARGEST_FILE", 1000)
    x = fluid.data("x", [2, 30], "float32")
    y = layers.fc(x, 40)
    executor, feed = started(), {"x": np.ones([2, 30], "float32")}
    export(program, path, fetches=[y])
    assert (tmp := onnx.load(path, load_external_data=False)).graph.initializer
    assert any(each.external_data for each in tmp.graph.initializer)
    (right,) = executor.run(program, feed=feed, fetch_list=[y])
    assert_same(run(path, feed)[y.name], right)
