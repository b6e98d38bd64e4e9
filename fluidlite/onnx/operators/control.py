"""Branches and loops, with graphs as their bodies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ... import layers
from ...errors import UnsupportedError
from ...ground.dtypes import Kind
from ..building import need_room
from ..forms import operator
from .sequences import GrowingSequence, StackedSequence, TensorSequence

MOST_PASSES = 1024  #: of a loop that is written out


def _truth(f: Any, x: Any) -> Any:
    """A truth as layers take it."""
    return f.variable(f.reshaped(x, [1]))


@operator("If")
def if_of(f: Any, condition: Any, *, then_branch: Any, else_branch: Any) -> Any:
    known = f.elements(condition)
    if known is not None:
        return tuple((then_branch if known.reshape(-1)[0] else else_branch)())

    def copied(body: Any) -> list[Any]:
        return [layers.assign(f.variable(v)) for v in body()]

    return tuple(
        layers.cond(_truth(f, condition), lambda: copied(then_branch), lambda: copied(else_branch))
    )


@operator("Loop")
def loop(f: Any, most: Any = None, begin: Any = None, *carried: Any, body: Any) -> Any:
    """Carried values after the passes, and what each pass gives beside them, stacked."""
    count = len(carried)
    gives = body.outputs - 1 - count
    if body.inputs != count + 2 or gives < 0:
        raise UnsupportedError(f"its body has {body.inputs} inputs and {body.outputs} outputs")
    growing = [i for i, v in enumerate(carried) if isinstance(v, TensorSequence)]
    if growing and (any(carried[i].values for i in growing) or _is_counted(f, most, begin)):
        return _written_out(f, most, begin, carried, body)
    number = layers.fill_constant([1], "int64", 0)
    going = layers.assign(_truth(f, np.array(True) if begin is None else begin))
    limit = None if most is None else f.variable(f.reshaped(f.to(most, "int64"), [1]))
    state = [layers.assign(f.variable(v)) for i, v in enumerate(carried) if i not in growing]
    arrays: list[tuple[Any, bool]] = []

    def goes_on(number: Any, going: Any, *state: Any) -> Any:
        if limit is None:
            return going
        return layers.logical_and(layers.less_than(number, limit), going)

    def step(number: Any, going: Any, *state: Any) -> list[Any]:
        values = with_others(state, growing, [GrowingSequence() for _ in growing])
        results = body(f.reshaped(number, []), f.reshaped(going, []), *values)
        after = layers.increment(number, 1, in_place=False)
        inserted = [_inserted(results[1 + i]) for i in growing]
        for value in map(f.variable, [*inserted, *results[count + 1 :]]):
            array, begun = _array(f, value)
            layers.array_write(value, after if begun else number, array)
            arrays.append((array, begun))
        kept = [v for i, v in enumerate(results[1 : count + 1]) if i not in growing]
        return [after, _truth(f, results[0]), *map(f.variable, kept)]

    passes, _, *found = layers.while_loop(goes_on, step, [number, going, *state])
    stacked = [_stacked(f, array, begun, passes) for array, begun in arrays]
    made = [StackedSequence(each) for each in stacked[: len(growing)]]
    return (*with_others(found, growing, made), *stacked[len(growing) :])


def with_others(values: Any, places: list[int], others: list[Any]) -> list[Any]:
    """Values with others between them, at places of the result."""
    found = list(values)
    for place, other in zip(places, others):  # the places ascend
        found.insert(place, other)
    return found


def _inserted(sequence: Any) -> Any:
    """The tensor that a pass puts behind those of a sequence.

    Raises:
        UnsupportedError: it does something else.
    """
    if not isinstance(sequence, GrowingSequence) or len(sequence.values) != 1:
        raise UnsupportedError(
            "each pass of a loop that runs unknown times has to put one tensor behind a sequence"
        )
    return sequence.values[0]


def _stacked(f: Any, array: Any, begun: bool, passes: Any) -> Any:
    """What the passes of a loop gave, side by side."""
    rows = layers.tensor_array_to_tensor(array, axis=0, use_stack=True)[0]
    if not begun:
        return rows
    made = layers.range(1, layers.increment(passes, 1, in_place=False), 1, "int64")
    return layers.gather(rows, made)  # a slice may not be empty


def _is_counted(f: Any, most: Any, begin: Any) -> bool:
    """Whether the passes of a loop are known one by one."""
    known = begin is None or f.elements(begin) is not None
    return known and (most is None or f.elements(most) is not None)


def _written_out(f: Any, most: Any, begin: Any, carried: Any, body: Any) -> Any:
    """A loop that carries sequences of tensors, pass by pass."""
    limit = None if most is None else f.number(most, "how often a loop that carries sequences runs")
    going, state = np.array(True) if begin is None else begin, list(carried)
    rows: list[list[Any]] = []
    while (limit is None or len(rows) < limit) and f.number(going, "whether a loop goes on"):
        if len(rows) == MOST_PASSES:
            raise UnsupportedError(f"a loop that carries sequences makes over {MOST_PASSES} passes")
        going, *found = body(np.array(len(rows)), going, *state)
        state = found[: len(carried)]
        rows.append(found[len(carried) :])
    if body.outputs > len(carried) + 1 and not rows:
        raise UnsupportedError("it makes no pass, and what it would stack is not known")
    stacked = [f.stack([f.variable(v) for v in each], axis=0) for each in zip(*rows)]
    return (*state, *stacked)


def _array(f: Any, like: Any) -> tuple[Any, bool]:
    """An array of tensors in the block around the one that is built, and whether zeros are written
    there before the loop, which may make no pass: where the shape is known.
    """
    around = f.program.blocks[f.block.parent_idx]
    array = around.create_var(type=Kind.LOD_TENSOR_ARRAY, dtype=like.dtype, shape=like.shape)
    if -1 in like.shape:
        return array, False

    def constant(shape: Any, dtype: Any) -> Any:
        out = around.create_var(dtype=dtype, shape=shape)
        attrs = dict(shape=list(shape), dtype=dtype, value=0.0)
        around.append_op("fill_constant", outputs={"Out": out}, attrs=attrs)
        return out

    given = {"X": constant(like.shape, like.dtype), "I": constant([1], "int64")}
    around.append_op("write_to_array", given, {"Out": array})
    return array, True


@dataclass(frozen=True)
class ScanWays:
    """Attributes that say along which dimensions a scan goes: forwards along the first ones where
    they are absent.
    """

    scan_input_axes: Sequence[int] | None = None
    scan_input_directions: Sequence[int] | None = None
    scan_output_axes: Sequence[int] | None = None
    scan_output_directions: Sequence[int] | None = None

    def of(self, side: str, count: int) -> list[tuple[int, int]]:
        """Of each tensor on a side, "input" or "output", the dimension, and whether backwards."""
        ways = (getattr(self, f"scan_{side}_{what}") for what in ("axes", "directions"))
        return list(zip(*(list(way or [0] * count) for way in ways)))


@operator("Scan")
def scan(
    f: Any,
    *given: Any,
    body: Any,
    num_scan_inputs: int,
    ways: ScanWays = ScanWays(),
    directions: Any = None,
    opset: int,
) -> Any:
    """States after the steps of some tensors, and what each step gives beside them, stacked."""
    if opset < 9:
        ways = ScanWays(scan_input_directions=directions)
        return _by_samples(f, given, body, dict(num_scan_inputs=num_scan_inputs, ways=ways))
    states = len(given) - num_scan_inputs
    if states < 0 or body.inputs != len(given) or body.outputs < states:
        raise UnsupportedError(f"its body has {body.inputs} inputs and {body.outputs} outputs")
    gives = body.outputs - states
    rnn, sequences = layers.StaticRNN(), []
    for value, (axis, is_back) in zip(given[states:], ways.of("input", num_scan_inputs)):
        value = _first(f, value, axis)
        value = f.reverse(value, axis=[0]) if is_back else value
        sequences.append(layers.assign(f.variable(value)))
    initial = [f.variable(v) for v in given[:states]]
    with rnn.step():
        now = [rnn.step_input(v) for v in sequences]
        before = [rnn.memory(init=v) for v in initial]
        found = [f.variable(v) for v in body(*before, *now)]
        for old, new in zip(before, found):
            rnn.update_memory(old, new)
        rnn.output(*found)
    results = rnn()
    results = results if isinstance(results, list) else [results]
    last = [f.dropped(_last(f, v), 0) for v in results[:states]]
    stacked = [
        _behind(f, f.reverse(v, axis=[0]) if is_back else v, axis)
        for v, (axis, is_back) in zip(results[states:], ways.of("output", gives))
    ]
    return (*last, *stacked)


def _by_samples(f: Any, given: Any, body: Any, attrs: dict[str, Any]) -> Any:
    """The form before version 9: the steps of each sample of a batch for themselves."""
    lengths, *values = given
    if lengths is not None:
        raise UnsupportedError("before version 9, with lengths of sequences, it has no form")
    (count,) = f.known_sizes(values[0], [0])
    need_room(count, most=MOST_PASSES)
    samples = [[f.dropped(f.cut(v, 0, k, k + 1), 0) for v in values] for k in range(count)]
    found = [scan(f, *sample, body=body, opset=9, **attrs) for sample in samples]
    return tuple(f.stack([f.variable(v) for v in each], axis=0) for each in zip(*found))


def _last(f: Any, x: Any) -> Any:
    """What the last step left."""
    return f.slice(x, axes=[0], starts=[-1], ends=[2**30])


def _first(f: Any, x: Any, axis: int) -> Any:
    """A value with the dimension of steps in front."""
    axis %= f.ndim(x)
    return f.transposed(x, [axis, *(i for i in range(f.ndim(x)) if i != axis)])


def _behind(f: Any, x: Any, axis: int) -> Any:
    """A value with the dimension in front in another place."""
    order = list(range(1, f.ndim(x)))
    order.insert(axis % f.ndim(x), 0)
    return f.transposed(x, order)
