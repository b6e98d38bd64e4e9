"""Writes tests/data/paddle2_trainings.json.gz: trainings by the optimizers of Paddle 2.6.

    python tests/data/record_paddle2_trainings.py        where Paddle 2.6 is installed

``tests/aids/paddle2_training.py`` has the trainings.
"""

import gzip
import json
import os
import pathlib
import sys

os.environ["GLOG_minloglevel"] = "3"
HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "aids"))

import paddle
import paddle2_training

if __name__ == "__main__":
    trainings = {
        f"{case}, {way}": [float(f"{x:.8g}") for x in paddle2_training.trained(paddle, case, way)]
        for case in paddle2_training.OPTIMIZERS
        for way in paddle2_training.WAYS
    }
    text = json.dumps(trainings, indent=0).encode()
    (HERE / "paddle2_trainings.json.gz").write_bytes(gzip.compress(text, mtime=0))
