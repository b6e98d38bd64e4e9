"""Layers and functions that are several in one call compute what these do."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite import errors, paddle

nn, inn = paddle.nn, paddle.incubate.nn
F = inn.functional
rng = np.random.RandomState(0)


def floats(*shape):
    return paddle.to_tensor(rng.randn(*shape).astype("float32"))


@pytest.mark.parametrize("before", [False, True])
def test_a_fused_layer_of_an_encoder_is_the_plain_one(before):
    plain = nn.TransformerEncoderLayer(8, 2, 12, 0.0, normalize_before=before)
    fused = inn.FusedTransformerEncoderLayer(8, 2, 12, 0.0, normalize_before=before)
    attention, feed = plain.self_attn, fused.ffn
    parts = [attention.q_proj, attention.k_proj, attention.v_proj]
    weights = np.stack([p.weight.numpy().T.reshape(2, 4, 8) for p in parts])
    fused.fused_attn.qkv_weight.set_value(weights)
    fused.fused_attn.linear_weight.set_value(attention.out_proj.weight.numpy())
    feed._linear1_weight.set_value(plain.linear1.weight.numpy())
    feed._linear2_weight.set_value(plain.linear2.weight.numpy())
    x, mask = floats(3, 5, 8), floats(3, 2, 5, 5)
    wanted = plain(x, mask).numpy()
    np.testing.assert_allclose(fused(x, mask).numpy(), wanted, atol=1e-5)
    variables = [fluid.data("x", [None, 5, 8]), fluid.data("mask", [None, 2, 5, 5])]
    out, exe = fused(*variables), fluid.Executor()
    exe.run(fluid.default_startup_program())
    feed = {"x": x.numpy(), "mask": mask.numpy()}
    np.testing.assert_allclose(exe.run(feed=feed, fetch_list=[out])[0], wanted, atol=1e-5)


def test_fused_attention_goes_on_from_a_cache():
    x, weight, out = floats(2, 3, 4), floats(3, 2, 2, 4), floats(4, 4)
    none = {"dropout_rate": 0.0, "attn_dropout_rate": 0.0, "pre_layer_norm": True}
    cache = floats(2, 2, 2, 0, 2)
    _, cache = F.fused_multi_head_attention(x[:, :2], weight, out, cache_kv=cache, **none)
    last, cache = F.fused_multi_head_attention(x[:, 2:], weight, out, cache_kv=cache, **none)
    assert cache.shape == [2, 2, 2, 3, 2]
    whole = F.fused_multi_head_attention(x, weight, out, **none).numpy()
    np.testing.assert_allclose(last.numpy()[:, 0], whole[:, 2], rtol=1e-5, atol=1e-6)
    turned = paddle.reshape(paddle.transpose(weight, [3, 0, 1, 2]), [4, 12])
    other = F.fused_multi_head_attention(x, turned, out, num_heads=2, transpose_qkv_wb=True, **none)
    np.testing.assert_allclose(other.numpy(), whole, rtol=1e-5, atol=1e-6)
    with pytest.raises(ValueError, match="num_heads"):
        F.fused_multi_head_attention(x, turned, out, transpose_qkv_wb=True)


def test_layers_one_after_the_other_in_one_call():
    layers = [inn.FusedTransformerEncoderLayer(4, 2, 8, 0.0, normalize_before=True) for _ in "ab"]
    x = floats(2, 3, 4)
    wanted = layers[1](layers[0](x)).numpy()
    attention, feed = [each.fused_attn for each in layers], [each.ffn for each in layers]
    found = F.fused_multi_transformer(
        x,
        *([getattr(a, f"pre_ln_{what}") for a in attention] for what in ("scale", "bias")),
        *([getattr(a, f"qkv_{what}") for a in attention] for what in ("weight", "bias")),
        *([getattr(a, f"linear_{what}") for a in attention] for what in ("weight", "bias")),
        *([getattr(f, f"_ln1_{what}") for f in feed] for what in ("scale", "bias")),
        *([getattr(f, f"_linear1_{what}") for f in feed] for what in ("weight", "bias")),
        *([getattr(f, f"_linear2_{what}") for f in feed] for what in ("weight", "bias")),
        activation="relu",
    )
    np.testing.assert_allclose(found.numpy(), wanted, rtol=1e-5, atol=1e-6)


def test_linear_maps_dropout_and_norms_in_one_call():
    x, y, weight, bias = floats(3, 4), floats(3, 4), floats(4, 5), floats(5)
    product = x.numpy() @ weight.numpy() + bias.numpy()
    layer = inn.FusedLinear(4, 5, transpose_weight=True)
    layer.weight.set_value(weight.numpy().T)
    layer.bias.set_value(bias.numpy())
    for found in (F.fused_linear(x, weight, bias), F.fused_matmul_bias(x, weight, bias), layer(x)):
        np.testing.assert_allclose(found.numpy(), product, rtol=1e-5, atol=1e-6)
    found = F.fused_linear_activation(x, weight, bias, activation="relu")
    np.testing.assert_allclose(found.numpy(), product.clip(0), rtol=1e-5, atol=1e-6)
    with pytest.raises(ValueError, match="gelu, relu or None"):
        F.fused_linear_activation(x, weight, bias, activation="tanh")
    added = inn.FusedDropoutAdd(0.5, "downscale_in_infer")
    added.eval()
    np.testing.assert_allclose(added(x, y).numpy(), x.numpy() / 2 + y.numpy(), rtol=1e-6)
    summed = x.numpy() + 0.5 * y.numpy()
    normed = (summed - summed.mean(1, keepdims=True)) / np.sqrt(summed.var(1, keepdims=True) + 0.1)
    found = F.fused_layer_norm(x, None, None, 0.1, residual_alpha=0.5, residual=y)
    np.testing.assert_allclose(found[0].numpy(), normed, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(found[1].numpy(), summed, rtol=1e-6)
    scale = floats(4)
    rooted = x.numpy() / np.sqrt((x.numpy() ** 2).mean(1, keepdims=True) + 0.1) * scale.numpy()
    found = F.fused_rms_norm(x, scale, None, 0.1, 1)
    np.testing.assert_allclose(found.numpy(), rooted, rtol=1e-5)
    both = inn.FusedBiasDropoutResidualLayerNorm(4, 0.0)
    wanted = nn.functional.layer_norm(x + y, [4]).numpy()
    np.testing.assert_allclose(both(x, y).numpy(), wanted, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("neighbours", [True, False])
def test_positions_turn_pairs_by_their_angles(neighbours):
    x = floats(1, 3, 1, 4)
    q, k, v = F.fused_rotary_position_embedding(x, None, x, use_neox_rotary_style=neighbours)
    assert k is None
    np.testing.assert_array_equal(q.numpy(), v.numpy())
    pairs = [(0, 1), (2, 3)] if neighbours else [(0, 2), (1, 3)]
    for step in range(3):
        for (a, b), rate in zip(pairs, (1.0, 0.01)):
            row = x.numpy()[0, step, 0]
            wanted = (row[a] + 1j * row[b]) * np.exp(1j * step * rate)
            found = q.numpy()[0, step, 0]
            np.testing.assert_allclose([found[a], found[b]], [wanted.real, wanted.imag], rtol=1e-5)
    places = paddle.to_tensor([[2, 0, 1]])
    angles = floats(3, 4)
    tables = {"sin": paddle.sin(angles), "cos": paddle.cos(angles), "position_ids": places}
    moved = F.fused_rotary_position_embedding(x, **tables)[0].numpy()
    tables = {name: tables[name].numpy()[[2, 0, 1]] for name in ("sin", "cos")}
    tables = {name: paddle.to_tensor(value) for name, value in tables.items()}
    np.testing.assert_array_equal(moved, F.fused_rotary_position_embedding(x, **tables)[0].numpy())


def test_attention_of_sequences_of_several_lengths():
    q, k, v = (floats(2, 2, 3, 4) for _ in range(3))
    lengths = paddle.to_tensor(np.array([[2], [3]], "int32"))
    found = F.variable_length_memory_efficient_attention(q, k, v, lengths, lengths, causal=True)
    for row, count in enumerate((2, 3)):
        parts = [paddle.transpose(t[row : row + 1, :, :count], [0, 2, 1, 3]) for t in (q, k, v)]
        wanted = nn.functional.scaled_dot_product_attention(*parts, is_causal=True)
        part = found.numpy()[row, :, :count].transpose(1, 0, 2)
        np.testing.assert_allclose(part, wanted.numpy()[0], rtol=1e-4, atol=1e-5)
    assert not found.numpy()[0, :, 2:].any()


def test_what_decodes_on_gpus_alone_is_refused():
    x = floats(2, 3)
    for call in (
        lambda: F.masked_multihead_attention(x),
        lambda: F.block_multihead_attention(*[x] * 11),
        lambda: F.fused_ec_moe(*[x] * 6, "gelu"),
        lambda: F.fused_multi_transformer(x, *[[x]] * 12, time_step=x),
        lambda: inn.FusedMultiTransformer(4, 2, 8),
        lambda: inn.FusedEcMoe(4, 8, 2, "gelu"),
    ):
        with pytest.raises(errors.UnsupportedError, match="GPUs alone"):
            call()
