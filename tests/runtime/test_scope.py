"""Scopes: values by name, kids, guards, and tensors that read and write them."""

import numpy as np
import pytest

import fluidlite as fluid


def test_a_kid_sees_the_variables_of_its_parent_and_not_the_reverse():
    scope = fluid.Scope()
    kid = scope.new_scope()
    scope.var("a").get_tensor().set(np.zeros(2))
    kid.var("b")
    assert kid.find_var("a") is scope.find_var("a")
    assert scope.find_var("b") is None
    assert kid.local_var_names() == ["b"]


def test_a_tensor_of_a_scope_writes_through():
    scope = fluid.Scope()
    tensor = scope.var("a").get_tensor()
    tensor.set(np.arange(6, dtype="float32").reshape(3, 2))
    tensor.set_recursive_sequence_lengths([[1, 2]])
    again = scope.find_var("a").get_tensor()
    assert again.recursive_sequence_lengths() == [[1, 2]]
    assert again.shape() == [3, 2]
    copied = np.array(again)
    copied[:] = 9
    assert np.array(again)[0, 0] == 0


def test_a_guard_ends_with_an_error_too():
    before = fluid.global_scope()
    with pytest.raises(KeyError), fluid.scope_guard(fluid.Scope()):
        assert fluid.global_scope() is not before
        raise KeyError
    assert fluid.global_scope() is before


def test_only_persistable_variables_stay():
    x = fluid.data("x", [2], "float32")
    kept = fluid.layers.create_global_var([2], 0.0, "float32", persistable=True, name="kept")
    fluid.layers.assign(x * 2.0, kept)
    fluid.Executor().run(feed={"x": np.ones(2, "float32")})
    assert fluid.global_scope().local_var_names() == ["kept"]


@pytest.mark.parametrize("type", ["fill_constant", "uniform_random"])
def test_rows_of_a_tensor_may_be_filled(type):
    block = fluid.default_main_program().global_block()
    kind = fluid.core.VarDesc.VarType.SELECTED_ROWS
    rows = block.create_var(name="rows", type=kind, dtype="float32", persistable=True)
    numbers = dict(value=2.5, dtype="float32") if type == "fill_constant" else dict(min=2, max=3)
    block.append_op(type, outputs={"Out": rows}, attrs=dict(shape=[4, 3], **numbers))
    fluid.Executor().run()
    found = fluid.global_scope().find_var("rows").get_selected_rows()
    assert found.height() == 4
    assert (np.array(found.get_tensor()) >= 2).all()
    assert np.array(found.get_tensor()).shape == (4, 3)
