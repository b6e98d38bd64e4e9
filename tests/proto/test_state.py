"""Values that files of plain arrays have room for."""

import numpy as np
import pytest

from fluidlite.errors import ArgumentError, FileFormatError, WorkLimitError
from fluidlite.ground.files import Transaction, open_source
from fluidlite.ground.values import LoDTensor, SelectedRows
from fluidlite.proto.pickling import write_pickle
from fluidlite.proto.state import (
    as_array,
    checked_path,
    program_at,
    read_state,
    stem_of,
    stored_in,
    write_state,
)


def test_a_table_of_few_rows_is_written_as_a_whole():
    table = SelectedRows([1, 2], 4, np.ones([2, 3], "float32"))
    assert as_array(table, "w").tolist() == [[0] * 3, [1] * 3, [1] * 3, [0] * 3]


@pytest.mark.parametrize("height", [2**27, 2**40, 2**62])
def test_a_table_that_would_be_very_large_is_refused_before_it_is_made(height):
    table = SelectedRows([1], height, np.ones([1, 3], "float32"))
    with pytest.raises(
        WorkLimitError, match=rf"'w' holds 1 rows of a table of {height}, .*save_va"
    ):
        as_array(table, "w")


def test_tensors_without_sequences_are_written_as_their_arrays():
    array = np.ones([2], "float32")
    assert as_array(LoDTensor(array), "w") is array


@pytest.mark.parametrize("value", [LoDTensor(np.ones([2]), [[0, 1, 2]]), "text"])
def test_values_that_files_of_arrays_have_no_room_for_are_refused_by_name(value):
    kind = type(value).__name__
    with pytest.raises(ArgumentError, match=f"'w' holds {kind}, .*; save it with save_vars"):
        as_array(value, "w")


def test_a_state_is_read_as_it_was_written(tmp_path):
    path = str(tmp_path / "net.pdopt")
    state = {"w": np.arange(3.0), "step": 2, "LR_Scheduler": {"last_lr": 0.5}}
    with Transaction() as files:
        write_state(files, path, state | {"t": LoDTensor(np.ones([1], "float32"))})
    again = read_state(path)
    assert again.pop("w").tolist() == [0, 1, 2] and again.pop("t").tolist() == [1]
    assert again == {"step": 2, "LR_Scheduler": {"last_lr": 0.5}}


def pickled(tmp_path, value):
    path = tmp_path / "net.pdparams"
    with open(path, "wb") as file:
        write_pickle(file, value)
    return str(path)


def test_an_array_in_pieces_is_put_together(tmp_path):
    pieces = {
        "w@@.0": np.arange(4.0),
        "w@@.1": np.arange(4.0, 6.0),
        "b": np.ones([1]),
        "UnpackBigParamInfor@@": {"w": {"OriginShape": [2, 3], "slices": ["w@@.0", "w@@.1"]}},
    }
    state = read_state(pickled(tmp_path, pieces))
    assert sorted(state) == ["b", "w"] and state["w"].tolist() == [[0, 1, 2], [3, 4, 5]]


@pytest.mark.parametrize(
    "info",
    [
        [1],
        {"w": {"OriginShape": [2, 3], "slices": ["missing"]}},
        {"w": {"OriginShape": [4, 4], "slices": ["w@@.0"]}},
        {"w": {"slices": ["w@@.0"]}},
    ],
)
def test_pieces_that_do_not_fit_are_refused_with_the_file(tmp_path, info):
    path = pickled(tmp_path, {"w@@.0": np.ones([6]), "UnpackBigParamInfor@@": info})
    with pytest.raises(FileFormatError, match=r"net.pdparams.*expected the pieces of an array"):
        read_state(path)


def test_a_pair_of_a_name_and_an_array_is_the_array(tmp_path):
    assert read_state(pickled(tmp_path, {"w": ("w_0", np.ones([2]))}))["w"].tolist() == [1, 1]


@pytest.mark.parametrize(
    "value, problem", [([1], "found a list"), ({1: 2}, "texts as keys.*found 1")]
)
def test_what_is_no_dictionary_by_name_is_refused_as_a_state(tmp_path, value, problem):
    path = pickled(tmp_path, value)
    with pytest.raises(FileFormatError, match=problem):
        read_state(path)
    with open_source(path) as source:
        assert stored_in(source) == value


def test_what_is_stored_as_a_dictionary_keeps_the_names_of_its_tensors(tmp_path):
    with open_source(pickled(tmp_path, {"w": ("w_0", np.ones([2]))})) as source:
        name, elements = stored_in(source)["w"]
    assert name == "w_0" and elements.tolist() == [1, 1]


def test_paths_of_models_are_told_with_and_without_their_ending(tmp_path):
    stem = str(tmp_path / "net")
    assert stem_of(stem + ".pdmodel") == stem_of(stem + ".json") == stem_of(stem) == stem
    assert program_at(stem) is None
    (tmp_path / "net.json").touch()
    assert program_at(stem) == stem + ".json"
    (tmp_path / "net.pdmodel").touch()
    assert program_at(stem) == stem + ".pdmodel"


def test_a_path_ends_with_the_name_of_a_file(tmp_path):
    assert checked_path(tmp_path / "net") == str(tmp_path / "net")
    with pytest.raises(ArgumentError, match="got 'models/'; such as 'models/model'"):
        checked_path("models/")
