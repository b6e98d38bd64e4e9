"""How backward passes operators that drive blocks: it builds blocks of gradients.

Within a block of gradients the gradient of ``v`` is called ``v@GRAD``, before and after a pass.
A second order through a conditional block runs the block and its block of gradients as one; for one
through a loop the gradient operator has become a loop before (``loops.py``).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ..errors import NoGradientError
from ..ir.operator import EMPTY, Operator
from ..opdef.gradient import GRAD
from .history import Key
from .joined import Joined
from .loops import loops_for_gradients
from .sweep import PendingOp, Ref, ReverseSweep, control_rule, described


def _body(sweep: ReverseSweep, position: int, op: Operator) -> ReverseSweep:
    """A sweep over the block that an operator drives."""
    block = sweep.block.program.blocks[op.attrs["sub_block"]]
    return ReverseSweep(block, (), sweep, position)


def _flowing(sweep: ReverseSweep, position: int, names: Iterable[str]) -> dict[str, Ref]:
    """By name what flows to the outputs of an operator."""
    flowing = {}
    for name in names:
        ref = sweep.settled.get(sweep.history.key(name, position + 1))
        if ref is not None:
            flowing[name] = ref
    return flowing


def _inputs(body: ReverseSweep, listed: Sequence[str], more: Iterable[str] = ()) -> list[str]:
    """What an operator's gradient is taken of: what it lists, and outer names that gradients flow
    to although it does not.
    """
    names = dict.fromkeys([*listed, *more])
    for key in body.settled:
        name = key if isinstance(key, str) else key[0]
        if name not in body.block.vars and key == body.history.key(name, 0):
            names[name] = None
    return list(names)


def _gradients(
    sweep: ReverseSweep,
    body: ReverseSweep,
    position: int,
    names: Sequence[str],
    local: dict[str, Ref],
) -> list[Ref | None]:
    """Refs of the gradients of inputs, noted as parts of what flows to them; and in ``local`` what
    they are called in the block.
    """
    refs: list[Ref | None] = []
    for name in names:
        variable = sweep.active(name)
        inner = body.settled.get(body.history.key(name, 0))
        if variable is None or inner is None:
            refs.append(None)
            continue
        local[name] = inner
        refs.append(Ref(variable))
        sweep.contribute(sweep.history.key(name, position), refs[-1])  # type: ignore[arg-type]
    return refs


def _note(
    sweep: ReverseSweep,
    op: Operator,
    body: ReverseSweep,
    local: dict[str, Ref],
    names: Sequence[str],
    **parts: Any,
) -> None:
    """Note the gradient operator of one that drives a block.

    Args:
        body, local: the sweep over the block, and what gradients of inputs are called in it.
        names: the inputs that have gradients.
        parts: its inputs, outputs and attributes.
    """
    named = [(name, local.get(name)) for name in names]
    pending = PendingOp(f"{op.type}_grad", **parts, site=op.callsite, lists_given=False)
    namescope = "/" if op.type == "conditional_block" else op.namescope  # as in fluid 1.8
    sweep.records.append(pending._replace(body=body, local=named, namescope=namescope))


@control_rule("conditional_block")
def conditional_block(sweep: ReverseSweep, position: int, op: Operator) -> None:
    """Note a ``conditional_block_grad``."""
    outs = op.outputs.get("Out", ())
    flowing = _flowing(sweep, position, outs)
    body = _body(sweep, position, op)
    kept_where_not_run = []
    for name, ref in flowing.items():
        body.contribute(body.history.last(name), ref)
        if sweep.had_value(name, position):
            kept_where_not_run.append(name)
    body.run()
    for name in kept_where_not_run:
        first = body.history.key(name, 0)
        if first not in body.settled and sweep.active(name) is not None:
            body.zeros(first, body.value(name, 0), op)
    names = _inputs(body, op.inputs.get("Input", ()), kept_where_not_run)
    local: dict[str, Ref] = {}
    refs = _gradients(sweep, body, position, names, local)
    if not local:
        return
    ins: dict[str, Sequence[Any]] = {
        "Cond": [sweep.value(n, position) for n in op.inputs.get("Cond", ())],
        "Input": names,
        "Out": outs,
        "Out@GRAD": [flowing.get(name) for name in outs],
        "Scope": op.outputs["Scope"],
    }
    attrs = {"is_scalar_condition": op.attrs.get("is_scalar_condition", False)}
    _note(sweep, op, body, local, names, ins=ins, outs={"Input@GRAD": refs}, attrs=attrs)


@control_rule("while")
def while_(sweep: ReverseSweep, position: int, op: Operator) -> None:
    """Note a ``while_grad``."""
    outs = op.outputs.get("Out", ())
    body = _body(sweep, position, op)
    carried = [v for name in outs if (v := sweep.active(name)) is not None]
    incoming = []
    firsts: dict[str, Key] = {}
    for v in carried:
        key = sweep.history.key(v.name, position + 1)
        incoming.append(
            sweep.settled.get(key) or sweep.zeros(key, sweep.value(v.name, position + 1), op)
        )
        first = firsts[v.name] = body.history.key(v.name, 0)
        body.contribute(body.history.last(v.name), Ref(v, v.name + GRAD))
        body.agreed[first] = v.name + GRAD
    body.run()
    for v in carried:
        if firsts[v.name] not in body.settled:  # the value before the pass is not used
            body.zeros(firsts[v.name], body.value(v.name, 0), op)
    had = [v.name for v in carried if sweep.had_value(v.name, position)]
    made_inside = {v.name for v in carried}.difference(had)
    names = [n for n in _inputs(body, op.inputs.get("X", ()), had) if n not in made_inside]
    local: dict[str, Ref] = {}
    refs = _gradients(sweep, body, position, names, local)
    ins: dict[str, Sequence[Any]] = {
        "X": names,
        "Out": outs,
        "Out@GRAD": incoming,
        "StepScopes": op.outputs["StepScopes"],
    }
    attrs = {
        "is_test": op.attrs.get("is_test", False),
        "original_output_grad": tuple(v.name + GRAD for v in carried),
    }
    _note(sweep, op, body, local, names, ins=ins, outs={"X@GRAD": refs}, attrs=attrs)


@control_rule("recurrent")
def recurrent(sweep: ReverseSweep, position: int, op: Operator) -> None:
    """Note a ``recurrent_grad``."""
    body = _body(sweep, position, op)
    outs = op.outputs.get("outputs", ())
    flowing = _flowing(sweep, position, outs)
    finals = op.outputs.get("final_states", ())
    flowing_last = _flowing(sweep, position, finals)
    for name in flowing:
        inner = body.block.var_recursive(name)
        body.contribute(body.history.last(name), Ref(inner, name + GRAD))
    for name in op.attrs.get("states", ()):
        inner = body.block.var_recursive(name)
        body.contribute(body.history.last(name), Ref(inner, name + GRAD))
    for name in op.attrs.get("ex_states", ()):
        body.agreed[body.history.key(name, 0)] = name + GRAD
    body.run()
    for name in op.attrs.get("ex_states", ()):
        key = body.history.key(name, 0)
        if key not in body.settled:
            body.zeros(key, body.value(name, 0), op)
    local: dict[str, Ref] = {}
    sequences = op.inputs.get("inputs", ())
    parameters = _inputs(body, op.inputs.get("parameters", ()))
    of_sequences = _gradients(sweep, body, position, sequences, local)
    of_parameters = _gradients(sweep, body, position, parameters, local)
    of_states: list[Ref | None] = []
    for name in op.inputs.get("initial_states", ()):
        variable = sweep.active(name)
        of_states.append(None if variable is None else Ref(variable))
        if of_states[-1] is not None:
            sweep.contribute(sweep.history.key(name, position), of_states[-1])
    scopes = op.outputs["step_scopes"]
    ins: dict[str, Sequence[Any]] = {
        "initial_states": op.inputs.get("initial_states", ()),
        "inputs": sequences,
        "outputs": outs,
        "outputs@GRAD": [flowing.get(name) for name in outs],
        "parameters": parameters,
        "step_scopes": scopes,
        "step_scopes@GRAD": scopes,
    }
    if flowing_last:
        ins["final_states@GRAD"] = [flowing_last.get(name) for name in finals]
    if not parameters:
        del ins["parameters"]  # as the text says it, which has no empty slots
    outputs = {
        "initial_states@GRAD": of_states,
        "inputs@GRAD": of_sequences,
        "parameters@GRAD": of_parameters,
    }
    attrs = {k: v for k, v in op.attrs.items() if k != "sub_block"}
    names = (*sequences, *parameters)
    _note(sweep, op, body, local, names, ins=ins, outs=outputs, attrs=attrs)


def _not_replaced(sweep: ReverseSweep, position: int, op: Operator) -> None:
    """Refuse to differentiate a gradient operator of a loop that is none yet."""
    raise NoGradientError(
        f"operator {op.type!r} has no gradient here: it was not found on the way of the gradient, "
        f"and is no loop{described(op)}"
    )


control_rule("while_grad")(_not_replaced)
control_rule("recurrent_grad")(_not_replaced)


@control_rule("conditional_block_grad")
def conditional_block_grad(sweep: ReverseSweep, position: int, op: Operator) -> None:
    """Note a ``conditional_block`` of the forward block, its block of gradients and the gradients
    of both.

    Where the block does not run, nothing flows but through the inputs that are outputs too.
    """
    names = op.inputs.get("Input", ())
    instance: Any = op.instance()
    local = dict(zip(names, instance.gradient_names({"Input": names})))
    results = dict(zip(names, op.outputs.get("Input@GRAD", ())))
    flowing = _flowing(sweep, position, [n for n in results.values() if n != EMPTY])
    whole = Joined(sweep, position, op)
    within = {whole.inside.get(local[n], local[n]) for n in names if results.get(n) in flowing}
    loops_for_gradients([whole.block], within, sweep.no_grad)
    body = ReverseSweep(whole.block, (), sweep, position)
    through = dict(zip(op.inputs.get("Out", ()), op.inputs.get("Out@GRAD", ())))
    passed: dict[str, Ref] = {}
    for name in names:
        ref = flowing.get(results.get(name, EMPTY))
        if ref is not None:
            inner_name = whole.inside.get(local[name], local[name])
            body.contribute(body.history.last(inner_name), ref)
            if name in through:
                passed[through[name]] = ref
    body.run()
    targets: list[Ref | None] = []
    for inside, (name, at) in whole.outer.items():
        inner = body.settled.get(body.history.key(inside, 0))
        variable = sweep.active(name)
        if inner is None or variable is None:
            continue
        target = Ref(variable)
        target.is_open = sweep.is_open(name, at)
        targets.append(target)
        body.foreign.add(id(target))
        first = passed.get(name)
        type, value = ("assign", first) if first else ("zeros_if_written", inside)
        sweep.records.append(PendingOp(type, {"X": [value]}, {"Out": [target]}, {}, op.callsite))
        body.records.append(PendingOp("assign", {"X": [inner]}, {"Out": [target]}, {}, op.callsite))
        sweep.contribute(sweep.history.key(name, at), target)
    if not targets:
        return
    old = sweep.block.var_recursive(op.inputs["Scope"][0])
    scope = Ref(old, f"{old.name}@AGAIN_{whole.block.idx}")
    ins = {"Cond": op.inputs.get("Cond", ()), "Input": list(whole.outer)}
    attrs = {"is_scalar_condition": True}
    sweep.records.append(
        PendingOp(
            "conditional_block",
            ins,
            {"Out": targets, "Scope": [scope]},
            attrs,
            op.callsite,
            False,
            body,
            in_place=True,
        )
    )
