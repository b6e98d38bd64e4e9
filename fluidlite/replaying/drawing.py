"""What plans of steps draw random numbers from."""

from __future__ import annotations

from typing import Any

from ..eager.prepared import generator
from ..ground.seeding import RandomStream
from ..runtime.executor import Executor
from ..runtime.run import Run
from ..runtime.run_state import RunState


class _StreamThen:
    """The stream of eager operators that there is when something draws."""

    def __call__(self, own: int) -> Any:
        return generator.get()(own)

    @property
    def standing(self) -> Any:
        """Where it stands; to be set, too."""
        return generator.get().standing

    @standing.setter
    def standing(self, value: Any) -> None:
        generator.get().standing = value


class DrawsInTurn(Executor):
    """An executor whose operators draw from the stream of eager ones, as the step itself does; the
    same numbers in each attempt at a run.
    """

    standing: Any = None  #: where the stream stands as a run begins

    def _stream(self) -> RandomStream | None:
        return _StreamThen()

    def _run(self, run: Run, fetch_list: Any = None) -> list[Any]:
        generator.get().standing = self.standing
        return super()._run(run, fetch_list)

    def _run_planned(self, run: Run, known: RunState) -> list[Any]:
        generator.get().standing = self.standing
        return super()._run_planned(run, known)
