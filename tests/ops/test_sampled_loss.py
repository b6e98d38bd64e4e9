"""Losses over samples and paths against loops, and what is drawn."""

import math

import numpy as np
import pytest

from fluidlite.errors import AttributeValueError, OutOfRangeError, ShapeError
from fluidlite.ground.values import SelectedRows

from gradcheck import evaluator, pull_back
from infer import infer

f = evaluator()
rng = np.random.default_rng(0)
X, LABEL = rng.normal(size=[2, 3]), np.array([[4], [1]])
TABLE, BIAS = rng.normal(size=[6, 3]), rng.normal(size=[6, 1])


def sigmoid(x):
    return 1 / (1 + math.exp(-x))


def test_nce_tells_labels_from_other_classes():
    weight = np.array([[0.5], [2.0]])
    attrs = dict(num_total_classes=6, num_neg_samples=4, custom_neg_classes=[0, 5, 1, 3])
    outs = f.nce.all(X, LABEL, TABLE, BIAS, weight, **attrs)
    assert outs["SampleLabels"].tolist() == [[4, 0, 5, 1, 3], [1, 0, 5, 1, 3]]
    b = 4 / 6
    for n, classes in enumerate(outs["SampleLabels"]):
        o = [sigmoid(X[n] @ TABLE[c] + BIAS[c, 0]) for c in classes]
        np.testing.assert_allclose(outs["SampleLogits"][n], o)
        cost = -math.log(o[0] / (o[0] + b)) - sum(math.log(b / (v + b)) for v in o[1:])
        np.testing.assert_allclose(outs["Cost"][n], [cost * weight[n, 0]])


@pytest.mark.parametrize("sampler", [0, 1, 2])
def test_nce_draws_classes_as_often_as_it_expects_them(sampler):
    count = 20000
    if sampler == 2:
        chances = np.array([0.1, 0.3, 0.05, 0.2, 0.2, 0.15])
    elif sampler == 1:
        chances = [math.log((k + 2) / (k + 1)) / math.log(6) for k in range(5)] + [0]
    else:
        chances = [1 / 6] * 6
    custom = dict(CustomDistProbs=chances) if sampler == 2 else {}
    attrs = dict(num_total_classes=6, num_neg_samples=count, sampler=sampler, seed=3)
    outs = f.nce.all(X, LABEL, TABLE, **custom, **attrs)
    drawn = np.bincount(outs["SampleLabels"][:, 1:].ravel(), minlength=6) / (2 * count)
    np.testing.assert_allclose(drawn, chances, atol=0.01)
    n, label = 1, LABEL[1, 0]  # the cost knows the same probabilities
    classes = outs["SampleLabels"][n]
    cost = 0.0
    for k, c in enumerate(classes):
        o, b = sigmoid(X[n] @ TABLE[c]), count * chances[c]
        cost -= math.log((o if k == 0 else b) / (o + b))
    assert classes[0] == label
    np.testing.assert_allclose(outs["Cost"][n], [cost])


def test_sparse_gradients_of_tables_have_the_rows_that_were_used():
    attrs = dict(num_total_classes=6, num_neg_samples=2, custom_neg_classes=[0, 0])
    ins = dict(Input=X, Label=LABEL, Weight=TABLE)
    outs = f.nce.all(**ins, **attrs)
    ins.update({slot: outs[slot] for slot in ("SampleLogits", "SampleLabels")})
    gradient = lambda sparse: f.nce_grad.all(
        **ins, **{"Cost@GRAD": np.ones([2, 1])}, is_sparse=sparse, **attrs
    )
    rows, whole = (gradient(sparse)["Weight@GRAD"] for sparse in (True, False))
    assert isinstance(rows, SelectedRows)
    assert sorted(set(rows.rows())) == [0, 1, 4]
    np.testing.assert_allclose(rows.to_dense(), whole)


NCE = dict(Input=([2, 3], "float32"), Label=([2, 1], "int64"), Weight=([6, 3], "float32"))


@pytest.mark.parametrize(
    "error, attrs, changed, message",
    [
        (AttributeValueError, dict(num_neg_samples=0), {}, "of at least 1, got 6 and 0"),
        (AttributeValueError, dict(sampler=3), {}, "sampler 0, 1 .* or 2, got 3"),
        (AttributeValueError, dict(custom_neg_classes=[1]), {}, "expected 10 custom_neg_classes"),
        (ShapeError, dict(sampler=2), {}, "CustomDistProbs of 6 numbers"),
        (ShapeError, {}, dict(Weight=([5, 3], "float32")), r"Weight of shape \[6, 3\]"),
        (ShapeError, {}, dict(Bias=([5], "float32")), r"Bias of shape \[6, 1\], got \[5\]"),
        (ShapeError, {}, dict(Label=([3, 1], "int64")), "Label with as many rows as Input"),
        (ShapeError, {}, dict(SampleWeight=([3, 1], "float32")), "one for each row of Input"),
    ],
)
def test_nce_refuses_what_does_not_fit(error, attrs, changed, message):
    with pytest.raises(error, match=message):
        infer("nce", dict(num_total_classes=6) | attrs, **NCE | changed)


def test_nce_refuses_labels_that_are_no_classes():
    with pytest.raises(OutOfRangeError, match=r"Label in \[0, 6\), got 6"):
        f.nce(X, np.array([[6], [0]]), TABLE, num_total_classes=6)


def path_by_loops(label, num_classes):
    """Inner nodes and turns from a leaf to the root, by halving."""
    code, path = label + num_classes, []
    while code > 1:
        path.append((code // 2 - 1, code % 2))
        code //= 2
    return path


@pytest.mark.parametrize("num_classes", [2, 5, 7, 8])
def test_hierarchical_sigmoid_walks_down_a_binary_tree(num_classes):
    table, bias = rng.normal(size=[num_classes - 1, 3]), rng.normal(size=[num_classes - 1, 1])
    depth = max(len(path_by_loops(c, num_classes)) for c in range(num_classes))
    for label in range(num_classes):
        found = f.hierarchical_sigmoid(
            X[:1], table, np.array([[label]]), Bias=bias, num_classes=num_classes
        )
        path = path_by_loops(label, num_classes)
        scores = [(X[0] @ table[node] + bias[node, 0], turn) for node, turn in path]
        expected = sum(math.log(1 + math.exp(s)) - turn * s for s, turn in scores)
        np.testing.assert_allclose(found, [[expected + (depth - len(path)) * math.log(2)]])


def test_every_leaf_has_a_path_of_its_own():
    paths = {tuple(path_by_loops(c, 11)) for c in range(11)}
    assert len(paths) == 11
    nodes, turns = f.tree_path(np.arange(11), num_classes=11, absent=99)
    for c, (row, code) in enumerate(zip(nodes, turns)):
        kept = [(n, t) for n, t in zip(row.tolist(), code.tolist()) if n != 99]
        assert kept == path_by_loops(c, 11)


def test_hierarchical_sigmoid_takes_a_tree_of_yours():
    table = np.array([[0, 2, -1], [5, 1, 3]])
    code = np.array([[1, 0, -1], [0, 0, 1]])
    found = f.hierarchical_sigmoid(X, TABLE, LABEL, table, code)
    for n in range(2):
        expected = 0.0
        for node, turn in zip(table[n], code[n]):
            s = X[n] @ TABLE[node] if node >= 0 else 0.0
            expected += math.log(1 + math.exp(s)) - max(turn, 0) * s
        np.testing.assert_allclose(found[n], [expected])


HSIGMOID = dict(X=([2, 3], "float32"), W=([4, 3], "float32"), Label=([2, 1], "int64"))


@pytest.mark.parametrize(
    "error, attrs, changed, message",
    [
        (AttributeValueError, dict(num_classes=1), {}, "num_classes of at least 2, got 1"),
        (ShapeError, dict(num_classes=9), {}, r"W of shape \[8, 3\], a row for each class or node"),
        (ShapeError, {}, dict(PathTable=([2, 3], "int64")), "both of PathTable and PathCode"),
        (
            ShapeError,
            {},
            dict(PathTable=([2, 3], "int64"), PathCode=([3, 3], "int64")),
            r"PathCode of shape \[2, 3\], as PathTable",
        ),
    ],
)
def test_hierarchical_sigmoid_refuses_what_does_not_fit(error, attrs, changed, message):
    with pytest.raises(error, match=message):
        infer("hierarchical_sigmoid", dict(num_classes=5) | attrs, **HSIGMOID | changed)


LOGITS = rng.normal(size=[2, 7])


def test_sample_logits_takes_logarithms_of_probabilities_off():
    samples, chances = np.array([[4, 6, 1], [1, 6, 1]]), rng.uniform(0.1, 0.9, [2, 3])
    attrs = dict(num_samples=2, use_customized_samples=True)
    outs = f.sample_logits.all(LOGITS, LABEL, samples, chances, **attrs)
    for n, k in np.ndindex(2, 3):
        expected = LOGITS[n, samples[n, k]] - math.log(chances[n, k])
        hit = k > 0 and samples[n, k] == LABEL[n, 0]
        np.testing.assert_allclose(outs["SampledLogits"][n, k], -1e20 if hit else expected)
    assert outs["SampledLabels"].tolist() == [[0], [0]]
    assert outs["LogitsDim"].shape == (2, 7, 0)


def test_sample_logits_draws_different_classes():
    outs = f.sample_logits.all(LOGITS, LABEL, num_samples=7, seed=5)
    for row, (label,) in zip(outs["Samples"], LABEL):
        assert row[0] == label
        assert sorted(row[1:]) == list(range(7))
    chances = outs["Probabilities"]
    assert ((chances > 0) & (chances <= 1)).all()


def test_the_probabilities_of_drawing_are_those_of_repeated_tries():
    """The first class is drawn in tries^-1 of all cases more often than a class half as likely."""
    outs = f.sample_logits.all(LOGITS, LABEL, num_samples=3, seed=5)
    once = [math.log((k + 2) / (k + 1)) / math.log(8) for k in range(7)]
    tries = {
        round(math.log1p(-p) / math.log1p(-once[k]), 6)
        for k, p in zip(outs["Samples"].ravel(), outs["Probabilities"].ravel())
    }
    assert len(tries) == 1
    assert min(tries) >= 3


@pytest.mark.parametrize(
    "error, attrs, changed, message",
    [
        (AttributeValueError, dict(num_samples=8), {}, "from 1 to the number of classes, 7; got 8"),
        (ShapeError, {}, dict(Labels=([3, 1], "int64")), "Labels with as many rows as Logits"),
        (
            ShapeError,
            dict(use_customized_samples=True),
            {},
            r"CustomizedSamples of shape \[2, 3\], got none",
        ),
    ],
)
def test_sample_logits_refuses_what_does_not_fit(error, attrs, changed, message):
    specs = dict(Logits=([2, 7], "float32"), Labels=([2, 1], "int64"))
    with pytest.raises(error, match=message):
        infer("sample_logits", dict(num_samples=2) | attrs, **specs | changed)


def test_the_bias_of_classes_may_lack_its_last_size():
    x, w, bias = rng.normal(size=[3, 4]), rng.normal(size=[5, 4]), rng.normal(size=[5, 1])
    label = np.array([[1], [0], [2]])
    how = dict(num_total_classes=5, num_neg_samples=2, custom_neg_classes=[0, 3])
    loss = lambda f, bias: f.nce(x, label, w, bias, **how)
    np.testing.assert_array_equal(loss(f, bias[:, 0]), loss(f, bias))
    (expected,) = pull_back(f, loss, [bias], [np.ones([3, 1])])
    (found,) = pull_back(f, loss, [bias[:, 0]], [np.ones([3, 1])])
    np.testing.assert_array_equal(found, expected[:, 0])
