"""The table of ONNX's operators: which function builds each, and how it is called.

    @operator("Gemm")
    def gemm(f, a, b, c=None, *, alpha=1.0, beta=1.0, transA=0, transB=0): ...

The first parameter is an interpreter, the next ones are the node's inputs: None for one that is
absent, ``*xs`` for any number.  Those behind the star are its attributes with their defaults; a
default that is a dataclass stands for all of its fields, which are attributes that several
operators share.  What :data:`TOLD` lists tells of the node, where the function asks for it.  It
gives the output, or a tuple of them; ``NotImplemented`` where the standard's own definition, a
function, is to be used.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

import numpy as np

from ..errors import UnsupportedError

#: parameters that tell of the node and are no attributes
TOLD = frozenset({"opset", "count", "wanted"})
#: (domain, type) of an operator -> what builds it
NODE_BUILDERS: dict[tuple[str, str], NodeForm] = {}


@dataclass(frozen=True)
class NodeForm:
    """A function that builds an operator, and what its signature says."""

    build: Callable[..., Any]
    most: int  #: how many inputs it takes; -1 for any number
    attributes: frozenset[str]
    required: frozenset[str]
    told: frozenset[str]
    fixed: frozenset[int]  #: inputs that are settings
    moved: dict[str, int]  #: attribute of old versions -> the input that it has become
    unread: frozenset[str]  #: attributes that change nothing here
    shared: dict[str, Any]  #: parameter -> the attributes that it gathers, with their defaults

    def call(self, f: Any, ins: list[Any], attrs: dict[str, Any], **told: Any) -> Any:
        """What the operator gives.

        Args:
            f: an interpreter.
            ins: the inputs; None for those that are absent.
            attrs: the attributes that the node has.
            told: ``opset``, the version of the standard; ``count``, how many outputs the node has;
                ``wanted``, which of them have a name.

        Raises:
            UnsupportedError: it takes no such input or attribute.
        """
        if self.most >= 0:
            if any(v is not None for v in ins[self.most :]):
                raise UnsupportedError(f"expected at most {self.most} inputs, got {len(ins)}")
            ins = [*ins[: self.most], *[None] * (self.most - len(ins))]
        unknown = sorted(set(attrs) - self.attributes)
        if unknown:
            raise UnsupportedError(f"the attribute {unknown[0]!r} has no meaning here")
        missing = sorted(self.required - set(attrs))
        if missing:
            raise UnsupportedError(f"expected the attribute {missing[0]!r}")
        named = {name: value for name, value in attrs.items() if name not in self.unread}
        for name in self.moved.keys() & named.keys():
            at, value = self.moved[name], named.pop(name)
            ins[at] = np.asarray(value) if ins[at] is None else ins[at]
        for parameter, default in self.shared.items():
            own = {
                each.name: named.pop(each.name) for each in fields(default) if each.name in named
            }
            named[parameter] = replace(default, **own)
        return self.build(f, *ins, **named, **{name: told[name] for name in self.told})


def operator(
    *types: str,
    domain: str = "",
    fixed: Sequence[str] = (),
    moved: Sequence[str] = (),
    unread: Sequence[str] = (),
    others: Collection[str] = (),
    inputs: int = -1,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A decorator: the function builds operators of these types.

    Args:
        types, domain: of the operators.
        fixed: inputs that are settings, as scales of quantised numbers are: where they are
            initializers they are constants, and no parameters.
        moved: inputs that are attributes in old models.
        unread: attributes that change nothing here.
        others: attributes that a function takes as ``**others``.
        inputs: how many a function takes that has ``*xs`` for them; -1 for any number.
    """

    def register(build: Callable[..., Any]) -> Callable[..., Any]:
        for type in types:
            NODE_BUILDERS[domain, type] = _form(build, fixed, moved, unread, others, inputs)
        return build

    return register


def operators(builds: Mapping[str, Callable[..., Any]], unread: Sequence[str] = ()) -> None:
    """The same for a table of them: type of an operator -> the function that builds it."""
    for type, build in builds.items():
        operator(type, unread=unread)(build)


def _form(
    build: Callable[..., Any],
    fixed: Sequence[str],
    moved: Sequence[str],
    unread: Sequence[str],
    others: Collection[str],
    inputs: int,
) -> NodeForm:
    taken = list(inspect.signature(build).parameters.values())[1:]
    parameters = [p for p in taken if p.kind is not p.VAR_KEYWORD]
    named = [p for p in parameters if p.kind is p.KEYWORD_ONLY]
    variadic = any(p.kind is p.VAR_POSITIONAL for p in parameters)
    shared = {p.name: p.default for p in named if is_dataclass(p.default)}
    attributes = {p.name for p in named if p.name not in shared} - TOLD
    attributes.update(moved, unread, others)
    attributes.update(each.name for group in shared.values() for each in fields(group))
    return NodeForm(
        build,
        inputs if variadic else len(parameters) - len(named),
        frozenset(attributes),
        frozenset(p.name for p in named if p.default is p.empty) - TOLD,
        frozenset(p.name for p in named) & TOLD,
        frozenset(i for i, p in enumerate(parameters) if p.name in fixed),
        {p.name: i for i, p in enumerate(parameters) if p.name in moved},
        frozenset(unread),
        shared,
    )
