"""Saved models that are cut, patched, folded and pruned compute what the real thing computed.

``python tests/aids/surgery_of_models.py`` tries all that are in ``tests/data``.
"""

import pytest
from surgery_of_models import of_fluid, of_paddle3, tried

pytest.importorskip("onnxruntime", reason="needs the extra onnx")

#: some of each system
SOME = ["fc/inference_combined", "lstm/inference", "paddle_3.fullshape"]


def test_parts_of_saved_models_compute_the_same_here_and_in_onnx(tmp_path):
    models = {**of_fluid(tmp_path), **of_paddle3()}
    assert {name: wrong for name in SOME if (wrong := tried(models[name], tmp_path))} == {}
