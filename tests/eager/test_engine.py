"""Backward: seeds, accumulation, released graphs, chosen inputs."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.errors import ArgumentError, GradientShapeError, NonFiniteError, ReleasedError


def leaf(values, dtype="float32"):
    return fluid.to_tensor(np.array(values), dtype=dtype, stop_gradient=False)


def test_gradients_add_up_over_calls():
    x = leaf([1.0, 2.0])
    for k in range(1, 4):
        fluid.sum(x * x).backward()
        np.testing.assert_array_equal(x.grad, [2 * k, 4 * k])


def test_a_tensor_of_several_elements_begins_with_ones():
    x = leaf([1.0, 2.0])
    (x * 3.0).backward()
    np.testing.assert_array_equal(x.grad, [3, 3])


def test_a_seed_of_another_type_is_cast():
    x = leaf([1.0, 2.0])
    (x * x).backward(fluid.to_tensor([1, 10]))
    assert x.grad.dtype == fluid.float32
    np.testing.assert_array_equal(x.grad, [2, 40])


def test_a_seed_of_another_shape_is_refused_with_what_and_where():
    x = leaf([1.0, 2.0])
    x.name = "weights"
    with pytest.raises(GradientShapeError) as error:
        x.backward(fluid.to_tensor([1.0, 2.0, 3.0]))
    message = str(error.value)
    assert "expected a gradient of shape [2] for tensor 'weights' (float32[2])" in message
    assert "got one of shape [3]" in message
    assert f"called at {__file__}" in message


def test_a_second_backward_says_which_operator_was_released_where():
    x = leaf([1.0, 2.0])
    y = fluid.sum(x * x)
    y.backward()
    with pytest.raises(ReleasedError) as error:
        y.backward()
    message = str(error.value)
    assert "operator reduce_sum" in message
    assert __file__ in message
    assert "retain_graph=True" in message
    np.testing.assert_array_equal(x.grad, [2, 4])


def test_nothing_is_accumulated_when_a_part_of_the_graph_was_released():
    x, w = leaf([1.0]), leaf([2.0])
    m = x * x
    m.backward()
    with pytest.raises(ReleasedError):
        (m * w).backward()
    assert w.grad is None


def test_a_kept_graph_can_be_differentiated_again():
    x = leaf([3.0])
    y = x * x
    y.backward(retain_graph=True)
    y.backward()
    np.testing.assert_array_equal(x.grad, [12])


def test_no_gradient_flows_to_integers():
    x, y = fluid.to_tensor([1, 2], stop_gradient=False), fluid.to_tensor([1, 2])
    y.stop_gradient = False
    w = leaf([3.0])
    (x.astype("float32") * y.astype("float32") * w).sum().backward()
    assert (x.stop_gradient, x.grad, y.grad, w.grad.tolist()) == (False, None, None, [5])
    (y * 2).sum().backward()
    assert y.grad is None


def test_chosen_inputs_get_gradients_and_no_others():
    x, w = leaf([2.0]), leaf([3.0])
    m = x * w
    y = m * m
    fluid.autograd.backward(y, inputs=[w, m])
    np.testing.assert_array_equal(w.grad, [24])
    np.testing.assert_array_equal(m.grad, [12])
    assert x.grad is None


def test_parts_that_lead_to_no_chosen_input_are_kept():
    x, w = leaf([2.0]), leaf([3.0])
    a, b = x * x, w * w
    fluid.autograd.backward(a * b, inputs=[w])
    a.backward()
    np.testing.assert_array_equal(x.grad, [4])


def test_the_first_operator_whose_gradient_is_no_number_is_named():
    x = leaf([0.0, 4.0])
    y = fluid.sqrt(x) * 0.0
    with fluid.autograd.detect_anomaly(), pytest.raises(NonFiniteError) as error:
        y.backward()
    assert "operator sqrt" in str(error.value)
    assert __file__ in str(error.value)


def test_infinities_are_values():
    x = leaf([0.0, 4.0])
    fluid.sum(fluid.sqrt(x)).backward()
    np.testing.assert_array_equal(x.grad, [np.inf, 0.25])


def test_arguments_of_backward_are_checked():
    x = leaf([1.0])
    y = x * x
    for wrong in (lambda: y.backward(2.0), lambda: y.backward(retain_graph=1)):
        with pytest.raises(ArgumentError, match="called at"):
            wrong()
    for wrong in ([], [y, y], [y, 3.0], None):
        with pytest.raises(ArgumentError):
            fluid.autograd.backward(wrong)


def test_paths_that_double_at_every_step_take_linear_time():
    x = leaf(1.0)
    y = x
    for _ in range(60):
        y = (y + y) * 0.5
    y.backward()
    assert float(x.grad) == 1.0


def test_several_outputs_of_an_operator_flow_back_together():
    x = leaf([1.0, 2.0, 3.0, 4.0])
    a, b = fluid.split(x, 2)
    (fluid.sum(a * a) + fluid.sum(b * 10.0)).backward()
    np.testing.assert_array_equal(x.grad, [2, 4, 10, 10])


def test_rows_of_a_table_may_be_its_gradient():
    table = leaf(np.ones([4, 2]))
    rows = fluid.nn.functional.embedding(fluid.to_tensor([1, 3, 1]), table, sparse=True)
    fluid.sum(rows).backward()
    assert table.raw_gradient.rows() == [1, 3, 1]
    np.testing.assert_array_equal(table.grad, [[0, 0], [2, 2], [0, 0], [1, 1]])


def test_shapes_that_do_not_fit_are_refused_with_what_and_where():
    with pytest.raises(ValueError, match=r"cannot broadcast shapes \[2\] and \[3\]") as error:
        leaf([1.0, 2.0]) + leaf([1.0, 2.0, 3.0])
    assert f"in elementwise_add, called at {__file__}" in str(error.value)
    with pytest.raises(ArgumentError, match="elementwise_add takes tensors|expected a tensor"):
        fluid.add([1.0], [2.0])


def test_what_a_rule_only_needs_the_shape_of_is_not_kept():
    x, y = leaf([1.0, 2.0]), leaf([3.0, 4.0])
    total, product = x + y, x * y
    assert not any(getattr(kept, "array", None) is not None for kept in total.grad_fn.saved)
    assert [kept is t for kept, t in zip(product.grad_fn.saved, (x, y))] == [True, True]
    assert fluid.exp(x).grad_fn.saved == []


def test_a_node_says_what_it_is_and_where_it_was_called():
    y = leaf([1.0]) * 2.0
    assert repr(y.grad_fn).startswith(f"<elementwise_mul called at {__file__}:")
    assert leaf([1.0]).grad_fn is None


def test_two_losses_share_a_sum():
    a, b = leaf([1.0, 2.0]), leaf([3.0, 4.0])
    both = fluid.concat(fluid.split(fluid.reshape(a + b, [2, 1]), 2))
    fluid.sum(both).backward()
    fluid.sum(both * 2.0).backward()
    assert a.grad.tolist() == b.grad.tolist() == [3, 3]


def test_a_second_backward_refuses_where_it_needs_a_value_that_was_released():
    a = leaf([1.0, 2.0])
    part = a + a * a
    total = fluid.sum(part)
    total.backward()
    with pytest.raises(ReleasedError, match="operator elementwise_mul"):
        fluid.sum(part).backward()
    with pytest.raises(ReleasedError, match="operator reduce_sum"):
        total.backward()  # what it began from is released, too
    assert a.grad.tolist() == [3, 5]
