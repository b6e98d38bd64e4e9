"""``fleet``: scripts of fluid 1.8 train in many processes by it, with gradients summed over all.

``fleet`` is the one object of the module.  What it knows of this process's job is process-wide
state.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...compiler import BuildStrategy, CompiledProgram, ExecutionStrategy, GradientScaleStrategy
from ...contrib import mixed_precision
from ...distributed.fleets import SAVED, FleetOfAll, OptimizerOfAll, split_files
from ...distributed.rewriting import data_parallel
from ...errors import ArgumentError, UnsupportedError
from ...ground import state
from ...ground.callsite import warn
from ...ground.files import Path
from ...ground.missing_names import PARAMETER_SERVERS, answer
from ...ground.process_group import groups, joined
from ...ground.public_names import list_public_names
from ...ground.reprs import Described
from ...ground.spellings import Spelling, parameters_of
from ...ground.tracebacks import api_boundaries
from ...io import save_inference_model, save_persistables
from ...ir.program import Program
from ...ir.variable import Variable
from ...optimizer import RecomputeOptimizer
from ...runtime.executor import Executor
from ...transpiler import check_modes
from .role_maker import PaddleCloudRoleMaker, RoleMakerBase

#: functions that write, where they write to folders alone
_INTO_FOLDERS = Spelling({}, types={"Path | None": "Path"})


class Mode:
    """The numbers of the ways to train in many processes; only ``COLLECTIVE`` is there."""

    TRANSPILER = 1
    PSLIB = 2
    COLLECTIVE = 3


class LambConfig:
    """Nothing: settings of an optimizer, which none reads."""


class DistFCConfig:
    """Nothing: settings of layers that are divided among processes, which fluidlite lacks."""


@dataclass(slots=True)
class DistributedStrategy(BuildStrategy):
    """How a program is trained in many processes, and how it would be rewritten before it runs.

    What a ``BuildStrategy`` has is kept, but for ``gradient_scale_strategy``, which has to stay
    ``CoeffNumDevice``: the gradient is the mean of those of all processes.

    Args:
        mode: "nccl2" or "collective"; ``fleet.main_program`` is a compiled program for the first,
            else the program itself.
        collective_mode: None or "grad_allreduce".
        use_local_sgd: whether processes step by themselves: must be False.
        use_dist_fc: whether layers are divided: must be False.
        dist_fc_config: not read.
        forward_recompute: keep ``recompute_checkpoints`` only, and compute the rest again.
        recompute_checkpoints: the variables that are kept then.
        use_amp: train in float16 where that is safe.
        amp_loss_scaling: what the loss is multiplied by at first, then.
        exec_strategy: kept.

    >>> strategy = fluid.incubate.fleet.collective.DistributedStrategy()
    >>> strategy.mode
    'nccl2'
    """

    mode: str = "nccl2"
    collective_mode: str | None = None
    use_local_sgd: bool = False
    use_dist_fc: bool = False
    dist_fc_config: DistFCConfig | None = None
    forward_recompute: bool = False
    recompute_checkpoints: list[Variable | str] = field(default_factory=list)
    use_amp: bool = False
    amp_loss_scaling: float = 2**15
    exec_strategy: ExecutionStrategy = field(default_factory=ExecutionStrategy)

    def check(self) -> None:
        """Refuse missing features.

        Raises:
            UnsupportedError: fluid 1.8 has it; says what to write instead.
            ArgumentError: nobody has it.
        """
        check_modes("DistributedStrategy", self.mode, self.collective_mode)
        if self.use_local_sgd:
            check_modes("DistributedStrategy", self.mode, "local_sgd")
        if self.use_dist_fc:
            raise UnsupportedError(
                "DistributedStrategy.use_dist_fc: fluidlite does not divide layers among "
                "processes; leave it out: every process has all parameters"
            )
        if self.gradient_scale_strategy != GradientScaleStrategy.CoeffNumDevice:
            raise UnsupportedError(
                f"DistributedStrategy.gradient_scale_strategy: expected CoeffNumDevice, the mean "
                f"of all processes' gradients, got {self.gradient_scale_strategy}; multiply the "
                "loss instead"
            )
        if self.sync_batch_norm and groups.get().size > 1:
            warn("sync_batch_norm: each process has batch statistics of its own share", None)


class CollectiveOptimizer(OptimizerOfAll, Described):
    """An optimizer whose steps are made from the gradients of all processes.

    ``fleet.main_program`` and ``fleet.startup_program`` are what to run behind ``minimize``.

    Args:
        optimizer: makes the steps.
        strategy: how.

    Raises:
        ArgumentError: an argument is of another kind.
        UnsupportedError: the strategy asks for a missing feature.
    """

    def __init__(self, optimizer: Any, strategy: DistributedStrategy | None = None) -> None:
        strategy = DistributedStrategy() if strategy is None else strategy
        if not hasattr(optimizer, "minimize"):
            raise ArgumentError(
                f"expected an optimizer, such as fluid.optimizer.SGD(0.1), got {optimizer!r:.60}"
            )
        if not isinstance(strategy, DistributedStrategy):
            raise ArgumentError(
                "expected strategy to be a DistributedStrategy of "
                f"fluid.incubate.fleet.collective, got {strategy!r:.60}"
            )
        strategy.check()
        self._strategy = strategy
        if strategy.forward_recompute:
            optimizer = RecomputeOptimizer(optimizer)
            optimizer.set_checkpoints(list(strategy.recompute_checkpoints))
        if strategy.use_amp:
            optimizer = mixed_precision.decorate(
                optimizer, init_loss_scaling=strategy.amp_loss_scaling
            )
        self._optimizer = optimizer

    def _check(self) -> None:
        _job.get().need_role()

    def _minimized(self, loss: Variable, startup: Program, given: dict[str, Any]) -> Any:
        job, main, strategy = _job.get(), loss.block.program, self._strategy
        origin = main.clone()
        result = self._optimizer.minimize(loss, startup_program=startup, **given)
        data_parallel(main, startup)
        job.origin, job.main, job.startup = origin, main, startup
        job.to_run = main
        if strategy.mode == "nccl2":
            compiled = CompiledProgram(main)
            job.to_run = compiled.with_data_parallel(loss.name, strategy, strategy.exec_strategy)
        return result

    def backward(self, loss: Variable, *args: Any, **keywords: Any) -> Any:
        """The first half of :meth:`minimize`, of this process alone; arguments and result as of the
        optimizer's.
        """
        return self._optimizer.backward(loss, *args, **keywords)

    def apply_gradients(self, params_grads: Sequence[tuple[Variable, Variable]]) -> Any:
        """The second half of :meth:`minimize`, of this process alone; arguments and result as of
        the optimizer's.
        """
        return self._optimizer.apply_gradients(params_grads)


@dataclass
class _Job:
    """What this process trains, and with whom."""

    role: RoleMakerBase | None = None
    origin: Program | None = None
    main: Program | None = None
    startup: Program | None = None
    to_run: Program | CompiledProgram | None = None

    def need_role(self) -> RoleMakerBase:
        """Who this process is; an error where nobody has asked."""
        if self.role is None:
            raise ArgumentError(
                "expected fleet.init(role_maker) first: "
                "fleet.init(role_maker.PaddleCloudRoleMaker(is_collective=True))"
            )
        return self.role


_job: state.StateSlot[_Job] = state.slot("fleet", _Job)


class Fleet(FleetOfAll, Described):
    """The processes that train together; ``fleet`` is the one that scripts use.

    >>> from fluidlite.incubate.fleet import role_maker
    >>> from fluidlite.incubate.fleet.collective import fleet
    >>> fleet.init(role_maker.PaddleCloudRoleMaker(is_collective=True))
    >>> x = fluid.data("x", [None, 3], "float32")
    >>> loss = fluid.layers.mean(fluid.layers.fc(x, 1))
    >>> _ = fleet.distributed_optimizer(fluid.optimizer.SGD(0.1)).minimize(loss)
    >>> exe = fluid.Executor()
    >>> _ = exe.run(fleet.startup_program)
    >>> len(exe.run(fleet.main_program, {"x": np.ones([2, 3], "float32")}, [loss]))
    1
    """

    def init(self, role_maker: RoleMakerBase | None = None) -> None:
        """Join the other processes.

        Args:
            role_maker: says which of them this is; what the environment says when None.

        Raises:
            ArgumentError: it is no role maker, or says another number than MPI.
            UnsupportedError: it asks for processes that keep parameters, or there are not as many
                processes as it says; says what to write instead.
        """
        role = PaddleCloudRoleMaker(is_collective=True) if role_maker is None else role_maker
        if not isinstance(role, RoleMakerBase):
            raise ArgumentError(
                "expected a role maker, such as PaddleCloudRoleMaker(is_collective=True), got "
                f"{role!r:.60}"
            )
        role.generate_role()
        joined(role.worker_num(), role.worker_index())
        _job.switch(_Job(role))

    def _ask(self, what: str) -> Any:
        return getattr(self._role, what)()

    @property
    def _role(self) -> RoleMakerBase:
        return _job.get().need_role()

    # -- what processes do together ----------------------------------------------------------------

    def barrier_worker(self) -> None:
        """Wait until all processes have come here."""
        self._role.barrier_worker()

    def all_reduce_worker(self, input: Any, output: Any) -> None:
        """Sum arrays over all processes.

        Args:
            input: an array, of the same shape everywhere.
            output: an array that the sum is written to.
        """
        self._role.all_reduce_worker(np.asarray(input), output)

    split_files = split_files

    def init_worker(self) -> None:
        """Nothing: :meth:`init` has done it."""

    def run_worker(self, main_programs: Any = None, scopes: Any = None) -> None:
        """Nothing: an executor runs ``main_program``.

        Args:
            main_programs, scopes: not read.
        """

    def stop_worker(self) -> None:
        """Nothing: processes end when their scripts do."""

    def init_server(self, model_dir: Any = None) -> None:
        """Nothing: no process keeps parameters.

        Args:
            model_dir: not read.
        """

    def run_server(self) -> None:
        """Nothing, with an error: no process keeps parameters.

        Raises:
            UnsupportedError: always; says what to write instead.
        """
        raise UnsupportedError(f"run_server: no process keeps parameters; use {PARAMETER_SERVERS}")

    # -- training ----------------------------------------------------------------------------------

    def distributed_optimizer(
        self, optimizer: Any, strategy: DistributedStrategy | None = None
    ) -> CollectiveOptimizer:
        """An optimizer whose steps are made from the gradients of all processes.

        Args:
            optimizer: makes the steps.
            strategy: how; as by default when None.
        """
        return CollectiveOptimizer(optimizer, strategy)

    @property
    def main_program(self) -> Program | CompiledProgram | None:
        """What to run in each step; None before ``minimize``."""
        return _job.get().to_run

    @property
    def startup_program(self) -> Program | None:
        """What to run first; None before ``minimize``."""
        return _job.get().startup

    @property
    def _origin_program(self) -> Program | None:
        """The program as it was before ``minimize``."""
        return _job.get().origin

    @property
    def _transpiled_program(self) -> Program | None:
        """The program that is trained."""
        return _job.get().main

    # -- files -------------------------------------------------------------------------------------

    @SAVED
    @parameters_of(_INTO_FOLDERS(save_persistables), method=True)
    def save_persistables(
        self, executor: Executor, dirname: Path, main_program: Any, filename: str | None
    ) -> None:
        """Write all variables that stay in the scope; process 0 does, the others do nothing.

        Args:
            main_program: the program; that which ``minimize`` was called for when None.

        Raises:
            ArgumentError: there is no program.
            FileError: a file cannot be written.
        """
        program = self._program(main_program)
        if self.is_first_worker():
            save_persistables(executor, dirname, program, filename)

    @SAVED
    def save_inference_model(
        self,
        executor: Executor,
        dirname: Path,
        feeded_var_names: list[str] | None = None,
        target_vars: list[Variable] | None = None,
        main_program: Program | None = None,
        export_for_deployment: bool = True,
    ) -> list[str]:
        """Write the part of a program that computes the targets; process 0 does, the others do
        nothing.

        Args:
            main_program: the program; as it was before ``minimize`` when None.

        Returns:
            the names of the targets.
        """
        program = _job.get().origin if main_program is None else main_program
        targets = [] if target_vars is None else list(target_vars)
        if self.is_first_worker():
            save_inference_model(
                dirname,
                feeded_var_names,
                targets,
                executor,
                self._program(program),
                export_for_deployment=export_for_deployment,
            )
        return [target.name for target in targets]

    def _program(self, given: Program | CompiledProgram | None) -> Program:
        program = _job.get().main if given is None else given
        if isinstance(program, CompiledProgram):
            program = program.program
        if not isinstance(program, Program):
            raise ArgumentError(
                f"expected a Program, or minimize() to be called before, got {program!r:.60}"
            )
        return program


fleet: Fleet = Fleet()

list_public_names(globals())
api_boundaries(globals())
answer(globals())
