"""``fleet``: what a process knows of those that it trains with, and what they do together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, NoReturn

import numpy as np

from ....contrib import mixed_precision
from ....distributed.fleets import SAVED, FleetOfAll, OptimizerOfAll, split_files
from ....distributed.rewriting import data_parallel
from ....errors import ArgumentError, ExplainedError, UnsupportedError
from ....ground import state
from ....ground.files import Path
from ....ground.missing_names import PARAMETER_SERVERS
from ....ground.process_group import groups
from ....ground.public_names import list_public_names
from ....ground.spellings import Spelling
from ....ground.tracebacks import api_boundaries
from ....io import save_inference_model, save_persistables
from ....ir.program import Program, default_main_program
from ....ir.variable import Variable
from ....optimizer import GradientMergeOptimizer, RecomputeOptimizer
from ....optimizer.wrapped import Delegates
from ... import modes
from ..groups import init_parallel_env
from ..parallel import DataParallel
from .roles import PaddleCloudRoleMaker, RoleMakerBase
from .strategies import DistributedStrategy
from .topologies import CommunicateTopology, HybridCommunicateGroup

__all__ = ["Fleet", "UtilBase"]

_LEVELS = ("CRITICAL", "DEBUG", "ERROR", "FATAL", "INFO", "WARN", "WARNING")
#: switches that do nothing for a process alone -> what to do instead where there are several
_AMONG_SEVERAL = {
    "localsgd": "leave it out: gradients are summed in every step",
    "adaptive_localsgd": "leave it out: gradients are summed in every step",
    "dgc": "leave it out: gradients are sent whole",
    "fp16_allreduce": "leave it out: gradients are sent in their element type",
    "sharding": "leave it out: every process has all parameters",
    "tensor_parallel": "leave it out: every process has all parameters",
}
#: switches that are missing -> what to write instead
_MISSING = {
    "pipeline": "leave it out: a program runs in one process as a whole",
    "lars": "paddle.incubate.optimizer.LarsMomentumOptimizer",
    "lamb": "paddle.optimizer.Lamb",
    "qat": "a tool of today to compress",
    "adam_d2sum": "paddle.optimizer.Adam",
}


class _Job:
    """What a process knows of its job."""

    def __init__(self) -> None:
        self.role: RoleMakerBase | None = None
        self.strategy: DistributedStrategy | None = None
        self.optimizer: DistributedOptimizer | None = None


_job: state.StateSlot[_Job] = state.slot("fleet of paddle 2", _Job)


class UtilBase:
    """What processes do together with arrays and files."""

    def all_reduce(self, input: Any, mode: str = "sum", comm_world: str = "worker") -> Any:
        """Reduce the arrays of all processes, element by element.

        Args:
            input: an array, of the same shape everywhere.
            mode: "sum", "max" or "min".
            comm_world: accepted: all processes are workers.

        Raises:
            ArgumentError: there is no such mode.
        """
        processes = groups.get()
        if processes.size == 1:
            return input
        if mode not in ("sum", "max", "min"):
            raise ArgumentError(f"expected mode to be sum, max or min, got {mode!r:.60}")
        return processes.all_reduce(np.asarray(input), mode, 0)

    def all_gather(self, input: Any, comm_world: str = "worker") -> Any:
        """The numbers of all processes, in their order; the number itself in one alone.

        Args:
            input: a number.
            comm_world: accepted: all processes are workers.
        """
        processes = groups.get()
        if processes.size == 1:
            return input
        return processes.all_gather(np.asarray(input)[None], 0).tolist()

    def barrier(self, comm_world: str = "worker") -> None:
        """Wait until all processes have come here.

        Args:
            comm_world: accepted: all processes are workers.
        """
        groups.get().all_reduce(np.zeros(1, "int32"), "sum", 0)

    def _ask(self, what: str) -> Any:
        return _asked(what)

    get_file_shard = get_heter_file_shard = split_files

    def print_on_rank(self, message: str, rank_id: int) -> None:
        """Print a message in one process.

        Args:
            message: what is printed.
            rank_id: the number of the process.
        """
        if need_role()._worker_index() == rank_id:
            print(message)

    def __repr__(self) -> str:
        return "<UtilBase>"


def need_role() -> Any:
    """The role of this process.

    Raises:
        ExplainedError: ``fleet.init`` has not been called.
    """
    role = _job.get().role
    if role is None:
        raise ExplainedError("fleet: call fleet.init() first; fleet.init(is_collective=True)")
    return role


def _asked(what: str) -> Any:
    return getattr(need_role(), f"_{what}")()


class DistributedOptimizer(OptimizerOfAll, Delegates):
    """An optimizer of a program whose steps are made from the gradients of all processes.

    Args:
        optimizer: makes the steps.
        strategy: how.

    Raises:
        UnsupportedError: the strategy asks for a missing feature; says what to write instead.
    """

    def __init__(self, optimizer: Any, strategy: DistributedStrategy) -> None:
        several = groups.get().size > 1
        for name, use in {**_MISSING, **(_AMONG_SEVERAL if several else {})}.items():
            if getattr(strategy, name):
                raise UnsupportedError(f"DistributedStrategy.{name} is not supported; use {use}")
        self.user_defined_optimizer: Any = optimizer
        told: Any = strategy  # whose switches are made of a table
        if told.recompute:
            optimizer = RecomputeOptimizer(optimizer)
            optimizer.set_checkpoints(told.recompute_configs["checkpoints"])
        if told.gradient_merge:
            optimizer = GradientMergeOptimizer(optimizer, **told.gradient_merge_configs)
        if told.amp:
            options = told.amp_configs
            lists = mixed_precision.AutoMixedPrecisionLists(
                options["custom_white_list"] or None,
                options["custom_black_list"] or None,
                options["custom_black_varnames"] or None,
            )
            words = (
                "init_loss_scaling", "incr_every_n_steps", "decr_every_n_nan_or_inf",
                "incr_ratio", "decr_ratio", "use_dynamic_loss_scaling",
            )  # fmt: skip
            optimizer = mixed_precision.decorate(
                optimizer, lists, **{word: options[word] for word in words}
            )
        self._optimizer = optimizer

    def _minimized(self, loss: Variable, startup: Program, given: dict[str, Any]) -> Any:
        result = self._optimizer.minimize(loss, startup_program=startup, **given)
        if groups.get().size > 1:
            data_parallel(loss.block.program, startup)
        return result

    def __repr__(self) -> str:
        return f"DistributedOptimizer({self.user_defined_optimizer!r})"


def _last_optimizer(fleet: Fleet) -> Any:
    return fleet._optimizer("minimize")


class Fleet(FleetOfAll):
    """The process's view of all that train together.

    >>> from fluidlite.paddle.distributed import fleet
    >>> _ = fleet.init(is_collective=True)
    >>> fleet.worker_index(), fleet.worker_num(), fleet.is_first_worker()
    (0, 1, True)
    """

    def __init__(self) -> None:
        self.util: UtilBase = UtilBase()

    def init(
        self,
        role_maker: RoleMakerBase | None = None,
        is_collective: bool = False,
        strategy: DistributedStrategy | None = None,
        log_level: int | str = "INFO",
    ) -> Fleet:
        """Join the other processes.

        Args:
            role_maker: says which of them this is; what the environment says when None.
            is_collective: whether there are no servers, where ``role_maker`` is None.
            strategy: how layers are trained; as by default when None.
            log_level: accepted.

        Raises:
            ArgumentError: an argument is of another kind.
            UnsupportedError: there are other processes, and MPI has not started them.
        """
        if isinstance(log_level, str) and log_level.upper() not in _LEVELS:
            raise ArgumentError(f"expected log_level to be one of {_LEVELS}, got {log_level!r:.60}")
        if strategy is not None and not isinstance(strategy, DistributedStrategy):
            raise ExplainedError(f"expected a DistributedStrategy, got {strategy!r:.60}")
        role = (
            PaddleCloudRoleMaker(is_collective=is_collective) if role_maker is None else role_maker
        )
        if not isinstance(role, RoleMakerBase):
            raise ArgumentError(
                f"expected a role maker, such as PaddleCloudRoleMaker(), got {role!r:.60}"
            )
        role._generate_role()
        if role._is_server() or role._server_num():
            raise UnsupportedError(f"fleet: no process keeps parameters; use {PARAMETER_SERVERS}")
        init_parallel_env()
        job = _Job()
        job.role, job.strategy = role, strategy
        _job.switch(job)
        return self

    # -- who this process is -----------------------------------------------------------------------

    def _ask(self, what: str) -> Any:
        return _asked(what)

    def node_num(self) -> int:
        """How many machines there are."""
        return need_role()._node_num()

    def is_coordinator(self) -> bool:
        """Whether this process leads others: none does."""
        return need_role()._is_coordinator()

    def local_rank(self) -> None:
        """None: no launcher says it."""
        need_role()

    rank_in_node = local_rank

    def local_device_ids(self) -> None:
        """None: there are no devices."""
        need_role()

    world_device_ids = local_device_ids

    def get_hybrid_communicate_group(self) -> HybridCommunicateGroup:
        """Which part of the work this process has: a share of each batch."""
        return HybridCommunicateGroup(self.get_hybrid_parallel_topology())

    def get_hybrid_parallel_topology(self) -> CommunicateTopology:
        """All processes in one row, each with a share of each batch."""
        return CommunicateTopology(dims=(self.worker_num(), 1, 1, 1, 1))

    # -- what processes do together ----------------------------------------------------------------

    def barrier_worker(self) -> None:
        """Wait until all processes have come here."""
        need_role()
        self.util.barrier()

    def all_reduce(self, input: Any, mode: str = "sum") -> Any:
        """Reduce the arrays of all processes, element by element.

        Args:
            input: an array, of the same shape everywhere.
            mode: "sum", "max" or "min".
        """
        return self.util.all_reduce(input, mode)

    def init_worker(self, scopes: Any = None) -> None:
        """Nothing: :meth:`init` has done it.

        Args:
            scopes: not read.

        Raises:
            ArgumentError: ``init`` has not been called.
        """
        if _job.get().role is None:
            raise ArgumentError("fleet: call fleet.init() first")

    stop_worker = init_worker

    # -- training ----------------------------------------------------------------------------------

    def distributed_optimizer(
        self, optimizer: Any, strategy: DistributedStrategy | None = None
    ) -> Any:
        """An optimizer whose steps are made from the gradients of all processes.

        Args:
            optimizer: makes the steps.
            strategy: how; as :meth:`init` was told when None.

        Returns:
            the optimizer itself where layers run at once: ``distributed_model`` takes the means.

        Raises:
            UnsupportedError: the strategy asks for a missing feature; says what to write instead.
        """
        if modes.in_dynamic_mode():
            return optimizer
        job = _job.get()
        job.optimizer = DistributedOptimizer(
            optimizer, strategy or job.strategy or DistributedStrategy()
        )
        return job.optimizer

    def distributed_model(self, model: Any) -> Any:
        """A layer whose gradients are the means of those of all processes; the layer itself in one
        process.

        Args:
            model: the layer.

        Raises:
            ArgumentError: there is none.
        """
        if model is None:
            raise ArgumentError("distributed_model: expected a layer, got None")
        return model if self.worker_num() == 1 else DataParallel(model)

    def distributed_scaler(self, scaler: Any) -> Any:
        """The scaler itself: all processes see the same gradients.

        Args:
            scaler: a ``paddle.amp.GradScaler``.
        """
        return scaler

    minimize: ClassVar[Callable[..., Any]] = Spelling({})(
        OptimizerOfAll.minimize,
        doc="The same of what ``distributed_optimizer`` gave last.",
        into={"self": _last_optimizer},
    )

    def amp_init(
        self,
        place: Any,
        scope: Any = None,
        test_program: Program | None = None,
        use_fp16_test: bool = False,
    ) -> Any:
        """The same of what ``distributed_optimizer`` gave last.

        Args:
            place: the device.
            scope: holds the parameters.
            test_program: a program that is changed alike.
            use_fp16_test: whether it is.
        """
        return self._optimizer("amp_init").amp_init(place, scope, test_program, use_fp16_test)

    def get_loss_scaling(self) -> Any:
        """What losses are multiplied by."""
        return self._optimizer("get_loss_scaling").get_loss_scaling()

    def _optimizer(self, name: str) -> Any:
        optimizer = _job.get().optimizer
        if optimizer is None:
            raise ExplainedError(f"fleet.{name}: call fleet.distributed_optimizer() first")
        return optimizer

    # -- files -------------------------------------------------------------------------------------

    @SAVED
    def save_persistables(
        self, executor: Any, dirname: Path, main_program: Program | None = None, mode: int = 0
    ) -> None:
        """Write all variables that stay in the scope; process 0 does, the others do nothing.

        Args:
            main_program: the program; the default one when None.
        """
        if self.is_first_worker():
            save_persistables(executor, dirname, main_program or default_main_program())

    @SAVED
    def save_inference_model(
        self,
        executor: Any,
        dirname: Path,
        feeded_var_names: list[str],
        target_vars: Sequence[Variable],
        main_program: Program | None = None,
        export_for_deployment: bool = True,
        mode: int = 0,
    ) -> None:
        """Write the part of a program that computes the targets; process 0 does, the others do
        nothing.

        Args:
            main_program: the program; the default one when None.
        """
        if self.is_first_worker():
            save_inference_model(
                dirname,
                feeded_var_names,
                list(target_vars),
                executor,
                main_program or default_main_program(),
                export_for_deployment=export_for_deployment,
            )

    def __repr__(self) -> str:
        role = _job.get().role
        return "<Fleet>" if role is None else f"<Fleet: {role.to_string()}>"


#: methods that servers of parameters would answer, or groups of devices
_REFUSED = {
    **dict.fromkeys(
        [
            "check_save_pre_patch_done", "get_fl_client", "init_coordinator", "init_server",
            "load_inference_model", "load_model", "load_one_table", "make_fl_strategy",
            "run_server", "save", "save_cache_model", "save_cache_table", "save_dense_params",
            "save_one_table", "shrink",
        ],
        f"no process keeps parameters; use {PARAMETER_SERVERS}",
    ),
    **dict.fromkeys(
        [
            "allgather_perf", "allreduce_perf", "broadcast_perf", "collective_perf",
            "reduce_perf", "reduce_scatter_perf",
        ],
        "devices are not measured; time paddle.distributed.all_reduce",
    ),
    "qat_init": f"networks are not rounded; use {_MISSING['qat']}",
}  # fmt: skip


def _refusing(name: str, why: str) -> Callable[..., NoReturn]:
    def refuse(self: Fleet, *args: object, **kwargs: object) -> NoReturn:
        raise UnsupportedError(f"fleet.{name}: {why}")

    refuse.__name__, refuse.__qualname__ = name, f"Fleet.{name}"
    refuse.__doc__ = f"Nothing, with an error: {why}."
    return refuse


for _name, _why in _REFUSED.items():
    setattr(Fleet, _name, _refusing(_name, _why))

list_public_names(globals())
api_boundaries(globals())
