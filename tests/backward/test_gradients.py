"""gradients: seeds, weights, stops, and gradients of gradients."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.ir.verify import verify

layers = fluid.layers


def variable(name="x", shape=(2,), dtype="float64"):
    made = fluid.data(name, list(shape), dtype)
    made.stop_gradient = False
    return made


def run(fetch, **feed):
    verify(fluid.default_main_program())
    feed = {name: np.asarray(value, "float64") for name, value in feed.items()}
    return fluid.Executor().run(feed=feed, fetch_list=fetch)


def test_targets_are_weighted_with_their_target_gradients():
    x, weight = variable(), fluid.data("weight", [2], "float64")
    (dx,) = fluid.gradients(layers.square(x), x, weight)
    np.testing.assert_allclose(run([dx], x=[1, 2], weight=[10, 100])[0], [20, 400])


def test_targets_that_contain_each_other_keep_their_own_seeds():
    x = variable()
    inner = layers.square(x)
    outer = layers.scale(inner, 3.0)
    (dx,) = fluid.gradients([outer, inner], x)
    np.testing.assert_allclose(run([dx], x=[1, 2])[0], [8, 16])


def test_an_unreachable_input_gives_none_in_its_place():
    x, u = variable(), variable("u")
    assert [None if g is None else g.name for g in fluid.gradients(layers.square(x), [u, x])] == [
        None,
        "x@GRAD",
    ]


def test_a_target_that_is_its_own_input_gives_ones():
    x = variable()
    square = layers.square(x)
    (own,) = fluid.gradients(square, square)
    np.testing.assert_allclose(run([own], x=[5, 6])[0], [1, 1])


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_gradients_of_gradients_are_right_to_any_order(order):
    x = variable()
    y = layers.exp(layers.sin(x) * x)
    found = [y]
    for _ in range(order):
        found = fluid.gradients(found, x)
    at = np.array([0.3, -0.7])

    def derivative(f, h=1e-2, k=order):
        if k == 0:
            return f
        inner = derivative(f, h, k - 1)
        # five points: the error is of the order h^4
        return lambda t: (
            (inner(t - 2 * h) - 8 * inner(t - h) + 8 * inner(t + h) - inner(t + 2 * h)) / (12 * h)
        )

    want = derivative(lambda t: np.exp(np.sin(t) * t))(at)
    np.testing.assert_allclose(run(found, x=at)[0], want, rtol=1e-5)


def test_a_gradient_penalty_differentiates_a_norm_of_gradients():
    x = variable(shape=[3])
    w = layers.create_parameter([3], "float64", attr=fluid.ParamAttr(name="w"))
    (dx,) = fluid.gradients(layers.reduce_sum(layers.square(x * w)), x)
    penalty = layers.reduce_sum(layers.square(dx))
    ((_, dw),) = fluid.backward.append_backward(penalty)
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    values = {"x": np.array([1.0, 2.0, 3.0])}
    found, weight = exe.run(feed=values, fetch_list=[dw, "w"])
    # dx = 2 x w^2, so the penalty is 4 x^2 w^4
    np.testing.assert_allclose(found, 16 * values["x"] ** 2 * weight**3, rtol=1e-9)


def test_stopping_at_a_variable_cuts_what_is_behind_it():
    x = variable()
    stopped = layers.square(x)
    y = stopped * layers.scale(x, 3.0)
    (dx,) = fluid.gradients(y, x, no_grad_set={stopped})
    np.testing.assert_allclose(run([dx], x=[1, 2])[0], [3, 12])


def test_an_input_of_another_program_is_refused():
    with fluid.program_guard(fluid.Program(), fluid.Program()):
        other = variable()
    with pytest.raises(ValueError, match="different programs"):
        fluid.gradients(layers.square(variable("y")), other)


def test_integers_stop_gradients_silently():
    x = variable()
    through = layers.cast(layers.cast(x, "int64"), "float64")
    (dx,) = fluid.gradients(through * x, x)
    np.testing.assert_allclose(run([dx], x=[2.5, -1.5])[0], [2, -1])


@pytest.mark.parametrize("layer", ["batch_norm", "layer_norm"])
def test_a_second_order_through_statistics_is_right(layer):
    x = variable(shape=[4, 3])
    y = layers.tanh(getattr(layers, layer)(x)) * x
    fluid.default_startup_program().random_seed = 1
    weight = np.random.default_rng(0).normal(size=[4, 3])
    (dx,) = fluid.gradients(layers.reduce_sum(y), x)
    (twice,) = fluid.gradients(dx, x, fluid.data("weight", [4, 3], "float64"))
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    at = np.random.default_rng(1).normal(size=[4, 3])

    def slope(v):
        feed = {"x": v, "weight": weight}
        return (exe.run(feed=feed, fetch_list=[dx])[0] * weight).sum()

    found = exe.run(feed={"x": at, "weight": weight}, fetch_list=[twice])[0]
    for i, j in ((0, 0), (2, 1), (3, 2)):
        step = np.zeros([4, 3])
        step[i, j] = 1e-5
        numeric = (slope(at + step) - slope(at - step)) / 2e-5
        np.testing.assert_allclose(found[i, j], numeric, rtol=1e-6)


def test_the_gradient_of_one_input_that_stops_gradients_itself_is_warned_of():
    x = fluid.data("x", [2])
    with pytest.warns(fluid.errors.FluidWarning, match="set x.stop_gradient = False before"):
        assert fluid.gradients(fluid.layers.square(x), x) == []


def test_the_gradient_of_one_input_that_nothing_depends_on_is_an_empty_list():
    """As in fluid; beside others there is None in its place."""
    x, y = fluid.data("x", [2]), fluid.data("y", [2])
    x.stop_gradient = y.stop_gradient = False
    loss = fluid.layers.reduce_sum(x * 2.0)
    assert fluid.gradients([loss], [y]) == []
    found = fluid.gradients([loss], [y, x])
    assert found[0] is None and found[1].name == "x@GRAD"


@pytest.mark.parametrize("type", ["mod", "clip"])
def test_where_fluid_has_no_gradient_though_there_is_one_a_warning_says_so(type):
    x = fluid.data("x", [3])
    x.stop_gradient = False
    result = x % 2.0 if type == "mod" else fluid.layers.clip_by_norm(x, 1.0)
    loss = fluid.layers.reduce_sum(x) + fluid.layers.reduce_sum(result)
    with pytest.warns(fluid.errors.FluidWarning, match="no gradient flows through"):
        (slope,) = fluid.gradients(loss, x)
    (found,) = fluid.Executor().run(feed={"x": np.ones(3, "float32")}, fetch_list=[slope])
    np.testing.assert_array_equal(found, np.ones(3))
    certificate = fluid.transform.certify(fluid.default_main_program())
    assert certificate.headline.endswith("with 1 result held constant")
