"""Gradients of graphs that are recorded as one node: they are those of the operators."""

import numpy as np
import pytest

from fluidlite import paddle
from fluidlite.eager import recorded_graphs, recorded_rules
from fluidlite.eager.recorded_rules import OFTEN, RecordedRule
from fluidlite.eager.sweep import node_of
from fluidlite.errors import OverwrittenError

F = paddle.nn.functional


def _leaves(dtype="float64"):
    rng = np.random.default_rng(0)
    arrays = [rng.normal(size=shape).astype(dtype) for shape in [(4, 4), (4, 4), (4,)]]
    return [paddle.to_tensor(array, stop_gradient=False) for array in arrays]


def _one_way(x, w, b):
    return [(F.relu(F.linear(x, w, b)).matmul(w) ** 2).mean()], [x, w, b], None


def _shared_flow(x, w, b):
    return [((x + w + b) ** 3).mean()], [x, w, b], None


def _one_tensor_twice(x, w, b):
    return [(F.linear(x, x, b).tanh() * x * w).sum()], [x, w, b], None


def _on_the_way(x, w, b):
    hidden = F.sigmoid(F.linear(x, w, b))
    return [(F.linear(hidden, w) * hidden).sum()], [hidden, w], None


def _of_the_way(x, w, b):
    hidden = x * x
    product = hidden @ w
    return [F.softmax(product + b).square().sum()], [hidden, product, x], None


def _several_outputs(x, w, b):
    hidden = (x @ w).exp()
    seeds = [hidden.detach(), None, paddle.sin(b)]
    return [hidden * b, hidden.mean(), b * 2.0], [x, w, b], seeds


def _unused(x, w, b):
    return [(x.detach() @ w).tanh().sum()], [x, w], None


def _steps(x, w, b):
    weights = [w, b]
    for _ in range(3):
        loss = ((F.linear(F.relu(x @ weights[0]), w, weights[1]) - 0.5) ** 2).mean()
        flows = paddle.grad(loss, weights, create_graph=True)
        weights = [weight - 0.1 * flow for weight, flow in zip(weights, flows, strict=True)]
    return [F.linear(x, *weights).square().sum()], [x, w, b], None


FUNCTIONS = [
    *(_one_way, _shared_flow, _one_tensor_twice, _on_the_way, _of_the_way, _several_outputs),
    *(_unused, _steps),
]


def _slopes(outs, ins, seeds=None, keep=True):
    options = {"create_graph": keep, "retain_graph": keep, "allow_unused": True}
    return [g for g in paddle.grad(outs, ins, seeds, **options) if g is not None]


def _derivatives(function, leaves):
    """The gradients of three orders, and the nodes behind those of the first."""
    made = _slopes(*function(*leaves))
    gradients, nodes = list(made), {node_of(t.edge) for t in made} - {None}
    for keep in (True, False):
        made = _slopes(sum((t * t).sum() for t in made), leaves, None, keep)
        gradients += made
    return [g.numpy() for g in gradients], nodes


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_derivatives_of_three_orders_are_those_of_the_operators(monkeypatch, function, dtype):
    leaves = _leaves(dtype)
    with monkeypatch.context() as one_by_one:
        one_by_one.setattr(recorded_rules, "observed", lambda: True)
        right, _ = _derivatives(function, leaves)
    for _ in range(2 * OFTEN + 2):
        found, nodes = _derivatives(function, leaves)
        for one, other in zip(right, found, strict=True):
            assert (one.shape, one.dtype) == (other.shape, other.dtype)
            np.testing.assert_allclose(
                other, one, *((2e-3, 1e-3) if dtype == "float32" else (1e-10,))
            )
    if function is not _steps:  # whose own gradients are rules of no operator
        assert [type(node.how) for node in nodes] == [RecordedRule]


def test_a_graph_of_another_structure_is_another_one():
    x, w, b = _leaves()
    for first, second in [(x, x), (x, w), (w, w), (w, x)] * 2 * (OFTEN + 1):
        for function in (lambda s, t: F.linear(s, t, b), lambda s, t: s @ t + b):
            out = (function(first, second) ** 2).mean()
            found = _slopes([out], [x, w])
            product = first.numpy() @ second.numpy() + b.numpy()
            left, right = product @ second.numpy().T / 8, first.numpy().T @ product / 8
            flows = [(first, left), (second, right)]
            expected = [sum(flow for t, flow in flows if t is leaf) for leaf in (x, w)]
            for one, other in zip(found, [r for r in expected if np.ndim(r)], strict=True):
                np.testing.assert_allclose(one.numpy(), other)


def test_a_hook_within_the_graph_is_called():
    x, w, b = _leaves()
    slopes = []
    for hooked in [False] * (2 * OFTEN + 2) + [True]:
        hidden = F.linear(x, w, b)
        if hooked:
            hidden.register_hook(lambda gradient: gradient * 2.0)
        slopes.append(_slopes([(hidden * hidden).mean()], [w, b]))
    for once, twice in zip(*slopes[-2:], strict=True):
        np.testing.assert_allclose(2 * once.numpy(), twice.numpy())


def test_nothing_flows_through_blocked_tensors():
    x, w, b = _leaves()
    for blocks in [False] * (2 * OFTEN + 2) + [True]:
        hidden = x @ w
        blocked = [hidden] if blocks else None
        out = (hidden * w + b).square().sum()
        slope = paddle.grad(out, w, create_graph=True, no_grad_vars=blocked)[0]
    right = 2 * (hidden * w + b) * hidden
    np.testing.assert_allclose(slope.numpy(), right.numpy())


def test_a_leaf_that_is_written_in_place_is_noticed():
    for _ in range(2 * OFTEN + 2):
        x, w, b = _leaves()
        (slope,) = _slopes([F.linear(x, w, b).tanh().sum()], [w])
        with paddle.no_grad():
            x[0] = 1.0
        with pytest.raises(OverwrittenError, match="has been written in place since"):
            paddle.grad((slope * slope).sum(), w)


def test_large_graphs_and_tensors_are_recorded_operator_by_operator(monkeypatch):
    for module, name in ((recorded_graphs, "MOST_NODES"), (recorded_rules, "MOST_ELEMENTS")):
        with monkeypatch.context() as limit:
            limit.setattr(module, name, 1)
            leaves = [t[:3, :3] if t.ndim > 1 else t[:3] for t in _leaves()]
            for _ in range(2 * OFTEN + 2):
                _, nodes = _derivatives(_one_way, leaves)
        assert len(nodes) > 1


def test_a_gradient_stays_what_it_was_when_a_parameter_steps():
    for _ in range(2 * OFTEN + 2):
        w = paddle.to_tensor([1.0, 5.0], stop_gradient=False)
        optimizer = paddle.optimizer.SGD(0.1, parameters=[w])
        x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
        y = (x * x * x + w * x).sum()
        (slope,) = paddle.grad(y, x, create_graph=True)
        y.backward(retain_graph=True)
        optimizer.step()
        (again,) = paddle.grad(slope.sum(), x, create_graph=True)
        assert again.numpy().tolist() == [6.0, 12.0]


def test_a_bias_may_be_written_before_a_gradient_that_does_not_read_it():
    for _ in range(2 * OFTEN + 2):
        x, w, b = _leaves()
        y = F.linear(x, w, b)
        with paddle.no_grad():
            b.add_(paddle.ones_like(b))
        (slope,) = paddle.grad(y.sum(), x, create_graph=True)
        np.testing.assert_allclose(slope.numpy(), np.ones([4, 4]) @ w.numpy().T)


def test_graphs_are_one_node_behind_steps_of_an_optimizer():
    x, w, b = _leaves()
    optimizer = paddle.optimizer.SGD(0.01, parameters=[w, b])
    for _ in range(2 * OFTEN + 2):
        (slope,) = _slopes([(x @ w + b).tanh().sum()], [x])
        node = node_of(slope.edge)
        before = [node_of(edge) for edge in node.edges if edge is not None]
        (slope * slope).sum().backward()
        optimizer.step()
    assert RecordedRule not in [type(each.how) for each in before if each is not None]
    assert type(node.how) is RecordedRule


@pytest.mark.parametrize("function", [lambda x: paddle.maximum(x, x * 0.5), lambda x: x.clip(0)])
def test_whether_a_gradient_has_gradients_does_not_change_by_and_by(function):
    stops = set()
    for _ in range(2 * OFTEN + 2):
        x, _, _ = _leaves()
        y = function(x)
        (slope,) = _slopes([y], [x], [paddle.ones_like(y)])
        stops.add(slope.stop_gradient)
    assert stops == {True}
