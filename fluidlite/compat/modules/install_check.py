"""``fluid.install_check``."""

from __future__ import annotations

import numpy as np

from ... import layers
from ...dygraph import Layer, Linear
from ...input import data
from ...ir.program import Program, program_guard
from ...optimizer import SGD
from ...runtime.executor import Executor
from ...scope import Scope, scope_guard


class SimpleLayer(Layer):
    """A layer with one weight matrix, whose result is summed up.

    Args:
        input_size: of a row.
    """

    def __init__(self, input_size: int) -> None:
        super().__init__()
        self._linear1 = Linear(input_size, 3)

    def forward(self, inputs: object) -> object:
        """The sum."""
        return layers.reduce_sum(self._linear1(inputs))


def run_check() -> None:
    """Train a small net for a step, and say that it works.

    >>> fluid.compat.modules.install_check.run_check()
    fluidlite works: a program was built, differentiated and run on the CPU.
    """
    main, startup = Program(), Program()
    with program_guard(main, startup), scope_guard(Scope()):
        x = data("inp", [None, 2], "float32")
        loss = layers.reduce_sum(layers.fc(x, 3))
        SGD(0.01).minimize(loss)
        exe = Executor()
        exe.run(startup)
        exe.run(main, feed={"inp": np.ones([3, 2], np.float32)}, fetch_list=[loss])
    print("fluidlite works: a program was built, differentiated and run on the CPU.")
