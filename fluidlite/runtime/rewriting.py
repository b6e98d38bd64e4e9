"""Kernels in the place of others, with the numbers of the values that those made."""

from __future__ import annotations

from collections.abc import Callable

from .trace import Kernel, Trace, Value


class Rewriting:
    """Kernels in place of others.

    Args:
        trace: makes kernels.
    """

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.listed: list[Kernel] = []
        #: by number of a value that is known now, the one to use in its place
        self.instead: dict[int, Value] = {}

    def make(self, like: Kernel, build: Callable[[Trace], Value]) -> Value:
        """Note the kernels that make a value.

        Args:
            like: a kernel of the step that they belong to.
            build: makes the value.
        """
        value, made = self.trace.build(like.step, build)
        self.listed += made
        return value

    def make_as(self, kernel: Kernel, build: Callable[[Trace], Value]) -> None:
        """Note the kernels that make what another one made."""
        value, made = self.trace.build(kernel.step, build)
        self.listed += made
        (before,) = kernel.outputs
        if before.shape != value.shape or before.dtype != value.dtype:
            raise AssertionError(f"{kernel.op.type}: {before} has become {value}")
        if value.constant is not None:
            self.instead[before.number] = value
        else:
            value.number = before.number  # what reads the value, or looks at it, finds it
