"""Python's own tools on the package: help, dir, completion, repr."""

import inspect
import pydoc
import re
import subprocess
import sys
import types

import numpy as np
import pytest

import fluidlite as fluid
from fluidlite import layers
from fluidlite.ground.public_names import public_names
from fluidlite.ground.reprs import Described, shown


@pytest.fixture(scope="module")
def modules():
    """The public modules by their names, as completion finds them."""
    found, waiting = {}, [fluid]
    while waiting:
        module = waiting.pop()
        if module.__name__ not in found:
            found[module.__name__] = module
            values = (getattr(module, name) for name in dir(module))
            waiting += [
                value
                for value in values
                if isinstance(value, types.ModuleType) and value.__name__.startswith("fluidlite")
            ]
    return dict(sorted(found.items()))


def test_the_public_modules_are_found(modules):
    assert len(modules) > 40
    expected = ["layers", "dygraph", "io", "optimizer", "nn", "nn.functional", "flow", "inspect"]
    assert {f"fluidlite.{name}" for name in expected} <= set(modules)


def test_dir_shows_public_names_only(modules):
    for name, module in modules.items():
        members = inspect.getmembers(module)
        assert [key for key, _ in members] == dir(module) == sorted(set(dir(module))), name
        for key, value in members:
            kind = value.__class__.__module__
            where = value.__name__ if isinstance(value, types.ModuleType) else kind
            where = getattr(value, "__module__", None) or where
            assert not key.startswith("_"), name
            is_own = where.startswith("fluidlite") or name.endswith("_pb2")  # classes of protobuf
            assert is_own or not callable(value), f"{name}.{key}"


def test_help_is_shown_of_public_modules(modules):
    for name, module in modules.items():
        if name != "fluidlite.layers" and not name.endswith("_pb2"):  # a second's work
            text = pydoc.plain(pydoc.render_doc(module))
            assert text.startswith("Python Library Documentation"), name


def test_import_star_gives_what_dir_shows(modules):
    code = """
import sys
for name in sys.argv[1:]:
    given = {}
    exec(f"from {name} import *", given)
    print(name, {*given} - {"__builtins__"} ^ {*dir(sys.modules[name])})
"""
    words = [sys.executable, "-c", code, *modules]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120)
    assert done.stdout.splitlines() == [f"{name} set()" for name in modules], done.stderr


def test_public_names_are_those_that_a_module_lists_or_defines():
    module = types.ModuleType("made")
    exec(
        "import os\nfrom math import sin\ndef f(): pass\nclass C: pass\ndef _g(): pass",
        vars(module),
    )
    assert public_names(vars(module)) == ["f", "C"]
    module.__all__ = ["sin"]
    assert public_names(vars(module)) == ["sin"]


def test_every_public_class_says_what_its_objects_are(modules):
    members = [getattr(module, name) for module in modules.values() for name in dir(module)]
    plain = [
        kind.__name__
        for kind in {each for each in members if isinstance(each, type)}
        if kind.__repr__ is object.__repr__ and "__init__" in vars(kind)
    ]
    assert not plain


def objects():
    x = fluid.data("x", [None, 3])
    sgd = fluid.optimizer.SGD(0.1)
    decay, clip = fluid.regularizer.L2Decay(0.5), fluid.clip.GradientClipByNorm(2.0)
    return [
        (fluid.Executor(fluid.CPUPlace()), "Executor(place=CPUPlace)"),
        (fluid.CUDAPlace(1), "CUDAPlace(device_id=1)"),
        (fluid.ParamAttr("w", learning_rate=2.0), "ParamAttr(name='w', learning_rate=2.0)"),
        (fluid.DataFeeder([x], fluid.CPUPlace()), "DataFeeder(feed_list=[x], place=CPUPlace)"),
        (fluid.io.PyReader([x], 8), "PyReader(feed_list=[x], capacity=8)"),
        (fluid.io.BatchSampler(range(8), batch_size=4), "BatchSampler(batch_size=4)"),
        (fluid.metrics.Auc("area"), "Auc(name='area')"),
        (sgd, "SGD(learning_rate=0.1)"),
        (
            fluid.optimizer.Adam(0.1, beta1=0.8, regularization=decay, grad_clip=clip),
            f"Adam(learning_rate=0.1, beta1=0.8, regularization={decay!r}, grad_clip={clip!r})",
        ),
        (fluid.optimizer.Lamb(0.1, 0.02), "Lamb(learning_rate=0.1, lamb_weight_decay=0.02)"),
        (fluid.optimizer.ModelAverage(0.15), "ModelAverage(average_window_rate=0.15)"),
        (fluid.optimizer.LookaheadOptimizer(sgd), f"LookaheadOptimizer(inner_optimizer={sgd})"),
        (fluid.dygraph.NoamDecay(64, 10), "NoamDecay(d_model=64.0, warmup_steps=10.0, step_num=1)"),
        (fluid.initializer.NumpyArrayInitializer(np.zeros([2, 3])), "float64[2, 3]"),
        (layers.While(layers.less_than(x, x), name="w"), "While(cond=less_than_0.tmp_0, name='w')"),
        (fluid.callbacks.ModelCheckpoint(2, "d"), "ModelCheckpoint(save_freq=2, save_dir='d')"),
        (fluid.metric.Accuracy(topk=(1, 2)), "Accuracy(topk=[1, 2], name='acc')"),
    ]


def test_objects_are_shown_with_what_sets_them_up(monkeypatch):
    def condition(given, what):
        return given

    monkeypatch.setattr("fluidlite.layers.loop.checked_condition", condition)
    for value, text in objects():
        assert text in repr(value)
        assert not re.search(r" object at 0x", repr(value))


class Tool(Described):
    _shown = "size=_sizes.height hidden= extra=extra"

    def __init__(self, size, hidden=1, kind="plain"):
        self._sizes, self.hidden, self.kind = {"height": size}, hidden, kind
        self.extra = None


def test_a_description_follows_the_signature():
    assert repr(Tool(3)) == "Tool(size=3)"
    assert repr(Tool([1] * 9, 2, "other")) == "Tool(size=[1, 1, 1, 1, 1, 1, ...], kind='other')"
    tool = Tool(np.ones(2))
    tool.extra = {"a": len, "b": (1,)}
    assert repr(tool) == "Tool(size=float64[2], extra={'a': len, 'b': (1,)})"


def test_long_values_are_shown_by_their_class():
    assert shown("a" * 99) == "<str>"
    assert shown({3, 1, 2}) == "{1, 2, 3}"


def test_show_config_prints_and_gives_what_it_printed(capsys):
    found = fluid.show_config()
    assert capsys.readouterr().out == f"{found}\n"
    assert repr(found).count("\n") == 0
