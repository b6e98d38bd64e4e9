"""Functions of neural networks, in the spelling of OneFlow."""

from __future__ import annotations

from ....ground.missing_names import answer
from ....ground.public_names import list_given_names
from ....ground.tracebacks import api_boundaries
from ...activations import celu as celu
from ...activations import elu as elu
from ...activations import gelu as gelu
from ...activations import glu as glu
from ...activations import gumbel_softmax as gumbel_softmax
from ...activations import hardshrink as hardshrink
from ...activations import hardsigmoid as hardsigmoid
from ...activations import hardswish as hardswish
from ...activations import hardtanh as hardtanh
from ...activations import leaky_relu as leaky_relu
from ...activations import log_softmax as log_softmax
from ...activations import logsigmoid as logsigmoid
from ...activations import mish as mish
from ...activations import prelu as prelu
from ...activations import quick_gelu as quick_gelu
from ...activations import relu as relu
from ...activations import relu6 as relu6
from ...activations import selu as selu
from ...activations import sigmoid as sigmoid
from ...activations import silu as silu
from ...activations import softmax as softmax
from ...activations import softplus as softplus
from ...activations import softshrink as softshrink
from ...activations import softsign as softsign
from ...activations import tanh as tanh
from ...activations import threshold as threshold
from .deformable import deform_conv2d as deform_conv2d
from .loss import binary_cross_entropy as binary_cross_entropy
from .loss import binary_cross_entropy_with_logits as binary_cross_entropy_with_logits
from .loss import cosine_embedding_loss as cosine_embedding_loss
from .loss import cosine_similarity as cosine_similarity
from .loss import cross_entropy as cross_entropy
from .loss import hinge_embedding_loss as hinge_embedding_loss
from .loss import huber_loss as huber_loss
from .loss import kl_div as kl_div
from .loss import l1_loss as l1_loss
from .loss import margin_ranking_loss as margin_ranking_loss
from .loss import mse_loss as mse_loss
from .loss import nll_loss as nll_loss
from .loss import pairwise_distance as pairwise_distance
from .loss import smooth_l1_loss as smooth_l1_loss
from .loss import soft_margin_loss as soft_margin_loss
from .loss import sparse_softmax_cross_entropy as sparse_softmax_cross_entropy
from .loss import triplet_margin_loss as triplet_margin_loss
from .normalization import batch_norm as batch_norm
from .normalization import group_norm as group_norm
from .normalization import instance_norm as instance_norm
from .normalization import layer_norm as layer_norm
from .normalization import normalize as normalize
from .pooling import adaptive_avg_pool1d as adaptive_avg_pool1d
from .pooling import adaptive_avg_pool2d as adaptive_avg_pool2d
from .pooling import adaptive_avg_pool3d as adaptive_avg_pool3d
from .pooling import adaptive_max_pool1d as adaptive_max_pool1d
from .pooling import adaptive_max_pool2d as adaptive_max_pool2d
from .pooling import adaptive_max_pool3d as adaptive_max_pool3d
from .pooling import avg_pool1d as avg_pool1d
from .pooling import avg_pool2d as avg_pool2d
from .pooling import avg_pool3d as avg_pool3d
from .pooling import max_pool1d as max_pool1d
from .pooling import max_pool2d as max_pool2d
from .pooling import max_pool3d as max_pool3d
from .projection import dropout as dropout
from .projection import dropout1d as dropout1d
from .projection import dropout2d as dropout2d
from .projection import dropout3d as dropout3d
from .projection import embedding as embedding
from .projection import linear as linear
from .projection import one_hot as one_hot
from .projection import pad as pad
from .resampling import affine_grid as affine_grid
from .resampling import ctc_greedy_decoder as ctc_greedy_decoder
from .resampling import ctc_loss as ctc_loss
from .resampling import fold as fold
from .resampling import grid_sample as grid_sample
from .resampling import interpolate as interpolate
from .resampling import max_unpool1d as max_unpool1d
from .resampling import max_unpool2d as max_unpool2d
from .resampling import max_unpool3d as max_unpool3d
from .resampling import pixel_shuffle as pixel_shuffle
from .resampling import pixel_unshuffle as pixel_unshuffle
from .resampling import unfold as unfold
from .resampling import upsample as upsample
from .windows import conv1d as conv1d
from .windows import conv2d as conv2d
from .windows import conv3d as conv3d
from .windows import conv_transpose1d as conv_transpose1d
from .windows import conv_transpose2d as conv_transpose2d
from .windows import conv_transpose3d as conv_transpose3d

list_given_names(globals())
api_boundaries(globals(), quick=True)
answer(globals())
