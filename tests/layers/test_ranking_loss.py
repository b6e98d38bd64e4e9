"""Losses of scores."""

import numpy as np
import pytest

from fluidlite import layers

from building import data, run, written

ONE = np.array([[1.0], [0.0]], "float32")


def three():
    return [data(name, [None, 1]) for name in ("label", "left", "right")]


def test_rank_loss_takes_the_label_first():
    out = layers.rank_loss(*three())
    assert written() == ["rank_loss_0.tmp_0 = rank_loss(Label=label, Left=left, Right=right)"]
    assert np.allclose(run(out, label=ONE, left=ONE, right=ONE), np.log(2))


def test_margin_rank_loss_is_named_after_its_loss():
    out = layers.margin_rank_loss(*three(), margin=0.25)
    assert out.name == "margin_rank_loss_0.tmp_0"
    assert run(out, label=2 * ONE - 1, left=ONE, right=0 * ONE).tolist() == [[0], [0.25]]


def test_bpr_loss_is_a_mean_over_the_other_classes():
    out = layers.bpr_loss(data(), data("label", [None, 1], "int64"))
    found = run(out, x=np.zeros([2, 4], "float32"), label=np.array([[1], [2]]))
    assert np.allclose(found, np.log(2))


def npair_by_loops(anchor, positive, labels, l2_reg):
    count = len(labels)
    similarity = anchor @ positive.T
    total = 0.0
    for i in range(count):
        alike = [float(labels[i] == other) for other in labels]
        share = [a / sum(alike) for a in alike]
        log_total = np.log(sum(np.exp(v) for v in similarity[i]))
        loss = sum(s * (log_total - v) for s, v in zip(share, similarity[i]))
        total += sum(share) * loss / count
    return total + 0.25 * l2_reg * sum((v**2).sum(1).mean() for v in (anchor, positive))


@pytest.mark.parametrize("dtype", ["int64", "float32"])
def test_npair_loss_wants_features_of_a_class_alike(dtype):
    rng = np.random.default_rng(0)
    anchor, positive = rng.normal(size=[2, 5, 4]).astype("float32")
    labels = np.array([0, 1, 0, 2, 1])
    out = layers.npair_loss(data(), data("y"), data("labels", [None], dtype), l2_reg=0.5)
    found = run(out, x=anchor, y=positive, labels=labels.astype(dtype))
    # each loss is weighted by a row of shares that adds up to 1, and averaged over columns
    assert np.allclose(found, npair_by_loops(anchor, positive, labels, 0.5), rtol=1e-5)
