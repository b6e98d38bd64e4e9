"""Sizes and paddings of windows in the forms that users write them."""

import numpy as np
import pytest

from fluidlite.errors import ArgumentError
from fluidlite.layers.windows import each, is_channels_last, padding_of


@pytest.mark.parametrize(
    "value, wanted",
    [
        (3, [3, 3]),
        ([3, 2], [3, 2]),
        ((1, 2), [1, 2]),
        (2.0, [2, 2]),
        (True, [1, 1]),
        (range(1, 3), [1, 2]),
        (np.array([3, 2]), [3, 2]),
        (np.array([3]), [3, 3]),
        ([np.int64(3), np.float32(2)], [3, 2]),
    ],
)
def test_a_number_stands_for_each_dimension(value, wanted):
    assert each(value, "stride") == wanted


@pytest.mark.parametrize("value", [2.5, [1, 2, 3], [2], "2", None])
def test_what_is_no_number_for_each_dimension_is_refused(value):
    with pytest.raises(ArgumentError, match="expected stride to be an integer or a list of 2"):
        each(value, "stride")


@pytest.mark.parametrize(
    "padding, channels_last, wanted",
    [
        (1, False, ([1, 1], "EXPLICIT")),
        ([1, 2], False, ([1, 2], "EXPLICIT")),
        ([1, 1, 2, 2], False, ([1, 2], "EXPLICIT")),
        ([1, 0, 2, 3], False, ([1, 0, 2, 3], "EXPLICIT")),
        ("same", False, ([0, 0], "SAME")),
        ("VALID", False, ([0, 0], "VALID")),
        ([[0, 0], [0, 0], [1, 2], [0, 1]], False, ([1, 2, 0, 1], "EXPLICIT")),
        ([[0, 0], [1, 2], [0, 1], [0, 0]], True, ([1, 2, 0, 1], "EXPLICIT")),
        ([[0, 0], [0, 0], [1, 1], [2, 2]], False, ([1, 2], "EXPLICIT")),
    ],
)
def test_paddings_have_many_forms(padding, channels_last, wanted):
    assert padding_of(padding, "padding", channels_last) == wanted


@pytest.mark.parametrize(
    "padding, match",
    [
        ("FULL", "expected padding to be 'SAME', 'VALID' or numbers, got 'FULL'"),
        ([1, 2, 3], "expected padding to be an integer or a list of 2"),
        ([[0, 0], [1, 1], [1, 1], [0, 0]], r"4 pairs, those of batch and channels \[0, 0\]"),
        ([[1, 1], [1, 1]], "expected padding to be 4 pairs"),
    ],
)
def test_other_paddings_are_refused(padding, match):
    with pytest.raises(ArgumentError, match=match):
        padding_of(padding, "padding", False)


def test_data_formats_say_where_the_channels_are():
    assert not is_channels_last("NCHW")
    assert is_channels_last("NHWC")
    with pytest.raises(ArgumentError, match="expected data_format NCHW or NHWC, got 'CHW'"):
        is_channels_last("CHW")
