"""The table of deviations speaks of what is compared, and gives a reason for each."""

from oracle.golden import deviations, parts

ELSEWHERE = ("schema",)  # compared in tests/ops/test_schema.py


def is_compared(entry):
    kind, name, *part = entry.split(":", 2)
    there = parts().get(kind, {})
    return kind in ELSEWHERE or (name in there and (not part or part[0] in there[name]))


def test_every_deviation_names_something_that_is_compared():
    assert not [entry for entry in deviations() if not is_compared(entry)]


def test_every_deviation_has_a_reason():
    assert not [entry for entry, reason in deviations().items() if not reason.strip()]


def test_no_case_is_excused_twice():
    whole = {entry for entry in deviations() if entry.count(":") == 1}
    assert not [entry for entry in deviations() if entry.rpartition(":")[0] in whole]
