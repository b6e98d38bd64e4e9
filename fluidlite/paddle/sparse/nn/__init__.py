# ruff: noqa: I001 - lists of names are filled by hand
"""``paddle.sparse.nn`` of paddle 2.6: layers of sparse tensors."""

from __future__ import annotations

from ...holders import hold
from ....ground.public_names import list_given_names
from . import functional
from .layers import (
    BatchNorm, Conv2D, Conv3D, LeakyReLU, MaxPool3D, ReLU, ReLU6, Softmax, SubmConv2D, SubmConv3D,
    SyncBatchNorm,
)  # fmt: skip

list_given_names(globals(), "functional")
hold(globals())
