"""Each optimizer trains a parameter as its formulas say, written out in NumPy."""

from functools import partial
from math import sqrt

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.errors import ArgumentError

# attributes are C floats: 0.05 has seven digits
assert_close = partial(np.testing.assert_allclose, rtol=2e-5)
START = np.array([0.5, -1.0, 2.0])
INPUTS = np.array([[1.0, 2.0, -1.0], [0.5, -1.0, 3.0], [2.0, 0.0, 1.0], [-1.0, 1.5, 0.5]])


def train(optimizer, steps=4):
    """The parameter after each step; the loss of step s is the square of input s times it."""
    x = fluid.data("x", [3], "float64")
    w = fluid.layers.create_parameter(
        [3], "float64", name="w", default_initializer=fluid.initializer.Constant(0.0)
    )
    optimizer.minimize(fluid.layers.reduce_sum(fluid.layers.square(x * w)))
    executor, scope = fluid.Executor(), fluid.global_scope()
    executor.run(fluid.default_startup_program())
    tensor = scope.find_var("w").get_tensor()
    tensor.set(START)
    seen = []
    for step in range(steps):
        executor.run(feed={"x": INPUTS[step]})
        seen.append(np.array(tensor))
    return seen


def expected(rule, steps=4):
    """The parameter after each step of ``rule(number of the step, parameter, gradient)``."""
    w, seen = START.copy(), []
    for step in range(steps):
        w = rule(step + 1, w, 2 * INPUTS[step] ** 2 * w)
        seen.append(w.copy())
    return seen


def test_gradient_descent():
    found = train(fluid.optimizer.SGD(0.05))
    assert_close(found, expected(lambda _, w, g: w - 0.05 * g))


@pytest.mark.parametrize("nesterov", [False, True])
def test_momentum(nesterov):
    velocity = np.zeros(3)

    def rule(_, w, g):
        nonlocal velocity
        velocity = 0.9 * velocity + g
        return w - 0.01 * (g + 0.9 * velocity if nesterov else velocity)

    found = train(fluid.optimizer.Momentum(0.01, 0.9, use_nesterov=nesterov))
    assert_close(found, expected(rule))


def adam_rule(rate, beta1, beta2, epsilon):
    first, second = np.zeros(3), np.zeros(3)

    def rule(t, w, g):
        nonlocal first, second
        first = beta1 * first + (1 - beta1) * g
        second = beta2 * second + (1 - beta2) * g * g
        step = rate * sqrt(1 - beta2**t) / (1 - beta1**t)
        return w - step * first / (np.sqrt(second) + epsilon)

    return rule


def test_adam():
    found = train(fluid.optimizer.Adam(0.1, beta1=0.8, beta2=0.95, epsilon=1e-3))
    assert_close(found, expected(adam_rule(0.1, 0.8, 0.95, 1e-3)))


def test_adam_with_its_usual_numbers_as_variables():
    betas = [
        fluid.layers.create_global_var([1], value, "float64", persistable=True, name=name)
        for name, value in (("beta1", 0.9), ("beta2", 0.999))
    ]
    found = train(fluid.optimizer.Adam(0.1, *betas))
    assert_close(found, expected(adam_rule(0.1, 0.9, 0.999, 1e-8)))


def test_lars():
    velocity = np.zeros(3)

    def rule(_, w, g):
        nonlocal velocity
        length = np.linalg.norm
        rate = 0.5 * 0.02 * length(w) / (length(g) + 0.1 * length(w))
        velocity = 0.9 * velocity + rate * (g + 0.1 * w)
        return w - velocity

    lars = fluid.optimizer.LarsMomentum(0.5, 0.9, lars_coeff=0.02, lars_weight_decay=0.1)
    assert_close(train(lars), expected(rule))


@pytest.mark.parametrize("decay", [None, 0.8])
def test_adagrad_and_its_form_that_forgets(decay):
    squares = np.full(3, 0.1 if decay is None else 0.0)

    def rule(_, w, g):
        nonlocal squares
        squares = squares + g * g if decay is None else decay * squares + (1 - decay) * g * g
        return w - 0.1 * g / (np.sqrt(squares) + 1e-3)

    if decay is None:
        optimizer = fluid.optimizer.Adagrad(0.1, epsilon=1e-3, initial_accumulator_value=0.1)
    else:
        optimizer = fluid.optimizer.DecayedAdagrad(0.1, decay, epsilon=1e-3)
    assert_close(train(optimizer), expected(rule))


def test_adamax():
    first, largest = np.zeros(3), np.zeros(3)

    def rule(t, w, g):
        nonlocal first, largest
        first = 0.8 * first + 0.2 * g
        largest = np.maximum(0.95 * largest + 1e-3, abs(g))
        return w - 0.1 / (1 - 0.8**t) * first / largest

    found = train(fluid.optimizer.Adamax(0.1, beta1=0.8, beta2=0.95, epsilon=1e-3))
    assert_close(found, expected(rule))


def test_adadelta():
    of_grad, of_step = np.zeros(3), np.zeros(3)

    def rule(_, w, g):
        nonlocal of_grad, of_step
        of_grad = 0.9 * of_grad + 0.1 * g * g
        of_step = 0.9 * of_step + 0.1 * (of_step + 1e-2) / (of_grad + 1e-2) * g * g
        return w - np.sqrt((of_step + 1e-2) / (of_grad + 1e-2)) * g

    assert_close(train(fluid.optimizer.Adadelta(0.5, epsilon=1e-2, rho=0.9)), expected(rule))


@pytest.mark.parametrize("centered", [False, True])
def test_rmsprop(centered):
    square, mean, step = np.zeros(3), np.zeros(3), np.zeros(3)

    def rule(_, w, g):
        nonlocal square, mean, step
        square, mean = 0.9 * square + 0.1 * g * g, 0.9 * mean + 0.1 * g
        below = square - mean**2 if centered else square
        step = 0.5 * step + 0.1 * g / np.sqrt(below + 1e-2)
        return w - step

    rmsprop = fluid.optimizer.RMSProp(0.1, 0.9, epsilon=1e-2, momentum=0.5, centered=centered)
    assert_close(train(rmsprop), expected(rule))


@pytest.mark.parametrize("power", [-0.5, -0.75])
def test_ftrl(power):
    squares, linear = np.zeros(3), np.zeros(3)

    def rule(_, w, g):
        nonlocal squares, linear
        after = (squares + g * g) ** -power
        linear = linear + g - (after - squares**-power) / 0.5 * w
        squares = squares + g * g
        found = (0.3 * np.sign(linear) - linear) / (after / 0.5 + 2 * 0.2)
        return np.where(abs(linear) > 0.3, found, 0)

    ftrl = fluid.optimizer.Ftrl(0.5, l1=0.3, l2=0.2, lr_power=power)
    assert_close(train(ftrl), expected(rule))


@pytest.mark.parametrize("excluded", [False, True])
def test_lamb(excluded):
    first, second = np.zeros(3), np.zeros(3)

    def rule(_, w, g):
        nonlocal first, second
        first, second = 0.8 * first + 0.2 * g, 0.95 * second + 0.05 * g * g
        step = first / (np.sqrt(second) + 1e-3) + (0 if excluded else 0.5) * w
        return w - 0.1 * np.linalg.norm(w) / np.linalg.norm(step) * step

    lamb = fluid.optimizer.Lamb(
        0.1,
        lamb_weight_decay=0.5,
        beta1=0.8,
        beta2=0.95,
        epsilon=1e-3,
        exclude_from_weight_decay_fn=lambda param: excluded and param.name == "w",
    )
    assert_close(train(lamb), expected(rule))


def test_differentially_private_descent_without_noise_clips():
    dpsgd = fluid.optimizer.Dpsgd(0.1, clip=2.0, batch_size=4.0, sigma=0.0)
    rule = lambda _, w, g: w - 0.1 * g * min(1.0, 2.0 / np.linalg.norm(g))
    assert_close(train(dpsgd), expected(rule))


def test_differentially_private_descent_draws_other_noise_in_every_step():
    noise = []
    found = train(fluid.optimizer.Dpsgd(1.0, clip=1e-6, batch_size=1.0, sigma=1.0), steps=3)
    for before, after in zip([START, *found], found):
        noise.append(tuple(np.round(after - before, 6)))
    assert len(set(noise)) == 3 and all(len(set(n)) == 3 for n in noise)


def test_decay_is_added_to_the_gradient():
    decay = fluid.regularizer.L2Decay(0.5)
    found = train(fluid.optimizer.SGD(0.05, regularization=decay))
    assert_close(found, expected(lambda _, w, g: w - 0.05 * (g + 0.5 * w)))


def test_gradients_are_clipped_before_decay_is_added():
    def rule(_, w, g):
        g = g * min(1.0, 2.0 / np.linalg.norm(g))
        return w - 0.05 * (g + 0.5 * w)

    optimizer = fluid.optimizer.SGD(
        0.05,
        regularization=fluid.regularizer.L2Decay(0.5),
        grad_clip=fluid.clip.GradientClipByGlobalNorm(2.0),
    )
    assert_close(train(optimizer), expected(rule))


def test_a_step_reads_what_the_parameter_was_before():
    x = fluid.data("x", [1], "float64")
    w = fluid.layers.create_parameter(
        [1], "float64", name="w", default_initializer=fluid.initializer.Constant(3.0)
    )
    loss = fluid.layers.reduce_sum(x * w)
    fluid.optimizer.SGD(1.0).minimize(loss)
    executor = fluid.Executor()
    executor.run(fluid.default_startup_program())
    seen, after = executor.run(feed={"x": np.array([2.0])}, fetch_list=[loss, w])
    assert seen.tolist() == [6.0] and after.tolist() == [1.0]


@pytest.mark.parametrize(
    "kind, given, message",
    [
        ("Momentum", {"momentum": "x"}, "Momentum: .* of at least 0, got 'x'"),
        ("Momentum", {"momentum": None}, "Momentum: .* of at least 0, got None"),
        (
            "Adam",
            {"epsilon": None},
            "Adam: expected epsilon to be a number of at least 0, got None",
        ),
        ("LarsMomentum", {"momentum": None}, "LarsMomentum: expected momentum to be a number"),
        ("Adadelta", {"rho": "x"}, "Adadelta: expected rho to be a number"),
        ("RMSProp", {"momentum": None}, "RMSProp: .* of at least 0, got None"),
        ("Lamb", {"lamb_weight_decay": None}, "Lamb: expected lamb_weight_decay to be a number"),
        (
            "Lamb",
            {"exclude_from_weight_decay_fn": 3},
            "Lamb: expected exclude_from_weight_decay_fn to be a function",
        ),
    ],
)
def test_what_is_no_number_is_refused(kind, given, message):
    with pytest.raises(ArgumentError, match=message):
        getattr(fluid.optimizer, kind)(0.1, **given)


@pytest.mark.parametrize(
    "kind, given, message",
    [
        (
            "Adam",
            {"beta1": 2.0},
            "Adam: expected beta1 to be a number of at least 0 and less than 1",
        ),
        ("Adam", {"beta2": -0.1}, r"Adam: expected beta2 to be .*, got -0\.1 of type float"),
        (
            "LarsMomentum",
            {"momentum": 0.9, "lars_weight_decay": -1},
            "LarsMomentum: expected lars_weight_decay to be a number of at least 0, got -1",
        ),
        (
            "Adagrad",
            {"initial_accumulator_value": -0.1},
            "Adagrad: expected initial_accumulator_value to be a number of at least 0",
        ),
        ("DecayedAdagrad", {"decay": 1.0}, "DecayedAdagrad: expected decay .* less than 1, got 1"),
        ("Adamax", {"beta1": 1.0}, "Adamax: expected beta1 .* less than 1"),
        ("RMSProp", {"rho": -0.5}, "RMSProp: expected rho to be a number of at least 0"),
        ("Ftrl", {"l1": -1.0}, "Ftrl: expected l1 to be a number of at least 0"),
        ("Ftrl", {"l2": -1.0}, "Ftrl: expected l2 to be a number of at least 0"),
        ("Dpsgd", {"sigma": -1.0}, "Dpsgd: expected sigma to be a number of at least 0"),
    ],
)
def test_numbers_out_of_bounds_are_warned_about(kind, given, message):
    with pytest.warns(UserWarning, match=message) as caught:
        getattr(fluid.optimizer, kind)(0.1, **given)
    assert caught[0].filename == __file__


def test_adam_passes_its_betas_on():
    beta = fluid.layers.create_global_var([1], 0.7, "float32", persistable=True, name="beta")
    x = fluid.data("x", [None, 3], "float32")
    loss = fluid.layers.mean(fluid.layers.fc(x, 1, bias_attr=False))
    ((step,), _) = fluid.optimizer.Adam(0.1, beta1=beta, beta2=0.9, lazy_mode=True).minimize(loss)
    assert step.input("Beta1Tensor") == ["beta"] and step.input("Beta2Tensor") == []
    assert step.attr("beta2") == pytest.approx(0.9) and step.attr("lazy_mode") is True


def test_names_with_and_without_optimizer_are_the_same_class():
    long = [n for n in fluid.optimizer.__all__ if n.endswith("Optimizer") and n != "Optimizer"]
    own = ("GradientMergeOptimizer", "LookaheadOptimizer", "RecomputeOptimizer")
    assert set(own) <= set(long)
    for name in (n for n in long if n not in own):
        made = getattr(fluid.optimizer, name)
        assert made is getattr(fluid.optimizer, name.removesuffix("Optimizer"))


FEW = np.array([[1], [4], [1]])  #: rows of a table that a batch looks up


def trained_table(optimizer, is_sparse, steps=3):
    """A table of 6 rows after some steps, and what the optimizer kept for it."""
    main, startup = fluid.Program(), fluid.Program()
    with fluid.unique_name.guard(), fluid.program_guard(main, startup):
        ids = fluid.data("ids", [None, 1], "int64")
        attr = fluid.ParamAttr(name="table", initializer=fluid.initializer.Constant(0.5))
        found = fluid.layers.embedding(ids, [6, 2], is_sparse=is_sparse, param_attr=attr)
        optimizer.minimize(fluid.layers.reduce_sum(fluid.layers.square(found)), startup)
    executor, scope = fluid.Executor(), fluid.Scope()
    executor.run(startup, scope=scope)
    for _ in range(steps):
        executor.run(main, feed={"ids": FEW}, scope=scope)
    return {"table": np.array(scope.find_var("table").get_tensor()), **optimizer.state_dict(scope)}


@pytest.mark.parametrize(
    "kind, given",
    [
        ("LarsMomentum", {"momentum": 0.9}),
        ("Adagrad", {"initial_accumulator_value": 0.1}),
        ("DecayedAdagrad", {}),
        ("Adamax", {}),
        ("Adadelta", {}),
        ("RMSProp", {"momentum": 0.5, "centered": True}),
        ("Ftrl", {"l1": 0.1, "l2": 0.2}),
        ("Lamb", {}),
        ("Dpsgd", {"sigma": 0.0}),
        ("SGD", {"grad_clip": fluid.clip.GradientClipByGlobalNorm(0.5)}),
    ],
)
def test_gradients_of_some_rows_train_as_whole_ones_do(kind, given):
    make = lambda: getattr(fluid.optimizer, kind)(0.1, **given)
    whole, rows = (trained_table(make(), is_sparse) for is_sparse in (False, True))
    assert whole.keys() == rows.keys()
    for name, value in whole.items():
        np.testing.assert_allclose(rows[name], value, rtol=1e-5, err_msg=name)
    assert (whole["table"][1] != 0.5).all()
