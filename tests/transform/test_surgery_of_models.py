"""Saved models that are cut, patched, folded and pruned compute what the real thing computed, and
saved trainings lose what they lost there.

``python tests/aids/surgery_of_models.py`` tries all models that are in ``tests/data``, and
``python tests/aids/surgery_of_trainings.py`` all trainings.
"""

from importlib.util import find_spec

import pytest
import surgery_of_trainings
from surgery_of_models import tried
from surgery_sources import of_fluid, of_paddle3

#: some of each system
SOME = ["lenet/inference", "lstm/inference", "paddle_3.fullshape"]
#: trainings whose operators have slots that those here have not, and lists of gradients
TRAININGS = ["gradient of einsum", "gradient of elu and chunk", "gradient.yolov3_loss.basic"]


@pytest.mark.skipif(not find_spec("onnxruntime"), reason="needs the extra onnx")
def test_parts_of_saved_models_compute_the_same_here_and_in_onnx(tmp_path):
    models = {**of_fluid(tmp_path), **of_paddle3()}
    assert {name: wrong for name in SOME if (wrong := tried(models[name], tmp_path))} == {}


def test_saved_gradients_that_are_transformed_are_what_they_were():
    known = {**surgery_of_trainings.of_fluid(), **surgery_of_trainings.gradients_of_paddle2()}
    forms = ["expanded", "folded", "split"]
    wrong = {name: surgery_of_trainings.tried(known[name], forms) for name in TRAININGS}
    assert not any(wrong.values()), wrong
