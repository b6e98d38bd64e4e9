"""Arrays of tensors in ONNX: what is written at a place that is known is read there again."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import UnsupportedError
from ..ir.operator import Operator
from .blocks import CONTROL, BlockWriter
from .rearranging import joined, sizes_of


class TracedTensors(list[Any]):
    """The elements of an array, by their places; None for what was not written."""

    offsets: tuple[Any, ...] = ()


def _place(writer: BlockWriter, op: Operator, env: dict[str, Any]) -> int:
    """The position that an operator names.

    Raises:
        UnsupportedError: it is not known before the model runs.
    """
    return int(np.asarray(writer.value(op.block, op.inputs["I"][0], env)).item())


def _tensors(op: Operator, slot: str, env: dict[str, Any]) -> TracedTensors:
    """The array that an operator reads, empty where nothing was written yet."""
    found = env.get(op.inputs[slot][0], TracedTensors())
    if not isinstance(found, TracedTensors):
        raise UnsupportedError("it reads an array that no operator here wrote")
    return found


def write_to_array(writer: BlockWriter, op: Operator, env: dict[str, Any]) -> None:
    """Keep a value at a place."""
    (name,) = op.outputs["Out"]
    held, place = list(env.get(name, ())), _place(writer, op, env)
    held += [None] * (place + 1 - len(held))
    held[place] = writer.value(op.block, op.inputs["X"][0], env)
    env[name] = TracedTensors(held)


def read_from_array(writer: BlockWriter, op: Operator, env: dict[str, Any]) -> None:
    """The value at a place."""
    held, place = _tensors(op, "X", env), _place(writer, op, env)
    if place >= len(held) or held[place] is None:
        raise UnsupportedError(f"nothing was written at position {place}")
    (name,) = op.outputs["Out"]
    value = held[place]
    env[name] = writer.named(value, name).having(getattr(value, "offsets", ()))


def array_length(writer: BlockWriter, op: Operator, env: dict[str, Any]) -> None:
    """How many places there are."""
    (name,) = op.outputs["Out"]
    env[name] = writer.named(np.array([len(_tensors(op, "X", env))], np.int64), name)


def array_to_tensor(writer: BlockWriter, op: Operator, env: dict[str, Any]) -> None:
    """The elements of an array joined."""
    axis, stacks = op.attrs.get("axis", 0), op.attrs.get("use_stack", False)
    held, graph = _tensors(op, "X", env), writer.graph.innermost
    if not held or any(v is None for v in held):
        raise UnsupportedError("not all places of the array were written")
    out = np.stack(held, axis=axis) if stacks else np.concatenate(held, axis=axis)
    axis %= out.ndim
    sizes = [
        sizes_of(graph, v, axis, axis + 1) if axis < v.ndim else np.ones(1, np.int64) for v in held
    ]
    for slot, value in (("Out", out), ("OutIndex", graph.like(joined(graph, *sizes), np.int32))):
        for name in op.outputs.get(slot, ()):
            env[name] = writer.named(value, name)


CONTROL.update(
    {
        "write_to_array": write_to_array,
        "read_from_array": read_from_array,
        "lod_array_length": array_length,
        "tensor_array_to_tensor": array_to_tensor,
    }
)
