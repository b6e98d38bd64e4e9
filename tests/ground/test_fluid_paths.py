"""A port changes the first word of an import alone."""

import importlib
import sys
from types import ModuleType

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite.compat.names import listed, listed_modules

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
