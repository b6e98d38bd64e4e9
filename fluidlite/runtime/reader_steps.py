"""Readers in front of a plan: they look at a batch, and go on when a bound call has taken it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from itertools import takewhile
from typing import Any

from ..ground.dtypes import Kind
from ..ir.block import Block
from ..opdef.sources import BatchSource
from ..scope import Scope
from .step import Environment, Step


class ReaderSteps:
    """The steps at the beginning of a plan that make readers and read their batches.

    Args:
        items: the segments and steps of the plan.
        persistable: names that go to the scope.
    """

    def __init__(self, items: Iterable[Any], persistable: Collection[str]) -> None:
        self.steps: list[Step] = list(takewhile(_is_of_reader, items))
        #: what is read
        self.names: list[str] = []
        #: readers that stand in the scope: those that are there already, and those that are made
        self.needs: list[str] = []
        self.makes: list[str] = []
        #: how many batches are read
        self.count: int = sum(map(_is_read, self.steps))
        made: set[str] = set()
        for step in self.steps:
            self.needs += [name for name in step.reads if name not in made]
            made.update(step.writes)
            if _is_read(step):
                self.names += step.writes
            else:
                self.makes += [name for name in step.writes if name in persistable]

    def peek(
        self, session: Any, scope: Scope
    ) -> tuple[Environment, list[BatchSource]] | tuple[None, None]:
        """Look at the next batch of each reader, which stays the next one.

        Args:
            session: the run of the program.
            scope: where the readers are.

        Returns:
            what was read by name, and what it was read from; None and None where the run has to be
            planned.

        Raises:
            Exception: there is no batch, or none that its variables take; it is left behind.
        """
        env = {name: scope.value(name) for name in self.needs}
        if any(value is None for value in env.values()):
            return None, None
        sources: list[BatchSource] = []
        try:
            for step in self.steps:
                if _is_read(step):
                    source = env[step.reads[0]]
                    if any(source is each for each in sources):  # whose next two batches are read
                        return None, None
                    sources.append(source)
                session.peek(step, env)
        except Exception:  # a planned run would have taken what was read so far
            for source in sources:
                source.held = None
            raise
        if any(scope.value(name) is not env[name] for name in self.makes):
            return None, None
        return {name: env[name] for name in self.names}, sources


def readers_first(given: Sequence[Step]) -> list[Step]:
    """Steps with those in front that read batches and do not depend on what was in front of them: a
    counter of steps, say, is put before all others.
    """
    if not any(map(_is_read, given)):
        return list(given)
    steps = iter(given)
    front: list[Step] = []
    rest: list[Step] = []
    touched: set[str] = set()
    for step in steps:
        names = {*step.reads, *step.writes}
        if _is_of_reader(step) and touched.isdisjoint(names):
            front.append(step)
        elif step.instance.is_control:  # what users see of it is to stay in its place
            return [*front, *rest, step, *steps]
        else:
            rest.append(step)
            touched |= names
    return front + rest


def _is_reader(block: Block, name: str) -> bool:
    variable = block.find_var_recursive(name)
    return variable is not None and variable.kind is Kind.READER


def _is_of_reader(item: Any) -> bool:
    """Whether an item of a plan makes a reader, or reads its next batch."""
    if not isinstance(item, Step):
        return False
    makes = bool(item.writes) and all(_is_reader(item.op.block, name) for name in item.writes)
    return makes or _is_read(item)


def _is_read(step: Step) -> bool:
    return step.op.type == "read"
