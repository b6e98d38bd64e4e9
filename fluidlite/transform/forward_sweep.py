"""Forward mode on a program: behind each operator comes one that computes its tangents.

A name that has a tangent has a twin, ``<name>@TANGENT``, which is given a value wherever the name
is.  This is forward accumulation with values that are overwritten (Griewank and Walther, Evaluating
Derivatives, 2nd edition, SIAM 2008, chapter 3).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from ..ir.analysis import writes_of
from ..ir.block import Block
from ..ir.operator import Operator
from ..ir.program import Program
from .activity import active_names
from .forward_emission import ForwardEmission, declare_like

#: what stands behind a variable's name in that of its tangent
TANGENT = "@TANGENT"


class ForwardSweep:
    """Puts tangents into a program.

    Args:
        program: is changed.
        inputs: names of variables of the global block, whose tangents are fed.
        outputs: names of variables of the global block, whose tangents are computed.
    """

    def __init__(self, program: Program, inputs: Sequence[str], outputs: Sequence[str]) -> None:
        self.program = program
        self.inputs = list(inputs)
        self.outputs = list(outputs)
        self._makers = dict(self._made_inputs())
        self.active: set[str] = active_names(program, inputs, outputs)
        self._numbers = itertools.count()
        declared = {name for block in program.blocks for name in block.vars}
        self._suffix = _free_suffix(declared)
        self._emissions = [ForwardEmission(block, self) for block in program.blocks]

    def run(self) -> tuple[list[str], list[str]]:
        """Put them in.

        Returns:
            the names of the variables that tangents are fed to, and of those that hold the results.

        Raises:
            NoGradientError: an operator on the way has no rule.
        """
        block = self.program.global_block()
        self._declare_twins()
        seeds = [self._seed(block, name) for name in self.inputs]
        for emission in self._emissions:
            emission.emit()
        outer = self._emissions[0]
        held = _held_from_outside(block)
        for name in sorted(self.active.intersection(held).difference(self.inputs)):
            outer.begin += outer.zeros(name, self.twin(name))
        results = []
        for name in self.outputs:
            if name not in self.active:
                declare_like(block, name, self.twin(name))
                outer.end += outer.zeros(name, self.twin(name))
            results.append(self.twin(name))
        for emission in self._emissions:
            emission.settle()
        return seeds, results

    def twin(self, name: str) -> str:
        """What the tangent of a name is called."""
        return name + self._suffix

    def emission(self, block: int) -> ForwardEmission:
        """The one for a block."""
        return self._emissions[block]

    def number(self) -> int:
        """One that names of the sweep have not had yet."""
        return next(self._numbers)

    def seed_behind(self, op: Operator) -> Iterator[tuple[str, str]]:
        """Inputs that an operator makes, and what is fed beside the tangents that it gives them."""
        for name, maker in self._makers.items():
            if maker is op and name in self.active:
                yield name, self._seed_name(name)

    def _seed_name(self, name: str) -> str:
        """What is fed: the twin itself, unless an operator writes that."""
        written = name in self._makers and name in self.active
        return f"{self.twin(name)}@FED" if written else self.twin(name)

    def _made_inputs(self) -> Iterator[tuple[str, Operator]]:
        """Inputs that operators make, with those: what is computed, or fed by an operator."""
        block = self.program.global_block()
        for name in self.inputs:
            maker = next((op for op in block.ops if name in writes_of(op)), None)
            variable = block.var(name)
            given = variable.persistable or variable.is_data
            if maker is not None and (not given or maker.type == "feed"):
                yield name, maker

    def _declare_twins(self) -> None:
        for block in self.program.blocks:
            for name in [n for n in block.vars if n in self.active]:
                declare_like(block, name, self.twin(name))

    def _seed(self, block: Block, name: str) -> str:
        """Declare what the tangent of an input is fed to."""
        seed = declare_like(block, name, self._seed_name(name))
        seed.is_data = seed.need_check_feed = True
        return seed.name


def _free_suffix(declared: set[str]) -> str:
    """The usual suffix, or a number behind it where variables are called so already."""
    for k in itertools.count(1):
        suffix = TANGENT if k == 1 else f"{TANGENT}_{k}"
        if not any(name.endswith(suffix) for name in declared):
            return suffix
    raise AssertionError


def _held_from_outside(block: Block) -> set[str]:
    """The names that hold values before the first operator."""
    return {v.name for v in block.vars.values() if v.persistable or v.is_data}
