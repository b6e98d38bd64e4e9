"""Functions without operands: tensors in one mode, variables of programs in the other."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite import paddle
from fluidlite.ir.variable import Variable

#: name -> arguments
MADE = {
    "arange": (1, 7, 2),
    "empty": ([2, 3],),
    "eye": (2, 3),
    "full": ([2, 3], 7),
    "linspace": (0.0, 1.0, 5),
    "logspace": (0.0, 2.0, 3),
    "normal": (0.0, 1.0, [2, 3]),
    "ones": ([2, 3],),
    "rand": ([2, 3],),
    "randint": (2, 9, [2, 3]),
    "randn": ([2, 3],),
    "randperm": (5,),
    "standard_normal": ([2, 3],),
    "to_tensor": ([[1, 2], [3, 4]],),
    "tril_indices": (3, 4),
    "triu_indices": (3, 4, 1, "int32"),
    "uniform": ([2, 3], "float64", 1.0, 2.0),
    "zeros": ([2, 3], "int32"),
}
DRAWN = {"empty", "normal", "rand", "randint", "randn", "randperm", "standard_normal", "uniform"}


@pytest.fixture
def static():
    """Programs are built while the test runs."""
    paddle.enable_static()
    yield
    paddle.disable_static()


def test_the_mode_is_eager_until_it_is_switched():
    assert paddle.in_dynamic_mode()
    paddle.enable_static()
    assert not paddle.in_dynamic_mode()
    paddle.disable_static()
    assert paddle.in_dynamic_mode()


def test_guards_of_programs_do_not_change_the_mode():
    with paddle.static.program_guard(paddle.static.Program()):
        assert isinstance(paddle.ones([2]), paddle.Tensor)


@pytest.mark.parametrize("name", MADE)
def test_what_a_program_computes_is_what_the_eager_function_makes(name):
    function = getattr(paddle, name)
    eager = function(*MADE[name])
    assert isinstance(eager, paddle.Tensor)
    paddle.enable_static()
    variable = function(*MADE[name])
    paddle.disable_static()
    assert isinstance(variable, Variable)
    (value,) = paddle.static.Executor().run(fetch_list=[variable])
    assert list(value.shape) == eager.shape
    assert value.dtype == eager.numpy().dtype
    if name not in DRAWN:
        np.testing.assert_allclose(value, eager.numpy(), 1e-6)


def test_a_program_is_trained(static):
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(main, startup):
        x = paddle.static.data("x", [None, 3])
        line = paddle.static.nn.fc(x, 1)
        loss = paddle.mean(paddle.square(line - paddle.full([1], 2.0)))
        paddle.optimizer.SGD(0.1).minimize(loss)
    exe = paddle.static.Executor(paddle.CPUPlace())
    exe.run(startup)
    feed = {"x": np.ones([4, 3], "float32")}
    losses = [float(exe.run(main, feed=feed, fetch_list=[loss])[0]) for _ in range(20)]
    assert losses[-1] < 1e-3 * losses[0]


def test_layers_build_programs_with_variables(static):
    x = paddle.static.data("x", [None, 3])
    y = paddle.nn.Sequential(paddle.nn.Linear(3, 4), paddle.nn.ReLU())(x)
    assert isinstance(y, Variable)
    exe = paddle.static.Executor()
    exe.run(paddle.static.default_startup_program())
    (value,) = exe.run(feed={"x": np.ones([2, 3], "float32")}, fetch_list=[y])
    assert value.shape == (2, 4)


def test_a_parameter_is_of_the_program(static):
    w = paddle.create_parameter([2, 3], "float32")
    assert isinstance(w, Variable)
    assert w in fluid.default_main_program().all_parameters()
