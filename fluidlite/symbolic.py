"""Functions of tensors on variables of programs: what they append.

A function reads the shape and the element type of its operands, and applies operators to them.  An
operator on a variable is appended to the current block, and gives variables.
"""

from __future__ import annotations

import functools
import types
import weakref
from collections.abc import Collection, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, NamedTuple

import numpy as np

from .eager.recording import TensorRecord
from .eager.storage import Storage
from .eager.tensor import Tensor
from .errors import ArgumentError, InplaceError
from .functions.bounds_in_run import cut, put
from .functions.items import get_item
from .functions.mixing import WIDER, Promotion
from .functions.noise import exponential_like, normal_like, uniform_like
from .functions.put_back import WHOLES, is_view, put_back
from .ground import state
from .ground.callsite import called, entered
from .ground.dtypes import DType, as_dtype
from .ground.tracebacks import UNDO
from .initializer import NumpyArrayInitializer
from .ir.abstract import AbstractArray
from .ir.block import Block
from .ir.builder import Builder
from .ir.program import Program, default_startup_program
from .ir.variable import Variable
from .layers.function_builder import FunctionBuilder
from .layers.layer import LayerBuilder, Undo
from .modules.drawing import array_of, draws_in_startup
from .opdef.definition import Op, lookup

#: operators of eager tensors -> those that fluid 1.8 has for the same
_IN_PROGRAMS = {"reshape": "reshape2", "transpose": "transpose2"}


def append(
    x: Variable, op: Op, ins: Mapping[str, Any], want: Collection[str] | None = None
) -> dict[str, Any]:
    """The outputs of an operator, appended to the current block of a variable's program, by slot.

    Args:
        x: the variable, one of the inputs.
        op: the operator.
        ins: variables, arrays and parameters of modules by slot.
        want: which of the outputs that may be absent are made.
    """
    f = _builder(x)
    operands = {
        slot: [operand(each, f) for each in value]
        if isinstance(value, (list, tuple))
        else operand(value, f)
        for slot, value in ins.items()
        if value is not None
    }
    written = _in_programs(op)
    if not written.statistics:
        return f.apply(written, operands, want)
    updated = {f"{slot}Out": slot for slot in written.statistics}
    outs = {
        slot.name: operands[updated[slot.name]] if slot.name in updated else f.new_variable()
        for slot in written.outputs
        if not slot.optional
    }
    f.append(written, operands, outs)
    return outs


def result(x: Variable, given: Any, origin: Any = None, stop: bool = True) -> Variable:
    """A variable where a function makes a tensor of an array.

    Args:
        x: a variable of the program.
        given: an array: a constant of the program; or what stands for one of a variable.
        origin, stop: as of tensors; nothing is remembered of variables.
    """
    return given.variable if isinstance(given, AbstractArray) else _constant(given, _builder(x))


def item(x: Variable, index: Any) -> Variable:
    """``x[index]``.

    Args:
        x: a variable.
        index: numbers, slices and ``...`` make fluid's operators; what else tensors take, others.
    """
    x, index = cut(x, index)
    entries = index if isinstance(index, tuple) else (index,)
    if not all(map(_is_plain, entries)):
        return get_item(x, index)
    part: Variable = x.block.program.current_block().builder("tmp").item(x, index)
    dropped = [each for each in entries if not isinstance(each, (slice, type(...)))]
    whole = state.builds.get() and part.shape == (1,) and len(dropped) == len(x.shape)
    return _builder(part).reshape2(part, shape=()) if whole else part


def iterates() -> bool:
    """Whether a variable of known rows is iterated over, as tensors are."""
    call = _module.get()
    return state.builds.get() or (call is not None and call.kind.iterates)


def put_item(x: Variable, index: Any, value: Any) -> None:
    """``x[index] = value``, as tensors take it: x has other elements from here on."""
    _write(x, lambda old: put(old, index, value))


def _is_plain(entry: Any) -> bool:
    """Whether fluid's operators take an entry of an index."""
    if isinstance(entry, Variable):
        is_one = entry.shape == () or (entry.shape == (1,) and not state.builds.get())
        return entry.dtype.dtype.kind in "iu" and is_one
    is_number = isinstance(entry, np.ndarray) and entry.size == 1 and entry.dtype.kind in "iu"
    is_mask = isinstance(entry, bool) and (calls_append() or state.builds.get())
    return is_number or (isinstance(entry, (int, np.integer, slice, type(...))) and not is_mask)


def _builder(x: Variable) -> LayerBuilder:
    """The interpreter that appends to the current block of a variable's program."""
    return _builder_of(x.block.program)


def _builder_of(program: Program) -> LayerBuilder:
    f = FunctionBuilder("tensor", None)
    f.block = program.current_block()
    _begins_call(program)
    return f


def constant(array: Any, program: Program) -> Variable:
    """A variable with the elements of an array.

    Args:
        array: numbers or truth values.
        program: gets the operators that make them, in its current block.
    """
    return _constant(array, _builder_of(program))


def _in_programs(op: Op) -> Op:
    """An operator as programs have it: fluid's types; results without dimensions in paddle 2's mode
    alone.
    """
    attrs = op.attr_values()
    if not state.builds.get():
        if attrs.get("zero_d"):
            attrs["zero_d"] = False
        if op.type in ("reshape", "reshape2") and not tuple(attrs.get("shape") or ()):
            attrs["shape"] = (1,)
    definition = lookup(_IN_PROGRAMS.get(op.type, op.type))
    known = {name: value for name, value in attrs.items() if name in definition.attributes}
    return definition(known)


def operand(value: Any, f: LayerBuilder) -> Variable:
    """The variable that stands for an operand in a program.

    Args:
        value: a variable; an array: a constant; a parameter or a buffer of a module: the variable
            of its name.
        f: appends to the program.

    Raises:
        ArgumentError: another tensor, outside of the call of a module.
    """
    if isinstance(value, Variable):
        return value
    if not isinstance(value, TensorRecord):
        return _constant(np.asarray(value), f)
    if getattr(value, "persistable", False):
        return _kept(value, f.block.program)
    if not value.stop:
        raise ArgumentError(
            f"{called()}: a tensor that was computed from parameters outside of the program would "
            f"be a constant in it; read parameters from attributes of the layer, within its "
            f"forward()"
        )
    if _module.get():
        return _constant(value.array, f)
    raise ArgumentError(
        f"{called()} got a tensor among variables of a program; a tensor has its value now, a "
        f"variable when its program runs: feed it"
    )


def beside(x: Variable, value: Any) -> Variable:
    """The variable that stands for an operand of Python's operators beside another one."""
    array = np.asarray(value, x.dtype.part.whole.dtype) if isinstance(value, complex) else value
    return operand(array, _builder(x))


def promotion() -> Promotion:
    """How element types are chosen for functions of variables: as for tensors of the module that is
    called; else as paddle 2 has it, whose functions they are.
    """
    call = _module.get()
    found: Promotion = (Tensor if call is None else call.kind).promotion
    return found


def mixed(x: Variable, method: str, other: Any, reflected: bool) -> Variable | None:
    """What Python's operators make of variables of two element types, of quotients that are rounded
    and of fractions of integers: where a module is called what they make of its tensors, in the
    static mode of paddle 2 what of that one's; None elsewhere: the operators of variables are
    fluid's.

    Args:
        x: a variable.
        method: the name of the operator's method, as ``__radd__``.
        other: the other one.
        reflected: whether the other one is the left one.
    """
    call = _module.get()
    if promotion() is WIDER or (call is None and not state.builds.get()):
        return None
    kind = Tensor if call is None else call.kind
    function = kind.operator_functions["__" + method[3:] if reflected else method]
    made: Variable = function(other, x) if reflected else function(x, other)
    return made


def is_operand(value: Any) -> bool:
    """Whether Python's operators take a value beside a variable, and it is no real number, as an
    array of one element is in fluid: arrays, too; also tensors, where a module is called.
    """
    if _module.get() is None:
        return isinstance(value, complex) or (isinstance(value, np.ndarray) and value.size != 1)
    return isinstance(value, (TensorRecord, np.ndarray, complex))


def _kept(tensor: Any, program: Program) -> Variable:
    """The variable that a program has for a parameter or a buffer: under its name, with its value
    at first.

    Raises:
        ArgumentError: the program has one for another tensor of that name.
    """
    block = program.global_block()
    existing = block.vars.get(tensor.name)
    if existing is not None:
        owner = (existing._get_info(_OWNER) or (lambda: None))()
        if owner is not None and owner is not tensor:
            raise ArgumentError(
                f"{called()} uses two parameters called {tensor.name!r} in one program; give one "
                f"of them another name"
            )
        return existing
    array = array_of(tensor) if state.builds.get() else np.atleast_1d(tensor.array)
    variable = declared(block, tensor, tensor.name, array)
    variable._set_info(_OWNER, weakref.ref(tensor))
    there = default_startup_program().global_block()
    if tensor.name not in there.vars:
        form = dict(shape=array.shape, dtype=variable.dtype, persistable=True)
        twin = there.create_var(tensor.name, **form)
        if draws_in_startup(tensor, twin, there):
            return variable
        if variable.dtype in (DType.FP32, DType.FP16, DType.INT64):
            NumpyArrayInitializer(array)(twin, there)
        else:
            f = Builder(there, "init")
            f.append(lookup("assign")({}), {"X": _written(f, array)}, {"Out": twin})
    return variable


_OWNER = "parameter of a module"


def declared(block: Block, tensor: Any, name: str, array: Any = None) -> Variable:
    """A persistable variable of a program for a tensor or an array: a parameter for a parameter.

    Args:
        block: the first one of the program.
        tensor: what has the value.
        name: of the variable; another one of that stem where it is taken.
        array: of the shape and element type of the variable; the tensor's when None.
    """
    name = free_name(block, name)
    array = getattr(tensor, "array", tensor) if array is None else array
    shape, dtype, stop = array.shape, as_dtype(array.dtype), getattr(tensor, "stop", True)
    if getattr(type(tensor), "persistable", False) and shape and all(shape):
        chosen = {
            option: getattr(tensor, option)
            for option in ("optimize_attr", "regularizer", "gradient_clip_attr", "need_clip")
            if hasattr(tensor, option)
        }
        return block.create_parameter(
            shape, dtype, name, trainable=not stop, stop_gradient=stop, **chosen
        )
    made: Variable = block.create_var(
        name=name, shape=shape, dtype=dtype, persistable=True, stop_gradient=stop
    )
    return made


def free_name(block: Block, name: str) -> str:
    """A name that no variable of a block has: this one, or another with the same stem."""
    stem, count = name.rpartition("_")[0] or name, 0
    while name in block.vars:
        name, count = f"{stem}_{count}", count + 1
    return name


def _constant(array: Any, f: Builder) -> Variable:
    """A variable with the elements of an array."""
    made = _written(f, np.asarray(array) if state.builds.get() else np.atleast_1d(array))
    made.stop_gradient = True
    return made


def _written(f: Builder, array: Any) -> Variable:
    """A variable with the elements of an array, in attributes of operators that fluid 1.8 has: it
    writes lists of float32, integers and truth values.
    """
    dtype = as_dtype(array.dtype)
    if dtype.is_complex:
        return f.complex(_written(f, array.real), _written(f, array.imag))
    if dtype.dtype.kind == "f" and array.size and (array == array.flat[0]).all():
        text = repr(float(array.flat[0]))
        near = float(np.clip(float(text), *_SINGLE))
        return f.fill_constant(shape=array.shape, dtype=dtype, value=near, str_value=text)
    if dtype is DType.FP64:
        return _in_parts(f, array)
    kind = "float32" if dtype.is_float else array.dtype if array.dtype.name in _LISTS else "int32"
    values = {_LISTS[np.dtype(kind).name]: array.astype(kind).reshape(-1).tolist()}
    given = as_dtype(kind)
    found = f.assign_value(shape=array.shape, dtype=given, **values)
    return found if found.dtype is dtype else f.cast(found, in_dtype=given, out_dtype=dtype)


_SINGLE = np.finfo("float32").min, np.finfo("float32").max
_LISTS = {
    "bool": "bool_values",
    "float32": "fp32_values",
    "int32": "int32_values",
    "int64": "int64_values",
}


def _in_parts(f: Builder, array: Any) -> Variable:
    """The exact sum of float32 numbers; times powers of two where one is too large or small."""
    fraction, exponent = np.frexp(array)
    near = np.abs(exponent).max(initial=0) <= _FAR
    rest = array if near else fraction * 2
    total = None
    while total is None or rest.any():
        part = rest.astype("float32")
        rest = np.subtract(rest, part, out=np.zeros(rest.shape), where=np.isfinite(rest))
        wide = f.cast(_written(f, part), in_dtype=DType.FP32, out_dtype=DType.FP64)
        total = wide if total is None else f.elementwise_add(total, wide)
    if near:
        return total
    powers = _written(f, (exponent - 1).astype("int32"))
    powers = f.cast(powers, in_dtype=DType.INT32, out_dtype=DType.FP64)
    two = f.fill_constant(shape=array.shape, dtype=DType.FP64, value=2.0)
    return f.elementwise_mul(total, f.elementwise_pow(two, powers))


_FAR = 60  #: exponents of numbers that are sums of three float32 numbers


class ModuleCall(NamedTuple):
    """The call of a module with variables."""

    kind: Any  #: the class of the module's tensors
    program: Program


_module: state.StateSlot[ModuleCall | None] = state.slot("modules append", lambda: None)
_NO_GUARD = nullcontext()


def appending(kind: Any, *given: Any) -> AbstractContextManager[Any]:
    """A guard for the call of a module: where variables are given, parameters are read as those of
    the program, variables have the methods of the module's tensors, and what was appended is taken
    away again when the call fails.

    Args:
        kind: the class of the module's tensors.
        given: what the module is called with.
    """
    for each in given:
        # most calls: tensors alone, and no keywords
        if each.__class__ is not kind and (each.__class__ is not dict or each):
            x = _variable_in(given)
            return _NO_GUARD if x is None else _calling(ModuleCall(kind, x.block.program))
    return _NO_GUARD


@contextmanager
def _calling(call: ModuleCall) -> Iterator[None]:
    undo = _undo(call.program)
    try:
        with _module.guard(call):
            yield
    except BaseException:
        undo()
        raise


def _undo(program: Program) -> Undo:
    return Undo(program.current_block(), default_startup_program().global_block())


def _begins_call(program: Program) -> None:
    """Let what the function appends that the user called be taken away again where it fails."""
    frame = entered()
    if frame is not None and UNDO not in frame.f_locals:
        frame.f_locals[UNDO] = _undo(program)


def _variable_in(given: Any) -> Variable | None:
    for element in given:
        if isinstance(element, Variable):
            return element
        if element.__class__ is dict:
            element = element.values()
        elif not isinstance(element, (list, tuple)):
            continue
        found = _variable_in(element)
        if found is not None:
            return found
    return None


def in_program(value: Any) -> Any:
    """A parameter or a buffer of a module; the program's variable for it where the module is called
    with variables.
    """
    call = _module.get()
    return _kept(value, call.program) if call and isinstance(value, TensorRecord) else value


def calls_append() -> bool:
    """Whether a module is called with variables now."""
    return _module.get() is not None


# -- methods of variables --------------------------------------------------------------------------


def _write(x: Variable, change: Any, reshaped: bool = False) -> Variable:
    """The variable with another value from here on.

    Args:
        x: a variable.
        change: takes it, and gives one of its shape.
        reshaped: the shape may change.

    Raises:
        InplaceError: the variable is a parameter, or another one that wants a gradient and that no
            operator wrote; or the shape would change.
    """
    if not x.stop_gradient and x.op is None:
        raise InplaceError(
            f"{called()} writes in place to variable {x.name!r}, which wants a gradient and is the "
            f"result of no operator; write to a clone() of it"
        )
    shape = x.__dict__.setdefault("_shape_as_made", x.shape)
    changed = change(x)
    if changed.shape != x.shape and not reshaped:
        raise InplaceError(
            f"{called()}: a write in place cannot change the shape of variable {x.name!r} from "
            f"{list(x.shape)} to {list(changed.shape)}"
        )
    if changed.dtype != x.dtype:
        changed = changed.astype(x.dtype)
    f = _builder(x)
    f.append(lookup("assign")({}), {"X": changed}, {"Out": x})
    x.stop_gradient = x.stop_gradient and changed.stop_gradient
    _write_whole(x, shape)
    return x


def _write_whole(x: Variable, shape: Any) -> None:
    """Write the elements of a variable to what it is a view of, where it has a shape."""
    op = _made_by(x)
    if op is None or op.type not in WHOLES:
        return
    find: Any = x.block.find_var_recursive
    whole = find(op.input(WHOLES[op.type])[0])
    before = _made_by(whole)
    if op.type == "squeeze2":  # a row that a loop has gathered
        if before is not None and before.type == "gather":
            index = find(before.input("Index")[0])
            _write(find(before.input("X")[0]), lambda old: put(old, index, x))
    elif is_view(op, whole, before) and (before is not None or whole.stop_gradient):
        view = x if x.shape == shape else x.reshape(list(shape))
        _write(whole, lambda old: put_back(op, old, view))


def _made_by(x: Variable) -> Any:
    """The first operator that writes a variable."""
    return next((op for op in x.block.ops if op.writes(x.name)), None)


def _write_shape(x: Variable, change: Any) -> Variable:
    """The same as ``write`` for a function that changes the shape."""
    return _write(x, change, reshaped=True)


def _write_type(x: Variable, change: Any) -> Variable:
    """What a function makes of a variable that changes the element type: another variable, as in
    paddle 2, since a variable of a program keeps its type.
    """
    made: Variable = change(x)
    return made


def _alias(x: Variable) -> Variable:
    """The variable."""
    return x


def _detach(x: Variable) -> Variable:
    """The same value, at which gradients stop."""
    made: Variable = _builder(x).assign(x)
    made.stop_gradient = True
    return made


def _uniform_(x: Variable, min: float = -1.0, max: float = 1.0, seed: int = 0) -> Variable:
    """Draw all elements anew in every run, equally likely in [min, max), in place."""
    return _write(x, lambda old: uniform_like(old, min, max))


def _normal_(x: Variable, mean: float = 0.0, std: float = 1.0) -> Variable:
    """Draw all elements anew in every run, normally distributed, in place."""
    return _write(x, lambda old: normal_like(old) * std + mean)


def _exponential_(x: Variable, lam: float = 1.0) -> Variable:
    """Draw all elements anew in every run, exponentially distributed, in place."""
    return _write(x, lambda old: exponential_like(old, lam))


#: methods of tensors that do something else for variables
_OWN: dict[str, Any] = {
    "exponential_": _exponential_,
    "normal_": _normal_,
    "uniform_": _uniform_,
    "alias": _alias,
    "data": property(_detach),
    "detach": _detach,
    "write": _write,
    "write_shape": _write_shape,
    "write_type": _write_type,
}
#: what tensors have because they have elements and a past
_OF_TENSORS = frozenset(
    {
        *("accumulate", "backward", "clear_grad", "clear_gradient", "detach_", "grad", "grad_fn"),
        *("gradient", "inplace_version", "is_leaf", "item", "layer", "place", "raw_gradient"),
        *("receive", "register_hook", "replace", "retain_grad", "retain_grads", "set_value"),
        *(
            "tolist",
            "kaiming_normal_",
            "kaiming_uniform_",
            "orthogonal_",
            "trunc_normal_",
            "xavier_normal_",
        ),
        *("check_meta_consistency", "nms", "placement", "sbp", "to_numpy", "xavier_uniform_"),
        *(name for name in vars(Storage) if name[0] != "_"),
    }
)


@functools.lru_cache(None)
def _methods_of(kind: Any) -> Mapping[str, Any]:
    """The methods and properties of a class of tensors that variables have, too."""
    members: dict[str, Any] = {}
    for each in reversed(kind.__mro__[: kind.__mro__.index(TensorRecord)]):
        for name, member in vars(each).items():
            if name[:1] != "_" and isinstance(member, (types.FunctionType, property)):
                members[name] = member
    for name in _OF_TENSORS:
        members.pop(name, None)
    return {
        name: member
        for name, member in {**members, **_OWN, **kind.of_variables}.items()
        if not hasattr(Variable, name)
    }


def methods() -> Mapping[str, Any]:
    """The methods of variables: those of the tensors of the module that is being called, or of
    fluid's.
    """
    call = _module.get()
    return _methods_of(Tensor if call is None else call.kind)
