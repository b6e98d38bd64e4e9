"""Sequences reduced to rows and normalised, against loops."""

import itertools

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.errors import AttributeValueError, LoDError, ShapeError
from fluidlite.ground.values import LoDTensor

from gradcheck import evaluator
from infer import infer

f = evaluator()
rng = np.random.default_rng(0)
OFFSETS = (0, 3, 3, 4, 8)
POOLS = {
    "SUM": lambda rows: rows.sum(axis=0),
    "AVERAGE": lambda rows: rows.mean(axis=0),
    "SQRT": lambda rows: rows.sum(axis=0) / np.sqrt(len(rows)),
    "MAX": lambda rows: rows.max(axis=0),
    "FIRST": lambda rows: rows[0],
    "LAST": lambda rows: rows[-1],
}


@pytest.mark.parametrize("kind", POOLS)
@pytest.mark.parametrize("width", [3, 600])
def test_each_sequence_becomes_a_row(kind, width):
    x = rng.normal(size=[8, width])
    out = f.sequence_pool(LoDTensor(x, (OFFSETS,)), pooltype=kind, pad_value=0.5)
    for row, a, b in zip(out, OFFSETS, OFFSETS[1:]):
        expected = POOLS[kind](x[a:b]) if b > a else np.full(width, 0.5)
        np.testing.assert_allclose(row, expected)


def test_the_first_of_equal_rows_is_the_largest():
    x = LoDTensor(np.array([[1.0, 2.0], [1.0, 3.0], [0.0, 3.0]]), ((0, 3, 3),))
    found = f.sequence_pool.all(x, pooltype="MAX")
    np.testing.assert_array_equal(found["MaxIndex"], [[0, 1], [-1, -1]])


def test_what_is_no_number_is_the_largest():
    x = LoDTensor(np.array([[1.0], [np.nan], [2.0]]), ((0, 2, 3),))
    found = f.sequence_pool.all(x, pooltype="MAX")
    np.testing.assert_array_equal(found["Out"], [[np.nan], [2.0]])
    np.testing.assert_array_equal(found["MaxIndex"], [[1], [2]])


def test_the_outer_level_stays_when_rows_are_made_of_the_inner_one():
    x = fluid.data("x", [None, 2], lod_level=2)
    out = fluid.layers.sequence_pool(x, "sum")
    assert out.lod_level == 1
    fed = fluid.create_lod_tensor(np.ones([4, 2], "float32"), [[2, 1], [1, 0, 3]])
    (found,) = fluid.Executor().run(feed={"x": fed}, fetch_list=[out], return_numpy=False)
    assert found.recursive_sequence_lengths() == [[2, 1]]
    np.testing.assert_array_equal(np.array(found), [[1, 1], [0, 0], [3, 3]])


def test_a_softmax_sums_to_one_in_each_sequence():
    x = rng.normal(size=[8, 1])
    out = f.sequence_softmax(LoDTensor(x, (OFFSETS,)))
    for a, b in itertools.pairwise(OFFSETS):
        np.testing.assert_allclose(out[a:b], np.exp(x[a:b]) / np.exp(x[a:b]).sum())


def test_a_softmax_of_large_numbers_is_finite():
    out = f.sequence_softmax(LoDTensor(np.array([1e4, 1e4, -1e4]), ((0, 2, 3),)))
    np.testing.assert_allclose(out, [0.5, 0.5, 1.0])


def test_rows_without_sequences_are_refused_with_the_way_out():
    x = fluid.data("x", [None, 2], lod_level=1)
    out = fluid.layers.sequence_pool(x, "sum")
    with pytest.raises(LoDError, match=r"expected X with sequences, got no LoD; feed a LoDTensor"):
        fluid.Executor().run(feed={"x": np.ones([3, 2], "float32")}, fetch_list=[out])


@pytest.mark.parametrize(
    "error, message, type, attrs, shape",
    [
        (AttributeValueError, "expected pooltype", "sequence_pool", dict(pooltype="MIN"), (4, 2)),
        (ShapeError, "one number in a row", "sequence_softmax", {}, (4, 2)),
    ],
)
def test_what_does_not_fit_is_refused(error, message, type, attrs, shape):
    with pytest.raises(error, match=message):
        infer(type, attrs, X=(shape, "float32"))
