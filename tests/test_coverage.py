"""``docs/coverage.md`` says what there is, and why the rest is not."""

import fnmatch
import importlib.util
from pathlib import Path

import pytest

from fluidlite.opdef.definition import is_defined

SCRIPT = Path(__file__).parents[1] / "docs" / "coverage.py"


@pytest.fixture(scope="module")
def coverage():
    spec = importlib.util.spec_from_file_location("coverage_page", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_is_up_to_date(coverage):
    written = SCRIPT.with_suffix(".md").read_text(encoding="utf-8")
    assert written == coverage.page(), "python docs/coverage.py writes it anew"


def test_every_operator_that_is_left_out_has_a_reason(coverage):
    missing = [t for t in coverage.forward_operators() if not is_defined(t)]
    assert not [t for t in missing if coverage.why(coverage.OPERATORS, t) is None]


def test_every_operator_of_paddle_2_is_here_or_has_a_reason(coverage):
    missing = [t for t in coverage.operators_of_paddle_2() if not is_defined(t)]
    assert not [t for t in missing if coverage.why_not_of_paddle_2(t) is None]


def test_no_operator_of_paddle_2_that_is_here_has_a_reason_why_not(coverage):
    types = coverage.operators_of_paddle_2()
    for entry, _ in coverage.reasons(coverage.OPERATORS_OF_PADDLE_2):
        listed = fnmatch.filter(types, entry)
        assert listed, f"{entry}: no such operator"
        assert not [t for t in listed if is_defined(t)], f"{entry}: it is here"


def test_every_public_name_that_is_left_out_has_a_reason(coverage):
    missing = [name for name, here in coverage.public_names().items() if not here]
    assert not [name for name in missing if coverage.why(coverage.NAMES, name) is None]


def test_no_reason_is_left_for_what_is_there(coverage):
    assert not [entry for entry, _ in coverage.reasons(coverage.OPERATORS) if is_defined(entry)]
    names = coverage.public_names()
    missing = [name for name, here in names.items() if not here]
    for entry, _ in coverage.reasons(coverage.NAMES):
        assert fnmatch.filter(missing, entry), f"{entry}: all of it is there"


def test_reasons_are_given_for_what_fluid_has(coverage):
    assert {entry for entry, _ in coverage.reasons(coverage.OPERATORS)} <= set(
        coverage.forward_operators()
    )
    exact = {entry for entry, _ in coverage.reasons(coverage.NAMES) if "*" not in entry}
    assert exact <= set(coverage.public_names())
