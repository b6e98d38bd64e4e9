"""Steps on eager parameters: what an optimizer does where layers run at once.

The optimizer says the same as for programs: the operator of a step, what is kept for every
parameter, and attributes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import unique_name
from ..clip import GradientClipBase, append_gradient_clip_ops
from ..eager.listening import listener
from ..eager.mode import no_grad
from ..errors import ArgumentError
from ..ground import state
from ..ground.arguments import refused
from ..ground.callsite import warn
from ..ir.program import default_main_program
from ..ir.variable import is_tensor
from ..layers.decay import LearningRateDecay
from ..opdef.definition import lookup
from ..regularizer import with_decay
from . import joint_steps
from .eager_states import EagerStates, need_mapping
from .groups import Pair, ParameterGroups

if TYPE_CHECKING:
    from .optimizer import Optimizer

#: keys of a state that are none of a parameter's: the first two as fluid 1.8 calls them, the last
#: as paddle 2 does
_RATE, _STEPS, _FORMULA, _MASTERS = "LR_Scheduler", "global_step", "formula", "master_weights"
_OTHERS = {_RATE, _STEPS, _FORMULA, _MASTERS, "StructuredToParameterName@@"}
#: types of steps whose states were said to be of another formula
_told: state.StateSlot[list[str]] = state.slot("formulas that were told", list)


def not_eager(kind: str, what: str, given: Sequence[Any] | None) -> ArgumentError:
    """The error that an optimizer of programs gets a call for eager parameters.

    Args:
        kind: what the optimizer is called.
        what: the method.
        given: its ``parameter_list``.
    """
    why = "this optimizer is one of programs; make it with parameter_list=net.parameters()"
    if given is not None and not given:
        why = "its list of parameters is empty; layers in a list are found where it is a LayerList"
    return ArgumentError(f"{kind}: {what}() is for eager parameters, and {why}")


class EagerSteps:
    """The eager half of an optimizer.

    Args:
        optimizer: whose.
        groups: what it updates.
        rate: the learning rate.
        clip: how gradients are clipped; as the parameters say when None.
        name: stands in the names of states, when not None.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        groups: ParameterGroups,
        rate: float | LearningRateDecay,
        clip: GradientClipBase | None,
        name: str | None,
    ) -> None:
        self._optimizer = optimizer
        self.groups: ParameterGroups = groups
        self.parameters: list[Any] = groups.parameters
        self.rate = rate
        self._clip = clip
        self.states: EagerStates = EagerStates(optimizer, self.parameters, name)
        self._repeated: joint_steps.RepeatedStep | None = None
        self._rate_tensor: Any = None
        self._rate_shown: Any = None  #: the array that it was made with

    def __getstate__(self) -> dict[str, Any]:
        # what is kept for the next step of this object is found again by that of a copy
        return {**self.__dict__, "_repeated": None}

    # -- from a loss to steps --------------------------------------------------------------------

    def pairs_for(
        self, loss: Any, parameters: Iterable[Any] | None, no_grad_set: Iterable[Any] | None
    ) -> list[Pair]:
        """:meth:`pairs`, for a loss whose ``backward()`` was called.

        Args:
            loss: an eager tensor.
            parameters: of these only, or of those of these names; of all when None or empty.
            no_grad_set: without these, or those of these names.

        Raises:
            ArgumentError: the loss is something else.
        """
        if not is_tensor(loss):
            raise refused("", "the loss", "an eager tensor, as the parameters are", loss)
        wanted = _names(parameters) or {p.name for p in self.parameters}
        return self.pairs(wanted - _names(no_grad_set))

    def pairs(self, names: set[str] | None = None) -> list[Pair]:
        """Pairs of a parameter and its gradient, of those that have one.

        Args:
            names: of parameters of these names only; of all when None.
        """
        chosen = [p for p in self.parameters if names is None or p.name in names]
        found = [(p, p.raw_gradient) for p in chosen if not p.stop_gradient]
        pairs = [(p, p.results(g)) for p, g in found if g is not None]
        if found and not pairs:
            warn(
                f"no parameter of {self._optimizer!r} has a gradient, so that none is updated; "
                f"call backward() of the loss first",
                None,
            )
        return pairs

    def apply(self, pairs: Sequence[Pair]) -> None:
        """Clip, regularize, and make one step.

        Args:
            pairs: parameters and their gradients; None if there is none.
        """
        optimizer = self._optimizer
        self.groups.follow(optimizer.written_in_groups, optimizer.group_options)
        updated = [(p, g) for p, g in pairs if g is not None and not p.stop_gradient]
        repeated = self._repeated
        if repeated is None or not repeated.is_of([p for p, _ in updated]):
            self.states.prepare([p for p, _ in updated])
        clip = append_gradient_clip_ops if self._clip is None else self._clip
        decayed = [
            (p, with_decay(p, g, optimizer.regularizer_of(p)))
            for p, g in self.groups.clipped(updated, clip)
        ]
        if (heard := listener()) is not None:
            heard.updates(self, decayed)
        rate = self._next_rate()
        if repeated is None or not repeated.make(decayed, self._held_rate(rate)):
            self._repeated = self._step(decayed, rate)
        optimizer.finish_eagerly(self, [param for param, _ in decayed])
        if heard is not None:
            heard.updated(self, rate)

    def _held_rate(self, rate: float) -> Any:
        """The learning rate in an array: fluid 1.8 holds it in a variable of single precision,
        paddle 2 as a number.
        """
        return np.full([1], rate, "float64" if self._optimizer.by_paddle2 else "float32")

    def _step(self, pairs: Sequence[Pair], rate: float) -> joint_steps.RepeatedStep | None:
        """Make a step; what can make the next one, if that is alike."""
        optimizer = self._optimizer
        if optimizer.steps_by_itself():
            block = default_main_program().global_block()
            with no_grad():
                optimizer._create_accumulators(block, [param for param, _ in pairs])
                for pair in pairs:
                    optimizer._append_optimize_op(block, pair)
            return None
        return self._made_jointly(pairs, rate)

    def make(self, pairs: Sequence[Pair]) -> None:
        """Make the step that the optimizer's operator makes, at the rate of this step."""
        self._made_jointly(pairs, self.current_rate())

    def rate_of(self, param: Any) -> Any:
        """The learning rate of a parameter in this step, as a tensor."""
        return param.results(np.asarray(self.current_rate() * self._factor_of(param), "float32"))

    def _made_jointly(self, pairs: Sequence[Pair], rate: float) -> joint_steps.RepeatedStep | None:
        """Make a step by the optimizer's operator."""
        optimizer = self._optimizer
        steps = joint_steps.groups(optimizer, self._updates(pairs, rate))
        for some in steps:
            param = some[0].param
            run = getattr(param.layer(param.results, optimizer.type, None), optimizer.type)
            outputs = run.all(**joint_steps.joined(optimizer, some), **some[0].attrs)
            joint_steps.write(optimizer, some, optimizer.written, outputs)
        if self.groups.has_options:
            return None
        return joint_steps.RepeatedStep.after(optimizer, steps)

    def _updates(self, pairs: Sequence[Pair], rate: float) -> list[joint_steps.ParameterStep]:
        """What the steps of parameters read."""
        optimizer, definition = self._optimizer, lookup(self._optimizer.type)
        takes_rate = "LearningRate" in definition.input_slots
        held_rate = self._held_rate(rate)
        shared: dict[int, tuple[Mapping[str, Any], Mapping[str, Any]]] = {}
        rates: dict[tuple[Any, float], Any] = {}
        updates = []
        for param, gradient in pairs:
            owner = self.groups.options_of(param) if definition.updates_by_element else param
            if id(owner) not in shared:
                read = {slot: each.array for slot, each in optimizer.inputs(param).items()}
                shared[id(owner)] = optimizer.attrs(param), read
            attrs, more = shared[id(owner)]
            master, array, gradients = self.states.master_of(param), param.array, gradient.array
            if master is not None:
                array, gradients = master.array, gradients.astype("float32")
            inputs: dict[str, Any] = {"Param": array, "Grad": gradients, **more}
            if takes_rate:
                ratio = self._factor_of(param) * optimizer.ratio_of(param)
                own_rate = rates.get((array.dtype, ratio))
                if own_rate is None:
                    own_rate = held_rate.astype(array.dtype) * ratio
                    own_rate = rates[array.dtype, ratio] = own_rate.astype(array.dtype, copy=False)
                inputs["LearningRate"] = own_rate
                decay = optimizer.decay_of(param)
                if decay:
                    inputs["Param"] = array * (1 - own_rate * decay)
            updates.append(
                joint_steps.ParameterStep(param, self.states.all_of(param), inputs, attrs, master)
            )
        return updates

    def _factor_of(self, param: Any) -> float:
        """The factor of a parameter's learning rate: its group's, or its own."""
        options = self.groups.options_of(param)
        if options is not None:
            return float(options["_learning_rate"])
        return float(getattr(param, "optimize_attr", {}).get("learning_rate", 1.0))

    def clear_gradients(self, set_to_zero: bool) -> None:
        """Make all gradients zero, or drop them."""
        for param in self.parameters:
            param.clear_gradient(set_to_zero)

    # -- the learning rate -----------------------------------------------------------------------

    def _next_rate(self) -> float:
        rate = self.rate
        return rate.number(rate()) if isinstance(rate, LearningRateDecay) else self.current_rate()

    def current_rate(self) -> float:
        """The rate of the last step; before that, of the first one."""
        rate = self.rate
        if isinstance(rate, LearningRateDecay):
            return rate.used()
        shown = self._rate_tensor
        if shown is not None and shown.array is not self._rate_shown:  # a script wrote to it
            self.set_rate(float(shown.array.reshape(-1)[0]))
            return self.current_rate()
        return rate

    def set_rate(self, rate: float) -> None:
        """Use another constant rate."""
        self.rate, self._rate_tensor = rate, None

    def rate_tensor(self) -> Any:
        """The rate as a tensor of one element; what is written to that of a constant rate counts
        from the next step on.
        """
        rate, shown = self.current_rate(), self._rate_tensor
        array = np.full([1], rate, "float32")
        if shown is None or shown.array != array:
            shown = self._rate_tensor = self.parameters[0].results(array)
            shown.name = unique_name.generate("learning_rate")
            self._rate_shown = array
        return shown

    # -- states ----------------------------------------------------------------------------------

    def state_dict(self) -> dict[str, Any]:
        """All states by name, the formula where there are two, and the state of the learning rate
        where that changes.
        """
        states = self.states.named()
        make: Any = self.parameters[0].results if self.parameters else None
        two = self._optimizer.has_two_formulas and not self._optimizer.of_paddle2
        if states and two and self._optimizer.by_paddle2:
            states[_FORMULA] = make(np.array([2], "int32"))
        if self.states.masters:
            states[_MASTERS] = dict(self.states.masters)
        rate = self.rate
        if isinstance(rate, LearningRateDecay):
            states[_RATE] = rate.state_dict()
            if rate.counts_steps and make is not None:
                states[_STEPS] = make(np.array([rate.step_num], "int32"))
        return states

    def set_dict(self, given: Mapping[str, Any], by_position: bool) -> None:
        """Go on from states; missing ones wait for the first step.

        Args:
            given: values by name.
            by_position: whether parameters are identified by their order, not by their names.

        Raises:
            ArgumentError: it is no dictionary.
            StateDictError: a state is missing, or something is no state of this optimizer.
            ShapeError: a state has another shape.
        """
        need_mapping(given)
        self._repeated = None
        entries = {name: value for name, value in given.items() if name not in _OTHERS}
        values = self.states.checked(entries, by_position)
        rate = self.rate
        if isinstance(rate, LearningRateDecay):
            if _RATE in given:
                rate.set_dict(given[_RATE])
            elif _STEPS in given and rate.counts_steps:
                rate.set_dict({"step_num": int(_number(given[_STEPS]))})
        unplaced = entries if self._optimizer.steps_by_itself() else {}
        self.states.load(values, len(values) < len(entries), unplaced)
        self.states.load_masters(given.get(_MASTERS) or {})
        if values and self._optimizer.has_two_formulas and not self._optimizer.of_paddle2:
            formula = 2 if self._optimizer.by_paddle2 else 1
            _warn_of_another_formula(self._optimizer, formula, given.get(_FORMULA))


def _warn_of_another_formula(optimizer: Optimizer, own: int, saved: Any) -> None:
    """Say once that states were kept by another formula than that of the steps to come."""
    before = 1 if saved is None else int(_number(saved))
    if before == own or optimizer.type in _told.get():
        return
    _told.get().append(optimizer.type)
    names = {1: "fluid 1.8's", 2: "paddle 2's"}
    theirs = (
        f"the loaded states were kept by {names[before]}, so that steps differ from those before"
    )
    if saved is None:
        theirs = (
            f"the loaded states do not say theirs: where they are not Paddle 2's but of fluidlite "
            f"before 1.0, they were kept by {names[before]}, and steps differ from those before"
        )
    warn(f"steps of {optimizer!r} are by {names[own]} formula; {theirs}", None)


def _names(given: Iterable[Any] | None) -> set[str]:
    return {each if isinstance(each, str) else each.name for each in given or ()}


def _number(value: Any) -> Any:
    """The only element of a tensor or an array."""
    return (value.numpy() if is_tensor(value) else np.asarray(value)).reshape(-1)[0]
