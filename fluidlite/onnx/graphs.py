"""Reading graphs of ONNX node by node, and gathering what cannot be read."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..errors import FileFormatError, FluidError, UnsupportedError
from ..ground.dtypes import DType, as_dtype
from ..ground.quoting import printable
from ..ir.analysis import blocks_driven_by
from ..ir.operator import Operator
from ..ir.variable import Variable
from .building import Appending, ConstantFolding, TooLarge
from .expansion import check_expansion
from .forms import NODE_BUILDERS
from .functions import (
    OnnxFunction,
    check_age,
    key_of,
    local_functions,
    no_form,
    standard_function,
    version_of,
)
from .reading import Tensors
from .widened import Widened, bare, handling, wrapped

#: how deep bodies and functions may lie in each other, and how many nodes a model may have with
#: its functions written out
DEEPEST, MOST_NODES = 48, 10**6
#: operators that only move elements, so that what is known of some of them stays known
_MOVES = frozenset(
    {"Cast", "Concat", "Gather", "Identity", "Reshape", "Slice", "Squeeze", "Unsqueeze"}
)
_UNKNOWN = -(2**53)  # stands for an element that is not known
_MOST_SIZES = 64  #: elements of a vector of sizes that are looked at
_RANDOM = frozenset({"Bernoulli", "Multinomial"})


class _Body(NamedTuple):
    """What nodes stand in: a graph, or a function that is written out."""

    env: dict[str, Any]  #: values by name; takes the results
    opsets: Mapping[str, int]  #: the versions of operators by domain
    given: Mapping[str, Any] | None  #: attributes of the function; None in a graph


class _NewOperators:
    """What a node has appended, by what it reads and writes."""

    def __init__(self, ops: list[Operator]) -> None:
        self.have_blocks = any(map(blocks_driven_by, ops))
        self.written = {name for op in ops for name in op.output_arg_names}
        self._by_name: dict[str, dict[Operator, None]] = {}
        for op in ops:
            for name in (*op.input_arg_names, *op.output_arg_names):
                self._by_name.setdefault(name, {})[op] = None

    def rename(self, old: str, new: str) -> None:
        """Give a variable another name in them."""
        ops = self._by_name.pop(old)
        for op in ops:
            if op.reads(old):
                op.rename_input(old, new)
            if op.writes(old):
                op.rename_output(old, new)
        self._by_name.setdefault(new, {}).update(ops)
        self.written.discard(old)
        self.written.add(new)


@dataclass(frozen=True)
class Missing:
    """A value that a node without a form would have given."""


@dataclass(frozen=True)
class Unread:
    """What of a model has no form here."""

    place: str
    reason: str
    type: str  #: of a node; empty for what is none


def place_of(node: Any, number: int) -> str:
    """What messages call a node, which has a number in its graph."""
    return f"node {node.name or number!r} ({printable(node.op_type)})"


class GraphReader:
    """Builds the operators of graphs.

    Args:
        f: takes them.
        tensors: gives arrays.
        opsets: the versions of operators by domain.
        model: the message, for its functions.
    """

    def __init__(self, f: Appending, tensors: Tensors, opsets: dict[str, int], model: Any) -> None:
        self.f = f
        self.missing: Missing = Missing()
        self._folding = ConstantFolding()
        self._tensors = tensors
        self._opsets = opsets
        self._functions = local_functions(model, tensors.path)
        check_expansion(model, self._functions, tensors.path, MOST_NODES, DEEPEST)
        self._failures: dict[Unread, None] = {}
        self._depth = self._count = 0
        self._names: dict[str, str] = {}
        self._taken: set[str] = set()

    # -- graphs ------------------------------------------------------------------------------------

    def constants_of(self, graph: Any) -> dict[str, Any]:
        """The initializers of a graph by name.

        Raises:
            FileFormatError: a name occurs twice, or an array is not whole.
        """
        env: dict[str, Any] = {}
        for tensor in graph.initializer:
            self._once(tensor.name, env, "initializer")
            place = f"initializer {tensor.name!r}"
            try:
                env[tensor.name] = self._tensors.array(tensor, place)
            except UnsupportedError as error:
                self.fail(place, str(error))
                env[tensor.name] = self.missing
        for tensor in graph.sparse_initializer:
            name = tensor.values.name
            self._once(name, env, "initializer")
            env[name] = self._tensors.sparse(tensor, f"initializer {name!r}")
        self._folding.add_room(v for v in env.values() if isinstance(v, np.ndarray))
        return env

    def run(self, graph: Any, env: dict[str, Any]) -> list[Any]:
        """Build the nodes of a graph.

        Args:
            graph: the message.
            env: values by name; takes the results.

        Returns:
            the values of its outputs.
        """
        self._enter(graph.name)
        for number, node in enumerate(graph.node):
            self._node(node, number, _Body(env, self._opsets, None))
        self._depth -= 1
        return [self._value(each.name, env, f"output {each.name!r}") for each in graph.output]

    def _enter(self, what: str) -> None:
        self._depth += 1
        if self._depth > DEEPEST:
            raise FileFormatError(
                f"{self._tensors.path}: expected bodies and functions at most {DEEPEST} deep in "
                f"each other, found more at {what!r}"
            )

    def _value(self, name: str, env: Mapping[str, Any], place: str) -> Any:
        if name not in env:
            raise FileFormatError(
                f"{self._tensors.path}: {place}: expected the name of a value, found {name!r}, "
                "which nothing gives"
            )
        return env[name]

    def _once(self, name: str, env: Mapping[str, Any], place: str) -> None:
        if name in env:
            raise FileFormatError(
                f"{self._tensors.path}: {place}: expected a new name, found {name!r} twice"
            )

    # -- nodes -------------------------------------------------------------------------------------

    def _node(self, node: Any, number: int, body: _Body) -> None:
        """Build a node.

        Args:
            node, number: the message, and which of its graph it is.
            body: what it stands in; takes the results.
        """
        place, env = place_of(node, number), body.env
        self._count += 1
        if self._count > MOST_NODES:
            raise FileFormatError(
                f"{self._tensors.path}: expected at most {MOST_NODES} nodes with all functions "
                f"written out, found more at {place}"
            )
        ins = [None if not n else self._value(n, env, place) for n in node.input]
        for name in filter(None, node.output):
            self._once(name, env, place)
        if any(v is self.missing for v in ins):
            env.update(dict.fromkeys(filter(None, node.output), self.missing))
            return
        names = list(node.output)
        failures = len(self._failures)
        block = self.f.block
        mark = len(block.ops)
        try:
            values = self._built(node, ins, body, place)
            if len(values) < len(names) and any(names[len(values) :]):
                raise UnsupportedError(f"it gives {len(values)} values, and not {len(names)}")
        except FileFormatError:
            raise
        except (FluidError, *_FAULTS) as error:
            if len(self._failures) == failures:
                self.fail(place, _reason(error), node.op_type)
            values = [self.missing] * len(names)
        new = _NewOperators(block.ops[mark:])
        for name, value in zip(names, values):
            if name:
                env[name] = self._named(value, name, new) if body.given is None else value

    def _built(self, node: Any, ins: list[Any], body: _Body, place: str) -> list[Any]:
        """The values that a node gives."""
        domain = "" if node.domain == "ai.onnx" else node.domain
        attrs = self._attributes(node, body.env, body.given, place)
        local = self._functions.get(key_of(node))
        if local is not None:
            return self._expanded(local, ins, attrs, place)
        opset = version_of(domain, body.opsets)
        form = NODE_BUILDERS.get((domain, node.op_type))
        if form is not None:
            check_age(node.op_type, domain, opset)
            told = dict(opset=opset, count=len(node.output), wanted=[bool(n) for n in node.output])
            found = self._called(form, node.op_type, ins, attrs, told)
            if found is not NotImplemented:
                return list(found) if isinstance(found, (tuple, list)) else [found]
        function = standard_function(node, domain, opset, [bare(v) for v in ins], attrs, self.f)
        if function is None:
            raise UnsupportedError(no_form(node, body.opsets) or "the standard says nothing of it")
        return self._expanded(function, ins, function.attributes(attrs), place)

    def _called(
        self, form: Any, type: str, ins: list[Any], attrs: dict[str, Any], told: dict[str, Any]
    ) -> Any:
        """What a form gives: at once where all is constant, else built."""
        how = handling(type, ins)
        if how is None:
            return self._built_by(form, type, ins, attrs, told)
        ins = [bare(v) for v in ins]
        if how.wraps:
            ins = [None if v is None else self.f.to(v, "int64") for v in ins]
        result = self._built_by(form, type, ins, attrs, told)
        if not how.number:
            return result
        several = isinstance(result, (tuple, list))
        listed = result if several else [result]
        if how.wraps:
            widened = [wrapped(self.f, v, how.number) for v in listed]
        else:
            widened = [
                v if how.loose and not _is_single(v) else Widened(v, how.number) for v in listed
            ]
        return widened if several else widened[0]

    def _built_by(
        self, form: Any, type: str, ins: list[Any], attrs: dict[str, Any], told: dict[str, Any]
    ) -> Any:
        """What a form gives for values of types that variables have."""
        ins = [self.f.constant(v) if i in form.fixed else v for i, v in enumerate(ins)]
        is_constant = all(v is None or isinstance(bare(v), np.ndarray) for v in ins)
        if is_constant and type not in _RANDOM and not any(map(callable, attrs.values())):
            try:
                return form.call(self._folding, ins, attrs, **told)
            except TooLarge:
                pass
        sizes = self._moved(type, form, ins, attrs, told) if type in _MOVES else None
        self.f.stem = "value"
        found = form.call(self.f, ins, attrs, **told)
        if sizes is not None and isinstance(found, Variable):
            self.f.note_partial(found, sizes)
        return found

    def _moved(
        self, type: str, form: Any, ins: list[Any], attrs: dict[str, Any], told: dict[str, Any]
    ) -> list[int] | None:
        """What is known of the sizes that are moved to a result."""
        known: list[Any] = []
        for value in ins:
            if isinstance(value, Variable) and value.dtype.dtype == np.int64:
                if value.shape is None or -1 in value.shape or math.prod(value.shape) > _MOST_SIZES:
                    return None
                sizes = self.f.partial(value) or [-1] * math.prod(value.shape)
                if known and type != "Concat":  # it says how the first one's elements move
                    return None
                filled = [_UNKNOWN if n == -1 else n for n in sizes]
                value = np.array(filled, value.dtype.dtype).reshape(value.shape)
            elif isinstance(value, Variable):
                return None
            known.append(value)
        try:
            moved = form.call(self._folding, known, attrs, **told)
        except (FluidError, *_FAULTS):
            return None
        if not isinstance(moved, np.ndarray) or moved.dtype != np.int64 or moved.size > _MOST_SIZES:
            return None
        return [-1 if n == _UNKNOWN else n for n in moved.reshape(-1).tolist()]

    # -- attributes --------------------------------------------------------------------------------

    def _attributes(
        self, node: Any, env: dict[str, Any], given: Mapping[str, Any] | None, place: str
    ) -> dict[str, Any]:
        """The attributes of a node; bodies are functions of their inputs."""
        attributes: dict[str, Any] = {}
        for attribute in node.attribute:
            if attribute.name in attributes:
                raise FileFormatError(
                    f"{self._tensors.path}: {place}: expected each attribute once, found "
                    f"{attribute.name!r} twice"
                )
            if attribute.ref_attr_name:
                if given is not None and given.get(attribute.ref_attr_name) is not None:
                    attributes[attribute.name] = given[attribute.ref_attr_name]
                continue
            attributes[attribute.name] = self._attribute(
                attribute, env, f"{place}, attribute {attribute.name!r}"
            )
        return attributes

    def _attribute(self, message: Any, env: dict[str, Any], place: str) -> Any:
        kinds = type(message)
        kind = message.type
        if kind == kinds.FLOAT:
            return message.f
        if kind == kinds.INT:
            return message.i
        if kind == kinds.STRING:
            return message.s.decode("utf-8", "replace")
        if kind == kinds.TENSOR:
            return self._tensors.array(message.t, place)
        if kind == kinds.SPARSE_TENSOR:
            return self._tensors.sparse(message.sparse_tensor, place)
        if kind == kinds.GRAPH:
            return Body(self, message.g, env)
        if kind == kinds.FLOATS:
            return list(message.floats)
        if kind == kinds.INTS:
            return list(message.ints)
        if kind == kinds.STRINGS:
            return [s.decode("utf-8", "replace") for s in message.strings]
        raise UnsupportedError(f"the attribute {message.name!r} is of a kind that has no form here")

    # -- functions ---------------------------------------------------------------------------------

    def _expanded(
        self, function: OnnxFunction, ins: list[Any], attrs: Mapping[str, Any], place: str
    ) -> list[Any]:
        """What a function gives, its nodes written out."""
        if len(ins) > len(function.inputs):
            raise UnsupportedError(
                f"expected at most {len(function.inputs)} inputs, got {len(ins)}"
            )
        self._enter(place)
        env: dict[str, Any] = dict(zip(function.inputs, [*ins, *[None] * len(function.inputs)]))
        body = _Body(env, {**self._opsets, **function.opsets}, attrs)
        for number, node in enumerate(function.nodes):
            self._node(node, number, body)
        self._depth -= 1
        return [env.get(name) for name in function.outputs]  # what is not wanted may be left out

    # -- names -------------------------------------------------------------------------------------

    def named(self, name: str) -> str:
        """The name of a variable for a name of the model's."""
        variable_name = self._names.get(name)
        if variable_name is None:
            variable_name = name.replace("@", "_at_") if "@" in name else name
            while variable_name != name and variable_name in self._taken:
                variable_name += "_"
            self._names[name] = variable_name
            self._taken.add(variable_name)
        return variable_name

    def _named(self, value: Any, name: str, new: _NewOperators) -> Any:
        """A value that a node made, under its name of the model's."""
        block = self.f.block
        if isinstance(value, Widened):
            return Widened(self._named(value.value, name, new), value.number)
        if not isinstance(value, Variable) or value.block is not block or value.persistable:
            return value
        wanted = self.named(name)
        if value.is_data or value.name == wanted or block.find_var_recursive(wanted) is not None:
            return value
        if new.have_blocks or value.name not in new.written:
            return value
        old = value.name
        new.rename(old, wanted)
        block.drop_var(old)
        value.name = wanted
        block.declare(value)
        self.f.renamed(value, old)
        return value

    # -- what cannot be read -----------------------------------------------------------------------

    def note_unknown(self, graph: Any) -> None:
        """Note the nodes of a graph, of bodies and functions in it, too, that have no form whatever
        they are given: those behind another one that cannot be read are not built.

        Raises:
            FileFormatError: there are more than a model may have.
        """
        seen: set[Any] = set()
        rows: list[tuple[Any, Mapping[str, int]]] = [(graph.node, self._opsets)]
        while rows:
            nodes, opsets = rows.pop()
            for number, node in enumerate(nodes):
                key = key_of(node)
                function = self._functions.get(key)
                if function is None:
                    reason = no_form(node, opsets)
                    if reason:
                        self.fail(place_of(node, number), reason, node.op_type)
                elif key not in seen:
                    seen.add(key)
                    rows.append((function.nodes, {**self._opsets, **function.opsets}))
                for attribute in node.attribute:
                    rows += [(each.node, opsets) for each in (attribute.g, *attribute.graphs)]

    def fail(self, place: str, reason: str, type: str = "") -> None:
        """Note what cannot be read.

        Args:
            place: where it stands.
            reason: why not.
            type: of a node.

        Raises:
            FileFormatError: that is more than a model may have nodes.
        """
        if len(self._failures) >= MOST_NODES:
            raise FileFormatError(
                f"{self._tensors.path}: expected at most {MOST_NODES} nodes, found more at {place}"
            )
        self._failures[Unread(place, reason, type)] = None

    @property
    def unread(self) -> list[Unread]:
        """What cannot be read, so far."""
        return list(self._failures)

    def raise_failures(self) -> None:
        """Raise one error of all that could not be read.

        Raises:
            UnsupportedError: there is any.
        """
        if self._failures:
            listed = "\n".join(f"  {each.place}: {each.reason}" for each in self._failures)
            raise UnsupportedError(f"{self._tensors.path} cannot be loaded:\n{listed}")


_FAULTS = (
    ArithmeticError,
    AttributeError,
    LookupError,
    MemoryError,
    TypeError,
    ValueError,
    RecursionError,
)


def _is_single(value: Any) -> bool:
    """Whether a value is of the type that holds short floats."""
    dtype = getattr(value, "dtype", None)
    return dtype is not None and as_dtype(dtype) is DType.FP32


def _reason(error: BaseException) -> str:
    if isinstance(error, FluidError):
        return str(error).splitlines()[0]
    return f"its inputs and attributes do not fit together ({type(error).__name__}: {error})"


class Body:
    """The graph of a loop or a branch: a function of the values of its inputs."""

    def __init__(self, reader: GraphReader, graph: Any, env: dict[str, Any]) -> None:
        self._reader, self._graph, self._env = reader, graph, env
        self.inputs: int = len(graph.input)  #: how many it has
        self.outputs: int = len(graph.output)

    def __call__(self, *values: Any) -> list[Any]:
        """Build it.

        Raises:
            UnsupportedError: a node of it has no form, or it takes another number of values.
        """
        if len(values) != self.inputs:
            raise UnsupportedError(f"its body takes {self.inputs} values, and not {len(values)}")
        env = dict(self._env)
        reader = self._reader
        names = [each.name for each in self._graph.input]
        own = reader.constants_of(self._graph)
        env.update(own)
        env.update(zip(names, values))
        for node in self._graph.node:  # a body may name a value as the graph around does
            for name in node.output:
                env.pop(name, None)
        found = reader.run(self._graph, env)
        if any(v is reader.missing for v in found):
            raise UnsupportedError("its body has no form")
        return found
