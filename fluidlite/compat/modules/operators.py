"""``fluid.core.ops``: operators as functions of tensors, within ``dygraph.guard()``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...layer_helper import LayerHelper
from ...opdef.definition import is_defined, lookup


def __getattr__(name: str) -> Callable[..., Any]:
    if name.startswith("__") or not is_defined(name):
        raise AttributeError(name)
    return _function(name)


def _function(name: str) -> Callable[..., Any]:
    definition = lookup(name)

    def call(*args: Any) -> Any:
        arguments = list(args)
        first = next((i for i, arg in enumerate(arguments) if isinstance(arg, str)), len(arguments))
        attrs = dict(zip(arguments[first::2], arguments[first + 1 :: 2]))
        slots = [slot for slot in definition.inputs if not slot.optional] or definition.inputs
        ins = {slot.name: value for slot, value in zip(slots, arguments) if value is not None}
        helper = LayerHelper(name)
        tensors = [v for value in ins.values() for v in _listed(value)]
        dtype = tensors[0].dtype if tensors else attrs.get("dtype", "float32")
        counts = [
            int(attrs.get("num", 0)) or len(attrs.get("sections", ())) or 1 if slot.many else 1
            for slot in definition.outputs
        ]
        outs = {
            slot.name: [helper.create_variable_for_type_inference(dtype) for _ in range(count)]
            for slot, count in zip(definition.outputs, counts)
        }
        helper.append_op(name, ins, outs, attrs)
        results = [
            made if slot.many else made[0] for slot, made in zip(definition.outputs, outs.values())
        ]
        return results[0] if len(results) == 1 else tuple(results)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = definition.__doc__
    return call


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else [value]
