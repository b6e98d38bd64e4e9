from types import SimpleNamespace

import numpy as np
import pytest
from elementwise_graphs import Recording

import fluidlite as fluid
from fluidlite.backend.native import compiler as compilers
from fluidlite.backend.native.channels import ChannelSpace, channels_of
from fluidlite.backend.native.index_maps import NotFusible
from fluidlite.backend.native.layouts import relaid
from fluidlite.backend.native.library import prepared
from fluidlite.backend.native.source import kernel_source
from fluidlite.backend.native.symbols import XP, ArraySymbol, Expression, Untraceable
from fluidlite.backend.native.tracing import TracedResults
from fluidlite.backend.onednn import library as onednn


def input_of(*shape):
    return ArraySymbol(Expression("input", (), shape, "float32"))


@pytest.mark.parametrize(
    "shape, axes, expected",
    [
        ((4, 3, 5, 6), (0, 2, 3), (4, 3, 30, 1)),
        ((4, 2, 5, 6, 8), (0, 2, 3), (4, 2, 30, 8)),
        ((4, 7, 3), 1, (1, 4, 7, 3)),
        ((9, 96), 0, (9, 2, 1, 48)),
        ((9, 1, 5), 0, (9, 1, 1, 5)),
    ],
)
def test_elements_are_numbered_by_what_is_reduced(shape, axes, expected):
    node = XP.sum(input_of(*shape), axis=axes, keepdims=True).node
    assert channels_of(node) == ChannelSpace(*expected)


@pytest.mark.parametrize("shape, axes", [((2, 3, 4, 5, 6), (0, 2, 4)), ((2, 3), (0, 1))])
def test_what_leaves_more_or_less_than_channels_does_not_fit(shape, axes):
    with pytest.raises(NotFusible):
        channels_of(XP.sum(input_of(*shape), axis=axes, keepdims=True).node)


def normalised(x, scale, axes, along):
    """Batch normalisation and relu6; the inverse deviations; and a sum of the result."""
    mean = XP.mean(x, axis=axes, keepdims=True)
    centred = x - mean
    inverse = 1 / XP.sqrt(XP.mean(centred * centred, axis=axes, keepdims=True) + 1e-5)
    y = XP.minimum(XP.maximum(centred * inverse * XP.reshape(scale, along), 0.0), 6.0)
    return y, XP.reshape(inverse, (-1,)), XP.sum(y * centred, axis=axes)


SHAPES = [
    ((4, 3, 5, 7), (0, 2, 3), (1, 3, 1, 1)),
    ((2, 3, 9, 9, 4), (0, 2, 3), (1, 3, 1, 1, 4)),
    ((2, 3, 40, 40, 4), (0, 2, 3), (1, 3, 1, 1, 4)),
    ((130, 6), (0,), (1, 6)),
    ((3, 6, 8), (1,), (3, 1, 8)),
]


@pytest.mark.parametrize("shape, axes, along", SHAPES)
def test_statistics_of_channels_and_what_follows_are_one_kernel(compiler, shape, axes, along):
    rng = np.random.default_rng(0)
    x = (rng.standard_normal(shape) * 3 + 2).astype("float32")
    scale = rng.uniform(0.5, 2, np.prod(along)).astype("float32")
    symbols = [input_of(*x.shape), input_of(*scale.shape)]
    made = [v.node for v in normalised(*symbols, axes, along)]
    source = kernel_source([s.node for s in symbols], made)
    compiler.together([source], "-O1")
    run = prepared(compiler.find([source])[source.name], source, [(m.shape, m.dtype) for m in made])
    y, inverse, total = run.function(x, scale)
    exact = x.astype("float64")
    centred = exact - exact.mean(axes, keepdims=True)
    deviation = np.sqrt((centred**2).mean(axes, keepdims=True) + 1e-5)
    meant = np.clip(centred / deviation * scale.reshape(along), 0, 6)
    np.testing.assert_allclose(y, meant, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(inverse, 1 / deviation.ravel(), rtol=1e-5)
    np.testing.assert_allclose(total, (meant * centred).sum(axes), rtol=1e-5)


def test_any_number_of_threads_gives_the_same_bits_of_channels(compiler, monkeypatch):
    rng = np.random.default_rng(0)
    x, scale = rng.standard_normal((16, 4, 32, 32)).astype("float32"), np.ones(4, "float32")
    symbols = [input_of(*x.shape), input_of(4)]
    made = [v.node for v in normalised(*symbols, (0, 2, 3), (1, 4, 1, 1))]
    source = kernel_source([s.node for s in symbols], made)
    compiler.together([source], "-O1")
    kernel, found = compiler.find([source])[source.name], []
    for count in ("1", "2"):
        monkeypatch.setenv("FLUIDLITE_NUM_THREADS", count)
        fluid.kernels.threads._pool.reset()
        run = prepared(kernel, source, [(m.shape, m.dtype) for m in made])
        found.append(run.function(x, scale))
    for one, two in zip(*found):
        np.testing.assert_array_equal(one, two)


BLOCKED = SimpleNamespace(padded=False, block=4, order=None)
LAST = SimpleNamespace(padded=False, block=None, order=(0, 2, 3, 1))


@pytest.mark.parametrize("layout", [BLOCKED, LAST])
def test_images_that_lie_otherwise_have_the_same_values(compiler, layout):
    rng = np.random.default_rng(0)
    x, scale = rng.standard_normal((3, 8, 5, 5)).astype("float32"), np.arange(8, dtype="float32")
    symbols = [input_of(*x.shape), input_of(8)]
    made = [v.node for v in normalised(*symbols, (0, 2, 3), (1, -1, 1, 1))]
    trace = TracedResults([s.node for s in symbols], {"all": made})
    changed = relaid(trace, x.shape, layout)
    if layout is LAST:
        lying = x.transpose(0, 2, 3, 1)
    else:
        lying = x.reshape(3, 2, 4, 5, 5).transpose(0, 1, 3, 4, 2)
    assert changed.operands[0].shape == lying.shape
    values = []
    for inputs, outputs, array in (
        (trace.operands, made, x),
        (changed.operands, changed.results["all"], lying),
    ):
        source = kernel_source(inputs, outputs)
        compiler.together([source], "-O1")
        specs = [(m.shape, m.dtype) for m in outputs]
        run = prepared(compiler.find([source])[source.name], source, specs)
        values.append(run.function(np.ascontiguousarray(array), scale))
    plain, other = values
    back = other[0] if layout is LAST else other[0].transpose(0, 2, 3, 1, 4).reshape(3, 5, 5, 8)
    np.testing.assert_allclose(back.transpose(0, 3, 1, 2), plain[0], rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(other[1], plain[1], rtol=1e-5)
    np.testing.assert_allclose(other[2], plain[2], rtol=1e-5)


@pytest.mark.parametrize(
    "work",
    [
        lambda x: XP.reshape(x, (24, 25)),
        lambda x: XP.sum(x, axis=(2, 3)),
        lambda x: x + XP.reshape(XP.arange(5, dtype="float32"), (1, 1, 1, 5)),
    ],
)
def test_what_asks_where_elements_of_images_lie_has_no_other_layout(work):
    x = input_of(3, 8, 5, 5)
    with pytest.raises(Untraceable):
        relaid(TracedResults([x.node], {"Out": work(x).node}), x.shape, BLOCKED)


def training_step():
    """A convolution, batch normalisation and relu6, with all gradients: what is fed and fetched."""
    main, startup = fluid.Program(), fluid.Program()
    startup.random_seed = 1
    with fluid.program_guard(main, startup), fluid.unique_name.guard():
        x = fluid.data("x", [2, 32, 12, 12])
        hidden = fluid.layers.conv2d(x, 32, 1, bias_attr=False)
        hidden = fluid.layers.relu6(fluid.layers.batch_norm(hidden))
        hidden = fluid.layers.conv2d(hidden, 32, 1, bias_attr=False)
        loss = fluid.layers.mean(fluid.layers.square(hidden))
        pairs = fluid.backward.append_backward(loss)
    rng = np.random.default_rng(0)
    feed = {"x": rng.standard_normal((2, 32, 12, 12)).astype("float32")}
    return main, startup, feed, [loss, *(gradient for _, gradient in pairs)]


def test_normalisation_and_activation_are_one_kernel_in_the_layouts_of_onednn(monkeypatch):
    if onednn.load() is None:
        pytest.skip("oneDNN is not installed")
    monkeypatch.delenv("FLUIDLITE_CC", raising=False)
    monkeypatch.setenv("FLUIDLITE_KERNELS", "auto")
    recording = Recording()
    if not recording.version:
        pytest.skip("no C compiler")
    compilers.COMPILER.switch(recording)
    main, startup, feed, fetched = training_step()
    for time in ("asked for", "there"):
        exe, scope = fluid.Executor(), fluid.Scope()
        exe.run(startup, scope=scope)
        found = [exe.run(main, feed, fetched, scope=scope) for _ in range(3)]
        if time == "asked for":
            recording.together(list(recording.seen.values()), "-O1")
    source = exe.plan(main, fetched).source
    assert "relu6 and 1 more" in source
    assert "oneDNN: batch_norm" not in source
    for meant, got in zip(found[0], found[-1]):
        np.testing.assert_allclose(got, meant, rtol=1e-4, atol=1e-4 * np.abs(meant).max())
