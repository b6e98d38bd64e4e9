"""Averages under windows in a program that paddlepaddle 2.6.2 made."""

import base64

import numpy as np

import fluidlite as fluid

#: ``avg_pool2d(x, 3, 2, 1, ceil_mode=True, exclusive=False)`` of images [-1, 1, -1, 6]
DATA = base64.b64decode(
    "CuIDCAAQ////////////ARo6Cg5wb29sMmRfMC50bXBfMBIkCAcaIAocCAUQ////////////ARABEP///////////wEQ"
    "BBAAGAAwARovCgF4EiQIBxogChwIBRD///////////8BEAEQ////////////ARAGEAAYACABMAEi5QIKBgoBWBIBeBIV"
    "CgNPdXQSDnBvb2wyZF8wLnRtcF8wGgZwb29sMmQiDQoHaXNfdGVzdBAGUAEiHQoQbWtsZG5uX2RhdGFfdHlwZRACKgdm"
    "bG9hdDMyIhAKCnVzZV9ta2xkbm4QBlAAIhMKDXVzZV9xdWFudGl6ZXIQBlAAIg4KCGFkYXB0aXZlEAZQACIPCgljZWls"
    "X21vZGUQBlABIhUKC2RhdGFfZm9ybWF0EAIqBE5DSFciDwoJZXhjbHVzaXZlEAZQACIUCg5nbG9iYWxfcG9vbGluZxAG"
    "UAAiDQoFa3NpemUQAzADMAMiDQoHb3Bfcm9sZRAAGAAiHwoRcGFkZGluZ19hbGdvcml0aG0QAioIRVhQTElDSVQiEAoI"
    "cGFkZGluZ3MQAzABMAEiFQoMcG9vbGluZ190eXBlEAIqA2F2ZyIPCgdzdHJpZGVzEAMwAjACIg8KCXVzZV9jdWRubhAG"
    "UAEiBAjyt3o="
)
ALONG = np.array([2 / 3, 1, 1, 1 / 2])  #: what it gave of 6 ones, along one dimension


def test_they_count_padding_as_there_and_are_written_without_saying_so():
    program = fluid.Program.parse_from_string(DATA)
    ones = np.ones([1, 1, 6, 6], "float32")
    (found,) = fluid.Executor().run(program, {"x": ones}, ["pool2d_0.tmp_0"])
    np.testing.assert_allclose(found[0, 0], np.multiply.outer(ALONG, ALONG), rtol=1e-6)
    assert b"clips" not in program.to_bytes()
