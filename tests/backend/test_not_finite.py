"""What is not finite stays so, or is found, with oneDNN's kernels as with NumPy's."""

import numpy as np
import pytest
from backend.agreement import assert_near, fed, gradients, needs_library, ran
from backend.test_onednn import SERVED, lenet, one_operator, resnet

import fluidlite as fluid
from fluidlite.errors import NonFiniteError
from fluidlite.opdef.definition import lookup

from cases import parameters

layers = fluid.layers
BAD = [np.nan, np.inf, -np.inf]


def both(monkeypatch, make, **how):
    """What a net gives on NumPy and on oneDNN."""
    right, _ = ran(monkeypatch, "numpy", make, **how)
    found, source = ran(monkeypatch, "onednn", make, **how)
    return found, right, source


def assert_as_finite(found, right):
    """The same elements are finite."""
    for mine, want in zip(found, right, strict=True):
        if want.dtype.kind == "f":
            np.testing.assert_array_equal(np.isfinite(mine), np.isfinite(want))


def with_bad(make, bad, name="x"):
    """A net whose feed has an element that is not finite, in its middle."""

    def net(**how):
        fetches, feed = make(**how)
        feed[name] = feed[name].copy()
        feed[name].flat[feed[name].size // 2] = bad
        return fetches, feed

    return net


@needs_library
@pytest.mark.parametrize("bad", BAD)
@pytest.mark.parametrize("case", list(parameters(map(lookup, SERVED))))
def test_no_kernel_gives_what_is_finite_where_numpy_does_not(monkeypatch, case, bad):
    """A filter may meet nothing but padding, which one multiplies with and the other leaves out."""
    case = case.in_single_precision()
    main = fluid.Program()
    with fluid.unique_name.guard(), fluid.program_guard(main):
        _, feed = one_operator(case)
    for name in [n for n, a in feed.items() if a.dtype.kind == "f" and a.size]:
        found, right, _ = both(monkeypatch, with_bad(lambda: one_operator(case), bad, name))
        for mine, want in zip(found[-1], right[-1], strict=True):
            if want.dtype.kind == "f":
                assert np.isfinite(want).all() or not np.isfinite(mine).all()
                assert not (np.isfinite(want) & ~np.isfinite(mine)).any()


def convolved(act="relu", pool="", bias=None, between=None, norm=None):
    """A convolution and what may hide something behind it, and gradients."""
    image, feed = fed("x", [2, 3, 8, 8])
    hidden = layers.conv2d(image, 16, 3, bias_attr=bias, act=None if between or norm else act)
    if norm is not None:
        hidden = layers.batch_norm(hidden, act=act, **norm)
    if between is not None:
        hidden = between(hidden)
    out = layers.pool2d(hidden, 2, pool, 2) if pool else hidden
    loss = layers.reduce_sum(layers.square(out))
    found = gradients(loss, fluid.default_main_program().all_parameters())
    return [loss, out, *found], feed


SPELLINGS = {
    "relu": dict(),
    "without a bias": dict(bias=False),
    "relu alone": dict(between=lambda x: layers.relu(layers.tanh(x))),
    "relu of a sum": dict(between=lambda x: layers.relu(layers.elementwise_add(x, x * 2.0))),
    "relu of a sum of three": dict(between=lambda x: layers.relu(layers.sums([x, x * 2.0, x]))),
    "relu6": dict(act="relu6"),
    "leaky_relu": dict(act="leaky_relu"),
    "relu and pool": dict(pool="max"),
    "pool": dict(act=None, pool="max"),
    "average": dict(pool="avg"),
    "pool twice": dict(pool="max", between=lambda x: layers.pool2d(x, 3, "max", 1)),
    "batch norm": dict(norm={}),
    "running norm": dict(norm=dict(use_global_stats=True)),
    "a maximum": dict(
        between=lambda x: layers.elementwise_max(x, layers.reduce_mean(x, [0, 2, 3]), axis=1)
    ),
    "scaled": dict(between=lambda x: layers.relu(x * 1e30)),
}


@needs_library
@pytest.mark.parametrize("bad", [*BAD, 1e25])
@pytest.mark.parametrize("how", SPELLINGS.values(), ids=SPELLINGS)
def test_what_comes_in_stays_as_finite_as_with_numpy(monkeypatch, how, bad):
    found, right, _ = both(monkeypatch, with_bad(convolved, bad), **how)
    for mine, want in zip(found, right, strict=True):
        assert_as_finite(mine, want)


@needs_library
@pytest.mark.parametrize("net", [lenet, resnet])
def test_nets_are_as_finite_as_with_numpy(monkeypatch, net):
    found, right, _ = both(monkeypatch, with_bad(net, np.nan))
    for mine, want in zip(found, right, strict=True):
        assert_as_finite(mine, want)


@needs_library
@pytest.mark.parametrize("how", SPELLINGS.values(), ids=SPELLINGS)
def test_a_gradient_that_is_not_finite_is_not_masked(monkeypatch, how):
    """The root has an infinite slope at the zeros that relu makes."""

    def net():
        (_, out, *_), feed = convolved(**how)
        loss = layers.reduce_sum(layers.sqrt(layers.abs(out) * 0.5 + out * 0.5))
        return gradients(loss, fluid.default_main_program().all_parameters()), feed

    found, right, _ = both(monkeypatch, net)
    for mine, want in zip(found, right, strict=True):
        assert_as_finite(mine, want)


@needs_library
def test_a_plan_is_kept_when_a_value_of_one_run_is_not_finite(monkeypatch):
    """No warning, and what follows is computed as compiled."""
    monkeypatch.setenv("FLUIDLITE_KERNELS", "onednn")
    main, startup = fluid.Program(), fluid.Program()
    with fluid.program_guard(main, startup):
        (_, out, *_), feed = convolved(pool="max")
    exe = fluid.Executor()
    exe.run(startup)
    right = [exe.run(main, feed, [out])[0] for _ in range(3)][-1]
    for _ in range(2):
        bad = {"x": feed["x"].copy()}
        bad["x"][0, 0, 4, 4] = np.nan
        assert np.isnan(exe.run(main, bad, [out])[0]).any()
        np.testing.assert_array_equal(exe.run(main, feed, [out])[0], right)
    assert "oneDNN" in exe.plan(main, [out]).source


@needs_library
@pytest.mark.parametrize("kernels", ["auto", "onednn"])
@pytest.mark.parametrize("looks", [False, True])
def test_a_training_that_diverges_is_found(monkeypatch, kernels, looks):
    """The loss is no number as soon as it is with NumPy, or the run says where it comes from."""

    def trained(library):
        monkeypatch.setenv("FLUIDLITE_KERNELS", library)
        main, startup = fluid.Program(), fluid.Program()
        main.random_seed = startup.random_seed = 3
        scope = fluid.Scope()
        with fluid.unique_name.guard(), fluid.program_guard(main, startup):
            image, feed = fed("x", [4, 3, 12, 12])
            hidden = layers.conv2d(image, 16, 3, act="relu")
            hidden = layers.pool2d(layers.conv2d(hidden, 16, 3, act="relu"), 2, "max", 2)
            loss = layers.mean(layers.square(layers.fc(hidden, 4)))
            fluid.optimizer.SGD(1e3).minimize(loss)
        exe = fluid.Executor()
        exe.run(startup, scope=scope)
        losses = []
        for _ in range(12):
            try:
                losses.append(exe.run(main, feed, [loss], scope=scope, check_nan_inf=looks)[0])
            except NonFiniteError:
                losses.append(np.array([np.inf], "float32"))
        return np.isfinite(np.concatenate(losses))

    right, found = trained("numpy"), trained(kernels)
    assert not right.all() and right[:2].all()
    np.testing.assert_array_equal(found, right)


@needs_library
def test_what_is_near_the_largest_number_is_computed_as_with_numpy(monkeypatch):
    def net():
        fetches, feed = convolved(pool="max")
        return fetches[1:2], {"x": feed["x"] * np.float32(1e36)}

    found, right, _ = both(monkeypatch, net)
    assert np.isfinite(right[-1][0]).all()
    assert_near(found[-1], right[-1], 1e-5)
