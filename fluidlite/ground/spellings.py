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
from typing import Any, TypeVar

R = TypeVar("R")
#: what spelled functions are compiled as: a file of the package, whose frames users do not see
_WRITTEN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "<spelling>")
_STARS = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS


class Spelling:
    """How a library calls what functions take.

    Args:
        names: a parameter's name -> its name there.
        without: parameters that it does not have; they keep their defaults.
    """

    def __init__(self, names: Mapping[str, str], without: Collection[str] = ()) -> None:
        self._names = dict(names)
        self._without = frozenset(without)

    def __call__(
        self,
        function: Callable[..., R],
        name: str | None = None,
        doc: str | None = None,
        *,
        order: str | None = None,
        fixed: Mapping[str, Any] | None = None,
        defaults: Mapping[str, Any] | None = None,
        **names: str,
    ) -> Callable[..., R]:
        """The function in this spelling; it belongs to the module that calls this.

        Args:
            function: takes no ``*args`` and no ``**kwargs``.
            name: of the result; the function's when None.
            doc: the prose of its docstring; the function's when None.
            order: the new names in their order, if it is another one, as in ``"input, dim, *,
                keepdim"``; behind the star they are given by name only.
            fixed: values of parameters that the result does not have.
            defaults: other defaults, by new name.
            names: a parameter's name -> its new one, beside those of the spelling.

        Raises:
            TypeError: the function has no parameter of such a name.
        """
        plain: Any = inspect.unwrap(function)
        parameters = _parameters(plain)
        renamed = {old: new for old, new in {**self._names, **names}.items() if old in parameters}
        fixed = dict(fixed or {})
        gone = {*fixed, *(self._without & {*parameters})}
        new = {old: renamed.get(old, old) for old in parameters if old not in gone}
        old_of = {each: old for old, each in new.items()}
        unknown = {*names, *fixed} - {*parameters} | {*(defaults or ())} - {*old_of}
        if unknown:
            raise TypeError(f"{plain.__name__} has no parameter {', '.join(sorted(unknown))}")
        if order is None:
            placed = [n for old, n in new.items() if not parameters[old][1]]
            named = [n for old, n in new.items() if parameters[old][1]]
        else:
            before, _, behind_star = order.partition("*")
            placed, named = re.findall(r"\w+", before), re.findall(r"\w+", behind_star)
        listed = [*placed, *named]
        if sorted(listed) != sorted(old_of):
            raise TypeError(f"{plain.__name__} takes {', '.join(old_of)}, got the order {order!r}")
        given = []
        behind = False  # whether what comes is given by name
        for old, (_, keyword) in parameters.items():
            if old in self._without and old not in fixed:
                behind = True
                continue
            behind = behind or keyword
            value = f"fixed[{old!r}]" if old in fixed else f"p{listed.index(new[old])}"
            given.append(f"{old}={value}" if behind else value)
        made = _template(len(placed), len(named), ", ".join(given))(function, fixed)
        code = made.__code__
        made.__name__ = made.__qualname__ = name or plain.__name__
        made.__code__ = code.replace(
            co_varnames=(*listed, *code.co_varnames[len(listed) :]), co_name=made.__name__
        )
        values = {new[old]: value for old, (value, _) in parameters.items() if old in new}
        values.update(defaults or {})
        made.__defaults__ = tuple(values[n] for n in placed if values[n] is not _NONE) or None
        made.__kwdefaults__ = {n: values[n] for n in named if values[n] is not _NONE} or None
        annotations = plain.__annotations__
        told = {n: annotations[old_of[n]] for n in listed if old_of[n] in annotations}
        result = {"return": annotations["return"]} if "return" in annotations else {}
        made.__annotations__ = {**told, **result}
        made.__module__ = sys._getframe(1).f_globals["__name__"]
        made.__doc__ = _documented(plain.__doc__, doc, renamed, gone)
        return made


_NONE: Any = object()


def _parameters(function: FunctionType) -> dict[str, tuple[Any, bool]]:
    """The parameters of a function in their order: their defaults, and whether they have to be
    named.
    """
    code = function.__code__
    if code.co_flags & _STARS:
        raise TypeError(f"{function.__name__} takes any arguments: it has no spelling")
    count = code.co_argcount
    placed, named = (
        code.co_varnames[:count],
        code.co_varnames[count : count + code.co_kwonlyargcount],
    )
    defaults = dict(zip(reversed(placed), reversed(function.__defaults__ or ())))
    defaults.update(function.__kwdefaults__ or {})
    return {n: (defaults.get(n, _NONE), n in named) for n in (*placed, *named)}


@functools.cache
def _template(placed: int, named: int, given: str) -> Callable[[Any, Any], FunctionType]:
    """What makes a function of so many parameters, of which some are given by name only."""
    words = [f"p{k}" for k in range(placed + named)]
    told = ", ".join([*words[:placed], *["*"] * bool(named), *words[placed:]])
    text = (
        f"def make(target, fixed):\n"
        f"    def spelled({told}):\n"
        f"        return target({given})\n"
        f"    return spelled\n"
    )
    scope: dict[str, Any] = {}
    exec(compile(text, _WRITTEN, "exec", dont_inherit=True), scope)
    maker: Callable[[Any, Any], FunctionType] = scope["make"]
    return maker


def _documented(
    text: str | None, doc: str | None, renamed: Mapping[str, str], gone: Collection[str]
) -> str | None:
    """The docstring with the new names: those of its arguments, and those in backticks.

    Examples are left out, as they call the function by its own name.
    """
    if text is None:  # Python leaves docstrings out when told to
        return None
    blocks = inspect.cleandoc(text).split("\n\n")
    prose = [b for b in blocks if not b.startswith(("Args:", "Returns:", "Raises:", ">>>"))]
    rest = [b for b in blocks if b.startswith(("Args:", "Returns:", "Raises:"))]
    found = []
    for block in [doc] if doc is not None else prose:
        found.append(_ticked(block, renamed))
    for block in rest:
        if block.startswith("Args:"):
            entries = re.split(r"\n    (?=\S)", block)[1:]
            lines = [_entry(entry, renamed, gone) for entry in entries]
            block = "\n    ".join(["Args:", *filter(None, lines)])
            if block == "Args:":
                continue
        found.append(_ticked(block, renamed))
    return "\n\n".join(found)


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
