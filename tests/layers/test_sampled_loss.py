"""Losses over samples and trees of classes."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite import layers
from fluidlite.errors import ArgumentError

from building import data, refused, run, started, written

X, LABEL = np.ones([2, 4], "float32"), np.array([[1], [2]])


def inputs():
    return data(), data("label", [None, 1], "int64")


def parameters():
    return {p.name: p.shape for p in fluid.default_main_program().all_parameters()}


def test_nce_is_the_mean_loss_of_a_class():
    out = layers.nce(*inputs(), num_total_classes=10, num_neg_samples=3, seed=5)
    assert parameters() == {"nce_0.w_0": (10, 4), "nce_0.b_0": (10, 1)}
    assert "num_total_classes=10, num_neg_samples=3" in written()[0]
    assert "scale=0.25" in written()[1]
    assert run(out, x=X, label=LABEL).shape == (2, 1)


def test_nce_keeps_a_distribution_of_yours_in_parameters():
    chances = [0.2, 0.3, 0.5]
    layers.nce(*inputs(), 3, sampler="custom_dist", custom_dist=chances, is_sparse=True)
    assert list(parameters()) == [f"nce_0.{n}" for n in ("w_0", "b_0", "w_1", "w_2", "w_3")]
    assert "sampler=2" in written()[0]
    made = fluid.default_main_program().global_block().var("nce_0.w_1")
    assert (made.trainable, made.stop_gradient) == (False, True)
    block = fluid.default_main_program().global_block()
    values = run(*(block.var(f"nce_0.w_{k}") for k in (1, 2, 3)), x=X, label=LABEL)
    probabilities, alias, share = values
    assert np.allclose(probabilities, chances)
    drawn = np.zeros(3)  # a number is drawn, and stays or gives way to its alias
    for i in range(3):
        drawn[i] += share[i] / 3
        drawn[alias[i]] += (1 - share[i]) / 3
    assert np.allclose(drawn, chances)


@pytest.mark.parametrize(
    "more, message",
    [
        (dict(sampler="normal"), "one of uniform, log_uniform, custom_dist, got 'normal'"),
        (dict(sampler="custom_dist"), "custom_dist with the sampler 'custom_dist'"),
        (dict(custom_dist=[0.5, 0.5]), "custom_dist with the sampler 'custom_dist'"),
        (dict(sampler="custom_dist", custom_dist=[1.0]), "custom_dist of 3 numbers"),
    ],
)
def test_nce_refuses_samplers_that_do_not_fit(more, message):
    x, label = inputs()
    with refused(ArgumentError, message):
        layers.nce(x, label, 3, **more)


def test_hsigmoid_has_a_weight_for_each_inner_node():
    out = layers.hsigmoid(*inputs(), num_classes=6)
    assert parameters() == {
        "hierarchical_sigmoid_0.w_0": (5, 4),
        "hierarchical_sigmoid_0.b_0": (5, 1),
    }
    assert out.name == "hierarchical_sigmoid_0.tmp_0"
    assert run(out, x=X, label=LABEL).shape == (2, 1)


def test_hsigmoid_learns():
    fluid.default_startup_program().random_seed = 1
    out = layers.mean(layers.hsigmoid(*inputs(), num_classes=6, is_sparse=True))
    fluid.optimizer.SGD(0.5).minimize(out)
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    x = np.eye(4, dtype="float32")[:2]
    losses = [exe.run(feed=dict(x=x, label=LABEL), fetch_list=[out])[0].item() for _ in range(99)]
    assert losses[-1] < 0.3 * losses[0]


def test_hsigmoid_takes_a_tree_of_yours():
    paths = [data(name, [None, 3], "int64") for name in ("table", "code")]
    out = layers.hsigmoid(*inputs(), 5, None, False, None, *paths, is_custom=True)
    assert parameters() == {"hierarchical_sigmoid_0.w_0": (5, 4)}
    assert "PathTable=table, PathCode=code" in written()[0]
    table, code = np.array([[0, 2, -1], [0, 1, 4]]), np.array([[0, 1, -1], [1, 0, 0]])
    assert run(out, x=X, label=LABEL, table=table, code=code).shape == (2, 1)


def test_rows_of_hsigmoid_are_selected_in_a_tree_of_yours_only():
    """As in fluid 1.8, whose Adam would else leave the rows that were not met as they are."""
    table, code = (fluid.data(n, [None, 3], "int64") for n in ("table", "code"))
    layers.hsigmoid(*inputs(), 6, is_sparse=True)
    layers.hsigmoid(*inputs(), 6, path_table=table, path_code=code, is_custom=True, is_sparse=True)
    complete, yours = (
        op
        for op in fluid.default_main_program().global_block().ops
        if op.type == "hierarchical_sigmoid"
    )
    assert [op.attr("is_sparse") for op in (complete, yours)] == [False, True]
    assert [op.attr("remote_prefetch") for op in (complete, yours)] == [False, True]


def test_hsigmoid_refuses_half_a_tree():
    x, label = inputs()
    table = data("table", [None, 3], "int64")
    with refused(ArgumentError, "path_table and path_code with is_custom=True"):
        layers.hsigmoid(x, label, 5, path_table=table, is_custom=True)
    with refused(ArgumentError, "path_table and path_code with is_custom=True"):
        layers.hsigmoid(x, label, 5, path_table=table)
    with refused(ArgumentError, "num_classes of at least 2, got 1"):
        layers.hsigmoid(x, label, 1)


def test_sampled_softmax_is_the_softmax_of_a_few_classes():
    x, label = data(shape=[None, 6]), data("label", [None, 1], "int64")
    samples, chances = data("samples", [None, 3], "int64"), data("chances", [None, 3])
    out = layers.sampled_softmax_with_cross_entropy(
        x,
        label,
        num_samples=2,
        use_customized_samples=True,
        customized_samples=samples,
        customized_probabilities=chances,
    )
    logits = np.arange(12, dtype="float32").reshape(2, 6) / 10
    picked, p = np.array([[1, 5, 0], [2, 3, 2]]), np.full([2, 3], 0.5, "float32")
    found = run(out, x=logits, label=LABEL, samples=picked, chances=p)
    for n, classes in enumerate([[1, 5, 0], [2, 3]]):  # a sample that is the label is left out
        exponentials = np.exp(logits[n, classes])
        assert np.allclose(found[n], -np.log(exponentials[0] / exponentials.sum()), rtol=1e-5)


def test_sampled_softmax_averages_over_several_labels():
    x, label = data(shape=[None, 6]), data("label", [None, 2], "int64")
    out = layers.sampled_softmax_with_cross_entropy(x, label, num_samples=6, num_true=2, seed=3)
    assert out.shape == (-1, 1)
    found = run(out, x=np.zeros([1, 6], "float32"), label=np.array([[1, 2]]))
    assert np.isfinite(found).all()
    assert not started()


def test_sampled_softmax_needs_both_samples_and_probabilities():
    x, label = data(shape=[None, 6]), data("label", [None, 1], "int64")
    with refused(ArgumentError, "customized_samples and customized_probabilities"):
        layers.sampled_softmax_with_cross_entropy(x, label, 2, use_customized_samples=True)
