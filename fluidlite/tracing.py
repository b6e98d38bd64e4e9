"""The program that a function of eager tensors amounts to.

While a trace runs, the calls that run operators on tensors write them into a program as well.
Values are identified by their arrays: those are never written to, so that one array is one value,
whatever tensors hold it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from .eager.listening import Listener, heard_by, listener
from .eager.recording import TensorRecord
from .eager.tensor import Tensor
from .errors import ArgumentError
from .ground import state
from .ground.dtypes import DTypeLike, as_dtype
from .ground.tracebacks import api_boundaries
from .ir.program import Program
from .ir.variable import Variable
from .opdef.definition import Op, lookup
from .runtime.executor import Executor
from .scope import Scope
from .symbolic import declared, free_name


class Traced(NamedTuple):
    """What :func:`trace` found."""

    program: Program  #: the operators
    feed_names: list[str]  #: of the function's arguments, in order
    fetch_list: list[Variable]  #: what the function returns, in order
    scope: Scope  #: the values of the parameters and constants

    def run(self, *values: Any) -> list[Any]:
        """Run the program.

        Args:
            values: arrays in place of the function's arguments.

        Returns:
            the results, as arrays.

        Raises:
            ArgumentError: there are more or fewer values than arguments.
        """
        if len(values) != len(self.feed_names):
            raise ArgumentError(
                f"expected values of {', '.join(self.feed_names)}, got {len(values)} values"
            )
        feed = dict(zip(self.feed_names, values))
        found: list[Any] = Executor().run(
            self.program, feed=feed, fetch_list=self.fetch_list, scope=self.scope
        )
        return found


def trace(
    function: Callable[..., Any],
    *specs: tuple[Sequence[int], DTypeLike] | TensorRecord | np.ndarray[Any, Any],
) -> Traced:
    """The program that a function of tensors amounts to, found by calling it once.

    Parameters that the function reads become parameters of the program, under their names, and
    other tensors and numbers constants of it.  The program does what this one call did: Python's
    branches and loops are taken as they were, sizes are those of the arguments, and what passes
    through NumPy (``x.numpy()``, ``float(x)``, ``fluid.unique``) is a constant.  Random numbers are
    drawn anew in every run.  The program writes no parameters: running means stay as they are.

    Args:
        function: takes tensors, returns a tensor or a list or tuple of them; may be a
            ``dygraph.Layer``.
        specs: for each argument, its shape and element type, ``([2, 3], "float32")``, or an example
            of it: a tensor or an array.

    Returns:
        the program, the names of its feeds, the variables to fetch, and a scope with the values
        that it needs; ``run(*arrays)`` runs it.

    Raises:
        ArgumentError: a spec is none, the function returns something else, or it asks for gradients
            without ``create_graph=True``, which are not made by operators.

    >>> w = fluid.create_parameter([3, 1], "float32", name="w")
    >>> traced = fluid.trace(lambda x: fluid.tanh(fluid.matmul(x, w)), ([2, 3], "float32"))
    >>> [op.type for op in traced.program.global_block().ops]
    ['matmul', 'tanh']
    >>> traced.feed_names, [p.name for p in traced.program.all_parameters()]
    (['x'], ['w'])
    >>> traced.run(np.zeros([2, 3], "float32"))[0].tolist()
    [[0.0], [0.0]]
    >>> exe = fluid.Executor()
    >>> with fluid.scope_guard(traced.scope):
    ...     _ = fluid.io.save_inference_model(
    ...         "traced", traced.feed_names, traced.fetch_list, exe, traced.program
    ...     )
    """
    if not callable(function):
        raise ArgumentError(f"expected a function to trace, got {function!r:.60}")
    if isinstance(listener(), Tracer):
        raise ArgumentError("a function that is being traced cannot trace another one")
    tracer = Tracer()
    kind: Any = state.eager.get() or Tensor
    names = _names_of(function, len(specs))
    given = [tracer.fed(n, _example(n, spec, kind)) for n, spec in zip(names, specs)]
    with state.eager.guard(kind), heard_by(tracer):
        outputs = function(*given)
    results = list(outputs) if isinstance(outputs, (list, tuple)) else [outputs]
    if not results or not all(isinstance(each, TensorRecord) for each in results):
        raise ArgumentError(
            f"expected the traced function to return a tensor or a list of them, got "
            f"{outputs!r:.60}"
        )
    return tracer.finish(names, results)


def _example(name: str, spec: Any, kind: Any) -> Any:
    """A tensor that a spec describes, with an array of its own."""
    if isinstance(spec, TensorRecord):
        return type(spec).results(np.array(spec.array), None, spec.stop)
    if isinstance(spec, np.ndarray):
        as_dtype(spec.dtype)
        return kind(np.array(spec))
    if isinstance(spec, tuple) and len(spec) == 2 and isinstance(spec[0], (list, tuple)):
        sizes, dtype = spec[0], as_dtype(spec[1]).dtype
        if any(not isinstance(n, (int, np.integer)) or n < 0 for n in sizes):
            raise ArgumentError(
                f"expected known sizes of {name}, got {list(sizes)}; a trace is of one call"
            )
        value = 1 if dtype.kind in "fc" else 0  # 0 is an index of everything
        return kind(np.full([int(n) for n in sizes], value, dtype))
    raise ArgumentError(
        f'expected a shape and an element type of {name}, as in ([2, 3], "float32"), a tensor or '
        f"an array, got {spec!r:.60}"
    )


def _names_of(function: Callable[..., Any], count: int) -> list[str]:
    """What the function calls its arguments."""
    try:
        parameters = inspect.signature(getattr(function, "forward", function)).parameters.values()
    except (TypeError, ValueError):  # some functions of C have none
        parameters = ()  # type: ignore[assignment]
    named = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    rest = next((p.name for p in parameters if p.kind is p.VAR_POSITIONAL), "x")
    return named[:count] + [f"{rest}_{k}" for k in range(count - len(named))]


class Tracer(Listener):
    """Writes what runs into a program."""

    def __init__(self) -> None:
        self.program = Program()
        self.block = self.program.global_block()
        self._known: dict[int, Variable] = {}  # by the array's id
        self._held: list[Any] = []  # the arrays, so that no id is used again
        self._values: dict[str, Any] = {}
        self._count = 0

    def fed(self, name: str, tensor: Any) -> Any:
        """Make a tensor one of the program's feeds."""
        array = tensor.array
        variable = self.block.create_var(
            name=name,
            shape=array.shape,
            dtype=as_dtype(array.dtype),
            is_data=True,
            need_check_feed=True,
            stop_gradient=tensor.stop,
        )
        self.note(array, variable)
        return tensor

    def ran(self, op: Op, ins: Sequence[Any], outs: dict[str, Any]) -> None:
        """Append an operator that was run.

        Args:
            op: the operator.
            ins: its inputs in the order of the slots.
            outs: what it gave, by slot.
        """
        read = {
            slot.name: [self.variable(v) for v in value]
            if isinstance(value, (list, tuple))
            else self.variable(value)
            for slot, value in zip(op.inputs, ins)
            if value is not None
        }
        stem = f"{op.type}_{self._count}"
        self._count += 1
        written: dict[str, Any] = {}
        results: list[tuple[Any, Variable]] = []
        for slot, value in outs.items():
            variables = []
            for tensor in value if isinstance(value, list) else [value]:
                if tensor is not None:
                    variables.append(
                        self.block.create_var(
                            name=free_name(self.block, f"{stem}.tmp_{len(results)}")
                        )
                    )
                    results.append((tensor, variables[-1]))
            if variables:
                written[slot] = variables if isinstance(value, list) else variables[0]
        self.block.add_op(op, read, written)
        for tensor, variable in results:
            self.note(tensor, variable)

    def sweeps(self, recording: bool) -> None:
        """Refuse gradients that operators do not make."""
        if not recording:
            raise ArgumentError(
                "a traced function asks for gradients, which are not made by operators; use "
                "fluid.grad(..., create_graph=True), or differentiate the traced program"
            )

    def variable(self, value: Any) -> Variable:
        """The variable of a tensor or an array; a parameter or a constant where nobody made it."""
        array = _array(value)
        found = self._known.get(id(array))
        if found is not None:
            return found
        if not isinstance(array, (np.ndarray, np.generic)):
            raise ArgumentError(
                f"a traced function reads a {type(array).__name__} that it did not make; give it "
                f"tensors"
            )
        name = value.name if getattr(value, "persistable", False) else "constant_0"
        made = declared(self.block, value, name)
        self._values[made.name] = np.array(array)
        self.note(array, made)
        return made

    def finish(self, feeds: list[str], results: Sequence[Any]) -> Traced:
        """The program, without what the results do not need."""
        targets = []
        for each in results:
            target = self.variable(each)
            if target.is_data or target.persistable:  # which are not fetched, but copied
                made = self.block.create_var(name=free_name(self.block, "assign.tmp_0"))
                self.block.add_op(lookup("assign")(), {"X": target}, {"Out": made})
                target = made
            targets.append(target)
        needed = self.keep({target.name for target in targets}, feeds)
        scope = Scope()
        for name, array in self._values.items():
            if name in needed:
                scope.var(name).value = array
        return Traced(self.program, feeds, targets, scope)

    def keep(self, names: set[str], feeds: Sequence[str] = ()) -> set[str]:
        """Drop what some values do not need; the names of what they do.

        Args:
            names: of the values.
            feeds: names of variables that stay in any case.
        """
        needed, needed_ops = set(names), []
        for op in reversed(self.block.ops):
            if not needed.isdisjoint(op.output_arg_names):
                needed_ops.append(op)
                needed.update(op.input_arg_names, op.output_arg_names)
        needed.update(feeds)
        self.block.set_ops(reversed(needed_ops))
        self.block.set_vars([v for name, v in self.block.vars.items() if name in needed])
        return needed

    def note(self, value: Any, variable: Variable) -> None:
        """Remember the variable of a tensor or an array."""
        array = _array(value)
        self._known[id(array)] = variable
        self._held.append(array)


def _array(value: Any) -> Any:
    return value.array if isinstance(value, TensorRecord) else value


api_boundaries(globals())
