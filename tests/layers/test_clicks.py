"""Layers for models of clicks."""

import numpy as np

from fluidlite import layers

from building import data, run, written


def test_continuous_value_model_drops_its_columns_where_told():
    x, counts = data(), data("counts", [None, 2])
    out = layers.continuous_value_model(x, counts, use_cvm=False)
    assert out.shape == (-1, 2)
    assert "use_cvm=false" in written()[0]
    value = np.arange(8, dtype="float32").reshape(2, 4)
    assert np.array_equal(run(out, x=value, counts=value[:, :2]), value[:, 2:])


def test_hash_gives_numbers_below_a_bound():
    out = layers.hash(data("ids", [None, 2], "int64"), hash_size=50, num_hash=3)
    assert out.shape == (-1, 3, 1)
    found = run(out, ids=np.arange(200).reshape(100, 2))
    assert found.min() >= 0
    assert found.max() < 50
    assert len(np.unique(found[:, 0])) > 30


def test_results_of_layers_of_clicks_are_called_as_variables_without_a_name():
    x, counts = data(), data("counts", [None, 2])
    assert layers.continuous_value_model(x, counts).name == "_generated_var_0"
    loss = layers.teacher_student_sigmoid_loss(x[:, :1], counts[:, :1])
    assert loss.name == "_generated_var_1"
