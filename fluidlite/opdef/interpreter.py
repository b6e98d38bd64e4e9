"""One protocol for running an operator, remembering it, or appending it to a block; and the plain
way to run it.

``f.matmul(x, y, transpose_Y=True)`` makes the operator, applies it and gives its visible outputs;
``f.matmul.all(...)`` gives all of them by slot.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Protocol

from ..errors import SlotError, suggestion
from ..values import SelectedRows
from .definition import Op, lookup, takes_rng


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
        call = Call(self, lookup(name))
        self.__dict__[name] = call
        return call


class Call:
    """An operator type bound to an interpreter."""

    __slots__ = ("_definition", "_interpreter")

    def __init__(self, interpreter: Interpreter, definition: type[Op]) -> None:
        self._interpreter = interpreter
        self._definition = definition

    def __call__(self, *inputs: Any, **named: Any) -> Any:
        """The visible outputs: one, or a tuple of them."""
        outs = self.all(*inputs, **named)
        visible = [outs.get(slot.name) for slot in self._definition.outputs if not slot.hidden]
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
        ins = {slot.name: value for slot, value in zip(definition.inputs, inputs, strict=False)}
        slots = definition.input_slots
        attrs = {}
        for name, value in named.items():
            if name in slots:
                ins[name] = value
            else:
                attrs[name] = value
        for slot in definition.inputs:
            if ins.get(slot.name) is None and not slot.optional:
                raise SlotError(
                    f"{definition.type} needs its input {slot.name}{suggestion(slot.name, attrs)}"
                )
        return self._interpreter.apply(definition(attrs), ins)


class ArrayBackend(Protocol):
    """What :class:`Eval` needs of a backend: its name, its array namespace, arrays from values,
    random numbers.
    """

    name: str
    xp: Any

    def asarray(self, value: Any) -> Any:
        """``value`` as an array of the backend."""
        ...


class Eval(Interpreter):
    """Runs operators on arrays.

    Args:
        backend: whose arrays and kernels to use.
        rng: called with an operator's ``seed``, gives a source of random numbers; None where
            nothing random runs.
    """

    def __init__(self, backend: ArrayBackend, rng: Any = None) -> None:
        self.backend = backend
        self.xp = backend.xp
        self.rng = rng

    def apply(
        self, op: Op, ins: Mapping[str, Any], want: Iterable[str] | None = None
    ) -> dict[str, Any]:
        for slot, value in ins.items():
            if type(value) in _MAYBE_ROWS and slot not in op.rows:
                ins = {**ins, slot: _whole(value)}
        kernel, reads, rng = kernel_of(op, self.backend.name)
        if kernel is None:
            return op.outputs_for(self, ins, want)
        values = [ins.get(name) for name in reads]
        found = kernel(op, self.xp, self.rng, *values) if rng else kernel(op, self.xp, *values)
        asarray = self.backend.asarray
        outs = op.by_slot(found)
        for name, value in outs.items():
            if value is not None:
                outs[name] = (
                    [asarray(v) for v in value] if op.output_slots[name].many else asarray(value)
                )
        return outs


_MAYBE_ROWS = (SelectedRows, list)


def _whole(value: Any) -> Any:
    """A value with tensors in the place of SelectedRows."""
    if isinstance(value, list):
        return [_whole(each) for each in value]
    return value.to_dense() if isinstance(value, SelectedRows) else value


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
