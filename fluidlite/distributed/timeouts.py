"""How long a process waits for the others."""

from __future__ import annotations

import os

from ..errors import ArgumentError

VARIABLE = "FLUIDLITE_MPI_TIMEOUT"
SECONDS = 300.0
#: waits for one thing that may take longer: programs are compiled in their first runs
FIRST_WAITS = 3
LONGER = 10  #: times as long, where the variable does not say


class Timeouts:
    """The seconds that a wait may take, and those that the first waits for a thing may.

    Args:
        text: ``seconds``, or ``seconds,seconds``: the latter of the first waits, and of those for
            processes to start and to end; what ``FLUIDLITE_MPI_TIMEOUT`` says when None.

    Raises:
        ArgumentError: it says something else.

    >>> Timeouts("2,30").of("gradients")
    30.0
    """

    name = VARIABLE
    seconds: float
    first: float

    def __init__(self, text: str | None = None) -> None:
        said = os.environ.get(VARIABLE, "") if text is None else text
        self.text: str = said or f"{SECONDS:g}"
        try:
            numbers = [float(word) for word in self.text.split(",")]
            self.seconds, self.first = (*numbers, numbers[0] * LONGER)[:2]
        except ValueError:
            numbers = []
        if not 1 <= len(numbers) <= 2 or not all(number > 0 for number in numbers):
            raise ArgumentError(
                f"expected {VARIABLE} to be seconds, or two numbers of seconds as in 60,600 (the "
                f"second for the first steps, in which programs are compiled), got {self.text!r}"
            )
        self._met: dict[str, int] = {}

    def of(self, what: str) -> float:
        """How long to wait for a thing."""
        return self.first if self._met.get(what, 0) < FIRST_WAITS else self.seconds

    def met(self, what: str) -> None:
        """Note that it came."""
        times = self._met.get(what, 0)
        if times < FIRST_WAITS:
            self._met[what] = times + 1
