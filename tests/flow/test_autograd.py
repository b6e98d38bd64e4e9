"""Derivatives in OneFlow's spelling."""

import pytest

import fluidlite as fluid
from fluidlite import flow
from fluidlite.errors import (
    ArgumentError,
    GradientCheckError,
    GradientShapeError,
    GradientStateError,
    ReleasedError,
    UnreachableError,
)


@pytest.fixture
def x():
    return flow.tensor([1.0, 2.0], requires_grad=True)


def test_grad_gives_a_tuple_and_leaves_grad_alone(x):
    w = flow.tensor(3.0, requires_grad=True)
    found = flow.autograd.grad((x * w).sum(), [x, w, x])
    assert type(found) is tuple
    assert [g.tolist() for g in found] == [[3, 3], 3, [3, 3]]
    assert x.grad is None
    assert not found[0].requires_grad


def test_grad_is_strict(x):
    with pytest.raises(GradientShapeError, match="no gradient for"):
        flow.autograd.grad(x * x, x)
    with pytest.raises(GradientStateError, match="wants no gradient"):
        flow.autograd.grad(x.detach().sum(), x)
    other = flow.tensor(1.0, requires_grad=True)
    with pytest.raises(UnreachableError, match="do not depend"):
        flow.autograd.grad(x.sum(), other)
    assert flow.autograd.grad(x.sum(), other, allow_unused=True) == (None,)


def test_grad_with_create_graph_can_be_differentiated_again(x):
    (slope,) = flow.autograd.grad((x * x * x).sum(), x, create_graph=True)
    (curvature,) = flow.autograd.grad(slope.sum(), x)
    assert curvature.tolist() == [6, 12]


def test_backward_of_several_tensors(x):
    flow.autograd.backward([x * x, x.sum()], [flow.tensor([1.0, 10.0]), None])
    assert x.grad.tolist() == [3, 41]
    with pytest.raises(GradientShapeError, match="sum it up first"):
        flow.autograd.backward([x * x])


class Scaled(flow.autograd.Function):
    @staticmethod
    def forward(ctx, x, factor, y=None):
        ctx.factor = factor
        return x * factor

    @staticmethod
    def backward(ctx, gradient):
        return gradient * ctx.factor, None, None


def test_a_function_gives_none_for_what_is_no_tensor(x):
    Scaled.apply(x, 3.0, None).sum().backward()
    assert x.grad.tolist() == [3, 3]


def test_a_function_is_called_through_an_instance(x):
    assert Scaled()(x, 3.0, y=x).requires_grad


def test_a_function_that_gives_too_few_gradients_is_refused(x):
    class Sum(flow.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            return x + y

        @staticmethod
        def backward(ctx, gradient):
            return gradient

    with pytest.raises(ArgumentError, match="2 gradients, one for each"):
        Sum.apply(x, x).sum().backward()


def test_inference_mode(x):
    with flow.inference_mode():
        assert not (x * x).requires_grad
        with flow.inference_mode(False):
            assert (x * x).requires_grad


def freeze_by_method(w):
    w.requires_grad_(False)


def freeze_by_attribute(w):
    w.requires_grad = False


@pytest.mark.parametrize("freeze", [freeze_by_method, freeze_by_attribute])
def test_a_leaf_that_is_frozen_behind_the_forward_pass_gets_no_gradient(freeze):
    w, v = (flow.tensor([1.0, 2.0], requires_grad=True) for _ in range(2))
    loss = (w * v).sum()
    freeze(w)
    loss.backward()
    assert (w.grad, v.grad.tolist()) == (None, [1, 2])


def test_a_module_that_is_frozen_for_one_of_two_steps_keeps_its_gradient():
    critic, x = flow.nn.Linear(2, 1), flow.tensor([[1.0, 2.0]], requires_grad=True)
    critic(x).sum().backward()
    before = critic.weight.grad.tolist()
    loss = critic(x * 3.0).sum()
    for parameter in critic.parameters():
        parameter.requires_grad_(False)
    loss.backward()
    assert critic.weight.grad.tolist() == before == [[1, 2]]
    for parameter in critic.parameters():
        parameter.requires_grad_(True)
    critic(x * 3.0).sum().backward()
    assert critic.weight.grad.tolist() == [[4, 8]]


def test_retain_graph_may_be_none():
    x = flow.tensor(2.0, requires_grad=True)
    y = x * x
    assert flow.autograd.grad(y, x, retain_graph=None)[0].item() == 4
    z = x * x
    z.backward(retain_graph=None)
    w = fluid.to_tensor(2.0, stop_gradient=False)
    (w * w).backward(retain_graph=None)
    assert x.grad.item() == w.grad.item() == 4
    with pytest.raises(ReleasedError):
        z.backward()


def test_several_cotangents_are_pulled_back_at_once():
    x = flow.tensor([1.0, 2.0], requires_grad=True)
    y = x * x
    seeds = flow.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    (found,) = flow.autograd.grad(y, x, seeds, is_grads_batched=True)
    assert found.tolist() == [[2.0, 0.0], [0.0, 4.0], [2.0, 4.0]]
    with pytest.raises(GradientShapeError):
        flow.autograd.grad(x * x, x, flow.tensor(1.0), is_grads_batched=True)


def test_inputs_that_take_no_part_may_have_zeros():
    x, other = flow.ones(2, requires_grad=True), flow.ones(3, requires_grad=True)
    found = flow.autograd.grad((x * 2).sum(), [x, other], materialize_grads=True)
    assert [each.tolist() for each in found] == [[2.0, 2.0], [0.0, 0.0, 0.0]]


def test_backward_may_be_told_which_inputs_get_gradients():
    x, y = flow.ones(2, requires_grad=True), flow.ones(2, requires_grad=True)
    (x * y).sum().backward(inputs=x)
    assert x.grad.tolist() == [1.0, 1.0] and y.grad is None
    flow.autograd.backward([(x * y).sum()], inputs=[y])
    assert x.grad.tolist() == y.grad.tolist() == [1.0, 1.0]


def test_functions_know_which_arguments_want_gradients():
    seen = []

    class Scaled(flow.autograd.Function):
        @staticmethod
        def forward(ctx, x, factor, other):
            seen.append(ctx.needs_input_grad)
            ctx.save_for_backward(other)
            return x * factor

        @staticmethod
        def backward(ctx, gradient):
            seen.append(ctx.needs_input_grad)
            return gradient * 2, None, None

    Scaled.apply(flow.ones(2, requires_grad=True), 2.0, flow.ones(2)).sum().backward()
    assert seen == [(True, False, False)] * 2


def test_gradients_are_compared_with_differences():
    x = flow.tensor([[0.5, 2.0]], dtype=flow.float64, requires_grad=True)
    n = flow.tensor([3.0, 4.0], dtype=flow.float64)
    assert flow.autograd.gradcheck(lambda x, n: ((x * n).sin(), x.exp()), (x, n))
    assert flow.autograd.gradgradcheck(lambda x: (x * x).sin(), [x])
    assert flow.autograd.gradgradcheck(lambda x: x**3, x, flow.ones(1, 2).double())

    class Wrong(flow.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * x

        @staticmethod
        def backward(ctx, gradient):
            return gradient * 3

    with pytest.raises(GradientCheckError, match="output 0 with respect to input 0"):
        flow.autograd.gradcheck(Wrong.apply, x)
    assert not flow.autograd.gradcheck(Wrong.apply, x, raise_exception=False)
    with pytest.raises(ArgumentError, match="wants a gradient"):
        flow.autograd.gradcheck(Wrong.apply, n)


def test_what_is_kept_for_gradients_may_be_packed():
    packed = []

    def pack(tensor):
        packed.append(tensor.shape)
        return tensor.numpy()

    x = flow.tensor([1.0, 2.0], requires_grad=True)
    with flow.autograd.graph.saved_tensors_hooks(pack, flow.tensor):
        y = (x * x).sum()
    y.backward()
    assert packed and x.grad.tolist() == [2.0, 4.0]
    with flow.autograd.detect_anomaly():
        (x * 2).sum().backward()


def test_what_gave_a_tensor_leads_to_what_gave_its_inputs():
    x, w = flow.ones(2, requires_grad=True), flow.ones(3, 2, requires_grad=True)
    y = (flow.nn.functional.linear(x[None] * 2, w) + 1).exp()
    names, node = [], y.grad_fn
    while node is not None:
        names.append(node.name())
        node = node.next_functions[0] if node.next_functions else None
    assert names[0] == "exp_backward" and names[1] == "scalar_add_backward"
    assert names[-2:] == ["view::slice_backward", "accumulate_grad"]
    product = y.grad_fn.next_functions[0].next_functions[0]
    assert len(product.next_functions) == 2
    assert product.next_functions[1] == (w * w).grad_fn.next_functions[0]
    assert y.grad_fn == y.grad_fn and {y.grad_fn: 1}[y.grad_fn] == 1
    assert repr(y.grad_fn).startswith("<exp_backward called at ") and x.grad_fn is None
    y.sum().backward()
    assert y.grad_fn.next_functions == []
