"""``paddle.static.nn`` of paddle 2.6: layers that build programs."""

from __future__ import annotations

from ....ground.module_tables import give_names, hold_modules
from ....ground.public_names import list_given_names
from ....input import embedding
from ....layers import (
    batch_norm,
    bilinear_tensor_product,
    case,
    conv2d,
    conv2d_transpose,
    conv3d,
    conv3d_transpose,
    data_norm,
    group_norm,
    layer_norm,
    nce,
    py_func,
    row_conv,
    sequence_concat,
    sequence_conv,
    sequence_enumerate,
    sequence_expand,
    sequence_expand_as,
    sequence_first_step,
    sequence_last_step,
    sequence_pad,
    sequence_pool,
    sequence_reshape,
    sequence_reverse,
    sequence_scatter,
    sequence_slice,
    sequence_softmax,
    sequence_unpad,
    spectral_norm,
    switch_case,
    while_loop,
)
from ..custom_gradients import static_pylayer
from ..layers import cond, deform_conv2d, fc, instance_norm, prelu, sparse_embedding
from ..nn_corners import MODULES

list_given_names(globals())
hold_modules(globals(), MODULES)
give_names(globals(), {"layers": "~continuous_value_model"})
