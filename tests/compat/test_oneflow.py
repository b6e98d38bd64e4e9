"""``import oneflow`` where OneFlow is not installed."""

import importlib
import os
import subprocess
import sys
from types import ModuleType

import pytest

from fluidlite import compat, flow
from fluidlite.compat.check import check

MODULES = [
    "amp", "autograd", "autograd.functional", "autograd.graph", "comm", "cuda", "distributions",
    "distributions.categorical", "distributions.distribution", "env", "jit", "linalg",
    "nn", "nn.functional", "nn.graph", "nn.init", "nn.modules", "nn.modules.container",
    "nn.modules.module", "nn.parallel", "nn.parameter", "nn.utils", "nn.utils.rnn", "optim",
    "optim.lr_scheduler", "profiler", "sbp", "sysconfig",
    "utils", "utils.checkpoint", "utils.data", "utils.data.dataloader", "utils.data.dataset",
    "utils.data.distributed", "utils.data.sampler", "utils.global_view", "version",
]  # fmt: skip
SCRIPT = """
import oneflow as flow
import oneflow.nn as nn
import oneflow.nn.functional as F
from oneflow.optim.lr_scheduler import StepLR
from oneflow.utils.data import DataLoader, TensorDataset


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 1)

    def forward(self, x):
        return F.relu(self.fc(x))


flow.manual_seed(0)
net = Net()
nn.init.constant_(net.fc.weight, 0.5)
nn.init.zeros_(net.fc.bias)
optimizer = flow.optim.SGD(net.parameters(), lr=0.02)
schedule = StepLR(optimizer, step_size=1, gamma=0.5)
x = flow.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
for inputs, labels in DataLoader(TensorDataset(x, flow.zeros(3, 1)), batch_size=2):
    loss = nn.MSELoss()(net(inputs), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    schedule.step()
    print(round(loss.item(), 4))
print(flow.__version__, flow.cuda.is_available())
"""


@pytest.fixture
def oneflow():
    compat.install(force=True)
    yield importlib.import_module("oneflow")
    compat.uninstall()


def test_the_package_and_its_names_are_those_of_flow(oneflow):
    assert oneflow.Tensor is flow.Tensor
    assert oneflow.nn.Linear is flow.nn.Linear
    assert oneflow.__version__ == oneflow.version.__version__ == "0.9.0"


@pytest.mark.parametrize("name", MODULES)
def test_modules_are_imported_by_their_names(oneflow, name):
    served = importlib.import_module(f"oneflow.{name}")
    ours = importlib.import_module(f"fluidlite.flow.{name}")
    assert served.__name__ == f"oneflow.{name}"
    for given in ours.__all__:
        if not isinstance(getattr(ours, given), ModuleType):
            assert getattr(served, given) is getattr(ours, given)
    assert set(ours.__all__) <= set(dir(served))


def test_a_star_import_takes_the_public_names(oneflow):
    names = {}
    exec("from oneflow.nn import *", names)
    assert names["Linear"] is flow.nn.Linear
    assert "answer" not in names


@pytest.mark.parametrize("name", ["oneflow.algebra", "oneflow.tensor", "oneflow.nn.dense"])
def test_modules_that_only_hold_the_functions_are_not_served(oneflow, name):
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module(name)


@pytest.mark.parametrize("name", ["answer", "algebra", "TYPE_CHECKING", "list_given_names", "np"])
def test_what_a_module_needs_itself_is_none_of_its_names(oneflow, name):
    assert not hasattr(oneflow, name)


def test_a_name_that_is_not_there_is_named_with_one_that_is(oneflow):
    with pytest.raises(AttributeError, match="'oneflow.nn' has no .* 'Liner'; did you mean 'Lin"):
        _ = oneflow.nn.Liner
    with pytest.raises(ImportError, match="cannot import name 'softmin'"):
        exec("from oneflow import softmin")


def test_using_oneflow_says_nothing_of_paddles_version(oneflow):
    assert oneflow.nn.functional.relu
    assert compat.editions.edition() is None
    assert importlib.import_module("paddle.fluid")
    assert importlib.import_module("paddle").__version__ == "1.8.5"


def test_it_is_gone_when_the_alias_is_taken_back(oneflow):
    compat.uninstall()
    assert "oneflow" not in sys.modules
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("oneflow")
    assert oneflow.ones(2).sum().item() == 2


@pytest.fixture
def another(tmp_path, monkeypatch):
    """A package of that name that is installed."""
    (tmp_path / "oneflow").mkdir()
    (tmp_path / "oneflow" / "__init__.py").write_text("real = True")
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    compat.uninstall()
    sys.modules.pop("oneflow", None)


def test_a_package_that_is_installed_stays_what_it_is(another):
    compat.install()
    assert importlib.import_module("oneflow").real
    assert importlib.import_module("paddle").to_tensor


def test_a_package_that_is_imported_already_stays_what_it_is(another):
    before = importlib.import_module("oneflow")
    compat.install()
    assert importlib.import_module("oneflow") is before
    compat.uninstall()
    assert sys.modules["oneflow"] is before


def test_a_package_that_is_installed_is_hidden_by_force(another):
    compat.install(force=True)
    assert importlib.import_module("oneflow").Tensor is flow.Tensor
    compat.uninstall()
    assert importlib.import_module("oneflow").real


def _output(code, env=None):
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, **(env or {})},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


CHILD = "import oneflow; print(oneflow.__version__); import paddle; print(hasattr(paddle, 'nn'))"


def test_a_process_that_is_started_has_it(oneflow):
    assert _output(CHILD).split() == ["0.9.0", "True"]


def test_a_process_that_is_started_has_the_package_that_is_installed(another):
    compat.install()
    path = os.pathsep.join([str(another), os.environ["PYTHONPATH"]])
    code = "import paddle.nn; import oneflow; print(oneflow.real)"
    assert _output(code, {"PYTHONPATH": path}).split() == ["True"]


def test_a_script_runs_as_it_is(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    done = subprocess.run(
        [sys.executable, "-m", "fluidlite", "run", str(script)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["7.25", "4.6656", "0.9.0", "False"]


def test_check_names_what_is_not_there():
    text = (
        "import oneflow as flow\n"
        "from oneflow.nn import Linear, Liner\n"
        "import oneflow.onnx_bridge\n"
        "flow.nn.functional.relu\n"
        "flow.optim.Sgd\n"
        "flow.utils.data.DataLoader\n"
    )
    assert [(each.line, each.message) for each in check(text)] == [
        (2, "oneflow.nn has no name 'Liner'; did you mean 'Linear'?"),
        (3, "there is no module oneflow.onnx_bridge"),
        (5, "oneflow.optim has no name 'Sgd'; did you mean 'SGD'?"),
    ]


def test_an_import_of_a_module_that_is_left_out_says_why(oneflow):
    with pytest.raises(ModuleNotFoundError, match="'oneflow.boxing': it is left out .*; use one"):
        importlib.import_module("oneflow.boxing")
