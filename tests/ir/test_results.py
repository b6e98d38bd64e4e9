"""What operators declare of the sequences of their results, and what these have when it is run.

The levels are those that paddlepaddle 1.8.5 gives for X with sequences of one level.
"""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.ground.dtypes import DType
from fluidlite.opdef.definition import Op

from one_operator import OneOperator

ROWS = np.random.default_rng(0).random([4, 3], "float32")
IMAGES = np.random.default_rng(1).random([2, 4, 3, 3], "float32")
#: operator, other inputs, attributes, outputs with the levels that they have
CASES = {
    "relu": ({}, {}, {"Out": 1}),
    "layer_norm": ({}, {}, {"Y": 1, "Mean": 0, "Variance": 0}),
    "cos_sim": ({"Y": ROWS}, {}, {"Out": 1, "XNorm": 0, "YNorm": 0}),
    "huber_loss": ({"Y": ROWS}, {"delta": 1.0}, {"Out": 1, "Residual": 0}),
    "dropout": ({}, {"dropout_prob": 0.5}, {"Out": 1, "Mask": 0}),
    "dot": ({"Y": ROWS}, {}, {"Out": 0}),
    "p_norm": ({}, {"axis": 1}, {"Out": 0}),
    "kldiv_loss": ({"Target": ROWS}, {"reduction": "none"}, {"Loss": 0}),
    "expand_as": ({"target_tensor": np.ones([4, 6], "float32")}, {}, {"Out": 0}),
    "index_select": ({"Index": np.array([0, 2, 1, 1])}, {"dim": 0}, {"Out": 1}),
    "gather_nd": ({"Index": np.array([[0], [2], [1], [1]])}, {}, {"Out": 1}),
    "flip": ({}, {"dims": [0]}, {"Out": 1}),
    "sampling_id": ({}, {}, {"Out": 1}),
    "reshape2": ({}, {"shape": [4, 3, 1]}, {"Out": 1}),
    "reshape2.rows": ({}, {"shape": [6, 2]}, {"Out": 0}),
    "squeeze2.rows": ({}, {"axes": [0]}, {"Out": 0}),
    "maxout": ({}, {"groups": 2}, {"Out": 0}),
    "max_pool2d_with_index": ({}, {"ksize": [2, 2]}, {"Out": 0, "Mask": 0}),
    "lrn": ({}, {}, {"Out": 1, "MidOut": 0}),
    "group_norm": ({}, {"groups": 2}, {"Y": 1, "Mean": 0, "Variance": 0}),
}


@pytest.mark.parametrize("name", CASES)
def test_results_have_the_sequences_that_fluid_gives_them_and_are_declared_so(name):
    more, attrs, wanted = CASES[name]
    type = name.partition(".")[0]
    x = IMAGES if type in ("maxout", "max_pool2d_with_index", "lrn", "group_norm") else ROWS
    x = x[:1] if type == "squeeze2" else x
    lengths = [[1, len(x) - 1]]
    ins = {"X": fluid.create_lod_tensor(x, lengths), **more}
    one = OneOperator(type, ins, dict.fromkeys(wanted, 1), attrs, held=True)
    one.run()
    for slot, levels in wanted.items():
        (variable,) = one.outputs[slot]
        found = one.scope.find_var(variable.name).get_tensor()
        assert found.recursive_sequence_lengths() == (lengths if levels else []), slot
        assert variable.lod_level == levels, slot


def test_what_was_inferred_is_taken_for_equal_attributes_and_inputs_alone():
    calls = []

    class counted_rows(Op):
        signature = "X, Y? -> Out"
        times: int = 1

        def infer(self, X, Y):
            calls.append((X.shape, Y and Y.shape, self.times))
            return X.with_shape((X.shape[0] * self.times, *X.shape[1:]))

        def run(self, xp, X, Y):
            return xp.concatenate([X] * self.times)

    block = fluid.default_main_program().global_block()
    x, wide = fluid.data("x", [2, 3], "float32"), fluid.data("wide", [2, 4], "float32")

    def shape(times, **inputs):
        out = block.create_var()
        block.append_op("counted_rows", inputs, {"Out": out}, {"times": times})
        return list(out.shape), out.dtype

    assert shape(1, X=x) == shape(1, X=x) == ([2, 3], DType.FP32)
    assert len(calls) == 1
    assert shape(2, X=x) == ([4, 3], DType.FP32)
    assert shape(2, X=wide) == ([4, 4], DType.FP32)
    assert shape(2, X=x, Y=wide) == ([4, 3], DType.FP32)
    assert shape(2, X=fluid.data("d", [2, 3], "float64")) == ([4, 3], DType.FP64)
    assert len(calls) == 5


def test_equal_shapes_with_sequences_and_without_have_their_own_levels():
    for name, level in (("a", 1), ("b", 0), ("c", 2), ("d", 1)):
        x = fluid.data(name, [-1, 3], "float32", lod_level=level)
        assert fluid.layers.relu(x).lod_level == level
