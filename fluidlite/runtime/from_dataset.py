"""Running a program once for each batch of a data set of files."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..errors import ArgumentError, NotInitializedError
from ..ir.program import Program
from ..ir.variable import Variable
from .compiled import CompiledProgram
from .scope import Scope


class FetchHandler:
    """Looks at values while a program is trained on a data set.

    A subclass defines ``handler``.

    Args:
        var_dict: what it is given: name -> variable.
        period_secs: how many seconds pass before it is called again.
    """

    def __init__(
        self, var_dict: Mapping[str, Variable] | None = None, period_secs: float = 60
    ) -> None:
        if not var_dict:
            raise ArgumentError("FetchHandler: expected a dictionary of variables to look at")
        self.var_dict, self.period_secs = dict(var_dict), period_secs

    def handler(self, res_dict: Mapping[str, Any]) -> None:
        """Called with the values.

        Args:
            res_dict: name -> array.
        """
        for name, value in res_dict.items():
            print(f"{name}: {value}")


class RunsDatasets:
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
        fetch_handler: FetchHandler | None = None,
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
            fetch_handler: looks at values from time to time.

        Raises:
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
        if thread and dataset is not None:
            dataset.set_thread(thread)

        def run(feed: Mapping[str, Any], fetches: Sequence[Variable]) -> list[Any]:
            # as they are: an array cannot say sequences
            return self.run(program, feed, fetches, scope=scope, return_numpy=False)

        _run_dataset(run, dataset, fetch_list, fetch_info, print_period, fetch_handler, debug)

    def infer_from_dataset(
        self,
        program: Program | CompiledProgram | None = None,
        dataset: Any = None,
        scope: Scope | None = None,
        thread: int = 0,
        debug: bool = False,
        fetch_list: Sequence[Variable] | None = None,
        fetch_info: Sequence[str] | None = None,
        print_period: int = 100,
        fetch_handler: FetchHandler | None = None,
    ) -> None:
        """As :meth:`train_from_dataset`.  Every operator of the program runs: give it one without
        an optimizer, such as ``program.clone(for_test=True)`` makes it.
        """
        self.train_from_dataset(
            program,
            dataset,
            scope,
            thread,
            debug,
            fetch_list,
            fetch_info,
            print_period,
            fetch_handler,
        )


def _run_dataset(
    run: Callable[..., list[Any]],
    dataset: Any,
    fetch_list: Sequence[Variable] | None,
    fetch_info: Sequence[str] | None,
    print_period: int,
    handler: FetchHandler | None,
    debug: bool,
) -> None:
    """Run a program on each batch.

    Args:
        run: runs it once: of what is fed, and what is fetched.
        dataset: gives the batches.
        fetch_list: what is printed.
        fetch_info: what stands before each value.
        print_period: after how many batches that is done.
        handler: looks at values.
        debug: whether to print how long each run took.

    Raises:
        NotInitializedError: there is no data set.
        ArgumentError: an argument is of another kind.
    """
    if dataset is None:
        raise NotInitializedError("expected a data set, as fluid.DatasetFactory makes it; got None")
    if not hasattr(dataset, "feeds"):
        raise ArgumentError(
            f"expected a data set, as fluid.DatasetFactory makes it, got {dataset!r:.60}"
        )
    if not isinstance(print_period, int) or print_period < 1:
        raise ArgumentError(f"expected print_period of 1 or more, got {print_period!r:.60}")
    shown = [fetch_list] if isinstance(fetch_list, (Variable, str)) else list(fetch_list or ())
    titles = [str(info) for info in fetch_info] if fetch_info else [_name(v) for v in shown]
    if len(titles) != len(shown):
        raise ArgumentError(
            f"expected a text in fetch_info for each of fetch_list, got {len(titles)} for "
            f"{len(shown)}"
        )
    looked = {} if handler is None else handler.var_dict
    last = time.monotonic()
    for number, feed in enumerate(dataset.feeds(), 1):
        begin = time.monotonic()
        printed = shown if number % print_period == 0 else []
        due = handler is not None and begin - last >= handler.period_secs
        found = run(feed, [*printed, *(looked.values() if due else ())])
        if debug:
            print(f"batch {number}: {time.monotonic() - begin:.6f} s", flush=True)
        for title, value in zip(titles, found[: len(printed)]):
            print(f"{title}\t{np.asarray(value)}", flush=True)
        if due and handler is not None:
            last = begin
            handler.handler({n: np.asarray(v) for n, v in zip(looked, found[len(printed) :])})


def _name(variable: Variable | str) -> str:
    return variable if isinstance(variable, str) else variable.name


__all__ = ["FetchHandler", "RunsDatasets"]
