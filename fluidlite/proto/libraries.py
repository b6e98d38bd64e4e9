"""Which operators fluid 1.8 and paddle 2.6 have, of those that are defined here."""

from __future__ import annotations

from ..ir.program import Program
from .newer_programs import TYPES_IN_FILES, is_of_paddle2

#: operators that neither has
_ONLY_HERE = """
add_along add_item add_rows amax amin arctan2 array_filled array_without bare_rows
begins_with_something bessel_i c_allgather_rows c_allreduce_start c_allreduce_wait c_gen_nccl_id
cofactors conv2d_adjoint_filter conv2d_adjoint_input conv3d_adjoint_filter conv3d_adjoint_input
conv_shift_adjoint empty_array erfc factored_determinant factored_slogdeterminant factored_solve
floor_divide frexp gather_adjoint gcd group_places hat_integral in_one_sequence inverse_or_nan
is_last_in_map is_last_occurrence keep_statistic keep_value kept_value last_item lcm leaky_relu_v2
like_rows longest lookup_table_adjoint lstm_layers maximum middle_places minimum mode_place
neighbour_slopes neighbour_sum neighbours off_diagonal part_numbers pass_statistic
perspective_points pick_label place_diagonal place_label places_in_rows plane_points pool2d_adjoint
pool2d_positions pool3d_adjoint pool3d_positions pool_rows positions_below product_slope
pseudo_inverse psroi_weights put_along put_elements put_item recurrent_layer recurrent_layers
region_points remainder resize_weights roi_align_weights roi_blend roi_blend_adjoint roi_blend_rows
roi_images roi_positions rotary_angles rows_only sampled_product scale_gradient segment_argmax
segment_max segment_spread segment_sum segment_top selected_rows shift_frames sparse_product
strided_places strided_slice_adjoint sum_of_written take_along take_diagonal take_elements take_item
take_rows tensor_to_array trans_places tree_path tree_places unfold_adjoint weighted_dot
weighted_put weighted_take window_places within_image yolov3_targets zeros_if_written
"""
#: operators that paddle 2.6 has, and fluid 1.8 has not
_SINCE_PADDLE_2 = """
acosh adadelta_v2 adam_v2 adamw angle as_complex as_real as_strided asinh assert assign_pos atan2
atanh batch_fc bernoulli bicubic_interp_v2 bilinear_interp_v2 bincount bitwise_and bitwise_not
bitwise_or bitwise_xor broadcast_tensors celu channel_shuffle check_finite_and_unscale
check_numerics cholesky cholesky_solve class_center_sample complex conj correlation cosh cummax
cummin cumprod decode_jpeg depend dequantize_linear determinant diag_v2 diagonal digamma dirichlet
dropout_nd eig eigh eigvals eigvalsh einsum elementwise_fmax elementwise_fmin elementwise_heaviside
empty equal_all erfinv expand_as_v2 expand_v2 expm1 exponential
fake_channel_wise_quantize_dequantize_abs_max fake_quantize_dequantize_abs_max fetch_v2 fft_c2c
fft_c2r fft_r2c fill_any fill_diagonal fill_diagonal_tensor flash_attn flash_attn_unpadded
flatten_contiguous_range fold frame full_int_array fused_bias_act
fused_bias_dropout_residual_layer_norm fused_bias_residual_layernorm fused_conv2d
fused_conv2d_add_act fused_conv3d fused_dropout_add fused_elementwise_add fused_elementwise_div
fused_elementwise_mul fused_elementwise_sub fused_elemwise_add_activation
fused_embedding_eltwise_layernorm fused_fc_elementwise_layernorm fused_matmul
fused_rotary_position_embedding fused_scale_bias_add_relu fused_softmax_mask
fused_softmax_mask_upper_triangle fused_softplus fused_transpose fusion_transpose_flatten_concat
gaussian_inplace generate_proposals_v2 grad_add graph_khop_sampler graph_reindex
graph_sample_neighbors graph_send_recv graph_send_ue_recv graph_send_uv gumbel_softmax histogram i0
i0e i1 i1e identity_loss imag index_add index_put index_select_strided inverse isclose isfinite_v2
isinf_v2 isnan_v2 kthvalue lamb_v2 lerp lgamma limit_by_capacity linear_interp linear_interp_v2
log10 log2 log_softmax logcumsumexp logit logspace logsumexp lstsq lu lu_unpack margin_cross_entropy
masked_select matmul_v2 matrix_power matrix_rank memcpy memcpy_d2h memcpy_h2d
memory_efficient_attention merged_adam merged_momentum mode multi_dot multiclass_nms3
multihead_matmul multinomial mv nanmedian nearest_interp_v2 nextafter nms nop npu_identity
number_count overlap_add pad3d pixel_unshuffle poisson polygamma pow2_decay_with_linear_warmup
prune_gate_by_capacity put_along_axis qr quantize_linear random_routing read_file real reduce_amax
reduce_amin renorm repeat_interleave rms_norm rnn rrelu searchsorted segment_pool self_dp_attention
set_value share_data silu sinh skip_layernorm slogdeterminant solve stft svd take_along_axis tan
tensor_unfold tile top_k_v2 top_p_sampling transfer_dtype transfer_layout triangular_solve
tril_indices trilinear_interp_v2 triu_indices trunc uniform_random_inplace unique_consecutive
unpool3d unzip update_loss_scaling variable_length_memory_efficient_attention view_dtype view_shape
viterbi_decode warprnnt weighted_sample_neighbors
"""
#: operators that fluid 1.8 has, and paddle 2.6 has not
_UNTIL_FLUID_1 = """
allreduce center_loss conv_shift cos_sim diag equal_reduce expand_as filter_by_instag flatten
gaussian_random_batch_size_like inplace_abn isfinite lstm_unit lstmp margin_rank_loss mean_iou
one_hot pad_constant_like proximal_adagrad prroi_pool random_crop rnn_memory_helper
roi_perspective_transform sample_logits sequence_topk_avg_pooling sigmoid_focal_loss smooth_l1_loss
space_to_depth squared_l2_distance squeeze target_assign tree_conv unsqueeze
"""
#: name of a library, as in messages -> operators of this library that it lacks
LACKING: dict[str, frozenset[str]] = {
    "fluid 1.8": frozenset(f"{_ONLY_HERE}{_SINCE_PADDLE_2}".split()),
    "paddle 2.6": frozenset(f"{_ONLY_HERE}{_UNTIL_FLUID_1}".split()),
}


def lacking_operators(program: Program, library: str) -> list[str]:
    """The types of a program's operators that another library lacks, in order; a gradient operator
    counts as its forward operator.

    Args:
        program: as it is written.
        library: a key of :data:`LACKING`.
    """
    lacking = LACKING[library]
    types = (op.type for block in program.blocks for op in block.ops)
    if is_of_paddle2(program):
        types = (TYPES_IN_FILES.get(type, type) for type in types)
    return list(dict.fromkeys(t for t in types if t.partition("_grad")[0] in lacking))
