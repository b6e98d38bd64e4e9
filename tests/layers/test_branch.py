"""Branches whose functions give different things."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite import layers
from fluidlite.errors import ArgumentError

from building import data


def branched(on_true, on_false):
    return layers.cond(
        data("p", [1], "bool"),
        lambda: layers.fill_constant([1], on_true, 2.0),
        lambda: layers.fill_constant([1], on_false, 3.0),
    )


@pytest.mark.parametrize("on_true, on_false", [("float32", "int64"), ("int64", "float32")])
def test_a_branch_of_another_element_type_gives_what_it_is_with_a_warning(on_true, on_false):
    with pytest.warns(UserWarning, match="has the element type of the branch that runs") as said:
        out = branched(on_true, on_false)
    assert said[0].filename == __file__
    assert str(out.dtype) == "float32"
    exe, more = fluid.Executor(), layers.scale(out, 2.0)
    for truth in (True, False, True, True, False):
        found = exe.run(feed={"p": np.array([truth])}, fetch_list=[out, more])
        assert [v.dtype.name for v in found] == [on_true if truth else on_false] * 2
        assert [v.item() for v in found] == ([2, 4] if truth else [3, 6])


def test_functions_that_give_different_structures_are_refused():
    p, x = data("p", [1], "bool"), data()
    with pytest.raises(ArgumentError, match="the same structure, got a variable and"):
        layers.cond(p, lambda: x, lambda: [x])


def test_the_last_number_is_not_compared_with_where_there_is_no_default():
    index = fluid.data("index", [1], "int64")
    out = layers.switch_case(
        index, {k: lambda k=k: layers.fill_constant([1], "float32", k) for k in (1, 2, 3)}
    )
    assert [op.type for op in fluid.default_main_program().global_block().ops].count("equal") == 2
    exe = fluid.Executor()
    found = [exe.run(feed={"index": np.array([k])}, fetch_list=[out])[0] for k in (1, 2, 3, 7)]
    assert np.concatenate(found).tolist() == [1.0, 2.0, 3.0, 3.0]


def test_rows_with_sequences_choose_their_branch():
    x = fluid.data("x", [None, 1], lod_level=1)
    both = layers.IfElse(layers.less_than(x, layers.zeros_like(x)))
    with both.true_block():
        both.output(layers.scale(both.input(x), -1.0))
    with both.false_block():
        both.output(layers.scale(both.input(x), 2.0))
    (out,) = both()
    rows = np.array([[1], [-2], [3], [-4]], "float32")
    given = {"x": fluid.create_lod_tensor(rows, [[1, 1, 1, 1]], fluid.CPUPlace())}
    (found,) = fluid.Executor().run(feed=given, fetch_list=[out], return_numpy=False)
    np.testing.assert_array_equal(np.array(found), [[2], [2], [6], [4]])
