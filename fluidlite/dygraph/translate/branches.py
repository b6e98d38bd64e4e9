"""Branches and truths: decided at once where Python knows, by the program where it does not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...ground.dtypes import DType
from ...ir.block import Block
from ...ir.program import building_within, default_main_program
from ...ir.variable import Variable
from ...layers.compare import logical_and, logical_not, logical_or
from ...layers.creation import assign, fill_constant
from ...layers.debug import Assert
from ...layers.driving import append_conditional, new_block
from ...layers.math import cast
from ...layers.structure import rebuilt
from ..capture import deeper, in_block
from .cells import UNBOUND, Assigned
from .merging import (
    Maybe,
    as_variable,
    can_be_variable,
    connected,
    dtype_of,
    is_array,
    is_static,
    joined_dtype,
    joined_shape,
    known_value,
    parts,
    refused,
    same,
    shape_of_numbers,
    shared_cells,
    shown,
    truth,
)

Function = Callable[[], Any]
_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
}


def if_(test: Any, true: Function | None, false: Function | None, assigned: Assigned) -> None:
    """Run one of two functions, or let the program do so.

    Args:
        test: a truth, of Python or of the program.
        true, false: the branches.
        assigned: what they assign.
    """
    if is_static(test):
        _Choice(test, (true, false), assigned).decide(set(assigned.live))
    else:
        chosen = true if test else false
        if chosen is not None:
            chosen()


def choose(test: Any, true: Function, false: Function, assigned: Assigned) -> Any:
    """What one of two functions gives, with which the function around ends.

    Args:
        test, true, false, assigned: as of :func:`if_`.
    """
    if not is_static(test):
        return (true if test else false)()
    return _Choice(test, (true, false), assigned).decide(set())


def if_value(test: Any, true: Function, false: Function) -> Any:
    """What ``true() if test else false()`` gives.

    Args:
        test, true, false: the parts of the expression.
    """
    return choose(test, true, false, Assigned())


class _Choice:
    """Two branches of a program.

    Args:
        test: decides.
        branches: the one where it holds, and the other.
        assigned: what they assign.
    """

    def __init__(
        self, test: Variable, branches: tuple[Function | None, ...], assigned: Assigned
    ) -> None:
        self._pred, self._branches = truth(test), branches
        self._cells = shared_cells(branches, assigned)
        self._before = self._cells.get()
        self._blocks: list[Block] = []

    def decide(self, live: set[str]) -> Any:
        """Build both branches, and bring together what they assign.

        Args:
            live: names that are read behind them.

        Returns:
            what the branches return, brought together.
        """
        with deeper():
            (on_true, gave), (on_false, other) = map(self._built, self._branches)
        after: dict[str, Any] = {}
        copies: list[tuple[Any, Any, Variable]] = []
        for name, before in self._before.items():
            a, b = on_true[name], on_false[name]
            if name in live or (same(a, before) and same(b, before)):
                after[name] = self._merged(a, b, name, copies)
            else:
                after[name] = UNBOUND
        result = self._merged(gave, other, "", copies)
        self._append(copies)
        after = {name: _selected(each, self._pred) for name, each in after.items()}
        self._cells.set(after)
        return _selected(result, self._pred)

    def _built(self, branch: Function | None) -> tuple[dict[str, Any], Any]:
        with new_block("conditional_block") as block:
            gave = None if branch is None else branch()
        self._blocks.append(block)
        after = self._cells.get()
        self._cells.set(self._before)
        return after, gave

    def _merged(self, a: Any, b: Any, name: str, copies: list[Any]) -> Any:
        """What may be one value or the other: a pair of variables still to be selected from."""
        a, b = known_value(a), known_value(b)
        if same(a, b):
            return a
        own = name.startswith(("_value_", "_returned_"))
        if a is UNBOUND or b is UNBOUND:
            known = b if a is UNBOUND else a
            if own:
                a, b = (_blanks(known) if v is UNBOUND else v for v in (a, b))
                return self._merged(a, b, "", copies)
            if is_array(known) or not can_be_variable(known):
                return UNBOUND  # as in Python, where reading it fails
            blank = _Blank(known)
            a, b = (blank if v is UNBOUND else v for v in (a, b))
            found = self._pair(a, b, copies)
            found.maybe = name
            return found
        if any(isinstance(each, _Blank) for each in (a, b)):
            return self._pair(a, b, copies)
        if can_be_variable(a) and can_be_variable(b) and not (is_array(a) or is_array(b)):
            return self._pair(a, b, copies)
        both = parts(a, b)
        if both is not None:
            return rebuilt(a, [self._merged(x, y, name, copies) for x, y in both])
        what = f"{name!r} has" if name else "the branches give"
        raise refused(
            f"{what} {shown(a)} where a tensor holds, and {shown(b)} where it does not: a program "
            f"can choose between tensors and numbers only; give it a tensor in both cases"
        )

    def _pair(self, a: Any, b: Any, copies: list[Any]) -> _Pair:
        parent = default_main_program().current_block()
        blanks = [isinstance(each, _Blank) for each in (a, b)]
        like = [each.like if isinstance(each, _Blank) else each for each in (a, b)]
        dtype = joined_dtype(*like)
        variables, numbers = [], shape_of_numbers()
        for value in like:
            known = value.has_shape if isinstance(value, Variable) else True
            shape = (value.shape if known else None) if isinstance(value, Variable) else numbers
            variables.append(parent.create_var(dtype=dtype, shape=shape))
        for place, (value, blank) in enumerate(zip(like, blanks)):
            copies.append((place, (value, dtype, blank), variables[place]))
        return _Pair(variables[0], variables[1], joined_shape(variables[0], variables[1]), dtype)

    def _append(self, copies: list[Any]) -> None:
        parent = default_main_program().current_block()
        for place, (given, dtype, blank), outer in copies:
            with building_within(self._blocks[place]):
                assign(_blank(given) if blank else as_variable(given, dtype), outer)
        for place, block in enumerate(self._blocks):
            if block.ops:
                pred = self._pred if place == 0 else logical_not(self._pred)
                append_conditional(parent, block, [pred], scalar=True)


class _Pair:
    """What two branches give for one value.

    Args:
        true, false: the variables.
        shape: what their shapes share.
        dtype: their element type.
    """

    def __init__(self, true: Variable, false: Variable, shape: Any, dtype: DType) -> None:
        self.true, self.false, self.shape, self.dtype = true, false, shape, dtype
        self.maybe: str | None = None  #: the name that has no value in one of them


def _selected(found: Any, pred: Variable) -> Any:
    if isinstance(found, _Pair):
        block = default_main_program().current_block()
        merged = block.create_var(dtype=found.dtype, shape=found.shape)
        mask = cast(pred, "int32")
        inputs = {"X": [found.false, found.true], "Mask": mask}
        block.append_op("select_input", inputs, {"Out": merged})
        return merged if found.maybe is None else Maybe(found.maybe, merged)
    both = parts(found)
    if both is not None and any(_has_pair(x) for (x,) in both):
        return rebuilt(found, [_selected(x, pred) for (x,) in both])
    return found


def _has_pair(found: Any) -> bool:
    if isinstance(found, _Pair):
        return True
    return any(_has_pair(x) for (x,) in parts(found) or ())


class _Blank:
    """Stands for a value that nothing reads.

    Args:
        like: a value of its form.
    """

    def __init__(self, like: Any) -> None:
        self.like = like


def _blanks(like: Any) -> Any:
    """A structure with stand-ins for what a program can hold."""
    both = parts(like)
    if both is not None:
        return rebuilt(like, [_blanks(x) for (x,) in both])
    return _Blank(like) if can_be_variable(like) and not is_array(like) else like


def _blank(like: Any) -> Variable:
    """Zeros in place of a value that nothing reads."""
    sizes = [1]
    if isinstance(like, Variable) and like.has_shape:
        sizes = [n if n > 0 else 1 for n in like.shape]
    return fill_constant(sizes, dtype_of(like), 0)


# -- truths ----------------------------------------------------------------------------------------


def and_(*operands: Function) -> Any:
    """What ``a and b and ...`` gives; of variables, a truth of the program."""
    return _connected(operands, logical_and, stops=False)


def or_(*operands: Function) -> Any:
    """What ``a or b or ...`` gives; of variables, a truth of the program."""
    return _connected(operands, logical_or, stops=True)


def _connected(operands: Sequence[Function], connect: Any, stops: bool) -> Any:
    result: Any = None
    static: Variable | None = None
    for operand in operands:
        result = operand()
        if is_static(result):
            result = truth(result)
            static = result if static is None else connected(connect, static, result)
        elif bool(result) is stops:  # decides, whatever the rest is
            return result
    return result if static is None else static


def not_(operand: Any) -> Any:
    """What ``not operand`` gives."""
    return logical_not(truth(operand)) if is_static(operand) else not operand


def chain(left: Any, *rest: Any) -> Any:
    """What ``a < b < c`` gives.

    Args:
        left: the first operand.
        rest: operators and functions that give the other operands, in turn.
    """
    static: Variable | None = None
    result: Any = True
    for operator, operand in zip(rest[::2], rest[1::2]):
        right = operand()
        result = _OPERATORS[operator](left, right)
        left = right
        if is_static(result):
            static = result if static is None else connected(logical_and, static, result)
        elif not result:
            return result
    return result if static is None else static


def assert_(test: Function, message: Function | None) -> None:
    """Fail, or let the program fail when it runs, where a truth does not hold.

    Args:
        test, message: the parts of the statement.
    """
    condition = test()
    if not is_static(condition):
        if not condition:
            raise AssertionError(*(() if message is None else (message(),)))
        return
    said = None if message is None else message()
    data = [said] if isinstance(said, Variable) else None
    Assert(truth(condition), data)


def plain(found: Any, what: str) -> Any:
    """A value that decides in Python only.

    Args:
        found: the value.
        what: the statement.

    Raises:
        TranslationError: it is a variable of the program.
    """
    if is_static(found):
        raise refused(
            f"this '{what}' depends on a tensor, and has return, break or continue in a try or "
            f"with statement, which operators cannot leave; assign a name there, and return it "
            f"behind"
        )
    return found


def raises() -> None:
    """Refuse ``raise`` in a branch that the program decides about.

    Raises:
        TranslationError: it does.
    """
    if in_block():
        raise refused(
            "raise stands under a condition that depends on a tensor: operators cannot raise "
            "exceptions; use assert, which they can"
        )
