"""Averages of parameters against a list of all of them."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.errors import ArgumentError
from fluidlite.ir.program import default_main_program, default_startup_program

STEPS = 12
INPUTS = np.random.default_rng(0).normal(size=[STEPS, 2]).astype("float32")


def model():
    """A parameter that each step moves by its input."""
    x = fluid.data("x", [2], "float32")
    w = fluid.layers.create_parameter(
        [2], "float32", "w", default_initializer=fluid.initializer.Constant(1.0)
    )
    fluid.optimizer.SGD(1.0).minimize(fluid.layers.reduce_sum(x * w))


def value(name="w"):
    return np.array(fluid.global_scope().find_var(name).get_tensor())


class Run:
    """A training; the parameter after each step."""

    def __init__(self):
        self.executor, self.seen = fluid.Executor(), []
        self.executor.run(default_startup_program())

    def step(self):
        self.executor.run(feed={"x": INPUTS[len(self.seen)]})
        self.seen.append(value())

    def averaged(self, average):
        """The parameter's average; the parameter itself comes back."""
        before = value()
        with average.apply(self.executor):
            found = value()
        np.testing.assert_array_equal(value(), before)
        return found


def running_mean(seen, decays):
    """The mean that keeps ``decays`` of itself in each step, corrected for its beginning with 0."""
    mean = np.zeros(2)
    for param, decay in zip(seen, decays):
        mean = decay * mean + (1 - decay) * param
    return mean / (1 - decays[len(seen) - 1] ** len(seen))


# -- running means ---------------------------------------------------------------------------------


def test_a_running_mean_is_corrected_for_its_beginning_at_any_time():
    model()
    average = fluid.optimizer.ExponentialMovingAverage(0.8)
    average.update()
    run = Run()
    for _ in range(STEPS):
        run.step()
        wanted = running_mean(run.seen, [0.8] * STEPS)
        np.testing.assert_allclose(run.averaged(average), wanted, rtol=1e-5)


@pytest.mark.parametrize("counter", ["int64", "float32"])
def test_early_means_follow_faster(counter):
    model()
    if counter == "int64":
        steps = fluid.layers.autoincreased_step_counter(begin=0)
    else:
        steps = fluid.layers.learning_rate_scheduler._decay_step_counter()
    average = fluid.optimizer.ExponentialMovingAverage(0.5, thres_steps=steps)
    average.update()
    run = Run()
    decays = [min(0.5, (1 + n) / (10 + n)) for n in range(STEPS)]
    assert decays[0] < decays[5] < decays[-1] == 0.5
    for _ in range(STEPS):
        run.step()
        wanted = running_mean(run.seen, decays)
        np.testing.assert_allclose(run.averaged(average), wanted, rtol=1e-5)


def test_before_the_first_step_the_parameters_stay():
    model()
    average = fluid.optimizer.ExponentialMovingAverage(0.8)
    average.update()
    assert Run().averaged(average).tolist() == [1, 1]


def test_two_means_of_one_program_do_not_disturb_each_other():
    model()
    both = [
        fluid.optimizer.ExponentialMovingAverage(decay, name="ab"[k])
        for k, decay in enumerate((0.8, 0.5))
    ]
    for average in both:
        average.update()
    run = Run()
    for _ in range(3):
        run.step()
    for average, decay in zip(both, (0.8, 0.5)):
        wanted = running_mean(run.seen, [decay] * 3)
        np.testing.assert_allclose(run.averaged(average), wanted, rtol=1e-5)


def test_a_name_stands_in_the_names_of_the_means():
    model()
    fluid.optimizer.ExponentialMovingAverage(0.8, name="mine_")
    assert "mine_w_ema_0" in default_main_program().global_block().vars


# -- means over windows ----------------------------------------------------------------------------


def test_a_mean_goes_over_the_last_steps():
    model()
    average = fluid.optimizer.ModelAverage(0.5, min_average_window=2, max_average_window=3)
    run = Run()
    lengths = []
    for _ in range(STEPS):
        run.step()
        found = run.averaged(average)
        fits = [
            n
            for n in range(1, len(run.seen) + 1)
            if np.allclose(found, np.mean(run.seen[-n:], axis=0), rtol=1e-5)
        ]
        lengths.append(fits[0])
    # windows of 2 steps, then of 3; while one fills, the one before counts too
    assert lengths == [1, 2, 3, 2, 3, 4, 3, 4, 5, 3, 4, 5]


def test_sums_are_states_of_the_training():
    model()
    fluid.optimizer.ModelAverage(0.5, 2, 3, name="mine")
    names = [n for n in default_startup_program().global_block().vars if n.startswith("w_mine")]
    assert "w_mine_sum_1_0" in names and "w_mine_num_updates_0" in names and len(names) == 6


# -- both ------------------------------------------------------------------------------------------


def make(kind):
    if kind == "ModelAverage":
        return fluid.optimizer.ModelAverage(0.5, 2, 3)
    average = fluid.optimizer.ExponentialMovingAverage(0.8)
    average.update()
    return average


both = pytest.mark.parametrize("kind", ["ModelAverage", "ExponentialMovingAverage"])


@both
def test_parameters_come_back_after_an_error_too(kind):
    model()
    average = make(kind)
    run = Run()
    run.step()
    run.step()
    with pytest.raises(RuntimeError), average.apply(run.executor):
        assert (value() != run.seen[-1]).all()
        raise RuntimeError("while testing")
    np.testing.assert_array_equal(value(), run.seen[-1])


@both
def test_averages_stay_until_they_are_told_to_go(kind):
    model()
    average = make(kind)
    run = Run()
    run.step()
    run.step()
    with average.apply(run.executor, need_restore=False):
        applied = value()
    np.testing.assert_array_equal(value(), applied)
    average.restore(run.executor)
    np.testing.assert_array_equal(value(), run.seen[-1])


@both
def test_parameters_can_be_left_out(kind):
    x = fluid.data("x", [2], "float32")
    for name, averaged in (("w", True), ("v", False)):
        attr = fluid.ParamAttr(name=name, do_model_average=averaged)
        loss = fluid.layers.reduce_sum(x * fluid.layers.create_parameter([2], "float32", attr=attr))
        fluid.optimizer.SGD(1.0).minimize(loss)
    make(kind)
    kept = [n for n in default_main_program().global_block().vars if n.startswith("v")]
    assert [n for n in kept if not n.endswith("@GRAD")] == ["v"]


@both
def test_a_test_program_does_not_average(kind):
    model()
    make(kind)
    test = default_main_program().clone(for_test=True)
    types = {op.type for op in test.global_block().ops}
    assert not types & {"average_accumulates", "assign"}


@pytest.mark.parametrize(
    "call, message",
    [
        (
            lambda: fluid.optimizer.ExponentialMovingAverage(0.9, thres_steps=3),
            "expected thres_steps to be a variable, got 3 of type int",
        ),
        (
            lambda: fluid.optimizer.ExponentialMovingAverage(0.9, name=3),
            "expected name to be a text, got 3",
        ),
        (
            lambda: fluid.optimizer.ModelAverage(0.5, min_average_window=0),
            "expected min_average_window to be a positive integer, got 0",
        ),
        (
            lambda: fluid.optimizer.ModelAverage(0.5, max_average_window=2.5),
            "expected max_average_window to be a positive integer, got 2.5",
        ),
    ],
)
def test_what_makes_no_average_is_refused(call, message):
    model()
    with pytest.raises(ArgumentError, match=message):
        call()


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda o: o.ExponentialMovingAverage(1.0), "decay to be a number of at least 0 and less"),
        (lambda o: o.ModelAverage(-0.5), "average_window_rate to be a number of at least 0"),
    ],
)
def test_what_makes_no_good_average_is_warned_about(call, message):
    fluid.layers.fc(fluid.data("x", [None, 2], "float32"), 1)
    with pytest.warns(UserWarning, match=message):
        call(fluid.optimizer)
