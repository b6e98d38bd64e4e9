"""Gradient operators in programs that paddlepaddle 2.6.2 made, with slots that 1.8's have not."""

import base64
import json
from pathlib import Path

import numpy as np
import pytest

import fluidlite as fluid

RECORD = Path(__file__).parents[1] / "data" / "paddle_2" / "gradients.json"
RECORDED = json.loads(RECORD.read_text())
X = np.array(RECORDED["x"], "float32")


def data_of(name):
    return base64.b64decode(RECORDED["given"][name]["program"])


@pytest.mark.parametrize("name", RECORDED["given"])
def test_they_compute_what_they_compute_there_and_are_written_as_they_were(name):
    program = fluid.Program.parse_from_string(data_of(name))
    exe = fluid.Executor()
    for _ in range(3):  # the first run is interpreted, the others are planned
        (found,) = exe.run(program, {"x": X}, ["x@GRAD"])
        np.testing.assert_allclose(found, RECORDED["given"][name]["gradient"], 1e-5, 1e-6)
    assert program.to_bytes() == program.clone().to_bytes() == data_of(name)


def test_that_which_is_appended_to_such_a_program_is_written_with_the_argument():
    program = fluid.Program.parse_from_string(data_of("leaky_relu"))
    block = program.global_block()
    fluid.gradients([block.var("sum_0.tmp_0")], [block.var("x")])
    data = program.to_bytes()
    assert data.count(b"\x03Out\x12\x12leaky_relu_0.tmp_0") == 1  # of leaky_relu
    assert fluid.Program.parse_from_string(data).to_bytes() == data
