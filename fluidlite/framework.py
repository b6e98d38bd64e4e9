"""Where fluid 1.8 scripts look for programs, variables and their guards: names, and one check."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from .errors import ArgumentError, VersionError
from .ground.arguments import refused
from .ground.dtypes import DType, as_dtype
from .ground.missing_names import answer
from .ground.place import (
    CPUPlace,
    cpu_places,
    cuda_pinned_places,
    cuda_places,
    is_compiled_with_cuda,
)
from .ground.public_names import list_public_names
from .ground.state import get_flags, in_dygraph_mode, set_flags
from .ground.tracebacks import api_boundaries
from .ir.block import Block
from .ir.device import device_guard
from .ir.name_scope import current_name_scope, name_scope
from .ir.operator import EMPTY, Operator, OpRole
from .ir.program import (
    Program,
    default_main_program,
    default_startup_program,
    program_guard,
    programs_are_guarded,
    switch_main_program,
    switch_startup_program,
)
from .ir.variable import Parameter, Variable
from .opdef.gradient import GRAD
from .scope import Scope, scope_is_guarded, switch_scope
from .unique_name import names_are_guarded
from .unique_name import switch as switch_names

if TYPE_CHECKING:
    from .functions.arguments import DTypeLike

__all__ = [
    "Block", "OpRole", "Operator", "Parameter", "Program", "Variable", "cpu_places",
    "cuda_pinned_places", "cuda_places", "default_main_program", "default_startup_program",
    "get_flags", "in_dygraph_mode", "device_guard", "is_compiled_with_cuda", "memory_optimize",
    "name_scope", "program_guard", "release_memory", "require_version", "reset_default_programs",
    "set_flags", "switch_main_program", "switch_startup_program",
]  # fmt: skip

EMPTY_VAR_NAME = EMPTY
GRAD_VAR_SUFFIX = GRAD
TEMP_VAR_NAME = "@TEMP@"
ZERO_VAR_SUFFIX = "@ZERO"
CONTROL_DEP_VAR_PREFIX = "__control_var"
FLUID = (1, 8, 5, 0)  #: the version of fluid whose interface this is


def require_version(min_version: str, max_version: str | None = None) -> None:
    """Check that a script is made for the fluid whose interface this is, which is 1.8.5.

    Args:
        min_version: the oldest version that will do: one to four numbers with points between.
        max_version: the newest one; any newer one will do when None.

    Raises:
        ArgumentError: an argument is no version.
        VersionError: the script needs another one.

    >>> fluid.require_version("1.7.0")
    """
    check_version("fluid 1.8.5", FLUID, min_version, max_version)


def check_version(
    interface: str, here: tuple[int, ...], min_version: str, max_version: str | None
) -> None:
    """Check that a script is made for an interface.

    Args:
        interface: what is said of it.
        here: its version, as four numbers.
        min_version, max_version: as of :func:`require_version`.

    Raises:
        ArgumentError: an argument is no version.
        VersionError: the script needs another one.
    """
    least = _version("min_version", min_version)
    most = None if max_version is None else _version("max_version", max_version)
    if least > here or (most is not None and most < here):
        wanted = f"of at least {min_version}" + (f", at most {max_version}" if most else "")
        raise VersionError(f"this has the interface of {interface}; the script needs one {wanted}")


def reset_default_programs() -> None:
    """Begin anew: empty default programs, names that count from 0, an empty global scope.

    In a notebook, the cell that builds begins with it, so that it can be run again.  Programs,
    scopes and executors that somebody holds stay as they are.

    Raises:
        ArgumentError: within a guard of programs, names or a scope, which would cover the new ones.

    >>> y = fluid.layers.fc(fluid.data("x", [None, 3], "float32"), 2)
    >>> fluid.reset_default_programs()
    >>> fluid.default_main_program()
    <Program: 1 blocks, 0 operators, 0 parameters>
    >>> fluid.layers.fc(fluid.data("x", [None, 3], "float32"), 2).name
    'fc_0.tmp_1'
    """
    covered = {
        "program_guard": programs_are_guarded(),
        "unique_name.guard": names_are_guarded(),
        "scope_guard": scope_is_guarded(),
    }
    for guard, is_on in covered.items():
        if is_on:
            raise ArgumentError(
                f"reset_default_programs: expected to be called outside of fluid.{guard}(), which "
                f"covers the defaults"
            )
    switch_main_program(Program())
    switch_startup_program(Program())
    switch_names()
    switch_scope(Scope())


def grad_var_name(var_name: str) -> str:
    """The name of a variable's gradient."""
    return var_name + GRAD_VAR_SUFFIX


def convert_np_dtype_to_dtype_(np_dtype: Any) -> DType:
    """The element type that a NumPy type or its name means.

    Raises:
        DTypeError: there is none.
    """
    return as_dtype(np_dtype)


def dtype_is_floating(dtype: DTypeLike) -> bool:
    """Whether an element type is one of numbers with fractions."""
    return as_dtype(dtype).is_float


def _get_var(name: str, program: Program | None = None) -> Variable:
    return (program or default_main_program()).global_block().var(name)


def _full_name_scope() -> str:
    return current_name_scope()


def _current_expected_place() -> CPUPlace:
    return CPUPlace()


def _version(what: str, given: Any) -> tuple[int, ...]:
    parts = given.split(".") if isinstance(given, str) else []
    if not 1 <= len(parts) <= 4 or not all(p.isascii() and p.isdigit() for p in parts):
        raise refused("require_version", what, 'a text such as "1.8.0"', given)
    numbers = [int(part) for part in parts]
    return tuple(numbers + [0] * (4 - len(numbers)))


def memory_optimize(
    input_program: Program,
    skip_opt_set: Iterable[str] | None = None,
    print_log: bool = False,
    level: int = 0,
    skip_grads: bool = True,
) -> None:
    """Nothing, as in fluid 1.8: an executor plans memory by itself.

    Args:
        input_program: a program, which stays as it is.
        skip_opt_set, print_log, level, skip_grads: not read.

    >>> fluid.memory_optimize(fluid.default_main_program())
    """


def release_memory(input_program: Program, skip_opt_set: Iterable[str] | None = None) -> None:
    """Nothing, as in fluid 1.8: an executor drops values behind their last use.

    Args:
        input_program: a program, which stays as it is.
        skip_opt_set: not read.

    >>> fluid.release_memory(fluid.default_main_program())
    """


list_public_names(globals())
api_boundaries(
    globals(), but=("check_version", "Block", "Operator", "Parameter", "Program", "Variable")
)

answer(globals())
