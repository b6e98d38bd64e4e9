"""Functions under other names: one function, as another library spells it.

>>> def clipped(x, low=0.0, high=1.0, name=None):
...     "``x``, kept between two bounds."
...     return min(max(x, low), high)
>>> spelled = Spelling({"x": "input"}, without=["name"])
>>> hardtanh = spelled(clipped, "hardtanh", low="min_val", high="max_val")
>>> import inspect
>>> str(inspect.signature(hardtanh)), hardtanh.__doc__
('(input, min_val=0.0, max_val=1.0)', '``input``, kept between two bounds.')
>>> hardtanh(3.0, max_val=2.0)
2.0

A spelling is a line in a table: what the function does, checks and says stands once.  Signatures
and docstrings are real ones, so ``help`` and editors show them.
"""

from __future__ import annotations

import functools
import inspect
import os
import re
import sys
from collections.abc import Callable, Collection, Mapping
from types import FunctionType
from typing import Any, Concatenate, Literal, ParamSpec, TypeVar, overload

from .docstrings import Family
from .examples import called, called_on_the_first, respelled
from .fields import maker_of

A = TypeVar("A")
P = ParamSpec("P")
R = TypeVar("R")
F = TypeVar("F", bound=Callable[..., Any])
#: what spelled functions are compiled as: a file of the package, whose frames users do not see
_WRITTEN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "<spelling>")
_NONE: Any = object()  #: the default of what has none
_LITERALS = (type(None), bool, int, float, str)
#: what a user wrote as ``f(2, 3)`` or ``f([2, 3])``: the numbers
_NUMBERS = "{0}[0] if len({0}) == 1 and isinstance({0}[0], (list, tuple)) else {0}"


def does_more(function: Any) -> bool:
    """Whether a function does more than to call the one that it wraps."""
    return getattr(function, "does_more", False)


class Spelling:
    """How a library calls what functions take.

    Args:
        names: a parameter's name -> its name there.
        without: parameters that it does not have; they keep their defaults.
        types: a type's name in annotations -> its name there.
        writes: the method of the first argument that takes a function, and writes what that makes
            of it in its place; or a function of both.  None where results are given.
        asks: the parameter of results, False by default, that says whether they write; None where
            they always do.
        examples: adapts the text of an example that calls the result.  None: examples are left
            out, and those of a spelling that writes call a method of the first argument.

    >>> import types
    >>> class Cell(types.SimpleNamespace):
    ...     def write(self, change):
    ...         self.value = change(self.value)
    >>> def doubled(x):
    ...     "Twice ``x``."
    ...     return 2 * x
    >>> cell = Cell(value=3)
    >>> Spelling({"x": "self"}, writes="write")(doubled)(cell)
    >>> cell.value
    6
    >>> Spelling({}, writes="write", asks="inplace")(doubled)(3)
    6
    """

    def __init__(
        self,
        names: Mapping[str, str],
        without: Collection[str] = (),
        types: Mapping[str, str] | None = None,
        writes: str | Callable[[Any, Callable[[Any], Any]], Any] | None = None,
        asks: str | None = None,
        examples: Callable[[str], str] | None = None,
    ) -> None:
        self._names = dict(names)
        self._without = frozenset(without)
        self._types = dict(types or {})
        self._writes = writes
        self._asks = asks
        self._always_writes = writes is not None and asks is None
        self._examples = examples

    def __call__(
        self,
        function: Callable[..., Any],
        name: str | None = None,
        doc: str | None = None,
        *,
        order: str | None = None,
        fixed: Mapping[str, Any] | None = None,
        defaults: Mapping[str, Any] | None = None,
        into: Mapping[str, Callable[[Any], Any]] | None = None,
        then: Callable[..., Any] | None = None,
        words: Mapping[str, str] | None = None,
        scope: dict[str, Any] | None = None,
        **names: str,
    ) -> Callable[..., Any]:
        """The function in this spelling.

        Args:
            function: takes no ``**kwargs``; what it takes as ``*args`` is left out.  Or a class,
                for what makes its objects.
            name: of the result; the function's when None, with ``_`` behind it where that writes.
            doc: the prose of its docstring, and an example; the function's prose when None, or
                when it is an example alone.
            order: the new names in their order, if it is another one, as in ``"input, dim, *,
                keepdim"``; behind the star they are given by name only.  A name with a star before
                it, as in ``"input, *shape"``, takes one list or several numbers.
            fixed: values of parameters that the result does not have.
            defaults: other defaults, by new name; ``...`` for none.
            into: by parameter, what is done with an argument first.
            then: what is done with the result.  Its parameters but the first one become parameters
                that are given by name.
            words: words of the docstring -> those in their place.
            scope: globals of the module that the result belongs to; the caller's when None.
            names: a parameter's name -> its new one, beside those of the spelling.

        Raises:
            TypeError: the function has no parameter of such a name.
        """
        plain: Any = inspect.unwrap(function)
        fixed, into, defaults = fixed or {}, into or {}, defaults or {}
        parameters = _parameters(plain)
        inner: Any = inspect.unwrap(function, stop=_has_own_signature)
        if _has_own_signature(inner):  # it gives some of the parameters itself
            shown = inner.__signature__.parameters
            parameters = {each: told for each, told in parameters.items() if each in shown}
        else:
            inner = inspect.unwrap(function, stop=does_more)
        after: Any = then if isinstance(then, FunctionType) else None
        more = dict([*_parameters(after).items()][1:]) if after else {}
        renamed = {old: new for old, new in {**self._names, **names}.items() if old in parameters}
        gone = {*fixed, *(self._without & {*parameters})}
        new = {old: renamed.get(old, old) for old in parameters if old not in gone}
        taken = {new[old]: parameters[old] for old in new}
        taken.update({each: (default, True) for each, (default, _) in more.items()})
        taken.update({self._asks: (False, False)} if self._asks else {})
        unknown = {*names, *fixed, *into} - {*parameters} | {*defaults} - {*taken}
        if unknown:
            raise TypeError(f"{plain.__name__} has no parameter {', '.join(sorted(unknown))}")
        placed, named, starred = _ordered(taken, order)
        listed = [*placed, *named, *starred]
        if sorted(listed) != sorted(taken):
            raise TypeError(f"{plain.__name__} takes {', '.join(taken)}, got the order {order!r}")
        places = {each: f"p{place}" for place, each in enumerate(listed)}
        arguments = {old: places[each] for old, each in new.items()}
        arguments.update(
            {old: _NUMBERS.format(arguments[old]) for old in new if new[old] in starred}
        )
        constants: list[Any] = [inner]
        arguments.update({old: _constant(value, constants) for old, value in fixed.items()})
        arguments.update({k: f"{_constant(f, constants)}({arguments[k]})" for k, f in into.items()})
        call = f"c0({_arguments(parameters, arguments)})"
        if then is not None:
            rest = "".join(f", {each}={places[each]}" for each in more)
            call = f"{_constant(then, constants)}({call}{rest})"
        if self._writes is not None:
            rest = "".join(f", {each}={each}" for each in [*places.values()][1:])
            by = self._writes
            to = f"p0.{by}(" if isinstance(by, str) else f"{_constant(by, constants)}(p0, "
            asked = f" if {places[self._asks]} else {call}" if self._asks else ""
            call = f"{to}lambda p0{rest}: {call}){asked}"
        sizes = len(placed), len(named), len(starred), len(constants)
        template = _template(*sizes, call)(*constants)
        its_name = name or f"{plain.__name__}{'_' if self._always_writes else ''}"
        code = template.__code__.replace(co_varnames=tuple(listed), co_name=its_name)
        around = sys._getframe(1)
        scope = around.f_globals if scope is None else scope
        spelled = FunctionType(code, scope, its_name, None, template.__closure__)
        owner = around.f_locals.get("__qualname__")  # of a class whose body this is
        spelled.__qualname__ = f"{owner}.{its_name}" if owner else its_name
        last = {each: default for each, (default, _) in taken.items()}
        last.update({each: _NONE if value is ... else value for each, value in defaults.items()})
        spelled.__defaults__ = tuple(last[n] for n in placed if last[n] is not _NONE) or None
        spelled.__kwdefaults__ = {n: last[n] for n in named if last[n] is not _NONE} or None
        spelled.__annotations__ = self._annotations(plain, new, listed, then)
        untold = {*gone, next(iter(parameters))} if self._always_writes else gone
        example = self._example(plain.__name__, its_name, renamed)
        entries = _entries(after.__doc__)[1:] if after and after.__doc__ else []
        if self._asks:
            entries.append(f"{self._asks}: write the result to ``{listed[0]}``.")
        said = _documented(inner.__doc__, doc, renamed, untold, entries, example)
        if self._always_writes:
            said = said and re.sub(r"(?=;|\.?(\n\n|$)|\. )", ", in place", said, count=1)
        for word, other in (words or {}).items():
            said = said and said.replace(word, other)
        spelled.__doc__ = said
        return spelled

    def _example(self, old: str, new: str, renamed: Mapping[str, str]) -> Callable[[str], str]:
        """What makes an example of this spelling from one of the function."""
        if self._examples is None and self._writes is None:
            return lambda example: ""
        if self._examples is None:
            return lambda example: respelled(example, old, called_on_the_first(new))
        adapted = self._examples
        return lambda example: adapted(respelled(example, old, called(new, renamed)))

    def _annotations(
        self, plain: FunctionType, new: Mapping[str, str], listed: list[str], then: Any
    ) -> dict[str, str]:
        """Those of the result, with the given types."""
        told = plain.__annotations__
        if isinstance(plain, type):
            told = {**_constructor(plain).__annotations__, "return": plain.__name__}
        notes = {new[old]: text for old, text in told.items() if old in new}
        if isinstance(then, FunctionType):
            notes.update(then.__annotations__)
        elif "return" in told:
            type_name = then is not None and then.__name__
            notes["return"] = (
                told["return"].replace("list[", "tuple[").replace("]", ", ...]")
                if then is tuple
                else type_name or told["return"]
            )
        if self._asks:
            notes[self._asks] = "bool"
        for old, other in self._types.items():
            notes = {each: text.replace(old, other) for each, text in notes.items()}
        return {each: notes[each] for each in (*listed, "return") if each in notes}


def given_first(
    function: Callable[Concatenate[A, P], R], value: A, name: str, doc: str, **options: Any
) -> Callable[P, R]:
    """A function whose first argument is given; it belongs to the module that calls this.

    Args:
        function: has that argument, and those of the result, whose types checkers know.
        value: of the argument.
        name: of the result.
        doc: what its docstring has in place of the function's prose, and an example.
        options: what a call of a spelling takes.

    >>> def scaled(factor, x):
    ...     return factor * x
    >>> given_first(scaled, 2, "doubled", "Twice ``x``.")(x=3)
    6
    """
    fixed = {next(iter(_parameters(inspect.unwrap(function)))): value}
    scope = sys._getframe(1).f_globals
    return Spelling({})(function, name, doc, fixed=fixed, scope=scope, **options)


def of_operator(template: F, name: str, doc: str, operator: str | None = None) -> F:
    """A copy of a function that calls another operator; it belongs to the module that calls this.

    Args:
        template: calls ``eager.operator``, and may say its name by the text "function".
        name: of the copy.
        doc: its docstring.
        operator: the type of the other operator; the name when None.
    """
    plain: Any = template
    code = plain.__code__
    copied: Any = FunctionType(
        code.replace(
            co_names=tuple(
                (operator or name) if each == "operator" else each for each in code.co_names
            ),
            co_consts=tuple(name if each == "function" else each for each in code.co_consts),
            co_name=name,
        ),
        sys._getframe(1).f_globals,
        name,
        plain.__defaults__,
    )
    copied.__qualname__ = name
    copied.__annotations__ = plain.__annotations__
    copied.__doc__ = plain.__doc__ and inspect.cleandoc(doc)
    return copied


def _has_own_signature(function: Any) -> bool:
    return "__signature__" in vars(function)


def _constructor(kind: Any) -> FunctionType:
    """What makes the objects of a class."""
    plain: FunctionType = inspect.unwrap(kind.__init__)
    return plain


@overload
def parameters_of(
    function: Callable[P, object], method: Literal[False] = False
) -> Callable[[Callable[..., R]], Callable[P, R]]: ...
@overload
def parameters_of(
    function: Callable[P, object], method: Literal[True]
) -> Callable[[Callable[..., R]], Callable[Concatenate[Any, P], R]]: ...
def parameters_of(function: Callable[..., object], method: bool = False) -> Callable[..., Any]:
    """A decorator: a function takes what another one does, and is given all of that by place.

    Args:
        function: has no ``*args`` or ``**kwargs``; what it says of arguments is said here, too.
        method: whether the result takes the object that it belongs to besides, in front.

    >>> def power(x: float, exponent: float = 2.0) -> float:
    ...     return x**exponent
    >>> @parameters_of(power)
    ... def root(*given) -> float:
    ...     return power(*given) ** 0.5
    >>> import inspect
    >>> list(inspect.signature(root).parameters), root(3.0, exponent=4.0)
    (['x', 'exponent'], 9.0)
    """
    plain: Any = inspect.unwrap(function)
    taken = {**({"self": (_NONE, False)} if method else {}), **_parameters(plain)}
    placed, named, _ = _ordered(taken, None)
    call = f"c0({', '.join(f'p{place}' for place, _ in enumerate(taken))})"

    def completed(body: Any) -> Any:
        template = _template(len(placed), len(named), 0, 1, call)(body)
        code = template.__code__.replace(co_varnames=(*placed, *named), co_name=body.__name__)
        result: Any = FunctionType(
            code, body.__globals__, body.__name__, None, template.__closure__
        )
        result.__qualname__, result.__doc__ = body.__qualname__, body.__doc__
        result.__defaults__, result.__kwdefaults__ = plain.__defaults__, plain.__kwdefaults__
        result.__annotations__ = {**plain.__annotations__, "return": body.__annotations__["return"]}
        return Family().like(function)(result)

    return completed


def _parameters(function: FunctionType) -> dict[str, tuple[Any, bool]]:
    """The parameters of a function in their order: their defaults, and whether they have to be
    named.
    """
    if isinstance(function, type):
        return dict([*_parameters(_constructor(function)).items()][1:])
    code = function.__code__
    if code.co_flags & inspect.CO_VARKEYWORDS:
        raise TypeError(f"{function.__name__} takes any arguments: it has no spelling")
    count = code.co_argcount
    placed, named = (
        code.co_varnames[:count],
        code.co_varnames[count : count + code.co_kwonlyargcount],
    )
    defaults = dict(zip(reversed(placed), reversed(function.__defaults__ or ())))
    defaults.update(function.__kwdefaults__ or {})
    return {n: (defaults.get(n, _NONE), n in named) for n in (*placed, *named)}


def _ordered(
    taken: Mapping[str, tuple[Any, bool]], order: str | None
) -> tuple[list[str], list[str], list[str]]:
    """The names that may be given by place, those by name only, and that of what takes several."""
    if order is None:
        placed = [each for each, (_, keyword) in taken.items() if not keyword]
        return placed, [each for each, (_, keyword) in taken.items() if keyword], []
    before, _, behind = order.partition("*")
    starred = re.findall(r"^\w+", behind)
    placed, named = re.findall(r"\w+", before), re.findall(r"\w+", behind)[len(starred) :]
    said = {*placed, *named, *starred}  # parameters that are given by name need not be
    more = [each for each, (_, keyword) in taken.items() if keyword and each not in said]
    return placed, [*named, *more], starred


def _constant(value: Any, constants: list[Any]) -> str:
    """A value as the text of a call: a literal, or the name of a variable around the function."""
    if type(value) in _LITERALS:
        return repr(value)
    constants.append(value)
    return f"c{len(constants) - 1}"


def _arguments(parameters: Mapping[str, tuple[Any, bool]], given: Mapping[str, str]) -> str:
    """The text of the arguments of a call: by their places as long as none is left out."""
    told: list[str] = []
    behind = False
    for parameter, (_, keyword) in parameters.items():
        behind = behind or keyword
        if parameter not in given:
            behind = True
        else:
            told.append(f"{parameter}={given[parameter]}" if behind else given[parameter])
    return ", ".join(told)


@functools.cache
def _template(
    placed: int, named: int, starred: int, constants: int, call: str
) -> Callable[..., FunctionType]:
    """What makes a function of so many parameters, of which some are given by name only."""
    words = [f"p{k}" for k in range(placed + named + starred)]
    stars = [f"*{word}" for word in words[placed + named :]] or ["*"] * bool(named)
    told = ", ".join([*words[:placed], *stars, *words[placed : placed + named]])
    text = (
        f"def make({', '.join(f'c{k}' for k in range(constants))}):\n"
        f"    def spelled({told}):\n"
        f"        return {call}\n"
        f"    return spelled\n"
    )
    return maker_of(text, _WRITTEN)


_HEADS = ("Args", "Returns", "Raises")


def _blocks(text: str) -> tuple[list[str], dict[str, str], list[str]]:
    """The prose of a docstring, its sections by their heads, and its examples."""
    blocks = (inspect.cleandoc(text) if "\n" in text else text).split("\n\n")
    heads = {each.partition(":")[0]: each for each in blocks if each.partition(":")[0] in _HEADS}
    examples = [each for each in blocks if each.startswith(">>>")]
    rest = [*heads.values(), *examples]
    return [each for each in blocks if each not in rest], heads, examples


def _documented(
    text: str | None,
    doc: str | None,
    renamed: Mapping[str, str],
    gone: Collection[str],
    more: Collection[str],
    example: Callable[[str], str],
) -> str | None:
    """The docstring with the new names: those of its arguments, and those in backticks.

    Args:
        text: the docstring of the function.
        doc: texts that replace its prose and examples.
        renamed: a parameter's name -> its new one.
        gone: parameters that are not described.
        more: what is said of further arguments.
        example: makes an example of the result from one of the function; empty: it is left out.
    """
    if text is None:  # Python drops docstrings under -OO
        return None
    prose, heads, examples = _blocks(text)
    examples = [*filter(None, map(example, examples))]
    if doc is not None:
        own_prose, own, own_examples = _blocks(doc)
        prose, heads = own_prose or prose, {**heads, **own}
        examples = own_examples or examples
    lines = [_entry(entry, renamed, gone) for entry in _split(heads.get("Args", ""))]
    lines += more
    heads["Args"] = "\n    ".join(["Args:", *filter(None, lines)])
    sections = [heads[each] for each in _HEADS if heads.get(each, "Args:") != "Args:"]
    return "\n\n".join([*(_ticked(each, renamed) for each in (*prose, *sections)), *examples])


def _entries(text: str) -> list[str]:
    """What a docstring says of each argument."""
    return _split(_blocks(text)[1].get("Args", ""))


def _split(section: str) -> list[str]:
    """The entries of a section "Args"."""
    return re.split(r"\n    (?=\S)", section)[1:]


def _entry(text: str, renamed: Mapping[str, str], gone: Collection[str]) -> str:
    """An entry of the arguments, for those that are left."""
    names, colon, said = text.partition(":")
    listed = [name.strip() for name in names.split(",")]
    left = [renamed.get(name, name) for name in listed if name not in gone]
    return f"{', '.join(left)}{colon}{said}" if left else ""


def _ticked(text: str, renamed: Mapping[str, str]) -> str:
    for old, new in renamed.items():
        text = text.replace(f"``{old}``", f"``{new}``")
    return text
