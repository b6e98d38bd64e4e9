"""Losses and choices between many classes; numbers are those of paddle 2.6.2."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite import errors, paddle

F = paddle.nn.functional


LOSSES = [-5.091852, -1.189241]
SLOPES = [
    [
        [-0.473721, -0.657848, 0.0, 0.0, 0.0],
        [-0.388069, 0.0, 0.0, -0.172763, 0.0],
        [-0.13821, 0.0, 0.0, 0.0, 0.0],
    ],
    [
        [-0.171458, -0.377829, 0.0, 0.0, 0.0],
        [-0.521475, 0.0, 0.0, -0.211071, 0.0],
        [-0.307067, 0.0, 0.0, 0.0, 0.0],
    ],
]


def lattice(dtype="float32"):
    x = np.random.RandomState(0).randn(2, 4, 3, 5).astype(dtype)
    numbers = ([[1, 3], [4, 1]], [4, 3], [2, 1])
    return x, [paddle.to_tensor(np.array(each, "int32")) for each in numbers]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_loss_of_a_transducer_and_its_gradient(dtype):
    x, numbers = lattice(dtype)
    x = np.sin(np.arange(x.size) * 1.3).reshape(x.shape).astype(dtype)
    logits = paddle.to_tensor(x, stop_gradient=False)
    loss = F.rnnt_loss(logits, *numbers, reduction="none", fastemit_lambda=0.25)
    loss.sum().backward()
    np.testing.assert_allclose(loss.numpy(), LOSSES, rtol=1e-5)
    np.testing.assert_allclose(logits.grad.numpy()[0, :2], SLOPES, atol=1e-5)
    mean = paddle.nn.RNNTLoss(fastemit_lambda=0.0)(logits, *numbers)
    np.testing.assert_allclose(float(mean), np.mean(LOSSES), rtol=1e-5)


def test_the_loss_of_a_transducer_is_the_same_in_a_program():
    x, numbers = lattice()
    wanted = F.rnnt_loss(paddle.to_tensor(x), *numbers).numpy()
    arrays = [x, *(n.numpy() for n in numbers)]
    variables = [
        fluid.data(f"v{k}", [None, *a.shape[1:]], str(a.dtype)) for k, a in enumerate(arrays)
    ]
    variables[0].stop_gradient = False
    loss = F.rnnt_loss(*variables)
    (slope,) = fluid.gradients(loss, variables[0])
    feed = {v.name: a for v, a in zip(variables, arrays)}
    found, slope = fluid.Executor().run(feed=feed, fetch_list=[loss, slope])
    np.testing.assert_allclose(found.reshape(()), wanted, rtol=1e-6)
    assert slope.shape == x.shape


def test_the_loss_of_a_transducer_refuses_what_does_not_fit():
    x, (label, steps, labels) = lattice()
    x = paddle.to_tensor(x)
    with pytest.raises(AssertionError, match="mean, sum or none"):
        F.rnnt_loss(x, label, steps, labels, reduction="foo")
    with pytest.raises(errors.ShapeError, match=r"label of shape \[N, 2\]"):
        F.rnnt_loss(x, label[:, :1], steps, labels)
    with pytest.raises(ValueError, match="int32"):
        F.rnnt_loss(x, label.astype("int64"), steps, labels)
    with pytest.raises(ValueError, match="input_lengths up to 4, got 5"):
        F.rnnt_loss(x, label, steps + 1, labels)


def test_a_margin_makes_the_right_class_smaller():
    cosines = np.array([[0.9, 0.1, -0.3], [0.2, -0.5, 0.4]])
    right = np.array([0, 2])
    loss, soft = F.margin_cross_entropy(
        paddle.to_tensor(cosines), paddle.to_tensor(right), 1.1, 0.2, 0.05, 8.0,
        return_softmax=True, reduction=None,
    )  # fmt: skip
    moved = cosines.copy()
    rows = np.arange(2)
    moved[rows, right] = np.cos(1.1 * np.arccos(cosines[rows, right]) + 0.2) - 0.05
    shares = np.exp(8 * moved) / np.exp(8 * moved).sum(1, keepdims=True)
    np.testing.assert_allclose(soft.numpy(), shares, rtol=1e-12)
    np.testing.assert_allclose(loss.numpy(), -np.log(shares[rows, right])[:, None], rtol=1e-12)


@pytest.mark.parametrize("count", [2, 6, 12, 20])
def test_classes_are_sampled_beside_those_that_labels_name(count):
    label = np.array([11, 5, 1, 3, 12, 2, 15, 19, 18, 19])
    remapped, classes = F.class_center_sample(paddle.to_tensor(label), 20, count)
    classes = classes.numpy()
    assert len(classes) == max(9, count) == len(set(classes))
    assert classes[:9].tolist() == sorted(set(label))
    np.testing.assert_array_equal(classes[remapped.numpy()], label)
    with pytest.raises(ValueError, match="num_samples up to 20, got 21"):
        F.class_center_sample(paddle.to_tensor(label), 20, 21)


def test_attention_by_other_names():
    x = paddle.to_tensor(np.random.RandomState(1).randn(2, 5, 2, 4).astype("float32"))
    flash = F.flash_attention
    with flash.sdp_kernel(enable_math=True):
        out, weights = flash.flash_attention(x, x, x, causal=True, return_softmax=True)
    np.testing.assert_array_equal(
        out.numpy(), F.scaled_dot_product_attention(x, x, x, is_causal=True).numpy()
    )
    np.testing.assert_allclose(weights.numpy().sum(-1), 1, rtol=1e-6)
    assert flash.flash_attention(x, x, x)[1] is None
    for refused in (F.sparse_attention, flash.flash_attn_unpadded):
        with pytest.raises(errors.UnsupportedError, match="GPUs alone"):
            refused(*[x] * (5 if refused is F.sparse_attention else 8))


def test_labels_of_nll_may_be_columns():
    scores = paddle.to_tensor(np.log(np.float32([[0.2, 0.8], [0.5, 0.5]])))
    column = F.nll_loss(scores, paddle.to_tensor([[1], [0]]), reduction="none")
    np.testing.assert_allclose(column.numpy(), -np.log([0.8, 0.5]), rtol=1e-6)
    with pytest.raises(ValueError):
        F.nll_loss(scores, paddle.to_tensor([[[1]], [[0]]]))


def test_the_binary_cross_entropy_needs_probabilities():
    right = paddle.to_tensor([1.0, 0.0])
    for wrong in (1.5, -0.5, float("nan")):
        x = paddle.to_tensor([wrong, 0.5])
        for loss in (F.binary_cross_entropy, paddle.nn.BCELoss()):
            with pytest.raises(
                ValueError, match=rf"probabilities in \[0, 1\].*got {wrong:g}; .*sigmoid"
            ):
                loss(x, right)
    ends = F.binary_cross_entropy(right, right)
    assert float(ends) == 0.0
    labels = paddle.to_tensor([1.5, 0.0])  # which 2.6 does not look at
    np.testing.assert_allclose(
        float(F.binary_cross_entropy(right * 0 + 0.5, labels)), 0.693147, 1e-5
    )


def test_class_numbers_may_be_fractions_or_truth_values():
    logits = paddle.to_tensor(np.sqrt(np.arange(6, dtype="float32")).reshape(2, 3))
    for labels, loss in (
        ([1.0, 2.0], 0.9655255),
        ([[1.7], [0.2]], 1.2175341),
        ([[1.0], [-100.0]], 1.058158),
        ([[True], [False]], None),
    ):
        found = F.cross_entropy(logits, paddle.to_tensor(labels))
        whole = F.cross_entropy(logits, paddle.to_tensor(np.array(labels).astype("int64")))
        assert found.item() == whole.item() == pytest.approx(loss or whole.item(), rel=1e-6)
    losses = F.softmax_with_cross_entropy(logits, paddle.to_tensor([[1.0], [2.0]]))
    np.testing.assert_allclose(losses.numpy(), [[1.058158], [0.8728929]], rtol=1e-6)
