"""Rules of a rewriting: what users write, and the words for patterns."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import EllipsisType
from typing import Any, TypeVar

from ..errors import ArgumentError
from ..ground import state
from ..ground.arguments import refused
from ..ir.variable import Variable

T = TypeVar("T")
#: the first parameter of a function that is given an interpreter, as layers are
INTERPRETER = "f"
_NO_NAME = re.compile(r"\W+")


class Rule:
    """What is to be found in a program, and what is to stand in its place: two functions of
    operands.

    Both are written with any functions of variables: those of ``fluid.layers``, ``fluid.nn`` and
    ``fluid``, methods and Python's operators. Where the first parameter is called ``f``, it is an
    interpreter: ``f.batch_norm(x, scale, bias, mean, variance)`` is the operator of that type.
    Operands are matched by name; the replacement may leave some out.

    Args:
        pattern: what is to be found; a list of functions for alternatives, the first that matches
            counts. An operand that is used twice has to be the same value at both places.
        replacement: gives as many values as the pattern, of the same shapes and element types. It
            is given the operands with the shapes and element types that they have where the
            pattern was found, attributes and choices that the pattern names, and, if it has a
            parameter ``match``, the :class:`Match`.
        where: a function that says whether a match counts; its parameters are as those of the
            replacement, operands are the variables of the program.
        name: of the rule, for messages; that of the replacement, or the pattern, when None.
        shapes: operand -> sizes, -1 where any, for patterns whose functions ask for shapes; such
            operands match values of these sizes alone.
        keeps: whether operators stay whose values are used outside of the match as well; a match
            is refused for such ones otherwise.

    Raises:
        ArgumentError: a function has ``*args``, or the replacement has a parameter that nothing
            gives.

    >>> once = fluid.transform.Rule(
    ...     lambda x: fluid.layers.relu(fluid.layers.relu(x)), lambda x: fluid.layers.relu(x)
    ... )
    """

    def __init__(
        self,
        pattern: Callable[..., Any] | Sequence[Callable[..., Any]],
        replacement: Callable[..., Any],
        *,
        where: Callable[..., Any] | None = None,
        name: str | None = None,
        shapes: Mapping[str, Iterable[int]] | None = None,
        keeps: bool = False,
    ) -> None:
        #: in the order in which they are tried
        self.patterns: list[Callable[..., Any]] = (
            list(pattern) if isinstance(pattern, (list, tuple)) else [pattern]  # type: ignore[list-item]
        )
        self.replacement = replacement
        self.where = where
        self.keeps = keeps
        for function in (*self.patterns, replacement, *([] if where is None else [where])):
            if not callable(function):
                raise refused("Rule", "pattern, replacement and where", "functions", function)
        given = [getattr(f, "__name__", "<lambda>") for f in (replacement, *self.patterns)]
        self.name: str = name or next((each for each in given if each != "<lambda>"), "rule")
        #: the operands of each pattern
        self.operands: list[list[str]] = [
            [p for p in parameters_of(function, self.name) if p != INTERPRETER]
            for function in self.patterns
        ]
        if not self.patterns:
            raise ArgumentError(f"rule {self.name!r} needs at least one pattern")
        known = {name for operands in self.operands for name in operands}
        self.shapes: dict[str, tuple[int, ...]] = {
            operand: tuple(sizes) for operand, sizes in (shapes or {}).items()
        }
        for operand in self.shapes:
            if operand not in known:
                raise ArgumentError(
                    f"rule {self.name!r}: shapes has {operand!r}, which is no operand of the "
                    f"pattern; it has {', '.join(sorted(known)) or 'none'}"
                )
        #: the parameters of the functions that are given what was found
        self.wanted: list[str] = parameters_of(replacement, self.name)
        self.asked: list[str] = [] if where is None else parameters_of(where, self.name)
        #: those of the replacement's that are operands
        self.wanted_operands: list[str] = [name for name in self.wanted if name in known]
        #: how names of what replacements make go on
        self.stem: str = _NO_NAME.sub("_", self.name)

    def __repr__(self) -> str:
        return f"<Rule {self.name}>"


def rule(
    pattern: Callable[..., Any] | Sequence[Callable[..., Any]],
    *,
    where: Callable[..., Any] | None = None,
    name: str | None = None,
    shapes: Mapping[str, Iterable[int]] | None = None,
    keeps: bool = False,
) -> Callable[[Callable[..., Any]], Rule]:
    """A decorator that makes a :class:`Rule` of a replacement.

    Args:
        pattern, where, name, shapes, keeps: as of :class:`Rule`.

    >>> @fluid.transform.rule(lambda x: fluid.layers.relu(fluid.layers.relu(x)))
    ... def once(x):
    ...     return fluid.layers.relu(x)
    >>> once
    <Rule once>
    """

    def made(replacement: Callable[..., Any]) -> Rule:
        return Rule(pattern, replacement, where=where, name=name, shapes=shapes, keeps=keeps)

    return made


def parameters_of(function: Callable[..., Any], rule: str) -> list[str]:
    """The names of the parameters that are given by name.

    Raises:
        ArgumentError: there are ``*args`` or ``**more``, or Python cannot tell.
    """
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        raise ArgumentError(
            f"rule {rule!r}: the parameters of {function!r:.60} are not known; write a lambda"
        ) from None
    for parameter in parameters:
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            raise ArgumentError(
                f"rule {rule!r}: operands are matched by name, and {parameter} has none; write "
                f"them one by one"
            )
    return [p.name for p in parameters if p.default is p.empty]


class Choices:
    """What the choices in one trace of a pattern are.

    Args:
        path: the first ones; what comes behind is the first alternative each.
    """

    def __init__(self, path: Sequence[int]) -> None:
        self.path = path
        self.taken: list[tuple[int, int]] = []  #: the number chosen, and of how many
        self.functions: dict[str, Any] = {}  #: those that have a name
        #: name of a variable -> attributes that may have any value; None for all of them
        self.free: dict[str, set[str] | None] = {}
        #: name of a variable -> attribute -> the name that its value goes by
        self.captured: dict[str, dict[str, str]] = {}

    def choose(self, count: int) -> int:
        """The number of an alternative among so many."""
        at = len(self.taken)
        chosen = self.path[at] if at < len(self.path) else 0
        self.taken.append((chosen, count))
        return chosen

    def next_path(self) -> list[int] | None:
        """The choices of the trace to come; None when all have been made."""
        for at in range(len(self.taken) - 1, -1, -1):
            chosen, count = self.taken[at]
            if chosen + 1 < count:
                return [*(number for number, _ in self.taken[:at]), chosen + 1]
        return None


CHOICES: state.StateSlot[Choices | None] = state.slot("choices of a pattern", lambda: None)


def _choices(word: str) -> Choices:
    choices = CHOICES.get()
    if choices is None:
        raise ArgumentError(f"{word} is a word for patterns of rules, and no pattern is traced now")
    return choices


def any_of(*functions: Callable[..., Any], name: str = "") -> Callable[..., Any]:
    """A function for patterns that stands for any of some functions, the first that matches.

    Args:
        functions: of the same arguments.
        name: the replacement, and ``where``, are given the function that matched under this name.

    >>> act = fluid.transform.any_of(fluid.layers.relu, fluid.layers.tanh, name="act")
    >>> twice = fluid.transform.Rule(
    ...     lambda x: act(fluid.layers.scale(x, 2.0)), lambda x, act: act(x + x)
    ... )
    """
    if not functions:
        raise ArgumentError("any_of needs at least one function")

    def chosen(*args: Any, **more: Any) -> Any:
        choices = _choices("any_of")
        function = functions[choices.choose(len(functions))]
        if name:
            before = choices.functions.setdefault(name, function)
            if before is not function:
                raise Contradiction
        return function(*args, **more)

    return chosen


class Contradiction(Exception):
    """Two choices of one name differ: such a trace stands for nothing."""


def optional(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A function for patterns that may be there or not: without it, its argument is the result.

    Operands that only it reads are None then.

    Args:
        function: of one variable.

    >>> layer = fluid.transform.Rule(
    ...     lambda x, w, b: fluid.layers.relu(fluid.transform.optional(lambda y: y + b)(x @ w)),
    ...     lambda x, w, b: fluid.layers.relu(x @ w if b is None else x @ w + b),
    ... )
    """
    return any_of(function, lambda x: x)


def attributes(result: T, *free: str | EllipsisType, **named: str) -> T:
    """For patterns: say which attributes of an operator may have any value.

    Args:
        result: what the operator gives, or the first of it.
        free: names of attributes; ``...`` for all of them.
        named: name -> attribute, which may have any value, too; the replacement, and ``where``, are
            given the value under the name.

    Returns:
        the result.

    >>> shifted = fluid.transform.Rule(
    ...     lambda x: fluid.transform.attributes(fluid.layers.scale(x), shift="bias"),
    ...     lambda x, shift: x + 2 * shift,
    ... )
    """
    choices = _choices("attributes")
    variable = result[0] if isinstance(result, (list, tuple)) and result else result
    if not isinstance(variable, Variable):
        raise refused("attributes", "the result", "a variable of the pattern", result)
    name = variable.name
    if ... in free:
        choices.free[name] = None
    else:
        listed = choices.free.setdefault(name, set())
        if listed is not None:
            listed.update(str(each) for each in (*free, *named.values()))
    choices.captured.setdefault(name, {}).update(
        {attribute: captured for captured, attribute in named.items()}
    )
    return result
