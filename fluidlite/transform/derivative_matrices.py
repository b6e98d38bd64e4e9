"""Whole matrices of derivatives, as programs: all directions at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from ..errors import ArgumentError, ShapeError
from ..ground.dtypes import DType
from ..ground.public_names import list_public_names
from ..ground.tracebacks import api_boundaries
from ..ir.block import Block
from ..ir.builder import Builder
from ..ir.program import Program
from ..ir.variable import Variable
from ..opdef.spec import Shape, size_of
from .batched_programs import vmap
from .derivatives import Variables, chosen, free_name, gradient_program, jvp, vjp
from .editing import transformed
from .results import Transformed

__all__ = ["hessian", "jacobian"]

#: in which direction derivatives are taken
Mode = Literal["auto", "forward", "reverse"]


def jacobian(
    program: Program, outputs: Variables, inputs: Variables, mode: Mode = "auto"
) -> Transformed:
    """A program that computes the derivatives of all elements of outputs by all of inputs.

    Forward mode takes a direction for each element of the inputs, reverse mode one for each of the
    outputs; all of them at once, as :func:`vmap` does it.

    Args:
        program: any, whose shapes are known; it stays as it was.  Operators that the derivatives
            do not need are left out of the result.
        outputs: one or several floating-point variables of the global block.
        inputs: one or several, with respect to which.
        mode: "forward" or "reverse"; "auto" for the one with fewer directions.

    Returns:
        the program, nothing more to be fed, and for each output, for each input, a variable
        ``<output>@JACOBIAN@<input>`` with the shape of the one and then that of the other.

    Raises:
        UnknownVariableError: there is no such variable.
        ArgumentError: nothing is named, something twice, or a variable that holds no real numbers;
            or there is no such mode.
        ShapeError: a size is not known.
        NoGradientError: an operator on the way has no gradient rule.
        UnsupportedError: an operator on the way cannot do all directions at once.

    >>> x = fluid.data("x", [2], "float32")
    >>> y = fluid.layers.concat([x * x, fluid.layers.reduce_sum(x)])
    >>> program, _, (matrix,) = fluid.transform.jacobian(fluid.default_main_program(), y, x)
    >>> matrix.name, matrix.shape
    ('concat_0.tmp_0@JACOBIAN@x', (3, 2))
    >>> fluid.Executor().run(program, {"x": np.array([3, 4], "f")}, [matrix])[0].tolist()
    [[6.0, 0.0], [0.0, 8.0], [1.0, 1.0]]
    """
    if mode not in ("auto", "forward", "reverse"):
        raise ArgumentError(f"expected mode 'auto', 'forward' or 'reverse', got {mode!r:.60}")
    ys, xs = chosen(program, outputs, "outputs"), chosen(program, inputs, "inputs")
    rows, columns = _Elements(program, ys), _Elements(program, xs)
    forward = columns.count <= rows.count if mode == "auto" else mode == "forward"
    seeded = columns if forward else rows
    if not seeded.count:
        return _empty(program, rows, columns)
    one = (jvp if forward else vjp)(program, ys, xs)
    many = vmap(one.program, one.inputs, one.outputs, size=seeded.count)
    names: list[str] = []

    def change(copied: Program) -> None:
        block = copied.global_block()
        ops = list(block.ops)
        block.set_ops([])
        _seed(block, seeded, [v.name for v in many.inputs])
        feeds = [op for op in ops if op.type == "feed"]
        block.set_ops([*feeds, *block.ops, *(op for op in ops if op.type != "feed")])
        results = [v.name for v in many.outputs]
        append = _columns if forward else _rows
        names.extend(append(block, rows, columns, results))

    made = transformed(many.program, change)
    return Transformed(made, (), tuple(made.global_block().var(name) for name in names))


def hessian(program: Program, output: Variable | str, inputs: Variables) -> Transformed:
    """A program that computes all second derivatives of an output.

    The gradients are differentiated in forward mode, in all directions at once.

    Args:
        program: any, whose shapes are known; it stays as it was.
        output: a floating-point variable of one element.
        inputs: one or several variables, with respect to which.

    Returns:
        the program, nothing more to be fed, and for each input, for each input, a variable
        ``<input>@GRAD@JACOBIAN@<input>`` with the shape of the one and then that of the other.

    Raises:
        UnknownVariableError: there is no such variable.
        ArgumentError: nothing is named, something twice, or a variable that holds no real numbers.
        ShapeError: the output has several elements, or a size is not known.
        NoGradientError: an operator on the way has no gradient rule.
        UnsupportedError: an operator on the way cannot do all directions at once.

    >>> x = fluid.data("x", [2], "float32")
    >>> y = fluid.layers.reduce_sum(x * x * x)
    >>> program, _, (matrix,) = fluid.transform.hessian(fluid.default_main_program(), y, x)
    >>> fluid.Executor().run(program, {"x": np.array([3, 4], "f")}, [matrix])[0].tolist()
    [[18.0, 0.0], [0.0, 24.0]]
    """
    slopes = gradient_program(program, output, inputs)
    return jacobian(slopes.program, [v.name for v in slopes.outputs], inputs, "forward")


def _empty(program: Program, rows: _Elements, columns: _Elements) -> Transformed:
    """A program that also computes matrices without elements."""
    names: list[str] = []

    def change(copied: Program) -> None:
        f = copied.global_block().builder("derivatives")
        for y, y_shape, _, _ in rows.parts():
            for x, x_shape, _, _ in columns.parts():
                dtype, shape = f.block.var(y).dtype, [*y_shape, *x_shape]
                nothing = f.fill_constant(shape=shape, dtype=dtype, value=0.0)
                names.append(_named(f, nothing, f"{y}@JACOBIAN@{x}", shape))

    made = transformed(program, change)
    return Transformed(made, (), tuple(made.global_block().var(name) for name in names))


class _Elements:
    """The elements of variables, one after the other.

    Args:
        program: whose.
        names: of the variables.

    Raises:
        ShapeError: a size is not known.
    """

    def __init__(self, program: Program, names: Sequence[str]) -> None:
        self.names = list(names)
        self.shapes: list[Shape] = []
        block = program.global_block()
        for name in names:
            variable = block.var(name)
            if not variable.has_shape or -1 in variable.shape:
                raise ShapeError(
                    f"a matrix of derivatives has a known size, {name!r} has shape "
                    f"{list(variable.shape) if variable.has_shape else 'unknown'}; declare sizes "
                    "by transform.specialize(program, shapes=...)"
                )
            self.shapes.append(variable.shape)
        self.sizes = [size_of(shape) for shape in self.shapes]
        self.count = sum(self.sizes)

    def parts(self) -> Iterator[tuple[str, Shape, int, int]]:
        """Of each variable the name, the shape, and where its elements begin and end."""
        end = 0
        for name, shape, size in zip(self.names, self.shapes, self.sizes):
            yield name, shape, end, end + size
            end += size


def _seed(block: Block, seeded: _Elements, names: Iterable[str]) -> None:
    """Give variables all directions, which they were fed before.

    Args:
        block: is empty.
        seeded: the elements that there is a direction for.
        names: of the variables, [directions, *shape] each.
    """
    f = block.builder("directions")
    units: dict[DType, Variable] = {}
    for name, (_, shape, begin, end) in zip(names, seeded.parts(), strict=True):
        variable = block.var(name)
        variable.is_data = variable.need_check_feed = False
        unit = units.get(variable.dtype)
        if unit is None:
            unit = units[variable.dtype] = f.eye(num_rows=seeded.count, dtype=variable.dtype)
        part = _cut(f, unit, 1, begin, end)
        block.append_op(
            "reshape", {"X": part}, {"Out": variable}, {"shape": [seeded.count, *shape]}
        )


def _columns(
    block: Block, rows: _Elements, columns: _Elements, results: Sequence[str]
) -> Iterator[str]:
    """Append what makes matrices of the changes of outputs along all directions; their names.

    Args:
        block: where to append.
        rows, columns: the elements of outputs and of inputs.
        results: names of the changes, [directions, *shape] each.
    """
    f = block.builder("derivatives")
    changes = zip(rows.parts(), results, strict=True)
    for (y, y_shape, begin, end), result in changes:
        change = _shaped(f, block.var(result), [columns.count, end - begin])
        change = f.transpose(change, axis=[1, 0])
        for x, x_shape, x_begin, x_end in columns.parts():
            part = _cut(f, change, 1, x_begin, x_end)
            yield _named(f, part, f"{y}@JACOBIAN@{x}", [*y_shape, *x_shape])


def _rows(
    block: Block, rows: _Elements, columns: _Elements, results: Sequence[str]
) -> Iterator[str]:
    """The same of the gradients of inputs."""
    f = block.builder("derivatives")
    for y, y_shape, begin, end in rows.parts():
        for (x, x_shape, _, _), result in zip(columns.parts(), results, strict=True):
            part = _cut(f, block.var(result), 0, begin, end)
            yield _named(f, part, f"{y}@JACOBIAN@{x}", [*y_shape, *x_shape])


def _named(f: Builder, part: Variable, name: str, shape: list[int]) -> str:
    """A value in a shape and under a name, or one like it that is free."""
    block = f.block
    matrix = block.create_var(name=free_name(block, name), dtype=part.dtype)
    block.append_op("reshape", {"X": part}, {"Out": matrix}, {"shape": shape})
    return matrix.name


def _shaped(f: Builder, value: Variable, shape: list[int]) -> Variable:
    """A value in a shape."""
    return value if list(value.shape) == shape else f.reshape(value, shape=shape)


def _cut(f: Builder, matrix: Variable, axis: int, begin: int, end: int) -> Variable:
    """Some rows or columns of a matrix."""
    if end - begin == matrix.shape[axis]:
        return matrix
    return f.slice(matrix, axes=[axis], starts=[begin], ends=[end])


list_public_names(globals())
api_boundaries(globals())
