"""The standard's own cases compute what they should, as docs/onnx.md says."""

import re

import pytest
from exported.models import onnx
from exported.node_cases import BEGIN, END, PAGE, cases, failed

TEXT = PAGE.read_text(encoding="utf-8")
TABLE = TEXT[TEXT.index(BEGIN) : TEXT.index(END)]
VERSION = re.search(r"cases of onnx (\S+),", TABLE)[1]
WHOLE = re.search(r"with their number:\n(.*)\.\n", TABLE)[1]
PASSED = {
    **{name: int(count) for name, count in (each.split() for each in WHOLE.split(", "))},
    **{name: int(n) for name, n in re.findall(r"^\| (\w+) \| (\d+) of", TABLE, re.MULTILINE)},
}


def test_the_page_has_a_thousand_cases():
    assert sum(PASSED.values()) >= 1000
    assert f"{sum(PASSED.values())} pass" in TABLE


@pytest.mark.parametrize("type", PASSED)
def test_the_cases_of_an_operator_pass(type):
    if onnx.__version__ != VERSION:
        pytest.skip(f"the page is of onnx {VERSION}")
    failures, _ = failed(type)
    assert len(cases()[type]) - len(failures) == PASSED[type], failures
