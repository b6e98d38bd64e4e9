"""Tensors under fluid 1.8's rules, and where layers run at once."""

import copy
import pickle
import threading

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite import dygraph, layers
from fluidlite.errors import ArgumentError, OverwrittenError, ReleasedError


@pytest.fixture(autouse=True)
def guard():
    with dygraph.guard():
        yield


def leaf(*values, dtype="float32"):
    made = dygraph.to_variable(np.array(values, dtype))
    made.stop_gradient = False
    return made


def test_a_second_backward_replaces_gradients():
    x = leaf(1.0, 2.0)
    layers.reduce_sum(x * 2.0).backward()
    layers.reduce_sum(x * 3.0).backward()
    assert x.gradient().tolist() == [3, 3]


def test_within_one_backward_gradients_add_up():
    x = leaf(1.0, 2.0)
    layers.reduce_sum(x * x + x * 3.0).backward()
    assert x.gradient().tolist() == [5, 7]


def test_gradients_of_results_are_kept():
    x = leaf(1.0, 2.0)
    a = x * 2.0
    y = layers.reduce_sum(a * a)
    y.backward()
    assert (a.gradient().tolist(), y.gradient().tolist()) == ([4, 8], [1])


def test_the_gradient_is_had_by_the_name_that_old_code_uses():
    with fluid.dygraph.guard():
        x = fluid.dygraph.to_variable(np.ones([2], "float32"))
        x.stop_gradient = False
        assert x._grad_ivar() is None
        fluid.layers.reduce_sum(x * 3.0).backward()
        assert x._grad_ivar().numpy().tolist() == [3, 3]


def test_grad_keeps_no_gradients():
    x = leaf(1.0, 2.0)
    a = x * 2.0
    (g,) = dygraph.grad([layers.reduce_sum(a)], [x])
    assert g.numpy().tolist() == [2, 2]
    assert (x.gradient(), a.gradient()) == (None, None)


def test_gradients_of_several_outputs_are_kept():
    x = leaf(1.0, 2.0, 3.0, 4.0)
    a, b = layers.split(x, 2, dim=0)
    layers.reduce_sum(a * 2.0 + b * 3.0).backward()
    assert (a.gradient().tolist(), b.gradient().tolist()) == ([2, 2], [3, 3])


def test_a_gradient_that_is_kept_does_not_keep_the_tensor_alive():
    import weakref

    x = leaf(1.0)
    a = x * 2.0
    y, gone = a * 3.0, weakref.ref(a)
    del a
    assert gone() is None
    y.backward()


def test_a_released_graph_warns_and_does_nothing():
    x = leaf(1.0)
    y = x * x
    y.backward()
    with pytest.warns(UserWarning, match="released by an earlier call"):
        y.backward()
    assert x.gradient().tolist() == [2]


def test_a_part_that_another_backward_released_is_an_error():
    m = leaf(1.0) * 2.0
    a, b = m * 2.0, m * 3.0
    a.backward()
    with pytest.raises(ReleasedError, match="retain_graph=True"):
        b.backward()


def test_backward_of_what_stops_does_nothing():
    x = dygraph.to_variable(np.ones(2, "float32"))
    layers.reduce_sum(x).backward()
    assert x.gradient() is None


def test_backward_takes_a_strategy():
    x = leaf(3.0)
    y = x * x
    y.backward(dygraph.BackwardStrategy(sort_sum_gradient=True), retain_graph=True)
    y.backward()
    assert x.gradient().tolist() == [6]
    with pytest.raises(ArgumentError, match="BackwardStrategy"):
        y.backward(x)


def test_clear_gradient_makes_it_zero():
    x = leaf(3.0)
    (x * x).backward()
    x.clear_gradient()
    assert x.gradient().tolist() == [0]


def test_second_order():
    x = leaf(1.0, 2.0)
    (g,) = dygraph.grad([x * x * x], [x], create_graph=True)
    layers.reduce_sum(g * g).backward()
    np.testing.assert_allclose(x.gradient(), 36 * np.array([1, 2]) ** 3.0)


def test_there_are_no_shapes_without_dimensions():
    x = leaf(1.0, 2.0)
    assert x[0].shape == layers.reduce_sum(x).shape == layers.mean(x).shape == [1]
    assert x[0:1].shape == [1]
    x[0].backward()
    assert x.gradient().tolist() == [1, 0]


def test_one_element_is_a_number():
    loss = layers.reduce_sum(leaf(1.0, 2.0))
    assert float(loss.numpy()) == 3
    assert int(loss.numpy()) == 3
    assert f"{float(loss.numpy()):.1f}" == "3.0"
    assert "%.1f" % loss.numpy() == "3.0"  # noqa: UP031 (as old scripts print)
    assert repr(loss.numpy()) == "array([3.], dtype=float32)"
    with pytest.raises(ValueError):
        float(loss.numpy() + np.zeros(2))


def test_names_are_made_up_when_asked_for():
    with fluid.unique_name.guard():
        assert leaf(1.0).name == "generated_var_0"
        assert dygraph.to_variable(np.ones(2), name="mine").name == "mine"


def test_what_was_detached_keeps_its_elements_when_the_tensor_is_trained():
    layer = dygraph.Linear(2, 1)
    before, weight = layer.weight.detach(), layer.weight.numpy()
    loss = layers.reduce_sum(layer(dygraph.to_variable(np.ones((1, 2), "float32"))))
    loss.backward()
    fluid.optimizer.SGD(0.5, parameter_list=layer.parameters()).minimize(loss)
    np.testing.assert_array_equal(before.numpy(), weight)
    assert before.stop_gradient
    np.testing.assert_allclose(layer.weight.numpy(), weight - 0.5, rtol=1e-6)
    other = layer.bias.detach()
    other.set_value(np.ones(1, "float32"))
    assert layer.bias.numpy().tolist() == [-0.5]


def test_to_variable_takes_arrays_and_tensors():
    x = leaf(1.0)
    assert dygraph.to_variable(x) is x
    other = fluid.to_tensor([1.0], stop_gradient=False)
    (dygraph.to_variable(other * 2.0) * 3.0).backward()
    assert other.grad.tolist() == [6]
    for wrong in ([1.0], 1.0, "x", None):
        with pytest.raises(ArgumentError, match="expected an array or a tensor"):
            dygraph.to_variable(wrong)


def test_a_parameter_that_was_updated_is_not_mistaken_for_the_old_one():
    w = layers.create_parameter([2], "float32")
    loss = layers.reduce_sum(w * w)
    sgd = fluid.optimizer.SGD(0.1, parameter_list=[w])
    loss.backward(retain_graph=True)
    sgd.minimize(loss)
    with pytest.raises(OverwrittenError, match=f"{w.name}"):
        loss.backward()


def test_tensors_are_copied_and_pickled():
    p = layers.create_parameter([2, 3], "float32", name="p")
    copied, read = copy.deepcopy(p), pickle.loads(pickle.dumps(p))
    assert copied.name.startswith("p_deepcopy_") and read.name == "p"
    for again in (copied, read):
        assert type(again) is dygraph.ParamBase
        assert (again.trainable, again.persistable) == (True, True)
        np.testing.assert_array_equal(again.numpy(), p.numpy())


def test_modes():
    assert dygraph.enabled() and fluid.in_dygraph_mode()
    seen = []
    thread = threading.Thread(target=lambda: seen.append(fluid.in_dygraph_mode()))
    thread.start()
    thread.join()
    assert seen == [False]


def test_the_random_seed_of_the_program_fixes_parameters_and_dropout():
    fluid.default_main_program().random_seed = 3
    a, b = (layers.create_parameter([2, 3], "float32").numpy() for _ in range(2))
    np.testing.assert_array_equal(a, b)
    x = leaf(*[1.0] * 50)
    np.testing.assert_array_equal(layers.dropout(x, 0.5).numpy(), layers.dropout(x, 0.5).numpy())
    fluid.default_main_program().random_seed = 0
    assert (layers.dropout(x, 0.5).numpy() != layers.dropout(x, 0.5).numpy()).any()


class TestOutsideOfTheGuard:
    @pytest.fixture(autouse=True)
    def guard(self):
        """No guard."""

    def test_to_variable_is_refused(self):
        with pytest.raises(AssertionError, match=r"within fluid\.dygraph\.guard"):
            dygraph.to_variable(np.ones(2))

    def test_dygraph_is_enabled_and_disabled(self):
        fluid.enable_dygraph()
        try:
            assert layers.fill_constant([1], "float32", 2.0).numpy() == 2
        finally:
            fluid.disable_dygraph()
        assert not fluid.in_dygraph_mode()
        assert not fluid.framework.in_dygraph_mode()


def test_integers_may_be_told_to_want_a_gradient_and_get_none():
    ids = dygraph.to_variable(np.array([1, 2]))
    assert ids.stop_gradient
    ids.stop_gradient = False
    assert not ids.stop_gradient
    x = leaf(3.0, 4.0)
    layers.reduce_sum(x * layers.cast(ids, "float32")).backward()
    assert x.gradient().tolist() == [1, 2] and ids.gradient() is None
    assert (ids * 2).stop_gradient
    ids.stop_gradient = True
    assert ids.stop_gradient


def test_recorded_gradients_do_not_stop_gradients_even_if_they_are_constant():
    x = leaf(2.0, 3.0)
    for y in x, x * 2.0, x * x:
        assert not dygraph.grad(y, x, create_graph=True)[0].stop_gradient
        assert dygraph.grad(y, x, retain_graph=True)[0].stop_gradient
    (one,) = dygraph.grad(x, x, create_graph=True)
    layers.reduce_sum(one * one * x).backward()
    assert one.gradient().tolist() == [4, 6] and x.gradient().tolist() == [1, 1]
    seed = dygraph.to_variable(np.array([5.0, 6.0], "float32"))
    assert dygraph.grad(x, x, seed, create_graph=True)[0].stop_gradient


def test_labels_without_the_last_1_give_losses_without_it():
    p = leaf([0.25, 0.75], [0.5, 0.5])
    label = dygraph.to_variable(np.array([0, 1]))
    loss = layers.cross_entropy(p, label)
    assert loss.shape == [2]
    np.testing.assert_allclose(loss.numpy(), np.log([4, 2]), rtol=1e-6)
    loss.backward()
    np.testing.assert_allclose(p.gradient(), [[-4, 0], [0, -2]])


def test_an_unused_part_of_a_split_has_a_gradient_of_zeros():
    x = leaf([1.0, 2.0, 3.0, 4.0])
    used, unused = layers.split(x, 2, dim=1)
    layers.reduce_sum(used * used).backward()
    np.testing.assert_array_equal(unused.gradient(), [[0, 0]])
    np.testing.assert_array_equal(x.gradient(), [[2, 4, 0, 0]])


def test_a_result_that_nothing_was_made_of_has_no_gradient():
    x = leaf([1.0, 2.0, 3.0])
    loss, likely = layers.softmax_with_cross_entropy(
        x, dygraph.to_variable(np.array([[1]])), return_softmax=True
    )
    layers.reduce_sum(loss).backward()
    assert likely.gradient() is None


def test_the_elements_of_argsort_have_gradients_and_their_places_have_none():
    x = leaf(3.0, 1.0, 2.0)
    values, places = layers.argsort(x)
    assert places.stop_gradient
    layers.reduce_sum(values * dygraph.to_variable(np.array([1.0, 2.0, 3.0], "float32"))).backward()
    assert x.gradient().tolist() == [3.0, 1.0, 2.0]


def test_a_tensor_answers_what_scripts_ask_of_variables():
    x = dygraph.to_variable(np.ones([2], "float32"))
    assert x.type == fluid.core.VarDesc.VarType.LOD_TENSOR
    assert x.block is fluid.default_main_program().global_block()
    assert "float32" in x.to_string(True, with_details=True)


def test_quotients_of_integers_are_integers():
    with fluid.dygraph.guard():
        i, j = (
            fluid.dygraph.to_variable(np.array([-7, 7, 8])),
            fluid.dygraph.to_variable(np.array([2, -2, 3])),
        )
        made = [i / j, i / 2, i / 2.0, 7.0 / i, i // 2, i % 2, i % j, i + 1.0, i**0.5, i**2.5]
        fractions = i / fluid.layers.cast(j, "float32")
    assert {each.array.dtype.name for each in made} == {"int64"}
    assert [each.numpy().tolist() for each in made] == [
        [-3, -3, 2],
        [-3, 3, 4],
        [-3, 3, 4],
        [-1, 1, 0],
        [-3, 3, 4],
        [-1, 1, 0],
        [-1, 1, 2],
        [-6, 8, 9],
        [1, 1, 1],
        [49, 49, 64],
    ]
    np.testing.assert_array_equal(fractions.numpy(), np.float32([-3.5, -3.5, 8 / 3]))
