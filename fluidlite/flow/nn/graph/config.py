"""What can be said of a graph: most of it concerns other machines, and changes nothing here."""

from __future__ import annotations

from typing import Any

from ....eager.engine import located
from ....errors import ArgumentError
from ....ground.docstrings import Family

_ACCEPTED = Family({"mode": "accepted: it changes nothing on a CPU."})


class GraphConfig:
    """The switches of a graph.

    >>> class Sums(fluid.flow.nn.Graph):
    ...     def build(self, x):
    ...         return x.sum()
    >>> sums = Sums()
    >>> sums.config.set_gradient_accumulation_steps(2)
    >>> sums.config
    (CONFIG:config:GraphConfig(training=False, gradient_accumulation_steps=2, ))
    """

    def __init__(self) -> None:
        self.steps = 1  #: how many parts a batch is cut into
        self.training: bool = False  #: whether the graph has an optimizer

    def set_gradient_accumulation_steps(self, value: int) -> None:
        """Cut each batch into parts, and update with the mean of their gradients.

        Args:
            value: how many parts; results of the parts are joined along their first dimension.

        Raises:
            ArgumentError: it is no number from 1 on.
        """
        if not isinstance(value, int) or value < 1:
            raise located(ArgumentError, f"expected a number of parts from 1 on, got {value!r:.60}")
        self.steps = value

    @_ACCEPTED
    def enable_amp(self, mode: bool = True, *, dtype: Any = None) -> None:
        """Compute products in fewer bits: not on a CPU.

        Args:
            dtype: accepted.
        """

    @_ACCEPTED
    def allow_fuse_model_update_ops(self, mode: bool = True) -> None:
        """Join what updates a parameter into one kernel: programs are compiled in any case."""

    @_ACCEPTED
    def allow_fuse_add_to_output(self, mode: bool = True) -> None:
        """Join sums with what makes their operands: programs are compiled in any case."""

    @_ACCEPTED
    def allow_fuse_cast_scale(self, mode: bool = True) -> None:
        """Join casts and factors: programs are compiled in any case."""

    @_ACCEPTED
    def enable_fused_model_update_cast(self, mode: bool = True) -> None:
        """Join updates and casts: programs are compiled in any case."""

    @_ACCEPTED
    def enable_multi_tensor_update(self, mode: bool = True) -> None:
        """Update several parameters by one kernel: programs are compiled in any case."""

    @_ACCEPTED
    def enable_cudnn_conv_heuristic_search_algo(self, mode: bool = True) -> None:
        """How kernels of another device are chosen: there are none."""

    @_ACCEPTED
    def enable_straighten_algorithm(self, mode: Any = "MemoryFirst") -> None:
        """In which order kernels run."""

    @_ACCEPTED
    def enable_compress_memory(self, mode: bool = True) -> None:
        """Use buffers again: programs do in any case."""

    @_ACCEPTED
    def enable_auto_parallel(self, mode: bool = True) -> None:
        """How parts of tensors lie with several processes: there is one."""

    enable_auto_parallel_ignore_user_sbp_config = enable_auto_parallel
    enable_auto_parallel_trunk_algo = enable_auto_parallel
    enable_auto_parallel_sbp_collector = enable_auto_parallel

    def enable_zero(
        self,
        mode: bool = True,
        *,
        stage: int = 2,
        min_splitting_size: int = 1024,
        enable_shared_parameters: bool = False,
    ) -> None:
        """Cut states of optimizers for several processes: there is one.

        Args:
            mode, stage, min_splitting_size, enable_shared_parameters: accepted.
        """

    def set_zero_redundancy_optimizer_mode(self, mode: str = "distributed_split") -> None:
        """Cut states of optimizers for several processes: there is one.

        Args:
            mode: accepted.
        """

    def set_outputs_buffer_size(self, value: int = 2) -> None:
        """How many results may wait: each call gives its own.

        Args:
            value: accepted.
        """

    def set_auto_parallel_computation_cost_ratio(self, ratio: float) -> None:
        """How parts of tensors lie with several processes: there is one.

        Args:
            ratio: accepted.
        """

    def set_auto_parallel_wait_time(self, cost: float) -> None:
        """How parts of tensors lie with several processes: there is one.

        Args:
            cost: accepted.
        """

    def __repr__(self) -> str:
        more = f"gradient_accumulation_steps={self.steps}, " if self.steps > 1 else ""
        return f"(CONFIG:config:GraphConfig(training={self.training}, {more}))"
