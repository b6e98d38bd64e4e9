"""Models that are served in bfloat16: what is simulated by casts, to rounding."""

import numpy as np
import pytest
from aids.served_nets import plan_source, save_net, third_run, types_of
from backend.agreement import sources

import fluidlite as fluid
from fluidlite.backend import onednn
from fluidlite.errors import DTypeError
from fluidlite.ground import dtypes
from fluidlite.paddle import inference

layers = fluid.layers
pytest.importorskip("ml_dtypes")
HAS_BFLOAT16 = onednn.load() is not None and onednn.load().has_bfloat16
needs_bfloat16 = pytest.mark.skipif(
    not HAS_BFLOAT16, reason="it takes oneDNN and a processor with bfloat16"
)
X = np.random.default_rng(3).normal(size=[2, 3, 12, 12]).astype("float32")
ROUNDING = 2.0**-8  #: of a number of bfloat16


@pytest.fixture(autouse=True)
def gains(monkeypatch):
    """What is measured does not matter here."""
    monkeypatch.setattr(onednn, "gains_from_bfloat16", lambda: True)


def net(data_format="NCHW"):
    """Convolutions with groups, norms, a residual, and products of matrices."""
    shape = [None, 3, 12, 12] if data_format == "NCHW" else [None, 12, 12, 3]
    how = dict(data_format=data_format, bias_attr=False)
    x = fluid.data("x", shape, "float32")
    first = layers.conv2d(x, 16, 3, padding=1, **how)
    first = layers.batch_norm(first, act="relu", is_test=True, data_layout=data_format)
    inner = layers.conv2d(first, 16, 1, act="relu", data_format=data_format)
    inner = layers.conv2d(inner, 16, 3, padding=1, **how)
    inner = layers.batch_norm(inner, is_test=True, data_layout=data_format)
    inner = layers.relu(inner + first)
    inner = layers.conv2d(inner, 32, 3, groups=16, stride=2, act="relu", data_format=data_format)
    inner = layers.pool2d(inner, 5, "avg", 5, data_format=data_format)
    return layers.fc(layers.fc(inner, 8, act="relu"), 4)


def save(folder, make=net):
    save_net(folder, make)
    return str(folder)


def run(folder, in_bfloat16, x=X, types=None):
    """What a predictor gives in its third run, and the predictor."""
    config = fluid.core.AnalysisConfig(folder)
    if in_bfloat16:
        config.enable_mkldnn_bfloat16()
    if types is not None:
        config.set_bfloat16_op(types)
    return third_run(config, x)


@needs_bfloat16
@pytest.mark.parametrize("data_format", ["NCHW", "NHWC"])
def test_kernels_give_what_casts_simulate(data_format, tmp_path, monkeypatch):
    folder = save(tmp_path, lambda: net(data_format))
    x = X if data_format == "NCHW" else X.transpose(0, 2, 3, 1).copy()
    right, _ = run(folder, False, x)
    monkeypatch.setenv("FLUIDLITE_KERNELS", "numpy")
    simulated, predictor = run(folder, True, x)
    assert plan_source(predictor).count("# cast") == 3 * 6  # a value, to and fro, and a weight each
    monkeypatch.setenv("FLUIDLITE_KERNELS", "onednn")
    found, predictor = run(folder, True, x)
    scale = np.abs(right).max()
    np.testing.assert_allclose(simulated, right, rtol=0, atol=8 * ROUNDING * scale)
    np.testing.assert_allclose(found, simulated, rtol=0, atol=4 * ROUNDING * scale)
    assert not np.array_equal(found, right)
    text = plan_source(predictor)
    # the image, and what an addition reads, too; the others are rounded where they are made
    assert text.count("# cast") <= 4
    assert ("batch_norm" in types_of(predictor)) == (data_format == "NHWC")


@needs_bfloat16
def test_rows_of_a_stack_are_multiplied_in_bfloat16(tmp_path, monkeypatch):
    def linear_layers():
        x = layers.reshape(fluid.data("x", [None, 3, 12, 12], "float32"), [-1, 6, 72])
        for size in (16, 24, 8):
            weight = layers.create_parameter([x.shape[-1], size], "float32")
            bias = layers.create_parameter([size], "float32", is_bias=True)
            x = layers.relu(layers.matmul(x, weight) + bias)
        return x

    folder = save(tmp_path, linear_layers)
    monkeypatch.setenv("FLUIDLITE_KERNELS", "onednn")
    right, _ = run(folder, False)
    found, predictor = run(folder, True)
    np.testing.assert_allclose(found, right, rtol=0, atol=8 * ROUNDING * np.abs(right).max())
    assert plan_source(predictor).count("matmul, oneDNN") == 3
    assert plan_source(predictor).count("# cast") == 1  # the others are rounded where they are made


def feed_forward():
    """Two products with the exact gelu between them, as in transformers, and a last gelu."""
    x = layers.reshape(fluid.data("x", [None, 3, 12, 12], "float32"), [-1, 6, 72])
    inner = layers.fc(x, 32, num_flatten_dims=2, act="gelu")
    return layers.fc(inner, 8, num_flatten_dims=2, act="gelu")


@needs_bfloat16
def test_a_gelu_whose_result_is_rounded_is_part_of_the_product(tmp_path, monkeypatch):
    monkeypatch.setenv("FLUIDLITE_KERNELS", "onednn")
    folder, x = save(tmp_path, feed_forward), X * 8
    right, _ = run(folder, False, x)
    found, predictor = run(folder, True, x)
    np.testing.assert_allclose(found, right, rtol=0, atol=4 * ROUNDING * np.abs(right).max())
    assert plan_source(predictor).count("# gelu") == 1  # the last is float32, and exact
    assert plan_source(predictor).count("# cast") == 1


@needs_bfloat16
@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
def test_a_gelu_within_a_product_leaves_what_is_not_finite(number, tmp_path, monkeypatch):
    def make():
        x = layers.reshape(fluid.data("x", [None, 3, 12, 12], "float32"), [-1, 432])
        one = fluid.initializer.ConstantInitializer(1.0)
        inner = layers.fc(x, 2, act="gelu", param_attr=fluid.ParamAttr(initializer=one))
        return layers.fc(inner, 2, param_attr=fluid.ParamAttr(initializer=one))

    monkeypatch.setenv("FLUIDLITE_KERNELS", "onednn")
    folder, x = save(tmp_path, make), np.abs(X)
    x[1, 2, 3, 4] = number
    (right, _), (found, predictor) = run(folder, False, x), run(folder, True, x)
    assert "# gelu" not in plan_source(predictor)
    np.testing.assert_allclose(found, right, rtol=4 * ROUNDING)


@needs_bfloat16
def test_weights_are_stored_in_bfloat16(tmp_path):
    _, predictor = run(save(tmp_path), True)
    served = predictor._serving.served
    weights = [v for v in served.program.list_vars() if v.persistable and "in_bfloat16" in v.name]
    assert len(weights) == 6
    arrays = [served.scope.find_var(v.name).value for v in weights]
    assert {array.itemsize for array in arrays} == {2}
    assert not any(array.flags.writeable for array in arrays)


@needs_bfloat16
@pytest.mark.parametrize("groups", [1, 3])
def test_what_is_not_finite_stays_so(groups, tmp_path, monkeypatch):
    monkeypatch.setenv("FLUIDLITE_KERNELS", "onednn")

    def make():
        x = fluid.data("x", [None, 3, 12, 12], "float32")
        x = layers.conv2d(x, 15, 3, padding=1, groups=groups, act="relu")
        return layers.tanh(layers.conv2d(x, 15, 3, groups=5 * groups))

    folder, x = save(tmp_path, make), X.copy()
    x[0, 1, 3, 4], x[1, 0, 2, 2], x[1, 2, 9, 9] = np.nan, np.inf, -np.inf
    right, found = (run(folder, here, x)[0] for here in (False, True))
    np.testing.assert_array_equal(np.isnan(found), np.isnan(right))
    is_finite = np.isfinite(right)
    atol = 4 * ROUNDING * np.abs(right[is_finite]).max()
    np.testing.assert_allclose(found[is_finite], right[is_finite], rtol=0, atol=atol)


def branches():
    """Values that are read in bfloat16, and as they are."""
    x = fluid.data("x", [None, 3, 12, 12], "float32")
    first = layers.conv2d(x, 16, 3, padding=1, act="relu")
    second = layers.conv2d(first, 16, 3, padding=1, act="relu")
    pooled = layers.pool2d(second, 12, "avg") + layers.pool2d(first, 12, "max")
    return layers.fc(pooled, 4) + layers.fc(layers.conv2d(second, 2, 1), 4) * layers.mean(second)


@needs_bfloat16
def test_values_that_others_read_stay_as_they_are(tmp_path, monkeypatch):
    monkeypatch.setenv("FLUIDLITE_KERNELS", "onednn")
    folder = save(tmp_path, branches)
    (right, _), (found, _) = run(folder, False), run(folder, True)
    np.testing.assert_allclose(found, right, rtol=0, atol=8 * ROUNDING * np.abs(right).max())


def normed(data_format="NCHW", **more):
    """A convolution of one operator, with what else it reads, and a batch norm of dimension 1."""
    shape = [None, 3, 12, 12] if data_format == "NCHW" else [None, 12, 12, 3]
    x = fluid.data("x", shape, "float32")
    for name, sizes in {"Filter": [16, 3, 3, 3], **more}.items():
        uniform = fluid.initializer.Uniform(0.5, 1.0)
        more[name] = layers.create_parameter(sizes, "float32", default_initializer=uniform)
    block = fluid.default_main_program().global_block()
    out = block.create_var(name="out", dtype="float32")
    block.append_op("conv2d", {"Input": x, **more}, {"Output": out}, {"data_format": data_format})
    return layers.batch_norm(out, is_test=True)


@needs_bfloat16
@pytest.mark.parametrize("data_format, more", [("NCHW", {"Bias": [16]}), ("NHWC", {})])
def test_norms_that_scale_more_than_filters_stay(data_format, more, tmp_path):
    folder = save(tmp_path, lambda: normed(data_format, **more))
    x = X if more else X.transpose(0, 2, 3, 1).copy()
    (right, _), (found, predictor) = run(folder, False, x), run(folder, True, x)
    np.testing.assert_allclose(found, right, rtol=0, atol=8 * ROUNDING * np.abs(right).max())
    assert "batch_norm" in types_of(predictor)


@needs_bfloat16
def test_types_say_which_products_are_rounded(tmp_path):
    _, predictor = run(save(tmp_path), True, types={"mul"})
    types = types_of(predictor)
    assert types.count("cast") == 3 * types.count("mul") and types.count("batch_norm") == 2


@needs_bfloat16
@pytest.mark.parametrize("transposed", [False, True])
def test_casts_that_a_user_wrote_are_computed_with_too(transposed, monkeypatch):
    monkeypatch.setenv("FLUIDLITE_KERNELS", "onednn")
    rng = np.random.default_rng(5)
    fed = {"x": rng.normal(size=[6, 8]), "y": rng.normal(size=[5, 8] if transposed else [8, 5])}
    main, exe = fluid.Program(), fluid.Executor()
    with fluid.program_guard(main):
        values = [fluid.data(name, list(each.shape), "float32") for name, each in fed.items()]
        x, y = (layers.cast(layers.cast(each, "bfloat16"), "float32") for each in values)
        product = layers.relu(layers.matmul(x, y, transpose_y=transposed, alpha=0.5))
        other = x * 2.0
    feed = {name: each.astype("float32") for name, each in fed.items()}
    for _ in range(3):
        found, plain = exe.run(main, feed, [product, other])
    import ml_dtypes

    a, b = (each.astype(ml_dtypes.bfloat16).astype("float32") for each in feed.values())
    np.testing.assert_array_equal(plain, 2 * a)
    right = np.maximum(0.5 * (a @ (b.T if transposed else b)), 0)
    np.testing.assert_allclose(found, right, rtol=1e-5, atol=1e-5)
    assert "# matmul" in sources(exe, main) and "oneDNN" in sources(exe, main)


def warned(folder, match):
    config = inference.Config(folder)
    config.enable_mkldnn_bfloat16()
    with pytest.warns(RuntimeWarning, match=match):
        served = inference.create_predictor(config)._serving.served
    assert "cast" not in [op.type for op in served.program.global_block().ops]


def test_a_warning_says_that_onednn_is_missing(tmp_path, monkeypatch):
    monkeypatch.setattr(onednn, "load", lambda: None)
    warned(
        save(tmp_path), "enable_mkldnn_bfloat16: the model runs in float32: bfloat16 needs oneDNN"
    )


@needs_bfloat16
def test_a_warning_says_that_bfloat16_is_slower(tmp_path, monkeypatch):
    monkeypatch.setattr(onednn, "gains_from_bfloat16", lambda: False)
    warned(save(tmp_path), "enable_mkldnn_bfloat16: .* its products take longer in bfloat16")


@needs_bfloat16
def test_a_warning_says_that_numpy_has_no_bfloat16(tmp_path, monkeypatch):
    def missing():
        raise DTypeError("bfloat16 needs the package ml_dtypes")

    folder = save(tmp_path)
    monkeypatch.setattr(dtypes, "bfloat16", missing)
    warned(folder, "enable_mkldnn_bfloat16: .* bfloat16 needs the package ml_dtypes")


@needs_bfloat16
def test_what_is_faster_is_measured_once_a_process():
    from fluidlite.backend.onednn.measured import gains_from_bfloat16

    first = gains_from_bfloat16()
    assert isinstance(first, bool) and gains_from_bfloat16() is first
