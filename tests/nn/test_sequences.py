"""Recurrent layers and transformers of ``fluid.nn``: as torch has them, and in programs."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.errors import ArgumentError, ShapeError

RNG = np.random.default_rng(0)
X = RNG.standard_normal([3, 5, 4]).astype("float32")


def in_a_program(net, *arrays):
    """What a layer gives in a program, for a batch of unknown size."""
    main, startup = fluid.Program(), fluid.Program()
    with fluid.program_guard(main, startup):
        fed = {f"x{k}": array for k, array in enumerate(arrays)}
        given = [
            fluid.data(name, [None, *array.shape[1:]], str(array.dtype))
            for name, array in fed.items()
        ]
        out = net(*given)
        flat = [out] if isinstance(out, fluid.Variable) else flattened(out)
    exe = fluid.Executor()
    exe.run(startup)
    return exe.run(main, feed=fed, fetch_list=flat)


def flattened(value):
    if isinstance(value, (list, tuple)):
        return [each for part in value for each in flattened(part)]
    return [value]


def at_once(net, *arrays):
    return [each.numpy() for each in flattened(net(*map(fluid.to_tensor, arrays)))]


def close(ours, theirs):
    for one, other in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(one, other, atol=2e-6)


def of_torch(ours, theirs):
    """Give a layer of torch the parameters of ours, which have its names."""
    torch = pytest.importorskip("torch")
    theirs.load_state_dict({k: torch.tensor(v.numpy()) for k, v in ours.state_dict().items()})
    with torch.no_grad():
        return [each.numpy() for each in flattened(theirs(torch.tensor(X)))]


@pytest.mark.parametrize("kind", ["LSTM", "GRU", "SimpleRNN"])
@pytest.mark.parametrize("direction", ["forward", "bidirect"])
def test_recurrent_layers_compute_what_torch_computes(kind, direction):
    torch = pytest.importorskip("torch")
    net = getattr(fluid.nn, kind)(4, 6, num_layers=2, direction=direction)
    options = dict(num_layers=2, batch_first=True, bidirectional=direction != "forward")
    theirs = getattr(torch.nn, {"SimpleRNN": "RNN"}.get(kind, kind))(4, 6, **options)
    close(at_once(net, X), of_torch(net, theirs))


@pytest.mark.parametrize("kind", ["LSTM", "GRU", "SimpleRNN"])
def test_recurrent_layers_are_the_same_in_programs(kind):
    net = getattr(fluid.nn, kind)(4, 6, direction="bidirect")
    lengths = np.array([5, 2, 3])

    def with_lengths(x, n):
        return net(x, None, n)

    close(in_a_program(net, X), at_once(net, X))
    close(in_a_program(with_lengths, X, lengths), at_once(with_lengths, X, lengths))


@pytest.mark.parametrize("kind", ["LSTM", "GRU", "SimpleRNN"])
def test_what_is_behind_a_sequence_does_not_matter(kind):
    net = getattr(fluid.nn, kind)(4, 6, direction="bidirect")
    out, state = net(fluid.to_tensor(X), None, fluid.to_tensor([5, 2, 3]))
    alone, last = net(fluid.to_tensor(X[1:2, :2]))
    np.testing.assert_allclose(out.numpy()[1, :2], alone.numpy()[0], atol=1e-6)
    assert not out.numpy()[1, 2:].any()
    for one, other in zip(flattened(state), flattened(last)):
        np.testing.assert_allclose(one.numpy()[:, 1:2], other.numpy(), atol=1e-6)


@pytest.mark.parametrize("kind", ["LSTM", "GRU", "SimpleRNN"])
def test_a_layer_is_its_cell_step_by_step(kind):
    net, cell = getattr(fluid.nn, kind)(4, 6), getattr(fluid.nn, f"{kind}Cell")(4, 6)
    cell.set_state_dict({k[:-3]: v for k, v in net.state_dict().items()})
    out, final = net(fluid.to_tensor(X))
    state = None
    for t in range(5):
        y, state = cell(fluid.to_tensor(X[:, t]), state)
        np.testing.assert_allclose(out.numpy()[:, t], y.numpy(), atol=1e-6)
    again, _ = net(fluid.to_tensor(X), final)
    assert not np.allclose(again.numpy(), out.numpy())


def test_time_may_come_first_and_gradients_reach_every_parameter():
    net = fluid.nn.GRU(4, 6, num_layers=2, time_major=True)
    out, _ = net(fluid.to_tensor(X.transpose(1, 0, 2)))
    assert out.shape == [5, 3, 6]
    (out * out).sum().backward()
    assert all(p.grad is not None and p.grad.numpy().any() for p in net.parameters())


def test_wrong_arguments_of_recurrent_layers_are_refused():
    with pytest.raises(ArgumentError, match="expected direction to be 'forward'"):
        fluid.nn.LSTM(4, 6, direction="back")
    with pytest.raises(ArgumentError, match="expected 2 initial states, got 1"):
        fluid.nn.LSTM(4, 6)(fluid.to_tensor(X), fluid.zeros([1, 3, 6]))
    with pytest.raises(ShapeError, match="expected a known number of steps"):
        fluid.nn.RNN(fluid.nn.GRUCell(4, 6))(fluid.data("x", [None, 0, 4]))


@pytest.mark.parametrize("back", [False, True])
def test_a_cell_runs_along_an_unknown_number_of_steps(back):
    net, lengths = fluid.nn.RNN(fluid.nn.LSTMCell(4, 6), is_reverse=back), np.array([2, 3, 1])
    tensor = fluid.to_tensor(X, stop_gradient=False)
    outs, (last, _) = net(tensor, sequence_length=fluid.to_tensor(lengths))
    ((outs * outs).sum() + last.sum()).backward()
    x, n = fluid.data("x", [None, None, 4], "float32"), fluid.data("n", [None], "int64")
    x.stop_gradient = False
    found, (state, _) = net(x, sequence_length=n)
    gradient = fluid.gradients([(found * found).sum() + state.sum()], [x])
    executor = fluid.Executor()
    executor.run(fluid.default_startup_program())
    fetched = executor.run(feed={"x": X, "n": lengths}, fetch_list=[found, state, *gradient])
    for value, expected in zip(fetched, (outs, last, tensor.grad)):
        np.testing.assert_allclose(value, expected.numpy(), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("kind, biased", [("LSTM", True), ("GRU", False)])
def test_a_program_of_an_unknown_number_of_steps_computes_what_tensors_do(kind, biased):
    bias = {} if biased else dict(bias_ih_attr=False, bias_hh_attr=False)
    net = getattr(fluid.nn, kind)(4, 6, 2, direction="bidirect", **bias)
    lengths = np.array([2, 3, 1])
    outs, last = net(fluid.to_tensor(X), sequence_length=fluid.to_tensor(lengths))
    x, n = fluid.data("x", [None, None, 4], "float32"), fluid.data("n", [None], "int64")
    found, states = net(x, sequence_length=n)
    fetched = [found, states[0] if kind == "LSTM" else states]
    executor = fluid.Executor()
    executor.run(fluid.default_startup_program())
    found, states = executor.run(feed={"x": X, "n": lengths}, fetch_list=fetched)
    np.testing.assert_allclose(found, outs.numpy(), rtol=1e-5, atol=1e-6)
    last = last[0] if kind == "LSTM" else last
    np.testing.assert_allclose(states, last.numpy(), rtol=1e-5, atol=1e-6)


def renamed(state):
    """Parameters of our transformer layer as torch names and lays them out."""
    found = {}
    for name, value in state.items():
        array = value.numpy()
        found[name] = array.T if array.ndim == 2 else array
    for which, theirs in (("self_attn", "self_attn"), ("cross_attn", "multihead_attn")):
        for part in ("weight", "bias"):
            keys = [f"{which}.{k}_proj.{part}" for k in "qkv"]
            if keys[0] in found:
                found[f"{theirs}.in_proj_{part}"] = np.concatenate([found.pop(k) for k in keys])
                found[f"{theirs}.out_proj.{part}"] = found.pop(f"{which}.out_proj.{part}")
    return found


@pytest.mark.parametrize("before", [False, True])
@pytest.mark.parametrize("kind", ["Encoder", "Decoder"])
def test_transformer_layers_compute_what_torch_computes(kind, before):
    torch = pytest.importorskip("torch")
    net = getattr(fluid.nn, f"Transformer{kind}Layer")(4, 2, 8, normalize_before=before)
    net.eval()
    theirs = getattr(torch.nn, f"Transformer{kind}Layer")(
        4, 2, 8, batch_first=True, norm_first=before
    )
    theirs.eval()
    theirs.load_state_dict({k: torch.tensor(v) for k, v in renamed(net.state_dict()).items()})
    given = [X] if kind == "Encoder" else [X, RNG.standard_normal([3, 7, 4]).astype("float32")]
    causal = np.tril(np.ones([5, 5], bool))
    with torch.no_grad():
        expected = theirs(*map(torch.tensor, given), torch.tensor(~causal)).numpy()

    def masked(*inputs):
        return net(*inputs, fluid.to_tensor(causal))

    close(at_once(masked, *given), [expected])
    close(in_a_program(net, *given), at_once(net, *given))


def test_stacks_have_parameters_of_their_own_and_a_last_norm():
    net = fluid.nn.TransformerEncoder(
        fluid.nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0), 3, fluid.nn.LayerNorm(4)
    )
    assert len({p.name for p in net.parameters()}) == len(net.parameters()) == 3 * 16 + 2
    out = net(fluid.to_tensor(X))
    np.testing.assert_allclose(out.numpy().mean(-1), 0, atol=1e-5)
    decoder = fluid.nn.TransformerDecoder(fluid.nn.TransformerDecoderLayer(4, 2, 8), 2)
    decoder.eval()
    assert decoder(out, out).shape == [3, 5, 4]


def test_attention_gives_its_weights_and_heeds_numbers_as_a_mask():
    attention = fluid.nn.MultiHeadAttention(4, 2, need_weights=True)
    mask = np.zeros([5, 5], "float32")
    mask[:, 3:] = -1e9
    _, weights = attention(fluid.to_tensor(X), attn_mask=fluid.to_tensor(mask))
    assert weights.shape == [3, 2, 5, 5]
    np.testing.assert_allclose(weights.numpy().sum(-1), 1, atol=1e-6)
    assert weights.numpy()[..., 3:].max() < 1e-20
    with pytest.raises(ArgumentError, match="expected num_heads to divide embed_dim=4, got 3"):
        fluid.nn.MultiHeadAttention(4, 3)


def test_a_program_has_one_number_for_what_causal_attention_hides():
    x = fluid.data("x", [2, 30, 2, 4])
    out = fluid.nn.functional.scaled_dot_product_attention(x, x, x, is_causal=True)
    values = [value for op in out.block.ops for value in op.attrs.values()]
    assert max(len(value) for value in values if isinstance(value, tuple)) <= 4
    fed = RNG.standard_normal([2, 30, 2, 4]).astype("float32")
    (found,) = fluid.Executor().run(feed={"x": fed}, fetch_list=[out])
    np.testing.assert_allclose(found, attention_of(fed), rtol=1e-4, atol=1e-6)


def attention_of(x):
    """Causal attention of an array with itself, worked out plainly."""
    q = x.transpose(0, 2, 1, 3)
    scores = q @ q.transpose(0, 1, 3, 2) / np.sqrt(x.shape[-1])
    weights = np.exp(np.where(np.tril(np.ones(scores.shape[-2:], bool)), scores, -np.inf))
    return (weights / weights.sum(-1, keepdims=True) @ q).transpose(0, 2, 1, 3)
