"""Loops and branches as those of Python, and what their gradients keep of each pass."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..dtypes import Kind
from ..errors import UnsupportedError
from ..ir.analysis import read_by_gradients, writes_of
from ..ir.block import Block
from ..ir.operator import EMPTY, Operator
from ..onnx.control import block_of, same_or_unknown
from ..onnx.tracing import Cell, TracedArray
from ..onnx.writing import spec_of
from ..opdef.spec import Spec, spec
from ..runtime.driver import Frame
from . import library
from .literals import ATOM, Operand, Part, call, joined, operand, parts_of
from .statements import Compound, SourceGraph, Update, cells_in
from .writing import DRIVERS, SourceWriter

GRAD = "@GRAD"
CHOICE = 5  #: how tightly ``a if b else c`` binds


@dataclass
class SavedPasses:
    """What gradients read of the passes through a block.

    Args:
        cell: a list with a tuple for each pass; of a branch a tuple, or None.
        values: what the tuples hold, by name: as the block had them.
    """

    cell: Cell
    values: Mapping[str, TracedArray]
    item: Update | None  #: the statement that keeps them


def drives(*types: str) -> Callable[[Any], Any]:
    """A decorator: the function writes operators of these types, which drive blocks."""

    def register(function: Any) -> Any:
        DRIVERS.update(dict.fromkeys(types, function))
        return function

    return register


def update(
    graph: SourceGraph, pairs: Iterable[tuple[Cell, list[Part]]], appends: bool = False
) -> Update | None:
    """Append an assignment of several values at once; or what is appended to lists."""
    pairs = list(pairs)
    if not pairs:
        return None
    targets, sources = ([*each] for each in zip(*pairs))
    graph.statements.append(Update(targets, sources, graph.origin, appends))
    return graph.statements[-1]  # type: ignore[no-any-return]


def _keep_read(saved: SavedPasses, taken: dict[str, TracedArray], body: list[Any]) -> None:
    """Let passes keep no more than gradients turn out to read.

    Args:
        saved: of the passes.
        taken: what is kept, as the gradients know it; loses what they do not read.
        body: the statements of the gradients.
    """
    read = {cell for item in body for cell in cells_in(item)}
    for name in [name for name, value in taken.items() if value.cell not in read]:
        del taken[name]
    if saved.item is not None:
        at = saved.item.targets.index(saved.cell)
        saved.item.sources[at] = _tuple(saved.values[name] for name in taken)


def carried(graph: SourceGraph, known: Spec | None, name: str) -> TracedArray:
    """A value that statements assign several times."""
    return graph.value(known, name)


def _known(value: Any) -> Spec:
    found: Spec = spec_of(value)
    return found._replace(lod_level=0)


def _as_value(graph: SourceGraph, value: Any, name: str) -> TracedArray:
    if isinstance(value, TracedArray):
        return value
    if isinstance(value, np.ndarray):
        return graph.constant(value)
    raise UnsupportedError(f"it writes {name!r}, which is no tensor")


def _is_array(block: Block, name: str) -> bool:
    variable = block.find_var_recursive(name)
    return variable is not None and variable.kind is Kind.LOD_TENSOR_ARRAY


def _saved_names(op: Operator) -> list[str]:
    """What gradients read of the block that an operator drives."""
    return sorted(read_by_gradients(op.block.program).get(block_of(op).idx, ()))


def _tuple(values: Iterable[Any]) -> list[Part]:
    return parts_of(tuple(values))


def _take(graph: SourceGraph, saved: SavedPasses) -> dict[str, TracedArray]:
    """Values for what was saved of a pass, as the header of a loop names them."""
    return {name: carried(graph, v.spec, f"{name}") for name, v in saved.values.items()}


def _kept(frame: Mapping[str, Any], names: Iterable[str]) -> dict[str, TracedArray]:
    found = {name: frame[name] for name in names if name in frame}
    return {name: v for name, v in found.items() if isinstance(v, TracedArray)}


def _written(writer: SourceWriter, op: Operator, env: Any) -> dict[str, Any]:
    """The outer values that a block writes, as they are before it; None where there are none."""
    found: dict[str, Any] = {}
    inside = block_of(op).vars
    for name in dict.fromkeys(n for each in block_of(op).ops for n in writes_of(each)):
        if name in inside:
            continue
        variable = op.block.find_var_recursive(name)
        known = env.get(name) is not None or (variable is not None and variable.persistable)
        found[name] = writer.value(op.block, name, env) if known else None
    return found


@drives("while")
def while_loop(writer: SourceWriter, op: Operator, env: Any) -> None:
    """``while condition:``."""
    graph: SourceGraph = writer.graph
    before = _written(writer, op, env)
    (condition,) = op.inputs["Condition"]
    if condition not in before:
        before[condition] = writer.value(op.block, condition, env)
    before = {
        n: v for n, v in before.items() if v is not None or _is_array(op.block, n)
    }  # others are local to a pass
    names, keeps = list(before), _saved_names(op)
    specs = {n: None if v is None else _known(_as_value(graph, v, n)) for n, v in before.items()}
    for _ in range(3):  # until no size changes from pass to pass but those taken as unknown
        with graph.below() as body:
            phis = {name: carried(graph, specs[name], name) for name in names}
            saved = Cell("saved")
            frame = Frame(env, phis)
            writer.run_block(block_of(op), frame)
            writer.raise_failures()
            kept = _kept(frame, keeps)
            keeping = update(graph, [(saved, _tuple(kept.values()))], True) if kept else None
            behind = {n: _as_value(graph, frame[n], n) for n in names}
            update(graph, [(phis[n].cell, operand(behind[n])) for n in names])
        known = {n: _wider(specs[n], behind[n]) for n in names}
        if known == specs:
            break
        specs = known
    begins = [["[]"] if before[n] is None else operand(before[n]) for n in names]
    update(graph, [(phis[n].cell, begin) for n, begin in zip(names, begins)])
    bound = [value.cell for value in phis.values()]
    if kept:
        update(graph, [(saved, ["[]"])])
        bound.append(saved)
    header = ["while ", *operand(phis[condition], ATOM), ".item():"]
    graph.statements.append(Compound([(header, body)], graph.origin, bound))
    env.update(phis)
    env[op.outputs["StepScopes"][0]] = SavedPasses(saved, kept, keeping)


def _wider(before: Spec | None, behind: Any) -> Spec | None:
    found = behind.spec
    if before is None or found is None:
        return found
    return same_or_unknown(before, _known(behind))


@drives("conditional_block", "conditional_block_infer")
def conditional_block(writer: SourceWriter, op: Operator, env: Any) -> None:
    """``if condition:``."""
    graph: SourceGraph = writer.graph
    conditions = [writer.value(op.block, n, env) for n in op.inputs["Cond"]]
    ending = ".item()" if op.attrs.get("is_scalar_condition") else ".size"
    tests = joined(([*operand(c, ATOM), ending] for c in conditions), " and ")
    before, keeps = _written(writer, op, env), _saved_names(op)
    saved, keeping = Cell("saved"), None
    with graph.below() as body:
        frame = Frame(env)
        writer.run_block(block_of(op), frame)
        writer.raise_failures()
        names = [n for n in before if n in frame]
        kept = _kept(frame, keeps)
        phis = {n: carried(graph, _either(before[n], frame[n]), n) for n in names}
        pairs = [(phis[n].cell, operand(_as_value(graph, frame[n], n))) for n in names]
        if keeps:
            pairs.append((saved, _tuple(kept.values())))
        keeping = update(graph, pairs)
    pairs = [(phis[n].cell, operand(before[n])) for n in names]
    bound = [value.cell for value in phis.values()]
    if keeps:
        pairs.append((saved, ["None"]))
        bound.append(saved)
    update(graph, pairs)
    graph.statements.append(Compound([(["if ", *tests, ":"], body)], graph.origin, bound))
    env.update(phis)
    env[op.outputs["Scope"][0]] = SavedPasses(saved, kept, keeping if keeps else None)


def _either(before: Any, behind: Any) -> Spec:
    known = _known(behind)
    return known if before is None else same_or_unknown(known, _known(before))


@drives("select_input")
def select_input(writer: SourceWriter, op: Operator, env: Any) -> None:
    """The one of several values that a mask says."""
    graph: SourceGraph = writer.graph
    mask = writer.value(op.block, op.inputs["Mask"][0], env)
    values = [_as_value(graph, writer.value(op.block, n, env), n) for n in op.inputs["X"]]
    value = graph.expression([*_tuple(values), "[", *operand(_item(graph, mask), 0), "]"])
    value.spec = _known(values[0])
    for other in values[1:]:
        value.spec = same_or_unknown(value.spec, _known(other))
    (name,) = op.outputs["Out"]
    env[name] = writer.named(value, name)


@drives("select_output")
def select_output(writer: SourceWriter, op: Operator, env: Any) -> None:
    """A value for the one of several names that a mask says; the others keep theirs."""
    graph: SourceGraph = writer.graph
    value = env.get(op.inputs["X"][0])
    mask = writer.value(op.block, op.inputs["Mask"][0], env)
    if value is None:
        return
    value, at = _as_value(graph, value, op.inputs["X"][0]), _item(graph, mask)
    for k, name in enumerate(op.outputs["Out"]):
        if name == EMPTY:
            continue
        before = env.get(name)
        other = ["None"] if before is None else operand(before, CHOICE + 1)
        chosen = [*operand(value, CHOICE + 1), " if ", *operand(at, CHOICE + 1), f" == {k} else "]
        made = graph.expression([*chosen, *other], CHOICE)
        made.spec = _known(value)
        env[name] = writer.named(made, name)


@drives("zeros_if_written")
def zeros_if_written(writer: SourceWriter, op: Operator, env: Any) -> None:
    """Zeros in the form of a value, where there is one."""
    graph: SourceGraph = writer.graph
    (source,), (name,) = op.inputs["X"], op.outputs["Out"]
    value = env.get(source)
    if value is None:
        return
    value = _as_value(graph, value, source)
    given = operand(value, CHOICE + 1)
    parts = ["None if ", *given, " is None else np.zeros_like(", *operand(value), ")"]
    made = graph.expression(parts, CHOICE)
    made.spec = _known(value)
    env[name] = writer.named(made, name)


def _item(graph: SourceGraph, value: Any) -> Any:
    """A value of one element as a number of Python's."""
    made = graph.expression([*operand(graph.like(value, np.int64), ATOM), ".item()"])
    made.spec = spec([], "int64")
    return made


# -- gradients -------------------------------------------------------------------------------------


def _zeros(writer: SourceWriter, value: Any) -> Any:
    return writer.fill_zeros_like(value)


def _wanted(op: Operator, slots: Iterable[str]) -> list[tuple[str, str, str]]:
    """What is differentiated: the name, what the block calls its gradient, and where that goes."""
    names = {slot: op.inputs.get(slot, ()) for slot in slots}
    local = op.instance().gradient_names(names)  # type: ignore[attr-defined]
    found = []
    for slot, listed in names.items():
        outs = op.outputs.get(f"{slot}{GRAD}", ())
        for x, out in zip(listed, outs or [EMPTY] * len(listed)):
            found.append((x, local[len(found)], out))
    return found


@drives("while_grad")
def while_grad(writer: SourceWriter, op: Operator, env: Any) -> None:
    """The passes in reverse."""
    graph: SourceGraph = writer.graph
    saved = env[op.inputs["StepScopes"][0]]
    given = [writer.value(op.block, n, env) for n in op.inputs.get("Out@GRAD", ())]
    flows = dict(zip(op.attrs.get("original_output_grad", ()), given))
    wanted = _wanted(op, ["X"])
    if any(_is_array(op.block, x) and out != EMPTY for x, _, out in wanted):
        raise UnsupportedError("gradients flow through an array")
    sums = {
        local: carried(graph, None, out)
        for x, local, out in wanted
        if out != EMPTY and local not in flows and writer.has(x, env)
    }
    with graph.below() as body:
        taken = _take(graph, saved)
        phis = {n: carried(graph, _known(v), n) for n, v in flows.items()}
        frame = Frame(env, {**taken, **phis})
        writer.run_block(block_of(op), frame)
        writer.raise_failures()
        pairs = [(phis[n].cell, operand(_as_value(graph, frame[n], n))) for n in phis]
        for local, total in list(sums.items()):
            if dict.get(frame, local) is None:
                del sums[local]
                continue
            total.spec = _known(frame[local])
            pairs.append((total.cell, [Operand(total.cell, 40), " + ", *operand(frame[local], 41)]))
        update(graph, pairs)
    _keep_read(saved, taken, body)
    body.insert(0, _popped(graph, saved, taken))
    begin = [(phis[n].cell, operand(v)) for n, v in flows.items()]
    begin += [(sums[n].cell, ["0"]) for n in sums]
    update(graph, begin)
    header = ["while ", Operand(saved.cell), ":"]
    bound = [value.cell for value in (*phis.values(), *sums.values())]
    graph.statements.append(Compound([(header, body)], graph.origin, bound))
    for x, local, out in wanted:
        if out == EMPTY:
            continue
        value = phis.get(local)
        if local in sums:  # a number where there was no pass
            value = sums[local] + _zeros(writer, writer.value(op.block, x, env))
        elif value is None:
            value = _zeros(writer, writer.value(op.block, x, env))
        env[out] = writer.named(value, out)


def _popped(graph: SourceGraph, saved: SavedPasses, taken: Mapping[str, TracedArray]) -> Update:
    """Take what was kept of the last pass from the list."""
    cells = [value.cell for value in taken.values()]
    return Update(cells, [[Operand(saved.cell), ".pop()"]], graph.origin, unpacks=True)


@drives("conditional_block_grad")
def conditional_block_grad(writer: SourceWriter, op: Operator, env: Any) -> None:
    """The gradients of a branch, where it was taken."""
    graph: SourceGraph = writer.graph
    saved = env[op.inputs["Scope"][0]]
    passed = dict(zip(op.inputs.get("Out", ()), op.inputs.get("Out@GRAD", ())))
    wanted = [each for each in _wanted(op, ["Input"]) if each[2] != EMPTY]
    with graph.below() as body:
        taken = _take(graph, saved)
        frame = Frame(env, taken)
        writer.run_block(block_of(op), frame)
        writer.raise_failures()
        inner = {}
        for x, local, out in wanted:
            value = frame.get(local)
            if value is None and env.get(x) is not None:
                value = _zeros(writer, env[x])
            if value is not None:
                inner[out] = _as_value(graph, value, out)
        phis = {out: carried(graph, _known(v), out) for out, v in inner.items()}
        update(graph, [(phis[out].cell, operand(v)) for out, v in inner.items()])
    _keep_read(saved, taken, body)
    if taken:
        cells = [value.cell for value in taken.values()]
        body.insert(0, Update(cells, [[Operand(saved.cell)]], graph.origin, unpacks=True))
    begin: list[Any] = []
    for x, _, out in wanted:
        if out not in phis:
            continue
        value = env.get(passed[x]) if passed.get(x, EMPTY) != EMPTY else None
        if value is None:
            known = inner[out].spec
            value = graph.constant(np.zeros(known.shape, known.dtype.dtype))
        begin.append((phis[out].cell, operand(value)))
    update(graph, begin)
    header = ["if ", Operand(saved.cell), " is not None:"]
    bound = [value.cell for value in phis.values()]
    graph.statements.append(Compound([(header, body)], graph.origin, bound))
    for out, value in phis.items():
        env[out] = writer.named(value, out)


# -- recurrent networks ----------------------------------------------------------------------------


@drives("recurrent")
def recurrent(writer: SourceWriter, op: Operator, env: Any) -> None:
    """``for t in range(steps):``."""
    graph: SourceGraph = writer.graph
    instance: Any = op.instance()
    sequences = _values(writer, op, "inputs", env)
    states = _states(writer, op, env)
    outputs, keeps = op.outputs["outputs"], _saved_names(op)
    t, saved = graph.value(spec([], "int64"), "i"), Cell("saved")
    lists = {name: Cell(f"{name}.steps") for name in outputs}
    with graph.below() as body:
        phis = [carried(graph, _known(v), name) for name, v in zip(instance.ex_states, states)]
        frame = Frame(env, dict(zip(instance.ex_states, phis)))
        for name, value in sequences.items():
            frame[name] = writer.named(_step_of(graph, value, t), name)
        writer.run_block(block_of(op), frame)
        writer.raise_failures()
        kept = _kept(frame, keeps)
        appended = [(lists[n], operand(_as_value(graph, frame[n], n))) for n in outputs]
        if kept:
            appended.append((saved, _tuple(kept.values())))
        keeping = update(graph, appended, appends=True)
        pairs = [(phi.cell, operand(frame[n])) for phi, n in zip(phis, instance.states)]
        update(graph, pairs)
    begin = [(phi.cell, operand(v)) for phi, v in zip(phis, states)]
    bound = [phi.cell for phi in phis] + list(lists.values())
    begin += [(cell, ["[]"]) for cell in lists.values()]
    if kept:
        begin.append((saved, ["[]"]))
        bound.append(saved)
    update(graph, begin)
    count = next(iter(sequences.values())).shape[0]
    header = ["for ", Operand(t.cell), f" in {_steps(count, instance.reverse)}:"]
    graph.statements.append(Compound([(header, body)], graph.origin, bound))
    for name in outputs:
        listed: list[Part] = [Operand(lists[name], ATOM), "[::-1]" if instance.reverse else ""]
        made = graph.expression(["np.stack(", *listed, ")"])
        known = _known(frame[name])
        made.spec = known.with_shape((count, *known.shape))
        env[name] = writer.named(made, name)
    env[op.outputs["step_scopes"][0]] = SavedPasses(saved, kept, keeping if kept else None)


def _values(writer: SourceWriter, op: Operator, slot: str, env: Any) -> dict[str, TracedArray]:
    return {
        n: _as_value(writer.graph, writer.value(op.block, n, env), n)
        for n in op.inputs.get(slot, ())
        if n != EMPTY
    }


def _states(writer: SourceWriter, op: Operator, env: Any) -> list[TracedArray]:
    """The states before the first step; two of them may have one name."""
    names = op.inputs["initial_states"]
    return [_as_value(writer.graph, writer.value(op.block, n, env), n) for n in names]


def _steps(count: int, reverse: bool) -> str:
    return f"reversed(range({count}))" if reverse else f"range({count})"


def _step_of(graph: SourceGraph, value: TracedArray, t: TracedArray) -> TracedArray:
    """One step of sequences."""
    made: TracedArray = graph.expression([*operand(value, ATOM), "[", Operand(t.cell), "]"])
    known = _known(value)
    made.spec = known.with_shape(known.shape[1:])
    return made


@drives("recurrent_grad")
def recurrent_grad(writer: SourceWriter, op: Operator, env: Any) -> None:
    """The steps in reverse."""
    graph: SourceGraph = writer.graph
    instance: Any = op.instance()
    saved = env[op.inputs["step_scopes"][0]]
    sequences = _values(writer, op, "inputs", env)
    states = _states(writer, op, env)
    seeds = {
        f"{name}{GRAD}": writer.value(op.block, given, env)
        for name, given in zip(op.inputs["outputs"], op.inputs["outputs@GRAD"])
        if given != EMPTY
    }
    wanted = _wanted(op, ["inputs", "parameters"])
    ins, parameters = wanted[: len(op.inputs["inputs"])], wanted[len(op.inputs["inputs"]) :]
    t = graph.value(spec([], "int64"), "i")
    lists = {local: Cell(f"{out}.steps") for _, local, out in ins if out != EMPTY}
    sums = {local: carried(graph, None, out) for _, local, out in parameters if out != EMPTY}
    with graph.below() as body:
        taken = _take(graph, saved)
        phis = [carried(graph, _known(v), f"{n}{GRAD}") for n, v in zip(instance.states, states)]
        frame = Frame(env, taken)
        for name, value in seeds.items():
            frame[name] = writer.named(_step_of(graph, value, t), name)
        frame.update({f"{n}{GRAD}": phi for n, phi in zip(instance.states, phis)})
        writer.run_block(block_of(op), frame)
        writer.raise_failures()
        appended = []
        for x, local, out in ins:
            if out == EMPTY:
                continue
            value = dict.get(frame, local)
            if value is None:
                value = _zeros(writer, _step_of(graph, sequences[x], t))
            appended.append((lists[local], operand(value)))
        update(graph, appended, appends=True)
        pairs = [
            (phi.cell, operand(frame[f"{n}{GRAD}"])) for phi, n in zip(phis, instance.ex_states)
        ]
        for local, total in list(sums.items()):
            found = dict.get(frame, local)
            if found is None:
                del sums[local]
                continue
            total.spec = _known(found)
            pairs.append((total.cell, [Operand(total.cell, 40), " + ", *operand(found, 41)]))
        update(graph, pairs)
    _keep_read(saved, taken, body)
    if taken:
        body.insert(0, _popped(graph, saved, taken))
    begin = [(phi.cell, operand(_zeros(writer, v))) for phi, v in zip(phis, states)]
    begin += [(cell, ["[]"]) for cell in lists.values()]
    begin += [(total.cell, ["0"]) for total in sums.values()]
    update(graph, begin)
    count = next(iter(sequences.values())).shape[0]
    order = _steps(count, not instance.reverse)
    header: list[Part] = ["for ", Operand(t.cell), f" in {order}:"]
    bound = [v.cell for v in (*phis, *sums.values())] + list(lists.values())
    graph.statements.append(Compound([(header, body)], graph.origin, bound))
    for x, local, out in ins:
        if out == EMPTY:
            continue
        ending = "" if instance.reverse else "[::-1]"
        made = graph.expression(["np.stack(", Operand(lists[local], ATOM), ending, ")"])
        made.spec = _known(sequences[x])
        env[out] = writer.named(made, out)
    for x, local, out in parameters:
        if out != EMPTY:
            value = sums.get(local)
            value = _zeros(writer, writer.value(op.block, x, env)) if value is None else value
            env[out] = writer.named(value, out)
    for out, phi in zip(op.outputs.get("initial_states@GRAD", ()), phis):
        if out != EMPTY:
            env[out] = writer.named(phi, out)


# -- arrays of tensors -----------------------------------------------------------------------------


@drives("write_to_array")
def write_to_array(writer: SourceWriter, op: Operator, env: Any) -> None:
    """A list with another element."""
    graph: SourceGraph = writer.graph
    (name,) = op.outputs["Out"]
    value = _as_value(graph, writer.value(op.block, op.inputs["X"][0], env), name)
    at = _item(graph, writer.value(op.block, op.inputs["I"][0], env))
    before = env.get(name)
    graph.helpers["with_item"] = library.with_item
    given = ["[]"] if before is None else operand(before)
    parts = ["with_item(", *given, ", ", *operand(at), ", ", *operand(value), ")"]
    made = graph.expression(parts)
    made.spec = value.spec
    made.cell.name = name
    env[name] = made


@drives("read_from_array")
def read_from_array(writer: SourceWriter, op: Operator, env: Any) -> None:
    """An element of a list."""
    graph: SourceGraph = writer.graph
    if op.inputs.get("X_W"):
        raise UnsupportedError("gradients flow through an array")
    array = writer.value(op.block, op.inputs["X"][0], env)
    at = _item(graph, writer.value(op.block, op.inputs["I"][0], env))
    made = graph.expression([*operand(array, ATOM), "[", *operand(at), "]"])
    made.spec = array.spec
    (name,) = op.outputs["Out"]
    env[name] = writer.named(made, name)


@drives("lod_array_length")
def lod_array_length(writer: SourceWriter, op: Operator, env: Any) -> None:
    """The length of a list."""
    graph: SourceGraph = writer.graph
    array = writer.value(op.block, op.inputs["X"][0], env)
    made = graph.expression(
        [*call("np.array", (), {})[:1], "[len(", *operand(array), ')], "int64")']
    )
    made.spec = spec([1], "int64")
    (name,) = op.outputs["Out"]
    env[name] = writer.named(made, name)
