"""Scopes: values by name that stay between runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from functools import partial
from itertools import chain
from operator import attrgetter, is_not
from typing import Any

import numpy as np

from .errors import ArgumentError
from .ground import state
from .ground.callsite import CallSite
from .ground.quoting import printable
from .ground.tracebacks import api_boundary
from .ground.turns import Turns
from .ground.values import HeldTensor, Lod, LoDTensor, LoDTensorArray, SelectedRows, on_host
from .ir.display_hooks import VIEWS
from .ir.program import Program


class ScopeVariable:
    """A name in a scope and its value; None until it has one."""

    __slots__ = ("name", "value")

    def __init__(self, name: str, value: Any = None) -> None:
        self.name: str = name
        self.value: Any = value

    def get_tensor(self) -> LoDTensor:
        """The value as a tensor that reads and writes this variable.  Arrays made from it are
        copies.
        """
        return _BoundTensor(self)

    def get_selected_rows(self) -> SelectedRows:
        """The value as rows of a tensor, all of them where it is a whole one; an empty one is made
        where it is of another kind.
        """
        held = on_host(self.value)
        if isinstance(held, np.ndarray) and held.ndim:
            self.value = SelectedRows(np.arange(len(held)), len(held), held)
        elif not isinstance(held, SelectedRows):
            self.value = SelectedRows()
        return self.value

    def get_lod_tensor_array(self) -> LoDTensorArray:
        """The value as an array of tensors; an empty one is made where it is of another kind."""
        if not isinstance(self.value, LoDTensorArray):
            self.value = LoDTensorArray()
        return self.value

    def set_int(self, number: int) -> None:
        """Give it a whole number as its value.

        Raises:
            ArgumentError: it has a value of another kind.
        """
        self._set_number(int, number)

    def set_float(self, number: float) -> None:
        """Give it a number as its value.

        Raises:
            ArgumentError: it has a value of another kind.
        """
        self._set_number(float, number)

    def _set_number(self, kind: type, number: Any) -> None:
        if self.value is not None:
            self._number(kind)
        self.value = kind(number)

    def is_int(self) -> bool:
        """Whether the value is a whole number that was set as one."""
        return type(self.value) is int

    def is_float(self) -> bool:
        """Whether the value is a number that was set as one."""
        return type(self.value) is float

    def get_int(self) -> int:
        """The whole number that was set.

        Raises:
            ArgumentError: none was.
        """
        return int(self._number(int))

    def get_float(self) -> float:
        """The number that was set.

        Raises:
            ArgumentError: none was.
        """
        return float(self._number(float))

    def _number(self, kind: type) -> Any:
        if type(self.value) is not kind:
            held = "nothing" if self.value is None else type(self.value).__name__
            raise ArgumentError(f"expected {self.name!r} to hold {kind.__name__}, got {held}")
        return self.value

    @property
    def is_initialized(self) -> bool:
        """Whether there is a value."""
        return self.value is not None

    def __repr__(self) -> str:
        held = "no value" if self.value is None else type(self.value).__name__
        return f"<ScopeVariable {printable(self.name)}: {held}>"


class _BoundTensor(HeldTensor):
    """A tensor whose content lies in a scope's variable."""

    __slots__ = ()

    def _load(self) -> tuple[Any, Lod]:
        value = self._holder.value
        return (value.data, value.offsets) if isinstance(value, LoDTensor) else (value, ())

    def _store(self, data: Any, lod: Lod) -> None:
        self._holder.value = LoDTensor(data, lod) if lod else data


class Scope:
    """Variables by name; a kid also sees those of its parent.

    >>> import numpy as np
    >>> scope = Scope()
    >>> scope.var("w").get_tensor().set(np.ones(2, "float32"))
    >>> np.array(scope.find_var("w").get_tensor())
    array([1., 1.], dtype=float32)
    """

    @api_boundary
    def __init__(self, parent: Scope | None = None) -> None:
        if parent is not None and not isinstance(parent, Scope):
            raise ArgumentError(f"expected parent to be a scope, got {parent!r:.60}")
        self._parent = parent
        self._variables: dict[str, ScopeVariable] = {}
        self._below: list[Scope] = []
        self._changes = 0
        #: of the runs that update it
        self.turns: Turns = Turns() if parent is None else parent.turns
        #: name -> where the program was built whose run gave it its shape
        self._origins: dict[str, CallSite | None] = {}

    def var(self, name: str) -> ScopeVariable:
        """The variable of that name in this scope, created if it does not exist."""
        variable = self._variables.get(name)
        if variable is None:
            variable = self._variables[name] = ScopeVariable(name)
            self._changes += 1
        return variable

    def find_var(self, name: str) -> ScopeVariable | Any:  # None, too: scripts know what there is
        """The variable of that name in this scope or an ancestor; None when there is none."""
        scope: Scope | None = self
        while scope is not None:
            found = scope._variables.get(name)
            if found is not None:
                return found
            scope = scope._parent
        return None

    def value(self, name: str) -> Any:
        """The value of a name; None when there is none."""
        found = self.find_var(name)
        return None if found is None else found.value

    def host_value(self, name: str) -> Any:
        """The value of a name with its elements in arrays of NumPy; None when there is none.

        What an executor on JAX has left on a device is fetched from there.
        """
        return on_host(self.value(name))

    def commit(
        self,
        values: Mapping[str, Any],
        *more: partial[None],
        before: Mapping[str, Any] | None = None,
        first: Iterable[Any] = (),
    ) -> list[Any] | None:
        """Give variables new values, here or in the ancestor that has them; all at once, so that an
        interrupt finds either all of the old values or all of the new ones.

        Args:
            values: by name.
            more: what else belongs to it: calls that run no Python code.
            before: what variables must have still, by name.
            first: is gone through before that, without Python code.

        Returns:
            what the variables had; None, and nothing has happened, where ``before`` does not hold,
            or ``first`` gives anything true.
        """
        variables = {name: self.find_var(name) for name in values}
        created = {
            name: ScopeVariable(name, values[name]) for name, v in variables.items() if v is None
        }
        olds = [None if v is None else v.value for v in variables.values()]
        calls = [
            partial(setattr, v, "value", values[name])
            for name, v in variables.items()
            if v is not None
        ]
        if created:
            calls.append(partial(self._variables.update, created))
            calls.append(partial(setattr, self, "_changes", self._changes + 1))
        known = before or {}
        held = [v for name in known if (v := self.find_var(name)) is not None]
        changed = map(is_not, map(_value, held), [known[v.name] for v in held])
        # as ``at_once`` does, and where the first call gives True none of the others is made
        if any(chain(changed, first, map(partial.__call__, [*calls, *more]))):
            return None
        return olds

    def note_origins(self, program: Program, values: Mapping[str, Any]) -> None:
        """Remember which lines built what gives variables their first value, or one of another
        shape.

        Args:
            program: that has been run, and whose results are about to be committed.
            values: the results, by name.
        """
        olds = {name: self.value(name) for name in values}
        new = {
            name
            for name, value in values.items()
            if getattr(olds[name], "shape", None) != getattr(value, "shape", None)
        }
        for op in program.global_block().ops if new else ():
            for name in op.output_arg_names:
                if name in new:
                    self._origins[name] = op.callsite

    def origin(self, name: str) -> CallSite | None:
        """Where the program was built whose run gave a variable its shape; None where none did."""
        scope: Scope | None = self
        while scope is not None and name not in scope._variables:
            scope = scope._parent
        found = self._origins.get(name)
        return found if found is not None or scope is None else scope._origins.get(name)

    def local_var_names(self) -> list[str]:
        """The names in this scope."""
        return list(self._variables)

    def erase(self, names: list[str]) -> None:
        """Forget variables of this scope."""
        for name in names:
            self._variables.pop(name, None)
        self._changes += 1

    @property
    def revision(self) -> int:
        """How often the names in this scope and in its ancestors have changed."""
        return self._changes + (0 if self._parent is None else self._parent.revision)

    def new_scope(self) -> Scope:
        """A kid, which lives as long as this scope."""
        kid = Scope(self)
        self._below.append(kid)
        return kid

    def drop_kids(self) -> None:
        """Forget all kids."""
        self._below.clear()

    def _kids(self) -> list[Scope]:
        return list(self._below)

    def _remove_from_pool(self) -> None:
        """For old scripts: nothing but its users holds a scope."""

    def __iter__(self) -> Iterator[ScopeVariable]:
        return iter(self._variables.values())

    def __repr__(self) -> str:
        return f"<Scope: {len(self._variables)} variables>"

    def _repr_html_(self) -> str:
        return VIEWS.get().html(self)


_value = attrgetter("value")


def at_once(function: Callable[..., Any], *columns: Iterable[Any]) -> None:
    """Call a function of C, one that runs no Python code and gives None, for each row of arguments.

    Python raises an interrupt between two instructions of its own only, and this is one: either all
    of the calls are made or none.
    """
    any(map(function, *columns))


_scope: state.StateSlot[Scope] = state.slot("scope", Scope)


def global_scope() -> Scope:
    """The scope that executors use where none is given.

    >>> scope = fluid.global_scope()
    >>> scope.find_var("no such variable") is None
    True
    """
    return _scope.get()


def switch_scope(scope: Scope) -> Scope:
    """Make another scope the global one.  Returns the one before."""
    return _scope.switch(scope)


def scope_is_guarded() -> bool:
    """Whether this thread is within :func:`scope_guard`."""
    return _scope.is_covered


@api_boundary
def scope_guard(scope: Scope) -> AbstractContextManager[Scope]:
    """Use another scope inside a ``with`` block, in this thread.

    Raises:
        ArgumentError: the argument is no scope.

    >>> with scope_guard(Scope()) as scope:
    ...     global_scope() is scope
    True
    """
    if not isinstance(scope, Scope):
        raise ArgumentError(f"expected a Scope, got {scope!r:.60}")
    return _scope.guard(scope)
