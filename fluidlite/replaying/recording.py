"""The program of a step that has been run: forward, gradients, and optimizers' updates.

A value is known by its array and by where its cotangent goes: an array is never written to, and one
that is detached has no such place.
"""

from __future__ import annotations

import dis
import functools
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import CodeType
from typing import Any, NamedTuple

import numpy as np

from ..backward.program import gradients
from ..eager.listening import heard_by, listener
from ..eager.prepared import Generator, generator
from ..eager.pullback import Pullback
from ..eager.recording import TensorRecord
from ..eager.source import call_site
from ..eager.sweep import BackwardPass, node_of
from ..errors import FluidError
from ..ground import state
from ..ground.dtypes import DType, as_dtype
from ..ground.reprs import Described
from ..ir.program import Program, program_guard
from ..ir.variable import Variable
from ..layers.decay import LearningRateDecay
from ..opdef.definition import Op, lookup
from ..opdef.reverse_sweep import NodeOutput
from ..symbolic import free_name
from ..tracing import Tracer
from .watching import Unwatchable


class Reason(NamedTuple):
    """Why a step stays eager."""

    what: str
    site: Any  #: the line; None where it is none of the user's

    def __str__(self) -> str:
        return self.what if self.site is None else f"{self.what}, at {self.site}"


class Rate(NamedTuple):
    """A number that a step of parameters reads, anew in every run."""

    name: str  #: of the variable that is fed
    dtype: Any
    ratio: float  #: of the optimizer's learning rate
    decay: float | None  #: what is fed is 1 - rate * decay; the rate itself when None

    def array(self, held: Any) -> Any:
        """What is fed, as the eager step computes it.

        Args:
            held: the optimizer's rate in an array of one element.
        """
        rate = (held.astype(self.dtype) * self.ratio).astype(self.dtype, copy=False)
        return rate if self.decay is None else 1 - rate * self.decay


class OptimizerUpdate(NamedTuple):
    """The step of an optimizer."""

    steps: Any  #: its eager half
    params: list[Any]
    rates: list[Rate]


def _or_refused(method: Callable[..., None]) -> Callable[..., None]:
    """A method of a tracer whose errors are no errors of the step: what it does has no program."""

    @functools.wraps(method)
    def tried(self: StepTracer, *given: Any) -> None:
        try:
            method(self, *given)
        except FluidError as error:
            self.refuse(f"it has no program ({str(error).partition(chr(10))[0]})")

    return tried


class StepTracer(Tracer, Described):
    """Writes a step that runs into a program.

    Args:
        fed: tensors among the arguments.
        before: of the call before, if it was written down.
    """

    def __init__(self, fed: Sequence[Any], before: StepTracer | None = None) -> None:
        super().__init__()
        self.reason: Reason | None = None
        self.suspended: int = 0
        self._places: dict[Any, Variable] = {}
        self._stopped: dict[int, Variable] = {}  #: variables of arrays through which nothing flows
        self._of_arrays: dict[int, Variable] = {}
        self.read: dict[str, Any] = {}  #: tensors that were there before, by variables' names
        self.constants: dict[str, Any] = {}
        self.written: dict[int, Any] = {}  #: tensors that are given another array, by their id
        self.leaves: dict[int, Any] = {}  #: those that get gradients
        self.updates_made: list[OptimizerUpdate] = []
        self._before: dict[int, Any] = {}
        self._writes: list[tuple[Any, Variable]] = []
        self.count: int = len(fed)
        self.stream: Generator | None = None  #: what operators draw from
        self.last: dict[int, Any] = {}  #: what written tensors hold at the end
        #: the stored gradients of leaves, and their arrays, before the call
        self.began: dict[int, Any] = {
            id(leaf): (leaf._gradient, leaf.raw_gradient)
            for leaf in (before.leaves.values() if before is not None else ())
        }
        #: what is known of learning rates at the last look
        self._rates: dict[int, Any] = {
            id(update.steps): _rate_of(update.steps)
            for update in (before.updates_made if before is not None else ())
        }
        for k, tensor in enumerate(fed):
            self._feed(f"argument_{k}", tensor, tensor.stop)

    # -- what cannot be replayed -------------------------------------------------------------------

    def refuse(self, what: str) -> None:
        """Remember why the step stays eager; the first reason counts."""
        if self.reason is None:
            self.reason = Reason(what, call_site())

    # -- values ------------------------------------------------------------------------------------

    def _feed(self, name: str, value: Any, stop: bool) -> Variable:
        array = _array(value)
        variable: Variable = self.block.create_var(
            name=name,
            shape=array.shape,
            dtype=as_dtype(array.dtype),
            is_data=True,
            need_check_feed=False,
            stop_gradient=stop,
        )
        self.note(value, variable)
        return variable

    def note(self, value: Any, variable: Variable) -> None:
        array = _array(value)
        self._held += [array, value]
        place = _place(value)
        if place is None:
            self._stopped.setdefault(id(array), variable)
        else:
            self._held.append(value.edge)
            self._places[id(array), place] = variable
            self._places[place] = variable
        self._of_arrays.setdefault(id(array), variable)

    def variable(self, value: Any) -> Variable:
        array = _array(value)
        place = _place(value)
        if place is not None:
            known = self._places.get((id(array), place))
            if known is not None:
                return known
            if value.origin is not None and type(node_of(value.origin).how) is not Pullback:  # type: ignore[union-attr]
                self.refuse("a function of Python's gives the gradients")
            elif value.origin is not None:
                self.refuse("gradients would flow to what ran before the step")
            elif id(array) in self._of_arrays:
                self.refuse("a result becomes a tensor that wants a gradient of its own")
            return self._read(value)
        known = self._stopped.get(id(array))
        if known is not None:
            return known
        source = self._of_arrays.get(id(array))
        if source is not None:
            return self._detached(source, array)
        if isinstance(value, TensorRecord):
            return self._read(value)
        return self._constant(array)

    def _read(self, tensor: Any) -> Variable:
        if not isinstance(tensor.array, np.ndarray):
            self.refuse(f"a tensor holds a {type(tensor.array).__name__}")
        variable = self._feed(f"state_{len(self.read)}", tensor, tensor.stop)
        self.read[variable.name] = tensor
        return variable

    def _constant(self, array: Any) -> Variable:
        variable = self._feed(f"constant_{len(self.constants)}", np.asarray(array), True)
        self.constants[variable.name] = np.array(array)
        self._stopped[id(array)] = self._of_arrays[id(array)] = variable
        self._held.append(array)
        return variable

    def _detached(self, source: Variable, array: Any) -> Variable:
        variable: Variable = self.block.create_var(name=free_name(self.block, "detached_0"))
        self.block.add_op(lookup("assign")(), {"X": source}, {"Out": variable})
        variable.stop_gradient = True
        self._stopped[id(array)] = variable
        return variable

    def known(self, value: Any) -> Variable | None:
        """The variable of what an array or a tensor holds; None where no operator made it."""
        return self._of_arrays.get(id(_array(value)))

    # -- what runs ---------------------------------------------------------------------------------

    @_or_refused
    def ran(self, op: Op, ins: Sequence[Any], outs: dict[str, Any]) -> None:
        if self.suspended or self.reason is not None:
            return
        if op.random and generator.get() is not self.stream:
            self.refuse(f"{op.type} draws from a stream of its own")
        elif op.host and not _has_known_shape(op, ins):
            self.refuse(f"{op.type} gives shapes that depend on values")
        if self.reason is not None:
            return
        super().ran(op, ins, outs)
        for value in outs.values():
            for tensor in value if isinstance(value, list) else [value]:
                if isinstance(tensor, TensorRecord):
                    self.variable(tensor).stop_gradient = tensor.stop

    def passes(self, node: Any) -> None:
        if type(node.how) is not Pullback:
            self.refuse(f"the gradient of {node.type} is a function of Python's")
        elif node.hooks:
            self.refuse(f"a hook is called with a gradient of {node.type}")

    def swept(self, sweep: BackwardPass, run: Callable[[BackwardPass], None]) -> None:
        if self.suspended or sweep.recording or self.reason is not None:
            run(sweep)
            return
        starts = dict(_starts(sweep))
        self.suspended += 1
        try:
            run(sweep)
        finally:
            self.suspended -= 1
        if self.reason is None:
            self._differentiate(starts, sweep)

    @_or_refused
    def _differentiate(self, starts: dict[Any, Any], sweep: BackwardPass) -> None:
        targets, weights = [], []
        for edge, seed in starts.items():
            variable = self._places.get(_place_of(edge))
            if variable is None:
                self.refuse("a gradient is asked of what ran before the step")
                return
            targets.append(variable)
            weights.append(self._weight(seed))
        arrived = {**sweep.leaves, **sweep.found}
        sources = [self._places.get(_place_of(edge)) for edge in arrived]
        if any(source is None for source in sources):
            self.refuse("a gradient goes to a tensor that no operator read in the step")
        if self.reason is not None or not arrived:
            return
        with program_guard(self.program), state.eager.guard(False):
            slopes = gradients(targets, sources, weights)  # type: ignore[arg-type]
        for (edge, flow), slope in zip(arrived.items(), slopes):
            if slope is None or not isinstance(flow, np.ndarray):
                self.refuse("a gradient has no variable in a program")
                return
            slope.stop_gradient = True
            self.note(flow, slope)
            if edge in sweep.leaves and isinstance(edge, TensorRecord) and not sweep.wanted:
                self._arrives(edge, slope)

    def _weight(self, seed: Any) -> Variable | None:
        known = self._stopped.get(id(seed))
        if known is None and not np.all(seed == 1):
            self.refuse("backward() begins with a gradient that no operator made")
        return known

    def _arrives(self, leaf: Any, slope: Variable) -> None:
        """Foresee what the stored gradient of a leaf becomes."""
        if leaf._hooks:
            self.refuse("a hook is called with the gradient of a leaf")
        before = leaf.raw_gradient
        if before is not None and type(leaf).accumulates:
            own = self.known(before)
            if own is not None:
                total: Variable = self.block.create_var(name=free_name(self.block, "total_0"))
                self.block.add_op(
                    lookup("elementwise_add")(), {"X": own, "Y": slope}, {"Out": total}
                )
                total.stop_gradient = True
                slope = total
            elif not isinstance(before, np.ndarray) or before.any():
                self.refuse("a gradient is added to one from before the step")
        self.leaves[id(leaf)] = leaf
        if before is not None:
            self._before[id(leaf._gradient)] = slope

    def wrote(self, tensor: Any, array: Any) -> None:
        """A tensor was given another array."""
        self.written[id(tensor)] = tensor
        slope = self._before.pop(id(tensor), None)
        if slope is not None:
            self._stopped[id(array)] = self._of_arrays[id(array)] = slope
            self._held.append(array)

    # -- optimizers --------------------------------------------------------------------------------

    @_or_refused
    def updates(self, steps: Any, pairs: Any) -> None:
        self.suspended += 1
        if self.reason is not None:
            return
        optimizer = steps._optimizer
        self._need_same_rate(steps)
        if steps.states.masters or optimizer.keeps_masters:
            self.refuse(f"{optimizer!r} keeps parameters twice")
        if any(update.steps is steps for update in self.updates_made):
            self.refuse(f"{optimizer!r} makes two steps")
        update = OptimizerUpdate(steps, [], [])
        self._writes = []
        for param, gradient in pairs:
            if self.reason is None:
                self._writes += self._update(update, param, gradient)
        self.updates_made.append(update)

    def _update(
        self, update: OptimizerUpdate, param: Any, gradient: Any
    ) -> list[tuple[Any, Variable]]:
        steps, optimizer = update.steps, update.steps._optimizer
        attrs = optimizer.attrs(param)
        if optimizer.inputs(param) or steps.states.master_of(param):
            self.refuse(f"{optimizer!r} reads more than parameters, gradients and its states")
        ratio = steps._factor_of(param) * optimizer.ratio_of(param)
        decay = optimizer.decay_of(param)
        update.params.append(param)
        read = {"Param": self.variable(param), "Grad": self.variable(gradient)}
        op = lookup(optimizer.type)(attrs)
        if decay:
            shrink = self._rate(update, param.array.dtype, ratio, decay)
            shrunk: Variable = self.block.create_var(name=free_name(self.block, "shrunk_0"))
            ins = {"X": read["Param"], "Y": shrink}
            self.block.add_op(lookup("elementwise_mul")(), ins, {"Out": shrunk})
            read["Param"] = shrunk
        if "LearningRate" in op.input_slots:
            read["LearningRate"] = self._rate(update, param.array.dtype, ratio, None)
        held = steps.states.all_of(param)
        for kind, tensor in zip(optimizer.states, held):
            read[kind.slot] = self.variable(tensor)
        targets = {"ParamOut": param}
        for kind, slot in optimizer.written:
            targets[slot] = held[list(optimizer.states).index(kind)]
        outputs = {
            slot: self.block.create_var(name=free_name(self.block, f"{read_name}_new"))
            for slot, read_name in ((s, self.variable(t).name) for s, t in targets.items())
        }
        self.block.add_op(op, read, outputs)
        return [(targets[slot], outputs[slot]) for slot in targets]

    def _rate(
        self, update: OptimizerUpdate, dtype: Any, ratio: float, decay: float | None
    ) -> Variable:
        for rate in update.rates:
            if rate[1:] == (dtype, ratio, decay):
                return self.block.var(rate.name)
        name = f"rate_{len(self.updates_made)}_{len(update.rates)}"
        update.rates.append(Rate(name, dtype, ratio, decay))
        return self._feed(name, np.ones(1, dtype), True)

    @_or_refused
    def updated(self, steps: Any, rate: float) -> None:
        self.suspended -= 1
        if self.reason is not None:
            return
        self._rates[id(steps)] = _rate_of(steps)
        for tensor, variable in self._writes:
            variable.stop_gradient = tensor.stop
            self.note(tensor, variable)
        for param in self.updates_made[-1].params:  # the others, ``finish_eagerly`` has written
            for held in steps.states.all_of(param):
                if self.known(held) is None:
                    self.written.pop(id(held), None)

    def _need_same_rate(self, steps: Any) -> None:
        before = self._rates.get(id(steps))
        if before is not None and before != _rate_of(steps):
            self.refuse("the learning rate is changed in the step")

    def end(self) -> None:
        """Look at what the call leaves behind."""
        for update in self.updates_made:
            self._need_same_rate(update.steps)
        self.last = {key: tensor.array for key, tensor in self.written.items()}

    def finished(self, names: Sequence[str]) -> tuple[Program, list[str]]:
        """The program, without what is not needed, and what to fetch.

        Args:
            names: of variables.
        """
        fetches = []
        for name in names:
            target = self.block.var(name)
            if target.is_data:  # which is not fetched, but copied
                made = self.block.create_var(name=free_name(self.block, "copied_0"))
                self.block.add_op(lookup("assign")(), {"X": target}, {"Out": made})
                target = made
            fetches.append(target.name)
        drawn = self._draws()
        self.keep({*fetches})
        if self._draws() != drawn:
            raise Unwatchable("random numbers are drawn that nothing reads")
        return self.program, fetches

    def _draws(self) -> int:
        """How many operators draw random numbers."""
        return sum(lookup(op.type).random for op in self.block.ops)


def _rate_of(steps: Any) -> Any:
    """What an optimizer's learning rate depends on, for comparisons."""
    rate = steps.rate
    return repr(vars(rate)) if isinstance(rate, LearningRateDecay) else steps.current_rate()


def _has_known_shape(op: Op, ins: Sequence[Any]) -> bool:
    """Whether an operator whose shapes may depend on values was given none where they do."""
    if op.type != "take_item":
        return False
    return all(as_dtype(each.dtype) is not DType.BOOL for each in ins[1] or ())


def _array(value: Any) -> Any:
    return value.array if isinstance(value, TensorRecord) else value


def _place_of(edge: Any) -> Any:
    """What tells an edge from others."""
    return (id(edge.node), edge.index) if type(edge) is NodeOutput else id(edge)


def _place(value: Any) -> Any:
    edge = value.edge if isinstance(value, TensorRecord) else None
    return None if edge is None else _place_of(edge)


def _starts(sweep: BackwardPass) -> Iterator[tuple[Any, Any]]:
    """The edges where a sweep begins, with their cotangents."""
    for node, cotangent in sweep.pending.items():
        if isinstance(cotangent, dict):
            for index, part in cotangent.items():
                yield NodeOutput(node, index), part
        else:
            yield node, cotangent
    yield from sweep.leaves.items()


# -- who reads and writes elements -----------------------------------------------------------------

#: what asks an array for its form alone
_FORM = frozenset({"shape", "dtype", "ndim", "size", "nbytes"})
#: modules that run operators: what they do with arrays is heard
_ENGINE = (
    "fluidlite.eager.", "fluidlite.optimizer.", "fluidlite.replaying.", "fluidlite.tracing",
    "fluidlite.regularizer", "fluidlite.clip", "fluidlite.layers.layer",
)  # fmt: skip
#: functions there that give elements to Python
_READERS = frozenset(
    {"numpy", "__array__", "item", "tolist", "__float__", "__int__", "__bool__", "__complex__",
     "__index__", "__contains__", "gradient", "__repr__", "__str__", "__format__"}
)  # fmt: skip
#: functions elsewhere that pass an array on to who asks for its form, or writes it to a tensor
_OF_FORMS = frozenset(
    {
        ("fluidlite.functions.arithmetic", "_operand"),
        ("fluidlite.functions.arithmetic", "_dtype"),
        ("fluidlite.functions.arithmetic", "_ndim"),
        ("fluidlite.nn.functional.normalization", "batch_norm"),
    }
)
_slot: Any = TensorRecord.__dict__["array"]
_tensors: Any = TensorRecord


@functools.lru_cache(4096)
def _asks_form(code: CodeType, at: int) -> bool:
    """Whether the value of an attribute is only read for its form."""
    behind = (i for i in dis.get_instructions(code) if i.offset > at)
    following = next(behind, None)
    return following is not None and following.argval in _FORM


def _looked_at(tensor: Any) -> Any:
    heard = listener()
    if isinstance(heard, StepTracer) and not heard.suspended:
        frame = sys._getframe(1)
        module = frame.f_globals.get("__name__", "")
        name = frame.f_code.co_name
        runs = module.startswith(_ENGINE) and name not in _READERS
        if not (runs or (module, name) in _OF_FORMS or _asks_form(frame.f_code, frame.f_lasti)):
            heard.refuse(f"{name}() reads elements of a tensor")
    return _slot.__get__(tensor)


def _written(tensor: Any, array: Any) -> None:
    _slot.__set__(tensor, array)
    heard = listener()
    if isinstance(heard, StepTracer) and sys._getframe(1).f_code.co_name != "__init__":
        heard.wrote(tensor, array)


@contextmanager
def traced_by(tracer: StepTracer) -> Iterator[None]:
    """A guard under which a tracer hears operators, and who reads and writes elements."""
    _tensors.array = property(_looked_at, _written)
    try:
        with heard_by(tracer):
            yield
    finally:
        _tensors.array = _slot
