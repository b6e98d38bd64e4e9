"""Steps of many small eager parameters as one: their arrays stand behind each other in one array,
since what a call costs is more than what it computes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..opdef.definition import lookup

if TYPE_CHECKING:
    from .optimizer import Optimizer

#: elements up to which a copy costs less than a call
SMALL = 16384


class ParameterStep(NamedTuple):
    """The step of one parameter."""

    param: Any
    states: Sequence[Any]  #: tensors, in the order of the optimizer's states
    inputs: dict[str, Any]  #: arrays by slot, without states
    attrs: Mapping[str, Any]
    master: Any = None  #: a tensor with the parameter in float32, where it is one of float16

    def take(self, array: Any) -> None:
        """Give the parameter its new elements."""
        if self.master is not None:
            self.master.array = array
            array = array.astype(self.param.array.dtype)
        self.param.replace(array, counts=True)


def groups(optimizer: Optimizer, updates: Sequence[ParameterStep]) -> list[list[ParameterStep]]:
    """Steps, those in one list that one call can make.

    Args:
        optimizer: whose.
        updates: all of a step, none of a parameter twice.
    """
    if not lookup(optimizer.type).updates_by_element:
        return [[update] for update in updates]
    numbers = [k for k, state in enumerate(optimizer.states) if state.one_number]
    alike: dict[Any, list[ParameterStep]] = {}
    for update in updates:
        alike.setdefault(_key(update, numbers), []).append(update)
    return list(alike.values())


def _key(update: ParameterStep, numbers: Sequence[int]) -> Any:
    """What steps that are made together have in common; the parameter's own where none can be."""
    inputs = update.inputs
    param, gradient = inputs["Param"], inputs["Grad"]
    if param.size > SMALL or type(gradient) is not np.ndarray or len(inputs) > len(_JOINED) + 1:
        return id(update.param)
    held = [update.states[k].array for k in numbers]
    rate = inputs.get("LearningRate")
    return (
        *(param.dtype, gradient.dtype, None if rate is None else float(rate[0])),
        *[float(array[0]) for array in held],
        *update.attrs.values(),
    )


_JOINED = ("Param", "Grad")


def joined(optimizer: Optimizer, updates: Sequence[ParameterStep]) -> dict[str, Any]:
    """The inputs of one call that makes some steps.

    Args:
        optimizer: whose.
        updates: of :func:`groups`.
    """
    first = updates[0]
    inputs = dict(first.inputs)
    for state, tensor in zip(optimizer.states, first.states, strict=True):
        inputs[state.slot] = tensor.array
    if len(updates) > 1:
        for slot in _JOINED:
            inputs[slot] = _chain([update.inputs[slot] for update in updates])
        for k, state in enumerate(optimizer.states):
            if not state.one_number:
                inputs[state.slot] = _chain([update.states[k].array for update in updates])
    return inputs


def _chain(arrays: Sequence[Any]) -> Any:
    return np.concatenate([array.reshape(-1) for array in arrays])


def write(
    optimizer: Optimizer, updates: Sequence[ParameterStep], written: Sequence[Any], outputs: Any
) -> None:
    """Take over what a call gave.

    Args:
        optimizer: whose.
        updates: those of the call.
        written: states and their output slots.
        outputs: tensors by slot.
    """
    places = [(list(optimizer.states).index(state), outputs[slot].array) for state, slot in written]
    whole = outputs["ParamOut"].array
    if len(updates) == 1:
        (update,) = updates
        for k, array in places:
            update.states[k].array = array
        update.take(whole)
        return
    begin = 0
    for update in updates:
        shape, end = update.param.array.shape, begin + update.param.array.size
        for k, array in places:
            is_number = optimizer.states[k].one_number
            update.states[k].array = array.copy() if is_number else array[begin:end].reshape(shape)
        update.take(whole[begin:end].reshape(shape))
        begin = end
