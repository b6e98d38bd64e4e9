"""Programs for OneFlow as they are: losses of 20 steps are those of OneFlow 0.9.

``tests/data/oneflow_trainings.json`` is what ``trainings.py`` prints there.
"""

import json
import pathlib
import runpy

import pytest

from fluidlite import compat

HERE = pathlib.Path(__file__).parent
RECORDED = json.loads((HERE.parent / "data" / "oneflow_trainings.json").read_text())


@pytest.fixture(scope="module")
def trainings():
    compat.install(force=True)
    yield runpy.run_path(str(HERE / "trainings.py"))
    compat.uninstall()


@pytest.mark.parametrize("name", RECORDED)
def test_losses_are_oneflow_s(trainings, name):
    found, recorded = trainings[name](), RECORDED[name]
    assert len(found) == len(recorded["losses"]) == 20
    far = max(abs(a - b) for a, b in zip(found, recorded["losses"]))
    assert far <= max(1e-5, 3 * recorded["moved"])


def test_each_training_is_recorded(trainings):
    assert [each.__name__ for each in trainings["TRAININGS"]] == [*RECORDED]
