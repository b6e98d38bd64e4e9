"""Embeddings of n-grams against what fluid 1.8.5 gave."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.errors import AttributeValueError, ShapeError
from fluidlite.ops.ngrams import xxh32

from infer import infer

ATTRS = dict(num_emb=4, space_len=20, rand_len=2, pyramid_layer=3, use_filter=False)


def ran(ids, lengths, training=True, dropped=0.0, seed=1):
    """What the layer gives, with weights 0, 1, 2, ... to read from them where parts begin, and the
    gradient of its sum.
    """
    x = fluid.data("x", [None, 1], "int32", lod_level=1)
    counting = fluid.initializer.NumpyArrayInitializer(np.arange(22, dtype="float32")[:, None])
    lists = (False, 1, 1, seed, 1.0, fluid.ParamAttr("w", initializer=counting))
    y = fluid.contrib.layers.search_pyramid_hash(x, 4, 20, 3, 2, dropped, training, *lists)
    w = fluid.default_main_program().global_block().var("w")
    w.stop_gradient = False
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    fed = fluid.create_lod_tensor(np.array(ids, "int32").reshape(-1, 1), [lengths], exe.place)
    (slope,) = fluid.gradients([fluid.layers.reduce_sum(y)], [w])
    found, slope = exe.run(feed={"x": fed}, fetch_list=[y, slope], return_numpy=False)
    return np.array(found), found.recursive_sequence_lengths(), np.array(slope)


def test_rows_are_parts_that_hashes_choose():
    rows, lengths, slope = ran([1, 2, 3, 9, 8, 7, 6], [3, 1, 0, 3])
    begins = [[3, 1], [4, 15], [6, 8], None, None, [8, 14], [5, 1], [18, 16]]
    wanted = [[a, a + 1, b, b + 1] for a, b in filter(None, begins)]
    wanted[3:3] = [[0] * 4] * 2  # of sequences that are too short
    assert rows.tolist() == wanted
    assert lengths == [[3, 1, 1, 3]]
    counted = np.bincount([n for pair in filter(None, begins) for a in pair for n in (a, a + 1)])
    np.testing.assert_array_equal(slope[: len(counted), 0], counted)


def test_training_leaves_out_what_the_seed_says():
    """Of the 19 pairs of 20 elements, and the 18 triples."""
    rows, lengths, _ = ran(range(20), [20], dropped=0.5)
    kept = [1, 3, 5, 8, 10, 11, 14, 18]
    whole, _, _ = ran_again(range(20), [20])
    assert rows[: len(kept)].tolist() == whole[kept].tolist()
    assert lengths == [[len(rows)]]


def ran_again(ids, lengths):
    with fluid.program_guard(fluid.Program(), fluid.Program()), fluid.unique_name.guard():
        with fluid.scope_guard(fluid.Scope()):
            return ran(ids, lengths)


def test_without_training_rows_are_multiplied_with_the_share():
    rows, _, slope = ran([1, 2], [2], training=False, dropped=0.5)
    assert rows.tolist() == [[1.5, 2.0, 0.5, 1.0]]
    assert slope.sum() == 2


@pytest.mark.parametrize(
    "text, seed, found",
    [(b"abcd", 0, 0xA3643705), (b"abcdabcdabcdabcd", 0, 0x75C720FF), (b"abcd" * 5, 7, 0xFC8CDDCD)],
)
def test_the_hash_is_xxh32(text, seed, found):
    assert xxh32(np.frombuffer(text, "<u4")[None], seed).tolist() == [found]


@pytest.mark.parametrize(
    "error, message, attrs, size",
    [
        (AttributeValueError, "use_filter False, got True", dict(use_filter=True), 22),
        (AttributeValueError, "a multiple of rand_len, got 4 and 3", dict(rand_len=3), 22),
        (AttributeValueError, "pyramid_layer of at least 2, got 1", dict(pyramid_layer=1), 22),
        (ShapeError, "expected W of shape [22, 1], got [20, 1]", dict(), 20),
    ],
)
def test_what_does_not_fit_is_refused(error, message, attrs, size):
    with pytest.raises(error) as raised:
        infer(
            "pyramid_hash",
            dict(ATTRS, **attrs),
            X=([-1, 1], "int32"),
            W=([size, 1], "float32"),
            WhiteList=([1, 1], "float32"),
            BlackList=([1, 1], "float32"),
        )
    assert message in str(raised.value)
