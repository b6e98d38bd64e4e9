"""The public names are those of a list: none goes, and none comes, by accident.

``python -m pytest tests/api/test_public_names.py --update-golden`` writes the list anew.
"""

import importlib
import inspect
from pathlib import Path

import pytest

LIST = Path(__file__).with_name("public_names.txt")
MODULES = (
    "fluidlite", "fluidlite.autograd", "fluidlite.backward", "fluidlite.clip",
    "fluidlite.distributed", "fluidlite.dygraph", "fluidlite.errors", "fluidlite.export",
    "fluidlite.flow", "fluidlite.flow.nn", "fluidlite.flow.nn.functional",
    "fluidlite.flow.optim", "fluidlite.initializer", "fluidlite.inspect", "fluidlite.io",
    "fluidlite.jax", "fluidlite.layers", "fluidlite.metrics", "fluidlite.model.callbacks",
    "fluidlite.nets", "fluidlite.nn", "fluidlite.nn.functional", "fluidlite.onnx",
    "fluidlite.optimizer", "fluidlite.profiler", "fluidlite.reader", "fluidlite.regularizer",
    "fluidlite.runtime.passes", "fluidlite.transform", "fluidlite.unique_name",
)  # fmt: skip


def public(module):
    """The names that a module offers: those of ``__all__``, or what is not private."""
    names = getattr(module, "__all__", None)
    if names is None:
        names = [n for n in dir(module) if not n.startswith("_")]
        names = [n for n in names if not inspect.ismodule(getattr(module, n, None))]
    return sorted(set(names))


def listed():
    """Module -> names, as they were recorded."""
    lines = LIST.read_text(encoding="utf-8").splitlines()
    return {module: names.split() for module, _, names in (line.partition(": ") for line in lines)}


@pytest.fixture(scope="module")
def names():
    return {name: public(importlib.import_module(name)) for name in MODULES}


def test_no_public_name_goes_or_comes_by_accident(names, request):
    if request.config.getoption("--update-golden"):
        text = "".join(f"{module}: {' '.join(each)}\n" for module, each in names.items())
        LIST.write_text(text, encoding="utf-8")
    assert names == listed()
