"""What an executor has, and what the parts of it rely on."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from weakref import ref

from .. import backend as backends
from ..errors import ClosedError
from ..ground.allocator import give_back_freed_memory
from ..ground.place import Place
from ..ground.protected import answers
from ..ground.seeding import RandomStream, next_executor
from ..ir.program import Program
from ..profiler import Profile, active
from .engine import chosen
from .run import Run
from .run_state import ExecutorToken, RunState
from .segment import passes_for

if TYPE_CHECKING:
    from .passes.form import Pass


@answers(_closed=lambda self: self._token is None)
class ExecutorState:
    """The base of an executor's parts: arguments as of :class:`~fluidlite.Executor`."""

    place: Place

    def __init__(
        self,
        place: Place | None,
        profile: bool,
        passes: str | Sequence[Pass] | None,
        backend: str | None,
        precision: str | None,
    ) -> None:
        self.place, self._engine = chosen(place, backend, precision)
        self._passes = passes_for(passes)
        #: the times of operators, where they are taken
        self.profile: Profile | None = Profile() if profile else None
        self._backend = backends.get("numpy")
        self._token: ExecutorToken | None = ExecutorToken()
        #: of what programs remember for this executor
        self._key: ref[ExecutorToken] | None = ref(self._token)
        self._number = next_executor()
        self._check = os.environ.get("FLUIDLITE_CHECK", "") not in ("", "0")
        self._given = place, profile, passes, backend, precision
        self._made = frozenset(vars(self))

    def __getstate__(self) -> dict[str, Any]:
        """What copies have: the arguments; what is remembered of programs lies with those."""
        own = {name: value for name, value in vars(self).items() if name not in self._made}
        return {**own, "_given": self._given, "_token": self._token is not None}

    def __setstate__(self, kept: dict[str, Any]) -> None:
        ExecutorState.__init__(self, *kept.pop("_given"))
        if not kept.pop("_token"):
            self.close()
        vars(self).update(kept)

    def close(self) -> None:
        """Let go of everything; running anything after it is an error."""
        self._token = self._key = None
        give_back_freed_memory()

    @property
    def _looks(self) -> bool:
        """Whether somebody looks at each operator."""
        return self._check or self.profile is not None or active.get() is not None

    def _known(self, program: Program) -> RunState:
        """What this executor remembers of a program.

        Raises:
            ClosedError: nothing any more.
        """
        if self._token is None:
            raise ClosedError("the executor has been closed; make another one")
        known: RunState | None = program.remembered.get(self._key)
        now = RunState(self._number, self._stream()) if known is None else known.renewed()
        return now if now is known else program.remembered.keep(self._token, now)

    def _stream(self) -> RandomStream | None:
        """What random operators of all programs draw from in turn; None where seeds say it."""
        return None

    def _run(self, run: Run, fetch_list: Any = None) -> list[Any]:
        """Do a run by the highest tier that there is for it; the fetched values.

        Args:
            run: what to run, and the values that it takes.
            fetch_list: as the user gave it.
        """
        raise NotImplementedError
