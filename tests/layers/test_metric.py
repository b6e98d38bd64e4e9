"""How good predictions are."""

import numpy as np

import fluidlite as fluid
from fluidlite import layers

from building import data, run, written

SCORES = np.array([[0.2, 0.5, 0.3], [0.7, 0.2, 0.1], [0.1, 0.3, 0.6]], "float32")
LABEL = np.array([[1], [1], [0]])


def test_accuracy_counts_rows_whose_label_is_among_the_best():
    scores, label = data("s", [None, 3]), data("label", [None, 1], "int64")
    first, second = layers.accuracy(scores, label), layers.accuracy(scores, label, k=2)
    assert [line.split(" = ")[1].split("(")[0] for line in written()] == ["top_k", "accuracy"] * 2
    assert first.name == "accuracy_0.tmp_0"
    found = run(first, second, s=SCORES, label=LABEL)
    assert np.allclose([v.item() for v in found], [1 / 3, 2 / 3])


def test_accuracy_writes_its_counts_to_given_variables():
    scores, label = data("s", [None, 3]), data("label", [None, 1], "int64")
    correct, total = layers.create_tensor("int32"), layers.create_tensor("int32")
    layers.accuracy(scores, label, correct=correct, total=total)
    found = run(correct, total, s=SCORES, label=LABEL)
    assert [v.item() for v in found] == [1, 3]


def test_accuracy_leaves_given_variables_their_element_type():
    scores, label = data("s", [None, 3]), data("label", [None, 1], "int64")
    correct, total = layers.create_tensor("int64"), layers.create_tensor("float32")
    layers.accuracy(scores, label, correct=correct, total=total)
    assert [str(v.dtype) for v in (correct, total)] == ["int64", "float32"]
    assert correct.shape == total.shape == (1,)
    assert [str(v.dtype) for v in run(correct, total, s=SCORES, label=LABEL)] == ["int32"] * 2


def test_auc_counts_over_all_runs_and_over_the_last_ones():
    p, label = data("p", [None, 2]), data("label", [None, 1], "int64")
    total, lately, counts = layers.auc(p, label, num_thresholds=9)
    assert (total.name, lately.name) == ("auc_0.tmp_0", "auc_0.tmp_1")
    assert [v.shape for v in counts] == [(21,), (21,), (1, 10), (1, 10)]
    assert all(v.persistable and not v.stop_gradient for v in counts)
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())

    def step(scores, labels):
        p = np.array([[1 - s, s] for s in scores], "float32")
        feed = dict(p=p, label=np.array(labels)[:, None])
        return [v.item() for v in exe.run(feed=feed, fetch_list=[total, lately])]

    assert step([0.9, 0.1], [1, 0]) == [1, 1]
    assert step([0.95, 0.05], [0, 1]) == [0.5, 0]


def test_mean_iou_gives_the_mean_and_its_counts():
    x, y = data("x", [None], "int64"), data("y", [None], "int64")
    mean, wrong, right = layers.mean_iou(x, y, num_classes=2)
    found = run(mean, wrong, right, x=np.array([0, 1, 1]), y=np.array([0, 1, 0]))
    assert [v.tolist() for v in found] == [[0.5], [1, 1], [1, 1]]
