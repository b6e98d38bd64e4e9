"""The public names of paddle 2.6.2, and what stands behind each here.

``DIFFERENCES`` are those whose parameters are others on purpose.
"""

import ast
import functools
import gzip
import inspect
import json
import re
from pathlib import Path

from fluidlite import paddle
from fluidlite.ground.missing_names import LEFT_OUT_OF_PADDLE_2, left_out_of_paddle_2

DATA = Path(__file__).parents[1] / "data"
#: patterns of names whose parameters are others on purpose -> why
DIFFERENCES = {
    "paddle.jit.TranslatedLayer": "jit.load makes it",
    "paddle.static.Variable": "a block makes it",
}
_REFUSED = "Refused: "
ABSENT = object()


@functools.cache
def listed():
    """Module -> name -> kind, signature, and of classes the names of methods."""
    return json.loads(gzip.decompress((DATA / "names_of_paddle26.json.gz").read_bytes()))


def found(name):
    """What stands behind a whole name here; ``ABSENT`` where nothing does."""
    value = paddle
    for part in name.split(".")[1:]:
        value = getattr(value, part, ABSENT)
    return value


def refusal(value):
    """Why a function does nothing but refuse, as its docstring says; None where it does more."""
    doc = getattr(value, "__doc__", None) or ""
    if not doc.startswith(_REFUSED):
        return None
    return re.split(r"\.(?:\s|$)", doc, maxsplit=1)[0].removeprefix(_REFUSED)


def why_left_out():
    """Whole name -> why it is left out, or refused when it is called."""
    known = {f"paddle.{name}": why for why, names in LEFT_OUT_OF_PADDLE_2.items() for name in names}
    whole = [f"{module}.{name}" for module, names in listed().items() for name in names]
    return known | {name: why for name in whole if (why := refusal(found(name)))}


def state(name):
    """One of "served", "refused"; "missing" where nobody has thought of it."""
    value = found(name)
    if value is not ABSENT:
        return "refused" if refusal(value) else "served"
    return "refused" if name in left_out_of_paddle_2() else "missing"


def states():
    """Whole name -> its state."""
    return {f"{m}.{name}": state(f"{m}.{name}") for m, names in listed().items() for name in names}


#: what is said of the parameters of what is written in C++, or only passes them on
_UNKNOWN = tuple(
    f"({first}*args, **{rest})"
    for first in ("", "self, /, ", "self, ")
    for rest in ("kwargs", "kwds")
)


class Unreadable:
    """A default that is no literal: it is compared with nothing."""

    def __eq__(self, other):
        return True

    __hash__ = None


def _default(node):
    try:
        return ast.literal_eval(node)
    except ValueError:
        return Unreadable()


def parameters_of_text(text):
    """``(name, default)`` of the parameters in a signature, without that of the object."""
    plain = re.sub(r"<[^<>]*>", "UNREADABLE", text)
    arguments = ast.parse(f"def f{plain.partition(' -> ')[0]}: pass").body[0].args
    placed = [*arguments.posonlyargs, *arguments.args]
    missing = [None] * (len(placed) - len(arguments.defaults))
    pairs = [*zip(placed, [*missing, *arguments.defaults])]
    pairs += zip(arguments.kwonlyargs, arguments.kw_defaults)
    told = [
        (each.arg, inspect.Parameter.empty if default is None else _default(default))
        for each, default in pairs
    ]
    stars = ["*"] * bool(arguments.vararg) + ["**"] * bool(arguments.kwarg)
    return told, stars


def parameters_of(value):
    """The same of a function, or of a class."""
    told, stars = [], []
    for each in inspect.signature(value).parameters.values():
        if each.kind is each.VAR_POSITIONAL:
            stars.append("*")
        elif each.kind is each.VAR_KEYWORD:
            stars.append("**")
        else:
            told.append((each.name, each.default))
    return told, stars


def _alike(one, other):
    if isinstance(one, Unreadable) or isinstance(other, Unreadable):
        return True
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        return [*one] == [*other]
    if isinstance(one, str) and not isinstance(other, str):
        return str(other) == one
    return one is other or (type(one) in (int, float) and one == other) or one == other


def difference(name):
    """How the parameters of a served name differ from those of paddle 2.6; None where not.

    Others may follow, and have defaults if there are none in paddle.
    """
    module, _, last = name.rpartition(".")
    kind, text, *_ = listed()[module][last]
    value = found(name)
    if text in (None, *_UNKNOWN) or not callable(value):
        return None
    try:
        here, stars = parameters_of(value)
    except ValueError:
        return None
    there, stars_there = parameters_of_text(text)
    if kind == "class" and there and there[0][0] == "self":
        del there[0]
    if kind == "method":
        del here[:1], there[:1]
    names = [n for n, _ in here]
    more = [n for n, default in here[len(there) :] if default is inspect.Parameter.empty]
    if names[: len(there)] != [n for n, _ in there] or more or not {*stars} >= {*stars_there}:
        shown = names + stars, [n for n, _ in there] + stars_there
        return f"({', '.join(shown[0])}) here, ({', '.join(shown[1])}) there"
    for (parameter, one), (_, other) in zip(here, there):
        if other is not inspect.Parameter.empty and not _alike(other, one):
            return f"{parameter}={one!r} here, {other!r} there"
    return None
