"""Record the fields of the messages of program files, in a Python that has paddlepaddle 1.8.5.

python tests/data/record_framework_pb2.py > tests/data/framework_pb2.json
"""

import json

from paddle.fluid.proto import framework_pb2


def record(name, descriptor, fields):
    """Number, type, label and message or enumeration of each field, by name."""
    fields[name] = {
        field.name: [
            field.number,
            field.type,
            field.label,
            getattr(field.message_type or field.enum_type, "full_name", "").rpartition("proto.")[2],
        ]
        for field in descriptor.fields
    }
    for inner in descriptor.nested_types:
        record(name + "." + inner.name, inner, fields)


found = {}
for name, descriptor in framework_pb2.DESCRIPTOR.message_types_by_name.items():
    record(name, descriptor, found)
print(json.dumps(found, sort_keys=True, separators=(",", ":")))
