"""Columns of counts, and hashes of rows against a plain XXH64."""

import math
import struct

import numpy as np
import pytest

from fluidlite.errors import AttributeValueError, DTypeError, ShapeError

from gradcheck import evaluator, pull_back
from infer import infer

f = evaluator()
rng = np.random.default_rng(0)
X, COUNTS = rng.uniform(0.5, 2.0, [3, 4]), rng.uniform(size=[3, 2])


def test_cvm_takes_logarithms_of_shows_and_clicks():
    found = f.cvm(X, COUNTS)
    for row, (shows, clicks, *rest) in zip(found, X):
        expected = [math.log(shows + 1), math.log(clicks + 1) - math.log(shows + 1), *rest]
        np.testing.assert_allclose(row, expected)
    np.testing.assert_array_equal(f.cvm(X, COUNTS, use_cvm=False), X[:, 2:])


@pytest.mark.parametrize("use_cvm", [True, False])
def test_the_gradient_of_the_counts_is_what_was_counted(use_cvm):
    model = lambda f, x: f.cvm(x, COUNTS, use_cvm=use_cvm)
    g = rng.normal(size=[3, 4 if use_cvm else 2])
    (found,) = pull_back(f, model, [X], [g])
    np.testing.assert_array_equal(found, np.concatenate([COUNTS, g[:, -2:]], axis=1))


def test_cvm_refuses_other_shapes():
    with pytest.raises(ShapeError, match=r"CVM of shape \[3, 2\], got \[3, 3\]"):
        infer("cvm", X=([3, 4], "float32"), CVM=([3, 3], "float32"))
    with pytest.raises(ShapeError, match="at least 3 columns"):
        infer("cvm", X=([3, 2], "float32"), CVM=([3, 2], "float32"), attrs=dict(use_cvm=False))
    with pytest.raises(ShapeError, match="at least 3 columns"):
        f.cvm(X[:, :2], COUNTS, use_cvm=False)


MASK = 2**64 - 1
P1, P2, P3, P4, P5 = (
    11400714785074694791,
    14029467366897019727,
    1609587929392839161,
    9650029242287828579,
    2870177450012600261,
)


def left(v, n):
    return (v << n | v >> (64 - n)) & MASK


def step(lane, value):
    return left((lane + value * P2) & MASK, 31) * P1 & MASK


def xxh64(data, seed):
    """XXH64 by its description, on Python's integers."""
    rest = data
    if len(data) >= 32:
        lanes = [(seed + P1 + P2) & MASK, (seed + P2) & MASK, seed, (seed - P1) & MASK]
        while len(rest) >= 32:
            words = struct.unpack("<4Q", rest[:32])
            lanes = [step(lane, word) for lane, word in zip(lanes, words)]
            rest = rest[32:]
        h = sum(left(lane, n) for lane, n in zip(lanes, (1, 7, 12, 18))) & MASK
        for lane in lanes:
            h = ((h ^ step(0, lane)) * P1 + P4) & MASK
    else:
        h = (seed + P5) & MASK
    h = (h + len(data)) & MASK
    while len(rest) >= 8:
        h = (left(h ^ step(0, struct.unpack("<Q", rest[:8])[0]), 27) * P1 + P4) & MASK
        rest = rest[8:]
    if len(rest) >= 4:
        word = struct.unpack("<I", rest[:4])[0]
        h = (left(h ^ (word * P1 & MASK), 23) * P2 + P3) & MASK
    for shift, prime in ((33, P2), (29, P3), (32, 1)):
        h = (h ^ h >> shift) * prime & MASK
    return h


@pytest.mark.parametrize("dtype", ["int64", "int32"])
@pytest.mark.parametrize("width", [1, 2, 3, 4, 5, 8, 9, 17])
def test_hash_is_xxh64_of_the_bytes_of_a_row(dtype, width):
    x = rng.integers(-1000, 1000, [3, width]).astype(dtype)
    found = f.hash(x, num_hash=2, mod_by=100003)
    assert (found.shape, found.dtype) == ((3, 2, 1), x.dtype)
    for n, seed in np.ndindex(3, 2):
        assert found[n, seed, 0] == xxh64(x[n].tobytes(), seed) % 100003


def test_hash_refuses_fractions_and_no_buckets():
    with pytest.raises(DTypeError, match="X to hold integers"):
        infer("hash", X=([3, 1], "float32"))
    with pytest.raises(AttributeValueError, match="mod_by of at least 1, got 0"):
        infer("hash", dict(mod_by=0), X=([3, 1], "int64"))
