"""Lookahead: fast parameters return to slow ones."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.errors import ArgumentError
from fluidlite.ir.program import default_main_program, default_startup_program

INPUTS = np.random.default_rng(0).normal(size=[9, 2])


def loss_of(dtype):
    x = fluid.data("x", [2], dtype)
    w = fluid.layers.create_parameter(
        [2], dtype, "w", default_initializer=fluid.initializer.Constant(1.0)
    )
    return fluid.layers.reduce_sum(x * w)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_parameters_go_back_every_few_steps(dtype):
    sgd = fluid.optimizer.SGD(0.1)
    fluid.optimizer.LookaheadOptimizer(sgd, alpha=0.25, k=3).minimize(loss_of(dtype))
    executor = fluid.Executor()
    executor.run(default_startup_program())
    fast = slow = np.ones(2)
    for step, x in enumerate(INPUTS, 1):
        (found,) = executor.run(feed={"x": x.astype(dtype)}, fetch_list=["w"])
        fast = fast - 0.1 * x
        if step % 3 == 0:
            fast = slow = 0.25 * fast + 0.75 * slow
        assert found.dtype == dtype
        np.testing.assert_allclose(found, fast, rtol=1e-5)
    kept = np.array(fluid.global_scope().find_var("w@SLOW").get_tensor())
    np.testing.assert_allclose(kept, slow, rtol=1e-5)


def test_it_returns_what_the_inner_optimizer_does():
    sgd = fluid.optimizer.SGD(0.1)
    ops, pairs = fluid.optimizer.LookaheadOptimizer(sgd).minimize(loss_of("float32"))
    assert [op.type for op in ops] == ["sgd"]
    assert [(p.name, g.name) for p, g in pairs] == [("w", "w@GRAD")]


def test_it_goes_to_the_loss_s_program_and_the_given_startup_program():
    main, startup = fluid.Program(), fluid.Program()
    with fluid.program_guard(main, startup):
        loss = loss_of("float32")
    fluid.optimizer.LookaheadOptimizer(fluid.optimizer.SGD(0.1)).minimize(loss, startup)
    assert "lookahead_step" in main.global_block().vars
    assert startup.global_block().ops[-1].output("Out") == ["w@SLOW"]
    assert not default_main_program().global_block().ops
    assert not default_startup_program().global_block().ops


class Failing(fluid.optimizer.SGD):
    def attrs(self, param):
        raise RuntimeError("no attributes")


def test_a_minimize_that_fails_leaves_the_programs_as_they_were():
    loss = loss_of("float32")
    before = [str(p) for p in (default_main_program(), default_startup_program())]
    with pytest.raises(RuntimeError):
        fluid.optimizer.LookaheadOptimizer(Failing(0.1)).minimize(loss)
    assert [str(p) for p in (default_main_program(), default_startup_program())] == before


@pytest.mark.parametrize(
    "given, message",
    [
        ({"inner_optimizer": None}, "expected an optimizer, such as .*, got None"),
        ({"alpha": 1.5}, r"expected alpha in \[0, 1\], got 1.5"),
        ({"alpha": "x"}, "expected alpha to be a number"),
        ({"k": 0}, "expected k to be a positive integer, got 0"),
        ({"k": 2.5}, "expected k to be a positive integer, got 2.5"),
    ],
)
def test_arguments_of_another_kind_are_refused(given, message):
    arguments = {"inner_optimizer": fluid.optimizer.SGD(0.1), **given}
    with pytest.raises(ArgumentError, match=f"LookaheadOptimizer: {message}"):
        fluid.optimizer.LookaheadOptimizer(**arguments)


def test_a_loss_and_a_startup_program_are_needed():
    lookahead = fluid.optimizer.LookaheadOptimizer(fluid.optimizer.SGD(0.1))
    with pytest.raises(ArgumentError, match=r"expected the loss to be a variable, got 3\.0"):
        lookahead.minimize(3.0)
    with pytest.raises(ArgumentError, match="expected startup_program to be a Program, got 'no'"):
        lookahead.minimize(loss_of("float32"), startup_program="no")
