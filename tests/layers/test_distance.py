"""Distances, angles and unit vectors."""

import numpy as np

from fluidlite import layers

from building import data, run, written

X = np.array([[3, 4, 0, 0], [0, 0, 0, 2]], "float32")
Y = np.array([[4, 3, 0, 0], [0, 0, 1, 0]], "float32")


def test_cos_sim_gives_the_cosine_alone():
    out = layers.cos_sim(data(), data("y"))
    assert (out.name, out.shape) == ("cos_sim_0.tmp_0", (-1, 1))
    assert np.allclose(run(out, x=X, y=Y), [[0.96], [0]])


def test_dist_takes_any_order():
    x, y = data(), data("y")
    two, most = layers.dist(x, y), layers.dist(x, y, p=float("inf"))
    assert np.allclose(run(two, most, x=X, y=Y), [[7**0.5], [2]])


def test_l2_normalize_gives_the_vector_before_its_length():
    x = data()
    out = layers.l2_normalize(x, axis=1)
    assert written() == [
        "{Norm=l2_normalize_0.tmp_1, Out=l2_normalize_0.tmp_0} = norm(X=x, axis=1, epsilon=1e-12)"
    ]
    assert np.allclose(run(out, x=X), [[0.6, 0.8, 0, 0], [0, 0, 0, 1]])


def test_l2_normalize_takes_the_second_dimension_where_none_is_named_and_the_only_one():
    layers.l2_normalize(data(shape=[4]), axis=-1)
    layers.l2_normalize(data("y", [2, 3, 4]), axis=None)
    assert ["axis=0" in written()[0], "axis=1" in written()[1]] == [True, True]
