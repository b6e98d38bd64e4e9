"""Texts without known places against sums over all ways to write them."""

import itertools

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.backend import numpy_
from fluidlite.errors import LoDError, OutOfRangeError
from fluidlite.ground.values import LoDTensor, bare
from fluidlite.opdef.definition import lookup
from fluidlite.opdef.interpreter import Eval


def run(type, attrs=None, **ins):
    return Eval(numpy_).apply(lookup(type)(attrs), ins)


def all_ways(scores, text, blank):
    """How likely a text is: the sum over all rows of labels that read as the text."""
    probable = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    total = 0.0
    for way in itertools.product(range(scores.shape[1]), repeat=len(scores)):
        read = [k for k, _ in itertools.groupby(way) if k != blank]
        if read == list(text):
            total += np.prod(probable[np.arange(len(way)), way])
    return total


@pytest.mark.parametrize("blank", [0, 2])
def test_the_loss_is_that_of_all_ways_to_write_a_text(blank):
    rng = np.random.default_rng(blank)
    lod, of_text = ((0, 4, 5, 10, 12),), ((0, 2, 3, 5, 5),)
    scores = rng.normal(size=[12, 3]) * 2
    text = np.array([[1], [1], [1], [1], [2 - blank]])
    ins = dict(Logits=LoDTensor(scores, lod), Label=LoDTensor(text, of_text))
    loss = run("warpctc", dict(blank=blank), **ins)["Loss"]
    for k in range(4):
        a, b = lod[0][k : k + 2]
        c, d = of_text[0][k : k + 2]
        right = -np.log(all_ways(scores[a:b], text[c:d, 0], blank))
        np.testing.assert_allclose(loss[k, 0], right, 1e-9)


def test_far_scores_lose_nothing():
    scores = np.zeros([60, 3])
    scores[:, 0] = 900.0  # the blank, in every row; the text has to be there all the same
    ins = dict(Logits=LoDTensor(scores, ((0, 60),)), Label=LoDTensor([[1], [2]], ((0, 2),)))
    found = run("warpctc", **ins)
    ways = 60 * 59 / 2  # places of two labels
    np.testing.assert_allclose(found["Loss"][0, 0], 1800 - np.log(ways), 1e-9)
    assert np.isfinite(found["WarpCTCGrad"]).all()
    np.testing.assert_allclose(found["WarpCTCGrad"].sum(axis=(0, 1)), [2, -1, -1], 1e-9)


def test_texts_too_long_for_their_rows_count_nothing():
    rng = np.random.default_rng(3)
    lod, of_text = ((0, 2, 5),), ((0, 2, 3),)
    ins = dict(
        Logits=LoDTensor(rng.normal(size=[5, 3]), lod), Label=LoDTensor([[1], [1], [2]], of_text)
    )
    with pytest.warns(UserWarning, match="warpctc: Label has texts with more labels"):
        found = run("warpctc", **ins)
    assert found["Loss"][0, 0] == 0 < found["Loss"][1, 0]
    assert not found["WarpCTCGrad"][:, 0].any()


def test_gradients_by_times_are_divided_by_the_rows():
    rng = np.random.default_rng(4)
    ins = dict(
        Logits=LoDTensor(rng.normal(size=[7, 3]), ((0, 4, 7),)),
        Label=LoDTensor([[1], [2]], ((0, 1, 2),)),
    )
    flow, found = np.array([[1.0], [2.0]]), {}
    for by_times in (False, True):
        made = run("warpctc", dict(norm_by_times=by_times), **ins)
        given = {"Logits": ins["Logits"], "WarpCTCGrad": made["WarpCTCGrad"], "Loss@GRAD": flow}
        pulled = run("warpctc_grad", dict(norm_by_times=by_times), **given)
        found[by_times] = bare(pulled["Logits@GRAD"])
    lengths = np.repeat([[4.0], [3.0]], [4, 3], axis=0)
    np.testing.assert_allclose(found[True] * lengths, found[False])


def test_what_does_not_fit_is_named():
    scores = LoDTensor(np.zeros([7, 3]), ((0, 4, 7),))
    with pytest.raises(OutOfRangeError, match=r"labels in \[0, 3\).*got 3 in text 1 of Label"):
        run("warpctc", Logits=scores, Label=LoDTensor([[1], [3]], ((0, 1, 2),)))
    with pytest.raises(LoDError, match="as many sequences in Label as in Logits, got 1 and 2"):
        run("warpctc", Logits=scores, Label=LoDTensor([[1], [2]], ((0, 2),)))
    with pytest.raises(LoDError, match="expected Logits with sequences"):
        run("warpctc", Logits=bare(scores), Label=LoDTensor([[1], [2]], ((0, 1, 2),)))


def test_one_of_both_lengths_is_not_read():
    x = fluid.data("x", [None, 5], lod_level=1)
    text = fluid.data("text", [None, 1], "int32", lod_level=1)
    count = fluid.data("count", [None], "int64")
    with pytest.warns(UserWarning, match="does not read input_length"):
        loss = fluid.layers.warpctc(x, text, input_length=count)
    assert "LogitsLength" not in loss.op.inputs or not loss.op.input("LogitsLength")
