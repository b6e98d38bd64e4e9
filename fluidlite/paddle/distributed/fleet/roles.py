"""What a process is among those that train together: a worker, or (not here) a server."""

from __future__ import annotations

import os
from typing import Any

from ....errors import ArgumentError
from ....ground.job_environment import launched
from ....ground.public_names import list_public_names
from ....ground.tracebacks import api_boundaries

__all__ = ["PaddleCloudRoleMaker", "Role", "RoleMakerBase", "UserDefinedRoleMaker"]


class Role:
    """The numbers of what processes do."""

    WORKER = 1
    SERVER = 2
    HETER_WORKER = 3
    ALL = 4
    COORDINATOR = 5


class RoleMakerBase:
    """What a process knows of those that it trains with.

    Args:
        is_collective: whether there are no servers.
    """

    def __init__(self, is_collective: bool = False) -> None:
        self._is_collective = is_collective
        self._role: int | None = None
        self._current_id = 0
        self._workers = 1
        self._nodes = 0
        self._worker_endpoints: list[str] = []
        self._server_endpoints: list[str] = []
        self._is_known = False

    def _find(self) -> None:
        """Find out what this process is."""
        raise NotImplementedError

    def _generate_role(self) -> None:
        if not self._is_known:
            self._find()
            self._is_known = True

    def _found_role(self) -> int | None:
        self._generate_role()
        return self._role

    def _is_worker(self) -> bool:
        return self._found_role() == Role.WORKER

    def _is_server(self) -> bool:
        return self._found_role() == Role.SERVER

    def _is_first_worker(self) -> bool:
        return self._is_worker() and self._current_id == 0

    def _is_coordinator(self) -> bool:
        return self._found_role() == Role.COORDINATOR

    def _is_heter_worker(self) -> bool:
        return self._found_role() == Role.HETER_WORKER

    def _worker_index(self) -> int:
        self._generate_role()
        return self._current_id

    _server_index = _worker_index
    _role_id = _worker_index

    def _worker_num(self) -> int:
        self._generate_role()
        return self._workers

    def _server_num(self) -> int:
        self._generate_role()
        return len(self._server_endpoints)

    def _node_num(self) -> int:
        self._generate_role()
        return self._nodes

    _get_node_num = _node_num

    def _get_trainer_endpoints(self) -> list[str]:
        self._generate_role()
        return list(self._worker_endpoints)

    def _get_pserver_endpoints(self) -> list[str]:
        self._generate_role()
        return list(self._server_endpoints)

    def to_string(self) -> str:
        """The role as a text."""
        self._generate_role()
        return (
            f"role: {self._role}, current_id: {self._current_id}, worker_endpoints: "
            f"{self._worker_endpoints}, server_endpoints: {self._server_endpoints}"
        )

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.to_string() if self._is_known else 'not asked yet'}>"


class PaddleCloudRoleMaker(RoleMakerBase):
    """The role that the environment says: that of MPI, or of Paddle's launcher.

    Args:
        is_collective: whether there are no servers.
        kwargs: accepted.

    >>> from fluidlite.paddle.distributed import fleet
    >>> fleet.PaddleCloudRoleMaker(is_collective=True).to_string()
    "role: 1, current_id: 0, worker_endpoints: ['127.0.0.1:6170'], server_endpoints: []"
    """

    def __init__(self, is_collective: bool = False, **kwargs: object) -> None:
        super().__init__(is_collective)

    def _find(self) -> None:
        launch = launched()
        self._current_id, self._workers, self._nodes = launch.rank, launch.size, 1
        self._role = Role.WORKER
        if self._is_collective:
            self._worker_endpoints = list(launch.endpoints)
            return
        servers = os.environ.get("PADDLE_PSERVERS_IP_PORT_LIST", "")
        self._server_endpoints = [name for name in servers.split(",") if name]
        said = os.environ.get("TRAINING_ROLE", "TRAINER")
        roles = {"TRAINER": Role.WORKER, "PSERVER": Role.SERVER}
        if said not in roles:
            raise ArgumentError(f"expected TRAINING_ROLE as TRAINER or PSERVER, got {said!r:.60}")
        self._role = roles[said]
        if self._role == Role.SERVER:
            own = f"{os.environ.get('POD_IP', '')}:{os.environ.get('PADDLE_PORT', '')}"
            if own not in self._server_endpoints:
                raise ArgumentError(
                    f"expected POD_IP and PADDLE_PORT to name one of {self._server_endpoints}, got "
                    f"{own}"
                )
            self._current_id = self._server_endpoints.index(own)


class UserDefinedRoleMaker(RoleMakerBase):
    """A role that the program says itself.

    Args:
        is_collective: whether there are no servers.
        init_gloo: accepted.
        kwargs: ``current_id``, the number of this process; ``role``, one of ``Role``;
            ``worker_num``, how many workers there are; ``worker_endpoints`` and
            ``server_endpoints``, the names of all as ``HOST:PORT``.

    >>> from fluidlite.paddle.distributed import fleet
    >>> role = fleet.UserDefinedRoleMaker(
    ...     current_id=0, role=fleet.Role.WORKER, worker_num=1, server_endpoints=["here:1"]
    ... )
    >>> role.to_string()
    "role: 1, current_id: 0, worker_endpoints: [], server_endpoints: ['here:1']"
    """

    def __init__(self, is_collective: bool = False, init_gloo: bool = False, **kwargs: Any) -> None:
        super().__init__(is_collective)
        self._told = kwargs

    def _find(self) -> None:
        told = self._told
        self._worker_endpoints = list(told.get("worker_endpoints") or [])
        self._server_endpoints = list(told.get("server_endpoints") or [])
        self._workers = told.get("worker_num") or len(self._worker_endpoints)
        if self._workers < 1:
            raise ArgumentError("UserDefinedRoleMaker: expected worker_num or worker_endpoints")
        self._current_id = told.get("current_id", 0)
        hosts = {name.partition(":")[0] for name in self._worker_endpoints}
        self._nodes = len(hosts)
        if self._is_collective:
            return
        self._role = told.get("role")
        if self._role == Role.SERVER and self._current_id >= len(self._server_endpoints):
            raise ArgumentError(
                f"expected current_id to be one of {len(self._server_endpoints)} servers, got "
                f"{self._current_id}"
            )


list_public_names(globals())
api_boundaries(globals())
