"""Libraries for fluid 1.8 give under the alias what they gave on paddlepaddle 1.8.5."""

import os

import pytest
from library_runs import ROWS, compare, differences, farthest, recorded

FOLDER = os.environ.get("FLUIDLITE_LIBRARIES")


@pytest.mark.skipif(
    not (FOLDER or os.environ.get("FLUIDLITE_CLIENTS")),
    reason="neither FLUIDLITE_LIBRARIES (a folder) nor FLUIDLITE_CLIENTS is set: needs an index",
)
@pytest.mark.parametrize("name", ROWS)
def test_a_library_gives_what_it_gave_on_1_8(name, tmp_path):
    said = compare(name, FOLDER or tmp_path)
    if said.startswith("skipped"):
        pytest.skip(said)
    assert said == "right", said


@pytest.mark.parametrize("name", ROWS)
def test_each_library_has_recorded_results(name):
    assert recorded(name).is_file()


def test_results_that_differ_are_told_by_their_places():
    wanted = {"losses": [1.0, 2.0], "words": ["a"]}
    assert not differences({"losses": [1.0, 2.0000001], "words": ["a"]}, wanted, 1e-6)
    assert differences({"losses": [1.0, 2.1], "words": ["b"]}, wanted, 1e-6) == [
        "losses/1: 2.1, expected 2.0",
        "words/0: 'b', expected 'a'",
    ]
    assert differences({"losses": [1.0]}, wanted, 1e-6)
    assert differences("an error", wanted, 1e-6)


def test_numbers_may_be_as_far_off_as_a_change_of_the_input_moves_those_of_1_8():
    wanted = {"losses": [1.0, 2.0], "norms": [1.0]}
    runs = [{"losses": [1.0, 2.001], "norms": [1.01]}, {"losses": [1.1, 2.0], "norms": [1.0]}]
    changed = farthest(wanted, runs)
    assert changed == {"losses": [1.1, 2.0], "norms": [1.01]}
    near, far = {"losses": [1.0, 3.5], "norms": [1.05]}, {"losses": [1.0, 2.0], "norms": [1.2]}
    assert not differences(near, wanted, 1e-5, changed=changed)
    assert differences(far, wanted, 1e-5, changed=changed) == ["norms/0: 1.2, expected 1.0"]
