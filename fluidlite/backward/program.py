"""append_backward and gradients: what users call."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from contextlib import contextmanager

from ..errors import ArgumentError, FluidError, ShapeError
from ..ground.callsite import caller, warn, warn_once
from ..ground.dtypes import DType
from ..ground.state import collector_paused
from ..ir.byproducts import declare_byproducts
from ..ir.operator import Operator, OpRole
from ..ir.program import Program
from ..ir.rollback import all_or_nothing
from ..ir.variable import Variable
from ..opdef.spec import size_of
from .arguments import (
    checked_callbacks,
    checked_checkpoints,
    names_of,
    no_grad_names,
    variables,
    warn_of_unknown,
    weights_of,
)
from .around import depending, sweep_of, warn_of_loop, ways_out
from .budget import within_budget
from .emission import Callback, GradientEmitter, Reuse, are_noted
from .history import name_of
from .loops import has_loop_gradients, loops_for_gradients
from .recompute import insert_seeds, run_with_checkpoints
from .sweep import PendingOp, Ref, ReverseSweep


def append_backward(
    loss: Variable,
    parameter_list: Sequence[Variable | str] | None = None,
    no_grad_set: Iterable[Variable | str] | None = None,
    callbacks: Sequence[Callback] | None = None,
    checkpoints: Sequence[Variable | str] | None = None,
    *,
    memory: str | float | None = None,
    batch_size: int | None = None,
) -> list[tuple[Variable, Variable]]:
    """Append the operators that compute the gradients of a loss to the loss's block.

    Args:
        loss: a variable of one element.
        parameter_list: parameters, or their names, whose gradients are returned; all trainable ones
            when None.
        no_grad_set: variables, or their names, at which gradients stop; inside a branch or a loop
            only ``stop_gradient`` does.
        callbacks: called as ``callback(block=..., context=...)`` after each appended gradient
            operator; ``context`` maps names of gradients to those of their variables.
        checkpoints: variables to keep; what lies between them is computed again for the gradients
            instead of kept.
        memory: the most that parameters, what else stays between runs, and values may take at any
            moment, gradients of parameters to the end: bytes, or a text as ``"64MB"``; or a share
            of what it takes without, as ``"50%"``.  What has to be computed again for that is
            chosen.
        batch_size: what sizes of -1 are taken for then.

    Returns:
        pairs of a parameter and its gradient, in the order of ``parameter_list``, or of the
        parameters' creation.

    Raises:
        ArgumentError: an argument is of the wrong type, or no operator computes the loss.
        ShapeError: the loss is known to have several elements.
        NoGradientError: an operator on the way has no gradient rule.
        BudgetError: the memory is too little; the error says how much is enough.

    >>> x = fluid.data("x", [None, 3], "float32")
    >>> loss = fluid.layers.mean(fluid.layers.fc(x, 1))
    >>> [(p.name, g.name) for p, g in fluid.backward.append_backward(loss)]
    [('fc_0.w_0', 'fc_0.w_0@GRAD'), ('fc_0.b_0', 'fc_0.b_0@GRAD')]
    """
    if isinstance(loss, Variable):
        _warn_of_repetition(loss)
    else:
        raise not_a_loss(loss)
    with within_budget(loss.block, memory, batch_size) as held:
        if parameter_list is not None:
            listed = names_of(parameter_list, "parameter_list")
            warn_of_unknown(listed, "parameter_list", loss.block.program)
        pairs = loss_gradients(loss, parameter_list, no_grad_set, callbacks, checkpoints)
        held += [gradient.name for _, gradient in pairs]
    return pairs


def loss_gradients(
    loss: Variable,
    parameter_list: Sequence[Variable | str] | None = None,
    no_grad_set: Iterable[Variable | str] | None = None,
    callbacks: Sequence[Callback] | None = None,
    checkpoints: Sequence[Variable | str] | None = None,
    *,
    reuse: Reuse | None = None,
) -> list[tuple[Variable, Variable]]:
    """What :func:`append_backward` does, for optimizers: several of them may take one loss."""
    if not isinstance(loss, Variable):
        raise not_a_loss(loss)
    listed = None if parameter_list is None else names_of(parameter_list, "parameter_list")
    stopped = no_grad_names(no_grad_set, loss.block.program)
    hooks = checked_callbacks(callbacks)
    checkpoint_names = checked_checkpoints(checkpoints, loss)
    block = loss.block
    maker = loss.op
    if maker is None:
        raise ArgumentError(
            f"no operator computes the loss {loss.name!r}, so nothing can be differentiated"
        )
    if loss.has_shape and size_of(loss.shape) > 1:
        raise ShapeError(
            f"expected a loss of one element, {loss.name!r} has shape {list(loss.shape)}; "
            "reduce it first: layers.mean or layers.reduce_sum"
        )
    sweep = sweep_of(block, stopped)
    if sweep.active(loss.name) is None:
        maker.role |= OpRole.LOSS
        block.program.touch()
        return []
    with _rewriting(block.program):
        if declare_byproducts(block.program):
            sweep = sweep_of(block, stopped)
        if has_loop_gradients(block.program):
            ways = [each for each, _ in ways_out(block)]
            if loops_for_gradients(ways, [loss.name], stopped):
                sweep = sweep_of(block, stopped)
        if checkpoint_names and insert_seeds(block, checkpoint_names):
            sweep = sweep_of(block, stopped)
        seed, first = _beginning(sweep, loss, maker)
        if checkpoint_names:
            run_with_checkpoints(sweep, checkpoint_names)
        else:
            sweep.run()
        maker.role |= OpRole.LOSS
        emission = GradientEmitter([seed], hooks, reuse)
        emission.emit(sweep, [first], OpRole.BACKWARD | OpRole.LOSS)
    warn_of_loop(sweep, loss)
    return _parameter_gradients(sweep, emission, listed)


def _beginning(sweep: ReverseSweep, loss: Variable, maker: Operator) -> tuple[Ref, PendingOp]:
    """What begins the gradients of a loss, noted in the sweep, and the operator that makes it."""
    seed = Ref(loss)
    seed.shape = (1,)
    sweep.contribute(sweep.history.last(loss.name), seed)
    fill = {"shape": (1,), "value": 1.0, "dtype": loss.dtype, "force_cpu": False}
    return seed, PendingOp(
        "fill_constant", {}, {"Out": [seed]}, fill, maker.callsite, device=maker.device
    )


def are_gradients(
    ops: Sequence[Operator],
    loss: Variable,
    end: int,
    parameters: Sequence[str] | None,
    no_grad: set[str],
    declared: Container[str],
) -> bool:
    """Whether operators are surely those that :func:`loss_gradients` would append, which is found
    without appending any; it is not where that has to copy values or to look into blocks.

    Args:
        ops: of the loss's block, which is the program's only one.
        loss: of one element.
        end: the position behind the last operator that the loss may come from.
        parameters, no_grad: names, as there.
        declared: names of the variables that were there before.
    """
    block = loss.block
    maker = next((op for op in reversed(block.ops[:end]) if op.writes(loss.name)), None)
    is_single = not loss.has_shape or size_of(loss.shape) <= 1
    if maker is None or not is_single or block.program.num_blocks > 1:
        return False
    sweep = ReverseSweep(block, no_grad, end=end)
    if sweep.active(loss.name) is None or sweep.history.rewritten:
        return False
    seed, first = _beginning(sweep, loss, maker)
    try:
        sweep.run()
    except FluidError:
        return False
    if not are_noted(ops, sweep, first, seed, declared):
        return False
    of_operators: dict[int, set[tuple[str, str]]] = {}
    for name, gradient, op in _completed(sweep, ops, parameters):
        of_operators.setdefault(id(op), set()).add((name, gradient))
    roles = (int(op.role) == OpRole.BACKWARD for op in ops[1:])
    marked = (set(zip(op.role_vars[::2], op.role_vars[1::2])) for op in ops)
    return (
        all(roles)
        and all(pairs == of_operators.get(id(op), set()) for op, pairs in zip(ops, marked))
        and all((op is maker) == bool(int(op.role) & OpRole.LOSS) for op in block.ops[:end])
    )


def not_a_loss(value: object) -> ArgumentError:
    """The error of a value in place of a loss."""
    return ArgumentError(
        f"expected the loss to be a variable, got {value!r:.60} of type {type(value).__name__}"
    )


def _warn_of_repetition(loss: Variable) -> None:
    """Say once that a loss has gradients already: those that come beside them are others."""
    if loss.grad_name not in loss.block.vars:
        return
    if any(
        op.role == OpRole.BACKWARD | OpRole.LOSS and loss.grad_name in op.output_arg_names
        for op in loss.block.ops
    ):
        warn_once(
            f"append_backward was called for {loss.name!r} before: its gradients are computed "
            f"twice now, under other names (grad/...); call it once for a loss",
            about="losses differentiated again",
        )


def _parameter_gradients(
    sweep: ReverseSweep, emission: GradientEmitter, listed: list[str] | None
) -> list[tuple[Variable, Variable]]:
    pairs = []
    for name, gradient, op in _completed(sweep, emission.appended, listed):
        op.role_vars = (name, gradient, *op.role_vars)
        pairs.append((sweep.block.var_recursive(name), sweep.block.var_recursive(gradient)))
    return pairs


def _completed(
    sweep: ReverseSweep, ops: Iterable[Operator], listed: Sequence[str] | None
) -> Iterator[tuple[str, str, Operator]]:
    """Parameters with their gradients, by names, and which of the operators completes each."""
    if listed is None:
        listed = [p.name for p in sweep.block.program.all_parameters() if p.trainable]
    wanted, gradient_names = set(listed), {}
    for each in sweep.chain():
        for key, ref in each.settled.items():
            if name_of(key) in wanted:
                gradient_names[name_of(key)] = ref.name  # the earliest value is settled last
    named = set(gradient_names.values())
    completed_by = {
        name: op for op in ops for names in op.outputs.values() for name in names if name in named
    }
    for name in listed:
        if name in gradient_names:
            yield name, gradient_names[name], completed_by[gradient_names[name]]


def gradients(
    targets: Variable | Sequence[Variable],
    inputs: Variable | Sequence[Variable],
    target_gradients: Variable | Sequence[Variable | None] | None = None,
    no_grad_set: Iterable[Variable | str] | None = None,
    *,
    memory: str | float | None = None,
    batch_size: int | None = None,
) -> list[Variable | None]:
    """Append the operators that compute the gradients of targets with respect to inputs.

    Args:
        targets: one or several variables of one block; their gradients add up.
        inputs: one or several variables.
        target_gradients: what each target is weighted with, of its shape; None means ones.
        no_grad_set: variables, or their names, at which gradients stop; inside a branch or a loop
            only ``stop_gradient`` does.
        memory, batch_size: as of :func:`append_backward`; the gradients that are returned are held
            to the end.

    Returns:
        the gradient of each input, in their order; None where the targets do not depend on it.  An
        empty list where they do not depend on the only one.

    Raises:
        ArgumentError: an argument is of the wrong type, or numbers of targets and their gradients
            differ.
        ShapeError: a target and its gradient have different shapes.
        NoGradientError: an operator on the way has no gradient rule.

    >>> x = fluid.data("x", [2], "float32")
    >>> x.stop_gradient = False
    >>> [g.name for g in fluid.gradients(fluid.layers.square(x), x)]
    ['x@GRAD']
    """
    goals = variables(targets, "targets")
    sources = variables(inputs, "inputs")
    weights = weights_of(goals, target_gradients)
    if not goals:
        raise ArgumentError("gradients needs at least one target")
    block = goals[0].block
    for source in sources:
        if source.block.program is not block.program:
            raise ArgumentError(
                f"input {source.name!r} and target {goals[0].name!r} are of different programs"
            )
    with within_budget(block, memory, batch_size) as held:
        found = _gradients(goals, sources, weights, no_grad_names(no_grad_set, block.program))
        held += [each.name for each in found if each is not None]
    return found


def _gradients(
    goals: list[Variable],
    sources: list[Variable],
    weights: list[Variable | None],
    stopped: set[str],
) -> list[Variable | None]:
    """What :func:`gradients` returns, of arguments that are right."""
    block = goals[0].block
    with _rewriting(block.program):
        declare_byproducts(block.program)
        names = [source.name for source in sources]
        sweep = sweep_of(block, stopped)
        if has_loop_gradients(block.program):
            ways, reached = [each for each, _ in ways_out(block)], set(names)
            _reached_from(sweep, reached)
            if loops_for_gradients(ways, [goal.name for goal in goals], stopped, reached):
                sweep = sweep_of(block, stopped)
        first: list[PendingOp] = []
        seeds = []
        for goal, weight in dict(zip(goals, weights, strict=True)).items():
            if sweep.active(goal.name) is None:
                continue
            seed = Ref(goal, weight.name if weight is not None else "")
            if weight is None:
                first += _ones_like(goal, seed)
            seeds.append(seed)
            if weight is None or not weight.lod_level:
                sweep.bare.add(sweep.history.last(goal.name))
            sweep.contribute(sweep.history.last(goal.name), seed)
        sweep.run(_reached_from(sweep, set(names)))
        GradientEmitter(seeds).emit(sweep, first, OpRole.BACKWARD)
    by_name: dict[str, Variable] = {}
    for each in sweep.chain():
        for key, ref in each.settled.items():
            by_name[name_of(key)] = block.var_recursive(ref.name)
    wanted = [None if sweep.active(s.name) is None else by_name.get(s.name) for s in sources]
    if len(wanted) != 1 or wanted[0] is not None:
        return wanted
    if sources[0].stop_gradient or not sources[0].dtype.is_continuous:
        _warn_of_nothing(sources[0], goals[0])
    return []


calc_gradient = gradients


def _warn_of_nothing(source: Variable, goal: Variable) -> None:
    """Say why the only requested gradient is missing."""
    if not source.dtype.is_continuous:
        why = f"it is {source.dtype}, and only floats have gradients"
    else:
        data = ", as they do at data variables unless told otherwise" if source.is_data else ""
        why = f"gradients stop at it{data}; set {source.name}.stop_gradient = False before"
    warn(
        f"no gradient of {goal.name!r} comes to {source.name!r}, so gradients gives an empty list: "
        f"{why}",
        None,
    )


def _ones_like(goal: Variable, seed: Ref) -> list[PendingOp]:
    """The operators that fill a gradient of a target's shape with ones."""
    shape = Ref(goal, f"{goal.name}_shape")
    shape.like = Variable(goal.block, shape.name, shape=[len(goal.shape)], dtype=DType.INT32)
    shape.shape = shape.like.shape
    fill = {"shape": goal.shape, "value": 1.0, "dtype": goal.dtype}
    site = caller()
    return [
        PendingOp("shape", {"Input": [goal.name]}, {"Out": [shape]}, {}, site),
        PendingOp("fill_constant", {"ShapeTensor": [shape]}, {"Out": [seed]}, fill, site),
    ]


def _reached_from(sweep: ReverseSweep, reached: set[str]) -> dict[int, set[int]]:
    """By block the positions of the operators whose results depend on names, to which theirs are
    added.
    """
    found = {}
    for each in reversed(list(sweep.chain())):
        found[each.block.idx] = depending(each.block.ops[: each.end], reached)
    return found


@contextmanager
def _rewriting(program: Program) -> Iterator[None]:
    """Leave a program as it was after an error."""
    with collector_paused(), all_or_nothing(program):
        yield
