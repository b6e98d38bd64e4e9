"""Random programs under three transformations in a row compute what they computed.

``python tests/aids/transform_chains.py --count 10000`` tries as many as one likes.
"""

from shares import share
from transform_chains import TRANSFORMATIONS, chained


def test_random_programs_under_chains_of_transformations():
    tried = [name for seed in range(share(12)) for name in chained(seed)]
    assert len(set(tried)) >= min(len(tried), len(TRANSFORMATIONS)) // 3
