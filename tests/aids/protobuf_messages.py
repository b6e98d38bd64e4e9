"""The messages of program files as the classes of protobuf, which fluidlite does without."""

from __future__ import annotations

import functools
from typing import Any

import pytest

from fluidlite.proto.schema import MESSAGES, REPEATED

pytest.importorskip("google.protobuf")
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

PACKAGE = "fluidlite.tests"
_SCALARS = {"double": 1, "float": 2, "int64": 3, "int32": 5, "bool": 8, "string": 12}
_MESSAGE = 11


@functools.cache
def message_classes() -> dict[str, Any]:
    """The class of every message, by name.

    Texts are bytes there, enumerations are integers, and nothing is required, as for the reader of
    fluidlite.
    """
    file = descriptor_pb2.FileDescriptorProto(
        name="program.proto", package=PACKAGE, syntax="proto2"
    )
    for name, fields in MESSAGES.items():
        message = file.message_type.add(name=name.replace(".", "_"))
        for field, form in fields.items():
            declared = message.field.add(name=field, number=form.number)
            declared.label = 3 if form.label == REPEATED else 1
            if form.kind in MESSAGES:
                declared.type = _MESSAGE
                declared.type_name = f".{PACKAGE}.{form.kind.replace('.', '_')}"
            else:
                declared.type = _SCALARS.get(form.kind, _SCALARS["int32"])
    classes = classes_of(file)
    return {name: classes[name.replace(".", "_")] for name in MESSAGES}


def classes_of(file: Any) -> dict[str, Any]:
    """The classes of the messages that a file declares, by any version of protobuf."""
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    class_of = getattr(message_factory, "GetMessageClass", None)
    if class_of is None:
        class_of = message_factory.MessageFactory(pool).GetPrototype
    described = pool.FindFileByName(file.name).message_types_by_name
    return {name: class_of(descriptor) for name, descriptor in described.items()}
