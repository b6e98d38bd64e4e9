"""Variables of programs in files: one each, or all in one."""

import os
from pathlib import Path

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
from fluidlite.ground.dtypes import Kind
from fluidlite.ground.values import LoDTensor, SelectedRows

from networks import assert_same, regression, started, state, value

WEIGHT, BIAS = "fc_0.w_0", "fc_0.b_0"


@pytest.fixture
def exe():
    """A network that has been trained for a step, and its executor."""
    _, _, loss, _ = regression(optimizer=fluid.optimizer.Adam(0.1))
    exe = started()
    exe.run(feed={"x": np.ones([3, 4], "float32")}, fetch_list=[loss])
    return exe


def change():
    """Other values in the scope."""
    for variable in fluid.global_scope():
        if isinstance(variable.value, np.ndarray):
            variable.value = variable.value + 1


def declared(*names, shape=(2,), **more):
    block = fluid.default_main_program().global_block()
    made = [block.create_var(name=n, shape=shape, persistable=True, **more) for n in names]
    for number, name in enumerate(names):
        fluid.global_scope().var(name).value = np.full([2], number, "float32")
    return made


def names_in(folder):
    return sorted(name for name in os.listdir(folder) if not name.startswith("."))


# -- what is saved ---------------------------------------------------------------------------------


def test_parameters_are_a_file_each(exe, tmp_path):
    fluid.io.save_params(exe, tmp_path / "model")
    assert names_in(tmp_path / "model") == [BIAS, WEIGHT]


def test_persistables_hold_the_state_of_the_optimizer(exe, tmp_path):
    fluid.io.save_persistables(exe, tmp_path / "model")
    assert len(names_in(tmp_path / "model")) == 2 + 2 * 4 + 1
    assert "learning_rate_0" in names_in(tmp_path / "model")


def test_one_file_holds_all_in_order_of_their_names(tmp_path):
    b, a = declared("b", "a")
    exe = fluid.Executor()
    fluid.io.save_vars(exe, tmp_path, vars=[b, a], filename="all")
    data = (tmp_path / "all").read_bytes()
    assert data[-8:] == np.zeros(2, "float32").tobytes()  # of b, which was given first
    change()
    fluid.io.load_vars(exe, tmp_path, vars=[b, a], filename="all")
    assert value("a").tolist() == [1, 1] and value("b").tolist() == [0, 0]


def test_without_a_folder_there_are_bytes(exe, tmp_path):
    data = fluid.io.save_params(exe, None)
    fluid.io.save_params(exe, tmp_path, filename="all")
    assert data == (tmp_path / "all").read_bytes()
    before = state()
    change()
    fluid.io.load_vars(exe, None, predicate=fluid.io.is_parameter, filename=data)
    assert value(WEIGHT).tolist() == before[WEIGHT].tolist()


def test_a_predicate_chooses(exe, tmp_path):
    def is_weight(var):
        return var.name.endswith("w_0")

    fluid.io.save_vars(exe, tmp_path, predicate=is_weight)
    assert names_in(tmp_path) == [WEIGHT]
    before = state()
    change()
    fluid.io.load_vars(exe, tmp_path, predicate=is_weight)
    assert value(WEIGHT).tolist() == before[WEIGHT].tolist()
    assert value(BIAS).tolist() != before[BIAS].tolist()


def test_names_may_stand_for_variables(exe, tmp_path):
    fluid.io.save_vars(exe, tmp_path, vars=[WEIGHT])
    assert names_in(tmp_path) == [WEIGHT]
    with pytest.raises(UnknownVariableError, match="no variable 'nope'"):
        fluid.io.save_vars(exe, tmp_path, vars=["nope"])


def test_names_with_a_slash_are_files_in_folders(tmp_path):
    variables = declared("block/w")
    fluid.io.save_vars(fluid.Executor(), tmp_path, vars=variables)
    assert (tmp_path / "block" / "w").exists()
    fluid.io.load_vars(fluid.Executor(), tmp_path, vars=variables)


def test_nothing_to_save_makes_no_folder(tmp_path):
    with pytest.warns(UserWarning, match="no variables to be saved"):
        fluid.io.save_params(fluid.Executor(), tmp_path / "model")
    assert names_in(tmp_path) == []
    with pytest.warns(UserWarning, match="the program is empty"):
        fluid.io.load_params(fluid.Executor(), tmp_path / "model")


# -- there and back --------------------------------------------------------------------------------


@pytest.mark.parametrize("filename", [None, "all"])
def test_what_is_saved_is_loaded(exe, tmp_path, filename):
    fluid.io.save_persistables(exe, tmp_path, filename=filename)
    before = state()
    change()
    fluid.io.load_persistables(exe, tmp_path, filename=filename)
    assert_same(state(), before)


def test_sequences_and_rows_are_loaded_as_such(tmp_path):
    block = fluid.default_main_program().global_block()
    words = block.create_var(name="words", shape=[-1, 1], dtype="int64", persistable=True)
    table = block.create_var(name="table", type=Kind.SELECTED_ROWS, persistable=True)
    scope = fluid.global_scope()
    scope.var("words").value = LoDTensor(np.arange(5).reshape(5, 1), ((0, 2, 5),))
    scope.var("table").value = SelectedRows([3, 1], 9, np.ones([2, 2], "float32"))
    exe = fluid.Executor()
    fluid.io.save_vars(exe, tmp_path, vars=[words, table])
    with fluid.scope_guard(fluid.Scope()) as fresh:
        fluid.io.load_vars(exe, tmp_path, vars=[words, table])
        assert fresh.value("words").offsets == ((0, 2, 5),)
        assert fresh.value("words").data.ravel().tolist() == [0, 1, 2, 3, 4]
        found = fresh.value("table")
        assert (found.rows(), found.height()) == ([3, 1], 9)


def test_parents_of_a_scope_take_the_values_they_had(exe, tmp_path):
    fluid.io.save_params(exe, tmp_path)
    outer = fluid.global_scope()
    with fluid.scope_guard(outer.new_scope()) as inner:
        fluid.io.load_params(exe, tmp_path)
        assert inner.local_var_names() == []


def test_operators_of_a_program_save_and_load(tmp_path):
    (var,) = declared("w")
    main = fluid.Program()
    block = main.global_block()
    mine = block.create_var(name="w", shape=[2], dtype="float32", persistable=True)
    path = str(tmp_path / "w")
    block.append_op("save", {"X": mine}, {}, {"file_path": path})
    exe = fluid.Executor()
    exe.run(main)
    assert np.array_equal(fluid.io.read(path).variables["w"], value(var.name))
    change()
    loading = fluid.Program()
    block = loading.global_block()
    mine = block.create_var(name="w", shape=[2], dtype="float32", persistable=True)
    block.append_op("load_combine", {}, {"Out": [mine]}, {"file_path": path})
    exe.run(loading)
    assert value("w").tolist() == [0, 0]


def test_operators_save_half_precision_and_do_not_replace_unless_told(tmp_path):
    declared("w")
    main = fluid.Program()
    block = main.global_block()
    mine = block.create_var(name="w", shape=[2], dtype="float32", persistable=True)
    attrs = {"file_path": str(tmp_path / "w"), "save_as_fp16": True, "overwrite": False}
    block.append_op("save_combine", {"X": [mine]}, {}, attrs)
    exe = fluid.Executor()
    exe.run(main)
    assert fluid.io.read(tmp_path / "w").variables["w"].dtype == "float16"
    with pytest.raises(FileError, match="it is there, and overwrite is False"):
        exe.run(main)


# -- what variables are ----------------------------------------------------------------------------


def test_variables_say_what_they_are(exe):
    main = fluid.default_main_program()
    weight, loss = main.global_block().var(WEIGHT), main.global_block().var("mean_0.tmp_0")
    assert fluid.io.is_parameter(weight) and not fluid.io.is_parameter(loss)
    assert fluid.io.is_persistable(weight) and not fluid.io.is_persistable(loss)
    assert fluid.io.get_program_parameter(main) == main.all_parameters()
    rate = main.global_block().var("learning_rate_0")
    assert fluid.io.is_belong_to_optimizer(rate) and not fluid.io.is_belong_to_optimizer(weight)
    assert any(rate is each for each in fluid.io.get_program_persistable_vars(main))


def test_the_value_of_a_parameter_is_a_copy(exe):
    weight = fluid.default_main_program().global_block().var(WEIGHT)
    found = fluid.io.get_parameter_value(weight, exe)
    found[:] = 7
    assert value(WEIGHT).max() < 7
    named = fluid.io.get_parameter_value_by_name(WEIGHT, exe)
    assert named.tolist() == value(WEIGHT).tolist()
    with pytest.raises(ArgumentError, match="expected a parameter"):
        fluid.io.get_parameter_value_by_name("mean_0.tmp_0", exe)


# -- what is wrong ---------------------------------------------------------------------------------


def refused(error, match, load):
    """Loading must fail, and leave the scope as it was."""
    before = state()
    with pytest.raises(error, match=match):
        load()
    assert_same(state(), before)


def test_a_missing_folder_names_the_variable(exe, tmp_path):
    refused(
        FileError,
        f"load: cannot read {tmp_path}/none/fc_0.b_0: there is no such file or folder; check the "
        r"path\n  it should hold variable 'fc_0.b_0'",
        lambda: fluid.io.load_params(exe, tmp_path / "none"),
    )


def test_a_missing_file_names_the_variable(exe, tmp_path):
    fluid.io.save_persistables(exe, tmp_path)
    (tmp_path / WEIGHT).unlink()
    refused(
        FileError,
        "no such file or folder.*\n  it should hold variable 'fc_0.w_0'",
        lambda: fluid.io.load_persistables(exe, tmp_path),
    )


@pytest.mark.parametrize("filename", [None, "all"])
def test_another_shape_names_the_variable_and_both_shapes(exe, tmp_path, filename):
    fluid.io.save_params(exe, tmp_path, filename=filename)
    other = fluid.Program()
    with fluid.program_guard(other, fluid.Program()), fluid.unique_name.guard():
        regression(inputs=5)
    refused(
        FileFormatError,
        r"variable 'fc_0.w_0': expected float32\[5, 2\], as the program declares it, found "
        r"float32\[4, 2\]; load files that were saved from the same network",
        lambda: fluid.io.load_params(exe, tmp_path, other, filename=filename),
    )


def test_another_element_type_names_the_variable(exe, tmp_path):
    fluid.io.save_params(exe, tmp_path)
    other = fluid.Program().global_block()
    var = other.create_var(name=WEIGHT, shape=[4, 2], dtype="float64", persistable=True)
    refused(
        FileFormatError,
        r"'fc_0.w_0': expected float64\[4, 2\], as the program declares it, found float32\[4, 2\]",
        lambda: fluid.io.load_vars(exe, tmp_path, vars=[var]),
    )


def test_a_file_with_fewer_variables_names_the_missing_one(exe, tmp_path):
    fluid.io.save_params(exe, tmp_path, filename="all")
    mean = fluid.Program().global_block().create_var(name="mean", shape=[2])
    refused(
        FileFormatError,
        "all: expected variable 'mean', number 3 of 3 in the file, at byte 90, found the end",
        lambda: fluid.io.load_vars(exe, tmp_path, vars=[BIAS, WEIGHT, mean], filename="all"),
    )


def test_a_file_with_more_variables_is_refused(exe, tmp_path):
    fluid.io.save_params(exe, tmp_path, filename="all")
    refused(
        FileFormatError,
        "expected the end of the file at byte 32, after 1 variables, found 58 bytes more",
        lambda: fluid.io.load_vars(exe, tmp_path, vars=[BIAS], filename="all"),
    )


BAD = {
    "empty": (
        lambda data: b"",
        "expected variable 'fc_0.w_0', number 1 of 1 in the file, at byte 0, found the end",
    ),
    "truncated": (
        lambda data: data[:-5],
        r"expected the values of a tensor of shape \[4, 2\] \(32 bytes\) at byte 26, found the end",
    ),
    "foreign": (
        lambda data: b"\x89PNG\r\n\x1a\n" + data,
        "expected a tensor of version 0 at byte 0, found version 1196314761",
    ),
    "wrong version": (
        lambda data: b"\x01" + data[1:],
        "expected a tensor of version 0 at byte 0, found version 1",
    ),
}


@pytest.mark.parametrize("damage, message", BAD.values(), ids=BAD)
def test_a_damaged_file_names_file_byte_and_variable(exe, tmp_path, damage, message):
    fluid.io.save_params(exe, tmp_path)
    path = tmp_path / WEIGHT
    path.write_bytes(damage(path.read_bytes()))
    refused(
        FileFormatError, rf"{path}: {message}(.|\n)*", lambda: fluid.io.load_params(exe, tmp_path)
    )


def test_a_variable_without_a_value_is_named(tmp_path):
    regression()
    with pytest.raises(NotInitializedError, match="'fc_0.b_0' has no value to save; run the start"):
        fluid.io.save_params(fluid.Executor(), tmp_path / "model")
    assert names_in(tmp_path) == []


def test_a_name_that_leads_out_of_the_folder_is_refused(tmp_path):
    variables = declared("../evil")
    with pytest.raises(FileFormatError, match="the name of a file inside"):
        fluid.io.save_vars(fluid.Executor(), tmp_path / "model", vars=variables)
    with pytest.raises(FileFormatError, match="the name of a file inside"):
        fluid.io.load_vars(fluid.Executor(), tmp_path / "model", vars=variables)
    fluid.io.save_vars(fluid.Executor(), tmp_path, vars=variables, filename="one_file")
    assert names_in(tmp_path) == ["one_file"]


def test_where_one_file_cannot_be_written_the_others_stay(exe, tmp_path):
    fluid.io.save_params(exe, tmp_path)
    before = {name: (tmp_path / name).read_bytes() for name in names_in(tmp_path)}
    (tmp_path / WEIGHT).unlink()
    (tmp_path / WEIGHT).mkdir()
    change()
    with pytest.raises(FileError, match="it is a folder"):
        fluid.io.save_params(exe, tmp_path)
    assert (tmp_path / BIAS).read_bytes() == before[BIAS]


def test_the_variable_that_was_written_when_the_disk_was_full_is_named(exe, tmp_path, monkeypatch):
    fluid.io.save_params(exe, tmp_path)
    before = (tmp_path / BIAS).read_bytes()
    change()

    def fail(file):
        raise OSError(28, "no space")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(FileError, match=r"cannot write .*fc_0.b_0: the disk is full; free some"):
        fluid.io.save_params(exe, tmp_path)
    assert (tmp_path / BIAS).read_bytes() == before
    assert names_in(tmp_path) == [BIAS, WEIGHT] and len(list(Path(tmp_path).iterdir())) == 2


def test_arguments_of_another_kind_are_refused(exe, tmp_path):
    with pytest.raises(ArgumentError, match="expected an Executor"):
        fluid.io.load_params(None, tmp_path)
    with pytest.raises(ArgumentError, match="expected variables"):
        fluid.io.save_vars(exe, tmp_path, vars=[3])
    with pytest.raises(ArgumentError, match="expected a Program"):
        fluid.io.save_params(exe, tmp_path, main_program=3)
    with pytest.raises(ArgumentError, match="expected a folder for 'all'"):
        fluid.io.save_params(exe, None, filename="all")
    with pytest.raises(ArgumentError, match="expected a folder, or the bytes"):
        fluid.io.load_params(exe, None)
