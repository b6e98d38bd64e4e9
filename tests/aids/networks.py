"""Small networks to be saved."""

import numpy as np

import fluidlite as fluid


def regression(inputs=4, outputs=2, optimizer=None, dropout=False):
    """A network in the default programs: its input, its output, its loss, the test program."""
    x = fluid.data("x", [None, inputs], "float32")
    y = fluid.layers.fc(x, outputs)
    if dropout:
        y = fluid.layers.dropout(y, 0.5)
    loss = fluid.layers.mean(y * y)
    test = fluid.default_main_program().clone(for_test=True)
    if optimizer is not None:
        optimizer.minimize(loss)
    return x, y, loss, test


def started():
    """An executor that has run the startup program."""
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    return exe


def value(name):
    """The value of a variable in the global scope, a copy."""
    return np.array(fluid.global_scope().value(name))


def state(program=None):
    """The values of all variables of a program that stay in the scope, copies."""
    program = program or fluid.default_main_program()
    return {
        var.name: value(var.name) for var in program.list_vars() if fluid.io.is_persistable(var)
    }


def assert_same(a, b):
    """Two states must be the same to the last bit."""
    assert a.keys() == b.keys()
    for name, array in a.items():
        assert array.dtype == b[name].dtype
        np.testing.assert_array_equal(array, b[name], err_msg=name)
