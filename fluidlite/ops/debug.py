"""Operators that reach out of the program: printing, checking, and calling Python functions."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

import numpy as np

from ..errors import ConditionError, DTypeError, FluidError, NoGradientError, OpError, ShapeError
from ..ground import state
from ..ground.dtypes import DType, as_dtype
from ..ground.quoting import printable
from ..ground.values import LoDTensor, LoDTensorArray, SelectedRows, zeros_like
from ..ground.weak_tables import WeakTable
from ..opdef.annotations import Array, Rules, Specs, Value
from ..opdef.attribute import REQUIRED, Long, attr, need_choice
from ..opdef.callables import registered
from ..opdef.conjugation import AS_WRITTEN, OfComplex
from ..opdef.definition import Detached, Op
from ..opdef.effect import Effect
from ..opdef.fluid_form import FluidForm
from ..opdef.spec import Spec, agree, need_one

EMPTY = "@EMPTY@"
#: operator -> how often it has printed
_printed = state.slot("printed", WeakTable)


def elements(value: Any, count: int) -> str:
    """The elements of an array in order, as a text.

    Args:
        value: the array.
        count: how many of them to show; all when negative.
    """
    flat = np.asarray(value).reshape(-1)
    shown = flat if count < 0 else flat[:count]
    texts = [f"{v:g}" if isinstance(v, float) else str(v) for v in shown.tolist()]
    return ", ".join([*texts, "..."] if len(shown) < len(flat) else texts)


def _listed(name: str, value: Any, count: int, message: str = "", op: Any = None) -> str:
    """A tensor as paddle 2 prints it: a line for each thing that is known of it.

    Args:
        name: the variable's.
        value: the tensor.
        count: how many of its elements are shown; all when negative.
        message: stands behind the name.
        op: says what is shown; all when None.
    """
    shows = {key: op is None or getattr(op, f"print_tensor_{key}") for key in _SHOWN}
    data = np.asarray(value.data if isinstance(value, LoDTensor) else value)
    levels = value.lod() if isinstance(value, LoDTensor) else []
    lod = "".join(f"{{{', '.join(map(str, level))}}}" for level in levels)
    flat = data.reshape(-1) if count < 0 else data.reshape(-1)[:count]
    lines = [f"Variable: {name}"] if shows["name"] else []
    lines += [f"  - message: {message}"] if message else []
    lines += [f"  - lod: {{{lod}}}"] if shows["lod"] else []
    lines += ["  - place: Place(cpu)"]
    lines += [f"  - shape: {list(data.shape)}", "  - layout: NCHW"] if shows["shape"] else []
    lines += [f"  - dtype: {as_dtype(data.dtype).plain}"] if shows["type"] else []
    return "\n".join([*lines, f"  - data: [{' '.join(f'{v:g}' for v in flat.tolist())}]"])


_SHOWN = ("name", "type", "shape", "lod")


class Print(Op, type="print"):
    """Out = In, and a line about it on the standard output.

    first_n: how often it prints, at most; without end when negative.
    message: stands in front of the line.
    summarize: how many elements are shown; all when negative.
    print_tensor_name: whether the line names the variable.
    print_tensor_type: whether it has the element type.
    print_tensor_shape: whether it has the shape.
    print_tensor_lod: whether it has the LoD, if there is one.
    print_phase: which values are printed: "FORWARD" for In, "BACKWARD" for its gradient, "BOTH".
    is_forward: whether In is no gradient.
    """

    signature = "In -> Out"
    of_complex: ClassVar[OfComplex | None] = AS_WRITTEN
    of_bfloat16: ClassVar[bool] = True
    hands_on: ClassVar[bool] = True
    first_n: int = REQUIRED
    message: str = REQUIRED
    summarize: int = REQUIRED
    print_tensor_name: bool = REQUIRED
    print_tensor_type: bool = REQUIRED
    print_tensor_shape: bool = REQUIRED
    print_tensor_lod: bool = REQUIRED
    print_phase: str = "BOTH"
    is_forward: bool = True
    fluid: ClassVar[FluidForm] = FluidForm(direct=True, rows=("In",))

    def infer(self, In: Spec) -> Spec:
        need_choice(self, "print_phase", "FORWARD", "BACKWARD", "BOTH")
        return In

    def execute(self, run: Any) -> None:
        (name,) = run.names("inputs", "In")
        value = run.value(name)
        if self.print_phase in ("BOTH", "FORWARD" if self.is_forward else "BACKWARD"):
            counts = _printed.get()
            count = counts.keep(run.op, (counts.of(run.op) or 0) + 1)
            if self.first_n < 0 or count <= self.first_n:
                line = self.line(name, value)
                kept = "\n" * state.as_paddle_2.get()
                print(printable(line, kept) if run.op.foreign else line, flush=True)
        run.set(run.names("outputs", "Out")[0], value)

    def line(self, name: str, value: Any) -> str:
        """What is printed of a value."""
        if state.as_paddle_2.get() and not isinstance(value, LoDTensorArray):
            return _listed(name, value, self.summarize, self.message, self)
        words = [self.message] if self.message else []
        if self.print_tensor_name:
            words.append(name)
        if isinstance(value, LoDTensorArray):
            return " ".join([*words, f"array of {len(value)} tensors"])
        data = value.data if isinstance(value, LoDTensor) else value
        if self.print_tensor_type:
            words.append(as_dtype(data.dtype).plain)
        if self.print_tensor_shape:
            words.append(str(list(data.shape)))
        if self.print_tensor_lod and isinstance(value, LoDTensor):
            words.append(f"lod {value.lod()}")
        return f"{' '.join(words)}: {elements(data, self.summarize)}"

    def grad(self, f: Any, dOut: Value) -> Rules:
        # all attributes are given since programs list them
        attrs = {a.name: getattr(self, a.field) for a in self.attributes.values()}
        attrs["is_forward"] = False
        return dict(In=lambda: f.print(dOut, **attrs))


class Assert(Detached, type="assert"):
    """Fails unless Cond holds.

    Cond: a truth.
    Data: what the error shows.
    summarize: how many elements of each Data it shows; all when negative.
    """

    signature = "Cond!, Data?*! ->"
    summarize: Long = -1

    def infer(self, Cond: Spec, Data: list[Spec] | None) -> Specs:
        if Cond.dtype is not DType.BOOL:
            raise DTypeError(f"expected Cond to be bool, got {Cond.dtype}")
        need_one(Cond=Cond)
        return {}

    def execute(self, run: Any) -> None:
        (name,) = run.names("inputs", "Cond")
        if run.condition(name):
            return
        lines = [f"expected {name} to hold, it is False"]
        for data in run.names("inputs", "Data"):
            value = np.asarray(run.value(data))
            if state.as_paddle_2.get():
                print(printable(_listed(data, run.value(data), self.summarize), "\n"), flush=True)
            found = elements(value, self.summarize)
            lines.append(f"  {data} {as_dtype(value.dtype).plain}{list(value.shape)}: {found}")
        raise ConditionError("\n".join(lines))


class py_func(Op):
    """Out = what a Python function returns for X.

    forward_callable_id: the number of the function.
    backward_callable_id: the number of that which computes the gradients of X from X, Out and the
        gradients of Out; without one, -1, no gradient flows.
    backward_skip_vars: names of X and Out that it is not given.
    results: how many Out there are, where nothing else says it.
    """

    signature = "X?* -> Out*~"
    of_complex: ClassVar[OfComplex | None] = AS_WRITTEN
    effect: ClassVar[Effect | None] = Effect(
        "python", "calls the Python function of number", "forward_callable_id"
    )
    calls_out: ClassVar[bool] = True
    forward_callable_id: int = 0
    backward_callable_id: int = -1
    backward_skip_vars: list[str] = ()
    results: int = attr(0, local=True)
    fluid: ClassVar[FluidForm] = FluidForm(direct=True)
    lod: ClassVar[str | None] = None

    def width(self, X: list[Any]) -> int:
        return self.results

    def given_attrs(self) -> dict[str, Any]:
        return {name: v for name, v in super().given_attrs().items() if name != "results"}

    def execute(self, run: Any) -> None:
        called = registered(self.forward_callable_id)
        arguments = [
            None if name == EMPTY else argument(run.value(name))
            for name in run.names("inputs", "X")
        ]
        try:
            returned = called.function(*arguments)
        except FluidError:
            raise
        except Exception as error:
            message = f"the function {called.name} raised {type(error).__name__}: {error}"
            raise OpError(message) from error
        names = run.names("outputs", "Out")
        if not names:
            return
        results = list(returned) if isinstance(returned, (list, tuple)) else [returned]
        if len(results) != len(names):
            raise OpError(
                f"expected the function {called.name} to return {len(names)} arrays, got "
                f"{len(results)}"
            )
        for name, result in zip(names, results):
            if name != EMPTY:
                kept = nothing if result is None else partial(taken, result=result)
                run.set(name, kept(run, called, name))

    def grad(self, f: Any, X: list[Value], Out: list[Value], dOut: list[Value]) -> Rules:
        if self.backward_callable_id < 0:
            called = registered(self.forward_callable_id)
            if called.backward:
                raise NoGradientError(
                    f"the function {called.name} computes gradients in Python, so these have no "
                    f"gradients of their own"
                )
            return {}

        def gradients():
            skipped = set(self.backward_skip_vars)
            kept = [v for v in (*(X or ()), *Out) if name_of(v) not in skipped]
            call = dict(forward_callable_id=self.backward_callable_id, backward_callable_id=-1)
            return f.py_func.all([*kept, *dOut], **call, results=len(X))["Out"]

        return dict(X=gradients)


def name_of(operand: Any) -> Any:
    """The name of the variable that an operand of a rule stands for; None where it is a value."""
    return getattr(getattr(operand, "like", None), "name", None)


def argument(value: Any) -> Any:
    """A value as a function of the user gets it: it cannot change what others read."""
    if isinstance(value, (LoDTensor, LoDTensorArray)):
        return value
    return LoDTensor(value.to_dense() if isinstance(value, SelectedRows) else value)


def taken(run: Any, called: Any, name: Any, result: Any) -> Any:
    """A copy of what a function returned for a variable, checked against its declaration."""
    offsets = result.offsets if isinstance(result, LoDTensor) else ()
    array = np.array(result)
    variable = run.variable(name)
    what = f"expected the function {called.name} to return"
    if variable is not None and variable.has_dtype and as_dtype(array.dtype) != variable.dtype:
        raise DTypeError(
            f"{what} {variable.dtype} for {name!r}, as it is declared; got {array.dtype}"
        )
    if variable is not None and variable.has_shape:
        shape = variable.shape
        if array.ndim != len(shape) or not all(map(agree, array.shape, shape)):
            raise ShapeError(
                f"{what} shape {list(shape)} for {name!r}, as it is declared; "
                f"got {list(array.shape)}"
            )
    return LoDTensor(array, offsets) if offsets else array


def nothing(run: Any, called: Any, name: str) -> Array:
    """Zeros for a gradient that a function leaves out."""
    variable = run.variable(name)
    if called.backward:
        value = run.find(name.partition("@GRAD")[0])
        if value is not None:
            return zeros_like(value.data if isinstance(value, LoDTensor) else value)
        if variable is not None and variable.has_shape and -1 not in variable.shape:
            return np.zeros(variable.shape, variable.dtype.dtype)
    raise OpError(f"expected the function {called.name} to return an array for {name!r}, got None")
