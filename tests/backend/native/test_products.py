"""Products of small matrices as generated kernels."""

import itertools

import numpy as np
import pytest

from fluidlite.backend.native.compiler import Compiler
from fluidlite.backend.native.products import ROWS, product_source
from fluidlite.opdef.structure import MatrixProduct

SIZES = [
    (2, 1, 2),
    (3, 5, 2),
    (4, 4, 4),
    (5, 3, 17),
    (7, 20, 33),
    (9, 16, 8),
    (16, 32, 31),
    (6, 2, 48),
]
FORMS = [
    (sizes, turned_x, turned_y, dtype)
    for sizes, turned_x, turned_y, dtype in itertools.product(
        SIZES, (False, True), (False, True), ("float32", "float64")
    )
    if sizes[0] >= ROWS or not turned_y
]


def source_of(sizes, turned_x, turned_y, dtype):
    rows, depth, columns = sizes
    x = (depth, rows) if turned_x else (rows, depth)
    y = (columns, depth) if turned_y else (depth, columns)
    return product_source(MatrixProduct(turned_x, turned_y), x, y, np.dtype(dtype)), x, y


@pytest.fixture(scope="module")
def kernels():
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("FLUIDLITE_CC", raising=False)
        compiler = Compiler()
        if not compiler.version:
            pytest.skip("no C compiler")
        sources = [source_of(*form)[0] for form in FORMS]
        compiler.together(sources, "-O1")
        return compiler.find(sources)


@pytest.mark.parametrize("sizes, turned_x, turned_y, dtype", FORMS)
def test_a_product_is_that_of_numpy(kernels, sizes, turned_x, turned_y, dtype):
    source, x, y = source_of(sizes, turned_x, turned_y, dtype)
    rng = np.random.RandomState(3)
    a, b = rng.normal(size=x).astype(dtype), rng.normal(size=y).astype(dtype)
    if sizes[1] > 2:
        a[1, 1], b[1, 0] = np.inf, np.nan
    made = np.full((sizes[0], sizes[2]), 7, dtype)
    assert kernels[source.name].run((a, b, made)) == 0
    with np.errstate(invalid="ignore"):
        want = (a.T if turned_x else a) @ (b.T if turned_y else b)
    scale = np.abs(want[np.isfinite(want)]).max(initial=1)
    assert np.allclose(made, want, rtol=0, atol=8 * np.finfo(dtype).eps * scale, equal_nan=True)


@pytest.mark.parametrize(
    "form",
    [
        ((4, 1 << 12, 64), False, False, "float32"),  # large
        ((4, 4, 4), False, False, "int64"),
        ((4, 4, 1), False, False, "float32"),  # which is part of what reads it
        ((2, 4, 4), False, True, "float32"),  # copying Y takes as long as multiplying
        ((4, 1 << 10, 36), False, True, "float32"),  # a large copy of Y
    ],
)
def test_other_products_are_left_to_others(form):
    assert source_of(*form)[0] is None
