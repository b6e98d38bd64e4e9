"""The newer forms of layers' functions, which take shapes as they are."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.errors import ArgumentError
from fluidlite.initializer import NumpyArrayInitializer

from building import refused, run, written

TABLE = np.arange(12, dtype="float32").reshape(4, 3)


def test_data_has_the_shape_that_is_given():
    x = fluid.data("x", [None, 4], "int64", lod_level=1)
    assert (x.shape, x.dtype, x.lod_level) == ((-1, 4), np.dtype("int64"), 1)
    assert x.need_check_feed
    assert x.stop_gradient
    assert fluid.data("y", [3]).shape == (3,)


def test_data_refuses_what_is_no_shape():
    with refused(ArgumentError, "expected the shape of 'x' to be a list of sizes, got None"):
        fluid.data("x", None)


def test_embedding_adds_a_dimension():
    ids = fluid.data("ids", [None, 2], "int64")
    out = fluid.embedding(ids, [4, 3], param_attr=NumpyArrayInitializer(TABLE))
    assert written() == ["embedding_0.tmp_0 = lookup_table_v2(W=embedding_0.w_0, Ids=ids)"]
    assert out.shape == (-1, 2, 3)
    assert np.array_equal(run(out, ids=np.array([[3, 1]])), TABLE[[[3, 1]]])


@pytest.mark.parametrize("size", [[4], [4, 3, 2]])
def test_a_table_has_two_sizes(size):
    ids = fluid.data("ids", [None], "int64")
    with refused(ArgumentError, "expected size="):
        fluid.embedding(ids, size)


def test_one_hot_adds_a_dimension():
    ids = fluid.data("ids", [None], "int64")
    out = fluid.one_hot(ids, 3)
    assert (out.name, out.shape) == ("one_hot_v2_0.tmp_0", (-1, 3))
    assert run(out, ids=np.array([2, 0])).tolist() == [[0, 0, 1], [1, 0, 0]]


def test_the_module_holds_the_same_functions():
    assert fluid.input.one_hot is fluid.one_hot
    assert fluid.input.embedding is fluid.embedding
