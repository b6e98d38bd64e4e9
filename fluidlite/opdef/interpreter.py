"""One protocol for running an operator, remembering it, or appending it to a block; and the plain
way to run it.

``f.matmul(x, y, transpose_Y=True)`` makes the operator, applies it and gives its visible outputs;
``f.matmul.all(...)`` gives all of them by slot.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from inspect import unwrap
from types import ModuleType
from typing import Any

from ..errors import SlotError, suggestion
from ..ground.values import LoDTensor, SelectedRows, bare
from .definition import Op, lookup


class Interpreter:
    """What an operator can be given to.  A subclass says what :meth:`apply` does."""

    def apply(
        self, op: Op, ins: Mapping[str, Any], want: Iterable[str] | None = None
    ) -> dict[str, Any]:
        """Values of the outputs by slot.

        Args:
            op: the operator.
            ins: values by input slot; lists for list slots; absent slots left out or None.
            want: the output slots that are needed; None for all.
        """
        raise NotImplementedError

    def __getattr__(self, name: str) -> Call:
        if name.startswith("_"):
            raise AttributeError(name)
        return Call(self, lookup(name))  # kept, it would be a cycle with the interpreter


#: types of attributes that are the same where they are equal, as 0.0 and -0.0 are not
_EXACT = frozenset({bool, int, str})


class Call:
    """An operator type bound to an interpreter."""

    __slots__ = ("_definition", "_interpreter")

    def __init__(self, interpreter: Interpreter, definition: type[Op]) -> None:
        self._interpreter = interpreter
        self._definition = definition

    def __call__(self, *inputs: Any, **named: Any) -> Any:
        """The visible outputs: one, or a tuple of them."""
        outs = self.all(*inputs, **named)
        visible = [outs.get(name) for name in self._definition.visible_outputs]
        return visible[0] if len(visible) == 1 else tuple(visible)

    def all(self, *inputs: Any, **named: Any) -> dict[str, Any]:
        """All outputs by slot.

        Args:
            inputs: values of the input slots, in order.
            named: values of further input slots, and attributes.
        """
        definition = self._definition
        if len(inputs) > len(definition.inputs):
            raise SlotError(
                f"{definition.type} takes {len(definition.inputs)} inputs "
                f"({', '.join(definition.input_slots)}), got {len(inputs)}"
            )
        slots = definition.input_slots
        ins = dict(zip(slots, inputs, strict=False))
        attrs = {}
        for name, value in named.items():
            if name in slots:
                ins[name] = value
            else:
                attrs[name] = value
        for name in definition.required_inputs:
            if ins.get(name) is None:
                raise SlotError(
                    f"{definition.type} needs its input {name}{suggestion(name, attrs)}"
                )
        return self._interpreter.apply(self._operator(attrs), ins)

    def _operator(self, attrs: dict[str, Any]) -> Op:
        """The operator with attributes; the same for those that its type was called with last."""
        definition = self._definition
        key = tuple(attrs.items())
        last = definition.last_made
        if last is not None and last[0] == key and _EXACT.issuperset(map(type, attrs.values())):
            return last[1]
        made = definition(attrs)
        definition.last_made = key, made
        return made


def _same(value: Any) -> Any:
    return value


@dataclass(frozen=True)
class ArrayBackend:
    """What :class:`Eval` needs of a backend, which the modules in ``backend/`` are, too."""

    name: str
    xp: Any  #: the array namespace
    #: makes an array of the backend of a value; kernels of most give arrays
    asarray: Callable[[Any], Any] = _same


class Eval(Interpreter):
    """Runs operators on arrays.

    Args:
        backend: whose arrays and kernels to use.
        rng: called with an operator's ``seed``, gives a source of random numbers; None where
            nothing random runs.
    """

    def __init__(self, backend: ArrayBackend | ModuleType, rng: Any = None) -> None:
        self.backend = backend
        self.xp: Any = backend.xp
        self.rng = rng

    def apply(
        self, op: Op, ins: Mapping[str, Any], want: Iterable[str] | None = None
    ) -> dict[str, Any]:
        for slot, value in ins.items():
            if type(value) in _MAYBE_ROWS:
                given = op.input_slots.get(slot)
                is_ragged = given is None or given.ragged
                ins = {**ins, slot: _taken(value, slot in op.fluid.rows, is_ragged)}
        kernel, reads, rng = kernel_of(op, self.backend.name)
        if kernel is None:
            return op.outputs_for(self, ins, want)
        values = [ins.get(name) for name in reads]
        found = kernel(op, self.xp, self.rng, *values) if rng else kernel(op, self.xp, *values)
        asarray = self.backend.asarray
        outs = op.by_slot(found)
        for name, value in outs.items():
            if callable(value):
                value = outs[name] = value() if want is None or name in want else None
            if value is not None:
                outs[name] = (
                    [asarray(v) for v in value] if op.output_slots[name].many else asarray(value)
                )
        return outs


_MAYBE_ROWS = (SelectedRows, list, LoDTensor)


def _taken(value: Any, takes_rows: bool, is_ragged: bool) -> Any:
    """A value as a slot takes it: a whole tensor in place of SelectedRows, and a bare array in
    that of a LoDTensor, but where it takes these.
    """
    if isinstance(value, list):
        return [_taken(each, takes_rows, is_ragged) for each in value]
    if isinstance(value, SelectedRows):
        return value if takes_rows else value.to_dense()
    return value if is_ragged else bare(value)


def takes_rng(function: Any) -> bool:
    """Whether a kernel has a parameter ``rng``."""
    code = getattr(unwrap(function), "__code__", None)
    return code is not None and "rng" in code.co_varnames[: code.co_argcount]


def kernel_of(op: Op, backend: str) -> tuple[Any, tuple[str, ...], bool]:
    """The kernel of an operator on a backend, the slots it takes, and whether it draws random
    numbers.

    The kernel is None where the operator is a composition of others.
    """
    definition = type(op)
    key = f"found:{backend}"
    known: Any = definition.run_reads.get(key)
    if known is None:
        for name, kernel in (
            (f"run_{backend}", getattr(definition, f"run_{backend}", None)),
            ("run", definition.run),
        ):
            if kernel is not None:
                known = (kernel, definition.run_reads[name], takes_rng(kernel))
                break
        else:
            known = (None, (), False)
        definition.run_reads[key] = known
    found: tuple[Any, tuple[str, ...], bool] = known
    return found
