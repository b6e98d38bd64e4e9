"""Tensors under OneFlow's rules."""

import copy
import pickle

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite import flow
from fluidlite.errors import (
    ArgumentError,
    GradientShapeError,
    GradientStateError,
    GradientTypeError,
    ReleasedError,
)


@pytest.fixture
def x():
    return flow.tensor([1.0, 2.0], requires_grad=True)


def test_the_arguments_of_backward_come_in_oneflows_order(x):
    (x * x * x).backward(flow.tensor([1.0, 10.0]), True, True)
    assert x.grad.tolist() == [3, 120]
    assert x.grad.requires_grad


def test_gradients_add_up_and_want_none_themselves(x):
    for _ in range(2):
        (x * x).sum().backward()
    assert x.grad.tolist() == [4, 8]
    assert not x.grad.requires_grad


def test_a_vector_needs_a_gradient_to_begin_with(x):
    with pytest.raises(GradientShapeError, match=r"one element .* got shape \[2\]"):
        (x * x).backward()
    with pytest.raises(GradientShapeError, match=r"shape \[2\] .* got one of shape \[1\]"):
        (x * x).backward(flow.tensor([1.0]))
    with pytest.raises(ArgumentError, match="tensors or None"):
        (x * x).backward([1.0, 1.0])


def test_what_wants_no_gradient_cannot_be_differentiated():
    with pytest.raises(GradientStateError, match="wants no gradient"):
        (flow.tensor([1.0]) * 2.0).backward()


def test_a_released_graph_is_an_error(x):
    y = (x * x).sum()
    y.backward()
    with pytest.raises(ReleasedError, match="retain_graph=True"):
        y.backward()


def test_requires_grad_of_results_stays(x):
    y = x * x
    with pytest.raises(GradientStateError, match="leaves alone"):
        y.requires_grad = False
    with pytest.raises(ArgumentError, match="True or False"):
        x.requires_grad = 1
    with pytest.raises(GradientTypeError, match="only floats"):
        flow.tensor([1]).requires_grad_()
    assert not x.requires_grad_(False).requires_grad


def test_retain_grad_adds_up(x):
    m = x * x
    m.retain_grad()
    y = m.sum()
    y.backward(retain_graph=True)
    y.backward()
    assert m.grad.tolist() == [2, 2]
    with pytest.raises(GradientStateError, match="none to keep"):
        flow.tensor([1.0]).retain_grad()


def test_third_order():
    x = flow.tensor(2.0, requires_grad=True)
    y, found = x * x * x * x, []
    for _ in range(3):
        y.backward(create_graph=True)
        y, x.grad = x.grad, None
        found.append(float(y))
    assert found == [32, 48, 48]


def test_reductions_take_dim():
    x = flow.tensor([[1.0, 3.0], [5.0, 2.0]], requires_grad=True)
    values, places = x.max(dim=1)
    assert (values.tolist(), places.tolist()) == ([3, 5], [1, 0])
    values.sum().backward()
    assert x.grad.tolist() == [[0, 1], [1, 0]]
    assert x.min(dim=0)[0].tolist() == [1, 2]
    assert x.max(dim=1, keepdim=True)[1].shape == [2, 1]
    assert x.sum(dim=0).tolist() == [6, 5]
    assert x.mean(dim=[0, 1]).item() == 2.75
    assert x.prod().item() == 30
    assert (x.argmax(dim=0).tolist(), x.argmin().item()) == ([1, 0], 0)
    np.testing.assert_allclose(x.softmax(dim=1).numpy().sum(1), 1, rtol=1e-6)


def test_shapes():
    x = flow.ones(2, 3, 4)
    assert x.transpose(0, 2).shape == [4, 3, 2]
    assert x.permute(1, 0, 2).shape == flow.permute(x, [1, 0, 2]).shape == [3, 2, 4]
    assert (x.size(), x.size(1), x.numel(), x.view(6, 4).shape) == ([2, 3, 4], 3, 24, [6, 4])
    assert flow.cat([x, x], dim=1).shape == [2, 6, 4]
    assert flow.stack([x, x], dim=1).shape == [2, 2, 3, 4]


def test_creation():
    assert flow.zeros([2, 3], requires_grad=True).requires_grad
    assert flow.full([2], 1.5).tolist() == [1.5, 1.5]
    assert flow.eye(2).tolist() == [[1, 0], [0, 1]]
    assert flow.arange(1, 4).tolist() == [1, 2, 3]
    flow.manual_seed(1)
    first = flow.randn(3)
    flow.manual_seed(1)
    assert first.tolist() == flow.randn(3).tolist()
    assert flow.rand(2, 2).shape == [2, 2]
    with pytest.raises(ArgumentError, match="requires_grad"):
        flow.tensor([1.0], requires_grad="yes")


def test_results_of_functions_are_tensors_of_the_same_kind(x):
    for found in (flow.exp(x), x.relu(), x.sub(1.0), x.mul(x), flow.div(x, 2.0), x.double(), x[0]):
        assert type(found) is flow.Tensor
    assert x.double().dtype == flow.float64
    assert x.long().float().dtype == flow.float32
    assert x.type_as(x.double()).dtype == flow.float64


def test_text(x):
    assert repr(x) == "tensor([1., 2.], dtype=oneflow.float32, requires_grad=True)"
    assert repr(x.detach()) == "tensor([1., 2.], dtype=oneflow.float32)"


def test_layers_take_them(x):
    (fluid.layers.reduce_sum(fluid.layers.square(x))).backward()
    assert x.grad.tolist() == [2, 4]


def test_copies_keep_what_they_want(x):
    x.grad = flow.tensor([7.0, 8.0])
    assert copy.deepcopy(x).grad.tolist() == [7, 8]
    again = pickle.loads(pickle.dumps(x))
    assert (type(again), again.requires_grad, again.tolist()) == (flow.Tensor, True, [1, 2])


def test_shapes_that_do_not_fit_are_runtime_errors_as_in_oneflow():
    x = flow.ones(2, 3)
    for wrong in (
        lambda: x + flow.ones(2),
        lambda: x @ x,
        lambda: x.reshape(4),
        lambda: flow.cat([x, flow.ones(3, 2)]),
        lambda: x.expand(3, 3),
        lambda: flow.nn.Linear(2, 3)(flow.ones(4, 5)),
    ):
        with pytest.raises(RuntimeError):
            wrong()
