# Written by docs/stubs.py.
from collections.abc import Mapping, Sequence
from typing import Any, Literal, overload

from ..ground.dtypes import DTypeLike
from ..initializer import Initializer
from ..ir.variable import Variable
from ..param_attr import Attr
from .anchors import Floats
from .convolution import Numbers, Padding
from .reduce import Dims
from .sizes import Given
from . import control_flow
from . import learning_rate as learning_rate_scheduler
from .activation import leaky_relu
from .alignment import edit_distance
from .array import array_length
from .array import array_read
from .array import array_write
from .array import create_array
from .array import tensor_array_to_tensor
from .beam_decoder import BeamSearchDecoder
from .beam_search import beam_search
from .beam_search import beam_search_decode
from .branch import IfElse
from .branch import Switch
from .branch import case
from .branch import cond
from .branch import switch_case
from .creation import assign
from .creation import eye
from .creation import fill_constant
from .creation import linspace
from .creation import ones
from .creation import range
from .creation import zeros
from .debug import Assert
from .debug import py_func
from .decode_helper import BasicDecoder
from .decode_helper import DecodeHelper
from .decode_helper import GreedyEmbeddingHelper
from .decode_helper import SampleEmbeddingHelper
from .decode_helper import TrainingHelper
from .decoding import Decoder
from .decoding import dynamic_decode
from .distance import l2_normalize
from .distributions import Categorical
from .distributions import MultivariateNormalDiag
from .distributions import Normal
from .distributions import Uniform
from .dynamic_rnn import DynamicRNN
from .dynamic_rnn import reorder_lod_tensor_by_rank
from .features import random_crop
from .indexing import scatter_nd
from .interpolate import image_resize
from .interpolate import image_resize_short
from .io import data
from .io import load
from .joining import concat
from .joining import split
from .joining import stack
from .joining import unstack
from .learning_rate import cosine_decay
from .learning_rate import exponential_decay
from .learning_rate import inverse_time_decay
from .learning_rate import linear_lr_warmup
from .learning_rate import natural_exp_decay
from .learning_rate import noam_decay
from .learning_rate import piecewise_decay
from .learning_rate import polynomial_decay
from .loop import While
from .loop import while_loop
from .loss import cross_entropy
from .loss import mse_loss
from .loss import square_error_cost
from .math import cast
from .math import clip
from .matrix import diag
from .matrix import diag_embed
from .metric import auc
from .multi_box import multi_box_head
from .nn import fc
from .nn import prelu
from .probability_loss import dice_loss
from .ranking_loss import npair_loss
from .readers import create_py_reader_by_data
from .readers import double_buffer
from .readers import py_reader
from .readers import read_file
from .recurrence import rnn
from .regression_loss import center_loss
from .reshaping import flatten
from .reshaping import rank
from .reshaping import t
from .rnn_cell import GRUCell
from .rnn_cell import LSTMCell
from .rnn_cell import RNNCell
from .scan import roll
from .sequence_marks import filter_by_instag
from .sequence_marks import im2sequence
from .sequence_rows import lod_append
from .sequence_rows import lod_reset
from .slicing import crop
from .static_rnn import StaticRNN
from .unary import sign
from .variables import autoincreased_step_counter
from .variables import create_global_var
from .variables import create_parameter
from .variables import create_tensor
from .variables import increment

__all__ = [
    "Assert",
    "BasicDecoder",
    "BeamSearchDecoder",
    "Categorical",
    "DecodeHelper",
    "Decoder",
    "DynamicRNN",
    "GRUCell",
    "GreedyEmbeddingHelper",
    "IfElse",
    "LSTMCell",
    "MultivariateNormalDiag",
    "Normal",
    "Print",
    "RNNCell",
    "SampleEmbeddingHelper",
    "StaticRNN",
    "Switch",
    "TrainingHelper",
    "Uniform",
    "While",
    "abs",
    "accuracy",
    "acos",
    "adaptive_pool2d",
    "adaptive_pool3d",
    "add_position_encoding",
    "addcmul",
    "addmm",
    "affine_channel",
    "affine_grid",
    "allclose",
    "anchor_generator",
    "arange",
    "argmax",
    "argmin",
    "argsort",
    "array_length",
    "array_read",
    "array_write",
    "asin",
    "assign",
    "atan",
    "auc",
    "autoincreased_step_counter",
    "batch_norm",
    "beam_search",
    "beam_search_decode",
    "bilinear_tensor_product",
    "bipartite_match",
    "bmm",
    "box_clip",
    "box_coder",
    "box_decoder_and_assign",
    "bpr_loss",
    "brelu",
    "case",
    "cast",
    "ceil",
    "center_loss",
    "chunk_eval",
    "clamp",
    "clip",
    "clip_by_norm",
    "collect_fpn_proposals",
    "concat",
    "cond",
    "continuous_value_model",
    "control_flow",
    "conv2d",
    "conv2d_transpose",
    "conv3d",
    "conv3d_transpose",
    "cos",
    "cos_sim",
    "cosine_decay",
    "create_array",
    "create_global_var",
    "create_parameter",
    "create_py_reader_by_data",
    "create_tensor",
    "crf_decoding",
    "crop",
    "crop_tensor",
    "cross",
    "cross_entropy",
    "ctc_greedy_decoder",
    "cumsum",
    "data",
    "data_norm",
    "deformable_conv",
    "deformable_roi_pooling",
    "density_prior_box",
    "detection_output",
    "diag",
    "diag_embed",
    "dice_loss",
    "dist",
    "distribute_fpn_proposals",
    "dot",
    "double_buffer",
    "dropout",
    "dynamic_decode",
    "dynamic_gru",
    "dynamic_lstm",
    "dynamic_lstmp",
    "edit_distance",
    "elementwise_add",
    "elementwise_div",
    "elementwise_equal",
    "elementwise_floordiv",
    "elementwise_max",
    "elementwise_min",
    "elementwise_mod",
    "elementwise_mul",
    "elementwise_pow",
    "elementwise_sub",
    "elu",
    "embedding",
    "equal",
    "erf",
    "exp",
    "expand",
    "expand_as",
    "exponential_decay",
    "eye",
    "fc",
    "fill_constant",
    "fill_constant_batch_size_like",
    "filter_by_instag",
    "flatten",
    "flip",
    "floor",
    "fsp_matrix",
    "full",
    "full_like",
    "gather",
    "gather_nd",
    "gather_tree",
    "gaussian_random",
    "gaussian_random_batch_size_like",
    "gelu",
    "generate_mask_labels",
    "generate_proposal_labels",
    "generate_proposals",
    "get_tensor_from_selected_rows",
    "greater_equal",
    "greater_than",
    "grid_sampler",
    "group_norm",
    "gru_unit",
    "hard_shrink",
    "hard_sigmoid",
    "hard_swish",
    "has_inf",
    "has_nan",
    "hash",
    "hsigmoid",
    "huber_loss",
    "im2sequence",
    "image_resize",
    "image_resize_short",
    "increment",
    "index_sample",
    "index_select",
    "inplace_abn",
    "instance_norm",
    "inverse_time_decay",
    "iou_similarity",
    "is_empty",
    "isfinite",
    "kldiv_loss",
    "kron",
    "l2_normalize",
    "label_smooth",
    "layer_norm",
    "leaky_relu",
    "learning_rate_scheduler",
    "less_equal",
    "less_than",
    "linear_chain_crf",
    "linear_lr_warmup",
    "linspace",
    "load",
    "locality_aware_nms",
    "lod_append",
    "lod_reset",
    "log",
    "log1p",
    "log_loss",
    "log_softmax",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "logsigmoid",
    "logsumexp",
    "lrn",
    "lstm",
    "lstm_unit",
    "margin_rank_loss",
    "matmul",
    "matrix_nms",
    "maxout",
    "mean",
    "mean_iou",
    "merge_selected_rows",
    "meshgrid",
    "mish",
    "mse_loss",
    "mul",
    "multi_box_head",
    "multiclass_nms",
    "multiplex",
    "natural_exp_decay",
    "nce",
    "noam_decay",
    "nonzero",
    "not_equal",
    "npair_loss",
    "one_hot",
    "ones",
    "ones_like",
    "pad",
    "pad2d",
    "pad_constant_like",
    "piecewise_decay",
    "pixel_shuffle",
    "polygon_box_transform",
    "polynomial_decay",
    "pool2d",
    "pool3d",
    "pow",
    "prelu",
    "prior_box",
    "prroi_pool",
    "psroi_pool",
    "py_func",
    "py_reader",
    "randint",
    "randn",
    "random_crop",
    "randperm",
    "range",
    "rank",
    "rank_loss",
    "read_file",
    "reciprocal",
    "reduce_all",
    "reduce_any",
    "reduce_max",
    "reduce_mean",
    "reduce_min",
    "reduce_prod",
    "reduce_sum",
    "relu",
    "relu6",
    "reorder_lod_tensor_by_rank",
    "reshape",
    "resize_bilinear",
    "resize_nearest",
    "resize_trilinear",
    "retinanet_detection_output",
    "retinanet_target_assign",
    "reverse",
    "rnn",
    "roi_align",
    "roi_perspective_transform",
    "roi_pool",
    "roll",
    "round",
    "row_conv",
    "rpn_target_assign",
    "rsqrt",
    "sampled_softmax_with_cross_entropy",
    "sampling_id",
    "scale",
    "scatter",
    "scatter_nd",
    "scatter_nd_add",
    "selu",
    "sequence_concat",
    "sequence_conv",
    "sequence_enumerate",
    "sequence_expand",
    "sequence_expand_as",
    "sequence_first_step",
    "sequence_last_step",
    "sequence_mask",
    "sequence_pad",
    "sequence_pool",
    "sequence_reshape",
    "sequence_reverse",
    "sequence_scatter",
    "sequence_slice",
    "sequence_softmax",
    "sequence_unpad",
    "shape",
    "shard_index",
    "shuffle_channel",
    "sigmoid",
    "sigmoid_cross_entropy_with_logits",
    "sigmoid_focal_loss",
    "sign",
    "similarity_focus",
    "sin",
    "size",
    "slice",
    "smooth_l1",
    "soft_relu",
    "softmax",
    "softmax_with_cross_entropy",
    "softplus",
    "softshrink",
    "softsign",
    "space_to_depth",
    "spectral_norm",
    "split",
    "sqrt",
    "square",
    "square_error_cost",
    "squeeze",
    "ssd_loss",
    "stack",
    "stanh",
    "strided_slice",
    "sum",
    "sums",
    "swish",
    "switch_case",
    "t",
    "tanh",
    "tanh_shrink",
    "target_assign",
    "teacher_student_sigmoid_loss",
    "temporal_shift",
    "tensor_array_to_tensor",
    "thresholded_relu",
    "topk",
    "trace",
    "transpose",
    "tril",
    "triu",
    "unfold",
    "uniform_random",
    "uniform_random_batch_size_like",
    "unique",
    "unique_with_counts",
    "unsqueeze",
    "unstack",
    "warpctc",
    "where",
    "while_loop",
    "yolo_box",
    "yolov3_loss",
    "zeros",
    "zeros_like",
]

def Print(input: Variable, first_n: int = -1, message: str | None = None, summarize: int = 20, print_tensor_name: bool = True, print_tensor_type: bool = True, print_tensor_shape: bool = True, print_tensor_lod: bool = True, print_phase: str = 'both') -> Variable:
    """A variable that is printed whenever it is computed."""

def abs(x: Variable, name: str | None = None) -> Variable:
    """``x`` without its sign, for each element: ``|x|``; the distance from 0 of complex numbers."""

def accuracy(input: Variable, label: Variable, k: int = 1, correct: Variable | None = None, total: Variable | None = None) -> Variable:
    """The share of rows whose label is among the ``k`` classes with the largest scores."""

def acos(x: Variable, name: str | None = None) -> Variable:
    """The angle in [0, pi] whose cosine is ``x``."""

def add_position_encoding(input: Variable, alpha: float, beta: float, name: str | None = None) -> Variable:
    """``alpha * input``, plus ``beta`` times sines and cosines of the position, from slow to fast."""

def addcmul(input: Variable, tensor1: Variable, tensor2: Variable, value: float = 1.0, out: Variable | None = None, name: str | None = None) -> Variable:
    """``input + value * tensor1 * tensor2``, for each element."""

def addmm(input: Variable, x: Variable, y: Variable, alpha: float = 1.0, beta: float = 1.0, name: str | None = None) -> Variable:
    """``alpha`` times the product of two matrices, plus ``beta`` times a third one: ``alpha x y + beta input``."""

def affine_channel(x: Variable, scale: Variable | None = None, bias: Variable | None = None, data_layout: str = 'NCHW', name: str | None = None, act: str | None = None) -> Variable:
    """``x * scale + bias``, for each channel: what is left of a batch norm that does not learn."""

def affine_grid(theta: Variable, out_shape: int | Sequence[int] | Variable, name: str | None = None) -> Variable:
    """Where each element of an image comes from under the map ``theta`` of the plane: ``out[n, i, j] = theta[n] (x, y, 1)``."""

def allclose(input: Variable, other: Variable, rtol: float | Variable = 1e-05, atol: float | Variable = 1e-08, equal_nan: bool = False, name: str | None = None) -> Variable:
    """Whether ``|input - other| <= atol + rtol * |other|`` everywhere."""

def anchor_generator(input: Variable, anchor_sizes: Floats | None = None, aspect_ratios: Floats | None = None, variance: Sequence[float] = [0.1, 0.1, 0.2, 0.2], stride: Sequence[float] | None = None, offset: float = 0.5, name: str | None = None) -> tuple[Variable, Variable]:
    """Boxes of some sizes and ratios around each place of ``input``, in pixels."""

def arange(start: float | Variable, end: float | Variable, step: float | Variable = 1, dtype: DTypeLike = None, name: str | None = None) -> Variable:
    """``start``, ``start + step``, ``start + 2 * step``, ... as long as they lie before ``end``."""

def argmax(x: Variable, axis: int = 0) -> Variable:
    """The place of the largest element of ``x`` along ``axis``."""

def argmin(x: Variable, axis: int = 0) -> Variable:
    """The place of the smallest element of ``x`` along ``axis``."""

def argsort(input: Variable, axis: int = -1, descending: bool = False, name: str | None = None) -> tuple[Variable, Variable]:
    """The elements of ``input`` in ascending order along ``axis``, and their places."""

def asin(x: Variable, name: str | None = None) -> Variable:
    """The angle in [-pi/2, pi/2] whose sine is ``x``."""

def atan(x: Variable, name: str | None = None) -> Variable:
    """The angle in (-pi/2, pi/2) whose tangent is ``x``."""

def batch_norm(input: Variable, act: str | None = None, is_test: bool = False, momentum: float = 0.9, epsilon: float = 1e-05, param_attr: Attr = None, bias_attr: Attr = None, data_layout: str = 'NCHW', in_place: bool = False, name: str | None = None, moving_mean_name: str | None = None, moving_variance_name: str | None = None, do_model_average_for_mean_and_var: bool = True, use_global_stats: bool = False) -> Variable:
    """``scale * (input - mean) / sqrt(variance + epsilon) + bias``, for each channel."""

def bilinear_tensor_product(x: Variable, y: Variable, size: int, act: str | None = None, name: str | None = None, param_attr: Attr = None, bias_attr: Attr = None) -> Variable:
    """``size`` products of rows of ``x``, learned matrices, and rows of ``y``, plus a bias."""

def bipartite_match(dist_matrix: Variable, match_type: str | None = None, dist_threshold: float | None = None, name: str | None = None) -> tuple[Variable, Variable]:
    """The row that each column is matched with."""

def bmm(x: Variable, y: Variable, name: str | None = None) -> Variable:
    """The products of pairs of matrices: ``out[i] = x[i] y[i]``."""

def box_clip(input: Variable, im_info: Variable, name: str | None = None) -> Variable:
    """``input`` with all corners moved into the image."""

def box_coder(prior_box: Variable, prior_box_var: Variable | Sequence[float] | None, target_box: Variable, code_type: str = 'encode_center_size', box_normalized: bool = True, name: str | None = None, axis: int = 0) -> Variable:
    """Boxes relative to prior boxes: centres by sizes, sizes by logarithms; or back."""

def box_decoder_and_assign(prior_box: Variable, prior_box_var: Variable | None, target_box: Variable, box_score: Variable, box_clip: float, name: str | None = None) -> tuple[Variable, Variable]:
    """A box for each class, and that of the class with the best score."""

def bpr_loss(input: Variable, label: Variable, name: str | None = None) -> Variable:
    """Bayesian personalised ranking, the logistic losses of the right class against all others: the mean of ``log(1 + e^(input[j] - input[label]))`` over all j but ``label``."""

def brelu(x: Variable, t_min: float = 0.0, t_max: float = 24.0, name: str | None = None) -> Variable:
    """``min(max(t_min, x), t_max)``, for each element."""

def ceil(x: Variable, name: str | None = None) -> Variable:
    """The smallest integer that is not below ``x``."""

def chunk_eval(input: Variable, label: Variable, chunk_scheme: str, num_chunk_types: int, excluded_chunk_types: Sequence[int] | None = None, seq_length: Variable | None = None) -> tuple[Variable, Variable, Variable, Variable, Variable, Variable]:
    """How many of the chunks that tags make are right: begin, end and are of a type as labelled."""

def clamp(input: Variable, min: float | Variable | None = None, max: float | Variable | None = None, output: Variable | None = None, name: str | None = None) -> Variable:
    """``input`` where it lies within bounds, else the bound, for each element."""

def clip_by_norm(x: Variable, max_norm: float, name: str | None = None) -> Variable:
    """``x``, scaled to the Euclidean norm ``max_norm`` where its own is larger."""

def collect_fpn_proposals(multi_rois: Sequence[Variable], multi_scores: Sequence[Variable], min_level: int, max_level: int, post_nms_top_n: int, name: str | None = None) -> Variable:
    """Of the regions of all levels of a pyramid those with the best scores."""

def continuous_value_model(input: Variable, cvm: Variable, use_cvm: bool = True) -> Variable:
    """Features with logarithms of their counts of shows and clicks, or without the counts."""

def conv2d(input: Variable, num_filters: int, filter_size: Numbers, stride: Numbers = 1, padding: Padding = 0, dilation: Numbers = 1, groups: int | None = None, param_attr: Attr = None, bias_attr: Attr = None, use_cudnn: bool = True, act: str | None = None, name: str | None = None, data_format: str = 'NCHW') -> Variable:
    """Images convolved with filters, plus a bias."""

def conv2d_transpose(input: Variable, num_filters: int, output_size: Numbers | None = None, filter_size: Numbers | None = None, padding: Padding = 0, stride: Numbers = 1, dilation: Numbers = 1, groups: int | None = None, param_attr: Attr = None, bias_attr: Attr = None, use_cudnn: bool = True, act: str | None = None, name: str | None = None, data_format: str = 'NCHW') -> Variable:
    """The map that takes gradients of a convolution's output back to its input, plus a bias."""

def conv3d(input: Variable, num_filters: int, filter_size: Numbers, stride: Numbers = 1, padding: Padding = 0, dilation: Numbers = 1, groups: int | None = None, param_attr: Attr = None, bias_attr: Attr = None, use_cudnn: bool = True, act: str | None = None, name: str | None = None, data_format: str = 'NCDHW') -> Variable:
    """Volumes convolved with filters, plus a bias."""

def conv3d_transpose(input: Variable, num_filters: int, output_size: Numbers | None = None, filter_size: Numbers | None = None, padding: Padding = 0, stride: Numbers = 1, dilation: Numbers = 1, groups: int | None = None, param_attr: Attr = None, bias_attr: Attr = None, use_cudnn: bool = True, act: str | None = None, name: str | None = None, data_format: str = 'NCDHW') -> Variable:
    """The map that takes gradients of a convolution's output back to its input, plus a bias."""

def cos(x: Variable, name: str | None = None) -> Variable:
    """The cosine of ``x``, for each element."""

def cos_sim(X: Variable, Y: Variable) -> Variable:
    """The cosine of the angle between each row of ``X`` and that of ``Y``."""

def crf_decoding(input: Variable, param_attr: Attr, label: Variable | None = None, length: Variable | None = None) -> Variable:
    """The likeliest chain of labels of a conditional random field; with ``label``, 1 where it has that label and 0 elsewhere."""

def crop_tensor(x: Variable, shape: Given | None = None, offsets: Given | None = None, name: str | None = None) -> Variable:
    """The part of a variable that has a given shape."""

def cross(input: Variable, other: Variable, dim: int | None = None) -> Variable:
    """The vector products of ``input`` and ``other`` along ``dim``."""

def cumsum(x: Variable, axis: int | None = None, exclusive: bool | None = None, reverse: bool | None = None) -> Variable:
    """The sums of ``x`` up to each element, along ``axis``."""

def data_norm(input: Variable, act: str | None = None, epsilon: float = 1e-05, param_attr: Mapping[str, float] | None = None, data_layout: str = 'NCHW', in_place: bool = False, name: str | None = None, moving_mean_name: str | None = None, moving_variance_name: str | None = None, do_model_average_for_mean_and_var: bool = True, slot_dim: int = -1, sync_stats: bool = False, summary_decay_rate: float = 0.9999999, enable_scale_and_shift: bool = False) -> Variable:
    """``(input - mean) * scale``, for each channel, by sums over all data that were counted so far."""

def deformable_conv(input: Variable, offset: Variable, mask: Variable | None, num_filters: int, filter_size: int | Sequence[int], stride: int | Sequence[int] = 1, padding: int | Sequence[int] = 0, dilation: int | Sequence[int] = 1, groups: int | None = None, deformable_groups: int | None = None, im2col_step: int | None = None, param_attr: Attr = None, bias_attr: Attr = None, modulated: bool | None = True, name: str | None = None) -> Variable:
    """Images convolved with filters whose elements are moved, and weighted, plus a bias."""

def deformable_roi_pooling(input: Variable, rois: Variable, trans: Variable, no_trans: bool = False, spatial_scale: float = 1.0, group_size: Sequence[int] = [1, 1], pooled_height: int = 1, pooled_width: int = 1, part_size: Sequence[int] | None = None, sample_per_part: int = 1, trans_std: float = 0.1, position_sensitive: bool = False, name: str | None = None) -> Variable:
    """For each region the means of points in its parts, which are moved."""

def density_prior_box(input: Variable, image: Variable, densities: Sequence[int] | None = None, fixed_sizes: Sequence[float] | None = None, fixed_ratios: Sequence[float] | None = None, variance: Sequence[float] = [0.1, 0.1, 0.2, 0.2], clip: bool = False, steps: Sequence[float] = [0.0, 0.0], offset: float = 0.5, flatten_to_2d: bool = False, name: str | None = None) -> tuple[Variable, Variable]:
    """Boxes of some sizes and ratios around points close to each place of ``input``."""

def dist(x: Variable, y: Variable, p: float = 2) -> Variable:
    """The length of ``x`` - ``y``: the sum of ``|x - y|^p``, to the power of ``1 / p``."""

def distribute_fpn_proposals(fpn_rois: Variable, min_level: int, max_level: int, refer_level: int, refer_scale: int, name: str | None = None) -> tuple[list[Variable], Variable]:
    """The regions of each level of a pyramid, by their sizes: ``refer_level + log2(size / scale)``."""

def dot(x: Variable, y: Variable, name: str | None = None) -> Variable:
    """The inner products of pairs of vectors: the sum of ``x * y`` over the last dimension, which stays with size 1."""

def dropout(x: Variable, dropout_prob: float, is_test: bool = False, seed: int | None = None, name: str | None = None, dropout_implementation: str = 'downgrade_in_infer') -> Variable:
    """``x`` with each element set to 0 with probability ``dropout_prob``."""

def dynamic_gru(input: Variable, size: int, param_attr: Attr = None, bias_attr: Attr = None, is_reverse: bool = False, gate_activation: str = 'sigmoid', candidate_activation: str = 'tanh', h_0: Variable | None = None, origin_mode: bool = False) -> Variable:
    """A gated recurrent unit over sequences of several lengths."""

def dynamic_lstm(input: Variable, size: int, h_0: Variable | None = None, c_0: Variable | None = None, param_attr: Attr = None, bias_attr: Attr = None, use_peepholes: bool = True, is_reverse: bool = False, gate_activation: str = 'sigmoid', cell_activation: str = 'tanh', candidate_activation: str = 'tanh', dtype: DTypeLike = 'float32', name: str | None = None) -> tuple[Variable, Variable]:
    """A long short-term memory over sequences of several lengths."""

def dynamic_lstmp(input: Variable, size: int, proj_size: int, param_attr: Attr = None, bias_attr: Attr = None, use_peepholes: bool = True, is_reverse: bool = False, gate_activation: str = 'sigmoid', cell_activation: str = 'tanh', candidate_activation: str = 'tanh', proj_activation: str = 'tanh', dtype: DTypeLike = 'float32', name: str | None = None, h_0: Variable | None = None, c_0: Variable | None = None, cell_clip: float | None = None, proj_clip: float | None = None) -> tuple[Variable, Variable]:
    """A long short-term memory whose state is projected before it is fed back, over sequences of several lengths."""

def elementwise_add(x: Variable, y: Variable, axis: int = -1, act: str | None = None, name: str | None = None) -> Variable:
    """``x + y``, for each element."""

def elementwise_div(x: Variable, y: Variable, axis: int = -1, act: str | None = None, name: str | None = None) -> Variable:
    """``x / y``, for each element, rounded towards zero for integers."""

def elementwise_equal(x: Variable, y: Variable, name: str | None = None) -> Variable:
    """Whether ``x`` equals ``y``, for each element."""

def elementwise_floordiv(x: Variable, y: Variable, axis: int = -1, act: str | None = None, name: str | None = None) -> Variable:
    """``x / y`` of integers, rounded towards zero, for each element."""

def elementwise_max(x: Variable, y: Variable, axis: int = -1, act: str | None = None, name: str | None = None) -> Variable:
    """The larger of ``x`` and ``y``, for each element; where they are equal the gradient goes to ``y``."""

def elementwise_min(x: Variable, y: Variable, axis: int = -1, act: str | None = None, name: str | None = None) -> Variable:
    """The smaller of ``x`` and ``y``, for each element; where they are equal the gradient goes to ``y``."""

def elementwise_mod(x: Variable, y: Variable, axis: int = -1, act: str | None = None, name: str | None = None) -> Variable:
    """The remainder of ``x / y``, with the sign of ``x`` for integers and that of ``y`` for floats."""

def elementwise_mul(x: Variable, y: Variable, axis: int = -1, act: str | None = None, name: str | None = None) -> Variable:
    """``x * y``, for each element."""

def elementwise_pow(x: Variable, y: Variable, axis: int = -1, act: str | None = None, name: str | None = None) -> Variable:
    """``x`` to the power of ``y``, rounded towards zero for integers."""

def elementwise_sub(x: Variable, y: Variable, axis: int = -1, act: str | None = None, name: str | None = None) -> Variable:
    """``x - y``, for each element."""

def elu(x: Variable, alpha: float = 1.0, name: str | None = None) -> Variable:
    """``x`` where it is positive, else ``alpha * (exp(x) - 1)`` (Clevert et al., Fast and accurate deep network learning by exponential linear units, ICLR 2016)."""

def embedding(input: Variable, size: Sequence[int], is_sparse: bool = False, is_distributed: bool = False, padding_idx: int | None = None, param_attr: Attr = None, dtype: DTypeLike = 'float32') -> Variable:
    """The rows of a table of weights that ids select."""

def equal(x: Variable, y: Variable, cond: Variable | None = None) -> Variable:
    """Whether ``x`` equals ``y``, for each element."""

def erf(x: Variable) -> Variable:
    """The error function: ``2 / sqrt(pi)`` times the integral of ``exp(-t^2)`` from 0 to ``x``."""

def exp(x: Variable, name: str | None = None) -> Variable:
    """``exp(x)``, for each element; of int32 and int64 what is before the point, and beyond their range the least."""

def expand(x: Variable, expand_times: Given, name: str | None = None) -> Variable:
    """``x`` repeated ``expand_times[i]`` times along each dimension i."""

def expand_as(x: Variable, target_tensor: Variable, name: str | None = None) -> Variable:
    """``x`` repeated along each dimension until it has the shape of ``target_tensor``."""

def fill_constant_batch_size_like(input: Variable, shape: int | Sequence[int], dtype: DTypeLike, value: float, input_dim_idx: int = 0, output_dim_idx: int = 0, force_cpu: bool = False) -> Variable:
    """``value``, everywhere, in ``shape`` but for one size that is ``input``'s."""

def flip(input: Variable, dims: int | Sequence[int], name: str | None = None) -> Variable:
    """``input`` with its elements in reverse order along each dimension of ``dims``."""

def floor(x: Variable, name: str | None = None) -> Variable:
    """The largest integer that is not above ``x``."""

def fsp_matrix(x: Variable, y: Variable) -> Variable:
    """The flow between two layers of a net, how channels of two feature maps go together: ``out[n, i, j]`` is the mean of ``x[n, i] y[n, j]`` over all pixels."""

def full(shape: Given, fill_value: float | Variable, out: Variable | None = None, dtype: DTypeLike = None, device: str | None = None, stop_gradient: bool = True, name: str | None = None) -> Variable:
    """One number everywhere."""

def full_like(input: Variable, fill_value: float, out: Variable | None = None, dtype: DTypeLike = None, device: str | None = None, stop_gradient: bool = True, name: str | None = None) -> Variable:
    """One number everywhere, in the shape of ``input``."""

def gather(input: Variable, index: Variable, overwrite: bool = True) -> Variable:
    """The rows of ``input`` that ``index`` names: ``out[i] = input[index[i]]``."""

def gather_nd(input: Variable, index: Variable, name: str | None = None) -> Variable:
    """The elements, or slices, of ``input`` at the places that ``index`` names: ``out[i] = input[index[i, 0], index[i, 1], ...]`` for all i, which may be several indices."""

def gather_tree(ids: Variable, parents: Variable) -> Variable:
    """Whole paths of a beam search: at each step the token from which the rest of the path was reached."""

def gaussian_random(shape: Given, mean: float = 0.0, std: float = 1.0, seed: int = 0, dtype: DTypeLike = 'float32') -> Variable:
    """Normally distributed numbers."""

def gaussian_random_batch_size_like(input: Variable, shape: int | Sequence[int], input_dim_idx: int = 0, output_dim_idx: int = 0, mean: float = 0.0, std: float = 1.0, seed: int = 0, dtype: DTypeLike = 'float32') -> Variable:
    """Normally distributed numbers, one size being ``input``'s."""

def gelu(x: Variable, approximate: bool = False) -> Variable:
    """``x`` times the probability that a normal variable lies below ``x`` (Hendrycks and Gimpel, Gaussian error linear units, arXiv 1606.08415)."""

def generate_mask_labels(im_info: Variable, gt_classes: Variable, is_crowd: Variable, gt_segms: Variable, rois: Variable, labels_int32: Variable, num_classes: int, resolution: int) -> tuple[Variable, Variable, Variable]:
    """The regions of objects, and the masks of these."""

def generate_proposal_labels(rpn_rois: Variable, gt_classes: Variable, is_crowd: Variable, gt_boxes: Variable, im_info: Variable, batch_size_per_im: int = 256, fg_fraction: float = 0.25, fg_thresh: float = 0.25, bg_thresh_hi: float = 0.5, bg_thresh_lo: float = 0.0, bbox_reg_weights: Sequence[float] = [0.1, 0.1, 0.2, 0.2], class_nums: int | None = None, use_random: bool = True, is_cls_agnostic: bool = False, is_cascade_rcnn: bool = False) -> tuple[Variable, Variable, Variable, Variable, Variable]:
    """Regions to learn from, with their classes and true boxes."""

def generate_proposals(scores: Variable, bbox_deltas: Variable, im_info: Variable, anchors: Variable, variances: Variable, pre_nms_top_n: int = 6000, post_nms_top_n: int = 1000, nms_thresh: float = 0.5, min_size: float = 0.1, eta: float = 1.0, name: str | None = None, return_rois_num: bool = False) -> tuple[Variable, ...]:
    """The regions with the best scores, of which none overlap too much."""

def get_tensor_from_selected_rows(x: Variable, name: str | None = None) -> Variable:
    """The rows of ``x`` that are stored, one after the other; all rows of a whole tensor."""

def greater_equal(x: Variable, y: Variable, cond: Variable | None = None) -> Variable:
    """Whether ``x`` is not below ``y``, for each element."""

def greater_than(x: Variable, y: Variable, cond: Variable | None = None) -> Variable:
    """Whether ``x`` is above ``y``, for each element."""

def grid_sampler(x: Variable, grid: Variable, name: str | None = None) -> Variable:
    """The values of ``x`` at the points of ``grid``."""

def group_norm(input: Variable, groups: int, epsilon: float = 1e-05, param_attr: Attr = None, bias_attr: Attr = None, act: str | None = None, data_layout: str = 'NCHW', name: str | None = None) -> Variable:
    """``(input - mean) / sqrt(variance + epsilon)`` for each group of channels of each sample."""

def gru_unit(input: Variable, hidden: Variable, size: int, param_attr: Attr = None, bias_attr: Attr = None, activation: str = 'tanh', gate_activation: str = 'sigmoid', origin_mode: bool = False) -> tuple[Variable, Variable, Variable]:
    """One step of a gated recurrent unit: the next state from the input and the previous state."""

def hard_shrink(x: Variable, threshold: float | None = None) -> Variable:
    """``x`` where it lies outside of [-threshold, threshold], else 0."""

def hard_sigmoid(x: Variable, slope: float = 0.2, offset: float = 0.5, name: str | None = None) -> Variable:
    """``slope * x + offset`` within [0, 1], for each element."""

def hard_swish(x: Variable, threshold: float = 6.0, scale: float = 6.0, offset: float = 3.0, name: str | None = None) -> Variable:
    """``x * min(max(0, x + offset), threshold) / scale``, for each element (Howard et al., Searching for MobileNetV3, ICCV 2019)."""

def has_inf(x: Variable) -> Variable:
    """Whether an element of ``x`` is infinite."""

def has_nan(x: Variable) -> Variable:
    """Whether an element of ``x`` is not a number."""

def hash(input: Variable, hash_size: int, num_hash: int = 1, name: str | None = None) -> Variable:
    """Numbers below ``hash_size`` that stand for rows of integers: ``out[n, i, 0]`` is the hash of row n of ``input`` with the seed i."""

def hsigmoid(input: Variable, label: Variable, num_classes: int, param_attr: Attr = None, bias_attr: Attr = None, name: str | None = None, path_table: Variable | None = None, path_code: Variable | None = None, is_custom: bool = False, is_sparse: bool = False) -> Variable:
    """The loss of the turns on the way to the right leaf of a tree of classes."""

def huber_loss(input: Variable, label: Variable, delta: float) -> Variable:
    """Half the square of small differences, and a line beyond: ``Residual^2 / 2`` where ``|Residual| <= delta``, and ``delta (|Residual| - delta / 2)`` beyond."""

def index_sample(x: Variable, index: Variable) -> Variable:
    """The elements of each row of ``x`` that ``index`` names: ``out[i, j] = x[i, index[i, j]]``."""

def index_select(input: Variable, index: Variable, dim: int = 0) -> Variable:
    """The slices of ``input`` along ``dim`` that ``index`` names."""

def inplace_abn(input: Variable, act: str | None = None, is_test: bool = False, momentum: float = 0.9, epsilon: float = 1e-05, param_attr: Attr = None, bias_attr: Attr = None, data_layout: str = 'NCHW', name: str | None = None, moving_mean_name: str | None = None, moving_variance_name: str | None = None, do_model_average_for_mean_and_var: bool = True, use_global_stats: bool = False, act_alpha: float = 1.0) -> Variable:
    """``input`` normalised by ``batch_norm`` and activated, in its own variable."""

def instance_norm(input: Variable, epsilon: float = 1e-05, param_attr: Attr = None, bias_attr: Attr = None, name: str | None = None) -> Variable:
    """``scale * (input - mean) / sqrt(variance + epsilon) + bias``, for each image of a channel."""

def iou_similarity(x: Variable, y: Variable, box_normalized: bool = True, name: str | None = None) -> Variable:
    """The intersection over the union of each box of ``x`` with each of ``y``."""

def is_empty(x: Variable, cond: Variable | None = None) -> Variable:
    """Whether ``x`` has no elements."""

def isfinite(x: Variable) -> Variable:
    """Whether all elements of ``x`` are finite numbers."""

def kldiv_loss(x: Variable, target: Variable, reduction: str = 'mean', name: str | None = None) -> Variable:
    """The relative entropy of a distribution to another: ``target (log(target) - x)``, and 0 where ``target`` is not above 0."""

def kron(x: Variable, y: Variable, out: Variable | None = None, name: str | None = None) -> Variable:
    """The Kronecker product: ``x`` with each element replaced by its product with ``y``."""

def label_smooth(label: Variable, prior_dist: Variable | None = None, epsilon: float = 0.1, dtype: DTypeLike = 'float32', name: str | None = None) -> Variable:
    """Probabilities mixed with those of a prior: ``(1 - epsilon) * label + epsilon * prior_dist``."""

def layer_norm(input: Variable, scale: bool = True, shift: bool = True, begin_norm_axis: int = 1, epsilon: float = 1e-05, param_attr: Attr = None, bias_attr: Attr = None, act: str | None = None, name: str | None = None) -> Variable:
    """``(input - mean) / sqrt(variance + epsilon)`` for each row, times a scale, plus a bias."""

def less_equal(x: Variable, y: Variable, cond: Variable | None = None) -> Variable:
    """Whether ``x`` is not above ``y``, for each element."""

def less_than(x: Variable, y: Variable, force_cpu: bool | None = None, cond: Variable | None = None) -> Variable:
    """Whether ``x`` is below ``y``, for each element."""

def linear_chain_crf(input: Variable, label: Variable, param_attr: Attr = None, length: Variable | None = None) -> Variable:
    """The cost of a conditional random field: minus the logarithm of how likely the given labels are among all chains of labels."""

def locality_aware_nms(bboxes: Variable, scores: Variable, score_threshold: float, nms_top_k: int, keep_top_k: int, nms_threshold: float = 0.3, normalized: bool = True, nms_eta: float = 1.0, background_label: int = -1, name: str | None = None) -> Variable:
    """What multiclass_nms gives, of neighbours in ``bboxes`` that were merged before."""

def log(x: Variable, name: str | None = None) -> Variable:
    """The natural logarithm of ``x``, for each element."""

def log1p(x: Variable, out: Variable | None = None, name: str | None = None) -> Variable:
    """The natural logarithm of ``1 + x``, exact for small ``x``, for each element."""

def log_loss(input: Variable, label: Variable, epsilon: float = 0.0001, name: str | None = None) -> Variable:
    """Minus the logarithm of the probability of the right one of two classes: ``-label log(input + epsilon) - (1 - label) log(1 - input + epsilon)``."""

def log_softmax(input: Variable, axis: int | None = None, dtype: DTypeLike = None, name: str | None = None) -> Variable:
    """The logarithm of the softmax of ``input`` along ``axis``."""

def logical_and(x: Variable, y: Variable, out: Variable | None = None, name: str | None = None) -> Variable:
    """Whether ``x`` and ``y`` are both true, for each element."""

def logical_not(x: Variable, out: Variable | None = None, name: str | None = None) -> Variable:
    """Whether ``x`` is not true, for each element."""

def logical_or(x: Variable, y: Variable, out: Variable | None = None, name: str | None = None) -> Variable:
    """Whether ``x`` or ``y`` or both are true, for each element."""

def logical_xor(x: Variable, y: Variable, out: Variable | None = None, name: str | None = None) -> Variable:
    """Whether one of ``x`` and ``y`` is true and the other is not, for each element."""

def logsigmoid(x: Variable, name: str | None = None) -> Variable:
    """``-log(1 + exp(-x))``, for each element."""

def logsumexp(x: Variable, dim: Dims = None, keepdim: bool = False, out: Variable | None = None, name: str | None = None) -> Variable:
    """The logarithm of the sum of exponentials over some dimensions, or over all of them."""

def lrn(input: Variable, n: int = 5, k: float = 1.0, alpha: float = 0.0001, beta: float = 0.75, name: str | None = None, data_format: str = 'NCHW') -> Variable:
    """``input`` over a power of the squares of its neighbours in other channels."""

def lstm(input: Variable, init_h: Variable, init_c: Variable, max_len: int, hidden_size: int, num_layers: int, dropout_prob: float = 0.0, is_bidirec: bool = False, is_test: bool = False, name: str | None = None, default_initializer: Initializer | None = None, seed: int = -1) -> tuple[Variable, Variable, Variable]:
    """Several layers of long short-term memories over sequences of one length."""

def lstm_unit(x_t: Variable, hidden_t_prev: Variable, cell_t_prev: Variable, forget_bias: float = 0.0, param_attr: Attr = None, bias_attr: Attr = None, name: str | None = None) -> tuple[Variable, Variable]:
    """One step of a long short-term memory: ``c = f * c + i * g``, ``h = o * tanh(c)``."""

def margin_rank_loss(label: Variable, left: Variable, right: Variable, margin: float = 0.1, name: str | None = None) -> Variable:
    """By how much two scores miss their order and a margin: ``max(0, margin - label * (left - right))``."""

def matmul(x: Variable, y: Variable, transpose_x: bool = False, transpose_y: bool = False, alpha: float = 1.0, name: str | None = None) -> Variable:
    """``alpha x y``, the product of the matrices in the last two dimensions of ``x`` and ``y``."""

def maxout(x: Variable, groups: int, name: str | None = None, axis: int = 1) -> Variable:
    """The largest of each ``groups`` neighbouring channels (Goodfellow et al., Maxout networks, ICML 2013)."""

def mean(x: Variable, name: str | None = None) -> Variable:
    """The mean of all elements of ``x``, of shape [1]."""

def mean_iou(input: Variable, label: Variable, num_classes: int) -> tuple[Variable, Variable, Variable]:
    """The mean over all classes that occur of what two segmentations share of a class."""

def merge_selected_rows(x: Variable, name: str | None = None) -> Variable:
    """``x`` with every row stored once: in ascending order, or as in ``x`` where none is twice."""

def meshgrid(input: Variable | Sequence[Variable], name: str | None = None) -> list[Variable]:
    """The coordinates of all points of a grid: ``out[k]`` is ``input[k]`` along dimension k, repeated along the dimensions of the other ``input``."""

def mish(x: Variable, threshold: float = 20, name: str | None = None) -> Variable:
    """``x * tanh(log(1 + exp(x)))``, for each element (Misra, Mish: a self regularized non-monotonic activation function, BMVC 2020)."""

def mul(x: Variable, y: Variable, x_num_col_dims: int = 1, y_num_col_dims: int = 1, name: str | None = None) -> Variable:
    """The product of the two matrices that ``x`` and ``y`` are flattened to."""

def multiclass_nms(bboxes: Variable, scores: Variable, score_threshold: float, nms_top_k: int, keep_top_k: int, nms_threshold: float = 0.3, normalized: bool = True, nms_eta: float = 1.0, background_label: int = 0, name: str | None = None) -> Variable:
    """The boxes of ``bboxes`` that no better one of their class overlaps too much, with class and score."""

def multiplex(inputs: Variable | Sequence[Variable], index: Variable) -> Variable:
    """Each row from one of several tensors: ``out[i] = inputs[index[i, 0]][i]``."""

def nce(input: Variable, label: Variable, num_total_classes: int, sample_weight: Variable | None = None, param_attr: Attr = None, bias_attr: Attr = None, num_neg_samples: int | None = None, name: str | None = None, sampler: str = 'uniform', custom_dist: Sequence[float] | None = None, seed: int = 0, is_sparse: bool = False) -> Variable:
    """Noise-contrastive estimation: the loss of telling right classes from random ones."""

def not_equal(x: Variable, y: Variable, cond: Variable | None = None) -> Variable:
    """Whether ``x`` and ``y`` differ, for each element."""

def one_hot(input: Variable, depth: int | Variable, allow_out_of_range: bool = False) -> Variable:
    """A vector with a 1 at the place of each id and 0 elsewhere."""

def ones_like(x: Variable, out: Variable | None = None) -> Variable:
    """1 everywhere, in the shape of ``x``."""

def pad(x: Variable, paddings: int | Sequence[int], pad_value: float = 0.0, name: str | None = None) -> Variable:
    """``x`` with ``pad_value`` before and after its elements along each dimension."""

def pad2d(input: Variable, paddings: Sequence[int] | Variable = [0, 0, 0, 0], mode: str = 'constant', pad_value: float = 0.0, data_format: str = 'NCHW', name: str | None = None) -> Variable:
    """Images with room around them."""

def pad_constant_like(x: Variable, y: Variable, pad_value: float = 0.0, name: str | None = None) -> Variable:
    """``y`` with ``pad_value`` behind its elements until it has the shape of ``x``."""

def pixel_shuffle(x: Variable, upscale_factor: int) -> Variable:
    """Larger images of fewer channels: each square of channels is spread over a square of places."""

def polygon_box_transform(input: Variable, name: str | None = None) -> Variable:
    """The corners of quadrangles, from how far they are from each place of a map."""

def pool2d(input: Variable, pool_size: Numbers = -1, pool_type: str = 'max', pool_stride: Numbers = 1, pool_padding: Padding = 0, global_pooling: bool = False, use_cudnn: bool = True, ceil_mode: bool = False, name: str | None = None, exclusive: bool = True, data_format: str = 'NCHW') -> Variable:
    """The maximum or mean of the images within windows, channel by channel."""

def pool3d(input: Variable, pool_size: Numbers = -1, pool_type: str = 'max', pool_stride: Numbers = 1, pool_padding: Padding = 0, global_pooling: bool = False, use_cudnn: bool = True, ceil_mode: bool = False, name: str | None = None, exclusive: bool = True, data_format: str = 'NCDHW') -> Variable:
    """The maximum or mean of the volumes within windows, channel by channel."""

def pow(x: Variable, factor: float | Variable = 1.0, name: str | None = None) -> Variable:
    """``x`` to the power of ``factor``."""

def prior_box(input: Variable, image: Variable, min_sizes: Floats, max_sizes: Floats | None = None, aspect_ratios: Sequence[float] = [1.0], variance: Sequence[float] = [0.1, 0.1, 0.2, 0.2], flip: bool = False, clip: bool = False, steps: Sequence[float] = [0.0, 0.0], offset: float = 0.5, name: str | None = None, min_max_aspect_ratios_order: bool = False) -> tuple[Variable, Variable]:
    """Boxes of some sizes and aspect ratios around each place of ``input``."""

def prroi_pool(input: Variable, rois: Variable, spatial_scale: float = 1.0, pooled_height: int = 1, pooled_width: int = 1, batch_roi_nums: Variable | None = None, name: str | None = None) -> Variable:
    """For each region the means over its parts of ``input``, linear between its elements."""

def psroi_pool(input: Variable, rois: Variable, output_channels: int, spatial_scale: float, pooled_height: int, pooled_width: int, name: str | None = None) -> Variable:
    """For each region the means over its parts, each part of channels of its own."""

def randint(low: int, high: int | None = None, shape: Given | None = None, out: Variable | None = None, dtype: DTypeLike = None, device: str | None = None, stop_gradient: bool = False, seed: int = 0, name: str | None = None) -> Variable:
    """Integers that are equally likely everywhere in [low, high)."""

def randn(shape: Given, out: Variable | None = None, dtype: DTypeLike = None, device: str | None = None, stop_gradient: bool = True, name: str | None = None) -> Variable:
    """Normally distributed numbers of expectation 0 and standard deviation 1."""

def randperm(n: int, out: Variable | None = None, dtype: DTypeLike = 'int64', device: str | None = None, stop_gradient: bool = True, seed: int = 0) -> Variable:
    """The numbers 0, 1, ..., n - 1 in random order."""

def rank_loss(label: Variable, left: Variable, right: Variable, name: str | None = None) -> Variable:
    """The logistic loss of the order of two documents: ``log(1 + e^(left - right)) - label (left - right)``."""

def reciprocal(x: Variable, name: str | None = None) -> Variable:
    """``1 / x``, for each element."""

def reduce_all(input: Variable, dim: Dims = None, keep_dim: bool = False, name: str | None = None) -> Variable:
    """Whether ``input`` holds everywhere over ``dim``."""

def reduce_any(input: Variable, dim: Dims = None, keep_dim: bool = False, name: str | None = None) -> Variable:
    """Whether ``input`` holds somewhere over ``dim``."""

def reduce_max(input: Variable, dim: Dims = None, keep_dim: bool = False, name: str | None = None) -> Variable:
    """The largest element of ``input`` over ``dim``."""

def reduce_mean(input: Variable, dim: Dims = None, keep_dim: bool = False, name: str | None = None) -> Variable:
    """The mean of ``input`` over ``dim``, rounded towards zero for integers."""

def reduce_min(input: Variable, dim: Dims = None, keep_dim: bool = False, name: str | None = None) -> Variable:
    """The smallest element of ``input`` over ``dim``."""

def reduce_prod(input: Variable, dim: Dims = None, keep_dim: bool = False, name: str | None = None) -> Variable:
    """The product of ``input`` over ``dim``."""

def reduce_sum(input: Variable, dim: Dims = None, keep_dim: bool = False, name: str | None = None) -> Variable:
    """The sum of ``input`` over ``dim``."""

def relu(x: Variable, name: str | None = None) -> Variable:
    """``x`` where it is positive, else 0, for each element: ``max(x, 0)``."""

def relu6(x: Variable, threshold: float = 6.0, name: str | None = None) -> Variable:
    """``min(max(0, x), threshold)``, for each element."""

def reshape(x: Variable, shape: Given, actual_shape: Variable | None = None, act: str | None = None, inplace: bool = False, name: str | None = None) -> Variable:
    """The elements of ``x``, in their order, in another shape."""

def resize_bilinear(input: Variable, out_shape: Given | None = None, scale: float | Variable | None = None, name: str | None = None, actual_shape: Variable | None = None, align_corners: bool = True, align_mode: int = 1, data_format: str = 'NCHW') -> Variable:
    """Images in another size, linear between neighbours in both dimensions."""

def resize_nearest(input: Variable, out_shape: Given | None = None, scale: float | Variable | None = None, name: str | None = None, actual_shape: Variable | None = None, align_corners: bool = True, data_format: str = 'NCHW') -> Variable:
    """Images in another size, each element that of its nearest neighbour."""

def resize_trilinear(input: Variable, out_shape: Given | None = None, scale: float | Variable | None = None, name: str | None = None, actual_shape: Variable | None = None, align_corners: bool = True, align_mode: int = 1, data_format: str = 'NCDHW') -> Variable:
    """Volumes in another size, linear between neighbours in all three dimensions."""

def retinanet_detection_output(bboxes: Variable | Sequence[Variable], scores: Variable | Sequence[Variable], anchors: Variable | Sequence[Variable], im_info: Variable, score_threshold: float = 0.05, nms_top_k: int = 1000, keep_top_k: int = 100, nms_threshold: float = 0.3, nms_eta: float = 1.0) -> Variable:
    """The boxes of ``bboxes`` that no better one of their class overlaps too much, with class and score."""

def retinanet_target_assign(bbox_pred: Variable, cls_logits: Variable, anchor_box: Variable, anchor_var: Variable, gt_boxes: Variable, gt_labels: Variable, is_crowd: Variable, im_info: Variable, num_classes: int = 1, positive_overlap: float = 0.5, negative_overlap: float = 0.4) -> tuple[Variable, Variable, Variable, Variable, Variable, Variable]:
    """What anchors of RetinaNet are to become: a class, or background."""

def reverse(x: Variable, axis: int | Sequence[int]) -> Variable:
    """``x`` with its elements in reverse order along each dimension of ``axis``."""

def roi_align(input: Variable, rois: Variable, pooled_height: int = 1, pooled_width: int = 1, spatial_scale: float = 1.0, sampling_ratio: int = -1, name: str | None = None, rois_lod: Variable | None = None) -> Variable:
    """For each region the means of points between the elements of ``input``."""

def roi_perspective_transform(input: Variable, rois: Variable, transformed_height: int, transformed_width: int, spatial_scale: float = 1.0, name: str | None = None) -> tuple[Variable, Variable, Variable]:
    """Quadrangles of images, straightened to rectangles by perspective maps."""

def roi_pool(input: Variable, rois: Variable, pooled_height: int = 1, pooled_width: int = 1, spatial_scale: float = 1.0, rois_lod: Variable | None = None) -> Variable:
    """For each region the maxima over its parts."""

def round(x: Variable, name: str | None = None) -> Variable:
    """The integer nearest to ``x``; halves go away from zero."""

def row_conv(input: Variable, future_context_size: int, param_attr: Attr = None, act: str | None = None) -> Variable:
    """A look at the rows to come: their weighted sum, with a weight for each feature."""

def rpn_target_assign(bbox_pred: Variable, cls_logits: Variable, anchor_box: Variable, anchor_var: Variable, gt_boxes: Variable, is_crowd: Variable, im_info: Variable, rpn_batch_size_per_im: int = 256, rpn_straddle_thresh: float = 0.0, rpn_fg_fraction: float = 0.5, rpn_positive_overlap: float = 0.7, rpn_negative_overlap: float = 0.3, use_random: bool = True) -> tuple[Variable, Variable, Variable, Variable, Variable]:
    """What anchors of a region proposal network are to become: objects that are there, or not."""

def rsqrt(x: Variable, name: str | None = None) -> Variable:
    """One over the square root of ``x``, for each element: ``1 / sqrt(x)``."""

def sampled_softmax_with_cross_entropy(logits: Variable, label: Variable, num_samples: int, num_true: int = 1, remove_accidental_hits: bool = True, use_customized_samples: bool = False, customized_samples: Variable | None = None, customized_probabilities: Variable | None = None, seed: int = 0) -> Variable:
    """Cross entropy of the softmax over the right classes and some random ones."""

def sampling_id(x: Variable, min: float = 0.0, max: float = 1.0, seed: int = 0, dtype: DTypeLike = 'float32') -> Variable:
    """For each row of ``x`` a column, drawn with the probabilities that the row holds."""

def scale(x: Variable, scale: float | Variable = 1.0, bias: float = 0.0, bias_after_scale: bool = True, act: str | None = None, name: str | None = None) -> Variable:
    """``scale * x + bias``, for each element, computed in the element type of ``x``."""

def scatter(input: Variable, index: Variable, updates: Variable, name: str | None = None, overwrite: bool = True) -> Variable:
    """``input`` with the rows ``index`` replaced by ``updates``."""

def scatter_nd_add(ref: Variable, index: Variable, updates: Variable, name: str | None = None) -> Variable:
    """``ref`` with ``updates`` added at places that ``index`` names: ``updates[i]`` at ``ref[index[i, 0], index[i, 1], ...]`` for all i."""

def selu(x: Variable, scale: float | None = None, alpha: float | None = None, name: str | None = None) -> Variable:
    """``scale * x`` where ``x`` is positive, else ``scale * alpha * (exp(x) - 1)``."""

def sequence_concat(input: Variable | Sequence[Variable], name: str | None = None) -> Variable:
    """Sequences that hold the rows of the first sequences of all ``input``, of all second ones, and so on."""

def sequence_conv(input: Variable, num_filters: int, filter_size: int = 3, filter_stride: int = 1, padding: bool = True, padding_start: int | None = None, bias_attr: Attr = None, param_attr: Attr = None, act: str | None = None, name: str | None = None) -> Variable:
    """A convolution along each sequence, plus a bias; beyond a sequence's ends there are zeros."""

def sequence_enumerate(input: Variable, win_size: int, pad_value: int = 0, name: str | None = None) -> Variable:
    """The numbers of ``input`` from each one on, ``win_size`` of them; behind the end of a sequence ``pad_value``."""

def sequence_expand(x: Variable, y: Variable, ref_level: int = -1, name: str | None = None) -> Variable:
    """Each sequence of ``x``, as often as ``y`` has entries in the sequence of the same number."""

def sequence_expand_as(x: Variable, y: Variable, name: str | None = None) -> Variable:
    """Each row of ``x``, as often as the sequence of ``y`` of the same number has rows."""

def sequence_first_step(input: Variable) -> Variable:
    """The first row of each sequence."""

def sequence_last_step(input: Variable) -> Variable:
    """The last row of each sequence."""

def sequence_mask(x: Variable, maxlen: int | Variable | None = None, dtype: DTypeLike = 'int64', name: str | None = None) -> Variable:
    """1 where a position is below a length, else 0."""

def sequence_pad(x: Variable, pad_value: Variable, maxlen: int | None = None, name: str | None = None) -> tuple[Variable, Variable]:
    """Sequences made equally long, and how long they are."""

def sequence_pool(input: Variable, pool_type: str, is_test: bool = False, pad_value: float = 0.0) -> Variable:
    """One row for each sequence."""

def sequence_reshape(input: Variable, new_dim: int) -> Variable:
    """The numbers of each sequence of ``input`` in rows of another size."""

def sequence_reverse(x: Variable, name: str | None = None) -> Variable:
    """The rows of each sequence of ``x``, the last one first."""

def sequence_scatter(input: Variable, index: Variable, updates: Variable, name: str | None = None) -> Variable:
    """``input`` with each number of sequence i of ``updates`` added to row i, at the place in ``index``."""

def sequence_slice(input: Variable, offset: Variable, length: Variable, name: str | None = None) -> Variable:
    """Of each sequence i of ``input`` ``length[i]`` rows, from ``offset[i]`` on."""

def sequence_softmax(input: Variable, use_cudnn: bool = False, name: str | None = None) -> Variable:
    """``exp(input)`` over its sum in each sequence."""

def sequence_unpad(x: Variable, length: Variable, name: str | None = None) -> Variable:
    """The first rows of each ``x[i]``, as sequence i: ``length[i]`` of them."""

def shape(input: Variable) -> Variable:
    """The sizes of ``input`` along its dimensions, as they are when the program runs."""

def shard_index(input: Variable, index_num: int, nshards: int, shard_id: int, ignore_value: int = -1) -> Variable:
    """``input`` counted within its shard where it is in shard ``shard_id``, else ``ignore_value``."""

def shuffle_channel(x: Variable, group: int, name: str | None = None) -> Variable:
    """Images with their channels dealt out: the first of each group, then the second, and so on."""

def sigmoid(x: Variable, name: str | None = None) -> Variable:
    """``1 / (1 + exp(-x))``, for each element."""

def sigmoid_cross_entropy_with_logits(x: Variable, label: Variable, ignore_index: int = -100, name: str | None = None, normalize: bool = False) -> Variable:
    """``-label * log(p) - (1 - label) * log(1 - p)`` with ``p = sigmoid(x)``, for each element."""

def sigmoid_focal_loss(x: Variable, label: Variable, fg_num: Variable, gamma: float = 2.0, alpha: float = 0.25) -> Variable:
    """Cross entropy of independent classes in which examples that are easy weigh little: ``-alpha (1 - p)^gamma log(p)`` for the right class, ``-(1 - alpha) p^gamma log(1 - p)`` else."""

def similarity_focus(input: Variable, axis: int, indexes: int | Sequence[int], name: str | None = None) -> Variable:
    """1 at the rows and columns that the largest numbers of chosen slices of ``input`` lie in."""

def sin(x: Variable, name: str | None = None) -> Variable:
    """The sine of ``x``, for each element."""

def size(input: Variable) -> Variable:
    """The number of elements of ``input``, as it is when the program runs."""

def slice(input: Variable, axes: Sequence[int], starts: Given, ends: Given) -> Variable:
    """``input`` from ``starts`` to ``ends`` along ``axes``."""

def smooth_l1(x: Variable, y: Variable, inside_weight: Variable | None = None, outside_weight: Variable | None = None, sigma: float | None = None) -> Variable:
    """The sum over each row of a parabola of small differences, and a line beyond: of ``outside_weight h(Diff)``."""

def soft_relu(x: Variable, threshold: float = 40.0, name: str | None = None) -> Variable:
    """``log(1 + exp(y))`` for ``y``, which is ``x`` within [-threshold, threshold]."""

def softmax(input: Variable, use_cudnn: bool = False, name: str | None = None, axis: int = -1) -> Variable:
    """``exp(input) / sum(exp(input))`` along ``axis``, probabilities from logits, computed without overflow."""

def softplus(x: Variable, name: str | None = None) -> Variable:
    """``log(1 + exp(x))``, for each element."""

def softshrink(x: Variable, alpha: float | None = None) -> Variable:
    """``x`` moved towards 0 by ``alpha``, and 0 where it is closer than that."""

def softsign(x: Variable, name: str | None = None) -> Variable:
    """``x / (1 + |x|)``, for each element."""

def space_to_depth(x: Variable, blocksize: int, name: str | None = None) -> Variable:
    """Smaller images of more channels, in the order of Darknet's "reorg" layer."""

def spectral_norm(weight: Variable, dim: int = 0, power_iters: int = 1, eps: float = 1e-12, name: str | None = None) -> Variable:
    """``weight`` over its largest singular value, found by power iteration."""

def sqrt(x: Variable, name: str | None = None) -> Variable:
    """The square root of ``x``."""

def square(x: Variable, name: str | None = None) -> Variable:
    """``x`` times ``x``, for each element: ``x^2``."""

def squeeze(input: Variable, axes: int | Sequence[int], name: str | None = None) -> Variable:
    """``input`` without dimensions of size 1."""

def ssd_loss(location: Variable, confidence: Variable, gt_box: Variable, gt_label: Variable, prior_box: Variable, prior_box_var: Variable | None = None, background_label: int = 0, overlap_threshold: float = 0.5, neg_pos_ratio: float = 3.0, neg_overlap: float = 0.5, loc_loss_weight: float = 1.0, conf_loss_weight: float = 1.0, match_type: str = 'per_prediction', mining_type: str = 'max_negative', normalize: bool = True, sample_size: int | None = None) -> Variable:
    """What SSD learns from: prior boxes are matched with true ones, the hardest others are not."""

def stanh(x: Variable, scale_a: float = 0.67, scale_b: float = 1.7159, name: str | None = None) -> Variable:
    """``scale_b * tanh(scale_a * x)``, for each element."""

def strided_slice(input: Variable, axes: Sequence[int], starts: Given, ends: Given, strides: Given) -> Variable:
    """``input`` from ``starts`` to ``ends`` in steps of ``strides`` along ``axes``."""

def sum(x: Variable | Sequence[Variable]) -> Variable:
    """The sum of all ``x``, element by element, which are of one shape; of SelectedRows, each row is stored once."""

def sums(input: Variable | Sequence[Variable], out: Variable | None = None) -> Variable:
    """The sum of all ``input``, element by element, which are of one shape; of SelectedRows, each row is stored once."""

def swish(x: Variable, beta: float = 1.0, name: str | None = None) -> Variable:
    """``x * sigmoid(beta * x)``, for each element (Ramachandran et al., Searching for activation functions, 2017)."""

def tanh(x: Variable, name: str | None = None) -> Variable:
    """The hyperbolic tangent of ``x``, for each element."""

def tanh_shrink(x: Variable, name: str | None = None) -> Variable:
    """``x - tanh(x)``, for each element."""

def target_assign(input: Variable, matched_indices: Variable, negative_indices: Variable | None = None, mismatch_value: int | None = None, name: str | None = None) -> tuple[Variable, Variable]:
    """What each column is to be, ``input[matched_indices[i, j]]`` where that is a row, and OutWeight, whether it is."""

def teacher_student_sigmoid_loss(input: Variable, label: Variable, soft_max_up_bound: float = 15.0, soft_max_lower_bound: float = -15.0) -> Variable:
    """The loss of a logit by a click and by the score of a teacher: ``log(1 + e^input) - z input``, plus ``log(1 + e^input) - s input`` where ``label`` has the score s of a teacher."""

def temporal_shift(x: Variable, seg_num: int, shift_ratio: float = 0.25, name: str | None = None) -> Variable:
    """``x`` with some channels taken from the frame before, and some from the one after."""

def thresholded_relu(x: Variable, threshold: float | None = None) -> Variable:
    """``x`` where it is above ``threshold``, else 0."""

def topk(input: Variable, k: int | Variable, name: str | None = None) -> tuple[Variable, Variable]:
    """The k largest elements of ``input`` along its last dimension, the largest first, and their places."""

def trace(input: Variable, offset: int = 0, dim1: int = 0, dim2: int = 1, out: Variable | None = None, name: str | None = None) -> Variable:
    """The sums along a diagonal of the matrices in two dimensions of ``input``."""

def transpose(x: Variable, perm: int | Sequence[int], name: str | None = None) -> Variable:
    """``x`` with its dimensions in the order ``perm``: dimension i of the result is dimension ``perm[i]`` of ``x``."""

def tril(input: Variable, diagonal: int = 0, name: str | None = None) -> Variable:
    """The lower triangles of matrices, and zeros above."""

def triu(input: Variable, diagonal: int = 0, name: str | None = None) -> Variable:
    """The upper triangles of matrices, and zeros below."""

def unfold(x: Variable, kernel_sizes: int | Sequence[int], strides: int | Sequence[int] = 1, paddings: int | Sequence[int] = 0, dilations: int | Sequence[int] = 1, name: str | None = None) -> Variable:
    """the result[n, :, i] = what lies under position i of a window over ``x``[n], by channels and then rows."""

def uniform_random(shape: Given, dtype: DTypeLike = 'float32', min: float = -1.0, max: float = 1.0, seed: int = 0) -> Variable:
    """Numbers equally likely everywhere in [min, max)."""

def uniform_random_batch_size_like(input: Variable, shape: int | Sequence[int], dtype: DTypeLike = 'float32', input_dim_idx: int = 0, output_dim_idx: int = 0, min: float = -1.0, max: float = 1.0, seed: int = 0) -> Variable:
    """Numbers equally likely everywhere in [min, max), one size being ``input``'s."""

def unique(x: Variable, dtype: DTypeLike = 'int32') -> tuple[Variable, Variable]:
    """The values that occur in ``x``, each once, in the order in which they first do, and which of them each element is."""

def unique_with_counts(x: Variable, dtype: DTypeLike = 'int32') -> tuple[Variable, Variable, Variable]:
    """The values that occur in ``x``, each once, in the order in which they first do, which of them each element is, and how often they occur."""

def unsqueeze(input: Variable, axes: int | Given, name: str | None = None) -> Variable:
    """``input`` with further dimensions of size 1."""

def warpctc(input: Variable, label: Variable, blank: int = 0, norm_by_times: bool = False, input_length: Variable | None = None, label_length: Variable | None = None) -> Variable:
    """The loss of connectionist temporal classification: minus the logarithm of how likely a text is, wherever its labels stand."""

def where(condition: Variable) -> Variable:
    """The places where ``condition`` holds, a row of indices for each."""

def yolo_box(x: Variable, img_size: Variable, anchors: int | Sequence[int], class_num: int, conf_thresh: float, downsample_ratio: int, clip_bbox: bool = True, name: str | None = None, scale_x_y: float = 1.0) -> tuple[Variable, Variable]:
    """What the detector YOLO found at each place, and how sure it is of each class."""

def yolov3_loss(x: Variable, gt_box: Variable, gt_label: Variable, anchors: int | Sequence[int], anchor_mask: int | Sequence[int], class_num: int, ignore_thresh: float, downsample_ratio: int, gt_score: Variable | None = None, use_label_smooth: bool = True, name: str | None = None, scale_x_y: float = 1.0) -> Variable:
    """How far the detector YOLO is from true boxes, for each sample."""

def zeros_like(x: Variable, out: Variable | None = None) -> Variable:
    """0, everywhere, in the shape and element type of ``x``."""

@overload
def adaptive_pool2d(input: Variable, pool_size: Numbers, pool_type: str = 'max', require_index: Literal[False] = False, name: str | None = None) -> Variable:
    """The maximum or mean of as many windows as the output is to have, whatever the image's size."""
@overload
def adaptive_pool2d(input: Variable, pool_size: Numbers, pool_type: str = 'max', *, require_index: Literal[True], name: str | None = None) -> tuple[Variable, Variable]:
    """The maximum or mean of as many windows as the output is to have, whatever the image's size."""
@overload
def adaptive_pool2d(input: Variable, pool_size: Numbers, pool_type: str = 'max', require_index: bool = False, name: str | None = None) -> Variable | tuple[Variable, Variable]:
    """The maximum or mean of as many windows as the output is to have, whatever the image's size."""

@overload
def adaptive_pool3d(input: Variable, pool_size: Numbers, pool_type: str = 'max', require_index: Literal[False] = False, name: str | None = None) -> Variable:
    """The maximum or mean of as many windows as the output is to have, whatever the volume's size."""
@overload
def adaptive_pool3d(input: Variable, pool_size: Numbers, pool_type: str = 'max', *, require_index: Literal[True], name: str | None = None) -> tuple[Variable, Variable]:
    """The maximum or mean of as many windows as the output is to have, whatever the volume's size."""
@overload
def adaptive_pool3d(input: Variable, pool_size: Numbers, pool_type: str = 'max', require_index: bool = False, name: str | None = None) -> Variable | tuple[Variable, Variable]:
    """The maximum or mean of as many windows as the output is to have, whatever the volume's size."""

@overload
def ctc_greedy_decoder(input: Variable, blank: int, input_length: None = None, padding_value: int = 0, name: str | None = None) -> Variable:
    """The most probable label of each step, without repetitions and blanks."""
@overload
def ctc_greedy_decoder(input: Variable, blank: int, input_length: Variable, padding_value: int = 0, name: str | None = None) -> tuple[Variable, Variable]:
    """The most probable label of each step, without repetitions and blanks."""
@overload
def ctc_greedy_decoder(input: Variable, blank: int, input_length: Variable | None = None, padding_value: int = 0, name: str | None = None) -> Variable | tuple[Variable, Variable]:
    """The most probable label of each step, without repetitions and blanks."""

@overload
def detection_output(loc: Variable, scores: Variable, prior_box: Variable, prior_box_var: Variable, background_label: int = 0, nms_threshold: float = 0.3, nms_top_k: int = 400, keep_top_k: int = 200, score_threshold: float = 0.01, nms_eta: float = 1.0, return_index: Literal[False] = False) -> Variable:
    """What SSD found: boxes that no better one of their class overlaps too much."""
@overload
def detection_output(loc: Variable, scores: Variable, prior_box: Variable, prior_box_var: Variable, background_label: int = 0, nms_threshold: float = 0.3, nms_top_k: int = 400, keep_top_k: int = 200, score_threshold: float = 0.01, nms_eta: float = 1.0, *, return_index: Literal[True]) -> tuple[Variable, Variable]:
    """What SSD found: boxes that no better one of their class overlaps too much."""
@overload
def detection_output(loc: Variable, scores: Variable, prior_box: Variable, prior_box_var: Variable, background_label: int = 0, nms_threshold: float = 0.3, nms_top_k: int = 400, keep_top_k: int = 200, score_threshold: float = 0.01, nms_eta: float = 1.0, return_index: bool = False) -> Variable | tuple[Variable, Variable]:
    """What SSD found: boxes that no better one of their class overlaps too much."""

@overload
def matrix_nms(bboxes: Variable, scores: Variable, score_threshold: float, post_threshold: float, nms_top_k: int, keep_top_k: int, use_gaussian: bool = False, gaussian_sigma: float = 2.0, background_label: int = 0, normalized: bool = True, return_index: Literal[False] = False, name: str | None = None) -> Variable:
    """Boxes whose scores sink by how much better ones of their class overlap them, with class and"""
@overload
def matrix_nms(bboxes: Variable, scores: Variable, score_threshold: float, post_threshold: float, nms_top_k: int, keep_top_k: int, use_gaussian: bool = False, gaussian_sigma: float = 2.0, background_label: int = 0, normalized: bool = True, *, return_index: Literal[True], name: str | None = None) -> tuple[Variable, Variable]:
    """Boxes whose scores sink by how much better ones of their class overlap them, with class and"""
@overload
def matrix_nms(bboxes: Variable, scores: Variable, score_threshold: float, post_threshold: float, nms_top_k: int, keep_top_k: int, use_gaussian: bool = False, gaussian_sigma: float = 2.0, background_label: int = 0, normalized: bool = True, return_index: bool = False, name: str | None = None) -> Variable | tuple[Variable, Variable]:
    """Boxes whose scores sink by how much better ones of their class overlap them, with class and"""

@overload
def nonzero(input: Variable, as_tuple: Literal[False] = False) -> Variable:
    """The places of the elements that are not 0."""
@overload
def nonzero(input: Variable, *, as_tuple: Literal[True]) -> tuple[Variable, ...]:
    """The places of the elements that are not 0."""
@overload
def nonzero(input: Variable, as_tuple: bool = False) -> Variable | tuple[Variable, ...]:
    """The places of the elements that are not 0."""

@overload
def softmax_with_cross_entropy(logits: Variable, label: Variable, soft_label: bool = False, ignore_index: int = -100, numeric_stable_mode: bool = True, return_softmax: Literal[False] = False, axis: int = -1) -> Variable:
    """Minus the logarithm of the softmax of the right class's logit."""
@overload
def softmax_with_cross_entropy(logits: Variable, label: Variable, soft_label: bool = False, ignore_index: int = -100, numeric_stable_mode: bool = True, *, return_softmax: Literal[True], axis: int = -1) -> tuple[Variable, Variable]:
    """Minus the logarithm of the softmax of the right class's logit."""
@overload
def softmax_with_cross_entropy(logits: Variable, label: Variable, soft_label: bool = False, ignore_index: int = -100, numeric_stable_mode: bool = True, return_softmax: bool = False, axis: int = -1) -> Variable | tuple[Variable, Variable]:
    """Minus the logarithm of the softmax of the right class's logit."""
