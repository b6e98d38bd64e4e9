"""Several processes that run programs on one mesh: before a program is compiled for what they are
fed, they find out whether all are fed alike, and go on from the values of process 0.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from itertools import count
from typing import Any

import jax
import numpy as np
from jax.experimental import multihost_utils

from ...errors import ArgumentError, FeedError, UnsupportedError
from ...ground.weak_tables import WeakTable
from ...ir.program import Program
from ...scope import Scope
from ..run_state import RunState
from .mesh import MeshPlacement, is_own

SECONDS = 300  #: how long a process waits for what the others say


@dataclass(eq=False)
class Meeting:
    """What an executor knows of the other processes."""

    #: by program, the shapes that all have been fed last
    _shapes: WeakTable[Program, list[Any]] = field(default_factory=WeakTable)

    def hold(
        self,
        placing: MeshPlacement,
        program: Program,
        env: dict[str, Any],
        fed: Mapping[str, Any],
        scope: Scope,
        known: RunState,
    ) -> None:
        """Bring the values of a run to all processes: parts of a batch become the batch, variables
        that each has for itself get the values of process 0, and so do seeds.

        Args:
            placing: where values lie.
            program: that is run.
            env: the values of the run, by name; takes those of all processes.
            fed: what this process was fed.
            scope: of the variables.
            known: counts the runs.

        Raises:
            FeedError: batches have different shapes.
            ArgumentError: the processes run different programs, or one of them does not come.
            UnsupportedError: sequences are fed.
        """
        for name, value in fed.items():
            if not isinstance(value, np.ndarray):
                raise UnsupportedError(
                    f"expected arrays where several processes feed a mesh, got sequences for "
                    f"variable {name!r}; feed padded rows and their lengths"
                )
        data = [name for name in fed if placing.is_data(name)]
        own = sorted(n for n, v in env.items() if n not in data and is_own(v))
        last = self._shapes.of(program) or self._shapes.keep(program, [])
        shapes = {name: [list(fed[name].shape), str(fed[name].dtype)] for name in sorted(data)}
        if own or last != [shapes]:
            sizes = {name: [list(env[name].shape), str(env[name].dtype)] for name in own}
            seed = known.seed_of(program)
            first = _told(
                {"feeds": shapes, "values": sizes, "operators": _types(program)},
                {"seed": seed, "count": known.count},
            )
            known.seed, known.count = first["seed"], first["count"]
            last[:] = [shapes]
        for name in own:
            value = multihost_utils.broadcast_one_to_all(np.asarray(env[name]))
            env[name] = placing.given(name, np.asarray(value))
            held = scope.find_var(name)
            if held is not None and name not in fed:
                held.value = env[name]
        for name in data:
            env[name] = placing.given(name, fed[name])


def _types(program: Program) -> list[str]:
    return [op.type for block in program.blocks for op in block.ops] + [
        f"seed {program.random_seed}"
    ]


def _told(same: Mapping[str, Any], others: Mapping[str, Any]) -> Any:
    """What process 0 says.

    Args:
        same: what has to be the same everywhere.
        others: what need not.

    Raises:
        FeedError, ArgumentError: see :meth:`Meeting.hold`.
    """
    reports = [json.loads(text) for text in _exchanged(json.dumps({**same, **others}))]
    for number, said in enumerate(reports):
        for name in sorted({*reports[0]["feeds"], *said["feeds"]}):
            here, there = (each["feeds"].get(name, ["nothing"]) for each in (reports[0], said))
            if here != there:
                raise FeedError(
                    f"expected all {len(reports)} processes to be fed as many rows, got "
                    f"{_said(here)} for variable {name!r} in process 0 and {_said(there)} in "
                    f"process {number}; pad the smaller batch, or leave out the rest of an epoch"
                )
        for what in ("operators", "values"):
            here, there = reports[0][what], said[what]
            if here != there:
                raise ArgumentError(
                    f"expected all {len(reports)} processes to run the same program from the same "
                    f"variables, got other {what} in process {number} than in process 0: "
                    f"{_difference(here, there)}"
                )
    return reports[0]


def _said(entry: Sequence[Any]) -> str:
    return " ".join(map(str, entry[::-1])).replace(" [", "[")


def _difference(here: Any, there: Any) -> str:
    """Where two lists, or two tables, differ first."""
    if isinstance(here, list):
        pairs = zip([*here, "nothing"], [*there, "nothing"])
        place, pair = next((k, p) for k, p in enumerate(pairs) if p[0] != p[1])
        return f"number {place} is {pair[1]}, not {pair[0]}"
    name = next(n for n in sorted({*here, *there}) if here.get(n) != there.get(n))
    return f"{name!r} is {_said(there.get(name, ['not there']))}, not " + _said(
        here.get(name, ["there"])
    )


#: numbers what processes say; never begins again, since what was said stays
_numbers = count(1)


def _exchanged(text: str) -> list[str]:
    """What every process says, by its number: by JAX's coordinator, which waits only so long.

    Raises:
        ArgumentError: one of them does not come.
    """
    # no public name has the coordinator; what runs in one process does without
    client: Any = import_module("jax._src.distributed").global_state.client
    place, texts = f"fluidlite/{next(_numbers)}", []
    client.key_value_set(f"{place}/{jax.process_index()}", text)
    for number in range(jax.process_count()):
        try:
            texts.append(client.blocking_key_value_get(f"{place}/{number}", SECONDS * 1000))
        except Exception as error:
            raise ArgumentError(
                f"waited {SECONDS} seconds for process {number}, which runs something else or has "
                f"ended; every process has to run the same programs in the same order, and to be "
                f"fed as many rows"
            ) from error
    return texts
