"""Layers in the spelling of paddle 2.6: what they show, and what they hold."""

import copy
import importlib
import json
from pathlib import Path

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite import errors, paddle

nn = paddle.nn
SHOWN = json.loads((Path(__file__).parents[1] / "data/layers_shown_by_paddle2.json").read_text())


def test_layers_show_and_name_what_they_do_in_paddle_2():
    differing = {}
    for expression, (full_name, text, parameters, state) in SHOWN.items():
        with fluid.unique_name.guard():
            layer = eval(f"nn.{expression}")
        named = [f"{p.name}{list(p.shape)}{p.stop_gradient}" for p in layer.parameters()]
        found = [layer.full_name(), repr(layer), named, list(layer.state_dict())]
        if found != [full_name, text, parameters, state]:
            differing[expression] = found
    assert not differing


@pytest.mark.parametrize(
    "layer, inputs",
    [
        (nn.ReLU(), {"x": [2]}),
        (nn.MaxPool1D(2), {"input": [1, 1, 4]}),
        (nn.MaxPool2D(2), {"x": [1, 1, 4, 4]}),
        (nn.Dropout(0.5), {"input": [2]}),
        (nn.Linear(3, 2), {"input": [2, 3]}),
        (nn.MSELoss(), {"input": [2], "label": [2]}),
        (nn.CosineSimilarity(), {"x2": [2, 2], "x1": [2, 2]}),
        (nn.Upsample(scale_factor=2), {"x": [1, 1, 2, 2]}),
        (nn.Fold([2, 2], 1), {"input": [1, 1, 4]}),
        (nn.LayerNorm(3), {"input": [2, 3]}),
    ],
)
def test_a_layer_is_called_with_named_inputs(layer, inputs):
    layer.eval()
    tensors = {name: paddle.ones(shape) for name, shape in inputs.items()}
    found = layer(**tensors)
    np.testing.assert_array_equal(found.numpy(), layer(*tensors.values()).numpy())


def test_a_state_goes_by_hooks_and_may_fit_in_part():
    net = nn.Sequential(nn.Linear(1, 2), nn.BatchNorm1D(2))
    net.register_buffer("seen", paddle.zeros([1]), persistable=False)
    assert "seen" in net.to_static_state_dict() and "seen" not in net.state_dict()
    handle = net[0].register_state_dict_hook(lambda state: {"more": 1})
    assert list(net.state_dict())[2] == "more"
    assert "more" not in net.state_dict(use_hook=False)
    handle.remove()
    with pytest.warns(errors.FluidWarning, match="stay as they are; '0.bias': the state has no"):
        missing, unexpected = net.set_state_dict({"0.weight": paddle.ones([1, 2]), "odd": 1})
    assert missing[0] == "0.bias" and len(missing) == 5 and unexpected == ["odd"]
    assert net[0].weight.tolist() == [[1.0, 1.0]]
    with pytest.raises(AssertionError, match="expected a value of type float32"):
        net.set_state_dict({"0.weight": np.ones([1, 2])})


def test_layers_are_cast_but_for_some():
    net = nn.Sequential(nn.Linear(1, 2), nn.BatchNorm1D(2)).astype("float64")
    net.register_buffer("count", paddle.to_tensor([1]))
    net.float(excluded_layers=nn.Linear)
    kinds = [str(t.array.dtype) for t in net.state_dict().values()]
    assert kinds == ["int64", *["float64"] * 2, *["float32"] * 4]
    with pytest.raises(TypeError):
        net.float(excluded_layers="x")
    with pytest.warns(errors.FluidWarning, match="does not compute in float16"):
        assert net.float16() is net


def test_lists_and_dictionaries_of_layers_change():
    heads = nn.LayerDict({"a": nn.ReLU()})
    heads.update([("b", nn.Tanh()), ("a", nn.Silu())])
    assert repr(heads.pop("a")) == "Silu()" and list(heads) == ["b"]
    heads.clear()
    assert len(heads) == 0
    with pytest.raises(AssertionError):
        heads.update(3)
    layers = nn.LayerList([nn.ReLU(), nn.Tanh()])
    layers.insert(-1, nn.Silu())
    assert [type(each).__name__ for each in layers] == ["ReLU", "Silu", "Tanh"]
    assert layers["1"] is layers[1]
    with pytest.raises(KeyError):
        nn.Sequential(("a", nn.ReLU()))["q"]
    with pytest.raises(KeyError):
        nn.ReLU().add_parameter("a.b", None)


def test_a_helper_of_a_layer_runs_operators_at_once():
    class Doubled(nn.Layer):
        def forward(self, x):
            out = self._helper.create_variable_for_type_inference("float32")
            self._helper.append_op("scale", {"X": x}, {"Out": out}, {"scale": 2.0})
            return out

    assert Doubled()(paddle.ones([2])).tolist() == [2.0, 2.0]
    assert Doubled()(fluid.data("x", [None, 3], "float32")).shape == (-1, 3)


def test_normalisations_over_batches_become_those_of_all_processes():
    net = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1D(3), nn.Sequential(nn.BatchNorm2D(4)))
    weight = net[1].weight
    net = nn.SyncBatchNorm.convert_sync_batchnorm(net)
    assert isinstance(net[2][0], nn.SyncBatchNorm) and net[1].weight is weight
    x = np.random.RandomState(0).randn(4, 3).astype("float32")
    wanted = nn.BatchNorm1D(3)(paddle.to_tensor(x)).numpy()
    np.testing.assert_allclose(net[1](paddle.to_tensor(x)).numpy(), wanted, rtol=1e-6)
    old = nn.BatchNorm(3, act="relu", moving_mean_name="of_mean")
    np.testing.assert_allclose(old(paddle.to_tensor(x)).numpy(), wanted.clip(0), rtol=1e-6)
    assert old._mean.name == "of_mean" and len(old.parameters()) == 4


def test_modules_below_hold_the_names_of_their_files():
    from fluidlite.paddle.nn.functional.loss import cross_entropy
    from fluidlite.paddle.nn.layer.rnn import rnn

    assert nn.loss.NLLLoss is nn.layer.loss.NLLLoss is nn.NLLLoss
    assert cross_entropy is nn.functional.cross_entropy
    assert "loss" not in nn.functional.__all__
    cell, x = nn.GRUCell(2, 3), paddle.ones([1, 4, 2])
    np.testing.assert_array_equal(rnn(cell, x)[0].numpy(), nn.RNN(cell)(x)[0].numpy())
    stub = nn.quant.Stub()
    assert stub(x) is x


def test_increment_writes_in_place():
    x = paddle.to_tensor([1.0])
    assert paddle.increment(x, 2.0) is x and x.tolist() == [3.0]
    with pytest.raises(ValueError):
        paddle.increment(paddle.ones([2]))


def test_parts_of_a_transformer_have_attributes_of_their_own():
    first = nn.initializer.Constant(0.5)
    layer = nn.TransformerDecoderLayer(
        4, 2, 8, activation="tanh", weight_attr=[None, first, None], bias_attr=[False, None, False]
    )
    assert layer.self_attn.q_proj.bias is None and layer.linear1.bias is None
    assert (layer.cross_attn.k_proj.weight.numpy() == 0.5).all()
    assert layer.cross_attn.q_proj.bias is not None
    for call in (
        lambda: nn.TransformerEncoderLayer(4, 2, 8, activation="foo"),
        lambda: nn.TransformerEncoderLayer(4, 2, 8, weight_attr=[None] * 4),
        lambda: nn.MultiHeadAttention(0, 2),
        lambda: nn.GRUCell(3, 0),
    ):
        with pytest.raises(ValueError):
            call()


def test_an_instance_norm_of_programs_has_parameters_when_both_are_given():
    image = fluid.data("image", [None, 4, 6, 6])
    paddle.static.nn.instance_norm(image, param_attr=nn.initializer.Constant(2.0))
    assert fluid.default_main_program().all_parameters() == []
    paddle.static.nn.instance_norm(image, param_attr="scale", bias_attr="shift")
    assert len(fluid.default_main_program().all_parameters()) == 2
    with pytest.raises(AssertionError):
        paddle.static.nn.instance_norm(image, param_attr=False)


def test_options_of_a_layer_may_be_set_between_its_calls():
    dropout = nn.Dropout(0.999)
    dropout.p = 0.0
    assert dropout(paddle.ones([3])).tolist() == [1.0, 1.0, 1.0]
    assert "p=0.0" in repr(dropout) and copy.deepcopy(dropout).p == 0.0
    pool = nn.MaxPool2D(2)
    assert (pool.ksize, pool.stride, pool.ceil_mode) == (2, None, False)
    pool.ksize = 4
    assert pool(paddle.ones([1, 1, 4, 4])).shape == [1, 1, 1, 1]
    loss = nn.MSELoss()
    loss.reduction = "sum"
    assert float(loss(paddle.ones([3]), paddle.zeros([3]))) == 3.0
    assert nn.CrossEntropyLoss().ignore_index == -100
    with pytest.raises(AttributeError, match="no attribute 'ksize'"):
        loss.ksize  # noqa: B018


def test_norms_take_another_epsilon_and_momentum_between_their_calls():
    norm = nn.BatchNorm1D(1)
    assert (norm._epsilon, norm._momentum) == (1e-5, 0.9)
    norm._epsilon, norm._momentum = 3.0, 0.5
    np.testing.assert_allclose(norm(paddle.to_tensor([[1.0], [3.0]])).numpy(), [[-0.5], [0.5]])
    assert norm._mean.tolist() == [1.0]
    norm = nn.InstanceNorm1D(1)
    norm._epsilon = 3.0
    np.testing.assert_allclose(norm(paddle.to_tensor([[[1.0, 3.0]]])).numpy(), [[[-0.5, 0.5]]])


@pytest.mark.parametrize("trains", [True, False])
def test_layers_of_an_empty_batch_have_gradients(trains):
    nn = paddle.nn
    shapes = {
        (0, 3): [nn.BatchNorm1D(3), nn.Linear(3, 2), nn.LayerNorm(3)],
        (0, 6, 3): [nn.LSTM(3, 2), nn.GRU(3, 2), nn.SimpleRNN(3, 2, direction="bidirect")],
        (0, 4, 5, 5): [nn.BatchNorm2D(4), nn.GroupNorm(2, 4), nn.Conv2D(4, 2, 3)],
    }
    for shape, layers in shapes.items():
        for layer in layers:
            layer.train() if trains else layer.eval()
            x = paddle.to_tensor(np.zeros(shape, "float32"), stop_gradient=False)
            out = layer(x)
            (out[0] if isinstance(out, tuple) else out).sum().backward()
            assert x.grad.shape == list(shape)
            slopes = [p.grad.numpy() for p in layer.parameters() if p.trainable]
            assert all(np.isfinite(slope).all() for slope in slopes)


def test_a_buffer_that_was_nothing_for_a_while_is_saved_as_before():
    net = paddle.nn.Layer()
    net.register_buffer("kept", paddle.ones([2]))
    net.register_buffer("passing", paddle.ones([2]), persistable=False)
    net.kept = net.passing = None
    assert not net.state_dict()
    net.kept, net.passing = paddle.zeros([2]), paddle.zeros([2])
    assert [*net.state_dict()] == ["kept"]


#: what layers of 2.6.2 have as attributes that models read and set
ATTRIBUTES = {
    "Linear(2, 3)": dict(_weight_attr=None, _bias_attr=None, name=None),
    "Conv1D(2, 4, 3, 2, 1)": dict(_stride=[2], _dilation=[1], _kernel_size=[3], _padding=1),
    "Conv2D(2, 4, 3, 2, 1)": dict(
        _groups=1, _in_channels=2, _out_channels=4, _data_format="NCHW", _stride=[2, 2],
        _dilation=[1, 1], _kernel_size=[3, 3], _param_attr=None, _bias_attr=None,
    ),
    "Conv2D(2, 4, [3, 5], padding='same')": dict(_kernel_size=[3, 5], _padding="same"),
    "Conv2DTranspose(2, 4, 3)": dict(_in_channels=2, _out_channels=4, _kernel_size=[3, 3]),
    "BatchNorm2D(3)": dict(
        _num_features=3, _use_global_stats=None, _weight_attr=None, _bias_attr=None,
    ),
    "BatchNorm(3)": dict(_data_layout="NCHW", _momentum=0.9, _use_global_stats=False),
    "LayerNorm([2, 3])": dict(_normalized_shape=[2, 3], _weight_attr=None),
    "GroupNorm(2, 4)": dict(_num_channels=4, _num_groups=2),
    "InstanceNorm2D(3)": dict(_num_features=3),
    "Embedding(4, 3, padding_idx=1)": dict(_num_embeddings=4, _embedding_dim=3, _padding_idx=1),
    "LSTM(2, 3, direction='bidirect')": dict(num_directions=2, num_layers=1),
    "MultiHeadAttention(4, 2)": dict(kdim=4, vdim=4),
    "TransformerEncoderLayer(4, 2, 8, activation='gelu')": dict(activation=nn.functional.gelu),
    "PReLU(2)": dict(_num_parameters=2),
}  # fmt: skip


@pytest.mark.parametrize("text", ATTRIBUTES)
def test_layers_have_the_attributes_that_models_read(text):
    layer = eval("nn." + text, {"nn": paddle.nn})
    assert {name: getattr(layer, name) for name in ATTRIBUTES[text]} == ATTRIBUTES[text]


def test_strides_of_a_convolution_are_set_behind_its_making():
    conv = paddle.nn.Conv2D(1, 1, 3, stride=2)
    conv._stride, conv._dilation = [1, 1], [2, 2]
    assert conv(paddle.ones([1, 1, 8, 8])).shape == [1, 1, 4, 4]
    assert "dilation=[2, 2]" in repr(conv) and "stride" not in repr(conv)


def test_buffers_are_found_by_the_names_of_2_6():
    net = paddle.nn.Layer()
    net.register_buffer("kept", paddle.ones([2]))
    net.register_buffer("passing", paddle.ones([2]), persistable=False)
    assert [*net._buffers] == ["kept", "passing"]
    assert net._non_persistable_buffer_names_set == {"passing"}


def test_classes_and_helpers_that_models_import_from_their_modules():
    layer = paddle.nn.layer
    convs = [nn.Conv2D(1, 1, 1), nn.Conv1DTranspose(1, 1, 1)]
    assert all(isinstance(each, layer.conv._ConvNd) for each in convs)
    norms = [nn.BatchNorm2D(1), nn.SyncBatchNorm(1), nn.BatchNorm(1), nn.LayerNorm(1)]
    found = [isinstance(each, layer.norm._BatchNormBase) for each in norms]
    assert found == [True, True, False, False]
    assert isinstance(nn.InstanceNorm1D(2), layer.norm._InstanceNormBase)
    assert isinstance(nn.LSTM(1, 1), layer.rnn.RNNBase)
    assert not isinstance(nn.LSTMCell(1, 1), layer.rnn.RNNBase)
    masked = layer.transformer._convert_attention_mask
    assert masked(None, "float32") is None
    for mask in ([True, False], [1, 0]):
        assert masked(paddle.to_tensor(mask), "float32").tolist() == [0.0, -1e9]
    halves = masked(paddle.to_tensor([0.5, 0.0]), paddle.float64)
    assert (halves.tolist(), halves.dtype) == ([0.5, 0.0], paddle.float64)
    divisible = importlib.import_module("fluidlite.paddle.vision.models._utils")._make_divisible
    assert [divisible(33 * 0.75), divisible(17, 4, 3), divisible(10)] == [24, 16, 16]
