"""The random numbers of Paddle 2 on a CPU, from the same seeds.

The bits are those of the Mersenne Twister of 64 bits (Nishimura, Tables of 64-bit Mersenne
Twisters, ACM TOMACS 10(4), 2000), started by C++'s seed sequence (ISO C++ [rand.util.seedseq]);
numbers follow from them as in GNU's C++ library: normal ones by Marsaglia's polar method, orders by
two draws at a time.  The tests hold them against paddlepaddle 2.6.2.
"""

from __future__ import annotations

from copy import deepcopy
from math import exp, prod
from typing import Any

import numpy as np

from .counts import ManyCounts
from .docstrings import Family
from .gammas import Gammas

Array = np.ndarray[Any, Any]

_SIZE, _LAG = 312, 156
_UPPER, _LOWER = np.uint64(0xFFFFFFFF80000000), np.uint64(0x7FFFFFFF)
_TWIST = np.uint64(0xB5026F5AA96619E9)
_WHOLE = 2**64
_ONE = np.uint64(1)
#: the methods that draw
_DRAWN = Family({"size": "the shape.", "dtype": "float32 or float64.", "out": "not taken."})


class Twister:
    """A stream of numbers of 64 bits.

    Args:
        seed: where it starts.
        direct: by the recurrence of the Twister itself, without C++'s seed sequence.
    """

    def __init__(self, seed: int, direct: bool = False) -> None:
        self._state: Array = _recurrence(seed) if direct else _from_sequence(seed)
        self._made: Array = self._state[:0]  #: what is drawn and not given yet

    def take(self, count: int) -> Array:
        """The next numbers.

        Args:
            count: how many.
        """
        numbers = self.look(count)
        self.skip(count)
        return numbers

    def look(self, count: int) -> Array:
        """The next numbers, which are given again.

        Args:
            count: how many.
        """
        lacking = count - len(self._made)
        if lacking > 0:
            blocks = [self._next_block() for _ in range(-(-lacking // _SIZE))]
            self._made = np.concatenate([self._made, _tempered(np.concatenate(blocks))])
        return self._made[:count]

    def skip(self, count: int) -> None:
        """Go past numbers that were looked at.

        Args:
            count: how many.
        """
        self._made = self._made[count:]

    def _next_block(self) -> Array:
        old = self._state
        state = self._state = np.empty(_SIZE, np.uint64)
        mixed = _mixed(old[:-1], old[1:])
        np.bitwise_xor(old[_LAG:], mixed[:_LAG], out=state[:_LAG])
        np.bitwise_xor(state[: _LAG - 1], mixed[_LAG:], out=state[_LAG:-1])
        state[-1] = state[_LAG - 1] ^ _mixed(old[-1:], state[:1])[0]
        return state


def _mixed(high: Array, low: Array) -> Array:
    both = (high & _UPPER) | (low & _LOWER)
    return (both >> _ONE) ^ ((both & _ONE) * _TWIST)


def _tempered(words: Array) -> Array:
    words = words ^ ((words >> np.uint64(29)) & np.uint64(0x5555555555555555))
    words ^= (words << np.uint64(17)) & np.uint64(0x71D67FFFEDA60000)
    words ^= (words << np.uint64(37)) & np.uint64(0xFFF7EEE000000000)
    words ^= words >> np.uint64(43)
    return words


def _recurrence(seed: int) -> Array:
    """The first state of a seed of 64 bits."""
    state = [seed % _WHOLE]
    for k in range(1, _SIZE):
        state.append((6364136223846793005 * (state[-1] ^ (state[-1] >> 62)) + k) % _WHOLE)
    return np.array(state, np.uint64)


def _from_sequence(seed: int) -> Array:
    words = _seed_sequence(seed & 0xFFFFFFFF, 2 * _SIZE)
    return words[::2] | (words[1::2] << np.uint64(32))


def _seed_sequence(seed: int, count: int) -> Array:
    """Words of 32 bits that follow from a seed of 32 bits; more than 622."""
    mask = 0xFFFFFFFF
    words, middle = [0x8B8B8B8B] * count, 11
    first = (count - middle) // 2
    second, rounds = first + middle, max(2, count)

    def turned(word: int) -> int:
        return word ^ (word >> 27)

    for k in range(rounds):
        here, near, far = k % count, (k + first) % count, (k + second) % count
        mixed = 1664525 * turned(words[here] ^ words[near] ^ words[here - 1]) & mask
        more = mixed + (1 if k == 0 else here + (seed if k == 1 else 0)) & mask
        words[near] = words[near] + mixed & mask
        words[far] = words[far] + more & mask
        words[here] = more
    for k in range(rounds, rounds + count):
        here, near, far = k % count, (k + first) % count, (k + second) % count
        mixed = 1566083941 * turned(words[here] + words[near] + words[here - 1] & mask) & mask
        less = mixed - here & mask
        words[near] ^= mixed
        words[far] ^= less
        words[here] = less
    return np.array(words, np.uint64)


class PaddleNumbers(np.random.Generator):
    """What Paddle 2 draws on a CPU behind ``paddle.seed``; what is not here is NumPy's.

    Args:
        seed: that of ``paddle.seed``, or of an operator.
        direct: it is an operator's.
    """

    def __init__(self, seed: int, direct: bool = False) -> None:
        super().__init__(np.random.Philox(seed % _WHOLE))
        self._twister = Twister(seed, direct)

    @property
    def bit_generator(self) -> Any:
        """What has the ``state`` of the stream, to read and to set."""
        return _Standing(self)

    def word(self) -> int:
        """The next 64 bits, as a number."""
        return int(self._twister.take(1)[0])

    @_DRAWN
    def random(self, size: Any = None, dtype: Any = "float64", out: Any = None) -> Any:
        """Numbers equally likely everywhere in [0, 1)."""
        shape = _shape(size)
        return _fractions(self._twister.take(prod(shape)), dtype).reshape(shape)

    @_DRAWN
    def standard_normal(self, size: Any = None, dtype: Any = "float64", out: Any = None) -> Any:
        """Normally distributed numbers."""
        shape = _shape(size)
        kind = np.float64 if np.dtype(dtype).itemsize > 4 else np.float32
        count = prod(shape)
        pairs = -(-count // 2)
        if not pairs:
            return np.empty(shape, kind)
        looked = 2 * pairs
        while True:  # some pairs lie outside of the circle
            looked += looked // 2 + 16
            places = _fractions(self._twister.look(looked - looked % 2), dtype) * kind(2) - kind(1)
            x, y = places[::2], places[1::2]
            length = x * x + y * y
            within = np.flatnonzero((length <= 1) & (length != 0))[:pairs]
            if len(within) == pairs:
                break
        self._twister.skip(2 * (int(within[-1]) + 1))
        length = length[within]
        scale = np.sqrt(kind(-2) * np.log(length) / length)
        drawn = np.stack([y[within] * scale, x[within] * scale], axis=1)
        return drawn.reshape(-1)[:count].reshape(shape)

    def standard_exponential(
        self, size: Any = None, dtype: Any = "float64", *more: Any, **named: Any
    ) -> Any:
        """Exponentially distributed numbers with the mean 1.

        Args:
            size: the shape.
            dtype: float32 or float64.
            more, named: not taken.
        """
        return -np.log1p(-self.random(size, dtype))

    def integers(
        self, low: Any, high: Any = None, size: Any = None, *more: Any, **named: Any
    ) -> Any:
        """Whole numbers equally likely everywhere in [low, high).

        Args:
            low, high: the bounds; 0 and ``low`` where ``high`` is None.
            size: the shape.
            more, named: what NumPy's takes besides; its numbers come then.
        """
        if more or named or np.ndim(low) or np.ndim(high if high is not None else 0):
            return super().integers(low, high, size, *more, **named)
        low, high = (0, low) if high is None else (low, high)
        shape = _shape(size)
        drawn = self._below(int(high) - int(low), prod(shape)).astype("int64") + int(low)
        return drawn.reshape(shape) if size is not None else int(drawn[0])

    def standard_gamma(
        self, shape: Any, size: Any = None, dtype: Any = "float64", out: Any = None
    ) -> Any:
        """Numbers of the gamma distribution with the scale 1.

        Args:
            shape: the exponents, above 0.
            size: not taken: each exponent has one number.
            dtype: float32 or float64.
            out: not taken.
        """
        kind: Any = np.float64 if np.dtype(dtype).itemsize > 4 else np.float32
        exponents = np.asarray(shape, kind)
        twister = self._twister
        return Gammas(twister.look, twister.skip, _fractions, kind).draw(exponents)

    def poisson(self, lam: Any = 1.0, size: Any = None) -> Any:
        """How often something happens that happens ``lam`` times on average.

        Args:
            lam: the averages.
            size: not taken: each average has one number.
        """
        means = np.asarray(lam, "float64")
        counts = [self._count(mean) for mean in means.ravel().tolist()]
        return np.array(counts, "int64").reshape(means.shape)

    def _count(self, mean: float) -> int:
        if mean >= 12:
            return ManyCounts(mean).draw(self)
        limit, product, count = exp(-mean), self._fraction(), 0
        while product > limit:
            product *= self._fraction()
            count += 1
        return count

    def _fraction(self) -> float:
        return float(self.random(1)[0])

    def permutation(self, x: Any, axis: int = 0) -> Any:
        """The numbers below ``x``, or its elements, in another order.

        Args:
            x: a number, or an array.
            axis: the dimension of elements.
        """
        if not isinstance(x, (int, np.integer)):
            return np.take(x, self.permutation(np.shape(x)[axis]), axis=axis)
        order = list(range(int(x)))
        k = 1
        if len(order) > 1 and len(order) % 2 == 0:
            other = int(self._below(2, 1)[0])
            order[1], order[other] = order[other], order[1]
            k = 2
        while k < len(order):
            both = int(self._below((k + 1) * (k + 2), 1)[0])
            for place in divmod(both, k + 2):
                order[k], order[place] = order[place], order[k]
                k += 1
        return np.array(order, "int64")

    def _below(self, count: int, draws: int) -> Array:
        """Numbers below ``count``."""
        step = (_WHOLE - 1) // count
        drawn = self._twister.take(draws) // np.uint64(step)
        if (drawn >= count).any():  # as good as never: these are drawn again
            return np.where(drawn < count, drawn, self._below(count, draws))
        return drawn


class _Standing:
    """Where a stream stands."""

    def __init__(self, numbers: PaddleNumbers) -> None:
        self._numbers = numbers

    @property
    def state(self) -> Any:
        own: Any = np.random.Generator.bit_generator
        return deepcopy((own.__get__(self._numbers).state, vars(self._numbers)["_twister"]))

    @state.setter
    def state(self, value: Any) -> None:
        own: Any = np.random.Generator.bit_generator
        own.__get__(self._numbers).state, vars(self._numbers)["_twister"] = deepcopy(value)


def _shape(size: Any) -> tuple[int, ...]:
    if size is None:
        return ()
    return tuple(int(n) for n in size) if np.ndim(size) else (int(size),)


def _fractions(words: Array, dtype: Any) -> Array:
    """Numbers in [0, 1) of words."""
    kind: Any = np.float64 if np.dtype(dtype).itemsize > 4 else np.float32
    drawn: Array = words.astype(kind) / kind(_WHOLE)
    return np.minimum(drawn, np.nextafter(kind(1), kind(0)))
