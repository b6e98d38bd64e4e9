"""The small modules of fluid 1.8 that old programs import."""

import importlib
import sys
import warnings

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite import compat


@pytest.fixture(autouse=True)
def served(alias):
    return importlib.import_module("paddle.fluid")


def module(name):
    return importlib.import_module(f"paddle.{name}")


def test_an_average_has_weights():
    average = module("fluid.average").WeightedAverage()
    with pytest.raises(ValueError, match="holds no values"):
        average.eval()
    average.add(2.0, 1)
    average.add(np.array([1.0, 3.0]), 2)
    assert np.allclose(average.eval(), [4 / 3, 8 / 3])
    with pytest.raises(ValueError, match="a number or an array"):
        average.add("a", 1)
    average.reset()
    assert average.numerator is None


def test_texts_and_numbers_are_those_of_both_pythons():
    cpt = module("compat")
    assert cpt.to_text([b"a", {b"b"}]) == ["a", {"b"}]
    assert cpt.to_text({b"a": b"b"}) == {"a": "b"} and cpt.to_text(None) is None
    assert cpt.to_bytes(["a", b"b"]) == [b"a", b"b"]
    held = [b"a"]
    assert cpt.to_text(held, inplace=True) is held and held == ["a"]
    held = {b"a"}
    assert cpt.to_text(held, inplace=True) is held and held == {"a"}
    assert [cpt.round(x) for x in (2.5, -2.5, 0, 2.4)] == [3.0, -3.0, 0.0, 2.0]
    assert cpt.round(1.255, 2) == 1.25 and cpt.round(float("nan")) == 0.0
    assert cpt.round(float("inf")) == float("inf")
    assert cpt.floor_division(7, 2) == 3 and cpt.long_type is int
    assert cpt.get_exception_message(ValueError("x")) == "x"


def test_the_version_can_be_shown(capsys):
    module("version").show()
    assert capsys.readouterr().out.splitlines()[0] == "full_version: 1.8.5"
    assert module("version").mkl() == "OFF"


def test_curves_are_kept_and_drawn(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib").use("Agg")
    Ploter = module("utils.plot").Ploter
    costs = Ploter("train", "test")
    costs.append("train", 0, 2.5)
    costs.append("train", 1, 1.5)
    costs.plot(str(tmp_path / "costs.png"))
    assert (tmp_path / "costs.png").stat().st_size > 0
    with pytest.raises(ValueError, match="expected a title"):
        costs.append("other", 1, 1)
    costs.reset()
    assert costs.curves["train"].step == []
    monkeypatch.setenv("DISABLE_PLOT", "True")
    Ploter("a").plot(str(tmp_path / "none.png"))
    assert not (tmp_path / "none.png").exists()


def test_decorators_keep_what_they_decorate():
    decorators = module("fluid.wrapped_decorator")

    @decorators.wrap_decorator
    def twice(function):
        return lambda *args: 2 * function(*args)

    @twice
    def add(a, b):
        """Adds."""
        return a + b

    assert add(1, 2) == 6 and add.__name__ == "add" and add.__doc__ == "Adds."

    @module("fluid.annotations").deprecated("1.5", "other")
    def old():
        return 3

    with pytest.warns(DeprecationWarning, match="since 1.5; use other"):
        assert old() == 3


def test_scopes_are_a_stack():
    scopes = module("fluid.default_scope_funcs")
    outer = scopes.get_cur_scope()
    scopes.var("a")

    def within():
        scopes.var("b")
        assert scopes.find_var("a") is not None
        assert scopes.get_cur_scope() is not outer
        return 7

    assert scopes.scoped_function(within) == 7
    assert scopes.find_var("b") is None and scopes.get_cur_scope() is outer


def test_a_logger_has_a_handler_of_its_own():
    logger = module("fluid.log_helper").get_logger("a.logger", 20, fmt="%(message)s")
    assert logger.level == 20 and len(logger.handlers) == 1 and not logger.propagate
    logger.handlers.clear()


def test_structures_are_flattened_and_packed():
    utils = module("fluid.layers.utils")
    assert utils.flatten([1, (2, {"b": 3, "a": 4})]) == [1, 2, 4, 3]
    assert utils.map_structure(lambda a, b: a + b, [1, (2,)], [3, (4,)]) == [4, (6,)]
    assert utils.pack_sequence_as([1, {"b": 0, "a": 1}], [5, 6, 7]) == [5, {"b": 7, "a": 6}]
    assert [utils.is_sequence(each) for each in ([1], {}, "a", 3)] == [True, True, False, False]
    assert utils.convert_to_list(3, 2, "n") == [3, 3] == utils.convert_to_list((3, 3), 2, "n")
    for wrong in ((1, 2, 3), "a", [1, "a"]):
        with pytest.raises(ValueError, match="n to be of 2 int"):
            utils.convert_to_list(wrong, 2, "n")
    with pytest.raises(ValueError, match="as many values"):
        utils.assert_same_structure([1], [1, 2])
    with pytest.raises(ValueError, match="one form"):
        utils.assert_same_structure([1], [(1,)])
    with pytest.raises(TypeError, match="one type"):
        utils.assert_same_structure([1], (1,))
    with pytest.raises(ValueError, match="expected 1 values"):
        utils.pack_sequence_as([1], [1, 2])


def small_net():
    x = fluid.data("x", [None, 3], "float32")
    y = fluid.layers.fc(x, 4, act="relu")
    loss = fluid.layers.mean(y)
    fluid.optimizer.SGD(0.1).minimize(loss)
    return fluid.default_main_program()


def test_memory_and_operators_of_a_program_are_told(capsys):
    contrib = module("fluid.contrib")
    program = small_net()
    low, high, unit = contrib.memory_usage(program, 10)
    assert (low, high, unit) == (1.123828125, pytest.approx(1.17734375), "KB")
    single, pairs = contrib.op_freq_statistic(program)
    assert single["sgd"] == 2 and pairs["mul->elementwise_add"] == 1
    with pytest.raises(TypeError):
        contrib.memory_usage("x", 1)
    with pytest.raises(ValueError):
        contrib.memory_usage(program, 0)


def test_layers_of_a_program_are_listed(capsys):
    x = fluid.data("x", [None, 3, 8, 8], "float32")
    y = fluid.layers.conv2d(x, 4, 3, act="relu")
    y = fluid.layers.pool2d(fluid.layers.batch_norm(y), 2)
    fluid.layers.fc(y, 4, act="softmax")
    module("fluid.contrib.model_stat").summary(fluid.default_main_program())
    lines = capsys.readouterr().out.splitlines()
    assert "|   0 |     conv2d | (3, 8, 8) | (4, 6, 6) |" in lines[3]
    assert [line.split("|")[5].strip() for line in lines[3:8]] == ["108", "0", "8", "0", "401"]
    assert [line.split("|")[6].strip() for line in lines[3:8]] == [
        "7776",
        "144",
        "288",
        "400",
        "400",
    ]
    assert "Total PARAMs: 517" in lines[-2]


def test_programs_are_printed_and_drawn(capsys, tmp_path):
    debugger = module("fluid.debugger")
    program = small_net()
    debugger.pprint_program_codes(program)
    assert "mul" in capsys.readouterr().out
    debugger.pprint_block_codes(program.block(0))
    assert "sgd" in capsys.readouterr().out
    debugger.draw_block_graphviz(program.block(0), path=str(tmp_path / "a.dot"))
    assert (tmp_path / "a.dot").read_text().startswith("digraph")
    details = module("fluid.transpiler.details")
    details.program_to_code(program)
    assert capsys.readouterr().out.startswith("{ // block 0")
    block = program.global_block()
    assert details.find_op_by_input_arg(block, "x") == 0
    assert details.find_op_by_output_arg(block, "nothing") == -1
    details.delete_ops(block, [op for op in block.ops if op.type == "sgd"])
    assert "sgd" not in [op.type for op in block.ops]


def test_a_value_that_is_not_finite_is_found():
    debugger = module("fluid.debugger")
    x = fluid.data("x", [None, 2], "float32")
    y = fluid.layers.log(x)
    feed = {"x": np.array([[1.0, -1.0]], "float32")}
    with pytest.raises(ArithmeticError):
        debugger.run_fast_nan_inf_debug(fluid.Executor(), feed=feed, fetch_list=[y])
    assert fluid.get_flags("FLAGS_check_nan_inf") == {"FLAGS_check_nan_inf": False}


@pytest.mark.parametrize("bias", [False, None])
def test_batch_normalization_is_folded_into_convolutions(bias):
    x = fluid.data("x", [None, 3, 6, 6], "float32")
    y = fluid.layers.conv2d(x, 4, 3, bias_attr=bias)
    y = fluid.layers.relu(fluid.layers.batch_norm(y))
    program = fluid.default_main_program().clone(for_test=True)
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    random = np.random.RandomState(0)
    for each in program.list_vars():
        if each.persistable:
            value = random.rand(*each.shape).astype("float32") + 0.5
            fluid.global_scope().find_var(each.name).get_tensor().set(value)
    feed = {"x": random.randn(2, 3, 6, 6).astype("float32")}
    (before,) = exe.run(program, feed=feed, fetch_list=[y.name])
    transpiler = module("fluid.transpiler").InferenceTranspiler()
    transpiler.transpile(program, fluid.CPUPlace())
    assert "batch_norm" not in [op.type for op in program.global_block().ops]
    (after,) = exe.run(program, feed=feed, fetch_list=[y.name])
    assert np.allclose(before, after, rtol=1e-4, atol=1e-5)
    with pytest.raises(TypeError, match="expected a Program"):
        transpiler.transpile("program", None)


def test_variables_are_given_to_machines_in_turn():
    dispatcher = module("fluid.transpiler.ps_dispatcher").RoundRobin(["a", "b"])
    assert dispatcher.dispatch([1, 2, 3]) == ["a", "b", "a"]
    dispatcher.reset()
    assert dispatcher.dispatch([1]) == ["a"] and dispatcher.eps == ["a", "b"]


def test_weights_decay_beside_the_gradients():
    extend = module("fluid.contrib.extend_optimizer").extend_with_decoupled_weight_decay
    Decaying = extend(fluid.optimizer.SGD)
    x = fluid.data("x", [None, 3], "float32")
    loss = fluid.layers.mean(fluid.layers.fc(x, 2))
    optimizer = Decaying(
        weight_decay=0.1, apply_decay_param_fun=lambda n: "w" in n, learning_rate=0.5
    )
    optimizer.minimize(loss)
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    weights = fluid.global_scope().find_var("fc_0.w_0").get_tensor()
    before = np.array(weights)
    exe.run(feed={"x": np.zeros([2, 3], "float32")}, fetch_list=[loss])
    assert np.allclose(np.array(weights), 0.9 * before)
    assert issubclass(Decaying, fluid.optimizer.SGD)
    with pytest.raises(TypeError):
        extend(int)


def test_the_installation_checks_itself(capsys):
    module("fluid.install_check").run_check()
    assert "works" in capsys.readouterr().out


def test_what_layers_check_their_arguments_with():
    feeder = module("fluid.data_feeder")
    x = fluid.data("x", [None, 3], "float32")
    assert feeder.convert_dtype(x.dtype) == "float32"
    feeder.check_variable_and_dtype(x, "x", ["float32"], "mine")
    with pytest.raises(TypeError, match="mine: expected x to be of int32"):
        feeder.check_variable_and_dtype(x, "x", ["int32"], "mine")
    with pytest.raises(TypeError, match="to be a variable"):
        feeder.check_variable_and_dtype(3, "x", ["int32"], "mine")
    with pytest.raises(TypeError, match="got str"):
        feeder.check_type("a", "x", int, "mine")


def test_what_executors_used_is_there():
    executor = module("fluid.executor")
    scope = fluid.global_scope()
    scope.var("a").get_tensor().set(np.ones([2], "float32"))
    assert executor._fetch_var("a").tolist() == [1.0, 1.0]
    assert executor._fetch_var("a", return_numpy=False).shape() == [2]
    assert executor.as_numpy([fluid.LoDTensor(np.zeros(1))])[0].tolist() == [0.0]
    with pytest.raises(ValueError, match="got 'none'"):
        executor._fetch_var("none")
    with pytest.raises(ValueError, match="without sequences"):
        executor.as_numpy(fluid.LoDTensor(np.zeros(2), [[0, 2]]))
    assert executor.dimension_is_compatible_with([-1, 3], [2, 3])
    assert not executor.dimension_is_compatible_with([-1, 3], [2, 4])
    assert executor.dtype_is_compatible_with("float32", fluid.core.VarDesc.VarType.FP32)
    assert not executor.has_feed_operators(fluid.default_main_program().block(0), None, "feed")


def test_what_the_modules_of_layers_had_besides_layers():
    layers = module("fluid.layers")
    assert layers.device.get_places() == [fluid.CPUPlace()]
    assert layers.layer_function_generator.generate_layer_fn("relu") is fluid.layers.relu
    counter = layers.learning_rate_scheduler._decay_step_counter()
    assert counter.dtype == fluid.core.VarDesc.VarType.FP32


def tokens(values, lengths):
    return fluid.create_lod_tensor(np.array(values)[:, None], [lengths], fluid.CPUPlace())


def test_chunks_and_distances_are_measured_over_batches():
    evaluator = module("fluid.evaluator")
    found = fluid.data("found", [None, 1], "int64", lod_level=1)
    right = fluid.data("right", [None, 1], "int64", lod_level=1)
    chunks = evaluator.ChunkEvaluator(found, right, "IOB", 2)
    distances = evaluator.EditDistance(found, right)
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    for each in (chunks, distances):
        each.reset(exe)
    for one, other, lengths in (
        ([0, 1, 2, 3, 4, 0], [0, 1, 2, 4, 4, 0], [4, 2]),
        ([2, 3, 1, 4], [2, 3, 0, 4], [1, 3]),
    ):
        feed = {"found": tokens(one, lengths), "right": tokens(other, lengths)}
        exe.run(feed=feed, fetch_list=chunks.metrics + distances.metrics)
    assert np.allclose(np.ravel(chunks.eval(exe)), 0.8333333)
    assert np.allclose(np.ravel(distances.eval(exe)), [0.14583334, 0.5])


def test_an_error_rate_is_summed_by_a_program():
    class Seen(module("fluid.evaluator").Evaluator):
        """How many samples there were."""

        def __init__(self, input):
            super().__init__("seen")
            self.total = self._create_state("total", "float32", [1])
            count = fluid.layers.reduce_sum(fluid.layers.ones_like(input))
            fluid.layers.sums([self.total, count], out=self.total)

        def eval(self, executor, eval_program=None):
            return self._values(executor, eval_program)[0]

    seen = Seen(fluid.data("x", [None, 1], "float32"))
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    for _ in range(2):
        seen.reset(exe)
        for _ in range(3):
            exe.run(feed={"x": np.zeros([4, 1], "float32")})
        assert seen.eval(exe).tolist() == [12.0]


def test_sums_of_click_rates_are_kept():
    x = fluid.data("x", [None, 1], "float32")
    y = fluid.data("y", [None, 1], "float32")
    sums = module("fluid.contrib.layers").ctr_metric_bundle(x, y)
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    feed = {
        "x": np.array([[0.2], [0.7], [0.9]], "float32"),
        "y": np.array([[0], [1], [1]], "float32"),
    }
    once = np.array([0.14, 0.6, 1.8, 1.928971, 2.0, 3.0])
    for times in (1, 2):
        found = exe.run(feed=feed, fetch_list=list(sums))
        assert np.allclose(np.ravel(found), times * once, rtol=1e-6)
    with pytest.raises(ValueError, match="a rate for each label"):
        module("fluid.contrib.layers").ctr_metric_bundle(x, fluid.data("z", [None, 2]))


def test_a_process_reads_its_share_of_the_batches(monkeypatch):
    share = module("fluid.contrib.reader").distributed_batch_reader
    assert list(share(lambda: iter(range(3)))()) == [0, 1, 2]
    monkeypatch.setenv("PADDLE_TRAINERS_NUM", "2")
    for number, wanted in (("0", [0, 2]), ("1", [1, 3])):
        monkeypatch.setenv("PADDLE_TRAINER_ID", number)
        assert list(share(lambda: iter(range(5)))()) == wanted


def test_the_alias_says_nothing_where_nothing_is_odd():
    with warnings.catch_warnings():
        warnings.simplefilter("error", compat.CompatWarning)
        small_net()


def test_colours_are_changed_by_numpys_generator():
    vision = module("incubate.hapi.vision.transforms")
    image = np.arange(18, dtype="float32").reshape(2, 3, 3) * 10
    # what 1.8.5 gives for the first seven numbers behind this seed
    wanted = {
        "BrightnessTransform": [0, 10.390509, 20.781017, 31.171524, 41.562035, 51.95254, 62.34305],
        "ContrastTransform": [0, 6.998946, 17.389456, 27.779963, 38.17047, 48.560978, 58.951485],
        "SaturationTransform": [0, 9.927756, 20.318266, 29.537249, 39.927757, 50.318264, 59.537247],
        "HueTransform": [0, 14, 20, 30, 44, 50, 60],
    }
    for name, values in wanted.items():
        np.random.seed(0)
        found = getattr(vision, name)(0.4)(image)
        apart = 1 if name == "HueTransform" else 1e-4  # hues of 1.8.5 are whole numbers
        assert found.dtype == image.dtype
        np.testing.assert_allclose(found.ravel()[:7], values, atol=apart)
    assert vision.HueTransform(0)(image) is image


def test_colours_are_changed_in_any_order_and_stay_in_range():
    vision = module("incubate.hapi.vision")
    image = np.random.default_rng(0).integers(0, 256, size=[4, 5, 3]).astype("uint8")
    jitter = vision.ColorJitter(0.9, 0.9, 0.9, 0.5)
    for _ in range(5):
        found = jitter(image)
        assert found.shape == image.shape and found.dtype == image.dtype
    with pytest.raises(ValueError, match="expected value to be a number from 0 to 0.5, got 0.6"):
        vision.ColorJitter(hue=0.6)
    with pytest.raises(ValueError, match="expected an image of shape"):
        jitter(image[..., 0])


@pytest.fixture
def six(monkeypatch):
    """The package as it is served where nothing else has it."""
    from fluidlite.compat import six as served

    kept = {name: m for name, m in sys.modules.items() if name.partition(".")[0] == "six"}
    for name in kept:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(sys, "meta_path", [served.SixFinder(), *sys.meta_path])
    yield importlib.import_module("six")
    served.forget()
    assert "six" not in sys.modules and "six.moves" not in sys.modules


def test_six_is_served_where_it_is_not_installed(six):
    assert six.PY3 and not six.PY2 and isinstance("a", six.string_types)
    assert sorted(six.iteritems({"a": 1})) == [("a", 1)] and list(six.itervalues({"a": 1})) == [1]
    assert six.b("a") == b"a" and six.ensure_str(b"a") == "a" and six.int2byte(7) == b"\x07"
    from six.moves import cPickle, reduce, urllib, xrange
    from six.moves.urllib.parse import urlparse

    assert list(xrange(2)) == [0, 1] and reduce(max, [1, 3]) == 3 and cPickle.loads
    assert urllib.parse.urlparse is urlparse
    with pytest.raises(ImportError):
        from six.moves import nothing_of_the_kind  # noqa: F401


def test_classes_get_their_metaclass_as_in_both_pythons(six):
    class Meta(type):
        pass

    @six.add_metaclass(Meta)
    class Made:
        __slots__ = ("a",)
        b = 1

    class Derived(six.with_metaclass(Meta, Made)):
        pass

    assert type(Made) is Meta and Made.b == 1 and type(Derived) is Meta
    with pytest.raises(ValueError, match="one") as caught:
        six.raise_from(ValueError("one"), KeyError("two"))
    assert isinstance(caught.value.__cause__, KeyError)
    with pytest.raises(KeyError):
        six.reraise(KeyError, None)


def test_tensors_are_made_as_scripts_of_the_time_make_them():
    core = module("fluid.core")
    with fluid.dygraph.guard():
        value = np.ones([2], "float32")
        made = core.VarBase(value=value, place=core.CPUPlace(), persistable=True, name="a")
        assert (made.name, made.persistable, made.shape) == ("a", True, [2])
        assert core.VarBase(value, core.CPUPlace()).shape == [2]
        kinds = core.VarDesc.VarType
        empty = core.VarBase(kinds.FP32, [2, 3], "b", kinds.LOD_TENSOR, True)
        assert (empty.name, empty.shape, str(empty.dtype)) == ("b", [2, 3], "float32")
        assert isinstance(made, core.VarBase) and type(made) == core.VarBase  # noqa: E721
        for wrong in ({"value": 3}, {"value": value, "shape": [2]}, {"value": value, "place": 1}):
            with pytest.raises(ValueError, match="expected VarBase of value"):
                core.VarBase(**wrong)


def test_a_tensor_is_read_and_written_as_a_variable_of_a_scope():
    with fluid.dygraph.guard():
        layer = fluid.dygraph.Linear(2, 2)
        x = fluid.dygraph.to_variable(np.ones([1, 2], "float32"))
        layer(x).backward()
        gradient = layer.weight._grad_ivar().value().get_tensor()
        assert np.array(gradient).tolist() == [[1.0, 1.0], [1.0, 1.0]] and gradient.shape() == [
            2,
            2,
        ]
        layer.weight.value().get_tensor().set(np.zeros([2, 2], "float32"), fluid.CPUPlace())
        assert layer(x).numpy().tolist() == layer.bias.numpy()[None].tolist()


def test_small_things_that_programs_reach():
    assert module("fluid.backward")._as_list((1, 2)) == [1, 2]
    assert module("fluid.backward")._as_list(None) == []
    assert module("fluid.backward")._as_list("a") == ["a"]
    assert module("fluid.backward")._append_grad_suffix_("a@GRAD") == "a@GRAD@GRAD"
    assert module("fluid.backward")._strip_grad_suffix_("a@GRAD@RENAME@0") == "a"
    executor = module("fluid.executor")
    assert executor._as_lodtensor(np.ones([2]), fluid.CPUPlace()).shape() == [2]
    kinds = module("fluid.core").VarDesc.VarType
    assert np.array(executor._as_lodtensor([1, 2], fluid.CPUPlace(), kinds.FP32)).dtype == "float32"
    with pytest.raises(ValueError, match="create_lod_tensor"):
        executor._as_lodtensor([[1], [2, 3]], fluid.CPUPlace())
    assert fluid.CPUPlace()._type() == 1 and fluid.CPUPlace()._equals(fluid.CPUPlace())
    auc = fluid.metrics.Auc("auc")
    auc.update(np.array([[0.3, 0.7], [0.6, 0.4]]), np.array([[1], [0]]))
    assert sum(auc._stat_pos) == sum(auc._stat_neg) == 1 and len(auc._stat_pos) == 4096
    program = fluid.Program()
    compiled = fluid.CompiledProgram(program)
    assert compiled._program is program and not compiled._is_data_parallel
    assert compiled.with_data_parallel(places=fluid.CPUPlace())._is_data_parallel
    assert compiled.device_count == 1


def test_a_loader_begins_again_behind_a_reset():
    x = fluid.data("x", [None, 2])
    loader = fluid.io.DataLoader.from_generator([x], capacity=2)
    batches = lambda: ([np.full([1, 2], k, "float32")] for k in range(3))
    loader.set_batch_generator(batches, places=fluid.CPUPlace())
    next(iter(loader()))
    loader._loader._reset()
    assert sum(1 for _ in loader()) == 3


@pytest.mark.parametrize("where", ["fluid", "fluid.data_feeder"])
def test_all_that_a_feeder_makes_are_tensors(where):
    x = fluid.data("x", [None, 2], "float32")
    ids = fluid.data("ids", [None, 1], "int64", lod_level=1)
    feeder = module(where).DataFeeder([x, ids], fluid.CPUPlace())
    rows = [([1, 2], [[3], [4]]), ([5, 6], [[7]])]
    (parallel,) = feeder.feed_parallel([rows], 1)
    (read,) = feeder.decorate_reader(lambda: iter([rows]), multi_devices=False)()
    for feed in (feeder.feed(rows), parallel, read):
        assert feed["x"].shape() == [2, 2] and feed["x"].lod() == []
        assert feed["ids"].lod() == [[0, 2, 3]] and isinstance(feed["ids"], fluid.LoDTensor)
        (out,) = fluid.Executor().run(feed=feed, fetch_list=[x * 2])
        assert out.tolist() == [[2, 4], [10, 12]]
