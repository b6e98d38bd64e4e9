"""Every tier gives the same number, for extreme values, too."""

import zlib

import numpy as np
import pytest
import tiers
from tiers import Trial, apart, compared, compile_kernels, engines, trials

import fluidlite as fluid
from fluidlite.backend import onednn
from fluidlite.backend.native.compiler import COMPILER

layers = fluid.layers
SHARE = 40  #: of the trials of all operators one in so many, by a digest of their names
#: that have disagreed
ALWAYS = ("pool2d", "pool3d", "gelu", "swish", "brelu", "relu6")
#: those where something on the way may be beyond the range, and a sample of each
LARGE = {
    "batch_norm": "3", "group_norm": "1", "instance_norm": "1", "hierarchical_sigmoid": "custom",
    "fusion_repeated_fc_relu": "0",
}  # fmt: skip


@pytest.fixture
def with_compiler(monkeypatch, tmp_path):
    monkeypatch.delenv("FLUIDLITE_CC", raising=False)
    monkeypatch.setenv("FLUIDLITE_CACHE", str(tmp_path / "cache"))
    yield
    COMPILER.reset()


def is_chosen(name):
    return zlib.crc32(name.encode()) % SHARE == 0


def test_a_share_of_all_samples_is_the_same_on_every_engine(with_compiler, monkeypatch):
    monkeypatch.setattr(tiers, "EXTREMES", {k: tiers.EXTREMES[k] for k in ("NaN", "inf", "3e38")})
    given = list(trials([t for t in tiers.TYPES if is_chosen(t)], batches=(0, 1)))
    names = [name for name in engines() if name != "jax"]
    compile_kernels(given, names, "-O0")
    assert len(given) > 20
    assert not [found for trial in given for found in compared(trial, names, runs=4)]


@pytest.mark.parametrize("type", ALWAYS)
def test_operators_that_have_disagreed_agree(type, with_compiler):
    given = [t for t in trials([type], batches=(0,)) if type != "pool2d" or is_chosen(t.name[:-1])]
    given = given[:4]
    names = [name for name in engines() if name != "jax"]
    compile_kernels(given, names, "-O0")
    assert not [found for trial in given for found in compared(trial, names)]


@pytest.mark.parametrize("type", LARGE)
def test_large_numbers_agree(type, with_compiler, monkeypatch):
    monkeypatch.setattr(tiers, "EXTREMES", {k: tiers.EXTREMES[k] for k in ("3e38", "-3e38", "-0")})
    given = [t for t in trials([type], batches=()) if t.name == f"{type}-{LARGE[type]}"]
    names = [name for name in engines() if name != "jax"]
    compile_kernels(given, names, "-O2")  # below, products are summed otherwise than BLAS does
    assert given
    assert not [found for trial in given for found in compared(trial, names, runs=6)]


def test_samples_agree_on_jax():
    pytest.importorskip("jax", reason='the backend "jax" needs fluidlite[jax]')
    given = list(trials(["amin", "matmul", "relu", "row_conv", "swish"], batches=()))[:6]
    assert not [found for trial in given for found in compared(trial, ["jax"], runs=3)]


def runs_of(make, feed, times=4, backend="numpy"):
    """What a net gives in some runs."""
    main = fluid.Program()
    with fluid.unique_name.guard(), fluid.program_guard(main, fluid.Program()):
        fetches = make()
    exe = fluid.Executor(backend=backend)
    return [exe.run(main, feed, fetches) for _ in range(times)]


def appended(type, inputs, outputs, **attrs):
    """The results of an operator that is appended to the program."""
    block = fluid.default_main_program().global_block()
    made = [block.create_var(name=slot, dtype="float32") for slot in outputs]
    block.append_op(
        type=type,
        inputs={slot: [value] for slot, value in inputs.items()},
        outputs={slot: [value] for slot, value in zip(outputs, made)},
        attrs=attrs,
    )
    return made


def test_one_bad_gradient_of_a_maximum_goes_to_one_element_of_its_window():
    x = np.random.default_rng(0).normal(size=[1, 1, 12, 12]).astype("float32")
    weight = np.ones([1, 1, 6, 6], "float32")

    def net():
        image = fluid.data("x", x.shape, "float32")
        image.stop_gradient = False
        pooled = layers.pool2d(image, 2, "max", 2)
        return fluid.gradients([pooled], [image], [fluid.data("w", weight.shape, "float32")])

    for bad in (np.nan, np.inf):
        found = runs_of(net, {"x": x, "w": np.full_like(weight, bad)})
        for (gradient,) in found:
            assert (~np.isfinite(gradient)).sum() == 36
            assert (gradient == 0).sum() == 108


def test_the_gradient_of_a_maximum_goes_to_what_is_not_a_number():
    x = np.arange(16, dtype="float32").reshape(1, 1, 4, 4)
    x[0, 0, 0, 1] = np.nan

    def net():
        image = fluid.data("x", x.shape, "float32")
        image.stop_gradient = False
        return [fluid.gradients([layers.pool2d(image, 2, "max", s)], [image])[0] for s in (2, 1)]

    for apart_, sliding in runs_of(net, {"x": x}):
        assert apart_[0, 0, 0, 1] == 1 and apart_[0, 0, :2, :2].sum() == 1
        assert sliding[0, 0, 0, 1] == 2  # of two windows


@pytest.mark.parametrize("least", [-3e38, -np.inf])
def test_swish_and_its_gradients_vanish_far_below_zero(least):
    feed = {"x": np.array([least, 3e38], "float32")}

    def net():
        x = fluid.data("x", [2], "float32")
        x.stop_gradient = False
        out = layers.swish(x)
        (slope,) = fluid.gradients([out], [x])
        return [out, slope, *fluid.gradients([slope], [x])]

    for out, slope, bend in runs_of(net, feed):
        np.testing.assert_array_equal(out, np.array([0, 3e38], "float32"))
        assert np.signbit(out[0])
        np.testing.assert_array_equal(slope, [0, 1])
        np.testing.assert_array_equal(bend, [0, 0])


def test_gelu_of_the_largest_numbers_is_themselves():
    feed = {"x": np.array([3e38, -3e38], "float32")}
    for (found,) in runs_of(lambda: [layers.gelu(fluid.data("x", [2], "float32"))], feed):
        np.testing.assert_array_equal(found, np.array([3e38, 0], "float32"))


@pytest.mark.parametrize("backend", ["numpy", "jax"])
def test_a_power_of_one_half_is_a_root(backend):
    if backend == "jax":
        pytest.importorskip("jax", reason='the backend "jax" needs fluidlite[jax]')
    x = np.array([-np.inf, -4, -0.0, 0, 4, np.inf], "float32")
    net = lambda: [layers.pow(fluid.data("x", [6], "float32"), 0.5)]
    for (found,) in runs_of(net, {"x": x}, backend=backend):
        assert str(found) == "[nan nan -0.  0.  2. inf]"


@pytest.mark.parametrize(
    "follow",
    [
        *(layers.relu, layers.sigmoid, layers.tanh, layers.abs, layers.square, layers.elu),
        *(lambda v: layers.scale(v, -2.0), lambda v: layers.scale(v, -2.0, 1.0)),
        *(lambda v: layers.scale(v, 0.0), lambda v: layers.leaky_relu(v, 0.1)),
        *(lambda v: layers.gelu(v, approximate=True), lambda v: layers.scale(layers.relu(v), -2.0)),
    ],
)
def test_what_follows_a_product_keeps_what_is_not_finite_and_the_signs_of_zeros(follow):
    if onednn.description() is None:
        pytest.skip("oneDNN needs fluidlite[fast]")
    x = np.zeros([10, 6], "float32")
    x[:, 0] = [0, 1, -1, np.nan, np.inf, -np.inf, 3e38, -3e38, 2e19, -2e19]

    feed = {"x": x, "eye": np.eye(6, dtype="float32")}

    def net():
        operands = [fluid.data(name, value.shape, "float32") for name, value in feed.items()]
        return [follow(layers.matmul(*operands))]

    found = {}
    for engine in ("interpreted", "onednn"):
        with tiers.running(engine):
            found[engine] = runs_of(net, feed)
    (want,), *_ = found["interpreted"]
    assert not [how for (out,) in found["onednn"] if (how := apart(out, want, 1.0))]


@pytest.mark.parametrize("kernels", ["numpy", "native", "onednn", "auto"])
class TestKernels:
    """With one library of kernels each."""

    @pytest.fixture(autouse=True)
    def only(self, kernels, with_compiler, monkeypatch):
        if kernels == "onednn" and onednn.description() is None:
            pytest.skip("oneDNN needs fluidlite[fast]")
        monkeypatch.setenv("FLUIDLITE_KERNELS", kernels)

    def test_the_gradient_of_a_loss_keeps_the_sign_of_a_probability_of_zero(self):
        x = np.array([[0.5, -0.0], [0.0, 0.5]], "float32")
        feed = {"x": x, "y": np.array([[1], [0]], "int64")}

        def net():
            x = fluid.data("x", [2, 2], "float32")
            x.stop_gradient = False
            y = fluid.data("y", [2, 1], "int64")
            (loss,) = appended("cross_entropy", {"X": x, "Label": y}, ["Y"])
            return fluid.gradients([loss], [x])

        for (found,) in runs_of(net, feed):
            np.testing.assert_array_equal(found, [[0, np.inf], [-np.inf, 0]])

    def test_the_largest_and_the_least_of_zeros_have_their_signs(self):
        x = np.array([[0, -0.0, -1, -1], [-0.0, 0, -1, 0], [-0.0, -0.0, -1, -2]], "float32")
        x = x.repeat(6, 1)

        def net():
            one = fluid.data("x", x.shape, "float32")
            return [layers.reduce_max(one, 1), layers.reduce_min(one * -1.0, 1)]

        for largest, least in runs_of(net, {"x": x}):
            assert not np.any([largest, least])
            np.testing.assert_array_equal(np.signbit(largest), [False, False, True])
            np.testing.assert_array_equal(np.signbit(least), [True, True, False])

    def test_a_product_with_a_matrix_of_one_zero_is_no_number_where_the_other_is_infinite(self):
        feed = {"x": np.array([[1], [np.inf]], "float32"), "y": np.zeros([1, 1], "float32")}
        make = lambda: [
            layers.matmul(fluid.data("x", [2, 1], "float32"), fluid.data("y", [1, 1], "float32"))
        ]
        for (found,) in runs_of(make, feed):
            np.testing.assert_array_equal(found, [[0], [np.nan]])

    @pytest.mark.parametrize("bad", [np.nan, np.inf])
    @pytest.mark.parametrize("rank", [2, 3])
    def test_what_is_around_an_image_is_left_out_of_a_convolution(self, rank, bad):
        sizes, first = [5] * rank, (0,) * (rank + 2)
        image, filter = np.ones([2, 2, *sizes], "float32"), np.ones([2, 2, *[3] * rank], "float32")
        g = np.ones_like(image)
        filter[first] = g[first] = bad

        def net():
            x, w = fluid.data("x", image.shape, "float32"), fluid.data("w", filter.shape, "float32")
            w.stop_gradient = False
            how = dict(paddings=[1] * rank, strides=[1] * rank, dilations=[1] * rank)
            (out,) = appended(f"conv{rank}d", {"Input": x, "Filter": w}, ["Output"], **how)
            return [out, *fluid.gradients([out], [w], [fluid.data("g", g.shape, "float32")])]

        inside = (slice(1, None),) * rank  # where the element lies on the image
        for out, slope in runs_of(net, {"x": image, "w": filter, "g": g}):
            wrong = np.zeros_like(out, bool)
            wrong[(slice(None), 0, *inside)] = True
            np.testing.assert_array_equal(~np.isfinite(out), wrong)
            wrong = np.zeros_like(slope, bool)
            wrong[(0, slice(None), *inside)] = True
            np.testing.assert_array_equal(~np.isfinite(slope), wrong)

    @pytest.mark.parametrize("is_test", [False, True])
    def test_a_normalised_batch_is_finite_where_only_the_slope_is_not(self, is_test):
        x = np.zeros([4, 1, 2, 2], "float32")
        x[0, 0, 0, 0] = 0.001

        def net():
            image = fluid.data("x", x.shape, "float32")
            one = [layers.fill_constant([1], "float32", n) for n in (3e38, 0, 0, 1e-6)]
            inputs = dict(zip(("X", "Scale", "Bias", "Mean", "Variance"), [image, *one]))
            outputs = ("Y", "MeanOut", "VarianceOut", "SavedMean", "SavedVariance")
            return appended("batch_norm", inputs, outputs, is_test=is_test)[:1]

        for (found,) in runs_of(net, {"x": x}):
            assert np.isfinite(found).all()
            assert found[0, 0, 0, 0] > 5e37


def test_a_difference_is_seen():
    """Of places of NaN, of infinities, of signs of zeros, and of numbers."""
    right = np.array([np.nan, np.inf, 0.0, 1.0], "float32")
    assert not apart(right.copy(), right, 1.0)
    for k, wrong in enumerate([0.0, -np.inf, -0.0, 1.0001]):
        found = right.copy()
        found[k] = wrong
        assert f"1 of 4, at [{k}]" in apart(found, right, 1.0)


def test_what_an_engine_may_do_by_its_nature_is_no_difference():
    tiny, large = np.array([0.0, 1e-40], "float32"), np.array([np.inf, np.nan], "float32")
    signed, range_ = -tiny, np.array([3e38, np.inf], "float32")
    for rule, may in [("", ""), ("zeros", "ts"), ("order", "tsr"), ("ordinary", "tsr")]:
        assert bool(apart(np.zeros(2, "float32"), tiny, 1e-45, rule)) == ("t" not in may)
        assert bool(apart(signed, tiny, 1e-45, rule)) == ("s" not in may)
        assert bool(apart(large, range_, 1.0, rule)) == ("r" not in may)


def test_what_makes_a_trial_feeds_extremes_to_every_input_and_gradient():
    trial = next(t for t in trials(["matmul"], batches=()) if isinstance(t, Trial))
    labels = [label for label, _ in trial.feeds()]
    assert {"NaN in X", "-0 in Y", "3e38 in Out@TG", "usual"} <= set(labels)
