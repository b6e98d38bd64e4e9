"""Steps of a loop that are run once as they are, and then from a plan."""

from __future__ import annotations

import functools
import pickle
import random
from collections.abc import Callable, Sequence
from types import MethodType
from typing import Any, NamedTuple, TypeVar

import numpy as np

from ..eager.listening import listener
from ..eager.mode import thread
from ..eager.prepared import Generator, generator, stream_guard
from ..eager.recording import TensorRecord, observed
from ..eager.sweep import described, node_of
from ..errors import ArgumentError
from ..functions.mixing import default_float
from ..ground import state
from ..ground.callsite import warn
from ..ground.object_caches import cache_of
from ..ground.process_group import groups
from ..ground.seeding import Seed
from ..ground.tracebacks import api_boundaries
from ..layers.decay import LearningRateDecay
from ..opdef.definition import lookup
from ..runtime.executor import Executor
from ..scope import Scope
from .drawing import DrawsInTurn, HeardGenerator
from .recording import OptimizerUpdate, Reason, StepTracer, traced_by
from .watching import CallWatch, Surroundings, Unwatchable

Step = TypeVar("Step", bound=Callable[..., Any])
#: plans of a function that are kept, and attempts to make one
MOST_PLANS, MOST_ATTEMPTS = 8, 32
MOST_FAILURES = 3  #: attempts without a plan, behind which calls of that form run as they are
_PLAIN = (bool, int, float, complex, str, bytes, type(None))


def replay(step: Step) -> Step:
    """A function that does what a step of a training loop does, from a plan once it has repeated
    itself.

    The first call runs as it is.  The two behind it are written down: the operators, the gradients
    and the updates of optimizers.  Where both did the same, later calls run the program of that
    without the Python code, as long as that would find everything as it was: shapes, element types
    and ``stop_gradient`` of tensors, modes of layers, and the values of Python that the code reads.
    At the first difference a call runs as it is again, with one warning that says why.

    Operators that draw random numbers, as dropout does, draw those that they would draw without a
    plan.

    A step that cannot be replayed always runs as it is, with one warning that says why: its Python
    code reads elements of tensors (``float(loss)``), draws random numbers outside of operators
    (``paddle.randn``), changes what it finds around itself, or calls functions that cannot be
    watched.

    Args:
        step: takes tensors and plain values; may return tensors, in lists and dictionaries.  Those
            that a plan gives stop gradients.

    Raises:
        ArgumentError: ``step`` cannot be called.

    >>> from fluidlite import paddle
    >>> net = paddle.nn.Linear(2, 1)
    >>> sgd = paddle.optimizer.SGD(0.05, parameters=net.parameters())
    >>> @fluid.replay
    ... def step(x):
    ...     loss = (net(x) ** 2).mean()
    ...     loss.backward()
    ...     sgd.step()
    ...     sgd.clear_grad()
    ...     return loss
    >>> losses = [float(step(paddle.ones([4, 2]))) for _ in range(6)]
    >>> losses[5] < losses[0], step.replayed
    (True, 3)
    """
    if not callable(step):
        raise ArgumentError(f"expected a function to replay, got {step!r:.60}")
    return ReplayedStep(step)  # type: ignore[return-value]


class ReplayedStep:
    """What :func:`replay` makes of a step.

    Args:
        step: the function.
    """

    def __init__(self, step: Callable[..., Any]) -> None:
        functools.update_wrapper(self, step)
        self._step = step
        self._forms: dict[Any, _Form] = {}
        self._told = False
        #: why calls run as they are; None where nothing speaks for it
        self.reason: str | None = None
        self.replayed: int = 0  #: calls that ran from a plan

    def __get__(self, owner: Any, kind: type | None = None) -> ReplayedStep:
        if owner is None:
            return self
        bound: ReplayedStep | None = cache_of(owner).get(self)
        if bound is None:
            bound = cache_of(owner)[self] = ReplayedStep(MethodType(self._step, owner))
        return bound

    def __repr__(self) -> str:
        return f"replay({self._step!r})"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """What the step gives for some arguments."""
        if listener() is not None or observed() or state.builds.get() or groups.get().size > 1:
            return self._step(*args, **kwargs)
        try:
            fed: list[Any] = []
            key = _key_of((args, kwargs), fed)
        except _NoKey as error:
            self._tell(f"{error}")
            return self._step(*args, **kwargs)
        form = self._forms.get(key)
        if form is None:
            if len(self._forms) >= MOST_PLANS * MOST_PLANS:
                self._forms.clear()
            form = self._forms[key] = _Form()
            return self._step(*args, **kwargs)
        difference = ""
        for plan in form.plans:
            if (difference := plan.difference() or "") == "":
                outcome = plan.run(fed)
                if outcome is not None:
                    self.replayed += 1
                    return outcome.value
                result = self._step(*args, **kwargs)  # which says what is wrong, if anything is
                self._tell("its plan failed")
                return result
        if difference:
            self._tell(f"{difference}")
        if form.is_hopeless:
            return self._step(*args, **kwargs)
        return self._traced(form, fed, args, kwargs)

    def _traced(self, form: _Form, fed: list[Any], args: Any, kwargs: Any) -> Any:
        form.attempts += 1
        result, trace = traced(self._step, fed, args, kwargs, form.trace)
        before, form.trace = form.trace, trace
        if trace.reason is not None:
            form.trace = None
            form.failures += 1
            self._tell(f"{trace.reason}")
        elif before is not None:
            form.trace = None
            try:
                form.plans.insert(0, StepPlan(before, trace))
            except Unwatchable as error:
                form.failures += 1
                self._tell(str(error))
        is_tried = form.failures >= MOST_FAILURES or form.attempts > MOST_ATTEMPTS
        if is_tried or len(form.plans) > MOST_PLANS:
            form.is_hopeless = True
        return result

    def _tell(self, why: str) -> None:
        self.reason = why
        if not self._told:
            self._told = True
            name = getattr(self._step, "__qualname__", repr(self._step))
            warn(f"{name} runs as it is, not from a plan: {why}", None)


class _Form:
    """What is known of calls with arguments of one form."""

    def __init__(self) -> None:
        self.plans: list[StepPlan] = []
        self.trace: TracedCall | None = None  #: of a call that waits for another one like it
        self.attempts = self.failures = 0
        self.is_hopeless = False


class _NoKey(Exception):
    """An argument of a kind that a plan cannot be known by."""


def _key_of(value: Any, fed: list[Any]) -> Any:
    """What a plan depends on of an argument; tensors are gathered."""
    if isinstance(value, TensorRecord):
        if value.origin is not None or getattr(value, "_hooks", None):
            raise _NoKey("an argument has a history of gradients")
        fed.append(value)
        array = value.array
        if type(array) is not np.ndarray:
            raise _NoKey(f"an argument holds a {type(array).__name__}")
        places = [k for k, other in enumerate(fed) if other is value]
        return type(value), array.shape, array.dtype, value.stop, places[0]
    if isinstance(value, (list, tuple)):
        return type(value), tuple([_key_of(each, fed) for each in value])
    if isinstance(value, dict):
        return dict, tuple(value), tuple([_key_of(each, fed) for each in value.values()])
    if isinstance(value, _PLAIN):
        return type(value), value.hex() if isinstance(value, float) else value
    raise _NoKey(f"an argument is a {type(value).__name__}; give tensors and plain values")


class TracedCall(NamedTuple):
    """What is known of a call."""

    tracer: StepTracer
    calls: CallWatch
    around: Surroundings | None  #: of the step, as the call left them
    setting: tuple[Any, ...]
    result: Any
    reason: Any


def traced(
    step: Callable[..., Any], fed: list[Any], args: Any, kwargs: Any, before: TracedCall | None
) -> tuple[Any, TracedCall]:
    """Call a step, and write down what it does.

    Args:
        step: the function.
        fed: the tensors among its arguments.
        args, kwargs: the arguments.
        before: what is known of the call before.

    Returns:
        what the step gives, and what is known of the call.
    """
    tracer = StepTracer(fed, None if before is None else before.tracer)
    calls, setting, drawn = CallWatch(), _setting(), _drawn()
    # what is called when garbage is collected is none of the step's
    tracer.stream = HeardGenerator(generator.get(), tracer)
    with state.collector_paused(), stream_guard(tracer.stream), traced_by(tracer), calls.on():
        result = step(*args, **kwargs)
    tracer.end()
    reason: Any = tracer.reason
    around = None
    if reason is None and calls.reason is not None:
        reason = Reason(*calls.reason)
    if reason is None and drawn != _drawn():
        reason = "random numbers are drawn"
    if reason is None:
        try:
            around = Surroundings(step, calls, tracer.updates_made)
        except Unwatchable as error:
            reason = error
    return result, TracedCall(tracer, calls, around, setting, result, reason)


def _drawn() -> bytes:
    """Where the streams of random numbers of NumPy and of Python stand."""
    return pickle.dumps((np.random.get_state(), random.getstate()))


def _setting() -> tuple[Any, ...]:
    """What is switched around a step."""
    flags = tuple(state.flag_values.get().values())
    own = thread.recording, thread.anomaly, thread.packing, flags, default_float()
    # a plan draws from the stream that there is when it runs
    switched = [None if isinstance(s, (Seed, Generator)) else s for s in state.switched()]
    return (*own, *switched)


def _differs(setting: tuple[Any, ...], other: tuple[Any, ...]) -> bool:
    return any(  # modules that are loaded later have more
        a is not b and a is not None and b is not None and not _is_equal(a, b)
        for a, b in zip(setting, other)
    )


def _is_equal(a: Any, b: Any) -> bool:
    return type(a) is type(b) and isinstance(a, (*_PLAIN, tuple, np.dtype)) and a == b


class ReplayOutcome(NamedTuple):
    """What a plan gave."""

    value: Any


class ResultPlace(NamedTuple):
    """Stands in what a step gives for one of the values that are fetched."""

    number: int
    kind: Any


class StepPlan:
    """A step that runs from its program.

    Args:
        first, second: two calls of it, in turn.

    Raises:
        Unwatchable: they did not do the same.
    """

    def __init__(self, first: TracedCall, second: TracedCall) -> None:
        tracer, around = second.tracer, first.around
        assert around is not None
        if (difference := around.difference()) is not None:
            raise Unwatchable(f"{difference} after each call")
        for key, owner in second.calls.owners.items():
            if key in first.calls.owners and not around.has(owner):
                raise Unwatchable(f"a {type(owner).__name__} cannot be watched")
        if first.calls.codes.keys() != second.calls.codes.keys():
            others = first.calls.codes.keys() ^ second.calls.codes.keys()
            raise Unwatchable(f"two calls ran other functions ({min(c.co_name for c in others)})")
        if _differs(first.setting, second.setting):
            raise Unwatchable("what is switched around the step changes while it runs")
        if _lines(first.tracer.program) != _lines(tracer.program):
            raise Unwatchable("two calls ran other operators")
        self._around, self._setting = around, second.setting
        self._updates: list[OptimizerUpdate] = tracer.updates_made
        self._targets: list[str] = []
        self._constants = dict(tracer.constants)
        self._states: dict[str, Any] = {}
        for name, tensor in tracer.read.items():
            before = first.tracer.read[name]
            if tensor is before:
                self._states[name] = tensor
            else:
                self._constants[name] = np.array(tensor.array)
        for name, array in self._constants.items():
            if not _same_elements(array, _constant_of(first.tracer, name)):
                raise Unwatchable("a tensor is made of other values in each call")
        self._forms = [(t, t.array.shape, t.array.dtype, t.stop) for t in self._states.values()]
        self._result = self._places(tracer, second.result)
        if not _same_structure(self._result, self._places(first.tracer, first.result)):
            raise Unwatchable("two calls gave results of other forms")
        self._leaves = [self._stored(first.tracer, tracer, leaf) for leaf in tracer.leaves.values()]
        held = {id(leaf._gradient) for leaf in tracer.leaves.values()}
        self._writes = [
            (tensor, self._written(first.tracer, tracer, tensor))
            for key, tensor in tracer.written.items()
            if key in first.tracer.written and key not in held
        ]
        program, fetches = tracer.finished(self._targets)
        read = {n for op in program.global_block().ops for n in op.input_arg_names} | {*fetches}
        self._fed = [k if f"argument_{k}" in read else None for k in range(tracer.count)]
        self._constants = {n: a for n, a in self._constants.items() if n in read}
        self._states = {n: t for n, t in self._states.items() if n in read}
        self._read = read
        feeds = [n for n in program.global_block().vars if n in read and _is_fed(n)]
        draws = any(lookup(op.type).random for op in program.global_block().ops)
        self._exe = DrawsInTurn(backend="numpy") if draws else Executor()
        self._run = self._exe.prepare(program, feeds, fetches, Scope())

    # -- what a plan is made of --------------------------------------------------------------------

    def _fetched(self, name: str) -> int:
        if name not in self._targets:
            self._targets.append(name)
        return self._targets.index(name)

    def _places(self, tracer: StepTracer, value: Any) -> Any:
        if isinstance(value, TensorRecord):
            node = None if value.origin is None else node_of(value.origin)
            if node is not None and node.edges is not None:
                raise Unwatchable(
                    "it gives a tensor that gradients may flow through; detach it, or use no_grad"
                )
            known = tracer.known(value)
            if known is None or any(value is each for each in tracer.read.values()):
                raise Unwatchable("it gives a tensor that no operator made")
            return ResultPlace(self._fetched(known.name), value.results)
        if isinstance(value, (list, tuple)) and type(value) in (list, tuple):
            return type(value)([self._places(tracer, each) for each in value])
        if type(value) is dict:
            return {key: self._places(tracer, each) for key, each in value.items()}
        if isinstance(value, _PLAIN):
            return value
        raise Unwatchable(f"it gives a {type(value).__name__}")

    def _written(self, before: StepTracer, tracer: StepTracer, tensor: Any) -> Any:
        """The place of what is written to a tensor, or the array."""
        if tensor.origin is not None:
            raise Unwatchable("a tensor from before the step becomes a part of its graph")
        known = tracer.known(tensor)
        if known is not None:
            return self._fetched(known.name)
        array = tensor.array
        if not _same_elements(array, before.last.get(id(tensor), array)):
            raise Unwatchable("Python writes other values to a tensor in each call")
        return np.array(array)

    def _stored(self, before: StepTracer, tracer: StepTracer, leaf: Any) -> _Stored:
        held, (began, array) = leaf._gradient, tracer.began.get(id(leaf), (None, None))
        is_zero = array is None or not array.any()
        final = None if held is None else self._written(before, tracer, held)
        return _Stored(leaf, is_zero, held is began, final, held is not None and held.stop)

    # -- running -----------------------------------------------------------------------------------

    def difference(self) -> str | None:
        """What is otherwise than when the step was written down; None if nothing is."""
        if _differs(_setting(), self._setting):
            return "something is switched around the step"
        for tensor, shape, dtype, stop in self._forms:
            array = tensor.array
            if (
                type(array) is not np.ndarray
                or array.shape != shape
                or array.dtype != dtype
                or tensor.stop is not stop
                or tensor.origin is not None
                or getattr(tensor, "_hooks", None)
            ):
                return f"{described(tensor)} has another form"
        if not all(stored.fits() for stored in self._leaves):
            return "there are gradients from before the step"
        return self._around.difference()

    def run(self, fed: Sequence[Any]) -> ReplayOutcome | None:
        """What the step gives; None, and nothing has changed, where the program fails.

        Args:
            fed: the tensors among its arguments.
        """
        feed = dict(self._constants)
        for k in self._fed:
            if k is not None:
                feed[f"argument_{k}"] = fed[k].array
        for name, tensor in self._states.items():
            feed[name] = tensor.array
        before = [
            (rate, dict(vars(rate)))
            for update in self._updates
            if isinstance(rate := update.steps.rate, LearningRateDecay)
        ]
        for update in self._updates:
            held = update.steps._held_rate(update.steps._next_rate())
            for rate in update.rates:
                if rate.name in self._read:
                    feed[rate.name] = rate.array(held)
        standing = None
        if isinstance(self._exe, DrawsInTurn):
            standing = self._exe.standing = generator.get().standing
        try:
            fetched = self._run(feed)
        except Exception:  # which the step itself gives, in its own words
            if standing is not None:
                generator.get().standing = standing
            for rate, kept in before:
                vars(rate).update(kept)
            return None
        arrays = [a if type(a) is np.ndarray else np.asarray(a) for a in fetched]
        for stored in self._leaves:
            stored.store(arrays)
        for tensor, source in self._writes:
            tensor.replace(arrays[source] if type(source) is int else source, True)
        for update in self._updates:
            update.steps._optimizer.finish_eagerly(update.steps, update.params)
        return ReplayOutcome(_filled(self._result, arrays))


class _Stored:
    """What becomes of the stored gradient of a leaf.

    Args:
        leaf: the leaf.
        from_zero: whether it has none, or zeros, before the step.
        is_held: whether it stays the same tensor.
        final: where it is found behind the step, or its array; None if there is none.
        stop: whether it stops gradients.
    """

    __slots__ = ("_final", "_from_zero", "_is_held", "_leaf", "_stop")

    def __init__(self, leaf: Any, from_zero: bool, is_held: bool, final: Any, stop: bool) -> None:
        self._leaf, self._from_zero, self._is_held = leaf, from_zero, is_held
        self._final, self._stop = final, stop

    def fits(self) -> bool:
        """Whether the stored gradient is as it was before the step."""
        if self._leaf._hooks:
            return False
        if not self._from_zero:
            return True
        array = self._leaf.raw_gradient
        return (
            array is None or array is self._final or (type(array) is np.ndarray and not array.any())
        )

    def store(self, arrays: Sequence[Any]) -> None:
        """Store the gradient that there is behind the step."""
        leaf, final = self._leaf, self._final
        if final is None:
            leaf._gradient = None
            return
        array = arrays[final] if type(final) is int else final
        held = leaf._gradient
        if held is not None and self._is_held:
            if held.array is not array:
                held.replace(array, True)
            return
        leaf._gradient = leaf.results(array, None, self._stop)


def _is_fed(name: str) -> bool:
    return name.startswith(("argument_", "state_", "constant_", "rate_"))


def _lines(program: Any) -> list[Any]:
    """What a program does."""
    return [
        (op.type, dict(op.all_attrs()), op.input_arg_names, op.output_arg_names)
        for op in program.global_block().ops
    ]


def _constant_of(tracer: StepTracer, name: str) -> Any:
    read = tracer.read.get(name)
    return tracer.constants.get(name) if read is None else read.array


def _same_elements(array: Any, other: Any) -> bool:
    return (
        other is not None
        and (array.shape, array.dtype) == (other.shape, other.dtype)
        and array.tobytes() == other.tobytes()
    )


def _same_structure(value: Any, other: Any) -> bool:
    if type(value) is not type(other):
        return False
    if isinstance(value, ResultPlace):
        return bool(value == other)
    if isinstance(value, (list, tuple)):
        return len(value) == len(other) and all(map(_same_structure, value, other))
    if isinstance(value, dict):
        return list(value) == list(other) and all(
            map(_same_structure, value.values(), other.values())
        )
    return bool(value == other) or value != value


def _filled(structure: Any, arrays: Sequence[Any]) -> Any:
    """What a step gives, with tensors in their places."""
    if isinstance(structure, ResultPlace):
        return structure.kind(arrays[structure.number])
    if isinstance(structure, (list, tuple)):
        return type(structure)([_filled(each, arrays) for each in structure])
    if isinstance(structure, dict):
        return {key: _filled(each, arrays) for key, each in structure.items()}
    return structure


api_boundaries(globals())
