"""How parameters of ``fluid.nn`` begin, are normalised and clipped, and cells of one's own."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite import nn
from fluidlite.errors import ArgumentError, NonFiniteError, ShapeError

X = np.random.RandomState(0).randn(4, 3).astype("float32")


def begun(initializer, shape):
    return fluid.create_parameter(shape, "float32", default_initializer=initializer).numpy()


# standard deviations and largest sizes that paddle 2.6.2 draws, but for chance
@pytest.mark.parametrize(
    "initializer, shape, deviation, largest",
    [
        (nn.initializer.KaimingNormal(), [200, 300], 0.1, None),
        (nn.initializer.KaimingUniform(), [200, 300], 0.1, 0.1732),
        (nn.initializer.KaimingUniform(None, 1.0, "leaky_relu"), [200, 300], 0.0707, 0.1225),
        (nn.initializer.KaimingNormal(nonlinearity="tanh"), [200, 300], 0.1178, None),
        (nn.initializer.KaimingNormal(), [64, 32, 3, 3], 0.0833, None),
        (nn.initializer.XavierNormal(), [200, 300], 0.0632, None),
        (nn.initializer.XavierNormal(), [64, 32, 3, 3], 0.0481, None),
        (nn.initializer.XavierUniform(10, 20), [200, 300], 0.2582, 0.4472),
        (nn.initializer.TruncatedNormal(1.0, 2.0), [300, 300], 1.7595, 5.0),
        (nn.initializer.Normal(0.0, 0.5), [300, 300], 0.5, None),
        (nn.initializer.Uniform(-0.5, 0.5), [300, 300], 0.2887, 0.5),
    ],
    ids=repr,
)
def test_random_values_have_the_spread_of_paddle_2(initializer, shape, deviation, largest):
    fluid.seed(7)
    found = begun(initializer, shape)
    assert abs(found.std() / deviation - 1) < 0.02
    assert largest is None or 0.99 * largest < abs(found).max() <= largest * 1.001


def test_orthogonal_values_follow_the_seed_and_are_orthogonal():
    fluid.seed(7)
    wide = begun(nn.initializer.Orthogonal(2.0), [4, 6])
    np.testing.assert_allclose(wide @ wide.T, 4 * np.eye(4), atol=1e-5)
    fluid.seed(7)
    np.testing.assert_array_equal(begun(nn.initializer.Orthogonal(2.0), [4, 6]), wide)
    high = begun(nn.initializer.Orthogonal(), [8, 3, 2]).reshape(8, 6)
    np.testing.assert_allclose(high.T @ high, np.eye(6), atol=1e-5)


def test_given_values_are_those_of_paddle_2():
    dirac = begun(nn.initializer.Dirac(2), [4, 2, 3, 3])
    assert dirac[:, :, 1, 1].tolist() == [[1, 0], [0, 1], [1, 0], [0, 1]] and dirac.sum() == 4
    row = begun(nn.initializer.Bilinear(), [2, 1, 4, 4])[1, 0, 0]
    assert row.tolist() == [0.0625, 0.28125, 0.375, 0.15625]
    for given in ([1, 2], np.array([1.0, 2.0]), fluid.to_tensor([1.0, 2.0])):
        assert begun(nn.initializer.Assign(given), [2]).tolist() == [1.0, 2.0]


def test_initializers_begin_parameters_of_programs():
    x = fluid.data("x", [None, 3], "float32")
    out = fluid.layers.fc(x, 3, param_attr=nn.initializer.Orthogonal(), bias_attr=False)
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    (found,) = exe.run(feed={"x": np.eye(3, dtype="float32")}, fetch_list=[out])
    np.testing.assert_allclose(found @ found.T, np.eye(3), atol=1e-5)


def test_parameters_of_all_layers_begin_in_another_way():
    start = nn.initializer.Constant
    nn.initializer.set_global_initializer(start(2.0), start(3.0))
    norm, linear = nn.BatchNorm1D(1), nn.Linear(1, 1)
    assert [norm.weight.item(), norm.bias.item(), linear.bias.item()] == [2.0, 3.0, 3.0]
    assert nn.Linear(1, 1, weight_attr=start(5.0)).weight.item() == 5.0
    nn.initializer.set_global_initializer(None)
    assert nn.BatchNorm1D(1).weight.item() == 1.0
    with pytest.raises(ArgumentError, match="expected weight_init to be an initializer"):
        nn.initializer.set_global_initializer(1.0)


@pytest.mark.parametrize(
    "wrong, kind, said",
    [
        (lambda: begun(nn.initializer.Dirac(), [2, 2]), ShapeError, "a filter"),
        (lambda: begun(nn.initializer.Orthogonal(), [2]), ShapeError, "2 or more dimensions"),
        (lambda: nn.initializer.Dirac(0), ArgumentError, "groups to be a positive integer"),
        (lambda: nn.initializer.calculate_gain("gelu"), ArgumentError, "expected one of sigmoid"),
        (lambda: nn.utils.weight_norm(nn.ReLU()), ArgumentError, "expected 'weight' to be"),
        (lambda: nn.utils.weight_norm(nn.Linear(2, 2), dim=2), ArgumentError, "expected dim"),
        (lambda: nn.utils.remove_weight_norm(nn.Linear(2, 2)), ArgumentError, "no weight_norm"),
        (lambda: nn.utils.parameters_to_vector([]), ArgumentError, "got none"),
        (
            lambda: nn.utils.vector_to_parameters(fluid.ones([3]), nn.Linear(1, 1).parameters()),
            ShapeError,
            "a vector of 2 elements",
        ),
        (lambda: nn.utils.clip_grad_norm_([], 1.0, -1), ArgumentError, "norm_type of at"),
    ],
)
def test_what_does_not_fit_is_refused(wrong, kind, said):
    with pytest.raises(kind, match=said):
        wrong()


@pytest.mark.parametrize("dim", [0, 1, None])
def test_weights_are_a_direction_and_lengths_until_they_are_made_one_again(dim):
    layer, x = nn.Linear(3, 5), fluid.to_tensor(X)
    before = layer(x).numpy()
    nn.utils.weight_norm(layer, dim=dim)
    assert [n for n, _ in layer.named_parameters()] == ["bias", "weight_v", "weight_g"]
    assert layer.weight_g.shape == [1 if dim is None else [3, 5][dim]]
    np.testing.assert_allclose(layer(x).numpy(), before, rtol=1e-5, atol=1e-6)
    with pytest.raises(ArgumentError, match="normalised already"):
        nn.utils.weight_norm(layer)
    layer(x).sum().backward()
    assert abs(layer.weight_g.grad.numpy()).max() > 0
    fed = fluid.data("x", [None, 3], "float32")
    out, exe = layer(fed), fluid.Executor()
    exe.run(fluid.default_startup_program())
    np.testing.assert_allclose(exe.run(feed={"x": X}, fetch_list=[out])[0], before, rtol=1e-5)
    sgd = fluid.optimizer.SGD(0.1, parameters=layer.parameters())
    sgd.step()
    after = layer(x).numpy()
    assert not np.allclose(after, before)
    nn.utils.remove_weight_norm(layer)
    assert [n for n, _ in layer.named_parameters()] == ["bias", "weight"]
    np.testing.assert_allclose(layer(x).numpy(), after, rtol=1e-5, atol=1e-6)


def test_weights_are_divided_by_their_largest_singular_value():
    linear = nn.Linear(3, 5)
    weight = linear.weight
    layer = nn.utils.spectral_norm(linear)
    assert layer.weight is weight  # up to the first call
    assert sorted(layer.state_dict()) == ["bias", "weight_orig", "weight_u", "weight_v"]
    for _ in range(200):
        layer(fluid.to_tensor(X))
    assert abs(np.linalg.svd(layer.weight.numpy())[1][0] - 1) < 1e-3
    layer.eval()
    vector = layer.weight_u.numpy()
    layer(fluid.to_tensor(X)).sum().backward()
    np.testing.assert_array_equal(layer.weight_u.numpy(), vector)
    assert layer.weight_orig.grad.shape == [3, 5]


def test_gradients_are_clipped_at_once_and_by_optimizers():
    w = fluid.create_parameter([2], "float32")
    v = fluid.create_parameter([1], "float32")
    unused = fluid.create_parameter([1], "float32")
    ((w * fluid.to_tensor([3.0, 4.0])).sum() + v.sum() * 12.0).backward()
    assert float(nn.utils.clip_grad_norm_([w, v, unused], 6.5)) == 13.0
    np.testing.assert_allclose(w.grad.numpy(), [1.5, 2.0], rtol=1e-5)
    np.testing.assert_allclose(v.grad.numpy(), [6.0], rtol=1e-5)
    assert abs(float(nn.utils.clip_grad_norm_(w, 10.0, float("inf"))) - 2.0) < 1e-5
    nn.utils.clip_grad_value_([w, unused], 1.75)
    np.testing.assert_allclose(w.grad.numpy(), [1.5, 1.75], rtol=1e-5)
    w.grad = fluid.to_tensor([np.inf, 0.0])
    with pytest.raises(NonFiniteError, match="a finite norm"):
        nn.utils.clip_grad_norm_([w], 1.0, error_if_nonfinite=True)
    for clip, wanted in (
        (nn.ClipGradByValue(1.0), [1.0, 1.0]),
        (nn.ClipGradByNorm(1.0), [0.6, 0.8]),
        (nn.ClipGradByGlobalNorm(1.0), [0.6, 0.8]),
    ):
        w = fluid.create_parameter([2], "float32")
        before = w.numpy()
        (w * fluid.to_tensor([3.0, 4.0])).sum().backward()
        fluid.optimizer.SGD(1.0, parameters=[w], grad_clip=clip).step()
        np.testing.assert_allclose(before - w.numpy(), wanted, rtol=1e-5)


def test_parameters_go_into_a_vector_and_back():
    layer = nn.Linear(2, 3)
    vector = nn.utils.parameters_to_vector(layer.parameters())
    other = nn.Linear(2, 3)
    nn.utils.vector_to_parameters(vector, other.parameters())
    x = fluid.to_tensor(X[:, :2])
    np.testing.assert_array_equal(layer(x).numpy(), other(x).numpy())


class Counting(nn.RNNCellBase):
    """Adds its inputs up, and counts the steps."""

    state_shape = ((3,), (1,))

    def forward(self, inputs, states):
        total, steps = states
        after = (total + inputs, steps + 1.0)
        return {"x": inputs}["x"] * 2.0, after


def test_cells_of_ones_own_run_along_time_as_far_as_rows_reach():
    steps = np.arange(24, dtype="float32").reshape(2, 4, 3)
    out, (total, count) = nn.RNN(Counting())(
        fluid.to_tensor(steps), sequence_length=fluid.to_tensor([4, 2])
    )
    assert out.shape == [2, 4, 3] and count.tolist() == [[4.0], [2.0]]
    np.testing.assert_array_equal(total.numpy()[1], steps[1, :2].sum(0))
    first = nn.RNNCellBase.get_initial_states(Counting(), fluid.to_tensor(steps), init_value=2.0)
    assert [s.shape for s in first] == [[2, 3], [2, 1]] and first[0].numpy().min() == 2.0
    major = nn.RNN(Counting(), True, True)(fluid.to_tensor(steps.transpose(1, 0, 2)))
    np.testing.assert_array_equal(major[1][0].numpy(), steps.sum(1))


def test_both_ways_are_two_cells_side_by_side():
    forwards, backwards = nn.LSTMCell(3, 4), nn.LSTMCell(3, 4)
    x = fluid.to_tensor(np.random.RandomState(1).randn(2, 5, 3).astype("float32"))
    out, (first, second) = nn.BiRNN(forwards, backwards)(x)
    one, last = nn.RNN(forwards)(x)
    other, also = nn.RNN(backwards, is_reverse=True)(x)
    np.testing.assert_array_equal(out.numpy(), np.concatenate([one.numpy(), other.numpy()], -1))
    assert first[1].tolist() == last[1].tolist() and second[0].tolist() == also[0].tolist()
    with pytest.raises(ShapeError, match="a known number of steps"):
        nn.RNN(forwards)(fluid.data("x", [None, 0, 3]))


def test_a_transformer_decodes_step_by_step_what_it_decodes_at_once():
    net = nn.Transformer(8, 2, 1, 2, 16)
    net.eval()
    rng = np.random.RandomState(2)
    source, target = (fluid.to_tensor(rng.randn(2, n, 8).astype("float32")) for n in (5, 3))
    memory = net.encoder(source)
    whole = net.decoder(target, memory, net.generate_square_subsequent_mask(3)).numpy()
    cache = net.decoder.gen_cache(memory)
    for k in range(3):
        out, cache = net.decoder(target[:, k : k + 1], memory, cache=cache)
        np.testing.assert_allclose(out.numpy()[:, 0], whole[:, k], atol=1e-5)
    assert cache[1][0].k.shape == [2, 2, 3, 4]
    pairs = net.decoder.gen_cache(memory, do_zip=True)
    assert [len(pairs), len(pairs[0])] == [2, 2]
    kept = net.encoder.gen_cache(source)
    step, kept = net.encoder(source[:, :1], None, kept)
    assert step.shape == [2, 1, 8] and isinstance(kept[0], nn.MultiHeadAttention.Cache)
    with pytest.raises(ArgumentError, match="expected type to be MultiHeadAttention.Cache"):
        net.decoder.layers[0].self_attn.gen_cache(memory, type=tuple)


@pytest.mark.parametrize("options", [{}, {"is_causal": True}, {"dropout_p": 0.0}])
def test_attention_computes_what_torch_computes(options):
    torch = pytest.importorskip("torch")
    rng = np.random.RandomState(3)
    q, k, v = (rng.randn(2, 5, 2, 4).astype("float32") for _ in range(3))
    found = nn.functional.scaled_dot_product_attention(*map(fluid.to_tensor, (q, k, v)), **options)
    turned = (torch.tensor(a.transpose(0, 2, 1, 3)) for a in (q, k, v))
    wanted = torch.nn.functional.scaled_dot_product_attention(*turned, **options)
    np.testing.assert_allclose(found.numpy(), wanted.numpy().transpose(0, 2, 1, 3), atol=1e-5)


def test_attention_sees_what_a_mask_of_truth_values_shows():
    rng = np.random.RandomState(3)
    q, k = (fluid.to_tensor(rng.randn(2, 3, 1, 4).astype("float32")) for _ in range(2))
    seen = fluid.to_tensor(np.array([True, False, False])[None, None, None])
    found = nn.functional.scaled_dot_product_attention(q, k, k, seen)
    np.testing.assert_allclose(found.numpy(), k.numpy()[:, :1].repeat(3, 1), atol=1e-6)
    with pytest.raises(ArgumentError, match="attn_mask or is_causal"):
        nn.functional.scaled_dot_product_attention(q, k, k, seen, is_causal=True)


def test_parameters_without_a_layer_are_named_as_paddle_names_them():
    asked = [{}, {"name": "mine"}, {"is_bias": True}, {"attr": fluid.ParamAttr("own")}, {}]
    with fluid.unique_name.guard():
        names = [fluid.create_parameter([2], "float32", **each).name for each in asked]
    own = [f"create_parameter_{each}" for each in ("0.w_0", "1.b_0", "3.w_0")]
    assert names == [own[0], "mine", own[1], "own", own[2]]
