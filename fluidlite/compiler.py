"""Compiled programs as fluid 1.8's scripts make them.

An executor compiles every program that it runs again, so there is little to choose: strategies
are kept, and but for the scale of gradients not read.  On several devices (``replicated.py`` of
``runtime``) each part of a batch goes through the program by itself, one after the other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from operator import attrgetter
from typing import Any, ClassVar
from weakref import ref

import numpy as np

from .errors import ArgumentError, FeedTypeError
from .ground.missing_names import answer
from .ground.place import Place, cpu_places, devices_said
from .ground.process_group import joined
from .ground.protected import answers, answers_protected
from .ground.public_names import list_public_names
from .ground.reprs import Described
from .ground.tracebacks import api_boundaries
from .ir.program import Program, default_main_program
from .scope import Scope


@dataclass(slots=True)
class ExecutionStrategy:
    """How threads and scopes would be used; kept, not read.

    >>> strategy = fluid.ExecutionStrategy()
    >>> strategy.num_threads = 4
    """

    allow_op_delay: bool = False
    num_iteration_per_drop_scope: int = 100
    num_iteration_per_run: int = 1
    num_threads: int = 0
    use_cuda: bool = True
    use_experimental_executor: bool = True
    use_thread_barrier: bool = False


class _ReduceStrategy(Enum):
    """Whether several devices share what forward operators write to the scope."""

    Reduce = 0
    AllReduce = 1


class GradientScaleStrategy(Enum):
    """What the gradient of the loss begins with on several devices."""

    CoeffNumDevice = 0
    One = 1
    Customized = 2


_Scales = GradientScaleStrategy


@dataclass(slots=True)
class BuildStrategy:
    """How a program would be rewritten before it runs; kept, and mostly not read.

    On several devices ``gradient_scale_strategy`` says whether gradients are their mean or their
    sum, and ``reduce_strategy`` whether they share statistics (``Reduce``).

    >>> strategy = fluid.BuildStrategy()
    >>> strategy.reduce_strategy = fluid.BuildStrategy.ReduceStrategy.Reduce
    """

    ReduceStrategy: ClassVar[type[_ReduceStrategy]] = _ReduceStrategy
    GradientScaleStrategy: ClassVar[type[_Scales]] = GradientScaleStrategy
    allow_cuda_graph_capture: bool = False
    async_mode: bool = False
    bkcl_comm_num: int = 1
    build_cinn_pass: bool = False
    cache_runtime_context: bool = False
    debug_graphviz_path: str = ""
    enable_addto: bool = False
    enable_auto_fusion: bool = False
    enable_backward_optimizer_op_deps: bool = True
    enable_inplace: bool = True
    enable_sequential_execution: bool = False
    fix_op_run_order: bool = False
    fuse_adamw: bool = False
    fuse_all_optimizer_ops: bool = False
    fuse_all_reduce_ops: bool = True
    fuse_bn_act_ops: bool = False
    fuse_bn_add_act_ops: bool = True
    fuse_broadcast_ops: bool = True
    fuse_elewise_add_act_ops: bool = False
    fuse_gemm_epilogue: bool = False
    fuse_relu_depthwise_conv: bool = False
    fused_attention: bool = False
    fused_feedforward: bool = False
    gradient_scale_strategy: Enum = GradientScaleStrategy.CoeffNumDevice
    hierarchical_allreduce_inter_nranks: int = 0
    is_distribution: bool = False
    memory_optimize: bool | None = None
    mkldnn_enabled_op_types: set[str] = field(default_factory=set)
    nccl_comm_num: int = 1
    num_trainers: int = 1
    reduce_strategy: _ReduceStrategy = _ReduceStrategy.AllReduce
    remove_unnecessary_lock: bool = True
    sequential_run: bool = False
    sync_batch_norm: bool = False
    trainer_id: int = 0
    trainers_endpoints: list[str] = field(default_factory=list)
    use_hierarchical_allreduce: bool = False


class KeptByDevices(Described):
    """Values that each device computes for itself, and keeps from run to run: statistics.

    They start from those of the scope.  A change of the scope is one of the first device.
    """

    def __init__(self) -> None:
        #: whose scope, and by device, without the first, values by name
        self.values: tuple[ref[Scope] | None, Sequence[Mapping[str, Any]]] = (None, ())

    def of(self, scope: Scope, count: int) -> Sequence[Mapping[str, Any]]:
        """By device, without the first of ``count``, values by name."""
        whose, values = self.values
        fits = whose is not None and whose() is scope and len(values) == count - 1
        return values if fits else [{}] * (count - 1)


@answers_protected
@answers(_is_inference=False)
class CompiledProgram:
    """A program to be run, with strategies that are kept and not read.

    Args:
        program_or_graph: the program, or what ``IrGraph.graph`` gives.
        build_strategy: how it would be rewritten.

    Raises:
        ArgumentError: this is no program, or no strategy.

    >>> x = fluid.data("x", [None, 2])
    >>> y = fluid.layers.reduce_sum(x)
    >>> compiled = fluid.CompiledProgram(fluid.default_main_program()).with_data_parallel()
    >>> fluid.Executor().run(compiled, {"x": np.ones([3, 2], "float32")}, [y])
    [array([6.], dtype=float32)]
    """

    def __init__(
        self, program_or_graph: Program, build_strategy: BuildStrategy | None = None
    ) -> None:
        as_program = getattr(program_or_graph, "as_program", None)
        if as_program is not None:  # a graph of old programs
            program_or_graph = as_program()
        if not isinstance(program_or_graph, Program):
            raise ArgumentError(
                f"expected a Program to compile, got {program_or_graph!r:.60} of type "
                f"{type(program_or_graph).__name__}"
            )
        self.program = program_or_graph
        self.build_strategy: Any = _strategy(build_strategy, BuildStrategy, "build_strategy")
        self.exec_strategy: ExecutionStrategy | None = None
        self.data_parallel: bool = False
        self._given_places: Sequence[Any] | None = None
        self._loss_name: str | None = None
        self._share_vars_from: CompiledProgram | None = None
        #: what devices behind the first keep from run to run; those of the first are the scope's
        self.kept: KeptByDevices = KeptByDevices()

    def with_data_parallel(
        self,
        loss_name: str | None = None,
        build_strategy: BuildStrategy | None = None,
        exec_strategy: ExecutionStrategy | None = None,
        share_vars_from: CompiledProgram | None = None,
        places: Sequence[Any] | Place | None = None,
    ) -> CompiledProgram:
        """This program, to be fed with one batch, or with a list of one for each device.

        Where several processes were started together, each feeds its share of a batch: the program
        of a loss gets the sums of gradients over all of them (``fluid.distributed.data_parallel``).

        Args:
            loss_name: the loss's name; None for a program that does not train.
            build_strategy, exec_strategy: kept.
            share_vars_from: whose devices' values (of statistics, say) these are, too.
            places: a place, or one for each device that gets a part of a batch; as many as
                ``CPU_NUM`` says when None.

        Raises:
            ArgumentError: something else stands for a strategy, or this has been called before.
            UnsupportedError: the environment says that there are several processes, which MPI has
                not started.
        """
        if self.data_parallel:
            raise ArgumentError("expected with_data_parallel to be called once, got a second call")
        given = _strategy(build_strategy, BuildStrategy, "build_strategy")
        self.build_strategy = given or self.build_strategy
        self.exec_strategy = _strategy(exec_strategy, ExecutionStrategy, "exec_strategy")
        self.data_parallel = True
        self._loss_name, self._share_vars_from = loss_name, share_vars_from
        self._given_places = [places] if isinstance(places, Place) else places
        if share_vars_from is not None:
            self.kept = share_vars_from.kept
        if loss_name is not None:
            joined().share(self.program)
        return self

    # as fluid 1.8 calls them
    _program: Any = property(attrgetter("program"))
    _is_data_parallel: Any = property(attrgetter("data_parallel"))
    _build_strategy: Any = property(attrgetter("build_strategy"))
    _exec_strategy: Any = property(attrgetter("exec_strategy"))

    @property
    def device_count(self) -> int:
        """How many devices share a batch: as many as there are places, or as ``CPU_NUM`` in the
        environment says.

        Raises:
            ArgumentError: ``CPU_NUM`` is no number.
        """
        if not self.data_parallel:
            return 1
        if self._given_places:
            return len(self._given_places)
        return devices_said()

    @property
    def _places(self) -> Sequence[Any]:  # libraries of 1.8 count them
        return self._given_places or cpu_places(self.device_count)

    def __repr__(self) -> str:
        return f"<CompiledProgram of {self.program!r}>"


def merged_feed(feed: Any) -> Any:
    """A feed as one dictionary: of a list of them the arrays are joined along the batch.

    Args:
        feed: a dictionary, a list of them, or nothing.

    Raises:
        FeedTypeError: the dictionaries do not hold the same names, or what they hold does not join.
    """
    if not isinstance(feed, (list, tuple)) or not feed:
        return feed
    if not all(isinstance(each, dict) for each in feed):
        raise FeedTypeError(f"expected a list of dictionaries to feed, got {feed!r:.60}")
    if len(feed) == 1:  # which may have sequences
        return feed[0]
    if len({frozenset(each) for each in feed}) > 1:
        listed = "; ".join(", ".join(map(str, sorted(each))) for each in feed)
        raise FeedTypeError(f"expected the same names in every dictionary, got {listed}")
    try:
        return {name: np.concatenate([np.asarray(each[name]) for each in feed]) for name in feed[0]}
    except ValueError as error:
        raise FeedTypeError(f"expected arrays that join along the batch: {error}") from None


#: what is fed, by names of variables; or several of them, one for each device
Feeds = Mapping[str, Any] | Sequence[Mapping[str, Any]]


def program_and_feed(
    program: Program | CompiledProgram | None, feed: Any = None
) -> tuple[Program, Any]:
    """The program that is meant, and what is fed as one dictionary.

    Args:
        program: the default main program when None.
        feed: a dictionary, a list of them, or nothing.

    Raises:
        ArgumentError: it is no program.
        FeedTypeError: the batches of a list do not join.
    """
    if isinstance(program, CompiledProgram):
        feed = merged_feed(feed) if program.data_parallel else feed
        program = program.program
    program = default_main_program() if program is None else program
    if not isinstance(program, Program):
        raise ArgumentError(
            f"expected a Program to run, got {program!r:.60} of type {type(program).__name__}"
        )
    return program, feed


def _strategy(given: Any, kind: type, what: str) -> Any:
    if given is not None and not isinstance(given, kind):
        raise ArgumentError(f"expected {what} to be a {kind.__name__}, got {given!r:.60}")
    return given


list_public_names(globals())
api_boundaries(globals())
answer(globals())
