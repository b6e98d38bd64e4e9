"""Models to be served: saved, loaded, and what they compute."""

import os

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.errors import (
    ArgumentError,
    FileError,
    FileFormatError,
    NotInitializedError,
    UnknownVariableError,
)
from fluidlite.ir.compare import differences
from fluidlite.ir.verify import verify

from networks import regression, started, value

X = np.arange(12, dtype="float32").reshape(3, 4)


@pytest.fixture
def network():
    """A trained network: its output, its loss, and the executor."""
    _, y, loss, _ = regression(optimizer=fluid.optimizer.Adam(0.1))
    exe = started()
    exe.run(feed={"x": X})
    return y, loss, exe


def files_in(folder):
    return sorted(os.listdir(folder))


def loaded(folder, **names):
    """A model in a scope of its own, and a function that runs it."""
    exe, scope = fluid.Executor(), fluid.Scope()
    with fluid.scope_guard(scope):
        program, feeds, targets = fluid.io.load_inference_model(folder, exe, **names)

    def run(**feed):
        return exe.run(program, feed=feed, fetch_list=targets, scope=scope)

    return program, feeds, targets, run


def test_a_model_computes_what_the_network_does(network, tmp_path):
    y, _, exe = network
    test = fluid.default_main_program().clone(for_test=True)
    (wanted,) = exe.run(test, feed={"x": X}, fetch_list=[y])
    names = fluid.io.save_inference_model(tmp_path, ["x"], [y], exe)
    assert names == ["save_infer_model/scale_0.tmp_0"]
    assert files_in(tmp_path) == ["__model__", "fc_0.b_0", "fc_0.w_0"]
    program, feeds, targets, run = loaded(tmp_path)
    assert feeds == ["x"] and [target.name for target in targets] == names
    np.testing.assert_array_equal(run(x=X)[0], wanted)
    verify(program)


def test_the_program_stays_as_it_was(network, tmp_path):
    y, _, exe = network
    main = fluid.default_main_program()
    before = main.clone()
    revision = main.revision
    fluid.io.save_inference_model(tmp_path, ["x"], [y], exe)
    assert not differences(main, before) and main.revision == revision


def test_files_have_the_names_that_are_asked_for(network, tmp_path):
    y, _, exe = network
    names = {"model_filename": "model", "params_filename": "params"}
    fluid.io.save_inference_model(tmp_path, "x", y, exe, **names)
    assert files_in(tmp_path) == ["model", "params"]
    np.testing.assert_array_equal(
        loaded(tmp_path, **names)[3](x=X)[0],
        exe.run(fluid.default_main_program().clone(True), {"x": X}, [y])[0],
    )


def test_a_model_in_memory_is_loaded(network, tmp_path):
    y, _, exe = network
    names = {"model_filename": "model", "params_filename": "params"}
    fluid.io.save_inference_model(tmp_path, ["x"], [y], exe, **names)
    program, params = ((tmp_path / name).read_bytes() for name in ("model", "params"))
    _, feeds, _, run = loaded(None, model_filename=program, params_filename=params)
    assert feeds == ["x"] and run(x=X)[0].shape == (3, 2)
    with pytest.raises(ArgumentError, match="or the bytes of a program"):
        loaded(None)


def test_a_model_is_saved_again_from_what_was_loaded(network, tmp_path):
    y, _, exe = network
    fluid.io.save_inference_model(tmp_path / "one", ["x"], [y], exe)
    program, feeds, targets = fluid.io.load_inference_model(tmp_path / "one", exe)
    fluid.io.save_inference_model(tmp_path / "two", feeds, targets, exe, program)
    one, two = loaded(tmp_path / "one"), loaded(tmp_path / "two")
    assert [op.type for op in two[0].global_block().ops].count("feed") == 1
    assert [target.name for target in two[2]] == ["save_infer_model/scale_0.tmp_1"]
    np.testing.assert_array_equal(one[3](x=X)[0], two[3](x=X)[0])


def test_blocks_that_are_not_needed_are_left_out(tmp_path):
    x = fluid.data("x", [3, 4], "float32")
    zero = fluid.layers.fill_constant([1], "float32", 0.0)
    total = fluid.layers.reduce_sum(x)
    other = fluid.layers.cond(total < zero, lambda: x * 3.0, lambda: x * 5.0)
    y = fluid.layers.cond(total > zero, lambda: x + 1.0, lambda: x - 1.0)
    assert fluid.default_main_program().num_blocks == 5
    exe = fluid.Executor()
    with pytest.warns(UserWarning, match="no variables to be saved"):
        fluid.io.save_inference_model(tmp_path, ["x"], [y], exe)
    program, _, _, run = loaded(tmp_path)
    assert program.num_blocks == 3
    verify(program)
    np.testing.assert_array_equal(run(x=X)[0], X + 1)
    np.testing.assert_array_equal(run(x=-X)[0], -X - 1)
    assert other.name not in program.global_block().vars


def test_a_training_program_is_saved_whole_where_it_is_asked_for(network, tmp_path):
    y, _, exe = network
    fluid.io.save_inference_model(tmp_path, ["x"], [y], exe, export_for_deployment=False)
    assert "__model__.main_program" in files_in(tmp_path) and len(files_in(tmp_path)) == 12
    found = fluid.io.read(tmp_path / "__model__.main_program").program
    assert found.to_bytes() == fluid.default_main_program().to_bytes()


def test_parameters_are_left_out_where_it_is_asked_for(network, tmp_path):
    y, _, exe = network
    fluid.io.save_inference_model(tmp_path, ["x"], [y], exe, program_only=True)
    assert files_in(tmp_path) == ["__model__"]


def test_truth_values_are_fetched_as_they_are(tmp_path):
    x = fluid.data("x", [2], "float32")
    zero = fluid.layers.fill_constant([1], "float32", 0.0)
    positive = fluid.layers.greater_than(x, zero)
    with pytest.warns(UserWarning, match="no variables to be saved"):
        names = fluid.io.save_inference_model(tmp_path, ["x"], [positive], fluid.Executor())
    assert names == [positive.name]
    assert loaded(tmp_path)[3](x=np.array([1, -1], "float32"))[0].tolist() == [True, False]


def test_data_that_the_model_does_not_need_is_left_out(tmp_path):
    x, label = fluid.data("x", [None, 2]), fluid.data("label", [None, 1])
    line = fluid.layers.fc(x, 1)
    fluid.layers.square_error_cost(line, label)
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    fluid.io.save_inference_model(str(tmp_path), ["x"], [line], exe)
    model, _, _ = fluid.io.load_inference_model(str(tmp_path), exe)
    assert "x" in model.global_block().vars and "label" not in model.global_block().vars


def test_a_variable_that_is_fed_and_not_used_stays_one(tmp_path):
    x, z = fluid.data("x", [2], "float32"), fluid.data("z", [2], "float32")
    with pytest.warns(UserWarning, match="no variables to be saved"):
        fluid.io.save_inference_model(tmp_path, ["z", "x"], [x * 2.0], fluid.Executor())
    _, feeds, _, run = loaded(tmp_path)
    assert feeds == ["z", "x"] and z.name in feeds
    ones = np.ones(2, "float32")
    assert run(x=ones, z=ones)[0].tolist() == [2, 2]


def test_a_model_of_nothing_but_constants_is_fed_nothing(tmp_path):
    y = fluid.layers.fill_constant([2], "float32", 3.0)
    with pytest.warns(UserWarning, match="no variables to be saved"):
        fluid.io.save_inference_model(tmp_path, [], [y], fluid.Executor())
    _, feeds, _, run = loaded(tmp_path)
    assert (feeds, run()[0].tolist()) == ([], [3.0, 3.0])


def test_what_is_fed_may_be_wanted(network, tmp_path):
    y, _, exe = network
    x = fluid.default_main_program().global_block().var("x")
    fluid.io.save_inference_model(tmp_path, ["x"], [x, y], exe)
    np.testing.assert_array_equal(loaded(tmp_path)[3](x=X)[0], X)


def test_a_model_that_reads_what_it_is_not_fed_is_warned_about(network, tmp_path):
    y, _, exe = network
    with pytest.warns(UserWarning, match="depend on 'x', which is not among feeded_var_names"):
        fluid.io.save_inference_model(tmp_path, [], [y], exe)
    _, feeds, _, run = loaded(tmp_path)
    assert (feeds, run(x=X)[0].shape) == ([], (3, 2))


def test_a_model_that_counts_is_warned_about(tmp_path):
    x, label = fluid.data("x", [None, 2], "float32"), fluid.data("label", [None, 1], "int64")
    score = fluid.layers.softmax(fluid.layers.fc(x, 2))
    fluid.layers.auc(score, label)
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    with pytest.warns(UserWarning, match=r"counts for layers\.auc"):
        fluid.io.save_inference_model(tmp_path, ["x"], [score], exe)


# -- what is wrong ---------------------------------------------------------------------------------


def refused(error, match, tmp_path, *args, **more):
    with pytest.raises(error, match=match):
        fluid.io.save_inference_model(tmp_path / "model", *args, **more)
    assert files_in(tmp_path) == []


def test_ends_that_are_none_are_refused(network, tmp_path):
    y, _, exe = network
    refused(UnknownVariableError, "no variable 'z' to feed", tmp_path, ["z"], [y], exe)
    refused(ArgumentError, "expected names of variables to feed", tmp_path, [3], [y], exe)
    refused(ArgumentError, "give the variable, not its name", tmp_path, ["x"], [y.name], exe)
    refused(ArgumentError, "expected a list of variables as targets", tmp_path, ["x"], [], exe)
    refused(ArgumentError, "expected a Program", tmp_path, ["x"], [y], exe, main_program=3)
    other = fluid.Program().global_block().create_var(name="other")
    refused(UnknownVariableError, "no variable 'other' to fetch", tmp_path, ["x"], [other], exe)


def test_a_parameter_without_a_value_is_named(tmp_path):
    _, y, _, _ = regression()
    refused(NotInitializedError, "run the startup program first", tmp_path, ["x"], [y], None)


def test_a_model_that_is_not_there_is_named(network, tmp_path):
    y, _, exe = network
    with pytest.raises(FileError, match=r"cannot read the model .*nope: there is no such folder"):
        fluid.io.load_inference_model(tmp_path / "nope", exe)
    fluid.io.save_inference_model(tmp_path, ["x"], [y], exe)
    with pytest.raises(FileError, match=r"cannot read .*other: there is no such file"):
        fluid.io.load_inference_model(tmp_path, exe, "other")
    (tmp_path / "fc_0.w_0").unlink()
    before = value("fc_0.b_0")
    fluid.global_scope().var("fc_0.b_0").value = before + 1
    with pytest.raises(
        FileError, match=r"fc_0.w_0: there is no such file(.|\n)*variable 'fc_0.w_0"
    ):
        fluid.io.load_inference_model(tmp_path, exe)
    assert value("fc_0.b_0").tolist() == (before + 1).tolist()


def test_a_damaged_program_is_refused_at_its_place(network, tmp_path):
    y, _, exe = network
    fluid.io.save_inference_model(tmp_path, ["x"], [y], exe)
    path = tmp_path / "__model__"
    path.write_bytes(path.read_bytes()[:-100])
    message = rf"{path}: blocks\[0\]: expected .* at byte \d+, found"
    with pytest.raises(FileFormatError, match=message):
        fluid.io.load_inference_model(tmp_path, exe)


def test_a_program_that_fetches_what_it_does_not_declare_is_refused(network, tmp_path):
    y, _, exe = network
    fluid.io.save_inference_model(tmp_path, ["x"], [y], exe)
    path = tmp_path / "__model__"
    program = fluid.Program.parse_from_string(path.read_bytes())
    program.global_block().vars.pop("save_infer_model/scale_0.tmp_0")
    path.write_bytes(program.to_bytes())
    with pytest.raises(
        FileFormatError, match=r"expected a variable 'save_infer_model/scale_0.tmp_0'"
    ):
        fluid.io.load_inference_model(tmp_path, exe)
