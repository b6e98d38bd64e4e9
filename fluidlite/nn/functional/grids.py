"""Images seen through maps of the plane: where their elements come from."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from ...eager.recording import eager
from ...eager.tensor import Tensor
from ...errors import ArgumentError, ShapeError
from ...functions.arithmetic import matmul
from ...functions.shaping import fits, numbers_in, reshape, transpose

if TYPE_CHECKING:
    from ...functions.arguments import Numbers


def affine_grid(
    theta: Tensor, out_shape: Numbers, align_corners: bool = True, name: str | None = None
) -> Tensor:
    """Where each element of an image comes from under an affine map (Jaderberg et al. 2015,
    "Spatial transformer networks").

    Args:
        theta: the maps, [N, 2, 3]; or [N, 3, 4] of volumes.
        out_shape: of the image: [N, C, H, W]; or [N, C, D, H, W].
        align_corners: -1 and 1 are the centres of the outermost elements, not their outer edges.

    Returns:
        points (x, y): [N, H, W, 2]; or (x, y, z): [N, D, H, W, 3].

    Raises:
        ShapeError: the maps are not of the dimensions of the image.

    >>> theta = fluid.to_tensor([[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]])
    >>> fluid.nn.functional.affine_grid(theta, [1, 1, 1, 3]).numpy()[0, 0, :, 0].tolist()
    [-1.0, 0.0, 1.0]
    """
    sizes = numbers_in("out_shape", out_shape)[2:]
    rank = len(sizes)
    if rank not in (2, 3) or not fits(theta.array.shape[1:], [rank, rank + 1]):
        raise ShapeError(
            f"expected theta of shape [N, 2, 3] for images, or [N, 3, 4] for volumes, got "
            f"{list(theta.array.shape)} with out_shape {list(numbers_in('out_shape', out_shape))}"
        )
    lines = []
    for n in sizes:
        line = np.linspace(-1, 1, n) if n > 1 else np.zeros(1)
        lines.append(line if align_corners else line * (n - 1) / n)
    points = np.meshgrid(*lines, indexing="ij")[::-1]
    rows = np.stack([*(each.reshape(-1) for each in points), np.ones(prod(sizes))])
    base: Any = theta.results(rows.astype(theta.array.dtype))
    return reshape(transpose(matmul(theta, base), [0, 2, 1]), [-1, *sizes, rank])


def grid_sample(
    x: Tensor,
    grid: Tensor,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool = True,
    name: str | None = None,
) -> Tensor:
    """What an image has at points.

    Args:
        x: [N, C, H, W].
        grid: points (x, y), [N, h, w, 2].
        mode: bilinear, or nearest.
        padding_mode: what is beyond the image: zeros, its border, or its reflection.
        align_corners: -1 and 1 are the centres of the outermost elements, not their outer edges.

    Raises:
        ArgumentError: an option is out of range.
        ShapeError: ``x`` is no batch of images.

    >>> x, grid = fluid.to_tensor([[[[1.0, 2.0]]]]), fluid.to_tensor([[[[0.0, 0.0]]]])
    >>> fluid.nn.functional.grid_sample(x, grid).tolist()
    [[[[1.5]]]]
    """
    _need("mode", mode, "bilinear", "nearest")
    _need("padding_mode", padding_mode, "zeros", "border", "reflection")
    if x.array.ndim != 4:
        raise ShapeError(f"expected x of shape [N, C, H, W], got {list(x.array.shape)}")
    return eager.grid_sampler(
        x, grid, mode=mode, padding_mode=padding_mode, align_corners=align_corners
    )


def _need(what: str, given: str, *allowed: str) -> None:
    if given not in allowed:
        raise ArgumentError(f"expected {what} to be {', '.join(allowed)}, got {given!r}")
