"""The modules of paddle 2 that hold the names of ``paddle.static.nn``, by its own files there."""

from __future__ import annotations

from ...ground.module_tables import Table

_NN = "paddle.static.nn"

MODULES: Table = {
    "common": {
        _NN: "batch_norm bilinear_tensor_product conv2d conv2d_transpose conv3d conv3d_transpose "
        "data_norm deform_conv2d embedding fc group_norm instance_norm layer_norm prelu py_func "
        "row_conv sparse_embedding spectral_norm",
        "layers": "continuous_value_model deformable_conv",
        "paddle.static": "ExponentialMovingAverage",
    },
    "control_flow": {
        _NN: "case cond switch_case while_loop",
        "layers": "Assert Print Switch While",
    },
    "loss": {_NN: "nce"},
    "metric": {"paddle.static": "accuracy auc"},
    "static_pylayer": {_NN: "static_pylayer"},
    "sequence_lod": {
        _NN: "sequence_concat sequence_conv sequence_enumerate sequence_expand "
        "sequence_expand_as sequence_first_step sequence_last_step sequence_pad sequence_pool "
        "sequence_reshape sequence_reverse sequence_scatter sequence_slice sequence_softmax "
        "sequence_unpad",
        "paddle.nn.functional": "sequence_mask",
    },
}
