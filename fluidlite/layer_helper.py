"""What layers that users write are made with: parameters, variables and operators, in programs and,
within ``dygraph.guard()``, at once.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from . import unique_name
from .errors import ArgumentError, DTypeError
from .ground import state
from .ground.aliases import Alias
from .ground.arguments import refused
from .ground.dtypes import DType, as_dtype
from .ground.missing_names import answer
from .ground.protected import answers_protected
from .ground.public_names import list_public_names
from .ground.reprs import Described
from .ground.spellings import Spelling
from .ground.tracebacks import api_boundaries
from .initializer import Constant, Initializer, Xavier
from .ir.block import Block
from .ir.operator import Operator
from .ir.program import Program, default_main_program, default_startup_program
from .ir.variable import Parameter, Variable
from .layers.layer import LayerBuilder, activation_of, variables_of
from .param_attr import ParamAttr, as_param_attr

if TYPE_CHECKING:
    from .functions.arguments import DTypeLike


def _current_block(helper: ObjectHelper) -> Block:
    return helper.main_program.current_block()


@answers_protected
class ObjectHelper(Described):
    """Makes what a layer needs; each call passes all arguments.

    Args:
        name: the layer's name, which parameters and results are named after.
        layer_type: what kind of layer it is; the name when None.
        tensors: the class of its tensors, where it runs at once; that of the guard when None.
    """

    _shown = "name=name"

    def __init__(self, name: str, layer_type: str | None = None, tensors: Any = None) -> None:
        self._tensors = tensors
        self.name = name
        self.layer_type: str = layer_type or name
        self.kwargs: dict[str, Any] = {"name": name}

    def _eager(self) -> Any:
        """The class of tensors, where layers run at once."""
        return self._tensors or state.eager.get()

    @property
    def main_program(self) -> Program:
        """The program that layers append to."""
        return default_main_program()

    @property
    def startup_program(self) -> Program:
        """The program that gives parameters their first values."""
        return default_startup_program()

    # -- operators and variables -------------------------------------------------------------------

    append_op: Callable[..., Operator] = Spelling({})(
        Block.append_op,
        doc="""Append an operator to the current block; with tensors in its slots, run it into the
        given outputs.
        """,
        into={"self": _current_block, "stop_gradient": bool},
    )

    def create_variable_for_type_inference(
        self, dtype: DTypeLike, stop_gradient: bool = False
    ) -> Any:
        """A variable for a result, whose shape an operator tells; a blank tensor at once.

        Args:
            dtype: element type.
            stop_gradient: whether gradients stop at it.
        """
        kind = self._eager()
        if kind:
            made = kind.layer(kind, self.layer_type, self.name)
            return made.new_variable(dtype, stop_gradient)
        return self._builder().new_variable(dtype, stop_gradient)

    def create_variable(self, *args: Any, **kwargs: Any) -> Any:
        """A variable of the current block: arguments as of ``Block.create_var``; a blank tensor at
        once.
        """
        if self._eager():
            return self._blank(**kwargs)
        return self.main_program.current_block().create_var(*args, **kwargs)

    def create_global_variable(self, persistable: bool = False, *args: Any, **kwargs: Any) -> Any:
        """A variable of block 0.

        Args:
            persistable: whether it keeps its value between runs.
            args, kwargs: as of ``Block.create_var``.
        """
        if self._eager():
            return self._blank(persistable=persistable, **kwargs)
        block = self.main_program.global_block()
        return block.create_var(*args, **{"persistable": persistable, **kwargs})

    def _blank(
        self,
        name: str | None = None,
        dtype: Any = None,
        persistable: bool = False,
        stop_gradient: bool = False,
        **more: Any,
    ) -> Any:
        """A tensor that waits for the value that an operator gives it."""
        made = self.create_variable_for_type_inference(dtype, stop_gradient)
        made.name = name or made.name
        made.persistable = persistable
        return made

    def create_or_get_global_variable(
        self, name: str, *args: Any, **kwargs: Any
    ) -> tuple[Variable, bool]:
        """The variable of block 0 of a name, and whether it was made just now.

        Args:
            name: of the variable.
            args, kwargs: as of :meth:`create_global_variable`, if it is missing.
        """
        block = self.main_program.global_block()
        if block.has_var(name):
            return block.var(name), False
        return self.create_global_variable(*args, name=name, **kwargs), True

    def set_variable_initializer(self, var: Any, initializer: Initializer) -> None:
        """Let the startup program give a variable its first value; a tensor gets it now.

        Args:
            var: the variable.
            initializer: gives the value.
        """
        if not isinstance(var, Variable):
            kind = type(var).results
            made = kind.layer(kind, self.layer_type, None)
            attr = ParamAttr(initializer=initializer)
            var.array = made.own_parameter(attr, var.shape, var.dtype, "w", initializer).array
            return
        self.startup_program.global_block().create_var(
            name=var.name,
            type=var.kind,
            dtype=var.dtype,
            shape=var.shape,
            persistable=True,
            initializer=initializer,
        )

    def to_variable(self, value: Any, name: str | None = None) -> Any:
        """A tensor with an array's values, within ``dygraph.guard()``.

        Raises:
            ArgumentError: outside of it.
        """
        kind = self._eager()
        if not kind:
            raise ArgumentError("to_variable makes tensors: call it within fluid.dygraph.guard()")
        if isinstance(value, kind):
            return value
        made = kind(np.array(value))
        made.name = name or made.name
        return made

    # -- parameters --------------------------------------------------------------------------------

    def create_parameter(
        self,
        attr: Any,
        shape: Any,
        dtype: DTypeLike = None,
        is_bias: bool = False,
        default_initializer: Initializer | None = None,
        stop_gradient: bool = False,
        type: Any = None,
    ) -> Any:
        """A parameter called ``<layer>.w_<n>``, or ``<layer>.b_<n>``; None when ``attr`` is False.

        Args:
            attr: what the user said about it: a ParamAttr, a name, an initializer, ...
            shape: positive sizes.
            dtype: element type; float32 when None.
            is_bias: name it and start it as a bias.
            default_initializer: gives the value where ``attr`` does not; Xavier's, or 0 for a bias,
                when None.
            stop_gradient: whether gradients stop at it.
            type: accepted for old scripts: a tensor.

        Raises:
            ArgumentError: ``attr`` is something else.
            DTypeError: it is of integers, and nothing gives their value.
        """
        kind = as_dtype("float32" if dtype is None else dtype)
        param_attr = as_param_attr(attr)
        if param_attr is None:
            return None
        start = default_initializer or (Constant(0.0) if is_bias else Xavier())
        if default_initializer is None and param_attr.initializer is None and not kind.is_float:
            raise DTypeError(
                f"{self.name}: a parameter of {kind} needs an initializer, give default_initializer"
            )
        suffix = "b" if is_bias else "w"
        eager = self._eager()
        if eager:
            named = copy.copy(param_attr)
            named.name = param_attr.name or unique_name.generate(f"{self.name}.{suffix}")
            runner = eager.layer(eager, self.layer_type, self.name)
            return runner.own_parameter(named, shape, kind, suffix, start)
        return self._builder().parameter(param_attr, shape, kind, suffix, start, stop_gradient)

    def get_parameter(self, name: str) -> Parameter:
        """The program's parameter of a name.

        Raises:
            ArgumentError: the variable is no parameter.
            UnknownVariableError: there is no such variable.
        """
        found = self.main_program.global_block().var(name)
        if not isinstance(found, Parameter):
            raise ArgumentError(f"expected {name!r} to be a parameter, it is {found!r}")
        return found

    def append_activation(
        self, input_var: Any, act: Any = None, use_cudnn: Any = None, use_mkl_dnn: Any = None
    ) -> Any:
        """A variable, or its activation.

        Args:
            input_var: the variable.
            act: the type of an operator, or a dictionary with its ``type`` and attributes.
            use_cudnn, use_mkl_dnn: accepted for old scripts.

        Raises:
            ArgumentError: there is no such activation.
        """
        last = activation_of(act)
        if last is None:
            return input_var
        slot, out = last.inputs[0].name, last.outputs[0].name
        made = self.create_variable_for_type_inference(input_var.dtype)
        self.append_op(last.type, {slot: [input_var]}, {out: [made]}, last.attr_values())
        return made

    def is_instance(self, param: Any, cls: Any) -> None:
        """Check that an argument is of a class.

        Raises:
            ArgumentError: it is not.
        """
        if not isinstance(param, cls):
            raise ArgumentError(f"{self.name}: expected a {cls!r:.60}, got {param!r:.60}")

    def _builder(self) -> LayerBuilder:
        return LayerBuilder(self.layer_type, self.name)


class LayerHelper(ObjectHelper):
    """Makes what a layer that a user writes as a function needs, from the layer's arguments.

    Args:
        layer_type: what kind of layer it is.
        kwargs: the layer's arguments: ``input``, ``param_attr``, ``bias_attr``, ``act``, ``name``.

    >>> from fluidlite.layer_helper import LayerHelper
    >>> def doubled(input, act=None, name=None):
    ...     helper = LayerHelper("doubled", **locals())
    ...     out = helper.create_variable_for_type_inference(helper.input_dtype())
    ...     helper.append_op("scale", {"X": input}, {"Out": out}, {"scale": 2.0})
    ...     return helper.append_activation(out)
    >>> y = doubled(fluid.data("x", [None, 3], "float32"), act="relu")
    >>> y.name, [op.type for op in y.block.ops]
    ('doubled_0.tmp_1', ['scale', 'relu'])
    """

    def __init__(self, layer_type: str, **kwargs: Any) -> None:
        if kwargs.get("name") is None:
            kwargs["name"] = unique_name.generate(layer_type)
        super().__init__(kwargs["name"], layer_type)
        self.kwargs = kwargs

    _layer_type = Alias[str]("layer_type")
    _name = Alias[str]("name")

    def multiple_input(self, input_param_name: str = "input") -> list[Any]:
        """The layer's inputs, one or a list of them, as a list."""
        return variables_of(self.kwargs.get(input_param_name, []), input_param_name)

    def input(self, input_param_name: str = "input") -> Any:
        """The layer's only input.

        Raises:
            ArgumentError: there are several.
        """
        found = self.multiple_input(input_param_name)
        if len(found) != 1:
            raise ArgumentError(f"{self.layer_type} takes one input, got {len(found)}")
        return found[0]

    def input_dtype(self, input_param_name: str = "input") -> DType | None:
        """The element type of the inputs; None if there are none.

        Raises:
            DTypeError: they differ.
        """
        dtypes = [as_dtype(each.dtype) for each in self.multiple_input(input_param_name)]
        if len(set(dtypes)) > 1:
            listed = " and ".join(str(each) for each in dict.fromkeys(dtypes))
            raise DTypeError(f"{self.layer_type}: expected inputs of one type, got {listed}")
        return dtypes[0] if dtypes else None

    @property
    def param_attr(self) -> Any:
        """What the user said about the parameters, as a ParamAttr; False for none."""
        return self._attr("param_attr")

    @property
    def bias_attr(self) -> Any:
        """What the user said about the bias, as a ParamAttr; False for none."""
        return self._attr("bias_attr")

    def _attr(self, name: str) -> Any:
        given = self.kwargs.get(name)
        if isinstance(given, (list, tuple)):
            return [_attr_of(each) for each in given]
        return _attr_of(given)

    def multiple_param_attr(self, length: int) -> list[Any]:
        """What was said about the parameters, for each of several inputs.

        Raises:
            ArgumentError: a list of another length was given.
        """
        given = self.param_attr
        listed = given if isinstance(given, list) else [given]
        if len(listed) == 1 and length > 1:
            listed = [given, *[copy.copy(given) for _ in range(length - 1)]]
        if len(listed) != length:
            raise ArgumentError(
                f"{self.layer_type}: expected a param_attr for each of {length} inputs, got "
                f"{len(listed)}"
            )
        return listed

    def iter_inputs_and_params(self, input_param_name: str = "input") -> Iterator[tuple[Any, Any]]:
        """Each input with what was said about its parameter."""
        inputs = self.multiple_input(input_param_name)
        yield from zip(inputs, self.multiple_param_attr(len(inputs)), strict=True)

    def append_bias_op(self, input_var: Any, dim_start: int = 1, dim_end: int | None = None) -> Any:
        """A variable plus the layer's bias; the variable if there is none.

        Args:
            input_var: the variable.
            dim_start, dim_end: the bias has the variable's sizes from one dimension up to another.
        """
        attr = self.bias_attr
        if not attr:
            return input_var
        size = list(input_var.shape[dim_start:dim_end])
        bias = self.create_parameter(attr, size, input_var.dtype, is_bias=True)
        made = self.create_variable_for_type_inference(input_var.dtype)
        ins = {"X": [input_var], "Y": [bias]}
        self.append_op("elementwise_add", ins, {"Out": [made]}, {"axis": dim_start})
        return made

    def append_activation(self, input_var: Any, act: Any = None, *more: Any) -> Any:
        """A variable, or the activation of it that the layer was given as ``act``."""
        activation = self.kwargs.get("act") if act is None else act
        if isinstance(activation, str):
            activation = {"type": activation}
        elif isinstance(activation, dict):
            activation = dict(activation)
        switches = {k: self.kwargs[k] for k in ("use_cudnn", "use_mkldnn") if self.kwargs.get(k)}
        if activation is not None and switches and isinstance(activation, dict):
            known = getattr(activation_of({"type": activation.get("type")}), "attributes", {})
            activation = {**{k: v for k, v in switches.items() if k in known}, **activation}
        return super().append_activation(input_var, activation)

    def is_instance(self, param_name: str, cls: Any) -> None:
        """Check that an argument of the layer is of a class.

        Raises:
            ArgumentError: it is not.
        """
        given = self.kwargs.get(param_name)
        if not isinstance(given, cls):
            raise refused(self.layer_type, param_name, f"a {cls!r:.60}", given)


def _attr_of(given: Any) -> Any:
    return as_param_attr(given) or False


__all__ = ["LayerHelper"]

list_public_names(globals())
api_boundaries(globals())
answer(globals())
