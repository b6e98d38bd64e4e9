"""Names and behaviours that Python and NumPy have dropped, there again within old programs only."""

import collections
import importlib
import inspect
import math
import os
import string
import sys
import time
import types
import warnings

import numpy as np
import pytest

from fluidlite import compat
from fluidlite.compat import dropped, rewriting
from fluidlite.compat.served import CompatWarning


@pytest.fixture
def old():
    compat.install(force=True, dropped_names=True)
    yield
    compat.uninstall()


def run(text):
    names = {"np": np, "math": math}
    exec(rewriting.compiled(text, "<old>"), names)
    return names


GONE = [
    (module, name)
    for module, names in dropped.DROPPED.items()
    for name in names
    if dropped.is_dropped(module, name) and name != "VisibleDeprecationWarning"
]


@pytest.mark.parametrize("module, name", GONE)
def test_a_dropped_name_is_there_again_with_one_notice(old, module, name):
    held = importlib.import_module(module)
    with pytest.warns(CompatWarning, match=name) as told:
        value = getattr(held, name)
    assert told[0].filename == __file__
    if name not in ("in1d", "trapz", "find_common_type", "typeDict"):
        assert value is getattr(held, name) or value == value
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        getattr(held, name)


def test_dropped_names_mean_what_they_meant(old):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert np.zeros(2, np.int).dtype == np.dtype(int)
        assert np.float is float and np.object is object
        assert isinstance([], collections.Iterable)
        assert time.clock() > 0
        assert inspect.getargspec(lambda a, b=1: 0) == (["a", "b"], None, None, (1,))
        assert string.letters == string.ascii_letters
        assert sys.maxint == sys.maxsize
        assert os.errno.ENOENT == 2


def test_numbers_of_numpy_print_as_they_did(old):
    shown = "[1.0, 2, True] {'loss': 0.5}"
    found = [np.float64(1), np.int64(2), np.bool_(True)], {"loss": np.float32(0.5)}
    assert f"{found[0]} {found[1]}" == shown
    compat.uninstall()
    is_new = np.lib.NumpyVersion(np.__version__) >= "2.0.0"
    assert (f"{found[0]} {found[1]}" == shown) is not is_new


def test_nothing_stays_when_the_alias_is_uninstalled():
    modules = [importlib.import_module(name) for name in dropped.DROPPED]
    before = [dict(vars(module)) for module in modules]
    finders = list(sys.meta_path)
    compat.install(force=True, dropped_names=True)
    assert vars(np)["__getattr__"] is not before[0]["__getattr__"]
    with pytest.warns(CompatWarning):
        assert time.clock
    compat.uninstall()
    assert [dict(vars(module)) for module in modules] == before
    assert sys.meta_path == finders
    with pytest.raises(AttributeError):
        _ = time.clock


def test_an_alias_without_dropped_names_has_none(alias):
    with pytest.raises(AttributeError):
        _ = time.clock


def test_a_name_that_never_was_is_still_an_error(old):
    for module in (np, time, collections):
        with pytest.raises(AttributeError, match="nothing"):
            _ = module.nothing


def test_an_array_of_one_element_is_a_number(old):
    with pytest.warns(CompatWarning, match="one element"):
        found = run(
            "a = np.array([[2.5]])\n"
            "values = float(a), int(a), math.floor(a), '%.1f' % a, '%s %d' % (a, a), f'%g' % a\n"
        )
    assert found["values"] == (2.5, 2, 2, "2.5", "[[2.5]] 2", "2.5")


def test_other_arguments_are_left_alone(old):
    found = run(
        "values = float('2.5'), int('11', 2), '%s' % [1], '%s-%s' % ('a', 1), 7 % 4\n"
        "values += (float(), '%(a)d' % {'a': 3}, math.pi, '%s' % np.arange(3))\n"
    )
    assert found["values"] == (2.5, 3, "[1]", "a-1", 3, 0.0, "3", math.pi, "[0 1 2]")
    with pytest.raises(TypeError):
        run("float(np.arange(3))")


def test_reshape_takes_its_shape_by_the_old_name(old):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = run("a = np.reshape(np.arange(6), newshape=[2, 3])\nb = dict(newshape=1)")
    assert found["a"].tolist() == [[0, 1, 2], [3, 4, 5]] and found["b"] == {"newshape": 1}


def test_a_comparison_may_say_a_type_of_numbers(old):
    with pytest.warns(CompatWarning, match="comparison"):
        found = run("a = np.greater(np.array([0, 2]), 1, dtype=np.int32)\nb = np.less(1, 2)")
    assert found["a"].tolist() == [False, True] and found["b"]
    with pytest.raises(TypeError):
        run("np.greater(np.array([0.5]), 1, dtype=np.int32)")


@pytest.mark.skipif(np.__version__ < "1.24", reason="this NumPy makes arrays of ragged lists")
def test_ragged_lists_become_an_array_of_objects(old):
    with pytest.warns(CompatWarning, match="ragged"):
        found = run("a = np.array([[1], [1, 2]])\nb = np.asarray([np.ones(1), np.ones(2)])")
    assert found["a"].dtype == object and found["a"].tolist() == [[1], [1, 2]]
    assert found["b"].shape == (2,)
    assert run("a = np.array([1, 2], dtype='float32', ndmin=2)")["a"].shape == (1, 2)
    with pytest.raises(ValueError, match="inhomogeneous"):
        run("np.array([[1], [1, 2]], dtype='float32')")


def test_an_object_of_the_program_may_have_a_method_of_that_name(old):
    found = run(
        "class A:\n    def array(self, x): return x\na = A().array(3)\nb = A()\nc = b.array(4)"
    )
    assert (found["a"], found["c"]) == (3, 4)


def test_lines_of_rewritten_code_are_those_of_the_source(old):
    text = "a = 1\n\nb = float(\n    'x')\n"
    with pytest.raises(ValueError) as caught:
        run(text)
    assert caught.traceback[-1].lineno + 1 == 3


def test_modules_of_the_program_are_rewritten_and_others_are_not(old, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "oldmodule.py").write_text("import numpy as np\na = float(np.ones(1))\n")
    packages = tmp_path / "site-packages"
    packages.mkdir()
    (packages / "uses_it.py").write_text("import paddle, numpy\na = float(numpy.ones(1))\n")
    (packages / "knows_nothing.py").write_text("a = 1\n")
    monkeypatch.syspath_prepend(str(packages))
    with pytest.warns(CompatWarning):
        assert importlib.import_module("oldmodule").a == 1.0
    assert importlib.import_module("uses_it").a == 1.0
    plain = importlib.import_module("knows_nothing")
    assert type(plain.__loader__).__name__ == "SourceFileLoader"
    for name in ("oldmodule", "uses_it", "knows_nothing"):
        sys.modules.pop(name)


def test_rewritten_code_goes_on_after_the_alias_is_gone():
    compat.install(force=True, dropped_names=True)
    code = rewriting.compiled("def f(a): return float(a)", "<old>")
    compat.uninstall()
    names = {}
    exec(code, names)
    assert names["f"](2) == 2.0
    assert isinstance(names["f"], types.FunctionType)
