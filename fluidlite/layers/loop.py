"""Loops: While and while_loop."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from .. import unique_name
from ..errors import ArgumentError
from ..ground.callsite import warn
from ..ground.dtypes import Kind
from ..ground.protected import answers_protected
from ..ground.reprs import Described
from ..ir.block import Block
from ..ir.program import default_main_program
from ..ir.variable import Variable, is_tensor
from .creation import assign
from .driving import checked_condition, checked_function, new_block, outer_reads, outer_writes
from .structure import mapped


@answers_protected
class While(Described):
    """A loop: what is built inside ``block()`` runs as long as a condition holds.

    The block must compute the condition anew, into the same variable.

    Args:
        cond: a variable of one truth.
        is_test: whether no gradients will be needed.
        name: of the layer.

    Raises:
        ArgumentError: ``cond`` is no variable of type bool, or has several elements.

    >>> i = fluid.layers.fill_constant([1], "int64", 0)
    >>> n = fluid.layers.fill_constant([1], "int64", 10)
    >>> cond = fluid.layers.less_than(i, n)
    >>> loop = fluid.layers.While(cond)
    >>> with loop.block():
    ...     i = fluid.layers.increment(i, in_place=True)
    ...     cond = fluid.layers.less_than(i, n, cond=cond)
    >>> fluid.Executor().run(fetch_list=[i])
    [array([10])]
    """

    _shown = "cond=cond_var"

    def __init__(self, cond: Variable, is_test: bool = False, name: str | None = None) -> None:
        self.cond_var: Variable = checked_condition(cond, "While")
        self.is_test = is_test
        self.name: str = unique_name.generate("while") if name is None else name

    @contextmanager
    def block(self) -> Iterator[None]:
        """What the loop repeats; a warning where it does not write the condition, so that the loop
        does not end.
        """
        program = default_main_program()
        parent = program.current_block()
        with new_block("while", program) as block:
            yield
            if self.cond_var.name not in outer_writes(block):
                warn(
                    f"the block of the loop does not write its condition {self.cond_var.name!r}, "
                    f"so it runs for ever; end it with layers.less_than(..., cond=...)",
                    None,
                )
        self._append(parent, block)

    def _append(self, parent: Block, block: Block) -> None:
        condition = self.cond_var.name
        scopes = parent.create_var(type=Kind.STEP_SCOPES)
        parent.append_op(
            "while",
            inputs={
                "X": [n for n in outer_reads(block) if n != condition],
                "Condition": self.cond_var,
            },
            outputs={"Out": outer_writes(block), "StepScopes": scopes},
            attrs={"sub_block": block, "is_test": self.is_test},
        )


def while_loop(
    cond: Callable[..., Variable],
    body: Callable[..., Any],
    loop_vars: Sequence[Any],
    is_test: bool = False,
    name: str | None = None,
) -> list[Any]:
    """Variables after a loop that a function computes anew as long as a condition holds.

    Args:
        cond: takes the loop's variables, gives one truth.
        body: takes the loop's variables, gives as many: their next values.
        loop_vars: variables; lists and dictionaries of them are allowed.
        is_test: whether no gradients will be needed.
        name: of the layer.

    Returns:
        the loop's variables, which hold the last values.

    Raises:
        ArgumentError: an argument is of the wrong type, or ``body`` gives another number of
            variables.

    >>> i = fluid.layers.fill_constant([1], "int64", 0)
    >>> x = fluid.layers.fill_constant([1], "float32", 3.0)
    >>> limit = fluid.layers.fill_constant([1], "int64", 4)
    >>> less = lambda i, x: fluid.layers.less_than(i, limit)
    >>> i, x = fluid.layers.while_loop(less, lambda i, x: [i + 1, x * 2.0], [i, x])
    >>> fluid.Executor().run(fetch_list=[x])
    [array([48.], dtype=float32)]
    """
    checked_function(cond, "cond")
    checked_function(body, "body")
    if not isinstance(loop_vars, (list, tuple)) or not loop_vars:
        raise ArgumentError(
            f"expected loop_vars to be a list of at least one variable, got {loop_vars!r:.60}"
        )
    condition = checked_condition(cond(*loop_vars), "while_loop")
    if is_tensor(condition):
        return _looped(condition, cond, body, list(loop_vars))
    loop = While(condition, is_test, name)
    with loop.block():
        found = _next_values(body, loop_vars)
        again = cond(*found)
        _assign_all(found, list(loop_vars))
        assign(again, condition)
    return list(loop_vars)


def _looped(
    condition: Any, cond: Callable[..., Any], body: Callable[..., Any], values: list[Any]
) -> list[Any]:
    """Tensors after a loop that runs at once."""
    while bool(condition):
        values = _next_values(body, values)
        condition = checked_condition(cond(*values), "while_loop")
    return values


def _next_values(body: Callable[..., Any], values: Sequence[Any]) -> list[Any]:
    """What a body makes of the variables of its loop."""
    results = body(*mapped(list(values), lambda v: v))  # a body may write to lists that it is given
    if results is None:
        raise ArgumentError(
            f"expected body to give {len(values)} variables, as many as loop_vars, got None; let "
            f"it return their next values"
        )
    listed = list(results) if isinstance(results, (list, tuple)) else [results]
    if len(listed) != len(values):
        raise ArgumentError(
            f"expected body to give {len(values)} variables, as many as loop_vars, got "
            f"{len(listed)}"
        )
    return listed


def _assign_all(values: Any, targets: Any) -> None:
    """Write values to variables, those of lists and dictionaries one by one."""
    if isinstance(targets, (list, tuple, Mapping)):
        wanted = Mapping if isinstance(targets, Mapping) else (list, tuple)
        if not isinstance(values, wanted) or len(values) != len(targets):
            raise ArgumentError(
                f"expected body to give {len(targets)} variables in place of a "
                f"{'dictionary' if wanted is Mapping else 'list'} of as many, got {values!r:.60}"
            )
        for value, target in _pairs(values, targets):
            _assign_all(value, target)
    elif isinstance(values, (list, tuple, Mapping)):
        raise ArgumentError(
            f"expected body to give a variable in place of {targets.name!r}, got {values!r:.60}"
        )
    elif values is not targets or targets.kind is not Kind.LOD_TENSOR_ARRAY:
        assign(values, targets)


def _pairs(values: Any, targets: Any) -> Iterable[tuple[Any, Any]]:
    """What belongs together of two lists, or of two dictionaries; where their keys differ, in the
    keys' order, as in fluid.
    """
    if not isinstance(targets, Mapping):
        return zip(values, targets)
    if values.keys() == targets.keys():
        return ((values[key], target) for key, target in targets.items())
    warn(
        f"the body of while_loop gives {', '.join(map(repr, values))} for variables called "
        f"{', '.join(map(repr, targets))}; they are taken in the order of their names",
        None,
    )
    return ((values[a], targets[b]) for a, b in zip(sorted(values), sorted(targets)))
