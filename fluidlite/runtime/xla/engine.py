"""What an executor on JAX keeps: its device, and how programs have been divided."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import jax
import numpy as np

from ... import backend as backends
from ...backend.jax_ import PRECISIONS
from ...errors import ArgumentError, UnsupportedError
from ...ground.callsite import warn
from ...ground.private_folders import private_folder
from ...ground.weak_tables import WeakTable
from ...ir.program import Program
from ...scope import Scope
from ..plan import Plan
from ..run import Run
from ..run_state import RunState
from ..sharding import mesh_in_use
from .bound import BoundStage, bound
from .mesh import MeshPlacement
from .parallel import MeshReplicas
from .session import Device, DeviceSession, stages_text
from .shapes import ShapeWatch


class Engine:
    """Runs programs by JAX.

    Args:
        gpu: the number of a CUDA device; None for the device that JAX prefers.
        remedy: what to do where there is no such device.
        precision: of products; what ``FLUIDLITE_JAX_PRECISION`` says when None, or the highest.

    Raises:
        UnsupportedError: JAX does not see the device.
        ArgumentError: ``FLUIDLITE_JAX_RANDOM`` is neither "device" nor "host", or there is no such
            precision.
    """

    name = "jax"

    def __init__(self, gpu: int | None, remedy: str, precision: str | None = None) -> None:
        draws = os.environ.get("FLUIDLITE_JAX_RANDOM", "") or "device"
        if draws not in ("device", "host"):
            raise ArgumentError(
                f"expected FLUIDLITE_JAX_RANDOM to be device or host, got {draws!r:.60}"
            )
        pair = backends.get("jax"), backends.get("numpy")
        self._watches: WeakTable[Plan, ShapeWatch] = WeakTable()
        folder = os.environ.get("FLUIDLITE_JAX_CACHE", "")
        if folder and (kept := _kept_in(folder)):  # compiled functions stay between processes
            jax.config.update("jax_compilation_cache_dir", kept)
        self._device = Device(pair, _device(gpu, remedy), draws == "host", _precision(precision))

    def session(self, seed: int, count: int, **how: Any) -> DeviceSession:
        """The next run of a program.

        Args:
            seed: what random operators start from.
            count: the number of the run.
            how: of :class:`Session`.
        """
        return DeviceSession(self._device.backends[1], seed, count, on=self._device, **how)

    def run_bound(self, plan: Plan, run: Run, known: RunState) -> list[Any] | None:
        """Run a program that is one stage, bound to a scope.

        Args:
            plan: of the program.
            run: what is run, what it is fed, and in which scope.
            known: counts the runs.

        Returns:
            the fetched values; None where the run has to be planned.
        """
        call = _bound_stage(plan, run.scope)
        return None if call is None else self._called(call, run.feed or {}, run.program, known)

    def bound_run(
        self, plan: Plan, asked: Run, known: RunState
    ) -> Callable[..., list[Any] | None] | None:
        """What :meth:`run_bound` calls, as a function of the feeds; None where there is nothing.

        It gives None where another mesh is in use than now.

        Args:
            plan, known: see there.
            asked: the run, without its feeds.
        """
        mesh, call = mesh_in_use.get(), _bound_stage(plan, asked.scope)
        if call is None:
            return None

        program = asked.program
        plain, draws, used = call.__call__, call.draws, mesh_in_use.get

        def run(feed: Mapping[str, Any], _: None) -> list[Any] | None:
            if used() is not mesh:
                return None
            return self._called(call, feed, program, known) if draws else plain(feed, None)

        return run

    def _called(
        self, call: BoundStage, feed: Mapping[str, Any], program: Program, known: RunState
    ) -> list[Any] | None:
        if not call.draws:
            return call(feed, None)
        with call.turn:
            number = self._device.backends[0].number_of(known.seed_of(program), known.count)
            return call(feed, number)

    def meet(self, run: Run, env: dict[str, Any], feed: Mapping[str, Any], known: RunState) -> None:
        """Bring the values of a run to all processes that run it on a mesh.

        Args:
            run: what is run, and in which scope.
            env: the values of the run, by name; takes those of all processes.
            feed: what this process was fed.
            known: counts the runs.
        """
        mesh = mesh_in_use.get()
        if mesh is not None and jax.process_count() > 1:
            placing = MeshPlacement(mesh, run.program)
            self._device.meeting.hold(placing, run.program, env, feed, run.scope, known)

    def run_anew(
        self, plan: Plan, run: Run, feed: Mapping[str, Any], known: RunState
    ) -> list[Any] | None:
        """Bind a program to a scope, where it is one stage, and run it; as :meth:`run_bound`.

        Args:
            plan, run, known: see there.
            feed: values by name.
        """
        program, scope = run.program, run.scope
        watch = self._watches.of(plan) or self._watches.keep(plan, ShapeWatch())
        watch.note(feed, known.count)
        stage = self._device.staging(plan).only
        if stage is None or not all(type(value) is np.ndarray for value in feed.values()):
            return None
        calls = plan.bound.of(scope)
        if calls is None:
            calls = plan.bound.keep(scope, {})
        names = run.wanted[0], plan.commits
        call = bound(stage, feed, names, scope, known, self._device.device)
        calls[mesh_in_use.get()] = scope.revision, call
        return None if call is None else self._called(call, feed, program, known)

    def replicas(self, *how: Any) -> MeshReplicas:
        """A run of a program on several devices.

        Args:
            how: of :class:`Replicas`.
        """
        made = MeshReplicas(*how)
        made.on = self._device
        return made

    def describe(self, plan: Plan) -> Plan:
        """Let a plan say how it is divided; the plan."""
        plan.staged = partial(stages_text, self._device, plan)
        return plan


_UNBOUND: dict[Any, Any] = {}


def _bound_stage(plan: Plan, scope: Scope) -> BoundStage | None:
    """The stage of a plan that is bound to a scope, for the mesh in use; None without one."""
    call: BoundStage | None
    revision, call = (plan.bound.of(scope) or _UNBOUND).get(mesh_in_use.get(), (-1, None))
    return call if revision == scope.revision else None


def _precision(said: str | None) -> str:
    precision = said or os.environ.get("FLUIDLITE_JAX_PRECISION", "") or "highest"
    if precision not in PRECISIONS:
        where = "FLUIDLITE_JAX_PRECISION" if said is None else "precision"
        raise ArgumentError(
            f"expected {where} to be one of {', '.join(PRECISIONS)}, got {precision!r:.60}"
        )
    return precision


def _kept_in(folder: str) -> str:
    """Where compiled functions are kept; nowhere, with a warning, where others may write code."""
    if "://" in folder:  # JAX's own business
        return folder
    try:
        return str(private_folder(folder))
    except (OSError, ValueError) as error:
        warn(f"what JAX compiles cannot be kept in {folder} ({error}); it is compiled anew", None)
        return ""


def _device(gpu: int | None, remedy: str) -> Any:
    if gpu is None:
        return None
    try:
        seen = jax.devices("cuda")
    except RuntimeError:
        seen = []
    for device in seen:
        if device.id == gpu:
            return device
    listed = ", ".join(str(d.id) for d in seen) or "none"
    raise UnsupportedError(
        f"CUDAPlace({gpu}) is not available: JAX sees these CUDA devices: {listed}; {remedy}"
    )
