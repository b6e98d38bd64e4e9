"""Names only: functions that neural networks are made of."""

from __future__ import annotations

from ...ground.missing_names import answer
from ...ground.public_names import list_public_names
from ...ground.tracebacks import api_boundaries
from .activation import (
    celu,
    elu,
    gelu,
    glu,
    hardshrink,
    hardsigmoid,
    hardswish,
    hardtanh,
    leaky_relu,
    log_sigmoid,
    log_softmax,
    maxout,
    mish,
    prelu,
    relu,
    relu6,
    selu,
    sigmoid,
    silu,
    softmax,
    softplus,
    softshrink,
    softsign,
    swish,
    tanh,
    tanhshrink,
    thresholded_relu,
)
from .attention import scaled_dot_product_attention, sequence_mask
from .convolutions import (
    conv1d,
    conv1d_transpose,
    conv2d,
    conv2d_transpose,
    conv3d,
    conv3d_transpose,
)
from .dropping import alpha_dropout, dropout2d, dropout3d
from .grids import affine_grid, grid_sample
from .inplace import elu_, hardtanh_, leaky_relu_, relu_, softmax_, tanh_, thresholded_relu_
from .likelihoods import (
    ctc_loss,
    dice_loss,
    gaussian_nll_loss,
    hsigmoid_loss,
    npair_loss,
    poisson_nll_loss,
    sigmoid_focal_loss,
)
from .loss import (
    binary_cross_entropy,
    binary_cross_entropy_with_logits,
    cross_entropy,
    kl_div,
    l1_loss,
    log_loss,
    mse_loss,
    nll_loss,
    smooth_l1_loss,
    softmax_with_cross_entropy,
    square_error_cost,
)
from .margins import (
    cosine_embedding_loss,
    hinge_embedding_loss,
    margin_ranking_loss,
    multi_label_soft_margin_loss,
    multi_margin_loss,
    pairwise_distance,
    soft_margin_loss,
    triplet_margin_loss,
    triplet_margin_with_distance_loss,
)
from .normalization import (
    batch_norm,
    group_norm,
    instance_norm,
    layer_norm,
    local_response_norm,
    normalize,
)
from .padding import pad, zeropad2d
from .pooling import (
    adaptive_avg_pool1d,
    adaptive_avg_pool2d,
    adaptive_avg_pool3d,
    adaptive_max_pool1d,
    adaptive_max_pool2d,
    adaptive_max_pool3d,
    avg_pool1d,
    avg_pool2d,
    avg_pool3d,
    max_pool1d,
    max_pool2d,
    max_pool3d,
)
from .projection import (
    bilinear,
    cosine_similarity,
    dropout,
    embedding,
    label_smooth,
    linear,
    one_hot,
)
from .randomized import gumbel_softmax, rrelu
from .rearranging import (
    channel_shuffle,
    fold,
    pixel_shuffle,
    pixel_unshuffle,
    temporal_shift,
    unfold,
)
from .resizing import interpolate, upsample
from .unpooling import max_unpool1d, max_unpool2d, max_unpool3d

__all__ = [
    "adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d", "adaptive_max_pool1d",
    "adaptive_max_pool2d", "adaptive_max_pool3d", "affine_grid", "alpha_dropout", "avg_pool1d",
    "avg_pool2d", "avg_pool3d", "batch_norm", "bilinear", "binary_cross_entropy",
    "binary_cross_entropy_with_logits", "celu", "channel_shuffle", "conv1d", "conv1d_transpose",
    "conv2d", "conv2d_transpose", "conv3d", "conv3d_transpose", "cosine_embedding_loss",
    "cosine_similarity", "cross_entropy", "ctc_loss", "dice_loss", "dropout", "dropout2d",
    "dropout3d", "elu", "elu_", "embedding", "fold", "gaussian_nll_loss", "gelu", "glu",
    "grid_sample", "group_norm", "gumbel_softmax", "hardshrink", "hardsigmoid", "hardswish",
    "hardtanh", "hardtanh_", "hinge_embedding_loss", "hsigmoid_loss", "instance_norm",
    "interpolate", "kl_div", "l1_loss", "label_smooth", "layer_norm", "leaky_relu", "leaky_relu_",
    "linear", "local_response_norm", "log_loss", "log_sigmoid", "log_softmax",
    "margin_ranking_loss", "max_pool1d", "max_pool2d", "max_pool3d", "max_unpool1d", "max_unpool2d",
    "max_unpool3d", "maxout", "mish", "mse_loss", "multi_label_soft_margin_loss",
    "multi_margin_loss", "nll_loss", "normalize", "npair_loss", "one_hot", "pad",
    "pairwise_distance", "pixel_shuffle", "pixel_unshuffle", "poisson_nll_loss", "prelu", "relu",
    "relu6", "relu_", "rrelu", "scaled_dot_product_attention", "selu", "sequence_mask", "sigmoid",
    "sigmoid_focal_loss", "silu", "smooth_l1_loss", "soft_margin_loss", "softmax", "softmax_",
    "softmax_with_cross_entropy", "softplus", "softshrink", "softsign", "square_error_cost",
    "swish", "tanh", "tanh_", "tanhshrink", "temporal_shift", "thresholded_relu",
    "thresholded_relu_", "triplet_margin_loss", "triplet_margin_with_distance_loss", "unfold",
    "upsample", "zeropad2d",
]  # fmt: skip

list_public_names(globals())
api_boundaries(globals(), quick=True)
answer(globals())
