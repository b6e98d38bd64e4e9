"""Creating parameters: the variable in the main program, its first value in the startup program."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .. import unique_name
from ..errors import ArgumentError
from ..ground.dtypes import as_dtype
from ..ground.state import builds, in_dygraph_mode
from ..initializer import Constant, Initializer, NumpyArrayInitializer, Xavier
from ..ir.program import Program
from ..ir.variable import Parameter, Variable
from ..opdef.attribute import whole_number
from ..param_attr import WeightNormParamAttr, as_param_attr
from .weight_norm import weight_norm

if TYPE_CHECKING:
    import numpy as np

    from ..functions.arguments import DTypeLike
    from ..ir.block import Block


class Parameters:
    """The part of a layer's interpreter that makes parameters."""

    block: Block
    startup: Program

    @property
    def name(self) -> str:
        """The layer's name."""
        raise NotImplementedError

    def weight(
        self,
        attr: Any,
        shape: Sequence[int],
        dtype: DTypeLike,
        default: Initializer | None = None,
        stop_gradient: bool = False,
    ) -> Parameter | None:
        """A weight called ``<layer>.w_<n>``; None when ``attr`` is False.

        Args:
            attr: what ``as_param_attr`` takes.
            shape: positive sizes.
            dtype: element type.
            default: initializer where the user gave none; Xavier's (uniform) when None.
            stop_gradient: whether gradients stop at it.
        """
        return self.parameter(attr, shape, dtype, "w", default or Xavier(), stop_gradient)

    def fixed(self, array: np.ndarray[Any, Any]) -> Any:
        """A weight that holds an array and stays as it is.

        Args:
            array: its values.
        """
        holds = NumpyArrayInitializer(array)
        parameter: Any = self.weight(None, array.shape, array.dtype, holds, stop_gradient=True)
        parameter.trainable = False
        return parameter

    def bias(self, x: Variable, attr: Any, shape: Sequence[int], axis: int = 1) -> Variable:
        """``x`` plus a bias called ``<layer>.b_<n>``, aligned with the dimensions of ``x`` from
        ``axis``.

        Args:
            x: what to add to.
            attr: what ``as_param_attr`` takes; False for no bias.
            shape: the bias's shape.
            axis: where it is aligned.
        """
        made = self.parameter(attr, shape, x.dtype, "b", Constant(0.0))
        if made is None:
            return x
        total: Variable = self.elementwise_add(x, made, axis=axis)  # type: ignore[attr-defined]
        return total

    def bias_parameter(self, attr: Any, shape: Sequence[int], dtype: DTypeLike) -> Parameter | None:
        """A bias called ``<layer>.b_<n>``; None when ``attr`` is False."""
        return self.parameter(attr, shape, dtype, "b", Constant(0.0))

    def parameter(
        self,
        attr: Any,
        shape: Sequence[int],
        dtype: DTypeLike,
        suffix: str,
        default: Initializer,
        stop_gradient: bool = False,
    ) -> Parameter | None:
        """A parameter called ``<layer>.<suffix>_<n>``; None when ``attr`` is False.

        Args:
            attr: what ``as_param_attr`` takes; or the parameter, which is there already.
            shape: positive sizes.
            dtype: element type.
            suffix: the last part of a generated name.
            default: initializer where the user gave none.
            stop_gradient: whether gradients stop at it.

        Raises:
            ArgumentError: within ``dygraph.guard()``; or the parameter has no such dimension as a
                WeightNormParamAttr names.
            DuplicateVariableError: a variable of that name has another shape or element type.
        """
        if isinstance(attr, Variable):
            return attr  # type: ignore[return-value]
        param_attr = as_param_attr(attr)
        if param_attr is None:
            return None
        if in_dygraph_mode():
            raise ArgumentError(
                f"{self.name} would make a parameter of a program within dygraph.guard(); build "
                f"programs outside of it, or use one of the classes of fluid.dygraph"
            )
        name = param_attr.name or unique_name.generate(f"{self.name}.{suffix}")
        more = param_attr.parameter_arguments()
        sizes, dtype = [whole_number(n) for n in shape], as_dtype(dtype)
        stop = {"stop_gradient": True} if stop_gradient else {}
        start = param_attr.initializer or default
        if isinstance(param_attr, WeightNormParamAttr):
            weight = weight_norm(
                self.block, self.startup, self.name, name, param_attr, sizes, dtype, start
            )
            return weight  # type: ignore[return-value]
        parameter = self.block.create_parameter(sizes, dtype, name, **more, **stop)
        self.startup.global_block().create_parameter(
            sizes,
            dtype,
            name,
            initializer=start,
            stop_gradient=False,  # nothing flows there; so do fluid's startup programs say
            **more,
        )
        return parameter

    def own_parameter(
        self, attr: Any, shape: Sequence[int], dtype: DTypeLike, suffix: str, default: Initializer
    ) -> Parameter | None:
        """A parameter that belongs to no other layer; arguments as of :meth:`parameter`."""
        return self.parameter(attr, shape, dtype, suffix, default)

    def persistable(
        self, name: str, shape: Sequence[int], dtype: DTypeLike, initializer: Initializer
    ) -> Variable:
        """A persistable variable that is no parameter, in both programs.

        Args:
            name: its name.
            shape, dtype: as of any variable.
            initializer: gives the first value.
        """
        return self.global_variable(name, shape, dtype, initializer)

    def global_variable(
        self,
        name: str,
        shape: Sequence[int],
        dtype: DTypeLike,
        initializer: Initializer,
        persistable: bool = True,
    ) -> Variable:
        """A variable of block 0, with its first value in the startup program.

        Args:
            name, shape, dtype, initializer: as of :meth:`persistable`.
            persistable: whether the program keeps its value between runs.
        """
        main = self.block.program
        return global_variable(main, self.startup, name, shape, dtype, initializer, persistable)


def global_variable(
    main: Program,
    startup: Program,
    name: str,
    shape: Sequence[int],
    dtype: DTypeLike,
    initializer: Initializer,
    persistable: bool = True,
) -> Variable:
    """A variable in block 0 of ``main``, and a persistable one in ``startup`` with its first value.

    Args:
        main, startup: the programs.
        name: its name.
        shape, dtype: as of any variable.
        initializer: gives the first value.
        persistable: whether ``main`` keeps its value between runs.
    """
    variable = main.global_block().create_var(
        name=name, shape=shape, dtype=dtype, persistable=persistable
    )
    variable.stop_gradient = True
    block = startup.global_block()
    if not block.has_var(name):
        first = block.create_var(
            name=name, shape=shape, dtype=dtype, persistable=True, initializer=initializer
        )
        first.stop_gradient = builds.get()
    return variable
