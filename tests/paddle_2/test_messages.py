"""What paddle 2's functions say of arguments that are mistakes."""

import re

import numpy as np
import pytest

from fluidlite import paddle


@pytest.mark.parametrize(
    "mistake, message",
    [
        (lambda: paddle.full([2], "x"), "full: expected fill_value to be a number, got 'x'"),
        (lambda: paddle.full([2], None), "full: expected fill_value to be a number, got None"),
        (lambda: paddle.arange("a"), "arange: expected end to be a number, got 'a'"),
        (lambda: paddle.arange(0, 3, 0), "step other than 0"),
        (lambda: paddle.linspace(0, 1, -1), "linspace: expected num to be a positive integer"),
        (lambda: paddle.linspace("a", 1, 2), "linspace: expected start to be a number, got 'a'"),
        (lambda: paddle.logspace(0, 1, -1), "logspace: expected num to be a positive integer"),
        (lambda: paddle.randint(5, 2, [2]), "expected low below high, got low=5 and high=2"),
        (lambda: paddle.randint(-3), "expected low below high, got low=0 and high=-3"),
        (
            lambda: paddle.randperm(-1),
            "randperm: expected n to be an integer of at least 0, got -1",
        ),
        (
            lambda: paddle.nn.LSTM(3, 4)(paddle.ones([2, 3])),
            "LSTM: .* [batch, time, 3], got [2, 3]",
        ),
        (
            lambda: paddle.nn.GRU(3, 4, time_major=True)(paddle.ones([3])),
            "GRU: expected inputs of shape [time, batch, 3], got [3]",
        ),
        (
            lambda: paddle.optimizer.SGD(0.1, parameters=paddle.nn.Linear(2, 2)),
            "SGD: expected parameters to be .* parameters=layer.parameters()",
        ),
        (
            lambda: paddle.where(paddle.ones([2]), paddle.ones([2]), paddle.ones([2])),
            "where: expected a condition of truth values, got float32",
        ),
    ],
)
def test_a_mistake_is_a_value_error_that_names_the_argument(mistake, message):
    with pytest.raises(ValueError, match=re.escape(message).replace(r"\.\*", ".*")):
        mistake()


def test_texts_of_numbers_are_numbers():
    assert paddle.full([2], "3").tolist() == [3.0, 3.0]
    assert paddle.full([1], paddle.to_tensor([2])).tolist() == [2.0]
    assert paddle.full([1], np.float32(2)).tolist() == [2.0]
    assert paddle.linspace(0, 1, paddle.to_tensor([3])).tolist() == [0.0, 0.5, 1.0]


def test_a_misspelt_method_is_told():
    x = paddle.ones([2])
    with pytest.raises(AttributeError, match="no attribute 'reshap'") as refused:
        x.reshap([2])
    assert refused.value.obj is x and "reshape" in dir(x)  # of which Python says what was meant
    assert not hasattr(x, "__cuda_array_interface__")
