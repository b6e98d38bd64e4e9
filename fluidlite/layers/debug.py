"""Layers that print values, check them, and call Python functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from ..errors import ArgumentError
from ..ground.dtypes import DType
from ..ir.operator import Operator
from ..ir.variable import Variable
from ..opdef.callables import register
from .layer import LayerBuilder, layer, variables_of
from .operator_layers import LayerCall, operator_layer

T = TypeVar("T")


@operator_layer.signature("""
    Print(input: In, first_n=-1, message: str | None, summarize=20, print_tensor_name=True,
        print_tensor_type=True, print_tensor_shape=True, print_tensor_lod=True,
        print_phase: str = "both") -> print
""")
def Print(f: LayerBuilder, call: LayerCall) -> Variable:
    """A variable that is printed whenever it is computed.

    Use the result in place of the variable.

    Args:
        input: a variable.
        first_n: print so often at most; always when negative.
        message: stands in front of the line.
        summarize: how many elements to show; all when negative.
        print_tensor_name: name the variable.
        print_tensor_type: show its element type.
        print_tensor_shape: show its shape.
        print_tensor_lod: show its LoD, where it has one.
        print_phase: "forward" for the variable, "backward" for its gradient, or "both".

    Returns:
        A variable of the same value.

    Raises:
        ArgumentError: ``print_phase`` is something else.

    >>> x = fluid.layers.fill_constant([3], "float32", 0.5)
    >>> shown = fluid.layers.Print(x, message="look:", print_tensor_name=False)
    >>> _ = fluid.Executor().run(fetch_list=[shown])
    look: float32 [3]: 0.5, 0.5, 0.5
    """
    if not isinstance(call.print_phase, str) or call.print_phase.upper() not in _PHASES:
        raise ArgumentError(
            f"expected print_phase 'forward', 'backward' or 'both', got {call.print_phase!r:.60}"
        )
    f.layer_type = f"print_{call.input.name}"
    shown: Variable = f.print(
        call.input, message=call.message or "", **call.attrs, print_phase=call.print_phase.upper()
    )
    return shown


_PHASES = ("FORWARD", "BACKWARD", "BOTH")


@layer("assert")
def Assert(
    f: LayerBuilder,
    cond: Variable,
    data: Sequence[Variable] | None = None,
    summarize: int = 20,
    name: str | None = None,
) -> Operator:
    """Stop the run with an error unless a condition holds.

    Args:
        cond: a variable of one truth.
        data: variables that the error shows.
        summarize: how many elements of each it shows; all when negative.
        name: accepted for old scripts; nothing is named after it.

    Returns:
        The operator.

    Raises:
        ArgumentError: ``cond`` is not bool, or there is no variable where one is expected.

    >>> x = fluid.layers.fill_constant([2], "float32", -1.0)
    >>> positive = fluid.layers.reduce_all(fluid.layers.greater_than(x, x * 0.0))
    >>> check = fluid.layers.Assert(positive, [x])
    >>> fluid.Executor().run()
    Traceback (most recent call last):
        ...
    fluidlite.errors.ConditionError: assert: expected reduce_all_0.tmp_0 to hold, it is False
      fill_constant_0.tmp_0 float32[2]: -1, -1
    ...
    """
    if cond.dtype is not DType.BOOL:
        raise ArgumentError(
            f"expected cond to be a truth, got variable {cond.name!r} of type {cond.dtype}; "
            f"compare it first"
        )
    shown = [] if data is None else variables_of(data, "data")
    attrs = {"summarize": summarize}
    return f.block.append_op("assert", {"Cond": cond, "Data": shown}, {}, attrs)


@layer
def py_func(
    f: LayerBuilder,
    func: Callable[..., Any],
    x: Variable | Sequence[Variable] | None,
    out: T,
    backward_func: Callable[..., Any] | None = None,
    skip_vars_in_backward_input: Variable | Sequence[Variable] | None = None,
) -> T:
    """Call a Python function whenever the program comes here.

    Args:
        func: takes a LoDTensor for each of ``x`` and returns an array, or LoDTensor, for each of
            ``out``; one of them as it is.  ``numpy.array`` makes an array of a LoDTensor.
        x: what it is given.
        out: the variables, made by ``create_var`` with shape and element type, that take what it
            returns.
        backward_func: takes ``x``, ``out`` and the gradients of ``out``, all as LoDTensors, and
            returns the gradients of ``x``; None for one that is zero.  Without it, no gradient
            flows.
        skip_vars_in_backward_input: those of ``x`` and ``out`` that ``backward_func`` is not given.

    Returns:
        ``out``.

    Raises:
        ArgumentError: a function cannot be called, there is no variable where one is expected, or
            what to skip is neither in ``x`` nor in ``out``.

    >>> x = fluid.layers.fill_constant([2], "float32", 3.0)
    >>> y = fluid.default_main_program().current_block().create_var("y", "float32", [2])
    >>> y = fluid.layers.py_func(lambda a: np.array(a) ** 2, x, y)
    >>> fluid.Executor().run(fetch_list=[y])
    [array([9., 9.], dtype=float32)]
    """
    if not callable(func):
        raise ArgumentError(f"expected func to be a function, got {func!r:.60}")
    if backward_func is not None and not callable(backward_func):
        raise ArgumentError(f"expected backward_func to be a function, got {backward_func!r:.60}")
    inputs = [] if x is None else variables_of(x, "x")
    outputs = [] if out is None else variables_of(out, "out")
    skipped = skip_vars_in_backward_input
    skip = [] if skipped is None else variables_of(skipped, "skip_vars_in_backward_input")
    known = {v.name for v in (*inputs, *outputs)}
    for variable in skip:
        if variable.name not in known:
            raise ArgumentError(
                f"expected skip_vars_in_backward_input to be among x and out, got {variable.name!r}"
            )
    attrs = {"forward_callable_id": register(func), "backward_callable_id": -1}
    if backward_func is not None:
        attrs["backward_callable_id"] = register(backward_func, backward=True)
    skip_names = [each.name for each in skip] if backward_func is not None else []
    f.into("py_func", {"X": inputs}, {"Out": outputs}, **attrs, backward_skip_vars=skip_names)
    return out
