"""Training states: ``fluid.save``, ``fluid.load`` and dictionaries of arrays."""

import os
import pickle

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.errors import (
    ArgumentError,
    DTypeError,
    FileError,
    FileFormatError,
    NotInitializedError,
    ShapeError,
)
from fluidlite.ground import state as process

import saved_models
from networks import assert_same, regression, started, state, value

WEIGHT, BIAS = "fc_0.w_0", "fc_0.b_0"


def adam():
    return fluid.optimizer.Adam(0.1)


@pytest.fixture
def exe():
    """A network that has been trained for a step, and its executor."""
    regression(optimizer=adam())
    exe = started()
    exe.run(feed={"x": np.ones([3, 4], "float32")})
    return exe


def refused(error, match, load):
    """Loading must fail, and leave the scope as it was."""
    before = state()
    with pytest.raises(error, match=match):
        load()
    assert_same(state(), before)


def main():
    return fluid.default_main_program()


# -- there and back --------------------------------------------------------------------------------


def test_a_training_state_is_three_files(exe, tmp_path):
    fluid.save(main(), tmp_path / "model")
    assert sorted(os.listdir(tmp_path)) == ["model.pdmodel", "model.pdopt", "model.pdparams"]
    with open(tmp_path / "model.pdparams", "rb") as file:
        assert set(pickle.load(file)) == {WEIGHT, BIAS}
    assert fluid.io.read(tmp_path / "model.pdmodel").program.to_bytes() == main().to_bytes()


@pytest.mark.parametrize("ending", ["", ".pdparams", ".pdopt", ".pdmodel"])
def test_what_is_saved_is_loaded(exe, tmp_path, ending):
    fluid.save(main(), tmp_path / "model")
    before = state()
    exe.run(feed={"x": np.ones([3, 4], "float32")})
    fluid.load(main(), str(tmp_path / "model") + ending)
    assert_same(state(), before)


def batch(step):
    rng = np.random.default_rng(step)
    return {"x": rng.normal(size=[8, 4]).astype("float32")}


def train(exe, loss, steps):
    return [exe.run(feed=batch(step), fetch_list=[loss])[0].item() for step in steps]


@pytest.mark.parametrize("way", ["save", "persistables", "combined", "checkpoint"])
def test_ten_steps_and_ten_more_are_twenty_steps(way, tmp_path):
    """Training goes on from a file as if it had never stopped, in another process."""

    def begin():
        process.reset()
        main, startup = fluid.default_main_program(), fluid.default_startup_program()
        main.random_seed = startup.random_seed = 0 if way == "checkpoint" else 7
        optimizer = fluid.optimizer.Adam(fluid.layers.exponential_decay(0.1, 3, 0.9))
        _, _, loss, _ = regression(optimizer=optimizer, dropout=way == "checkpoint")
        return started(), loss

    def save(exe):
        program = fluid.default_main_program()
        if way == "save":
            fluid.save(program, tmp_path / "model")
        elif way == "checkpoint":
            fluid.checkpoint.save(tmp_path, program, step=10, executor=exe)
        else:
            name = "all" if way == "combined" else None
            fluid.io.save_persistables(exe, tmp_path, program, name)

    def load(exe):
        program = fluid.default_main_program()
        if way == "save":
            fluid.load(program, tmp_path / "model", exe)
        elif way == "checkpoint":
            assert fluid.checkpoint.load(tmp_path, program, executor=exe).step == 10
        else:
            name = "all" if way == "combined" else None
            fluid.io.load_persistables(exe, tmp_path, program, name)

    exe, loss = begin()
    first = train(exe, loss, range(10))
    save(exe)
    second = train(exe, loss, range(10, 20))
    final = state()
    assert len({*first, *second}) > 15
    exe, loss = begin()
    train(exe, loss, range(3))  # compiled by now, as the other is: interpretation rounds otherwise
    load(exe)
    assert train(exe, loss, range(10, 20)) == second
    assert_same(state(), final)


# -- other formats ---------------------------------------------------------------------------------


def test_a_folder_of_variables_is_loaded_by_an_executor(exe, tmp_path):
    fluid.io.save_persistables(exe, tmp_path / "model")
    before = state()
    exe.run(feed={"x": np.ones([3, 4], "float32")})
    fluid.load(main(), tmp_path / "model", exe)
    assert_same(state(), before)
    with pytest.raises(ArgumentError, match="is loaded by an executor"):
        fluid.load(main(), tmp_path / "model")


def test_a_file_without_names_needs_the_variables(exe, tmp_path):
    fluid.io.save_params(exe, tmp_path, filename="all")
    before = state()
    exe.run(feed={"x": np.ones([3, 4], "float32")})
    fluid.load(main(), tmp_path / "all", exe, main().all_parameters())
    assert value(WEIGHT).tolist() == before[WEIGHT].tolist()
    with pytest.raises(ArgumentError, match="holds tensors without their names"):
        fluid.load(main(), tmp_path / "all", exe)


def test_a_state_is_a_dictionary_of_arrays(exe, tmp_path):
    fluid.save(main(), tmp_path / "model")
    assert_same(fluid.load_program_state(tmp_path / "model"), state())
    fluid.io.save_persistables(exe, tmp_path / "folder")
    assert_same(fluid.load_program_state(tmp_path / "folder"), dict(sorted(state().items())))
    only = fluid.load_program_state(tmp_path / "folder", main().all_parameters())
    assert set(only) == {WEIGHT, BIAS}
    fluid.io.save_params(exe, tmp_path, filename="all")
    found = fluid.load_program_state(tmp_path / "all", main().all_parameters())
    assert_same(found, dict(sorted(only.items())))
    with pytest.raises(ArgumentError, match="holds tensors without their names"):
        fluid.load_program_state(tmp_path / "all")


def test_a_state_is_given_to_a_program(exe, tmp_path):
    wanted = {name: array + 1 for name, array in state().items()}
    fluid.set_program_state(main(), wanted)
    assert_same(state(), wanted)
    wanted[WEIGHT][:] = 0
    assert value(WEIGHT).any()


def test_a_state_of_paddle_2_is_loaded(tmp_path):
    saved_models.unpack(tmp_path, "train", saved_models.PADDLE2)
    block = main().global_block()
    found = fluid.load_program_state(tmp_path / "train")
    assert [array.shape for array in found.values()] == [(4, 3), (3,)]
    for name, array in found.items():
        block.create_parameter(array.shape, array.dtype, name=name)
    fluid.load(main(), tmp_path / "train")
    assert_same(state(), found)


def test_arrays_that_paddle_2_wrote_in_pieces_are_put_together(tmp_path):
    info = {"w": {"OriginShape": (2, 3), "slices": ["w@@.0", "w@@.1"]}}
    pieces = {"w@@.0": np.arange(4.0), "w@@.1": np.arange(4.0, 6.0)}
    data = {"UnpackBigParamInfor@@": info, **pieces}
    (tmp_path / "big.pdparams").write_bytes(pickle.dumps(data, 2))
    found = fluid.load_program_state(tmp_path / "big")
    assert found.keys() == {"w"} and found["w"].tolist() == [[0, 1, 2], [3, 4, 5]]
    info["w"]["slices"].append("nope")
    (tmp_path / "big.pdparams").write_bytes(pickle.dumps(data, 2))
    with pytest.raises(FileFormatError, match="the pieces of an array"):
        fluid.load_program_state(tmp_path / "big")


# -- what is wrong ---------------------------------------------------------------------------------


def test_a_path_that_is_not_there_is_named(exe, tmp_path):
    refused(
        FileError,
        r"cannot read .*nope.pdparams: there is no such file, nor a folder or a file .*nope; check",
        lambda: fluid.load(main(), tmp_path / "nope", exe),
    )
    with pytest.raises(FileError, match="nope"):
        fluid.load_program_state(tmp_path / "nope")


def test_a_path_that_ends_with_a_folder_is_refused(exe, tmp_path):
    with pytest.raises(ArgumentError, match="a path that ends with the name of a file"):
        fluid.save(main(), f"{tmp_path}/")


def test_a_missing_variable_is_named(exe, tmp_path):
    fluid.save(main(), tmp_path / "model")
    (tmp_path / "model.pdopt").write_bytes(pickle.dumps({"a": np.zeros(1)}, 2))
    refused(
        FileFormatError,
        r"model.pdopt: expected variable 'fc_0.b_0_.*', found 1 others \(a, ...\); load files",
        lambda: fluid.load(main(), tmp_path / "model"),
    )
    (tmp_path / "model.pdopt").unlink()
    refused(
        FileError, "model.pdopt: there is no such", lambda: fluid.load(main(), tmp_path / "model")
    )


def test_another_shape_is_refused_or_with_an_executor_told(exe, tmp_path):
    fluid.save(main(), tmp_path / "model")
    other = fluid.Program()
    with fluid.program_guard(other, fluid.Program()), fluid.unique_name.guard():
        regression(inputs=5)
    message = r"variable 'fc_0.w_0': expected float32\[5, 2\], as the program declares it, found"
    refused(FileFormatError, message, lambda: fluid.load(other, tmp_path / "model"))
    with pytest.warns(UserWarning, match=message):
        fluid.load(other, tmp_path / "model", exe)
    assert value(WEIGHT).shape == (4, 2)


def test_a_state_that_does_not_fit_is_refused(exe):
    wrong = {BIAS: value(BIAS) + 1, WEIGHT: np.zeros([5, 2], "float32")}
    refused(ShapeError, r"expected float32\[4, 2\]", lambda: fluid.set_program_state(main(), wrong))
    wrong[WEIGHT] = np.zeros([4, 2])
    refused(DTypeError, r"found float64\[4, 2\]", lambda: fluid.set_program_state(main(), wrong))


def test_values_that_a_program_has_no_variable_for_are_told(exe):
    with pytest.warns(UserWarning, match="no variable for 1 of the values: nope"):
        fluid.set_program_state(main(), {"nope": np.ones(2)})


def test_a_variable_without_a_value_is_named(tmp_path):
    regression()
    with pytest.raises(NotInitializedError, match="'fc_0.w_0' has no value to save"):
        fluid.save(main(), tmp_path / "model")
    assert not os.listdir(tmp_path)


def test_files_that_hold_something_else_are_refused(exe, tmp_path):
    fluid.save(main(), tmp_path / "model")
    path = tmp_path / "model.pdparams"
    for content, message in (
        (pickle.dumps([1], 2), "a dictionary of arrays at byte 0, found a list"),
        (pickle.dumps({1: 2}, 2), "texts as keys of a dictionary of arrays at byte 0, found 1"),
        (pickle.dumps({WEIGHT: 1, BIAS: 2}, 2), "expected variable 'fc_0.w_0'"),
        (b"", "a pickle of protocol 2 to 5"),
    ):
        path.write_bytes(content)
        refused(FileFormatError, message, lambda: fluid.load(main(), tmp_path / "model"))
