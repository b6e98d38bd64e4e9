"""The table of deviations speaks of what is compared, and gives a reason for each."""

import pytest

from oracle.golden import deviations, parts

ELSEWHERE = ("schema",)  # compared in tests/ops/test_schema.py


@pytest.mark.parametrize("entry", deviations())
def test_every_deviation_names_something_that_is_compared(entry):
    kind, name, *part = entry.split(":", 2)
    if kind not in ELSEWHERE:
        assert name in parts()[kind]
        assert not part or part[0] in parts()[kind][name]


@pytest.mark.parametrize("entry", deviations())
def test_every_deviation_has_a_reason(entry):
    assert deviations()[entry].strip()


def test_no_case_is_excused_twice():
    whole = {entry for entry in deviations() if entry.count(":") == 1}
    assert not [entry for entry in deviations() if entry.rpartition(":")[0] in whole]
