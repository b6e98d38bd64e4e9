"""Values that a pass of a loop need not have."""

import numpy as np
import pytest

import fluidlite as fluid

layers = fluid.layers


def program():
    """An array with x at position 0 where x is above 0, what is read of it at a position, and sums
    with what may not be written.
    """
    x = fluid.data("x", [2], "float64")
    x.stop_gradient = False
    block = fluid.default_main_program().global_block()
    made = {
        name: block.create_var(name=name, dtype="float64", shape=[2])
        for name in ("open", "kept", "other", "total")
    }
    array = block.create_var(name="array", type=fluid.core.VarDesc.VarType.LOD_TENSOR_ARRAY)
    array.declare([2], "float64")
    positive = layers.less_than(layers.zeros([1], "float64"), layers.reduce_sum(x))
    with layers.Switch() as switch, switch.case(positive):
        layers.assign(x * 3.0, made["open"])
    zero, one = (layers.fill_constant([1], "int64", k) for k in (0, 1))
    block.append_op("empty_array", {}, {"Out": array})
    block.append_op("keep_value", {"X": made["open"], "I": zero}, {"Out": array})
    block.append_op("kept_value", {"X": array, "I": zero}, {"Out": made["kept"]})
    block.append_op("kept_value", {"X": array, "I": one, "Like": x}, {"Out": made["other"]})
    block.append_op("sum_of_written", {"X": [made["kept"], x]}, {"Out": made["total"]})
    return x, array, made


@pytest.mark.parametrize("at, factor, length", [(1.0, 4.0, 1), (-1.0, 1.0, 0)])
def test_what_is_not_written_is_not_kept_and_adds_nothing(at, factor, length):
    x, array, made = program()
    count = layers.array_length(array)
    (slope,) = fluid.gradients(layers.reduce_sum(layers.square(made["total"])), x)
    feed = {"x": np.array([at, at])}
    fetched = [made["total"], made["other"], count, slope]
    total, other, found, slopes = fluid.Executor().run(feed=feed, fetch_list=fetched)
    assert total.tolist() == [factor * at] * 2
    assert other.tolist() == [0, 0]
    assert found.item() == length
    assert slopes.tolist() == [2 * factor**2 * at] * 2
