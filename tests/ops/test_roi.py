"""Poolings of regions against loops over their parts."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.errors import AttributeValueError, ShapeError
from fluidlite.ground.values import LoDTensor

from gradcheck import evaluator, pull_back
from infer import infer

f = evaluator()
rng = np.random.default_rng(0)
X = rng.normal(size=[2, 3, 6, 7])
ROIS = np.array([[0.3, 1.2, 4.6, 3.7], [-2.1, 0.4, 9.0, 9.1], [2.4, 2.6, 2.9, 3.5]])
IMAGES = [0, 1, 1]
SEQUENCES = LoDTensor(ROIS, [[0, 1, 3]])
PARTS = dict(pooled_height=3, pooled_width=2, spatial_scale=0.5)


def clamped(image, y, x):
    """The value of an image at a point; that of the border up to one element beyond it."""
    height, width = image.shape[1:]
    if not (-1 <= y <= height and -1 <= x <= width):
        return np.zeros(len(image))
    y, x = np.clip(y, 0, height - 1), np.clip(x, 0, width - 1)
    row, column = min(int(y), height - 2), min(int(x), width - 2)
    near = image[:, row : row + 2, column : column + 2]
    rows, columns = [1 - (y - row), y - row], [1 - (x - column), x - column]
    return np.einsum("chw,h,w->c", near, rows, columns)


@pytest.mark.parametrize("ratio", [-1, 2])
def test_aligned_regions_are_means_of_points(ratio):
    out = f.roi_align(X, SEQUENCES, sampling_ratio=ratio, **PARTS)
    for r, (image, roi) in enumerate(zip(IMAGES, ROIS * 0.5)):
        width, height = np.maximum(roi[2:] - roi[:2], 1) / [2, 3]
        down, across = (ratio, ratio) if ratio > 0 else (int(np.ceil(height)), int(np.ceil(width)))
        for i, j in np.ndindex(3, 2):
            points = [
                clamped(
                    X[image],
                    roi[1] + (i + (k + 0.5) / down) * height,
                    roi[0] + (j + (m + 0.5) / across) * width,
                )
                for k in range(down)
                for m in range(across)
            ]
            np.testing.assert_allclose(out[r, :, i, j], np.mean(points, axis=0), atol=1e-12)


def test_the_parts_of_regions_are_rounded_as_single_precision_rounds_them():
    """Where a part's edge lies on an element but for rounding, fluid's float32 decides."""
    scale, count = np.float32(0.7), 0
    for begin, end in np.ndindex(12, 12):
        first = np.float32(begin) * scale
        span = max(np.float32(end + 1) * scale - first, np.float32(0.1)) / np.float32(3)
        edges = [np.float32(k) * span + first for k in range(4)]
        exact = [float(k) * float(span) + float(first) for k in range(4)]
        regions = np.array([[begin, 0, end, 3]], "float32")
        found = f.psroi_weights(regions, axis=0, bins=3, size=9, spatial_scale=0.7)[0] > 0
        wanted = [
            [np.floor(edges[k]) <= n < np.ceil(edges[k + 1]) for n in range(9)] for k in range(3)
        ]
        np.testing.assert_array_equal(found, wanted)
        count += np.floor(edges).tolist() != np.floor(exact).tolist()
    assert count  # double precision differs


def test_points_on_the_edge_of_an_image_count_in_single_precision_too():
    roi = np.array([[1.5, 4.5, 5.5, 8.5]], "float32")
    found = f.roi_align_weights(roi, axis=1, bins=4, size=5, spatial_scale=1.0, sampling_ratio=3)
    np.testing.assert_allclose(found[0].sum(axis=1), [2 / 3, 0, 0, 0], rtol=1e-6)


def test_pooled_regions_are_maxima_of_their_parts():
    outs = f.roi_pool.all(X, SEQUENCES, **PARTS)
    for r, (image, roi) in enumerate(zip(IMAGES, ROIS * 0.5)):
        left, top, right, bottom = (int(np.floor(v + 0.5)) for v in roi)
        height, width = max(bottom - top + 1, 1) / 3, max(right - left + 1, 1) / 2
        for i, j in np.ndindex(3, 2):
            rows = [int(np.floor(i * height)) + top, int(np.ceil((i + 1) * height)) + top]
            columns = [int(np.floor(j * width)) + left, int(np.ceil((j + 1) * width)) + left]
            rows, columns = np.clip(rows, 0, 6), np.clip(columns, 0, 7)
            part = X[image, :, slice(*rows), slice(*columns)]
            expected = part.max((1, 2)) if part.size else 0
            np.testing.assert_array_equal(outs["Out"][r, :, i, j], expected)
            if part.size:
                found = X[image].reshape(3, -1)[range(3), outs["Argmax"][r, :, i, j]]
                np.testing.assert_array_equal(found, expected)


def test_a_part_without_elements_gets_nothing():
    outs = f.roi_pool.all(X[:1], np.array([[20.0, 20, 25, 25]]))
    assert (outs["Out"] == 0).all()
    assert (outs["Argmax"] == -1).all()
    pool = lambda f, x: f.roi_pool.all(x, np.array([[20.0, 20, 25, 25]]))["Out"]
    (gradient,) = pull_back(f, pool, [X[:1]], [np.ones([1, 3, 1, 1])])
    assert (gradient == 0).all()


def test_parts_of_regions_have_channels_of_their_own():
    x = rng.normal(size=[2, 12, 6, 7])
    out = f.psroi_pool(x, SEQUENCES, output_channels=2, **PARTS)
    for r, (image, roi) in enumerate(zip(IMAGES, ROIS)):
        left, top = np.floor(roi[:2] + 0.5) * 0.5
        right, bottom = (np.floor(roi[2:] + 0.5) + 1) * 0.5
        height, width = max(bottom - top, 0.1) / 3, max(right - left, 0.1) / 2
        for c, i, j in np.ndindex(2, 3, 2):
            rows = [np.floor(i * height + top), np.ceil((i + 1) * height + top)]
            columns = [np.floor(j * width + left), np.ceil((j + 1) * width + left)]
            rows, columns = np.clip(rows, 0, 6).astype(int), np.clip(columns, 0, 7).astype(int)
            part = x[image, (c * 3 + i) * 2 + j, slice(*rows), slice(*columns)]
            expected = part.mean() if part.size else 0
            np.testing.assert_allclose(out[r, c, i, j], expected)


def test_precise_means_are_integrals():
    out = f.prroi_pool(X, SEQUENCES, **PARTS)
    steps = (np.arange(400) + 0.5) / 400
    for r, (image, roi) in enumerate(zip(IMAGES, ROIS * 0.5)):
        spans = (roi[2:] - roi[:2]) / [2, 3]
        for i, j in np.ndindex(3, 2):
            at = [roi[1] + (i + steps) * spans[1], roi[0] + (j + steps) * spans[0]]
            hats = [
                np.maximum(1 - abs(points[:, None] - np.arange(size)), 0).mean(0)
                for points, size in zip(at, (6, 7))
            ]
            expected = np.einsum("chw,h,w->c", X[image], *hats)
            np.testing.assert_allclose(out[r, :, i, j], expected, atol=1e-4)


def test_images_of_regions_are_told_by_sequences_or_tensors():
    expected = f.roi_align(X, SEQUENCES, **PARTS)
    np.testing.assert_array_equal(f.roi_align(X, ROIS, np.array([0, 1, 3]), **PARTS), expected)
    expected = f.prroi_pool(X, SEQUENCES, **PARTS)
    np.testing.assert_array_equal(f.prroi_pool(X, ROIS, np.array([1, 2]), **PARTS), expected)
    with pytest.raises(ShapeError, match="expected ROIs with a sequence for each of 2 images"):
        f.roi_align(X, ROIS, **PARTS)
    with pytest.raises(ShapeError, match="expected 3 regions in 2 images"):
        f.roi_align(X, ROIS, np.array([0, 1, 2]), **PARTS)


def test_sequences_reach_gradients_in_programs():
    x = fluid.data("x", [2, 3, 6, 7], "float64")
    rois = fluid.data("rois", [None, 4], "float64", lod_level=1)
    x.stop_gradient = rois.stop_gradient = False
    out = fluid.layers.prroi_pool(x, rois, 0.5, 3, 2)
    gradients = fluid.gradients(fluid.layers.reduce_sum(out * out), [x, rois])
    fed = fluid.create_lod_tensor(ROIS, [[1, 2]])
    exe = fluid.Executor()
    found = exe.run(feed={"x": X, "rois": fed}, fetch_list=gradients, return_numpy=False)
    assert found[1].recursive_sequence_lengths() == [[1, 2]]
    pool = lambda f, x, rois: f.prroi_pool(x, rois, np.array([1, 2]), **PARTS)
    expected = pull_back(f, pool, [X, ROIS], [2 * pool(f, X, ROIS)])
    for value, wanted in zip(found, expected):
        np.testing.assert_allclose(np.array(value), wanted)


@pytest.mark.parametrize("type, channels", [("roi_align", 3), ("prroi_pool", 3), ("psroi_pool", 2)])
def test_no_regions_give_empty_results_and_no_gradient(type, channels):
    attrs = PARTS | (dict(output_channels=2) if type == "psroi_pool" else {})
    image = rng.normal(size=[1, 12 if type == "psroi_pool" else 3, 6, 7])
    pool = lambda f, x, rois: getattr(f, type)(x, rois, **attrs)
    none = np.zeros([0, 4])
    assert pool(f, image, none).shape == (0, channels, 3, 2)
    slopes = pull_back(f, pool, [image, none], [np.zeros([0, channels, 3, 2])])
    np.testing.assert_array_equal(slopes[0], np.zeros_like(image))


def test_no_images_have_no_regions():
    none = np.zeros([0], "int64")
    assert f.roi_images(np.zeros([0, 4]), Counts=none, images=0).shape == (0,)


def test_sums_by_weights():
    x, rows, columns = (rng.normal(size=s) for s in ((2, 6, 4, 5), (3, 2, 4), (3, 3, 5)))
    images, g = np.array([1, 0, 1]), rng.normal(size=[3, 6, 2, 3])
    expected = np.einsum("rih,rjw,rchw->rcij", rows, columns, x[images])
    np.testing.assert_allclose(f.roi_blend(x, rows, columns, images), expected)
    back = np.zeros_like(x)
    np.add.at(back, images, np.einsum("rcij,rih,rjw->rchw", g, rows, columns))
    np.testing.assert_allclose(f.roi_blend_adjoint(g, rows, columns, images, size=x.shape), back)
    found = f.roi_blend_rows(x, columns, g, images)
    np.testing.assert_allclose(found, np.einsum("rcij,rjw,rchw->rih", g, columns, x[images]))
    own = x.reshape(2, 1, 2, 3, 4, 5)[images]
    expected = np.einsum("rih,rjw,rcijhw->rcij", rows, columns, own)
    found = f.roi_blend(x, rows, columns, images, by_place=True)
    np.testing.assert_allclose(found, expected)


def roi_spec(type="roi_align", shape=(-1, 3, 8, 8), rois=(-1, 4), **attrs):
    return infer(type, attrs, X=(shape, "float32"), ROIs=(rois, "float32"))["Out"].shape


def test_unknown_sizes_stay_unknown():
    assert roi_spec(pooled_height=2, pooled_width=3) == (-1, 3, 2, 3)
    assert roi_spec("psroi_pool", (-1, -1, 8, 8), output_channels=2) == (-1, 2, 1, 1)


@pytest.mark.parametrize(
    "error, message, given",
    [
        (ShapeError, "X to have 4 dimensions", dict(shape=(3, 8, 8))),
        (ShapeError, "ROIs of shape [n, 4], got [-1, 5]", dict(rois=(-1, 5))),
        (AttributeValueError, "at least 1 and a positive spatial_scale", dict(spatial_scale=0.0)),
        (ShapeError, "X of 8 channels", dict(type="psroi_pool", output_channels=2, pooled_width=4)),
    ],
)
def test_what_does_not_fit_is_refused(error, message, given):
    with pytest.raises(error) as raised:
        roi_spec(**given)
    assert message in str(raised.value)
