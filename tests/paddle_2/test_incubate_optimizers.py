"""Optimizers that look ahead, average, or go by curvature; numbers are those of paddle 2.6."""

import numpy as np
import pytest

from fluidlite import paddle
from fluidlite.errors import UnsupportedError

DRAWN = np.random.RandomState(1)
WEIGHT = DRAWN.randn(3, 2).astype("float32")
BATCHES = DRAWN.randn(12, 4, 3).astype("float32")


def layer():
    return paddle.nn.Linear(3, 2, weight_attr=paddle.nn.initializer.Assign(WEIGHT))


def loss_of(linear, x):
    return ((linear(x) - 1.0) ** 2).mean()


def in_program(wrap):
    """What a program is, that an optimizer of another one trains."""
    main, start = paddle.static.Program(), paddle.static.Program()
    paddle.enable_static()
    try:
        with paddle.static.program_guard(main, start):
            linear = layer()
            loss = loss_of(linear, paddle.static.data("x", [4, 3], "float32"))
            optimizer = wrap(loss)
    finally:
        paddle.disable_static()
    exe = paddle.static.Executor()
    exe.run(start)
    weight = main.all_parameters()[0].name

    def value():
        return np.array(paddle.static.global_scope().find_var(weight).get_tensor())

    for x in BATCHES:
        exe.run(main, feed={"x": x}, fetch_list=[loss])
    return optimizer, exe, value


LOOKED = {
    (1, 0.2, "SGD"): [0.5571961402893066, -0.2028314173221588, 0.053391147404909134],
    (3, 0.2, "SGD"): [0.6019572615623474, -0.19247758388519287, 0.02319123037159443],
    (3, 0.8, "Adam"): [0.8362381458282471, -0.27722400426864624, -0.1144026666879654],
}


@pytest.mark.parametrize("k, alpha, kind", LOOKED)
def test_parameters_return_to_slow_ones(k, alpha, kind):
    rate, linear = {"SGD": 0.3, "Adam": 0.1}[kind], layer()
    inner = getattr(paddle.optimizer, kind)(rate, parameters=linear.parameters())
    ahead = paddle.incubate.LookAhead(inner, alpha=alpha, k=k)
    assert isinstance(ahead, paddle.optimizer.Optimizer)
    for x in BATCHES:
        loss = loss_of(linear, paddle.to_tensor(x))
        loss.backward()
        ahead.minimize(loss) if k == 1 else ahead.step()
        ahead.clear_grad()
    found = linear.weight.numpy().reshape(-1)[:3]
    np.testing.assert_allclose(found, LOOKED[k, alpha, kind], rtol=2e-6, atol=2e-6)
    assert list(ahead.state_dict()) == [f"{p.name}_slow_0" for p in linear.parameters()]
    assert ahead.get_lr() == alpha


@pytest.mark.parametrize("k", [1, 3])
def test_parameters_of_programs_return_to_slow_ones(k):
    def wrap(loss):
        paddle.incubate.LookAhead(paddle.optimizer.SGD(0.3), alpha=0.2, k=k).minimize(loss)

    _, _, value = in_program(wrap)
    expected = LOOKED[k, 0.2, "SGD"]
    np.testing.assert_allclose(value().reshape(-1)[:3], expected, rtol=2e-6, atol=2e-6)


@pytest.mark.parametrize(
    "options", [{"alpha": 2.0}, {"alpha": -1.0}, {"k": 0}, {"k": 2.5}, {"k": "a"}]
)
def test_looking_ahead_without_sense_is_refused(options):
    inner = paddle.optimizer.SGD(0.3, layer().parameters())
    with pytest.raises(AssertionError, match="LookAhead: expected"):
        paddle.incubate.LookAhead(inner, **options)
    with pytest.raises(AssertionError, match="expected an optimizer"):
        paddle.incubate.LookAhead(None)


@pytest.mark.parametrize("window", [(0.15, 2, 4), (1.0, 3, 100)])
def test_means_take_the_place_of_parameters_for_a_while(window):
    rate, least, most = window
    linear = layer()
    sgd = paddle.optimizer.SGD(0.3, linear.parameters())
    average = paddle.incubate.ModelAverage(rate, linear.parameters(), least, most)
    for x in BATCHES:
        loss = loss_of(linear, paddle.to_tensor(x))
        loss.backward()
        sgd.step()
        average.minimize(loss)
        sgd.clear_grad()
    last = linear.weight.numpy()
    with average.apply():
        mean = linear.weight.numpy()
    np.testing.assert_array_equal(linear.weight.numpy(), last)
    with average.apply(need_restore=False):
        pass
    np.testing.assert_array_equal(linear.weight.numpy(), mean)
    average.restore()
    np.testing.assert_array_equal(linear.weight.numpy(), last)

    def wrap(loss):
        paddle.optimizer.SGD(0.3).minimize(loss)
        averaged = paddle.incubate.ModelAverage(
            rate, min_average_window=least, max_average_window=most
        )
        averaged.minimize(loss)
        return averaged

    averaged, exe, value = in_program(wrap)
    with averaged.apply(exe):
        np.testing.assert_allclose(value(), mean, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(value(), last, rtol=1e-5, atol=1e-6)
    assert abs(mean - last).max() > 1e-3


STARTS = np.random.RandomState(1)
START = [STARTS.randn(*shape) for shape in ([4, 3], [3], [6, 4], [6, 3])]
#: options -> losses before each of the steps, and how often they were evaluated
CURVED = {
    "max_iter=20": ([5.967624359958866, 0.088076007208929], 16),
    "max_iter=20, line_search_fn='strong_wolfe'": ([5.967624359958866, 0.088076007292137], 15),
}


@pytest.mark.parametrize("options", CURVED)
def test_steps_go_by_curvature(options):
    weight, bias, inputs, targets = (each.astype("float32").astype("float64") for each in START)
    w, b = (
        paddle.create_parameter(
            list(each.shape), "float64", default_initializer=paddle.nn.initializer.Assign(each)
        )
        for each in (weight, bias)
    )
    x, y = paddle.to_tensor(inputs), paddle.to_tensor(targets)
    lbfgs = paddle.optimizer.LBFGS(parameters=[w, b], **eval(f"dict({options})"))
    calls = []

    def closure():
        loss = ((paddle.matmul(x, w) + b - y) ** 2).mean()
        calls.append(float(loss))
        lbfgs.clear_grad()
        loss.backward()
        return loss

    losses = [float(lbfgs.step(closure)) for _ in range(4)]
    expected, count = CURVED[options]
    np.testing.assert_allclose(losses, expected + expected[1:] * 2, rtol=1e-10)
    assert len(calls) == lbfgs.state_dict()["state"]["func_evals"] == count


def test_what_is_kept_of_curvature_has_the_names_of_2_6():
    w = paddle.create_parameter([2], "float32")
    lbfgs = paddle.optimizer.LBFGS(parameters=[w], history_size=2)
    assert lbfgs.state_dict() == {"state": {}}

    def closure():
        loss = (w**4).sum() + w.sum()
        lbfgs.clear_grad()
        loss.backward()
        return loss

    lbfgs.step(closure)
    state = lbfgs.state_dict()["state"]
    names = "H_diag al alpha d func_evals n_iter old_sk old_yk prev_flat_grad prev_loss ro"
    assert sorted(state) == names.split()
    assert len(state["old_sk"]) == len(state["ro"]) == 2
    again = paddle.optimizer.LBFGS(parameters=[w])
    again.set_state_dict(lbfgs.state_dict())
    again.step(closure)
    assert again.state_dict()["state"]["func_evals"] > state["func_evals"]


def test_curvature_needs_a_function_that_gives_the_loss():
    w = paddle.create_parameter([2], "float32")
    with pytest.raises(RuntimeError, match="strong_wolfe"):
        paddle.optimizer.LBFGS(parameters=[w], line_search_fn="armijo")
    lbfgs = paddle.optimizer.LBFGS(parameters=[w])
    with pytest.raises(UnsupportedError, match=r"step\(closure\)"):
        lbfgs.minimize(w.sum())
    with pytest.raises(TypeError):
        lbfgs.step()
    with pytest.raises(ValueError, match="a function"):
        lbfgs.step(3.0)


def rosenbrock(x):
    return 100 * (x[1] - x[0] ** 2) ** 2 + (1 - x[0]) ** 2


def quartic(x):
    return ((x - 1.0) ** 4).sum()


#: function, start, steps -> the position, and the value there
FOUND = {
    (rosenbrock, (-1.2, 1.0), 1): ([-1.0298468880142106, 1.0694502497901182], 4.128138340789158),
    (rosenbrock, (-1.2, 1.0), 2): ([-0.9291773053247494, 0.8280509043220166], 3.8464722101253543),
    (rosenbrock, (-1.2, 1.0), 5): ([-0.5807936511061186, 0.3422727168023856], 2.5013602547089757),
    (quartic, (0.0, 3.0, 5.0), 5): (
        [0.8558272308848119, 1.0123147153760848, 0.2419231676721097],
        0.3306897303141239,
    ),
}


@pytest.mark.parametrize("function, start, steps", FOUND)
@pytest.mark.parametrize("dtype, digits", [("float32", 2e-5), ("float64", 1e-12)])
def test_the_search_for_a_least_value_goes_as_in_2_6(function, start, steps, dtype, digits):
    found = paddle.incubate.optimizer.functional.minimize_lbfgs(
        function, paddle.to_tensor(start, dtype), max_iters=steps, dtype=dtype
    )
    position, value = FOUND[function, start, steps]
    np.testing.assert_allclose(found[2].numpy(), position, rtol=digits, atol=digits)
    np.testing.assert_allclose(float(found[3]), value, rtol=digits)
    assert [each.shape for each in found[:2]] == [[1], [1]]
    assert found[0].tolist() == [False]
    assert found[2].dtype == getattr(paddle, dtype)


@pytest.mark.parametrize("name", ["minimize_bfgs", "minimize_lbfgs"])
def test_the_least_value_is_found(name):
    minimize = getattr(paddle.incubate.optimizer.functional, name)
    start = paddle.to_tensor([-1.2, 1.0], "float64")
    found = minimize(rosenbrock, start, dtype="float64", max_iters=100)
    assert found[0].tolist() == [True]
    np.testing.assert_allclose(found[2].numpy(), [1.0, 1.0], atol=1e-7)
    if name == "minimize_bfgs":  # the inverse of the second derivatives there
        np.testing.assert_allclose(found[5].numpy(), [[0.5, 1.0], [1.0, 2.005]], rtol=0.02)
    matrix = paddle.to_tensor([[2.0, 0.5], [0.5, 1.0]])
    found = minimize(quartic, paddle.to_tensor([0.0, 3.0]), initial_inverse_hessian_estimate=matrix)
    np.testing.assert_allclose(found[2].numpy(), [1.0, 1.0], atol=0.02)


@pytest.mark.parametrize("name", ["minimize_bfgs", "minimize_lbfgs"])
def test_searches_that_mean_nothing_are_refused(name):
    minimize = getattr(paddle.incubate.optimizer.functional, name)
    start = paddle.to_tensor([0.0, 3.0])
    with pytest.raises(NotImplementedError, match="strong_wolfe"):
        minimize(quartic, start, line_search_fn="armijo")
    with pytest.raises(ValueError, match="float32 or float64"):
        minimize(quartic, start, dtype="int32")
    for wrong in ([[1.0, 2.0], [0.0, 1.0]], [[-1.0, 0.0], [0.0, 1.0]]):
        with pytest.raises(ValueError, match="symmetric and positive definite"):
            minimize(quartic, start, initial_inverse_hessian_estimate=paddle.to_tensor(wrong))


@pytest.mark.parametrize("name", ["DistributedFusedLamb", "PipelineOptimizer"])
def test_what_needs_other_machines_is_refused_by_name(name):
    with pytest.raises(AttributeError, match="left out"):
        getattr(paddle.incubate.optimizer, name)
