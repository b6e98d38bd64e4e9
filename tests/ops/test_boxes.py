"""Boxes against worked numbers and loops."""

import numpy as np
import pytest

from fluidlite.errors import AttributeValueError, DTypeError, ShapeError

from gradcheck import evaluator
from infer import infer

f = evaluator()
rng = np.random.default_rng(0)


def boxes(*shape):
    first = rng.uniform(0, 4, size=(*shape, 2))
    return np.concatenate([first, first + rng.uniform(1, 5, size=(*shape, 2))], axis=-1)


def test_overlap_of_boxes_worked_by_hand():
    x = np.array([[0.0, 0, 2, 2], [0, 0, 1, 1]])
    y = np.array([[1.0, 1, 3, 3], [5, 5, 6, 6], [0, 0, 2, 2]])
    np.testing.assert_allclose(f.iou_similarity(x, y), [[1 / 7, 0, 1], [0, 0, 1 / 4]])
    # in pixels the boxes of x have 9 and 4 of them, and 4 and 1 in common with the first of y
    found = f.iou_similarity(x, y[:1], box_normalized=False)
    np.testing.assert_allclose(found, [[4 / 14], [1 / 12]])


def test_boxes_without_an_area_overlap_nothing():
    np.testing.assert_array_equal(f.iou_similarity(np.zeros([1, 4]), np.zeros([1, 4])), [[0]])


@pytest.mark.parametrize("normalized", [True, False])
def test_coded_boxes_are_relative_to_priors(normalized):
    more = 0 if normalized else 1
    priors, targets, variance = boxes(3), boxes(2), rng.uniform(0.1, 1, size=[3, 4])
    out = f.box_coder(priors, variance, targets, box_normalized=normalized)
    for i, j in np.ndindex(2, 3):
        (pw, ph), (tw, th) = (b[2:] - b[:2] + more for b in (priors[j], targets[i]))
        dx, dy = (targets[i, :2] + targets[i, 2:]) / 2 - (priors[j, :2] + [pw / 2, ph / 2])
        expected = [dx / pw, dy / ph, np.log(tw / pw), np.log(th / ph)] / variance[j]
        np.testing.assert_allclose(out[i, j], expected)


@pytest.mark.parametrize("axis", [0, 1])
def test_decoding_undoes_encoding(axis):
    priors, targets, variance = boxes(3), boxes(2), rng.uniform(0.1, 1, size=[3, 4])
    coded = f.box_coder(priors, variance, targets)
    expected = np.broadcast_to(targets[:, None], [2, 3, 4])
    if axis:
        coded, expected = coded.swapaxes(0, 1), expected.swapaxes(0, 1)
    found = f.box_coder(priors, variance, coded, code_type="decode_center_size", axis=axis)
    np.testing.assert_allclose(found, expected)


def test_variances_may_be_attributes():
    priors, targets = boxes(3), boxes(2)
    plain = f.box_coder(priors, None, targets)
    found = f.box_coder(priors, None, targets, variance=[0.5, 0.5, 0.25, 0.25])
    np.testing.assert_allclose(found, plain / [0.5, 0.5, 0.25, 0.25])


def test_boxes_are_moved_into_the_image():
    x = np.array([[-1.0, 2, 30, 40], [3, 4, 5, 60]])
    info = np.array([[20.0, 60, 2]])  # was 10 x 30 before it was scaled by 2
    np.testing.assert_array_equal(f.box_clip(x, info), [[0, 2, 29, 9], [3, 4, 5, 9]])
    both = f.box_clip(np.stack([x, x]), np.array([[20.0, 60, 2], [50, 50, 1]]))
    np.testing.assert_array_equal(both[1], [[0, 2, 30, 40], [3, 4, 5, 49]])


def test_corners_of_quadrangles():
    x = rng.normal(size=[1, 4, 2, 3])
    out = f.polygon_box_transform(x)
    for c, i, j in np.ndindex(4, 2, 3):
        assert out[0, c, i, j] == pytest.approx(4 * (i if c % 2 else j) - x[0, c, i, j])


def test_the_class_with_the_best_score_gets_the_box():
    priors = np.array([[0.0, 0, 9, 9], [10, 10, 19, 29]])
    relative = np.zeros([2, 12])
    relative[0, 4:8] = [1, 0, 0, 0]  # class 1 is moved by a width
    relative[1, 8:] = [0, 0, 0, 5]  # class 2 gets as high as is allowed
    scores = np.array([[0.9, 0.6, 0.5], [0.1, 0.2, 0.3]])  # the background does not count
    decoded, best = f.box_decoder_and_assign(
        priors, np.array([0.5, 1, 1, 1]), relative, scores, box_clip=np.log(2)
    )
    np.testing.assert_allclose(best, [[5, 0, 14, 9], [10, 0, 19, 39]], atol=1e-6)
    np.testing.assert_allclose(decoded[:, :4], priors)


@pytest.mark.parametrize(
    "error, message, type, attrs, inputs",
    [
        (
            ShapeError,
            "X to hold boxes of 4 numbers",
            "iou_similarity",
            dict(),
            dict(X=(2, 5), Y=(3, 4)),
        ),
        (
            AttributeValueError,
            "code_type encode_center_size or decode_center_size, got 'code'",
            "box_coder",
            dict(code_type="code"),
            dict(PriorBox=(3, 4), TargetBox=(2, 4)),
        ),
        (
            ShapeError,
            "TargetBox of 3 boxes along dimension 1",
            "box_coder",
            dict(code_type="decode_center_size"),
            dict(PriorBox=(3, 4), TargetBox=(2, 5, 4)),
        ),
        (
            AttributeValueError,
            "PriorBoxVar or variance, got both",
            "box_coder",
            dict(variance=[1.0] * 4),
            dict(PriorBox=(3, 4), PriorBoxVar=(3, 4), TargetBox=(2, 4)),
        ),
        (
            ShapeError,
            "ImInfo of shape [2, 3]",
            "box_clip",
            dict(),
            dict(Input=(2, 5, 4), ImInfo=(1, 3)),
        ),
        (
            ShapeError,
            "an even number of channels",
            "polygon_box_transform",
            dict(),
            dict(Input=(1, 3, 2, 2)),
        ),
        (
            ShapeError,
            "TargetBox of shape [3, 8]",
            "box_decoder_and_assign",
            dict(),
            dict(PriorBox=(3, 4), TargetBox=(3, 4), BoxScore=(3, 2)),
        ),
    ],
)
def test_what_does_not_fit_is_refused(error, message, type, attrs, inputs):
    with pytest.raises(error) as raised:
        infer(type, attrs, **{slot: (shape, "float32") for slot, shape in inputs.items()})
    assert message in str(raised.value)


def test_integers_are_no_boxes():
    with pytest.raises(DTypeError, match="expected X to be float16, float32 or float64"):
        infer("iou_similarity", X=((2, 4), "int64"), Y=((2, 4), "int64"))
