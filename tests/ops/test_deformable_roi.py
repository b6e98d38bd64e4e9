"""Parts of regions that are moved, against a loop over their points."""

import numpy as np
import pytest

from fluidlite.errors import AttributeValueError, ShapeError

from gradcheck import evaluator
from infer import infer

f = evaluator()
rng = np.random.default_rng(0)
X = rng.normal(size=[1, 8, 5, 6])
ROIS = np.array([[0.3, 1.2, 4.6, 3.7], [-1.0, 0.0, 9.0, 9.1], [2.4, 2.6, 4.9, 6.4]])
LAYOUT = dict(
    spatial_scale=0.75,
    output_dim=2,
    group_size=[2, 2],
    pooled_height=3,
    pooled_width=2,
    part_size=[2, 2],
    sample_per_part=2,
    trans_std=0.25,
)


def value(image, y, x):
    """The value of an image at a point within it."""
    total = 0.0
    for row in (int(y), min(int(y) + 1, len(image) - 1)):
        for column in (int(x), min(int(x) + 1, image.shape[1] - 1)):
            if abs(y - row) < 1 and abs(x - column) < 1:
                total += image[row, column] * (1 - abs(y - row)) * (1 - abs(x - column))
                if column == image.shape[1] - 1 == int(x):
                    break
        if row == len(image) - 1 == int(y):
            break
    return total


@pytest.mark.parametrize("no_trans", [True, False])
def test_parts_are_moved_and_averaged(no_trans):
    trans = rng.normal(size=[3, 4, 2, 2])
    count, out = f.deformable_psroi_pooling(X, ROIS, trans, no_trans=no_trans, **LAYOUT)
    for r, c, i, j in np.ndindex(3, 2, 3, 2):
        begin = np.floor(ROIS[r, :2] + 0.5) * 0.75 - 0.5
        span = np.maximum((np.floor(ROIS[r, 2:] + 0.5) + 1) * 0.75 - 0.5 - begin, 0.1)
        part = span / [2, 3]
        move = np.zeros(2)
        if not no_trans:  # two classes of one channel each
            move = trans[r, 2 * c : 2 * c + 2, i * 2 // 3, j] * 0.25 * span
        channel = (c * 2 + i * 2 // 3) * 2 + j
        found = []
        for k, m in np.ndindex(2, 2):
            x, y = begin + part * [j, i] + move + part / 2 * [m, k]
            if -0.5 <= x <= 5.5 and -0.5 <= y <= 4.5:
                found.append(value(X[0, channel], np.clip(y, 0, 4), np.clip(x, 0, 5)))
        assert count[r, c, i, j] == len(found)
        assert out[r, c, i, j] == pytest.approx(np.mean(found) if found else 0)


@pytest.mark.parametrize(
    "error, message, attrs, trans",
    [
        (ShapeError, "expected 12 channels, output_dim=3", dict(output_dim=3), (3, 2, 2, 2)),
        (ShapeError, "Trans of shape [3, 2, 2, 2] for one class", dict(), (3, 2, 3, 2)),
        (AttributeValueError, "part_size of 2 numbers from 1", dict(part_size=[2]), (3, 2, 2, 2)),
        (
            AttributeValueError,
            "sample_per_part of at least 1",
            dict(sample_per_part=0),
            (3, 2, 2, 2),
        ),
    ],
)
def test_what_does_not_fit_is_refused(error, message, attrs, trans):
    inputs = dict(Input=(1, 8, 5, 6), ROIs=(3, 4), Trans=trans)
    attrs = {**LAYOUT, "no_trans": False, **attrs}
    with pytest.raises(error) as raised:
        infer("deformable_psroi_pooling", attrs, **{k: (s, "float32") for k, s in inputs.items()})
    assert message in str(raised.value)
