"""Every public name of OneFlow 0.9 is served, left to what is to come, or refused with a reason.

``tests/data/oneflow_names.txt`` lists them: a module or a class, and what ``dir`` gives of it
there, without what it has of other packages.
"""

import importlib
import pathlib

import numpy as np
import pytest

from fluidlite import compat, flow
from fluidlite.ground.missing_names import left_out_of_oneflow

FILE = pathlib.Path(__file__).parent.parent / "data" / "oneflow_names.txt"
NAMES = [
    f"{holder}.{name}"
    for holder, _, names in (line.partition(": ") for line in FILE.read_text().splitlines())
    for name in names.split()
]
#: what comes with Fourier transforms
TO_COME = {"oneflow.stft"}
#: no names that ``dir`` gave, and users look for them
BEYOND = {
    "oneflow.nn.MultiheadAttention", "oneflow.nn.functional.scaled_dot_product_attention",
    "oneflow.onnx", "oneflow.optim.LBFGS", "oneflow.unittest",
}  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def oneflow():
    compat.install(force=True)
    yield importlib.import_module("oneflow")
    compat.uninstall()


def value(name):
    """What has a name; AttributeError where nothing does."""
    _, *parts = name.split(".")
    found = importlib.import_module("oneflow")
    for part in parts:
        found = getattr(found, part)
    return found


def is_there(name):
    try:
        value(name)
    except AttributeError:
        return False
    return True


def test_each_name_is_in_one_of_three():
    assert len(NAMES) == len(set(NAMES)) > 1100
    absent = {name for name in NAMES if not is_there(name)}
    refused = left_out_of_oneflow().keys() & set(NAMES)
    assert sorted(absent) == sorted(TO_COME | refused)


def test_what_is_left_out_is_listed_and_says_why():
    for name, reason in left_out_of_oneflow().items():
        assert (name in NAMES) != (name in BEYOND), f"{name} is no name of OneFlow's"
        holder, _, last = name.rpartition(".")
        if holder not in ("oneflow.Tensor", "oneflow.nn.Module", "oneflow.dtype"):
            with pytest.raises(AttributeError) as error:
                getattr(value(holder), last)
            assert reason in str(error.value)


def test_modules_of_fluidlite_say_the_same():
    with pytest.raises(AttributeError, match="flow.nn.RNN, LSTM or GRU"):
        flow.nn.RNNBase  # noqa: B018


def test_functions_of_two_tensors_take_them_by_oneflows_names():
    x, y = flow.tensor([1.0, 2.0]), flow.tensor([2.0, 1.0])
    for function in (flow.eq, flow.less_than, flow.greater_equal, flow.logical_and, flow.atan2):
        assert function(input=x, other=y).tolist() == function(x, y).tolist()
    assert flow.maximum(input=x, other=y).tolist() == [2, 2]
    assert x.not_equal(other=y).tolist() == [True, True]
    assert x.minimum(other=y).tolist() == [1, 1]
    assert flow.isnan(input=x).tolist() == flow.logical_not(input=x).tolist() == [False, False]


def test_losses_and_activations_take_tensors_by_name():
    x, y = flow.tensor([[1.0, 1.0]]), flow.tensor([1])
    assert flow.nn.CrossEntropyLoss()(input=x, target=y).item() == pytest.approx(np.log(2))
    assert flow.nn.ReLU(inplace=True)(input=x) is x
