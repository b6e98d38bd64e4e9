"""Rows divided by a mask and put together again, row by row."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.errors import DTypeError, LoDError, ShapeError
from fluidlite.ground.values import LoDTensor

from gradcheck import evaluator
from infer import infer

f = evaluator()
RNG = np.random.default_rng(0)
X = RNG.normal(size=[5, 3])
MASK = np.array([[False], [True], [True], [False], [True]])


def test_rows_are_divided_in_their_order():
    yes, no = f.split_lod_tensor(X, MASK)
    np.testing.assert_array_equal(yes, [row for row, holds in zip(X, MASK) if holds])
    np.testing.assert_array_equal(no, [row for row, holds in zip(X, MASK) if not holds])


@pytest.mark.parametrize("type", ["merge_lod_tensor", "merge_lod_tensor_infer"])
def test_merging_takes_the_next_row_of_either_side(type):
    yes, no = RNG.normal(size=[3, 2]), RNG.normal(size=[2, 2])
    left, right = list(yes), list(no)
    expected = [(left if m else right).pop(0) for m in MASK[:, 0]]
    np.testing.assert_array_equal(getattr(f, type)(X, MASK, yes, no), expected)


@pytest.mark.parametrize("mask", [MASK, np.ones([5, 1], bool), np.zeros([5], bool)])
def test_merging_undoes_dividing(mask):
    np.testing.assert_array_equal(f.merge_lod_tensor(X, mask, *f.split_lod_tensor(X, mask)), X)


def test_gradients_are_the_other_operator():
    x = fluid.data("x", [None, 3], "float32")
    x.stop_gradient = False
    mask = fluid.data("mask", [None, 1], "bool")
    block = fluid.default_main_program().global_block()
    yes, no, merged = (block.create_var(n, "float32") for n in ("yes", "no", "merged"))
    outs = {"OutTrue": yes, "OutFalse": no}
    block.append_op("split_lod_tensor", {"X": x, "Mask": mask}, outs)
    assert yes.shape == no.shape == (-1, 3)
    block.append_op(
        "merge_lod_tensor",
        {"X": x, "Mask": mask, "InTrue": yes * 2.0, "InFalse": no * 3.0},
        {"Out": merged},
    )
    assert merged.shape == (-1, 3)
    forward = len(block.ops)
    (gradient,) = fluid.gradients(fluid.layers.reduce_sum(merged * merged), x)
    types = [op.type for op in block.ops[forward:]]
    assert types.count("split_lod_tensor") == types.count("merge_lod_tensor") == 1
    feed = {"x": X.astype("float32"), "mask": MASK}
    (found,) = fluid.Executor().run(feed=feed, fetch_list=[gradient])
    np.testing.assert_allclose(found, 2 * X * np.where(MASK, 4, 9), 1e-6)


def test_a_side_that_needs_no_gradient_gets_none():
    x = fluid.data("x", [None, 3], "float32")
    mask = fluid.data("mask", [None, 1], "bool")
    yes, no = x * 1.0, fluid.data("no", [None, 3], "float32")
    block = fluid.default_main_program().global_block()
    merged = block.create_var("merged", "float32")
    ins = {"X": x, "Mask": mask, "InTrue": yes, "InFalse": no}
    block.append_op("merge_lod_tensor", ins, {"Out": merged})
    (gradient,) = fluid.gradients(fluid.layers.reduce_sum(merged), yes)
    split = next(op for op in block.ops if op.type == "split_lod_tensor")
    assert split.output("OutFalse") == ["@EMPTY@"]
    assert "" not in block.vars
    feed = {"x": np.ones([2, 3], "float32"), "no": np.ones([3, 3], "float32"), "mask": ~MASK}
    (found,) = fluid.Executor().run(feed=feed, fetch_list=[gradient])
    np.testing.assert_array_equal(found, np.ones([2, 3]))


@pytest.mark.parametrize(
    "error, match, attrs, mask, x",
    [
        (DTypeError, "Mask to be bool, got int32", {}, ([5, 1], "int32"), [5, 3]),
        (ShapeError, r"Mask of shape \[n, 1\], got \[5, 2\]", {}, ([5, 2], "bool"), [5, 3]),
        (ShapeError, r"got shapes \[4, 3\] and \[5, 1\]", {}, ([5, 1], "bool"), [4, 3]),
    ],
)
def test_a_mask_that_does_not_fit_is_refused(error, match, attrs, mask, x):
    with pytest.raises(error, match=match):
        infer("split_lod_tensor", attrs, X=(x, "float32"), Mask=mask)


def test_parts_that_do_not_fit_are_refused():
    given = dict(X=([5, 3], "float32"), Mask=([5, 1], "bool"), InTrue=([3, 2], "float32"))
    with pytest.raises(ShapeError, match=r"InTrue \[3, 2\] and InFalse \[2, 4\]"):
        infer("merge_lod_tensor", **given, InFalse=([2, 4], "float32"))
    with pytest.raises(ShapeError, match="expected 5 rows, as many as Mask has; got 3 in InTrue"):
        infer("merge_lod_tensor", **given, InFalse=([3, 2], "float32"))
    with pytest.raises(DTypeError, match="one element type"):
        infer("merge_lod_tensor", **given, InFalse=([2, 2], "float64"))
    with pytest.raises(ShapeError, match="expected 3 rows or sequences of InTrue and 2"):
        f.merge_lod_tensor(X, MASK, np.ones([2, 1]), np.ones([3, 1]))


ROWS = np.arange(6.0).reshape(6, 1)


@pytest.mark.parametrize(
    "lod, level, mask, on_true, on_false",
    [
        ([[0, 2, 3, 6]], 0, [1, 0, 1], ([0, 1, 3, 4, 5], ((0, 2, 5),)), ([2], ((0, 1),))),
        (
            [[0, 2, 3], [0, 1, 3, 6]],
            0,
            [0, 1],
            ([3, 4, 5], ((0, 1), (0, 3))),
            ([0, 1, 2], ((0, 2), (0, 1, 3))),
        ),
        (
            [[0, 2, 3], [0, 1, 3, 6]],
            1,
            [0, 1, 1],
            ([1, 2, 3, 4, 5], ((0, 2, 5),)),
            ([0], ((0, 1),)),
        ),
        ([[0, 2, 2, 6]], 0, [0, 1, 0], ([], ((0, 0),)), ([0, 1, 2, 3, 4, 5], ((0, 2, 6),))),
    ],
)
def test_sequences_are_divided_and_put_together_again(lod, level, mask, on_true, on_false):
    f, x = evaluator(), LoDTensor(ROWS, lod)
    chosen = np.array(mask, bool).reshape(-1, 1)
    parts = f.split_lod_tensor(x, chosen, level=level)
    for part, (rows, wanted) in zip(parts, (on_true, on_false), strict=True):
        assert (part.data[:, 0].tolist(), part.offsets) == (rows, wanted)
    both = f.merge_lod_tensor(x, chosen, *parts, level=level)
    np.testing.assert_array_equal(both.data, ROWS)
    assert both.offsets == x.offsets


def test_a_level_that_is_not_there_is_refused():
    with pytest.raises(LoDError, match="X with sequences on level 1, got 1 levels"):
        evaluator().split_lod_tensor(LoDTensor(ROWS, [[0, 6]]), np.array([True]), level=1)
