"""Products and convolutions of oneDNN compute what follows them."""

from functools import partial

import numpy as np
import pytest
from backend.agreement import agree, fed, gradients, needs_library, ran

import fluidlite as fluid

layers = fluid.layers

pytestmark = needs_library

#: what follows a product or convolution that oneDNN computes with it
FOLLOWING = {
    "relu": layers.relu,
    "sigmoid": layers.sigmoid,
    "tanh": layers.tanh,
    "abs": layers.abs,
    "square": layers.square,
    "leaky_relu": layers.leaky_relu,
    "elu": lambda x: layers.elu(x, 0.7),
    "gelu": lambda x: layers.gelu(x, approximate=True),
    "scale": lambda x: layers.scale(x, 2.5, -0.5),
    "scale before the bias": lambda x: layers.scale(x, 2.5, -0.5, bias_after_scale=False),
    "elementwise_add": lambda x: layers.elementwise_add(x, other(x)),
    "the other added to": lambda x: layers.elementwise_add(other(x), x),
    "elementwise_sub": lambda x: layers.elementwise_sub(x, other(x)),
    "elementwise_mul": lambda x: layers.elementwise_mul(x, other(x)),
    "one number": lambda x: layers.elementwise_mul(x, other(x, [1])),
    "four": lambda x: layers.relu(layers.elementwise_add(layers.tanh(x * 0.5), other(x))),
}
#: and what it does not
LEFT = {
    "swish": lambda x: layers.swish(x, 1.5),
    "subtracted from": lambda x: layers.elementwise_sub(other(x), x),
    "exact gelu": layers.gelu,
    "relu6": layers.relu6,
    "exp": layers.exp,
    "leaky_relu of zero": lambda x: layers.leaky_relu(x, 0.0),
}
fed_beside: dict[str, np.ndarray] = {}


def other(x, shape=None):
    """Another value, which is fed."""
    variable, feed = fed(f"other{len(fed_beside)}", shape or list(x.shape))
    fed_beside.update(feed)
    return variable


def followed(begin, following, training=False):
    """A net that makes something, and what follows that."""
    fed_beside.clear()
    made, feed = begin()
    out = following(made)
    found = [out]
    if training:
        loss = layers.reduce_sum(layers.square(out))
        found += gradients(loss, fluid.default_main_program().all_parameters())
    return found, {**feed, **fed_beside}


def matrices():
    x, feed = fed("x", [5, 7])
    return layers.fc(x, 6), feed


def rows_of_sequences():
    x, feed = fed("x", [3, 4, 7])
    return layers.fc(x, 6, num_flatten_dims=2), feed


def stacks():
    x, first = fed("x", [2, 3, 4, 5])
    y, second = fed("y", [2, 3, 6, 5])
    return layers.matmul(x, y, transpose_y=True, alpha=0.3), {**first, **second}


def images():
    x, feed = fed("x", [2, 3, 8, 8])
    return layers.conv2d(x, 16, 3), feed


def instructions(source):
    """The operators of a plan's lines, and the libraries of their kernels."""
    remarks = [line.split("  # ")[1].split(", ") for line in source.splitlines() if "  # " in line]
    return [(each[0], each[-1]) for each in remarks if each[0] != "reorder"]


@pytest.mark.parametrize("begin", [matrices, rows_of_sequences, stacks])
@pytest.mark.parametrize("following", FOLLOWING.values(), ids=FOLLOWING)
def test_a_product_computes_what_follows_it(monkeypatch, begin, following):
    source = agree(monkeypatch, followed, 2e-6, begin=begin, following=following)
    ((type, library),) = instructions(source)
    assert type in ("mul", "matmul") and library == "oneDNN"


@pytest.mark.parametrize("following", LEFT.values(), ids=LEFT)
def test_what_the_library_computes_otherwise_is_left(monkeypatch, following):
    source = agree(monkeypatch, followed, 2e-6, begin=matrices, following=following)
    assert len(instructions(source)) == 2


@pytest.mark.parametrize("begin", [matrices, rows_of_sequences, images])
@pytest.mark.parametrize("following", {**FOLLOWING, **LEFT}.values(), ids=[*FOLLOWING, *LEFT])
def test_gradients_of_what_is_fused(monkeypatch, begin, following):
    agree(monkeypatch, followed, 1e-5, begin=begin, following=following, training=True)


@pytest.mark.parametrize("function", ["relu", "tanh", "abs", "leaky_relu", "elementwise_add"])
def test_a_convolution_computes_what_follows_it(monkeypatch, function):
    source = agree(monkeypatch, followed, begin=images, following=FOLLOWING[function])
    assert instructions(source) == [("conv2d", "oneDNN")]


def test_a_residual_block_of_convolutions_is_one_instruction_each(monkeypatch):
    def block(x):
        again = layers.conv2d(x, 16, 3, padding=1, act="relu")
        return layers.relu(layers.elementwise_add(x, layers.conv2d(again, 16, 3, padding=1)))

    source = agree(monkeypatch, followed, begin=images, following=block)
    assert [each for each, _ in instructions(source)] == ["conv2d"] * 3


@pytest.mark.parametrize("shape", [[4, 6], [6], [1], [2, 1, 4, 6], [1, 3, 1, 1], [2, 3, 4, 1]])
def test_a_mask_that_is_stretched_over_a_stack(monkeypatch, shape):
    def masked(x):
        return layers.elementwise_add(x, other(x, shape))

    agree(monkeypatch, followed, 2e-6, begin=stacks, following=masked)


def moved(x, order, following="relu"):
    """A value with its dimensions in another order, and what copies it where it lies otherwise."""
    out = layers.transpose(FOLLOWING[following](x), order)
    return layers.reshape(out, [out.shape[0], -1])


@pytest.mark.parametrize("order", [[0, 2, 1, 3], [2, 1, 0, -1]])
def test_a_stack_is_written_with_its_dimensions_in_another_order(monkeypatch, order):
    source = agree(monkeypatch, followed, 2e-6, begin=stacks, following=partial(moved, order=order))
    assert [type for type, _ in instructions(source)] == ["matmul", "reshape2"]


@pytest.mark.parametrize("order", [[0, 2, 1, 3], [3, 1, 0, 2], [0, 1, 3, 2]])
@pytest.mark.parametrize("following", FOLLOWING)
def test_an_order_that_the_library_does_not_write_is_left(monkeypatch, order, following):
    agree(
        *(monkeypatch, followed, 2e-6),
        begin=stacks,
        following=partial(moved, order=order, following=following),
    )


def test_rows_that_the_library_sees_as_one_dimension_are_moved_behind_it(monkeypatch):
    def turned(x):
        return layers.transpose(x, [1, 0, 2])

    source = agree(monkeypatch, followed, 2e-6, begin=rows_of_sequences, following=turned)
    assert [type for type, _ in instructions(source)] == ["mul", "transpose2"]


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("following", {**FOLLOWING, **LEFT}.values(), ids=[*FOLLOWING, *LEFT])
def test_what_is_not_finite_stays_so(monkeypatch, following, bad):
    def net():
        found, feed = followed(matrices, following)
        feed["x"] = feed["x"].copy()
        feed["x"][2, 3] = bad
        return found, feed

    with np.errstate(all="ignore"):
        right, _ = ran(monkeypatch, "numpy", net)
        found, _ = ran(monkeypatch, "onednn", net)
    for mine, want in zip(found, right, strict=True):
        finite = np.isfinite(want[0])
        np.testing.assert_array_equal(np.isfinite(mine[0]), finite)
        np.testing.assert_array_equal(np.isnan(mine[0]), np.isnan(want[0]))
        np.testing.assert_allclose(mine[0][finite], want[0][finite], 1e-5, 1e-5)


@pytest.mark.parametrize("transposed", [False, True])
def test_operands_lie_as_they_come(monkeypatch, transposed):
    """A plan is made for shapes; arrays that are fed lie in whatever way."""

    def net():
        x, feed = fed("x", [6, 8])
        y, more = fed("y", [5, 8] if transposed else [8, 5])
        return [layers.matmul(x, y, transpose_y=transposed)], {**feed, **more}

    monkeypatch.setenv("FLUIDLITE_KERNELS", "onednn")
    with fluid.program_guard(fluid.Program()):
        fetches, feed = net()
        exe = fluid.Executor()
        x, y = feed["x"], feed["y"]
        wide = np.zeros([12, 24], "float32")
        odd, far = wide[::2, ::3], wide[:6, 5:13]
        for lying in (x, np.asfortranarray(x), odd, far, x[::-1], x[:, ::-1], x):
            if lying is odd or lying is far:
                lying[...] = x
            for second in (y, np.asfortranarray(y), y[::-1]):
                (found,) = exe.run(feed={"x": lying, "y": second}, fetch_list=fetches)
                right = lying @ (second.T if transposed else second)
                np.testing.assert_allclose(found, right, 1e-5, 1e-5)


def test_relu_keeps_its_mask_where_what_is_normalised_is_computed_again():
    main, startup = fluid.Program(), fluid.Program()
    main.random_seed = startup.random_seed = 1
    with fluid.program_guard(main, startup):
        x = fluid.data("x", [8, 3, 16, 16])
        hidden = layers.conv2d(x, 16, 3, padding=1, bias_attr=False)
        normal = layers.batch_norm(hidden, act="relu")
        inner = layers.conv2d(normal, 16, 3, padding=1, bias_attr=False)
        loss = layers.mean(layers.square(normal + inner))
        ((_, slope), *_) = fluid.backward.append_backward(loss)
    block = main.global_block()
    place, gradient = next(
        (k, op) for k, op in enumerate(block.ops) if op.type == "batch_norm_grad"
    )
    again = block.create_var(name="again", shape=hidden.shape, dtype="float32")
    block.insert_op(place, "conv2d", hidden.op.inputs, {"Output": again}, hidden.op.attrs)
    block.ops[place].role = gradient.role
    gradient.rename_input(hidden.name, "again")
    scope, exe = fluid.Scope(), fluid.Executor()
    exe.run(startup, scope=scope)
    feed = {"x": np.random.default_rng(0).normal(size=[8, 3, 16, 16]).astype("float32")}
    runs = [exe.run(main, feed=feed, fetch_list=[slope], scope=scope)[0] for _ in range(3)]
    np.testing.assert_allclose(runs[2], runs[0], atol=1e-5 * np.abs(runs[0]).max())
