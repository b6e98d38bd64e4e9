"""Derivatives of programs, as programs: along a direction, against one, and of the second order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeAlias

from ..backward.program import gradients
from ..errors import ArgumentError, ShapeError
from ..ground.callsite import warn
from ..ground.docstrings import Family
from ..ground.public_names import list_public_names
from ..ground.tracebacks import api_boundaries
from ..ir.block import Block
from ..ir.program import Program, program_guard
from ..ir.variable import Variable
from ..opdef.spec import size_of
from .activity import are_swapped, stopped_outputs
from .editing import transformed
from .forward_emission import declare_like
from .forward_sweep import ForwardSweep
from .results import Transformed
from .selecting import one_or_several

__all__ = ["hvp", "jvp", "vjp"]

#: a variable of a program or its name, or several
Variables: TypeAlias = Variable | str | Sequence[Variable | str]

#: what stands behind a variable's name in that of what its gradient is computed from
COTANGENT = "@COTANGENT"

_OF_PROGRAMS = Family(
    {
        "program": "any; it stays as it was.",
        "outputs": "one or several floating-point variables of the global block.",
        "inputs": "one or several, fed, computed, or parameters.",
    },
    raises="UnknownVariableError: there is no such variable.\n"
    "ArgumentError: nothing is named, something twice, or a variable that holds no real numbers; "
    "or inputs are computed from outputs.\n"
    "NoGradientError: an operator on the way has no gradient rule.",
)


@_OF_PROGRAMS
def jvp(program: Program, outputs: Variables, inputs: Variables) -> Transformed:
    """A program that also computes how outputs change along a direction of inputs.

    This is forward mode: tangents are computed beside the values, in one pass and without the
    memory that gradients take.  They go through branches and loops, through gradients that the
    program has, and stop where ``stop_gradient`` is set.

    Returns:
        the program; the direction, one variable ``<input>@TANGENT`` for each input, in its form, to
        be fed; and the product of the Jacobian with it, for each output, in its form.

    >>> x = fluid.data("x", [2], "float32")
    >>> y = fluid.layers.square(x)
    >>> program, (tangent,), (change,) = fluid.transform.jvp(fluid.default_main_program(), y, x)
    >>> tangent.name, change.name
    ('x@TANGENT', 'square_0.tmp_0@TANGENT')
    >>> feed = {"x": np.array([1, 2], "f"), tangent.name: np.array([10, 1], "f")}
    >>> fluid.Executor().run(program, feed, [change])[0].tolist()
    [20.0, 4.0]
    """
    ys, xs = chosen(program, outputs, "outputs"), chosen(program, inputs, "inputs")
    check_ways(program, xs, ys)
    return _made(program, lambda copied: ForwardSweep(copied, xs, ys).run())


@_OF_PROGRAMS
def vjp(program: Program, outputs: Variables, inputs: Variables) -> Transformed:
    """A program that also computes the gradients of inputs from those of outputs.

    Returns:
        the program; one variable ``<output>@COTANGENT`` for each output, in its form, to be fed;
        and the product of the transposed Jacobian with it, for each input, in its form.

    >>> x = fluid.data("x", [2], "float32")
    >>> y = fluid.layers.reduce_sum(fluid.layers.square(x), keep_dim=True)
    >>> pulled = fluid.transform.vjp(fluid.default_main_program(), y, x)
    >>> [v.name for v in pulled.inputs + pulled.outputs]
    ['reduce_sum_0.tmp_0@COTANGENT', 'x@GRAD']
    """
    ys, xs = chosen(program, outputs, "outputs"), chosen(program, inputs, "inputs")
    check_ways(program, xs, ys)

    def change(copied: Program) -> tuple[list[str], list[str]]:
        block = copied.global_block()
        weights = [_cotangent(block, name) for name in ys]
        return [w.name for w in weights], pulled(copied, ys, xs, weights)

    return _made(program, change)


def hvp(program: Program, output: Variable | str, inputs: Variables) -> Transformed:
    """A program that also computes the second derivatives of an output, multiplied by a vector.

    The gradients are differentiated in forward mode, so the matrix of second derivatives is never
    there, and loops are no obstacle.

    Args:
        program: any; it stays as it was.
        output: a floating-point variable of one element.
        inputs: one or several variables, with respect to which.

    Returns:
        the program; the vector, one variable ``<input>@TANGENT`` for each input, in its form, to be
        fed; and the product, for each input, in its form.

    Raises:
        UnknownVariableError: there is no such variable.
        ArgumentError: nothing is named, something twice, or a variable that holds no real numbers.
        ShapeError: the output has several elements.
        NoGradientError: an operator on the way has no gradient rule.

    >>> x = fluid.data("x", [2], "float32")
    >>> y = fluid.layers.reduce_sum(x * x * x)
    >>> program, (vector,), (product,) = fluid.transform.hvp(fluid.default_main_program(), y, x)
    >>> feed = {"x": np.array([1, 2], "f"), vector.name: np.array([1, 10], "f")}
    >>> fluid.Executor().run(program, feed, [product])[0].tolist()
    [6.0, 120.0]
    """
    slopes = gradient_program(program, output, inputs)
    return jvp(slopes.program, [v.name for v in slopes.outputs], inputs)


def gradient_program(program: Program, output: Variable | str, inputs: Variables) -> Transformed:
    """A program that also computes the gradients of an output of one element.

    Args:
        program: any; it stays as it was.
        output: the variable.
        inputs: one or several variables, with respect to which.

    Raises:
        ShapeError: the output has several elements.
    """
    ys, xs = chosen(program, output, "output"), chosen(program, inputs, "inputs")
    if len(ys) > 1:
        raise ArgumentError(f"expected one output, got {len(ys)}")
    check_ways(program, xs, ys)
    y = program.global_block().var(ys[0])
    if y.has_shape and size_of(y.shape) not in (1, -1):
        raise ShapeError(
            f"second derivatives are taken of an output of one element, {y.name!r} has shape "
            f"{list(y.shape)}; reduce it first: layers.mean or layers.reduce_sum"
        )
    return _made(program, lambda copied: ([], pulled(copied, ys, xs, None)))


def pulled(
    program: Program, outputs: list[str], inputs: list[str], weights: list[Variable] | None
) -> list[str]:
    """Append the gradients of outputs to a program; the names of them, zeros where nothing flows.

    Args:
        program: is changed.
        outputs, inputs: names.
        weights: what flows to each output; ones when None.
    """
    block = program.global_block()
    sources = [block.var(name) for name in inputs]
    with _flowing(sources), program_guard(program, Program()):
        found = gradients([_read_behind(block, name) for name in outputs], sources, weights)
    names = []
    for source, gradient in zip(sources, found or [None] * len(sources), strict=True):
        if gradient is None:
            gradient = declare_like(block, source.name, free_name(block, source.grad_name))
            block.append_op("fill_zeros_like", {"X": source}, {"Out": gradient})
        names.append(gradient.name)
    return names


@contextmanager
def _flowing(sources: list[Variable]) -> Iterator[None]:
    """Let gradients flow to variables that they stop at."""
    stopped = [v for v in sources if v.stop_gradient]
    for variable in stopped:
        variable.stop_gradient = False
    try:
        yield
    finally:
        for variable in stopped:
            variable.stop_gradient = True


def _read_behind(block: Block, name: str) -> Variable:
    """A variable that gradients begin at: behind a loop a copy of what it carries, so that what
    flows to that has the name that the loop knows.
    """
    variable = block.var(name)
    if variable.op is None or variable.op.type != "while":
        return variable
    copy = declare_like(block, name, free_name(block, f"{name}@VALUE"))
    block.append_op("assign", {"X": variable}, {"Out": copy})
    return copy


def check_ways(program: Program, inputs: list[str], outputs: list[str]) -> None:
    """Say that derivatives are zero where something is marked to stop gradients on the way.

    Results of paddle 2's functions are so marked where all that they are made of is.

    Raises:
        ArgumentError: inputs are computed from outputs, not outputs from inputs.
    """
    if are_swapped(program, inputs, outputs):
        raise ArgumentError(
            f"expected outputs that depend on inputs, got outputs {outputs} and inputs {inputs}, "
            "where it is the other way round; the outputs come first"
        )
    stopped = stopped_outputs(program, inputs, outputs)
    if stopped:
        listed = ", ".join(repr(name) for name in stopped)
        warn(
            f"derivatives of {listed} are zero: everything on the way from the inputs is marked "
            f"stop_gradient; in programs of paddle 2, set stop_gradient = False of the inputs "
            f"before they are used",
            None,
        )


def _cotangent(block: Block, name: str) -> Variable:
    made = declare_like(block, name, free_name(block, name + COTANGENT))
    made.is_data = made.need_check_feed = True
    return made


def free_name(block: Block, name: str) -> str:
    """A name that no variable of a block has: this one, or one with a number behind it."""
    number, free = 1, name
    while free in block.vars:
        number += 1
        free = f"{name}_{number}"
    return free


def _made(
    program: Program, change: Callable[[Program], tuple[list[str], list[str]]]
) -> Transformed:
    """A changed copy of a program, with the variables that the change names."""
    names: list[tuple[list[str], list[str]]] = []
    made = transformed(program, lambda copied: names.append(change(copied)))
    block = made.global_block()
    fed, results = (tuple(block.var(name) for name in part) for part in names[0])
    return Transformed(made, fed, results)


def chosen(program: Program, given: Variables, what: str) -> list[str]:
    """The names of variables of the global block that have derivatives.

    Args:
        program: whose.
        given: a variable or its name, or several.
        what: the argument's name.

    Raises:
        UnknownVariableError: there is no such variable.
        ArgumentError: nothing is named, something twice, or a variable that holds no real numbers.
    """
    if not isinstance(program, Program):
        raise ArgumentError(f"expected a program, got {program!r:.60}")
    listed = one_or_several(given, (str, Variable), f"variables or names in {what}")
    block, names = program.global_block(), []
    for named in listed:
        if not isinstance(named, (Variable, str)):
            raise ArgumentError(
                f"expected variables or names in {what}, got {named!r:.60} of type "
                f"{type(named).__name__}"
            )
        variable = block.var(named if isinstance(named, str) else named.name)
        if not variable.has_dtype or not variable.dtype.is_continuous:
            held = variable.dtype if variable.has_dtype else variable.kind
            raise ArgumentError(
                f"derivatives are of floating-point variables, {variable.name!r} in {what} holds "
                f"{held}"
            )
        if variable.name in names:
            raise ArgumentError(f"{variable.name!r} stands twice in {what}")
        names.append(variable.name)
    if not names:
        raise ArgumentError(f"expected at least one variable in {what}")
    return names


list_public_names(globals())
api_boundaries(globals())
