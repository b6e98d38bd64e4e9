"""One run of a program on JAX: compiled stages, steps of the host, and what is kept between."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import jax

from ...errors import FluidError, OpError
from ...ground.values import is_device_array, on_host
from ...ground.weak_tables import WeakTable
from ...ir.operator import located
from ...profiler import clock
from ..plan import BlockPlan
from ..session import Session
from ..sharding import mesh_in_use
from ..step import Environment, Step
from .control import Branch
from .interpreter import TracedEval
from .mesh import MeshPlacement
from .processes import Meeting
from .refusal import NotTraceable
from .stage import CompiledStage, sized
from .staging import HostStep, Staging, described
from .trace import StepTrace


@dataclass(eq=False)
class Device:
    """Where stages run, and how they have been divided: what an executor keeps.

    Args:
        backends: JAX's and NumPy's.
        device: JAX's device; its default when None.
        draws_on_host: whether random numbers are NumPy's.
        precision: of products.
    """

    backends: tuple[Any, Any]
    device: Any = None
    draws_on_host: bool = False
    precision: str = "highest"
    stagings: WeakTable[BlockPlan, dict[Any, Staging]] = field(default_factory=WeakTable)

    #: programs as functions over several devices, by their first plan
    parallel: WeakTable[BlockPlan, dict[Any, Any]] = field(default_factory=WeakTable)

    #: of several processes
    meeting: Meeting = field(default_factory=Meeting)

    def staging(self, plan: BlockPlan) -> Staging:
        """How a block is divided."""
        known = self.stagings.of(plan)
        if known is None:
            known = self.stagings.keep(plan, {})
        mesh = mesh_in_use.get()
        placing = None if mesh is None else MeshPlacement(mesh, plan.block.program)
        key = None if placing is None else placing.key
        staging = known.get(key)
        if staging is None:
            how = self.backends, self.draws_on_host, placing, self.precision
            staging = known[key] = Staging(plan, *how)
        return staging


@dataclass(eq=False)
class DeviceSession(Session):
    """One run of a program, whose stages JAX runs; other steps are run as NumPy's session does."""

    on: Any = None  #: the :class:`Device`
    donates: frozenset[str] = frozenset()  #: names whose old values nothing needs any more

    def __post_init__(self) -> None:
        super().__post_init__()
        self._turns: tuple[int, ...] = ()
        self._on_host = False  #: whether a block is run whose values are all on the host
        jax_, _ = self.on.backends
        self._number = jax_.number_of(self.seed, self.count)

    def run(self, plan: BlockPlan, env: Environment, turn: int | None = None) -> None:
        """Run a block on values by name, which take the results."""
        before = self._turns
        if turn is not None:
            self._turns = (*before, turn)
        jax_, _ = self.on.backends
        try:
            with jax_.wide_on(self.on.device):
                super().run(plan, env, turn)
        finally:
            self._turns = before

    def _run_plan(self, plan: BlockPlan, env: Environment) -> None:
        staging = self.on.staging(plan)
        if self._on_host and staging.is_on_host:  # nothing of the device is in reach
            self._interpret(plan, env, self.profile)
            return
        for part in list(staging.parts):
            self._run_part(staging, part, env)

    def _run_part(self, staging: Staging, part: CompiledStage | HostStep, env: Environment) -> None:
        if isinstance(part, HostStep):
            self._run_on_host(part.step, env)
        elif self.observer is not None or self.checked:
            for step in part.steps:
                self._run_on_host(step, env)
        elif self.strict:
            self._run_one_by_one(part, env)
        else:
            self._run_stage(staging, part, env)

    def _run_on_host(self, step: Step, env: Environment) -> None:
        """Run a step on NumPy; blocks that it drives have stages of their own."""
        before = self._on_host
        self._on_host = step.body is not None and self.on.staging(step.body).is_on_host
        if step.body is None or self._on_host:
            asked = () if step.loss is None else (step.loss,)
            for name in (*step.reads, *(name for _, name in step.updates), *asked):
                if name in env:
                    env[name] = on_host(env[name])
        branches = {n: v for n in step.reads if isinstance(v := env.get(n), Branch)}
        env.update({name: branch.on_host for name, branch in branches.items()})
        try:
            self._run_one(step, env, self.profile)
        finally:
            self._on_host = before
            env.update({name: branch for name, branch in branches.items() if name in env})

    def _run_stage(self, staging: Staging, stage: CompiledStage, env: Environment) -> None:
        donated = {n: env[n] for n in stage.reads if n in self.donates and is_device_array(env[n])}
        if len({id(v) for v in donated.values()}) < len(donated) or stage.has_checks:
            donated = {}
        begin = clock()
        try:
            is_right = stage(env, self._number, self._turns, donated)
        except Exception as error:
            if _is_out_of_memory(error):
                raise self._out_of_memory(stage, env, error) from error
            if donated and any(v.is_deleted() for v in donated.values()):
                raise
            self._run_divided(staging, stage, env, error)
            return
        if not is_right:  # the step that refuses its inputs says why
            for step in stage.steps:
                self._run_on_host(step, env)
            return
        if self.profile is not None:
            jax.block_until_ready([env[n] for n in stage.writes if n in env])
            self.profile.add(stage.steps[-1].op, begin, clock(), 0)

    def _run_divided(
        self, staging: Staging, stage: CompiledStage, env: Environment, error: Exception
    ) -> None:
        """Run a stage that cannot be compiled as a whole; keep how, unless a step fails on the
        host, too: then it is what it was given that was wrong.
        """
        parts = staging.divided(stage, described(error))
        trial = Staging.__new__(Staging)
        trial.__dict__.update(staging.__dict__)
        trial.parts = list(parts)
        for part in parts:
            self._run_part(trial, part, env)
        staging.replace(stage, trial.parts)

    def _run_one_by_one(self, stage: CompiledStage, env: Environment) -> None:
        """Run steps one by one on JAX, and look at what each of them writes."""
        backend, host = self.on.backends
        trace = StepTrace(TracedEval(backend, host), backend.run_key(self._number, self._turns))
        for step in stage.steps:
            if step.body is not None:
                self._run_on_host(step, env)
                continue
            try:
                with backend.checks.guard([]), backend.products(self.on.precision):
                    if step.instance.is_control:  # which hands on values
                        trace.step(step, env)
                    else:
                        trace.compute(step, env)
            except FluidError as error:
                raise located(error, step.op, []) from error
            except (NotTraceable, TypeError, ValueError):
                self._run_on_host(step, env)
            else:
                self._refuse_bad(step, env)
                step.let_go(env)

    def _out_of_memory(
        self, stage: CompiledStage, env: Environment, error: Exception
    ) -> FluidError:
        listed = ", ".join(f"{name} {size} bytes" for size, name in sized(env)[:5])
        first = str(error).split("\n", 1)[0]
        return OpError(
            f"the device has not enough memory for {stage.size} operators that end with "
            f"{stage.steps[-1].op}; the largest values that they are given: {listed}; use a "
            f"smaller batch, or checkpoints (RecomputeOptimizer)\n  {first}"
        )


def _is_out_of_memory(error: Exception) -> bool:
    return "RESOURCE_EXHAUSTED" in str(error)


class StageText(NamedTuple):
    """A part of a plan that JAX runs, for readers."""

    where: str  #: "compiled", or "host"
    operators: int
    text: str  #: the operators, and of the host's why it runs them

    def __str__(self) -> str:
        return f"{self.where}: {self.text}"


def stages_text(device: Device, plan: BlockPlan) -> list[StageText]:
    """What JAX compiles of a block and what the host runs."""
    texts = []
    for part in device.staging(plan).parts:
        if isinstance(part, HostStep):
            texts.append(StageText("host", 1, f"{part.step.op.type}: {part.why}"))
            if part.step.body is not None:
                texts += stages_text(device, part.step.body)
        else:
            types = [step.op.type for step in part.steps]
            ends = types[0] if len(types) == 1 else f"{types[0]} to {types[-1]}"
            texts.append(StageText("compiled", part.size, f"{part.size} operators, {ends}"))
    return texts
