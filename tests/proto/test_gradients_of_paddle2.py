"""Gradient operators in a program that paddlepaddle 2.6.2 made, with slots that 1.8's have not."""

import base64

import numpy as np

import fluidlite as fluid

#: the gradient of the sum of ``leaky_relu(x, 0.1)``
DATA = base64.b64decode(
    "CtAHCAAQ////////////ARooChJsZWFreV9yZWx1XzAudG1wXzASDggHGgoKBggFEAIQAxAAGAAwABorChdsZWFreV9y"
    "ZWx1XzAudG1wXzBAR1JBRBIOCAcaCgoGCAUQAhADEAAwABobCgtzdW1fMC50bXBfMBIICAcaBAoCCAUYADAAGiAKEHN1"
    "bV8wLnRtcF8wQEdSQUQSCggHGgYKAggFEAAwABoZCgF4Eg4IBxoKCgYIBRACEAMQABgAIAEwABoaCgZ4QEdSQUQSDggH"
    "GgoKBggFEAIQAxAAMAAiYAoGCgFYEgF4EhkKA091dBISbGVha3lfcmVsdV8wLnRtcF8wGgpsZWFreV9yZWx1IhAKCnVz"
    "ZV9ta2xkbm4QBlAAIg4KBWFscGhhEAElzczMPSINCgdvcF9yb2xlEAAYACK4AQoXCgFYEhJsZWFreV9yZWx1XzAudG1w"
    "XzASEgoDT3V0EgtzdW1fMC50bXBfMBoKcmVkdWNlX3N1bSIQCgp1c2VfbWtsZG5uEAZQACIHCgNkaW0QAyIXCghpbl9k"
    "dHlwZRAAGP///////////wEiDgoIa2VlcF9kaW0QBlAAIg0KB29wX3JvbGUQABgAIhgKCW91dF9kdHlwZRAAGP//////"
    "/////wEiEAoKcmVkdWNlX2FsbBAGUAAiZgoQCgFYEgtzdW1fMC50bXBfMBIXCgNPdXQSEHN1bV8wLnRtcF8wQEdSQUQa"
    "DWZpbGxfYW55X2xpa2UiCwoFZHR5cGUQABgFIg0KB29wX3JvbGUQABgBIg4KBXZhbHVlEAElAACAPyLqAQocCghPdXRA"
    "R1JBRBIQc3VtXzAudG1wXzBAR1JBRAoXCgFYEhJsZWFreV9yZWx1XzAudG1wXzASIQoGWEBHUkFEEhdsZWFreV9yZWx1"
    "XzAudG1wXzBAR1JBRBoPcmVkdWNlX3N1bV9ncmFkIhAKCnVzZV9ta2xkbm4QBlAAIgcKA2RpbRADIhcKCGluX2R0eXBl"
    "EAAY////////////ASIOCghrZWVwX2RpbRAGUAAiDQoHb3Bfcm9sZRAAGAEiGAoJb3V0X2R0eXBlEAAY////////////"
    "ASIQCgpyZWR1Y2VfYWxsEAZQACKBAQojCghPdXRAR1JBRBIXbGVha3lfcmVsdV8wLnRtcF8wQEdSQUQKBgoBWBIBeBIQ"
    "CgZYQEdSQUQSBnhAR1JBRBoPbGVha3lfcmVsdV9ncmFkIhAKCnVzZV9ta2xkbm4QBlAAIg4KBWFscGhhEAElzczMPSIN"
    "CgdvcF9yb2xlEAAYASIECPK3eg=="
)


def test_that_of_leaky_relu_reads_the_argument_and_is_written_as_it_was():
    program = fluid.Program.parse_from_string(DATA)
    x = np.array([[-1, 0.5, 2], [3, -4, 5]], "float32")
    (found,) = fluid.Executor().run(program, {"x": x}, ["x@GRAD"])
    np.testing.assert_allclose(found, np.where(x > 0, 1, 0.1), rtol=1e-6)
    assert program.to_bytes() == program.clone().to_bytes() == DATA


def test_that_which_is_appended_to_such_a_program_is_written_with_the_argument():
    program = fluid.Program.parse_from_string(DATA)
    block = program.global_block()
    fluid.gradients([block.var("sum_0.tmp_0")], [block.var("x")])
    data = program.to_bytes()
    assert data.count(b"\x03Out\x12\x12leaky_relu_0.tmp_0") == 1  # of leaky_relu
    assert fluid.Program.parse_from_string(data).to_bytes() == data
