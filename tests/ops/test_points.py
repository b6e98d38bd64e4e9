"""Images between their elements against loops over the four neighbours."""

import numpy as np
import pytest

from fluidlite.errors import AttributeValueError, OutOfRangeError, ShapeError

from gradcheck import check_gradients, evaluator
from infer import infer

f = evaluator()
rng = np.random.default_rng(0)
X = rng.normal(size=[2, 3, 4, 5])


def between(image, y, x):
    """The value of an image [channel, row, column] at a point; zeros beyond it."""
    out = np.zeros(len(image))
    for row in (int(np.floor(y)), int(np.floor(y)) + 1):
        for column in (int(np.floor(x)), int(np.floor(x)) + 1):
            if 0 <= row < image.shape[1] and 0 <= column < image.shape[2]:
                out += image[:, row, column] * (1 - abs(y - row)) * (1 - abs(x - column))
    return out


def test_grid_sampler_takes_values_at_points():
    grid = rng.uniform(-1.6, 1.6, size=[2, 3, 6, 2])
    out = f.grid_sampler(X, grid)
    for n, i, j in np.ndindex(2, 3, 6):
        x, y = (grid[n, i, j] + 1) / 2 * [4, 3]
        np.testing.assert_allclose(out[n, :, i, j], between(X[n], y, x), atol=1e-12)


def test_grid_sampler_has_a_third_order():
    grid = rng.uniform(-0.9, 0.9, size=[1, 2, 1, 2])
    check_gradients(lambda f, x, g: f.grid_sampler(x, g), [X[:1], grid], order=3, tolerance=1e-5)


def test_affine_grid_maps_the_plane():
    theta = rng.normal(size=[2, 2, 3])
    out = f.affine_grid(theta, output_shape=[2, 7, 3, 4])
    for n, i, j in np.ndindex(2, 3, 4):
        np.testing.assert_allclose(out[n, i, j], theta[n] @ [-1 + 2 * j / 3, -1 + i, 1])
    given = f.affine_grid(theta, np.array([2, 7, 3, 4]))
    np.testing.assert_array_equal(f.affine_grid(theta, output_shape=[5, 7, 3, 4]), out)
    np.testing.assert_array_equal(given, out)


def test_the_identity_gives_images_back():
    theta = np.array([[1.0, 0, 0], [0, 1, 0]])[None].repeat(2, 0)
    grid = f.affine_grid(theta, output_shape=[2, 3, 4, 5])
    np.testing.assert_allclose(f.grid_sampler(X, grid), X)


def test_sums_by_weights():
    x, y = rng.normal(size=[2, 3, 5]), rng.normal(size=[2, 3, 4])
    index, weight = rng.integers(0, 5, size=[2, 4, 6]), rng.normal(size=[2, 4, 6])
    taken, put, dot = np.zeros([2, 3, 4]), np.zeros([2, 3, 5]), np.zeros([2, 4, 6])
    for n, p, j in np.ndindex(index.shape):
        taken[n, :, p] += x[n, :, index[n, p, j]] * weight[n, p, j]
        put[n, :, index[n, p, j]] += y[n, :, p] * weight[n, p, j]
        dot[n, p, j] = x[n, :, index[n, p, j]] @ y[n, :, p]
    np.testing.assert_allclose(f.weighted_take(x, index, weight), taken)
    np.testing.assert_allclose(f.weighted_put(y, index, weight, size=5), put)
    np.testing.assert_allclose(f.weighted_dot(x, y, index), dot)
    with pytest.raises(OutOfRangeError, match=r"expected Index in \[0, 5\), got 5"):
        f.weighted_take(x, np.full([2, 4, 6], 5), weight)


@pytest.mark.parametrize(
    "error, message, type, attrs, inputs",
    [
        (
            ShapeError,
            "Grid of shape [2, 4, 5, 2] for X [2, 3, 4, 5]",
            "grid_sampler",
            dict(),
            dict(X=(2, 3, 4, 5), Grid=(1, 4, 5, 2)),
        ),
        (ShapeError, "Theta of shape [n, 2, 3]", "affine_grid", dict(), dict(Theta=(2, 3, 2))),
        (
            AttributeValueError,
            "expected output_shape [n, channels, height, width], or OutputShape; got []",
            "affine_grid",
            dict(),
            dict(Theta=(2, 2, 3)),
        ),
    ],
)
def test_what_does_not_fit_is_refused(error, message, type, attrs, inputs):
    with pytest.raises(error) as raised:
        infer(type, attrs, **{slot: (shape, "float32") for slot, shape in inputs.items()})
    assert message in str(raised.value)
