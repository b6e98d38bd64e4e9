"""Layers: functions that append operators to the current block, by the names of fluid 1.8."""

from __future__ import annotations

from ..absent import answer
from ..namespace import listing
from ..quiet import doors
from . import control_flow
from . import learning_rate as learning_rate_scheduler  # where fluid 1.8's scripts look for it
from .activation import (
    brelu,
    elu,
    gelu,
    hard_shrink,
    hard_sigmoid,
    hard_swish,
    leaky_relu,
    log_softmax,
    logsigmoid,
    mish,
    relu,
    relu6,
    selu,
    sigmoid,
    soft_relu,
    softmax,
    softplus,
    softshrink,
    softsign,
    stanh,
    swish,
    tanh,
    tanh_shrink,
    thresholded_relu,
)
from .alignment import ctc_greedy_decoder, edit_distance, gather_tree
from .anchor_targets import retinanet_target_assign, rpn_target_assign
from .anchors import anchor_generator, density_prior_box, prior_box, yolo_box, yolov3_loss
from .array import array_length, array_read, array_write, create_array, tensor_array_to_tensor
from .beam_decoder import BeamSearchDecoder
from .beam_search import beam_search, beam_search_decode
from .boxes import (
    bipartite_match,
    box_clip,
    box_coder,
    box_decoder_and_assign,
    iou_similarity,
    polygon_box_transform,
    target_assign,
)
from .branch import IfElse, Switch, case, cond, switch_case
from .clicks import (
    continuous_value_model,
    hash,
)
from .compare import (
    allclose,
    elementwise_equal,
    equal,
    greater_equal,
    greater_than,
    has_inf,
    has_nan,
    is_empty,
    isfinite,
    less_equal,
    less_than,
    logical_and,
    logical_not,
    logical_or,
    logical_xor,
    not_equal,
)
from .conv import adaptive_pool2d, conv2d, conv2d_transpose, pool2d
from .conv3d import adaptive_pool3d, conv3d, conv3d_transpose, pool3d
from .creation import (
    arange,
    assign,
    eye,
    fill_constant,
    fill_constant_batch_size_like,
    full,
    full_like,
    linspace,
    ones,
    ones_like,
    range,
    zeros,
    zeros_like,
)
from .debug import Assert, Print, py_func
from .decode_helper import (
    BasicDecoder,
    DecodeHelper,
    GreedyEmbeddingHelper,
    SampleEmbeddingHelper,
    TrainingHelper,
)
from .decoding import Decoder, dynamic_decode
from .detections import detection_output, retinanet_detection_output, ssd_loss
from .distance import (
    cos_sim,
    dist,
    l2_normalize,
)
from .distributions import Categorical, MultivariateNormalDiag, Normal, Uniform
from .dynamic_rnn import DynamicRNN, reorder_lod_tensor_by_rank
from .elementwise import (
    addcmul,
    elementwise_add,
    elementwise_div,
    elementwise_floordiv,
    elementwise_max,
    elementwise_min,
    elementwise_mod,
    elementwise_mul,
    elementwise_pow,
    elementwise_sub,
)
from .features import add_position_encoding, random_crop, similarity_focus
from .indexing import (
    gather,
    gather_nd,
    index_sample,
    index_select,
    multiplex,
    scatter,
    scatter_nd,
    scatter_nd_add,
)
from .interpolate import (
    image_resize,
    image_resize_short,
    resize_bilinear,
    resize_nearest,
    resize_trilinear,
)
from .interpolate import image_resize as interpolate  # fluid's second name for it
from .io import data, load
from .joining import concat, split, stack, unstack
from .labeling import crf_decoding, linear_chain_crf, warpctc
from .learning_rate import (
    cosine_decay,
    exponential_decay,
    inverse_time_decay,
    linear_lr_warmup,
    natural_exp_decay,
    noam_decay,
    piecewise_decay,
    polynomial_decay,
)
from .lengths import sequence_mask
from .loop import While, while_loop
from .loss import cross_entropy, mse_loss, softmax_with_cross_entropy, square_error_cost
from .math import cast, clamp, clip, clip_by_norm, matmul, mul, scale, sum, sums
from .matrix import (
    addmm,
    bilinear_tensor_product,
    bmm,
    cross,
    diag,
    diag_embed,
    dot,
    fsp_matrix,
    kron,
    trace,
    tril,
    triu,
)
from .metric import (
    accuracy,
    auc,
    mean_iou,
)
from .multi_box import multi_box_head
from .nn import dropout, embedding, fc, maxout, one_hot, prelu
from .norm import batch_norm, group_norm, instance_norm, layer_norm
from .points import affine_grid, deformable_conv, grid_sampler
from .probability_loss import (
    dice_loss,
    kldiv_loss,
    log_loss,
    sigmoid_focal_loss,
    teacher_student_sigmoid_loss,
)
from .proposals import (
    collect_fpn_proposals,
    distribute_fpn_proposals,
    generate_mask_labels,
    generate_proposal_labels,
    generate_proposals,
)
from .ranking_loss import (
    bpr_loss,
    margin_rank_loss,
    npair_loss,
    rank_loss,
)
from .readers import create_py_reader_by_data, double_buffer, py_reader, read_file
from .rearrange import pixel_shuffle, shuffle_channel, space_to_depth, temporal_shift, unfold
from .recurrence import rnn
from .recurrent_net import dynamic_gru, dynamic_lstm, dynamic_lstmp
from .recurrent_unit import gru_unit, lstm, lstm_unit
from .reduce import (
    logsumexp,
    mean,
    reduce_all,
    reduce_any,
    reduce_max,
    reduce_mean,
    reduce_min,
    reduce_prod,
    reduce_sum,
)
from .regression_loss import (
    center_loss,
    huber_loss,
    smooth_l1,
)
from .rescale import affine_channel, data_norm, inplace_abn, lrn, spectral_norm
from .reshaping import (
    expand,
    expand_as,
    flatten,
    flip,
    meshgrid,
    rank,
    reshape,
    reverse,
    shape,
    size,
    squeeze,
    t,
    transpose,
    unsqueeze,
)
from .rnn_cell import GRUCell, LSTMCell, RNNCell
from .roi import (
    deformable_roi_pooling,
    prroi_pool,
    psroi_pool,
    roi_align,
    roi_perspective_transform,
    roi_pool,
)
from .rows import get_tensor_from_selected_rows, merge_selected_rows
from .sampled_loss import (
    hsigmoid,
    nce,
    sampled_softmax_with_cross_entropy,
)
from .sampling import (
    gaussian_random,
    gaussian_random_batch_size_like,
    randint,
    randn,
    randperm,
    sampling_id,
    uniform_random,
    uniform_random_batch_size_like,
)
from .scan import (
    cumsum,
    roll,
)
from .search import (
    argmax,
    argmin,
    argsort,
    nonzero,
    shard_index,
    topk,
    unique,
    unique_with_counts,
    where,
)
from .sequence import (
    row_conv,
    sequence_conv,
    sequence_expand,
    sequence_expand_as,
    sequence_first_step,
    sequence_last_step,
    sequence_pool,
    sequence_softmax,
)
from .sequence_marks import filter_by_instag, im2sequence
from .sequence_rows import (
    lod_append,
    lod_reset,
    sequence_concat,
    sequence_enumerate,
    sequence_pad,
    sequence_reshape,
    sequence_reverse,
    sequence_scatter,
    sequence_slice,
    sequence_unpad,
)
from .slicing import crop, crop_tensor, pad, pad2d, pad_constant_like, slice, strided_slice
from .soft_labels import label_smooth, sigmoid_cross_entropy_with_logits
from .static_rnn import StaticRNN
from .suppression import locality_aware_nms, matrix_nms, multiclass_nms
from .tagging import chunk_eval
from .unary import (
    abs,
    acos,
    asin,
    atan,
    ceil,
    cos,
    erf,
    exp,
    floor,
    log,
    log1p,
    pow,
    reciprocal,
    round,
    rsqrt,
    sign,
    sin,
    sqrt,
    square,
)
from .variables import (
    autoincreased_step_counter,
    create_global_var,
    create_parameter,
    create_tensor,
    increment,
)

#: the layers that are imported above
__all__ = [
    name
    for name, value in globals().items()
    if getattr(value, "__module__", "").startswith(__name__) and name != "interpolate"
]

__dir__ = listing(globals())
doors(globals())
answer(globals())
