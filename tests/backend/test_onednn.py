"""oneDNN behind compiled plans: the same results as NumPy's, and nothing where it is missing."""

import gc
import os
import select
import signal
import threading
import warnings

import numpy as np
import pytest
from backend.agreement import agree, fed, gradients, needs_library, ran, sources

import fluidlite as fluid
from fluidlite.backend.native import library as native
from fluidlite.backend.native.compiler import COMPILER, Compiler
from fluidlite.backend.onednn import description, library, memory
from fluidlite.errors import ArgumentError, UnsupportedError
from fluidlite.ground import state
from fluidlite.opdef.definition import lookup

from cases import parameters

layers = fluid.layers

#: operators with samples that oneDNN has kernels for, or for what they consist of
SERVED = [
    *("conv2d", "depthwise_conv2d", "conv2d_adjoint_input", "conv2d_adjoint_filter"),
    *("conv2d_transpose", "depthwise_conv2d_transpose", "conv3d", "conv3d_adjoint_input"),
    *("conv3d_adjoint_filter", "conv3d_transpose", "pool2d", "pool2d_adjoint", "pool3d"),
    *("pool3d_adjoint", "batch_norm", "layer_norm", "softmax", "mul", "matmul", "lrn"),
]


# -- one operator at a time ------------------------------------------------------------------------


def one_operator(case):
    """A program of one operator and the gradients of all that can be differentiated."""
    one = case.program(but=("ReserveSpace",), program=fluid.default_main_program())
    found = []
    if case.op.grad is not None:
        found = one.gradients(case.targets, case.variable, case.cotangents)
    return [*one.all_outputs, *(g for g in found if g is not None)], one.feed


@needs_library
@pytest.mark.parametrize("case", list(parameters(map(lookup, SERVED))))
def test_samples_agree_with_numpy(monkeypatch, case):
    case = case.in_single_precision()
    agree(monkeypatch, lambda: one_operator(case))


# -- nets ------------------------------------------------------------------------------------------


def lenet(size=16, batch=6):
    image, feed = fed("x", [batch, 1, size, size])
    label, labels = fed("y", [batch, 1], 4)
    hidden = image
    for filters in (5, 18):
        hidden = layers.conv2d(hidden, filters, 3, act="relu")
        hidden = layers.pool2d(hidden, 2, "max", 2)
    guess = layers.fc(hidden, 4, act="softmax")
    loss = layers.mean(layers.cross_entropy(guess, label))
    fluid.optimizer.Adam(1e-3).minimize(loss)
    return [loss, guess, *fluid.default_main_program().all_parameters()], {**feed, **labels}


def resnet(size=8, batch=4, channels=16, act="relu", data_format="NCHW"):
    image, feed = fed("x", [batch, 3, size, size])
    label, labels = fed("y", [batch, 1], 4)

    def normed(x, filters, size, stride, act=None):
        x = layers.conv2d(x, filters, size, stride, padding=size // 2, bias_attr=False)
        return layers.batch_norm(x, act=act)

    hidden = normed(image, channels, 3, 1, act)
    for filters, stride in ((channels, 1), (2 * channels, 2)):
        inner = normed(normed(hidden, filters, 3, stride, act), filters, 3, 1)
        short = hidden if stride == 1 else normed(hidden, filters, 1, stride)
        hidden = layers.elementwise_add(inner, short, act=act)
    hidden = layers.pool2d(hidden, pool_type="avg", global_pooling=True)
    scores = layers.fc(hidden, 4)
    loss = layers.mean(layers.softmax_with_cross_entropy(scores, label))
    fluid.optimizer.Momentum(0.01, 0.9).minimize(loss)
    parameters = fluid.default_main_program().all_parameters()
    return [loss, scores, *parameters], {**feed, **labels}


@needs_library
def test_training_a_lenet_agrees_with_numpy(monkeypatch):
    source = agree(monkeypatch, lenet, 1e-4, times=5)
    for type in ("conv2d", "pool2d", "pool2d_grad", "conv2d_adjoint_filter", "softmax"):
        assert f"# {type}, test_onednn.py:" in source
    assert "oneDNN" in source


@needs_library
@pytest.mark.parametrize("act", ["relu", "tanh"])
@pytest.mark.parametrize("channels", [16, 10])
def test_training_a_residual_net_agrees_with_numpy(monkeypatch, channels, act):
    """With blocks of channels, and where these would be filled up."""
    agree(monkeypatch, resnet, 1e-4, times=5, channels=channels, act=act)


@needs_library
def test_values_keep_their_layout_between_kernels(monkeypatch):
    _, source = ran(monkeypatch, "auto", resnet, size=32, batch=8)
    lines = source.splitlines()
    converted = [line for line in lines if "layout for" in line]
    # filters there and back for each convolution, and values where they come in and go out
    assert len(converted) <= 3 * 6 + 2
    for type in ("batch_norm", "relu_grad", "elementwise_add", "sum", "conv2d_adjoint_filter"):
        assert not any(f"layout for {type}" in line for line in converted), type
    for type in ("batch_norm", "batch_norm_grad", "conv2d", "conv2d_adjoint_input", "pool2d"):
        mine = [line for line in lines if f"# {type}," in line]
        assert mine and all(line.endswith("oneDNN") for line in mine), type
    assert "# relu," not in source  # part of what goes before


@needs_library
def test_what_else_happens_to_a_value_in_a_layout(monkeypatch):
    def net():
        image, feed = fed("x", [3, 6, 7, 5])
        hidden = layers.conv2d(image, 20, 3, act="relu")
        parts = [
            layers.tanh(hidden),
            layers.sigmoid(hidden),
            hidden * 2.0 + 1.0,
            layers.elementwise_mul(hidden, hidden),
            layers.leaky_relu(hidden),
            layers.transpose(hidden, [0, 2, 3, 1]),
            layers.reshape(hidden, [3, -1]),
            layers.reduce_sum(hidden, [0, 2, 3]),
            layers.reduce_mean(hidden, [2]),
            layers.softmax(hidden),
            layers.pool2d(hidden, 2, "avg"),
            layers.lrn(hidden),
            layers.conv2d(hidden, 3, 2, stride=2),
        ]
        sums = [layers.reduce_sum(layers.square(part)) for part in parts]
        loss = layers.sums(sums)
        parameters = fluid.default_main_program().all_parameters()
        found = gradients(loss, [hidden, *parameters])
        return [loss, hidden, *parts, *found], feed

    source = agree(monkeypatch, net)
    served = {line.split("# ")[1].split(",")[0] for line in source.splitlines() if "oneDNN" in line}
    for type in ("tanh", "tanh_grad", "elementwise_mul", "leaky_relu", "reduce_sum", "pool2d"):
        assert type in served


@needs_library
@pytest.mark.parametrize("attrs", [dict(is_test=True), dict(use_global_stats=True), dict()])
def test_normalisation_by_running_statistics(monkeypatch, attrs):
    def net():
        image, feed = fed("x", [3, 6, 7, 5])
        hidden = layers.conv2d(image, 17, 3, bias_attr=False)
        out = layers.batch_norm(hidden, act="relu", **attrs)
        found = gradients(out, [hidden]) if not attrs.get("is_test") else []
        return [out, *found], feed

    agree(monkeypatch, net)


@needs_library
def test_gradients_of_layer_norm_and_softmax(monkeypatch):
    def net():
        x, feed = fed("x", [5, 4, 32])
        x.stop_gradient = False
        out = layers.softmax(layers.layer_norm(layers.fc(x, 24, 2), begin_norm_axis=2))
        parameters = fluid.default_main_program().all_parameters()
        loss = layers.reduce_sum(layers.square(out))
        return [out, *gradients(loss, [x, *parameters])], feed

    source = agree(monkeypatch, net)
    newer = "AVX-512" in description()["instructions"]  # for others there is a reference only
    for type in ("layer_norm", "layer_norm_grad", "softmax", "mul", *["softmax_grad"] * newer):
        assert any(f"# {type}" in s and "oneDNN" in s for s in source.splitlines()), type


@needs_library
@pytest.mark.parametrize("pool_type", ["max", "avg"])
@pytest.mark.parametrize("window", [(2, 2, 0), (3, 2, 1)])
def test_gradients_of_pooling(monkeypatch, pool_type, window):
    size, stride, padding = window

    def net():
        image, feed = fed("x", [3, 4, 12, 8])
        hidden = layers.conv2d(image, 16, 3, padding=1)
        out = layers.pool2d(hidden, size, pool_type, stride, padding)
        loss = layers.reduce_sum(layers.square(out))
        return [out, *gradients(loss, [hidden])], feed

    agree(monkeypatch, net)


@needs_library
def test_a_bias_that_is_computed_after_the_convolution(monkeypatch):
    def net():
        image, feed = fed("x", [2, 3, 8, 8])
        hidden = layers.conv2d(image, 16, 3, bias_attr=False)
        bias = layers.reduce_mean(layers.square(hidden), [0, 2, 3])
        bias = layers.exp(bias * -1.0)
        other = layers.conv2d(image, 16, 3, bias_attr=False)
        level = layers.reduce_sum(image) * 0.01 + layers.ones([16], "float32")
        return [
            layers.elementwise_add(hidden, bias, axis=1),
            other + layers.reshape(level, [1, 16, 1, 1]),
            layers.elementwise_add(other, level, axis=1, act="relu"),
        ], feed

    agree(monkeypatch, net)


@needs_library
def test_attention(monkeypatch):
    """Stacks of matrices, views of what has its heads in another place."""

    def net():
        x, feed = fed("x", [3, 7, 40])
        x.stop_gradient = False

        def heads(name):
            split = layers.reshape(
                layers.fc(x, 40, 2, param_attr=name, bias_attr=False), [3, 7, 5, 8]
            )
            return layers.transpose(split, [0, 2, 1, 3])

        scores = layers.matmul(heads("q"), heads("k"), transpose_y=True, alpha=8**-0.5)
        mixed = layers.matmul(layers.softmax(scores), heads("v"))
        out = layers.reshape(layers.transpose(mixed, [0, 2, 1, 3]), [3, 7, 40])
        loss = layers.reduce_sum(layers.square(out))
        parameters = fluid.default_main_program().all_parameters()
        return [out, *gradients(loss, [x, *parameters])], feed

    source = agree(monkeypatch, net)
    products = [line for line in source.splitlines() if "# matmul," in line]
    assert products and all(line.endswith("oneDNN") for line in products)


@needs_library
@pytest.mark.parametrize("channels", [16, 20])
def test_numbers_for_each_channel(monkeypatch, channels):
    def net():
        image, feed = fed("x", [2, 3, 8, 8])
        hidden = layers.conv2d(image, channels, 3, bias_attr=False)
        levels, more = fed("level", [channels])
        functions = ("add", "sub", "mul", "max", "min")
        parts = [getattr(layers, f"elementwise_{f}")(hidden, levels, axis=1) for f in functions]
        loss = layers.sums([layers.reduce_sum(layers.square(part)) for part in parts])
        return [*parts, *gradients(loss, [hidden])], {**feed, **more}

    source = agree(monkeypatch, net)
    assert "plain layout for elementwise" not in source


@needs_library
def test_two_threads_run_one_program(monkeypatch):
    monkeypatch.setenv("FLUIDLITE_KERNELS", "onednn")
    image, feed = fed("x", [4, 3, 16, 16])
    hidden = layers.conv2d(image, 16, 3, act="relu")
    out = layers.softmax(layers.fc(layers.pool2d(hidden, 2, "max", 2), 8))
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    scope = fluid.global_scope()
    right = [exe.run(feed=feed, fetch_list=[out], scope=scope)[0] for _ in range(3)][-1]
    wrong = []

    def work():
        for _ in range(40):
            found = exe.run(fluid_program, feed=feed, fetch_list=[out], scope=scope)[0]
            if not np.array_equal(found, right):
                wrong.append(np.abs(found - right).max())

    fluid_program = fluid.default_main_program()
    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@needs_library
@pytest.mark.parametrize("threads", [1, 2])
def test_with_so_many_threads(monkeypatch, threads):
    monkeypatch.setenv("FLUIDLITE_NUM_THREADS", str(threads))
    monkeypatch.setattr("fluidlite.kernels.threads.count", lambda: threads)
    agree(monkeypatch, resnet, 1e-4, times=3, size=4, batch=2)
    agree(monkeypatch, lenet, 1e-4, times=3)


def forked(work):
    """Whether some work gives a truth, and no warning, in a forked process that ends in time."""
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that there are threads is what this is about
        child = os.fork()
    if child == 0:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                os.write(writing, b"1" if work() else b"0")
        finally:
            os._exit(0)
    os.close(writing)
    found, _, _ = select.select([reading], [], [], 60)
    said = os.read(reading, 1) if found else b"it hangs"
    if not found:
        os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    os.close(reading)
    return said == b"1"


@needs_library
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs processes that are forked")
def test_a_forked_process_does_not_wait_for_threads_that_it_does_not_have(monkeypatch):
    monkeypatch.setattr("fluidlite.kernels.threads.count", lambda: 2)
    monkeypatch.setenv("FLUIDLITE_KERNELS", "onednn")
    image, feed = fed("x", [4, 3, 16, 16])
    out, exe = layers.conv2d(image, 16, 3), fluid.Executor()
    exe.run(fluid.default_startup_program())

    def ran():
        return [exe.run(feed=feed, fetch_list=[out])[0] for _ in range(4)][-1]

    right = ran()
    assert forked(lambda: np.allclose(ran(), right, atol=1e-5))
    assert forked(lambda: forked(lambda: np.allclose(ran(), right, atol=1e-5)))
    layers.relu(out)  # so that the child has a plan to make
    assert forked(lambda: np.allclose(ran(), right, atol=1e-5) and "oneDNN" in sources(exe))


@needs_library
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs processes that are forked")
def test_a_forked_process_runs_generated_kernels_that_used_the_threads_of_onednn(
    monkeypatch, tmp_path
):
    monkeypatch.delenv("FLUIDLITE_CC", raising=False)
    monkeypatch.setenv("FLUIDLITE_CACHE", str(tmp_path / "cache"))
    COMPILER.switch(Compiler())
    if native.description() is None:
        pytest.skip("no C compiler")
    shared, by_team, begin = [], native._by_team, native.open_library
    monkeypatch.setattr("fluidlite.kernels.threads.count", lambda: 2)
    monkeypatch.setattr(native, "open_library", lambda graph, waits: begin(graph, waits=True))
    monkeypatch.setattr(
        native, "_by_team", lambda *how: lambda arrays: shared.append(1) or by_team(*how)(arrays)
    )
    monkeypatch.setenv("FLUIDLITE_KERNELS", "auto")
    image, feed = fed("x", [8, 16, 48, 48])
    hidden = layers.tanh(image) + layers.exp(-layers.sigmoid(image))
    out, exe = layers.conv2d(hidden, 16, 3, padding=1), fluid.Executor()
    exe.run(fluid.default_startup_program())

    def ran():
        shared.clear()
        return [exe.run(feed=feed, fetch_list=[out])[0] for _ in range(4)][-1]

    right = ran()
    assert shared  # the threads are there
    for _ in range(2):
        assert forked(lambda: np.allclose(ran(), right, atol=1e-5) and bool(shared))
    assert forked(lambda: forked(lambda: np.allclose(ran(), right, atol=1e-5)))
    np.testing.assert_allclose(ran(), right, atol=1e-5)


@needs_library
def test_double_precision_stays_with_numpy(monkeypatch):
    def net():
        x = fluid.data("x", [4, 3, 8, 8], "float64")
        x.stop_gradient = False
        hidden = layers.batch_norm(layers.conv2d(x, 16, 3), act="relu")
        out = layers.softmax(layers.fc(hidden, 300))
        loss = layers.reduce_sum(layers.square(out))
        feed = {"x": np.random.default_rng(0).normal(size=[4, 3, 8, 8])}
        return [out, *gradients(loss, [x])], feed

    (*_, last), source = ran(monkeypatch, "onednn", net)
    assert "oneDNN" not in source and source
    assert {v.dtype.name for v in last} == {"float64"}


# -- which library ---------------------------------------------------------------------------------


@needs_library
def test_the_library_says_what_it_is():
    found = description()
    assert found["version"].startswith("3.")
    assert found["path"].rpartition("/")[2] in library.FILES
    assert set(found) == {"path", "version", "instructions"}


def layers_alike(count=4):
    """Products of the same shapes, one behind the other, and their gradients."""
    hidden, feed = fed("x", [64, 128])
    weights = []
    for _ in range(count):
        weights.append(layers.create_parameter([128, 128], "float32"))
        hidden = layers.matmul(hidden, weights[-1])
    return [hidden, *gradients(layers.mean(hidden), weights)], feed


@needs_library
def test_products_that_are_alike_are_made_once(monkeypatch):
    made, begin = [], memory.Made.__init__

    def noted(self, *given):
        made.append(1)
        begin(self, *given)

    monkeypatch.setattr(memory.Made, "__init__", noted)
    monkeypatch.setenv("FLUIDLITE_NUM_THREADS", "1")
    counts = []
    for count in (4, 8):
        del made[:]
        agree(monkeypatch, layers_alike, count=count)
        counts.append(len(made))
    assert counts[0] == counts[1]


@needs_library
def test_kernels_of_a_first_run_work_in_one_place(monkeypatch):
    contexts, begin = [], memory.ContextFactory.__call__

    def noted(self):
        contexts.append(begin(self))
        return contexts[-1]

    monkeypatch.setattr(memory.ContextFactory, "__call__", noted)
    ran(monkeypatch, "onednn", layers_alike, times=2)
    assert len(contexts) == 1


def without_library(monkeypatch):
    monkeypatch.setattr(library, "candidates", lambda: iter(()))
    state.reset()


def dense():
    x, feed = fed("x", [64, 128])
    return [layers.softmax(layers.fc(x, 128))], feed


def test_without_the_library_numpy_runs_everything(monkeypatch):
    without_library(monkeypatch)
    assert description() is None
    _, source = ran(monkeypatch, "auto", dense)
    assert source and "oneDNN" not in source


def test_asking_for_a_library_that_is_not_installed_says_what_to_install(monkeypatch):
    without_library(monkeypatch)
    with pytest.raises(UnsupportedError, match=r'pip install "fluidlite\[fast\]"'):
        ran(monkeypatch, "onednn", dense)


def test_an_unknown_library_is_an_error(monkeypatch):
    with pytest.raises(ArgumentError, match="numpy, onednn, native, auto, got 'mkl'"):
        ran(monkeypatch, "mkl", dense)


@needs_library
def test_a_file_that_is_no_library_is_passed_over(monkeypatch, tmp_path):
    other = tmp_path / "libdnnl.so.3"
    other.write_bytes(b"no library")
    hidden = tmp_path / ("x" * 300)  # that the system refuses to look for, as in folders of others
    monkeypatch.setattr(library, "candidates", lambda: iter([hidden, other, tmp_path / "none"]))
    state.reset()
    assert description() is None


@needs_library
def test_what_the_library_refuses_stays_with_numpy(monkeypatch):
    library.load()
    create = library.Library.create

    def refusing(self, name, *arguments):
        if name == "primitive_create":
            raise library.NotDone("refused")
        return create(self, name, *arguments)

    monkeypatch.setattr(library.Library, "create", refusing)
    _, source = ran(monkeypatch, "onednn", resnet)
    assert "# conv2d," in source
    assert all("conv2d" in s or "mul" in s for s in source.splitlines() if "oneDNN" in s)


@needs_library
def test_what_the_library_made_is_given_back_without_code_of_python(monkeypatch):
    """An interrupt in code that runs when an object goes would be lost."""
    loaded = library.load()

    def made():
        with fluid.unique_name.guard(), fluid.program_guard(fluid.Program(), fluid.Program()):
            ran(monkeypatch, "onednn", lambda: dense(), 3)
        gc.collect()
        return len(loaded._graves) - len(loaded._opened)

    first = made()
    assert [made() for _ in range(3)] == [first] * 3
    assert len(loaded._opened) < 200
    for module in (memory, library):
        kinds = [each for each in vars(module).values() if isinstance(each, type)]
        assert not [each for each in kinds if hasattr(each, "__del__")]
