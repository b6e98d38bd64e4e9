"""``paddle.base`` and its kin: names of the framework, in 2.6's meaning."""

import importlib
import sys

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite import compat, paddle
from fluidlite.compat import editions
from fluidlite.errors import ArgumentError, FileError, NoDeviceError, UnsupportedError, UsageError
from fluidlite.ground.module_tables import give_names, make_modules


@pytest.fixture
def served():
    compat.install(force=True)
    yield importlib.import_module("paddle")
    compat.uninstall()


def tabled():
    """The modules of paddle 2 whose names come from tables."""
    return [
        module
        for name, module in sorted(sys.modules.items())
        if name.startswith("fluidlite.paddle.") and "__getattr__" in vars(module)
    ]


def test_every_name_of_the_tables_is_there():
    assert len(tabled()) > 40
    for module in tabled():
        for name in module.__all__:
            getattr(module, name)


def test_the_names_of_base_choose_no_edition_1_8(served):
    base = importlib.import_module("paddle.base")
    assert base.framework.Program is paddle.static.Program
    assert paddle.float32 == base.core.VarDesc.VarType.FP32
    assert editions.edition() == "2.6"


def test_private_names_of_base_and_flags_are_served(served):
    assert served.base.framework._current_expected_place() == served.CPUPlace()
    assert "FLAGS_use_mkldnn" in served.get_flags("FLAGS_use_mkldnn")


def test_messages_of_program_files_are_those_of_protobuf(served):
    pytest.importorskip("google.protobuf")
    pb2 = importlib.import_module("paddle.base.proto.framework_pb2")
    with paddle.static.program_guard(paddle.static.Program()):
        paddle.static.data("x", [2, 3])
        data = paddle.static.default_main_program().desc.serialize_to_string()
    assert pb2.ProgramDesc.FromString(data).blocks[0].vars[0].type.type == pb2.VarType.LOD_TENSOR
    assert editions.edition() == "2.6"


def test_a_module_of_a_table_says_which_names_it_has():
    homes = {"one": {"unique_name": "generate"}, "one.two": {"unique_name": "make=generate"}}
    modules = make_modules("fluidlite.made_for_a_test", homes)
    try:
        assert modules["one"].two.make is paddle.utils.unique_name.generate
        assert dir(modules["one"]) == ["generate", "two"]
        with pytest.raises(AttributeError, match="did you mean 'generate'"):
            getattr(modules["one"], "generat")  # noqa: B009 (it is the look-up that is tested)
    finally:
        for name in homes:
            del sys.modules[f"fluidlite.made_for_a_test.{name}"]


def test_names_of_a_table_stand_beside_those_of_the_module():
    namespace = {"__name__": "module", "__all__": ["own"]}
    give_names(namespace, {"unique_name": "generate"})
    assert namespace["__all__"] == ["own", "generate"]


def test_the_guard_of_dygraph_makes_tensors_and_counts_names_anew():
    paddle.enable_static()
    assert not paddle.base.in_dygraph_mode()
    paddle.utils.unique_name.generate("fc")
    with paddle.base.dygraph.guard():
        assert paddle.base.dygraph.enabled() and paddle.in_dynamic_mode()
        assert paddle.utils.unique_name.generate("fc") == "fc_0"
        x = paddle.base.dygraph.to_variable(np.ones([2], "float32"), name="x", dtype="float64")
        assert (x.name, x.numpy().dtype, x.stop_gradient) == ("x", "float64", True)
        assert paddle.base.dygraph.to_variable(x) is x
    assert paddle.utils.unique_name.generate("fc") == "fc_1"
    paddle.base.enable_dygraph()
    assert paddle.in_dynamic_mode()
    paddle.base.disable_dygraph()
    assert not paddle.in_dynamic_mode()


def test_a_program_and_its_optimizer_get_gradients_at_once():
    paddle.enable_static()
    main = paddle.static.Program()
    with paddle.static.program_guard(main):
        x = paddle.static.data("x", [None, 3])
        paddle.mean(paddle.static.nn.fc(x, 2, bias_attr=False))
    updates, pairs = paddle.base.backward.gradients_with_optimizer(main, paddle.optimizer.SGD(0.1))
    assert [op.type for op in updates] == ["sgd"]
    assert [(p.name, g.shape) for p, g in pairs] == [("fc_0.w_0", (3, 2))]
    x.stop_gradient = False
    assert paddle.base.backward.calc_gradient(x * 2.0, x).shape == x.shape


def test_arrays_of_tensors_are_lists_in_dynamic_mode():
    one, place = paddle.ones([2]), paddle.zeros([1], "int64")
    array = paddle.tensor.create_array("float32", [one])
    assert array == [one] and paddle.tensor.array_length(array) == 1
    paddle.tensor.array_write(one * 2.0, place + 1, array)
    assert paddle.tensor.array_read(array, place + 1).tolist() == [2.0, 2.0]
    for wrong in (3, [3]):
        with pytest.raises(ArgumentError):
            paddle.tensor.create_array("float32", wrong)


def test_arrays_of_tensors_are_variables_in_static_mode():
    paddle.enable_static()
    array = paddle.tensor.create_array("float32", [paddle.ones([2]), paddle.zeros([3])])
    length = paddle.tensor.array_length(array)
    first = paddle.tensor.array_read(array, paddle.zeros([1], "int64"))
    found = paddle.static.Executor().run(fetch_list=[length, first])
    assert [each.tolist() for each in found] == [[2], [1.0, 1.0]]


def batches():
    """A pass of two batches: a tensor of float32, and one of int64."""
    for number in range(2):
        yield np.full([2, 3], number, "float32"), np.array([number, 1])


def test_loaders_of_generators_give_tensors_in_dynamic_mode():
    loader = paddle.base.io.DataLoader.from_generator(capacity=2, return_list=False)
    loader.set_batch_generator(batches)
    found = [[(type(x), x.dtype, x.tolist()[0]) for x in batch] for batch in loader()]
    tensor = paddle.Tensor
    assert found[1] == [(tensor, paddle.float32, [1.0] * 3), (tensor, paddle.int64, 1)]
    reader = paddle.base.io.PyReader(capacity=2)
    reader.decorate_sample_generator(lambda: iter([(np.ones(3), 1)] * 3), batch_size=2)
    assert [[x.shape for x in batch] for batch in reader()] == [[[2, 3], [2]]]


def test_loaders_of_generators_feed_programs_in_static_mode():
    paddle.enable_static()
    with pytest.raises(ArgumentError, match="feed_list"):
        paddle.base.io.DataLoader.from_generator(capacity=2)
    x, y = paddle.static.data("x", [None, 3]), paddle.static.data("y", [2], "int64")
    for make in (paddle.base.io.DataLoader.from_generator, paddle.base.io.PyReader):
        reader = make([x, y], capacity=2)
        reader.set_batch_generator(batches)
        assert [sorted(step) for (step,) in reader()] == [["x", "y"]] * 2


def test_variables_say_whether_they_are_parameters():
    paddle.enable_static()
    assert paddle.static.create_parameter([2], "float32").is_parameter
    assert not paddle.static.data("x", [2]).is_parameter


def test_files_in_memory_have_days_passes_and_another_order(tmp_path):
    (tmp_path / "a").write_text("".join(f"1 {n}\n" for n in range(20)))
    paddle.enable_static()
    files = paddle.base.DatasetFactory().create_dataset("InMemoryDataset")
    files.set_use_var([paddle.static.data("x", [None, 1], "int64")])
    files.set_filelist([str(tmp_path / "a")])
    assert files.get_pass_id() == 0
    files.set_pass_id(3)
    assert files.get_pass_id() == 3
    files.set_date("20261126")
    with pytest.raises(ValueError, match="a day such as"):
        files.set_date("yesterday")
    files.load_into_memory(is_shuffle=True)
    numbers = [int(np.array(feed["x"])[0, 0]) for feed in files.feeds()]
    assert sorted(numbers) == list(range(20)) != numbers


def test_random_numbers_go_back_to_a_state():
    paddle.seed(3)
    state = paddle.get_rng_state()
    first, second = paddle.rand([3]), paddle.randn([2])
    paddle.set_rng_state(state)
    assert paddle.rand([3]).tolist() == first.tolist()
    assert paddle.framework.random.get_rng_state("cpu") is not state
    assert paddle.randn([2]).tolist() == second.tolist()
    assert paddle.get_cuda_rng_state() == []
    for wrong in ([], [3]):
        with pytest.raises((ValueError, TypeError)):
            paddle.set_rng_state(wrong)
    with pytest.raises(ValueError):
        paddle.get_rng_state("gpu")


def test_a_seed_gives_the_generator_that_numbers_come_from():
    generator = paddle.seed(5)
    assert isinstance(generator, paddle.base.core.Generator)
    assert generator.random() == 16972002476604841463  # as paddle 2.6.2 draws
    standing, first = generator.get_state(), paddle.rand([2]).tolist()
    generator.set_state(standing)
    assert paddle.rand([2]).tolist() == first
    assert generator.manual_seed(5).initial_seed() == 5
    assert generator.seed() == generator.initial_seed() != 5
    fluid.seed(3)
    assert 0 <= generator.random() < 2**64
    with pytest.raises(ValueError, match="get_rng_state"):
        generator.set_state(3)


def test_parameters_of_a_lazy_guard_are_drawn_when_they_are_told_to():
    with paddle.LazyGuard():
        layer = paddle.nn.Linear(2, 3)
    assert not layer.weight.numpy().any()
    layer.weight.initialize()
    assert layer.weight.numpy().any()
    with pytest.raises(UsageError):
        layer.weight.initialize()
    assert paddle.nn.Linear(2, 3).weight.numpy().any()


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_limits_of_fractions(dtype):
    limits, numpys = paddle.finfo(dtype), np.finfo(dtype)
    for name in ("min", "max", "eps", "smallest_normal", "tiny", "bits"):
        assert getattr(limits, name) == getattr(numpys, name)
    assert limits.dtype == dtype and limits.resolution == float(str(numpys.resolution))


def test_limits_of_integers_and_of_other_types():
    assert repr(paddle.iinfo("uint8")) == "paddle.iinfo(min=0, max=255, bits=8, dtype=uint8)"
    for limits, wrong in [
        (paddle.iinfo, "float32"),
        (paddle.finfo, "int8"),
        (paddle.iinfo, "bool"),
    ]:
        with pytest.raises(ValueError):
            limits(wrong)


def test_the_cpu_is_the_one_device_and_has_no_streams():
    device = paddle.device
    assert device.get_all_device_type() == device.get_available_device() == []
    assert device.cuda.device_count() == device.xpu.device_count() == 0
    device.cuda.empty_cache()
    with device.stream_guard():
        assert device.set_device("CPU") == paddle.CPUPlace()
    refused = [
        (ValueError, lambda: device.set_device("gpu")),
        (TypeError, device.Stream),
        (ValueError, lambda: device.Event("gpu")),
        (TypeError, device.current_stream),
        (TypeError, device.synchronize),
        (RuntimeError, device.cuda.Stream),
        (RuntimeError, device.cuda.synchronize),
        (RuntimeError, lambda: device.cuda.stream_guard(None)),
        (ValueError, device.cuda.get_device_properties),
        (ValueError, lambda: device.cuda.memory_allocated(0)),
        (RuntimeError, device.xpu.synchronize),
    ]
    for expected, call in refused:
        with pytest.raises(expected) as error:
            call()
        assert isinstance(error.value, NoDeviceError)
    for call in (device.IPUPlace, lambda: device.XPUPlace(0)):
        with pytest.raises(NoDeviceError):
            call()


def test_versions_are_those_of_2_6():
    paddle.utils.require_version("2.6.2", "2.6.2.0")
    for least, most in [("2.7", None), ("2.0", "2.5")]:
        with pytest.raises(Exception, match=r"paddle 2\.6\.2"):
            paddle.base.require_version(least, most)
    with pytest.raises(ValueError):
        paddle.utils.require_version("a")


def test_modules_are_tried_and_functions_are_left_as_they_are():
    assert paddle.utils.try_import("json").loads("3") == 3
    with pytest.raises(ImportError, match="get it"):
        paddle.utils.try_import("no_such_module", "get it")
    assert paddle.utils.deprecated(since="2.0", level=2)(len) is len
    assert paddle.disable_signal_handler() is None


def test_shapes_are_checked_in_static_mode_only():
    paddle.check_shape(3, "reshape")
    paddle.enable_static()
    sizes, rates = paddle.full([2], 1, "int64"), paddle.full([2], 1.0, "float32")
    for right in ([2, -1], (2, 3), [], sizes, [sizes, 2]):
        paddle.base.data_feeder.check_shape(right, "reshape")
    for wrong in ([2.0], 3, "a", [None], np.array([2]), rates, [rates]):
        with pytest.raises(TypeError, match=r"^reshape: expected "):
            paddle.check_shape(wrong, "reshape")


def test_elements_are_lists():
    assert paddle.tolist(paddle.to_tensor(3)) == 3
    with pytest.raises(ArgumentError):
        paddle.tolist([1])


def test_tensors_go_through_capsules():
    x = paddle.to_tensor([[1, 2], [3, 4]], "int64")
    again = paddle.utils.dlpack.from_dlpack(paddle.utils.dlpack.to_dlpack(x))
    assert again.tolist() == x.tolist() and again.dtype == x.dtype
    for call in (paddle.utils.dlpack.to_dlpack, paddle.utils.dlpack.from_dlpack):
        with pytest.raises(TypeError):
            call(np.ones(2))


def test_weights_are_those_that_are_there(tmp_path, monkeypatch):
    download = paddle.utils.download
    monkeypatch.setattr(download, "WEIGHTS_HOME", str(tmp_path))
    url = "https://example.com/a/net.pdparams?b=1"
    with pytest.raises(FileError, match=r"net\.pdparams: expected the file of"):
        download.get_weights_path_from_url(url)
    (tmp_path / "net.pdparams").write_bytes(b"weights")
    found = download.get_weights_path_from_url(url, "63f4f1e9b725370f459720575cd5f953")
    assert found == str(tmp_path / "net.pdparams")
    with pytest.raises(FileError, match="another MD5"):
        download.get_weights_path_from_url(url, "00")
    with pytest.raises(AssertionError):
        download.get_weights_path_from_url("net.pdparams")


def test_models_of_a_folder(tmp_path):
    (tmp_path / "hubconf.py").write_text(
        "dependencies = ['json']\n"
        "class Net:\n    'A net.'\n"
        "def pair(a=1, b=2):\n    'Two numbers.'\n    return a, b\n"
        "def _inner():\n    pass\n"
        "number = 3\n"
    )
    folder = str(tmp_path)
    assert paddle.hub.list(folder, source="local") == ["Net", "pair"]
    assert paddle.hub.help(folder, "Net", source="local") == "A net."
    assert paddle.hub.load(folder, "pair", source="local", a=5) == (5, 2)
    for name in ("number", "nothing"):
        with pytest.raises(RuntimeError):
            paddle.hub.load(folder, name, source="local")
    for source, expected in [("github", UnsupportedError), ("web", ValueError)]:
        with pytest.raises(expected):
            paddle.hub.list(folder, source=source)
    with pytest.raises(ValueError):
        paddle.hub.load(folder, 3, source="local")
    with pytest.raises(FileError):
        paddle.hub.list(str(tmp_path / "none"), source="local")
    (tmp_path / "hubconf.py").write_text("dependencies = ['no_such_module']\ndef net(): pass\n")
    with pytest.raises(RuntimeError, match="no_such_module"):
        paddle.hub.load(folder, "net", source="local")


def test_a_module_whose_name_is_a_functions_is_imported_by_its_path(served):
    for path in ("text.viterbi_decode", "amp.auto_cast", "onnx.export", "tensor.einsum"):
        package, _, name = path.rpartition(".")
        module = importlib.import_module(f"paddle.{path}")
        function = getattr(importlib.import_module(f"paddle.{package}"), name)
        assert module is sys.modules[f"paddle.{path}"]
        assert callable(function) and getattr(module, name) is function, path


def test_modules_that_hold_names_of_a_package_hold_the_same_ones(served):
    unary = importlib.import_module("paddle.sparse.unary")
    operators = importlib.import_module("paddle.incubate.operators")
    assert unary.sinh is served.sparse.sinh and "sinh" in dir(unary)
    assert operators.graph_reindex is served.incubate.graph_reindex
    assert importlib.import_module("paddle.geometric.message_passing.send_recv").send_uv
    assert importlib.import_module("fluidlite.paddle.geometric.math").segment_sum


def test_a_module_that_another_one_gives_is_one_module(served):
    framework = importlib.import_module("paddle.base.framework")
    assert framework.core is importlib.import_module("paddle.base.core")
