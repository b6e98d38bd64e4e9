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
from ..errors import ArgumentError, ParameterListError, StateDictError, suggestion
from ..ground.arguments import refused
from ..ground.callsite import warn
from ..ground.state import in_dygraph_mode
from ..ir.variable import is_tensor
from ..layers.decay import LearningRateDecay
from ..opdef.definition import lookup
from ..regularizer import append_regularization_ops

if TYPE_CHECKING:
    from .optimizer import Optimizer
    from .states import State

Pair = tuple[Any, Any]  #: a parameter and its gradient; None where it has none
_RATE, _STEPS = "LR_Scheduler", "global_step"  # keys of a state, as fluid 1.8 calls them


def eager_parameters(kind: str, given: Sequence[Any] | None) -> list[Any] | None:
    """The parameters of an optimizer, if it is one of eager ones; None if it is one of programs.

    Args:
        kind: what the optimizer is called.
        given: its ``parameter_list``.

    Raises:
        ParameterListError: layers run at once, and there is no list.
        ArgumentError: something in it is no eager parameter, or stands twice.
    """
    if not in_dygraph_mode() and not any(map(is_tensor, given or ())):
        return None
    if given is None:
        raise ParameterListError(
            f"{kind}: within dygraph.guard() an optimizer is told what to update: "
            f"parameter_list=net.parameters()"
        )
    for parameter in given:
        if not is_tensor(parameter):
            raise refused(kind, "all of parameter_list", "eager parameters", parameter)
        if parameter.array.dtype.kind != "f":
            raise ArgumentError(
                f"{kind}: expected parameters of floats, got {parameter.name!r} of "
                f"{parameter.array.dtype}"
            )
    distinct = list({id(each): each for each in given}.values())
    names = [each.name for each in distinct]
    for name in names:
        if names.count(name) > 1:
            raise ArgumentError(
                f"{kind}: two parameters are called {name!r}, so that their states cannot be told "
                f"apart; give one another name: parameter.name = ..."
            )
    return distinct


def not_eager(kind: str, what: str, given: Sequence[Any] | None) -> ArgumentError:
    """The error that an optimizer of programs is asked for what one of eager parameters does.

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
        parameters: what it updates.
        rate: the learning rate.
        clip: how gradients are clipped; as the parameters say when None.
        name: stands in the names of states, when not None.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        parameters: list[Any],
        rate: float | LearningRateDecay,
        clip: GradientClipBase | None,
        name: str | None,
    ) -> None:
        self._optimizer = optimizer
        self.parameters = parameters
        self.rate = rate
        self._clip = clip
        self._name = name
        #: (name of the state, name of the parameter) -> tensor
        self._states: dict[tuple[str, str], Any] = {}
        #: states that were loaded before there were such
        self._waiting: dict[str, Any] = {}
        self._rate_tensor: Any = None
        self._rate_shown: Any = None  #: the array that it was made with

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
            pairs: parameters and their gradients; None where there is none.
        """
        optimizer = self._optimizer
        given = [(p, g) for p, g in pairs if g is not None and not p.stop_gradient]
        clip = append_gradient_clip_ops if self._clip is None else self._clip
        decayed = append_regularization_ops(clip(given), optimizer.regularization)
        rate = self._next_rate()
        for kept in optimizer.states:
            for param, _ in decayed:
                self._state(kept, param)
        for param, gradient in decayed:
            self._step(param, gradient, rate)
        optimizer.finish_eagerly(self, [param for param, _ in decayed])

    def _step(self, param: Any, gradient: Any, rate: float) -> None:
        optimizer = self._optimizer
        run = param.layer(param.results, optimizer.type, None)
        ins: dict[str, Any] = {"Param": param.array, "Grad": gradient.array}
        more: dict[str, Any] = dict(optimizer.inputs(param))
        ins.update({slot: tensor.array for slot, tensor in more.items()})
        if "LearningRate" in lookup(optimizer.type).input_slots:
            factor = getattr(param, "optimize_attr", {}).get("learning_rate", 1.0)
            single = np.full([1], rate, "float32")  # as the variable of a program holds it
            ratio, decay = float(factor) * optimizer.ratio_of(param), optimizer.decay_of(param)
            ins["LearningRate"] = single.astype(param.array.dtype) * ratio
            if decay:
                ins["Param"] = param.array * (1 - ins["LearningRate"] * decay)
        for state in optimizer.states:
            ins[state.slot] = self._state(state, param).array
        outs = getattr(run, optimizer.type).all(**ins, **optimizer.attrs(param))
        for state in optimizer.states:
            if state.out is not None:
                self._state(state, param).array = outs[state.out or f"{state.slot}Out"].array
        param.array = outs["ParamOut"].array
        param.version += 1

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

    def _state(self, kept: State, param: Any) -> Any:
        """What is kept for a parameter; made when it is not there."""
        key = kept.name, param.name
        found = self._states.get(key)
        if found is not None:
            return found
        middle = kept.name if self._name is None else f"{self._name}_{kept.name}"
        stem = f"{param.name}_{middle}"
        shape = (1,) if kept.one_number else param.array.shape
        dtype = param.dtype if kept.dtype is None else kept.dtype
        run = param.layer(param.results, self._optimizer.type, None)
        tensor = run.fill_constant(shape=list(shape), dtype=dtype, value=float(kept.value))
        tensor.name = unique_name.generate(stem)
        tensor.persistable = True
        waiting = self._waited(stem, tensor.name)
        if waiting is not None:
            tensor.set_value(_array(waiting))
        self._states[key] = tensor
        return tensor

    def _waited(self, stem: str, name: str) -> Any:
        """The value that was loaded for a state: under its name, or one that differs in its
        number.
        """
        alike = [
            key
            for key in self._waiting
            if key.startswith(f"{stem}_") and key[len(stem) + 1 :].isdigit()
        ]
        key = name if name in self._waiting else alike[0] if len(alike) == 1 else None
        return None if key is None else self._waiting.pop(key)

    def of(self, name: str, param: Any) -> Any:
        """A state by its name.

        Raises:
            ArgumentError: nothing of the kind is kept.
        """
        found = self._states.get((name, param.name))
        if found is None:
            raise ArgumentError(f"{self._optimizer!r} keeps no {name!r} for {param.name!r}")
        return found

    def names(self) -> list[str]:
        """The names of all states, in order of creation."""
        return [made.name for made in self._states.values()]

    def state_dict(self) -> dict[str, Any]:
        """All states by name, and that of the learning rate where that changes."""
        states: dict[str, Any] = {made.name: made for made in self._states.values()}
        rate = self.rate
        if isinstance(rate, LearningRateDecay):
            states[_RATE] = rate.state_dict()
            if rate.counts_steps and self.parameters:
                steps = np.array([rate.step_num], "int32")
                states[_STEPS] = self.parameters[0].results(steps)
        return states

    def set_dict(self, given: Mapping[str, Any]) -> None:
        """Go on from states; those that are not there yet wait for the first step.

        Args:
            given: values by name.

        Raises:
            ArgumentError: it is no dictionary.
            StateDictError: a state is missing.
            ShapeError: a state has another shape.
        """
        if not isinstance(given, Mapping):
            raise refused("", "states", "a dictionary of arrays", given)
        rate = self.rate
        if isinstance(rate, LearningRateDecay):
            if _RATE in given:
                rate.set_dict(given[_RATE])
            elif _STEPS in given and rate.counts_steps:
                rate.set_dict({"step_num": int(_array(given[_STEPS]).reshape(-1)[0])})
        for tensor in self._states.values():
            if tensor.name not in given:
                raise StateDictError(
                    f"the states lack {tensor.name!r}{suggestion(tensor.name, given)}"
                )
        for tensor in self._states.values():
            tensor.set_value(_array(given[tensor.name]))
        names = set(self.names())
        self._waiting = {
            key: value for key, value in given.items() if key not in {*names, _RATE, _STEPS}
        }


def _names(given: Iterable[Any] | None) -> set[str]:
    return {each if isinstance(each, str) else each.name for each in given or ()}


def _array(value: Any) -> Any:
    return value.numpy() if is_tensor(value) else np.asarray(value)
