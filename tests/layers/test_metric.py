"""How good predictions are."""

import numpy as np

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
