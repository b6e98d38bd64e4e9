"""Loops: repeated at once where Python knows how often, by the program where it does not."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from ...ir.program import default_main_program
from ...ir.variable import Variable
from ...layers.compare import less_than, logical_and, logical_not
from ...layers.creation import assign, fill_constant
from ...layers.driving import new_block
from ...layers.loop import While
from ...layers.structure import rebuilt
from ...layers.variables import increment
from ..capture import deeper, value
from .branches import if_, not_
from .cells import UNBOUND, Assigned, Cells
from .items import source
from .merging import (
    as_variable,
    connected,
    is_array,
    is_number,
    is_static,
    joined_dtype,
    joined_shape,
    known_value,
    parts,
    refused,
    same,
    shared_cells,
    shown,
    truth,
)

Function = Callable[[], Any]


def while_(test: Function, body: Function, stop: Function | None, assigned: Assigned) -> None:
    """Repeat a body.

    Args:
        test: whether to go on.
        body: what is repeated.
        stop: whether ``break`` was reached; None if there is none.
        assigned: what the body assigns.
    """
    goes_on = test if stop is None else lambda: _both(not_(stop()), test)
    while True:
        block = default_main_program().current_block()
        op_count, count = len(block.ops), len(block.program.blocks)
        condition = goes_on()
        if is_static(condition):
            if len(block.program.blocks) == count:  # it is computed anew of the loop's variables
                block.set_ops(block.ops[:op_count])
            cells = shared_cells((body, test, stop), assigned)
            _Loop(goes_on, body, cells, set(assigned.live)).build()
            return
        if not condition:
            return
        body()


def _both(first: Any, then: Function) -> Any:
    if not is_static(first):
        return then() if first else first
    second = then()
    if is_static(second):
        return connected(logical_and, first, truth(second))
    return first if second else second


class _Discard(Exception):
    """Ends a block that is not kept."""


class _Loop:
    """A loop of a program.

    Args:
        test: whether to go on.
        body: what is repeated.
        cells: what the body assigns.
        live: names whose values the next pass, or what is behind the loop, reads.
    """

    def __init__(self, test: Function, body: Function, cells: Cells, live: set[str]) -> None:
        self._test, self._body, self._cells, self._live = test, body, cells, live

    def build(self) -> None:
        """Append the loop; behind it the names have what they had after the last pass."""
        start = {name: known_value(each) for name, each in self._cells.get().items()}
        like = self._tried(start) if any(_unsettled(v) for v in start.values()) else start
        carried = {n: _carried(v, like[n], n) for n, v in start.items() if n in self._live}
        rest = {n: v for n, v in start.items() if n not in self._live}
        self._cells.set({**rest, **carried})
        condition = assign(truth(as_variable(self._test())))
        with deeper(), While(condition).block():
            self._body()
            after = self._cells.get()
            settled = {n: _settled(carried[n], known_value(after[n]), n) for n in carried}
            self._cells.set(settled)
            again = truth(as_variable(self._test()))
            for name, old in carried.items():
                _write(settled[name], old)
            assign(again, condition)
        self._cells.set({**dict.fromkeys(rest, UNBOUND), **carried})

    def _tried(self, start: dict[str, Any]) -> dict[str, Any]:
        """What the names have after a pass that is built to be looked at, and thrown away."""
        self._cells.set({n: list(v) for n, v in start.items() if type(v) is list})
        values: dict[str, Any] = {}
        with suppress(_Discard), deeper(), new_block("while"):
            self._body()
            values = {name: known_value(each) for name, each in self._cells.get().items()}
            raise _Discard
        self._cells.set(start)
        return values


def _unsettled(found: Any) -> bool:
    """Whether a value does not tell which variable carries it from pass to pass."""
    if found is UNBOUND or is_number(found):
        return True
    return any(_unsettled(x) for (x,) in parts(found) or ())


def _carried(start: Any, after: Any, name: str) -> Any:
    """The variables that carry a value from pass to pass."""
    start = value(start)
    if is_array(start):
        return start
    if same(start, after) and not isinstance(start, Variable) and not is_number(start):
        return start
    if start is UNBOUND:
        return _stand_in(after)
    if isinstance(start, Variable):
        carrier = default_main_program().current_block().create_var(dtype=start.dtype)
        assign(start, carrier)
        if isinstance(after, Variable) and after is not start:
            _loosen(carrier, joined_shape(start, after))
        return carrier
    if is_number(start):
        dtype = joined_dtype(start, after) if _numeric(after) else None
        carrier = as_variable(start, dtype)
        carrier.stop_gradient = False
        if isinstance(after, Variable):
            _loosen(carrier, joined_shape(carrier, after))
        return carrier
    both = parts(start, after)
    if both is not None:
        return rebuilt(start, [_carried(x, y, name) for x, y in both])
    return start


def _numeric(found: Any) -> bool:
    return is_number(found) or (isinstance(found, Variable) and not is_array(found))


def _loosen(made: Variable, shape: tuple[int, ...] | None) -> None:
    """Declare what is known of the shapes that a variable has in all passes."""
    if shape is not None:
        made.declare(shape=shape)
    else:
        made.forget_shape()


def _stand_in(after: Any) -> Any:
    """A first value for a name that gets one in each pass, and has none before."""
    if isinstance(after, Variable) and not is_array(after):
        known = after.has_shape
        placeholder = fill_constant(
            [n if n > 0 else 1 for n in after.shape] if known else [1], after.dtype, 0
        )
        placeholder.stop_gradient = False
        if known:
            placeholder.declare(shape=after.shape)
        return placeholder
    if is_number(after):
        return as_variable(after)
    both = parts(after)
    if both is not None:
        return rebuilt(after, [_stand_in(x) for (x,) in both])
    return after


def _settled(old: Any, new: Any, name: str) -> Any:
    """A pass's value in the form in which it is carried."""
    if new is old or same(old, new):
        return new
    if isinstance(old, Variable) and not is_array(old) and _numeric(value(new)):
        return as_variable(new, old.dtype)
    both = parts(old, new)
    if both is not None:
        return rebuilt(old, [_settled(x, y, name) for x, y in both])
    raise refused(
        f"{name!r} is {shown(old)} before a pass of a loop that depends on a tensor, and "
        f"{shown(new)} after it: a program can carry tensors and numbers of one form only"
    )


def _write(new: Any, old: Any) -> None:
    if new is old or same(new, old):
        return
    if isinstance(old, Variable):
        shape = old.shape if old.has_shape else None
        assign(new, old)
        _loosen(old, shape)  # which the operator declared as those of this pass
        return
    for x, y in parts(new, old) or ():
        _write(x, y)


def for_(
    items: Any, body: Callable[[Any], None], stop: Function | None, assigned: Assigned
) -> None:
    """Repeat a body for each item.

    Args:
        items: an iterable, a tensor or an array of them.
        body: takes an item.
        stop, assigned: as of :func:`while_`.
    """
    sequence = source(value(items))
    if sequence is not None:
        place = fill_constant([1], "int64", 0)
        length = sequence.length()

        def test() -> Any:
            inside = less_than(place, length)
            return inside if stop is None else _both(not_(stop()), lambda: inside)

        def once() -> None:
            body(sequence.at(place))
            increment(place, 1.0)

        cells = shared_cells((body, stop), assigned)
        _Loop(test, once, cells, set(assigned.live)).build()
        return
    for item in items:
        ended: Any = False if stop is None else stop()
        if is_static(ended):

            def one(item: Any = item) -> None:
                body(item)

            there = _Shared(one, body)  # where break was not reached before
            if_(logical_not(truth(ended)), there, None, assigned._replace(live=assigned.names))
        elif ended:
            return
        else:
            body(item)


class _Shared:
    """A function with the cells of another one.

    Args:
        function: what is called.
        owner: has the cells.
    """

    def __init__(self, function: Function, owner: Any) -> None:
        self._function = function
        self.__code__ = owner.__code__
        self.__closure__ = owner.__closure__

    def __call__(self) -> None:
        self._function()
