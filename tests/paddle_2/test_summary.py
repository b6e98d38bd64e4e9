"""``paddle.summary`` and ``paddle.flops`` print what paddle 2.6.2 prints."""

import os
import re

import numpy as np
import pytest

from fluidlite import paddle
from fluidlite.paddle import nn

RECORDED = os.path.join(os.path.dirname(__file__), "../data/paddle_2/summaries.txt")


class Block(nn.Layer):
    def __init__(self):
        super().__init__()
        self.inner, self.relu = nn.Linear(3, 3), nn.ReLU()
        self.scale = self.create_parameter([3])
        self.register_buffer("count", paddle.ones([7]))

    def forward(self, x):
        return self.relu(self.inner(x)) * self.scale


class Recurrent(nn.Layer):
    def __init__(self):
        super().__init__()
        self.lstm, self.out = nn.LSTM(3, 4, direction="bidirect"), nn.Linear(8, 1)

    def forward(self, x):
        return self.out(self.lstm(x)[0][:, -1])


class Pair(nn.Layer):
    def __init__(self):
        super().__init__()
        self.both, self.unused = nn.Bilinear(3, 4, 2), nn.Linear(7, 7)

    def forward(self, x, y):
        return self.both(x, y)


def images():
    return nn.Sequential(
        nn.Conv2D(1, 6, 3, padding=1), nn.ReLU(), nn.MaxPool2D(2, 2), nn.BatchNorm2D(6),
        nn.Conv2D(6, 16, 5, bias_attr=False), nn.LeakyReLU(), nn.AdaptiveAvgPool2D(3),
        nn.Flatten(), nn.Linear(144, 10),
    )  # fmt: skip


def count(layer, given, output):
    layer.total_ops += 7 * int(np.prod(output.shape))


def test_tables_are_those_of_the_real_one(capsys):
    frozen = images()
    frozen[0].bias.stop_gradient = True
    frozen.eval()
    deconvolved = nn.Sequential(
        nn.Conv2DTranspose(4, 2, 3, groups=2), nn.Tanh(), nn.AvgPool2D(2), nn.Sigmoid()
    )
    calls = [
        lambda: paddle.summary(frozen, (1, 1, 28, 28)),
        lambda: paddle.summary(Block(), (2, 3)),
        lambda: paddle.summary(nn.Sequential(Block()), (2, 3)),
        lambda: paddle.summary(Recurrent(), (2, 5, 3)),
        lambda: paddle.summary(Pair(), [(2, 3), (2, 4)]),
        lambda: paddle.flops(images(), [2, 1, 28, 28], print_detail=True),
        lambda: paddle.flops(deconvolved, [1, 4, 8, 8], {nn.Sigmoid: count}, True),
    ]
    printed = []
    for call in calls:
        found = call()
        printed.append(f"{capsys.readouterr().out}{found}\n")
    with open(RECORDED) as file:
        expected = file.read().split("#####\n")
    for text, wanted in zip(printed, expected, strict=True):
        assert re.sub(r"_\d+ ", "_N ", text) == re.sub(r"_\d+ ", "_N ", wanted)
    assert not frozen.training


@pytest.mark.parametrize(
    "call, kind",
    [
        (lambda: paddle.summary(nn.Linear(4, 2)), ValueError),
        (lambda: paddle.summary(nn.Linear(4, 2), (2, -3)), ValueError),
        (lambda: paddle.summary(nn.Linear(4, 2), (2, "a")), TypeError),
        (lambda: paddle.summary(nn.Linear(4, 2), [2, 4]), TypeError),
    ],
)
def test_a_wrong_size_has_the_class_of_the_real_error(call, kind):
    with pytest.raises(kind):
        call()


def test_what_is_no_layer_has_no_operations():
    assert paddle.flops(3, (3, 4)) == -1


def test_operators_of_programs_are_counted(capsys):
    paddle.enable_static()
    made = paddle.static.nn
    x = paddle.static.data("x", [2, 4, 8, 8])
    hidden = made.batch_norm(made.conv2d(x, 8, 3, groups=2, bias_attr=False))
    pooled = nn.functional.max_pool2d(hidden, 2)
    made.fc(nn.functional.adaptive_avg_pool2d(pooled, 1), 3, activation="relu")
    assert paddle.flops(paddle.static.default_main_program(), (2, 4, 8, 8), print_detail=True) == (
        5184 + 576 + 360 + 80 + 24 + 3
    )
    assert (
        capsys.readouterr().out
        == """\
+-----------------+--------------+-------+
|     OP Type     |  Param name  | Flops |
+-----------------+--------------+-------+
|      conv2d     | conv2d_0.w_0 |  5184 |
|    batch_norm   |              |  576  |
|      pool2d     |              |  360  |
|      pool2d     |              |   80  |
|       mul       |   fc_0.w_0   |   24  |
| elementwise_add |              |   3   |
+-----------------+--------------+-------+
"""
    )
