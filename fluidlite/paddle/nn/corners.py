"""The modules of paddle 2 that hold the names of ``paddle.nn``, each by its own file there."""

from __future__ import annotations

from ...ground.module_tables import Homes, Table

_NN = "paddle.nn"
_FUNCTIONAL = "paddle.nn.functional"
_LOSSES = (
    "BCELoss BCEWithLogitsLoss CTCLoss CosineEmbeddingLoss CrossEntropyLoss GaussianNLLLoss "
    "HSigmoidLoss HingeEmbeddingLoss KLDivLoss L1Loss MSELoss MarginRankingLoss "
    "MultiLabelSoftMarginLoss MultiMarginLoss NLLLoss PoissonNLLLoss RNNTLoss SmoothL1Loss "
    "SoftMarginLoss TripletMarginLoss TripletMarginWithDistanceLoss"
)

#: below ``paddle.nn``
LAYERS: dict[str, Homes] = {
    "decode": {_NN: "BeamSearchDecoder dynamic_decode", "layers": "Decoder"},
    "layer": {},  # all of those below
    "layer.activation": {
        _NN: "CELU ELU GELU GLU Hardshrink Hardsigmoid Hardswish Hardtanh LeakyReLU LogSigmoid "
        "LogSoftmax Maxout Mish PReLU RReLU ReLU ReLU6 SELU Sigmoid Silu Softmax Softmax2D "
        "Softplus Softshrink Softsign Swish Tanh Tanhshrink ThresholdedReLU"
    },
    "layer.common": {
        _NN: "AlphaDropout Bilinear CosineSimilarity Dropout Dropout2D Dropout3D Embedding "
        "Flatten Fold Identity Linear Pad1D Pad2D Pad3D Unflatten Unfold Upsample "
        "UpsamplingBilinear2D UpsamplingNearest2D ZeroPad2D"
    },
    "layer.container": {_NN: "LayerDict LayerList ParameterList Sequential"},
    "layer.conv": {
        _NN: "Conv1D Conv1DTranspose Conv2D Conv2DTranspose Conv3D Conv3DTranspose",
        "nn.conv": "_ConvNd=_Filters",
    },
    "layer.distance": {_NN: "PairwiseDistance"},
    "layer.layers": {_NN: "Layer"},
    "layer.loss": {_NN: _LOSSES},
    "layer.norm": {
        _NN: "BatchNorm BatchNorm1D BatchNorm2D BatchNorm3D GroupNorm InstanceNorm1D "
        "InstanceNorm2D InstanceNorm3D LayerNorm LocalResponseNorm SpectralNorm SyncBatchNorm",
        "nn.norm": "_BatchNormBase=_BatchNorm _InstanceNormBase=_InstanceNorm",
    },
    "layer.pooling": {
        _NN: "AdaptiveAvgPool1D AdaptiveAvgPool2D AdaptiveAvgPool3D AdaptiveMaxPool1D "
        "AdaptiveMaxPool2D AdaptiveMaxPool3D AvgPool1D AvgPool2D AvgPool3D MaxPool1D MaxPool2D "
        "MaxPool3D MaxUnPool1D MaxUnPool2D MaxUnPool3D"
    },
    "layer.rnn": {
        _NN: "BiRNN GRU GRUCell LSTM LSTMCell RNN RNNCellBase SimpleRNN SimpleRNNCell",
        "nn.running": "birnn rnn",
        "nn.rnn": "RNNBase=_Along",
    },
    "layer.transformer": {
        _NN: "MultiHeadAttention Transformer TransformerDecoder TransformerDecoderLayer "
        "TransformerEncoder TransformerEncoderLayer",
        "nn.functional.attention": "_convert_attention_mask=added_mask",
    },
    "layer.vision": {_NN: "ChannelShuffle PixelShuffle PixelUnshuffle"},
    "loss": {_NN: _LOSSES},
}
_CLASSES = [names[_NN] for module, names in LAYERS.items() if module.startswith("layer.")]
LAYERS["layer"] = {_NN: " ".join(_CLASSES)}

#: below ``paddle.nn.functional``
FUNCTIONS: Table = {
    "activation": {
        _FUNCTIONAL: "celu elu elu_ gelu glu gumbel_softmax hardshrink hardsigmoid hardswish "
        "hardtanh hardtanh_ leaky_relu leaky_relu_ log_sigmoid log_softmax maxout mish prelu "
        "relu relu6 relu_ rrelu selu sigmoid silu softmax softmax_ softplus softshrink softsign "
        "swish tanh tanh_ tanhshrink thresholded_relu thresholded_relu_"
    },
    "common": {
        _FUNCTIONAL: "alpha_dropout bilinear class_center_sample cosine_similarity dropout "
        "dropout2d dropout3d fold interpolate label_smooth linear pad unfold upsample zeropad2d"
    },
    "conv": {
        _FUNCTIONAL: "conv1d conv1d_transpose conv2d conv2d_transpose conv3d conv3d_transpose"
    },
    "distance": {_FUNCTIONAL: "pairwise_distance"},
    "extension": {_FUNCTIONAL: "gather_tree sequence_mask temporal_shift", "paddle": "diag_embed"},
    "flash_attention": {
        "nn.functional.attention": "flash_attention flash_attn_unpadded "
        "scaled_dot_product_attention sdp_kernel"
    },
    "input": {_FUNCTIONAL: "embedding one_hot"},
    "loss": {
        _FUNCTIONAL: "binary_cross_entropy binary_cross_entropy_with_logits "
        "cosine_embedding_loss cross_entropy ctc_loss dice_loss gaussian_nll_loss "
        "hinge_embedding_loss hsigmoid_loss kl_div l1_loss log_loss margin_cross_entropy "
        "margin_ranking_loss mse_loss multi_label_soft_margin_loss multi_margin_loss nll_loss "
        "npair_loss poisson_nll_loss rnnt_loss sigmoid_focal_loss smooth_l1_loss "
        "soft_margin_loss softmax_with_cross_entropy square_error_cost triplet_margin_loss "
        "triplet_margin_with_distance_loss base_softmax_with_cross_entropy="
        "softmax_with_cross_entropy",
        "layers": "edit_distance",
    },
    "norm": {_FUNCTIONAL: "batch_norm instance_norm layer_norm local_response_norm normalize"},
    "pooling": {
        _FUNCTIONAL: "adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d "
        "adaptive_max_pool1d adaptive_max_pool2d adaptive_max_pool3d avg_pool1d avg_pool2d "
        "avg_pool3d max_pool1d max_pool2d max_pool3d max_unpool1d max_unpool2d max_unpool3d"
    },
    "sparse_attention": {_FUNCTIONAL: "sparse_attention"},
    "vision": {
        _FUNCTIONAL: "affine_grid channel_shuffle grid_sample pixel_shuffle pixel_unshuffle"
    },
}
