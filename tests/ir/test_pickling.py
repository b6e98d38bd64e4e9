"""Programs, variables and parameters are pickled and copied, whatever was done with them."""

import copy
import pickle

import numpy as np
import pytest

import fluidlite as fluid


def everything():
    """A program with guards, a loop, gradients, an optimizer and a module; and its start-up."""
    main, startup = fluid.Program(), fluid.Program()
    net = fluid.nn.Linear(4, 2)
    with fluid.program_guard(main, startup):
        x = fluid.data("x", [2, 4])
        with fluid.name_scope("scope"), fluid.device_guard("cpu"):
            y = fluid.layers.fc(net(x), 3)
        i = fluid.layers.fill_constant([1], "int64", 0)
        n = fluid.layers.fill_constant([1], "int64", 3)
        condition = fluid.layers.less_than(i, n)
        loop = fluid.layers.While(condition)
        with loop.block():
            fluid.layers.increment(i)
            fluid.layers.less_than(i, n, cond=condition)
        loss = fluid.layers.mean(y)
        fluid.optimizer.Adam(0.1).minimize(loss)
    return main, startup, loss


def pickled(value):
    return pickle.loads(pickle.dumps(value))


@pytest.mark.parametrize("copied", [pickled, copy.copy, copy.deepcopy])
def test_programs_variables_and_parameters_are_copied_also_when_they_ran(copied):
    main, startup, loss = everything()
    executor, feed = fluid.Executor(), {"x": np.ones([2, 4], "float32")}
    executor.run(startup)
    for _ in range(3):
        executor.run(main, feed=feed, fetch_list=[loss])
    twin = copied(main)
    assert str(twin) == str(main)
    assert str(copied(startup)) == str(startup)
    for variable in main.list_vars():
        assert repr(copied(variable)) == repr(variable)
    assert {p.name for p in twin.all_parameters()} == {p.name for p in main.all_parameters()}
    assert executor.run(twin, feed=feed, fetch_list=[loss.name])[0].shape == (1,)


def test_a_pickled_program_computes_the_same():
    main, startup, loss = everything()
    feed = {"x": np.arange(8, dtype="float32").reshape(2, 4)}
    losses = []
    startup.random_seed = 3
    for program, begin in ((main, startup), (pickled(main), pickled(startup))):
        executor = fluid.Executor()
        with fluid.scope_guard(fluid.Scope()):
            executor.run(begin)
            runs = [executor.run(program, feed, [loss.name])[0].item() for _ in range(4)]
        losses.append(runs)
    assert losses[0] == losses[1]
    assert losses[0][0] != losses[0][-1]


def test_a_program_is_pickled_within_the_guards_that_it_is_built_in():
    main = fluid.Program()
    with fluid.program_guard(main, fluid.Program()), fluid.name_scope("a"):
        variable = fluid.layers.fc(fluid.data("x", [2, 4]), 3)
        assert str(pickled(main)) == str(main)
        assert pickled(variable).block.program is not main
