"""Pooling of volumes: that of images with one dimension more."""

from __future__ import annotations

from .pool import Pool, PoolAdjoint, Pooling, PoolPositions


class Pool3d(Pool, abstract=True):
    """What poolings of volumes have in common."""

    rank = 3
    formats = ("NCDHW", "NDHWC")
    strides: list[int] = (1, 1, 1)
    paddings: list[int] = (0, 0, 0)
    data_format: str = "NCDHW"


class pool3d(Pool3d, Pooling):
    """Out = the maximum or the average of X under each position of a window."""


class pool3d_adjoint(Pool3d, PoolAdjoint):
    """Out = the map from the average's Out to the cotangent of its X, at G."""


class pool3d_positions(Pool3d, PoolPositions):
    """Out = the positions in X, flattened, of the largest element under each window."""
