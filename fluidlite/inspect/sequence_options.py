"""The option ``--sequences`` of commands that feed a program: lengths of sequences, by variable."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from ..errors import FeedError, UsageError
from ..ground.options import add_repeated
from ..ground.place import CPUPlace
from ..ground.quoting import printable
from ..ground.values import LoDTensor
from ..ir.variable import Variable
from ..lod_tensor import create_lod_tensor

#: lengths of each level, by the name of the variable
Lengths = Mapping[str, list[list[int]]]


def add_sequences(parser: argparse.ArgumentParser, about: str) -> None:
    """Add the option to a command.

    Args:
        parser: of the command.
        about: what is fed, in a few words.
    """
    add_repeated(
        parser,
        "--sequences",
        f"the lengths of the sequences that {about}; several levels, outer one first, as "
        "NAME=2,1/3,2,4",
        metavar="NAME=2,3",
    )


def lengths_of(texts: Iterable[str], known: Iterable[str]) -> Lengths:
    """The lengths that the option says.

    Args:
        texts: each as ``NAME=2,3`` or ``NAME=2,1/3,2,4``.
        known: names of variables that are fed.

    Raises:
        UsageError: a text has another form, or its variable is not fed.
    """
    names, lengths = list(known), {}
    for text in texts:
        name, _, levels = text.rpartition("=")
        try:
            if not name:
                raise ValueError(text)
            lengths[name] = [list(map(int, level.split(","))) for level in levels.split("/")]
        except ValueError:
            raise UsageError(f"expected --sequences NAME=2,3, got {text!r}") from None
        if name not in names:
            listed = ", ".join(map(printable, names))
            raise UsageError(f"--sequences: the model is fed no {name!r}; it is fed {listed}")
    return lengths


def one_sequence(variable: Variable, rows: int) -> list[list[int]]:
    """The lengths of a single sequence of so many rows, in each level of a variable."""
    return [[1]] * (variable.lod_level - 1) + [[rows]]


def zeros_in_sequences(variable: Variable, levels: list[list[int]]) -> LoDTensor:
    """Rows of zeros; sizes that are unknown are 1.

    Args:
        variable: which they are fed to.
        levels: lengths of the sequences of each level.
    """
    sizes = [1 if size < 0 else size for size in variable.shape[1:]]
    rows = np.zeros([sum(levels[-1]), *sizes], variable.dtype.dtype)
    return create_lod_tensor(rows, levels, CPUPlace())


def in_sequences(variable: Variable, value: Any, levels: list[list[int]] | None) -> Any:
    """A value with the lengths of its sequences.

    Args:
        variable: which it is fed to.
        value: an array or a LoDTensor.
        levels: what the option says; None if it says nothing.

    Raises:
        FeedError: the variable has sequences, and no lengths are given; or the lengths do not fit.
    """
    data = value.data if isinstance(value, LoDTensor) else value
    if levels is not None:
        return create_lod_tensor(data, levels, CPUPlace())
    if variable.lod_level and not isinstance(value, LoDTensor):
        rows = len(data) if data.ndim else 1
        raise FeedError(
            f"variable {variable.name!r} is fed rows of sequences: give the lengths of the "
            f"sequences, as in --sequences {variable.name}={rows} for one of {rows}"
        )
    return value
