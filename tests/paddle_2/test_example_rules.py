"""Which examples of the documents count, and how they are compared."""

import importlib.util
import sys
from pathlib import Path

import pytest

TOOLS = Path(__file__).parents[1] / "tools"


@pytest.fixture(scope="module")
def tool():
    sys.path.insert(0, str(TOOLS))
    try:
        spec = importlib.util.spec_from_file_location("examples", TOOLS / "document_examples.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(TOOLS))
    return module


@pytest.mark.parametrize(
    "name, code, why",
    [
        ("paddle.nn.ReLU#0", "import paddle\nprint(paddle.nn.ReLU()(paddle.ones([2])))", None),
        ("paddle.static.quantization.Cal#1", "import paddle", "static quantization"),
        (
            "paddle.Model#0",
            "from paddle.static.quantization import Cal\nCal()",
            "static quantization",
        ),
        (
            "paddle.summary#0",
            "import paddle.static.quantization as q\nq.Cal()",
            "static quantization",
        ),
        (
            "paddle.dot#0",
            "import paddle\nq = paddle.static.quantization.Cal(None)",
            "static quantization",
        ),
        ("paddle.load#0", "import paddle\nx = paddle.load('a'", None),
    ],
)
def test_an_example_is_left_by_what_it_uses(tool, name, code, why):
    assert tool.left_to(name, code) == why


def test_outputs_are_compared_by_words_and_numbers(tool):
    assert tool.alike("Tensor(shape=[2],\n [1.00001, 2])", "Tensor(shape=[2], [1.00002, 2.])")
    assert not tool.alike("[1.0, 2]", "[1.1, 2]")
    assert not tool.alike("sum 1", "mean 1")


def test_the_report_counts_what_is_not_left(tool):
    codes = {
        "paddle.a#0": "1",
        "paddle.b#0": "2",
        "paddle.c#0": "3",
        "paddle.static.quantization.d#0": "4",
    }
    real = {name: ["ok", "", f"{name} 1.5"] for name in codes}
    again = {**real, "paddle.b#0": ["ok", "", "other"]}
    ours = {**real, "paddle.a#0": ["ok", "", "paddle.a#0 2.5"], "paddle.c#0": ["error", "E", ""]}
    assert list(tool.report(codes, real, again, ours, listed=True)) == [
        "fails    paddle.c#0: E",
        "differs  paddle.a#0",
        "    1 left: static quantization",
        "    2 of 3 end well: 66.7 %",
        "    0 of 1 print alike: 0.0 %",
    ]
