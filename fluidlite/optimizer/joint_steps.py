"""Steps of many small eager parameters as one: their arrays stand behind each other in one array,
since what a call costs is more than what it computes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..eager.mode import thread
from ..eager.prepared import BoundOperator, kernels
from ..eager.recording import observed
from ..ground.dtypes import as_dtype
from ..opdef.definition import lookup
from ..opdef.spec import Spec

if TYPE_CHECKING:
    from .optimizer import Optimizer

#: elements up to which a copy costs less than a call
SMALL = 16384
#: elements of all parameters up to which they go together, whatever their sizes
FEW = 1 << 18


class ParameterStep(NamedTuple):
    """The step of one parameter."""

    param: Any
    states: Sequence[Any]  #: tensors, in the order of the optimizer's states
    inputs: dict[str, Any]  #: arrays by slot, without states
    attrs: Mapping[str, Any]
    master: Any = None  #: a tensor with the parameter in float32, where it is one of 16 bits

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
    most = _most_elements(updates)
    for update in updates:
        alike.setdefault(_key(update, numbers, most), []).append(update)
    return list(alike.values())


def _most_elements(updates: Sequence[ParameterStep]) -> int:
    """Elements of a parameter up to which its step is made with others."""
    return FEW if sum(update.param.array.size for update in updates) <= FEW else SMALL


def _key(update: ParameterStep, numbers: Sequence[int], most: int) -> Any:
    """What steps that are made together have in common; the parameter's own where none can be."""
    inputs = update.inputs
    param, gradient = inputs["Param"], inputs["Grad"]
    if param.size > most or type(gradient) is not np.ndarray or len(inputs) > len(_JOINED) + 1:
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


class RepeatedStep:
    """The step of the same small parameters, over and over.

    What the last step wrote lies in one array for all of them, and is read from there where nobody
    has written anything else since.

    Args:
        optimizer: whose.
        updates: those of one call of the step before.
    """

    def __init__(self, optimizer: Optimizer, updates: Sequence[ParameterStep]) -> None:
        self._optimizer = optimizer
        self.params: list[Any] = [update.param for update in updates]
        self._names = [param.given_name for param in self.params]
        self._attrs = updates[0].attrs
        self._op = op = lookup(optimizer.type)(dict(self._attrs))
        self._slots = list(op.input_slots)
        self._shapes = [param.array.shape for param in self.params]
        self._forms = [
            (shape, param.array.dtype) for shape, param in zip(self._shapes, self.params)
        ]
        ends = np.cumsum([param.array.size for param in self.params]).tolist()
        self._parts = [slice(begin, end) for begin, end in zip([0, *ends], ends)]
        #: tensors by input slot that are as large as the parameters
        self._held: dict[str, list[Any]] = {"Param": self.params}
        self._numbers: dict[str, list[Any]] = {}
        for k, state in enumerate(optimizer.states):
            kind = self._numbers if state.one_number else self._held
            kind[state.slot] = [update.states[k] for update in updates]
        self._whole: dict[str, Any] = {}  #: the array of all of them by slot
        self._views: dict[str, list[Any]] = {}  #: its parts
        self._written = {slot: state.slot for state, slot in optimizer.written}
        self._written["ParamOut"] = "Param"
        self._kernel: Callable[..., Any] | None = None

    @classmethod
    def after(
        cls, optimizer: Optimizer, steps: Sequence[Sequence[ParameterStep]]
    ) -> RepeatedStep | None:
        """The next step of parameters that made one together; None where it is to be made as that.

        Args:
            optimizer: whose.
            steps: the calls of the last step.
        """
        if len(steps) != 1 or optimizer.keeps_masters:
            return None
        updates = steps[0]
        plain = {"Param", "Grad", "LearningRate"}
        if not lookup(optimizer.type).updates_by_element or not plain.issuperset(updates[0].inputs):
            return None
        most = _most_elements(updates)
        if any(each.param.array.size > most or each.master is not None for each in updates):
            return None
        return cls(optimizer, updates)

    def is_of(self, params: Sequence[Any]) -> bool:
        """Whether these are the parameters, under the names of before."""
        return len(params) == len(self.params) and all(
            param is own and param.given_name == name
            for param, own, name in zip(params, self.params, self._names)
        )

    def make(self, pairs: Sequence[tuple[Any, Any]], rate: Any) -> bool:
        """Make the step.

        Args:
            pairs: parameters and their gradients.
            rate: the learning rate in an array of one element.

        Returns:
            whether it was made: not where something is otherwise than before.
        """
        params = self.params
        if observed() or not self.is_of([param for param, _ in pairs]):
            return False
        gradients = []
        for (param, gradient), form in zip(pairs, self._forms):
            array = gradient.array
            if (
                type(array) is not np.ndarray
                or (array.shape, array.dtype) != form
                or (param.array.shape, param.array.dtype) != form
            ):
                return False
            gradients.append(array.reshape(-1))
        if self._optimizer.attrs(params[0]) != self._attrs:
            return False
        factors = self._factors()
        if len(factors) > 1:
            return False
        inputs = {"Grad": np.concatenate(gradients)}
        for slot, tensors in self._numbers.items():
            first = tensors[0].array
            others = [each.array for each in tensors if each.array is not first]
            if any(array[0] != first[0] for array in others):
                return False
            inputs[slot] = first
        for slot, tensors in self._held.items():
            views = self._views.get(slot)
            if views is None or any(t.array is not view for t, view in zip(tensors, views)):
                inputs[slot] = _chain([t.array for t in tensors])
            else:
                inputs[slot] = self._whole[slot]
        ratio, decay = factors.pop()
        inputs["LearningRate"] = rate = rate.astype(inputs["Param"].dtype) * ratio
        if decay:
            inputs["Param"] = inputs["Param"] * (1 - rate * decay)
        self._take(self._run([inputs.get(slot) for slot in self._slots]))
        return True

    def _factors(self) -> set[tuple[float, float]]:
        """Factors of learning rates, and how much parameters shrink."""
        ratio, decay = self._optimizer.ratio_of, self._optimizer.decay_of
        return {
            (float(getattr(p, "optimize_attr", {}).get("learning_rate", 1.0)) * ratio(p), decay(p))
            for p in self.params
        }

    def _run(self, arrays: Sequence[Any]) -> Mapping[str, Any]:
        if self._kernel is None:
            specs = [None if a is None else Spec(a.shape, as_dtype(a.dtype)) for a in arrays]
            prepared = self._op.prepared(specs)
            if prepared is None or prepared.scratch is not None:
                self._kernel = BoundOperator(self._op, kernels).every
            else:
                self._kernel = prepared.function
        return self._op.by_slot(thread.run(self._kernel, *arrays))

    def _take(self, outputs: Mapping[str, Any]) -> None:
        for slot, read in self._written.items():
            whole = outputs[slot]
            if read in self._numbers:
                whole = np.asarray(whole)
                for tensor in self._numbers[read]:
                    tensor.array = whole
                continue
            self._whole[read] = whole
            views = self._views[read] = [
                whole[part].reshape(shape) for part, shape in zip(self._parts, self._shapes)
            ]
            for tensor, view in zip(self._held[read], views):
                tensor.replace(view, read == "Param")
