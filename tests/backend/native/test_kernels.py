import ctypes
import math
import threading
import warnings

import numpy as np
import pytest
from elementwise_graphs import Recording, findings, is_rounding, results
from shares import share

import fluidlite as fluid
from fluidlite import layers
from fluidlite.backend.native import compiler as compilers
from fluidlite.backend.native import kernel_cache, library
from fluidlite.backend.native import source as source_module
from fluidlite.backend.native.index_maps import NotFusible
from fluidlite.backend.native.library import prepared
from fluidlite.backend.native.source import KernelLoops, kernel_source
from fluidlite.backend.native.symbols import XP, ArraySymbol, Expression

GRAPHS = share(300)


def compiled(compiler, function, *arrays, team=None):
    """What a kernel computes that is generated for a function of arrays."""
    inputs = [Expression("input", (), a.shape, a.dtype) for a in arrays]
    made = function(*map(ArraySymbol, inputs)).node
    source = kernel_source(inputs, [made])
    kernel = compiler.compiled([source])[source.name]
    run = prepared(kernel, source, [(made.shape, made.dtype)], team)
    return run.function(*arrays, *([run.scratch()] if run.scratch else []))


#: by name: the function in double precision, and where it is looked at
FUNCTIONS = {
    "exp": (np.exp, -87.0, 88.0),
    "log": (np.log, 1e-38, 1e38),
    "log1p": (np.log1p, -0.999, 1e6),
    "expm1": (np.expm1, -20.0, 80.0),
    "tanh": (np.tanh, -12.0, 12.0),
    "erf": (np.vectorize(math.erf), -5.0, 5.0),
}
ULPS = {"exp": 2, "log": 2, "log1p": 3, "expm1": 3, "tanh": 3, "erf": 3}
SPECIAL = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-40, 200.0, -200.0], "float32")


def test_elementary_functions_are_right_to_a_few_units_in_the_last_place(compiler):
    rng = np.random.default_rng(0)
    given = []
    for name, (_, low, high) in FUNCTIONS.items():
        span = np.exp(rng.uniform(np.log(low), np.log(high), 20000)) if name == "log" else None
        x = rng.uniform(low, high, 20000) if span is None else span
        x[:5000] = rng.standard_normal(5000) if low < -1 else np.abs(rng.standard_normal(5000))
        given.append(x.astype("float32"))
    inputs = [Expression("input", (), x.shape, x.dtype) for x in given]
    outputs = [getattr(XP, name)(ArraySymbol(n)).node for name, n in zip(FUNCTIONS, inputs)]
    source = kernel_source(inputs, outputs)
    compiler.together([source])
    kernel = compiler.find([source])[source.name]
    found = prepared(kernel, source, [(o.shape, o.dtype) for o in outputs]).function(*given)
    for name, x, y in zip(FUNCTIONS, given, found):
        meant = FUNCTIONS[name][0](x.astype("float64"))
        unit = np.spacing(np.abs(meant).astype("float32")).astype("float64")
        assert np.max(np.abs(y - meant) / unit) <= ULPS[name], name


@pytest.mark.parametrize("name", list(FUNCTIONS))
def test_what_is_not_finite_is_as_numpy_has_it(compiler, name):
    found = compiled(compiler, getattr(XP, name), SPECIAL)
    with np.errstate(all="ignore"):
        meant = FUNCTIONS[name][0](SPECIAL.astype("float64")).astype("float32")
    np.testing.assert_array_equal(np.isnan(found), np.isnan(meant))
    np.testing.assert_allclose(found, meant, rtol=1e-6)
    zeros = meant == 0
    np.testing.assert_array_equal(np.signbit(found[zeros]), np.signbit(meant[zeros]))


def test_the_largest_of_a_row_with_nan_is_nan(compiler):
    x = np.array([[1.0, np.nan, 3.0], [1.0, 2.0, 0.5]], "float32")
    found = compiled(compiler, lambda v: v - XP.max(v, axis=1, keepdims=True), x)
    assert np.isnan(found[0]).all()
    np.testing.assert_array_equal(found[1], [-1.0, 0.0, -1.5])


def test_results_go_over_inputs_that_nothing_reads_once_they_are_written():
    x, y, row = (Expression("input", (), s, np.dtype("f")) for s in ((3, 4), (3, 4), (4,)))
    a, b, c = map(ArraySymbol, (x, y, row))
    over = lambda made: kernel_source([x, y, row], [made.node]).over
    assert over(a * b + c) == (0, 1)
    most = XP.max(a, axis=1, keepdims=True)
    assert over(a - most) == (0,)
    assert over(a * b + XP.sum(a)) == ()
    (doubled, shifted) = kernel_source([x], [(a * 2.0).node, (a - most).node]), (a - most).node
    assert doubled.over == ()
    assert kernel_source([x], [shifted]).over == (0,)


def test_arrays_that_lie_otherwise_are_taken_too(compiler):
    x = np.arange(12, dtype="float32").reshape(3, 4).T
    np.testing.assert_array_equal(compiled(compiler, lambda v: v * 2.0 + 1.0, x), x * 2 + 1)


def part(v, starts, sizes):
    return ArraySymbol(Expression("part", (v.node,), sizes, v.dtype, starts))


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32"])
@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("size", [1, 3, 2048])
def test_parts_go_different_ways_and_are_put_together(compiler, axis, size, dtype):
    shape, whole = [3, 2, 5], [3, 2, 5]
    shape[axis], whole[axis] = size, 2 * size
    x = np.arange(np.prod(whole)).reshape(whole).astype(dtype)
    if dtype != "int32":
        x.flat[:3] = np.nan, np.inf, -np.inf
    starts = tuple(size if k == axis else 0 for k in range(3))

    def work(v):
        first, second = part(v, (0, 0, 0), tuple(shape)), part(v, starts, tuple(shape))
        return XP.concatenate([second * second, first - second, second], axis=axis)

    first, second = np.split(x, 2, axis=axis)
    meant = np.concatenate([second * second, first - second, second], axis=axis)
    np.testing.assert_array_equal(compiled(compiler, work, x), meant)


def test_any_number_of_threads_gives_the_same_bits_of_pieces(compiler, monkeypatch):
    x = np.random.default_rng(0).standard_normal((4096, 64)).astype("float32")

    def work(v):
        first, second = part(v, (0, 0), (4096, 32)), part(v, (0, 32), (4096, 32))
        return XP.tanh(XP.concatenate([XP.exp(second) * first, XP.tanh(first)], axis=1))

    found = []
    monkeypatch.setattr(library, "SHARED", 0)
    for count in ("1", "2"):
        monkeypatch.setenv("FLUIDLITE_NUM_THREADS", count)
        fluid.kernels.threads._pool.reset()
        found.append(compiled(compiler, work, x))
    np.testing.assert_array_equal(*found)


def test_random_graphs_compute_what_interpretation_does(compiler):
    wrong, fused, _ = findings(range(GRAPHS))
    assert not wrong
    assert fused > GRAPHS * 0.9


@pytest.mark.parametrize("rows", [7, 4096])
def test_any_number_of_threads_gives_the_same_bits(compiler, monkeypatch, rows):
    x = np.random.default_rng(0).standard_normal((rows, 64)).astype("float32")

    def work(v):
        e = XP.exp(v)
        return XP.sum(e / XP.sum(e, axis=1, keepdims=True) * v, axis=0)

    found = []
    for count in ("1", "2"):
        monkeypatch.setenv("FLUIDLITE_NUM_THREADS", count)
        fluid.kernels.threads._pool.reset()
        found.append(compiled(compiler, work, x))
    np.testing.assert_array_equal(*found)


def test_threads_of_another_library_take_the_blocks_and_give_the_same_bits(compiler, monkeypatch):
    monkeypatch.setenv("FLUIDLITE_NUM_THREADS", "2")
    fluid.kernels.threads._pool.reset()
    teams = []

    def parallel(work, data, *_):
        """What GOMP_parallel does with two threads."""
        other = threading.Thread(target=work, args=(data,))
        other.start()
        work(data)
        other.join()
        teams.append(data)

    body = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
    begin = ctypes.CFUNCTYPE(None, body, ctypes.c_void_p, ctypes.c_uint, ctypes.c_uint)(parallel)
    team = ctypes.cast(begin, ctypes.c_void_p).value
    x = np.random.default_rng(0).standard_normal((4096, 64)).astype("float32")

    def work(v):
        return XP.sum(XP.tanh(v) * v, axis=0)

    alone = compiled(compiler, work, x)
    np.testing.assert_array_equal(compiled(compiler, work, x, team=team), alone)
    assert len(teams) == 1


@pytest.mark.parametrize("rows", [2, 3, 7, 15, 16, 17])
def test_threads_write_nothing_behind_a_few_long_rows(compiler, monkeypatch, rows):
    monkeypatch.setenv("FLUIDLITE_NUM_THREADS", "2")
    fluid.kernels.threads._pool.reset()
    monkeypatch.setattr(library, "SHARED", 0)
    x = np.random.default_rng(0).standard_normal((rows, 30000)).astype("float32")
    inputs = [Expression("input", (), x.shape, x.dtype)]
    v = ArraySymbol(inputs[0])
    made = [(v * 2.0 - XP.max(v, axis=1, keepdims=True)).node, XP.sum(v, axis=0).node]
    source = kernel_source(inputs, made)
    compiler.together([source], "-O1")
    run = prepared(compiler.find([source])[source.name], source, [(m.shape, m.dtype) for m in made])
    memory = np.full((3 * rows, 30000), 7, "float32")
    scratch = np.full(3 * source.scratch, 7, "uint8")
    outputs = memory[rows : 2 * rows], np.empty(30000, "float32")
    run.function(x, scratch[source.scratch : 2 * source.scratch], out=outputs)
    np.testing.assert_array_equal(outputs[0], x * 2 - x.max(axis=1, keepdims=True))
    np.testing.assert_allclose(outputs[1], x.sum(axis=0), atol=1e-5)
    assert (memory[:rows] == 7).all() and (memory[2 * rows :] == 7).all()
    assert (scratch[: source.scratch] == 7).all() and (scratch[2 * source.scratch :] == 7).all()


def test_a_label_out_of_range_is_the_error_of_interpretation(compiler):
    x = fluid.data("x", [2, 3])
    label = fluid.data("k", [2, 1], "int64")
    loss = layers.mean(layers.softmax_with_cross_entropy(x, label))
    exe = fluid.Executor()
    feed = {"x": np.zeros([2, 3], "float32"), "k": np.array([[0], [2]])}
    for _ in range(3):
        exe.run(feed=feed, fetch_list=[loss])
    assert ", native" in exe.plan(fetch_list=[loss]).source
    with pytest.raises(fluid.errors.OutOfRangeError, match="label"):
        exe.run(feed={**feed, "k": np.array([[0], [3]])}, fetch_list=[loss])
    exe.run(feed=feed, fetch_list=[loss])


def written(inputs, outputs, *known):
    """The kernel of expressions; None where they fit into no loop."""
    try:
        return KernelLoops(inputs, outputs, *known).source
    except NotFusible:
        return None


def test_loops_that_are_tried_beside_others_are_written_as_by_themselves():
    inputs = [Expression("input", (), shape, np.dtype("float32")) for shape in [(6, 8), (8,)]]
    x, row = map(ArraySymbol, inputs)
    shifted = XP.tanh(x) + row
    norm = shifted - XP.max(shifted, axis=1, keepdims=True)
    part = ArraySymbol(Expression("part", (shifted.node,), (6, 4), x.dtype, (0, 4)))
    column = ArraySymbol(Expression("part", (norm.node,), (6, 1), x.dtype, (0, 2)))
    made = [
        *(shifted, norm, XP.exp(norm), part * 2.0, column * 3.0, XP.sum(norm, axis=0), XP.sum(x)),
        *(XP.sum(x, axis=0) + row, XP.concatenate([part, part], 1), XP.sum(norm, axis=1) + 1.0),
        XP.reshape(shifted, (2, 24)) - XP.max(XP.reshape(x, (2, 24)), axis=1, keepdims=True),
        XP.in_range(XP.rint(x), 3, "x") + 1.0,
    ]
    nodes, known = [each.node for each in made], {}
    groups = [[first] for first in nodes]
    groups += [[first, other] for first in nodes for other in nodes if first is not other]
    alone = [written(inputs, group) for group in groups]
    assert [written(inputs, group, known) for group in groups] == alone
    assert [written(inputs, group, known) for group in reversed(groups)] == alone[::-1]
    assert None in alone and len(set(alone)) > 50


def several(compiler, function, *arrays):
    """What a kernel computes that is generated for several functions of arrays."""
    inputs = [Expression("input", (), a.shape, a.dtype) for a in arrays]
    made = [each.node for each in function(*map(ArraySymbol, inputs))]
    source = kernel_source(inputs, made)
    compiler.together([source], "-O1")
    specs = [(node.shape, node.dtype) for node in made]
    run = prepared(compiler.find([source])[source.name], source, specs)
    return run.function(*arrays, *([run.scratch()] if run.scratch else []))


@pytest.mark.parametrize("columns", [1, 6])
def test_what_is_the_same_along_a_row_is_added_up_once(compiler, columns):
    x = np.random.default_rng(0).normal(size=(5, 2 * columns)).astype("float32")
    y = np.ones((5, columns), "float32")

    def work(v, other):
        row = XP.sum(v, axis=1, keepdims=True) * 0.5 if columns > 1 else v.node
        if columns == 1:
            row = ArraySymbol(Expression("part", (row,), (5, 1), v.dtype, (0, 1)))
        spread = XP.broadcast_to(row, (5, columns))
        return spread, XP.sum(spread), spread * other

    spread, total, _ = several(compiler, work, x[:, :columns].copy() if columns > 1 else x, y)
    np.testing.assert_allclose(total, spread.sum(), rtol=1e-5)


def test_a_number_of_each_channel_is_written_to_all_of_its_elements(compiler):
    x = np.random.default_rng(0).normal(size=(2, 3, 4)).astype("float32")

    def work(v):
        mean = XP.mean(v, axis=(0, 2), keepdims=True)
        return XP.broadcast_to(mean, (2, 3, 4)), v - mean

    spread, centred = several(compiler, work, x)
    np.testing.assert_allclose(spread[0, :, 0], x.mean((0, 2)), rtol=1e-5)
    np.testing.assert_allclose(centred, x - spread, atol=1e-6)


def test_a_cross_entropy_of_labels_and_its_gradient_are_one_kernel(compiler):
    """A softmax, what labels pick of it, the place where their gradient goes, and the cotangent."""
    x = fluid.data("x", [5, 4])
    x.stop_gradient = False
    label = fluid.data("k", [5, 1], "int64")
    loss = layers.mean(layers.cross_entropy(layers.softmax(x), label, ignore_index=2))
    (gradient,) = fluid.gradients([loss], [x])
    rng, wanted = np.random.default_rng(0), [loss, gradient]
    values, labels = rng.normal(size=[5, 4]).astype("float32"), np.array([[0], [3], [2], [1], [0]])
    feed = {"x": values, "k": labels}
    exe = fluid.Executor()
    found = [exe.run(feed=feed, fetch_list=wanted) for _ in range(3)]
    remarks = [s for s in exe.plan(fetch_list=wanted).source.splitlines() if "  # " in s]
    assert len(remarks) == 1
    assert remarks[0].endswith(", native")
    for mine, meant in zip(found[-1], found[0], strict=True):
        np.testing.assert_allclose(mine, meant, rtol=1e-5, atol=1e-6)
    assert not found[0][1][2].any()  # what is ignored
    with pytest.raises(fluid.errors.OutOfRangeError, match="label"):
        exe.run(feed={**feed, "k": labels + 1}, fetch_list=wanted)


def test_c_is_written_of_the_groups_that_are_made_and_of_no_others(compiler, monkeypatch):
    written, named = [], source_module.named
    monkeypatch.setattr(source_module, "named", lambda *given: written.append(1) or named(*given))
    x = fluid.data("x", [4, 5])
    y = x
    for _ in range(6):  # each member makes another group
        y = layers.tanh(layers.exp(y) * 0.5)
    exe, feed = fluid.Executor(), {"x": np.zeros([4, 5], "float32")}
    for _ in range(2):
        exe.run(feed=feed, fetch_list=[y])
    assert ", native" in exe.plan(fetch_list=[y]).source
    assert len(written) == 1


# -- the compiler and its files --------------------------------------------------------------------


def plan_of_tanh():
    """The source of a plan with something to fuse."""
    return results(3)[2]


def test_a_second_process_finds_the_kernels_of_the_first(compiler):
    assert ", native" in plan_of_tanh()
    recording = Recording()
    compilers.COMPILER.switch(recording)
    assert ", native" in plan_of_tanh()


def spoiled(path):
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    other = path.with_suffix(".other")  # what is loaded is mapped, and stays as it is
    other.write_bytes(content)
    other.replace(path)


def writable_for_all(path):
    path.chmod(0o666)


def without_a_digest(path):  # as where its process was killed before the digest had its place
    path.with_suffix(".sum").unlink()


@pytest.mark.parametrize("harm", [spoiled, writable_for_all, without_a_digest])
def test_a_file_that_cannot_be_trusted_is_not_loaded(compiler, harm):
    plan_of_tanh()
    for path in compiler.cache.folder.glob("*.so"):
        harm(path)
    compilers.COMPILER.switch(Recording())
    assert ", native" not in plan_of_tanh()


def test_old_kernels_are_removed_where_there_are_too_many(compiler, monkeypatch):
    monkeypatch.setattr(kernel_cache, "KEPT", 1)
    compiled(compiler, lambda v: v + 1.0, np.ones(3, "float32"))
    assert not list(compiler.cache.folder.glob("*.so")) + list(compiler.cache.folder.glob("*.sum"))


def test_a_compiler_that_fails_means_numpy_and_one_warning(monkeypatch, tmp_path):
    broken = tmp_path / "broken"
    broken.write_text('#!/bin/sh\n[ "$1" = --version ] && echo broken && exit 0\nexit 1\n')
    broken.chmod(0o755)
    monkeypatch.setenv("FLUIDLITE_CC", str(broken))
    monkeypatch.setenv("FLUIDLITE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("FLUIDLITE_KERNELS", "native")
    compilers.COMPILER.switch(compilers.Compiler())
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        sources = [plan_of_tanh(), results(5)[2]]
    assert not any(", native" in source for source in sources)
    assert len(said) == 1
    assert "NumPy computes instead" in str(said[0].message)


def test_without_a_compiler_native_is_an_error_that_says_what_to_do(monkeypatch):
    monkeypatch.setenv("FLUIDLITE_CC", "")
    monkeypatch.setenv("FLUIDLITE_KERNELS", "native")
    compilers.COMPILER.switch(compilers.Compiler())
    with pytest.raises(fluid.errors.UnsupportedError, match="fluidlite\\[jit\\]"):
        plan_of_tanh()


def test_a_plan_runs_at_once_and_gets_its_kernels_later(compiler, monkeypatch):
    monkeypatch.setenv("FLUIDLITE_KERNELS", "auto")
    x = fluid.data("x", [4, 5])
    y = layers.tanh(layers.softmax(x) * 2.0 + 1.0)
    exe, feed = fluid.Executor(), {"x": np.ones([4, 5], "float32")}
    (first,) = exe.run(feed=feed, fetch_list=[y])
    for _ in range(20):
        exe.run(feed=feed, fetch_list=[y])
    assert ", native" not in exe.plan(fetch_list=[y]).source
    for event in list(compiler._pending.values()):
        event.wait()
    for _ in range(3):
        (last,) = exe.run(feed=feed, fetch_list=[y])
    assert ", native" in exe.plan(fetch_list=[y]).source
    np.testing.assert_allclose(last, first, rtol=1e-6)


def test_rounding_is_told_from_faults_by_what_double_precision_gives():
    exact = np.array([1e-3, 1.0])
    meant = (exact + [6e-5, 0]).astype("float32")  # what large terms leave
    assert is_rounding(meant, (exact - [9e-5, 0]).astype("float32"), exact)
    assert not is_rounding(meant, (exact - [3e-4, 0]).astype("float32"), exact)
    assert not is_rounding(meant, np.full(2, np.nan, "float32"), exact)
    assert not is_rounding(meant, meant.astype("float64"), exact)


def test_kernels_are_made_in_one_call_and_alone_where_one_of_them_fails(compiler, monkeypatch):
    texts, call = [], type(compiler)._call
    monkeypatch.setattr(
        type(compiler),
        "_call",
        lambda *given, **options: texts.append(given[1]) or call(*given, **options),
    )
    x = Expression("input", (), (70,), np.dtype("float32"))
    functions = [XP.exp, XP.tanh, XP.log1p]
    sources = [kernel_source([x], [function(ArraySymbol(x)).node]) for function in functions]
    assert list(compiler._made(sources)) == [source.name for source in sources]
    assert len(texts) == 1
    array = np.linspace(0, 1, 70, dtype="float32")
    for function, source in zip((np.exp, np.tanh, np.log1p), sources):
        kernel = compilers.Compiler().find([source])[source.name]  # from the folder
        found = prepared(kernel, source, [((70,), np.dtype("float32"))]).function(array)
        np.testing.assert_allclose(found, function(array), rtol=1e-6)
    bad = sources[0]._replace(name="bad", text="no C\n")
    with pytest.warns(RuntimeWarning, match="could not be compiled"):
        kernels = compiler._made([bad, sources[1]])
    assert kernels["bad"] is None and kernels[sources[1].name] is not None
