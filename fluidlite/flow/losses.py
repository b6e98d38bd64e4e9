"""What ``backward`` of a variable does while a graph is built."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from ..eager.engine import located
from ..errors import BuildError
from ..ground import state

if TYPE_CHECKING:
    from ..ir.variable import Variable

_losses: state.StateSlot[list[Any] | None] = state.slot("losses of a graph", lambda: None)


@contextmanager
def collecting_losses() -> Iterator[list[Any]]:
    """A guard under which ``loss.backward()`` of variables adds them to a list, which it gives."""
    losses: list[Any] = []
    with _losses.guard(losses):
        yield losses


def begin_backward(x: Variable, gradient: object = None, inputs: object = None) -> None:
    """Have a loss differentiated when all is built.

    Args:
        x: a variable of one element.
        gradient: None.
        inputs: None: the parameters of the optimizers get gradients.

    Raises:
        BuildError: no graph is being built, or the loss has several elements.
    """
    losses = _losses.get()
    if losses is None:
        raise located(BuildError, "backward of a variable belongs into build() of an nn.Graph")
    if gradient is not None or inputs is not None or int(np.prod(x.shape)) != 1:
        raise located(
            BuildError, f"expected a loss of one element and no gradient, got shape {list(x.shape)}"
        )
    losses.append(x)
