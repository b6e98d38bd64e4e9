"""Old names of modules go on working."""

import importlib
import pickle

import pytest

import fluidlite as fluid
from fluidlite.ground.moved_modules import MOVED


@pytest.mark.parametrize("old", MOVED)
def test_an_old_name_gives_the_module_itself(old):
    module = importlib.import_module(f"fluidlite.{old}")
    assert module is importlib.import_module(f"fluidlite.{MOVED[old]}")
    assert module.__name__ == module.__spec__.name == f"fluidlite.{MOVED[old]}"


def test_modules_below_a_moved_package_are_found():
    from fluidlite.imperative.engine import grad
    from fluidlite.imperative.tensor import Tensor

    assert grad.__module__.startswith("fluidlite")
    assert Tensor is fluid.Tensor


def test_what_was_pickled_under_an_old_name_is_read():
    assert pickle.loads(b"cfluidlite.place\nCPUPlace\n.") is fluid.CPUPlace


def test_a_module_that_never_was_there_is_not_found():
    with pytest.raises(ModuleNotFoundError, match="fluidlite.dtypes_of"):
        importlib.import_module("fluidlite.dtypes_of")
