# ruff: noqa: I001 - lists of names are filled by hand
"""``paddle.incubate`` of paddle 2.6."""

from __future__ import annotations

from ..holders import hold
from ...ground.public_names import list_given_names
from . import asp, autograd, autotune, distributed, layers, nn, optimizer
from .losses import identity_loss, softmax_mask_fuse, softmax_mask_fuse_upper_triangle
from .optimizer import LookAhead, ModelAverage
from .segments import (
    graph_khop_sampler, graph_reindex, graph_sample_neighbors, graph_send_recv, segment_max,
    segment_mean, segment_min, segment_sum,
)  # fmt: skip

list_given_names(
    globals(), "asp", "autograd", "autotune", "distributed", "layers", "nn", "optimizer"
)
hold(globals())
