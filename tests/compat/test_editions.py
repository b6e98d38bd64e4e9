"""Which paddle a process means, when both 1.8 and 2.6 are served."""

import importlib
import os
import subprocess
import sys
import warnings

import numpy as np
import pytest

from fluidlite import compat, paddle
from fluidlite.compat import editions
from fluidlite.compat.served import CompatWarning
from fluidlite.errors import ArgumentError


@pytest.fixture
def served():
    """``paddle``, of which nothing is decided yet."""
    compat.install(force=True)
    yield importlib.import_module("paddle")
    compat.uninstall()


def test_importing_paddle_alone_decides_nothing(served):
    assert editions.edition() is None


def test_a_module_that_only_1_8_has_means_1_8(served):
    importlib.import_module("paddle.fluid")
    assert editions.edition() == "1.8"
    assert served.__version__ == "1.8.5"


@pytest.mark.parametrize("use", ["to_tensor", "nn", "__version__", "batch", "enable_static"])
def test_a_name_of_2_6_or_of_both_means_2_6(served, use):
    getattr(served, use)
    assert editions.edition() == "2.6"
    assert served.__version__ == "2.6.2"


def test_a_module_that_only_2_6_has_means_2_6(served):
    functional = importlib.import_module("paddle.nn.functional")
    assert editions.edition() == "2.6"
    assert functional.relu is paddle.nn.functional.relu


def test_names_of_the_other_version_are_there_and_names_of_both_are_warned_of_once(served):
    fluid = importlib.import_module("paddle.fluid")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert served.to_tensor([1.0]).shape == [1]
    with pytest.warns(CompatWarning, match="paddle.batch is in paddle 1.8 and in 2.6"):
        assert served.batch is fluid.io.batch


def test_a_program_of_one_version_is_not_warned_of(served):
    importlib.import_module("paddle.fluid")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert served.batch and served.version and served.enable_static


@pytest.mark.parametrize("said, version", [("1.8", "1.8.5"), ("2.6", "2.6.2")])
def test_a_version_can_be_said(said, version):
    compat.install(force=True, paddle=said)
    try:
        assert importlib.import_module("paddle").__version__ == version
    finally:
        compat.uninstall()


def test_the_environment_can_say_it(monkeypatch):
    monkeypatch.setenv("FLUIDLITE_PADDLE", "2.6")
    compat.install(force=True)
    try:
        assert editions.edition() == "2.6"
    finally:
        compat.uninstall()


def test_two_installations_that_disagree_are_an_error(served):
    compat.install(paddle="1.8")
    compat.install(paddle="1.8")
    with pytest.raises(compat.AliasError, match="means paddle 1.8 already, not 2.6"):
        compat.install(paddle="2.6")


def test_a_version_that_is_not_there_is_refused():
    with pytest.raises(ArgumentError, match="expected paddle to be one of 1.8, 2.6, got '3.0'"):
        compat.install(force=True, paddle="3.0")
    assert not compat.installed()


def test_a_process_that_is_started_means_the_same(served):
    assert served.to_tensor
    code = "import paddle; print(paddle.__version__)"
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=dict(os.environ)
    )
    assert found.stdout.strip() == "2.6.2", found.stderr


def test_nothing_is_decided_when_the_alias_is_installed_again():
    for name, version in (("paddle.fluid", "1.8"), ("paddle.nn", "2.6")):
        compat.install(force=True)
        importlib.import_module(name)
        assert editions.edition() == version
        compat.uninstall()
    assert editions.edition() is None


def test_a_star_import_means_2_6_without_a_warning(served):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        names = {}
        exec("from paddle import *", names)
        assert served.__version__ == "2.6.2"
    assert names["to_tensor"] is paddle.to_tensor


@pytest.mark.parametrize(
    "path",
    [
        "amp.grad_scaler.GradScaler", "autograd.py_layer.PyLayer",
        "incubate.autograd.functional.jvp", "io.dataloader.dataset.Dataset",
        "io.reader.DataLoader", "jit.translated_layer.TranslatedLayer", "metric.metrics.Auc",
        "nn.initializer.xavier.XavierNormal", "nn.layer.Linear",
        "nn.utils.weight_norm_hook.weight_norm", "optimizer.adam.Adam",
        "optimizer.optimizer.Optimizer", "static.amp.fp16_lists.CustomOpLists",
        "static.input.InputSpec",
    ],
)  # fmt: skip
def test_names_stand_in_the_modules_of_2_6_that_hold_them(served, path):
    module, _, name = path.rpartition(".")
    package = module.rpartition(".")[0].removesuffix(".dataloader")
    held = getattr(importlib.import_module(f"paddle.{module}"), name)
    assert held is getattr(importlib.import_module(f"paddle.{package}"), name)


def test_modules_below_a_package_hide_nothing_that_it_uses(served):
    area = importlib.import_module("paddle.metric").Auc()
    area.update(np.array([[0.9, 0.1], [0.2, 0.8]]), np.array([[0], [1]]))
    assert area.accumulate() == 1
