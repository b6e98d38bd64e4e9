"""gradcheck of functions of eager tensors."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite import flow
from fluidlite.errors import ArgumentError, GradientCheckError


@pytest.fixture
def rng():
    return np.random.default_rng(7)


def tensor(array):
    return fluid.to_tensor(np.asarray(array, "float32"))


class Doubtful(fluid.autograd.PyLayer):
    """x^2 with a wrong slope at the element 1."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, gradient):
        (x,) = ctx.saved_tensor()
        return gradient * x * fluid.to_tensor(np.array([2.0, 3.0, 2.0]))


class HalfDoubtful(fluid.autograd.PyLayer):
    """x^3, whose slope is right as a number, and wrong as a function."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x * x

    @staticmethod
    def backward(ctx, gradient):
        (x,) = ctx.saved_tensor()
        return gradient * 3.0 * x * x.detach()


@pytest.mark.parametrize("order", [1, 2, 3])
def test_right_gradients_agree_up_to_an_order(order, rng):
    inputs = {"x": tensor(rng.normal(size=[2, 3])), "y": tensor(rng.normal(size=[2, 3]))}
    report = fluid.gradcheck(lambda x, y: fluid.tanh(x * y) * x, inputs, order=order)
    assert report.ok and report.order == order
    assert [(each.name, each.order) for each in report.inputs] == [
        (name, k) for k in range(1, order + 1) for name in ("x", "y")
    ]
    assert all(each.elements == 6 and each.error < 1e-6 for each in report.inputs)


def test_inputs_come_as_a_list_or_alone_and_other_values_are_made_tensors(rng):
    x, rows = tensor(rng.normal(size=[4, 2])), np.array([2, 0])
    report = fluid.gradcheck(lambda x, rows: fluid.gather(x, rows), [x, rows])
    assert [each.name for each in report.inputs] == ["input_0"]
    assert fluid.gradcheck(fluid.tanh, x).ok


def test_several_results_are_differentiated_together(rng):
    x = tensor(rng.normal(size=[3]))
    assert fluid.gradcheck(lambda x: (x * x, fluid.tanh(x).sum()), [x], order=2).ok


def test_tensors_of_oneflow_are_checked(rng):
    x = flow.tensor(rng.normal(size=[3]))
    assert fluid.gradcheck(lambda x: (flow.exp(x) * x).sum(), [x], order=2).ok


def test_random_operators_draw_the_same_every_time_and_the_stream_stays_where_it_was(rng):
    x = tensor(rng.normal(size=[3, 4]))
    fluid.seed(3)
    expected = fluid.rand([2]).tolist()
    fluid.seed(3)
    assert fluid.gradcheck(lambda x: fluid.nn.functional.dropout(x * x, 0.5), [x]).ok
    assert fluid.rand([2]).tolist() == expected


def test_arguments_and_their_gradients_stay_as_they_are(rng):
    x = tensor(rng.normal(size=[3]))
    x.stop_gradient = False
    before = x.numpy()
    fluid.gradcheck(fluid.tanh, [x])
    assert x.grad is None and x.numpy().tolist() == before.tolist()


def test_a_wrong_element_is_named():
    x = tensor([1.0, 2.0, 3.0])
    with pytest.raises(GradientCheckError, match=r"x \[3\]: element \[1\] is .*6, by finite .*4"):
        fluid.gradcheck(lambda x: Doubtful.apply(x).sum(), {"x": x})
    report = fluid.gradcheck(Doubtful.apply, [x], raise_error=False)
    assert not report.ok and report.order == 0


def test_what_is_wrong_at_the_second_order_is_found():
    x = tensor([1.0, 2.0])
    assert fluid.gradcheck(HalfDoubtful.apply, [x]).ok
    report = fluid.gradcheck(HalfDoubtful.apply, [x], order=2, raise_error=False)
    assert not report.ok and report.order == 1


def test_a_gradient_that_is_cut_off_is_missed():
    x = tensor([1.0, 2.0])
    with pytest.raises(GradientCheckError, match="has no gradient, although the target depends"):
        fluid.gradcheck(lambda x: (x.detach() * x.detach()).sum(), [x])


def test_a_kink_is_recognised():
    with pytest.raises(GradientCheckError, match="the slope jumps there"):
        fluid.gradcheck(lambda x: fluid.nn.functional.relu(x).sum(), [tensor([0.0])])


def test_what_is_linear_has_no_higher_orders():
    assert fluid.gradcheck(lambda x: (x * 3.0).sum(), [tensor([1.0])], order=3).ok


def test_of_a_large_array_some_elements_are_checked(rng):
    x = tensor(rng.normal(size=[20, 20]))
    report = fluid.gradcheck(fluid.tanh, [x], elements=5)
    assert report.inputs[0].elements == 5


def test_arguments_that_do_not_fit_are_refused():
    x = tensor([1.0])
    with pytest.raises(ArgumentError, match="target and scope belong to a program"):
        fluid.gradcheck(fluid.tanh, [x], target="y")
    with pytest.raises(ArgumentError, match="expected floats among the inputs, got none"):
        fluid.gradcheck(lambda x: x, [fluid.to_tensor([1])])
    with pytest.raises(ArgumentError, match="expected the function to return floats, got int64"):
        fluid.gradcheck(lambda x: fluid.argmax(x), [x])
    with pytest.raises(ArgumentError, match="expected what the function returns to be a tensor"):
        fluid.gradcheck(lambda x: 1.0, [x])
