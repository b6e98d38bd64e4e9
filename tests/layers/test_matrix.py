"""Layers of products, diagonals and triangles."""

import numpy as np

from fluidlite import layers
from fluidlite.errors import ShapeError

from building import data, refused, run, started, written

A = np.arange(6, dtype="float32").reshape(2, 3)


def test_bmm_and_dot_take_pairs():
    x, y = data(shape=[None, 2, 3]), data("y", [None, 3, 4])
    out = layers.bmm(x, y)
    assert (out.shape, out.name) == ((-1, 2, 4), "bmm_0.tmp_0")
    y_value = np.ones([1, 3, 4], "float32")
    assert np.array_equal(run(out, x=A[None], y=y_value), A[None] @ y_value)
    row = data("r", [None, 3])
    assert layers.dot(row, row).shape == (-1, 1)


def test_bmm_refuses_by_the_names_of_the_variables():
    x, y = data(shape=[None, 2, 3]), data("y", [None, 4, 3])
    with refused(ShapeError, r"(?s)got 3 and 4.*x float32\[-1, 2, 3\]"):
        layers.bmm(x, y)


def test_addmm_weighs_product_and_summand():
    i, x, y = data("i", [1, 2]), data(shape=[2, 3]), data("y", [3, 2])
    out = layers.addmm(i, x, y, alpha=2.0, beta=0.5)
    assert written() == ["addmm_0.tmp_0 = addmm(Input=i, X=x, Y=y, Alpha=2.0, Beta=0.5)"]
    y_value, i_value = np.ones([3, 2], "float32"), np.ones([1, 2], "float32")
    assert np.allclose(run(out, i=i_value, x=A, y=y_value), 2 * A @ y_value + 0.5)


def test_cross_names_a_dimension_only_where_one_is_given():
    x = data(shape=[2, 3])
    layers.cross(x, x)
    layers.cross(x, x, dim=1)
    assert [line.split(" = ")[1] for line in written()] == [
        "cross(X=x, Y=x)",
        "cross(X=x, Y=x, dim=1)",
    ]


def test_kron_and_trace_write_to_a_variable_of_yours():
    x, mine = data(shape=[2, 3]), layers.create_tensor("float32")
    assert layers.kron(x, x, out=mine) is mine
    assert layers.trace(x, offset=1, out=mine) is mine
    assert run(mine, x=A).tolist() == [6]
    assert layers.kron(x, x).name == "kron_1.tmp_0"


def test_bilinear_tensor_product_has_a_matrix_for_each_result():
    x, y = data(shape=[None, 3]), data("y", [None, 2])
    out = layers.bilinear_tensor_product(x, y, size=5, act="tanh", bias_attr=False)
    assert out.shape == (-1, 5)
    assert len(started()) == 1
    assert "Bias" not in written()[0]
    layers.bilinear_tensor_product(x, y, size=5)
    assert [line.split(" = ")[0] for line in started()[:2]] == [
        "bilinear_tensor_product_1.b_0",
        "bilinear_tensor_product_1.w_0",
    ]


def test_fsp_matrix_is_an_operator_of_a_shorter_name():
    x, y = data(shape=[None, 2, 4, 4]), data("y", [None, 3, 4, 4])
    assert layers.fsp_matrix(x, y).shape == (-1, 2, 3)
    assert written() == ["fsp_matrix_0.tmp_0 = fsp(X=x, Y=y)"]


def test_diagonals_take_arrays_and_stop_gradients():
    out = layers.diag(np.array([1, 2], "float32"))
    assert out.stop_gradient
    embedded = layers.diag_embed(data(shape=[None, 3]), offset=-1)
    assert (embedded.shape, embedded.stop_gradient) == ((-1, 4, 4), True)
    assert run(out, x=A).tolist() == [[1, 0], [0, 2]]


def test_triangles_are_named_like_their_layer():
    x = data(shape=[2, 3])
    lower, upper, named = layers.tril(x), layers.triu(x, 1), layers.tril(x, name="mine")
    assert [v.name for v in (lower, upper, named)] == ["tril_0", "triu_0", "mine"]
    assert layers.tril(x, name="mine").name == "mine.tmp_0"
    found = run(lower, upper, x=A)
    assert np.array_equal(found[0] + found[1], A)
