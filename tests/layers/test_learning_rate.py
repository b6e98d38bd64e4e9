"""Schedules of the learning rate: each value against its formula, step by step."""

import math

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite import layers
from fluidlite.errors import ArgumentError
from fluidlite.ir.operator import OpRole

from building import refused, written


def rates(rate, steps=12):
    """The values of a variable in the first runs of the program."""
    executor = fluid.Executor()
    executor.run(fluid.default_startup_program())
    found = [executor.run(fetch_list=[rate])[0] for _ in range(steps)]
    assert {(v.shape, v.dtype.name) for v in found} == {((1,), "float32")}
    return [v.item() for v in found]


def follows(rate, formula, first=0, steps=12):
    wanted = [formula(step) for step in range(first, first + steps)]
    np.testing.assert_allclose(rates(rate, steps), wanted, rtol=1e-5, atol=1e-8)


# -- values ----------------------------------------------------------------------------------------


def test_noam_grows_and_then_falls_with_the_root():
    formula = lambda n: 2.0 * 16**-0.5 * min(n**-0.5, n * 5**-1.5)
    follows(layers.noam_decay(16, 5, learning_rate=2.0), formula, first=1)


@pytest.mark.parametrize("staircase", [False, True])
@pytest.mark.parametrize(
    "schedule, formula",
    [
        (layers.exponential_decay, lambda n: 0.1 * 0.5**n),
        (layers.natural_exp_decay, lambda n: 0.1 * math.exp(-0.5 * n)),
        (layers.inverse_time_decay, lambda n: 0.1 / (1 + 0.5 * n)),
    ],
)
def test_a_decay_follows_the_steps_or_stays_for_some(schedule, formula, staircase):
    rate = schedule(0.1, decay_steps=4, decay_rate=0.5, staircase=staircase)
    follows(rate, lambda step: formula(step // 4 if staircase else step / 4))


def test_a_polynomial_ends_at_the_last_rate():
    formula = lambda n: 0.09 * (1 - min(n, 6) / 6) ** 2 + 0.01
    follows(layers.polynomial_decay(0.1, 6, 0.01, power=2.0), formula)


def test_a_polynomial_rises_again_in_cycles():
    def formula(n):
        end = 4 * max(math.ceil(n / 4), 1)
        return 0.09 * (1 - n / end) + 0.01

    follows(layers.polynomial_decay(0.1, 4, 0.01, cycle=True), formula)


def test_pieces_change_at_their_boundaries():
    rate = layers.piecewise_decay([2, 5], [0.5, 0.25, 0.125])
    assert rates(rate, 7) == [0.5, 0.5, 0.25, 0.25, 0.25, 0.125, 0.125]


def test_one_piece_is_a_constant():
    assert rates(layers.piecewise_decay([], [0.25]), 2) == [0.25, 0.25]


def test_a_cosine_changes_from_epoch_to_epoch():
    formula = lambda n: 0.1 / 2 * (math.cos(n // 3 * math.pi / 4) + 1)
    follows(layers.cosine_decay(0.1, step_each_epoch=3, epochs=4), formula)


def test_a_warmup_leads_to_a_number():
    formula = lambda n: 0.01 + 0.07 * n / 6 if n < 6 else 0.1
    follows(layers.linear_lr_warmup(0.1, 6, 0.01, 0.08), formula)


def test_a_warmup_leads_to_a_schedule_that_shares_its_counter():
    later = layers.exponential_decay(0.1, 1, 0.5)
    formula = lambda n: 0.2 * n / 3 if n < 3 else 0.1 * 0.5**n
    follows(layers.linear_lr_warmup(later, 3, 0.0, 0.2), formula, steps=6)
    counters = [op for op in written() if op.startswith("@LR_DECAY_COUNTER@ = increment")]
    assert len(counters) == 1


def test_a_warmup_has_the_element_type_of_the_rate_behind():
    later = layers.create_global_var([1], 0.5, "float64", persistable=True, name="later")
    rate = layers.linear_lr_warmup(later, 2, 0.0, 0.5)
    executor = fluid.Executor()
    executor.run(fluid.default_startup_program())
    found = [executor.run(fetch_list=[rate])[0] for _ in range(3)]
    assert [v.item() for v in found] == [0.0, 0.25, 0.5]
    assert {v.dtype.name for v in found} == {"float64"}


def test_a_rate_may_begin_with_a_variable():
    first = layers.create_global_var([1], 0.5, "float32", persistable=True, name="first")
    follows(layers.exponential_decay(first, 2, 0.25), lambda n: 0.5 * 0.25 ** (n / 2))


def test_two_schedules_of_one_kind_do_not_disturb_each_other():
    both = [layers.piecewise_decay([1], [0.5, 0.25]), layers.piecewise_decay([1], [4.0, 2.0])]
    assert both[0].name != both[1].name
    executor = fluid.Executor()
    executor.run(fluid.default_startup_program())
    found = [[v.item() for v in executor.run(fetch_list=both)] for _ in range(2)]
    assert found == [[0.5, 4.0], [0.25, 2.0]]


# -- programs --------------------------------------------------------------------------------------


def test_operators_of_a_schedule_have_its_role_those_in_branches_too():
    layers.linear_lr_warmup(layers.polynomial_decay(0.1, 4, cycle=True), 3, 0.0, 0.1)
    program = fluid.default_main_program()
    assert program.num_blocks > 2
    assert {op.role for block in program.blocks for op in block.ops} == {OpRole.LRSCHED}


def test_a_clone_for_testing_leaves_the_schedule_out():
    # it would count the tests as steps of the training
    layers.cosine_decay(0.1, 3, 4)
    program = fluid.default_main_program()
    assert program.clone(for_test=True).global_block().ops == []


def test_an_optimizer_trains_with_a_schedule():
    x = fluid.data("x", [1], "float32")
    w = layers.create_parameter(
        [1], "float32", "w", default_initializer=fluid.initializer.Constant(0.0)
    )
    fluid.optimizer.SGD(layers.piecewise_decay([1], [1.0, 0.5])).minimize(layers.reduce_sum(x * w))
    executor = fluid.Executor()
    executor.run(fluid.default_startup_program())
    feed = {"x": np.ones(1, "float32")}
    assert [executor.run(feed=feed, fetch_list=[w])[0].item() for _ in range(3)] == [-1, -1.5, -2]


def test_fluid_s_name_of_the_counter_gives_it_as_a_float():
    counter = layers.learning_rate_scheduler._decay_step_counter()
    assert (counter.shape, counter.dtype.dtype.name) == ((1,), "float32")
    assert rates(counter, 3) == [0, 1, 2]


# -- arguments -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "make, message",
    [
        (
            lambda: layers.noam_decay(0, 5),
            "noam_decay: expected d_model to be a positive number, got 0",
        ),
        (
            lambda: layers.noam_decay(8, -1),
            "noam_decay: expected warmup_steps to be a positive number",
        ),
        (
            lambda: layers.exponential_decay(0.1, 0, 0.5),
            "exponential_decay: expected decay_steps to be a positive number, got 0",
        ),
        (
            lambda: layers.exponential_decay("0.1", 1, 0.5),
            "exponential_decay: expected learning_rate to be a finite number, got '0.1' of type",
        ),
        (
            lambda: layers.polynomial_decay(0.1, 5, end_learning_rate=None),
            "polynomial_decay: expected end_learning_rate to be a finite number, got None",
        ),
        (
            lambda: layers.cosine_decay(0.1, 3, 0),
            "cosine_decay: expected epochs to be a positive number",
        ),
        (
            lambda: layers.piecewise_decay([1, 2], [0.1, 0.2]),
            "one value more than there are boundaries, got 2 values and 2 boundaries",
        ),
        (
            lambda: layers.linear_lr_warmup(None, 5, 0.0, 0.1),
            "linear_lr_warmup: expected learning_rate to be a finite number, got None",
        ),
        (
            lambda: layers.linear_lr_warmup(0.1, 5, "0", 0.1),
            "linear_lr_warmup: expected start_lr to be a finite number, got '0'",
        ),
    ],
)
def test_what_makes_no_schedule_is_refused(make, message):
    with refused(ArgumentError, message):
        make()


def test_boundaries_in_another_order_are_warned_about():
    with pytest.warns(UserWarning, match=r"boundaries in ascending order, got \[2.0, 1.0\]"):
        layers.piecewise_decay([2, 1], [0.1, 0.2, 0.3])
