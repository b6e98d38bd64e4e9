"""Kernels of the sums of rows of convolutions, held against NumPy's."""

from itertools import product

import numpy as np
import pytest
from shares import shared

from fluidlite.backend.native import tiles
from fluidlite.ground.dtypes import DType
from fluidlite.kernels import convolution, winograd  # noqa: F401 (kernels register themselves)
from fluidlite.opdef.definition import lookup
from fluidlite.opdef.prepared import preparation_of
from fluidlite.opdef.spec import spec

#: an image, a filter, how the window moves, and the functions that NumPy computes
CASES = [
    ((2, 4, 8, 8), (5, 4, 3, 3), dict(paddings=[1, 1]), set()),
    ((3, 2, 9, 7), (3, 2, 3, 3), dict(paddings=[0, 0]), {"tile_planes"}),
    ((1, 3, 7, 5), (4, 3, 3, 2), dict(paddings=[2, 1, 0, 2], dilations=[1, 2]), set()),
    (
        (2, 3, 7, 9),
        (2, 3, 3, 2),
        dict(paddings=[1, 1], strides=[1, 2]),
        {"tile_patches", "tile_planes"},
    ),
]


@pytest.fixture
def in_tiles(compiler, monkeypatch):
    """Which functions kernels have computed, where all convolutions are in small tiles."""
    monkeypatch.setattr(winograd, "pays", lambda g, dtype: True)
    done, computed = set(), tiles.computed

    def noted(name, arrays):
        is_done = computed(name, arrays)
        if is_done:
            done.add(name)
        return is_done

    monkeypatch.setattr(tiles, "computed", noted)
    return done


TYPES, SIZES = ["conv2d", "conv2d_adjoint_filter"], [winograd.TILE_BYTES, 1]


@pytest.mark.parametrize("type, case, size", shared(product(TYPES, CASES, SIZES)))
def test_kernels_compute_what_numpy_does(in_tiles, type, case, size, monkeypatch):
    image, filter, geometry, missing = case
    monkeypatch.setattr(winograd, "TILE_BYTES", size)
    rng = np.random.default_rng(3)
    draw = lambda shape: rng.standard_normal(shape).astype("f")
    attributes, x, w = geometry, draw(image), draw(filter)
    given = [x, w]
    if type != "conv2d":
        op = lookup("conv2d")(geometry)
        given[1] = draw(op.convolved(image, filter))
        attributes = {**geometry, "size": list(filter)}
    specs = [spec(each.shape, DType.FP32) for each in given]
    more = [None] * (type == "conv2d")
    kernel = preparation_of(type)(lookup(type)(attributes), *specs, *more)
    by_kernels = kernel.function(*given, kernel.scratch())
    wanted = {"tile_patches", "tile_rows" if type == "conv2d" else "tile_planes"} - missing
    assert in_tiles == wanted
    monkeypatch.setattr(tiles, "computed", lambda name, arrays: False)
    by_numpy = kernel.function(*given, kernel.scratch())
    np.testing.assert_allclose(by_kernels, by_numpy, rtol=1e-5, atol=1e-5)
