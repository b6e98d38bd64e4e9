"""Products on oneDNN: of stacks and matrices, with what follows, and large ones."""

import re

import numpy as np
import pytest
from backend.agreement import agree, fed, gradients, needs_library

import fluidlite as fluid
from fluidlite import layers, paddle
from fluidlite.backend.onednn import product

pytestmark = needs_library


def linear(shape=(2, 5, 24), columns=16, transpose_y=False, turned=False, alpha=1.0):
    """The product of a stack and a matrix, a bias and a residual, and gradients of their squares.

    Args:
        shape: of the stack.
        columns: of the result.
        transpose_y: whether the matrix is transposed.
        turned: whether the stack is a view, whose rows do not follow each other in memory.
        alpha: a factor.
    """
    x, feed = fed("x", list(shape))
    x.stop_gradient = False
    rows = layers.transpose(x, [1, 0, *range(2, len(shape))]) if turned else x
    sizes = [shape[-1], columns]
    weight = layers.create_parameter(sizes[::-1] if transpose_y else sizes, "float32")
    made = layers.matmul(rows, weight, transpose_y=transpose_y, alpha=alpha)
    bias = layers.create_parameter([columns], "float32", is_bias=True)
    like, more = fed("like", list(made.shape))
    made = made + bias + like
    return [made, *gradients(layers.reduce_sum(made * made), [x, weight])], feed | more


def values_of(source):
    """How many values the first product of a plan reads."""
    (values,) = re.search(r"= k\d+\((.*), B\[\d+\].*\)  # matmul, .* oneDNN", source).groups()
    return values.count(",") + 1


@pytest.mark.parametrize("transpose_y", [False, True])
@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("shape", [(2, 5, 24), (2, 3, 1, 5, 24), (1, 1, 24)])
def test_a_bias_and_a_residual_behind_a_stack_and_a_matrix_are_added_with_them(
    monkeypatch, shape, transpose_y, turned
):
    how = dict(shape=shape, transpose_y=transpose_y, turned=turned, alpha=0.5)
    assert values_of(agree(monkeypatch, linear, **how)) == 4


def test_a_linear_layer_of_paddle_2_multiplies_a_stack_and_a_matrix(monkeypatch):
    def layer():
        x, feed = fed("x", [4, 6, 8])
        weight = layers.create_parameter([8, 12], "float32")
        bias = layers.create_parameter([12], "float32", is_bias=True)
        return [paddle.nn.functional.relu(paddle.nn.functional.linear(x, weight, bias))], feed

    assert values_of(agree(monkeypatch, layer)) == 3


@pytest.mark.parametrize("transpose_y", [False, True])
@pytest.mark.parametrize("turned", [False, True])
def test_a_large_product_is_multiplied_alone_unless_y_is_transposed(
    monkeypatch, transpose_y, turned
):
    monkeypatch.setattr(product, "LARGE_PLAIN", 1)
    source = agree(monkeypatch, linear, transpose_y=transpose_y, turned=turned)
    assert values_of(source) == (4 if transpose_y else 2)


@pytest.mark.parametrize("transpose_x", [False, True])
@pytest.mark.parametrize("transpose_y", [False, True])
def test_a_large_product_may_have_one_row_in_a_matrix(monkeypatch, transpose_x, transpose_y):
    monkeypatch.setattr(product, "LARGE_PLAIN", 1)
    monkeypatch.setattr(product, "LARGE_TURNED", 1)

    def outer():
        x, feed = fed("x", [1, 7] if transpose_x else [7, 1])
        y, more = fed("y", [6, 1] if transpose_y else [1, 6])
        return [layers.matmul(x, y, transpose_x, transpose_y)], feed | more

    assert "oneDNN" in agree(monkeypatch, outer)


@pytest.mark.parametrize("transpose_x", [False, True])
@pytest.mark.parametrize("transpose_y", [False, True])
@pytest.mark.parametrize("step", [1, 3])
def test_a_large_product_may_read_windows_that_slide(monkeypatch, transpose_x, transpose_y, step):
    monkeypatch.setattr(product, "LARGE_PLAIN", 1)
    monkeypatch.setattr(product, "LARGE_TURNED", 1)

    def square():
        feed = {}
        for name in ("x", "y"):
            numbers = np.random.default_rng(7).normal(size=70).astype("float32")
            feed[name] = np.lib.stride_tricks.sliding_window_view(numbers, 16)[: 16 * step : step]
        x, y = (fluid.data(name, [16, 16]) for name in feed)
        return [layers.matmul(x, y, transpose_x, transpose_y)], feed

    assert "oneDNN" in agree(monkeypatch, square)


@pytest.mark.parametrize("transpose_x", [False, True])
@pytest.mark.parametrize("transpose_y", [False, True])
@pytest.mark.parametrize(
    "x, y",
    [
        ([3], []),
        ([], [3]),
        ([2, 4], [2, 1]),
        ([2, 1], [4]),
        ([4], [2, 1]),
        ([5, 1, 2], [1, 3, 2]),
        ([1], [1, 1]),
    ],
)
def test_stacks_are_stretched(monkeypatch, x, y, transpose_x, transpose_y):
    def product_of_stacks():
        first, feed = fed("x", [*x, *([7, 6] if transpose_x else [6, 7])])
        second, more = fed("y", [*y, *([5, 7] if transpose_y else [7, 5])])
        first.stop_gradient = second.stop_gradient = False
        made = layers.matmul(first, second, transpose_x, transpose_y, alpha=0.5)
        return [made, *gradients(layers.reduce_sum(made * made), [first, second])], feed | more

    assert "oneDNN" in agree(monkeypatch, product_of_stacks).splitlines()[1]
