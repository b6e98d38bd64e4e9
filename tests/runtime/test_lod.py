"""Which outputs take over the sequences of which inputs."""

import numpy as np

import fluidlite as fluid


def test_the_gradient_of_a_table_has_no_sequences_even_when_its_rows_are_as_many():
    words = fluid.data("words", [None, 1], "int64", lod_level=1)
    table = fluid.layers.embedding(words, size=[6, 2], param_attr="table")
    fluid.backward.append_backward(fluid.layers.reduce_sum(table))
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    fed = fluid.create_lod_tensor(np.arange(6).reshape(6, 1), [[2, 4]])
    rows, slope = exe.run(feed={"words": fed}, fetch_list=[table, "table@GRAD"], return_numpy=False)
    assert rows.recursive_sequence_lengths() == [[2, 4]]
    assert slope.recursive_sequence_lengths() == []
    np.testing.assert_array_equal(np.array(slope), np.ones([6, 2]))


def test_a_gradient_has_the_sequences_of_its_variable():
    x = fluid.data("x", [None, 2], "float32", lod_level=1)
    x.stop_gradient = False
    (dx,) = fluid.gradients(fluid.layers.relu(x), x)
    fed = fluid.create_lod_tensor(np.ones([3, 2], "float32"), [[1, 2]])
    (found,) = fluid.Executor().run(feed={"x": fed}, fetch_list=[dx], return_numpy=False)
    assert found.recursive_sequence_lengths() == [[1, 2]]
