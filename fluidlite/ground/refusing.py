"""Functions that fluidlite lacks: they take what theirs take elsewhere, and say what to use.

>>> draw = refusing("draw(x: Any, width: int = 3)", "Not there.", "draw: use a tool of today")
>>> import inspect
>>> str(inspect.signature(draw)).replace("'", "")
'(x: Any, width: int = 3) -> NoReturn'
>>> print(draw.__doc__)
Not there.
<BLANKLINE>
Args:
    x, width: not read.
<BLANKLINE>
Raises:
    UnsupportedError: always.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from types import FunctionType
from typing import Any, NoReturn

from ..errors import UnsupportedError
from .docstrings import Family
from .fields import maker_of

#: what they are compiled as: a file of the package, whose frames users do not see
_WRITTEN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "<refusing>")


def refusing(
    signature: str,
    doc: str,
    message: str,
    before: Callable[..., object] | None = None,
    raises: str = "UnsupportedError: always.",
    result: str = "NoReturn",
    scope: dict[str, Any] | None = None,
) -> Callable[..., NoReturn]:
    """A function that only raises ``UnsupportedError``; it belongs to the module that calls this.

    Args:
        signature: its name and parameters, as Python writes them.
        doc: what its docstring says first.
        message: of the error.
        before: what is called first, with all arguments by name, and may raise another error.
        raises: the errors, one a line.
        result: what the type of its result is said to be.
        scope: globals of the module that it belongs to; the caller's when None.
    """

    def refuse(given: dict[str, object]) -> NoReturn:
        if before is not None:
            before(**{each: given[each] for each in names})
        raise UnsupportedError(message)

    name = signature.partition("(")[0]
    text = (
        f"from __future__ import annotations\n"
        f"def make(refuse):\n"
        f"    def {signature} -> {result}:\n"
        f"        refuse(locals())\n"
        f"    return {name}\n"
    )
    written: Any = maker_of(text, _WRITTEN)(refuse)
    scope = sys._getframe(1).f_globals if scope is None else scope
    code = written.__code__
    refused: Any = FunctionType(code, scope, name, written.__defaults__, written.__closure__)
    refused.__qualname__, refused.__kwdefaults__ = name, written.__kwdefaults__
    refused.__annotations__ = written.__annotations__
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    family = Family(dict.fromkeys(names, "not read."), raises=raises)
    refused.__doc__ = family.completed(doc, name, names)
    function: Callable[..., NoReturn] = refused
    return function
