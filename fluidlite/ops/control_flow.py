"""Operators that drive blocks, and those that choose between values.

Each finds its block in the attribute ``sub_block``.  What backward builds for them is in
``fluidlite.backward``; here is how they run.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

import numpy as np

from ..errors import OutOfRangeError, ShapeError
from ..ground.values import LoDTensorArray, added, bare, zeros_like
from ..opdef.annotations import Rules, Value
from ..opdef.attribute import REQUIRED, BlockRef, attr
from ..opdef.definition import Detached, Op
from ..opdef.fluid_form import FluidForm
from ..opdef.gradient import GRAD
from ..opdef.spec import Spec
from .families import PassesThrough


class Driving(Op, abstract=True):
    """An operator that drives a block.

    sub_block: the block.
    skip_eager_deletion_vars: not read: what is kept follows from the program.
    """

    hands_on: ClassVar[bool] = True
    sub_block: BlockRef = REQUIRED
    skip_eager_deletion_vars: list[str] = attr((), inert=True)
    lod: ClassVar[str | None] = None


class DrivingGradient(Op, abstract=True):
    """An operator that drives a block of gradients.

    sub_block: the block; its ``forward_block_idx`` is the forward operator's.
    local_gradients: what the gradients of the inputs are called in the block, where that is not
        the input's name and ``@GRAD``.
    """

    sub_block: BlockRef = REQUIRED
    local_gradients: list[str] = attr((), local=True)
    lod: ClassVar[str | None] = None
    #: the input slots that get gradients
    differentiated: ClassVar[tuple[str, ...]] = ()

    def kept_names(self, inputs: Mapping[str, tuple[str, ...]]) -> Iterable[str]:
        return self.gradient_names(inputs)

    def gradient_names(self, inputs: Any) -> Any:
        """What the gradients of the differentiated inputs are called in the block, in order."""
        if self.local_gradients:
            return list(self.local_gradients)
        return [n + GRAD for slot in self.differentiated for n in inputs.get(slot, ())]


class WhileLoop(Driving, type="while"):
    """Run a block as long as Condition holds.

    X: the outer variables that the block reads or writes.
    Condition: one truth; the block computes it anew.
    Out: the outer variables that the block writes.
    StepScopes: what the gradients need of each pass.
    is_test: no gradients will be needed.
    """

    signature = "X*, Condition*! -> Out*, StepScopes"
    condition_slot: ClassVar[str] = "Condition"
    repeats: ClassVar[bool] = True
    is_test: bool = False

    def execute(self, run: Any) -> None:
        (condition,) = run.names("inputs", "Condition")
        passes = []
        while run.condition(condition):
            before = run.overwritten()
            frame = run.run_block()
            run.export(frame)
            passes.append({**before, **run.saved(frame)})
        run.set(run.names("outputs", "StepScopes")[0], tuple(passes))


def add_to(sums: dict[Any, Any] | dict[str, Any], own: Any, name: str, value: Any) -> None:
    """Add a value to a sum, in place where that has an array of its own.

    Args:
        sums: by name.
        own: the names of sums that are in arrays that nobody else has.
        name: of the sum.
        value: to add.
    """
    before = sums.get(name)
    if before is None:
        sums[name] = value
    elif name in own and type(before) is type(value) is np.ndarray and before.shape == value.shape:
        np.add(before, value, out=before)
    else:
        sums[name] = added(before, value)
        own.add(name)


def _holds_array(run, name):
    """Whether a variable is an array of tensors."""
    return isinstance(run.find(name), LoDTensorArray)


class while_grad(DrivingGradient):
    """The gradient of `while`: its passes in reverse.

    X: the outer variables of the loop.
    Out: the outer variables that it writes.
    Out@GRAD: the gradients of those of them that gradients flow through.
    StepScopes: what was kept of each pass.
    original_output_grad: what the block calls those gradients, before and after a pass.
    is_test: not read.
    """

    signature = "X?*!, Out?*!, Out@GRAD?*, StepScopes! -> X@GRAD?*"
    original_output_grad: list[str] = ()
    is_test: bool = attr(False, inert=True)
    skip_eager_deletion_vars: list[str] = attr((), inert=True)
    differentiated: ClassVar[tuple[str, ...]] = ("X",)

    def kept_names(self, inputs: Any) -> Iterable[str]:
        return [*self.gradient_names(inputs), *self.original_output_grad]

    def bound_names(self, inputs: Mapping[str, tuple[str, ...]]) -> Iterable[str]:
        return self.original_output_grad

    def unset(self, slot: str) -> Any:
        return "@EMPTY@" if slot == "Out@GRAD" else None

    def execute(self, run: Any) -> None:
        names = run.names("inputs", "X")
        carried = {}
        for name, given in zip(
            self.original_output_grad, run.names("inputs", "Out@GRAD"), strict=True
        ):
            gradient = run.find(given)
            if gradient is None:  # programs of fluid's leave out zeros
                gradient = run.zeros_like(run.value(name.removesuffix(GRAD)))
            carried[name] = gradient
        local = self.gradient_names({"X": names})
        wanted = run.names("outputs", "X@GRAD")
        # an operator that adds to an array must not find the gradient of a later value of it
        fresh = dict.fromkeys(
            n for n, x in zip(local, names) if n not in carried and _holds_array(run, x)
        )
        sums, own = {}, set()
        counted = [name for name in run.body.exports if GRAD not in name]
        counters = {}  # which the blocks of fluid's programs count back
        for kept in reversed(run.value(run.names("inputs", "StepScopes")[0])):
            frame = run.run_block({**fresh, **kept, **carried, **counters})
            counters = {name: frame[name] for name in counted}
            for name, out in zip(local, wanted):
                if (
                    out != "@EMPTY@"
                    and name not in carried
                    and name in frame
                    and frame[name] is not None
                ):
                    add_to(sums, own, name, frame[name])
            carried = {name: frame[name] for name in carried}
        for name, value in counters.items():
            run.set(name, value)
        for name, out, x in zip(local, wanted, names):
            if out != "@EMPTY@":
                gradient = carried.get(name, sums.get(name))
                run.set(out, run.zeros_like(run.value(x)) if gradient is None else gradient)


class conditional_block(Driving):
    """Run a block if Cond holds.

    Cond: with ``is_scalar_condition`` one truth each, all of which must hold; else tensors, none of
        which may be empty.
    Input: the outer variables that the block reads.
    Out: the outer variables that it writes; they stay as they are where it does not run.
    Scope: what the gradients need.
    is_scalar_condition: what Cond means.
    """

    signature = "Cond*!, Input* -> Out*, Scope"
    condition_slot: ClassVar[str] = "Cond"
    is_scalar_condition: bool = False

    def execute(self, run: Any) -> None:
        saved = None
        if self.holds(run):
            frame = run.run_block()
            run.export(frame)
            saved = run.saved(frame)
        run.set(run.names("outputs", "Scope")[0], saved)

    def holds(self, run: Any) -> Any:
        """Whether the block is to be run."""
        names = run.names("inputs", "Cond")
        if self.is_scalar_condition:
            return all(run.condition(name) for name in names)
        return all(bare(run.value(name)).size for name in names)


class conditional_block_infer(conditional_block):
    """`conditional_block` in programs that were saved for inference."""

    grad = None


class conditional_block_grad(DrivingGradient):
    """The gradient of `conditional_block`.

    Cond, Input, Out, Scope: those of the forward operator.
    Out@GRAD: the gradients of its outputs.
    Input@GRAD: 0 where the block did not run, but for an input that is an output too: it went
        through unchanged.
    is_scalar_condition: not read: Scope knows whether the block ran.
    """

    signature = "Cond?*!, Input?*!, Out?*!, Out@GRAD?*, Scope! -> Input@GRAD?*"
    is_scalar_condition: bool = attr(False, inert=True)
    differentiated: ClassVar[tuple[str, ...]] = ("Input",)

    def execute(self, run: Any) -> None:
        inputs = run.names("inputs", "Input")
        wanted = run.names("outputs", "Input@GRAD")
        saved = run.value(run.names("inputs", "Scope")[0])
        if saved is not None:
            frame = run.run_block(saved)
        passed = dict(zip(run.names("inputs", "Out"), run.names("inputs", "Out@GRAD")))
        results = {}
        for x, name, out in zip(inputs, self.gradient_names({"Input": inputs}), wanted):
            if out != "@EMPTY@":
                if saved is not None:
                    gradient = frame.get(name)
                else:
                    gradient = run.find(passed[x]) if x in passed else None
                if gradient is None and run.find(x) is not None:  # else its branch was not taken
                    gradient = zeros_like(run.find(x))
                if gradient is not None:
                    results[out] = gradient
        for out, value in results.items():
            run.set(out, value)


class recurrent(Driving):
    """Run a block once for each step of sequences, as a recurrent network does.

    inputs: the sequences, of shape [steps, ...]; for each the block has a variable of the same
        name, which holds one step.
    initial_states: the states before the first step.
    parameters: other outer variables that the block reads.
    outputs: variables of the block, stacked over the steps under the same name.
    final_states: the states behind the last step, if they are requested.
    step_scopes: what the gradients need of each step.
    ex_states: what the block calls the states before a step.
    states: what it calls them after the step.
    reverse: begin with the last step.
    has_states: not read: there are as many as ``states``.
    is_train: not read: what is kept follows from the program.
    """

    signature = "inputs*, initial_states*, parameters* -> outputs*, step_scopes, final_states?*"
    ex_states: list[str] = REQUIRED
    states: list[str] = REQUIRED
    reverse: bool = False
    has_states: bool = attr(False, inert=True)
    is_train: bool = attr(True, inert=True)
    unrolls: ClassVar[bool] = True

    def kept_names(self, inputs: Mapping[str, tuple[str, ...]]) -> Iterable[str]:
        return self.states

    def bound_names(self, inputs: Mapping[str, tuple[str, ...]]) -> Iterable[str]:
        return [*inputs.get("inputs", ()), *self.ex_states]

    def execute(self, run: Any) -> None:
        sequences = {name: run.value(name) for name in run.names("inputs", "inputs")}
        outputs = run.names("outputs", "outputs")
        states = [run.value(name) for name in run.names("inputs", "initial_states")]
        passes, collected = [], []
        for t in steps_of(sequences, self.reverse):
            values = {name: value[t] for name, value in sequences.items()}
            frame = run.run_block({**values, **dict(zip(self.ex_states, states))})
            states = [frame[name] for name in self.states]
            collected.append([frame[name] for name in outputs])
            passes.append(run.saved(frame))
        if self.reverse:
            collected.reverse()
        for name, parts in zip(outputs, zip(*collected)):
            run.set(name, run.f.stack(list(parts), axis=0))
        for name, state in zip(run.names("outputs", "final_states"), states):
            run.set(name, state)
        run.set(run.names("outputs", "step_scopes")[0], tuple(passes))


def steps_of(sequences: dict[str, Any], reverse: bool) -> range:
    """The positions of the steps, in the order in which they run."""
    lengths = {name: value.shape[0] for name, value in sequences.items()}
    if len(set(lengths.values())) != 1:
        given = ", ".join(f"{name!r} {n}" for name, n in lengths.items()) or "none"
        raise ShapeError(f"expected sequences of one length, got {given}")
    count = next(iter(lengths.values()))
    if not count:
        raise ShapeError("expected sequences of at least one step, got none")
    return range(count - 1, -1, -1) if reverse else range(count)


class recurrent_grad(DrivingGradient):
    """The gradient of `recurrent`: its steps in reverse.

    inputs, initial_states, parameters, outputs, step_scopes: those of the forward operator.
    outputs@GRAD: the gradients of its outputs.
    final_states@GRAD: those of the states behind its last step; zero if they are missing.
    step_scopes@GRAD: not read.
    ex_states, states, reverse, has_states, is_train, skip_eager_deletion_vars: those of the forward
        operator.
    """

    signature = (
        "initial_states?*!, inputs?*!, outputs?*!, outputs@GRAD?*, parameters?*!, step_scopes!, "
        "step_scopes@GRAD?!, final_states@GRAD?* -> initial_states@GRAD?*, inputs@GRAD?*, "
        "parameters@GRAD?*"
    )
    ex_states: list[str] = REQUIRED
    states: list[str] = REQUIRED
    reverse: bool = False
    has_states: bool = attr(False, inert=True)
    is_train: bool = attr(True, inert=True)
    skip_eager_deletion_vars: list[str] = attr((), inert=True)
    differentiated: ClassVar[tuple[str, ...]] = ("inputs", "parameters")
    unrolls: ClassVar[bool] = True

    def kept_names(self, inputs: Any) -> Iterable[str]:
        return [*self.gradient_names(inputs), *(name + GRAD for name in self.ex_states)]

    def bound_names(self, inputs: Mapping[str, tuple[str, ...]]) -> Iterable[str]:
        return [name + GRAD for name in (*inputs.get("outputs", ()), *self.states)]

    def execute(self, run: Any) -> None:
        names = {slot: run.names("inputs", slot) for slot in self.differentiated}
        local = self.gradient_names(names)
        sequences = {name: run.value(name) for name in names["inputs"]}
        seeds = {
            name + GRAD: run.value(given)
            for name, given in zip(
                run.names("inputs", "outputs"), run.names("inputs", "outputs@GRAD")
            )
            if given != "@EMPTY@"
        }
        initial = [run.value(n) for n in run.names("inputs", "initial_states")]
        carried = [run.zeros_like(value) for value in initial]
        for k, name in enumerate(run.names("inputs", "final_states@GRAD")):
            if name != "@EMPTY@":
                carried[k] = run.value(name)
        order = list(steps_of(sequences, self.reverse))
        parts = {name: {} for name in local}
        passes = run.value(run.names("inputs", "step_scopes")[0])
        for t, kept in zip(reversed(order), reversed(passes), strict=True):
            values = {name: value[t] for name, value in seeds.items()}
            values |= {name + GRAD: value for name, value in zip(self.states, carried)}
            frame = run.run_block({**kept, **values})
            carried = [frame[name + GRAD] for name in self.ex_states]
            for name in local:
                if dict.get(frame, name) is not None:
                    parts[name][t] = frame[name]
        count = len(names["inputs"])
        for name, x, out in zip(
            local[:count], names["inputs"], run.names("outputs", "inputs@GRAD")
        ):
            if out != "@EMPTY@":
                gradients = [parts[name].get(t) for t in range(len(order))]
                zeros = run.zeros_like(sequences[x][0])
                run.set(out, run.f.stack([zeros if v is None else v for v in gradients], axis=0))
        for name, x, out in zip(
            local[count:], names["parameters"], run.names("outputs", "parameters@GRAD")
        ):
            if out != "@EMPTY@":
                gradients = list(parts[name].values())
                run.set(out, run.f.sum(gradients) if gradients else run.zeros_like(run.value(x)))
        for out, value in zip(run.names("outputs", "initial_states@GRAD"), carried):
            run.set(out, value)


class rnn_memory_helper(PassesThrough):
    """Out = X: what a block of `recurrent` hands out.

    dtype: not read.
    """

    dtype: int = attr(5, inert=True)

    def grad(self, f: Any, X: Value, Out: Value, dOut: Value) -> Rules:
        return dict(X=lambda: f.assign(dOut))


class select_input(Op):
    """Out = X[Mask]; the others need not have been computed.

    X: one of them for each value of Mask.
    Mask: a number.
    """

    signature = "X*, Mask! -> Out"
    hands_on: ClassVar[bool] = True
    fluid: ClassVar[FluidForm] = FluidForm(direct=True)
    lod: ClassVar[str | None] = None

    def execute(self, run: Any) -> None:
        names = run.names("inputs", "X")
        at = chosen(run, len(names))
        run.set(run.names("outputs", "Out")[0], run.value(names[at]))

    def grad(self, f: Any, X: Value, Mask: Value, dOut: Value) -> Rules:
        return dict(X=lambda: f.select_output(dOut, Mask, branches=len(X)))


class select_output(Op):
    """Out[Mask] = X; the others are left as they are.

    X: the value that passes.
    Mask: a number.
    branches: how many Out there are.
    """

    signature = "X, Mask! -> Out*"
    hands_on: ClassVar[bool] = True
    branches: int = attr(0, local=True)
    fluid: ClassVar[FluidForm] = FluidForm(direct=True)
    lod: ClassVar[str | None] = None

    def width(self, X: Spec, Mask: Spec) -> Any:
        return self.branches

    def given_attrs(self) -> dict[str, Any]:
        return {}  # the number of outputs says it

    def execute(self, run: Any) -> None:
        names = run.names("outputs", "Out")
        value = run.find(run.names("inputs", "X")[0])
        if value is not None:
            run.set(names[chosen(run, len(names))], value)

    def grad(self, f: Any, Mask: Value, dOut: Value) -> Rules:
        return dict(X=lambda: f.select_input(dOut, Mask))


class zeros_if_written(Detached):
    """Out = 0 in the form of X; nothing where nothing has written X in this run.

    The gradient that a branch which was not taken hands on.
    """

    signature = "X! -> Out"

    def execute(self, run: Any) -> None:
        found = run.find(run.names("inputs", "X")[0])
        if found is not None:
            run.set(run.names("outputs", "Out")[0], zeros_like(found))


def chosen(run: Any, count: Any) -> Any:
    """The branch that Mask names."""
    value = run.value(run.names("inputs", "Mask")[0])
    at = int(value.reshape(()))
    if not 0 <= at < count:
        raise OutOfRangeError(f"expected Mask in [0, {count}), got {at}")
    return at
