"""What an executor draws random numbers from, to be kept and put back."""

from __future__ import annotations

from collections.abc import Mapping

from ..ir.program import Program
from .executor_state import ExecutorState


class KeepsRandomState(ExecutorState):
    """An executor whose random numbers can go on where those of another one stopped."""

    def random_state(self, program: Program) -> dict[str, int]:
        """What the next run of a program draws random numbers from; for
        :meth:`set_random_state`.
        """
        known = self._known(program)
        return {"seed": known.seed_of(program), "run": known.count}

    def set_random_state(self, program: Program, state: Mapping[str, int]) -> None:
        """Let the next run of a program draw its random numbers as if it were another one.

        Args:
            program: the program.
            state: what :meth:`random_state` gave, of this executor or of another one.
        """
        known = self._known(program)
        known.seed, known.count = int(state["seed"]), int(state["run"])
