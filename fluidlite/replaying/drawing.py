"""What steps draw random numbers from, while they are written down and from a plan."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..eager.prepared import Generator, generator
from ..ground.seeding import RandomStream
from ..runtime.executor import Executor
from ..runtime.run import Run
from ..runtime.run_state import RunState

if TYPE_CHECKING:
    from .recording import StepTracer


class HeardGenerator(Generator):
    """The stream of eager operators, under which a step stays eager that draws outside of them.

    Args:
        heard: the stream.
        tracer: of the step.
    """

    def __init__(self, heard: Generator, tracer: StepTracer) -> None:
        self._heard, self._tracer = heard, tracer

    def _refuse(self) -> None:
        if not self._tracer.inside:
            self._tracer.refuse("random numbers are drawn outside of operators")

    @property
    def numpy(self) -> np.random.Generator:
        self._refuse()
        return self._heard.numpy

    @numpy.setter
    def numpy(self, stream: np.random.Generator) -> None:
        self._refuse()
        self._heard.numpy = stream

    @property
    def initial(self) -> int:
        return self._heard.initial

    @initial.setter
    def initial(self, seed: int) -> None:
        self._heard.initial = seed


class _CurrentStream:
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
        return _CurrentStream()

    def _run(self, run: Run, fetch_list: Any = None) -> list[Any]:
        generator.get().standing = self.standing
        return super()._run(run, fetch_list)

    def _run_planned(self, run: Run, known: RunState) -> list[Any]:
        generator.get().standing = self.standing
        return super()._run_planned(run, known)
