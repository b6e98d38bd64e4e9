"""Running sums and rotations."""

import numpy as np

from fluidlite import layers
from fluidlite.errors import ArgumentError

from building import data, refused, run, written

X = np.arange(8, dtype="float32").reshape(2, 4)


def test_cumsum_names_what_is_given():
    x = data()
    out = layers.cumsum(x, axis=0, reverse=True)
    layers.cumsum(x)
    assert [line.split(" = ")[1] for line in written()] == [
        "cumsum(X=x, axis=0, reverse=true)",
        "cumsum(X=x)",
    ]
    assert run(out, x=X).tolist() == X[::-1].cumsum(0)[::-1].tolist()


def test_roll_moves_along_dimensions_or_through_everything():
    x = data(shape=[2, 4])
    along, through = layers.roll(x, [1, -1], [0, 1]), layers.roll(x, 3)
    assert along.shape == through.shape == (2, 4)
    found = run(along, through, x=X)
    assert np.array_equal(found[0], np.roll(X, (1, -1), (0, 1)))
    assert np.array_equal(found[1], np.roll(X, 3))


def test_roll_through_everything_needs_a_shape():
    x = data(shape=[None, None])
    with refused(ArgumentError, r"expected dims, or .* got shape \[-1, -1\]"):
        layers.roll(x, 1)
