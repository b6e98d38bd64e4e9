"""The tensors that a function reads besides its arguments, as variables of the program."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..eager.recording import TensorRecord
from ..ir.program import Program
from ..ir.variable import Variable
from ..scope import Scope
from ..symbolic import declared


class _Thread(threading.local):
    active: Capture | None = None
    depth = 0


_thread = _Thread()


class Capture:
    """Makes a persistable variable of each tensor that translated code reads.

    Args:
        program: gets the variables.
    """

    def __init__(self, program: Program) -> None:
        self._program = program
        self._by_id: dict[int, Variable] = {}
        #: the tensors, with the names of their variables
        self.tensors: dict[str, Any] = {}
        #: layers that were called, with whether they were told to train
        self.layers: dict[int, tuple[Any, bool]] = {}

    def variable(self, tensor: Any) -> Variable:
        """The variable of a tensor."""
        found = self._by_id.get(id(tensor))
        if found is not None:
            return found
        made = declared(self._program.global_block(), tensor, tensor.name)
        self._by_id[id(tensor)] = made
        self.tensors[made.name] = tensor
        return made

    def calls(self, layer: Any) -> None:
        """Remember that a layer is called, and whether it and those within it train."""
        for each in (layer, *layer.sublayers()):
            self.layers[id(each)] = each, each.training

    def scope(self) -> Scope:
        """A scope with the values of the tensors."""
        scope = Scope()
        for name, tensor in self.tensors.items():
            scope.var(name).get_tensor().set(np.array(tensor.array))
        return scope


def capturing() -> Capture | None:
    """What takes tensors up while a function of this thread is made a program of."""
    return _thread.active


@contextmanager
def captured_by(capture: Capture) -> Iterator[None]:
    """A guard under which a capture takes tensors up."""
    before, _thread.active = _thread.active, capture
    try:
        yield
    finally:
        _thread.active = before


def in_block() -> bool:
    """Whether a branch or a loop that depends on tensors is being built."""
    return _thread.depth > 0


@contextmanager
def deeper() -> Iterator[None]:
    """A guard under which such a one is built."""
    _thread.depth += 1
    try:
        yield
    finally:
        _thread.depth -= 1


def value(given: Any) -> Any:
    """A tensor as a variable while a program is made; anything else as it is."""
    active = _thread.active
    return (
        active.variable(given) if active is not None and isinstance(given, TensorRecord) else given
    )
