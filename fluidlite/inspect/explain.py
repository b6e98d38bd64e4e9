"""Where the gradient of a variable comes from, or why there is none."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import ArgumentError
from ..ground.quoting import escaping
from ..ir.block import Block
from ..ir.operator import Operator, OpRole
from ..ir.program import default_main_program
from ..ir.variable import Parameter, Variable
from ..opdef.gradient import GRAD
from .gradient_paths import GradientPaths, Passage, Stop

_CLOSED = "every way to it is closed"


@dataclass(frozen=True)
class Explanation:
    """Where the gradient of a variable comes from, or why there is none.

    >>> x = fluid.data("x", [None, 3], "float32")
    >>> x.stop_gradient = False
    >>> loss = fluid.layers.mean(fluid.layers.square(x))
    >>> why = fluid.explain_gradient(x, loss)
    >>> why.flows, len(why.path)
    (True, 2)
    """

    variable: str
    targets: tuple[str, ...]
    flows: bool  #: whether a gradient reaches the variable
    path: tuple[Passage, ...]  #: the shortest way from the variable to a target
    #: variables on it whose gradients are sums: name -> of how many contributions
    contributions: tuple[tuple[str, int], ...]
    gradient: str | None  #: the gradient variable, if it has been built
    reason: str  #: why no gradient reaches the variable; empty where one does
    stops: tuple[Stop, ...]  #: where the gradient does not get further
    note: str = ""

    @escaping
    def __str__(self) -> str:
        targets = " + ".join(map(repr, self.targets))
        if self.flows:
            way = ", through" if self.path else " itself"
            lines = [f"the gradient of {self.variable!r} comes from {targets}{way}"]
            lines += [f"  {passage}" for passage in reversed(self.path)]
            lines += [
                f"at {name!r} it is the sum of {count} contributions"
                for name, count in self.contributions
            ]
        else:
            lines = [f"{self.variable!r} gets no gradient from {targets}: {self.reason}"]
            if self.stops and self.reason != _CLOSED:
                lines.append(f"besides, {_CLOSED}:")
        if self.flows and self.stops:
            lines.append("other ways are closed:")
        lines += [f"  {stop}" for stop in self.stops]
        if self.flows:
            lines.append(
                f"it is in {self.gradient!r}"
                if self.gradient
                else "it has not been built: append_backward or gradients builds it"
            )
        return "\n".join([*lines, self.note] if self.note else lines)


def explain_gradient(
    var: Variable | str, target: Variable | str | Sequence[Variable | str] | None = None
) -> Explanation:
    """Say where the gradient of a variable comes from, or why it is None.

    Args:
        var: the variable, or its name in the default main program.
        target: what is differentiated, a variable, its name, or several; when None, the losses that
            ``append_backward`` or ``minimize`` was called with, or else the targets of
            ``gradients``.

    Returns:
        an explanation to print: the operators on the shortest way, with the lines that made them,
        and where contributions are summed; or, where no gradient arrives, what stops it and how to
        change that.

    Raises:
        ArgumentError: an argument is no variable of the program, or there is no loss yet.

    >>> x = fluid.data("x", [None, 3], "float32")
    >>> loss = fluid.layers.mean(fluid.layers.square(x))
    >>> print(fluid.explain_gradient(x, loss))
    'x' gets no gradient from 'mean_0.tmp_0': it is fed, and gradients stop at data variables unless
    told otherwise: set x.stop_gradient = False before building gradients
    >>> x.stop_gradient = False
    >>> fluid.explain_gradient(x, loss).flows
    True
    """
    variable = _variable(var, default_main_program().global_block())
    goals = _goals(variable, target)
    top = goals[0].block
    ways = GradientPaths(top, _operators(top, goals))
    route = ways.between(variable, goals)
    reason = _reason(variable, route.connected, route.flows)
    gradient = None if reason else _built(variable, goals)
    note = ""
    if not reason and not gradient and _has_backward(variable.block.program, goals):
        note = "the gradients that were built leave it out: a no_grad_set, or other inputs"
    elif not route.connected and len(goals) == 1 and _comes_first(goals[0], variable):
        note = (
            f"{goals[0].name!r} gets one from {variable.name!r}: the target is the second argument"
        )
    elif not reason and isinstance(variable, Parameter) and not variable.trainable:
        note = "it is not trainable, so append_backward does not return it"
    return Explanation(
        variable=variable.name,
        targets=tuple(goal.name for goal in goals),
        flows=not reason,
        path=() if reason else tuple(route.path),
        contributions=() if reason else tuple(route.contributions),
        gradient=gradient,
        reason=reason,
        stops=tuple(route.stops) if _concern(variable, reason, route.flows) else (),
        note=note,
    )


def _comes_first(goal: Variable, variable: Variable) -> bool:
    """Whether a gradient flows the other way, from what was given as the variable to the target."""
    block = variable.block
    return (
        block is goal.block
        and GradientPaths(block, _operators(block, [variable])).between(goal, [variable]).flows
    )


def _reason(variable: Variable, connected: bool, flows: bool) -> str:
    """Why no gradient reaches a variable; empty where one does."""
    if not variable.dtype.is_continuous:
        return f"it is {variable.dtype}, and only floats have gradients"
    if not connected:
        return "the target does not depend on it"
    if variable.stop_gradient:
        change = f"set {variable.name}.stop_gradient = False before building gradients"
        if variable.is_data:
            return (
                f"it is fed, and gradients stop at data variables unless told otherwise: {change}"
            )
        return f"gradients stop at it (stop_gradient): {change}"
    return "" if flows else _CLOSED


def _concern(variable: Variable, reason: str, flows: bool) -> bool:
    """Whether places where gradients stop matter for a variable."""
    return variable.dtype.is_continuous and not (reason and flows)


def _variable(given: Any, block: Block) -> Variable:
    if isinstance(given, Variable):
        return given
    if isinstance(given, str):
        return block.var(given)
    raise ArgumentError(
        f"expected a variable or its name, got {given!r:.60} of type {type(given).__name__}"
    )


def _goals(variable: Variable, target: Any) -> list[Variable]:
    program = variable.block.program
    if target is None:
        goals = _losses(program.global_block())
        if not goals:
            raise ArgumentError(
                f"the program has no loss that a gradient of {variable.name!r} could come from: "
                f"call append_backward, minimize or gradients first, or say which variable it is: "
                f"target=..."
            )
        return goals
    listed = list(target) if isinstance(target, (list, tuple)) else [target]
    goals = [_variable(each, program.global_block()) for each in listed]
    for goal in goals:
        if goal.block.program is not program or goal.block is not goals[0].block:
            raise ArgumentError(
                f"variable {variable.name!r} and target {goal.name!r} are of different programs, "
                f"or the targets of different blocks"
            )
    if not goals:
        raise ArgumentError("expected at least one target, got none")
    return goals


def _losses(block: Block) -> list[Variable]:
    """What ``append_backward`` was called with: its seeds, and where nothing flows, what it marked;
    what ``gradients`` was called with where there is no loss.
    """
    names: dict[str, None] = {}
    for op in block.ops:
        if op.role == OpRole.BACKWARD | OpRole.LOSS:
            names[op.first_output.partition(GRAD)[0]] = None
    for op in block.ops:
        if op.role & OpRole.LOSS and not op.role & OpRole.BACKWARD:
            written = op.output_arg_names
            if names.keys().isdisjoint(written):
                names[written[0]] = None
    if not names:
        for op in block.ops:
            seed = op.role & OpRole.BACKWARD and op.type == "fill_constant"  # zeros are no such
            if seed and op.first_output.endswith(GRAD):
                names[op.first_output.removesuffix(GRAD)] = None
    return [block.var_recursive(name) for name in names]


def _operators(block: Block, goals: Iterable[Variable]) -> list[int]:
    """The positions of the operators that may lead to the goals: gradient operators only where a
    goal depends on what they write, optimizers never.
    """
    names = {goal.name for goal in goals}
    positions = []
    for position, op in reversed(list(enumerate(block.ops))):
        leads = not names.isdisjoint(op.output_arg_names)
        if op.role & OpRole.OPTIMIZE or (op.role & OpRole.BACKWARD and not leads):
            continue
        positions.append(position)
        if leads:
            names.update(op.input_arg_names)
    return positions[::-1]


def _has_backward(program: Any, goals: Iterable[Variable]) -> bool:
    """Whether gradients of the goals have been built."""
    seeds = {goal.grad_name for goal in goals}
    return any(
        op.role & OpRole.BACKWARD and not seeds.isdisjoint(op.input_arg_names)
        for op in program.global_block().ops
    )


def _built(variable: Variable, goals: Sequence[Variable]) -> str | None:
    """The gradient variable that was built, the last one of several calls."""
    program = variable.block.program
    blocks = [
        block
        for block in program.blocks
        if block in (variable.block, goals[0].block)
        or block.forward_block_idx == variable.block.idx
    ]
    made = _made_from(goals, _behind(goals))
    for block in reversed(blocks):
        for name in reversed(block.vars):
            if name in made and re.fullmatch(f"(grad/)*{re.escape(variable.grad_name)}", name):
                return name
    return None


def _behind(goals: Sequence[Variable]) -> list[Operator]:
    """The operators behind those that make the goals, and those of other blocks."""
    top = goals[0].block
    names = {goal.name for goal in goals}
    made = [k for k, op in enumerate(top.ops) if not names.isdisjoint(op.output_arg_names)]
    later = top.ops[max(made, default=-1) + 1 :]
    others = [op for block in top.program.blocks if block is not top for op in block.ops]
    return [*later, *others]


def _made_from(goals: Iterable[Variable], ops: Sequence[Operator]) -> set[str]:
    """The gradients that come from seeds of the goals, or where these were weighted by variables
    of other names, all gradients.
    """
    names = "|".join(re.escape(goal.grad_name) for goal in goals)
    backward = [op for op in ops if op.role & OpRole.BACKWARD]
    written = {name for op in backward for name in op.output_arg_names}
    reached = {name for name in written if re.fullmatch(f"({names})(_[0-9]+)?", name)}
    if not reached:
        return written
    for op in backward:
        if not reached.isdisjoint(op.input_arg_names):
            reached.update(op.output_arg_names)
    return reached
