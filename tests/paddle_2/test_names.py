"""Every public name of paddle 2.6.2 is served, refused with a reason, or to come."""

import re
from fnmatch import fnmatchcase

import paddle_names as names
import pytest

from fluidlite.ground.missing_names import AbsentNameError, left_out_of_paddle_2


@pytest.fixture(scope="module")
def states():
    return names.states()


def test_no_name_is_missing(states):
    assert not [name for name, state in states.items() if state == "missing"]


def test_what_is_left_out_says_why(states):
    refused = [name for name, state in states.items() if state == "refused"]
    assert refused and {*refused} <= {*names.why_left_out()}
    for name in refused:
        if names.found(name) is not names.ABSENT:
            assert names.refusal(names.found(name))
            continue
        home, _, last = name.rpartition(".")
        with pytest.raises(AbsentNameError, match=re.escape(left_out_of_paddle_2()[name])):
            getattr(names.found(home), last)


def test_what_is_there_is_not_left_out():
    for name in left_out_of_paddle_2():
        assert names.found(name) is names.ABSENT, (
            f"{name} is there: take it out of what is left out"
        )


def test_parameters_are_those_of_paddle(states):
    served = [name for name, state in states.items() if state == "served"]
    apart = {name: names.difference(name) for name in served if names.difference(name)}
    meant = [each for each in apart if any(fnmatchcase(each, p) for p in names.DIFFERENCES)]
    assert not {name: told for name, told in apart.items() if name not in meant}


def test_every_difference_that_is_meant_is_one(states):
    apart = [name for name in states if states[name] == "served" and names.difference(name)]
    for pattern in names.DIFFERENCES:
        assert any(fnmatchcase(name, pattern) for name in apart), pattern


@pytest.mark.parametrize(
    "text, told, stars",
    [
        ("(x, axis=-1, *, name=None) -> int", [("x", ...), ("axis", -1), ("name", None)], []),
        ("(self, *args: Any, a: Optional[int] = 3, **kw)", [("self", ...), ("a", 3)], ["*", "**"]),
        ("(t=<Type.A: 1>, s=(1, 2))", [("t", ...), ("s", (1, 2))], []),
    ],
)
def test_signatures_are_read(text, told, stars):
    found, found_stars = names.parameters_of_text(text)
    assert [name for name, _ in found] == [name for name, _ in told]
    assert found_stars == stars
    for (_, default), (_, expected) in zip(found, told):
        assert expected is ... or default == expected
