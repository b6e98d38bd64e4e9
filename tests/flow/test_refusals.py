"""What is refused is said in OneFlow's words."""

import sys
from pathlib import Path

import pytest

import fluidlite as fluid
from fluidlite import flow
from fluidlite.errors import (
    ArgumentError,
    DTypeError,
    FluidError,
    GradientStateError,
    GradientTypeError,
    StateDictError,
)

nn = flow.nn
LOSSES = ["L1Loss", "MSELoss", "SmoothL1Loss", "NLLLoss", "CrossEntropyLoss", "BCELoss"]
LOSSES += ["BCEWithLogitsLoss", "KLDivLoss", "MarginRankingLoss", "TripletMarginLoss", "CTCLoss"]


@pytest.mark.parametrize("reduction", ["foo", None, 1, "MEAN"])
def test_losses_refuse_an_unknown_reduction_when_they_are_made(reduction):
    for name in LOSSES:
        with pytest.raises(ArgumentError, match="expected reduction to be one of"):
            getattr(nn, name)(reduction=reduction)


def test_losses_take_the_reductions_that_there_are():
    for name in LOSSES:
        for reduction in ("mean", "sum", "none"):
            getattr(nn, name)(reduction=reduction)
    nn.KLDivLoss("batchmean")
    with pytest.raises(AssertionError):
        nn.L1Loss("batchmean")


def test_gradients_are_said_to_be_required():
    with pytest.raises(GradientStateError, match="set its requires_grad to True first"):
        flow.ones(2).register_hook(lambda gradient: gradient)
    for wanting in (
        lambda: flow.tensor([1], requires_grad=True),
        lambda: flow.ones(2, dtype=flow.int32, requires_grad=True),
        lambda: flow.tensor([1]).requires_grad_(),
        lambda: nn.Parameter(flow.tensor([1])),
    ):
        with pytest.raises(GradientTypeError, match="leave its requires_grad at False"):
            wanting()


def test_targets_that_are_no_labels_are_refused_as_such():
    x, wrong = flow.ones(2, 3), flow.tensor([0.0, 1.0])
    with pytest.raises(DTypeError, match=r"labels, .* probabilities of shape \[2, 3\], got float"):
        nn.CrossEntropyLoss()(x, wrong)
    with pytest.raises(DTypeError, match="expected target to hold labels, which are integers, got"):
        nn.NLLLoss()(x, wrong)


def test_a_state_that_does_not_fit_is_told_what_it_lacks_and_has_too_much():
    net = nn.Linear(1, 1)
    state = net.state_dict()
    weight = {"weight": state["weight"]}
    for given, message in (
        (weight, r"^the state lacks \['bias'\]; with"),
        ({**state, "z": flow.ones(1)}, r"^the module has no place for \['z'\]; with"),
        (
            {**weight, "z": flow.ones(1)},
            r"lacks \['bias'\] and the module has no place for \['z'\]",
        ),
    ):
        with pytest.raises(StateDictError, match=message):
            net.load_state_dict(given)


#: Python 3.10 raises what was caught with the line that caught it
LINES_OF_OURS = 0 if sys.version_info >= (3, 11) else 1


def _updated():
    x = flow.tensor([1.0], requires_grad=True)
    x += 1


@pytest.mark.parametrize(
    "refused",
    [
        _updated,
        lambda: flow.tensor([1.0]).sbp,
        lambda: flow.tensor([1.0]).placement,
        lambda: fluid.autograd.vmap(lambda row: float(row.sum()))(fluid.ones([2, 2])),
    ],
)
def test_an_error_shows_no_frames_of_the_package(refused):
    with pytest.raises(FluidError) as error:
        refused()
    shown = [at for at in error.traceback if Path(at.path).name != "test_refusals.py"]
    assert len(shown) <= LINES_OF_OURS
