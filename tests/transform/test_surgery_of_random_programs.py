"""Random programs that are taken apart and put together compute what they computed.

``python tests/aids/surgery_trials.py --count 1000`` tries as many as one likes.
"""

import pytest
from shares import share
from surgery_trials import TRIALS, tried


@pytest.mark.parametrize("trial", TRIALS, ids=lambda trial: trial.__name__)
def test_a_random_program_after_surgery_computes_what_it_did(trial):
    number = TRIALS.index(trial)
    for seed in range(number, number + share(3)):
        assert not tried(seed, [trial])
