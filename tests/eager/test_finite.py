"""The flag that has tensors searched for values that are not finite."""

import threading

import pytest

import fluidlite as fluid
from fluidlite import paddle
from fluidlite.eager import recording
from fluidlite.errors import NonFiniteError
from fluidlite.ground import state

F = paddle.nn.functional


@pytest.fixture
def flag():
    paddle.set_flags({"FLAGS_check_nan_inf": True})
    yield
    paddle.set_flags({"FLAGS_check_nan_inf": False})


def test_an_operator_is_named(flag):
    bad = paddle.to_tensor([float("nan"), 1.0])  # which is no operator
    zero = paddle.to_tensor([0.0])
    for function, operator in [
        (lambda: paddle.log(paddle.to_tensor([-1.0])), "log"),
        (lambda: 1.0 / zero, "elementwise_div"),
        (lambda: bad.reshape([1, 2]), "reshape"),
        (lambda: F.softmax(bad), "softmax"),
        (lambda: paddle.split(bad, 2), "split"),
    ]:
        with pytest.raises(RuntimeError, match=rf"operator {operator}\w* holds .*\n.*test_finite"):
            function()
    assert paddle.to_tensor([3e38]).tolist() and (paddle.to_tensor([3e38]) * 1.0).tolist()


def test_a_gradient_is_named_with_the_line_of_its_operator(flag):
    x = paddle.to_tensor([0.0, 4.0], stop_gradient=False)
    root = paddle.sqrt(x).sum()
    with pytest.raises(NonFiniteError, match=r"0 NaN and 1 inf.*\n.*gradient of sqrt.*test_finite"):
        root.backward()


def test_all_threads_are_looked_at_and_a_profiler_besides(flag):
    errors = []

    def work():
        try:
            paddle.log(paddle.zeros([1]))
        except RuntimeError as error:
            errors.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert len(errors) == 1
    with (
        paddle.profiler.Profiler(on_trace_ready=lambda profiler: None),
        pytest.raises(RuntimeError),
    ):
        paddle.log(paddle.zeros([1]))


def test_nothing_is_looked_at_when_it_is_off():
    before = recording.EagerCall.sole
    paddle.set_flags({"FLAGS_check_nan_inf": True})
    paddle.set_flags({"FLAGS_check_nan_inf": 1})
    assert recording.EagerCall.sole is not before
    paddle.set_flags({"FLAGS_check_nan_inf": False})
    assert recording.EagerCall.sole is before
    assert paddle.log(paddle.zeros([1])).tolist() == [-float("inf")]


def test_a_reset_of_all_state_ends_it():
    fluid.set_flags({"FLAGS_check_nan_inf": True})
    assert recording.observed()
    state.reset()
    assert not recording.observed()
