"""Running a program once for each batch of a data set, and what is looked at on the way."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ..errors import ArgumentError
from ..ground.console import say
from ..ir.variable import Variable


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
        self.var_dict: dict[str, Variable] = dict(var_dict)
        self.period_secs = period_secs

    def handler(self, res_dict: Mapping[str, Any]) -> None:
        """Called with the values.

        Args:
            res_dict: name -> array.
        """
        for name, value in res_dict.items():
            say(f"{name}: {value}")


def run_each(
    run: Callable[..., list[Any]],
    feeds: Iterable[Mapping[str, Any]],
    fetch_list: Sequence[Variable] | None,
    fetch_info: Sequence[str] | None,
    print_period: int,
    handler: FetchHandler | None,
    debug: bool,
) -> None:
    """Run a program on each batch.

    Args:
        run: runs it once: of what is fed, and what is fetched.
        feeds: the batches.
        fetch_list: what is printed.
        fetch_info: what stands before each value.
        print_period: after how many batches that is done.
        handler: looks at values.
        debug: whether to print how long each run took.

    Raises:
        ArgumentError: an argument is of another kind.
    """
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
    for number, feed in enumerate(feeds, 1):
        begin = time.monotonic()
        printed = shown if number % print_period == 0 else []
        due = handler is not None and begin - last >= handler.period_secs
        fetched = run(feed, [*printed, *(looked.values() if due else ())])
        if debug:
            say(f"batch {number}: {time.monotonic() - begin:.6f} s", flush=True)
        for title, value in zip(titles, fetched[: len(printed)]):
            say(f"{title}\t{np.asarray(value)}", flush=True)
        if due and handler is not None:
            last = begin
            handler.handler({n: np.asarray(v) for n, v in zip(looked, fetched[len(printed) :])})


def _name(variable: Variable | str) -> str:
    return variable if isinstance(variable, str) else variable.name


__all__ = ["FetchHandler"]
