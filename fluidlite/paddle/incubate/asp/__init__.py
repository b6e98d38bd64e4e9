# ruff: noqa: I001 - lists of names are filled by hand
"""``paddle.incubate.asp``: weights of which a part of each few neighbours is zero."""

from __future__ import annotations

from ...holders import hold
from ....ground.public_names import list_given_names
from .masks import (
    CheckMethod, MaskAlgo, calculate_density, check_mask_1d, check_mask_2d, check_sparsity,
    create_mask, get_mask_1d, get_mask_2d_best, get_mask_2d_greedy,
)  # fmt: skip
from .pruning import (
    add_supported_layer, decorate, prune_model, reset_excluded_layers, set_excluded_layers,
)  # fmt: skip

list_given_names(globals())
hold(globals())
