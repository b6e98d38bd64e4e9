"""Straightened quadrangles, against loops over their points."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.errors import AttributeValueError, OutOfRangeError, ShapeError
from fluidlite.ground.values import LoDTensor

from gradcheck import evaluator
from infer import infer

f = evaluator()
rng = np.random.default_rng(0)
X = rng.normal(size=[2, 3, 7, 9])
REGIONS = np.array(
    [
        [1.1, 0.9, 7.2, 1.4, 6.6, 5.1, 0.7, 4.8],
        [-2.3, -1.1, 6.4, 0.6, 7.9, 8.2, -0.3, 5.3],
        [2.2, 1.7, 3.1, 1.8, 3.3, 5.9, 2.1, 5.7],
        [0.0, 0.0, 8.0, 0.0, 8.0, 6.0, 0.0, 6.0],
    ]
)
IMAGES = [0, 0, 1, 1]
SEQUENCES = LoDTensor(REGIONS, [[0, 2, 4]])
SIZES = dict(transformed_height=4, transformed_width=5)


def straightened(X, regions, images, height, width, scale=1.0):
    """Out, Mask and TransformMatrix, by solving for the map and going to each point."""
    out = np.zeros([len(regions), X.shape[1], height, width])
    mask = np.zeros([len(regions), 1, height, width], "int32")
    maps = []
    for r, region in enumerate(regions * scale):
        corners = region.reshape(4, 2)
        sides = [np.linalg.norm(corners[k] - corners[(k + 1) % 4]) for k in range(4)]
        last_row = max(height, 2) - 1
        wide = round((sides[0] + sides[2]) / (sides[1] + sides[3]) * last_row)
        last_column = max(1, min(wide, width - 1))
        rectangle = [(0, 0), (last_column, 0), (last_column, last_row), (0, last_row)]
        rows, right = [], []
        for (u, v), (x, y) in zip(rectangle, corners, strict=True):
            rows += [[u, v, 1, 0, 0, 0, -u * x, -v * x], [0, 0, 0, u, v, 1, -u * y, -v * y]]
            right += [x, y]
        matrix = np.append(np.linalg.solve(rows, right), 1.0)
        maps.append(matrix)
        for i, j in np.ndindex(height, width):
            a, b, w = matrix.reshape(3, 3) @ [j, i, 1]
            x, y = a / w, b / w
            turns = [
                np.cross([*(corners[(k + 1) % 4] - corners[k]), 0], [x - cx, y - cy, 0])[2]
                for k, (cx, cy) in enumerate(corners)
            ]
            if min(turns) < -1e-4 or not (-0.5 < x < X.shape[3] - 0.5):
                continue
            if not -0.5 < y < X.shape[2] - 0.5:
                continue
            mask[r, 0, i, j] = 1
            x, y = np.clip(x, 0, X.shape[3] - 1), np.clip(y, 0, X.shape[2] - 1)
            row, column = min(int(y), X.shape[2] - 2), min(int(x), X.shape[3] - 2)
            near = X[images[r], :, row : row + 2, column : column + 2]
            weights = np.outer([1 - (y - row), y - row], [1 - (x - column), x - column])
            out[r, :, i, j] = (near * weights).sum(axis=(1, 2))
    return out, mask, np.array(maps)


@pytest.mark.parametrize("height, width", [(4, 5), (6, 3), (1, 1), (3, 12)])
def test_regions_are_straightened_by_the_map_of_their_corners(height, width):
    sizes = dict(transformed_height=height, transformed_width=width)
    found = f.roi_perspective_transform.all(X, SEQUENCES, **sizes)
    wanted = straightened(X, REGIONS, IMAGES, height, width)
    for slot, right in zip(("Out", "Mask", "TransformMatrix"), wanted, strict=True):
        np.testing.assert_allclose(found[slot], right, rtol=1e-4, atol=1e-4)
    assert found["Mask"].dtype == "int32"


def test_scaled_regions():
    found = f.roi_perspective_transform(X, SEQUENCES, spatial_scale=0.5, **SIZES)
    wanted = straightened(X, REGIONS, IMAGES, 4, 5, 0.5)
    np.testing.assert_allclose(found[0], wanted[0], rtol=1e-4, atol=1e-4)


def test_narrow_regions_keep_their_shape():
    region = LoDTensor(np.array([[2.0, 2, 5, 2, 5, 8, 2, 8]]), [[0, 1, 1]])
    out, mask, matrix = f.roi_perspective_transform(
        rng.normal(size=[2, 1, 10, 12]), region, **SIZES
    )
    assert mask[0, 0].tolist() == [[1, 1, 1, 0, 0]] * 4
    np.testing.assert_allclose(matrix[0], [1.5, 0, 2, 0, 2, 2, 0, 0, 1], atol=1e-4)
    assert not out[0, 0, :, 3:].any()


def test_a_region_that_is_the_image_gives_the_image():
    whole = np.array([[0.0, 0, 8, 0, 8, 6, 0, 6]])
    sizes = dict(transformed_height=7, transformed_width=9)
    out, mask, _ = f.roi_perspective_transform(X[:1], whole, **sizes)
    np.testing.assert_allclose(out, X[:1], atol=1e-4)
    assert mask.all()


def test_images_of_one_pixel_and_regions_without_area():
    out, mask, _ = f.roi_perspective_transform(
        np.full([1, 2, 1, 1], 3.0), np.zeros([1, 8]), transformed_height=2, transformed_width=2
    )
    assert set(np.unique(out)) <= {0.0, 3.0} and np.array_equal(mask[:, 0] == 1, out[:, 0] == 3.0)


def test_numbers_that_are_not_finite_are_refused():
    with pytest.raises(OutOfRangeError, match="expected finite numbers in ROIs"):
        f.roi_perspective_transform(X[:1], np.full([1, 8], np.nan), **SIZES)


def test_regions_without_sequences_are_of_one_image():
    with pytest.raises(ShapeError, match="a sequence for each of 2 images"):
        f.roi_perspective_transform(X, REGIONS, **SIZES)


@pytest.mark.parametrize(
    "shapes, attrs, error, message",
    [
        (dict(ROIs=[3, 4]), {}, ShapeError, r"expected ROIs of shape \[n, 8\]"),
        (dict(X=[2, 3, 0, 5]), {}, ShapeError, "expected images with elements"),
        ({}, dict(transformed_height=0), AttributeValueError, "at least 1"),
        ({}, dict(spatial_scale=0.0), AttributeValueError, "a positive spatial_scale"),
    ],
)
def test_what_does_not_fit_is_refused(shapes, attrs, error, message):
    shapes = {"X": [2, 3, 4, 5], "ROIs": [3, 8], **shapes}
    specs = {slot: (shape, "float32") for slot, shape in shapes.items()}
    with pytest.raises(error, match=message):
        infer("roi_perspective_transform", {**SIZES, **attrs}, **specs)


def test_the_layer_runs_in_a_program():
    images = fluid.data("images", [2, 3, 7, 9], "float64")
    rois = fluid.data("rois", [None, 8], "float64", lod_level=1)
    out, mask, _ = fluid.layers.roi_perspective_transform(images, rois, 4, 5)
    place = fluid.CPUPlace()
    feed = {"images": X, "rois": fluid.create_lod_tensor(REGIONS, [[2, 2]], place)}
    found = fluid.Executor(place).run(feed=feed, fetch_list=[out, mask], return_numpy=False)
    assert found[0].recursive_sequence_lengths() == [[2, 2]]
    found = [np.array(each) for each in found]
    wanted = straightened(X, REGIONS, IMAGES, 4, 5)
    np.testing.assert_allclose(found[0], wanted[0], atol=1e-4)
    np.testing.assert_array_equal(found[1], wanted[1])


def test_the_gradient_has_what_the_real_system_reads():
    images = fluid.data("images", [2, 3, 7, 9])
    images.stop_gradient = False
    rois = fluid.data("rois", [None, 8], lod_level=1)
    out, _, _ = fluid.layers.roi_perspective_transform(images, rois, 4, 5)
    fluid.gradients([out], [images])
    ops = fluid.default_main_program().global_block().ops
    op, gradient = ops[0], ops[-1]
    assert gradient.type == "roi_perspective_transform_grad"
    for slot in ("Out2InIdx", "Out2InWeights"):
        assert op.output(slot) and gradient.input(slot) == op.output(slot)
