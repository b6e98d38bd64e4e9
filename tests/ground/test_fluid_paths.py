"""A port changes the first word of an import alone."""

import functools
import importlib
import subprocess
import sys
from types import ModuleType

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.compat import alias
from fluidlite.compat.names import listed, listed_modules
from fluidlite.compat.refused import is_refused

MODULES = [name for name in listed_modules() if name.startswith("paddle.fluid.")]
#: 1.8's names that stand nowhere here, with reasons in docs/coverage.md
WITHOUT = ("contrib", "core", "framework", "incubate", "optimizer", "trainer", "transpiler")


def ours(module):
    return "fluidlite" + module.removeprefix("paddle.fluid")


@pytest.mark.parametrize("module", MODULES)
def test_every_module_path_of_fluid_imports(module):
    before = "paddle" in sys.modules
    imported = importlib.import_module(ours(module))
    assert isinstance(imported, ModuleType)
    entries = listed(module)
    names = entries.public or [
        n for n, e in entries.names.items() if e.kind in ("class", "function")
    ]
    lacking = {name for name in names if name[0] != "_" and not hasattr(imported, name)}
    assert not lacking - {"interpolate"} or ours(module).split(".")[1].startswith(WITHOUT), lacking
    assert ("paddle" in sys.modules) is before


def test_names_are_those_of_the_package():
    from fluidlite.dygraph.base import guard, to_variable
    from fluidlite.executor import Executor, global_scope
    from fluidlite.layers.control_flow import While
    from fluidlite.layers.nn import conv2d, fc
    from fluidlite.layers.tensor import fill_constant
    from fluidlite.transpiler.distribute_transpiler import DistributeTranspiler

    assert Executor is fluid.Executor
    assert global_scope is fluid.global_scope
    with guard():
        assert to_variable(np.ones(2)).shape == [2]
    assert (fc, conv2d, While) == (fluid.layers.fc, fluid.layers.conv2d, fluid.layers.While)
    assert fill_constant is fluid.layers.fill_constant
    assert DistributeTranspiler is fluid.DistributeTranspiler


def test_a_module_hides_no_function_of_its_name():
    from fluidlite.data import data
    from fluidlite.layers.rnn import GRUCell, rnn

    assert fluid.data is data
    assert fluid.layers.rnn is rnn
    assert GRUCell is fluid.layers.GRUCell


def test_what_fluid_had_not_is_not_found():
    with pytest.raises(ModuleNotFoundError, match=r"No module named 'fluidlite\.nonsense'"):
        importlib.import_module("fluidlite.nonsense")
    with pytest.raises(ImportError, match="cannot import name 'nonsense'"):
        from fluidlite.layers.nn import nonsense  # noqa: F401


#: below a function of the same name, or below a package of other things here
BESIDE = ("annotations", "contrib.slim", "data", "layers.rnn", "proto", "dygraph.backward_strategy")


@pytest.mark.parametrize("module", ["paddle.fluid", *MODULES])
def test_every_attribute_of_fluid_that_the_alias_serves_is_there(module):
    path = module.split(".")[2:]
    if ".".join(path).startswith(BESIDE):
        return
    found = functools.reduce(getattr, path, fluid)
    served = alias.of_fluid(".".join(path))
    for name, entry in listed(module).names.items():
        if entry.home and not entry.home.startswith("paddle"):
            continue  # of Python or NumPy
        expected = getattr(served, name)
        if not is_refused(expected) and not isinstance(expected, ModuleType):
            assert hasattr(found, name), name
            assert callable(getattr(found, name)) is callable(expected), name
        elif not is_refused(expected):
            assert isinstance(getattr(found, name), ModuleType) or callable(getattr(found, name))


def test_annotations_is_the_module_of_fluid_before_anybody_imports_it():
    code = "import fluidlite as fluid; print(fluid.annotations.deprecated.__name__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.strip() == "deprecated", done.stderr


def test_protected_names_and_modules_are_attributes():
    assert fluid.backward._as_list(1) == [1]
    assert fluid.op.Operator("scale", X="x", Out="y", scale=2.0).type() == "scale"
    assert fluid.dygraph.static_runner.StaticModelRunner.__name__ == "StaticModelRunner"
    assert fluid.core.VarBase is fluid.dygraph.layers.core.VarBase
    assert not hasattr(fluid.backward, "_nonsense")
    with pytest.raises(AttributeError, match="'fluidlite' has no attribute 'executer'"):
        fluid.executer  # noqa: B018


def test_what_only_fluid_has_is_read_when_it_is_asked_for():
    code = (
        "import sys, fluidlite as f; f.layers.fc, f.backward.append_backward; print(*sys.modules)"
    )
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert b"fluidlite.compat" not in loaded.stdout
