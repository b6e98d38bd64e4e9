"""``DistributeTranspiler``: programs rewritten to be run by many processes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .distributed.rewriting import data_parallel
from .errors import ArgumentError, UnsupportedError
from .ground.missing_names import PARAMETER_SERVERS, answer
from .ground.process_group import joined
from .ground.protected import answers_protected
from .ground.public_names import list_public_names
from .ground.reprs import Described
from .ground.tracebacks import api_boundaries
from .ir.program import Program, default_main_program

#: modules that fluid 1.8 had below this one are found (ground/fluid_paths.py)
__path__: list[str] = []

#: the modes in which every process computes, and gradients are summed
COLLECTIVE_MODES = ("nccl2", "collective")


@dataclass(slots=True)
class DistributeTranspilerConfig:
    """How a program is rewritten for many processes.

    ``mode`` is to be "nccl2" or "collective", which do the same here: gradients are summed over all
    processes.  ``collective_mode`` is None or "grad_allreduce".  What else fluid 1.8 has is kept,
    and not read.

    >>> config = fluid.DistributeTranspilerConfig()
    >>> config.mode = "nccl2"
    """

    mode: str = "pserver"
    collective_mode: str | None = None
    completely_not_async: bool = False
    enable_dc_asgd: bool = False
    geo_sgd_mode: bool = False
    geo_sgd_need_push_nums: int = 100
    half_async: bool = False
    hierarchical_allreduce_inter_nranks: int = 0
    min_block_size: int = 8192
    nccl_comm_num: int = 1
    print_log: bool = False
    runtime_split_send_recv: bool = False
    slice_var_up: bool = True
    split_method: type | None = None
    sync_mode: bool = True
    use_hierarchical_allreduce: bool = False
    wait_port: bool = True


@answers_protected
class DistributeTranspiler(Described):
    """Rewrites programs, so that each of several processes runs them on its share of a batch.

    Args:
        config: how; its ``mode`` must be "nccl2" or "collective".

    Raises:
        ArgumentError: ``config`` is of another kind.

    >>> x = fluid.data("x", [None, 3], "float32")
    >>> loss = fluid.layers.mean(fluid.layers.fc(x, 1))
    >>> ops, pairs = fluid.optimizer.SGD(learning_rate=0.1).minimize(loss)
    >>> config = fluid.DistributeTranspilerConfig()
    >>> config.mode = "nccl2"
    >>> transpiler = fluid.DistributeTranspiler(config)
    >>> transpiler.transpile(trainer_id=0, trainers="127.0.0.1:6170")
    >>> transpiler.get_trainer_program() is fluid.default_main_program()
    True
    """

    def __init__(self, config: DistributeTranspilerConfig | None = None) -> None:
        config = DistributeTranspilerConfig() if config is None else config
        if not isinstance(config, DistributeTranspilerConfig):
            raise ArgumentError(
                f"expected config to be a DistributeTranspilerConfig, got {config!r:.60}"
            )
        self.config = config
        self._program: Program | None = None

    def transpile(
        self,
        trainer_id: int,
        program: Program | None = None,
        pservers: str = "127.0.0.1:6174",
        trainers: str | int | Sequence[str] = 1,
        sync_mode: bool = True,
        startup_program: Program | None = None,
        current_endpoint: str = "127.0.0.1:6174",
    ) -> None:
        """Rewrite a program, in its place, where ``minimize`` has been called.

        Args:
            trainer_id: the number of this process: its rank.
            program: the program; the default main program when None.
            pservers: not read.
            trainers: the names of all processes, with commas between, or how many there are.
            sync_mode: not read.
            startup_program: gives all processes the first values of process 0; the default startup
                program when None.
            current_endpoint: not read.

        Raises:
            UnsupportedError: ``config.mode`` is "pserver", or there are not as many processes; says
                what to write instead.
            ArgumentError: an argument is of another kind, or this is another process.
        """
        check_modes("DistributeTranspilerConfig", self.config.mode, self.config.collective_mode)
        names = trainers.split(",") if isinstance(trainers, str) else trainers
        count = names if isinstance(names, int) else len(names)
        program = default_main_program() if program is None else program
        joined(count, trainer_id)
        self._program = data_parallel(program, startup_program)

    def get_trainer_program(self, wait_port: bool = True) -> Program:
        """The program that was rewritten.

        Args:
            wait_port: not read.

        Raises:
            ArgumentError: :meth:`transpile` has not been called.
        """
        if self._program is None:
            raise ArgumentError("expected transpile() to be called before get_trainer_program()")
        return self._program

    def get_pserver_program(self, endpoint: str) -> Program:
        """Nothing: no process keeps parameters.

        Args:
            endpoint: not read.

        Raises:
            UnsupportedError: always; says what to write instead.
        """
        raise _no_servers("get_pserver_program")

    def get_pserver_programs(self, endpoint: str) -> tuple[Program, Program]:
        """Nothing; as :meth:`get_pserver_program`."""
        raise _no_servers("get_pserver_programs")

    def get_startup_program(
        self,
        endpoint: str,
        pserver_program: Program | None = None,
        startup_program: Program | None = None,
    ) -> Program:
        """Nothing; as :meth:`get_pserver_program`."""
        raise _no_servers("get_startup_program")


def _no_servers(what: str) -> UnsupportedError:
    return UnsupportedError(f"{what}: no process keeps parameters; use {PARAMETER_SERVERS}")


def check_modes(where: str, mode: str, collective_mode: str | None) -> None:
    """Refuse ways to train in many processes that fluidlite lacks.

    Args:
        where: what has the modes, for messages.
        mode: "nccl2" or "collective".
        collective_mode: None or "grad_allreduce".

    Raises:
        UnsupportedError: fluid 1.8 has it.
        ArgumentError: nobody has it.
    """
    if mode == "pserver":
        raise _no_servers(f"{where}: mode 'pserver'")
    if mode not in COLLECTIVE_MODES:
        raise ArgumentError(
            f"expected {where}.mode to be 'nccl2' or 'collective', got {mode!r:.60}"
        )
    if collective_mode == "local_sgd":
        raise UnsupportedError(
            f"{where}.collective_mode 'local_sgd': processes do not step by themselves "
            "here; use 'grad_allreduce', which sums gradients in every step"
        )
    if collective_mode not in (None, "grad_allreduce"):
        raise ArgumentError(
            f"expected {where}.collective_mode to be 'grad_allreduce', got {collective_mode!r:.60}"
        )


list_public_names(globals())
api_boundaries(globals())
answer(globals())
