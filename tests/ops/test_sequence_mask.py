"""Lengths of sequences as masks."""

import numpy as np
import pytest

from fluidlite.errors import AttributeValueError

from gradcheck import evaluator
from infer import infer

f = evaluator()


def test_positions_below_a_length_are_one():
    lengths = np.array([3, 0, 5, -1])
    wanted = np.array([[j < n for j in range(5)] for n in lengths])
    np.testing.assert_array_equal(f.sequence_mask(lengths, out_dtype="int64"), wanted)
    for width in (1, 4, 7):
        found = f.sequence_mask(lengths, out_dtype="bool", maxlen=width)
        same = f.sequence_mask(lengths, np.array([width]), out_dtype="bool")
        np.testing.assert_array_equal(found, [[j < n for j in range(width)] for n in lengths])
        np.testing.assert_array_equal(found, same)


def test_no_lengths_have_no_positions():
    assert f.sequence_mask(np.zeros([0], "int64"), out_dtype="int64").shape == (0, 0)


def test_no_positions_are_refused():
    with pytest.raises(AttributeValueError, match="expected maxlen of at least 1"):
        infer("sequence_mask", dict(maxlen=0, out_dtype="int64"), X=([3], "int64"))
    with pytest.raises(AttributeValueError, match="expected MaxLenTensor of at least 1, got 0"):
        f.sequence_mask(np.array([1]), np.array([0]), out_dtype="int64")
