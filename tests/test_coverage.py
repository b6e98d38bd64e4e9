"""``docs/coverage.md`` says what there is, and why the rest is not."""

import fnmatch
import importlib.util
from pathlib import Path

import pytest

from fluidlite.opdef.definition import is_defined

SCRIPT = Path(__file__).parents[1] / "docs" / "coverage.py"


@pytest.fixture(scope="module")
def coverage():
    spec = importlib.util.spec_from_file_location("coverage_page", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_is_up_to_date(coverage):
    written = SCRIPT.with_suffix(".md").read_text(encoding="utf-8")
    assert written == coverage.page(), "python docs/coverage.py writes it anew"


def test_every_operator_that_is_left_out_has_a_reason(coverage):
    missing = [t for t in coverage.forward_operators() if not is_defined(t)]
    assert not [t for t in missing if coverage.why(coverage.OPERATORS, t) is None]


#: operators of paddle 2.6 that are neither here nor have a reason yet
TO_COME = """
    acosh adamw angle as_complex as_real asinh assign_pos atan2 atanh batch_fc bicubic_interp_v2
    bilateral_slice bilinear_interp_v2 celu check_finite_and_unscale check_numerics cholesky
    cholesky_solve complex conj correlation decode_jpeg depend dequantize_linear determinant eig
    eigh eigvals eigvalsh einsum elementwise_fmax elementwise_fmin elementwise_heaviside
    expand_as_v2 expand_v2 fake_channel_wise_quantize_dequantize_abs_max
    fake_quantize_dequantize_abs_max faster_tokenizer fetch_v2 fft_c2c fft_c2r fft_r2c
    flash_attn flash_attn_unpadded flatten_contiguous_range frame fused_adam fused_bias_act
    fused_bias_dropout_residual_layer_norm fused_bias_residual_layernorm fused_conv2d
    fused_conv2d_add_act fused_conv3d fused_dropout_add fused_elementwise_add
    fused_elementwise_div fused_elementwise_mul fused_elementwise_sub
    fused_elemwise_add_activation fused_embedding_eltwise_layernorm
    fused_fc_elementwise_layernorm fused_matmul fused_rotary_position_embedding
    fused_scale_bias_add_relu fused_seqpool_cvm fused_softmax_mask
    fused_softmax_mask_upper_triangle fused_softplus fused_token_prune fused_transpose
    fusion_transpose_flatten_concat generate_proposals_v2 graph_khop_sampler graph_reindex
    graph_sample_neighbors graph_send_recv graph_send_ue_recv graph_send_uv i0 i0e i1 i1e
    identity_loss imag inverse lerp limit_by_capacity linear_interp linear_interp_v2
    llm_int8_linear log_softmax logcumsumexp logit logsumexp lstsq lu lu_unpack
    margin_cross_entropy matmul_v2 matrix_power matrix_rank memcpy memcpy_d2h memcpy_h2d
    memory_efficient_attention merged_adam merged_momentum moe multi_dot multi_gru
    multiclass_nms3 multihead_matmul mv nearest_interp_v2 nms nop npu_identity overlap_add pad3d
    pow2_decay_with_linear_warmup prune_gate_by_capacity put_along_axis pylayer qr quant_linear
    quantize_linear random_routing read_file real rms_norm rnn self_dp_attention set_value
    share_buffer share_data silu skip_layernorm slogdeterminant solve sparse_abs sparse_acos
    sparse_acosh sparse_add sparse_addmm sparse_asin sparse_asinh sparse_atan sparse_atanh
    sparse_batch_norm sparse_cast sparse_coalesce sparse_conv3d sparse_divide
    sparse_divide_scalar sparse_expm1 sparse_full_like sparse_fused_attention sparse_indices
    sparse_isnan sparse_leaky_relu sparse_log1p sparse_masked_matmul sparse_matmul
    sparse_maxpool sparse_momentum sparse_multiply sparse_mv sparse_pow sparse_relu sparse_relu6
    sparse_reshape sparse_scale sparse_sin sparse_sinh sparse_slice sparse_softmax
    sparse_sparse_coo_tensor sparse_sqrt sparse_square sparse_subtract sparse_sum
    sparse_sync_batch_norm sparse_tan sparse_tanh sparse_to_dense sparse_to_sparse_coo
    sparse_to_sparse_csr sparse_transpose sparse_values stft svd take_along_axis tile top_k_v2
    transfer_dtype transfer_layout triangular_solve trilinear_interp_v2 unzip
    update_loss_scaling variable_length_memory_efficient_attention viterbi_decode warprnnt
    weight_dequantize weight_only_linear weight_quantize weighted_sample_neighbors
"""


def test_every_operator_of_paddle_2_is_here_or_has_a_reason(coverage):
    missing = [t for t in coverage.operators_of_paddle_2() if not is_defined(t)]
    assert not {t for t in missing if coverage.why_not_of_paddle_2(t) is None} - {*TO_COME.split()}


def test_no_operator_of_paddle_2_that_is_here_has_a_reason_why_not(coverage):
    types = coverage.operators_of_paddle_2()
    for entry, _ in coverage.reasons(coverage.OPERATORS_OF_PADDLE_2):
        listed = fnmatch.filter(types, entry)
        assert listed, f"{entry}: no such operator"
        assert not [t for t in listed if is_defined(t)], f"{entry}: it is here"


def test_every_public_name_that_is_left_out_has_a_reason(coverage):
    missing = [name for name, here in coverage.public_names().items() if not here]
    assert not [name for name in missing if coverage.why(coverage.NAMES, name) is None]


def test_no_reason_is_left_for_what_is_there(coverage):
    assert not [entry for entry, _ in coverage.reasons(coverage.OPERATORS) if is_defined(entry)]
    names = coverage.public_names()
    missing = [name for name, here in names.items() if not here]
    for entry, _ in coverage.reasons(coverage.NAMES):
        assert fnmatch.filter(missing, entry), f"{entry}: all of it is there"


def test_reasons_are_given_for_what_fluid_has(coverage):
    assert {entry for entry, _ in coverage.reasons(coverage.OPERATORS)} <= set(
        coverage.forward_operators()
    )
    exact = {entry for entry, _ in coverage.reasons(coverage.NAMES) if "*" not in entry}
    assert exact <= set(coverage.public_names())
