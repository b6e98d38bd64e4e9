"""The modules and names of fluid 1.8, served without a package of that name."""

import copy
import importlib
import inspect
import os
import pickle
import sys

import numpy as np
import pytest

import fluidlite
from fluidlite import compat
from fluidlite.compat.alias import AliasModule
from fluidlite.compat.names import listed, listed_modules
from fluidlite.compat.refused import is_refused


def test_paddle_is_there_while_the_alias_is_installed():
    compat.install(force=True)
    try:
        fluid = importlib.import_module("paddle.fluid")
        assert fluid.layers.fc is fluidlite.layers.fc
        assert compat.installed()
    finally:
        compat.uninstall()
    assert not [name for name in sys.modules if name.split(".")[0] == "paddle"]
    assert not compat.installed()


def test_installing_twice_is_installing_once(alias):
    finders = len(sys.meta_path)
    compat.install()
    assert len(sys.meta_path) == finders


def test_uninstalling_leaves_the_environment_as_it_was():
    before = dict(os.environ)
    compat.install(force=True)
    assert os.environ["PYTHONPATH"].endswith("child")
    compat.uninstall()
    assert dict(os.environ) == before


def test_what_looks_at_values_while_a_data_set_is_trained_on_is_there(alias):
    executor = importlib.import_module("paddle.fluid.executor")
    assert executor.FetchHandler({"x": "x"}).period_secs == 60


def test_uninstalling_leaves_the_import_system_as_it_was():
    before = list(sys.meta_path)
    compat.install(force=True)
    compat.uninstall()
    assert sys.meta_path == before


def test_a_module_that_is_read_anew_knows_what_is_installed(alias):
    before = dict(vars(compat))
    try:
        importlib.reload(compat)
        assert compat.installed()
        compat.uninstall()
        assert "paddle" not in sys.modules and not compat.installed()
    finally:
        vars(compat).update(before)


def test_the_alias_is_refused_where_a_real_paddle_can_be_imported(tmp_path, monkeypatch):
    (tmp_path / "paddle").mkdir()
    (tmp_path / "paddle" / "__init__.py").write_text("other = True\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(compat.AliasError, match="force=True"):
        compat.install()
    assert not compat.installed()
    compat.install(force=True)
    try:
        assert not hasattr(importlib.import_module("paddle"), "other")
    finally:
        compat.uninstall()


@pytest.mark.parametrize("module", listed_modules())
def test_each_module_answers_every_name_that_it_answered(alias, module):
    found = importlib.import_module(module)
    assert isinstance(found, AliasModule)
    for name in listed(module).names:
        getattr(found, name)
    assert set(listed(module).names) <= set(dir(found))


def test_what_is_refused_is_of_the_kind_that_it_was(alias):
    for module in listed_modules():
        found = importlib.import_module(module)
        for name, entry in listed(module).names.items():
            value = getattr(found, name)
            if is_refused(value) and entry.kind == "class":
                assert isinstance(value, type), (module, name)
            elif is_refused(value) and entry.kind == "function":
                assert inspect.isfunction(value), (module, name)


def test_a_star_import_takes_what_it_took(alias):
    names = {}
    exec("from paddle.fluid.layers import *", names)
    assert names["fc"] is fluidlite.layers.fc
    assert names["range"] is fluidlite.layers.range
    assert set(listed("paddle.fluid.layers").public) <= set(names)


def test_a_star_import_of_a_module_without_all_takes_its_public_names(alias):
    names = {}
    exec("from paddle.fluid.framework import *", names)
    assert names["Program"] is fluidlite.Program
    assert "_main_program_" not in names
    names = {}
    exec("from paddle.fluid.layer_helper import *", names)
    assert names["LayerHelper"] is fluidlite.layer_helper.LayerHelper
    assert names["unique_name"].generate


def test_a_name_that_never_was_is_an_attribute_error_with_a_suggestion(alias):
    fluid = importlib.import_module("paddle.fluid")
    with pytest.raises(AttributeError, match="did you mean 'embedding'"):
        _ = fluid.layers.embeding
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("paddle.fluid.nothing")


def test_a_function_is_not_hidden_by_the_module_of_its_name(alias):
    module = importlib.import_module("paddle.fluid.data")
    fluid = importlib.import_module("paddle.fluid")
    assert fluid.data is fluidlite.data and module.data is fluidlite.data
    batch = importlib.import_module("paddle.batch")
    assert importlib.import_module("paddle").batch is batch.batch


def test_a_program_may_replace_a_name(alias):
    fluid = importlib.import_module("paddle.fluid")
    fluid.layers.fc = len
    assert fluid.layers.fc is len
    assert fluidlite.layers.fc is not len


def test_the_default_programs_are_properties_of_a_module(alias):
    framework = importlib.import_module("paddle.fluid.framework")
    assert framework._main_program_ is fluidlite.default_main_program()
    program = fluidlite.Program()
    framework._main_program_ = program
    assert fluidlite.default_main_program() is program
    framework._startup_program_ = program
    assert fluidlite.default_startup_program() is program
    assert framework._dygraph_tracer_ is None
    with fluidlite.dygraph.guard():
        assert framework._dygraph_tracer_ is not None
        assert framework._dygraph_tracer() is not None


def test_the_maker_of_names_is_a_property_of_a_module(alias):
    names = importlib.import_module("paddle.fluid.unique_name")
    with names.guard("a_"):
        assert names.generator is fluidlite.unique_name.current()
        assert names.generate_with_ignorable_key("b") == "a_b_0"
    assert isinstance(names.generator, names.UniqueNameGenerator)


def test_the_scope_of_executors_is_the_global_one(alias):
    executor = importlib.import_module("paddle.fluid.executor")
    assert executor.g_scope is fluidlite.global_scope()


def test_tensors_are_variables_under_the_alias(alias):
    fluid = importlib.import_module("paddle.fluid")
    variable = fluid.data("x", [None, 3], "float32")
    assert isinstance(variable, fluid.Variable)
    assert not isinstance(3, fluid.Variable)
    with fluid.dygraph.guard():
        tensor = fluid.dygraph.to_variable(np.ones([2], "float32"))
        layer = fluid.dygraph.Linear(2, 2)
    assert isinstance(tensor, fluid.Variable)
    assert isinstance(tensor, fluid.core.VarBase)
    assert isinstance(layer.weight, fluid.framework.Parameter)
    assert not isinstance(tensor, fluid.framework.Parameter)
    assert issubclass(type(variable), fluid.framework.Variable)
    assert issubclass(fluid.framework.Parameter, fluid.framework.Variable)
    assert type(variable) == fluid.framework.Variable != fluid.framework.Parameter  # noqa: E721
    assert {fluid.Variable: 1}[fluid.framework.Variable] == 1
    made = fluid.framework.Variable(fluid.default_main_program().block(0), name="made")
    assert type(made) is type(variable)


def test_fluid_tensor_is_the_lod_tensor_of_then(alias):
    fluid = importlib.import_module("paddle.fluid")
    assert fluid.Tensor is fluid.LoDTensor is fluid.core.LoDTensor
    assert fluidlite.Tensor is not fluid.Tensor


def test_objects_and_functions_can_be_pickled_and_copied(alias):
    fluid = importlib.import_module("paddle.fluid")
    for value in (
        fluid.layers.fc,
        fluid.ParamAttr,
        fluid.CPUPlace(),
        fluid.io.batch,
        fluid.core.VarDesc.VarType.FP32,
        fluid.transpiler.DistributeTranspiler,
    ):
        again = pickle.loads(pickle.dumps(value))
        assert again is value or again == value
    assert copy.deepcopy(fluid.ParamAttr(name="w")).name == "w"


def test_a_pickle_that_names_modules_of_fluid_is_read_under_the_alias(alias):
    assert pickle.loads(b"cpaddle.fluid.framework\nProgram\n.") is fluidlite.Program


def test_modules_can_be_inspected(alias):
    fluid = importlib.import_module("paddle.fluid")
    assert "def fc" in inspect.getsource(fluid.layers.fc)
    assert inspect.signature(fluid.layers.mean).parameters
    assert dict(inspect.getmembers(fluid))["Executor"] is fluidlite.Executor
    assert inspect.ismodule(fluid) and "paddle.fluid" in repr(fluid)


def test_modules_of_the_library_are_served_by_their_name(alias):
    nn = importlib.import_module("paddle.fluid.layers.nn")
    assert nn.np is np
    assert importlib.import_module("paddle.fluid.core_avx").Scope is not None


def test_versions_are_those_of_1_8(alias):
    paddle = importlib.import_module("paddle")
    assert paddle.__version__ == paddle.version.full_version == "1.8.5"
    paddle.enable_static()
    assert not paddle.in_dynamic_mode()


def test_gpus_are_named_and_the_cpu_is_used(alias):
    fluid = importlib.import_module("paddle.fluid")
    assert fluid.is_compiled_with_cuda() is False
    with pytest.warns(compat.CompatWarning, match="CUDAPlace is the CPU") as told:
        place = fluid.CUDAPlace(1)
    assert told[0].filename == __file__
    assert place.get_device_id() == 1
    fluid.CUDAPlace(0)  # one warning is enough
    x = fluid.data("x", [None, 3], "float32")
    y = fluid.layers.scale(x, 2.0)
    (out,) = fluid.Executor(place).run(feed={"x": np.ones([1, 3], "float32")}, fetch_list=[y])
    assert out.tolist() == [[2.0, 2.0, 2.0]]


@pytest.mark.parametrize("name", ["memory_optimize", "release_memory"])
def test_what_saved_memory_does_nothing_and_says_so(alias, name):
    fluid = importlib.import_module("paddle.fluid")
    with pytest.warns(compat.CompatWarning, match="does nothing"):
        getattr(fluid, name)(fluid.default_main_program())
    assert getattr(fluid.transpiler, name) is getattr(fluid, name)


def test_errors_are_caught_by_the_classes_of_then(alias):
    fluid = importlib.import_module("paddle.fluid")
    exe = fluid.Executor(fluid.CPUPlace())
    x = fluid.data("x", [None, 3], "float32")
    y = fluid.layers.fc(x, 2)
    with pytest.raises(fluid.core.EnforceNotMet):
        exe.run(feed={"x": np.ones([1, 3], "float32")}, fetch_list=[y])
    with pytest.raises(ValueError):
        exe.run(feed={"x": np.ones([1, 4], "float32")}, fetch_list=[y])
    with pytest.raises(TypeError):
        fluid.layers.fc("x", 2)
    assert issubclass(fluid.core.EOFException, Exception)


def test_a_module_that_was_kept_answers_names_that_nobody_asked_for_before(tmp_path, monkeypatch):
    compat.install(force=True)
    paddle = importlib.import_module("paddle")
    kept = importlib.import_module("paddle.fluid")
    layers = kept.layers
    compat.uninstall()
    (tmp_path / "paddle").mkdir()
    (tmp_path / "paddle" / "__init__.py").write_text("raise AssertionError('a real one')\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert kept.layers is layers
    assert kept.layers.nn.fc is layers.fc is fluidlite.layers.fc  # of a module of 1.8
    assert kept.optimizer.Adam is fluidlite.optimizer.Adam
    assert paddle.dataset.mnist.train is paddle.dataset.mnist.train
    assert paddle.fluid is kept
    assert kept.layers.nn.__spec__.name == kept.layers.nn.__name__ == "paddle.fluid.layers.nn"
    with pytest.raises(AttributeError, match="no attribute 'convv'"):
        kept.layers.convv  # noqa: B018
    assert not [name for name in sys.modules if name.split(".")[0] == "paddle"]


def test_a_module_that_was_kept_stays_apart_from_those_of_another_installation(alias):
    first = importlib.import_module("paddle.fluid")
    compat.uninstall()
    compat.install(force=True)
    second = importlib.import_module("paddle.fluid")
    assert first is not second
    assert first.io is first.io is not second.io
    assert second.io is sys.modules["paddle.fluid.io"]
    assert first.io.batch is second.io.batch
