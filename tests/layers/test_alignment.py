"""Layers that hold texts against each other, and draw."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite import layers
from fluidlite.errors import ArgumentError, ShapeError


def test_the_best_labels_are_decoded():
    shares = np.eye(4, dtype="float32")[[[1, 1, 0, 2, 3, 3], [3, 0, 3, 3, 1, 1]]]
    x, n = fluid.data("x", [None, 6, 4]), fluid.data("n", [None, 1], "int64")
    labels, count = layers.ctc_greedy_decoder(x, 0, n, padding_value=-1)
    feed = {"x": shares, "n": np.array([[6], [4]])}
    found, many = fluid.Executor().run(feed=feed, fetch_list=[labels, count])
    assert found.tolist() == [[1, 2, 3, -1, -1, -1], [3, 3, -1, -1, -1, -1]]
    assert many.tolist() == [[3], [2]]


def test_labels_of_sequences_are_decoded():
    x = fluid.data("x", [None, 4], lod_level=1)
    labels = layers.ctc_greedy_decoder(x, 0)
    rows = np.eye(4, dtype="float32")[[1, 1, 0, 1, 2, 2]]
    tensor = fluid.create_lod_tensor(rows, [[4, 2]], fluid.CPUPlace())
    (found,) = fluid.Executor().run(feed={"x": tensor}, fetch_list=[labels], return_numpy=False)
    assert np.array(found)[:, 0].tolist() == [1, 1, 2]
    assert found.recursive_sequence_lengths() == [[2, 1]]


def test_tokens_are_left_out_of_sequences_only():
    texts, n = fluid.data("a", [None, 4], "int64"), fluid.data("n", [None], "int64")
    with pytest.raises(ArgumentError, match="ignored_tokens are left out of sequences only"):
        layers.edit_distance(texts, texts, True, [1], n, n)
    with pytest.raises(ShapeError, match="padded texts with HypsLength and RefsLength"):
        layers.edit_distance(texts, texts)


def test_columns_are_drawn_by_their_shares():
    rows, shares = 5000, np.array([0.1, 0.2, 0.7], "float32")
    x = layers.assign(np.tile(shares, (rows, 1)))
    whole, part = layers.sampling_id(x, seed=3), layers.sampling_id(x, min=0.2, max=0.29)
    found, inner = fluid.Executor().run(fetch_list=[whole, part])
    assert found.dtype == np.int64
    np.testing.assert_allclose(np.bincount(found) / rows, shares, atol=5 * 0.5 / np.sqrt(rows))
    assert set(inner) == {1}


def test_numbers_among_sizes_are_counted_as_layers():
    n = fluid.data("n", [1], "int32")
    layers.reshape(fluid.data("x", [None, 4]), [n, 2, 2])
    assert layers.fill_constant([1], "float32", 0).name == "fill_constant_2.tmp_0"
