# ruff: noqa: I001 - lists of names are filled by hand
"""``paddle.sparse`` of paddle 2.6: tensors of which few elements are stored."""

from __future__ import annotations

from ..holders import hold
from ...ground.public_names import list_given_names
from . import nn
from .binary import add, divide, is_same_shape, multiply, subtract
from .creation import sparse_coo_tensor, sparse_csr_tensor
from .products import addmm, masked_matmul, matmul, mv, pca_lowrank
from .shaping import coalesce, reshape, slice, sum, transpose
from .unary import (
    abs, asin, asinh, atan, atanh, cast, deg2rad, expm1, isnan, log1p, neg, pow, rad2deg, sin,
    sinh, sqrt, square, tan, tanh,
)  # fmt: skip

list_given_names(globals(), "nn")
hold(globals())
