"""``fluid.debugger``: programs as texts and pictures."""

from __future__ import annotations

from typing import Any

from ...ground import state
from ...ground.console import say
from ...ground.files import write_text
from ...inspect.exports import to_dot
from ...ir.program import Program
from ...ir.text import block_text, program_text
from ...runtime.executor import Executor


def pprint_program_codes(program: Program) -> None:
    """Print a program.

    Args:
        program: what to print; its description will do.
    """
    say(program_text(program, call_sites=False))


def pprint_block_codes(block: Any, show_backward: bool = False) -> None:
    """Print a block.

    Args:
        block: what to print.
        show_backward: not read: gradients are shown.
    """
    say(block_text(block))


def draw_block_graphviz(block: Any, highlights: Any = None, path: str = "./temp.dot") -> None:
    """Write a picture of a block's program in the DOT language.

    Args:
        block: the block.
        highlights: not read.
        path: the file.
    """
    write_text(path, to_dot(block.program))


def prepare_fast_nan_inf_debug(program: Program) -> None:
    """Look for values that are not finite from now on, in every program.

    Args:
        program: not changed.
    """
    state.set_flags({"FLAGS_check_nan_inf": True})


def run_fast_nan_inf_debug(
    executor: Executor,
    program: Program | None = None,
    feed: Any = None,
    fetch_list: Any = None,
    feed_var_name: str = "feed",
    fetch_var_name: str = "fetch",
    scope: Any = None,
    return_numpy: bool = True,
    use_program_cache: bool = False,
    dump_core: bool = True,
) -> Any:
    """Run a program, and say which operator computes a value that is not finite.

    Args:
        executor: runs it.
        program, feed, fetch_list, scope, return_numpy: as of ``Executor.run``.
        feed_var_name, fetch_var_name, use_program_cache, dump_core: not read.

    Raises:
        NonFiniteError: one does.
    """
    before = state.get_flags("FLAGS_check_nan_inf")
    state.set_flags({"FLAGS_check_nan_inf": True})
    try:
        return executor.run(
            program, feed=feed, fetch_list=fetch_list, scope=scope, return_numpy=return_numpy
        )
    finally:
        state.set_flags(before)
