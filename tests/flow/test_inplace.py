"""Writing to tensors, where they are, and their types."""

import copy

import pytest

from fluidlite import flow
from fluidlite.errors import ArgumentError, InplaceError, OverwrittenError, ShapeError


def test_pythons_augmented_assignments_write_in_place():
    x = flow.tensor([2.0, 3.0])
    same = x
    x += 1
    x *= 2.0
    x -= flow.tensor([1.0, 1.0])
    x /= 4.0
    assert same is x and same.tolist() == [1.25, 1.75]


def test_gradients_flow_through_what_is_written():
    x = flow.tensor([1.0, 2.0], requires_grad=True)
    y = x * 3.0
    y += x
    y *= x
    y.sum().backward()
    assert x.grad.tolist() == [8, 16]


def test_a_value_that_a_gradient_needs_is_missed_when_it_is_written_over():
    x = flow.tensor([1.0, 2.0], requires_grad=True)
    y = x * 1.0
    z = y * y
    y += 1.0
    with pytest.raises(OverwrittenError):
        z.sum().backward()


def test_a_leaf_that_wants_a_gradient_is_written_without_recording_alone():
    x = flow.tensor([1.0], requires_grad=True)
    with pytest.raises(InplaceError, match="leaf"):
        x += 1.0
    with flow.no_grad():
        x += 1.0
    assert x.tolist() == [2] and x.requires_grad


def test_a_write_changes_neither_shape_nor_integers_to_fractions():
    x, n = flow.ones(2), flow.tensor([1, 2])
    with pytest.raises(InplaceError, match="shape"):
        x += flow.ones(3, 2)
    with pytest.raises(InplaceError, match="float32 in place"):
        n /= 2
    assert n.tolist() == [1, 2]


def test_methods_that_write():
    x = flow.tensor([1.0, -2.0])
    assert x.add_(flow.ones(2), alpha=3) is x and x.tolist() == [4, 1]
    assert x.clamp_(max=2.0).sub_(1.0).mul_(4.0).div_(2.0).tolist() == [2, 0]
    assert x.copy_(flow.tensor([9])).tolist() == [9, 9] and x.dtype == flow.float32


def test_tensors_are_on_the_cpu():
    x = flow.ones(2, device="cpu")
    assert x.cpu() is x and x.to("cpu") is x and x.to(flow.device("cpu:0")) is x
    assert x.device == flow.device("cpu") and str(x.device) == "cpu:0"
    assert repr(flow.device("cpu", 0)) == "device(type='cpu', index=0)" and not x.is_cuda
    for call in (
        lambda: x.to("cuda"),
        lambda: flow.zeros(2, device="cuda"),
        lambda: flow.tensor(1.0, device="cuda:1"),
        lambda: flow.nn.Linear(2, 2, device="cuda"),
    ):
        with pytest.raises(ArgumentError, match="expected the device 'cpu'"):
            call()


def test_tensors_are_cast():
    x = flow.tensor([1.5, 0.0])
    assert x.to(flow.float64).dtype == x.to("cpu", "float64").dtype == flow.float64
    assert x.to(flow.tensor([1])).tolist() == x.int().tolist() == [1, 0]
    assert x.bool().tolist() == [True, False] and x.half().dtype == flow.float16
    assert x.to(flow.float32) is x and x.to(flow.float32, copy=True) is not x


def test_parts_have_a_size_and_the_last_may_be_smaller():
    x = flow.arange(5)
    assert [p.tolist() for p in flow.split(x, 2)] == [[0, 1], [2, 3], [4]]
    assert [p.tolist() for p in x.split([1, 4], dim=0)] == [[0], [1, 2, 3, 4]]
    assert [p.tolist() for p in x.chunk(2)] == [[0, 1, 2], [3, 4]]
    with pytest.raises(ShapeError, match="add up to 5"):
        x.split([1, 2])


def test_a_clamp_needs_a_bound():
    with pytest.raises(ArgumentError, match="min, max or both"):
        flow.clamp(flow.ones(2))


def test_bfloat16_is_an_element_type():
    pytest.importorskip("ml_dtypes")
    x = flow.tensor([1.5, 2.7]).bfloat16()
    assert x.dtype == flow.bfloat16 and repr(flow.bfloat16) == "oneflow.bfloat16"
    assert flow.is_floating_point(x) and x.is_floating_point()
    assert x.float().tolist() == [1.5, 2.703125]
    assert (x + x).to(flow.float32).tolist() == [3.0, 5.40625]
    assert flow.finfo(flow.bfloat16).eps == 2**-7 and flow.finfo(flow.bfloat16).bits == 16


@pytest.mark.parametrize("function", [flow.relu, flow.exp, flow.sigmoid, flow.tanh, flow.sqrt])
def test_results_that_are_written_over_have_the_gradients_of_what_they_were(function):
    x, z = flow.tensor([4.0, 9.0], requires_grad=True), flow.tensor([4.0, 9.0], requires_grad=True)
    y = function(x)
    y += x
    y[0] *= 2
    other = (function(z) + z) * flow.tensor([2.0, 1.0])
    y.sum().backward()
    other.sum().backward()
    assert x.grad.tolist() == z.grad.tolist()


def test_powers_quotients_and_remainders_are_new_tensors():
    w, n = flow.tensor([3.0], requires_grad=True), flow.tensor([7])
    held = w
    w **= 2
    assert w is not held and w.tolist() == [9] and held.tolist() == [3]
    n //= 0.5
    assert n.tolist() == [14] and n.dtype == flow.float32
    n %= 4
    assert n.tolist() == [2]


def test_leaves_take_other_elements_without_a_guard():
    weight = flow.nn.Linear(2, 1).weight
    for fill in (weight.normal_, weight.uniform_, lambda: weight.copy_(flow.ones(1, 2))):
        fill()
        assert weight.is_leaf and weight.requires_grad
    assert weight.tolist() == [[1, 1]]
    (weight * 2).sum().backward()
    assert weight.grad.tolist() == [[2, 2]]


def test_results_that_are_filled_keep_their_past():
    x = flow.ones(2, requires_grad=True)
    fills = {
        "zero_": lambda y: y.zero_(),
        "copy_": lambda y: y.copy_(flow.ones(2)),
        "normal_": lambda y: y.normal_(),
        "uniform_": lambda y: y.uniform_(),
        "bernoulli_": lambda y: y.bernoulli_(),
        "exponential_": lambda y: y.exponential_(),
    }
    for name, fill in fills.items():
        y = x * 3
        assert fill(y) is y and y.requires_grad and y.grad_fn is not None, name
        x.grad = None
        y.sum().backward()
        assert x.grad.tolist() == [3, 3], name


def test_gradients_flow_to_the_number_that_a_tensor_is_filled_with():
    x, value = (
        flow.tensor([float("nan"), 1.0], requires_grad=True),
        flow.ones(1, requires_grad=True),
    )
    y, z = x * 2, flow.zeros(2)
    y.fill_(3.0)
    z.fill_(value[0] * 5)
    (y * z).sum().backward()
    assert y.tolist() == [3, 3] and x.grad.tolist() == [0, 0] and value.grad.tolist() == [30]
    for write in (x.zero_, lambda: x.fill_(1)):
        with pytest.raises(InplaceError, match="is a leaf that wants a gradient"):
            write()


def test_a_tensor_in_its_own_type_is_itself():
    x = flow.ones(2)
    assert x.float() is x and x.type_as(x) is x and x.to(flow.float32, copy=True) is not x
    assert x.double().float() is not x


def test_results_are_copied_deeply_without_their_past():
    x = flow.ones(2, requires_grad=True)
    copied = copy.deepcopy([x * 2.0])[0]
    copied += 1
    assert copied.tolist() == [3, 3] and not copied.requires_grad
