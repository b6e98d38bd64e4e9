"""Convolutions along sequences, against a loop."""

import itertools

import numpy as np
import pytest

from fluidlite.errors import AttributeValueError, LoDError, ShapeError, SlotError
from fluidlite.ground.values import LoDTensor

from gradcheck import evaluator
from infer import infer

f = evaluator()
rng = np.random.default_rng(0)
OFFSETS = (0, 4, 4, 5, 7)


@pytest.mark.parametrize("start, length", [(-1, 3), (0, 2), (-2, 3), (1, 2), (-4, 2), (-2, 5)])
@pytest.mark.parametrize("padded", [False, True])
def test_each_row_sees_the_rows_around_it(start, length, padded):
    x, weight = rng.normal(size=[7, 2]), rng.normal(size=[2 * length, 3])
    before, behind = max(0, -start), max(0, start + length - 1)
    padding = rng.normal(size=[before + behind, 2]) if padded else None
    attrs = dict(contextStart=start, contextLength=length, paddingTrainable=padded)
    out = f.sequence_conv(LoDTensor(x, (OFFSETS,)), padding, weight, **attrs)
    for a, b in itertools.pairwise(OFFSETS):
        for t in range(b - a):
            seen = []
            for p in range(t + start, t + start + length):
                if 0 <= p < b - a:
                    seen.append(x[a + p])
                elif padded:
                    seen.append(padding[before + p if p < 0 else before + p - (b - a)])
                else:
                    seen.append(np.zeros(2))
            np.testing.assert_allclose(out[a + t], np.concatenate(seen) @ weight)


def test_rows_without_sequences_are_refused():
    with pytest.raises(LoDError, match="expected X with sequences"):
        f.sequence_conv(rng.normal(size=[7, 2]), None, rng.normal(size=[2, 3]), contextLength=1)


@pytest.mark.parametrize(
    "error, message, attrs, shapes",
    [
        (AttributeValueError, "contextStride 1", dict(contextStride=2), {}),
        (ShapeError, r"Filter with 3 \* 2 rows", {}, dict(Filter=(5, 4))),
        (SlotError, "expected PaddingData", dict(paddingTrainable=True), {}),
        (
            ShapeError,
            r"PaddingData of shape \[2, 2\]",
            dict(paddingTrainable=True, contextStart=-1),
            dict(PaddingData=(3, 2)),
        ),
    ],
)
def test_what_does_not_fit_is_refused(error, message, attrs, shapes):
    given = dict(X=(7, 2), Filter=(6, 4)) | shapes
    specs = {slot: (shape, "float32") for slot, shape in given.items()}
    with pytest.raises(error, match=message):
        infer("sequence_conv", dict(contextLength=3) | attrs, **specs)
