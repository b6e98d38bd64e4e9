"""Windows that move along sequences, over images and through volumes: what their convolutions and
poolings share.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from typing import Any, Concatenate, ParamSpec, TypeVar

from ...errors import ArgumentError
from ...functions.arguments import Numbers
from ...functions.shaping import numbers_in
from ...ground.docstrings import Family
from ...ground.spellings import Spelling
from ...opdef.windows import FORMATS, WindowArguments

#: functions of windows that move over images
WINDOWS = Family(
    {
        "rank": "how many dimensions windows have.",
        "x": "[N, C, H, W].",
        "kernel_size": "of the window: a number, or two.",
        "stride": "its steps; its sizes when None.",
        "padding": 'around the image: a number, two or four, or "SAME" or "VALID".',
        "output_size": "how many parts there are: a number, or two; None for as many as elements.",
        "return_mask": "also give the places of the elements, counted by rows.",
        "ceil_mode": "also windows that reach beyond the image.",
        "data_format": "NCHW, or NHWC for images whose channels come last.",
    },
    raises="ArgumentError: an option is of another form.",
)
P = ParamSpec("P")
R = TypeVar("R")
_SPELLING = Spelling({})
#: by the number of dimensions: words of docstrings of images -> those in their place
_WORDS: dict[int, dict[str, str]] = {
    1: {
        "an image": "a sequence",
        "image": "sequence",
        "Image": "Sequence",
        "C, H, W]": "C, L]",
        "NCHW": "NCL",
        "NHWC": "NLC",
        "a number, or two": "a number",
        "a number, two or four": "a number, or two",
    },
    2: {},
    3: {
        "an image": "a volume",
        "image": "volume",
        "Image": "Volume",
        "C, H, W]": "C, D, H, W]",
        "NCHW": "NCDHW",
        "NHWC": "NDHWC",
        "a number, or two": "a number, or three",
        "a number, two or four": "a number, three or six",
    },
}


def of_rank(
    rank: int,
    function: Callable[Concatenate[int, P], R],
    name: str,
    example: str = "",
    prose: str = "",
    **options: Any,
) -> Callable[P, R]:
    """A function of windows of some rank: its docstring and defaults are those of images.

    Args:
        rank: how many dimensions windows have: 1, 2 or 3.
        function: takes the rank, and then the arguments of the result.
        name: of the result.
        example: for the docstring; ``{3}`` in it stands for the rest of a shape: ``, 3, 3``, and
            ``{name}`` for the name, and ``{rank}`` for the number.
        prose: the first sentences of the docstring; those of the function when empty.
        options: as of :class:`~fluidlite.ground.spellings.Spelling`.
    """
    text = re.sub(r"\{(\d+)\}", lambda found: f", {found[1]}" * rank, example)
    text = text.replace("{name}", name).replace("{rank}", str(rank))
    prose = prose or str(function.__doc__).split("\n\n")[0]
    fixed = {"rank": rank, **options.pop("fixed", {})}
    if "data_format" in function.__annotations__ and "data_format" not in fixed:
        options["defaults"] = {"data_format": FORMATS[rank][0]}
    spelled: Any = _SPELLING(
        function,
        name,
        f"{prose}\n\n{text}" if function.__doc__ else None,
        fixed=fixed,
        words=_WORDS[rank],
        scope=sys._getframe(1).f_globals,
        **options,
    )
    return spelled


def windows_of(
    rank: int,
    sizes: Numbers,
    stride: Numbers | None,
    padding: Numbers | str,
    data_format: str,
    dilation: Numbers = 1,
) -> WindowArguments:
    """Windows, from what users of paddle 2 write.

    Args:
        rank: how many dimensions they have.
        sizes: a number, or one for every dimension.
        stride: the same; the sizes when None.
        padding: a number, one or two for every dimension, pairs, or SAME or VALID.
        data_format: of what they move over.
        dilation: a number, or one for every dimension.

    Raises:
        ArgumentError: one of them is of another form.
    """
    if data_format not in FORMATS[rank]:
        expected = " or ".join(FORMATS[rank])
        raise ArgumentError(f"expected data_format {expected}, got {data_format!r}")
    numbers = each("kernel_size", sizes, rank)
    steps = numbers if stride is None else each("stride", stride, rank)
    around, algorithm = _padding(rank, padding, data_format)
    spread = each("dilation", dilation, rank)
    return WindowArguments(numbers, steps, around, spread, data_format, algorithm)


def _padding(rank: int, given: Any, data_format: str) -> tuple[tuple[int, ...], str]:
    """Paddings, one or two for every dimension, and the algorithm."""
    if isinstance(given, str):
        return (0,) * rank, given.upper()
    if isinstance(given, (list, tuple)) and given and isinstance(given[0], (list, tuple)):
        first = 1 if data_format[-1] == "C" else 2
        pairs = given[first : first + rank] if len(given) == rank + 2 else given
        given = [n for pair in pairs for n in pair]
    numbers = numbers_in("padding", given)
    if len(numbers) not in (1, rank, 2 * rank):
        raise ArgumentError(f"expected padding to be a number, {rank} or {2 * rank}, got {given!r}")
    return numbers * rank if len(numbers) == 1 else numbers, "EXPLICIT"


def each(what: str, given: Numbers, rank: int) -> tuple[int, ...]:
    """A number for every dimension.

    Raises:
        ArgumentError: there are others.
    """
    numbers = numbers_in(what, given)
    if len(numbers) not in (1, rank):
        raise ArgumentError(f"expected {what} to be a number, or {rank}, got {given!r}")
    return numbers * rank if len(numbers) == 1 else numbers
