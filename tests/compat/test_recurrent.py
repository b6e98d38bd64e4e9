"""Recurrent nets of ``fluid.contrib.layers``: names, shapes and training as in 1.8.5."""

import importlib
import json
from pathlib import Path

import numpy as np
import pytest

import fluidlite as fluid

RECORDED = json.loads(
    (Path(__file__).parents[1] / "data" / "legacy" / "recurrent.json").read_text(encoding="utf-8")
)


@pytest.fixture
def contrib(alias):
    return importlib.import_module("paddle.fluid.contrib.layers")


def steps():
    return fluid.data("x", [None, 5, 3], "float32")


def state(name, layers):
    return fluid.data(name, [layers, None, 4], "float32")


def row(name, size=4):
    return fluid.data(name, [None, size], "float32")


def both_ways(contrib):
    attrs = dict(param_attr=fluid.ParamAttr(name="pw"), bias_attr=fluid.ParamAttr(name="pb"))
    return contrib.basic_lstm(
        steps(), state("h", 4), state("c", 4), 4, num_layers=2, bidirectional=True, **attrs
    )


BUILT = {
    "gru": lambda c: c.basic_gru(steps(), None, 4),
    "lstm": lambda c: c.basic_lstm(steps(), state("h", 2), state("c", 2), 4, num_layers=2),
    "lstm bi": both_ways,
    "gru bi": lambda c: c.basic_gru(
        steps(), None, 4, num_layers=2, bidirectional=True, activation=fluid.layers.relu
    ),
    "gru unit": lambda c: [c.BasicGRUUnit("gu", 4)(row("x", 3), row("h"))],
    "lstm unit": lambda c: c.BasicLSTMUnit("lu", 4, forget_bias=0.5)(
        row("x", 3), row("h"), row("c")
    ),
}


def feeds():
    random = np.random.RandomState(0)

    def normal(*shape):
        return random.randn(*shape).astype("float32")

    x, h, h4 = normal(2, 5, 3), normal(2, 2, 4), normal(4, 2, 4)
    return {
        "gru": {"x": x},
        "lstm": {"x": x, "h": h, "c": h * 2},
        "lstm bi": {"x": x, "h": h4, "c": h4},
        "gru bi": {"x": x},
        "gru unit": {"x": x[0], "h": normal(5, 4)},
        "lstm unit": {"x": x[0], "h": normal(5, 4), "c": normal(5, 4)},
    }


@pytest.mark.parametrize("case", RECORDED)
def test_a_net_trains_as_it_did(contrib, case):
    names, shapes, recorded = RECORDED[case]
    results = list(BUILT[case](contrib))
    loss = fluid.layers.reduce_sum(fluid.layers.square(results[0]))
    for each in results[1:]:
        loss = loss + fluid.layers.reduce_sum(each)
    fluid.optimizer.SGD(0.05).minimize(loss)
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    parameters = sorted(fluid.default_main_program().all_parameters(), key=lambda p: p.name)
    assert [each.name for each in parameters] == names
    random = np.random.RandomState(1)
    for each in parameters:
        value = (random.randn(*each.shape) * 0.5).astype("float32")
        fluid.global_scope().find_var(each.name).get_tensor().set(value)
    for row in recorded:
        cost, *values = exe.run(feed=feeds()[case], fetch_list=[loss, *results])
        assert [list(value.shape) for value in values] == shapes
        found = [float(cost[0]), *(np.float64(value).sum() for value in values)]
        assert np.allclose(found, row, rtol=1e-5, atol=1e-5)


def test_results_of_layers_are_dropped_in_training(contrib):
    contrib.basic_gru(steps(), None, 4, dropout_prob=0.5)
    (rnn,) = fluid.default_main_program().blocks[1:]
    (dropout,) = [op for op in rnn.ops if op.type == "dropout"]
    assert dropout.attr("dropout_implementation") == "downgrade_in_infer"


def test_behind_the_end_of_a_sequence_states_stay(contrib):
    lengths = fluid.data("n", [None], "int64")
    out, last = contrib.basic_gru(steps(), None, 4, sequence_length=lengths, bidirectional=True)
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    x = np.random.RandomState(0).randn(2, 5, 3).astype("float32")
    fetched = exe.run(feed={"x": x, "n": np.array([3, 5])}, fetch_list=[out, last])
    assert np.allclose(fetched[0][0, 2, :4], fetched[1][0, 0])
    assert np.allclose(fetched[0][0, 4, :4], fetched[1][0, 0])
    assert np.allclose(fetched[0][0, 0, 4:], fetched[1][1, 0])
