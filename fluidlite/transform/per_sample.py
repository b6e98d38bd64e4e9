"""Gradients of the loss of each example of a batch."""

from __future__ import annotations

from collections.abc import Iterable

from ..backward.program import loss_gradients
from ..errors import ArgumentError, ShapeError, UnknownVariableError, suggestion
from ..ground.tracebacks import api_boundary
from ..ir.analysis import parameters_of
from ..ir.block import Block
from ..ir.program import Program
from ..ir.variable import Variable
from ..opdef.definition import lookup
from .batched_programs import vmap
from .editing import infer_shapes, transformed
from .results import Transformed
from .selecting import name_of, one_or_several


@api_boundary
def per_sample_gradients(
    loss: Variable,
    inputs: Iterable[Variable | str] | Variable | str,
    parameters: Iterable[Variable | str] | Variable | str | None = None,
    size: int | None = None,
    explain: bool = False,
) -> Transformed:
    """A program that computes the loss of each example of a batch, and its gradients.

    The program of the loss is one for a batch, and is given batches of one example.  Operators that
    follow the loss, as those of an optimizer, are left out.

    Args:
        loss: a variable of one element; its program stays as it was.
        inputs: the variables whose first dimension is that of the examples, or their names; one or
            several.
        parameters: what to differentiate by, one or several; all trainable parameters when None.
        size: the number of examples; None where it is known when the program runs.
        explain: print how each operator was batched.

    Returns:
        the program, its inputs, which are fed as those of the loss's program, and the losses,
        [examples, 1], followed by the gradients of each parameter, [examples, *its shape].

    Raises:
        UnknownVariableError: there is no such variable.
        ShapeError: an input has no dimension of examples; or the loss of an example has several
            elements.
        ArgumentError: the loss is no variable, or depends on no parameter; or an input is named
            twice.

    >>> x = fluid.data("x", [None, 3], "float32")
    >>> loss = fluid.layers.mean(fluid.layers.fc(x, 1, param_attr="w", bias_attr=False))
    >>> made = fluid.transform.per_sample_gradients(loss, [x])
    >>> exe = fluid.Executor()
    >>> _ = exe.run(fluid.default_startup_program())
    >>> rows = np.array([[1, 2, 3], [0, 0, 1]], "float32")
    >>> losses, gradients = exe.run(made.program, {"x": rows}, made.outputs)
    >>> gradients[..., 0].tolist()
    [[1.0, 2.0, 3.0], [0.0, 0.0, 1.0]]
    """
    if not isinstance(loss, Variable):
        raise ArgumentError(f"expected the loss to be a variable, got {loss!r:.60}")
    program = loss.block.program
    names = _names(inputs)
    if len(set(names)) < len(names):
        raise ArgumentError(f"expected each input once, got {names}")
    wanted = _parameters(program, parameters)
    for name in (*names, *wanted):
        known = program.global_block().vars
        if name not in known:
            raise UnknownVariableError(f"there is no variable {name!r}{suggestion(name, known)}")
    gradients: list[str] = []

    def differentiated(copied: Program) -> None:
        block = copied.global_block()
        for name in reversed(names):
            _take_one(block, name)
        infer_shapes(copied)
        pairs = loss_gradients(block.var(loss.name), wanted)  # some are not of this loss
        gradients.extend(gradient.name for _, gradient in pairs)

    one = transformed(program.pruned(names, [loss.name]), differentiated)
    if not gradients:
        raise ArgumentError(f"the loss {loss.name!r} depends on none of the parameters {wanted}")
    return vmap(one, names, [loss.name, *gradients], size, explain)


def _parameters(
    program: Program, asked: Iterable[Variable | str] | Variable | str | None
) -> list[str]:
    """The names of what to differentiate by."""
    if asked is not None:
        return _names(asked)
    return [p.name for p in parameters_of(program) if getattr(p, "trainable", True)]


def _names(listed: Iterable[Variable | str] | Variable | str) -> list[str]:
    """The names of one variable or several."""
    return [name_of(each) for each in one_or_several(listed, (str, Variable), "variables")]


def _take_one(block: Block, name: str) -> None:
    """Let an input hold one example, of which the operators get a batch.

    Raises:
        ShapeError: it has no dimension of examples.
    """
    variable = block.var(name)
    if not variable.ndim:
        raise ShapeError(f"expected {name!r} to have a dimension of examples, got shape []")
    example = variable.shape[1:]
    batch = block.declare_var(f"{name}@BATCH", variable.dtype, (1, *example))
    batch.stop_gradient = variable.stop_gradient
    for each in block.program.blocks:
        for op in each.ops:
            op.rename_input(name, batch.name)
    variable.declare(example)
    ops = list(block.ops)
    block.set_ops([])
    block.add_op(lookup("unsqueeze")({"axes": [0]}), {"X": variable}, {"Out": batch})
    block.set_ops([*block.ops, *ops])
