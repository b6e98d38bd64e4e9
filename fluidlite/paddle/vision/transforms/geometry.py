"""Where the pixels of a transformed picture come from, as matrices."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Matrix: TypeAlias = NDArray[np.float64]  #: [2, 3] or [3, 3]
Center: TypeAlias = Sequence[float] | None  #: across and down; that of the picture when None
Corners: TypeAlias = Sequence[Sequence[float]]  #: four, each across and down
#: an angle to the right in degrees, a shift, a scaling and a shear in degrees
Motion: TypeAlias = tuple[float, Sequence[float], float, Sequence[float]]


def inverse_affine(
    center: Sequence[float],
    angle: float,
    translate: Sequence[float],
    scale: float,
    shear: Sequence[float],
) -> Matrix:
    """From a place of the result to the place that comes there, for a rotation by degrees to the
    right, a shift, a scaling and a shear, about a center.

    Args:
        center: across and down.
        angle: in degrees.
        translate: across and down, in pixels.
        scale: how many times as large.
        shear: in degrees, across and down.
    """
    turn, across, down = (math.radians(each) for each in (angle, *shear))
    a = math.cos(turn - down) / math.cos(down)
    c = math.sin(turn - down) / math.cos(down)
    b = -a * math.tan(across) - math.sin(turn)
    d = -c * math.tan(across) + math.cos(turn)
    linear = np.array([[d, -b], [-c, a]]) / scale
    middle = np.array([*center], "float64")
    moved = middle - linear @ (middle + np.array([*translate]))
    return np.column_stack([linear, moved])


def inverse_perspective(startpoints: Corners, endpoints: Corners) -> Matrix:
    """From a place of the result to the place that comes there, where four corners go to others.

    Args:
        startpoints, endpoints: the corners before and after: across and down.
    """
    rows = []
    for (x, y), (u, v) in zip(endpoints, startpoints):
        rows.append([x, y, 1, 0, 0, 0, -u * x, -u * y])
        rows.append([0, 0, 0, x, y, 1, -v * x, -v * y])
    places = np.array([*startpoints], "float64").reshape(8)
    solved = np.linalg.lstsq(np.array(rows, "float64"), places, rcond=None)[0]
    return np.append(solved, 1.0).reshape(3, 3)


def enlarged(inverse: Matrix, width: int, height: int) -> tuple[int, int]:
    """Width and height of what holds a whole picture after a rotation.

    Args:
        inverse: of the rotation.
        width, height: of the picture.
    """
    corners = np.array([[0, 0, 1], [width, 0, 1], [width, height, 1], [0, height, 1]])
    places = np.round(corners @ inverse.T, 9)
    wide, high = np.ceil(places.max(0)) - np.floor(places.min(0))
    return int(wide), int(high)
