"""Elements at places, sums, windows and scores: values of OneFlow 0.9."""

import numpy as np
import pytest

from fluidlite import flow
from fluidlite.errors import ArgumentError, ShapeError

X = flow.arange(12).float().reshape(3, 4)


def test_values():
    places = flow.tensor([[0, 1], [1, 2]])
    assert flow.gather_nd(X, places).tolist() == [1.0, 6.0]
    ends = flow.tensor([[1], [3]])
    assert flow.scatter_nd(ends, flow.tensor([1.0, 2.0]), [5]).tolist() == [0, 1, 0, 2, 0]
    assert flow.tensor_scatter_nd_update(flow.arange(5), ends, flow.tensor([-1, -2])).tolist() == [
        0, -1, 2, -2, 4,
    ]  # fmt: skip
    assert flow.slice(X, [[None, None, None], [1, 4, 2]]).tolist() == [[1, 3], [5, 7], [9, 11]]
    assert flow.slice_update(X.clone(), flow.ones(1, 4), [[0, 1, 1]])[0].tolist() == [1] * 4
    assert flow.as_strided(X, (2, 2), (1, 2), 1).tolist() == [[1, 3], [2, 4]]
    rows = flow.batch_gather(flow.tensor([[1.0, 2.0], [3.0, 4.0]]), flow.tensor([[0], [1]]))
    assert rows.tolist() == [[1.0], [4.0]]
    assert flow.batch_gather(X, flow.tensor([2, 0])).tolist() == [X[2].tolist(), X[0].tolist()]
    assert flow.in_top_k(flow.tensor([1, 2, 3]), X, k=2).tolist() == [False, True, True]
    assert flow.nansum(flow.tensor([1.0, float("nan")])).item() == 1.0
    assert flow.nansum(X, 1, True).tolist() == [[6.0], [22.0], [38.0]]
    assert flow.broadcast_like(flow.ones(4), X).shape == (3, 4)
    assert flow.hann_window(5, periodic=False).tolist() == [0.0, 0.5, 1.0, 0.5, 0.0]
    window = flow.hann_window(5).numpy()
    assert window == pytest.approx([0.0, 0.3455, 0.9045, 0.9045, 0.3455], abs=1e-4)
    scores = flow.tensor([0.1, 0.4, 0.35, 0.8])
    assert flow.roc_auc_score(flow.tensor([0, 0, 1, 1]), scores).tolist() == [0.75]
    boxes = flow.tensor([[0.0, 0, 1, 1], [0, 0, 1, 1.1], [2, 2, 3, 3]])
    assert flow.nms(boxes, flow.tensor([0.5, 0.6, 0.7]), 0.5).tolist() == [2, 1]
    assert flow.repeat_interleave(X, flow.tensor([1, 2, 1]), dim=0, output_size=4).shape == (4, 4)


def test_gradients_go_to_the_places():
    w = X.clone().requires_grad_()
    flow.as_strided(w, (2, 2), (0, 1)).sum().backward()
    assert w.grad.tolist()[0] == [2.0, 2.0, 0.0, 0.0]
    w.grad = None
    flow.slice(w, [[0, 1, 1], [0, 4, 2]]).sum().backward()
    assert w.grad.tolist()[0] == [1.0, 0.0, 1.0, 0.0]


def test_what_does_not_fit_is_refused():
    with pytest.raises(ShapeError, match="places within 12"):
        flow.as_strided(X, (4, 4), (4, 1))
    with pytest.raises(ShapeError):
        flow.as_strided(X, (4, 4), (4,))
    with pytest.raises(ShapeError, match="indices for each"):
        flow.batch_gather(X, flow.tensor([[1, 2, 3]]))
    with pytest.raises(ArgumentError, match="both kinds"):
        flow.roc_auc_score(flow.ones(2), flow.ones(2))
    with pytest.raises(ShapeError, match="fit together"):
        flow.broadcast_shapes((2,), (3,))


def test_sums_and_truth_values():
    x, n = flow.ones(2), flow.ones(2).int()
    assert flow.add(x, x, alpha=2).tolist() == x.add(1, alpha=2).tolist() == [3.0, 3.0]
    assert flow.add(x, x, x).tolist() == flow.add([x, x, x]).tolist() == [3.0, 3.0]
    assert x.clone().add_(x, alpha=3).tolist() == [4.0, 4.0]
    with pytest.raises(ArgumentError, match="alpha to be an integer"):
        flow.add(n, n, alpha=2.5)
    true = n.bool()
    assert (true + true).dtype == flow.bool and (true + 1).tolist() == [2, 2]
    assert (n & 1).tolist() == (true | True).tolist() == [True, True]
    assert (n ^ n).tolist() == (~true).tolist() == [False, False]
    with pytest.raises(RuntimeError):
        print(~n)
    with pytest.raises(RuntimeError):
        bool(x)


def test_modules_of_losses_and_norms():
    margins = flow.nn.CombinedMarginLoss(0.3, 0.5, 0.4)
    cosines = flow.tensor([[-0.7, 0.2], [0.1, 0.3]])
    out = margins(cosines, flow.tensor([0, 1])).numpy()
    assert np.allclose(out, [[-0.0412, 0.2], [0.1, 0.2373]], atol=1e-4)
    assert flow.nn.PairwiseDistance()(X, X + 1).numpy() == pytest.approx(2.0, abs=1e-4)
    scaled = flow.nn.RMSLayerNorm(4)(X).numpy()[0]
    assert scaled == pytest.approx([0, 0.5345, 1.069, 1.6036], abs=1e-4)
    assert flow.nn.RMSNorm(4)(X).shape == (3, 4)
    shuffled = flow.nn.PixelShuffle(h_upscale_factor=1, w_upscale_factor=2)(flow.ones(1, 4, 2, 2))
    assert shuffled.shape == (1, 2, 2, 4)
    with pytest.raises(ArgumentError):
        flow.nn.PixelShuffle()
    moved = flow.nn.functional.deform_conv2d(
        flow.ones(1, 1, 3, 3), flow.zeros(1, 8, 2, 2) + 0.5, flow.ones(1, 1, 2, 2)
    )
    assert moved.tolist() == [[[[4.0, 3.0], [3.0, 2.25]]]]
    chosen = flow.nn.functional.gumbel_softmax(X, hard=True)
    assert chosen.sum(-1).tolist() == [1.0, 1.0, 1.0]
    assert flow.nn.functional.one_hot(flow.tensor([0, 1]), -1, 9, 2).tolist() == [[9, 2], [2, 9]]


def test_modules_print_as_oneflow_s():
    nn = flow.nn
    texts = {
        "MaxPool1d(kernel_size=(2,), stride=(2,), padding=(0,))": nn.MaxPool1d(2),
        "AvgPool1d(kernel_size=(2,), stride=(2,), padding=(0,), ceil_mode=False)": nn.AvgPool1d(2),
        "AdaptiveMaxPool2d(output_size=(2, 3))": nn.AdaptiveMaxPool2d((2, 3)),
        "MSELoss()": nn.MSELoss(),
        "GELU()": nn.GELU(),
        "Softmax(dim=None)": nn.Softmax(),
        "GroupNorm(2, 4, eps=1e-05, affine=True)": nn.GroupNorm(2, 4),
        "Embedding(3, 4, padding_idx=0)": nn.Embedding(3, 4, padding_idx=0),
        "ReflectionPad2d((1, 1, 1, 1))": nn.ReflectionPad2d(1),
        "Upsample(scale_factor=2, mode=nearest)": nn.Upsample(scale_factor=2),
        "PReLU(num_parameters=1)": nn.PReLU(),
        "Threshold()": nn.Threshold(1, 2),
        "ReLU(inplace=True)": nn.ReLU(inplace=True),
    }
    assert {repr(module) for module in texts.values()} == {*texts}
    keys = nn.Linear(2, 3).load_state_dict(nn.Linear(2, 3).state_dict())
    assert repr(keys) == "<All keys matched successfully>"


def test_few_bits_are_observed_and_imitated():
    nn = flow.nn
    scale, zero = nn.MinMaxObserver(quantization_scheme="affine")(X - 3)
    assert scale.item() == pytest.approx(11 / 255) and zero.tolist() == [70.0]
    rounded = nn.FakeQuantization(quantization_scheme="affine")(X - 3, scale, zero)
    assert rounded.numpy()[0] == pytest.approx([-3.0196, -1.9843, -0.9922, 0.0], abs=1e-4)
    numbers = nn.Quantization(quantization_scheme="affine")(X - 3, scale, zero)
    assert numbers.tolist()[0] == [0.0, 24.0, 47.0, 70.0]
    powers = nn.MinMaxObserver(quantization_formula="cambricon")(X - 3)
    assert [part.tolist() for part in powers] == [[-3.0], [0.0]]
    rows = nn.MinMaxObserver(per_layer_quantization=False)(X)[0]
    assert rows.numpy() == pytest.approx([0.0236, 0.0551, 0.0866], abs=1e-4)
    conv = nn.QatConv2d(1, 1, 2)
    nn.init.constant_(conv.weight, 0.3)
    nn.init.zeros_(conv.bias)
    out = conv(X[None, None])
    assert out.detach().numpy()[0, 0, 0] == pytest.approx([3.0142, 4.2094, 5.4047], abs=1e-4)
    out.sum().backward()
    assert conv.weight.grad.shape == conv.weight.shape
    with pytest.raises(ArgumentError):
        nn.Quantization("foo")


def test_modules_of_several_functions():
    nn = flow.nn
    net = nn.FusedMLP(4, (3, 5), 2, skip_final_activation=True)
    assert [*net.state_dict()][::2] == ["weight_0", "weight_1", "weight_2"]
    assert net(X).shape == (3, 2) and nn.FusedMLP(4, (3,), 2)(X).min() >= 0
    fused = nn.FusedBatchNorm1d(4)(X, X).detach().numpy()
    assert fused[2] == pytest.approx([9.2247, 10.2247, 11.2247, 12.2247], abs=1e-4)
    assert nn.parallel.DistributedDataParallel(net) is net


def test_sizes_may_be_given_by_name():
    assert flow.reshape(X, shape=[2, 6]).shape == flow.reshape(X, 2, 6).shape == (2, 6)
    assert flow.permute(X, dims=(1, 0)).shape == flow.permute(X, (1, 0)).shape == (4, 3)
    assert flow.tile(X, dims=(2, 1)).shape == flow.tile(X, 2, 1).shape == (6, 4)
    assert flow.quantile(X, 0.5, 1).dtype == flow.float32
    assert flow.zeros(2).copy_(np.ones(2)).tolist() == [1.0, 1.0]
    w = flow.nn.Parameter(flow.ones(2))
    assert type(flow.nn.utils.clip_grad_norm_([w], 1.0)) is flow.Tensor
