# Written by docs/stubs.py.
from collections.abc import Sequence
from typing import Literal, overload

from ..ir.variable import Variable
from .convolution import Numbers
from . import control_flow
from . import learning_rate as learning_rate_scheduler
from .activation import brelu
from .activation import elu
from .activation import gelu
from .activation import hard_shrink
from .activation import hard_sigmoid
from .activation import hard_swish
from .activation import leaky_relu
from .activation import log_softmax
from .activation import logsigmoid
from .activation import mish
from .activation import relu
from .activation import relu6
from .activation import selu
from .activation import sigmoid
from .activation import soft_relu
from .activation import softmax
from .activation import softplus
from .activation import softshrink
from .activation import softsign
from .activation import stanh
from .activation import swish
from .activation import tanh
from .activation import tanh_shrink
from .activation import thresholded_relu
from .alignment import ctc_greedy_decoder
from .alignment import edit_distance
from .alignment import gather_tree
from .anchor_targets import retinanet_target_assign
from .anchor_targets import rpn_target_assign
from .anchors import anchor_generator
from .anchors import density_prior_box
from .anchors import prior_box
from .anchors import yolo_box
from .anchors import yolov3_loss
from .array import array_length
from .array import array_read
from .array import array_write
from .array import create_array
from .array import tensor_array_to_tensor
from .beam_decoder import BeamSearchDecoder
from .beam_search import beam_search
from .beam_search import beam_search_decode
from .boxes import bipartite_match
from .boxes import box_clip
from .boxes import box_coder
from .boxes import box_decoder_and_assign
from .boxes import iou_similarity
from .boxes import polygon_box_transform
from .boxes import target_assign
from .branch import IfElse
from .branch import Switch
from .branch import case
from .branch import cond
from .branch import switch_case
from .clicks import continuous_value_model
from .clicks import hash
from .compare import allclose
from .compare import elementwise_equal
from .compare import equal
from .compare import greater_equal
from .compare import greater_than
from .compare import has_inf
from .compare import has_nan
from .compare import is_empty
from .compare import isfinite
from .compare import less_equal
from .compare import less_than
from .compare import logical_and
from .compare import logical_not
from .compare import logical_or
from .compare import logical_xor
from .compare import not_equal
from .conv import conv2d
from .conv import conv2d_transpose
from .conv import pool2d
from .conv3d import conv3d
from .conv3d import conv3d_transpose
from .conv3d import pool3d
from .creation import arange
from .creation import assign
from .creation import eye
from .creation import fill_constant
from .creation import fill_constant_batch_size_like
from .creation import full
from .creation import full_like
from .creation import linspace
from .creation import ones
from .creation import ones_like
from .creation import range
from .creation import zeros
from .creation import zeros_like
from .debug import Assert
from .debug import Print
from .debug import py_func
from .decode_helper import BasicDecoder
from .decode_helper import DecodeHelper
from .decode_helper import GreedyEmbeddingHelper
from .decode_helper import SampleEmbeddingHelper
from .decode_helper import TrainingHelper
from .decoding import Decoder
from .decoding import dynamic_decode
from .detections import detection_output
from .detections import retinanet_detection_output
from .detections import ssd_loss
from .distance import cos_sim
from .distance import dist
from .distance import l2_normalize
from .distributions import Categorical
from .distributions import MultivariateNormalDiag
from .distributions import Normal
from .distributions import Uniform
from .dynamic_rnn import DynamicRNN
from .dynamic_rnn import reorder_lod_tensor_by_rank
from .elementwise import addcmul
from .elementwise import elementwise_add
from .elementwise import elementwise_div
from .elementwise import elementwise_floordiv
from .elementwise import elementwise_max
from .elementwise import elementwise_min
from .elementwise import elementwise_mod
from .elementwise import elementwise_mul
from .elementwise import elementwise_pow
from .elementwise import elementwise_sub
from .features import add_position_encoding
from .features import random_crop
from .features import similarity_focus
from .indexing import gather
from .indexing import gather_nd
from .indexing import index_sample
from .indexing import index_select
from .indexing import multiplex
from .indexing import scatter
from .indexing import scatter_nd
from .indexing import scatter_nd_add
from .interpolate import image_resize
from .interpolate import image_resize_short
from .interpolate import resize_bilinear
from .interpolate import resize_nearest
from .interpolate import resize_trilinear
from .io import data
from .io import load
from .joining import concat
from .joining import split
from .joining import stack
from .joining import unstack
from .labeling import crf_decoding
from .labeling import linear_chain_crf
from .labeling import warpctc
from .learning_rate import cosine_decay
from .learning_rate import exponential_decay
from .learning_rate import inverse_time_decay
from .learning_rate import linear_lr_warmup
from .learning_rate import natural_exp_decay
from .learning_rate import noam_decay
from .learning_rate import piecewise_decay
from .learning_rate import polynomial_decay
from .lengths import sequence_mask
from .loop import While
from .loop import while_loop
from .loss import cross_entropy
from .loss import mse_loss
from .loss import square_error_cost
from .math import cast
from .math import clamp
from .math import clip
from .math import clip_by_norm
from .math import matmul
from .math import mul
from .math import scale
from .math import sum
from .math import sums
from .matrix import addmm
from .matrix import bilinear_tensor_product
from .matrix import bmm
from .matrix import cross
from .matrix import diag
from .matrix import diag_embed
from .matrix import dot
from .matrix import fsp_matrix
from .matrix import kron
from .matrix import trace
from .matrix import tril
from .matrix import triu
from .metric import accuracy
from .metric import auc
from .metric import mean_iou
from .multi_box import multi_box_head
from .nn import dropout
from .nn import embedding
from .nn import fc
from .nn import maxout
from .nn import one_hot
from .nn import prelu
from .norm import batch_norm
from .norm import group_norm
from .norm import instance_norm
from .norm import layer_norm
from .points import affine_grid
from .points import deformable_conv
from .points import grid_sampler
from .probability_loss import dice_loss
from .probability_loss import kldiv_loss
from .probability_loss import log_loss
from .probability_loss import sigmoid_focal_loss
from .probability_loss import teacher_student_sigmoid_loss
from .proposals import collect_fpn_proposals
from .proposals import distribute_fpn_proposals
from .proposals import generate_mask_labels
from .proposals import generate_proposal_labels
from .proposals import generate_proposals
from .ranking_loss import bpr_loss
from .ranking_loss import margin_rank_loss
from .ranking_loss import npair_loss
from .ranking_loss import rank_loss
from .readers import create_py_reader_by_data
from .readers import double_buffer
from .readers import py_reader
from .readers import read_file
from .rearrange import pixel_shuffle
from .rearrange import shuffle_channel
from .rearrange import space_to_depth
from .rearrange import temporal_shift
from .rearrange import unfold
from .recurrence import rnn
from .recurrent_net import dynamic_gru
from .recurrent_net import dynamic_lstm
from .recurrent_net import dynamic_lstmp
from .recurrent_unit import gru_unit
from .recurrent_unit import lstm
from .recurrent_unit import lstm_unit
from .reduce import logsumexp
from .reduce import mean
from .reduce import reduce_all
from .reduce import reduce_any
from .reduce import reduce_max
from .reduce import reduce_mean
from .reduce import reduce_min
from .reduce import reduce_prod
from .reduce import reduce_sum
from .regression_loss import center_loss
from .regression_loss import huber_loss
from .regression_loss import smooth_l1
from .rescale import affine_channel
from .rescale import data_norm
from .rescale import inplace_abn
from .rescale import lrn
from .rescale import spectral_norm
from .reshaping import expand
from .reshaping import expand_as
from .reshaping import flatten
from .reshaping import flip
from .reshaping import meshgrid
from .reshaping import rank
from .reshaping import reshape
from .reshaping import reverse
from .reshaping import shape
from .reshaping import size
from .reshaping import squeeze
from .reshaping import t
from .reshaping import transpose
from .reshaping import unsqueeze
from .rnn_cell import GRUCell
from .rnn_cell import LSTMCell
from .rnn_cell import RNNCell
from .roi import deformable_roi_pooling
from .roi import prroi_pool
from .roi import psroi_pool
from .roi import roi_align
from .roi import roi_perspective_transform
from .roi import roi_pool
from .rows import get_tensor_from_selected_rows
from .rows import merge_selected_rows
from .sampled_loss import hsigmoid
from .sampled_loss import nce
from .sampled_loss import sampled_softmax_with_cross_entropy
from .sampling import gaussian_random
from .sampling import gaussian_random_batch_size_like
from .sampling import randint
from .sampling import randn
from .sampling import randperm
from .sampling import sampling_id
from .sampling import uniform_random
from .sampling import uniform_random_batch_size_like
from .scan import cumsum
from .scan import roll
from .search import argmax
from .search import argmin
from .search import argsort
from .search import shard_index
from .search import topk
from .search import unique
from .search import unique_with_counts
from .search import where
from .sequence import row_conv
from .sequence import sequence_conv
from .sequence import sequence_expand
from .sequence import sequence_expand_as
from .sequence import sequence_first_step
from .sequence import sequence_last_step
from .sequence import sequence_pool
from .sequence import sequence_softmax
from .sequence_marks import filter_by_instag
from .sequence_marks import im2sequence
from .sequence_rows import lod_append
from .sequence_rows import lod_reset
from .sequence_rows import sequence_concat
from .sequence_rows import sequence_enumerate
from .sequence_rows import sequence_pad
from .sequence_rows import sequence_reshape
from .sequence_rows import sequence_reverse
from .sequence_rows import sequence_scatter
from .sequence_rows import sequence_slice
from .sequence_rows import sequence_unpad
from .slicing import crop
from .slicing import crop_tensor
from .slicing import pad
from .slicing import pad2d
from .slicing import pad_constant_like
from .slicing import slice
from .slicing import strided_slice
from .soft_labels import label_smooth
from .soft_labels import sigmoid_cross_entropy_with_logits
from .static_rnn import StaticRNN
from .suppression import locality_aware_nms
from .suppression import multiclass_nms
from .tagging import chunk_eval
from .unary import abs
from .unary import acos
from .unary import asin
from .unary import atan
from .unary import ceil
from .unary import cos
from .unary import erf
from .unary import exp
from .unary import floor
from .unary import log
from .unary import log1p
from .unary import pow
from .unary import reciprocal
from .unary import round
from .unary import rsqrt
from .unary import sign
from .unary import sin
from .unary import sqrt
from .unary import square
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
def matrix_nms(bboxes: Variable, scores: Variable, score_threshold: float, post_threshold: float, nms_top_k: int, keep_top_k: int, use_gaussian: bool = False, gaussian_sigma: float = 2.0, background_label: int = 0, normalized: bool = True, return_index: Literal[False] = False, name: str | None = None) -> Variable:
    """Boxes whose scores sink by how much better ones of their class overlap them."""
@overload
def matrix_nms(bboxes: Variable, scores: Variable, score_threshold: float, post_threshold: float, nms_top_k: int, keep_top_k: int, use_gaussian: bool = False, gaussian_sigma: float = 2.0, background_label: int = 0, normalized: bool = True, *, return_index: Literal[True], name: str | None = None) -> tuple[Variable, Variable]:
    """Boxes whose scores sink by how much better ones of their class overlap them."""
@overload
def matrix_nms(bboxes: Variable, scores: Variable, score_threshold: float, post_threshold: float, nms_top_k: int, keep_top_k: int, use_gaussian: bool = False, gaussian_sigma: float = 2.0, background_label: int = 0, normalized: bool = True, return_index: bool = False, name: str | None = None) -> Variable | tuple[Variable, Variable]:
    """Boxes whose scores sink by how much better ones of their class overlap them."""

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
