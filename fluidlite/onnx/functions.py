"""Functions of ONNX: those of a model, and those that define operators of the standard."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..errors import FileFormatError, UnsupportedError
from .forms import NODE_BUILDERS
from .types import tensor_type

OLDEST = 6  #: version of the operators that are built


@dataclass(frozen=True)
class OnnxFunction:
    """A function: the names of its ends, its nodes, and the versions of their operators."""

    inputs: list[str]
    outputs: list[str]
    nodes: list[Any]
    opsets: dict[str, int]
    defaults: dict[str, Any] = field(default_factory=dict)

    def attributes(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Attributes with the defaults of those that are not given."""
        return {**self.defaults, **given}


def local_functions(model: Any, path: str) -> dict[tuple[str, str, str], OnnxFunction]:
    """The functions of a model by domain, name and overload.

    Raises:
        FileFormatError: one stands there twice.
    """
    functions: dict[tuple[str, str, str], OnnxFunction] = {}
    for function in model.functions:
        key = _domain(function), function.name, getattr(function, "overload", "")
        if key in functions:
            raise FileFormatError(
                f"{path}: expected the function {function.name!r} once, found two"
            )
        functions[key] = _function(function, _defaults(function.attribute_proto))
    return functions


def key_of(node: Any) -> tuple[str, str, str]:
    """The key among the functions of a model that a node asks for."""
    return _domain(node), node.op_type, getattr(node, "overload", "")


def _domain(message: Any) -> str:
    return "" if message.domain == "ai.onnx" else message.domain


def _function(message: Any, defaults: dict[str, Any]) -> OnnxFunction:
    opsets = {"" if e.domain == "ai.onnx" else e.domain: e.version for e in message.opset_import}
    return OnnxFunction(
        list(message.input), list(message.output), list(message.node), opsets, defaults
    )


def _defaults(attributes: Any) -> dict[str, Any]:
    import onnx

    defaults = {}
    for attribute in attributes:
        value = onnx.helper.get_attribute_value(attribute)
        if isinstance(value, bytes):
            value = value.decode("utf-8", "replace")
        elif isinstance(value, list) and value and isinstance(value[0], bytes):
            value = [v.decode("utf-8", "replace") for v in value]
        defaults[attribute.name] = value
    return defaults


def no_form(node: Any, opsets: Mapping[str, int]) -> str:
    """Why a node that calls no function of its model can never be read; empty where it may be.

    Args:
        node: the message.
        opsets: the versions of operators by domain.
    """
    import onnx

    domain = _domain(node)
    if (domain, node.op_type) in NODE_BUILDERS:
        return ""
    try:
        schema: Any = onnx.defs.get_schema(node.op_type, version_of(domain, opsets), domain)
    except (onnx.defs.SchemaError, TypeError):  # a version may be any number
        schema = None
    if schema and (schema.has_function or schema.has_context_dependent_function):
        return ""
    return (
        "there is no form of it here"
        if domain == ""
        else f"operators of the domain {domain!r} are not known"
    )


def version_of(domain: str, opsets: Mapping[str, int]) -> int:
    """The version of a domain's operators."""
    return opsets.get(domain, opsets.get("", 1) if domain == "" else 1)


def check_age(type: str, domain: str, opset: int) -> None:
    """Refuse an operator of a version that is older than what is built here.

    Raises:
        UnsupportedError: it was another one then.
    """
    import onnx

    if opset >= OLDEST:
        return
    try:
        old, new = (onnx.defs.get_schema(type, v, domain) for v in (opset, OLDEST))
    except onnx.defs.SchemaError:
        return
    if old.since_version != new.since_version:
        raise UnsupportedError(
            f"expected operators of version {OLDEST} or later, found it of version {opset}, when "
            "it was another one"
        )


def standard_function(
    node: Any, domain: str, opset: int, ins: list[Any], attrs: Mapping[str, Any], f: Any
) -> OnnxFunction | None:
    """The function that defines an operator of the standard; None if there is none.

    Args:
        node: the message.
        domain, opset: of the operator.
        ins: the values of its inputs.
        attrs: its attributes.
        f: knows the types of values.
    """
    import onnx

    try:
        schema: Any = onnx.defs.get_schema(node.op_type, opset, domain)
    except onnx.defs.SchemaError:
        return None
    defaults = _defaults(
        a.default_value for a in schema.attributes.values() if a.default_value.name
    )
    version = _newest(schema.function_opset_versions, opset)
    if version is not None:
        data = schema.get_function_with_opset_version(version)
        return _function(onnx.FunctionProto.FromString(data), defaults)
    version = _newest(schema.context_dependent_function_opset_versions, opset)
    if version is None:
        return None
    types = [_type(v, f) for v in ins]
    data = schema.get_context_dependent_function_with_opset_version(
        version, _whole(node, attrs), types
    )
    message = onnx.FunctionProto.FromString(data)
    return _function(message, defaults) if len(message.node) else None


def _newest(versions: Any, opset: int) -> int | None:
    """The newest of some versions that is not newer than a model's."""
    fitting = [v for v in versions if v <= opset]
    return max(fitting) if fitting else (min(versions) if versions else None)


def _whole(node: Any, attrs: Mapping[str, Any]) -> bytes:
    """A node with its attributes as they are where it stands, in a function, too."""
    import onnx

    if not any(each.ref_attr_name for each in node.attribute):
        return bytes(node.SerializeToString())
    copied = onnx.NodeProto()
    copied.CopyFrom(node)
    del copied.attribute[:]
    for name, value in attrs.items():
        if isinstance(value, np.ndarray):
            value = onnx.numpy_helper.from_array(value)
        copied.attribute.append(onnx.helper.make_attribute(name, value))
    return bytes(copied.SerializeToString())


def _type(value: Any, f: Any) -> bytes:
    import onnx

    if value is None:
        return bytes(onnx.TypeProto().SerializeToString())
    shape = [None if n == -1 else n for n in f.sizes(value)]
    made = onnx.helper.make_tensor_type_proto(tensor_type(f.type_of(value)), shape)
    return bytes(made.SerializeToString())
