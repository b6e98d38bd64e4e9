"""What optimizers of tensors have in common: groups of parameters, states, steps."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar, TypeVar, overload

import numpy as np

from ...eager.engine import located
from ...eager.mode import no_grad
from ...eager.recording import TensorRecord
from ...errors import ArgumentError, StateDictError
from ...ground.docstrings import Family
from ...nn.gradient_clips import clip_grad_norm_

T = TypeVar("T")
Array = np.ndarray[Any, Any]
Options = Mapping[str, Any]  #: of a group, by name
Arrays = dict[str, Any]  #: what is kept of a parameter: arrays, and the number of its steps
#: tensors, or groups of them: dictionaries with ``params`` and options
Parameters = Iterable[TensorRecord] | Iterable[Mapping[str, Any]]

#: optimizers of tensors
OPTIMIZERS = Family(
    {
        "params": "parameters, or groups of them.",
        "lr": "the learning rate.",
        "weight_decay": "times the weight is added to the gradient.",
        "eps": "added to the root.",
        "betas": "how much of the running means of the gradient and of its square stays.",
        "amsgrad": "divide by the root of the largest mean of squares so far.",
        "do_bias_correction": "make up for means that begin with 0.",
        "maximize": "go with the gradient.",
        "fused": "changes nothing: there is no kernel for all parameters at once.",
    },
    example="""
    >>> weight = fluid.flow.nn.Parameter(fluid.flow.ones(1))
    >>> optimizer = fluid.flow.optim.{name}([weight], lr=0.1)
    >>> (2 * weight).sum().backward()
    >>> optimizer.step()
    >>> weight.item() < 1
    True
    """,
)


class Optimizer:
    """Updates parameters by their gradients; subclasses say how, in ``updated``.

    Args:
        params: parameters; or dictionaries with ``params`` and options for those, the groups.
        defaults: options of groups that do not say them.

    Raises:
        ArgumentError: something is no leaf that wants a gradient, stands twice, or is no option;
            there is nothing to update.

    >>> optimizer = fluid.flow.optim.SGD([fluid.flow.nn.Parameter(fluid.flow.ones(1))], lr=0.1)
    >>> isinstance(optimizer, fluid.flow.optim.Optimizer), optimizer.param_groups[0]["lr"]
    (True, 0.1)
    """

    #: options -> from which number on they are; what else is no number or has no bound
    least: ClassVar[Mapping[str, float]] = {
        "lr": 0.0,
        "momentum": 0.0,
        "weight_decay": 0.0,
        "eps": 0.0,
        "alpha": 0.0,
        "lr_decay": 0.0,
        "initial_accumulator_value": 0.0,
    }

    #: whether the decay of weights is a part of the gradient
    decays_gradients: ClassVar[bool] = False

    def __init__(self, params: Parameters, defaults: Mapping[str, Any]) -> None:
        if isinstance(params, TensorRecord):
            raise located(ArgumentError, "expected a list of parameters, got one tensor")
        self.defaults: dict[str, Any] = dict(defaults)
        self.param_groups: list[dict[str, Any]] = []
        self._kept: dict[int, Arrays] = {}  # by the identity of parameters, which groups hold
        listed = list(params)
        if not listed:
            raise located(ArgumentError, "expected parameters to update, got none")
        groups: list[Any] = listed if isinstance(listed[0], Mapping) else [{"params": listed}]
        for group in groups:
            self.add_param_group(group)

    def begin(self, given: dict[str, Any]) -> None:
        """Take over the arguments of a subclass that lists them as fields.

        Args:
            given: ``params``, and options by name.
        """
        Optimizer.__init__(self, given.pop("params"), given)

    @property
    def support_sparse(self) -> bool:
        """True: gradients of all kinds are taken."""
        return True

    def add_param_group(self, param_group: Mapping[str, Any]) -> None:
        """Update further parameters, by options of their own.

        Args:
            param_group: ``params``, and options that are not the defaults.
        """
        given = param_group.get("params", [])
        params = [given] if isinstance(given, TensorRecord) else list(given)
        seen = {id(p) for group in self.param_groups for p in group["params"]}
        for parameter in params:
            if not isinstance(parameter, TensorRecord):
                raise located(
                    ArgumentError, f"expected parameters to be tensors, got {parameter!r:.60}"
                )
            if not parameter.is_leaf or parameter.array.dtype.kind != "f":  # type: ignore[attr-defined]
                raise located(
                    ArgumentError,
                    f"expected parameters to be leaves of fractions, got the result of an "
                    f"operator or {parameter.array.dtype}: {parameter!r:.60}",
                )
            if id(parameter) in seen:
                raise located(ArgumentError, f"a parameter stands twice: {parameter!r:.60}")
            seen.add(id(parameter))
        more = {"clip_grad_max_norm", "clip_grad_norm_type", "initial_lr"}
        unknown = param_group.keys() - {"params"} - self.defaults.keys() - more
        if unknown:
            raise located(
                ArgumentError,
                f"{type(self).__name__} has no options {sorted(unknown)}, but "
                f"{sorted(self.defaults)}",
            )
        group = {**self.defaults, **param_group, "params": params}
        self.check(group)
        self.param_groups.append(group)

    def check(self, group: Mapping[str, Any]) -> None:
        """Refuse options that mean nothing.

        Args:
            group: options by their names.

        Raises:
            ArgumentError: one lies outside of its range.
        """
        for name, least in self.least.items():
            value = group.get(name, least)
            if not value >= least:
                raise located(ArgumentError, f"expected {name} from {least} on, got {value!r:.60}")
        for beta in group.get("betas", ()):
            if not 0.0 <= beta < 1.0:
                raise located(ArgumentError, f"expected betas in [0, 1), got {beta!r:.60}")

    def updated(self, array: Array, gradient: Array, group: Options, kept: Arrays) -> Array:
        """The new elements of a parameter: written by subclasses.

        Args:
            array: those before, which are not to be written to.
            gradient: its gradient, of the same shape and type.
            group: the options.
            kept: what the steps before left, empty in the first; may be changed.
        """
        raise NotImplementedError(f"{type(self).__name__} needs a method updated(self, ...)")

    @overload
    def step(self, closure: None = None) -> None: ...
    @overload
    def step(self, closure: Callable[[], T]) -> T: ...
    def step(self, closure: Callable[[], T] | None = None) -> T | None:
        """Update all parameters that have a gradient, or, where one fails, none.

        Args:
            closure: called first; finds the gradients, and gives the loss.

        Returns:
            what ``closure`` gives.
        """
        loss = None if closure is None else closure()
        updates = []
        for group in self.param_groups:
            for param in group["params"]:
                if param.grad is not None and not param.stop:
                    state = dict(self._kept.get(id(param), {}))
                    gradient = param.grad.array.astype(param.array.dtype, copy=False)
                    if group.get("maximize"):
                        gradient = -gradient
                    if self.decays_gradients and group.get("weight_decay"):
                        gradient = gradient + group["weight_decay"] * param.array
                    array = self.updated(param.array, gradient, group, state)
                    updates.append((param, np.asarray(array, param.array.dtype), state))
        with no_grad():
            for param, array, state in updates:
                _write(param, array)
                self._kept[id(param)] = state
        return loss

    def zero_grad(self, set_to_none: bool = False) -> None:
        """Drop the gradients of all parameters, or make them zero."""
        for group in self.param_groups:
            for param in group["params"]:
                if set_to_none:
                    param.grad = None
                elif param.grad is not None:
                    param.grad = param.grad.detach() * 0.0

    def clip_grad(self) -> None:
        """Clip the gradients of each group that says ``clip_grad_max_norm``, and perhaps
        ``clip_grad_norm_type``, to that norm.
        """
        for group in self.param_groups:
            if "clip_grad_max_norm" in group:
                kind = group.get("clip_grad_norm_type", 2.0)
                clip_grad_norm_(group["params"], group["clip_grad_max_norm"], kind)

    def state_dict(self) -> dict[str, Any]:
        """What has to be kept so that training can go on: ``state`` by number of the parameter, and
        ``param_groups``, with numbers in place of parameters.
        """
        numbers, groups = self._numbered()
        make: Any = self.param_groups[0]["params"][0].results if numbers else None
        state = {
            numbers[p]: {
                name: value if not isinstance(value, np.ndarray) else make(np.array(value))
                for name, value in kept.items()
            }
            for p, kept in self._kept.items()
            if p in numbers
        }
        return {"state": state, "param_groups": groups}

    def _numbered(self) -> tuple[dict[int, int], list[dict[str, Any]]]:
        numbers: dict[int, int] = {}
        groups = []
        for group in self.param_groups:
            for param in group["params"]:
                numbers[id(param)] = len(numbers)
            params = [numbers[id(param)] for param in group["params"]]
            groups.append({**group, "params": params})
        return numbers, groups

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Go on from a state.

        Args:
            state_dict: what :meth:`state_dict` gave.

        Raises:
            StateDictError: it is no state of an optimizer, has other groups, or states of other
                shapes; nothing is changed then.
            ArgumentError: an option lies outside of its range.
        """
        if not state_dict.keys() >= {"state", "param_groups"}:
            raise located(
                StateDictError,
                f"expected 'state' and 'param_groups', got {sorted(map(str, state_dict))!r:.60}",
            )
        groups, state = list(state_dict["param_groups"]), state_dict["state"]
        sizes = [len(group["params"]) for group in self.param_groups]
        if [len(group["params"]) for group in groups] != sizes:
            raise located(
                StateDictError,
                f"expected groups of {sizes} parameters, got groups of "
                f"{[len(group['params']) for group in groups]}",
            )
        params = [p for group in self.param_groups for p in group["params"]]
        places = [number for group in groups for number in group["params"]]
        taken = {}
        for param, number in zip(params, places):
            if number in state:
                taken[id(param)] = _arrays(param, state[number])
        options = [{n: v for n, v in group.items() if n != "params"} for group in groups]
        for each in options:
            self.check(each)
        self._kept = taken
        for own, other in zip(self.param_groups, options):
            own.update(other)

    def __repr__(self) -> str:
        lines = [f"{type(self).__name__} ("]
        for k, group in enumerate(self.param_groups):
            lines.append(f"Parameter Group {k}")
            lines += [f"    {n}: {group[n]}" for n in sorted(group) if n != "params"]
        return "\n".join([*lines, ")"])


def running_mean(kept: Arrays, name: str, stays: float, *factors: Array) -> Array:
    """The running mean of a product, which is kept.

    Args:
        kept: what is kept of a parameter.
        name: of the mean there.
        stays: how much of it stays.
        factors: of the product.
    """
    value: Array = kept.get(name, 0.0) * stays + math.prod(factors, start=1 - stays)
    kept[name] = value
    return value


def _arrays(param: Any, state: Mapping[str, Any]) -> Arrays:
    """A state of a parameter as arrays."""
    arrays = {}
    for name, value in state.items():
        if isinstance(value, TensorRecord):
            if value.array.shape != param.array.shape:
                raise located(
                    StateDictError,
                    f"expected {name} of shape {list(param.array.shape)}, got "
                    f"{list(value.array.shape)}",
                )
            arrays[name] = np.array(value.array, param.array.dtype)
        else:
            arrays[name] = value
    return arrays


def _write(param: Any, array: Any) -> None:
    param.write(lambda old: old.results(array))
