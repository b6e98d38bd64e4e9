"""What optimizers keep for eager parameters, and how it is saved and loaded."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import unique_name
from ..errors import ArgumentError, ShapeError, StateDictError, suggestion
from ..ground.arguments import refused
from ..ground.brain_float import is_half
from ..ir.variable import is_tensor
from .matching import by_position, listing, stem_of

if TYPE_CHECKING:
    from .optimizer import Optimizer
    from .states import State

_WAY_OUT = (
    "; for states of other names, but of the same parameters in the same order, give "
    "by_position=True"
)

Place = tuple[str, str]  #: the name of a state and that of its parameter


class EagerStates:
    """The states of an optimizer of eager parameters.

    Args:
        optimizer: whose.
        parameters: what it updates.
        name: stands in the names of states, when not None.
    """

    def __init__(self, optimizer: Optimizer, parameters: list[Any], name: str | None) -> None:
        self._optimizer = optimizer
        self._parameters = parameters
        self._name = name
        self._made: dict[Place, Any] = {}
        #: those of each parameter, in the order of the optimizer's states
        self._by_parameter: dict[str, list[Any]] = {}
        #: tensors in float32, by the names of parameters of 16 bits
        self.masters: dict[str, Any] = {}
        #: what was loaded before there were such states
        self._waiting: dict[Place, Any] = {}
        #: whether states of other parameters were loaded, too
        self._has_others = False
        #: what a user's optimizer keeps besides, by name, and what was loaded that may be its
        self._added: dict[str, State] = {}
        self._unplaced: dict[str, Any] = {}

    @property
    def _kinds(self) -> dict[str, State]:
        return {kept.name: kept for kept in self._optimizer.states} | self._added

    def __deepcopy__(self, memo: dict[int, Any]) -> EagerStates:
        copied = type(self).__new__(type(self))
        memo[id(self)] = copied
        vars(copied).update(copy.deepcopy(vars(self), memo))
        copied._rename(dict(zip((p.name for p in self._parameters), copied._parameters)))
        return copied

    def _rename(self, params: Mapping[str, Any]) -> None:
        """Call states after parameters that have other names now: old name -> parameter."""

        def of(param: str) -> str:
            return str(params[param].name) if param in params else param

        self._made = {(name, of(param)): made for (name, param), made in self._made.items()}
        self._waiting = {(name, of(param)): v for (name, param), v in self._waiting.items()}
        self._by_parameter = {}
        self.masters = {of(param): master for param, master in self.masters.items()}
        for param in params.values():
            for kept in self._optimizer.states:
                made = self._made.get((kept.name, param.name))
                if made is not None:
                    made.name = unique_name.generate(self._stem(kept, param))

    def _stem(self, kept: State, param: Any) -> str:
        """The name of a state, without its number."""
        middle = kept.name if self._name is None else f"{self._name}_{kept.name}"
        return f"{param.name}_{middle}"

    def prepare(self, params: Sequence[Any]) -> None:
        """Make the states of parameters that are updated for the first time.

        Args:
            params: which are to be updated.

        Raises:
            StateDictError: states were loaded, and there are none for some of them.
        """
        places = [(kept, p) for kept in self._optimizer.states for p in params]
        new = [(kept, p) for kept, p in places if (kept.name, p.name) not in self._made]
        if self._waiting or self._has_others:
            lacking = [self._stem(k, p) for k, p in new if (k.name, p.name) not in self._waiting]
            if lacking:
                raise StateDictError(
                    f"{self._optimizer!r} goes on from states that were loaded, and they have "
                    f"nothing for {listing(lacking)}; add zeros by these names to begin anew"
                    f"{_WAY_OUT}"
                )
        for kept, param in new:
            self._make(kept, param)

    def added(self, kept: State, param: Any) -> Any:
        """A state that a user's optimizer keeps; it is made if it is missing."""
        found = self._made.get((kept.name, param.name))
        if found is not None:
            return found
        self._added[kept.name] = kept
        made, stem = self._make(kept, param), self._stem(kept, param)
        for name in [name for name in self._unplaced if stem_of(name) == stem]:
            made.set_value(_array(self._unplaced.pop(name)))
        return made

    def _make(self, kept: State, param: Any) -> Any:
        run = param.layer(param.results, self._optimizer.type, None)
        own = param if self.master_of(param) is None else self.master_of(param)
        dtype = own.dtype if kept.dtype is None else kept.dtype
        value = self._optimizer.first_value(kept, param)
        exact = repr(float(value)) if self._optimizer.by_paddle2 else ""  # 1.8 has C's floats
        attrs = dict(shape=list(_shape(kept, param)), dtype=dtype, value=value, str_value=exact)
        tensor = run.fill_constant(**attrs)
        tensor.name = unique_name.generate(self._stem(kept, param))
        tensor.persistable = True
        waiting = self._waiting.pop((kept.name, param.name), None)
        if waiting is not None:
            tensor.set_value(waiting)
        self._made[kept.name, param.name] = tensor
        return tensor

    def master_of(self, param: Any) -> Any:
        """A tensor with a parameter of 16 bits in float32, where the optimizer keeps one; else
        None.
        """
        if not self._optimizer.keeps_masters or not is_half(param.array.dtype):
            return None
        if param.name not in self.masters:
            self._keep_master(param, param.array)
        return self.masters[param.name]

    def _keep_master(self, param: Any, array: Any) -> None:
        master = param.results(np.asarray(array, "float32"))
        master.name = unique_name.generate(f"{param.name}_fp32_master")
        master.persistable = True
        self.masters[param.name] = master

    def load_masters(self, given: Mapping[str, Any]) -> None:
        """Take over the tensors of :meth:`master_of`.

        Args:
            given: values by the names of parameters.
        """
        for param in self._parameters:
            if param.name in given and self.master_of(param) is not None:
                self._keep_master(param, _array(given[param.name]))

    def of(self, name: str, param: Any) -> Any:
        """A state by its name.

        Raises:
            ArgumentError: nothing of the kind is kept.
        """
        found = self._made.get((name, param.name))
        if found is None:
            raise ArgumentError(f"{self._optimizer!r} keeps no {name!r} for {param.name!r}")
        return found

    def all_of(self, param: Any) -> list[Any]:
        """The states of a parameter, in the order of the optimizer's."""
        states = self._by_parameter.get(param.name)
        if states is None:
            states = [self.of(state.name, param) for state in self._optimizer.states]
            self._by_parameter[param.name] = states
        return states

    def by_name(self) -> dict[str, dict[str, Any]]:
        """The states, by their names and those of parameters."""
        found: dict[str, dict[str, Any]] = {}
        for (state, param), made in self._made.items():
            found.setdefault(state, {})[param] = made
        return found

    def names(self) -> list[str]:
        """The names of all states that are there."""
        return [made.name for made in self._made.values()]

    def named(self) -> dict[str, Any]:
        """The states by the names of their tensors: of each kind of state, those of all parameters
        in the order in which the optimizer was given them.
        """
        order = {param.name: k for k, param in enumerate(self._parameters)}
        kinds = {name: k for k, name in enumerate(self._kinds)}
        last = len(order)  # of a parameter that has another name since
        places = sorted(self._made, key=lambda place: (kinds[place[0]], order.get(place[1], last)))
        return {self._made[place].name: self._made[place] for place in places}

    def checked(self, given: Mapping[str, Any], positions: bool) -> dict[Place, Any]:
        """Values that are to be loaded, by their places.

        Args:
            given: values by name.
            positions: whether those of the first parameter in them are for the first one here.

        Raises:
            StateDictError: a state is missing, or something is none of this optimizer's; as in
                paddle 2, its optimizers pass over that, and miss what is there already.
            ShapeError: a state has another shape.
        """
        names = self._kinds
        params = {param.name: param for param in self._parameters}
        if positions:
            trained = [p.name for p in self._parameters if not p.stop_gradient]
            places = by_position(list(given), list(names), [list(params), trained])
        else:
            places = self._named_places(given)
        self._check_complete(set(places.values()), given)
        values = {}
        for name, place in places.items():
            array, wanted = _array(given[name]), _shape(names[place[0]], params[place[1]])
            if array.shape != wanted:
                raise ShapeError(
                    f"expected {name!r} of shape {list(wanted)}, got {list(array.shape)}"
                )
            values[place] = array
        return values

    def _named_places(self, given: Iterable[str]) -> dict[str, Place]:
        """Names of values -> where they belong, whatever the number behind a name."""
        stems = {
            self._stem(kept, param): (kept.name, param.name)
            for kept in self._kinds.values()
            for param in self._parameters
        }
        exact = {made.name: place for place, made in self._made.items()}
        places = {name: exact[name] for name in given if name in exact}
        taken = {place: name for name, place in places.items()}
        unknown = []
        for name in given:
            place = stems.get(stem_of(name))
            if name not in places and (place is None or place in taken):
                unknown.append(name)
            elif name not in places and place is not None:
                places[name] = place
                taken[place] = name
        if unknown and not self._optimizer.of_paddle2:
            known = [made.name for made in self._made.values()] or [f"{stem}_0" for stem in stems]
            raise StateDictError(
                f"{self._optimizer!r} keeps nothing called {listing(unknown)}"
                f"{suggestion(unknown[0], known)}{_WAY_OUT}"
            )
        return places

    def _check_complete(self, found: set[Place], given: Iterable[str]) -> None:
        """Refuse values that lack a state of one of their parameters, or one that is there."""
        wanted = {*self._made}
        begun = {param for _, param in found}
        if not self._optimizer.of_paddle2:
            wanted |= {(states.name, param) for states in self._optimizer.states for param in begun}
        states = {states.name: states for states in self._optimizer.states}
        for param in self._parameters:
            for name in states:
                place = name, param.name
                if place in wanted and place not in found:
                    made = self._made.get(place)
                    lacking = made.name if made is not None else self._stem(states[name], param)
                    raise StateDictError(
                        f"the states lack {lacking!r}{suggestion(lacking, given)}{_WAY_OUT}"
                    )

    def load(
        self, values: Mapping[Place, Any], has_others: bool, unplaced: Mapping[str, Any]
    ) -> None:
        """Take over what :meth:`checked` gave; missing ones wait for the first step.

        Args:
            values: these.
            has_others: whether there were states of other parameters among them.
            unplaced: what belongs to nothing that is known now, by name.
        """
        self._has_others = has_others
        self._unplaced = dict(unplaced)
        for place, made in self._made.items():
            made.set_value(values[place])
        self._waiting = {place: v for place, v in values.items() if place not in self._made}


def _shape(kept: State, param: Any) -> tuple[int, ...]:
    return (1,) if kept.one_number else tuple(param.array.shape)


def _array(value: Any) -> Any:
    return value.numpy() if is_tensor(value) else np.asarray(value)


def need_mapping(given: Any) -> None:
    """Refuse states that are no dictionary.

    Raises:
        ArgumentError: they are something else.
    """
    if not isinstance(given, Mapping):
        raise refused("", "states", "a dictionary of arrays", given)
