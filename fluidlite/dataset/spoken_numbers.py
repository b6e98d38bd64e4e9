"""Numbers below 10,000 and their English words: sentences of different lengths to translate.

    >>> from fluidlite.dataset import spoken_numbers
    >>> digits, words = next(spoken_numbers.test()())
    >>> digits, spoken_numbers.text(words)
    ([4, 3, 6, 1], 'four thousand three hundred sixty one')

A sample is a list of digits and a list of words, both of integers; ``WORDS`` has the words: the
first stands for the end of a sentence, the second for its beginning.  The numbers stand in an order
shuffled once; the first 9,000 are for training, the others for testing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import numpy as np

from ..errors import ArgumentError
from ..ground.public_names import list_public_names

__all__ = ["WORDS", "said", "test", "text", "train"]

Sample = tuple[list[int], list[int]]

_ONES = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen"
_TEENS = "fifteen sixteen seventeen eighteen nineteen"
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_SMALL, _LARGE = f"{_ONES} {_TEENS}".split(), _TENS.split()
#: all words; what ends a sentence, and what begins it, come first
WORDS = ["<end>", "<begin>", *_SMALL, *_LARGE, "hundred", "thousand"]
LIMIT, TRAINING = 10_000, 9_000


def said(number: int) -> list[str]:
    """The words of a number.

    Args:
        number: in [0, 10000).

    Raises:
        ArgumentError: it is not.

    >>> " ".join(said(4072))
    'four thousand seventy two'
    """
    if not 0 <= number < LIMIT:
        raise ArgumentError(f"expected a number in [0, {LIMIT}), got {number}")
    for unit, name in ((1000, "thousand"), (100, "hundred")):
        if number >= unit:
            rest = said(number % unit) if number % unit else []
            return [*said(number // unit), name, *rest]
    if number < len(_SMALL):
        return [_SMALL[number]]
    return [_LARGE[number // 10 - 2], *([_SMALL[number % 10]] if number % 10 else [])]


def text(words: Iterable[int]) -> str:
    """Words by their numbers as text, without what begins and ends a sentence."""
    return " ".join(WORDS[word] for word in words if word > 1)


def train() -> Callable[[], Iterator[Sample]]:
    """A reader creator over the 9,000 training samples."""
    return _reader(slice(None, TRAINING))


def test() -> Callable[[], Iterator[Sample]]:
    """A reader creator over the 1,000 test samples."""
    return _reader(slice(TRAINING, None))


def _reader(split: slice) -> Callable[[], Iterator[Sample]]:
    def read() -> Iterator[Sample]:
        numbers = np.random.RandomState(0).permutation(LIMIT)[split]
        for number in numbers.tolist():
            yield [int(digit) for digit in str(number)], [WORDS.index(w) for w in said(number)]

    return read


list_public_names(globals())
