"""Every value of a run, for readers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..compiler import program_and_feed
from ..ir.display_hooks import VIEWS
from ..ir.program import Program
from ..scope import Scope
from .executor_state import ExecutorState


class TracesRuns(ExecutorState):
    """An executor that tells every value of a run."""

    def trace(
        self,
        program: Program | None = None,
        feed: Mapping[str, Any] | None = None,
        scope: Scope | None = None,
    ) -> Any:
        """Every value that the next run of a program would compute, by name and by operator;
        nothing is kept in the scope.

        Args:
            program: what to run; the default main program when None.
            feed, scope: as of :meth:`run`.

        Returns:
            a :class:`~fluidlite.inspect.Trace`.

        >>> y = fluid.layers.square(fluid.data("x", [None, 2], "float32"))
        >>> trace = fluid.Executor().trace(feed={"x": np.array([[1, 2]], "float32")})
        >>> trace[y]
        array([[1., 4.]], dtype=float32)
        """
        program, _ = program_and_feed(program)
        return VIEWS.get().trace(self, program, feed, scope)
