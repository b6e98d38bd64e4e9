"""``fluid.debugger``: programs as texts and pictures."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...ground import state
from ...ground.console import say
from ...ground.files import write_text
from ...ground.spellings import Spelling
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


def _given(fetched: list[Any], dump_core: bool = True) -> list[Any]:
    """What was fetched.

    Args:
        fetched: that.
        dump_core: not read.
    """
    return fetched


run_fast_nan_inf_debug: Callable[..., Any] = Spelling({"self": "executor"})(
    Executor.run,
    "run_fast_nan_inf_debug",
    """Run a program, and say which operator computes a value that is not finite.

    Args:
        executor: runs it.
        program, feed, fetch_list, scope, return_numpy: as of ``Executor.run``.
        feed_var_name, fetch_var_name, use_program_cache: not read.

    Raises:
        NonFiniteError: one does.
    """,
    order="executor, program, feed, fetch_list, feed_var_name, fetch_var_name, scope, "
    "return_numpy, use_program_cache, dump_core",
    fixed={"return_merged": True, "use_prune": False, "check_nan_inf": True},
    defaults={"use_program_cache": False},
    then=_given,
)
