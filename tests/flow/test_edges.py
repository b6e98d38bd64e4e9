"""What OneFlow 0.9 gives where functions have an edge: gradients there, halves, element types."""

import numpy as np
import pytest

from fluidlite import flow

nn = flow.nn
F = nn.functional
STEPS = [0.0, 1.0, -1.0, 2.0]  # at the bounds 0 and 1, and beyond
CHANCES, RIGHT = [0.0, 1.0, 0.0, 1.0, 0.25], [0.0, 1.0, 1.0, 0.0, 1.0]


def slope(function, values):
    x = flow.tensor(values, requires_grad=True)
    function(x).sum().backward()
    return x.grad.tolist()


class OfParameter(nn.Module):
    """A function of a parameter, and of what is added to it."""

    def __init__(self, function, values):
        super().__init__()
        self.x, self.function = nn.Parameter(flow.tensor(values)), function

    def forward(self, more):
        return self.function(self.x + more)


class Step(nn.Graph):
    """A parameter less the gradient of a function of it."""

    def __init__(self, function, values):
        super().__init__()
        self.net = OfParameter(function, values)
        self.add_optimizer(flow.optim.SGD([self.net.x], lr=1.0))

    def build(self, more):
        loss = self.net(more).sum()
        loss.backward()
        return loss


def slope_in_a_graph(function, values):
    graph = Step(function, values)
    graph(flow.zeros(len(values)))
    return (flow.tensor(values) - graph.net.x.detach()).tolist()


@pytest.mark.parametrize("slope_of", [slope, slope_in_a_graph])
def test_clamp_has_a_gradient_on_its_bounds(slope_of):
    assert slope_of(lambda x: flow.clamp(x, 0, 1), STEPS) == [1, 1, 0, 0]
    assert slope_of(lambda x: x.clip(0.0, 1.0), STEPS) == [1, 1, 0, 0]
    assert slope_of(lambda x: x.clamp(min=0.0), STEPS) == [1, 1, 0, 1]
    assert slope_of(lambda x: flow.clamp(x, max=1.0), STEPS) == [1, 1, 1, 0]
    assert slope_of(lambda x: flow.clamp(x, flow.tensor([0.0]), 1), STEPS) == [1, 1, 0, 0]
    assert slope_of(lambda x: flow.relu(x), STEPS) == [0, 1, 0, 1]


def test_other_spellings_of_clamp_have_that_gradient_and_keep_the_values():
    assert slope(lambda x: (x * 1.0).clamp_(0, 1), STEPS) == [1, 1, 0, 0]
    assert slope(lambda x: flow.clamp_min(x, 0.0), STEPS) == [1, 1, 0, 1]
    assert slope(lambda x: x.clamp_max(1.0), STEPS) == [1, 1, 1, 0]
    least = flow.tensor([0.0])
    assert (
        flow.clamp(flow.tensor(2.0), least, 1).shape == () and flow.clamp(flow.tensor(3), 0, 2) == 2
    )
    kept = flow.clamp(flow.tensor([float("nan"), 9.0], dtype=flow.float64), 5, 1)
    assert np.isnan(kept[0].item()) and kept[1].item() == 1 and kept.dtype == flow.float64


@pytest.mark.parametrize("slope_of", [slope, slope_in_a_graph])
def test_the_cross_entropy_of_two_classes_has_a_finite_gradient_at_0_and_1(slope_of):
    target, weight = flow.tensor(RIGHT), flow.tensor([1.0, 2.0, 3.0, 4.0, 5.0])
    slopes = np.array([0, 0, -1e12, 1e12, -4.0])
    cases = [
        (lambda x: nn.BCELoss()(x, target), slopes / 5),
        (lambda x: F.binary_cross_entropy(x, target, reduction="sum"), slopes),
        (lambda x: nn.BCELoss(weight, "none")(x, target), slopes * weight.numpy()),
    ]
    for function, expected in cases:
        np.testing.assert_allclose(slope_of(function, CHANCES), expected, 1e-6)


def test_the_cross_entropy_of_two_classes_keeps_its_values_and_second_derivatives():
    target = flow.tensor(RIGHT)
    losses = F.binary_cross_entropy(flow.tensor(CHANCES), target, reduction="none")
    np.testing.assert_allclose(losses.numpy(), [0, 0, 100, 100, 1.3862944], 1e-6)
    tiny, right = [1e-13, 1e-13], flow.tensor([0.0, 1.0])
    small = slope(lambda x: F.binary_cross_entropy(x, right, reduction="sum"), tiny)
    np.testing.assert_allclose(small, [0.1, -1e12], 1e-6)
    x = flow.tensor([0.25], requires_grad=True)
    loss = F.binary_cross_entropy(x, flow.ones(1))
    (first,) = flow.autograd.grad(loss, x, create_graph=True)
    assert flow.autograd.grad(first.sum(), x)[0].tolist() == [16]


def test_ties_have_a_gradient_in_the_loss_of_a_ranking():
    one, other = (flow.tensor([1.0, 3.0, 1.0], requires_grad=True) for _ in range(2))
    nn.MarginRankingLoss()(one, other, flow.tensor([1.0, 1.0, -1.0])).backward()
    np.testing.assert_allclose(one.grad.numpy(), np.array([-1, -1, 1]) / 3, 1e-6)
    np.testing.assert_allclose(other.grad.numpy(), np.array([1, 1, -1]) / 3, 1e-6)


def test_triplets_have_a_gradient_at_the_edge_and_any_margin():
    like, one, other = (flow.tensor([[1.0, 2.0]], requires_grad=True) for _ in range(3))
    nn.TripletMarginLoss(0.0)(like, one, other).backward()
    root = 0.5**0.5
    for x, expected in ((like, [[0, 0]]), (one, [[-root] * 2]), (other, [[root] * 2])):
        np.testing.assert_allclose(x.grad.numpy(), expected, 1e-6)
    assert nn.TripletMarginLoss(-1.0)(like, one, other).item() == 0


def test_halves_are_rounded_to_the_even_number():
    halves = flow.tensor([0.5, 1.5, 2.5, -0.5, -1.5, 3.3, -2.5])
    even = ["0.0", "2.0", "2.0", "-0.0", "-2.0", "3.0", "-2.0"]
    for rounded in (flow.round(halves), halves.round(), (halves * 1.0).round_()):
        assert [str(n) for n in rounded.tolist()] == even
    assert flow.round(halves.double()).dtype == flow.float64
    assert slope(flow.round, STEPS) == [0, 0, 0, 0]
    large = flow.tensor([8388609.0, float("inf")])
    assert flow.round(large).tolist() == large.tolist()
    assert slope_in_a_graph(lambda x: x * flow.round(x).detach(), [0.5, 1.5]) == [0, 2]


def test_a_fraction_of_numpy_has_the_default_type_and_an_array_its_own():
    for kind in (np.float64, np.float32, np.float16):
        assert flow.tensor(kind(3)).dtype == flow.as_tensor(kind(3)).dtype == flow.float32
        assert flow.tensor(np.array(3, kind)).numpy().dtype == kind
    assert flow.tensor(np.float64(3), dtype=flow.float64).dtype == flow.float64
    assert flow.tensor(np.int32(3)).dtype == flow.int32


@pytest.mark.parametrize("kind", [flow.int32, flow.int8, flow.uint8, flow.int64, flow.bool])
def test_running_sums_and_products_of_integers_are_int64(kind):
    x = flow.tensor([1, 1, 1], dtype=kind)
    for found, numbers in ((flow.cumsum(x, 0), [1, 2, 3]), (x.cumprod(0), [1, 1, 1])):
        assert (found.dtype, found.tolist()) == (flow.int64, numbers)
    assert flow.cumsum(x.float(), 0).dtype == flow.float32


@pytest.mark.parametrize("dtype", [flow.float16, flow.float32, flow.float64])
def test_clamped_elements_keep_their_type(dtype):
    x = flow.tensor([0.5, 2.0], dtype=dtype)
    for clamped in (x.clamp(0.0, 1.0), x.clamp(min=1), flow.clamp_max(x, 1.0), flow.clip(x, 0, 1)):
        assert clamped.dtype == dtype


def test_bytes_are_masks():
    x, mask = flow.tensor([5.0, 6.0, 7.0]), flow.tensor([0, 2, 1], dtype=flow.uint8)
    assert x[mask].tolist() == [6, 7] == flow.masked_select(x, mask).tolist()
    assert x[mask.long()].tolist() == [5, 7, 6]


def test_where_of_two_numbers_has_their_type():
    mask = flow.tensor([True, False])
    for one, other, dtype in (
        (1.0, 0.0, flow.float32), (1, 0.5, flow.float32), (1, 0, flow.int64),
        (True, False, flow.bool),
    ):  # fmt: skip
        assert flow.where(mask, one, other).dtype == dtype


def test_matrices_are_inverted():
    x = flow.tensor([[2.0, 0.0], [0.0, 4.0]], requires_grad=True)
    flow.inverse(x).sum().backward()
    assert x.grad.tolist() == [[-0.25, -0.125], [-0.125, -0.0625]]
    assert flow.linalg.inv(x).tolist() == x.inverse().tolist() == [[0.5, 0.0], [0.0, 0.25]]
