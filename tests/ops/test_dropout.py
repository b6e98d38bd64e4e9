"""Dropout in training and in testing."""

import numpy as np
import pytest

from fluidlite.errors import AttributeValueError, DTypeError

from gradcheck import evaluator, pull_back
from infer import infer

X = np.random.default_rng(0).uniform(1.0, 2.0, size=[100, 200])
DOWN, UP = ("downgrade_in_infer", "upscale_in_train")


def drop(x=X, stream=7, **attrs):
    found = evaluator(stream).dropout.all(x, **attrs)
    return found["Out"], found["Mask"]


@pytest.mark.parametrize("way, factor", [(DOWN, 1.0), (UP, 4.0)])
def test_kept_elements_are_those_of_the_mask(way, factor):
    out, mask = drop(dropout_prob=0.75, dropout_implementation=way)
    assert mask.dtype == np.uint8
    assert abs(mask.mean() - 0.25) < 0.02
    np.testing.assert_allclose(out, X * mask * factor)


@pytest.mark.parametrize("way, factor", [(DOWN, 0.25), (UP, 1.0)])
def test_testing_gives_the_expectation_and_no_mask(way, factor):
    out, mask = drop(dropout_prob=0.75, dropout_implementation=way, is_test=True)
    assert mask is None
    np.testing.assert_allclose(out, X * factor)


@pytest.mark.parametrize("way", [DOWN, UP])
def test_all_or_nothing_may_be_dropped(way):
    out, mask = drop(dropout_prob=1.0, dropout_implementation=way)
    np.testing.assert_array_equal([out, mask], 0)
    out, mask = drop(dropout_prob=0.0, dropout_implementation=way)
    np.testing.assert_array_equal(out, X)
    np.testing.assert_array_equal(mask, 1)


def test_what_is_dropped_may_be_infinite():
    out, _ = drop(np.full([3], np.inf), dropout_prob=1.0)
    np.testing.assert_array_equal(out, 0)


def test_the_mask_depends_on_the_stream_unless_a_seed_fixes_it():
    _, one = drop()
    np.testing.assert_array_equal(drop()[1], one)
    assert (drop(stream=8)[1] != one).any()
    assert (drop(stream=8, seed=5)[1] == drop(stream=8)[1]).all(), "a seed alone fixes nothing"
    _, fixed = drop(fix_seed=True, seed=5)
    np.testing.assert_array_equal(drop(stream=8, fix_seed=True, seed=5)[1], fixed)
    np.testing.assert_array_equal(drop(Seed=np.array([5], np.int32))[1], fixed)


@pytest.mark.parametrize("way, factor", [(DOWN, 1.0), (UP, 4.0)])
def test_the_gradient_takes_the_way_of_the_values(way, factor):
    attrs = dict(dropout_prob=0.75, dropout_implementation=way)
    f, g = evaluator(), np.ones_like(X)
    (found,) = pull_back(f, lambda f, x: f.dropout(x, **attrs), [X], [g])
    np.testing.assert_allclose(found, drop(**attrs)[1] * factor)


def test_what_cannot_be_dropped_is_refused():
    x = ([2], "float32")
    with pytest.raises(AttributeValueError, match=r"dropout_prob from 0 to 1, got 1.5"):
        infer("dropout", {"dropout_prob": 1.5}, X=x)
    with pytest.raises(AttributeValueError, match="downgrade_in_infer or upscale_in_train"):
        infer("dropout", {"dropout_implementation": "both"}, X=x)
    with pytest.raises(DTypeError, match="got int64"):
        infer("dropout", X=([2], "int64"))
