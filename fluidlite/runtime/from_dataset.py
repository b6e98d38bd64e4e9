"""Running a program once for each batch of a data set of files."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..compiler import CompiledProgram
from ..errors import ArgumentError, NotInitializedError
from ..ir.program import Program
from ..ir.variable import Variable
from ..scope import Scope
from .executor_state import ExecutorState


class RunsDatasets(ExecutorState):
    """What an executor does with data sets of files."""

    #: runs a program once
    run: Callable[..., list[Any]]

    def train_from_dataset(
        self,
        program: Program | CompiledProgram | None = None,
        dataset: Any = None,
        scope: Scope | None = None,
        thread: int = 0,
        debug: bool = False,
        fetch_list: Sequence[Variable] | None = None,
        fetch_info: Sequence[str] | None = None,
        print_period: int = 100,
        fetch_handler: Any = None,
    ) -> None:
        """Run a program once for each batch of a data set of files.

        Args:
            program: what to run; the default main program when None.
            dataset: what ``fluid.DatasetFactory`` makes.
            scope: where persistable variables are kept; the global scope when None.
            thread: how many files are read at a time; as the data set says when 0.  Batches are
                trained on one after the other.
            debug: print how long each run took.
            fetch_list: variables whose values are printed.
            fetch_info: what stands before each of them; their names when None.
            print_period: after how many batches they are printed.
            fetch_handler: a ``FetchHandler``, which looks at values from time to time.

        ``infer_from_dataset`` is another name of it, as in fluid 1.8: every operator of the program
        runs.  Give it one without an optimizer, such as ``program.clone(for_test=True)`` makes it.

        Raises:
            NotInitializedError: there is no data set.
            ArgumentError: an argument is of another kind.
            FluidError: as :meth:`run` does, and where a file is not what it should be.

        >>> x = fluid.data("x", [None, 1])
        >>> total = fluid.layers.reduce_sum(x)
        >>> with open("part-0", "w") as file:
        ...     _ = file.write("1 0.5\\n1 2.5\\n")
        >>> dataset = fluid.DatasetFactory().create_dataset()
        >>> dataset.set_use_var([x])
        >>> dataset.set_filelist(["part-0"])
        >>> fluid.Executor().train_from_dataset(
        ...     dataset=dataset, fetch_list=[total], fetch_info=["total"], print_period=1
        ... )
        total	[0.5]
        total	[2.5]
        """
        if dataset is None:
            raise NotInitializedError(
                "expected a data set, as fluid.DatasetFactory makes it; got None"
            )
        if not hasattr(dataset, "run_each"):
            raise ArgumentError(
                f"expected a data set, as fluid.DatasetFactory makes it, got {dataset!r:.60}"
            )
        if thread:
            dataset.set_thread(thread)

        def run(feed: Mapping[str, Any], fetches: Sequence[Variable]) -> list[Any]:
            # as they are: an array cannot say sequences
            return self.run(program, feed, fetches, scope=scope, return_numpy=False)

        dataset.run_each(run, fetch_list, fetch_info, print_period, fetch_handler, debug)

    infer_from_dataset = train_from_dataset
