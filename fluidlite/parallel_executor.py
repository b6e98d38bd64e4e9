"""The executor bound to one program."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from .compiler import BuildStrategy, CompiledProgram, ExecutionStrategy, Feeds
from .ground.fields import from_fields
from .ground.missing_names import answer
from .ground.protected import answers_protected
from .ground.public_names import list_public_names
from .ground.reprs import Described
from .ground.tracebacks import api_boundaries
from .ir.program import Program, default_main_program
from .ir.variable import Variable
from .runtime.executor import Executor
from .scope import Scope, global_scope

__all__ = ["ParallelExecutor"]


@answers_protected
@from_fields
class ParallelExecutor(Described):
    """Runs one program, on as many devices as ``CPU_NUM`` in the environment says.

    Args:
        use_cuda: not read.
        loss_name: the loss's name; None for a program that does not train.  Several processes train
            together as with ``CompiledProgram.with_data_parallel``.
        main_program: the program; the default main program when None.
        share_vars_from: whose scope is used, where ``scope`` is None.
        exec_strategy, build_strategy: kept, not read.
        num_trainers, trainer_id: not read.
        scope: where persistable variables are kept; the global scope when None.

    Raises:
        ArgumentError: an argument is of another kind.

    >>> x = fluid.data("x", [None, 2])
    >>> y = fluid.layers.reduce_sum(x)
    >>> exe = fluid.ParallelExecutor(use_cuda=False)
    >>> exe.run([y.name], feed={"x": np.ones([3, 2], "float32")})
    [array([6.], dtype=float32)]
    """

    _shown: ClassVar[str] = "program=_program scope="

    use_cuda: bool
    loss_name: str | None = None
    main_program: Program | None = None
    share_vars_from: ParallelExecutor | None = None
    exec_strategy: ExecutionStrategy | None = None
    build_strategy: BuildStrategy | None = None
    num_trainers: int = 1
    trainer_id: int = 0
    scope: Scope | None = None

    def begin(self, given: dict[str, Any]) -> None:
        program = given["main_program"]
        program = default_main_program() if program is None else program
        self._program = CompiledProgram(program).with_data_parallel(
            given["loss_name"], given["build_strategy"], given["exec_strategy"]
        )
        shared, scope = given["share_vars_from"], given["scope"]
        if scope is None:
            scope = global_scope() if shared is None else shared._scope
        self._scope: Scope = scope
        self._executor = Executor()

    def run(
        self,
        fetch_list: Sequence[Variable | str],
        feed: Feeds | None = None,
        feed_dict: Feeds | None = None,
        return_numpy: bool = True,
    ) -> list[Any]:
        """Run the program; the values of ``fetch_list``, in its order.

        Args:
            fetch_list: variables to fetch, or their names.
            feed: name of a data variable -> array; or a list of such dictionaries, one for each
                device.
            feed_dict: an older name of ``feed``.
            return_numpy: give arrays; LoDTensors when False.

        Raises:
            FluidError: as :meth:`Executor.run` does.
        """
        given = feed_dict if feed is None else feed
        return self._executor.run(
            self._program, given, fetch_list, scope=self._scope, return_numpy=return_numpy
        )

    @property
    def device_count(self) -> int:
        """How many devices share a batch: as ``CPU_NUM`` in the environment says."""
        return self._program.device_count

    def drop_local_exe_scopes(self) -> None:
        """Nothing: there are no scopes but the one given."""


list_public_names(globals())
api_boundaries(globals())
answer(globals())
