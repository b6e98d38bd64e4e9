"""Layers that often stand together."""

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.errors import ArgumentError, ShapeError

from building import data, refused, run, written


def types():
    return [line.split(" = ")[1].split("(")[0] for line in written()]


def images():
    return data(shape=[None, 3, 8, 8])


def test_an_image_is_convolved_then_pooled():
    out = fluid.nets.simple_img_conv_pool(images(), 4, 3, 2, 2, pool_type="avg", act="relu")
    assert types() == ["conv2d", "elementwise_add", "relu", "pool2d"]
    assert (out.name, out.shape) == ("pool2d_0.tmp_0", (-1, 4, 3, 3))


def test_a_group_of_convolutions_is_pooled_once():
    out = fluid.nets.img_conv_group(images(), [4, 5], 2, conv_act="relu", pool_stride=2)
    assert types() == ["conv2d", "elementwise_add", "relu"] * 2 + ["pool2d"]
    assert out.shape == (-1, 5, 4, 4)


def test_a_group_normalises_and_drops_where_asked():
    fluid.nets.img_conv_group(
        images(),
        [4, 5],
        2,
        conv_act="relu",
        conv_with_batchnorm=[True, False],
        conv_batchnorm_drop_rate=[0.3, 0.0],
    )
    first = ["conv2d", "elementwise_add", "batch_norm", "relu", "dropout"]
    assert types() == [*first, "conv2d", "elementwise_add", "relu", "pool2d"]


def test_a_list_has_an_entry_for_each_convolution():
    x = images()
    with refused(ArgumentError, "expected conv_padding to have one entry for each of 2.*got 3"):
        fluid.nets.img_conv_group(x, [4, 5], 2, conv_padding=[1, 1, 1])


def test_a_gate_is_half_of_the_input():
    out = fluid.nets.glu(data(shape=[None, 2]))
    assert types() == ["split", "sigmoid", "elementwise_mul"]
    assert np.allclose(run(out, x=np.array([[4, 0]], "float32")), [[2]])


def attention(q, k, v):
    weights = np.exp(q @ k.transpose(0, 2, 1) / np.sqrt(q.shape[-1]))
    return weights / weights.sum(-1, keepdims=True) @ v


def test_attention_weighs_values_by_how_well_keys_fit():
    q, k, v = data("q", [None, 3, 4]), data("k", [None, 5, 4]), data("v", [None, 5, 6])
    out = fluid.nets.scaled_dot_product_attention(q, k, v)
    assert out.shape == (-1, 3, 6)
    random = np.random.default_rng(1)
    feed = {
        n: random.normal(size=s).astype("float32")
        for n, s in (("q", [2, 3, 4]), ("k", [2, 5, 4]), ("v", [2, 5, 6]))
    }
    assert np.allclose(run(out, **feed), attention(**feed), rtol=1e-4, atol=1e-5)


def test_each_head_of_attention_sees_its_part():
    q, k, v = data("q", [None, 3, 4]), data("k", [None, 5, 4]), data("v", [None, 5, 6])
    out = fluid.nets.scaled_dot_product_attention(q, k, v, num_heads=2, dropout_rate=0.1)
    parameters = fluid.default_main_program().global_block().all_parameters()
    assert [p.shape for p in parameters] == [(4, 4), (4,), (4, 4), (4,), (6, 6), (6,)]
    assert "dropout" in types()
    assert out.shape == (-1, 3, 6)


@pytest.mark.parametrize(
    "shapes, heads, error, match",
    [
        (([None, 3, 4], [None, 5, 4], [None, 6, 4]), 1, ShapeError, "as many keys as values"),
        (([None, 3, 5], [None, 5, 4], [None, 5, 4]), 1, ShapeError, "queries as wide as keys"),
        (([None, 3, 4], [None, 4], [None, 5, 4]), 1, ShapeError, "expected keys of 3 dim.*'k'"),
        (([None, 3, 4], [None, 5, 4], [None, 5, 4]), 3, ArgumentError, "num_heads=3 for 4 and 4"),
    ],
)
def test_attention_refuses_what_does_not_fit(shapes, heads, error, match):
    q, k, v = (data(name, shape) for name, shape in zip("qkv", shapes))
    with refused(error, match):
        fluid.nets.scaled_dot_product_attention(q, k, v, num_heads=heads)
