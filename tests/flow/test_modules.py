"""What modules of ``flow`` hold, show, and are made of."""

import numpy as np
import pytest

from fluidlite import errors, flow, io

nn = flow.nn


@pytest.mark.parametrize(
    "make, shown",
    [
        ("Linear(2, 3)", "Linear(in_features=2, out_features=3, bias=True)"),
        (
            "Conv2d(2, 3, 3, padding=1)",
            "Conv2d(2, 3, kernel_size=(3, 3), stride=(1, 1), padding=(1, 1))",
        ),
        (
            "ConvTranspose1d(2, 4, 3, 2, output_padding=1, groups=2, bias=False)",
            "ConvTranspose1d(2, 4, kernel_size=(3,), stride=(2,), output_padding=(1,), groups=2, "
            "bias=False)",
        ),
        (
            "BatchNorm2d(3)",
            "BatchNorm2d(3, eps=1e-05, momentum=0.1, affine=True, track_running_stats=True)",
        ),
        ("LayerNorm(4)", "LayerNorm((4,), eps=1e-05, elementwise_affine=True)"),
        ("LSTM(3, 4, num_layers=2)", "LSTM(3, 4, num_layers=2)"),
        ("Dropout(0.3)", "Dropout(p=0.3, inplace=False)"),
        ("Embedding(3, 4)", "Embedding(3, 4)"),
    ],
)
def test_modules_are_shown_as_oneflow_shows_them(make, shown):
    assert repr(eval(make, vars(nn))) == shown


def test_lists_and_dictionaries_of_modules_change():
    listed = nn.ModuleList([nn.Linear(1, 1)])
    listed.insert(0, nn.ReLU())
    listed[0] = nn.Tanh()
    assert [type(each).__name__ for each in listed] == ["Tanh", "Linear"]
    del listed[0]
    assert [name for name, _ in listed.named_parameters()] == ["0.weight", "0.bias"]
    named = nn.ModuleDict({"a": nn.Linear(1, 1)})
    named.update({"b": nn.ReLU(), "c": nn.Tanh()})
    del named["a"]
    assert type(named.pop("b")) is nn.ReLU
    assert list(named) == ["c"]
    assert len(nn.Sequential(nn.ReLU()).append(nn.Tanh())) == 2


def test_a_dictionary_of_parameters_is_found():
    held = nn.ParameterDict({"a": nn.Parameter(flow.ones(1))})
    held["b"] = nn.Parameter(flow.zeros(2))
    assert [name for name, _ in held.named_parameters()] == list(held.keys()) == ["a", "b"]
    assert "b" in held
    assert len(held) == 2


def test_modules_and_parameters_are_found_by_their_place():
    net = nn.Sequential(nn.Linear(1, 2), nn.Sequential(nn.Linear(2, 1)))
    assert net.get_submodule("1.0") is net[1][0]
    assert net.get_parameter("1.0.bias") is net[1][0].bias
    with pytest.raises(errors.ArgumentError, match="no parameter '1.0.bia'; did you mean"):
        net.get_parameter("1.0.bia")
    with pytest.raises(errors.ArgumentError, match="no module '2'"):
        net.get_submodule("2")


def test_loading_says_what_did_not_fit():
    layer = nn.Linear(2, 1)
    found = layer.load_state_dict({"weight": layer.weight, "more": layer.bias}, strict=False)
    assert found == (["bias"], ["more"])


def test_what_is_written_to_data_is_not_noticed():
    x = flow.tensor([1.0, 2.0], requires_grad=True)
    y = (x * x).sum()
    x.data.mul_(3.0)
    y.backward()
    assert x.grad.tolist() == [6.0, 12.0]
    x.data = flow.tensor([5.0, 6.0])
    assert (x.tolist(), x.requires_grad) == ([5.0, 6.0], True)
    with pytest.raises(errors.ArgumentError, match="expected a tensor"):
        x.data = 3.0


def test_start_values_have_the_spread_that_they_say():
    flow.manual_seed(3)
    w = flow.empty(200, 300)
    assert abs(nn.init.xavier_uniform_(w).std().item() - (2 / 500) ** 0.5) < 1e-3
    assert abs(nn.init.kaiming_normal_(w, mode="fan_out").std().item() - 0.1) < 2e-3
    assert nn.init.trunc_normal_(w, a=-1.0, b=0.5).max().item() <= 0.5
    rows = nn.init.orthogonal_(flow.empty(3, 5), gain=2.0)
    assert np.allclose((rows @ rows.t()).numpy(), 4 * np.eye(3), atol=1e-5)
    assert nn.init.eye_(flow.empty(2, 3)).tolist() == [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    bias = nn.init.constant_(nn.Linear(2, 3).bias, 0.5)
    assert (bias.tolist(), bias.requires_grad) == ([0.5] * 3, True)


def test_start_values_are_refused_where_they_mean_nothing():
    with pytest.raises(errors.ShapeError, match="2 or more dimensions"):
        nn.init.xavier_normal_(flow.empty(3))
    with pytest.raises(errors.ArgumentError, match="no gain of 'sine'"):
        nn.init.calculate_gain("sine")
    with pytest.raises(errors.ArgumentError, match="expected mode 'fan_in'"):
        nn.init.kaiming_uniform_(flow.empty(3, 3), mode="fan")


def test_a_weight_is_made_of_direction_and_length():
    layer = nn.Linear(2, 3)
    x = flow.ones(1, 2)
    before = layer(x).detach().numpy()
    nn.utils.weight_norm(layer)
    assert np.allclose(layer(x).detach().numpy(), before, atol=1e-6)
    layer(x).sum().backward()
    assert layer.weight_g.grad is not None
    layer.weight_g.data.mul_(2.0)
    doubled = layer(x).detach().numpy()
    nn.utils.remove_weight_norm(layer)
    assert np.allclose(layer(x).detach().numpy(), doubled, atol=1e-6)
    assert sorted(name for name, _ in layer.named_parameters()) == ["bias", "weight"]
    with pytest.raises(errors.ArgumentError, match="has no weight_norm"):
        nn.utils.remove_weight_norm(layer)


def test_sequences_are_padded_and_cut_again():
    parts = [flow.tensor([1.0, 2.0]), flow.tensor([3.0])]
    padded = nn.utils.rnn.pad_sequence(parts, padding_value=-1.0)
    assert padded.tolist() == [[1.0, 3.0], [2.0, -1.0]]
    found = nn.utils.rnn.unpad_sequence(padded, [2, 1])
    assert [each.tolist() for each in found] == [[1.0, 2.0], [3.0]]


def test_long_rows_of_a_table_are_shortened():
    table = nn.Embedding(2, 2, max_norm=1.0)
    table.weight.data = flow.tensor([[3.0, 4.0], [6.0, 8.0]])
    assert table(flow.tensor([0])).tolist() == [pytest.approx([0.6, 0.8])]
    assert table.weight.tolist()[1] == [6.0, 8.0]


def test_states_are_saved_and_loaded(tmp_path):
    net, file = nn.Linear(2, 3), tmp_path / "state"
    flow.save({"net": net.state_dict(), "step": 3, "rates": [0.1, 0.2]}, file)
    found = flow.load(file, map_location="cpu")
    other = nn.Linear(2, 3)
    other.load_state_dict(found["net"])
    assert flow.equal(other.weight, net.weight)
    assert (found["step"], found["rates"]) == (3, [0.1, 0.2])


@pytest.mark.parametrize(
    "value",
    [
        (1, (2.5, [True, None])),
        {1: "a", ("b", 2): {3}, "oneflow.kind": "size"},
        [b"abc", frozenset([1]), 1 + 2j, range(1, 7, 2), 10**30],
        [flow.ones(2, 3).shape, flow.int64, np.float32(2.5), np.int64(3)],
    ],
)
def test_what_is_saved_comes_back_as_it_was(tmp_path, value):
    flow.save({"value": value}, tmp_path / "state")
    found = flow.load(tmp_path / "state")["value"]
    assert repr(found) == repr(value) and found == value


@pytest.mark.parametrize(
    "held",
    [
        {"other": 1},
        {"saved": {"oneflow.kind": "nothing", "value": 1}},
        {"saved": {"oneflow.kind": ["set"], "value": 1}},
        {"saved": {"oneflow.kind": "set"}},
        {"saved": {"oneflow.kind": "bytes", "value": 10**12}},
        {"saved": {"oneflow.kind": "array", "value": "text"}},
        {"saved": {"oneflow.kind": "range", "value": ["a"]}},
        {"saved": [{"oneflow.kind": "pairs", "value": [[1]]}]},
    ],
)
def test_a_file_that_save_did_not_write_is_refused(tmp_path, held):
    io.save(held, tmp_path / "state")
    with pytest.raises(errors.FileFormatError, match="state"):
        flow.load(tmp_path / "state")


def test_tensors_arrays_and_parameters_are_told_apart_in_files(tmp_path):
    parameter = nn.Parameter(flow.full((2,), 3.0))
    flow.save([flow.ones(2), np.ones((2, 1)), parameter, (flow.tensor(2),)], tmp_path / "state")
    tensor, array, kept, (inner,) = flow.load(tmp_path / "state")
    assert type(tensor) is flow.Tensor and not tensor.requires_grad and inner.item() == 2
    assert type(array) is np.ndarray and array.shape == (2, 1) and array.dtype == np.float64
    assert isinstance(kept, nn.Parameter) and kept.requires_grad and kept.tolist() == [3.0, 3.0]


def test_an_attribute_with_a_parameter_takes_another_one_or_none():
    layer = nn.Linear(2, 3)
    with pytest.raises(errors.ArgumentError, match="'weight' of Linear holds a parameter"):
        layer.weight = flow.ones(3, 2)
    layer.bias = None
    assert [name for name, _ in layer.named_parameters()] == ["weight"]
    assert {"weight", "bias", "forward"} <= set(dir(layer))


def test_gradients_of_what_a_module_lists_one_after_the_other_are_clipped():
    layer = nn.Linear(2, 1)
    for clip in (nn.utils.clip_grad_norm_, nn.utils.clip_grad_value_):
        layer.zero_grad()
        (layer(flow.ones(3, 2)) * 100.0).sum().backward()
        clip(layer.parameters(), 0.5)
        assert max(p.grad.abs().max().item() for p in layer.parameters()) <= 0.5
        assert all(type(p.grad) is flow.Tensor for p in layer.parameters())


def test_a_vector_becomes_parameters_and_gradients_follow_their_list():
    layer = nn.Linear(2, 1)
    nn.utils.vector_to_parameters(flow.tensor([1.0, 2.0, 3.0]), layer.parameters())
    assert layer.weight.tolist() == [[1.0, 2.0]] and layer.bias.tolist() == [3.0]
    slopes = flow.autograd.grad(layer(flow.ones(1, 2)).sum(), layer.parameters())
    assert [each.tolist() for each in slopes] == [[[1.0, 1.0]], [1.0]]


def test_parts_of_a_sequence_keep_their_names():
    whole = nn.Sequential(nn.Linear(1, 1), nn.ReLU(), nn.Linear(1, 2))
    assert [*whole[1:].state_dict()] == ["2.weight", "2.bias"]
    assert len(whole[3:]) == 0
    part = whole[1:]
    assert part[1] is whole[2]
    del part[0]
    part[0] = nn.Tanh()
    assert repr(part) == "Sequential(\n  (2): Tanh()\n)"
    del whole[:2]
    assert [*whole.state_dict()] == ["2.weight", "2.bias"]


def test_lists_of_modules_and_parameters_grow_by_what_is_added():
    layers, weights = nn.ModuleList([nn.Tanh()]), nn.ParameterList()
    held = layers
    layers += [nn.ReLU()]
    layers += nn.ModuleList([nn.Tanh()])
    weights += [nn.Parameter(flow.ones(2))]
    assert layers is held and repr(layers[1]) == "ReLU()" and (len(layers), len(weights)) == (3, 1)


def test_what_modules_own_is_found_where_oneflow_has_it():
    net = nn.Sequential(nn.BatchNorm1d(2))
    norm = net._modules["0"]
    assert norm is net[0] and norm._parameters["weight"] is norm.weight
    assert [*norm._buffers] == ["running_mean", "running_var", "num_batches_tracked"]
    net._modules["0"] = nn.ReLU()
    assert net(flow.tensor([-1.0])).tolist() == [0] and norm._get_name() == "BatchNorm1d"


def test_a_state_holds_the_parameters_and_takes_arrays():
    net = nn.Linear(2, 1)
    state = net.state_dict()
    assert state["weight"] is net.weight and state["weight"].requires_grad
    kept = net.load_state_dict({"weight": np.ones((1, 2)), "b": np.ones(1)}, strict=False)
    assert net.weight.tolist() == [[1, 1]] and net.weight.dtype == flow.float32
    assert repr(kept) == "_IncompatibleKeys(missing_keys=['bias'], unexpected_keys=['b'])"


def test_a_module_that_is_held_twice_is_twice_in_the_state():
    net = nn.Module()
    net.first = net.second = nn.Linear(1, 1)
    state = net.state_dict()
    assert [*state] == ["first.weight", "first.bias", "second.weight", "second.bias"]
    assert state["second.bias"] is net.first.bias and len([*net.parameters()]) == 2
    net.load_state_dict({name: flow.full(value.shape, 3.0) for name, value in state.items()})
    assert net.first.bias.tolist() == [3]


@pytest.mark.parametrize(
    "make",
    [
        lambda: nn.Linear(2, 3),
        lambda: nn.ConvTranspose2d(1, 2, 3),
        lambda: nn.LSTM(2, 3, 2),
        lambda: nn.GRUCell(2, 3),
        lambda: nn.Embedding(3, 2, padding_idx=1),
    ],
)
def test_parameters_are_drawn_anew(make):
    net = make()
    for parameter in net.parameters():
        parameter.data.fill_(9.0)
    net.reset_parameters()
    for parameter in net.parameters():
        assert parameter.is_leaf and parameter.requires_grad
        assert 0 < parameter.abs().max().item() < 9
    if isinstance(net, nn.Embedding):
        assert net.weight[1].tolist() == [0, 0]


def test_norms_begin_anew():
    norm = nn.BatchNorm1d(2)
    norm(flow.tensor([[1.0, 2.0], [3.0, 5.0]]))
    norm.weight.data.fill_(3.0)
    norm.reset_running_stats()
    assert norm.running_mean.tolist() == [0, 0] and norm.running_var.tolist() == [1, 1]
    assert norm.num_batches_tracked.item() == 0 and norm.weight.tolist() == [3, 3]
    norm.reset_parameters()
    assert norm.weight.tolist() == [1, 1] and norm.bias.tolist() == [0, 0]
    nn.BatchNorm1d(2, affine=False, track_running_stats=False).reset_parameters()


def test_convolutions_show_what_their_padding_comes_to():
    shown = repr(nn.Conv2d(1, 2, (3, 5), padding="same"))
    assert shown == "Conv2d(1, 2, kernel_size=(3, 5), stride=(1, 1), padding=[1, 2])"
    assert repr(nn.Conv1d(1, 2, 3, padding="valid")).endswith("stride=(1,), padding=[0])")
    assert repr(nn.Hardtanh()) == "Hardtanh(min_val=-1, max_val=1)"


def test_the_kind_of_a_norm_may_be_a_text():
    w = flow.ones(2, requires_grad=True)
    (w * flow.tensor([3.0, -4.0])).sum().backward()
    assert nn.utils.clip_grad_norm_([w], 2.0, norm_type="inf").item() == 4.0
    assert np.allclose(w.grad.numpy(), [1.5, -2.0])
    with pytest.raises(errors.ArgumentError, match="norm_type of at least 0, got 'most'"):
        nn.utils.clip_grad_norm_([w], 2.0, norm_type="most")


def test_names_that_did_not_fit_keep_their_order():
    net = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 3))
    state = {"z": flow.ones(1), "0.weight": flow.ones(2, 2), "a": flow.ones(1)}
    missing, unknown = net.load_state_dict(state, strict=False)
    assert missing == ["0.bias", "1.weight", "1.bias"] and unknown == ["z", "a"]


@pytest.mark.parametrize(
    "made", [nn.BatchNorm1d(2), nn.InstanceNorm1d(2, affine=True, track_running_stats=True)]
)
def test_a_state_may_lack_the_number_of_batches(made):
    net = nn.Sequential(made)
    net(flow.randn(3, 2, 4))
    state = net.state_dict()
    del state["0.num_batches_tracked"]
    assert str(net.load_state_dict(state)) == "<All keys matched successfully>"
    assert net[0].num_batches_tracked.item() == 0
    del state["0.running_mean"]
    with pytest.raises(errors.StateDictError, match=r"lacks \['0.running_mean'\]"):
        net.load_state_dict(state)


def test_a_list_of_parameters_shows_each_on_its_line():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.kept = nn.ParameterList(
                [nn.Parameter(flow.ones(2)), nn.Parameter(flow.ones(2, 3))]
            )

    lines = repr(Net()).replace(str(nn.Parameter), "P").splitlines()
    assert lines[:2] == ["Net(", "  (kept): ParameterList("] and lines[4:] == ["  )", ")"]
    assert lines[3] == "      (1): Parameter containing: [P of size 2x3]"
