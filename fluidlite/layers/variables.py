"""Variables and parameters on their own, and counting them up."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .. import unique_name
from ..errors import ArgumentError
from ..ground.dtypes import DType
from ..initializer import Constant, Initializer, Xavier
from ..ir.variable import Parameter, Variable
from ..param_attr import Attr, ParamAttr
from .layer import LayerBuilder, layer
from .params import global_variable
from .sizes import number

if TYPE_CHECKING:
    from ..functions.arguments import DTypeLike


@layer
def create_tensor(
    f: LayerBuilder, dtype: DTypeLike, name: str | None = None, persistable: bool = False
) -> Variable:
    """A variable that some operator will write.

    Args:
        dtype: element type.
        name: its name; generated when None.
        persistable: whether its value stays in the scope between runs.

    Returns:
        A variable whose shape is not known yet.

    >>> total = fluid.layers.create_tensor("float32", name="total")
    >>> fluid.layers.assign(np.zeros([2, 3], "float32"), output=total).shape
    (2, 3)
    """
    return f.block.create_var(name=f.name, dtype=dtype, persistable=persistable)


@layer
def create_parameter(
    f: LayerBuilder,
    shape: Sequence[int],
    dtype: DTypeLike,
    name: str | None = None,
    attr: Attr = None,
    is_bias: bool = False,
    default_initializer: Initializer | None = None,
) -> Parameter:
    """A parameter that belongs to no layer.

    Args:
        shape: positive sizes.
        dtype: element type.
        name: its name; generated when None.
        attr: more about it; a name in ``attr`` wins.
        is_bias: name it and start it as a bias.
        default_initializer: gives the first value where ``attr`` does not; Xavier's, or 0 for a
            bias, when None.

    Returns:
        The parameter.

    Raises:
        ArgumentError: a size is not positive, or ``attr`` is False.
        DuplicateVariableError: a variable of that name has another shape or element type.

    >>> fluid.layers.create_parameter([784, 200], "float32", name="w")
    <Parameter w: float32[784, 200] persistable>
    """
    layer_name = f.name  # generated in any case: so are the names of fluid's layers counted
    if attr is None:
        attr = ParamAttr(name=name)
    start = default_initializer or (Constant(0.0) if is_bias else Xavier())
    made = f.own_parameter(attr, shape, dtype, "b" if is_bias else "w", start)
    if made is None:
        raise ArgumentError(f"attr=False asks {layer_name} for no parameter; leave the call out")
    return made


@layer("global_var")
def create_global_var(
    f: LayerBuilder,
    shape: Sequence[int],
    value: float,
    dtype: DTypeLike,
    persistable: bool = False,
    force_cpu: bool = False,
    name: str | None = None,
) -> Variable:
    """A variable of block 0 that the startup program sets to a number; at once, a tensor of it.

    Args:
        shape: sizes.
        value: the number.
        dtype: element type.
        persistable: whether its value stays in the scope between runs.
        name: its name; generated when None.

    Returns:
        The variable, at which gradients stop.

    >>> fluid.layers.create_global_var([1], 0.1, "float32", persistable=True, name="rate")
    <Variable rate: float32[1] persistable stop_gradient>
    """
    name = unique_name.generate("_generated_var") if name is None else name
    start = Constant(number(value, "value"), force_cpu=force_cpu)
    return f.global_variable(name, shape, dtype, start, persistable)


@layer
def increment(f: LayerBuilder, x: Variable, value: float = 1.0, in_place: bool = True) -> Variable:
    """``x + value``.

    Args:
        x: a variable of one element.
        value: a number.
        in_place: write to ``x``.

    Returns:
        ``x``, or a new variable of shape [1].

    >>> i = fluid.layers.fill_constant([1], "int64", 0)
    >>> fluid.layers.increment(i) is i
    True
    """
    out = f.result(x if in_place else None)
    f.into("increment", {"X": x}, {"Out": out}, step=number(value, "value"))
    return out


@layer("global_step_counter")
def autoincreased_step_counter(
    f: LayerBuilder, counter_name: str | None = None, begin: int = 1, step: int = 1
) -> Variable:
    """The number of the run, which each run of the program counts up before anything else.

    Args:
        counter_name: the name of the variable, ``@STEP_COUNTER@`` when None; calls with one name
            share it.
        begin: one more than its value before the first run.
        step: what every run adds.

    Returns:
        A persistable int64 variable of shape [1], at which gradients stop.

    >>> fluid.layers.autoincreased_step_counter().name
    '@STEP_COUNTER@'
    """
    name = "@STEP_COUNTER@" if counter_name is None else counter_name
    block = f.block.program.global_block()
    counted = block.has_var(name)
    start = Constant(float(begin - 1), force_cpu=True)
    counter = global_variable(f.block.program, f.startup, name, [1], DType.INT64, start)
    if not counted:
        block.prepend_op(
            "increment",
            inputs={"X": counter},
            outputs={"Out": counter},
            attrs={"step": float(step)},
        )
    return counter
