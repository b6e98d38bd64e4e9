"""``paddle.compat``: texts and numbers, the same in Python 2 and 3."""

from __future__ import annotations

import math
from typing import Any

int_type = long_type = int


def to_text(obj: Any, encoding: str = "utf-8", inplace: bool = False) -> Any:
    """The same with ``str`` for ``bytes``, within lists, sets and dictionaries, too.

    Args:
        obj: anything.
        encoding: of the bytes.
        inplace: whether containers are changed; else they are copied.

    >>> fluid.compat.modules.texts.to_text([b"a", "b"])
    ['a', 'b']
    """
    return _converted(
        obj, inplace, lambda one: one.decode(encoding) if isinstance(one, bytes) else one
    )


def to_bytes(obj: Any, encoding: str = "utf-8", inplace: bool = False) -> Any:
    """The same with ``bytes`` for ``str``, within lists and sets, too.

    Args:
        obj: anything.
        encoding: of the bytes.
        inplace: whether containers are changed; else they are copied.
    """
    return _converted(
        obj, inplace, lambda one: one.encode(encoding) if isinstance(one, str) else one
    )


def _converted(obj: Any, inplace: bool, convert: Any) -> Any:
    if isinstance(obj, (list, set)):
        converted: Any = type(obj)(_converted(each, False, convert) for each in obj)
    elif isinstance(obj, dict):
        converted = {
            _converted(k, False, convert): _converted(v, False, convert) for k, v in obj.items()
        }
    else:
        return convert(obj)
    if not inplace:
        return converted
    if isinstance(obj, list):
        obj[:] = converted
    else:
        obj.clear()
        obj.update(converted)
    return obj


def round(x: float, d: int = 0) -> float:
    """A number rounded half away from zero, as in Python 2.

    Args:
        x: the number.
        d: how many digits behind the point.

    >>> fluid.compat.modules.texts.round(2.5), fluid.compat.modules.texts.round(-0.5)
    (3.0, -1.0)
    """
    if not math.isfinite(x) or x == 0:
        return 0.0 if x == 0 or math.isnan(x) else x
    scale = 10.0**d
    return math.copysign(math.floor(abs(x) * scale + 0.5) / scale, x)


def floor_division(x: Any, y: Any) -> Any:
    """``x // y``."""
    return x // y


def get_exception_message(exc: BaseException) -> str:
    """The message of an error."""
    return str(exc)
