"""Running operators on arrays with derivatives."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np

from ...backend import numpy_
from ...errors import FluidError
from ...ground.values import LoDTensor, LoDTensorArray, SelectedRows, bare
from ...ir.analysis import blocks_of, read_by_gradients, reads_of, writes_of
from ...ir.operator import Operator
from ...ir.program import Program
from ...opdef.definition import Op, lookup
from ...opdef.gradient import DerivedGrad, is_constant
from ...opdef.interpreter import Eval
from ...runtime.admission import admit
from ...runtime.driver import Driver
from ...runtime.plan import BlockPlan
from ...runtime.session import Observer, Session
from ...runtime.step import Environment, Step
from .field import PrimeField, ZeroDivisorError
from .jets import Dual, Jet
from .namespace import Namespace

#: the step of differences, where a kernel takes plain arrays only
_STEP = 2.0**-10


#: operators that store rows -> those that give the whole tensor, and other names of attributes
_DENSE = {"selected_rows": ("lookup_table_adjoint", {"height": "size"})}


def leaves(value: Any) -> list[Any]:
    """The arrays with fractions that a value is made of; None where an element is missing."""
    if isinstance(value, (LoDTensorArray, list, tuple)):
        return [leaf for each in value for leaf in leaves(each)]
    if isinstance(value, SelectedRows):
        return leaves(value.value)
    data = bare(value)
    is_float = isinstance(data, (np.ndarray, np.floating)) and data.dtype.kind == "f"
    return [data] if value is None or is_float or isinstance(data, Dual) else []


def mapped(value: Any, change: Callable[[Dual], Dual]) -> Any:
    """A value with other arrays with fractions in it."""
    if isinstance(value, LoDTensorArray):
        return LoDTensorArray([mapped(each, change) for each in value])
    if isinstance(value, LoDTensor):
        return LoDTensor(mapped(bare(value), change), value.offsets)
    return change(value) if isinstance(value, Dual) else value


class DualEval(Eval):
    """Runs operators on arrays with derivatives.

    Args:
        prime_field: that exact values belong to.
    """

    def __init__(self, prime_field: PrimeField) -> None:
        space = Namespace(prime_field)
        super().__init__(SimpleNamespace(name="certificate", xp=space, asarray=self._result))  # type: ignore[arg-type]
        self.field = prime_field
        self._space = space
        self._plain = Eval(numpy_)
        #: types of operators whose derivatives are differences, since their kernels take plain
        #: arrays only
        self.by_differences: set[str] = set()
        self.seen_differences: set[str] = set()  #: the same, since the beginning

    def apply(
        self, op: Op, ins: Mapping[str, Any], want: Iterable[str] | None = None
    ) -> dict[str, Any]:
        if op.type in _DENSE:
            dense, renamed = _DENSE[op.type]
            values = op.attr_values()
            op = lookup(dense)({renamed.get(name, name): v for name, v in values.items()})
        operands = {slot: self._taken(op, slot, value) for slot, value in ins.items()}
        with np.errstate(all="ignore"):
            try:
                outs = super().apply(op, operands, want)
            except ZeroDivisorError:
                raise
            except Exception as error:
                if op.is_composite or op.is_control:
                    raise
                outs = self._differences(op, operands, want, error)
        return self._given(op, operands, outs, want)

    def _result(self, value: Any) -> Any:
        if isinstance(value, (LoDTensor, LoDTensorArray, SelectedRows)):
            return value
        if hasattr(value, "dtype") or isinstance(value, (int, float, bool)):
            return self._space.asarray(value)
        return value

    def _taken(self, op: Op, slot: str, value: Any) -> Any:
        """An input as the operator sees it: what nothing flows to does not move."""
        if isinstance(value, list):
            return [self._taken(op, slot, each) for each in value]
        declared = op.input_slots.get(slot)
        ragged = declared is not None and declared.ragged
        if not (ragged and isinstance(value, LoDTensor)):
            value = self._result(bare(value))
        return mapped(value, still) if declared is not None and declared.constant else value

    def _given(self, op: Op, ins: Mapping[str, Any], outs: Any, want: Any) -> dict[str, Any]:
        """Outputs; what nothing flows through by definition does not move."""
        stops = is_constant(type(op))
        for slot, value in outs.items():
            if value is not None and (stops or op.output_slots[slot].constant):
                outs[slot] = (
                    [mapped(v, still) for v in value]
                    if isinstance(value, list)
                    else mapped(value, still)
                )
        if isinstance(op, DerivedGrad):
            for slot, name in op.grad_slots.items():
                like = ins.get(slot)
                wanted = want is None or name in want
                if wanted and outs.get(name) is None and isinstance(like, Dual):
                    outs[name] = self._space.zeros_like(like)
        return dict(outs)

    def _differences(
        self, op: Op, ins: Mapping[str, Any], want: Any, reason: Exception
    ) -> dict[str, Any]:
        """What a kernel of plain arrays gives, and how it changes along the direction."""
        self._plain.rng = self.rng

        def at(step: float) -> dict[str, Any]:
            return self._plain.apply(op, {s: _along(v, step) for s, v in ins.items()}, want)

        try:
            here = at(0.0)
        except Exception:
            raise reason from None
        self.by_differences.add(op.type)
        self.seen_differences.add(op.type)
        near = [at(_STEP), at(-_STEP), at(_STEP / 2), at(-_STEP / 2)]
        return {slot: self._sloped(value, [n[slot] for n in near]) for slot, value in here.items()}

    def _sloped(self, value: Any, near: list[Any]) -> Any:
        if isinstance(value, list):
            return [self._sloped(v, [n[k] for n in near]) for k, v in enumerate(value)]
        if isinstance(value, LoDTensorArray):
            return LoDTensorArray(self._sloped(list(value), [list(n) for n in near]))
        if isinstance(value, LoDTensor):
            return LoDTensor(self._sloped(bare(value), [bare(n) for n in near]), value.offsets)
        if not isinstance(value, np.ndarray) or value.dtype.kind != "f":
            return value
        wide, narrow = near[0] - near[1], near[2] - near[3]
        slope = (8 * narrow - wide) / (6 * _STEP)  # Richardson's: the error is of fourth order
        return Dual(self.field, Jet(value, slope if slope.any() else None), None)


def still(value: Dual) -> Dual:
    """An array that does not move."""
    exact = None if value.exact is None else Jet(value.exact.at)
    return Dual(value.field, Jet(value.real.at), exact)


def moving(value: Dual, rng: np.random.Generator) -> Dual:
    """An array that moves along a direction of its own."""
    real = Jet(value.real.at, rng.normal(size=value.shape))
    exact = None if value.exact is None else Jet(value.exact.at, value.field.draw(value.shape))
    return Dual(value.field, real, exact)


def _along(value: Any, step: float) -> Any:
    if isinstance(value, list):
        return [_along(each, step) for each in value]
    if isinstance(value, LoDTensorArray):
        return LoDTensorArray([_along(each, step) for each in value])
    if isinstance(value, LoDTensor):
        return LoDTensor(_along(bare(value), step), value.offsets)
    if not isinstance(value, Dual):
        return value
    slope = value.real.slope
    return value.real.at if slope is None else value.real.at + step * slope


@dataclass(eq=False)
class _Session(Session):
    """A run that remembers which blocks it ran."""

    ran: set[int] = field(default_factory=set)

    def run(self, plan: BlockPlan, env: Environment, turn: int | None = None) -> None:
        self.ran.add(plan.block.idx)
        super().run(plan, env, turn)


class OperatorRunner:
    """The operators of block 0, one by one.

    Args:
        program: whose operators.
        prime_field: that they are run in.
        seed: what random operators draw from.
    """

    def __init__(self, program: Program, prime_field: PrimeField, seed: int) -> None:
        self.f = DualEval(prime_field)
        backend: Any = SimpleNamespace(
            name="certificate",
            xp=self.f.xp,
            asarray=self.f.backend.asarray,
            generators=numpy_.generators,
        )
        self._session = _Session(backend, program.random_seed or seed + 1, 0, observer=Observer())
        self._session.f = self.f
        self._kept = read_by_gradients(program)
        self._steps: dict[Operator, Step] = {}

    @property
    def ran(self) -> set[int]:
        """The numbers of the blocks inside that ran."""
        return self._session.ran

    def step(self, op: Operator) -> Step:
        """An operator, bound to its names.

        Raises:
            FluidError: it cannot run, or may not.
        """
        if op not in self._steps:
            admit([op])
            if op.instance().effect is not None:
                raise FluidError("it does something outside of the program")
            body = None
            for block in blocks_of(op):
                kept = [*op.instance().kept_names(op.inputs), *writes_of(op)]
                body = BlockPlan(block, kept, self._kept)
                body.keep_everything()
            touched = (tuple(reads_of(op)), tuple(writes_of(op)))
            self._steps[op] = Step(op, touched, [], body)
        return self._steps[op]

    def run(self, op: Operator, env: dict[str, Any]) -> None:
        """Run an operator on values by name, which take the results.

        Raises:
            FluidError: it cannot run, or may not, or failed.
        """
        step = self.step(op)
        if step.instance.is_control:
            step.instance.execute(Driver(self._session, step, env, "peek"))
            return
        if step.instance.random:
            key = step.instance.random_key(op.first_output)
            self.f.rng = numpy_.generators(self._session.seed, 0, key)
        step.run(self.f, env)
