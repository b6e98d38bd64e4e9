"""Samples of the operators in fluidlite/ops/sampled_loss.py."""

import numpy as np

from .form import Sample, samples


@samples("nce")
def nce(rng):
    inputs = dict(Input=rng.normal(size=[2, 3]), Label=np.array([[4], [1]]))
    inputs["Weight"] = rng.normal(size=[6, 3])
    attrs = dict(num_total_classes=6, num_neg_samples=4, custom_neg_classes=[0, 5, 1, 3])
    yield Sample(inputs, attrs, "given")
    weighted = dict(inputs, Bias=rng.normal(size=[6, 1]), SampleWeight=np.array([[0.5], [2.0]]))
    yield Sample(weighted, attrs, "weighted")
    two = dict(inputs, Label=np.array([[4, 0], [1, 2]]), Bias=weighted["Bias"])
    attrs = dict(num_total_classes=6, num_neg_samples=4, seed=5)
    yield Sample(two, dict(attrs, sampler=1, is_sparse=True), "log_uniform")
    yield Sample(dict(inputs, Label=np.array([4, 1])), attrs, "uniform")
    chances = np.array([0.1, 0.3, 0.05, 0.2, 0.2, 0.15])
    yield Sample(dict(inputs, CustomDistProbs=chances), dict(attrs, sampler=2), "custom")


@samples("tree_path")
def tree_path(rng):
    attrs = dict(num_classes=5, absent=9)
    yield Sample(dict(Label=np.array([[0], [4], [2]])), attrs)
    table, code = np.array([[0, 2, -1], [0, 1, 3]]), np.array([[1, 0, -1], [0, 0, 1]])
    yield Sample(dict(Label=np.array([[0], [1]]), PathTable=table, PathCode=code), attrs, "custom")


@samples("hierarchical_sigmoid")
def hierarchical_sigmoid(rng):
    inputs = dict(X=rng.normal(size=[3, 2]), Label=np.array([[0], [4], [2]]))
    tree = dict(inputs, W=rng.normal(size=[4, 2]))
    yield Sample(tree, dict(num_classes=5))
    tree["Bias"] = rng.normal(size=[4, 1])
    yield Sample(tree, dict(num_classes=5, is_sparse=True), "bias")
    table = np.array([[0, 2, -1, -1], [0, 1, 3, 4], [2, -1, -1, -1]])
    code = np.array([[1, 0, -1, -1], [0, 0, 1, 1], [0, -1, -1, -1]])
    custom = dict(inputs, W=rng.normal(size=[5, 2]), PathTable=table, PathCode=code)
    yield Sample(custom, dict(num_classes=3), "custom")


@samples("sample_logits")
def sample_logits(rng):
    inputs = dict(Logits=rng.normal(size=[2, 7]), Labels=np.array([[4], [1]]))
    given = np.array([[4, 6, 1], [1, 6, 1]])
    chances = rng.uniform(0.1, 0.9, [2, 3])
    custom = dict(inputs, CustomizedSamples=given, CustomizedProbabilities=chances)
    attrs = dict(num_samples=2, use_customized_samples=True, remove_accidental_hits=False)
    yield Sample(custom, attrs, "given")
    drawn = dict(num_samples=4, seed=3, remove_accidental_hits=False)
    yield Sample(inputs, drawn, "drawn")
