"""Layers that give their arguments to one operator, made of its definition.

    _unary = OperatorLayers(UNARY)
    relu6: Layer = _unary("relu6(x, threshold, name)")
    softshrink: Layer = _unary("softshrink(x, alpha: lambda = None)")

The text is the layer's signature, behind which stands the operator if that has another name, as in
``"has_inf(x) -> isinf"``.  A parameter is the input slot or the attribute of its name, small or
capital.  An annotation names another one; or a slot for variables and an attribute for numbers, as
in ``k: K | k``.  Types, defaults and the docstring are those of the definition.  A default in the
text goes first; None stands for the definition's, and ``...`` says that there is none.  Behind the
signature may stand what the docstring says beside the operator's: prose, sections and an example.

A layer that does more than that is a function under such a signature:

    @operator_layer.signature("row_conv(input: X, future_context_size: int, param_attr, act)")
    def row_conv(f: LayerBuilder, call: LayerCall) -> Variable:
        shape = [call.future_context_size + 1, call.input.shape[-1]]
        return f.row_conv(**call.ins, Filter=f.weight(call.param_attr, shape, call.input.dtype))

An annotation that is neither a slot nor an attribute is a type; such a parameter is the layer's
own, and has to be given if the type has no None.

Definitions are read when a layer is first called, or looked at in ``fluid.layers``.
"""

from __future__ import annotations

import ast
import functools
import inspect
import os
import re
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from keyword import iskeyword
from types import FunctionType
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias, TypeVar, cast

import numpy as np

from ..errors import DefinitionError
from ..ground.docstrings import Family
from ..ground.dtypes import DTypeLike
from ..ir.variable import Variable
from ..opdef.attribute import REQUIRED, Attribute
from ..opdef.definition import Op, lookup
from ..opdef.signature import Slot
from .layer import LAYERS, LayerBuilder, deferred_layer, is_variable, stopped, variables_of
from .operator_docstrings import description
from .sizes import integers

#: what layers are compiled as: a file of the package, whose frames users do not see
_WRITTEN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "<layer>")
_HEAD = re.compile(r"(\w+)\((.*)\)(?: -> (\w+))?", re.DOTALL)
_COMMA = re.compile(r",\s*(?![^\[(]*[\])])")
_PARAMETER = re.compile(r"(\w+)(?:: ([\w |.,\[\]]+?))?(?: ?= ?(.+))?", re.DOTALL)
#: parameters of layers that are not their operator's: where the result goes, and others
_TARGETS = ("out", "cond", "output")
_OF_LAYERS = {"name": "str | None", "act": "str | None", "dtype": "DTypeLike"}
_OF_LAYERS.update(dict.fromkeys(["param_attr", "bias_attr"], "Attr"))
_OF_LAYERS.update(dict.fromkeys(_TARGETS, "Variable | None"))


class LayerCall:
    """What a layer is called with: the arguments by their names."""

    ins: dict[str, Any]  #: the variables by slot, without those that are not given
    attrs: dict[str, Any]  #: the values by attribute, likewise

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """An argument."""


#: what functions of layers, and their annotations, name
_WORDS: dict[str, Any] = {
    "Any": Any,
    "DTypeLike": DTypeLike,
    "LayerCall": LayerCall,
    "Sequence": Sequence,
    "Variable": Variable,
    "integers": integers,
    "is_variable": is_variable,
    "stopped": stopped,
    "variables_of": variables_of,
}
_UNSAID: Any = object()
R = TypeVar("R")
#: layers that give one variable, and those that give several
Layer: TypeAlias = Callable[..., Variable]
Layers: TypeAlias = Callable[..., tuple[Variable, ...]]
#: kind of an attribute -> the annotation of a parameter
_TYPES = {
    "Long": "int",
    "Double": "float",
    "Tolerance": "float",
    "DType": "DTypeLike",
    "list[int]": "int | Sequence[int]",
    "list[Long]": "int | Sequence[int]",
    "list[float]": "Sequence[float]",
    "list[str]": "Sequence[str]",
}


class OperatorLayers:
    """A family of layers, each of which is one operator.

    Args:
        family: completes their docstrings; ``{x}`` in the text of its result is the first
            parameter.
        convert: gives slots and attributes of values of the parameters that it takes, and of the
            interpreter if it takes ``f``.
        then: gives the layer's result of the operator's, and of values of further parameters.
    """

    def __init__(
        self,
        family: Family = LAYERS,
        convert: Callable[..., Mapping[str, Any]] | None = None,
        then: Callable[..., Any] | None = None,
    ) -> None:
        self.family = family
        self.convert = convert
        self.then = then

    def __call__(
        self,
        text: str,
        *,
        stem: str | None = None,
        stops: Collection[str] = (),
        is_stopped: bool = False,
        is_named: bool = False,
        module: str | None = None,
        **fixed: Any,
    ) -> Callable[..., Variable]:
        """The layer; it belongs to the module that calls this.

        Args:
            text: its signature, and what its docstring says beside the operator's.
            stem: of the layer's name; the name of the function when None.
            stops: parameters whose variables get no gradient.
            is_stopped: whether no gradient flows through the result; the user's ``cond`` stays.
            is_named: whether the result has the name that the user gives the layer.
            module: another module that it belongs to.
            fixed: values of attributes.
        """
        signature, _, docstring = inspect.cleandoc(text).partition("\n\n")
        form = _Form(
            module or sys._getframe(1).f_globals["__name__"],
            *_head(signature),
            docstring,
            self.family,
            self.convert,
            self.then,
            stops,
            is_stopped,
            is_named,
            fixed,
        )
        return _deferred(form, stem)

    def each(self, names: str, parameters: str, **options: Any) -> tuple[Layer, ...]:
        """Layers that take the same; they belong to the module that calls this.

        Args:
            names: of the layers.
            parameters: what stands in parentheses behind each name.
            options: what :meth:`__call__` takes besides.
        """
        module = sys._getframe(1).f_globals["__name__"]
        texts = [f"{name}({parameters})" for name in names.split()]
        return tuple(self(text, module=module, **options) for text in texts)

    #: the layer of an operator that has several results
    several: Final = cast("Callable[..., Callable[..., tuple[Variable, ...]]]", __call__)

    def signature(
        self, text: str, stem: str | None = None
    ) -> Callable[[Callable[[LayerBuilder, LayerCall], R]], Callable[..., R]]:
        """A decorator of a function that does what the layer does, of an interpreter and the
        arguments.

        Args:
            text: the signature of the layer.
            stem: of the layer's name; the type of the operator when None.
        """

        def decorator(body: Callable[[LayerBuilder, LayerCall], R]) -> Callable[..., R]:
            head, told = _head(inspect.cleandoc(text)), body.__doc__ or ""
            form = _Form(body.__module__, *head, told, self.family, body=body)
            return _deferred(form, stem or form.type)

        return decorator


operator_layer: OperatorLayers = OperatorLayers()
same_shape: OperatorLayers = OperatorLayers(
    LAYERS.extended({}, returns="A variable of the shape of ``{x}``.")
)


@dataclass(frozen=True)
class _Form:
    """What is said of a layer."""

    module: str
    name: str
    type: str
    parameters: list[str]
    docstring: str
    family: Family
    convert: Callable[..., Mapping[str, Any]] | None = None
    then: Callable[..., Any] | None = None
    stops: Collection[str] = ()
    is_stopped: bool = False
    is_named: bool = False
    fixed: Mapping[str, Any] = field(default_factory=dict)
    body: Callable[[LayerBuilder, LayerCall], Any] | None = None


class _Parameter(NamedTuple):
    """A parameter of a layer, and what it means to the operator."""

    name: str
    annotation: str
    default: Any  #: ``REQUIRED`` if there is none
    slot: Slot | None = None
    attribute: Attribute | None = None


def _head(signature: str) -> tuple[str, str, list[str]]:
    """The name of a layer, its operator, and the texts of its parameters."""
    head = _HEAD.fullmatch(signature)
    if head is None:
        raise DefinitionError(f"expected the signature of a layer, got {signature!r}")
    name, listed, type = head.groups()
    return name, type or name, _COMMA.split(listed)


def _deferred(form: _Form, stem: str | None) -> Callable[..., Any]:
    """The layer, which is made when it is first called, or looked at."""
    make, takes_act = functools.partial(_made, form), "act" in form.parameters
    return deferred_layer(form.name, form.module, make, stem=stem, act=takes_act)


def _made(form: _Form) -> FunctionType:
    """The function of an interpreter that a layer is."""
    definition = lookup(form.type)
    taken = {**_taken(form.convert), **dict([*_taken(form.then).items()][1:])}
    parameters = [_parameter(text, definition, taken) for text in form.parameters]
    scope = {**vars(sys.modules[form.module]), **_WORDS}
    scope.update(convert=form.convert, then=form.then, fixed=form.fixed, body=form.body)
    exec(compile(_source(parameters, definition, form), _WRITTEN, "exec"), scope)
    function: FunctionType = scope[form.name]
    function.__module__ = form.module
    function.__defaults__ = (
        tuple(p.default for p in parameters if p.default is not REQUIRED) or None
    )
    function.__annotations__ = {p.name: p.annotation for p in parameters}
    last = form.then or form.body
    function.__annotations__["return"] = (
        _result(definition) if last is None else last.__annotations__["return"]
    )
    if definition.__doc__:  # Python leaves docstrings out when told to
        function.__doc__ = _docstring(parameters, definition, form)
    return function


def _taken(function: Callable[..., Any] | None) -> Mapping[str, inspect.Parameter]:
    """The parameters of a function, if there is one."""
    return {} if function is None else inspect.signature(function).parameters


def _parameter(
    text: str, definition: type[Op], taken: Mapping[str, inspect.Parameter]
) -> _Parameter:
    """A parameter, as its text and the definition say."""
    found = _PARAMETER.fullmatch(text)
    if found is None:
        raise DefinitionError(f"{definition.type}: expected a parameter of a layer, got {text!r}")
    name, named, default = found.groups()
    said = _UNSAID if default is None else ast.literal_eval(default)
    wanted = [name] if named is None else named.split(" | ")
    slot = _first(wanted, definition.input_slots)
    attribute = _first(wanted, definition.attributes)
    kinds, may_lack = [], False
    if name in taken or (slot is None and attribute is None):
        own = _OF_LAYERS.get(name, "Any") if named is None else named
        kinds.append(taken[name].annotation if name in taken else own)
        lacks = None if named is None or "None" in named else REQUIRED
        usual = taken[name].default if name in taken else lacks
        usual = REQUIRED if usual is inspect.Parameter.empty else usual
        slot = attribute = None
    else:
        usual = _shown(attribute) if attribute is not None else REQUIRED
        kinds += [] if attribute is None else [_TYPES.get(attribute.kind, attribute.kind)]
        if slot is not None:
            kinds.append("Variable | Sequence[Variable]" if slot.many else "Variable")
            may_lack = slot.optional and attribute is None
            usual = None if may_lack else usual
        usual_type = attribute is not None and attribute.kind == "DType"  # None is among them
        kinds += ["None"] * ((said is None or may_lack) and not usual_type)
    value = usual if said is _UNSAID else REQUIRED if said is ... else said
    return _Parameter(name, " | ".join(kinds), value, slot, attribute)


def _first(names: Sequence[str], known: Mapping[str, Any]) -> Any:
    """What has one of the names, or one that differs in capitals and underscores alone; None where
    nothing has.
    """
    plain = {_plain(each): value for each, value in reversed([*known.items()])}
    found = (known.get(name) or plain.get(_plain(name)) for name in names)
    return next(filter(None, found), None)


def _plain(name: str) -> str:
    return name.replace("_", "").lower()


def _shown(attribute: Attribute) -> Any:
    """The default of an attribute, as it was written."""
    value = attribute.default
    if attribute.kind in ("float", "Tolerance") and value is not REQUIRED:
        return float(str(np.float32(value)))
    return list(value) if isinstance(value, tuple) else value


def _source(parameters: Sequence[_Parameter], definition: type[Op], form: _Form) -> str:
    """The text of the function."""
    told = [p.name if p.default is REQUIRED else f"{p.name}=None" for p in parameters]
    ins = {p.slot.name: _input(p, form.stops) for p in parameters if p.slot is not None}
    attrs = [_attribute(p) for p in parameters if p.attribute is not None]
    if form.body is not None:
        return _call_of_body(form, told, parameters, attrs)
    if form.convert is not None:
        attrs.append(f"**convert({', '.join(_taken(form.convert))})")
    attrs += ["**fixed"] * bool(form.fixed)
    target = next((p.name for p in parameters if p.name in _TARGETS), None)
    lines = [_first_line(form, told)]
    if target or form.is_named:
        lines.append(f"    made = f.{'named_result()' if form.is_named else f'result({target})'}")
        slots = ", ".join(f"{slot!r}: {value}" for slot, value in ins.items())
        out = definition.visible_outputs[0]
        arguments = [repr(form.type), f"{{{slots}}}", f"{{{out!r}: made}}", *attrs]
        lines.append(f"    f.into({', '.join(arguments)})")
    else:
        arguments, placed = [], True  # in order as far as there are no gaps, which is faster
        for slot in definition.input_slots:
            placed = placed and slot in ins
            arguments += [ins[slot] if placed else f"{slot}={ins[slot]}"] if slot in ins else []
        lines.append(f"    made = f.{form.type}({', '.join([*arguments, *attrs])})")
    if form.is_stopped:
        kept = "made if cond is not None else " if target == "cond" else ""
        lines.append(f"    made = {kept}stopped(made)")
    rest = ", ".join(["made", *[*_taken(form.then)][1:]])
    lines.append("    return made" if form.then is None else f"    return then({rest})")
    return "\n".join(lines)


def _call_of_body(
    form: _Form, told: list[str], parameters: Sequence[_Parameter], attrs: Sequence[str]
) -> str:
    """The text of a function that gives its arguments to the one which somebody wrote."""
    named = "".join(f"{p.name!r}: {p.name}, " for p in parameters)
    slots = []
    for p in parameters:
        if p.slot is not None:
            entry = f"{p.slot.name!r}: {_input(p, ())}"
            is_left_out = f"**({{}} if {p.name} is None else {{{entry}}})"
            slots.append(is_left_out if p.default is None else entry)
    ins, others = ", ".join(slots), ", ".join(attrs)
    return (
        f"{_first_line(form, told)}\n"
        f"    call = LayerCall()\n"
        f"    call.__dict__ = {{{named}'ins': {{{ins}}}, 'attrs': dict({others})}}\n"
        f"    return body(f, call)"
    )


def _first_line(form: _Form, told: list[str]) -> str:
    return f"def {form.name}({', '.join(['f', *told])}):"


def _input(parameter: _Parameter, stops: Collection[str]) -> str:
    """The text of what an input slot gets."""
    name, slot = parameter.name, parameter.slot
    if parameter.attribute is not None:
        return f"stopped({name}) if is_variable({name}) else None"
    if name in stops:
        return f"{name} if {name} is None else stopped({name})"
    return f"variables_of({name}, {name!r})" if slot is not None and slot.many else name


def _attribute(parameter: _Parameter) -> str:
    """The text of what an attribute gets."""
    name, attribute = parameter.name, parameter.attribute
    assert attribute is not None
    is_list = attribute.kind in ("list[int]", "list[Long]")
    value = f"integers({name}, {name!r})" if is_list else name
    entry = f"{{{attribute.name!r}: {value}}}"
    if parameter.slot is not None:
        return f"**({{}} if is_variable({name}) else {entry})"
    if parameter.default is None:
        return f"**({{}} if {name} is None else {entry})"
    is_word = attribute.name.isidentifier() and not iskeyword(attribute.name)
    return f"{attribute.name}={value}" if is_word else f"**{entry}"


def _result(definition: type[Op]) -> str:
    """The annotation of what an operator gives."""
    visible = [slot for slot in definition.outputs if not slot.hidden]
    kinds = ["list[Variable]" if slot.many else "Variable" for slot in visible]
    return kinds[0] if len(kinds) == 1 else f"tuple[{', '.join(kinds)}]"


def _docstring(parameters: Sequence[_Parameter], definition: type[Op], form: _Form) -> str:
    """What the text says, then what the operator's docstring says, then what the family says."""
    known = {**definition.input_slots, **definition.attributes}
    named = [(p.name, (p.slot, p.attribute, _first([p.name], known))) for p in parameters]
    names = {part.name: name for name, parts in named for part in parts if part}
    said = description(definition, names)
    first = parameters[0].name if parameters else ""
    returns = form.family.returns.replace("{x}", first)
    arguments = {p.name: text for p in parameters if (text := _said(p, said.arguments, form))}
    if form.body is None:
        returns = said.results or returns
    else:  # the family knows what the layer is, which is more than its operator
        arguments = {**arguments, **form.family.args}
    family = form.family.extended(arguments, returns=returns)
    own = form.docstring
    if not own or own.startswith(("Args:", "Returns:", "Raises:", ">>>")):
        own = "\n\n".join(filter(None, [said.prose, own]))
    return family.completed(own, form.name, [p.name for p in parameters])


def _said(parameter: _Parameter, arguments: Mapping[str, str], form: _Form) -> str:
    """What the docstring says of a parameter; nothing where the family has the word."""
    name, _, default, slot, attribute = parameter
    text = arguments.get(name, "")
    if name == "name" and form.is_named:
        return "of the result."
    if slot is None and attribute is None and name in form.family.args:
        return ""
    if slot is not None and attribute is not None:
        return text if "variable" in text else f"{text.rstrip('.')}; or a variable that holds it."
    if slot is not None and not text and name not in form.family.args:
        return "variables." if slot.many else "a variable."
    if attribute is None or default is not None or (not text and name in form.family.args):
        return text
    usual = f"{_shown(attribute)!r} when None."
    return f"{text.rstrip('.')}; {usual}" if text else usual
