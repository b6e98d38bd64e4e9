"""Modules."""

import math

import numpy as np
import pytest

from fluidlite import flow
from fluidlite.errors import ArgumentError, ShapeError, StateDictError
from fluidlite.flow import nn


class Net(nn.Module):
    """Convolutions, a normalisation, and a linear map."""

    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2))
        self.drop = nn.Dropout(0.2)
        self.out = nn.Linear(16, 3)

    def forward(self, x):
        return self.out(self.drop(self.body(x)).flatten(1))


def images(count=6):
    values = np.random.default_rng(0).normal(size=[count, 1, 6, 6])
    return flow.tensor(values.astype("float32"))


def test_a_net_learns():
    flow.manual_seed(1)
    net, x, labels = Net(), images(), flow.tensor([0, 1, 2, 0, 1, 2])
    losses = []
    for _ in range(30):
        loss = nn.CrossEntropyLoss()(net(x), labels)
        net.zero_grad()
        loss.backward()
        with flow.no_grad():
            for parameter in net.parameters():
                parameter -= 0.1 * parameter.grad
        losses.append(loss.item())
    assert losses[-1] < 0.5 * losses[0]
    assert int(net.body[1].num_batches_tracked) == 30


def test_parameters_and_buffers_are_found_by_where_they_are():
    net = Net()
    assert list(net.state_dict()) == [
        *("body.0.weight", "body.0.bias", "body.1.weight", "body.1.bias"),
        *("body.1.running_mean", "body.1.running_var", "body.1.num_batches_tracked"),
        *("out.weight", "out.bias"),
    ]
    assert [name for name, _ in net.named_children()] == ["body", "drop", "out"]
    assert len(list(net.modules())) == 8
    assert repr(nn.Sequential(nn.Linear(2, 3), nn.ReLU(inplace=True))) == (
        "Sequential(\n  (0): Linear(in_features=2, out_features=3, bias=True)\n"
        "  (1): ReLU(inplace=True)\n)"
    )


def test_a_shared_parameter_is_found_once():
    net = nn.Sequential(nn.Linear(2, 2, bias=False), nn.Linear(2, 2, bias=False))
    net[1].weight = net[0].weight
    assert len(list(net.parameters())) == 1


def test_a_state_is_taken_over_whole_or_not_at_all():
    first, second = Net(), Net()
    second.load_state_dict(first.state_dict())
    first.eval(), second.eval()
    np.testing.assert_array_equal(first(images()).numpy(), second(images()).numpy())
    state = dict(first.state_dict())
    state["out.bias"] = flow.zeros(4)
    before = second.body[0].weight.numpy()
    state["body.0.weight"] = flow.zeros(4, 1, 3, 3)
    with pytest.raises(ShapeError, match=r"shape \[3\] for 'out.bias', got \[4\]"):
        second.load_state_dict(state)
    np.testing.assert_array_equal(second.body[0].weight.numpy(), before)
    del state["out.bias"]
    with pytest.raises(StateDictError, match=r"lacks \['out.bias'\]"):
        second.load_state_dict(state)
    second.load_state_dict(state, strict=False)
    assert not second.body[0].weight.numpy().any()


def test_eval_reaches_all_modules():
    net = Net()
    assert net.eval() is net and not any(m.training for m in net.modules())
    x = images()
    np.testing.assert_array_equal(net(x).numpy(), net(x).numpy())


def test_hooks_see_and_change_what_passes():
    linear, seen = nn.Linear(2, 2), []
    handle = linear.register_forward_pre_hook(lambda module, inputs: seen.append(len(inputs)))
    linear.register_forward_hook(lambda module, inputs, out: out * 0.0)
    assert linear(flow.ones(1, 2)).tolist() == [[0, 0]] and seen == [1]
    handle.remove()
    linear(flow.ones(1, 2))
    assert seen == [1]


def test_an_activation_in_place_writes_to_its_input():
    x = flow.tensor([-1.0, 2.0])
    assert nn.ReLU(inplace=True)(x) is x and x.tolist() == [0, 2]
    assert nn.Hardtanh(0.0, 1.5)(x).tolist() == [0, 1.5]
    assert nn.Threshold(1.0, 7.0)(x).tolist() == [7, 2]


def test_running_statistics_are_those_of_an_unbiased_sample():
    norm, x = nn.BatchNorm1d(2, momentum=0.25), images(8).reshape(-1, 2)
    norm(x)
    mean, var = x.numpy().mean(0), x.numpy().var(0, ddof=1)
    np.testing.assert_allclose(norm.running_mean.numpy(), 0.25 * mean, rtol=1e-5)
    np.testing.assert_allclose(norm.running_var.numpy(), 0.75 + 0.25 * var, rtol=1e-5)
    mean_of_all = nn.BatchNorm1d(2, momentum=None)
    mean_of_all(x), mean_of_all(x)
    np.testing.assert_allclose(mean_of_all.running_mean.numpy(), mean, rtol=1e-5)


MODULES = [
    (nn.Conv1d(4, 6, 3, 2, 1, groups=2, padding_mode="circular"), (2, 4, 7), [2, 6, 4]),
    (nn.Conv3d(2, 4, (1, 2, 3), bias=False), (1, 2, 3, 4, 5), [1, 4, 3, 3, 3]),
    (nn.ConvTranspose1d(4, 2, 3, 2, output_padding=1), (1, 4, 5), [1, 2, 12]),
    (nn.ConvTranspose3d(2, 4, 2, stride=2), (1, 2, 2, 3, 1), [1, 4, 4, 6, 2]),
    (nn.AvgPool2d(2, divisor_override=3), (1, 2, 4, 4), [1, 2, 2, 2]),
    (nn.AdaptiveAvgPool3d((1, None, 2)), (1, 2, 3, 4, 5), [1, 2, 1, 4, 2]),
    (nn.InstanceNorm1d(3, affine=True, track_running_stats=True), (2, 3, 5), [2, 3, 5]),
    (nn.GroupNorm(2, 4), (2, 4, 3), [2, 4, 3]),
    (nn.LayerNorm((3, 4)), (2, 3, 4), [2, 3, 4]),
    (nn.PReLU(3), (2, 3, 4), [2, 3, 4]),
    (nn.GLU(1), (2, 4), [2, 2]),
    (nn.Softmax(dim=1), (2, 4), [2, 4]),
    (nn.Flatten(), (2, 3, 4), [2, 12]),
    (nn.Dropout2d(0.5), (2, 3, 4, 4), [2, 3, 4, 4]),
]


@pytest.mark.parametrize("module, shape, wanted", MODULES, ids=lambda v: type(v).__name__)
def test_modules_give_the_shapes_that_they_should(module, shape, wanted):
    x = flow.randn(*shape, requires_grad=True)
    out = module(x)
    assert out.shape == wanted
    (out * out).sum().backward()
    assert x.grad.shape == list(shape)
    assert all(parameter.grad is not None for parameter in module.parameters())


def test_a_bilinear_map_multiplies_from_both_sides():
    module = nn.Bilinear(2, 3, 4)
    x, y = flow.randn(5, 2), flow.randn(5, 3)
    expected = np.einsum("ni,kij,nj->nk", x.numpy(), module.weight.numpy(), y.numpy())
    np.testing.assert_allclose(module(x, y).numpy(), expected + module.bias.numpy(), rtol=1e-4)


def test_a_padded_row_of_a_table_is_zero_and_gets_no_gradient():
    table = nn.Embedding(4, 3, padding_idx=-1)
    out = table(flow.tensor([3, 1]))
    out.sum().backward()
    assert out.tolist()[0] == [0, 0, 0]
    assert table.weight.grad.numpy().sum(1).tolist() == [0, 3, 0, 0]


def test_what_fits_no_module_is_refused():
    with pytest.raises(ArgumentError, match="groups to divide"):
        nn.Conv2d(3, 4, 2, groups=2)
    with pytest.raises(ArgumentError, match="no padding_mode"):
        nn.Conv2d(2, 2, 2, padding_mode="mirror")
    with pytest.raises(ShapeError, match="expected 4 dimensions"):
        nn.BatchNorm2d(2)(flow.ones(4, 2))
    with pytest.raises(ArgumentError, match=r"call super\(\).__init__\(\)"):

        class Early(nn.Module):
            def __init__(self):
                self.weight = nn.Parameter(flow.ones(1))

        Early()


@pytest.mark.parametrize("shape, dim", [([2], 0), ([2, 3], 1), ([2, 3, 4], 0), ([2, 3, 4, 2], 1)])
def test_probabilities_are_along_a_dimension_that_the_rank_says(shape, dim):
    x = flow.arange(math.prod(shape)).reshape(*shape).to(flow.float32)
    for make in (flow.nn.Softmax, flow.nn.LogSoftmax):
        assert make()(x).tolist() == make(dim)(x).tolist()
    assert x.softmax().tolist() == flow.softmax(x, dim).tolist()
    assert x.log_softmax().tolist() == flow.log_softmax(x, dim).tolist()


def test_inplace_writes_to_the_input_where_oneflow_does():
    written = {"ReLU", "CELU", "LeakyReLU", "Hardsigmoid", "Hardshrink", "Softshrink"}
    anew = {"ReLU6", "ELU", "SELU", "SiLU", "Mish", "Hardswish", "Hardtanh"}
    for name in sorted(written | anew):
        x = flow.tensor([-0.25, 7.0])
        y = getattr(nn, name)(inplace=True)(x)
        assert (y is x) == (name in written) == (x.tolist() != [-0.25, 7.0]), name
        assert y.tolist() == getattr(nn, name)()(flow.tensor([-0.25, 7.0])).tolist()


def test_functions_take_inplace_where_oneflow_does():
    x = flow.tensor([-1.0, 2.0])
    functional = nn.functional
    assert functional.relu6(x, inplace=True) is not x
    assert functional.leaky_relu(x, alpha=0.5).tolist() == [-0.5, 2.0]
    names = ("celu", "hardsigmoid", "leaky_relu", "softshrink", "hardshrink")
    for function in [getattr(functional, name) for name in names]:
        assert function(x) is not x and function(x, inplace=True) is x


def _at(kind, values):
    return flow.tensor(values, dtype=getattr(flow, kind))


@pytest.mark.parametrize("of_input, of_weights", [("float64", "float32"), ("float32", "float64")])
@pytest.mark.parametrize(
    "kind, sizes", [("LayerNorm", [3]), ("GroupNorm", [1, 3]), ("BatchNorm1d", [3])]
)
def test_a_norm_may_have_weights_of_another_element_type(kind, sizes, of_input, of_weights):
    norm, same = getattr(nn, kind)(*sizes), getattr(nn, kind)(*sizes).double()
    norm.to(getattr(flow, of_weights)).weight.data.copy_(_at(of_weights, [1.0, 2.0, 3.0]))
    same.weight.data.copy_(norm.weight)
    x = _at(of_input, [[0.5, -1.0, 2.0], [3.0, 0.25, 1.0]])
    found, wanted = norm(x), same(x.double())
    assert found.dtype == getattr(flow, of_input if kind == "BatchNorm1d" else "float64")
    np.testing.assert_allclose(found.numpy(), wanted.numpy(), rtol=1e-6)
    found.sum().backward()
    assert norm.weight.grad.dtype == getattr(flow, of_weights)
    for kept, right in zip(norm.buffers(), same.buffers()):
        assert kept.dtype in (getattr(flow, of_weights), flow.int64)
        np.testing.assert_allclose(kept.numpy(), right.numpy(), rtol=1e-6)


def test_a_batch_of_one_value_for_each_channel_becomes_the_bias():
    norm = nn.BatchNorm1d(2)
    norm.bias.data.copy_(flow.tensor([0.5, -1.5]))
    x = flow.tensor([[3.0, 4.0]], requires_grad=True)
    y = norm(x)
    (y * y).sum().backward()
    assert y.tolist() == [[0.5, -1.5]] and x.grad.tolist() == [[0.0, 0.0]]
    assert norm.weight.grad.tolist() == [0.0, 0.0] and norm.bias.grad.tolist() == [1.0, -3.0]
    np.testing.assert_allclose(norm.running_mean.numpy(), [0.3, 0.4], rtol=1e-6)
    assert np.isnan(norm.running_var.numpy()).all()


def test_instance_norms_use_the_input_alone():
    norm = nn.InstanceNorm1d(1, track_running_stats=True)
    x = flow.tensor([[[1.0, 3.0]]])
    assert norm(x).tolist() == norm.eval()(x).tolist()
    assert norm.running_mean.item() == 0.0 and norm.num_batches_tracked.item() == 0
    assert nn.InstanceNorm1d(1)(flow.ones(2, 1, 1)).tolist() == [[[0.0]], [[0.0]]]


def test_a_loss_of_logits_has_the_element_type_of_its_targets():
    for kind, other in (("float32", "float64"), ("float64", "float32")):
        logits = _at(kind, [0.5, -1.0]).requires_grad_()
        loss = nn.BCEWithLogitsLoss()(logits, _at(other, [1.0, 0.25]))
        loss.backward()
        assert loss.dtype == getattr(flow, other) and logits.grad.dtype == getattr(flow, kind)
        assert abs(loss.item() - 0.51867) < 1e-4


def test_slices_of_another_element_type_are_added():
    x, index = _at("float32", [1.0, 2.0]), flow.tensor([0, 0])
    found = flow.index_add(x, 0, index, _at("float64", [10.0, 20.0]))
    assert found.dtype == flow.float32 and found.tolist() == [31.0, 2.0]


def test_a_softmax_is_exact_far_below_the_largest_logit():
    x = flow.tensor([[0.0, -70.0, float("-inf")], [1.0, 1.0, 2.0]], requires_grad=True)
    y = x.softmax(-1)
    np.testing.assert_allclose(y[0].tolist(), [1.0, np.exp(-70.0), 0.0], rtol=1e-5)
    assert abs(y[1].sum().item() - 1.0) < 1e-6
    assert abs(y[0, 1].log().item() + 70.0) < 1e-3
    many = flow.zeros(3, 1000, dtype=flow.float64)
    many[:, 0] = -60.0
    np.testing.assert_allclose(flow.softmax(many, 1)[:, 0].numpy(), np.exp(-60.0) / 999)
    np.testing.assert_allclose(flow.softmax(many.T, 0)[0].numpy(), np.exp(-60.0) / 999)
    (slope,) = flow.autograd.grad((y * flow.tensor([1.0, 2.0, 3.0])).sum(), x, create_graph=True)
    np.testing.assert_allclose(slope[0].tolist(), [0.0, 0.0, 0.0], atol=1e-29)
    (curve,) = flow.autograd.grad(slope[0].sum(), x)
    np.testing.assert_allclose(curve[0].tolist(), [0.0, 0.0, 0.0], atol=1e-29)
    assert y.grad_fn.name() == "softmax_backward"
