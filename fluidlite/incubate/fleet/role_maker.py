"""Which of the processes that train together this one is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...errors import ArgumentError, UnsupportedError
from ...ground.arguments import refused
from ...ground.job_environment import launched
from ...ground.missing_names import PARAMETER_SERVERS
from ...ground.process_group import groups
from ...ground.public_names import list_public_names
from ...ground.reprs import Described
from ...ground.tracebacks import api_boundaries


class Role:
    """The number of what a process does: it computes, or (not here) it keeps parameters."""

    WORKER = 1
    SERVER = 2


class RoleMakerBase(Described):
    """What a process knows of those that it trains with.

    >>> role = fluid.incubate.fleet.role_maker.PaddleCloudRoleMaker(is_collective=True)
    >>> role.generate_role()
    >>> role.worker_index(), role.worker_num(), role.is_first_worker()
    (0, 1, True)
    """

    def __init__(self) -> None:
        self._current_id = 0
        self._worker_endpoints: list[str] = []
        self._role_is_generated = False

    def generate_role(self) -> None:
        """Find out which process this is; further calls change nothing."""
        if not self._role_is_generated:
            self._find()
            self._role_is_generated = True

    def _find(self) -> None:
        """Find out which process this is."""
        raise NotImplementedError

    def is_worker(self) -> bool:
        """Whether this process computes: True."""
        return True

    def is_server(self) -> bool:
        """Whether this process keeps parameters: False."""
        return False

    def is_first_worker(self) -> bool:
        """Whether this is process 0."""
        return self.worker_index() == 0

    def worker_index(self) -> int:
        """The number of this process."""
        self.generate_role()
        return self._current_id

    def server_index(self) -> int:
        """The number of this process among those that keep parameters: there are none.

        Raises:
            UnsupportedError: always; says what to write instead.
        """
        raise UnsupportedError(
            f"server_index: no process keeps parameters; use {PARAMETER_SERVERS}"
        )

    def worker_num(self) -> int:
        """How many processes there are."""
        self.generate_role()
        return len(self._worker_endpoints)

    def server_num(self) -> int:
        """How many processes keep parameters: 0."""
        return 0

    def get_trainer_endpoints(self) -> list[str]:
        """The names of all processes, as ``HOST:PORT``; nothing listens there."""
        self.generate_role()
        return list(self._worker_endpoints)

    def get_pserver_endpoints(self) -> list[str]:
        """The names of processes that keep parameters: there are none."""
        return []

    def to_string(self) -> str:
        """The role as a text."""
        return (
            f"worker {self.worker_index()} of {self.worker_num()}: "
            f"{','.join(self.get_trainer_endpoints())}"
        )

    def barrier_worker(self) -> None:
        """Wait until all processes have come here."""
        groups.get().all_reduce(np.zeros(1, "int32"), "sum", 0)

    barrier_all = barrier_worker

    def all_gather(self, input: Any) -> list[Any]:
        """The numbers that all processes give, in their order.

        Args:
            input: a number, or an array of the same shape everywhere.
        """
        return list(groups.get().all_gather(np.asarray(input)[None], 0))

    def all_reduce_worker(self, input: Any, output: Any, mode: str = "sum") -> None:
        """Reduce the arrays that all processes give, element by element.

        Args:
            input: an array, of the same shape everywhere.
            output: an array that the result is written to.
            mode: "sum", "max" or "min".

        Raises:
            ArgumentError: ``mode`` is none of them.
        """
        if mode not in ("sum", "max", "min"):
            raise ArgumentError(f"expected mode to be sum, max or min, got {mode!r:.60}")
        output[...] = groups.get().all_reduce(np.asarray(input), mode, 0)


class PaddleCloudRoleMaker(RoleMakerBase):
    """The role that the environment says: that of MPI, or of Paddle's launcher.

    Args:
        is_collective: must be True: no process keeps parameters.

    Raises:
        UnsupportedError: ``is_collective`` is False, or the environment says that this process is
            to keep parameters; says what to write instead.
    """

    def __init__(self, is_collective: bool = False) -> None:
        super().__init__()
        self._is_collective = is_collective

    def _find(self) -> None:
        if not self._is_collective:
            raise UnsupportedError(
                "PaddleCloudRoleMaker: no process keeps parameters; use is_collective=True, and "
                + PARAMETER_SERVERS
            )
        found = launched()
        self._current_id, self._worker_endpoints = found.rank, list(found.endpoints)


class UserDefinedCollectiveRoleMaker(RoleMakerBase):
    """A role that the program says itself.

    Args:
        current_id: the number of this process, from 0.
        worker_endpoints: the names of all processes, as ``HOST:PORT``; nothing listens there.

    Raises:
        ArgumentError: there is no process of that number, or names are no texts.

    >>> maker = fluid.incubate.fleet.role_maker.UserDefinedCollectiveRoleMaker(0, ["here:6170"])
    >>> maker.worker_num()
    1
    """

    def __init__(self, current_id: int = 0, worker_endpoints: Sequence[str] | None = None) -> None:
        super().__init__()
        names = worker_endpoints
        if not isinstance(names, list) or not names or not all(isinstance(n, str) for n in names):
            raise ArgumentError(
                f"expected worker_endpoints to be a list of names of processes, got {names!r:.60}"
            )
        if type(current_id) is not int or not 0 <= current_id < len(names):
            wanted = f"one of {len(names)} processes, 0 to {len(names) - 1}"
            raise refused("", "current_id", wanted, current_id)
        self._current_id, self._worker_endpoints = current_id, list(names)

    def _find(self) -> None:
        """Nothing: it was said."""


list_public_names(globals())
api_boundaries(globals())
