"""Models of ONNX whose sizes are known only when they run."""

import numpy as np
import pytest
from exported.graphs_of_nodes import graph, helper, model, node, run

import fluidlite as fluid
from fluidlite.errors import UnsupportedError

load = fluid.onnx.load


@pytest.fixture(autouse=True)
def fresh():
    with fluid.scope_guard(fluid.Scope()):
        yield


def test_a_loop_that_carries_sequences_is_written_out():
    body = graph(
        [
            node("Gather", "rows i", "row"),
            node("SequenceInsert", "before row", "after"),
            node("Add", "i one", "next"),
            node("Less", "next count", "going"),
        ],
        "i:int64[] on:bool[] before",
        "going:bool[] after next:int64[]",
    )
    nodes = [
        node("SequenceEmpty", "", "none"),
        helper.make_node("Loop", ["", "begin", "none"], ["all", "numbers"], body=body),
        node("ConcatFromSequence", "all", "y", axis=0, new_axis=1),
    ]
    arrays = dict(one=np.array(1), begin=np.array(True))
    ins = "rows:float32[n,2] count:int64[]"
    loaded = load(model(nodes, ins, "y numbers", **arrays), constants={"count": np.array(3)})
    x = np.arange(8, dtype="float32").reshape(4, 2)
    y, numbers = run(loaded, rows=x)
    assert y.tolist() == x[:3].tolist() and numbers.tolist() == [1, 2, 3]


def sequences_of_a_loop(inner=(), **ends):
    """A loop of unknown passes that puts rows into a sequence, and what is made of that."""
    body = graph(
        [
            *(node("Gather", "rows i", "row"), *inner),
            node("SequenceInsert", "before row", "after"),
            node("Identity", "on", "going"),
        ],
        "i:int64[] on:bool[] before",
        "going:bool[] after",
    )
    nodes = [
        node("SequenceEmpty", "", "none"),
        helper.make_node("Loop", ["count", "", "none"], ["all"], body=body),
        node("ConcatFromSequence", "all", "y", **ends),
        node("SequenceAt", "all last", "z"),
        node("SequenceLength", "all", "length"),
    ]
    ins = "rows:float32[n,2] count:int64[]"
    return model(nodes, ins, "y z length", last=np.array(-1))


@pytest.mark.parametrize(
    "ends, made",
    [
        (dict(axis=0), np.ravel),
        (dict(axis=0, new_axis=1), np.array),
        (dict(axis=-1, new_axis=1), np.transpose),
    ],
)
def test_a_sequence_grows_in_a_loop_whose_passes_are_not_known(ends, made):
    loaded = load(sequences_of_a_loop(**ends))
    x = np.arange(8, dtype="float32").reshape(4, 2)
    for count in (3, 1):
        y, z, length = run(loaded, rows=x, count=count)
        np.testing.assert_array_equal(y, made(x[:count]))
        assert z.tolist() == x[count - 1].tolist() and length == count


def test_what_a_loop_of_unknown_passes_put_into_a_sequence_is_not_read_there():
    with pytest.raises(UnsupportedError, match="how often the loop around runs must be known"):
        load(sequences_of_a_loop([node("SequenceLength", "before", "size")], axis=0))


def test_a_triangle_of_unknown_sizes_may_have_infinity_outside():
    x = np.full((2, 3), -np.inf, "float32")
    for upper, right in ((1, np.triu), (0, np.tril)):
        made = model([node("Trilu", "x k", "y", upper=upper)], "x:float32[n,m]", "y", k=np.array(1))
        np.testing.assert_array_equal(run(load(made), x=x)[0], right(x, 1))


def test_elements_are_put_where_sizes_are_unknown():
    x = np.arange(6, dtype="float32").reshape(2, 3)
    index, new = np.array([[2, 0], [1, 2]]), np.array([[9, 8], [7, 6]], "float32")
    ins = "x:float32[n,m] i:int64[n,2] u:float32[n,2]"
    for reduction in ("none", "add"):
        made = model([node("ScatterElements", "x i u", "y", axis=1, reduction=reduction)], ins, "y")
        right = x.copy()
        old = np.take_along_axis(x, index, 1) if reduction == "add" else 0
        np.put_along_axis(right, index, new + old, 1)
        np.testing.assert_array_equal(run(load(made), x=x, i=index, u=new)[0], right)


def test_a_shape_of_which_a_part_is_unknown_makes_others_known():
    nodes = [
        node("Shape", "x", "n", end=1),
        node("Concat", "one n six", "shape", axis=0),
        node("Expand", "zero shape", "zeros"),
        node("Reshape", "zeros shape2", "y", allowzero=1),
    ]
    nodes.insert(3, node("Concat", "n six", "shape2", axis=0))
    arrays = dict(one=np.array([1]), six=np.array([6]), zero=np.zeros((), "float32"))
    loaded = load(model(nodes, "x:float32[n,3]", "zeros y", **arrays))
    assert [v.shape for v in loaded.fetches] == [(1, -1, 6), (-1, 6)]
    zeros, y = run(loaded, x=np.ones((4, 3), "float32"))
    assert zeros.shape == (1, 4, 6) and y.shape == (4, 6)


def test_a_shape_of_products_of_sizes_is_taken_when_the_model_runs():
    nodes = [
        node("Shape", "x", "n", start=1, end=2),
        node("Squeeze", "n", "one"),
        node("Mul", "one two", "twice"),
        node("Reshape", "twice rest", "count"),
        node("Concat", "five count four", "shape", axis=0),
        node("Reshape", "x shape", "y", allowzero=1),
    ]
    arrays = {"two": 2, "rest": [-1], "five": [5], "four": [4]}
    constants = {name: np.array(value) for name, value in arrays.items()}
    loaded = load(model(nodes, "x:float32[5,n,8]", "y", **constants))
    assert [v.shape for v in loaded.fetches] == [(5, -1, 4)]
    x = np.arange(120, dtype="float32").reshape(5, 3, 8)
    np.testing.assert_array_equal(run(loaded, x=x)[0], x.reshape(5, 6, 4))


def test_a_part_of_sizes_that_are_not_known_is_not_guessed():
    nodes = [node("Shape", "x", "sizes"), node("Gather", "sizes i", "y")]
    x, i = np.ones((3, 4), "float32"), np.array([1])
    loaded = load(model(nodes, "x:float32[n,4] i:int64[1]", "y"))
    assert run(loaded, x=x, i=i)[0].tolist() == [4]
    assert run(loaded, x=x, i=i - 1)[0].tolist() == [3]


def test_groups_of_equal_rows_are_found_in_any_number_of_rows():
    ins, outs = "x:float32[n,2]", "values first index count"
    loaded = load(model([node("Unique", "x", outs, axis=0)], ins, outs))
    for rows in ([[2, 1], [1, 5], [2, 1], [1, 4]], [[3, 3]]):
        x = np.array(rows, "float32")
        right = np.unique(x, True, True, True, axis=0)
        for found, value in zip(run(loaded, x=x), right, strict=True):
            np.testing.assert_array_equal(found, value.reshape(found.shape))


def test_the_last_element_of_an_unknown_number_has_no_dimension_for_it():
    made = model([node("Gather", "x i", "y", axis=1)], "x:float32[n,m,5]", "y", i=np.array(-1))
    x = np.arange(30, dtype="float32").reshape(2, 3, 5)
    (found,) = run(load(made), x=x)
    np.testing.assert_array_equal(found, x[:, -1])
