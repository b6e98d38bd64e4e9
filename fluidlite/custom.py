"""Operators of the user's own, which programs and eager tensors call like a layer."""

from __future__ import annotations

import inspect
import keyword
import types
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

from .eager.layering import EagerLayer
from .eager.recording import Eager
from .errors import ArgumentError, DefinitionError
from .ground.tracebacks import api_boundaries
from .layers.layer import LayerBuilder, layer
from .opdef.attribute import REQUIRED
from .opdef.definition import Definition, Op, find, redefining

#: what interpreters reach operators by, next to names of their own
_INTERPRETERS = (LayerBuilder, EagerLayer, Eager)
_OWN = frozenset({"block", "checks", "given_name", "kind", "layer_type", "startup"})


def custom_op(definition: type) -> Callable[..., Any]:
    """Make an operator of a class that says what it computes, and a function that applies it.

    The class has the form of a built-in operator: ``signature``, the slots; annotated attributes
    with their defaults; ``infer``, shapes and element types of the outputs from those of the
    inputs (like the first input where it is left out); ``run``, the kernel, on arrays, ``xp`` being
    the module of their functions; ``grad``, the gradient rule, in operators: ``f.square(x)``, or
    Python's arithmetic, so that it can be differentiated again.  It needs no base class.

    The function takes the inputs in order, attributes by keyword, and ``name``, the stem of its
    results' names.  Called with variables, it appends the operator to their program; with eager
    tensors, it runs at once.  A program with the operator can be printed, saved and differentiated;
    the process that loads it needs the definition, too.

    In a notebook, and at the prompt, a cell may define its operator again: programs that have it,
    and tensors, use the new definition from then on.

    Args:
        definition: the class; its name is the operator's type.

    Returns:
        the function; its ``definition`` is the operator's class.

    Raises:
        DefinitionError: there is an operator of that name, or the definition cannot be right.

    >>> @fluid.custom_op
    ... class cubed:
    ...     \"\"\"Out = factor * X^3.\"\"\"
    ...     signature = "X -> Out"
    ...     factor: float = 1.0
    ...
    ...     def infer(self, X):
    ...         return X
    ...
    ...     def run(self, xp, X):
    ...         return self.factor * X**3
    ...
    ...     def grad(self, f, X, dOut):
    ...         return dict(X=lambda: dOut * f.scale(f.square(X), scale=3.0 * self.factor))
    >>> x = fluid.to_tensor([1.0, 2.0], stop_gradient=False)
    >>> y = cubed(x, factor=2.0)
    >>> y.backward()
    >>> y.tolist(), x.grad.tolist()
    ([2.0, 16.0], [6.0, 24.0])
    >>> cubed(fluid.data("x", [None, 3], "float32")).shape
    (-1, 3)
    """
    if not isinstance(definition, type):
        raise DefinitionError(
            f"custom_op decorates a class that defines an operator, got {definition!r:.60}"
        )
    made = definition if issubclass(definition, Op) else _defined(definition)
    if made.abstract:
        raise DefinitionError(f"{made.__name__} is abstract: it is no operator yet")
    return _function(made)


def _defined(written: type) -> Definition:
    """The operator that a plain class describes."""
    type_name = written.__name__
    if type_name.startswith("_") or type_name in _OWN or keyword.iskeyword(type_name):
        raise DefinitionError(f"an operator cannot be called {type_name}; rename the class")
    if any(hasattr(kind, type_name) for kind in _INTERPRETERS):
        raise DefinitionError(
            f"an operator cannot be called {type_name}: gradient rules call something else by "
            f"that name; rename the class"
        )
    taken = find(type_name)
    again = taken is not None and taken.__module__ == written.__module__ == "__main__"
    if taken is not None and not (again and taken.derived_from is None):
        what = "a gradient operator" if taken.derived_from is not None else "an operator"
        raise DefinitionError(
            f"there is {what} {type_name} already, in {taken.__module__}; rename the class"
        )
    if not isinstance(vars(written).get("signature"), str):
        raise DefinitionError(
            f'{type_name} needs a signature: the slots of its inputs and outputs, as in "X -> Out"'
        )
    body = {k: v for k, v in vars(written).items() if k not in ("__dict__", "__weakref__")}
    body["__annotations__"] = inspect.get_annotations(written)
    bases = tuple(base for base in written.__bases__ if base is not object)
    with nullcontext() if taken is None else redefining(taken):
        made: Any = types.new_class(type_name, (*bases, Op), None, lambda space: space.update(body))
    return made


def _function(definition: Definition) -> Callable[..., Any]:
    """What appends an operator, or runs it."""
    signature = _signature(definition)
    slots, shown = definition.input_slots, [s for s in definition.outputs if not s.hidden]
    visible = list(signature.parameters.values())[1:]
    names = {a.field: a.name for a in definition.attributes.values()}

    def apply(f: Any, *args: Any, name: Any = None, **kwargs: Any) -> Any:
        try:
            bound = signature.bind(f, *args, **kwargs).arguments
        except TypeError as error:
            raise ArgumentError(
                f"{definition.type}{signature.replace(parameters=visible)}: {error}"
            ) from None
        ins = {slot: bound.get(slot) for slot in slots}
        attrs = {names[field]: value for field, value in bound.items() if field in names}
        op = definition(attrs)
        outs = f.apply(op, ins, [slot.name for slot in shown])
        found = [outs.get(slot.name) for slot in shown]
        return found[0] if len(found) == 1 else tuple(found)

    apply.__name__ = apply.__qualname__ = definition.type
    apply.__doc__ = definition.__doc__
    apply.__module__ = definition.__module__
    apply.__signature__ = signature  # type: ignore[attr-defined]
    made: Any = layer(apply)
    made.definition = definition
    return made


def _signature(definition: Definition) -> inspect.Signature:
    """The interpreter, the inputs, the attributes, and the layer's name.

    Raises:
        DefinitionError: an input or attribute is called like another parameter.
    """
    kind = inspect.Parameter
    parameters = [kind("f", kind.POSITIONAL_ONLY)]
    optional = False
    for slot in definition.inputs:
        if not slot.name.isidentifier():
            raise DefinitionError(f"{definition.type}: {slot.name} is no name of a parameter")
        optional = optional or slot.optional
        annotation = "list[Variable]" if slot.many else "Variable"
        parameters.append(
            kind(
                slot.name,
                kind.POSITIONAL_OR_KEYWORD,
                default=None if optional else kind.empty,
                annotation=f"{annotation} | None" if slot.optional else annotation,
            )
        )
    for attribute in definition.attributes.values():
        default = kind.empty if attribute.default is REQUIRED else attribute.default
        parameters.append(kind(attribute.field, kind.KEYWORD_ONLY, default=default))
    parameters.append(kind("name", kind.KEYWORD_ONLY, default=None, annotation="str | None"))
    taken = [p.name for p in parameters]
    twice = sorted({name for name in taken if taken.count(name) > 1})
    if twice:
        raise DefinitionError(
            f"{definition.type}: {', '.join(twice)} cannot be an input or an attribute: the "
            f"function has a parameter of that name"
        )
    return inspect.Signature(parameters)


api_boundaries(globals())
