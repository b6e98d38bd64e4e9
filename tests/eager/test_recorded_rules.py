"""Gradient rules that are recorded: written out, they give what their operators do."""

import numpy as np
import pytest

from fluidlite import paddle
from fluidlite.eager import recorded_graphs, recorded_rules
from fluidlite.eager.recorded_rules import OFTEN, RecordedRule
from fluidlite.eager.sweep import node_of
from fluidlite.errors import OverwrittenError

F = paddle.nn.functional


@pytest.fixture(autouse=True)
def _one_node_for_each_rule(monkeypatch):
    monkeypatch.setattr(recorded_graphs, "MOST_NODES", 0)


def _leaves(dtype, rows=4):
    rng = np.random.default_rng(0)
    shapes = [(rows, 3), (3, 5), (5,)]
    arrays = [rng.normal(size=shape).astype(dtype) for shape in shapes]
    arrays[0][1:2, 2] = np.nan
    return [paddle.to_tensor(array, stop_gradient=False) for array in arrays]


FUNCTIONS = {
    "linear": lambda x, w, b: F.linear(x, w, b),
    "tanh": lambda x, w, b: paddle.tanh(F.linear(x, w, b)) ** 2,
    "relu": lambda x, w, b: F.relu(F.linear(x, w, b)) ** 3 + 1.0,
    "arithmetic": lambda x, w, b: (3.0 - (x @ w) * (x @ w)) / (b * b + 2.0) - 0.5 * b,
    "softmax": lambda x, w, b: F.softmax(x @ w) * F.sigmoid(b),
    "mean": lambda x, w, b: (-(x @ w + b).exp()).mean(0) * paddle.log(b * b),
    "both": lambda x, w, b: paddle.matmul(x @ w, x @ w, transpose_y=True),
    "chosen": lambda x, w, b: paddle.where(x > 0, x * x, -x).sum() * w * b.max(),
}


def _slopes(out, leaves, keep=True):
    found = paddle.grad(out, leaves, create_graph=keep, retain_graph=keep, allow_unused=True)
    return [g for g in found if g is not None]


def _squares(tensors):
    flowing = [(t * t).sum() for t in tensors if not t.stop_gradient]
    return sum(flowing[1:], flowing[0]) if flowing else None


def _derivatives(function, leaves, begin):
    """Gradients of three orders; those of the first one before ``begin`` are not gone on with."""
    leaves = [leaf for leaf in leaves if not leaf.stop_gradient]
    made = _slopes(function(*leaves).sum(), leaves)
    gradients, out = list(made), _squares(made[begin:])
    for keep in (True, False):
        made = [] if out is None else _slopes(out, leaves, keep)
        gradients += made
        out = _squares(made)
    nodes = {node_of(t.edge) for t in gradients} - {None}
    return [g.numpy() for g in gradients], {type(node.how) for node in nodes}


def _written(gradients):
    return RecordedRule in gradients


def _with(function, weight):
    return lambda x, b: function(x, weight, b)


@pytest.mark.parametrize("rows, dtype", [(4, "float32"), (4, "float64"), (0, "float64")])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_derivatives_of_three_orders_are_those_of_the_operators(monkeypatch, name, rows, dtype):
    for begin, stop in ((0, False), (2, False), (0, True)):
        leaves = _leaves(dtype, rows)
        for k, leaf in enumerate(leaves):
            leaf.stop_gradient = stop and k == 1
        function = FUNCTIONS[name] if not stop else _with(FUNCTIONS[name], leaves[1])
        with monkeypatch.context() as one_by_one:
            one_by_one.setattr(recorded_rules, "observed", lambda: True)
            right, kinds = _derivatives(function, leaves, begin)
        assert not _written(kinds)
        for call, _ in [_derivatives(function, leaves, begin) for _ in range(OFTEN + 2)]:
            for one, other in zip(right, call, strict=True):
                assert (one.shape, one.dtype) == (other.shape, other.dtype)
                np.testing.assert_allclose(other, one, 1e-5 if dtype == "float32" else 1e-12)


def test_the_rules_are_written_out_when_they_are_called_often():
    leaves = _leaves("float32", 7)
    seen = []
    for _ in range(2 * OFTEN + 3):
        slopes = _slopes(F.linear(*leaves).tanh().sum(), leaves)
        seen.append(_written({type(node_of(slope.edge).how) for slope in slopes}))
    assert (seen[0], seen[-1]) == (False, True)


def test_a_write_in_place_is_noticed():
    x = paddle.to_tensor(np.ones((2, 2)), stop_gradient=False)
    weight = paddle.to_tensor(np.ones((2, 2)))
    for _ in range(2 * OFTEN):
        (slope,) = paddle.grad(F.linear(x, weight).tanh().sum(), x, create_graph=True)
        out = (slope * slope).sum()
        assert paddle.grad(out, x, retain_graph=True)[0].shape == [2, 2]
        weight[0] = 1.0
        with pytest.raises(OverwrittenError, match="has been written in place since"):
            paddle.grad(out, x)


def test_large_tensors_are_computed_operator_by_operator(monkeypatch):
    monkeypatch.setattr(recorded_rules, "MOST_ELEMENTS", 3)
    leaves = _leaves("float64", 6)
    kinds = [_derivatives(FUNCTIONS["tanh"], leaves, 0)[1] for _ in range(OFTEN + 2)]
    assert not any(map(_written, kinds))
